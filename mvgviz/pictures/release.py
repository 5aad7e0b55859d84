"""What was released of one data, what one more release adds, and how far released numbers may be off.

Epsilons do not add up; the squares of mu do. The bar is drawn in mu², its axis is labelled with the epsilon that each
total stands for.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.labels import SCALES
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.sentences import bound_words, clipping_words, released_clipping, thing
from mvgviz.pictures.theme import DATA, DIRECTIONAL, EDGE, plot_matrix, row_axis, styled, top_left, upright, wash
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query
from mvgviz.release.entries import Entry
from mvgviz.release.fitted import Coefficients
from mvgviz.release.intervals import LEVEL, DataUnits, EntryNoise, covered_words, data_units, planned_noise
from mvgviz.release.ledger import CAVEATS, Ledger, Total
from mvgviz.release.release import Plan, Release, design_words
from mvgviz.scenario.bound import clipping_of
from mvgviz.scenario.resolve import Setup
from mvgviz.text import (
    as_number,
    as_probability,
    at_most,
    capitalised,
    delta_caution,
    delta_words,
    in_html,
    in_markdown,
    listed,
    spreadsheet_cell,
)
from mvgviz.validation import FloatArray

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


def budget_picture(numbers: BudgetNumbers, takeaway: str) -> Picture:
    """What one more release spends: earlier releases, this one, what is left of the cap."""
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
    return Picture(styled(figure, height=190), takeaway, """\
Every release of the same data spends of one budget. Epsilons do not add up, the squares of μ do, exactly, also when \
one release is chosen after seeing another (Dong, Roth & Su 2022). So lengths are μ², and the axis says which ε each \
total stands for. A file is known again by its numbers, in any format and with any of its columns; that two files are \
about the same people is for you to say, on the page Data & query.""")


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


MOST_LINES = 40
_WHOLE = 100.0


@dataclass(frozen=True, kw_only=True, eq=False)
class IntervalNumbers:
    """Where each number stands (``places``) and how far its interval goes, below and above; ``words``: of each."""

    names: tuple[str, ...]
    places: tuple[float, ...]
    below: tuple[float, ...] = field(repr=False)
    above: tuple[float, ...] = field(repr=False)
    words: tuple[str, ...] = field(repr=False)


def range_numbers(names: Sequence[str], values: Sequence[float], lower: Sequence[float], upper: Sequence[float], *,
                  ends: Sequence[tuple[float, float]]) -> IntervalNumbers:
    """Numbers in percent of the way from the low to the high end of their own ranges."""
    kept = list(zip(names, values, lower, upper, ends, strict=True))[:MOST_LINES]
    return IntervalNumbers(
        names=tuple(name for name, *_ in kept),
        places=tuple(_WHOLE * (value - low) / (high - low) for _, value, _, _, (low, high) in kept),
        below=tuple(_WHOLE * (value - under) / (high - low) for _, value, under, _, (low, high) in kept),
        above=tuple(_WHOLE * (over - value) / (high - low) for _, value, _, over, (low, high) in kept),
        words=tuple(f"{as_number(value)} ({as_number(under)} to {as_number(over)})"
                    for _, value, under, over, _ in kept))


def coefficient_numbers(fit: Coefficients) -> IntervalNumbers:
    """Coefficients as the label's change, in percent of its range, while a feature goes through all of its own."""
    places, below, above = (_WHOLE * fit.whole * part for part in (fit.values, fit.values - fit.lower,
                                                                   fit.upper - fit.values))
    words = (f"{as_number(value)} ({as_number(low)} to {as_number(high)})"
             for value, low, high in zip(fit.values.tolist(), fit.lower.tolist(), fit.upper.tolist(), strict=True))
    return IntervalNumbers(names=fit.features[:MOST_LINES], places=tuple(places.tolist()[:MOST_LINES]),
                           below=tuple(below.tolist()[:MOST_LINES]), above=tuple(above.tolist()[:MOST_LINES]),
                           words=tuple(words)[:MOST_LINES])


