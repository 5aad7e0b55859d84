"""Keep a session's last scenarios: undo, redo, a click to any of them, and back from a design taken over."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mvgviz.labels import ALLOCATIONS, GUARANTEES
from mvgviz.pictures.sentences import FIELDS
from mvgviz.query.queries import QUERIES
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.tasks import TASKS
from mvgviz.text import listed

MOST, _ONE_MOVE = 30, 2.0
"""Scenarios kept, and seconds: quicker changes of the same field are one move of a slider."""
_CALLED = FIELDS | {"query": "the query", "data": "the data", "judged": "what errors are on", "post": "post-processing",
                    "trials": "trials", "seed": "the seed"}
_WORDS: Mapping[str, Callable[[Any], str]] = {
    "query": lambda name: QUERIES[name].title, "guarantee": lambda name: GUARANTEES[name].name,
    "allocation": lambda name: ALLOCATIONS[name].name, "task": lambda name: TASKS[name].label}


@dataclass
class History:
    """Scenarios with the marks of their moment; ``at``: the current one.

    After a look at a file, only the scenario that stood then keeps its marks: to go back to another is a choice after
    looking.
    """

    entries: list[Scenario] = field(default_factory=list)
    at: int = 0
    mine: Scenario | None = None  # before a design was taken over, while that stands
    taken: Scenario | None = None
    _changed: float = -float("inf")
    _fields: frozenset[str] = frozenset()
    _seen: set[str] = field(default_factory=set)

    def record(self, now: Scenario, has_looked: Callable[[str], bool]) -> None:
        """Note this run's scenario, if it is new, and forget what was undone."""
        self.entries = self.entries or [now]
        self._mark_seen(has_looked)
        before, when = self.entries[self.at], time.monotonic()
        if vars(now) == vars(before):
            return
        fields = frozenset(differing(before, now))
        one_move = fields == self._fields and when - self._changed < _ONE_MOVE and self.at == len(self.entries) - 1
        kept = self.entries[: self.at + (not one_move)]
        back = vars(kept[-1]) == vars(now)  # a slider that came back to where it was
        self.entries = kept if back else [*kept, now][-MOST:]
        self.at, self._fields, self._changed = len(self.entries) - 1, frozenset() if back else fields, when

    def go(self, to: int) -> Scenario:
        """Make the scenario at this place the current one and return it."""
        self.at, self._fields = min(max(to, 0), len(self.entries) - 1), frozenset()
        return self.entries[self.at]

    def take(self, before: Scenario, after: Scenario) -> None:
        """Note a design taken over; after several in a row the person can go back before the first."""
        self.mine, self.taken = self.mine if self.mine is not None and self.taken == before else before, after

    def carry(self, data: str, carried: Callable[[Scenario], Scenario]) -> None:
        """Let positions follow the names of features that changed."""
        self.entries = [carried(one) if one.data == data else one for one in self.entries]
        self.mine = None

    def _mark_seen(self, has_looked: Callable[[str], bool]) -> None:
        stood = self.entries[self.at]
        new = {one.data for one in self.entries if has_looked(one.data)} - self._seen
        self._seen |= new

        def marked(one: Scenario) -> Scenario:
            return one.chosen_on_data(**stood.moved_to(one)) if one.data in new and one != stood else one

        self.entries = [marked(one) for one in self.entries]
        self.mine = None if self.mine is None else marked(self.mine)


def change_words(before: Scenario, after: Scenario, names: Sequence[str]) -> str:
    """Say what changed: "epsilon 1 → 2"; ``names``: of the features as they are now."""
    fields = differing(before, after)
    if before.data != after.data:
        return "other data"
    if not fields:
        return "a mark"
    called = listed([_CALLED[name].removeprefix("the ") for name in fields], most=3)
    if len(fields) > 1:
        return called
    return f"{called} {_value(fields[0], before, names)} → {_value(fields[0], after, names)}"


def differing(before: Scenario, after: Scenario) -> list[str]:
    """Return the fields that differ, besides marks."""
    return [name for name, value in vars(after).items() if name != "from_data" and value != getattr(before, name)]


def _value(name: str, scenario: Scenario, names: Sequence[str]) -> str:
    value = getattr(scenario, name)
    if name in _WORDS:
        return _WORDS[name](value)
    if name in ("priority_directions", "priority", "label") and scenario.directions == "standard":
        positions = [value] if isinstance(value, int) else value or ()
        return listed([names[k] if k < len(names) else f"no. {k + 1}" for k in positions], most=2)
    if isinstance(value, tuple):
        return listed([str(one) for one in value], most=3)
    return "usual" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
