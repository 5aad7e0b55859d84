"""All mechanisms on one task, the best on top, and the epsilon that each needs for one error."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mvgviz.labels import REFERENCES
from mvgviz.pictures.error_axis import ErrorAxis, error_axis, lines_over, mean_words, reference_items, reference_look
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.theme import (
    DATA,
    DIRECTIONAL,
    GUARANTEE_COLOURS,
    IID,
    PURE,
    SKETCH,
    laid_out,
    log_ticks,
    row_axis,
    stroke,
    styled,
    wash,
)
from mvgviz.pictures.utility import metric_words, small_words
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_number, in_markdown
from mvgviz.trials.mechanisms import EPSILON, Mechanism
from mvgviz.trials.results import BETTER, SAME, UNCLEAR, Outcome, Results, against, paired
from mvgviz.trials.sweeps import Curve, Reading, falling
from mvgviz.trials.tasks import References

_SAME = 1e-9
_TWINS = {"iid": ("gaussian-analytic", "mvg-exact", "mvg-theorem1", "mvg-theorem2", "mvg-theorem2-any"),
          "mvg-theorem2-any": ("mvg-theorem2",)}


def colour(mechanism: Mechanism, guarantee: str = "exact") -> str:
    """MVG by its guarantee (``guarantee``: of the scenario's own), Gaussian noise as equal noise.

    PLAN's noise is directional, without the paper's design.
    """
    key = mechanism.key
    if key.startswith("mvg"):
        return GUARANTEE_COLOURS[key.removeprefix("mvg-") if key != "mvg" else guarantee]
    if key == "plan":
        return DIRECTIONAL
    if "lindenstrauss" in key:
        return SKETCH
    return PURE if mechanism.guarantee == EPSILON else IID


def symbol(mechanism: Mechanism) -> str:
    """A diamond for epsilon alone, a circle for epsilon and delta; hollow where only some features are released."""
    shape = "diamond" if mechanism.guarantee == EPSILON else "circle"
    return f"{shape}-open" if mechanism.key.startswith("reduced") else shape


def label(mechanism: Mechanism) -> str:
    """The mechanism and, where it is the stronger one, its promise."""
    return f"{mechanism.label} ({EPSILON})" if mechanism.guarantee == EPSILON else mechanism.label


def two_lines(text: str, most: int = 24) -> str:
    """A long label broken at a comma or a bracket, for Plotly; names in it must be harmless already."""
    if len(text) <= most:
        return text
    cuts = [found.end() for mark in (r", ", r" (?=\()") for found in re.finditer(mark, text)]
    if not cuts:
        return text
    at = min(cuts, key=lambda cut: abs(cut - len(text) / 2))
    return f"{text[:at].rstrip()}<br>{text[at:]}"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One line of a ranked chart. ``label``: harmless already; ``ring``: the design as it stands; ``faint``: less sure.

    ``said``: what the pointer reads besides the error.
    """

    label: str
    mean: float
    half_width: float
    colour: str
    symbol: str
    said: str
    ring: bool = False
    faint: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranking:
    """``outcomes``: those that apply, the best first. ``twins``: by key, whose very noise a mechanism has here.

    ``unsuitable``: those that do not apply.
    """

    results: Results
    outcomes: tuple[Outcome, ...]
    twins: dict[str, str]
    unsuitable: tuple[Outcome, ...]


def ranking(results: Results) -> Ranking:
    """Mechanisms with trials, ranked; one that draws the same noise as another is named, not drawn twice."""
    by_key = {outcome.mechanism.key: outcome for outcome in results.outcomes}
    twins = {key: other for key, others in _TWINS.items() for other in reversed(others)  # the first one stays
             if _same(by_key.get(key), by_key.get(other))}
    shown = tuple(outcome for outcome in results.ranked()
                  if outcome.mechanism.key not in twins and math.isfinite(outcome.mean))
    return Ranking(results=results, outcomes=shown, twins=twins,
                   unsuitable=tuple(outcome for outcome in results.outcomes if outcome.reason is not None))


def _same(first: Outcome | None, second: Outcome | None) -> bool:
    if first is None or second is None:
        return False
    n = min(first.errors.size, second.errors.size)
    return n > 0 and bool(np.allclose(first.errors[:n], second.errors[:n], rtol=_SAME, atol=0))


def plot_ranked(marks: Sequence[Mark], references: Sequence[tuple[str, float]], *, title: str) -> go.Figure:
    """A dot and a whisker a line; the means stand beside them."""
    ends = [end for mark in marks for end in _ends(mark)]
    axis = error_axis([*ends, *(mark.mean for mark in marks), *(value for _, value in references)], room=0.07)
    figure = go.Figure()
    for kind, value in references:
        inside = axis.holds(value)
        name = f"{REFERENCES[kind]}: {as_number(value)}{'' if inside else ' (off the scale)'}"
        figure.add_scatter(x=[value, value] if inside else [None], y=[-0.6, len(marks) - 0.4] if inside else [None],
                           **reference_look(kind, name))
    if any(mark.ring for mark in marks):
        figure.add_scatter(x=[axis.cut(mark.mean) for mark in marks if mark.ring],
                           y=[at for at, mark in enumerate(marks) if mark.ring], mode="markers", name="this design",
                           showlegend=False, hoverinfo="skip",
                           marker={"symbol": "circle-open", "size": 20, "color": DATA, "line": {"width": 2}})
    for at, mark in enumerate(marks):
        _add_dot(figure, mark, at, axis)
    beside = [_beside(mark, axis) for mark in marks]
    figure.add_scatter(x=[x for x, _, _ in beside], y=list(range(len(marks))), mode="text", cliponaxis=False,
                       text=[text for _, text, _ in beside], textposition=[side for _, _, side in beside],
                       textfont={"size": 11}, showlegend=False, hoverinfo="skip")
    laid_out(figure, {"xaxis": axis.layout(title), "yaxis": row_axis(
        [f"<b>{mark.label}</b>" if mark.ring else mark.label for mark in marks], 11)})
    broken = sum("<br>" in mark.label for mark in marks)
    row = 25 if not broken else 31 if broken <= len(marks) / 2 else 37
    row += 11 * (max((mark.label.count("<br>") for mark in marks), default=0) > 1)
    return styled(figure, height=max(95 + row * len(marks), 200), top=35)


def _add_dot(figure: go.Figure, mark: Mark, at: int, axis: ErrorAxis) -> None:
    name = mark.label.replace("<br>", " ")
    half = f" ± {as_number(mark.half_width, 2)}" if math.isfinite(mark.half_width) else ""
    figure.add_scatter(
        x=[float(axis.cut(mark.mean))], y=[at], mode="markers", name=name, showlegend=False, cliponaxis=False,
        opacity=0.6 if mark.faint else 1.0,
        marker={"color": mark.colour, "symbol": mark.symbol, "size": 10, "line": {"width": 2, "color": mark.colour}},
        error_x=axis.whisker(mark.mean, *_ends(mark), colour=mark.colour, thickness=2, width=5),
        hovertemplate=f"<b>{name}</b><br>error {as_number(mark.mean)}{half}<br>{mark.said}<extra></extra>")


def _beside(mark: Mark, axis: ErrorAxis) -> tuple[float, str, str]:
    """Where the mean is written: right of the whisker, or left of it near the right edge."""
    low, high = _ends(mark)
    gap = " " * (5 if mark.ring else 3)
    if axis.place(high) > axis.low + 0.8 * (axis.high - axis.low):
        return float(axis.cut(low)), f"{as_number(mark.mean)}{gap}", "middle left"
    return float(axis.cut(high)), f"{gap}{as_number(mark.mean)}", "middle right"


def _ends(mark: Mark) -> tuple[float, float]:
    half = mark.half_width if math.isfinite(mark.half_width) else 0.0
    low = mark.mean - half
    return (low if low > 0 or mark.mean <= 0 else mark.mean / 10), mark.mean + half


_DASHES = ("solid", "dash", "dot", "dashdot")
_CURVES = 240  # pixels


@dataclass(frozen=True, kw_only=True)
class Needed:
    """A curve with what is read from it; ``dash`` tells curves of one colour apart."""

    curve: Curve
    reading: Reading
    colour: str
    dash: str


def needed(curves: Sequence[Curve], error: float, *, guarantee: str) -> list[Needed]:
    """What each curve says about ``error``, the least epsilon first."""
    seen: dict[str, int] = {}
    found = []
    for curve in curves:
        own = colour(curve.mechanism, guarantee)
        found.append(Needed(curve=curve, reading=curve.read(error), colour=own,
                            dash=_DASHES[seen.get(own, 0) % len(_DASHES)]))
        seen[own] = seen.get(own, 0) + 1
    return sorted(found, key=lambda line: (line.reading.epsilon, line.curve.least))


def frontier_picture(curves: Sequence[Curve], *, error: float, scenario: Scenario, trivial: float, title: str,
                     references: Mapping[float, References]) -> Picture:
    """Error over epsilon with bands above, the epsilon that each mechanism needs for one error below.

    ``trivial``: the error without data at the scenario's own epsilon; ``references``: at each epsilon.
    """
    lines = needed(curves, error, guarantee=scenario.guarantee)
    below = 26 * len(lines) + 20
    height = _CURVES + below + 90
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=24 / height,
                           row_heights=[_CURVES / (_CURVES + below), below / (_CURVES + below)])
    low, high = (float(f([f(line.curve.epsilons) for line in lines])) for f in (np.min, np.max))
    shown = [line for line in lines_over(references) if line[0] != "random_guess"]
    values = [value for line in lines for value in line.curve.means.tolist()]
    axis = error_axis([*values, error, *(value for _, _, over in shown for value in over)])
    for kind, epsilons, over in shown:
        if axis.holds(over[0]):
            level = len(set(over)) == 1
            figure.add_scatter(x=[low, high] if level else epsilons, y=axis.cut(over), row=1, col=1, **reference_look(
                kind, f"{REFERENCES[kind]}: {as_number(over[0])}" if level else REFERENCES[kind], width=1.5))
    for line in lines:
        _add_curve(figure, line)
    figure.add_scatter(x=[low, high], y=[error, error], name=f"wanted error: {as_number(error)}", hoverinfo="name",
                       row=1, col=1, **stroke(DATA, 3))
    for at, line in enumerate(lines):
        _add_reading(figure, line, at, error, low, high)
    figure.add_vline(x=scenario.epsilon, line={"color": DATA, "width": 1, "dash": "dot"})  # the scenario's
    room = 0.03 * math.log10(high / low)
    figure.update_xaxes(type="log", range=[math.log10(low) - room, math.log10(high) + 4 * room], **log_ticks(low, high))
    figure.update_xaxes(title="epsilon (ε), log scale", row=2, col=1)
    figure.update_yaxes(**axis.layout(title), row=1, col=1)
    figure.update_yaxes(**row_axis([two_lines(label(line.curve.mechanism)) for line in lines], 11), row=2, col=1)
    return Picture(styled(figure, height=height, top=50), _frontier_words(lines, error, trivial, scenario), """
Above: the mean error of each mechanism as its budget grows, with 95 % bands; the upright line is
this scenario's ε. Follow the thick line of the wanted error across to a curve, then go down: there stands the ε this
mechanism needs, with what the band makes of it.

Between the measured points the curve is a straight line in logarithms; where chance makes a curve rise, it is read
from the closest curve that never rises. *Not below* means that no ε looked at is enough.""")


