"""Steps 5 and 7 of the lesson: the noise of a table as a multiplication table, and whether it paid."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.lesson.look import SIZE, large
from mvgviz.figures.shared.axes import upright
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, THEOREM1
from mvgviz.lesson.steps import Pay

_PALE = "#E3F0FA"  # DIRECTIONAL, nearly white: the question mark is dark in both themes
_ROWS = ("no noise", "directional noise", "noise of one size", "answer without data", "noise by Theorem 1")
_COLOURS = (DATA, DIRECTIONAL, IID, DATA, THEOREM1)


def plot_sizes(design: NoiseDesign, *, row_sizes: Sequence[str], col_sizes: Sequence[str], asked: tuple[int, int],
               row_names: tuple[str, ...], col_names: tuple[str, ...]) -> go.Figure:
    """The noise of each cell, darker where it is more, the sizes along the edges and the cell asked for."""
    noise = design.noise_std()
    rows, cols = noise.shape
    text = [["?" if (i, j) == asked else "" for j in range(cols)] for i in range(rows)]
    figure = go.Figure(go.Heatmap(
        z=noise, x=list(range(cols)), y=list(range(rows)), text=text, texttemplate="<b>%{text}</b>",
        textfont={"size": 3 * SIZE, "color": "#222"}, colorscale=[[0, _PALE], [1, DIRECTIONAL]], zmin=0, xgap=3,
        ygap=3, showscale=False, hoverinfo="skip"))
    for axis, names, sizes in ((figure.update_xaxes, col_names, col_sizes),
                               (figure.update_yaxes, row_names, row_sizes)):
        axis(tickvals=list(range(len(names))), showgrid=False, zeroline=False,
             ticktext=[f"{name}<br><b>{size}</b>" for name, size in zip(names, sizes, strict=True)])
    figure.update_xaxes(side="top", tickangle=0)
    figure.update_yaxes(autorange="reversed")
    return large(figure, legend=False)


def plot_trials(pay: Pay) -> go.Figure:
    """Average errors, a dot a line; noise of one size is the mark to beat, the bar the margin of the gain."""
    errors = (pay.no_noise, pay.directional, pay.one_size, pay.no_data, pay.theorem1)
    figure = go.Figure(layout={"shapes": [upright(pay.one_size, IID, "dash", width=3)]})
    for name, error, colour in zip(_ROWS, errors, _COLOURS, strict=True):
        margin = pay.margin if name == "directional noise" else 0.0
        bar = {"type": "data", "array": [margin], "thickness": 4, "width": 10} if margin else {"visible": False}
        figure.add_scatter(x=[error], y=[name], mode="markers", name=name, error_x=bar,
                           marker={"size": 16, "color": colour, "symbol": "diamond" if colour == DATA else "circle"},
                           hovertemplate=f"{name}: %{{x:.2f}}<extra></extra>")
    figure.update_xaxes(title="error (half pints a day)", range=[3, 5.5], dtick=0.5, zeroline=False)
    figure.update_yaxes(autorange="reversed", type="category", ticklabelstandoff=8)
    return large(figure, legend=False)
