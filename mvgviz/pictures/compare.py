"""All mechanisms on one task, the best on top, and the epsilon that each needs for one error."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mvgviz.noise.families import CHOICES
from mvgviz.pictures import error_axis as axes
from mvgviz.pictures import theme
from mvgviz.pictures.error_axis import Mark, error_axis, mean_words, plot_ranked, reference_items
from mvgviz.pictures.theme import Picture
from mvgviz.pictures.utility import metric_words, more_words, small_words
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_number, in_markdown
from mvgviz.trials.mechanisms import EPSILON, Mechanism, own_key
from mvgviz.trials.results import BETTER, UNCLEAR, Outcome, Results, against, paired
from mvgviz.trials.sweeps import Curve, Reading
from mvgviz.trials.tasks import References

_SAME = 1e-9
_TWINS = {"iid": ("gaussian-analytic", "mvg-exact", "mvg-theorem1", "mvg-theorem2", "mvg-theorem2-any"),
          "mvg-theorem2-any": ("mvg-theorem2",), "box-ellipse-noise": ("box-noise",)}


def colour(mechanism: Mechanism, guarantee: str = "exact") -> str:
    """Return the colour of a mechanism: MVG by its ``guarantee``, Gaussian noise as equal noise."""
    key = mechanism.key
    if key.startswith("mvg"):
        return theme.GUARANTEE_COLOURS[key.removeprefix("mvg-") if key != "mvg" else guarantee]
    if key == "plan":
        return theme.DIRECTIONAL
    if "lindenstrauss" in key:
        return theme.SKETCH
    return theme.PURE if mechanism.guarantee == EPSILON else theme.IID


def symbol(mechanism: Mechanism) -> str:
    """Return a diamond for epsilon alone, else a circle; hollow where only some columns are released."""
    shape = "diamond" if mechanism.guarantee == EPSILON else "circle"
    return f"{shape}-open" if mechanism.key.startswith("reduced") else shape


def label(mechanism: Mechanism) -> str:
    """Return a mechanism's name, with its promise where that is the stronger one."""
    return f"{mechanism.label} ({EPSILON})" if mechanism.guarantee == EPSILON else mechanism.label


class Ranking(NamedTuple):
    """``outcomes``: those that apply, the best first. ``twins``: by key, the mechanism with the very same noise."""

    results: Results
    outcomes: list[Outcome]
    twins: dict[str, str]
    unsuitable: list[Outcome]


def ranking(results: Results) -> Ranking:
    """Return mechanisms with trials, ranked; of several with the same noise, only the first."""
    errors = {outcome.mechanism.key: outcome.errors for outcome in results.outcomes if outcome.errors.size}
    n = min(map(len, errors.values()), default=0)
    twins = {key: other for key, others in _TWINS.items() for other in reversed(others)  # the first one stays
             if {key, other} <= set(errors) and np.allclose(errors[key][:n], errors[other][:n], rtol=_SAME, atol=0)}
    shown = [outcome for outcome in results.ranked()
             if outcome.mechanism.key not in twins and math.isfinite(outcome.mean)]
    return Ranking(results, shown, twins, [outcome for outcome in results.outcomes if outcome.reason is not None])


_DASHES = ("solid", "dash", "dot", "dashdot")
_CURVES = 240  # pixels


class Needed(NamedTuple):
    """A curve with what is read from it; ``dash`` tells curves of one colour apart."""

    curve: Curve
    reading: Reading
    name: str
    colour: str
    symbol: str
    dash: str


def needed(curves: Sequence[Curve], error: float, *, guarantee: str) -> list[Needed]:
    """Return what each curve says about ``error``, the lowest epsilon first."""
    dashes = defaultdict[str, Iterator[str]](lambda: cycle(_DASHES))
    found = [Needed(curve, curve.read(error), label(curve.mechanism), own, symbol(curve.mechanism), next(dashes[own]))
             for curve in curves for own in [colour(curve.mechanism, guarantee)]]
    return sorted(found, key=lambda line: (line.reading.epsilon, line.curve.least))


