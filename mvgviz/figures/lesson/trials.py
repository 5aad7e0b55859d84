"""Did it pay? Average errors on one line, with noise of one size as the mark to beat."""

from __future__ import annotations

import plotly.graph_objects as go

from mvgviz.figures.lesson.look import large
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, THEOREM1
from mvgviz.lesson.steps import Pay

_ROWS = ("no noise", "directional noise", "noise of one size", "answer without data", "noise by Theorem 1")
_COLOURS = (DATA, DIRECTIONAL, IID, DATA, THEOREM1)


def plot_trials(pay: Pay) -> go.Figure:
    """One dot a line; the bar on the directional dot is the margin of its gain."""
    errors = (pay.no_noise, pay.directional, pay.one_size, pay.no_data, pay.theorem1)
    margins = [pay.margin if name == "directional noise" else 0.0 for name in _ROWS]
    figure = go.Figure(layout={"shapes": [{
        "type": "line", "x0": pay.one_size, "x1": pay.one_size, "y0": 0, "y1": 1, "yref": "paper",
        "line": {"color": IID, "dash": "dash", "width": 3}}]})
    for name, error, margin, colour in zip(_ROWS, errors, margins, _COLOURS, strict=True):
        bar = {"type": "data", "array": [margin], "thickness": 4, "width": 10} if margin else {"visible": False}
        figure.add_scatter(x=[error], y=[name], mode="markers", name=name, error_x=bar,
                           marker={"size": 16, "color": colour, "symbol": "diamond" if colour == DATA else "circle"},
                           hovertemplate=f"{name}: %{{x:.2f}}<extra></extra>")
    figure.update_xaxes(title="error (half pints a day)", range=[3, 5.5], dtick=0.5, zeroline=False)
    figure.update_yaxes(autorange="reversed", type="category", ticklabelstandoff=8)
    return large(figure, legend=False)
