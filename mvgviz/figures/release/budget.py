"""What was released of one data so far, what one more release adds, and what is left.

Epsilons do not add up; the squares of mu do. The bar is drawn in mu², its axis is
labelled with the epsilon that each total stands for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EDGE, styled, wash
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu

SHOWN_SINGLY = 30
AGAIN = 3
"""Further releases that are sketched, where no cap ends the axis."""
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_CLOSEST = 0.07  # of the axis, between two labels


@dataclass(frozen=True, kw_only=True)
class BudgetNumbers:
    """Squares of mu: of each earlier release (``before``, many of them as one), of ``this`` one, of the ``cap``."""

    before: tuple[float, ...]
    this: float
    cap: float | None
    delta: float

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

    @property
    def more(self) -> int | None:
        """How many releases like this one the cap lets through from now on, None without a cap."""
        return None if self.cap is None else max(math.floor((self.cap * (1 + 1e-9) - self.spent) / self.this), 0)

    @property
    def end(self) -> float:
        """Of the axis, which without a cap has room for a few more like this one."""
        return 1.04 * max(self.after, self.spent + (1 + AGAIN) * self.this if self.cap is None else self.cap)

    @property
    def epsilon_before(self) -> float:
        return self.epsilon(self.spent)

    @property
    def epsilon_after(self) -> float:
        return self.epsilon(self.after)

    def epsilon(self, square: float) -> float:
        """What a square of mu stands for at ``delta``."""
        return float(gaussian_epsilon(self.delta, math.sqrt(square))) if square > 0 else 0.0


def budget_numbers(before: Sequence[float], mu: float, *, delta: float, cap: tuple[float, float] | None = None
                   ) -> BudgetNumbers:
    """``before``: mu of the releases so far; ``mu``: of this one; ``cap``: (epsilon, delta)."""
    squares = tuple(float(earlier) ** 2 for earlier in before)
    if len(squares) > SHOWN_SINGLY:
        squares = (math.fsum(squares),)
    return BudgetNumbers(before=squares, this=float(mu) ** 2, delta=delta,
                         cap=None if cap is None else float(gaussian_mu(*cap)) ** 2)


def plot_budget(numbers: BudgetNumbers) -> go.Figure:
    """One bar: earlier releases, this one, what is left of the cap."""
    figure = go.Figure()

    def add(start: float, length: float, name: str, colour: str, words: str, *, show: bool = True) -> None:
        figure.add_bar(x=[length], base=[start], y=[""], orientation="h", name=name, legendgroup=name, showlegend=show,
                       marker={"color": colour, "line": EDGE}, hovertemplate=f"{words}<extra></extra>")

    start = 0.0
    for i, square in enumerate(numbers.before):
        which = f"release {i + 1}" if len(numbers.before) > 1 else "released already"
        add(start, square, "released already", DATA, f"{which}: ε = {numbers.epsilon(square):.3g} alone", show=i == 0)
        start += square
    add(start, numbers.this, "this release", DIRECTIONAL,
        f"this release: ε = {numbers.epsilon(numbers.this):.3g} alone")
    if numbers.cap is None:
        for k in range(1, AGAIN + 1):
            together = numbers.epsilon(numbers.spent + (k + 1) * numbers.this)
            add(start + k * numbers.this, numbers.this, "the same again", wash(DATA, 0.15),
                f"with {k} more like it: ε = {together:.3g} in all", show=k == 1)
    else:
        if numbers.left > 0:
            add(start + numbers.this, numbers.left, "left under the cap", wash(DATA, 0.15),
                f"left under the cap: ε = {numbers.epsilon(numbers.left):.3g} alone")
        figure.add_vline(x=numbers.cap, line={"color": DATA, "width": 3, "dash": "dash"})
        figure.add_annotation(x=numbers.cap, y=1, yref="paper", text="cap", showarrow=False, xanchor="right",
                              yanchor="bottom", xshift=-3)
    figure.update_layout(barmode="overlay", bargap=0.35)
    ticks = budget_ticks(numbers)
    figure.update_xaxes(title="total ε at this δ (lengths are μ², which adds up)", range=[0, numbers.end],
                        zeroline=False, tickvals=[square for square, _ in ticks],
                        ticktext=[f"{epsilon:g}" for _, epsilon in ticks])
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False)
    return styled(figure, height=190)


def budget_ticks(numbers: BudgetNumbers) -> list[tuple[float, float]]:
    """Squares of mu with round epsilons that lie on the axis, from the end down, none too close to the next."""
    largest, closest = numbers.epsilon(numbers.end), _CLOSEST * numbers.end
    found = [(0.0, 0.0)]
    if not largest > 0:
        return found
    exponent = math.floor(math.log10(largest))
    steps = [step * 10.0**power for power in range(exponent, exponent - 4, -1) for step in reversed(_STEPS)]
    last = math.inf
    for epsilon in (step for step in steps if step <= largest):
        square = float(gaussian_mu(epsilon, numbers.delta)) ** 2
        if last - square >= closest and square >= closest:
            found.append((square, epsilon))
            last = square
    return sorted(found)
