"""The true answer and a noisy one, in the same colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.matrix_map import MOST_COLS, MOST_ROWS, MatrixNumbers, plot_matrix
from mvgviz.validation import FloatArray

_STRONG = 1.5


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixPair:
    """``reach``: where both colour scales end; ``cut``: the share of noisy entries that lie far beyond."""

    true: MatrixNumbers
    noisy: MatrixNumbers
    reach: float
    cut: float


def matrix_pair(true: FloatArray, noisy: FloatArray, shape: tuple[int, int]) -> MatrixPair:
    """At most 40 × 60 entries of each. The scale ends at the largest true entry, so that the truth can be seen."""
    parts = [matrix[:MOST_ROWS, :MOST_COLS] for matrix in (true, noisy)]
    reach = float(np.abs(parts[0]).max()) or float(np.abs(parts[1]).max()) or 1.0
    one, other = (MatrixNumbers(shown=part, rows=shape[0], cols=shape[1]) for part in parts)
    return MatrixPair(true=one, noisy=other, reach=reach, cut=float((np.abs(parts[1]) > _STRONG * reach).mean()))


def plot_one_of_pair(pair: MatrixPair, numbers: MatrixNumbers, *, row_labels: list[str], col_labels: list[str],
                     row_title: str, col_title: str, scale: bool, height: int = 320) -> go.Figure:
    """One side, on the scale of both; ``scale``: whether it is drawn beside it. Empty labels are left out."""
    figure = plot_matrix(numbers, row_labels=row_labels, col_labels=col_labels, row_title=row_title,
                         col_title=col_title, value_title="", height=height)
    for axis, labels in ((figure.layout.xaxis, col_labels), (figure.layout.yaxis, row_labels)):
        places = [k for k, label in enumerate(labels) if label]
        axis.update(tickvals=places, ticktext=[labels[k] for k in places])
    return figure.update_traces(zmin=-pair.reach, zmax=pair.reach, showscale=scale)
