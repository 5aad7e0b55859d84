"""Steps 1, 2 and 4 of the lesson: what an attacker sees, a round cloud, an ellipse that turns."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.lesson.look import large
from mvgviz.figures.shared.noise_ellipse import ellipse_outline
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, wash
from mvgviz.validation import FloatArray

_POINTS = 301


def plot_bells(centre: float, *, shift: float, noise: float, span: float, names: tuple[str, str],
               axis: str) -> go.Figure:
    """Two neighbours' bells, ``shift`` apart and each ``noise`` wide, and the border between the two guesses.

    The axis reaches ``span`` to either side of the centre.
    """
    around = np.linspace(-span, span, _POINTS)
    # Narrow bells get points of their own, so that their peaks are not cut off.
    near = np.linspace(-4, 4, _POINTS) * noise
    offsets = np.unique(np.concatenate([around, near - shift / 2, near + shift / 2]))
    offsets = offsets[np.abs(offsets) <= span]
    published = offsets + centre
    figure = go.Figure(layout={
        "shapes": [{"type": "line", "x0": centre, "x1": centre, "y0": 0, "y1": 1.08,
                    "line": {"color": DATA, "dash": "dot", "width": 2}}],
        "annotations": [{"text": text, "x": where, "xref": "paper", "y": 1.17, "showarrow": False, "xanchor": anchor}
                        for text, where, anchor in (("← guess: " + names[0], 0.49, "right"),
                                                    ("guess: " + names[1] + " →", 0.51, "left"))]})
    for name, side, colour, dash, level in ((names[0], -1, DATA, "dash", 2), (names[1], 1, DIRECTIONAL, "solid", 1)):
        # The dashed one on top: both are seen where they coincide.
        figure.add_scatter(x=published, y=np.exp(-0.5 * ((offsets - side * shift / 2) / noise) ** 2), mode="lines",
                           name=name, fill="tozeroy", fillcolor=wash(colour, 0.25), hoverinfo="name", zorder=level,
                           line={"color": colour, "width": 4, "dash": dash})
    figure.update_xaxes(title=axis, range=[float(published[0]), float(published[-1])], nticks=6, zeroline=False)
    figure.update_yaxes(title="how often", showticklabels=False, showgrid=False, range=[0, 1.25], zeroline=False)
    return large(figure)


def plot_cloud(design: NoiseDesign, *, level: float, normals: FloatArray, span: float,
               names: tuple[str, str]) -> go.Figure:
    """Noise of one size on two answers: the draws, the circle that holds most of them, the truth in the middle."""
    covariance = design.row_side.covariance_of([0, 1])
    draws, outline = np.linalg.cholesky(covariance) @ normals, ellipse_outline(covariance, level)
    figure = go.Figure()
    figure.add_scatter(x=draws[0], y=draws[1], mode="markers", name="releases", showlegend=False, hoverinfo="skip",
                       marker={"size": 7, "color": IID, "opacity": 0.5})
    figure.add_scatter(x=outline[0], y=outline[1], mode="lines", name=f"holds {100 * level:.0f} of 100 releases",
                       hoverinfo="name", line={"color": IID, "width": 4})
    figure.add_scatter(x=[0], y=[0], mode="markers", name="the truth", hoverinfo="name",
                       marker={"size": 14, "symbol": "cross", "color": DATA})
    figure.update_xaxes(title=f"noise on {names[0]} (points)", range=[-span, span], constrain="domain", nticks=8)
    figure.update_yaxes(title=f"noise on {names[1]} (points)", range=[-span, span], scaleanchor="x", nticks=8)
    return large(figure)


def plot_turn(design: NoiseDesign, iid: NoiseDesign, *, level: float, span: float, names: tuple[str, str]) -> go.Figure:
    """The outlines of noise on two answers and, beside them as bars, their heights: the second answer is used."""
    outline, circle = (ellipse_outline(noise.row_side.covariance_of([0, 1]), level) for noise in (design, iid))
    radius = float(np.hypot(*circle[:, 0]))
    height = float(design.noise_std()[1, 0] / iid.noise_std()[1, 0]) * radius
    figure = go.Figure()
    for label, colour, dash, (x, y), reach, where in (("circle", IID, "dash", circle, radius, 1.12),
                                                      ("ellipse", DIRECTIONAL, "solid", outline, height, 1.27)):
        figure.add_scatter(x=x, y=y, mode="lines", name=label, hoverinfo="name",
                           line={"color": colour, "width": 4, "dash": dash})
        figure.add_scatter(x=[where * span] * 2, y=[-reach, reach], mode="lines+markers", showlegend=False,
                           hoverinfo="skip", line={"color": colour, "width": 6},
                           marker={"symbol": "line-ew", "size": 18, "line": {"width": 4, "color": colour}})
    figure.add_annotation(x=1.2 * span, y=0.97 * span, text="heights", showarrow=False, yanchor="bottom")
    figure.update_xaxes(title=f"noise on {names[0]} (points)", range=[-span, 1.45 * span], constrain="domain",
                        tickvals=[-1, 0, 1])
    figure.update_yaxes(title=f"noise on {names[1]} (points)", range=[-span, 1.1 * span], scaleanchor="x",
                        tickvals=[-1, 0, 1])
    return large(figure)
