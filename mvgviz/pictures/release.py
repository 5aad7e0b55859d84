"""What a release will spend, what was released, and how far released numbers may be off."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.labels import GAPS, SCALES
from mvgviz.pictures import sentences, theme
from mvgviz.pictures.sentences import bound_words, clipping_words, released_clipping, thing
from mvgviz.pictures.theme import Picture
from mvgviz.query.dataset import Dataset
from mvgviz.query.frames import DAYS, date_text
from mvgviz.query.queries import Query
from mvgviz.release.answer import Release
from mvgviz.release.combine import Combined, MeansByGroup
from mvgviz.release.fitted import Coefficients, PopulationIntervals
from mvgviz.release.intervals import (
    LEVEL,
    OUTSIDE,
    DataUnits,
    EntryNoise,
    covered_words,
    data_units,
    planned_noise,
    row_widths,
)
from mvgviz.release.ledger import CAVEATS, Total
from mvgviz.release.release import Plan, design_words
from mvgviz.scenario.bound import clipping_of
from mvgviz.scenario.own_units import SHARES
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import (
    as_number,
    at_delta,
    at_most,
    capitalised,
    delta_caution,
    in_html,
    in_markdown,
    listed,
    mu_words,
)
from mvgviz.validation import FloatArray

MOST_LINES = 40


def _lines_words(count: int) -> str:
    return theme.part_words((min(count, MOST_LINES),), (count,))


def plot_intervals(columns: Mapping[str, Sequence[Any]], starts: FloatArray, factors: FloatArray, *, title: str,
                   lines: Sequence[float]) -> go.Figure:
    """Draw dots with bars in percent, ``factors`` times their distance from ``starts``, and dotted ``lines``."""
    names, *_, values, lower, upper = (list(column)[:MOST_LINES] for column in columns.values())
    percent, shown = 100 * factors[:MOST_LINES], [in_html(name) for name in names]
    places = percent * (np.array(values) - starts[:MOST_LINES])
    words = [f"{as_number(value)} ({as_number(low)} to {as_number(high)})"
             for value, low, high in zip(values, lower, upper, strict=True)]
    figure = go.Figure()
    theme.add_dots(figure, places, list(range(len(names))), "", theme.DIRECTIONAL, 9, error_x={
        "array": percent * np.subtract(upper, values), "arrayminus": percent * np.subtract(values, lower),
        "thickness": 3, "width": 0}, customdata=list(zip(shown, words, strict=True)),
        hover="%{customdata[0]}: %{customdata[1]}")
    figure.update_layout(shapes=[theme.upright(place, theme.DATA, "dot", width=1.5) for place in lines])
    figure.update_xaxes(title=title, zeroline=False)
    figure.update_yaxes(**theme.row_axis(shown))
    return theme.styled(figure, height=110 + 26 * len(names), legend=False)


ACCEPT = {
    "ranges": "the **ranges were read from the data**. The size of the noise reveals the smallest and largest values",
    "directions": "the **directions were read from the data** without noise. The shape of the noise reveals how the "
                  "records vary",
    "split": "the **split of the budget was read from the data** without noise. The share of each direction reveals "
             "something about the records",
    "records": "the published **record count depends on the data**: {dropped}",
    "bound": "the **clipping bound was read from the data**. The size of the noise reveals how large the records' "
             "values are",
    "choices": "I **chose after looking at results on the data**: {chosen}. That reveals something about the records"}
"""What has to be accepted, by caveat."""


def accept_words(caveat: str, data: Dataset, scenarios: Sequence[Scenario]) -> str:
    """Return what has to be ticked before these scenarios are released."""
    chosen = dict.fromkeys(name for scenario in scenarios for name in sentences.chosen_on_data(scenario))
    words = ACCEPT[caveat].format(dropped=sentences.dropped_words(data), chosen=listed(list(chosen), 20))
    return f"I accept that {words}. No guarantee covers that."


def average_words(average: Combined, shown: Release) -> str:
    """Say what averaging several releases of one question gains."""
    narrower = 100 * (1 - float((average.half_widths() / shown.half_widths()).mean()))
    return (f"**{len(average.releases)} releases asked this. Their average has intervals {narrower:.0f} % narrower** "
            f"and spends nothing more (together ε = {as_number(average.epsilon)}). This assumes that the records did "
            f"not change. {released_clipping(shown, in_markdown)}").rstrip()


def spends(setup: Setup, planned: Plan) -> str:
    """Return such as ε = 1.00 at δ = 10⁻⁶."""
    pure = setup.design.is_pure
    return (f"{'' if pure else at_most(setup.design.mu_is)}ε = {as_number(planned.epsilon)} "
            f"{at_delta(planned.delta, pure=pure)}")


def facts(setup: Setup, planned: Plan, totals: tuple[Total, Total] | None, factor: float | None, off_by: str, *,
          lasts: bool) -> list[tuple[str, str]]:
    """Return the summary before a release, as name and plain text; ``totals``: spent before and after it."""
    data, query, open_parts = setup.dataset, setup.query, [CAVEATS[caveat] for caveat in planned.caveats]
    counted = f"the number of {'vertices' if query.is_graph else 'records'} ({data.n_records:,}) and "
    hardened = ("drawn exactly, in whole numbers" if setup.design.blocks else "private parts are computed again"
                if factor is None else f"noise larger by a factor 1 + {as_number(factor - 1, 2)}")
    caution = delta_caution(planned.delta, data.n_records, thing(setup))
    total = "name the population to see this" if totals is None else (
        f"ε = {as_number(totals[0].epsilon) if totals[0].epsilon else 0} before, {as_number(totals[1].epsilon)} after, "
        f"{at_delta(planned.delta, pure=not totals[1].mu)}")
    found = {
        "published": f"{query.title}, {query.rows:,} × {query.cols:,} noisy numbers",
        "under the name": data.title,
        "noise": design_words(setup.design),
        "a number is off by" if clipping_of(setup) is None else "noise moves a number by": off_by,
        "spends": f"{spends(setup, planned)}{f' ({mu_words(planned.mu)})' * (planned.mu > 0)}",
        "total for these people" if lasts else "total for this data, in this session": total,
        "caution": caution,
        "neighbours": setup.neighbour_rule,
        "ranges": "" if query.is_graph else data.ranges_origin.words,
        "gaps": GAPS[data.gaps] if data.gaps else "",
        "records": "" if query.bound is None else f"{bound_words(setup.scenario)}, {query.bound.origin.words}",
        "treated as public": f"{counted * ('records' not in planned.caveats)}the column names",
        "not private": listed(open_parts) if open_parts else "nothing was read from the data",
        "hardened": f"against floating-point attacks: {hardened}"}
    return [(name, text) for name, text in found.items() if text]


def released_picture(release: Release) -> Picture:
    """Draw a released answer, noise included."""
    shown, (rows, cols) = theme.top_left(release.noisy), release.noisy.shape
    own = release.data_units
    names = [in_html(name) for name in (release.row_names or ())[: shown.shape[0]]]
    square = rows == cols and not release.kind.is_table
    across = "record" if release.kind.is_table else "feature" if names and square else "column"
    open_parts = f" Not private: {listed(list(release.not_covered))}." if release.caveats else ""
    return Picture(
        theme.plot_matrix(
            shown, row_labels=names, height=300, row_title="feature" if names else "row", col_title=across,
            col_labels=names if square else [in_html(name) for name in release.names[1][: shown.shape[1]]],
            value_title="noisy answer", in_units=None if own is None else theme.top_left(release.in_units),
            days=[release.units.get(name) == DAYS for name in release.names[0][: shown.shape[0]]]
            if release.kind.is_mean else ()),
        f"**Released: {rows:,} × {cols:,} numbers, with noise.** It spent {at_most(release.mu_is)}ε = "
        f"{as_number(release.epsilon)} {at_delta(release.delta, pure=not release.mu)}.{open_parts}"
        f"{theme.part_words(shown.shape, release.noisy.shape)}")


def ranges_table(data: Dataset) -> dict[str, list[str]]:
    """Return every feature's range as columns of a table, dates as dates."""
    lowest, highest = ([date_text(end) if unit == DAYS else f"{end:g}" for end, unit in zip(
        ends.tolist(), data.units, strict=True)] for ends in (data.lower, data.upper))
    return {"feature": list(data.features), "lowest": lowest, "highest": highest,
            "origin": [origin.words for origin in data.range_origins]}


