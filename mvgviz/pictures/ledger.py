"""What is spent: earlier releases, one more, what is left of the cap; and the ledger in words.

Epsilons do not add up; the squares of mu do. The bar is drawn in mu², its axis is labelled with the epsilon that each
total stands for.
"""

import math
from dataclasses import dataclass

import plotly.graph_objects as go

from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu, zcdp_rho
from mvgviz.noise.mixtures import running_epsilon
from mvgviz.pictures.theme import DATA, DIRECTIONAL, EDGE, Picture, styled, wash
from mvgviz.release.answer import Release
from mvgviz.release.entries import Entry, Sum, Total
from mvgviz.release.ledger import Ledger
from mvgviz.release.release import Plan
from mvgviz.text import as_number, as_probability, in_markdown, listed, spreadsheet_cell

SHOWN_SINGLY = 30
AGAIN = 3
"""Further releases that are sketched, where no cap ends the axis."""
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_CLOSEST = 0.07  # of the axis, between two labels


@dataclass(frozen=True, kw_only=True)
class BudgetNumbers:
    """Squares of mu: of each earlier release (``before``, many of them as one), of ``this`` one, of the ``cap``.

    ``pure``, ``this_pure``: the epsilon of box and Laplace noise, which has no mu, of earlier releases and this one.
    """

    before: tuple[float, ...]
    this: float
    cap: float | None
    delta: float
    pure: float = 0.0
    this_pure: float = 0.0

    @property
    def spent(self) -> float:
        return math.fsum(self.before)

    @property
    def after(self) -> float:
        return self.spent + self.this

    @property
    def left(self) -> float:
        return 0.0 if self.cap is None else max(self.cap - self.after, 0.0)

    @property
    def more(self) -> int | None:
        """How many more releases like this one the cap allows, None without a cap or Gaussian noise."""
        if self.cap is None or not self.this:
            return None
        return max(math.floor((self.cap * (1 + 1e-9) - self.spent) / self.this), 0)

    @property
    def end(self) -> float:
        return 1.04 * max(self.after, self.spent + (1 + AGAIN) * self.this if self.cap is None else self.cap)

    @property
    def epsilon_before(self) -> float:
        return running_epsilon(self.delta, self.pure, math.sqrt(self.spent))

    @property
    def epsilon_after(self) -> float:
        return running_epsilon(self.delta, self.pure + self.this_pure, math.sqrt(self.after))

    def epsilon(self, square: float) -> float:
        return float(gaussian_epsilon(self.delta, math.sqrt(square))) if square > 0 else 0.0


def budget_numbers(ledger: Ledger, population: str | None, this: Plan | Release) -> BudgetNumbers:
    """Return what a population's releases spent, and what ``this`` one adds; None: no population."""
    made = () if population is None else ledger.entries_about(population)
    summed = Sum([*made, this])
    *before, mu = (mu**2 for mu in summed.counted(*made, this))
    room = ledger.room(population, this)
    return BudgetNumbers(before=tuple(before) if len(before) <= SHOWN_SINGLY else (math.fsum(before),), this=mu,
                         delta=this.delta, cap=None if room is None else room**2, pure=(before_pure := Sum(made).pure),
                         this_pure=summed.pure - before_pure)


def budget_picture(numbers: BudgetNumbers, takeaway: str) -> Picture:
    """Draw earlier releases, this one, and what is left of the cap."""
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
    axis = "ε of Gaussian noise" if numbers.pure else "total ε"
    figure.update_xaxes(title=f"{axis} at this δ (lengths are μ², which adds up)", range=[0, numbers.end],
                        zeroline=False, tickvals=[square for square, _ in ticks],
                        ticktext=[f"{epsilon:g}" for _, epsilon in ticks])
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False)
    return Picture(styled(figure, height=190), takeaway, """\
All releases of the same data share one budget. Not epsilons but squares of μ add up: exactly, even if you choose one \
release after seeing another (Dong, Roth & Su 2022). So lengths are μ², and the axis shows the ε of each total. The \
app recognises a file by its numbers, in any format. Only you can say on Data & query that two files are about the \
same people.""")


def budget_ticks(numbers: BudgetNumbers) -> list[tuple[float, float]]:
    """Return squares of mu with round epsilons on the axis, from the end down, none too close to the next."""
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


