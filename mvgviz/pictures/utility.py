"""Errors of repeated trials: as dots, over epsilon, by choice of directions, part by part, and one draw."""

import html
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from mvgviz.labels import JUDGED, REFERENCES
from mvgviz.noise.ties import largest_first, to_nine_digits
from mvgviz.pictures import error_axis as axes
from mvgviz.pictures import theme
from mvgviz.pictures.budget import short_label
from mvgviz.pictures.error_axis import ErrorAxis, Mark, error_axis, mean_words, plot_ranked, reference_items
from mvgviz.pictures.sentences import clipping_words
from mvgviz.pictures.theme import Picture
from mvgviz.pictures.trade_off import columns_of, least_sentence
from mvgviz.query.queries import Query
from mvgviz.scenario.own_units import FeatureNoise, own_units
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_number, as_probability, capitalised, in_html, in_markdown, listed
from mvgviz.trials.first_trial import Components, FirstTrial, Predictions
from mvgviz.trials.problem import Problem
from mvgviz.trials.results import BETTER, SAME, UNCLEAR, WORSE, Outcome, Results, against, beaten_from, paired
from mvgviz.trials.sweeps import Directions
from mvgviz.trials.tasks import References
from mvgviz.validation import FloatArray

_SYMBOLS = ("circle", "circle", "square", "diamond", "triangle-up", "cross", "star", "hexagon", "triangle-down",
            "pentagon")
_COUNTS = (100, 50, 20)
_BINS = 64
_HEIGHT = 385
LANES = {"mvg": ("directional", theme.DIRECTIONAL), "iid": ("equal noise", theme.IID)}


class Lane(NamedTuple):
    """One mechanism: ``dots`` (quantiles of its errors), the ``places`` where they stand and their ``levels``."""

    outcome: Outcome
    dots: FloatArray
    places: FloatArray
    levels: FloatArray


class DotNumbers(NamedTuple):
    """``dots``: how many each lane has, the same for both (0 before the first trial)."""

    lanes: list[Lane]
    axis: ErrorAxis
    references: list[tuple[str, float]]
    dots: int
    tallest: int = 1


def quantile_dots(errors: FloatArray, count: int) -> FloatArray:
    """Return ``count`` quantiles in the middle of equal shares; of as many trials these are the sorted errors."""
    return np.asarray(np.quantile(errors, (np.arange(count) + 0.5) / count, method="hazen"))