def frontier_picture(curves: Sequence[Curve], *, error: float, scenario: Scenario, title: str,
                     references: Mapping[float, References]) -> Picture:
    """Error over epsilon with bands above; below, the epsilon that each mechanism needs for one error."""
    lines = needed(curves, error, guarantee=scenario.guarantee)
    below = 26 * len(lines) + 20
    height = _CURVES + below + 90
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=24 / height,
                           row_heights=[_CURVES / (_CURVES + below), below / (_CURVES + below)])
    low, high = (float(f([f(line.curve.epsilons) for line in lines])) for f in (np.min, np.max))
    shown = [line for line in axes.lines_over(references) if line[0] != "random_guess"]
    values = [value for line in lines for value in line.curve.means.tolist()]
    axis = error_axis([*values, error, *(value for _, _, over in shown for value in over)])
    axes.add_lines_over(figure, axis, shown, (low, high), row=1, col=1)
    for line in lines:
        curve = line.curve
        if np.isfinite(curve.lows).all() and np.isfinite(curve.highs).all():
            theme.add_band(figure, curve.epsilons, np.maximum(curve.lows, curve.means / 10), curve.highs, line.colour,
                           0.15, row=1, col=1)
        theme.add_curve(figure, curve.epsilons, curve.means, line.name, line.colour, 2.5, line.symbol, size=6,
                        dash=line.dash, hover=f"{line.name}<br>ε = %{{x:g}}: error %{{y:.3g}}", row=1, col=1,
                        showlegend=False)
    theme.add_line(figure, [low, high], [error, error], f"wanted error: {as_number(error)}", theme.DATA, 3, row=1,
                   col=1)
    for at, line in enumerate(lines):
        _add_reading(figure, line, at, error, low, high)
    figure.add_vline(x=scenario.epsilon, line={"color": theme.DATA, "width": 1, "dash": "dot"})  # the scenario's
    room = 0.03 * math.log10(high / low)
    figure.update_xaxes(type="log", range=[math.log10(low) - room, math.log10(high) + 4 * room],
                        **theme.log_ticks(low, high))
    figure.update_xaxes(title="epsilon (ε), log scale", row=2, col=1)
    figure.update_yaxes(**axis.layout(title), row=1, col=1)
    figure.update_yaxes(**theme.row_axis([theme.broken(line.name, 24) for line in lines], 11), row=2, col=1)
    return Picture(theme.styled(figure, height=height, top=50), _frontier_words(
        lines, error, scenario, next(iter(references.values()))), """
Above: the mean error of each mechanism at each ε, with 95 % bands. Follow the thick line (the wanted error) to a curve,
then go down: this ε is what the mechanism needs. *Not below*: no ε tried is enough.""")


def _add_reading(figure: go.Figure, line: Needed, at: int, error: float, low: float, high: float) -> None:
    """Mark where the curve meets the wanted error, and draw the epsilon below."""
    below: dict[str, Any] = {"row": 2, "col": 1}
    reading, epsilon = line.reading, line.reading.epsilon
    if not reading.reached:
        theme.add_words(figure, [low], [at], [f"not below {as_number(line.curve.least)} up to ε = {high:g}"], **below)
        return
    theme.add_line(figure, [low, epsilon], [at, at], "", line.colour, 2, line.dash, hover=None, showlegend=False,
                   **below)
    left, right = (min(max(end, low), high) if math.isfinite(end) else high for end in (reading.low, reading.high))
    sure, text = not math.isnan(reading.low), f"ε {'≤ ' if reading.at_most else ''}{as_number(epsilon)}"
    theme.add_dots(figure, [epsilon], [error], "", line.colour, 11, line.symbol, edge=theme.DATA, hover=None,
                   showlegend=False, row=1, col=1)
    theme.add_dots(
        figure, [epsilon], [at], "", line.colour, 11, line.symbol, hover=None, showlegend=False, cliponaxis=False,
        error_x={"type": "data", "array": [max(right - epsilon, 0.0)], "color": line.colour, "thickness": 2,
                 "arrayminus": [max(epsilon - left, 0.0)]} if sure else None, **below)
    theme.add_words(figure, [max(epsilon, right if sure else low)], [at], [f"   {text}"], **below)