def _add_curve(figure: go.Figure, line: Needed) -> None:
    curve, name = line.curve, label(line.curve.mechanism)
    if np.isfinite(curve.lows).all() and np.isfinite(curve.highs).all():
        figure.add_scatter(x=[*curve.epsilons, *curve.epsilons[::-1]],
                           y=[*curve.highs, *np.maximum(curve.lows, curve.means / 10)[::-1]], fill="toself",
                           fillcolor=wash(line.colour, 0.15), line={"width": 0}, mode="lines", hoverinfo="skip",
                           showlegend=False, row=1, col=1)
    figure.add_scatter(x=curve.epsilons, y=curve.means, mode="lines+markers", name=name, row=1, col=1, showlegend=False,
                       line={"color": line.colour, "width": 2.5, "dash": line.dash},
                       marker={"symbol": symbol(curve.mechanism), "size": 6, "color": line.colour},
                       hovertemplate=f"{name}<br>ε = %{{x:g}}: error %{{y:.4g}}<extra></extra>")


def _add_reading(figure: go.Figure, line: Needed, at: int, error: float, low: float, high: float) -> None:
    """The point where the curve meets the wanted error, the way down, and the epsilon below."""
    reading, mechanism = line.reading, line.curve.mechanism
    below = {"row": 2, "col": 1, "showlegend": False}
    words = {"mode": "text", "textposition": "middle right", "textfont": {"size": 11}, "hoverinfo": "skip", **below}
    figure.add_scatter(x=[low, min(reading.epsilon, high)], y=[at, at], hoverinfo="skip", **below,
                       **stroke(line.colour, 2, line.dash))
    if not reading.reached:
        least = as_number(float(falling(line.curve.means)[-1]))
        figure.add_scatter(x=[low], y=[at], text=[f"   not below {least}, up to ε = {high:g}"], **words)
        return
    left, right = (min(max(end, low), high) if math.isfinite(end) else high for end in (reading.low, reading.high))
    sure = not math.isnan(reading.low)
    marker = {"size": 11, "color": line.colour, "symbol": symbol(mechanism)}
    needs = f"ε {'≤ ' if reading.at_most else ''}{as_number(reading.epsilon)}"
    figure.add_scatter(x=[reading.epsilon], y=[error], mode="markers", showlegend=False, hoverinfo="skip", row=1, col=1,
                       marker={**marker, "line": {"width": 2, "color": DATA}})
    figure.add_scatter(
        x=[reading.epsilon], y=[at], mode="markers", marker=marker, cliponaxis=False, **below,
        error_x={"type": "data", "array": [max(right - reading.epsilon, 0.0)], "color": line.colour, "thickness": 2,
                 "arrayminus": [max(reading.epsilon - left, 0.0)]} if sure else None,
        hovertemplate=f"{label(mechanism)}<br>needs {needs}<extra></extra>")
    figure.add_scatter(x=[max(reading.epsilon, right if sure else low)], y=[at], text=[f"   {needs}"],
                       cliponaxis=False, **words)


