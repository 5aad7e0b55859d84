"""A matrix as a heat map: an answer, or what one record can change in it."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import styled
from mvgviz.validation import FloatArray

MOST_ROWS, MOST_COLS = 40, 60
_NAMED = 40


def top_left(matrix: FloatArray) -> FloatArray:
    """What is shown of a matrix, at most 40 × 60 entries: more could not be told apart."""
    return matrix[:MOST_ROWS, :MOST_COLS]


def heat_map(matrix: FloatArray, reach: float, value_title: str, **more: Any) -> go.Heatmap:
    """Colours centred on 0, the same strength for the same size either way, strongest at ``reach``."""
    bar = {"title": {"text": value_title, "side": "right"}, "thickness": 12, "exponentformat": "power"}
    return go.Heatmap(z=matrix, colorscale="RdBu_r", zmin=-reach, zmax=reach, colorbar=bar, **more)


def plot_matrix(shown: FloatArray, *, row_labels: list[str], col_labels: list[str], row_title: str, col_title: str,
                value_title: str, height: int = 380) -> go.Figure:
    """Every entry, with its number where they are few; rows and columns by name where these are not too many."""
    rows, cols = shown.shape
    text = [[f"{value:.2g}" for value in line] for line in shown] if max(rows, cols) <= 8 else None
    figure = go.Figure(heat_map(
        shown, float(np.abs(shown).max()) or 1.0, value_title, text=text, texttemplate="%{text}" if text else None,
        hovertemplate=f"{row_title} %{{y}}, {col_title} %{{x}}: %{{z:.4g}}<extra></extra>",
        x=list(range(cols)), y=list(range(rows))))
    for axis, labels, title in ((figure.update_xaxes, col_labels, col_title),
                                (figure.update_yaxes, row_labels, row_title)):
        axis(title=title, showgrid=False, zeroline=False, **named_ticks(labels))
    figure.update_yaxes(autorange="reversed")
    return styled(figure, height=height, legend=False)


def named_ticks(labels: list[str]) -> dict[str, Any]:
    """A tick for each label, where these are at most 40."""
    return {"tickvals": list(range(len(labels))), "ticktext": labels} if 0 < len(labels) <= _NAMED else {}