NO_INTERVALS = "This release has no intervals: the shape of its noise was read from the data and would reveal it."
ABOUT_GROUPS = ("95 % intervals for the noise. Population intervals add the largest sampling error that the ranges "
                "allow; they assume a random sample.")
ABOUT_FIT = ("A ridge regression on the released second moments, which spends nothing. Its approximate 95 % intervals "
             "cover noise alone, for records as clipped: not sampling, and not causes.")
_ALONE, _WITH, _MEAN = "on its own second moment (unit²) ±", "with another feature, at most ±", "on its mean ±"
_WITH_SHARE, _PERCENT = f"{_WITH} {SHARES[2]}", f"{100 * LEVEL:g} %"


@dataclass(frozen=True, kw_only=True, eq=False)
class Widths:
    """Half the widths of the intervals of one answer. ``names``: of its features, if it has such; ``scale``: theirs."""

    kind: type[Query]
    names: tuple[str, ...] | None
    scale: str
    clipped: bool
    noise: EntryNoise = field(repr=False)
    units: DataUnits | None
    measures: Mapping[str, str] = field(default_factory=dict)
    gaps: str = ""

    @property
    def whole(self) -> float:
        """The unit in percent of the full scale of second moments; 1 where ranges were not mapped."""
        return 1.0 if self.scale == "declared" else 100.0

    @property
    def square(self) -> bool:
        return self.names is not None and self.kind.symmetric


