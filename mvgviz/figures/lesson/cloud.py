"""Noise of one size on two answers: a round cloud, and the circle that holds most of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.lesson.look import large
from mvgviz.figures.shared.noise_ellipse import ellipse_outline
from mvgviz.figures.shared.theme import IID
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class CloudNumbers:
    """The outline and the draws, 2 × points each; the axes reach ``span`` to either side."""

    level: float
    outline: FloatArray
    draws: FloatArray
    span: float


def cloud_numbers(design: NoiseDesign, *, level: float, normals: FloatArray, span: float) -> CloudNumbers:
    """The noise on the first two entries of an answer with one column."""
    covariance = design.row_side.covariance_of([0, 1])
    return CloudNumbers(level=level, outline=ellipse_outline(covariance, level),
                        draws=np.linalg.cholesky(covariance) @ normals, span=span)


def plot_cloud(numbers: CloudNumbers, *, names: tuple[str, str]) -> go.Figure:
    """Dots, circle, and the truth in the middle."""
    figure = go.Figure()
    figure.add_scatter(x=numbers.draws[0], y=numbers.draws[1], mode="markers", name="releases", showlegend=False,
                       marker={"size": 7, "color": IID, "opacity": 0.5}, hoverinfo="skip")
    figure.add_scatter(x=numbers.outline[0], y=numbers.outline[1], mode="lines", hoverinfo="name",
                       name=f"holds {100 * numbers.level:.0f} of 100 releases", line={"color": IID, "width": 4})
    figure.add_scatter(x=[0], y=[0], mode="markers", name="the truth", hoverinfo="name",
                       marker={"size": 14, "symbol": "cross", "color": "#7F7F7F"})
    reach = [-numbers.span, numbers.span]
    figure.update_xaxes(title=f"noise on {names[0]} (points)", range=reach, constrain="domain", nticks=8)
    figure.update_yaxes(title=f"noise on {names[1]} (points)", range=reach, scaleanchor="x", nticks=8)
    return large(figure)
