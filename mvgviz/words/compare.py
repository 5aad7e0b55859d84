"""Sentences of the page Compare, computed from its numbers."""

import math

from mvgviz.figures.compare.ranking import Mark, Ranking, colour, label, symbol, two_lines
from mvgviz.figures.shared.error_axis import mean_words
from mvgviz.text import as_number, in_markdown
from mvgviz.trials.frontier import Curve, Reading
from mvgviz.trials.mechanisms import EPSILON
from mvgviz.trials.paired import BETTER, SAME, UNCLEAR, against, paired
from mvgviz.trials.run import Outcome, Results


def ranking_marks(numbers: Ranking) -> list[Mark]:
    """The lines of the chart."""
    scenario, marks = numbers.results.scenario, []
    own = numbers.twins.get(f"mvg-{scenario.guarantee}", f"mvg-{scenario.guarantee}")
    for outcome in numbers.outcomes:
        mechanism, is_own = outcome.mechanism, outcome.mechanism.key == own
        spent = "" if outcome.epsilon_spent is None else f", really spent {as_number(outcome.epsilon_spent)}"
        marks.append(Mark(
            label=two_lines(label(mechanism) + (", this design" if is_own else "")), mean=outcome.mean,
            half_width=outcome.half_width, symbol=symbol(mechanism), ring=is_own,
            colour=colour(mechanism, scenario.guarantee),
            said=f"promise: {mechanism.guarantee}<br>epsilon asked {scenario.epsilon:g}{spent}"))
    return marks


def _name(result: Outcome | Curve) -> str:
    return in_markdown(result.mechanism.label)


def ranking_words(numbers: Ranking) -> str:
    """Who is first, by how much, whether the first two can be told apart, who fails to beat the answer without data."""
    if not numbers.outcomes:
        return "**No trial yet.**"
    first, trials = numbers.outcomes[0], numbers.outcomes[0].errors.size
    many = "1 trial, so no interval" if trials == 1 else f"{trials:,} trials"
    return " ".join([f"**{_best(numbers)}.** Error {mean_words(first)} ({many}).",
                     *(_against_second(first, second) for second in numbers.outcomes[1:2]), _trivial(numbers)])


def _best(numbers: Ranking) -> str:
    """The verdict: who is best, with whom it shares that, or that none is of use."""
    first, *others = numbers.outcomes
    if against(first, numbers.results.references.trivial) not in (BETTER, None):
        return f"None is clearly of use here; first is {_name(first)}"
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
    """How many beat the answer without data, where the others are so far off that these crowd together; else 0."""
    better = [against(outcome, numbers.results.references.trivial) == BETTER for outcome in numbers.outcomes]
    count = better.index(False) if False in better else len(better)
    crowded = 1 < count < len(better) and numbers.outcomes[-1].mean > 1.5 * numbers.outcomes[count - 1].mean
    return count if crowded else 0


def _trivial(numbers: Ranking) -> str:
    trivial, guess = numbers.results.references.trivial, numbers.results.references.random_guess
    losers = [outcome for outcome in numbers.outcomes if against(outcome, trivial) != BETTER]
    value = f"the answer without data ({as_number(trivial)})"
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
    trivial, beats = numbers.results.references.trivial, {None: "", BETTER: "yes", UNCLEAR: "not clearly"}
    return [{
        "mechanism": outcome.mechanism.label, "mean error": _number(outcome.mean),
        "95 % from": _number(outcome.interval[0]), "95 % to": _number(outcome.interval[1]),
        "promise": outcome.mechanism.guarantee, "epsilon asked": numbers.results.scenario.epsilon,
        "epsilon really spent": outcome.epsilon_spent,
        "beats the answer without data": beats.get(against(outcome, trivial), "no"),
        "applies to": outcome.mechanism.applies, "note": outcome.reason or outcome.caution or "",
        "reference": outcome.mechanism.reference} for outcome in [*numbers.results.ranked(), *numbers.unsuitable]]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def ranking_about(results: Results, sensitivity: str) -> str:
    """What the chart shows."""
    return (f"Every mechanism answers the same question with the same budget, {results.scenario.trials:,} times, and "
            f"meets the same random numbers, trial by trial. All stand on {sensitivity}. Dot: mean error; whisker: its "
            f"95 % interval; lower is better. Rule of the task: {in_markdown(results.task.rule)}. A diamond promises "
            f"{EPSILON}: stronger than ε and δ at the same ε.")


def frontier_words(curves: list[Curve], readings: list[Reading], error: float, *, own: str, trivial: float) -> str:
    """Who needs the least epsilon, what this design needs, and who never comes there."""
    pairs = sorted(zip(curves, readings, strict=True), key=lambda pair: pair[1].epsilon)
    reached = [(curve, reading) for curve, reading in pairs if reading.reached]
    if not reached:
        return f"**No mechanism comes down to an error of {as_number(error)}** at the ε looked at."
    curve, reading = reached[0]
    words = [f"**For an error of {as_number(error)}, {_name(curve)} needs the least: ε "
             f"{'≤' if reading.at_most else '='} {as_number(reading.epsilon)}.**"]
    mine = next(((other, read) for other, read in pairs if other.mechanism.key == own), None)
    if mine is not None and mine[0] is not curve and mine[1].reached and reading.epsilon > 0:
        words.append(f"This design needs {as_number(mine[1].epsilon)}, {'at least ' if reading.at_most else ''}"
                     f"{as_number(mine[1].epsilon / reading.epsilon, 2)} times as much.")
    if error >= trivial:
        words.append(f"**The answer without data ({as_number(trivial)}) does as well** and costs no privacy.")
    missing = [_name(other) for other, read in pairs if not read.reached]
    if missing:
        words.append(f"Not reached up to ε = {curve.epsilons[-1]:g}: {_apart(missing)}.")
    return " ".join(words)