def plot_intervals(numbers: IntervalNumbers, *, title: str, lines: Sequence[float]) -> go.Figure:
    """Dots with bars; ``lines``: places to compare with, dotted."""
    figure = go.Figure(go.Scatter(
        x=numbers.places, y=list(range(len(numbers.places))), mode="markers", marker={"color": DIRECTIONAL, "size": 9},
        error_x={"array": numbers.above, "arrayminus": numbers.below, "thickness": 3, "width": 0},
        customdata=list(zip(map(in_html, numbers.names), numbers.words, strict=True)),
        hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>"))
    figure.update_layout(shapes=[upright(place, DATA, "dot", width=1.5) for place in lines])
    figure.update_xaxes(title=title, zeroline=False)
    figure.update_yaxes(**row_axis([in_html(name) for name in numbers.names]))
    return styled(figure, height=110 + 26 * len(numbers.places), legend=False)


ACCEPT = {
    "ranges": "I accept that the **ranges were read from the data**. They size the noise, so the smallest and largest "
              "values show through it. No guarantee covers that.",
    "directions": "I accept that the **directions were read from the data** without noise. The shape of the noise "
                  "tells how the records lie. No guarantee covers that.",
    "split": "I accept that the **split of the budget was read from the data** without noise. Which direction got how "
             "much tells about the records. No guarantee covers that.",
    "records": "I accept that the **number of records follows from the data**: records were left out, for their gaps "
               "or as more than are kept of one person, and how many are left is published. No guarantee covers that.",
    "bound": "I accept that the **bound on the records was read from the data**. It sizes the noise, so the lengths of "
             "the records show through. Declare a bound instead.",
    "choices": "I accept that **choices were made after looking at results on the data**. They tell about the records. "
               "No guarantee covers that."}
"""What has to be ticked, by caveat."""
KEPT = "What was released stays as it is: a changed scenario, or this page drawn again, does not change it."


def spends(setup: Setup, planned: Plan) -> str:
    """ε = 1.00 at δ = 1e-6."""
    delta = delta_words(planned.delta, setup.dataset.n_records)
    return f"{at_most(setup.design.mu_is)}ε = {as_number(planned.epsilon)} at δ = {delta}"


def facts(setup: Setup, planned: Plan, totals: tuple[Total, Total] | None, factor: float | None, off_by: str, *,
          lasts: bool) -> list[tuple[str, str]]:
    """The summary before a release, as name and plain text.

    ``totals``: what the same people's releases spent before and after it, None where it is not said who they are;
    ``off_by``: how far
    numbers lie from the answer; ``lasts``: whether the ledger does.
    """
    data = setup.dataset
    query, delta, table = setup.query, delta_words(planned.delta, data.n_records), setup.table
    graph, open_parts = query.is_graph, [CAVEATS[caveat] for caveat in planned.caveats]
    hardened = ("; what is learned privately is found anew" if factor is None else
                f": noise larger by a factor 1 + {as_number(factor - 1, 2)}")
    asked = "" if graph or setup.scenario.scale == "declared" else (
        f"; mapped onto {as_number(float(table.lower[0]))} to {as_number(float(table.upper[0]))}")
    return [
        ("leaves the house", f"{query.name}, {query.rows:,} × {query.cols:,} noisy numbers"),
        ("noise", design_words(setup.design)),
        ("a number is off by" if clipping_of(setup) is None else "noise moves a number by", off_by),
        ("spends", f"{spends(setup, planned)} (μ = {as_number(planned.mu)})"),
        ("these people, in all sessions" if lasts else "this data in this session",
         _totals_words(totals, delta)),
        *(("caution", caution) for caution in [delta_caution(planned.delta, data.n_records, thing(setup))] if caution),
        ("neighbours", query.neighbour_rule),
        ("ranges", "none needed for a graph" if graph else f"{_ranges_words(data)}{asked}"),
        *([] if query.bound is None else [("records", f"{bound_words(setup.scenario)}, {query.bound.origin.words}")]),
        ("taken as known to everyone", f"{data.n_records:,} {'vertices' if graph else 'records'}, the names "
                                       "of the columns"),
        ("not covered", listed(open_parts) if open_parts else "nothing left out"),
        ("hardened", f"against floating-point attacks{hardened}")]


def _totals_words(totals: tuple[Total, Total] | None, delta: str) -> str:
    """What was spent before this release, and after it."""
    if totals is None:
        return "not known before it is said who they are"
    so_far, after = totals[0], as_number(totals[1].epsilon)
    before = f"nothing → ε = {after}" if so_far.mu == 0 else f"ε = {as_number(so_far.epsilon)} → {after}"
    return f"{before} at δ = {delta}"


def _ranges_words(data: Dataset) -> str:
    """All declared, all read, or how many."""
    read = sum(not origin.is_covered for origin in data.range_origins)
    if read in (0, data.n_features):
        return data.ranges_origin.words
    return f"{read:,} of {data.n_features:,} {data.ranges_origin.words}"


def budget_words(setup: Setup, numbers: BudgetNumbers, planned: Plan, *, lasts: bool, named: bool = True) -> str:
    """Takeaway of the budget's bar; ``lasts``: whether the ledger does; ``named``: whether these people are."""
    whom, first = ("about these people", "about these people in the ledger") if lasts else (
        "of this data", "of this data in this session")
    if not named:
        return (f"**This release spends {spends(setup, planned)}**, beside what was released about the same people "
                "before.")
    this = f"**{'Another' if numbers.before else 'This'} release spends {spends(setup, planned)}.**"
    then = (f"With what was released {whom} already (ε = {as_number(numbers.epsilon_before)}) the total becomes "
            f"ε = {as_number(numbers.epsilon_after)}." if numbers.before else
            f"It is the first {first}.")
    if numbers.more is None:
        return f"{this} {then}"
    room = {0: "**That is over the cap.**", 1: "The cap has room for this one and no other like it."}.get(
        numbers.more, f"The cap has room for {numbers.more:,} like it.")
    return f"{this} {then} {room}"


def released_picture(release: Release) -> Picture:
    """A released answer, noise included."""
    shown, (rows, cols) = top_left(release.noisy), release.noisy.shape
    names = [in_html(name) for name in (release.row_names or ())[: shown.shape[0]]]
    square = rows == cols and not release.kind.is_table
    across = "record" if release.kind.is_table else "feature" if names and square else "column"
    open_parts = f" Not covered: {listed(list(release.not_covered))}." if release.caveats else ""
    part = f" The first {shown.shape[0]} × {shown.shape[1]} shown." if shown.size < release.noisy.size else ""
    return Picture(
        plot_matrix(shown, row_labels=names, height=300, row_title="feature" if names else "row", col_title=across,
                    col_labels=names if square else ["mean"] if release.kind.is_mean else [],
                    value_title="noisy answer"),
        f"**Released, {rows:,} × {cols:,}, noise included.** It spent {at_most(release.mu_is)}ε = "
        f"{as_number(release.epsilon)} at δ = {delta_words(release.delta, release.n_records or 0)}.{open_parts}{part}")


def ranges_table(data: Dataset) -> dict[str, list[object]]:
    """Every feature's range, as columns of a table."""
    return {"feature": list(data.features), "lowest": data.lower.tolist(), "highest": data.upper.tolist(),
            "origin": [origin.words for origin in data.range_origins]}


NOT_TOLD = ("There are no intervals for this release: the shape of its noise was read from the data, and would tell "
            "about it.")
ABOUT_FIT = ("Ridge on the released second moments alone, with more ridge where there is more noise, and with an "
             "intercept only where the mean was released beside them. The intervals are approximate, 95 %: the known "
             "noise is drawn anew around the release and the fit repeated. They are about the same fit without noise, "
             "of records as clipped; not about how the records were sampled, nor about causes. Coefficients are in the "
             "data's units; fitting spends nothing.")
_ALONE, _WITH, _MEAN = "on its own second moment ±", "with another feature, at most ±", "on its mean ±"
_OWN, _PERCENT = " (data's units)", f"{100 * LEVEL:g} %"


@dataclass(frozen=True, kw_only=True, eq=False)
class Widths:
    """Half the widths of the intervals of one answer. ``names``: of its features, if it has such; ``scale``: theirs."""

    kind: type[Query]
    names: tuple[str, ...] | None
    scale: str
    clipped: bool
    noise: EntryNoise = field(repr=False)
    units: DataUnits | None

    @property
    def square(self) -> bool:
        """Whether both sides of the answer are the features."""
        return self.names is not None and self.kind.symmetric

    @property
    def rows(self) -> FloatArray:
        """The largest of each row, in the data's units where they are known."""
        widths = self.noise.per_std() * self.noise.largest_std()
        return widths if self.units is None else widths * self.units.factor


def planned_widths(setup: Setup) -> Widths:
    """Of a release of this setup, as designed."""
    query, scale = setup.query, setup.scenario.scale
    return Widths(kind=type(query), names=query.row_names, scale=scale, clipped=clipping_of(setup) is not None,
                  noise=planned_noise(setup),
                  units=None if query.is_graph else data_units(type(query), scale, setup.dataset.ranges))


def released_widths(release: Release) -> Widths | None:
    """Of what was released; None where they are not told."""
    if release.entry_noise is None:
        return None
    scale = "declared" if release.scenario is None else release.scenario.scale
    return Widths(kind=release.kind, names=release.row_names, scale=scale, clipped=bool(released_clipping(release)),
                  noise=release.entry_noise, units=release.data_units)


def within(widths: Widths, name: Callable[[str], str] = str, most: int = 4, first: Sequence[int] = ()) -> str:
    """"± 2.3 on mcv, ± 5.1 on drinks", those of ``first`` first, or the smallest and the largest.

    ``name`` makes a name harmless.
    """
    if widths.names is not None and not widths.square:
        order = sorted(range(len(widths.names)), key=lambda k: k not in first)
        return listed([f"± {as_number(float(widths.rows[k]))} on {name(widths.names[k])}" for k in order], most)
    low, high = (widths.noise.per_std() * std for std in widths.noise.extremes())
    return f"± {as_number(low)}" + f" to ± {as_number(high)}" * (high > low * (1 + 1e-9))


def widths_sentence(widths: Widths, name: Callable[[str], str]) -> str:
    """The takeaway, in Markdown."""
    far = ("noise moves a released number by at most" if widths.clipped else
           "a released number is at most this far from the answer")
    return f"**In {_PERCENT} of releases {far}: {within(widths, name)}{_units(widths)}.**"


def worth_sentence(setup: Setup) -> str:
    """The same against the width of the ranges, on what is needed and on the other columns; empty for other answers."""
    query, noise, features = setup.query, planned_noise(setup), setup.dataset.n_features
    if not query.degree:
        return ""
    parts = (noise.largest_std() / setup.table.widths)[:, None]
    if query.symmetric:
        largest = np.maximum(setup.table.largest_values, np.finfo(float).tiny)
        parts = np.array([noise.std_of_row(i) for i in range(query.rows)]) / np.outer(largest, largest)
    needed = [k for k in setup.scenario.needed_features if k < features]
    other = [k for k in range(features) if k not in needed]

    def most(rows: list[int]) -> str:
        kept = parts[rows][:, [*rows, *range(features, query.rows)]] if query.symmetric else parts[rows]
        return f"{as_number(100 * noise.per_std() * float(kept.max()))} %"

    rest = f" on what is needed, {most(other)} on other columns" if needed and other else ""
    return f"That is at most ± {most(needed or other)} of {'full scale' if query.symmetric else 'a range'}{rest}."


def covers_sentences(widths: Widths) -> str:
    """What the intervals speak of."""
    symmetric = (" Off the diagonal it is the average of two noisy numbers, which is counted." *
                 (widths.noise.symmetrised and widths.noise.rows.size > 1))
    return (f"Each number by itself: of a hundred, about {100 * (1 - LEVEL):.0f} lie further away.{symmetric} "
            f"{capitalised(covered_words(widths.kind, bounded=widths.clipped))}.")


def off_by(setup: Setup, *, on_data: bool) -> str:
    """The same of a planned release in a few words; ``on_data``: for the holder, who looks at results on the data."""
    noise = within(planned_widths(setup), most=3, first=setup.scenario.needed_features)
    parts = f"at most {noise}, in {_PERCENT} of releases", clipping_words(setup, on_data=on_data)
    return ". ".join(filter(None, parts))


def width_columns(widths: Widths) -> dict[str, list[Any]]:
    """Half the width for each feature, as columns of a table; none where rows are no features."""
    if widths.names is None:
        return {}
    noise, names = widths.noise, list(widths.names)
    if widths.square:
        columns = _of_moments(widths)
        names = names[: columns[_ALONE].size]
    else:
        columns = {"within ±": noise.largest_std()}
    told = {head: noise.per_std() * column for head, column in columns.items()}
    if widths.units is not None:
        told |= {f"{head}{_OWN}": column * widths.units.factor for head, column in told.items()}
    return {"feature": names} | {head: column.tolist() for head, column in told.items()}


def _of_moments(widths: Widths) -> dict[str, FloatArray]:
    """Of second moments; of the mean too, where a constant was joined to the features, last."""
    noise, size = widths.noise, widths.kind.own_features(len(widths.names or ()))
    rows = [noise.std_of_row(i) for i in range(size)]
    columns = {_ALONE: (noise.rows * noise.cols)[:size]}
    if size > 1:
        columns[_WITH] = np.array([np.delete(row[:size], i).max() for i, row in enumerate(rows)])
    return ({_MEAN: np.array([row[-1] for row in rows])} if widths.kind.has_constant else {}) | columns


def mean_columns(release: Release) -> dict[str, list[Any]]:
    """A released mean and its intervals in the data's units, as columns of a table."""
    values, halves, units = release.noisy, release.half_widths(), release.data_units
    if units is not None:
        values, halves = units.of(values), units.factor[:, None] * halves
    columns = {"released": values, "lower": values - halves, "upper": values + halves}
    return {"feature": list(release.row_names or ())} | {head: part[:, 0].tolist() for head, part in columns.items()}


def mean_picture(release: Release, widths: Widths) -> Picture:
    """A released mean with its intervals, in percent of the ranges."""
    ranges = release.declared_ranges or release.ranges or {}
    numbers = range_numbers(*mean_columns(release).values(), ends=[known[:2] for known in ranges.values()])
    part = f" The first {MOST_LINES} shown." if len(ranges) > MOST_LINES else ""
    return Picture(plot_intervals(numbers, title="released mean, in % of its range", lines=(0, 100)),
                   f"{widths_sentence(widths, in_markdown)}{part}", """\
The noise is Gaussian and its size is known to everyone, so how far it can move a number is known exactly: 1.96 \
typical errors (standard deviations) to either side hold 95 % of it. The interval follows from the released number and \
the size of the noise, never from the true answer. Bars that reach over an end of the range may be cut there: the \
answer lies inside it.""")


def fit_picture(fit: Coefficients) -> Picture:
    """The coefficients of a regression from what was released, with their intervals."""
    title = f"change of {in_html(fit.label)}, in % of its range,<br>while a feature crosses its own"
    part = f" The first {MOST_LINES} shown." if len(fit.features) > MOST_LINES else ""
    return Picture(plot_intervals(coefficient_numbers(fit), title=title, lines=(0,)),
                   f"{coefficients_sentence(fit, in_markdown)}{part}")


def coefficients_sentence(fit: Coefficients, name: Callable[[str], str]) -> str:
    """Which coefficients stand out from the noise, in Markdown."""
    clear, count = [name(feature) for feature in fit.clear], len(fit.features)
    if not clear:
        return f"**No coefficient of {name(fit.label)} is clear of the noise:** every interval holds 0."
    return (f"**{len(clear)} of {count} {'coefficient' if count == 1 else 'coefficients'} of {name(fit.label)} "
            f"{'is' if len(clear) == 1 else 'are'} clear of the noise:** {listed(clear)}.")


def coefficient_columns(fit: Coefficients) -> dict[str, list[Any]]:
    """The fit and its intervals, as columns of a table."""
    return {"feature": list(fit.features), "coefficient": fit.values.tolist(), "lower": fit.lower.tolist(),
            "upper": fit.upper.tolist()}


def _units(widths: Widths) -> str:
    """Which units the numbers are in, where that has to be said."""
    if widths.units is not None:
        return ", in the data's own units"
    mapped = widths.names is not None and widths.scale != "declared"
    return f", in the units it was asked in (features {SCALES[widths.scale]})" if mapped else ""


POPULATION_HELP = ("The people (or households, firms, …) behind the records. All files about them share one budget, in "
                   "every session: give them one name, and always the same. The name is written into the ledger; put "
                   "nothing secret in it.")
JOIN_HELP = "What was and will be released about either then counts for both, for good. Of two caps the lower holds."
IMPORT_HELP = ("Releases of a session that was not yet counted here. What counts for these people already is not "
               "counted twice, unless its file is too old to tell; no cap keeps out what was released.")
SESSION_ONLY = (":material/warning: The ledger lives in this session alone, never on a disk: reloading or closing the "
                "browser tab loses it. Download it after the last release. It cannot know what was released elsewhere.")
LASTS = (":material/save: A lasting ledger on this computer: it is still there after a reload, a restart or a crash. "
         "What a release spends is written before its noise is drawn. It counts by the names it is given, and cannot "
         "know what was released elsewhere or under another name.")


def totals_words(ledger: Ledger) -> str:
    """What the releases about the last people spent together, and in a session those of all data."""
    entries = ledger.entries
    last, names = entries[-1], {entry.population for entry in entries}
    text = (f"Releases of {in_markdown(last.population)} together: "
            f"{ledger.total(last.population, delta=last.delta).words}.")
    if not ledger.lasts and len(names) > len(ledger.same_people(last.population)):
        text += (f" All {len(names)} data together, as if about the same people: "
                 f"{ledger.total(delta=last.delta).words}.")
    return text.replace("epsilon", "ε =").replace("delta", "δ =")


def imported_words(new: int, population: str) -> str:
    """What a downloaded ledger brought."""
    return (f"{'One release now counts' if new == 1 else f'{new:,} releases now count'} for {in_markdown(population)}.")


def unfinished_words(entries: tuple[Entry, ...]) -> str:
    """What was reserved and never called released; nothing where all were."""
    count = sum(not entry.is_finished for entry in entries)
    if not count:
        return ""
    which = "One release was" if count == 1 else f"{count:,} releases were"
    return (f":material/hourglass_disabled: {which} reserved and never finished: a crash or a full disk came between, "
            "or it is being drawn in another window. Nobody knows whether its noise was seen, so it counts as spent.")


def ledger_rows(ledger: Ledger) -> list[dict[str, object]]:
    """A line of a table for each entry."""
    return [{
        "time (UTC)": entry.time.replace("T", " ").replace("+00:00", ""),
        **({"about": spreadsheet_cell(entry.population)} if ledger.lasts else {}), "data": entry.data,
        "query": entry.query, "design": spreadsheet_cell(entry.design), "μ": entry.mu, "ε": entry.epsilon,
        "at δ": as_probability(entry.delta), "not covered": listed(list(entry.not_covered)) if entry.caveats else "",
        **({"state": "released" if entry.is_finished else "never finished"} if ledger.lasts else {}),
        "total ε of the same people": entry.total_epsilon} for entry in ledger.entries]
