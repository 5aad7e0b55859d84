"""Sentences on levers: what calibration, query, bound, shape and use each take away from the error, or add."""

import math
from collections.abc import Sequence

from mvgviz.figures.compare.waterfall import Fall
from mvgviz.figures.shared.error_axis import mean_words
from mvgviz.labels import GUARANTEES, QUERIES
from mvgviz.text import as_number, capitalised, in_html
from mvgviz.trials.candidates import Candidate
from mvgviz.trials.levers import Levers, Step
from mvgviz.trials.paired import SAME, UNCLEAR
from mvgviz.words.designs import design_words

NAMES = {"calibration": "calibration", "query": "the query", "bound": "the bound", "shape": "the shape",
         "use": "the use of the known noise"}


def levers_sentence(found: Levers) -> str:
    """One sentence: where it began, what each lever gained or cost, where it ends. It has no names."""
    start, end = found.steps[0], found.design
    if len(found.steps) == 1:
        return "No lever is used: the design is the paper's, as printed."
    parts = ", ".join(f"{_name(step)} {_gain(step)}" for step in found.steps[1:])
    return (f"From an error of {as_number(start.outcome.mean)} ({_start(start)}) {'down ' * (found.total > 1)}to "
            f"{as_number(end.outcome.mean)}: {parts}.")


def takeaway(found: Levers) -> str:
    """The levers, the largest one named first, and what is left to gain."""
    steps = [step for step in found.steps[1:] if math.isfinite(step.factor)]
    first = max(steps, key=lambda step: step.factor, default=None)
    most = ("No lever gains anything here" if first is None or first.factor <= 1 else
            f"Most is gained by {NAMES[first.lever]}")
    return f"**{most}.** {levers_sentence(found)} {_left(found)}"


def _left(found: Levers) -> str:
    error, floor, trivial = found.design.outcome.mean, found.references.non_private, found.references.trivial
    if error >= trivial:
        return f"Even so the answer without data ({as_number(trivial)}) does as well or better."
    if error <= floor:
        return (f"That is no more than without privacy ({as_number(floor)}): the noise does no harm to what is "
                "measured here.")
    if floor > 0:
        return f"Without privacy it would be {as_number(floor)}; this design has {_times(error / floor)} that."
    return "Without privacy there would be none."


def _times(ratio: float) -> str:
    return f"{as_number(ratio, 3 if ratio < 2 else 2)} times"


def _start(step: Step) -> str:
    scenario = step.scenario
    printed = ", as printed" if scenario.guarantee != "exact" else ""
    return f"{GUARANTEES[scenario.guarantee].in_sentence}{printed}, {QUERIES[scenario.query].name}, equal noise"


def _name(step: Step) -> str:
    return f"the query ({QUERIES[step.scenario.query].name})" if step.lever == "query" else NAMES[step.lever]


def _gain(step: Step) -> str:
    """"took away 3.7 %", "divided it by 2.2", "added 1.2 %", "changed nothing"; with a word on chance."""
    difference = step.difference
    if difference is None or difference.verdict == SAME:
        return "changed nothing"
    chance = " (which chance may explain)" if difference.verdict == UNCLEAR else ""
    factor = step.factor
    if factor >= 2:
        return f"divided it by {as_number(factor, 2)}{chance}"
    if factor >= 1:
        return f"took away {as_number(100 * (1 - 1 / factor), 2)} %{chance}"
    if factor > 0.5:
        return f"added {as_number(100 * (1 / factor - 1), 2)} %{chance}"
    return f"multiplied it by {as_number(1 / factor, 2)}{chance}"


def falls(found: Levers, names: Sequence[str]) -> list[Fall]:
    """The bars of the waterfall: the start, every lever, the design."""
    start, end = found.steps[0], found.design
    bars = [_standing("As printed" if start.scenario.guarantee != "exact" else "To begin with", start,
                      _start(start))]
    bars += [Fall(label=f"{capitalised(NAMES[step.lever])}<br>{in_html(_what(step, names))}",
                  before=step.other.mean, after=step.outcome.mean, text=_factor_text(step),
                  said=f"<b>{capitalised(NAMES[step.lever])}</b><br>{in_html(_what(step, names))}<br>"
                       f"{as_number(step.other.mean)} → {mean_words(step.outcome)}")
             for step in found.steps[1:] if step.other is not None]
    return [*bars, _standing("This design", end, "")] if len(bars) > 1 else bars


def _standing(label: str, step: Step, more: str) -> Fall:
    said = f"<b>{label}</b><br>{f'{more}<br>' if more else ''}error {mean_words(step.outcome)}"
    return Fall(label=f"<b>{label}</b>" + (f"<br>{more.split(',')[0]}, {QUERIES[step.scenario.query].name}"
                                           if more else ""), before=None, after=step.outcome.mean,
                text=f"<b>{as_number(step.outcome.mean)}</b>", said=said)


def _factor_text(step: Step) -> str:
    if step.difference is None or step.difference.verdict == SAME:
        return "no change"
    unsure = "?" if step.difference.verdict == UNCLEAR else ""
    factor = step.factor
    digits = 3 if 0.5 < factor < 2 else 2
    return f"÷ {as_number(factor, digits)}{unsure}" if factor >= 1 else f"× {as_number(1 / factor, digits)}{unsure}"


def _what(step: Step, names: Sequence[str]) -> str:
    """What a lever is in this design, in a few words."""
    scenario, words = step.scenario, design_words(Candidate(scenario=step.scenario, mechanism=step.mechanism), names)
    return {"calibration": f"{GUARANTEES[scenario.guarantee].name}, equal noise", "query": words.query,
            "bound": words.bound, "shape": words.split, "use": "ridge or components know it"}[step.lever]


def table_rows(found: Levers) -> list[dict[str, object]]:
    """The design with all its levers and without each, the least error first."""
    rows = [_row("this design, with all levers", found.design, 1.0, "")]
    for step in found.without:
        difference = step.difference
        verdict = "" if difference is None else {"worse": "yes", "better": "no: it costs", SAME: "no difference",
                                                 UNCLEAR: "chance may explain it"}[difference.verdict]
        rows.append(_row(f"without {NAMES[step.lever]}", step, 1 / step.factor if step.factor > 0 else math.inf,
                         verdict))
    return sorted(rows, key=lambda row: float(str(row["mean error"])))


def _row(design: str, step: Step, ratio: float, verdict: str) -> dict[str, object]:
    low, high = step.outcome.interval
    return {"design": design, "mean error": step.outcome.mean, "95 % from": low, "95 % to": high,
            "times this design's error": ratio, "does the lever help?": verdict}


def best_kept(found: Levers) -> str:
    """Which levers the design could do without, and which it cannot."""
    rows = sorted(found.without, key=lambda step: step.factor)
    if not rows:
        return "There is no lever to take away."
    most = rows[0]
    first = (f"**Taken away alone, {NAMES[most.lever]} is missed most:** without it the error is "
             f"{_times(1 / most.factor) if most.factor > 0 else 'beyond all bounds, not'} this design's."
             if most.factor < 1 and most.difference is not None and most.difference.verdict != UNCLEAR
             else "**No lever, taken away alone, is clearly missed.**")
    costs = [NAMES[step.lever] for step in rows if step.factor > 1 and step.difference is not None
             and step.difference.verdict not in (SAME, UNCLEAR)]
    return first + (f" The design would be better without {' or '.join(costs)}." if costs else "")
