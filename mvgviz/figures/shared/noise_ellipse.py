"""The equi-density ellipse of directional noise in the plane of two features, against equal noise."""

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.shared.theme import DIRECTIONAL, IID, stroke, styled
from mvgviz.validation import FloatArray

_TURN = np.linspace(0, 2 * np.pi, 181)


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """One noise in a plane: its outline and draws (2 × points each), its standard deviation by feature."""

    outline: FloatArray
    draws: FloatArray
    std: FloatArray


@dataclass(frozen=True, kw_only=True)
class EllipseNumbers:
    """What the picture shows: outlines that hold ``level`` of the draws."""

    level: float
    ours: Cloud
    iid: Cloud

    @property
    def factors(self) -> FloatArray:
        """Directional noise as a multiple of equal noise, for each feature."""
        return self.ours.std / self.iid.std


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
    ours, other = (_cloud(noise, plane, level, normals) for noise in (design, iid))
    return EllipseNumbers(level=level, ours=ours, iid=other)


def _cloud(noise: NoiseDesign, plane: tuple[int, int], level: float, normals: FloatArray) -> Cloud:
    side, other = (noise.col_side, noise.row_side) if noise.mode == "columns" else (noise.row_side, noise.col_side)
    across = float(other.covariance_diagonal()[plane[1]]) if noise.mode == "both" else 1.0
    covariance = across * side.covariance_of(list(plane))
    return Cloud(outline=ellipse_outline(covariance, level), draws=np.linalg.cholesky(covariance) @ normals,
                 std=np.sqrt(np.diag(covariance)))


def plot_noise_ellipse(numbers: EllipseNumbers, *, names: tuple[str, str]) -> go.Figure:
    """Both outlines and both clouds on axes of one scale."""
    figure = go.Figure()
    for label, colour, dash, cloud in (("equal noise", IID, "dash", numbers.iid),
                                       ("directional noise", DIRECTIONAL, "solid", numbers.ours)):
        figure.add_scatter(x=cloud.draws[0], y=cloud.draws[1], mode="markers", name=label, showlegend=False,
                           hoverinfo="skip", marker={"size": 4, "color": colour, "opacity": 0.35})
        figure.add_scatter(x=cloud.outline[0], y=cloud.outline[1], hoverinfo="name",
                           name=f"{label}, {numbers.level:.0%} of draws", **stroke(colour, 3, dash))
    reach = 1.25 * np.abs(np.hstack([numbers.ours.outline, numbers.iid.outline])).max(axis=1)
    figure.update_xaxes(title=f"noise on {names[0]}", range=[-reach[0], reach[0]])
    figure.update_yaxes(title=f"noise on {names[1]}", range=[-reach[1], reach[1]], scaleanchor="x", scaleratio=1)
    return styled(figure)
