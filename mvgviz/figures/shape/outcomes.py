"""Hypothetical outcomes: what the released matrix might have been, played in the browser."""

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.matrix_map import heat_map
from mvgviz.figures.shared.theme import DIRECTIONAL, styled
from mvgviz.validation import FloatArray


def leading_components(matrices: FloatArray) -> FloatArray:
    """The first principal component of each symmetrised matrix, trials × size, signs aligned."""
    symmetric = (matrices + matrices.transpose(0, 2, 1)) / 2
    vectors = np.linalg.eigh(symmetric)[1][:, :, -1]
    signs = np.where(vectors @ vectors[0] < 0, -1.0, 1.0)
    return vectors * signs[:, None]


def plot_matrix_outcomes(truth: FloatArray, draws: FloatArray, *, value_title: str) -> go.Figure:
    """The true answer first, then each draw as a frame."""
    reach = float(np.quantile(np.abs(draws), 0.99)) or 1.0
    frames = [go.Frame(data=[go.Heatmap(z=draw)], name=f"draw {i + 1}") for i, draw in enumerate(draws)]
    figure = go.Figure(heat_map(truth, reach, value_title), frames=frames)
    figure.update_yaxes(autorange="reversed", title="row")
    figure.update_xaxes(title="column")
    return _playable(figure)


def plot_component_outcomes(truth: FloatArray, components: FloatArray, *, names: list[str]) -> go.Figure:
    """The loadings of the first principal component: the true ones, then each draw's."""
    frames = [go.Frame(data=[go.Bar(y=loadings)], name=f"draw {i + 1}") for i, loadings in enumerate(components)]
    figure = go.Figure(go.Bar(x=list(range(len(truth))), y=truth, marker={"color": DIRECTIONAL}), frames=frames)
    ticks = {"tickvals": list(range(len(names))), "ticktext": names} if len(names) <= 40 else {}
    figure.update_xaxes(title="feature", **ticks)
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
                    {"label": "❚❚ Pause", "method": "animate", "args": [[None], stop]}],
    }])
    return styled(figure, height=430, legend=False, top=46)