TRIALS_ONLY = "trials only"


def released(mechanism: Mechanism, scenario: Scenario) -> bool:
    """Return whether a release can draw this noise: it can leave out columns, but no other directions."""
    family = mechanism.key.removesuffix("-noise")
    fits = family not in CHOICES or scenario.changed(guarantee="exact", family=family).noise_family == family
    return mechanism.released and fits and (
        scenario.needs_along == "features" or not mechanism.key.startswith("reduced"))


def ranking_marks(numbers: Ranking) -> list[Mark]:
    """Return the lines of the chart."""
    scenario, mean, marks = numbers.results.scenario, numbers.results.references.private_mean, []
    own = numbers.twins.get(own_key(scenario), own_key(scenario))
    for outcome in numbers.outcomes:
        mechanism, is_own = outcome.mechanism, outcome.mechanism.key == own
        more = ",<br>this design" * is_own + f",<br>{TRIALS_ONLY}" * (not released(mechanism, scenario))
        marks.append(Mark(theme.broken(label(mechanism), 24) + more, outcome.mean, outcome.half_width,
                          colour(mechanism, scenario.guarantee), symbol(mechanism), ring=is_own))
    if math.isfinite(mean):
        marks.insert(sum(mark.mean <= mean for mark in marks),
                     Mark("private mean of the label", mean, math.nan, theme.DATA, "line-ns"))
    return marks


def _name(result: Outcome | Curve) -> str:
    return in_markdown(result.mechanism.label)


def ranking_picture(numbers: Ranking, *, only: int = 0) -> Picture:
    """All mechanisms on one task, ranked; ``only``: so many of the best, without the baselines."""
    results = numbers.results
    references = [] if only else reference_items(results.references)
    figure = plot_ranked(ranking_marks(numbers)[: only or None], references, title=metric_words(results))
    return Picture(figure, ranking_words(numbers), (
        f"Every mechanism answers the same question with the same budget and sensitivity, in "
        f"{results.scenario.trials:,} trials. Dot: mean error; whisker: 95 % interval."))


def ranking_words(numbers: Ranking) -> str:
    """Return who is first of those that can be released, by how much, and what fails to beat the baseline."""
    if not numbers.outcomes:
        return "**No trial yet.**"
    able = [outcome for outcome in numbers.outcomes if released(outcome.mechanism, numbers.results.scenario)]
    if not able:
        return f"**These are for {TRIALS_ONLY}.** {_trivial(numbers)}"
    first, other, references = able[0], numbers.outcomes[0], numbers.results.references
    trials = "1 trial, so no interval" if first.errors.size == 1 else f"{first.errors.size:,} trials"
    best = (f"None clearly beats {references.to_beat[0]}; first is {_name(first)}"
            if against(first, references.to_beat[1]) != BETTER else f"Best mechanism here: {_name(first)}")
    said = [f"**{best}.** Error {mean_words(first)} {in_markdown(references.unit)}".rstrip() + f" ({trials})."]
    if other is not first:
        difference = paired(other, first)
        less = "has less error" if difference is None or difference.verdict == BETTER else "has no more error"
        said.append(f"{_name(other)} {less} ({as_number(other.mean)}), but is for {TRIALS_ONLY}.")
    for second in able[1:2]:
        difference = paired(first, second)
        clear = "" if difference is None else {UNCLEAR: ", **no clear difference**"}.get(difference.verdict, "")
        said.append(f"Second: {_name(second)}, with {more_words(second.mean, first.mean)}{clear}.")
    return " ".join([*said, _trivial(numbers)]) + small_words(numbers.results)


def symbol_words(numbers: Ranking) -> str:
    """Return what the symbols of the chart mean."""
    hollow = any(outcome.mechanism.key.startswith("reduced") for outcome in numbers.outcomes)
    return (f"◆ promises {EPSILON}, which is stronger; ● promises ε and δ"
            f"{'; ○ the same, for priority columns only' if hollow else ''}.")


