"""What is spent: earlier releases, one more, what is left of the cap; and the ledger in words.

Gaussian noise has a bar in mu², which adds up; its axis shows the epsilon that each total stands for. Box and Laplace
noise has a bar in epsilon.
"""

import math
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu, zcdp_rho
from mvgviz.noise.mixtures import running_epsilon
from mvgviz.pictures.theme import DATA, DIRECTIONAL, EDGE, Picture, styled, wash
from mvgviz.release.answer import Release
from mvgviz.release.entries import Entry, Sum, Total
from mvgviz.release.ledger import Ledger
from mvgviz.release.release import Plan
from mvgviz.text import as_number, as_probability, at_delta, in_markdown, listed, spreadsheet_cell

SHOWN_SINGLY = 30
AGAIN = 3
"""Further releases that are sketched, where no cap ends the axis."""
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_CLOSEST = 0.07  # of the axis, between two labels


@dataclass(frozen=True, kw_only=True)
class Pot:
    """One of the two pots: squares of mu of Gaussian noise, or the epsilons of box and Laplace noise; both add up.

    ``before``: of each earlier release, many of them as one; ``this`` one; the ``cap``, None without.
    """

    before: tuple[float, ...] = ()
    this: float = 0.0
    cap: float | None = None

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
        """How many more releases like this one the cap allows; None without a cap, or where it spends nothing."""
        if self.cap is None or not self.this:
            return None
        return max(math.floor((self.cap * (1 + 1e-9) - self.spent) / self.this), 0)

    @property
    def end(self) -> float:
        return 1.04 * max(self.after, self.spent + (1 + AGAIN) * self.this if self.cap is None else self.cap)


@dataclass(frozen=True, kw_only=True)
class BudgetNumbers:
    """What is spent, in two pots, and where epsilon is shown."""

    gaussian: Pot
    pure: Pot
    delta: float

    @property
    def more(self) -> int | None:
        return min((pot.more for pot in (self.gaussian, self.pure) if pot.more is not None), default=None)

    @property
    def epsilon_before(self) -> float:
        return running_epsilon(self.delta, self.pure.spent, math.sqrt(self.gaussian.spent))

    @property
    def epsilon_after(self) -> float:
        return running_epsilon(self.delta, self.pure.after, math.sqrt(self.gaussian.after))

    def epsilon(self, square: float) -> float:
        return float(gaussian_epsilon(self.delta, math.sqrt(square))) if square > 0 else 0.0


def budget_numbers(ledger: Ledger, population: str | None, this: Plan | Release) -> BudgetNumbers:
    """Return what a population's releases spent, and what ``this`` one adds; None: no population."""
    made = () if population is None else ledger.entries_about(population)
    counted, rooms = Sum([*made, this]).counted(*made, this), ledger.rooms(population, this)

    def pot(each_counts: list[float], cap: float | None) -> Pot:
        *before, last = each_counts
        spent = tuple(each for each in before if each)
        return Pot(before=spent if len(spent) <= SHOWN_SINGLY else (math.fsum(spent),), this=last, cap=cap)

    return BudgetNumbers(gaussian=pot([mu**2 for mu, _ in counted], rooms and rooms[0] ** 2),
                         pure=pot([epsilon for _, epsilon in counted], rooms and rooms[1]), delta=this.delta)


def budget_picture(numbers: BudgetNumbers, takeaway: str) -> Picture:
    """Draw earlier releases, this one, and what is left of the cap: a bar for each kind of noise that spends."""
    bars = [(pot, is_pure) for pot, is_pure in ((numbers.gaussian, False), (numbers.pure, True)) if pot.after]
    figure = make_subplots(rows=len(bars), cols=1, vertical_spacing=0.5)
    for row, (pot, is_pure) in enumerate(bars, 1):
        _add_bar(figure, row, numbers, pot, is_pure=is_pure)
    for name in {bar.name for bar in figure.data}:  # a legend names each once
        for again in [bar for bar in figure.data if bar.name == name][1:]:
            again.showlegend = False
    figure.update_layout(barmode="overlay", bargap=0.35)
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False)
    two = " Box and Laplace noise has a bar of its own: its ε add up, with δ = 0." * bool(numbers.pure.after)
    return Picture(styled(figure, height=60 + 130 * len(bars)), takeaway, (
        "All releases about the same people share one budget. The squares of μ add up, not the ε, even if you choose "
        f"one release after seeing another (Dong, Roth & Su 2022).{two}"))


def _add_bar(figure: go.Figure, row: int, numbers: BudgetNumbers, pot: Pot, *, is_pure: bool) -> None:
    def words(length: float, start: float = 0.0) -> str:
        return f"ε = {start + length if is_pure else numbers.epsilon(start + length):.3g}"

    def add(start: float, length: float, name: str, colour: str, said: str) -> None:
        figure.add_bar(x=[length], base=[start], y=[""], orientation="h", name=name, legendgroup=name, row=row, col=1,
                       marker={"color": colour, "line": EDGE}, hovertemplate=f"{said}<extra></extra>")

    start = 0.0
    for i, spent in enumerate(pot.before):
        which = f"release {i + 1}" if len(pot.before) > 1 else "released already"
        add(start, spent, "released already", DATA, f"{which}: {words(spent)} alone")
        start += spent
    if pot.this:
        add(start, pot.this, "this release", DIRECTIONAL, f"this release: {words(pot.this)} alone")
    if pot.cap is None:
        for k in range(1, AGAIN + 1) if pot.this else ():
            add(start + k * pot.this, pot.this, "the same again", wash(DATA, 0.15),
                f"with {k} more like it: {words((k + 1) * pot.this, pot.spent)} in all")
    else:
        if pot.left > 0:
            add(pot.after, pot.left, "left under the cap", wash(DATA, 0.15),
                f"left under the cap: {words(pot.left)} alone")
        figure.add_vline(x=pot.cap, line={"color": DATA, "width": 3, "dash": "dash"}, row=row, col=1)
        figure.add_annotation(x=pot.cap, y=1, yref="y domain", text="cap", showarrow=False, xanchor="right",
                              yanchor="bottom", xshift=-3, row=row, col=1)
    if is_pure:
        figure.update_xaxes(title="ε of box and Laplace noise, with δ = 0", range=[0, pot.end], zeroline=False, row=row)
        return
    ticks, axis = budget_ticks(numbers), "ε of Gaussian noise" if numbers.pure.after else "total ε"
    figure.update_xaxes(title=f"{axis} at this δ (lengths are μ²)", range=[0, pot.end],
                        zeroline=False, tickvals=[square for square, _ in ticks],
                        ticktext=[f"{epsilon:g}" for _, epsilon in ticks], row=row)


