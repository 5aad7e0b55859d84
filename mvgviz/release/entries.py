"""What stands in a ledger: what a release is going to spend, what it spent, and what several spent together."""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Protocol, Self

from mvgviz.errors import InputError
from mvgviz.noise.accounting import compose_mu, gaussian_epsilon
from mvgviz.validation import fraction, parsed_json

CAVEATS = {
    "ranges": "ranges read from the data",
    "bound": "a bound on the records read from the data",
    "records": "a number of records that follows from which of them were left out",
    "directions": "directions read from the data",
    "split": "a split of the budget read from the data",
    "choices": "choices made after looking at results on the data",
}
"""What a guarantee does not cover, and what it is called."""

MIXED_RULES = "releases under different definitions of neighbours"
_MOST_TOLD = 3_000  # releases brought at once
STATES = ("reserved", "released")
_ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, kw_only=True)
class Total:
    """What several releases spent together: ``mu``, and epsilon at ``delta``.

    ``not_covered``: what these numbers leave out; with anything in it they are not a
    guarantee for the data, only for the noise.
    """

    mu: float
    epsilon: float
    delta: float
    not_covered: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        spent = f"epsilon {self.epsilon:.4g} at delta {self.delta:.3g}"
        return f"{spent}; not covered: {', '.join(self.not_covered)}" if self.not_covered else spent


@dataclass(frozen=True, kw_only=True)
class Spend:
    """What one release is going to spend, before any noise: ``mu``; epsilon is told at ``delta``."""

    data: str
    query: str
    neighbour_rule: str
    design: str
    mu: float
    delta: float
    caveats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for caveat in self.caveats:
            if caveat not in CAVEATS:
                raise InputError(f"caveats must be among {', '.join(CAVEATS)}, got {caveat!r}")
        object.__setattr__(self, "mu", checked_mu(self.mu))
        object.__setattr__(self, "delta", fraction("delta", self.delta))
        object.__setattr__(self, "caveats", tuple(self.caveats))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release. ``mu`` and epsilon at ``delta`` are its own, the totals those of the same people so far.

    ``number``: its place in the ledger. ``state``: "released", or "reserved" until it is; what was reserved and never
    released counts as spent. ``id``: a random number that goes with it from ledger to ledger; of entries from before
    there were ids see :func:`old_id`.
    """

    number: int
    time: str
    population: str
    data: str
    query: str
    neighbour_rule: str
    design: str
    mu: float
    epsilon: float
    delta: float
    caveats: tuple[str, ...]
    total_mu: float
    total_epsilon: float
    total_not_covered: tuple[str, ...]
    state: str = "released"
    id: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes two entries about the same people the same release."""
        return self.id, self.time, *(getattr(self, field.name) for field in fields(Spend))

    @property
    def not_covered(self) -> tuple[str, ...]:
        """In words, what this release's guarantee leaves out."""
        return tuple(CAVEATS[caveat] for caveat in self.caveats)

    @property
    def is_finished(self) -> bool:
        """Whether the answer is known to be complete."""
        return self.state == "released"


@dataclass(frozen=True, kw_only=True)
class Told:
    """An entry of another ledger."""

    spend: Spend
    id: str
    time: str
    population: str
    state: str

    @property
    def identity(self) -> tuple[object, ...]:
        """As that of the entry it was."""
        return self.id, self.time, *(getattr(self.spend, field.name) for field in fields(Spend))


def told_by(text: str) -> tuple[list[Told], list[list[str]]]:
    """The entries of a downloaded ledger, checked, and the names in it that are the same people.

    Totals are left to the ledger that takes them in.
    """
    refusal = ("this is not a ledger as mvgviz writes it: choose the file ledger.json that was downloaded on the page "
               "Release & report")
    held = parsed_json(text, refusal)
    try:
        releases = held["releases"]
        if len(releases) <= _MOST_TOLD:
            same = [[str(name) for name in names] for names in held.get("same_people", [])]
            return _all_told(releases), same
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise InputError(refusal) from None
    raise InputError(f"this ledger has more than {_MOST_TOLD:,} releases: bring it in parts")


