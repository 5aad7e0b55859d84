"""Sentences of the advisor: which design is first, which lever gained what, and what choosing on data means."""

import math
import textwrap
from collections import Counter
from collections.abc import Sequence

from mvgviz.figures.compare.ranking import Mark
from mvgviz.figures.shared.error_axis import mean_words
from mvgviz.figures.shared.theme import GUARANTEE_COLOURS
from mvgviz.labels import GUARANTEES, QUERIES
from mvgviz.text import as_number, in_html
from mvgviz.trials.advisor import Advice, Row
from mvgviz.trials.paired import BETTER, against
from mvgviz.words.compare import more_words
from mvgviz.words.designs import design_words
from mvgviz.words.levers import levers_sentence

SHOWN = 12
_LINE = 30  # characters of a label, so that a phone has room for the chart
_CHANCE = ", which chance may explain"
ON_STAND_IN = ("Tried on **simulated data** with the same ranges and sizes. Nothing of the data was looked at, so the "
               "choice tells nothing about it: choosing by looking at private data would itself not be private. "
               "Whether it suits the data as well, only the data can tell.")
ON_DATA = ("Tried on **the data itself**. Choosing by looking at private data is itself **not private**: the choice "
           "tells something about the data, and no budget was spent on it. The stand-in has the same ranges and sizes.")
LOADED_ON_DATA = ("Load a design into the scenario with one click; it then counts as **chosen by looking at the "
                  "data**, which no guarantee covers, until you change it or state it as your own:")
ONLY_THE_NEEDED = ("A table with these columns alone: leave the others out on the page Data, and nothing of them is "
                   "released. For other directions, a table of those mixtures.")

FORGETS_DIRECTIONS = ("Loading a design along the features, along other directions or with equal shares changes what "
                      "is needed to what that design favours: a scenario can need directions only where its own noise "
                      "favours them.")


def advice_marks(advice: Advice, names: Sequence[str]) -> list[Mark]:
    """The best of the best kinds, the design as it stands, and the best of each query and guarantee, ranked."""
    kept = advice.kinds[: SHOWN - 4]
    asked = {(row.candidate.scenario.query, row.candidate.scenario.guarantee) for row in kept}
    for row in advice.rows:
        pair = (row.candidate.scenario.query, row.candidate.scenario.guarantee)
        if row not in kept and (row.candidate.is_current or pair not in asked):
            kept.append(row)
            asked.add(pair)
    places = {row.candidate: place for place, row in enumerate(advice.rows)}
    kept.sort(key=lambda row: places[row.candidate])
    return [_mark(row, names) for row in kept if math.isfinite(row.outcome.mean)]


def _mark(row: Row, names: Sequence[str]) -> Mark:
    words, scenario, outcome = design_words(row.candidate, names), row.candidate.scenario, row.outcome
    spent = "" if outcome.epsilon_spent is None else f"<br>epsilon really spent {as_number(outcome.epsilon_spent)}"
    text = str(words).replace(" × ", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}").replace(" %", "\N{NO-BREAK SPACE}%")
    lines = [in_html(line) for line in textwrap.wrap(text, _LINE)]
    return Mark(label="<br>".join(lines), mean=outcome.mean,
                half_width=outcome.half_width, colour=GUARANTEE_COLOURS[scenario.guarantee],
                symbol=("square" if scenario.query == "identity" else "circle") + "-open" * (
                    not row.candidate.is_whole), ring=row.candidate.is_current,
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
    """Two sentences: which design is first and by how much, and which lever gained what (empty before that is known).

    Names as in the file: escape them.
    """
    best = advice.best
    if best is None or advice.references is None:
        return None
    first = f"First is {design_words(best.candidate, names)}. Its error is {mean_words(best.outcome)}"
    first += _against_current(advice, best, names)
    trivial = advice.references.trivial
    if against(best.outcome, trivial) != BETTER:
        first += f"; even so it does not clearly beat the answer without data ({as_number(trivial)})"
    return f"{first}.", "" if advice.levers is None else levers_sentence(advice.levers)


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


def dropped_words(advice: Advice) -> list[str]:
    """How many designs did not work out, and why. Reasons may hold names: escape them."""
    by_reason: Counter[str] = Counter()
    for drop in advice.dropped:
        by_reason[drop.reason] += len(drop.designs)
    return [f"{count} {'design' if count == 1 else 'designs'} dropped: {reason}" for reason, count in by_reason.items()]
