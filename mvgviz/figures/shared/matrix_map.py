"""A matrix as a heat map: an answer, or what one record can change in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import styled
from mvgviz.validation import FloatArray

MOST_ROWS, MOST_COLS = 40, 60
_NAMED = 40
_SCALE = "RdBu_r"


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixNumbers:
    """The part of a matrix that is shown, and the size of the whole."""

    shown: FloatArray
    rows: int
    cols: int

    @property
    def is_part(self) -> bool:
        return self.shown.shape != (self.rows, self.cols)


def matrix_numbers(matrix: FloatArray) -> MatrixNumbers:
    """At most 40 × 60 entries: more could not be told apart."""
    return MatrixNumbers(shown=matrix[:MOST_ROWS, :MOST_COLS], rows=int(matrix.shape[0]), cols=int(matrix.shape[1]))


def plot_matrix(numbers: MatrixNumbers, *, row_labels: list[str], col_labels: list[str], row_title: str,
                col_title: str, value_title: str, height: int = 380) -> go.Figure:
    """Colours centred on 0, the same strength for the same size either way."""
    shown = numbers.shown
    reach = float(np.abs(shown).max()) or 1.0
    rows, cols = shown.shape
    text = [[f"{value:.2g}" for value in line] for line in shown] if max(rows, cols) <= 8 else None
    figure = go.Figure(go.Heatmap(
        z=shown, colorscale=_SCALE, zmin=-reach, zmax=reach, text=text, texttemplate="%{text}" if text else None,
        colorbar={"title": {"text": value_title, "side": "right"}, "thickness": 12,
                  "exponentformat": "power"},
        hovertemplate=f"{row_title} %{{y}}, {col_title} %{{x}}: %{{z:.4g}}<extra></extra>",
        x=list(range(cols)), y=list(range(rows))))
    for axis, labels, title in ((figure.update_xaxes, col_labels, col_title),
                                (figure.update_yaxes, row_labels, row_title)):
        ticks = {"tickvals": list(range(len(labels))), "ticktext": labels} if 0 < len(labels) <= _NAMED else {}
        axis(title=title, showgrid=False, zeroline=False, **ticks)
    figure.update_yaxes(autorange="reversed")
    return styled(figure, height=height, legend=False)