def _all_told(releases: list[dict[str, Any]]) -> list[Told]:
    found, before = [], ""
    for entry in releases:
        own = entry.get("id")
        before = before if own else old_id(before, entry)
        found.append(_told(entry, own or before))
    return found


def old_id(before: str, entry: Mapping[str, Any]) -> str:
    """The id of an entry without one: it follows from the entry and all such before it in its ledger.

    Two downloads of one ledger agree on it; two ledgers only while they are the same from their first entry on.
    """
    held = [entry.get(field.name) for field in fields(Entry) if field.name not in ("state", "id")]
    return hashlib.blake2b(json.dumps([before, held]).encode(), digest_size=16).hexdigest()


def _told(entry: dict[str, Any], own: str) -> Told:
    spend = Spend(**{field.name: entry[field.name] for field in fields(Spend)})
    told = Told(spend=spend, id=own, time=entry["time"], population=entry.get("population", spend.data),
                state=entry.get("state", "released"))
    datetime.fromisoformat(told.time)
    words = (told.population, spend.data, spend.query, spend.neighbour_rule, spend.design)
    if told.state not in STATES or not all(isinstance(word, str) for word in words) or not _ID.fullmatch(own):
        raise TypeError
    return told


class Cost(Protocol):
    """What a release spends: an entry, or one that is yet to be made."""

    @property
    def mu(self) -> float: ...
    @property
    def neighbour_rule(self) -> str: ...
    @property
    def caveats(self) -> tuple[str, ...]: ...


class Sum:
    """What releases spend together, added up one by one.

    A replaced record is one removed and another added. So beside releases about replaced records those about added or
    removed ones count twice, and what all of them spend is told for replaced records.
    """

    def __init__(self, costs: Iterable[Cost] = ()) -> None:
        self._mus: dict[str, list[float]] = {}
        self._caveats: set[str] = set()
        for cost in costs:
            self.add(cost)

    def add(self, cost: Cost) -> Self:
        self._mus.setdefault(cost.neighbour_rule, []).append(cost.mu)
        self._caveats.update(cost.caveats)
        return self

    @property
    def rules(self) -> frozenset[str]:
        """The kinds of neighbours that it is about; more than one have no sum."""
        return frozenset(rule for rule in self._mus if not self._is_doubled(rule))

    def _is_doubled(self, rule: str) -> bool:
        replaced = rule.replace("added or removed", "replaced")
        return replaced != rule and replaced in self._mus

    def counted(self, *costs: Cost) -> list[float]:
        """The ``mu`` of each as it counts here."""
        return [cost.mu * (1 + self._is_doubled(cost.neighbour_rule)) for cost in costs]

    @property
    def mu(self) -> float:
        """What all of them spend."""
        by_rule = [[2 * mu for mu in mus] if self._is_doubled(rule) else mus for rule, mus in self._mus.items()]
        return compose_mu([mu for mus in by_rule for mu in mus]) if by_rule else 0.0

    def total(self, delta: float) -> Total:
        mu = self.mu
        not_covered = [*in_words(self._caveats), *([MIXED_RULES] if len(self.rules) > 1 else [])]
        return Total(mu=mu, epsilon=float(gaussian_epsilon(delta, mu)), delta=delta, not_covered=tuple(not_covered))


def total_of(entries: Iterable[Cost], delta: float) -> Total:
    """What these spent together."""
    return Sum(entries).total(delta)


def in_words(caveats: Iterable[str]) -> list[str]:
    """What is not covered, in the order of the list above."""
    named = set(caveats)
    return [words for caveat, words in CAVEATS.items() if caveat in named]


def checked_mu(mu: float) -> float:
    """A positive, finite number."""
    if not (isinstance(mu, float | int) and math.isfinite(mu) and mu > 0):
        raise InputError("mu must be a positive, finite number")
    return float(mu)
