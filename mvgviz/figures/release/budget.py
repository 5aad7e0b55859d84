"""What was released of one data so far, what one more release adds, and what is left.

Epsilons do not add up; the squares of mu do. The bar is drawn in mu², its axis is
labelled with the epsilon that each total stands for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, styled
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu

SHOWN_SINGLY = 30
AGAIN = 3
"""Further releases that are sketched, where no cap ends the axis."""
_LEFT = "rgba(127,127,127,0.15)"
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_CLOSEST = 0.07  # of the axis, between two labels


@dataclass(frozen=True, kw_only=True)
class BudgetNumbers:
    """Squares of mu: of each earlier release (``before``, many of them as one), of ``this`` one, of the ``cap``.

    ``ticks``: (mu², epsilon at ``delta``). ``more``: how many releases like this one the cap
    lets through from now on, None without a cap. ``end``: of the axis, which without a cap has room
    for a few more like this one.
    """

    before: tuple[float, ...]
    this: float
    cap: float | None
    delta: float
    epsilon_before: float
    epsilon_after: float
    ticks: tuple[tuple[float, float], ...]
    more: int | None
    end: float

    @property
    def spent(self) -> float:
        return math.fsum(self.before)

    @property
    def after(self) -> float:
        return self.spent + self.this

    @property
    def left(self) -> float:
        """Of the cap, after this release; 0 without one."""
        return 0.0 if self.cap is None else max(self.cap - self.after, 0.0)


def budget_numbers(before: Sequence[float], mu: float, *, delta: float, cap: tuple[float, float] | None = None
                   ) -> BudgetNumbers:
    """``before``: mu of the releases so far; ``mu``: of this one; ``cap``: (epsilon, delta)."""
    squares = [float(one) ** 2 for one in before]
    if len(squares) > SHOWN_SINGLY:
        squares = [math.fsum(squares)]
    spent, this = math.fsum(squares), float(mu) ** 2
    whole = None if cap is None else float(gaussian_mu(*cap)) ** 2
    end = 1.04 * max(spent + this, spent + (1 + AGAIN) * this if whole is None else whole)
    return BudgetNumbers(
        before=tuple(squares), this=this, cap=whole, delta=delta, ticks=_ticks(end, delta), end=end,
        epsilon_before=_epsilon(spent, delta), epsilon_after=_epsilon(spent + this, delta),
        more=None if whole is None else max(math.floor((whole * (1 + 1e-9) - spent) / this), 0))


def plot_budget(numbers: BudgetNumbers) -> go.Figure:
    """One bar: earlier releases, this one, what is left of the cap."""
    edge = {"width": 1.5, "color": "rgba(128,128,128,0.9)"}
    figure = go.Figure()
    start = 0.0
    for i, square in enumerate(numbers.before):
        _segment(figure, start, square, "released already", DATA, edge, show=i == 0,
                 words=f"{'release ' + str(i + 1) if len(numbers.before) > 1 else 'released already'}: "
                       f"ε = {_epsilon(square, numbers.delta):.3g} alone")
        start += square
    _segment(figure, start, numbers.this, "this release", DIRECTIONAL, edge,
             words=f"this release: ε = {_epsilon(numbers.this, numbers.delta):.3g} alone")
    if numbers.cap is None:
        for k in range(1, AGAIN + 1):
            together = _epsilon(numbers.spent + (k + 1) * numbers.this, numbers.delta)
            _segment(figure, start + k * numbers.this, numbers.this, "the same again", _LEFT, edge, show=k == 1,
                     words=f"with {k} more like it: ε = {together:.3g} in all")
    elif numbers.left > 0:
        _segment(figure, start + numbers.this, numbers.left, "left under the cap", _LEFT, edge,
                 words=f"left under the cap: ε = {_epsilon(numbers.left, numbers.delta):.3g} alone")
    if numbers.cap is not None:
        figure.add_vline(x=numbers.cap, line={"color": DATA, "width": 3, "dash": "dash"})
        figure.add_annotation(x=numbers.cap, y=1, yref="paper", text="cap", showarrow=False, xanchor="right",
                              yanchor="bottom", xshift=-3)
    figure.update_layout(barmode="overlay", bargap=0.35)
    figure.update_xaxes(title="total ε at this δ (lengths are μ², which adds up)", range=[0, numbers.end],
                        zeroline=False,
                        tickvals=[square for square, _ in numbers.ticks],
                        ticktext=[f"{epsilon:g}" for _, epsilon in numbers.ticks])
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False)
    return styled(figure, height=190)


def _segment(figure: go.Figure, start: float, length: float, name: str, colour: str, edge: dict[str, object], *,
             words: str, show: bool = True) -> None:
    figure.add_bar(x=[length], base=[start], y=[""], orientation="h", name=name, legendgroup=name, showlegend=show,
                   marker={"color": colour, "line": edge}, hovertemplate=f"{words}<extra></extra>")


def _ticks(end: float, delta: float) -> tuple[tuple[float, float], ...]:
    """Round epsilons that lie on the axis, from the end down, none too close to the next."""
    largest = _epsilon(end, delta)
    if not largest > 0:
        return ((0.0, 0.0),)
    exponent = math.floor(math.log10(largest))
    found = [(0.0, 0.0)]
    candidates = [step * 10.0**power for power in range(exponent, exponent - 4, -1) for step in reversed(_STEPS)]
    last = math.inf
    for epsilon in candidates:
        if epsilon > largest:
            continue
        square = float(gaussian_mu(epsilon, delta)) ** 2
        if last - square >= _CLOSEST * end and square >= _CLOSEST * end:
            found.append((square, epsilon))
            last = square
    return tuple(sorted(found))


def _epsilon(square: float, delta: float) -> float:
    return float(gaussian_epsilon(delta, math.sqrt(square))) if square > 0 else 0.0