TRIALS_ONLY = "trials only: cannot be released here"


def released(mechanism: Mechanism, scenario: Scenario) -> bool:
    """Whether a release can draw this noise; columns can be left out of one, other directions cannot."""
    return mechanism.released and (scenario.needs_along == "features" or not mechanism.key.startswith("reduced"))


def ranking_marks(numbers: Ranking) -> list[Mark]:
    """The lines of the chart."""
    scenario, marks = numbers.results.scenario, []
    own = numbers.twins.get(f"mvg-{scenario.guarantee}", f"mvg-{scenario.guarantee}")
    for outcome in numbers.outcomes:
        mechanism, is_own = outcome.mechanism, outcome.mechanism.key == own
        able = released(mechanism, scenario)
        spent = "" if outcome.epsilon_spent is None else f", really spent {as_number(outcome.epsilon_spent)}"
        marks.append(Mark(
            label=two_lines(label(mechanism) + (", this design" if is_own else "" if able else ", trials only")),
            mean=outcome.mean,
            half_width=outcome.half_width, symbol=symbol(mechanism), ring=is_own,
            colour=colour(mechanism, scenario.guarantee),
            said=f"promise: {mechanism.guarantee}<br>epsilon asked {scenario.epsilon:g}{spent}"
                 f"{'' if able else f'<br>{TRIALS_ONLY}'}"))
    mean = numbers.results.references.private_mean
    if math.isfinite(mean):
        marks.insert(sum(mark.mean <= mean for mark in marks), Mark(
            label="private mean of the label", mean=mean, half_width=math.nan, symbol="line-ns", colour=DATA,
            said=f"predicted for everyone<br>epsilon asked {scenario.epsilon:g}"))
    return marks


