"""Entries of a ledger: what a release will spend, what it spent, and what several spent together."""

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import compose_mu, gaussian_mu, zcdp_rho
from mvgviz.noise.mixtures import running_epsilon
from mvgviz.query.queries import of_record
from mvgviz.validation import MOST_POPULATION, fraction, parsed_json

if TYPE_CHECKING:
    from mvgviz.release.answer import Release
    from mvgviz.release.release import Plan

CAVEATS = {
    "ranges": "ranges read from the data",
    "bound": "a clipping bound read from the data",
    "records": "a record count that depends on the data",
    "directions": "directions read from the data",
    "split": "shares of the budget read from the data",
    "choices": "choices made after looking at results on the data",
}
"""What a guarantee does not cover, in words."""

MIXED_RULES = "releases under different definitions of neighbours"
_ROUNDING = 1e-10  # of a cap; Gaussian releases are made with a larger margin than this
_TENTHS = 1e-14  # of a cap: ten times 0.1 fit into 1
_MOST = 3_000  # releases brought at once
_SINCE = ("title", "family", "epsilon_pure", "parameters")  # fields that older ledgers do not have


@dataclass(frozen=True, kw_only=True)
class Total:
    """What several releases spent; with anything in ``not_covered`` this holds for the noise alone, not the data."""

    mu: float
    epsilon: float
    delta: float
    not_covered: tuple[str, ...] = ()
    epsilon_pure: float = 0.0

    @property
    def rho(self) -> float:
        """Return ``mu²/2``, the ρ of zero-concentrated privacy (zCDP)."""
        return zcdp_rho(self.mu)

    @property
    def words(self) -> str:
        spent = f"epsilon {self.epsilon:.4g} at delta {self.delta:.3g}"
        return f"{spent}; not covered: {', '.join(self.not_covered)}" if self.not_covered else spent


@dataclass(frozen=True, kw_only=True)
class Spend:
    """What a release will spend: ``mu``, or a pure epsilon; shown at ``delta``. ``parameters``: of the noise family."""

    data: str
    query: str
    neighbour_rule: str
    design: str
    mu: float
    delta: float
    caveats: tuple[str, ...] = ()
    title: str = ""
    family: str = "gaussian"
    epsilon_pure: float = 0.0
    parameters: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for caveat in self.caveats:
            refuse(caveat not in CAVEATS, f"caveats must be among {', '.join(CAVEATS)}, got {caveat!r}")
        for name in ("mu", "epsilon_pure"):
            spent = getattr(self, name)
            refuse(not (isinstance(spent, float | int) and math.isfinite(spent) and spent >= 0),
                   f"{name} must be a positive, finite number")
        refuse(not self.mu + self.epsilon_pure > 0, "mu must be a positive, finite number, or epsilon_pure")
        refuse(not (isinstance(self.family, str) and isinstance(self.title, str)), "family and title must be texts")
        vars(self).update(mu=float(self.mu), epsilon_pure=float(self.epsilon_pure), caveats=tuple(self.caveats),
                          delta=fraction("delta", self.delta), parameters=tuple(map(float, self.parameters)))

    @property
    def epsilon(self) -> float:
        return running_epsilon(self.delta, self.epsilon_pure, self.mu)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release with its own ``mu`` and epsilon, and the totals of the same people so far. ``state``: "reserved",
    then "released"; both count as spent. ``id``: random, and the same in other ledgers.
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
    title: str = ""
    family: str = "gaussian"
    epsilon_pure: float = 0.0
    parameters: tuple[float, ...] = ()

    @property
    def not_covered(self) -> tuple[str, ...]:
        return in_words(self.caveats)

    @property
    def is_finished(self) -> bool:
        return self.state == "released"


class Imported(NamedTuple):
    """An entry of another ledger."""

    spend: Spend
    id: str
    time: str
    population: str
    state: str


def identity_of(spend: Spend | Entry, own_id: str, time: str) -> tuple[object, ...]:
    """Return what two entries share if they are the same release about the same people."""
    return own_id, time, *(getattr(spend, field.name) for field in fields(Spend))


def imported(text: str) -> tuple[list[Imported], list[list[str]]]:
    """Return the checked entries of a downloaded ledger, and its names for the same people."""
    refusal = ("this is not a ledger of mvgviz: choose the file ledger.json that you downloaded on the page "
               "Release & report")
    held = parsed_json(text, refusal)
    found, before = [], ""
    try:
        many = len(releases := held["releases"]) > _MOST
        for entry in () if many else releases:
            own = entry.get("id")
            before = before if own else old_id(before, entry)
            found.append(_imported(entry, own or before))
        same = [[str(name) for name in names] for names in held.get("same_people", [])]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise InputError(refusal) from None
    refuse(many, f"this ledger has more than {_MOST:,} releases: import it in parts")
    return found, same