def budget_ticks(numbers: BudgetNumbers) -> list[tuple[float, float]]:
    """Return squares of mu with round epsilons on the axis, from the end down, none too close to the next."""
    largest, closest = numbers.epsilon(end := numbers.gaussian.end), _CLOSEST * end
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
    whom, where = ("about these people", "ledger") if lasts else ("of this data", "session")
    if not named:
        return f"**This release spends {spends}**, on top of earlier releases about the same people."
    another = bool(numbers.gaussian.before or numbers.pure.before)
    then = f"It is the first {whom} in this {where}." if not another else (
        f"With earlier releases {whom} (ε = {as_number(numbers.epsilon_before)}) the total becomes "
        f"ε = {as_number(numbers.epsilon_after)}.")
    room = "" if numbers.more is None else " **That exceeds the cap.**" if not numbers.more else (
        f" The cap allows {numbers.more:,} like it, this one included.")
    return f"**{'Another' if another else 'This'} release spends {spends}.** {then}{_pure_words(numbers)}{room}"


def room_words(numbers: BudgetNumbers) -> str:
    """Say what was spent after a release, and how many more like ``this`` one the cap allows."""
    at = at_delta(numbers.delta, pure=not numbers.gaussian.spent)
    room = f"; the cap allows {numbers.more or 'no'} more like it" if numbers.more is not None else (
        "; no cap is set" * (numbers.gaussian.cap is None))
    return f"In all, ε = {as_number(numbers.epsilon_before)} {at} is spent{room}.{_pure_words(numbers)}"


def _pure_words(numbers: BudgetNumbers) -> str:
    return f" Box or Laplace noise spent ε = {as_number(numbers.pure.spent)} of it." if numbers.pure.spent else ""


POPULATION_HELP = ("The people (or households, firms, …) behind the records. All files about them share one budget: "
                   "always use the same name. The ledger stores it: put nothing secret in it.")
JOIN_HELP = "All releases under either name then count for both. This cannot be undone. The lower cap applies."
IMPORT_HELP = ("Releases already in the ledger are skipped; those from very old files cannot be recognised and count "
               "twice. Imported releases ignore the cap.")
SESSION_ONLY = (":material/warning: This ledger exists only in this tab. Reloading or closing the tab deletes it: "
                "download it after each release. It does not know what was released elsewhere.")
LASTS = (":material/save: This ledger is a file on this computer. It keeps the released answers, too. It does not know "
         "what was released elsewhere.")


def totals_words(ledger: Ledger) -> str:
    """Say what the last population's releases spent, and in a session those of all data."""
    last, names = ledger.entries[-1], {entry.population for entry in ledger.entries}
    known_as = last.population if ledger.lasts else last.title or last.population
    text = f"All releases about {in_markdown(known_as)}: {_total(ledger.total(last.population, delta=last.delta))}."
    if ledger.lasts or len(names) <= len(ledger.same_people(last.population)):
        return text
    return f"{text} All {len(names)} datasets, as if about the same people: {_total(ledger.total(delta=last.delta))}."


def _total(total: Total) -> str:
    left = f"; not covered: {listed(list(total.not_covered))}" if total.not_covered else ""
    return f"ε = {as_number(total.epsilon, 4)} {at_delta(total.delta, pure=not total.mu)}{left}"


def unfinished_words(entries: tuple[Entry, ...]) -> str:
    """Return a warning about releases that were reserved and never finished; empty where all were."""
    count = sum(not entry.is_finished for entry in entries)
    return "" if not count else (
        f":material/hourglass_disabled: Reserved and never finished: {count:,}. Somebody may have seen the noise, so "
        "each counts as spent.")


def ledger_rows(ledger: Ledger) -> list[dict[str, object]]:
    """Return a table's line for each entry, the numbers before long texts."""
    care = any(entry.caveats for entry in ledger.entries)
    return [{
        "time (UTC)": entry.time.replace("T", " ").replace("+00:00", ""),
        **({"about": spreadsheet_cell(entry.population)} if ledger.lasts else {}),
        "ε": entry.epsilon, "at δ": as_probability(entry.delta), "total ε": entry.total_epsilon,
        "μ": entry.mu, "ρ": zcdp_rho(entry.mu),
        **({"state": "released" if entry.is_finished else "never finished"} if ledger.lasts else {}),
        **({"not covered": listed(list(entry.not_covered))} if care else {}),
        "data": spreadsheet_cell(entry.title or entry.data), "query": entry.query,
        "design": spreadsheet_cell(entry.design)} for entry in ledger.entries]