def _name(result: Outcome | Curve) -> str:
    return in_markdown(result.mechanism.label)


def ranking_picture(numbers: Ranking, *, sensitivity: str, only: int = 0) -> Picture:
    """All mechanisms on one task, ranked; ``only``: so many of the best, without what they are held against."""
    marks, results = ranking_marks(numbers), numbers.results
    references = [] if only else reference_items(results.references)
    figure = plot_ranked(marks[: only or None], references, title=metric_words(results))
    return Picture(figure, ranking_words(numbers), (
        f"Every mechanism answers the same question with the same budget, {results.scenario.trials:,} times, and "
        f"meets the same random numbers, trial by trial. All stand on {sensitivity}. Dot: mean error; whisker: its "
        f"95 % interval; lower is better. Rule of the task: {in_markdown(results.task.rule)}. A diamond promises "
        f"{EPSILON}: stronger than ε and δ at the same ε."))


def ranking_words(numbers: Ranking) -> str:
    """Who is first of those that can be released, by how much, and what fails to beat the baseline.

    What errs less and is for trials only is named second.
    """
    if not numbers.outcomes:
        return "**No trial yet.**"
    able = [outcome for outcome in numbers.outcomes if released(outcome.mechanism, numbers.results.scenario)]
    if not able:
        return f"**None of these can be released here.** {_trivial(numbers)}"
    first, trials = able[0], able[0].errors.size
    many = "1 trial, so no interval" if trials == 1 else f"{trials:,} trials"
    return " ".join([f"**{_best(able, numbers)}.** Error {mean_words(first)} ({many}).",
                     *(_better_in_trials(first, other) for other in numbers.outcomes[:1] if other is not first),
                     *(_against_second(first, second) for second in able[1:2]),
                     _trivial(numbers)]) + small_words(numbers.results)


