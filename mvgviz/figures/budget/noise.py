"""Direction by direction: the noise against equal noise (who gains, who pays), and the signal against both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, log_axis, row_axis, stroke, styled
from mvgviz.scenario.precision_budget import BudgetTable
from mvgviz.validation import FloatArray

MOST = 40
_FEW = 24
_SAME = 0.005


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseFactors:
    """``shown``: positions of the directions drawn."""

    table: BudgetTable
    shown: list[int]

    @property
    def gains(self) -> list[int]:
        """Positions of the directions with less noise than equal noise, the luckiest first."""
        factors = self.table.factor
        return [int(k) for k in np.argsort(factors, kind="stable") if factors[k] < 1 - _SAME]

    @property
    def pays(self) -> list[int]:
        """Positions of the directions with more noise than equal noise, the dearest first."""
        factors = self.table.factor
        return [int(k) for k in np.argsort(-factors, kind="stable") if factors[k] > 1 + _SAME]


def noise_factors(table: BudgetTable) -> NoiseFactors:
    """All directions in their order, or of more than 40 the 20 with least and the 20 with most noise."""
    shown: Sequence[int] = range(table.size)
    if table.size > MOST:
        order = np.argsort(table.factor, kind="stable")
        shown = [*order[: MOST // 2], *order[-MOST // 2:]]
    return NoiseFactors(table=table, shown=[int(k) for k in shown])


def plot_noise_factors(numbers: NoiseFactors, *, names: list[str]) -> go.Figure:
    """A dot a direction and its distance from 1×, which is equal noise. ``names``: of those shown."""
    shown, few = numbers.table.factor[numbers.shown], len(names) <= _FEW
    figure = go.Figure()
    _add_stems(figure, [1.0] * len(names), shown.tolist(), DIRECTIONAL, width=3)
    figure.add_scatter(
        x=shown, y=np.arange(len(names)), mode="markers+text" if few else "markers", name="directional noise",
        marker={"color": DIRECTIONAL, "size": 12 if few else 8}, cliponaxis=False,
        text=[f"{factor:.2g}×" if factor < 100 else f"{factor:,.0f}×" for factor in shown.tolist()],
        textposition=["middle left" if factor < 1 else "middle right" for factor in shown.tolist()],
        customdata=np.column_stack([np.array(names, dtype=object), numbers.table.std[numbers.shown].astype(object)]),
        hovertemplate="%{customdata[0]}: %{x:.3g} times equal noise,"
                      " typical error %{customdata[1]:.4g}<extra></extra>")
    _add_one(figure, len(names), "equal noise, same budget (1×)", {"color": IID, "width": 2, "dash": "dash"})
    figure.update_xaxes(title="noise, as a multiple of equal noise (log scale)",
                        **log_axis(min(float(shown.min()), 1.0), max(float(shown.max()), 1.0), room=0.25, least=0.12))
    return _direction_rows(figure, names)


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
    figure = go.Figure()
    _add_stems(figure, numbers.iid.tolist(), numbers.directional.tolist(), DATA, width=2)
    for label, values, colour, symbol in (("equal noise", numbers.iid, IID, "circle-open"),
                                          ("directional noise", numbers.directional, DIRECTIONAL, "circle")):
        figure.add_scatter(x=values, y=np.arange(len(names)), mode="markers", name=label, customdata=names,
                           marker={"color": colour, "size": 10 if len(names) <= _FEW else 7, "symbol": symbol,
                                   "line": {"width": 2, "color": colour}},
                           hovertemplate=f"%{{customdata}}: %{{x:.3g}} with {label}<extra></extra>")
    _add_one(figure, len(names), "signal = noise", {"color": DATA, "width": 1, "dash": "dot"})
    both = [*numbers.iid.tolist(), *numbers.directional.tolist(), 1.0]
    figure.update_xaxes(title="signal / noise (log scale)", **log_axis(min(both), max(both), room=0.08))
    return _direction_rows(figure, names, less=20)


def _add_stems(figure: go.Figure, starts: Sequence[float], ends: Sequence[float], colour: str, *, width: int) -> None:
    """A line in each row, from where it starts to where it ends."""
    figure.add_scatter(x=[x for pair in zip(starts, ends, strict=True) for x in (*pair, None)],
                       y=[y for row in range(len(ends)) for y in (row, row, None)], hoverinfo="skip", showlegend=False,
                       **stroke(colour, width))


def _add_one(figure: go.Figure, rows: int, name: str, line: dict[str, object]) -> None:
    """The line at 1, through all rows."""
    figure.add_scatter(x=[1, 1], y=[-0.6, rows - 0.4], mode="lines", name=name, line=line, hoverinfo="name")


def _direction_rows(figure: go.Figure, names: list[str], *, less: int = 0) -> go.Figure:
    """One line a direction, in a height that suits their number (``less``: pixels lower)."""
    rows = len(names)
    figure.update_yaxes(**row_axis(names, 12 if rows <= _FEW else 11))
    height = min(max(110 + rows * (34 if rows <= 8 else 24 if rows <= _FEW else 13), 230), 700)
    return styled(figure, height=height - less, top=30)