def _imported(entry: dict[str, Any], own: str) -> Imported:
    spend = Spend(**{field.name: entry[field.name] for field in fields(Spend) if field.name not in _SINCE}
                  | {name: entry[name] for name in _SINCE if name in entry})
    line = Imported(spend, own, entry["time"], entry.get("population", spend.data), entry.get("state", "released"))
    datetime.fromisoformat(line.time)
    words = (line.population, spend.data, spend.query, spend.neighbour_rule, spend.design)
    if not (line.state in ("reserved", "released") and all(isinstance(word, str) for word in words)
            and re.fullmatch("[0-9a-f]{32}", own)):
        raise TypeError
    return line


def old_id(before: str, entry: Mapping[str, Any]) -> str:
    """Return an id for an entry without one, from all such entries so far: downloads of a ledger agree on it."""
    held = [entry.get(field.name) for field in fields(Entry) if field.name not in ("state", "id", *_SINCE)]
    return hashlib.blake2b(json.dumps([before, held]).encode(), digest_size=16).hexdigest()


Cost: TypeAlias = "Spend | Entry | Plan | Release"  # what a release spends or will spend


class Sum:
    """Add up what releases spend.

    A replaced record is one removed and another added. So releases about added or removed records count twice beside
    those about replaced records. Gaussian and pure noise have separate pots (:mod:`mvgviz.noise.mixtures`). You may
    choose the family of noise after seeing answers, so each pot has a limit fixed in advance (:meth:`fits`).
    """

    def __init__(self, costs: Iterable[Cost] = ()) -> None:
        self._mus: dict[str, list[float]] = {}
        self._pure: dict[str, list[float]] = {}
        self._caveats: set[str] = set()
        for cost in costs:
            self.add(cost)

    def add(self, cost: Cost) -> Self:
        rule = of_record(cost.neighbour_rule)
        self._mus.setdefault(rule, []).append(cost.mu)
        self._pure.setdefault(rule, []).append(cost.epsilon_pure)
        self._caveats.update(cost.caveats)
        return self

    def _times(self, rule: str) -> int:
        rule = of_record(rule)
        replaced = rule.replace("added or removed", "replaced")
        return 2 if replaced != rule and replaced in self._mus else 1

    @property
    def rules(self) -> frozenset[str]:
        """Return the kinds of neighbours; with more than one there is no sum."""
        return frozenset(rule for rule in self._mus if self._times(rule) == 1)

    def counted(self, *costs: Cost) -> list[tuple[float, float]]:
        """Return the ``mu`` and the pure epsilon of each as they count here."""
        times = [self._times(cost.neighbour_rule) for cost in costs]
        return [(n * cost.mu, n * cost.epsilon_pure) for n, cost in zip(times, costs, strict=True)]

    @property
    def mu(self) -> float:
        times = {rule: self._times(rule) for rule in self._mus}
        return compose_mu([times[rule] * mu for rule, mus in self._mus.items() for mu in mus] or [0.0])

    @property
    def pure(self) -> float:
        return math.fsum(self._times(rule) * epsilon for rule, parts in self._pure.items() for epsilon in parts)

    def fits(self, cap: tuple[float, float], pure: float = 0.0) -> bool:
        """Return whether all of them together keep (epsilon, delta), but for rounding.

        Pure noise alone may spend epsilon; beside Gaussian noise only ``pure``, and Gaussian noise what remains.
        ``pure`` must not depend on a Gaussian answer, or delta may be exceeded (``tests/unit/noise/test_mixtures.py``).
        """
        if not self.mu > 0:
            return self.pure <= cap[0] * (1 + _TENTHS)
        return self.mu <= self.room(cap, pure) * (1 + _ROUNDING)

    def room(self, cap: tuple[float, float], pure: float = 0.0) -> float:
        """Return the ``mu`` that Gaussian noise may reach in all: 0 if pure noise spent more than its part."""
        return float(gaussian_mu(cap[0] - pure, cap[1])) if self.pure <= pure * (1 + _TENTHS) else 0.0

    def total(self, delta: float) -> Total:
        mu, pure, mixed = self.mu, self.pure, (MIXED_RULES,) * (len(self.rules) > 1)
        return Total(mu=mu, epsilon=running_epsilon(delta, pure, mu), delta=delta, epsilon_pure=pure,
                     not_covered=in_words(self._caveats) + mixed)


def in_words(caveats: Iterable[str]) -> tuple[str, ...]:
    """Return what is not covered, in the order of ``CAVEATS``."""
    named = set(caveats)
    return tuple(words for caveat, words in CAVEATS.items() if caveat in named)


def tidy(name: str) -> str:
    """Return a population's name on one line, with single spaces."""
    words = " ".join(unicodedata.normalize("NFC", name).split()) if isinstance(name, str) else ""
    if not (0 < len(words) <= MOST_POPULATION and words.isprintable()):
        raise InputError(f"the name of a population must be a line of at most {MOST_POPULATION} characters")
    return words
