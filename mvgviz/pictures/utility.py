"""Errors over repeated trials: as dots, over epsilon, by choice of directions, part by part, and one draw."""

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.labels import JUDGED, REFERENCES
from mvgviz.noise.ties import largest_first, to_nine_digits
from mvgviz.pictures.budget import short_label
from mvgviz.pictures.error_axis import (
    REFERENCE_DASHES,
    ErrorAxis,
    error_axis,
    lines_over,
    mean_words,
    reference_items,
    reference_look,
)
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.sentences import clipping_words
from mvgviz.pictures.theme import (
    DATA,
    DIRECTIONAL,
    IID,
    MOST_COLS,
    log_axis,
    plot_matrix,
    row_axis,
    stroke,
    styled,
    top_left,
    upright,
    wash,
)
from mvgviz.pictures.trade_off import least_sentence
from mvgviz.query.queries import Query
from mvgviz.scenario.own_units import FeatureNoise, own_units
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_factor, as_number, capitalised, delta_words, in_markdown, listed
from mvgviz.trials.first_trial import Components, FirstTrial, Predictions
from mvgviz.trials.problem import Problem
from mvgviz.trials.results import (
    BETTER,
    SAME,
    UNCLEAR,
    WORSE,
    Difference,
    Outcome,
    Results,
    against,
    beaten_from,
    paired,
)
from mvgviz.trials.run import PartErrors
from mvgviz.trials.sweeps import Favoured
from mvgviz.trials.tasks import References
from mvgviz.validation import FloatArray

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "hexagon", "triangle-down", "pentagon")
_COUNTS = (100, 50, 20)
_BINS = 64
_TALLEST = 11
_HEIGHT = 385
_ALIKE = 5e-4  # of an error: less is no difference
LANES = {"mvg": ("directional", DIRECTIONAL), "iid": ("equal noise", IID)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Lane:
    """One mechanism. ``dots``: quantiles of its errors; ``places``: where they stand; ``levels``: how high, from 0."""

    outcome: Outcome
    dots: FloatArray = field(repr=False)
    places: FloatArray = field(repr=False)
    levels: FloatArray = field(repr=False)

    @property
    def key(self) -> str:
        return self.outcome.mechanism.key


@dataclass(frozen=True, kw_only=True, eq=False)
class DotNumbers:
    """``dots``: how many each lane has, the same for both (0 before the first trial)."""

    lanes: tuple[Lane, ...]
    axis: ErrorAxis
    references: list[tuple[str, float]]
    dots: int

    @property
    def tallest(self) -> int:
        """Dots in the highest stack."""
        return int(max((lane.levels.max(initial=-1) for lane in self.lanes), default=-1)) + 1


def quantile_dots(errors: FloatArray, count: int) -> FloatArray:
    """``count`` quantiles in the middle of equal shares; with one for each trial, the sorted errors themselves."""
    return np.asarray(np.quantile(errors, (np.arange(count) + 0.5) / count, method="hazen"))


def dot_numbers(results: Results) -> DotNumbers:
    """100, 50 or 20 dots: as many as there are trials for and as stack low enough to be seen."""
    outcomes = [outcome for outcome in results.outcomes if np.isfinite(outcome.errors).all()]
    tried = [outcome for outcome in outcomes if outcome.errors.size]
    references = reference_items(results.references)
    lines = [value for _, value in references]
    axis = error_axis([*lines, *(error for outcome in tried for error in outcome.errors.tolist())],
                      typical=[*lines, *(float(np.median(outcome.errors)) for outcome in tried)])
    trials = min((outcome.errors.size for outcome in tried), default=0)
    counts = sorted({k for k in (*_COUNTS, trials) if 0 < k <= min(trials, _COUNTS[0])}, reverse=True)
    lanes: tuple[Lane, ...] = ()
    dots = 0
    for dots in counts:
        lanes = tuple(_lane(outcome, axis, dots) for outcome in tried)
        if max(lane.levels.max() for lane in lanes) < _TALLEST or dots <= _COUNTS[-1]:
            break
    return DotNumbers(lanes=lanes, axis=axis, references=references, dots=dots)


def _lane(outcome: Outcome, axis: ErrorAxis, count: int) -> Lane:
    dots = quantile_dots(outcome.errors, count)
    width = (axis.high - axis.low) / _BINS
    bins = np.minimum((axis.place(dots) - axis.low) // width, _BINS - 1)
    levels = np.arange(count) - np.searchsorted(bins, bins)  # dots are sorted, so stacks are runs
    return Lane(outcome=outcome, dots=dots, places=axis.low + (bins + 0.5) * width, levels=levels.astype(np.float64))


def dots_picture(results: Results, needed: Sequence[str] = (), *, on: str = "") -> Picture:
    """Errors of directional and equal noise, trial by trial; ``needed`` and ``on`` as in ``result_words``."""
    numbers = dot_numbers(results)
    share = f"{100 / numbers.dots:.3g} %" if numbers.dots else "a share"
    return Picture(plot_dots(numbers, title=metric_words(results)), result_words(results, needed, on=on), f"""\
Each dot is {share} of the trials, stacked where they fall: many dots, likely there. Diamond and bar: the mean and its \
95 % interval. Blue: this scenario's directional noise. Orange: equal noise at the same budget. Both meet the same \
random numbers, trial by trial. **Without privacy**: no noise. **Answer without data**: what the ranges alone tell \
(their middle, a fixed direction). **Private mean**: of the label, for everyone. **Random guess**: chance.""")


def plot_dots(numbers: DotNumbers, *, title: str) -> go.Figure:
    """Two lanes; under each its mean (diamond) and interval; each line's label on a level of its own."""
    axis = numbers.axis
    per_unit = (_HEIGHT - 140) / 2.25  # pixels
    spacing = min(0.8 / max(numbers.tallest, 1), 12 / per_unit)
    baselines = dict(zip(LANES, (1.0, 0.0), strict=True))
    lines = [_reference(axis, kind, value, above=6 + 19 * level, left=left)
             for level, (kind, value, left) in enumerate(_stacked(numbers))]
    ticks = [f"<b>{LANES[lane.key][0]}</b><br>{mean_words(lane.outcome).replace(' ± ', '<br>± ')}"
             for lane in numbers.lanes]
    figure = go.Figure(layout={
        "shapes": [shape for shapes, _ in lines for shape in shapes], "annotations": [label for _, label in lines],
        "xaxis": axis.layout(title),
        "yaxis": {"range": [-0.2, 2.05], "showgrid": False, "zeroline": False, "ticktext": ticks,
                  "tickvals": [baselines[lane.key] + 0.25 for lane in numbers.lanes]}})
    for lane in numbers.lanes:
        name, colour = LANES[lane.key]
        figure.add_scatter(
            x=axis.value(lane.places), y=baselines[lane.key] + 0.06 + (lane.levels + 0.5) * spacing, mode="markers",
            name=name, customdata=lane.dots, marker={"color": colour, "size": max(spacing * per_unit - 1, 2.5)},
            hovertemplate=f"{name}: error %{{customdata:.4g}}<br>one dot: {100 / numbers.dots:.3g} % of the trials"
                          "<extra></extra>")
        _add_mean(figure, lane, axis, baselines[lane.key] - 0.07)
    more = 19 * max(len(lines) - 3, 0)
    return styled(figure, height=_HEIGHT + more, legend=False, top=66 + more)


def _add_mean(figure: go.Figure, lane: Lane, axis: ErrorAxis, y: float) -> None:
    name, colour = LANES[lane.key]
    mean, half = lane.outcome.mean, lane.outcome.half_width
    interval: dict[str, Any] = {}
    words = f"{name}: mean %{{customdata[0]:.4g}}"
    if math.isfinite(half):
        interval = {"error_x": axis.whisker(mean, mean - half, mean + half, colour=colour, thickness=3, width=7)}
        words += " ± %{customdata[1]:.2g} (95 % interval)"
    figure.add_scatter(x=[float(axis.cut(mean))], y=[y], mode="markers", name=f"{name}, mean",
                       customdata=[[mean, half]], marker={"color": colour, "size": 10, "symbol": "diamond"},
                       hovertemplate=f"{words}<extra></extra>", **interval)


def _stacked(numbers: DotNumbers) -> list[tuple[str, float, bool]]:
    """Kind, error and whether the label starts at its line (else it ends there), the lowest label first.

    Labels go to the side with room, and their heights are such that no line crosses a label.
    """
    axis = numbers.axis
    shares = [float((axis.place(value) - axis.low) / (axis.high - axis.low)) for _, value in numbers.references]
    edge = 1.0 if max(shares, default=0) < 0.75 else 0.0 if min(shares, default=0) > 0.3 else 0.5
    both = list(zip(numbers.references, shares, strict=True))
    right = [(*item, False) for item, share in both if share >= edge]
    left = [(*item, True) for item, share in reversed(both) if share < edge]
    return [*right, *left]


def _reference(axis: ErrorAxis, kind: str, value: float, *, above: int,
               left: bool) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A line from the bottom up to its label, ``above`` the picture by so many pixels at any height; and the label."""
    text = f"{REFERENCES[kind]}: {as_number(value)}"
    line = upright(float(axis.cut(value)), DATA, REFERENCE_DASHES[kind], width=2, xref="x", layer="below")
    # On a log axis a label's place is an exponent, a line's is not.
    label = {"x": float(axis.place(value)), "y": 1, "yshift": above, "yref": "paper", "xref": "x", "showarrow": False,
             "yanchor": "bottom", "xanchor": "left" if left else "right", "font": {"size": 12}, "borderpad": 1,
             "text": text if axis.holds(value) else f"◂ {text}"}
    return [line, line | {"y1": above, "ysizemode": "pixel", "yanchor": 1}], label


@dataclass(frozen=True, kw_only=True, eq=False)
class SetRow:
    """One choice: a set, or None for equal noise."""

    choice: Favoured | None
    outcome: Outcome
    colour: str
    symbol: str


def ranked_sets(rows: Iterable[SetRow]) -> list[SetRow]:
    """Rows with trials, the smallest mean first."""
    known = [row for row in rows if row.outcome.errors.size and math.isfinite(row.outcome.mean)]
    return sorted(known, key=lambda row: to_nine_digits(row.outcome.mean))


def sets_picture(rows: list[SetRow], references: References, *, names: "SetNames", title: str) -> Picture:
    """Errors by choice of directions, ranked: a mark and its interval a row."""
    labels, items = [short_label(names(row.choice)) for row in rows], reference_items(references)
    ends = [end for row in rows for end in (row.outcome.mean + np.nan_to_num(row.outcome.half_width), row.outcome.mean)]
    axis, figure = error_axis([*(value for _, value in items), *ends]), go.Figure()
    for kind, value in items:
        on_axis = axis.holds(value)
        name = f"{REFERENCES[kind]} ({as_number(value)}{'' if on_axis else ', left of the axis'})"
        figure.add_scatter(x=[value, value] if on_axis else [None, None], y=[-0.6, len(rows) - 0.4],
                           **reference_look(kind, name))
    for place, (row, name) in enumerate(zip(rows, labels, strict=True)):
        mean, half = row.outcome.mean, row.outcome.half_width
        sure = math.isfinite(half)
        figure.add_scatter(
            x=[float(axis.cut(mean))], y=[place], mode="markers", showlegend=False, name=name,
            customdata=[[mean, half]], marker={"color": row.colour, "size": 11, "symbol": row.symbol},
            error_x=axis.whisker(mean, mean - half, mean + half, colour=row.colour, thickness=2.5,
                                 width=6) if sure else None,
            hovertemplate=f"{name}: %{{customdata[0]:.4g}}{' ± %{customdata[1]:.2g}' if sure else ''}<extra></extra>")
    figure.update_xaxes(**axis.layout(title))
    figure.update_yaxes(**row_axis([f"<b>{name}</b><br>{mean_words(row.outcome)}"
                                    for row, name in zip(rows, labels, strict=True)]))
    return Picture(styled(figure, height=max(110 + 38 * len(rows), 380), top=20), _best_set_words(names, rows), """\
Each set gets the scenario's share of the precision, the rest of the directions the remainder; everything else \
stays. Blue: the scenario's own set. Orange: equal noise. The paper's Figure 4 asks the same of its three \
experiments.""")


def _best_set_words(names: "SetNames", rows: list[SetRow]) -> str:
    if not rows:
        return "**No trial yet.**"
    said = ["equal noise" if row.choice is None else in_markdown(names(row.choice)) for row in rows[:2]]
    best = rows[0].outcome
    words = f"**Best here: {said[0]}.** Error {mean_words(best)}."
    if len(said) == 1:
        return words
    second = rows[1].outcome
    difference = paired(best, second)
    sure = difference is not None and difference.verdict == BETTER
    return f"{words} Next: {said[1]}, {mean_words(second)}{'.' if sure else ': no difference can be seen.'}"




@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorCurve:
    """One way to add noise. ``symbol``: of its points; ``band``: whether the interval is drawn as an area."""

    name: str
    colour: str
    symbol: str
    band: bool
    epsilons: FloatArray = field(repr=False)
    means: FloatArray = field(repr=False)
    half_widths: FloatArray = field(repr=False)


def error_curve(points: Sequence[tuple[float, Outcome]], *, name: str, colour: str, symbol: str = "circle",
                band: bool = True) -> ErrorCurve:
    """From the outcomes at some epsilons; those without a trial, or that overflow, are left out."""
    known = [(epsilon, outcome) for epsilon, outcome in sorted(points, key=lambda point: point[0])
             if outcome.errors.size and math.isfinite(outcome.mean)]
    return ErrorCurve(name=name, colour=colour, symbol=symbol, band=band,
                      epsilons=np.array([epsilon for epsilon, _ in known]),
                      means=np.array([outcome.mean for _, outcome in known]),
                      half_widths=np.array([outcome.half_width for _, outcome in known]))


def sweep_picture(results: list[Results], *, own: float, span: tuple[float, float]) -> Picture:
    """Error over epsilon: directional noise against equal noise."""
    curves = [error_curve([(each.scenario.epsilon, each[key]) for each in results], name=name, colour=colour)
              for key, (name, colour) in reversed(LANES.items())]
    references = {each.scenario.epsilon: each.references for each in results}
    return Picture(plot_sweep(curves, references, own=own, span=span, title=results[0].metric), sweep_words(results),
                   "The same trials at other budgets, with the same random numbers. Bands: the 95 % interval of the "
                   "mean. Everything but ε stays as in the scenario.")


def compared_sets(scenario: Scenario, names: "SetNames", sets: Sequence[Favoured], grid: Sequence[float],
                  found: Sequence[Results]) -> tuple[Picture, Picture, Favoured | None] | None:
    """The sets, and equal noise, ranked at the scenario's epsilon and over all epsilons; the best (None: equal noise).

    None before the first trials at the scenario's epsilon.
    """
    here = [results for results in found if results.scenario.epsilon == scenario.epsilon]
    if not here:
        return None
    choices: list[Favoured | None] = [*sets, None]
    own = scenario.favoured if scenario.allocation in ("binary", "least-error") else None
    styles = {choice: (DIRECTIONAL if choice == own else DATA, symbol)
              for choice, symbol in zip(sets, cycle(_SYMBOLS), strict=False)} | {None: (IID, "circle")}
    rows = ranked_sets(SetRow(choice=choice, outcome=outcome, colour=styles[choice][0], symbol=styles[choice][1])
                       for choice in choices if (outcome := _outcome(here, choice)) is not None)
    curves = []
    for choice in choices:
        colour, symbol = styles[choice]
        outcomes = [(epsilon, outcome) for epsilon in grid if (outcome := _outcome(
            [results for results in found if results.scenario.epsilon == epsilon], choice)) is not None]
        curves.append(error_curve(outcomes, name=short_label(names(choice)), colour=colour, symbol=symbol,
                                  band=colour != DATA))
    title, references = here[0].metric, {results.scenario.epsilon: results.references for results in found}
    swept = set_sweep_picture(curves, references, own=scenario.epsilon, span=(grid[0], grid[-1]), title=title)
    return sets_picture(rows, here[0].references, names=names, title=title), swept, rows[0].choice if rows else None


def _outcome(found: Sequence[Results], choice: Favoured | None) -> Outcome | None:
    for results in found:
        keys = [outcome.mechanism.key for outcome in results.outcomes]
        if (choice is None and keys == ["iid"]) or (keys == ["mvg"] and results.scenario.favoured == choice):
            return results.outcomes[0]
    return None


def set_sweep_picture(curves: list[ErrorCurve], references: Mapping[float, References], *, own: float,
                      span: tuple[float, float], title: str) -> Picture:
    """Error over epsilon, by choice of directions."""
    return Picture(plot_sweep(curves, references, own=own, span=span, title=title, legend=False),
                   sets_words(curves, own=own),
                   "The same sets at other budgets; sets and lines look the same in both charts.")


def plot_sweep(curves: Sequence[ErrorCurve], references: Mapping[float, References], *, own: float,
               span: tuple[float, float], title: str, legend: bool = True) -> go.Figure:
    """Lines with bands, references (at each epsilon) named in the legend, a dotted line at the scenario's ``own``.

    ``span``: the epsilons between which the picture lies.
    """
    lines = lines_over(references)
    axis = error_axis([value for _, _, values in lines for value in values]
                      + [float(mean) for curve in curves for mean in curve.means])
    figure = go.Figure()
    for kind, epsilons, values in reversed(lines):
        on_axis, level = axis.holds(values[0]), len(set(values)) == 1
        number = f" ({as_number(values[0])}{'' if on_axis else ', below the axis'})" if level else ""
        figure.add_scatter(x=list(span) if level else epsilons, y=axis.cut(values) if on_axis else [None, None],
                           **reference_look(kind, f"{REFERENCES[kind]}{number}"))
    for curve in curves:
        _add_curve(figure, axis, curve)
    for curve in curves:
        here = np.flatnonzero(curve.epsilons == own)
        if here.size:
            figure.add_scatter(x=[own], y=[float(curve.means[here[0]])], mode="markers", showlegend=False,
                               name=f"{curve.name}, here", hoverinfo="skip", cliponaxis=False,
                               marker={"color": curve.colour, "size": 15, "symbol": f"{curve.symbol}-open",
                                       "line": {"width": 2}})
    figure.add_shape(upright(own, DATA, "dot", width=1, layer="below"))
    edge = np.log10(span) + np.array([-0.04, 0.04]) * (math.log10(span[1] / span[0]) or 1.0)
    ticks = [value for value in (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 100, 1000)
             if 10 ** edge[0] <= value <= 10 ** edge[1]]
    figure.update_layout(
        xaxis={"type": "log", "title": "ε (log scale); the ring is this scenario", "range": edge.tolist(),
               "tickvals": ticks, "ticktext": [f"{value:g}" for value in ticks]},
        yaxis=axis.layout(title, upright=True))
    return styled(figure, height=380, legend=legend, top=20)


def _add_curve(figure: go.Figure, axis: ErrorAxis, curve: ErrorCurve) -> None:
    if not curve.epsilons.size:
        return
    half = np.nan_to_num(curve.half_widths)
    if curve.band:
        low, high = (axis.cut(curve.means + sign * half) for sign in (-1, 1))
        figure.add_scatter(x=np.concatenate([curve.epsilons, curve.epsilons[::-1]]), showlegend=False, mode="lines",
                           y=np.concatenate([high, low[::-1]]), fill="toself", hoverinfo="skip",
                           fillcolor=wash(curve.colour, 0.25), line={"width": 0}, name=f"{curve.name}, interval")
    figure.add_scatter(
        x=curve.epsilons, y=axis.cut(curve.means), mode="lines+markers", name=curve.name,
        line={"color": curve.colour, "width": 2.5 if curve.band else 1.5},
        marker={"size": 7, "symbol": curve.symbol, "color": curve.colour},
        customdata=np.column_stack([curve.means, curve.half_widths]),
        hovertemplate=f"{curve.name}<br>ε = %{{x:g}}: %{{customdata[0]:.4g}} ± %{{customdata[1]:.2g}}<extra></extra>")


_LEAST, _MOST = 1e-3, 1e3  # multiples that are drawn


def parts_picture(setup: Setup, found: list[PartErrors], *, on_data: bool) -> Picture:
    """The error on each part of the answer; the upright line is equal noise, left of it is better."""
    figure = go.Figure()
    every = [part.ratio(outcome) for part in found for outcome in (part.ours, part.only) if outcome is not None]
    drawn = [min(max(value, _LEAST), _MOST) for value in (*every, 1.0) if value > 0 and math.isfinite(value)]
    for name, colour, symbol, outcomes in (
            ("this design", DIRECTIONAL, "circle", [part.ours for part in found]),
            ("only the needed released", DATA, "square-open", [part.only for part in found])):
        rows = [(part.ratio(outcome), place, outcome.mean)
                for place, (part, outcome) in enumerate(zip(found, outcomes, strict=True)) if outcome is not None]
        rows = [row for row in rows if row[0] > 0 and math.isfinite(row[0])]
        figure.add_scatter(
            x=[min(max(ratio, _LEAST), _MOST) for ratio, _, _ in rows], y=[place for _, place, _ in rows],
            customdata=[[ratio, mean] for ratio, _, mean in rows], mode="markers", name=name,
            marker={"color": colour, "size": 13, "symbol": symbol, "line": {"width": 2, "color": colour}},
            hovertemplate=f"{name}: %{{customdata[0]:.3g}} times equal noise (error %{{customdata[1]:.4g}})"
                          "<extra></extra>")
    figure.add_scatter(x=[None], y=[None], mode="lines", name="equal noise", line={"color": IID, "width": 2})
    figure.add_shape(upright(1.0, IID, "solid", width=2, layer="below"))
    figure.update_xaxes(title="error (times that of equal noise, log scale)",
                        **log_axis(min(drawn), max(drawn), room=0.08))
    figure.update_yaxes(**row_axis([
        f"<b>{capitalised(JUDGED[part.part])}</b><br>{as_number(part.ours.mean)} {html.escape(part.unit)}".rstrip()
        for part in found]))
    styled(figure, height=110 + 60 * len(found), top=20)
    return Picture(figure, parts_words(setup, found, on_data=on_data), """\
Each row is one part of the answer: what you said you need, the rest, and both. Left of the line the design errs less \
than equal noise on the records as they are, at the same privacy; right of it, more. Regression is done once from the \
needed features alone, once from the others, once from all. Square: only the needed is asked, so all of the budget is \
theirs; the rest is then filled with what anyone could guess.""")

_DRAWN_HEIGHT, _NAMED = 330, 24
_STRONG = 1.5
_MOST_BARS, _MOST_COMPONENTS, _MOST_RECORDS = 20, 40, 400


def true_and_noisy(trial: FirstTrial, query: Query, symbol: str) -> tuple[Picture, Picture]:
    """The true answer and one draw, in the same colours; ``symbol``: of the task's error.

    The colours end at the largest true entry, so that the truth can be seen.
    """
    true, noisy = top_left(trial.true), top_left(trial.noisy)
    reach = float(np.abs(true).max()) or float(np.abs(noisy).max()) or 1.0
    figures = []
    for shown in (true, noisy):
        (down, across, row, col), (rows, cols) = _pair_labels(trial, query), shown.shape
        figure = plot_matrix(shown, row_labels=down[:rows], col_labels=across[:cols], row_title=row, col_title=col,
                             value_title="", height=_DRAWN_HEIGHT)
        for axis, labels in ((figure.layout.xaxis, across[:cols]), (figure.layout.yaxis, down[:rows])):
            places = [k for k, label in enumerate(labels) if label]
            axis.update(tickvals=places, ticktext=[labels[k] for k in places])
        figures.append(figure.update_traces(colorscale="RdBu_r", zmin=-reach, zmax=reach, showscale=shown is noisy))
    what = "second moments of the table, which is all this task uses" if trial.what == "moments" else "answer"
    part = "" if true.shape == trial.shape else (
        f" The first {true.shape[0]} × {true.shape[1]} of {trial.shape[0]:,} × {trial.shape[1]:,} are drawn.")
    which = "the first of the trials" if trial.is_trial else (
        "drawn for looking: for this task the trials need only the size of the noise")
    error = as_number(trial.error) if math.isfinite(trial.error) else "too large to be written"
    strong = float((np.abs(noisy) > _STRONG * reach).mean())
    cut = f" {max(100 * strong, 1):.0f} % of its entries are far stronger than the colours show." if strong else ""
    return (Picture(figures[0], f"**True {what}.**{part}"),
            Picture(figures[1], f"**The noisy answer is off by {error}** ({symbol}), {which}.{cut}"))


def _pair_labels(trial: FirstTrial, query: Query) -> tuple[list[str], list[str], str, str]:
    """Names of rows and columns that are shown, and what they are called together."""
    rows, cols = trial.true.shape
    row = "vertex" if query.is_graph else "record" if query.row_names is None else "feature"
    names = [short_label(name) for name in query.coordinate_names("rows", trial.shape[0])[:MOST_COLS]]
    named = query.row_names is not None and len(names) <= _NAMED
    down = names if named else _thinned(len(names))
    if query.symmetric or trial.what == "moments":
        return down[:rows], down[:cols], row, row
    return down[:rows], ["mean"] if cols == 1 else _thinned(min(cols, MOST_COLS)), row, "" if cols == 1 else "record"


def _thinned(count: int) -> list[str]:
    """Numbers from 1, about eight of them, blanks between."""
    every = -(-count // 8)
    return [str(k + 1) if k % every == 0 else "" for k in range(count)]


def component_loadings_picture(parts: Components, query: Query) -> Picture:
    """The first component's loadings, two bars a feature."""
    size, total, figure = np.maximum(np.abs(parts.first), np.abs(parts.noisy_first)), parts.first.size, go.Figure()
    shown = sorted(largest_first(size)[:_MOST_BARS])
    every = query.coordinate_names("rows", total)
    names, rows = [short_label(every[k]) for k in shown], list(range(len(shown)))
    for label, values, colour in (("true", parts.first, DATA), ("noisy", parts.noisy_first, DIRECTIONAL)):
        figure.add_bar(x=values[shown], y=rows, orientation="h", name=label, marker={"color": colour},
                       customdata=names, hovertemplate=f"%{{customdata}}, {label}: %{{x:.3f}}<extra></extra>")
    figure.update_xaxes(title="loading on the first component", zeroline=True, zerolinecolor=DATA)
    figure.update_yaxes(tickvals=rows, ticktext=names, autorange="reversed", showgrid=False)
    figure.update_layout(barmode="group", bargap=0.3)
    part = f" The {len(shown)} largest of {total} loadings are drawn." if len(shown) < total else ""
    return Picture(styled(figure, height=_DRAWN_HEIGHT, top=20), (
        f"**First component:** {as_number(parts.angle, 2)}° from the true one.{part}"), """\
How much of each feature the strongest direction holds. A component has no sign of its own; the noisy one is turned to \
agree with the true one.""")


def captured_picture(parts: Components) -> Picture:
    """The strongest 40 eigenvalues, and what as many noisy components capture of the true answer."""
    true, noisy = parts.eigenvalues[:_MOST_COMPONENTS], parts.captured[:_MOST_COMPONENTS]
    axis = _captured_axis(np.concatenate([true, noisy]))
    figure = go.Figure()
    order = np.arange(1, true.size + 1)
    for label, values, colour, symbol in (("true eigenvalues", true, DATA, "circle-open"),
                                          ("noisy components", noisy, DIRECTIONAL, "circle")):
        figure.add_scatter(x=order, y=axis.cut(values), mode="lines+markers", name=label, customdata=values,
                           line={"color": colour, "width": 1.5}, marker={"color": colour, "size": 8, "symbol": symbol},
                           hovertemplate=f"component %{{x}}, {label}: %{{customdata:.4g}}<extra></extra>")
    figure.update_xaxes(title="component", dtick=1 if order.size <= 12 else 5)
    figure.update_yaxes(**axis.layout("captured of the true answer", upright=True))
    first, total, every = float(parts.captured[0]), float(parts.eigenvalues[0]), parts.captured.size
    part = f" The first {true.size} of {every}." if true.size < every else ""
    share = f", {as_number(100 * first / total, 2)} % of what the true one does" if total > 0 else ""
    return Picture(styled(figure, height=_DRAWN_HEIGHT, top=20), (
        f"**The first noisy component** captures {as_number(first)}{share}.{part}"), """\
Each component captures a part of the true answer: the true ones their eigenvalues, the noisy ones less of the strong \
and more of the weak.""")


def _captured_axis(values: FloatArray) -> ErrorAxis:
    """A log axis where all values are above 0 and span decades."""
    least, most = float(values.min()), float(values.max())
    if least > 0 and most > 20 * least:
        return error_axis(values.tolist())
    room = 0.05 * (most - least) or 1.0
    return ErrorAxis(False, least - room, most + room)


def predictions_picture(found: Predictions, name: str) -> Picture:
    """Records held out: the true label, called ``name``, against what is predicted."""
    labels, clean, noisy = (values[:_MOST_RECORDS] for values in (found.labels, found.clean, found.noisy))
    width = found.upper - found.lower  # the picture reaches one range beyond the range itself, no further
    low, high, pad = found.lower - width, found.upper + width, 0.03 * width
    inside = (noisy >= low) & (noisy <= high)
    seen, figure, short = np.concatenate([labels, clean, noisy[inside]]), go.Figure(), short_label(name)
    view = [max(float(seen.min()), low) - pad, min(float(seen.max()), high) + pad]
    ends = [float(labels.min()), float(labels.max())]
    figure.add_scatter(x=ends, y=ends, name="right", hoverinfo="skip", **stroke(DATA, 1, "dash"))
    for label, values, colour, symbol in (("without privacy", clean, DATA, "circle-open"),
                                          ("noisy", noisy, DIRECTIONAL, "circle")):
        figure.add_scatter(x=labels, y=values, mode="markers", name=label,
                           marker={"color": colour, "size": 6, "symbol": symbol, "opacity": 0.8},
                           hovertemplate=f"true %{{x:.3g}}, {label} %{{y:.3g}}<extra></extra>")
    figure.update_xaxes(title=f"true {short}", zeroline=False)
    figure.update_yaxes(title=f"predicted {short}", range=view, zeroline=False)
    off, least = (as_number(float(np.sqrt(np.square(values - found.labels).mean())))
                  for values in (found.noisy, found.clean))
    outside = f" {(~inside).sum()} noisy predictions leave the picture." if not inside.all() else ""
    part = f" The first {labels.size} of {found.labels.size:,} are drawn." if labels.size < found.labels.size else ""
    return Picture(styled(figure, height=_DRAWN_HEIGHT, top=20), (
        f"**Predictions** of {in_markdown(name)} on records held out: off by {off} (RMSE), without "
        f"privacy {least}.{outside}{part}"), (
        "Each point is a record that was not learned from. On the dashed line the prediction is right."))


NOT_PRIVATE = "Measured on the data itself, so these numbers are for choosing and are not private."
SHOWN_TO_HOLDER = "One draw, for you alone: no part of any release. The noise comes from the scenario's seed."


def result_words(results: Results, needed: Sequence[str] = (), *, on: str = "") -> str:
    """The verdict, then mean and interval, against the answer without data, against equal noise.

    ``needed``: the names of that. ``on``: which records, where the verdict has to say so.
    """
    ours, iid = results["mvg"], results["iid"]
    if not ours.errors.size:
        return "**No trial yet.** The lines are what the noise is held against."
    n, difference = ours.errors.size, paired(ours, iid)
    trials = "one trial, so no interval" if n == 1 else f"95 % interval, {n:,} trials"
    kind, unit = "Mean", results.references.unit
    if unit:
        columns = f" on {in_markdown(listed(list(needed), 3))}" if needed and results.judged_on == "needed" else ""
        kind, unit = "Typical", f" {in_markdown(unit)}{columns}"
    verdict = _verdict(results, difference)
    if on:
        verdict = f"On {on}: {verdict[0].lower()}{verdict[1:]}"
    return (f"**{verdict}.** {kind} error {mean_words(ours)}{unit} ({trials}): "
            f"{_trivial_words(ours, *results.references.to_beat)}"
            + ("" if difference is None else f" {_difference_words(difference, ours, iid)}") + small_words(results))


def small_words(results: Results) -> str:
    """That a regression needs more records, where it does."""
    needed = results.references.records_needed
    return "" if needed is None else (
        f" **This table is too small:** with this label a regression must learn from {as_number(needed)} records.")


def _verdict(results: Results, difference: Difference | None) -> str:
    """What the trials say, without a number that has to be read twice."""
    ours, (baseline, error) = results["mvg"], results.references.to_beat
    if ours.errors.size == 1 and math.isfinite(ours.mean):
        return "One trial cannot tell"
    beaten = against(ours, error) if math.isfinite(ours.mean) else WORSE
    if beaten == WORSE:
        return f"{capitalised(baseline)} is better here"
    if beaten == SAME:
        return "Nothing of the data gets through"
    if beaten != BETTER:
        return f"No better than {baseline}, as far as can be seen"
    verdict = None if difference is None else difference.verdict
    return {BETTER: "Directional noise is better here", WORSE: "Equal noise is better here",
            SAME: "Directional and equal noise do equally well here",
            UNCLEAR: "No difference from equal noise can be seen here"}.get(
                verdict or "", f"Better than {baseline}")


def _trivial_words(outcome: Outcome, baseline: str, error: float) -> str:
    named = f"{baseline} ({as_number(error)})"
    if not math.isfinite(outcome.mean):
        return f"it does not beat {named}."
    if not math.isfinite(outcome.half_width):
        return f"{'below' if outcome.mean < error else 'not below'} {named}, but one trial cannot tell."
    free = ", which costs no privacy" * baseline.endswith("without data")
    return {BETTER: f"better than {named}.", WORSE: f"it does not beat {named}{free}.", SAME: f"just {named}.",
            UNCLEAR: f"not told apart from {named}."}[against(outcome, error) or UNCLEAR]


def _difference_words(difference: Difference, ours: Outcome, iid: Outcome) -> str:
    other = f"equal noise ({as_number(iid.mean)})" if math.isfinite(iid.mean) else "equal noise"
    if difference.verdict == SAME:
        return "Trial by trial it errs just as equal noise does."
    if difference.trials == 1:
        return f"Against {other}: one trial cannot tell."
    if difference.verdict == UNCLEAR:
        return f"Against {other} no difference can be seen{_interval(difference)}."
    share = ours.mean / iid.mean
    how = (f"{as_number(share, 2)} times the error of" if share > 2 else
           f"{as_number(100 * abs(share - 1), 2)} % {'less' if share < 1 else 'more'} error than")
    return f"{capitalised(how)} {other}{_interval(difference)}."


def _interval(difference: Difference) -> str:
    if not math.isfinite(difference.half_width):
        return ""
    sign = "-" if difference.mean < 0 else ""
    return f", paired difference {sign}{as_number(abs(difference.mean))} ± {as_number(difference.half_width, 2)}"


def measured_words(problem: Problem, results: Results) -> str:
    """What the numbers are, what rule made them, on which records."""
    parts = [f"Rule: {results.task.rule}.", f"Answer without data: {results.references.trivial_is}."]
    held_out = problem.held_out
    if held_out is not None:
        learned = problem.dataset.n_records
        parts.append(f"Learned from {learned:,} records, measured on {held_out.n_records:,} held out, so the noise "
                     f"differs a little from the line above; δ = {delta_words(problem.delta, learned)}.")
    if problem.scenario.judged == "needed" and problem.unfit is not None:
        parts.append(f"{capitalised(problem.unfit)}.")
    if math.isfinite(results.references.private_mean):
        parts.append("Private mean: predicting for everyone a private mean of the label, which got the whole budget.")
    return " ".join(parts)


def metric_words(results: Results) -> str:
    """The axis of errors."""
    scale = {"symmetric": "[-1,\u00a01]", "unit": "[0,\u00a01]"}.get(results.scenario.scale)
    unit = f", label on {scale}" if results.task.symbol == "RMSE" and scale else ""
    return f"{results.metric}{unit}; smaller\u00a0is\u00a0better"


def needed_names(setup: Setup) -> list[str]:
    """What is needed is called so: features, or directions."""
    names = setup.direction_names if setup.scenario.needs_along == "directions" else setup.dataset.features
    return [names[k] for k in setup.scenario.needs if k < len(names)]


def parts_words(setup: Setup, found: list[PartErrors], *, on_data: bool) -> str:
    """Who gains and who pays; ``on_data``: errors are on the data itself, not on simulated data."""
    names = needed_names(setup)
    known = {part.part: part for part in found}
    words = []
    for part, subject in (("needed", f"On what is needed ({in_markdown(listed(names))})"),
                          ("rest", "on the rest"), ("everything", "on everything together")):
        if part in known:
            words.append(f"{subject} {_gain(known[part].ratio(known[part].ours))}")
    first = f"**{capitalised(words[0])}**" + "".join(f", {each}" for each in words[1:]) + ", against equal noise."
    clipped = "" if own_units(setup) else clipping_words(setup, on_data=on_data, name=in_markdown)  # else beside it
    first = " ".join(filter(None, [first, least_sentence(setup), clipped]))
    needed = known.get("needed")
    if needed is None or needed.only is None:
        return first
    alone = needed.ratio(needed.only)
    return f"{first} Released alone, the needed would have {_gain(alone)}, and the rest would not be released at all."


def _gain(ratio: float) -> str:
    if not math.isfinite(ratio):
        return "there is no error to compare"
    if ratio > 2:
        return f"{as_factor(ratio)} the error"
    if abs(ratio - 1) < _ALIKE:
        return "the same error"
    return f"{as_number(100 * abs(ratio - 1), 2)} % {'less' if ratio < 1 else 'more'} error"


def own_units_words(setup: Setup, rows: list[FeatureNoise], *, on_data: bool) -> str:
    """The noise on the first needed feature, as a person would say it; ``on_data`` as in ``parts_words``."""
    what = "A released value" if setup.query.is_table else "The released mean"
    row = rows[0]
    unit = f" {in_markdown(row.unit)}" if row.unit else ""
    clipped = clipping_words(setup, on_data=on_data, name=in_markdown)
    return " ".join(filter(None, [
        f"**In the data's own units:** {what} of {in_markdown(row.name)} is typically "
        f"{'moved by noise by' if clipped else 'off by'} {as_number(row.ours)}{unit} "
        f"(equal noise: {as_number(row.equal)}{unit}).", clipped]))


def sweep_words(curve: list[Results]) -> str:
    """From which epsilon on the baseline is beaten."""
    if not curve:
        return "**No trial yet.**"
    baseline, error = curve[0].references.to_beat
    ours, iid = (beaten_from(curve, key) for key in ("mvg", "iid"))
    if not error > 0:
        return f"**{capitalised(baseline)} is right here:** no noise can beat it."
    if all(results["mvg"].errors.size < 2 for results in curve):
        return "**One trial at each ε:** no interval, so nothing can be said for sure."
    named = baseline if math.isfinite(curve[0].references.private_mean) else f"{baseline} ({as_number(error)})"
    first = (f"**At no ε tried is {named} beaten for sure.**" if ours is None else
             f"**{capitalised(named)} is beaten from ε = {ours:g} on**, of those tried.")
    if ours == iid:
        return f"{first} The same holds for equal noise."
    return f"{first} Equal noise: {'at none' if iid is None else f'from ε = {iid:g} on'}."


class SetNames:
    """What a set of directions is called: its members, or those left out where they are few."""

    def __init__(self, name: Callable[[int], str], size: int) -> None:
        self.name = name
        self._size = size

    def __call__(self, choice: Favoured | None, most: int = 3) -> str:
        if choice is None:
            return "equal noise (none)"
        if 1 < len(choice) >= self._size - most:
            inside = set(choice)
            return f"all but {' + '.join(self.name(k) for k in range(self._size) if k not in inside)}"
        shown = [self.name(k) for k in choice[:most]]
        rest = len(choice) - len(shown)
        return " + ".join(shown) + (f" + {rest} more" if rest else "")


def sets_words(curves: list[ErrorCurve], *, own: float) -> str:
    """Whether the same choice is best at every epsilon tried."""
    tried = [set(curve.epsilons.tolist()) for curve in curves]
    shared = sorted(tried[0].intersection(*tried)) if tried else []
    if not shared:
        return "**Over ε:** no trial yet."
    best = {epsilon: min(curves, key=lambda curve: float(curve.means[curve.epsilons == epsilon][0])).name
            for epsilon in shared}
    here = best.get(own)
    if len(set(best.values())) == 1:
        return f"**Over ε:** {_shown(best[shared[0]])} has the least mean error at every ε tried."
    others = sum(name != here for name in best.values())
    if here is None:
        return "**Over ε:** the best set changes."
    return (f"**Over ε:** {_shown(here)} has the least mean error here, another choice at {others} of the "
            f"{len(shared)} ε tried.")


def _shown(label: str) -> str:
    return in_markdown(html.unescape(label))
