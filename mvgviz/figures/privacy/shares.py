"""Which directions carry the privacy loss of the worst neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, styled
from mvgviz.validation import FloatArray

MOST = 20
"""Bars drawn singly; the rest are one bar."""

_FEW = 6
_VISIBLE = 1e-3


@dataclass(frozen=True, kw_only=True, eq=False)
class ShareNumbers:
    """The largest shares of mu², largest first, with the same directions' theta; ``rest`` are the others together."""

    positions: tuple[int, ...]
    shares: FloatArray
    theta: FloatArray
    others: int
    rest: float
    rest_theta: float


def share_numbers(shares: FloatArray, theta: FloatArray) -> ShareNumbers:
    """At most 20 directions singly, and beyond the sixth only those whose bar can be seen."""
    most = min(max(int(np.count_nonzero(shares >= _VISIBLE)), _FEW), MOST)
    order = np.argsort(-shares, kind="stable")
    shown, others = order[:most], order[most:]
    return ShareNumbers(positions=tuple(int(k) for k in shown), shares=shares[shown], theta=theta[shown],
                        others=int(others.size), rest=float(shares[others].sum()),
                        rest_theta=float(theta[others].sum()))


def plot_shares(numbers: ShareNumbers, *, labels: list[str]) -> go.Figure:
    """A bar a direction, theta as a mark on it. ``labels`` are those of the bars, in order."""
    names, shares, theta = list(labels), list(numbers.shares), list(numbers.theta)
    if numbers.others:
        names.append(f"the other {numbers.others:,} together")
        shares.append(numbers.rest)
        theta.append(numbers.rest_theta)
    places = list(range(len(names)))
    figure = go.Figure(go.Bar(x=shares, y=places, orientation="h", marker={"color": DIRECTIONAL}, customdata=names,
                              name="share of the loss",
                              hovertemplate="%{customdata}: %{x:.1%} of the loss<extra></extra>"))
    figure.add_scatter(x=theta, y=places, mode="markers", name="share of the budget (theta)", customdata=names,
                       marker={"color": DATA, "symbol": "diamond", "size": 9, "line": {"width": 1}},
                       hovertemplate="%{customdata}: %{x:.1%} of the budget<extra></extra>")
    figure.update_xaxes(title="share of μ²", tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed", showgrid=False)
    figure.update_layout(bargap=0.35)
    return styled(figure, height=110 + 22 * max(len(names), 4))
