"""Sentences of the advisor: what a design is called, why the first is first, and what choosing on data means."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from mvgviz.figures.compare.ranking import Mark
from mvgviz.figures.shared.error_axis import mean_words
from mvgviz.figures.shared.theme import GUARANTEE_COLOURS
from mvgviz.labels import ALLOCATIONS, DIRECTIONS, GUARANTEES, QUERIES
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_number, in_html, listed
from mvgviz.trials.advisor import Advice, Contrast, Row
from mvgviz.trials.candidates import Candidate
from mvgviz.trials.paired import BETTER, against
from mvgviz.words.compare import more_words

SHOWN = 12
_CHANCE = ", which chance may explain"
ON_STAND_IN = ("Tried on **simulated data** with the same ranges and sizes. Nothing of the data was looked at, so the "
               "choice tells nothing about it: choosing by looking at private data would itself not be private. "
               "Whether it suits the data as well, only the data can tell.")
ON_DATA = ("Tried on **the data itself**. Choosing by looking at private data is itself **not private**: the choice "
           "tells something about the data, and no budget was spent on it. The stand-in has the same ranges and sizes.")
LOADED_ON_DATA = ("Load a design into the scenario with one click; it then counts as **chosen by looking at the "
                  "data**, which no guarantee covers, until you change it or state it as your own:")


class DesignWords(NamedTuple):
    """A design: what is asked, how it is calibrated, where the budget goes. Names are as in the file."""

    query: str
    guarantee: str
    split: str

    def __str__(self) -> str:
        return ", ".join(self)


def design_words(candidate: Candidate, names: Sequence[str]) -> DesignWords:
    """What a design is called; ``names``: of the features."""
    scenario, flag = candidate.scenario, "" if candidate.private else " (not private)"
    return DesignWords(QUERIES[scenario.query].name, GUARANTEES[scenario.guarantee].name,
                       split_words(scenario, names) + flag)


def split_words(scenario: Scenario, names: Sequence[str]) -> str:
    """How a scenario turns and divides its noise; ``names``: of the features."""
    turned = DIRECTIONS[scenario.directions][1].format(angle=scenario.angle)
    some = [k for k in scenario.favoured if scenario.query == "kernel" or k < len(names)]
    idle = scenario.allocation in ("binary", "least-error") and not 0 < len(some) < (
        math.inf if scenario.query == "kernel" else len(names))
    what = ALLOCATIONS["uniform" if idle else scenario.allocation].design
    what = what.format(percent=100 * scenario.share, favoured=_favoured(scenario, names))
    return ", ".join(filter(None, [turned, what]))


def _favoured(scenario: Scenario, names: Sequence[str]) -> str:
    if scenario.directions in ("private", "eigenvectors"):
        k = len(scenario.favoured)
        return "the strongest" if k == 1 else f"the {k} strongest"
    known = scenario.directions == "standard" and scenario.query != "kernel"
    return listed([names[k] if known and k < len(names) else f"no. {k + 1}" for k in scenario.favoured], most=3)


def advice_marks(advice: Advice, names: Sequence[str]) -> list[Mark]:
    """The best few, the design as it stands, and the best of each query and guarantee, ranked."""
    kept = list(advice.rows[: SHOWN - 4])
    for row in advice.rows:
        kind = (row.candidate.scenario.query, row.candidate.scenario.guarantee)
        kinds = {(other.candidate.scenario.query, other.candidate.scenario.guarantee) for other in kept}
        if row not in kept and (row.candidate.is_current or kind not in kinds):
            kept.append(row)
    return [_mark(row, names) for row in kept if math.isfinite(row.outcome.mean)]


def _mark(row: Row, names: Sequence[str]) -> Mark:
    words, scenario, outcome = design_words(row.candidate, names), row.candidate.scenario, row.outcome
    spent = "" if outcome.epsilon_spent is None else f"<br>epsilon really spent {as_number(outcome.epsilon_spent)}"
    return Mark(label=f"{words.query}, {words.guarantee},<br>{in_html(words.split)}", mean=outcome.mean,
                half_width=outcome.half_width, colour=GUARANTEE_COLOURS[scenario.guarantee],
                symbol="square" if scenario.query == "identity" else "circle", ring=row.candidate.is_current,
                faint=not row.finalist, said=f"{outcome.errors.size:,} trials{spent}")


def places(advice: Advice) -> str:
    """Where the guarantees and queries come in."""
    kinds: dict[str, int] = {}
    for place, row in enumerate(advice.rows, start=1):
        scenario = row.candidate.scenario
        kinds.setdefault(f"{QUERIES[scenario.query].name}, {GUARANTEES[scenario.guarantee].name}", place)
    best = "; ".join(f"{kind}: place {place}" for kind, place in kinds.items())
    return f"Best of each kind, of {len(advice.rows)} designs: {best}."


def why(advice: Advice, names: Sequence[str]) -> tuple[str, str] | None:
    """Two sentences: which design is first and by how much, and why. Names as in the file: escape them."""
    best = advice.best
    if best is None or advice.references is None:
        return None
    first = f"First is {design_words(best.candidate, names)}, with an error of {mean_words(best.outcome)}"
    first += _against_current(advice, best, names)
    trivial = advice.references.trivial
    if against(best.outcome, trivial) != BETTER:
        first += f"; even so it does not clearly beat the trivial answer ({as_number(trivial)})"
    reasons = [text for text in (_reason(contrast, best, names) for contrast in advice.contrasts()) if text]
    return f"{first}.", f"Why: {'; '.join(reasons)}." if reasons else "Why: there was nothing else to choose from."


def _against_current(advice: Advice, best: Row, names: Sequence[str]) -> str:
    """By how much: against the design as it stands or, where that is the first itself, against the next one."""
    own, other = best is advice.current, advice.current
    if own:
        other = next((row for row in advice.rows if row.candidate.private and row is not best), None)
    start = ": it is the design as it stands" if own else ""
    contrast = None if other is None else advice.against(other)
    if contrast is None:
        return start
    name = design_words(contrast.other.candidate, names)
    who = f"the next, {name}," if own else f"the design as it stands ({name})"
    more = more_words(contrast.other.outcome.mean, best.outcome.mean)
    return f"{start}; {who} has {more}{_CHANCE * (not contrast.clear)}"


def _reason(contrast: Contrast, best: Row, names: Sequence[str]) -> str:
    """One reason, with what it is worth."""
    other = contrast.other
    worth = more_words(other.outcome.mean, best.outcome.mean) + _CHANCE * (not contrast.clear)
    if contrast.aspect == "query":
        return _query_reason(best, other, worth)
    if contrast.aspect == "guarantee":
        return _guarantee_reason(best, other, worth)
    if not contrast.clear:
        return f"which split hardly matters ({design_words(other.candidate, names).split}: {worth})"
    return _split_reason(best, other, worth, names)


def _query_reason(best: Row, other: Row, worth: str) -> str:
    mine, theirs = (QUERIES[row.candidate.scenario.query].name for row in (best, other))
    if best.rows * best.cols < other.rows * other.cols:
        return (f"it asks for the {mine}, {best.rows:,} × {best.cols:,} numbers, instead of the {theirs}, "
                f"{other.rows:,} × {other.cols:,} numbers that would all need noise "
                f"(the best with the {theirs} has {worth})")
    return f"this task bears the noise on the {mine} better than that on the {theirs} (whose best has {worth})"


def _guarantee_reason(best: Row, other: Row, worth: str) -> str:
    scenario, spent = best.candidate.scenario, other.outcome.epsilon_spent
    mine, theirs = (GUARANTEES[row.candidate.scenario.guarantee].name for row in (best, other))
    if scenario.guarantee == "exact" and spent is not None:
        return (f"exact calibration spends the whole budget, while the noise of {theirs} spends ε = "
                f"{as_number(spent, 2)} of {scenario.epsilon:g} (its best has {worth})")
    return f"{mine} asks for less noise than {theirs} (whose best has {worth})"


def _split_reason(best: Row, other: Row, worth: str, names: Sequence[str]) -> str:
    mine, theirs = (design_words(row.candidate, names).split for row in (best, other))
    scenario = best.candidate.scenario
    if scenario.directions == "private":
        return f"private eigenvectors are worth the part of the budget they cost ({theirs}: {worth})"
    if scenario.allocation == "uniform":
        return f"equal shares do best: the task uses all directions ({theirs}: {worth})"
    if scenario.allocation in ("binary", "least-error", "manual"):
        return f"the task leans on what is favoured, {mine} ({theirs}: {worth})"
    return f"{mine} does better than {theirs} ({worth})"


def dropped_words(advice: Advice) -> list[str]:
    """How many designs did not work out, and why. Reasons may hold names: escape them."""
    by_reason: Counter[str] = Counter()
    for drop in advice.dropped:
        by_reason[drop.reason] += len(drop.designs)
    return [f"{count} {'design' if count == 1 else 'designs'} dropped: {reason}" for reason, count in by_reason.items()]
