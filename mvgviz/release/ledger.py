"""The ledger of a session: every release, what it spent, and what all of them spent together.

>>> from mvgviz import gaussian_mu
>>> from mvgviz.release.ledger import Ledger
>>> ledger = Ledger(cap=(1.0, 1e-5))
>>> ledger.would_exceed("liver", gaussian_mu(1.0, 1e-5)), ledger.would_exceed("liver", gaussian_mu(1.1, 1e-5))
(False, True)

Releases of the same data compose exactly, ``mu = sqrt(sum mu_i²)``, also when one was chosen
after seeing another (Dong, Roth & Su 2022, Corollary 2). Data is known by its name; names of
data about the same people are joined by :meth:`Ledger.join`, and then count together:

>>> entry = ledger.enter(time="2030-01-01", data="a", query="mean", neighbour_rule="one record replaced",
...                      design="exact", mu=gaussian_mu(1.0, 1e-5), delta=1e-5)
>>> ledger.would_exceed("b", 0.01), ledger.join("a", "b"), ledger.would_exceed("b", 0.01)
(False, None, True)
"""

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace

from mvgviz.errors import InputError
from mvgviz.noise.accounting import compose_mu, gaussian_epsilon, gaussian_mu
from mvgviz.text import csv_text, spreadsheet_cell
from mvgviz.validation import fraction, positive

CAVEATS = {
    "ranges": "ranges read from the data",
    "bound": "a bound on the records read from the data",
    "records": "a number of records that follows from which of them have gaps",
    "directions": "directions read from the data",
    "split": "a split of the budget read from the data",
    "choices": "choices made by looking at the data",
}
"""What a guarantee does not cover, and what it is called."""

MIXED_RULES = "releases under different definitions of neighbours"
_ROUNDING = 1e-10  # of a cap; releases are made with a larger margin than this


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
class Entry:
    """One release. ``mu`` and epsilon at ``delta`` are its own, the totals those of the same people so far."""

    time: str
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

    @property
    def not_covered(self) -> tuple[str, ...]:
        """In words, what this release's guarantee leaves out."""
        return tuple(CAVEATS[caveat] for caveat in self.caveats)


