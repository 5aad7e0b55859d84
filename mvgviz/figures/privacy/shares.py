"""Which directions carry the privacy loss of the worst neighbours."""

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, styled
from mvgviz.validation import FloatArray

MOST = 20
"""Bars drawn singly; the rest are one bar."""

_FEW = 6
_VISIBLE = 1e-3


def largest_shares(shares: FloatArray) -> list[int]:
    """At most 20 positions, the largest first, and beyond the sixth only those whose bar can be seen."""
    most = min(max(int(np.count_nonzero(shares >= _VISIBLE)), _FEW), MOST)
    return [int(k) for k in np.argsort(-shares, kind="stable")[:most]]


def plot_shares(shares: FloatArray, theta: FloatArray, *, labels: list[str]) -> go.Figure:
    """A bar for each of the largest shares of mu², theta as a mark on it. ``labels``: of the bars, in order."""
    shown, others = np.split(np.argsort(-shares, kind="stable"), [len(labels)])
    names, drawn, marked = list(labels), list(shares[shown]), list(theta[shown])
    if others.size:
        names.append(f"the other {others.size:,} together")
        drawn.append(float(shares[others].sum()))
        marked.append(float(theta[others].sum()))
    places = list(range(len(names)))
    figure = go.Figure(go.Bar(x=drawn, y=places, orientation="h", marker={"color": DIRECTIONAL}, customdata=names,
                              name="share of the loss",
                              hovertemplate="%{customdata}: %{x:.1%} of the loss<extra></extra>"))
    figure.add_scatter(x=marked, y=places, mode="markers", name="share of the budget (theta)", customdata=names,
                       marker={"color": DATA, "symbol": "diamond", "size": 9, "line": {"width": 1}},
                       hovertemplate="%{customdata}: %{x:.1%} of the budget<extra></extra>")
    figure.update_xaxes(title="share of μ²", tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed", showgrid=False)
    figure.update_layout(bargap=0.35)
    return styled(figure, height=110 + 22 * max(len(names), 4))
