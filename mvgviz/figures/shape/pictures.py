"""The noise on three features as an ellipsoid, and what the released matrix might have been, played in the browser."""

import math

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.matrix_map import heat_map, named_ticks
from mvgviz.figures.shared.theme import DIRECTIONAL, IID, stroke, styled
from mvgviz.validation import FloatArray

_RADIUS_95 = 2.795483482915108  # root of the 0.95 quantile of chi-square with 3 degrees of freedom


def ellipsoid_points(covariance: FloatArray, radius: float = _RADIUS_95) -> FloatArray:
    """The surface that holds 95 % of a centred normal: 3 × 25 × 49."""
    values, vectors = np.linalg.eigh(covariance)
    polar, turn = np.meshgrid(np.linspace(0, math.pi, 25), np.linspace(0, 2 * math.pi, 49), indexing="ij")
    ball = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)])
    return np.asarray(np.einsum("ij,jkl->ikl", vectors * (radius * np.sqrt(np.maximum(values, 0.0))), ball))


def plot_ellipsoid(covariance: FloatArray, iid_std: float, *, names: tuple[str, str, str]) -> go.Figure:
    """Directional noise solid, equal noise as a net: two surfaces, one through the other, would mix their colours."""
    figure = go.Figure()
    own, ball = ellipsoid_points(covariance), ellipsoid_points(np.eye(3) * iid_std**2)
    figure.add_surface(x=own[0], y=own[1], z=own[2], opacity=0.6, showscale=False, name="directional noise",
                       colorscale=[[0, DIRECTIONAL], [1, DIRECTIONAL]], hoverinfo="name", showlegend=True)
    net = net_lines(ball)
    figure.add_scatter3d(x=net[0], y=net[1], z=net[2], name="equal noise", hoverinfo="name", **stroke(IID, 4))
    reach = 1.05 * float(max(np.abs(own).max(), np.abs(ball).max()))
    axes = {f"{axis}axis": {"title": {"text": f"noise on {name}"}, "range": [-reach, reach], "exponentformat": "power"}
            for axis, name in zip("xyz", names, strict=True)}
    figure.update_layout(scene={**axes, "aspectmode": "cube"})
    return styled(figure, height=460)


def net_lines(points: FloatArray, every: int = 4) -> FloatArray:
    """Circles of latitude and longitude on a surface, as one line with gaps: 3 × points."""
    gap = np.full((3, 1), np.nan)
    lines = [*points[:, ::every].transpose(1, 0, 2), *points[:, :, ::every].transpose(2, 0, 1)]
    return np.concatenate([part for line in lines for part in (line, gap)], axis=1)


def leading_components(matrices: FloatArray) -> FloatArray:
    """The first principal component of each symmetrised matrix, trials × size, signs aligned."""
    symmetric = (matrices + matrices.transpose(0, 2, 1)) / 2
    vectors = np.linalg.eigh(symmetric)[1][:, :, -1]
    signs = np.where(vectors @ vectors[0] < 0, -1.0, 1.0)
    return vectors * signs[:, None]


def plot_matrix_outcomes(truth: FloatArray, draws: FloatArray, *, value_title: str, row_labels: list[str],
                         col_labels: list[str]) -> go.Figure:
    """The true answer first, then each draw as a frame; rows and columns by their names, or counted from 1."""
    reach = float(np.quantile(np.abs(draws), 0.99)) or 1.0
    frames = [go.Frame(data=[go.Heatmap(z=draw)], name=f"draw {i + 1}") for i, draw in enumerate(draws)]
    figure = go.Figure(heat_map(truth, reach, value_title, signed=True), frames=frames)
    rows, cols = (labels or [str(k + 1) for k in range(size)]
                  for labels, size in zip((row_labels, col_labels), truth.shape, strict=True))
    figure.update_yaxes(autorange="reversed", title="row", **named_ticks(rows))
    figure.update_xaxes(title="column", **named_ticks(cols))
    return _playable(figure)


def plot_component_outcomes(truth: FloatArray, components: FloatArray, *, names: list[str]) -> go.Figure:
    """The loadings of the first principal component: the true ones, then each draw's."""
    frames = [go.Frame(data=[go.Bar(y=loadings)], name=f"draw {i + 1}") for i, loadings in enumerate(components)]
    figure = go.Figure(go.Bar(x=list(range(len(truth))), y=truth, marker={"color": DIRECTIONAL}), frames=frames)
    figure.update_xaxes(title="feature", **named_ticks(names))
    figure.update_yaxes(title="loading", range=[-1.05, 1.05])
    return _playable(figure)


def _playable(figure: go.Figure) -> go.Figure:
    """Play and pause, in the browser alone."""
    step = {"frame": {"duration": 400, "redraw": True}, "transition": {"duration": 0}, "fromcurrent": True}
    stop = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate", "transition": {"duration": 0}}
    figure.update_layout(updatemenus=[{
        "type": "buttons", "direction": "left", "showactive": False, "x": 0, "xanchor": "left", "y": 1.02,
        "yanchor": "bottom", "pad": {"t": 0, "r": 0}, "font": {"color": "#333"}, "bgcolor": "#eee",
        "buttons": [{"label": "▶ Play", "method": "animate", "args": [None, step]},
                    {"label": "❚❚ Pause", "method": "animate", "args": [[None], stop]}]}])
    return styled(figure, height=430, legend=False, top=46)
