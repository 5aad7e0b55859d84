"""Sentences of the page Utility, computed from its numbers."""

import html
import math
from collections.abc import Callable, Sequence

from mvgviz.figures.shared.error_axis import mean_words as mean_words  # a sentence's number and a chart's are one
from mvgviz.figures.utility.dots import DotNumbers
from mvgviz.figures.utility.errors import ErrorCurve, SetRow
from mvgviz.figures.utility.one_draw import MatrixPair
from mvgviz.scenario.own_units import FeatureNoise
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, capitalised, delta_words, in_markdown, listed
from mvgviz.trials.favoured_sets import Favoured
from mvgviz.trials.first_trial import FirstTrial
from mvgviz.trials.paired import BETTER, SAME, UNCLEAR, WORSE, Difference, against, beaten_from, paired
from mvgviz.trials.parts import PartErrors
from mvgviz.trials.question import BY_FEATURES, Problem
from mvgviz.trials.run import Outcome, Results
from mvgviz.trials.tasks.base import private_mean_rmse
from mvgviz.words.trade_off import least_sentence

NOT_PRIVATE = "Measured on the data itself, so these numbers are for choosing and are not private."
SHOWN_TO_HOLDER = ("This shows private data: it is shown to you, its holder, and is not part of any release. The noise "
                   "comes from the scenario's seed.")


def result_words(results: Results, needed: Sequence[str] = ()) -> str:
    """The verdict, then mean and interval, against the answer without data, against equal noise.

    ``needed``: the names of that.
    """
    ours, iid = results["mvg"], results["iid"]
    if not ours.errors.size:
        return "**No trial yet.** The lines are what the noise is held against."
    n, difference = ours.errors.size, paired(ours, iid)
    trials = "one trial, so no interval" if n == 1 else f"95 % interval, {n:,} trials"
    kind, unit = "Mean", results.references.unit
    if unit:
        on = f" on {in_markdown(listed(list(needed), 3))}" if needed and results.scenario.judged == "needed" else ""
        kind, unit = "Typical", f" {in_markdown(unit)}{on}"
    return (f"**{_verdict(results, difference)}.** {kind} error {mean_words(ours)}{unit} ({trials}): "
            f"{_trivial_words(ours, results.references.trivial)}"
            + ("" if difference is None else f" {_difference_words(difference, ours, iid)}"))


def _verdict(results: Results, difference: Difference | None) -> str:
    """What the trials say, without a number that has to be read twice."""
    ours, trivial = results["mvg"], results.references.trivial
    if ours.errors.size == 1 and math.isfinite(ours.mean):
        return "One trial cannot tell"
    beaten = against(ours, trivial) if math.isfinite(ours.mean) else WORSE
    if beaten == WORSE:
        return "The answer without data is better here"
    if beaten == SAME:
        return "Nothing of the data gets through"
    if beaten != BETTER:
        return "No better than the answer without data, as far as can be seen"
    verdict = None if difference is None else difference.verdict
    return {BETTER: "Directional noise is better here", WORSE: "Equal noise is better here",
            SAME: "Directional and equal noise do equally well here",
            UNCLEAR: "No difference from equal noise can be seen here"}.get(
                verdict or "", "Better than the answer without data")


def _trivial_words(outcome: Outcome, trivial: float) -> str:
    value = as_number(trivial)
    if not math.isfinite(outcome.mean):
        return f"it does not beat the answer without data ({value})."
    if not math.isfinite(outcome.half_width):
        side = "below" if outcome.mean < trivial else "not below"
        return f"{side} the answer without data ({value}), but one trial cannot tell."
    return {
        BETTER: f"better than the answer without data ({value}).",
        WORSE: f"it does not beat the answer without data ({value}), which costs no privacy.",
        SAME: f"just the answer without data ({value}).",
        UNCLEAR: f"not told apart from the answer without data ({value}).",
    }[against(outcome, trivial) or UNCLEAR]


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
    parts = [NOT_PRIVATE, f"Rule: {results.task.rule}.", f"Answer without data: {results.references.trivial_is}."]
    held_out = problem.question.held_out
    if held_out is not None:
        learned = problem.question.dataset.n_records
        parts.append(f"Learned from {learned:,} records, measured on {held_out.n_records:,} held out, so the noise "
                     f"differs a little from the line above; δ = {delta_words(problem.delta, learned)}.")
        if problem.scenario.judged == "needed" and problem.scenario.needs_along == "directions":
            parts.append(f"{capitalised(BY_FEATURES)}.")
    mean_alone = private_mean_rmse(problem)
    if mean_alone is not None:
        parts.append(f"Predicting for everyone a private mean of the label, with this whole budget, would err "
                     f"{as_number(mean_alone)}.")
    return " ".join(parts)


