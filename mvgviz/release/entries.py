"""What stands in a ledger: what a release is going to spend, what it spent, and what several spent together."""

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple, Protocol, Self

from mvgviz.errors import InputError
from mvgviz.noise.accounting import compose_mu, gaussian_epsilon
from mvgviz.validation import MOST_POPULATION, fraction, parsed_json

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
_ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, kw_only=True)
class Total:
    """What several releases spent together: ``mu``, and epsilon at ``delta``.

    With anything in ``not_covered`` these numbers are a guarantee for the noise alone, not for the data.
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
        if not (isinstance(self.mu, float | int) and math.isfinite(self.mu) and self.mu > 0):
            raise InputError("mu must be a positive, finite number")
        object.__setattr__(self, "mu", float(self.mu))
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
    def not_covered(self) -> tuple[str, ...]:
        """In words, what this release's guarantee leaves out."""
        return in_words(self.caveats)

    @property
    def is_finished(self) -> bool:
        """Whether the answer is known to be complete."""
        return self.state == "released"


class Told(NamedTuple):
    """An entry of another ledger."""

    spend: Spend
    id: str
    time: str
    population: str
    state: str


def identity_of(spend: Spend | Entry, own_id: str, time: str) -> tuple[object, ...]:
    """What makes two entries about the same people the same release."""
    return own_id, time, *(getattr(spend, field.name) for field in fields(Spend))


def told_by(text: str) -> tuple[list[Told], list[list[str]]]:
    """The entries of a downloaded ledger, checked, and the names in it that are the same people."""
    refusal = ("this is not a ledger as mvgviz writes it: choose the file ledger.json that was downloaded on the page "
               "Release & report")
    held = parsed_json(text, refusal)
    releases = held.get("releases") if isinstance(held, dict) else None
    if isinstance(releases, list) and len(releases) > _MOST_TOLD:
        raise InputError(f"this ledger has more than {_MOST_TOLD:,} releases: bring it in parts")
    found, before = [], ""
    try:
        for entry in held["releases"]:
            own = entry.get("id")
            before = before if own else old_id(before, entry)
            found.append(_told(entry, own or before))
        return found, [[str(name) for name in names] for names in held.get("same_people", [])]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise InputError(refusal) from None


def _told(entry: dict[str, Any], own: str) -> Told:
    spend = Spend(**{field.name: entry[field.name] for field in fields(Spend)})
    told = Told(spend, own, entry["time"], entry.get("population", spend.data), entry.get("state", "released"))
    datetime.fromisoformat(told.time)
    words = (told.population, spend.data, spend.query, spend.neighbour_rule, spend.design)
    if not (told.state in ("reserved", "released") and all(isinstance(word, str) for word in words)
            and _ID.fullmatch(own)):
        raise TypeError
    return told


def old_id(before: str, entry: Mapping[str, Any]) -> str:
    """The id of an entry without one: it follows from the entry and all such before it in its ledger.

    Two downloads of one ledger agree on it; two ledgers only while they are the same from their first entry on.
    """
    held = [entry.get(field.name) for field in fields(Entry) if field.name not in ("state", "id")]
    return hashlib.blake2b(json.dumps([before, held]).encode(), digest_size=16).hexdigest()


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

    def _times(self, rule: str) -> int:
        replaced = rule.replace("added or removed", "replaced")
        return 2 if replaced != rule and replaced in self._mus else 1

    @property
    def rules(self) -> frozenset[str]:
        """The kinds of neighbours that it is about; more than one have no sum."""
        return frozenset(rule for rule in self._mus if self._times(rule) == 1)

    def counted(self, *costs: Cost) -> list[float]:
        """The ``mu`` of each as it counts here."""
        return [cost.mu * self._times(cost.neighbour_rule) for cost in costs]

    @property
    def mu(self) -> float:
        """What all of them spend."""
        times = {rule: self._times(rule) for rule in self._mus}
        return compose_mu([times[rule] * mu for rule, mus in self._mus.items() for mu in mus] or [0.0])

    def total(self, delta: float) -> Total:
        mu, mixed = self.mu, (MIXED_RULES,) * (len(self.rules) > 1)
        return Total(mu=mu, epsilon=float(gaussian_epsilon(delta, mu)), delta=delta,
                     not_covered=in_words(self._caveats) + mixed)


def in_words(caveats: Iterable[str]) -> tuple[str, ...]:
    """What is not covered, in the order of the list above."""
    named = set(caveats)
    return tuple(words for caveat, words in CAVEATS.items() if caveat in named)


def tidy(name: str) -> str:
    """A population's name on one line, with single spaces."""
    words = " ".join(unicodedata.normalize("NFC", name).split()) if isinstance(name, str) else ""
    if not (0 < len(words) <= MOST_POPULATION and words.isprintable()):
        raise InputError(f"the name of a population must be a line of at most {MOST_POPULATION} characters")
    return words
