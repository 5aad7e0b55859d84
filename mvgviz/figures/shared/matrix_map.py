"""A matrix as a heat map: an answer, or what one record can change in it."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import styled
from mvgviz.validation import FloatArray

MOST_ROWS, MOST_COLS = 40, 60
_NUMBERED, _HIGH = 6, 380  # entries a side that have room for numbers, in a picture so high
_PIXELS = 16  # for a label, with what stands around the picture


def top_left(matrix: FloatArray) -> FloatArray:
    """What is shown of a matrix, at most 40 × 60 entries: more could not be told apart."""
    return matrix[:MOST_ROWS, :MOST_COLS]


def heat_map(matrix: FloatArray, reach: float, value_title: str, *, signed: bool | None = None,
             **more: Any) -> go.Heatmap:
    """Colours centred on 0, the same strength for the same size either way, strongest at ``reach``.

    What is never below 0 has one colour, from 0 on.
    """
    bar = {"title": {"text": value_title, "side": "right"}, "thickness": 12, "exponentformat": "power"}
    one_sign = signed is False or (signed is None and float(matrix.min()) >= 0)
    scale = {"colorscale": "Oranges", "zmin": 0} if one_sign else {"colorscale": "RdBu_r", "zmin": -reach}
    return go.Heatmap(z=matrix, zmax=reach, colorbar=bar, **scale, **more)


def plot_matrix(shown: FloatArray, *, row_labels: list[str], col_labels: list[str], row_title: str, col_title: str,
                value_title: str, height: int = 380) -> go.Figure:
    """Every entry, with its number where they are few; rows and columns by name where these are not too many."""
    rows, cols = shown.shape
    few = max(rows, cols) <= (_NUMBERED if height >= _HIGH else _NUMBERED // 2)
    text = [[f"{value:.2g}" for value in line] for line in shown] if few else None
    figure = go.Figure(heat_map(
        shown, float(np.abs(shown).max()) or 1.0, value_title, text=text, texttemplate="%{text}" if text else None,
        textfont={"size": 11},
        hovertemplate=f"{row_title} %{{y}}, {col_title} %{{x}}: %{{z:.4g}}<extra></extra>",
        x=list(range(cols)), y=list(range(rows))))
    most = height // _PIXELS
    for axis, labels, number, title in ((figure.update_xaxes, col_labels, cols, col_title),
                                        (figure.update_yaxes, row_labels, rows, row_title)):
        ticks = named_ticks(labels, most=most) if labels else {"showticklabels": number > 1, "dtick": -(-number // 12)}
        axis(title=title, showgrid=False, zeroline=False, **ticks)
    figure.update_yaxes(autorange="reversed")
    return styled(figure, height=height, legend=False)


def named_ticks(labels: list[str], *, most: int = 24) -> dict[str, Any]:
    """A tick for each label, or for every second, third, … where there are so many that they would overlap."""
    every = range(0, len(labels), -(-len(labels) // most) or 1)
    return {"tickvals": list(every), "ticktext": [labels[k] for k in every]} if labels else {}
