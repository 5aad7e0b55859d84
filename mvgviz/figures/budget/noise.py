"""Noise along each direction as a multiple of i.i.d. noise: who gains, who pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DIRECTIONAL, IID, styled
from mvgviz.scenario.precision_budget import BudgetTable
from mvgviz.validation import FloatArray

MOST = 40
_SAME = 0.005


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseFactors:
    """``shown``: positions of the directions drawn; ``factors`` and ``std`` of those. ``all_factors``: of every one."""

    shown: list[int]
    factors: FloatArray
    std: FloatArray
    all_factors: FloatArray

    @property
    def gains(self) -> list[int]:
        """Positions of the directions with less noise than i.i.d., the luckiest first."""
        order = np.argsort(self.all_factors, kind="stable")
        return [int(k) for k in order if self.all_factors[k] < 1 - _SAME]

    @property
    def pays(self) -> list[int]:
        """Positions of the directions with more noise than i.i.d., the dearest first."""
        order = np.argsort(-self.all_factors, kind="stable")
        return [int(k) for k in order if self.all_factors[k] > 1 + _SAME]


def noise_factors(table: BudgetTable) -> NoiseFactors:
    """All directions in their order, or of more than 40 the 20 with least and the 20 with most noise."""
    factors = table.factor
    shown = list(range(table.size))
    if table.size > MOST:
        order = np.argsort(factors, kind="stable")
        shown = [int(k) for k in (*order[: MOST // 2], *order[-MOST // 2:])]
    return NoiseFactors(shown=shown, factors=factors[shown], std=table.std[shown], all_factors=factors)


def plot_noise_factors(numbers: NoiseFactors, *, names: list[str]) -> go.Figure:
    """A dot a direction and its distance from 1×, which is i.i.d. noise. ``names``: of those shown."""
    rows = np.arange(len(numbers.shown))
    stems_x = [x for factor in numbers.factors.tolist() for x in (1.0, factor, None)]
    stems_y = [y for row in rows.tolist() for y in (row, row, None)]
    figure = go.Figure()
    figure.add_scatter(x=stems_x, y=stems_y, mode="lines", line={"color": DIRECTIONAL, "width": 3}, hoverinfo="skip",
                       showlegend=False)
    few = len(rows) <= 24
    figure.add_scatter(
        x=numbers.factors, y=rows, mode="markers+text" if few else "markers", name="directional noise",
        marker={"color": DIRECTIONAL, "size": 12 if few else 8}, cliponaxis=False,
        text=[f"{factor:.2g}×" if factor < 100 else f"{factor:,.0f}×" for factor in numbers.factors.tolist()],
        textposition=["middle left" if factor < 1 else "middle right" for factor in numbers.factors.tolist()],
        customdata=np.column_stack([np.array(names, dtype=object), numbers.std.astype(object)]),
        hovertemplate="%{customdata[0]}: %{x:.3g} times i.i.d. noise,"
                      " standard deviation %{customdata[1]:.4g}<extra></extra>")
    figure.add_scatter(x=[1, 1], y=[-0.6, len(rows) - 0.4], mode="lines", name="i.i.d. noise, same budget (1×)",
                       line={"color": IID, "width": 2, "dash": "dash"}, hoverinfo="name")
    low, high = min(float(numbers.factors.min()), 1.0), max(float(numbers.factors.max()), 1.0)
    room = max(0.25 * np.log10(high / low), 0.12)
    figure.update_xaxes(title="noise, as a multiple of i.i.d. noise (log scale)", type="log",
                        range=[np.log10(low) - room, np.log10(high) + room], **log_ticks(low, high))
    figure.update_yaxes(tickvals=rows.tolist(), ticktext=names, range=[len(rows) - 0.4, -0.6], showgrid=False,
                        zeroline=False, tickfont={"size": 12 if few else 10})
    return styled(figure, height=row_height(len(rows)), top=30)


def row_height(rows: int) -> int:
    """The height of a picture with one line a direction."""
    return min(max(110 + rows * (34 if rows <= 8 else 24 if rows <= 24 else 12), 230), 700)


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """Few round ticks of a log axis: 1, 2, 5 within a decade or two, whole decades beyond."""
    decades = np.log10(high / low)
    exponents = range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 2)
    if decades <= 0.8:
        steps: tuple[float, ...] = (1, 1.5, 2, 3, 4, 5, 7)
    elif decades <= 2.5:
        steps = (1, 2, 5)
    else:
        every = int(np.ceil(decades / 6))
        exponents = range(exponents.start - exponents.start % every, exponents.stop, every)
        steps = (1,)
    return {"tickvals": [step * 10.0**e for e in exponents for step in steps]}
