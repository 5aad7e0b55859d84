"""The equi-density ellipse of directional noise in the plane of two features, against i.i.d. noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.shared.theme import DIRECTIONAL, IID, styled
from mvgviz.validation import FloatArray

_TURN = np.linspace(0, 2 * np.pi, 181)


@dataclass(frozen=True, kw_only=True)
class EllipseNumbers:
    """What the picture shows: outlines and draws (2 × points each), standard deviations by feature."""

    level: float
    outline: FloatArray
    iid_outline: FloatArray
    draws: FloatArray
    iid_draws: FloatArray
    std: FloatArray
    iid_std: FloatArray

    @property
    def factors(self) -> FloatArray:
        """Directional noise as a multiple of i.i.d. noise, for each feature."""
        return self.std / self.iid_std


def ellipse_outline(covariance: FloatArray, level: float) -> FloatArray:
    """The outline, 2 × points, that holds ``level`` of a centred normal with this 2 × 2 covariance."""
    values, vectors = np.linalg.eigh(covariance)
    radius = math.sqrt(-2 * math.log1p(-level))
    circle = np.vstack([np.cos(_TURN), np.sin(_TURN)])
    return np.asarray(vectors @ (radius * np.sqrt(values)[:, None] * circle))


def ellipse_numbers(design: NoiseDesign, iid: NoiseDesign, *, plane: tuple[int, int], level: float,
                    normals: FloatArray) -> EllipseNumbers:
    """The numbers for the plane of two coordinates of the directional side.

    With noise on both sides, that of the answer's column (row) ``plane[1]``. ``normals``
    (2 × points) are shared by both designs.
    """
    pair = list(plane)
    parts = []
    for one in (design, iid):
        side, other = (one.col_side, one.row_side) if one.mode == "columns" else (one.row_side, one.col_side)
        across = float(other.covariance_diagonal()[plane[1]]) if one.mode == "both" else 1.0
        covariance = across * side.covariance_of(pair)
        root = np.linalg.cholesky(covariance)
        parts.append((ellipse_outline(covariance, level), root @ normals, np.sqrt(np.diag(covariance))))
    (outline, draws, std), (iid_outline, iid_draws, iid_std) = parts
    return EllipseNumbers(level=level, outline=outline, iid_outline=iid_outline, draws=draws, iid_draws=iid_draws,
                          std=std, iid_std=iid_std)


def plot_noise_ellipse(numbers: EllipseNumbers, *, names: tuple[str, str]) -> go.Figure:
    """Both outlines and both clouds on axes of one scale."""
    figure = go.Figure()
    for label, colour, dash, outline, draws in (
        ("i.i.d. noise", IID, "dash", numbers.iid_outline, numbers.iid_draws),
        ("directional noise", DIRECTIONAL, "solid", numbers.outline, numbers.draws),
    ):
        figure.add_scatter(x=draws[0], y=draws[1], mode="markers", name=label, showlegend=False, hoverinfo="skip",
                           marker={"size": 4, "color": colour, "opacity": 0.35})
        figure.add_scatter(x=outline[0], y=outline[1], mode="lines", name=f"{label}, {numbers.level:.0%} of draws",
                           line={"color": colour, "width": 3, "dash": dash}, hoverinfo="name")
    reach = 1.25 * np.abs(np.hstack([numbers.outline, numbers.iid_outline])).max(axis=1)
    figure.update_xaxes(title=f"noise on {names[0]}", range=[-reach[0], reach[0]])
    figure.update_yaxes(title=f"noise on {names[1]}", range=[-reach[1], reach[1]], scaleanchor="x", scaleratio=1)
    return styled(figure)