def dot_numbers(results: Results) -> DotNumbers:
    """Return 100, 50 or 20 dots a lane: the most that the trials allow and that stack low enough."""
    tried = [outcome for outcome in results.outcomes if outcome.errors.size and np.isfinite(outcome.errors).all()]
    references = reference_items(results.references)
    lines = [value for _, value in references]
    axis = error_axis([*lines, *(error for outcome in tried for error in outcome.errors.tolist())],
                      typical=[*lines, *(float(np.median(outcome.errors)) for outcome in tried)])
    numbers, width = DotNumbers([], axis, references, 0), (axis.high - axis.low) / _BINS
    trials = min((outcome.errors.size for outcome in tried), default=0)
    for count in sorted({k for k in (*_COUNTS, trials) if 0 < k <= min(trials, _COUNTS[0])}, reverse=True):
        lanes = []
        for outcome in tried:
            dots = quantile_dots(outcome.errors, count)
            bins = np.minimum((axis.place(dots) - axis.low) // width, _BINS - 1)
            levels = np.arange(count) - np.searchsorted(bins, bins)  # dots are sorted, so stacks are runs
            lanes.append(Lane(outcome, dots, axis.low + (bins + 0.5) * width, levels))
        numbers = DotNumbers(lanes, axis, references, count, 1 + int(max(lane.levels.max() for lane in lanes)))
        if numbers.tallest <= 11 or count <= _COUNTS[-1]:
            break
    return numbers


def dots_picture(results: Results, priority: Sequence[str] = (), *, on: str = "") -> Picture:
    """Errors of directional and equal noise, trial by trial; ``priority`` and ``on`` as in ``result_words``."""
    numbers = dot_numbers(results)
    share = f"{100 / numbers.dots:.3g} %" if numbers.dots else "a share"
    return Picture(plot_dots(numbers, title=metric_words(results)), result_words(results, priority, on=on), f"""\
Each dot is {share} of the trials; diamond and bar are mean and 95 % interval. Both noises have the same budget and \
random numbers. **No-data baseline**: what the ranges alone tell. **Private mean**: one private mean of the label, \
predicted for everyone.""")


def plot_dots(numbers: DotNumbers, *, title: str) -> go.Figure:
    """Draw two lanes, under each its mean (diamond) and interval, and lines whose labels do not meet."""
    axis, figure, shapes, labels = numbers.axis, go.Figure(), [], []
    per_unit = (_HEIGHT - 140) / 2.25  # pixels
    spacing = min(0.8 / numbers.tallest, 12 / per_unit)
    baselines = dict(zip(LANES, (1.0, 0.0), strict=True))
    for level, (kind, value, left) in enumerate(_stacked(numbers)):
        text, above = f"{REFERENCES[kind]}: {as_number(value)}", 6 + 19 * level
        line = theme.upright(float(axis.cut(value)), theme.DATA, axes.REFERENCE_DASHES[kind], width=2, xref="x",
                             layer="below")
        shapes += [line, line | {"y1": above, "ysizemode": "pixel", "yanchor": 1}]
        # On a log axis a label's place is an exponent, a line's is not.
        labels.append({"x": float(axis.place(value)), "y": 1, "yshift": above, "yref": "paper", "xref": "x",
                       "showarrow": False, "yanchor": "bottom", "xanchor": "left" if left else "right", "borderpad": 1,
                       "font": {"size": 12}, "text": text if axis.holds(value) else f"◂ {text}"})
    ticks = {}
    for outcome, dots, places, levels in numbers.lanes:
        (name, colour), base = LANES[outcome.mechanism.key], baselines[outcome.mechanism.key]
        ticks[base + 0.25] = f"<b>{name}</b><br>{mean_words(outcome).replace(' ± ', '<br>± ')}"
        theme.add_dots(figure, axis.value(places), base + 0.06 + (levels + 0.5) * spacing, name, colour,
                       max(spacing * per_unit - 1, 2.5), hover=f"{name}: error %{{customdata:.3g}}", customdata=dots)
        _add_mean(figure, axis, outcome, base - 0.07, f"{name}, mean", colour, "diamond")
    theme.laid_out(figure, {
        "shapes": shapes, "annotations": labels, "xaxis": axis.layout(title),
        "yaxis": {"range": [-0.2, 2.05], "showgrid": False, "zeroline": False, "tickvals": list(ticks),
                  "ticktext": list(ticks.values())}})
    more = 19 * max(len(numbers.references) - 3, 0)
    return theme.styled(figure, height=_HEIGHT + more, legend=False, top=66 + more)


def _add_mean(figure: go.Figure, axis: ErrorAxis, outcome: Outcome, y: float, name: str, colour: str, symbol: str
              ) -> None:
    mean, half = outcome.mean, outcome.half_width
    theme.add_dots(figure, [float(axis.cut(mean))], [y], name, colour, 10, symbol, customdata=[[mean, half]],
                   hover=f"{name}: {mean_words(outcome)}", showlegend=False,
                   error_x=axis.whisker(mean, mean - half, mean + half, color=colour, thickness=3, width=7))


def _stacked(numbers: DotNumbers) -> list[tuple[str, float, bool]]:
    """Return kind, error, whether the label starts at its line, lowest label first, so that no line crosses a label."""
    axis = numbers.axis
    shares = [float((axis.place(value) - axis.low) / (axis.high - axis.low)) for _, value in numbers.references]
    edge = 1.0 if max(shares, default=0) < 0.75 else 0.0 if min(shares, default=0) > 0.3 else 0.5
    both = [(*item, share < edge) for item, share in zip(numbers.references, shares, strict=True)]
    return [*(item for item in both if not item[2]), *(item for item in reversed(both) if item[2])]


def sets_picture(curves: Iterable["ErrorCurve"], references: References, *, own: float, title: str) -> Picture:
    """Errors by choice of directions at one epsilon, ranked: a mark and its interval a row."""
    rows = sorted((curve for curve in curves if own in curve.outcomes),
                  key=lambda curve: to_nine_digits(curve.outcomes[own].mean))
    marks = [Mark(short_label(row.name), row.outcomes[own].mean, row.outcomes[own].half_width, row.colour, row.symbol)
             for row in rows]
    words = "**No trial yet.**"
    if rows:
        words = f"**Best here: {in_markdown(rows[0].name)}.** Error {mean_words(rows[0].outcomes[own])}."
    if len(rows) > 1:
        difference = paired(rows[0].outcomes[own], rows[1].outcomes[own])
        sure = difference is not None and difference.verdict == BETTER
        words += f" Next: {in_markdown(rows[1].name)}{'' if sure else ', no clear difference'}."
    return Picture(plot_ranked(marks, reference_items(references), title=title, height=380), words, (
        "Each set of directions gets the scenario's share of the precision. Blue: the scenario's own set."))


class ErrorCurve(NamedTuple):
    """One way to add noise: its outcomes by epsilon. ``symbol``: of its points."""

    name: str
    colour: str
    outcomes: Mapping[float, Outcome]
    symbol: str = "circle"
    dash: str = "solid"


def error_curve(name: str, colour: str, points: Mapping[float, Outcome], *look: str) -> ErrorCurve:
    """Return the curve through outcomes by epsilon; those without a trial, or that overflow, are left out."""
    return ErrorCurve(name, colour, {epsilon: points[epsilon] for epsilon in sorted(points)
                                     if math.isfinite(points[epsilon].mean)}, *look)


def sweep_picture(results: list[Results], *, own: float, span: tuple[float, float]) -> Picture:
    """Error over epsilon: directional noise against equal noise."""
    curves = [error_curve(name, colour, {each.scenario.epsilon: each[key] for each in results})
              for key, (name, colour) in reversed(LANES.items())]
    references = {each.scenario.epsilon: each.references for each in results}
    return Picture(plot_sweep(curves, references, own=own, span=span, title=results[0].metric), sweep_words(results),
                   "The same trials at other ε, with the same random numbers. Bands: the 95 % interval of the mean.")


def compared_sets(scenario: Scenario, names: "SetNames", sets: Sequence[Directions], grid: Sequence[float],
                  found: Sequence[Results]) -> tuple[dict[str, Picture], Directions | None] | None:
    """Return sets and equal noise ranked and over epsilon, by key, and the best (None: equal noise); None too early."""
    here, own = scenario.epsilon, scenario.priority_directions
    points: dict[Directions | None, dict[float, Outcome]] = {choice: {} for choice in (None, *sets)}
    for results in found:
        [outcome] = results.outcomes
        choice = None if outcome.mechanism.key == "iid" else results.scenario.priority_directions
        points[choice][results.scenario.epsilon] = outcome
    known = [choice for choice, outcomes in points.items() if here in outcomes]
    if not known:
        return None
    has_own = scenario.allocation in ("binary", "least-error")
    curves = [error_curve(names(choice), theme.IID if choice is None else theme.DIRECTIONAL
                          if has_own and choice == own else theme.DATA, outcomes, symbol)
              for (choice, outcomes), symbol in zip(points.items(), cycle(_SYMBOLS), strict=False)]
    title, references = found[0].metric, {results.scenario.epsilon: results.references for results in found}
    figure = plot_sweep(curves, references, own=here, span=(grid[0], grid[-1]), title=title, legend=False)
    return {"utility_sets": sets_picture(curves, references[here], own=here, title=title),
            "utility_set_sweep": Picture(figure, sets_words(curves))}, min(
        known, key=lambda choice: to_nine_digits(points[choice][here].mean))


def plot_sweep(curves: Sequence[ErrorCurve], references: Mapping[float, References], *, own: float | None,
               span: tuple[float, float], title: str, legend: bool = True) -> go.Figure:
    """Draw curves with bands, references at each epsilon, and a dotted line at the scenario's ``own``."""
    lines, figure = axes.lines_over(references), go.Figure()
    axis = error_axis([value for _, _, values in lines for value in values]
                      + [one.mean for curve in curves for one in curve.outcomes.values()])
    axes.add_lines_over(figure, axis, reversed(lines), span)
    for curve in curves:
        name, band, epsilons = in_html(curve.name), curve.colour != theme.DATA, list(curve.outcomes)
        means, halves = (np.array([getattr(one, key) for one in curve.outcomes.values()])
                         for key in ("mean", "half_width"))
        if band:
            low, high = (axis.cut(means + sign * np.nan_to_num(halves)) for sign in (-1, 1))
            theme.add_band(figure, epsilons, low, high, curve.colour, 0.25)
        theme.add_curve(figure, epsilons, axis.cut(means), name, curve.colour, 2.5 if band else 1.5, curve.symbol,
                        size=7, dash=curve.dash, customdata=[mean_words(one) for one in curve.outcomes.values()],
                        hover=f"{name}<br>ε = %{{x:g}}: %{{customdata}}")
        if own is not None and own in curve.outcomes:
            theme.add_dots(figure, [own], [curve.outcomes[own].mean], f"{name}, here", curve.colour, 15,
                           f"{curve.symbol}-open", edge=curve.colour, hover=None, showlegend=False, cliponaxis=False)
    if own is not None:
        figure.add_shape(theme.upright(own, theme.DATA, "dot", width=1, layer="below"))
    figure.update_xaxes(title="ε (log scale)" + "; the ring is this scenario" * (own is not None),
                        **theme.log_axis(*span, room=0.04, least=0.04))
    figure.update_yaxes(**axis.layout(title, upright=True))
    return theme.styled(figure, height=380, legend=legend, top=20)


def parts_picture(setup: Setup, found: list[Results], *, on_data: bool) -> Picture:
    """Errors on priority columns, on other columns and on both, as multiples of those of equal noise."""
    figure, drawn, what = go.Figure(), [1.0], columns_of(setup)
    for name, colour, symbol, key in (
            ("this design", theme.DIRECTIONAL, "circle", "mvg"),
            (f"only priority {what} released", theme.DATA, "square-open", "reduced-gaussian")):
        ratios = np.array([part[key].mean / part["iid"].mean if part["iid"].mean > 0 else math.nan for part in found])
        places = np.flatnonzero((ratios > 0) & np.isfinite(ratios))
        drawn += (shown := np.clip(ratios[places], 1e-3, 1e3).tolist())
        theme.add_dots(figure, shown, places, name, colour, 13, symbol, edge=colour, customdata=ratios[places],
                       hover=f"{name}: %{{customdata:.3g}} × equal noise")
    theme.add_line(figure, [None], [None], "equal noise", theme.IID)
    figure.add_shape(theme.upright(1.0, theme.IID, "solid", width=2, layer="below"))
    figure.update_xaxes(title="error (× equal noise, log scale)",
                        **theme.log_axis(min(drawn), max(drawn), room=0.08))
    figure.update_yaxes(**theme.row_axis([
        f"<b>{capitalised(JUDGED[part.scenario.judged])}</b><br>{as_number(part['mvg'].mean)} "
        f"{html.escape(part.references.unit)}".rstrip() for part in found]))
    theme.styled(figure, height=110 + 60 * len(found), top=20)
    return Picture(figure, parts_words(setup, found, on_data=on_data), f"""\
Left of the line the design errs less than equal noise at the same privacy. Regression uses the priority {what} alone, \
the others alone, then all. Square: only the priority {what} are released, with the whole budget.""")


_DRAWN_HEIGHT = 330
_MOST_BARS, _MOST_COMPONENTS, _MOST_RECORDS = 20, 40, 400


def true_and_noisy(trial: FirstTrial, query: Query, symbol: str) -> tuple[Picture, Picture]:
    """Draw the true answer and one noisy one in the same colours, which end at the largest true entry."""
    true, noisy = theme.top_left(trial.true), theme.top_left(trial.noisy)
    reach = float(np.abs(true).max()) or float(np.abs(noisy).max()) or 1.0
    rows, cols = true.shape
    row = "vertex" if query.is_graph else "record" if query.row_names is None else "feature"
    square = query.symmetric or trial.what == "moments"
    down = [short_label(name) for name in query.coordinate_names("rows", trial.shape[0])[:theme.MOST_COLS]]
    across = down if square else ["mean"] if cols == 1 else [str(k + 1) for k in range(cols)]
    figures = [theme.plot_matrix(
        shown, row_labels=down[:rows], col_labels=across[:cols], row_title=row, value_title="", height=_DRAWN_HEIGHT,
        col_title=row if square else "record" * (cols > 1)).update_traces(
            colorscale="RdBu_r", zmin=-reach, zmax=reach, showscale=shown is noisy) for shown in (true, noisy)]
    what = "second moments of the table" if trial.what == "moments" else "answer"
    part = "" if true.shape == trial.shape else (
        f" The first {true.shape[0]} × {true.shape[1]} of {trial.shape[0]:,} × {trial.shape[1]:,} are drawn.")
    which = "the first trial" if trial.is_trial else "one example"
    error = as_number(trial.error) if math.isfinite(trial.error) else "too much to show"
    return (Picture(figures[0], f"**True {what}.**{part}"),
            Picture(figures[1], f"**The noisy answer is off by {error}** ({symbol}): {which}.",
                    "Colours end at the largest true entry; noisy entries may lie beyond."))


def component_loadings_picture(parts: Components, query: Query) -> Picture:
    """The first component's loadings, two bars a feature."""
    size, total, figure = np.maximum(np.abs(parts.first), np.abs(parts.noisy_first)), parts.first.size, go.Figure()
    shown = sorted(largest_first(size)[:_MOST_BARS])
    every = query.coordinate_names("rows", total)
    names, rows = [short_label(every[k]) for k in shown], list(range(len(shown)))
    for label, values, colour in (("true", parts.first, theme.DATA), ("noisy", parts.noisy_first, theme.DIRECTIONAL)):
        figure.add_bar(x=values[shown], y=rows, orientation="h", name=label, marker={"color": colour},
                       customdata=names, hovertemplate=f"%{{customdata}}, {label}: %{{x:.3f}}<extra></extra>")
    figure.update_xaxes(title="loading on the first component", zeroline=True, zerolinecolor=theme.DATA)
    figure.update_yaxes(tickvals=rows, ticktext=names, autorange="reversed", showgrid=False)
    figure.update_layout(barmode="group", bargap=0.3)
    part = f" The {len(shown)} largest of {total} loadings are drawn." if len(shown) < total else ""
    return Picture(theme.styled(figure, height=_DRAWN_HEIGHT, top=20), (
        f"**The noisy first component** points {as_number(parts.angle, 2)}° off the true one.{part}"))


def captured_picture(parts: Components) -> Picture:
    """The strongest 40 eigenvalues, and what as many noisy components capture of the true answer."""
    true, noisy, figure = parts.eigenvalues[:_MOST_COMPONENTS], parts.captured[:_MOST_COMPONENTS], go.Figure()
    values = np.concatenate([true, noisy])
    least, most = float(values.min()), float(values.max())
    room = 0.05 * (most - least) or 1.0
    axis = error_axis(values.tolist()) if most > 20 * least > 0 else ErrorAxis(False, least - room, most + room)
    order = np.arange(1, true.size + 1)
    for label, values, colour, symbol in (("true eigenvalues", true, theme.DATA, "circle-open"),
                                          ("noisy components", noisy, theme.DIRECTIONAL, "circle")):
        theme.add_curve(figure, order, axis.cut(values), label, colour, 1.5, symbol, customdata=values,
                        hover=f"component %{{x}}, {label}: %{{customdata:.3g}}")
    figure.update_xaxes(title="component", dtick=1 if order.size <= 12 else 5)
    figure.update_yaxes(**axis.layout("captured of the true answer", upright=True))
    first, total, every = float(parts.captured[0]), float(parts.eigenvalues[0]), parts.captured.size
    part = f" The first {true.size} of {every}." if true.size < every else ""
    share = f", {as_number(100 * first / total)} % of the true one" if total > 0 else ""
    return Picture(theme.styled(figure, height=_DRAWN_HEIGHT, top=20), (
        f"**The first noisy component** captures {as_number(first)}{share}.{part}"))


def predictions_picture(found: Predictions, name: str) -> Picture:
    """Records held out: the true label, called ``name``, against its predictions."""
    labels, clean, noisy = (values[:_MOST_RECORDS] for values in (found.labels, found.clean, found.noisy))
    width = found.upper - found.lower  # the picture reaches one range beyond the range itself, no further
    low, high, pad = found.lower - width, found.upper + width, 0.03 * width
    inside = (noisy >= low) & (noisy <= high)
    seen, figure, short = np.concatenate([labels, clean, noisy[inside]]), go.Figure(), short_label(name)
    ends = [float(labels.min()), float(labels.max())]
    theme.add_line(figure, ends, ends, "right", theme.DATA, 1, "dash", hover=None)
    for label, values, colour, symbol in (("no privacy", clean, theme.DATA, "circle-open"),
                                          ("noisy", noisy, theme.DIRECTIONAL, "circle")):
        theme.add_dots(figure, labels, values, label, theme.wash(colour, 0.8), 6, symbol,
                       hover=f"true %{{x:.3g}}, {label} %{{y:.3g}}")
    figure.update_xaxes(title=f"true {short}", zeroline=False)
    figure.update_yaxes(title=f"predicted {short}", zeroline=False,
                        range=[max(float(seen.min()), low) - pad, min(float(seen.max()), high) + pad])
    off, least = (as_number(float(np.sqrt(np.square(values - found.labels).mean())))
                  for values in (found.noisy, found.clean))
    outside = f" {(~inside).sum()} noisy predictions leave the picture." if not inside.all() else ""
    part = f" The first {labels.size} of {found.labels.size:,} are drawn." if labels.size < found.labels.size else ""
    return Picture(theme.styled(figure, height=_DRAWN_HEIGHT, top=20), (
        f"**Predictions** of {in_markdown(name)} for new records are off by {off} (RMSE; {least} with no privacy)."
        f"{outside}{part}"))


NOT_PRIVATE = "Measured on the data itself: not private. Use these numbers only to choose."
SHOWN_TO_HOLDER = "One draw, for you alone: it is never released. The scenario's seed makes its noise."


def result_words(results: Results, priority: Sequence[str] = (), *, on: str = "") -> str:
    """Return verdict, mean and interval, and comparisons; ``on``: the records, where the verdict has to name them."""
    ours, iid, (baseline, error) = results["mvg"], results["iid"], results.references.to_beat
    n = ours.errors.size
    if not n:
        return "**No trial yet.** The lines show what the noise must beat."
    trials = "one trial, so no interval" if n == 1 else f"95 % interval, {n:,} trials"
    unit = f" {in_markdown(results.references.unit)}".rstrip()
    if unit and priority and results.judged_on == "priority":
        unit += f" on {in_markdown(listed(list(priority), 3))}"
    beaten = str(against(ours, error)) if math.isfinite(ours.mean) else WORSE
    verdict = _verdict(results, beaten)
    verdict = f"On {on}: {verdict[0].lower()}{verdict[1:]}" if on else verdict
    how = {BETTER: "better than", WORSE: "worse than", SAME: "the same as"}.get(beaten, "no clear difference from")
    difference = paired(ours, iid)
    equal = "" if difference is None else {
        SAME: "the same error in every trial", UNCLEAR: "no clear difference"}.get(
            difference.verdict, more_words(ours.mean, iid.mean))
    return (f"**{verdict}.** Mean error {mean_words(ours)}{unit} ({trials}): {how} {baseline} ({as_number(error)})."
            f"{f' Against equal noise ({as_number(iid.mean)}): {equal}.' if equal else ''}{small_words(results)}")


def small_words(results: Results) -> str:
    """Return that a regression needs more records, where it does."""
    least = results.references.records_needed
    return "" if least is None else (
        f" **This table is too small:** a regression on this label needs {as_number(least)} records to learn from.")


def _verdict(results: Results, beaten: str) -> str:
    ours, baseline = results["mvg"], results.references.to_beat[0]
    if ours.errors.size == 1 and math.isfinite(ours.mean):
        return "One trial cannot tell"
    if beaten != BETTER:
        return {WORSE: f"{capitalised(baseline)} is better here", SAME: "The noise hides the data completely"}.get(
            beaten, f"Not clearly better than {baseline}")
    difference = paired(ours, results["iid"])
    return f"Better than {baseline}" if difference is None else {
        BETTER: "Directional noise is better here", WORSE: "Equal noise is better here",
        SAME: "Directional and equal noise have the same error",
        UNCLEAR: "No clear difference from equal noise"}[difference.verdict]


def more_words(error: float, least: float) -> str:
    """Return "3.1 % more error", "1.2 % less error", "4.2 times the error" or "the same error"."""
    ratio = error / least if least > 0 else 1.0 if error == least else math.inf
    if abs(ratio - 1) < 5e-4:
        return "the same error"
    return ("more error" if not math.isfinite(ratio) else f"{as_number(ratio, 2)} times the error" if ratio >= 2 else
            f"{as_number(100 * abs(ratio - 1), 2)} % {'less' if ratio < 1 else 'more'} error")


def measured_words(problem: Problem, results: Results) -> str:
    """Return the task's rule, its baseline and the records the trials use."""
    parts = [f"Rule: {results.task.rule}.", f"No-data baseline: {results.references.trivial_is}."]
    if problem.held_out is not None:
        parts.append(f"Trials learn from {problem.dataset.n_records:,} records and test on "
                     f"{problem.held_out.n_records:,} others (δ = {as_probability(problem.delta)}).")
    if problem.scenario.judged == "priority" and problem.unfit is not None:
        parts.append(f"{capitalised(problem.unfit)}.")
    return " ".join(parts)


def metric_words(results: Results) -> str:
    """Return the title of the axis of errors."""
    scale = {"symmetric": "[-1,\u00a01]", "unit": "[0,\u00a01]"}.get(results.scenario.scale)
    unit = f", label on {scale}" if results.task.symbol == "RMSE" and scale else ""
    return f"{results.metric}{unit}; smaller\u00a0is\u00a0better"


def priority_names(setup: Setup) -> list[str]:
    """Return the names of the priority columns, or directions."""
    names = setup.direction_names if setup.scenario.needs_along == "directions" else setup.dataset.features
    return [names[k] for k in setup.scenario.needs if k < len(names)]


def parts_words(setup: Setup, found: list[Results], *, on_data: bool) -> str:
    """Return who gains and who pays; ``on_data``: errors are on the data itself, not on simulated data."""
    what = columns_of(setup)
    subjects = {"priority": f"On priority {what} ({in_markdown(listed(priority_names(setup)))})",
                "other": f"on other {what}", "everything": "on everything together"}
    words = [f"{subjects[part.scenario.judged]} {more_words(part['mvg'].mean, part['iid'].mean)}" for part in found]
    first = f"**{capitalised(words[0])}**" + "".join(f", {each}" for each in words[1:]) + ", against equal noise."
    clipped = "" if own_units(setup) else clipping_words(setup, on_data=on_data, name=in_markdown)  # else beside it
    return " ".join(filter(None, [first, least_sentence(setup), clipped]))


def own_units_words(setup: Setup, rows: list[FeatureNoise], *, on_data: bool) -> str:
    """Return the noise on the first priority column in the data's units; ``on_data`` as in ``parts_words``."""
    what, row = "a released value" if setup.query.is_table else "the released mean", rows[0]
    unit = f" {in_markdown(row.unit)}".rstrip()
    return (f"**Noise typically moves {what} of {in_markdown(row.name)} by {as_number(row.ours)}{unit}** (equal noise: "
            f"{as_number(row.equal)}{unit}). {clipping_words(setup, on_data=on_data, name=in_markdown)}").rstrip()


def sweep_words(curve: list[Results]) -> str:
    """Return from which epsilon on the noise beats the baseline."""
    if not curve:
        return "**No trial yet.**"
    baseline, error = curve[0].references.to_beat
    ours, iid = (beaten_from(curve, key) for key in ("mvg", "iid"))
    if not error > 0:
        return f"**{capitalised(baseline)} has no error here:** no noise can beat it."
    if all(results["mvg"].errors.size < 2 for results in curve):
        return "**One trial at each ε cannot tell.**"
    return (f"**At no ε tried is this design clearly better than {baseline}.**" if ours is None else
            f"**This design beats {baseline} from ε = {ours:g} on**, of those tried.") + (
        f" Equal noise: {'at none' if iid is None else f'from ε = {iid:g} on'}.")


_TOLD = 3  # names of a set


class SetNames:
    """What a set of directions is called: its members, or those left out where they are few."""

    def __init__(self, name: Callable[[int], str], size: int) -> None:
        self.name, self._size = name, size

    def __call__(self, choice: Directions | None) -> str:
        if choice is None:
            return "equal noise"
        if 1 < len(choice) >= self._size - _TOLD:
            return f"all but {' + '.join(self.name(k) for k in range(self._size) if k not in set(choice))}"
        more = [f"{len(choice) - _TOLD} more"] if len(choice) > _TOLD else []
        return " + ".join([*map(self.name, choice[:_TOLD]), *more])


def sets_words(curves: Sequence[ErrorCurve]) -> str:
    """Return which choice is best most often, and at how many of the epsilons tried."""
    shared = set[float]().union(*(curve.outcomes for curve in curves)).intersection(
        *(set(curve.outcomes) for curve in curves))
    if not shared:
        return "**Over ε:** no trial yet."
    [(best, times)] = Counter(min(curves, key=lambda curve: curve.outcomes[epsilon].mean).name
                              for epsilon in shared).most_common(1)
    return f"**Over ε:** {in_markdown(best)} has the lowest mean error at {times} of the {len(shared)} ε tried."