def planned_widths(setup: Setup) -> Widths:
    """Return the widths of a release of this setup."""
    query, scale = setup.query, setup.scenario.scale
    return Widths(kind=type(query), names=query.row_names, scale=scale, clipped=clipping_of(setup) is not None,
                  noise=planned_noise(setup), units=None if query.is_graph else data_units(
                      type(query), scale, setup.dataset.ranges, query.row_names),
                  measures=dict(zip(setup.dataset.features, setup.dataset.units, strict=True)),
                  gaps=setup.dataset.gaps)


def released_widths(release: Release) -> Widths | None:
    """Return a release's widths, None where they would reveal something."""
    if release.entry_noise is None:
        return None
    scale = "declared" if release.scenario is None else release.scenario.scale
    return Widths(kind=release.kind, names=release.row_names, scale=scale, clipped=bool(released_clipping(release)),
                  noise=release.entry_noise, units=release.data_units, measures=release.units, gaps=release.gaps)


def within(widths: Widths, name: Callable[[str], str] = str, most: int = 4, first: Sequence[int] = ()) -> str:
    """Return "± 2.3 on mcv, ± 5.1 on drinks", ``first`` first, or smallest and largest; ``name`` escapes names."""
    if widths.names is not None and not widths.square:
        order = sorted(range(len(widths.names)), key=lambda k: k not in first)
        sums = len(order) - 1 if widths.kind.by_group else 0  # the last row counts records
        rows = row_widths(widths.noise, widths.units)
        return listed([f"± {as_number(float(rows[k]))} on {'the sum of ' * (k < sums)}{name(widths.names[k])}"
                       for k in order], most)
    share = widths.kind.degree == 2 and widths.scale != "declared"
    unit, std = widths.noise.per_std() * (widths.whole if share else 1), widths.noise.std
    low, high = float(unit * std.min()), float(unit * std.max())
    return f"± {as_number(low)}" + f" to ± {as_number(high)}" * (high > low * (1 + 1e-9)) + f" {SHARES[2]}" * share


def widths_sentence(widths: Widths, name: Callable[[str], str]) -> str:
    """Return the takeaway, in Markdown."""
    far = "noise moves a number" if widths.clipped else "a released number differs from the answer"
    return f"**In {_PERCENT} of releases {far} by at most {within(widths, name)}{_units(widths)}.**"


def covers_sentences(widths: Widths) -> str:
    """Say what the intervals cover."""
    symmetric = " Off the diagonal each is the average of two noisy numbers." * (
        widths.noise.symmetrised and widths.noise.rows.size > 1)
    return (f"This holds for each number alone: about {100 * (1 - LEVEL):.0f} of 100 lie further away.{symmetric} "
            f"{capitalised(covered_words(widths.kind, bounded=widths.clipped, gaps=widths.gaps))}."
            f"{f' {capitalised(OUTSIDE)}.' * (widths.kind.degree == 1)}")


def off_by(setup: Setup, *, on_data: bool) -> str:
    """Say how far a planned release is off; ``on_data``: for the holder, who looks at results on the data."""
    noise = within(planned_widths(setup), most=3, first=setup.scenario.priority_features)
    return ". ".join(filter(None, [f"{noise}, or less in {_PERCENT} of releases (each number by itself)",
                                   clipping_words(setup, on_data=on_data)]))


def width_columns(widths: Widths) -> dict[str, list[Any]]:
    """Return half the width for each feature as columns of a table; none where rows are no features."""
    if widths.names is None:
        return {}
    if not widths.square:
        return _table(widths.names, widths.measures, {"within ±": row_widths(widths.noise, widths.units)})
    size, asked = widths.kind.own_features(len(widths.names)), widths.noise.half_widths()
    own = asked if widths.units is None else widths.units.widths(asked)
    columns = {_MEAN: own[:size, -1]} if widths.kind.has_constant else {}
    columns[_ALONE] = np.diag(own)[:size]
    if size > 1:  # products with other features have no unit in common
        others = asked[:size, :size][~np.eye(size, dtype=bool)].reshape(size, size - 1)
        columns[_WITH if widths.scale == "declared" else _WITH_SHARE] = others.max(axis=1) * widths.whole
    return _table(widths.names[:size], widths.measures, columns)


