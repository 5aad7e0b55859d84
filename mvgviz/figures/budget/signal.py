"""Signal-to-noise along each direction, under directional and under i.i.d. noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.budget.noise import log_ticks, row_height
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, styled
from mvgviz.scenario.precision_budget import BudgetTable
from mvgviz.validation import FloatArray

MOST = 40


@dataclass(frozen=True, kw_only=True, eq=False)
class SignalNumbers:
    """``shown``: positions of the directions drawn (all but those without any signal, at most 40)."""

    shown: list[int]
    directional: FloatArray
    iid: FloatArray
    silent: int
    above: int
    iid_above: int
    total: int


def signal_numbers(table: BudgetTable) -> SignalNumbers | None:
    """The ratios; None where the signal has no meaning, or is 0 everywhere."""
    if table.signal is None or not table.signal.max() > 0:
        return None
    ours, iid = table.signal / table.std, table.signal / table.iid_std
    heard = np.flatnonzero(table.signal > 0)
    shown = heard if heard.size <= MOST else np.sort(heard[np.argsort(-ours[heard], kind="stable")[:MOST]])
    return SignalNumbers(shown=[int(k) for k in shown], directional=ours[shown], iid=iid[shown],
                         silent=table.size - int(heard.size), above=int((ours > 1).sum()),
                         iid_above=int((iid > 1).sum()), total=table.size)


def plot_signal_to_noise(numbers: SignalNumbers, *, names: list[str]) -> go.Figure:
    """Two dots a direction, joined; right of the line the signal is larger than the noise."""
    rows = np.arange(len(numbers.shown))
    figure = go.Figure()
    figure.add_scatter(
        x=[x for pair in zip(numbers.iid.tolist(), numbers.directional.tolist(), strict=True) for x in (*pair, None)],
        y=[y for row in rows.tolist() for y in (row, row, None)], mode="lines", hoverinfo="skip", showlegend=False,
        line={"color": DATA, "width": 2})
    few = len(rows) <= 24
    for label, values, colour, symbol in (("i.i.d. noise", numbers.iid, IID, "circle-open"),
                                          ("directional noise", numbers.directional, DIRECTIONAL, "circle")):
        figure.add_scatter(x=values, y=rows, mode="markers", name=label, customdata=names,
                           marker={"color": colour, "size": 10 if few else 7, "symbol": symbol,
                                   "line": {"width": 2, "color": colour}},
                           hovertemplate=f"%{{customdata}}: %{{x:.3g}} with {label}<extra></extra>")
    low = min(float(numbers.iid.min()), float(numbers.directional.min()), 1.0)
    high = max(float(numbers.iid.max()), float(numbers.directional.max()), 1.0)
    room = max(0.08 * np.log10(high / low), 0.1)
    figure.add_scatter(x=[1, 1], y=[-0.6, len(rows) - 0.4], mode="lines", name="signal = noise",
                       line={"color": DATA, "width": 1, "dash": "dot"}, hoverinfo="name")
    figure.update_xaxes(title="signal / noise (log scale)", type="log",
                        range=[np.log10(low) - room, np.log10(high) + room], **log_ticks(low, high))
    figure.update_yaxes(tickvals=rows.tolist(), ticktext=names, range=[len(rows) - 0.4, -0.6], showgrid=False,
                        zeroline=False, tickfont={"size": 12 if few else 10})
    return styled(figure, height=row_height(len(rows)) - 20, top=30)