def worth_zooming(numbers: Ranking) -> int:
    """Return how many beat the baseline, where the others are so far off that these crowd together; else 0."""
    better = [against(outcome, numbers.results.references.to_beat[1]) == BETTER for outcome in numbers.outcomes]
    count = better.index(False) if False in better else len(better)
    crowded = 1 < count < len(better) and numbers.outcomes[-1].mean > 1.5 * numbers.outcomes[count - 1].mean
    return count if crowded else 0


def _trivial(numbers: Ranking) -> str:
    baseline, error = numbers.results.references.to_beat
    losers = [_name(outcome) for outcome in numbers.outcomes if against(outcome, error) != BETTER]
    value = f"{baseline} ({as_number(error)})"
    return (f"All beat {value}." if not losers else f"**None clearly beats {value}.**"
            if len(losers) == len(numbers.outcomes) else f"**No clear gain over {value}:** {_apart(losers)}.")


def _apart(names: list[str]) -> str:
    """Return a list of names that may hold commas."""
    return "; ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def unsuitable_words(numbers: Ranking) -> list[str]:
    """Return a line for each mechanism that is not in the chart, with the reason."""
    names = {outcome.mechanism.key: _name(outcome) for outcome in numbers.results.outcomes}
    lines = [f"**{_name(outcome)}**: {in_markdown(outcome.reason or '')}." for outcome in numbers.unsuitable]
    lines += [f"**{names[key]}**: the same noise here as {names[other]}." for key, other in numbers.twins.items()]
    return lines + [f"**{_name(outcome)}**: its error is too large to show."
                    for outcome in numbers.results.ranked() if not math.isfinite(outcome.mean)]


def caution_words(numbers: Ranking) -> str:
    """Return where a published guarantee is doubtful."""
    return " ".join(f"**{_name(outcome)}**: {outcome.caution}." for outcome in numbers.results.outcomes
                    if outcome.caution is not None and outcome.reason is None)


def table_rows(numbers: Ranking) -> list[dict[str, object]]:
    """Return every number of the chart, and the mechanisms that are not in it."""
    results = numbers.results
    (baseline, error), beats = results.references.to_beat, {None: "", BETTER: "yes", UNCLEAR: "not clearly"}
    return [{
        "mechanism": outcome.mechanism.label,
        **{name: value if math.isfinite(value) else None for name, value in zip(
            ("mean error", "95 % from", "95 % to"), (outcome.mean, *outcome.interval), strict=True)},
        "promise": outcome.mechanism.guarantee, "epsilon asked": results.scenario.epsilon,
        "epsilon really spent": outcome.epsilon_spent,
        f"beats {baseline}": beats.get(against(outcome, error), "no"),
        "can be released here": "yes" if released(outcome.mechanism, results.scenario) else "no",
        "applies to": outcome.mechanism.applies, "note": outcome.reason or outcome.caution or "",
        "reference": outcome.mechanism.reference} for outcome in [*results.ranked(), *numbers.unsuitable]]


def _frontier_words(lines: Sequence[Needed], error: float, scenario: Scenario, references: References) -> str:
    wanted = f"{as_number(error)} {in_markdown(references.unit)}".rstrip()
    reached = [line for line in lines if line.reading.reached]
    if not reached:
        return f"**No mechanism reaches an error of {wanted}** at any ε tried."
    able = [line for line in reached if released(line.curve.mechanism, scenario)]
    first, least = (able or reached)[0], reached[0]
    words = [f"**For an error of {wanted}, {_name(first.curve)} needs the lowest ε: "
             f"{'at most ' * first.reading.at_most}{as_number(first.reading.epsilon)}.**"]
    if not able or first is not least:
        words.append(f"{_name(least.curve)} needs {as_number(least.reading.epsilon)}, but is for {TRIALS_ONLY}.")
    words += [f"This design needs {as_number(line.reading.epsilon)}." for line in reached
              if line is not first and line.curve.mechanism.key == own_key(scenario)]
    if error >= references.trivial:
        words.append(f"**The no-data baseline ({as_number(references.trivial)}) does as well** and costs no privacy.")
    return " ".join(words)