def _better_in_trials(first: Outcome, other: Outcome) -> str:
    difference = paired(other, first)
    less = "errs less" if difference is None or difference.verdict == BETTER else "errs no more"
    return f"{_name(other)} {less} ({as_number(other.mean)}), but is for trials only: it cannot be released here."


def _best(able: list[Outcome], numbers: Ranking) -> str:
    first, *others = able
    baseline, error = numbers.results.references.to_beat
    if against(first, error) not in (BETTER, None):
        return f"None is clearly better than {baseline}; first is {_name(first)}"
    difference = paired(first, others[0]) if others else None
    if difference is not None and difference.verdict in (SAME, UNCLEAR) and first.errors.size > 1:
        return f"{_name(first)} and {_name(others[0])} are best here"
    return f"{_name(first)} is best here"


def _against_second(first: Outcome, second: Outcome) -> str:
    difference, name = paired(first, second), _name(second)
    if difference is None or difference.verdict == SAME:
        return f"Second, {name}, has the same error."
    less = f"{name}, second, has {more_words(second.mean, first.mean)}"
    if not math.isfinite(difference.half_width):
        return f"{less}; one trial cannot tell them apart."
    interval = f"paired difference {as_number(abs(difference.mean), 2)} ± {as_number(difference.half_width, 2)}"
    told = "**these two cannot be told apart**" if difference.verdict == UNCLEAR else "told apart"
    return f"{less}: {told} ({interval})."


def more_words(error: float, least: float) -> str:
    """"3.1 % more error", "4.2 times the error"."""
    if not (least > 0 and math.isfinite(error)):
        return "more error"
    ratio = error / least
    return f"{as_number(100 * (ratio - 1), 2)} % more error" if ratio < 2 else f"{as_number(ratio, 2)} times the error"


def symbol_words(numbers: Ranking) -> str:
    """What the symbols of the chart mean."""
    hollow = any(outcome.mechanism.key.startswith("reduced") for outcome in numbers.outcomes)
    return (f"◆ promises {EPSILON}, which is stronger; ● promises ε and δ"
            f"{'; ○ the same, of the needed only' if hollow else ''}.")


def worth_zooming(numbers: Ranking) -> int:
    """How many beat the baseline, where the others are so far off that these crowd together; else 0."""
    better = [against(outcome, numbers.results.references.to_beat[1]) == BETTER for outcome in numbers.outcomes]
    count = better.index(False) if False in better else len(better)
    crowded = 1 < count < len(better) and numbers.outcomes[-1].mean > 1.5 * numbers.outcomes[count - 1].mean
    return count if crowded else 0


