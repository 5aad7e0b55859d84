"""An ellipse that turns, and the noise it leaves on the one answer that is used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.lesson.look import large
from mvgviz.figures.shared.noise_ellipse import ellipse_outline
from mvgviz.figures.shared.theme import DIRECTIONAL, IID
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class TurnNumbers:
    """Both outlines, 2 × points, and how far each reaches up and down; the axes reach ``span``."""

    outline: FloatArray
    iid_outline: FloatArray
    height: float
    iid_height: float
    span: float


def turn_numbers(design: NoiseDesign, iid: NoiseDesign, *, level: float, span: float) -> TurnNumbers:
    """The noise on the first two entries of an answer; the second is the one that is used."""
    outline, iid_outline = (ellipse_outline(one.row_side.covariance_of([0, 1]), level) for one in (design, iid))
    radius = float(np.hypot(*iid_outline[:, 0]))
    ratio = float(design.noise_std()[1, 0] / iid.noise_std()[1, 0])
    return TurnNumbers(outline=outline, iid_outline=iid_outline, height=ratio * radius, iid_height=radius, span=span)


def plot_turn(numbers: TurnNumbers, *, names: tuple[str, str]) -> go.Figure:
    """The outlines, and beside them their heights as bars."""
    figure = go.Figure()
    span = numbers.span
    for label, colour, dash, outline, height, where in (
        ("circle", IID, "dash", numbers.iid_outline, numbers.iid_height, 1.12),
        ("ellipse", DIRECTIONAL, "solid", numbers.outline, numbers.height, 1.27),
    ):
        figure.add_scatter(x=outline[0], y=outline[1], mode="lines", name=label, hoverinfo="name",
                           line={"color": colour, "width": 4, "dash": dash})
        figure.add_scatter(x=[where * span] * 2, y=[-height, height], mode="lines+markers", showlegend=False,
                           hoverinfo="skip", line={"color": colour, "width": 6},
                           marker={"symbol": "line-ew", "size": 18, "line": {"width": 4, "color": colour}})
    figure.add_annotation(x=1.2 * span, y=0.97 * span, text="heights", showarrow=False, yanchor="bottom")
    figure.update_xaxes(title=f"noise on {names[0]} (points)", range=[-span, 1.45 * span], constrain="domain",
                        tickvals=[-1, 0, 1])
    figure.update_yaxes(title=f"noise on {names[1]} (points)", range=[-span, 1.1 * span], scaleanchor="x",
                        tickvals=[-1, 0, 1])
    return large(figure)