def metric_words(results: Results) -> str:
    """The axis of errors."""
    scale = {"symmetric": "[-1,\u00a01]", "unit": "[0,\u00a01]"}.get(results.scenario.scale)
    unit = f", label on {scale}" if results.task.symbol == "RMSE" and scale else ""
    return f"{results.metric}{unit}; smaller\u00a0is\u00a0better"


def dots_about(numbers: DotNumbers) -> str:
    """What a dot is."""
    share = f"{100 / numbers.dots:.3g} %" if numbers.dots else "a share"
    return (f"Each dot is {share} of the trials, stacked where they fall: many dots, likely there. Diamond and bar: "
            "the mean and its 95 % interval. Blue: this scenario's directional noise. Orange: equal noise at the "
            "same budget. Both meet the same random numbers, trial by trial. **Without privacy**: no noise. **Answer "
            "without data**: what the ranges alone tell (their middle, a fixed direction). **Random guess**: chance.")


def needed_names(setup: Setup) -> list[str]:
    """What is needed is called so: features, or directions."""
    names = setup.direction_names if setup.scenario.needs_along == "directions" else setup.dataset.features
    return [names[k] for k in setup.scenario.needs if k < len(names)]


def parts_words(setup: Setup, found: list[PartErrors]) -> str:
    """Who gains and who pays."""
    names = needed_names(setup)
    known = {part.part: part for part in found}
    words = []
    for part, subject in (("needed", f"On what is needed ({in_markdown(listed(names))})" if names else "On the needed"),
                          ("rest", "on the rest"), ("everything", "on everything together")):
        if part in known:
            words.append(f"{subject} {_gain(known[part].ratio(known[part].ours))}")
    first = f"**{words[0]}**" + "".join(f", {each}" for each in words[1:]) + ", against equal noise."
    first = " ".join(filter(None, [first, least_sentence(setup)]))
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
    return f"{as_number(100 * abs(ratio - 1), 2)} % {'less' if ratio < 1 else 'more'} error"


def own_units_words(setup: Setup, rows: list[FeatureNoise]) -> str:
    """The noise on the first needed feature, as a person would say it."""
    what = "A released value" if setup.query.name == "identity" else "The released mean"
    row = rows[0]
    unit = f" {in_markdown(row.unit)}" if row.unit else ""
    pulled = "" if setup.query.bound is None else " Records pulled into the bound are off by more, without noise."
    return (f"**In the data's own units:** {what} of {in_markdown(row.name)} is typically "
            f"off by {as_number(row.ours)}{unit} (equal noise: {as_number(row.equal)}{unit}).{pulled}")


def sweep_words(curve: list[Results]) -> str:
    """From which epsilon on the answer without data is beaten."""
    if not curve:
        return "**No trial yet.**"
    trivial = curve[0].references.trivial
    ours, iid = (beaten_from(curve, key) for key in ("mvg", "iid"))
    if not trivial > 0:
        return "**The answer without data is right here:** no noise can beat it."
    if all(results["mvg"].errors.size < 2 for results in curve):
        return "**One trial at each ε:** no interval, so nothing can be said for sure."
    first = (f"**At no ε tried is the answer without data ({as_number(trivial)}) beaten for sure.**"
             if ours is None else
             f"**The answer without data ({as_number(trivial)}) is beaten from ε = {ours:g} on**, of those tried.")
    if ours == iid:
        return f"{first} The same holds for equal noise."
    return f"{first} Equal noise: {'at none' if iid is None else f'from ε = {iid:g} on'}."


def draw_words(trial: FirstTrial, pair: MatrixPair, symbol: str) -> str:
    """How far the noisy answer is off."""
    which = "the first of the trials" if trial.is_trial else (
        "drawn for looking: for this task the trials need only the size of the noise")
    error = as_number(trial.error) if math.isfinite(trial.error) else "too large to be written"
    cut = f" {max(100 * pair.cut, 1):.0f} % of its entries are far stronger than the colours show." if pair.cut else ""
    return f"**The noisy answer is off by {error}** ({symbol}), {which}.{cut}"


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


def best_set_words(names: SetNames, rows: list[SetRow]) -> str:
    """The set with the least error, and whether the next one can be told from it; rows are ranked."""
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
    """A chart's label, for a sentence."""
    return in_markdown(html.unescape(label))