def budget_words(spends: str, numbers: BudgetNumbers, *, lasts: bool, named: bool = True) -> str:
    """Return the bar's takeaway; ``lasts``: whether the ledger does; ``named``: whether the population is known."""
    whom, first = ("about these people", "about these people in the ledger") if lasts else (
        "of this data", "of this data in this session")
    if not named:
        return f"**This release spends {spends}**, on top of earlier releases about the same people."
    this = f"**{'Another' if numbers.before else 'This'} release spends {spends}.**"
    then = (f"With earlier releases {whom} (ε = {as_number(numbers.epsilon_before)}) the total becomes "
            f"ε = {as_number(numbers.epsilon_after)}." if numbers.before else
            f"It is the first {first}.") + _pure_words(numbers)
    if numbers.more is None:
        return f"{this} {then}"
    room = {0: "**That exceeds the cap.**", 1: "The cap allows this one and no other like it."}.get(
        numbers.more, f"The cap allows {numbers.more:,} like it.")
    return f"{this} {then} {room}"


def room_words(numbers: BudgetNumbers) -> str:
    """Say what was spent after a release, and how many more like ``this`` one the cap allows."""
    spent = f"In all, ε = {as_number(numbers.epsilon_before)} at δ = {as_probability(numbers.delta)} is spent"
    if numbers.more is None:
        return f"{spent}{'; no cap is set' * (numbers.cap is None)}.{_pure_words(numbers)}"
    room = {0: "no other like it", 1: "one more like it"}.get(numbers.more, f"{numbers.more:,} more like it")
    return f"{spent}; the cap allows {room}.{_pure_words(numbers)}"


def _pure_words(numbers: BudgetNumbers) -> str:
    return f" Box or Laplace noise spent ε = {as_number(numbers.pure)} of it." if numbers.pure else ""


POPULATION_HELP = ("The people (or households, firms, …) behind the records. All files about them share one budget, in "
                   "every session: always use the same name. The ledger stores the name: put nothing secret in it.")
JOIN_HELP = "All releases under either name then count for both. This cannot be undone. The lower cap applies."
IMPORT_HELP = ("Add the releases of another session. Releases already in the ledger are skipped; those from very old "
               "files cannot be recognised and count twice. Imported releases ignore the cap.")
SESSION_ONLY = (":material/warning: This ledger lives in this session alone, never on a disk. Reloading or closing the "
                "tab loses it: download it after the last release. It does not know what was released elsewhere.")
LASTS = (":material/save: This ledger is a file on this computer. It survives a reload, a restart and a crash, and so "
         "do the released answers. It records what a release spends before it draws the noise. It does not know what "
         "was released elsewhere or under another name.")


def totals_words(ledger: Ledger) -> str:
    """Say what the last population's releases spent, and in a session those of all data."""
    entries = ledger.entries
    last, names = entries[-1], {entry.population for entry in entries}
    text = (f"All releases about {in_markdown(last.population)}: "
            f"{_total(ledger.total(last.population, delta=last.delta))}.")
    if not ledger.lasts and len(names) > len(ledger.same_people(last.population)):
        text += (f" All {len(names)} datasets, as if about the same people: "
                 f"{_total(ledger.total(delta=last.delta))}.")
    return text


def _total(total: Total) -> str:
    left = f"; not covered: {listed(list(total.not_covered))}" if total.not_covered else ""
    return f"ε = {as_number(total.epsilon, 4)} at δ = {as_probability(total.delta)}{left}"


def imported_words(new: int, population: str) -> str:
    """Say what a downloaded ledger brought."""
    return f"{'One release now counts' if new == 1 else f'{new:,} releases now count'} for {in_markdown(population)}."


def unfinished_words(entries: tuple[Entry, ...]) -> str:
    """Return a warning about releases that were reserved and never finished; empty where all were."""
    count = sum(not entry.is_finished for entry in entries)
    if not count:
        return ""
    which, it = ("One release was", "it counts") if count == 1 else (f"{count:,} releases were", "they count")
    return (f":material/hourglass_disabled: {which} reserved and never finished: after a crash, on a full disk, or in "
            f"another window that still draws. Somebody may have seen the noise, so {it} as spent.")


def ledger_rows(ledger: Ledger) -> list[dict[str, object]]:
    """Return a table's line for each entry."""
    return [{
        "time (UTC)": entry.time.replace("T", " ").replace("+00:00", ""),
        **({"about": spreadsheet_cell(entry.population)} if ledger.lasts else {}),
        "data": spreadsheet_cell(entry.title or entry.data),
        "query": entry.query, "design": spreadsheet_cell(entry.design), "μ": entry.mu,
        "ρ": zcdp_rho(entry.mu), "ε": entry.epsilon,
        "at δ": as_probability(entry.delta), "not covered": listed(list(entry.not_covered)) if entry.caveats else "",
        **({"state": "released" if entry.is_finished else "never finished"} if ledger.lasts else {}),
        "total ε of the same people": entry.total_epsilon} for entry in ledger.entries]