def _trivial(numbers: Ranking) -> str:
    (baseline, error), guess = numbers.results.references.to_beat, numbers.results.references.random_guess
    losers = [outcome for outcome in numbers.outcomes if against(outcome, error) != BETTER]
    value = f"{baseline} ({as_number(error)})"
    if not losers:
        chance = [_name(outcome) for outcome in numbers.outcomes if against(outcome, guess) != BETTER]
        worse = f" **Not clearly better than a random guess ({as_number(guess)}):** {_apart(chance)}." if chance else ""
        return f"All beat {value}.{worse}"
    if len(losers) == len(numbers.outcomes):
        return f"**None clearly beats {value}.**"
    return f"**Not clearly better than {value}:** {_apart(list(map(_name, losers)))}."


def _apart(names: list[str], most: int = 3) -> str:
    """Names that hold commas."""
    return "; ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def unsuitable_words(numbers: Ranking) -> list[str]:
    """A line for each mechanism that is not in the chart, with the reason."""
    names = {outcome.mechanism.key: _name(outcome) for outcome in numbers.results.outcomes}
    lines = [f"**{_name(outcome)}**: {in_markdown(outcome.reason or '')}." for outcome in numbers.unsuitable]
    lines += [f"**{names[key]}**: here the same noise as {names[other]}." for key, other in numbers.twins.items()]
    return lines + [f"**{_name(outcome)}**: its error is too large to be written."
                    for outcome in numbers.results.ranked() if not math.isfinite(outcome.mean)]


def caution_words(numbers: Ranking) -> str:
    """Where a published guarantee is doubtful here."""
    return " ".join(f"**{_name(outcome)}**: {outcome.caution}." for outcome in numbers.results.outcomes
                    if outcome.caution is not None and outcome.reason is None)


def table_rows(numbers: Ranking) -> list[dict[str, object]]:
    """Every number of the chart and what does not stand in it."""
    (baseline, error), beats = numbers.results.references.to_beat, {None: "", BETTER: "yes", UNCLEAR: "not clearly"}
    return [{
        "mechanism": outcome.mechanism.label, "mean error": _number(outcome.mean),
        "95 % from": _number(outcome.interval[0]), "95 % to": _number(outcome.interval[1]),
        "promise": outcome.mechanism.guarantee, "epsilon asked": numbers.results.scenario.epsilon,
        "epsilon really spent": outcome.epsilon_spent,
        f"beats {baseline}": beats.get(against(outcome, error), "no"),
        "can be released here": "yes" if released(outcome.mechanism, numbers.results.scenario) else "no",
        "applies to": outcome.mechanism.applies, "note": outcome.reason or outcome.caution or "",
        "reference": outcome.mechanism.reference} for outcome in [*numbers.results.ranked(), *numbers.unsuitable]]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _frontier_words(lines: Sequence[Needed], error: float, trivial: float, scenario: Scenario) -> str:
    pairs = [(line.curve, line.reading) for line in lines]
    reached = [(curve, reading) for curve, reading in pairs if reading.reached]
    if not reached:
        return f"**No mechanism comes down to an error of {as_number(error)}** at the ε looked at."
    able = [(curve, reading) for curve, reading in reached if released(curve.mechanism, scenario)]
    curve, reading = (able or reached)[0]
    words = [f"**For an error of {as_number(error)}, {_name(curve)} needs the least: ε "
             f"{'≤' if reading.at_most else '='} {as_number(reading.epsilon)}.**"]
    if curve is not reached[0][0] or not able:
        less, read = reached[0]
        words.append(f"{_name(less)}, with {as_number(read.epsilon)}, is for trials only: it cannot be released here.")
    mine = next(((other, read) for other, read in pairs if other.mechanism.key == f"mvg-{scenario.guarantee}"), None)
    if mine is not None and mine[0] is not curve and mine[1].reached and reading.epsilon > 0:
        words.append(f"This design needs {as_number(mine[1].epsilon)}, {'at least ' if reading.at_most else ''}"
                     f"{as_number(mine[1].epsilon / reading.epsilon, 2)} times as much.")
    if error >= trivial:
        words.append(f"**The answer without data ({as_number(trivial)}) does as well** and costs no privacy.")
    missing = [_name(other) for other, read in pairs if not read.reached]
    if missing:
        words.append(f"Not reached up to ε = {curve.epsilons[-1]:g}: {_apart(missing)}.")
    return " ".join(words)
