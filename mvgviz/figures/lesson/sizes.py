"""The noise of a table as a multiplication table: a size for each row, one for each column, one cell to work out."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.lesson.look import SIZE, large
from mvgviz.figures.shared.theme import DIRECTIONAL
from mvgviz.validation import FloatArray

_PALE = "#E3F0FA"  # DIRECTIONAL, nearly white: the question mark is dark in both themes


@dataclass(frozen=True, kw_only=True, eq=False)
class SizesNumbers:
    """The noise of each cell (rows × cols), the sizes along the edges in words, and the cell asked for."""

    noise: FloatArray
    row_sizes: tuple[str, ...]
    col_sizes: tuple[str, ...]
    asked: tuple[int, int]


def sizes_numbers(design: NoiseDesign, *, row_sizes: FloatArray, col_sizes: FloatArray, asked: tuple[int, int],
                  digits: int = 3) -> SizesNumbers:
    """The edges are rounded to so many digits."""
    words = [tuple(f"{size:.{digits}g}" for size in sizes) for sizes in (row_sizes, col_sizes)]
    return SizesNumbers(noise=design.noise_std(), row_sizes=words[0], col_sizes=words[1], asked=asked)


def plot_sizes(numbers: SizesNumbers, *, row_names: tuple[str, ...], col_names: tuple[str, ...]) -> go.Figure:
    """Darker is more noise."""
    rows, cols = numbers.noise.shape
    text = [["?" if (i, j) == numbers.asked else "" for j in range(cols)] for i in range(rows)]
    figure = go.Figure(go.Heatmap(
        z=numbers.noise, x=list(range(cols)), y=list(range(rows)), text=text, texttemplate="<b>%{text}</b>",
        textfont={"size": 3 * SIZE, "color": "#222"}, colorscale=[[0, _PALE], [1, DIRECTIONAL]], zmin=0, xgap=3,
        ygap=3, showscale=False, hoverinfo="skip"))
    for axis, names, sizes in ((figure.update_xaxes, col_names, numbers.col_sizes),
                               (figure.update_yaxes, row_names, numbers.row_sizes)):
        axis(tickvals=list(range(len(names))), showgrid=False, zeroline=False,
             ticktext=[f"{name}<br><b>{size}</b>" for name, size in zip(names, sizes, strict=True)])
    figure.update_xaxes(side="top", tickangle=0)
    figure.update_yaxes(autorange="reversed")
    return large(figure, legend=False)