class Ledger:
    """Releases in the order they were made; entries are added, never changed or removed.

    ``cap``: (epsilon, delta) that the releases about the same people may spend together, or None.
    """

    def __init__(self, *, cap: tuple[float, float] | None = None) -> None:
        self._entries: tuple[Entry, ...] = ()
        self._joined: tuple[frozenset[str], ...] = ()
        self._lock = threading.RLock()
        self._cap: tuple[float, float] | None = None
        self.set_cap(cap)

    def __repr__(self) -> str:
        return f"Ledger({len(self._entries)} releases, cap={self._cap})"

    @property
    def entries(self) -> tuple[Entry, ...]:
        return self._entries

    @property
    def cap(self) -> tuple[float, float] | None:
        return self._cap

    def set_cap(self, cap: tuple[float, float] | None) -> None:
        """Cap what may be spent on the same people. Below what is spent already, nothing more is released."""
        if cap is not None:
            try:
                epsilon, delta = cap
            except (TypeError, ValueError):
                raise InputError("cap must be a pair (epsilon, delta)") from None
            cap = positive("the cap's epsilon", epsilon), fraction("the cap's delta", delta)
        self._cap = cap

    def join(self, data: str, other: str) -> None:
        """Declare that both are about the same people: from now on, and for what was, they count together."""
        with self._lock:
            together = self.same_people(data) | self.same_people(other)
            self._joined = (*(group for group in self._joined if not group & together), together)

    def same_people(self, data: str) -> frozenset[str]:
        """The names of all data about the people of ``data``, itself included."""
        return next((group for group in self._joined if data in group), frozenset({data}))

    def entries_about(self, data: str) -> tuple[Entry, ...]:
        """The releases about the people of ``data``."""
        names = self.same_people(data)
        return tuple(entry for entry in self._entries if entry.data in names)

    def total(self, data: str | None = None, *, delta: float) -> Total:
        """What the releases about the people of ``data`` spent; of all data, as if about the same people, if None."""
        return _total(list(self._entries if data is None else self.entries_about(data)), fraction("delta", delta))

    def would_exceed(self, data: str, mu: float) -> bool:
        """Whether one more release of ``mu`` would spend more than the cap allows."""
        if self._cap is None:
            return False
        spent = [entry.mu for entry in self.entries_about(data)]
        return not compose_mu([*spent, _checked_mu(mu)]) <= float(gaussian_mu(*self._cap)) * (1 + _ROUNDING)

    def check(self, data: str, mu: float) -> None:
        """Refuse a release of ``mu`` that would exceed the cap; to be asked before any noise is drawn."""
        if not self.would_exceed(data, mu) or self._cap is None:
            return
        epsilon, delta = self._cap
        now = self.total(data, delta=delta).epsilon
        after = gaussian_epsilon(delta, compose_mu([self.total(data, delta=delta).mu, mu]))
        raise InputError(f"this release would exceed the cap: the releases of "
                         f"{' and '.join(sorted(self.same_people(data)))} have spent epsilon {now:.4g} at delta "
                         f"{delta:.3g} and would reach {after:.4g}, the cap is {epsilon:g}; ask for a smaller epsilon")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else enters anything meanwhile: several releases that fit at the beginning still fit at the end."""
        with self._lock:
            yield

    def enter(self, *, time: str, data: str, query: str, neighbour_rule: str, design: str, mu: float, delta: float,
              caveats: tuple[str, ...] = ()) -> Entry:
        """Add a release; refused above the cap. The totals are worked out here."""
        for caveat in caveats:
            if caveat not in CAVEATS:
                raise InputError(f"caveats must be among {', '.join(CAVEATS)}, got {caveat!r}")
        mu, delta = _checked_mu(mu), fraction("delta", delta)
        with self._lock:
            self.check(data, mu)
            epsilon = float(gaussian_epsilon(delta, mu))
            alone = Entry(time=time, data=data, query=query, neighbour_rule=neighbour_rule, design=design, mu=mu,
                          epsilon=epsilon, delta=delta, caveats=tuple(caveats), total_mu=mu, total_epsilon=epsilon,
                          total_not_covered=())
            total = _total([*self.entries_about(data), alone], delta)
            entry = replace(alone, total_mu=total.mu, total_epsilon=total.epsilon, total_not_covered=total.not_covered)
            self._entries = (*self._entries, entry)
        return entry

    def to_csv(self) -> str:
        """One line a release; no cell is a formula."""
        rows = [asdict(entry) | {"caveats": _listed(entry.not_covered),
                                 "total_not_covered": _listed(entry.total_not_covered)} for entry in self._entries]
        return csv_text([[field.name.replace("_", " ") for field in fields(Entry)],
                         *([repr(cell) if isinstance(cell, float) else spreadsheet_cell(cell) for cell in row.values()]
                           for row in rows)])

    def to_json(self) -> str:
        """Everything, with the cap."""
        cap = None if self._cap is None else dict(zip(("epsilon", "delta"), self._cap, strict=True))
        entries = [asdict(entry) | {"not_covered": entry.not_covered} for entry in self._entries]
        same = [sorted(group) for group in self._joined]
        return json.dumps({"cap": cap, "same_people": same, "releases": entries}, indent=2)


def _listed(parts: tuple[str, ...]) -> str:
    return f"not covered: {', '.join(parts)}" if parts else ""


def _total(entries: list[Entry], delta: float) -> Total:
    mu = compose_mu([entry.mu for entry in entries]) if entries else 0.0
    caveats = {caveat for entry in entries for caveat in entry.caveats}
    not_covered = [words for caveat, words in CAVEATS.items() if caveat in caveats]
    if len({entry.neighbour_rule for entry in entries}) > 1:
        not_covered.append(MIXED_RULES)
    return Total(mu=mu, epsilon=float(gaussian_epsilon(delta, mu)), delta=delta, not_covered=tuple(not_covered))


def _checked_mu(mu: float) -> float:
    if not (isinstance(mu, float | int) and math.isfinite(mu) and mu > 0):
        raise InputError("mu must be a positive, finite number")
    return float(mu)
