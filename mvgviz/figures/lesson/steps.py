"""The pictures of the lesson, in the order of its steps; read from the back of a classroom: large type, few ticks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.shared.noise_ellipse import ellipse_outline
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, THEOREM1, stroke, styled, upright, wash
from mvgviz.lesson.steps import Pay
from mvgviz.validation import FloatArray

_SIZE = 17
_POINTS = 301
_PALE = "#E3F0FA"  # DIRECTIONAL, nearly white: the question mark is dark in both themes
_ROWS = ("no noise", "directional noise", "noise of one size", "answer without data", "noise by Theorem 1")
_COLOURS = (DATA, DIRECTIONAL, IID, DATA, THEOREM1)


def large(figure: go.Figure, *, legend: bool = True) -> go.Figure:
    """The figure in the common look, with larger type; nothing moves when it is touched."""
    styled(figure, height=410, legend=legend)
    figure.update_layout(font={"size": _SIZE}, legend={"font": {"size": _SIZE}}, dragmode=False)
    axis: dict[str, Any] = {"title_font_size": _SIZE, "tickfont_size": _SIZE - 1, "fixedrange": True}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    return figure.update_annotations(font_size=_SIZE)


def plot_clock(titles: Sequence[str], minutes: Sequence[int]) -> go.Figure:
    """The lesson's minutes: one bar for each step, from when to when."""
    starts = [sum(minutes[:i]) for i in range(len(minutes))]
    labels = [f"{i + 1} · {title}" for i, title in enumerate(titles)]
    figure = go.Figure(go.Bar(
        x=list(minutes), base=starts, y=labels, orientation="h", marker={"color": DIRECTIONAL},
        text=[f"{length} min" for length in minutes], textposition="inside", insidetextanchor="middle",
        textfont={"color": "#000"}, hovertemplate="%{y}: from minute %{base}<extra></extra>"))
    figure.update_xaxes(title="minutes", range=[0, sum(minutes)], dtick=5)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return styled(figure, height=270, legend=False)


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
        figure.add_scatter(x=published, y=np.exp(-0.5 * ((offsets - side * shift / 2) / noise) ** 2), name=name,
                           fill="tozeroy", fillcolor=wash(colour, 0.25), hoverinfo="name", zorder=level,
                           **stroke(colour, 4, dash))
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
    figure.add_scatter(x=outline[0], y=outline[1], name=f"holds {100 * level:.0f} of 100 releases", hoverinfo="name",
                       **stroke(IID, 4))
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
        figure.add_scatter(x=x, y=y, name=label, hoverinfo="name", **stroke(colour, 4, dash))
        figure.add_scatter(x=[where * span] * 2, y=[-reach, reach], mode="lines+markers", showlegend=False,
                           hoverinfo="skip", line={"color": colour, "width": 6},
                           marker={"symbol": "line-ew", "size": 18, "line": {"width": 4, "color": colour}})
    figure.add_annotation(x=1.2 * span, y=0.97 * span, text="heights", showarrow=False, yanchor="bottom")
    figure.update_xaxes(title=f"noise on {names[0]} (points)", range=[-span, 1.45 * span], constrain="domain",
                        tickvals=[-1, 0, 1])
    figure.update_yaxes(title=f"noise on {names[1]} (points)", range=[-span, 1.1 * span], scaleanchor="x",
                        tickvals=[-1, 0, 1])
    return large(figure)


def plot_sizes(design: NoiseDesign, *, row_sizes: Sequence[str], col_sizes: Sequence[str], asked: tuple[int, int],
               row_names: tuple[str, ...], col_names: tuple[str, ...]) -> go.Figure:
    """The noise of each cell, darker where it is more, the sizes along the edges and the cell asked for."""
    noise = design.noise_std()
    rows, cols = noise.shape
    text = [["?" if (i, j) == asked else "" for j in range(cols)] for i in range(rows)]
    figure = go.Figure(go.Heatmap(
        z=noise, x=list(range(cols)), y=list(range(rows)), text=text, texttemplate="<b>%{text}</b>",
        textfont={"size": 3 * _SIZE, "color": "#222"}, colorscale=[[0, _PALE], [1, DIRECTIONAL]], zmin=0, xgap=3,
        ygap=3, showscale=False, hoverinfo="skip"))
    for axis, names, sizes in ((figure.update_xaxes, col_names, col_sizes),
                               (figure.update_yaxes, row_names, row_sizes)):
        axis(tickvals=list(range(len(names))), showgrid=False, zeroline=False,
             ticktext=[f"{name}<br><b>{size}</b>" for name, size in zip(names, sizes, strict=True)])
    figure.update_xaxes(side="top", tickangle=0)
    figure.update_yaxes(autorange="reversed")
    return large(figure, legend=False)


def plot_trials(pay: Pay) -> go.Figure:
    """Average errors, a dot a line; noise of one size is the mark to beat, the bar the margin of the gain."""
    errors = (pay.no_noise, pay.directional, pay.one_size, pay.no_data, pay.theorem1)
    figure = go.Figure(layout={"shapes": [upright(pay.one_size, IID, "dash", width=3)]})
    for name, error, colour in zip(_ROWS, errors, _COLOURS, strict=True):
        margin = pay.margin if name == "directional noise" else 0.0
        bar = {"type": "data", "array": [margin], "thickness": 4, "width": 10} if margin else {"visible": False}
        figure.add_scatter(x=[error], y=[name], mode="markers", name=name, error_x=bar,
                           marker={"size": 16, "color": colour, "symbol": "diamond" if colour == DATA else "circle"},
                           hovertemplate=f"{name}: %{{x:.2f}}<extra></extra>")
    figure.update_xaxes(title="error (half pints a day)", range=[3, 5.5], dtick=0.5, zeroline=False)
    figure.update_yaxes(autorange="reversed", type="category", ticklabelstandoff=8)
    return large(figure, legend=False)