def _table(names: Sequence[str], measures: Mapping[str, str], columns: Mapping[str, FloatArray]
           ) -> dict[str, list[Any]]:
    units = [measures.get(name, "") for name in names]
    return {"feature": list(names)} | ({"unit": units} if any(units) else {}) | {
        head: column.ravel().tolist() for head, column in columns.items()}


def with_dates(columns: Mapping[str, Sequence[Any]]) -> Mapping[str, Sequence[Any]]:
    """Return the columns with dates as text, which makes texts of all numbers; unchanged without dates."""
    units = columns.get("unit", ())
    if DAYS not in units:
        return columns

    def cell(head: str, value: Any, unit: str) -> str:
        if isinstance(value, str) or unit != DAYS:
            return value.replace(DAYS, "date") if isinstance(value, str) else as_number(value, 4)
        if "±" not in head:
            return date_text(value)
        measure = "" if head.startswith(_WITH) else " days²" if head == _ALONE else " days"
        return f"{as_number(value)}{measure}"

    return {head: [cell(head, value, unit) for value, unit in zip(column, units, strict=True)]
            for head, column in columns.items()}


def mean_columns(release: Release) -> dict[str, list[Any]]:
    """Return a released mean and its intervals in the data's units as columns of a table."""
    values, halves = release.in_units, release.half_widths(in_units=True)
    return _table(release.row_names or (), release.units,
                  {"released": values, "lower": values - halves, "upper": values + halves})


def number_columns(release: Release) -> Mapping[str, Sequence[Any]]:
    """Return every released number and its interval; none where they are many, or second moments."""
    if release.kind.symmetric or release.noisy.size > MOST_LINES:
        return {}
    return dict(release.to_frame().drop(columns=["column"] * (release.noisy.shape[1] == 1)).to_dict("list"))


def population_columns(found: PopulationIntervals, units: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return intervals for the population: noise and sampling apart and together."""
    return _table(found.features, units, {
        "released": found.values, "noise ±": found.noise, "sampling ±": found.sampling, "together ±": found.half,
        "lower": found.values - found.half, "upper": found.values + found.half})


def group_columns(found: MeansByGroup, units: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return means by group and their intervals."""
    columns = found.columns()
    return _table(columns["feature"], units, {}) | columns


def population_words(found: PopulationIntervals, gaps: str) -> str:
    """Say what these intervals rest on; ``gaps``: how they were treated."""
    filled = {"middle": " and with gaps filled", "drop": ", in records without gaps"}.get(gaps, "")
    rests = ("**Conservative:** the sampling error is the largest that the ranges allow." if found.is_conservative else
             "The sampling error comes from released second moments.")
    return (f"{_PERCENT} intervals. {rests} They hold only if the records are an independent random sample, and "
            f"describe values as clipped{filled}.")


def mean_picture(release: Release, widths: Widths) -> Picture:
    """Draw a released mean with its intervals, in percent of the ranges."""
    ranges = release.declared_ranges or release.ranges or {}
    low, high = np.array([known[:2] for known in ranges.values()]).T
    figure = plot_intervals(mean_columns(release), low, 1 / (high - low), title="released mean, in % of its range",
                            lines=(0, 100))
    return Picture(figure, f"{widths_sentence(widths, in_markdown)}{_lines_words(len(ranges))}", (
        "The interval uses the released number and the size of the noise, never the true answer."))


def fit_picture(fit: Coefficients) -> Picture:
    """Draw the coefficients of a regression from what was released, with their intervals."""
    title = f"change of {in_html(fit.label)}, in % of its range,<br>while a feature crosses its own"
    figure = plot_intervals(coefficient_columns(fit), np.zeros(len(fit.features)), fit.whole, title=title, lines=(0,))
    clear, label = [in_markdown(feature) for feature in fit.clear], in_markdown(fit.label)
    return Picture(figure, (
        f"**Clear of the noise: {len(clear)} of {len(fit.features)} coefficients of {label}:** {listed(clear)}."
        if clear else f"**No coefficient of {label} is clear of the noise:** every interval holds 0.")
        + _lines_words(len(fit.features)))


def coefficient_columns(fit: Coefficients) -> dict[str, list[Any]]:
    """Return the fit and its intervals as columns of a table."""
    return _table(fit.features, {}, {"coefficient": fit.values, "lower": fit.lower, "upper": fit.upper})


def _units(widths: Widths) -> str:
    if widths.units is not None:
        return "" if widths.kind.degree == 2 else ", in the data's units"
    if widths.kind.unit:
        return f", in {widths.kind.unit}"
    mapped = widths.names is not None and widths.scale != "declared"
    return f", with features {SCALES[widths.scale]}" if mapped else ""
