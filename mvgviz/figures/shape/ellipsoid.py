"""The noise on three features as an ellipsoid, with the ball of i.i.d. noise."""

import math

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DIRECTIONAL, IID, styled
from mvgviz.validation import FloatArray

_RADIUS_95 = 2.795483482915108  # root of the 0.95 quantile of chi-square with 3 degrees of freedom


def ellipsoid_points(covariance: FloatArray, radius: float = _RADIUS_95) -> FloatArray:
    """The surface that holds 95 % of a centred normal: 3 × 25 × 49."""
    values, vectors = np.linalg.eigh(covariance)
    polar, turn = np.meshgrid(np.linspace(0, math.pi, 25), np.linspace(0, 2 * math.pi, 49), indexing="ij")
    ball = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)])
    return np.asarray(np.einsum("ij,jkl->ikl", vectors * (radius * np.sqrt(np.maximum(values, 0.0))), ball))


def plot_ellipsoid(covariance: FloatArray, iid_std: float, *, names: tuple[str, str, str]) -> go.Figure:
    """Directional noise solid, i.i.d. noise as a net."""
    figure = go.Figure()
    own, ball = ellipsoid_points(covariance), ellipsoid_points(np.eye(3) * iid_std**2)
    for points, colour, opacity, label in ((own, DIRECTIONAL, 0.75, "directional noise"),
                                           (ball, IID, 0.25, "i.i.d. noise")):
        figure.add_surface(x=points[0], y=points[1], z=points[2], opacity=opacity, showscale=False, name=label,
                           colorscale=[[0, colour], [1, colour]], hoverinfo="name", showlegend=True)
    reach = 1.05 * float(max(np.abs(own).max(), np.abs(ball).max()))
    axes = {f"{axis}axis": {"title": {"text": f"noise on {name}"}, "range": [-reach, reach], "exponentformat": "power"}
            for axis, name in zip("xyz", names, strict=True)}
    figure.update_layout(scene={**axes, "aspectmode": "cube"})
    return styled(figure, height=460)
