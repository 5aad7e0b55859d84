"""The ledger: every release, what it spent, and what all of them spent together.

>>> from mvgviz import gaussian_mu
>>> from mvgviz.release.ledger import Ledger
>>> ledger = Ledger(cap=(1.0, 1e-5))
>>> ledger.would_exceed("liver", gaussian_mu(1.0, 1e-5)), ledger.would_exceed("liver", gaussian_mu(1.1, 1e-5))
(False, True)

Releases about the same people compose exactly, ``mu = sqrt(sum mu_i²)``, also when one was chosen after seeing another
(Dong, Roth & Su 2022, Corollary 2); beside replaced records, added or removed ones count twice. Who they are about is a
*population*: a name that a person gives, to which several files may belong. In memory it is the name of the data unless
one is given; a ledger that lasts, ``Ledger(path)``, asks for one. Two populations that turn out to be the same people
are joined, and then count together:

>>> entry = ledger.enter(time="2030-01-01", data="a", query="mean", neighbour_rule="one record replaced",
...                      design="exact", mu=gaussian_mu(1.0, 1e-5), delta=1e-5)
>>> ledger.would_exceed("b", 0.01), ledger.join("a", "b"), ledger.would_exceed("b", 0.01)
(False, None, True)

*Reserve, then draw.* What a release spends is on the disk before any noise exists, and the entry is completed when the
answer is. An entry that never was counts as spent: a crash, a full disk or two programs at once can waste budget, never
exceed it. Nothing in a ledger is computed from the records.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.query.queries import AS_DECLARED
from mvgviz.release.entries import CAVEATS, MIXED_RULES, Entry, Spend, Sum, Total, identity_of, tidy, told_by
from mvgviz.release.ledger_file import Book, LedgerFile, usual_place
from mvgviz.text import csv_text, spreadsheet_cell
from mvgviz.validation import epsilon_delta, fraction

__all__ = ["CAVEATS", "ENVIRONMENT", "MIXED_RULES", "Entry", "Ledger", "Reservation", "Spend", "Total",
           "ledger_from_environment", "usual_place"]

ENVIRONMENT = "MVGVIZ_LEDGER"
"""The environment variable that says where the app's ledger is kept; "none" or nothing: in memory."""

_ROUNDING = 1e-10  # of a cap; releases are made with a larger margin than this


class CapError(InputError):
    """A release with which a cap would not hold."""


class Reservation:
    """Entries that are written and not yet released; ``stopped``: whether somebody outside stopped them."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.entries, self.stopped = entries, False

    def watch(self, progress: Callable[[float], object] | None) -> Callable[[float], None]:
        """The same ``progress``; if it raises, the release is stopped, whatever the noise was."""
        def watched(share: float) -> None:
            if progress is not None:
                self.stopped = True
                progress(share)
                self.stopped = False

        return watched


class Ledger:
    """Releases in the order they were reserved; entries are added and completed, never changed or removed.

    ``path``: the file it is kept in, begun when first used; in memory, and lost with this object, if None. ``cap``:
    (epsilon, delta) that the releases about the same people may spend together, or None; it is this object's, and holds
    beside those that populations have of their own (:meth:`set_cap`), which last. May be used from several threads,
    and a file from several programs.
    """

    def __init__(self, path: str | Path | None = None, *, cap: tuple[float, float] | None = None) -> None:
        if not (path is None or (isinstance(path, str | Path) and str(path).isprintable() and Path(path).name)):
            raise InputError('the path of a ledger must name its file, such as "ledger.sqlite"; None keeps it in '
                             "memory")
        self._file = LedgerFile(None if path is None else Path(path))
        self._cap = None if cap is None else epsilon_delta("cap", cap)

    def __repr__(self) -> str:
        if self.path is not None:
            return f"Ledger({self.path.name!r}, cap={self._cap})"
        return f"Ledger({len(self.entries)} releases, cap={self._cap})"

    @property
    def path(self) -> Path | None:
        """The file it is kept in."""
        return self._file.path

    @property
    def lasts(self) -> bool:
        """Whether it outlives the program."""
        return self.path is not None

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._now().entries)

    @property
    def populations(self) -> tuple[str, ...]:
        """Every name there is, the last used first."""
        book = self._now()
        used = [entry.population for entry in reversed(book.entries)]
        return tuple(dict.fromkeys([*used, *(one.name for one in book.populations.values())]))

    @property
    def cap(self) -> tuple[float, float] | None:
        """The cap of this object alone."""
        return self._cap

    def cap_of(self, population: str) -> tuple[float, float] | None:
        """The cap that binds these people: the least of theirs and this object's."""
        return self._least_cap(self._now(), population)

    def set_cap(self, cap: tuple[float, float] | None, population: str | None = None) -> None:
        """Cap what may be spent on these people, for good; on any, by this object, if None."""
        cap = None if cap is None else epsilon_delta("cap", cap)
        if population is None:
            self._cap = cap
            return
        with self._writing() as book:
            book.set_cap(cap, population)

    def join(self, population: str, other: str) -> None:
        """Declare that both are the same people: all their releases count together, under the lower of two caps."""
        with self._writing() as book:
            book.join(population, other)

    def same_people(self, population: str) -> frozenset[str]:
        """All names of these people, ``population`` included."""
        return self._now().names(population)

    def entries_about(self, population: str) -> tuple[Entry, ...]:
        """The releases about these people."""
        return tuple(self._now().about(population))

    def total(self, population: str | None = None, *, delta: float) -> Total:
        """What the releases about these people spent; of all, as if about the same people, if None."""
        return Sum(self.entries if population is None else self.entries_about(population)).total(
            fraction("delta", delta))

    def would_exceed(self, population: str, mu: float, *, rule: str | None = None) -> bool:
        """Whether :meth:`check` would refuse this release."""
        try:
            self.check(population, mu, rule=rule)
        except CapError:
            return True
        return False

    def check(self, population: str, mu: float, *, rule: str | None = None) -> None:
        """Refuse a release of ``mu`` that would exceed the cap; ``rule``: of its neighbours, by default the last's."""
        book = self._now()
        known = rule or next((entry.neighbour_rule for entry in reversed(book.about(population))), "")
        self._refuse_excess(book, population, Spend(data="", query="", design="", neighbour_rule=known, mu=mu,
                                                    delta=0.5))

    @contextmanager
    def reserved(self, *spends: Spend, population: str | None = None) -> Iterator[Reservation]:
        """Write what these releases about the same people spend; let them be drawn; then call them released.

        Refused above the cap. Where drawing fails they stay reserved and count as spent; where it was stopped from
        outside, which tells nothing of the noise, they are withdrawn.
        """
        name = self._named(population, spends[0].data)
        with self._writing() as book:
            self._refuse_excess(book, name, *spends)
            time = datetime.now(UTC).isoformat(timespec="seconds")
            reservation = Reservation(tuple(book.add(spend, name, time=time, state="reserved") for spend in spends))
        try:
            yield reservation
        except BaseException:
            if reservation.stopped:
                self._settle(reservation, "withdrawn")
            raise
        try:
            self._settle(reservation, "released")
        except InputError as error:
            raise InputError(f"{error}, and what was reserved for it counts as spent") from None

    def enter(self, *, time: str, population: str | None = None, **spend: Any) -> Entry:
        """Enter a release that was made elsewhere; refused above the cap. Other arguments: the fields of ``Spend``."""
        made = Spend(**spend)
        name = self._named(population, made.data)
        with self._writing() as book:
            self._refuse_excess(book, name, made)
            return book.add(made, name, time=time, state="released")

    def import_json(self, text: str, *, population: str | None = None) -> int:
        """Enter what :meth:`to_json` of another ledger tells; how many entries were new.

        All go to ``population``, by default each to its own, with names for the same people joined as they were
        there. What already counts for these people is not entered again: entries are known by their ids. Those of a
        ledger from before there were ids are known by all that stands in it up to them; where that leaves a doubt,
        they count twice. A text that brings nothing new, no entry and no names to be joined, is refused. It is history:
        no cap keeps it out. Caps are not brought along.
        """
        told, same = told_by(text)
        with self._writing() as book:
            joined = False
            for names in same if population is None else ():
                for other in names[1:]:
                    if book.heard_of(names[0]).people != book.heard_of(other).people:
                        book.join(names[0], other)
                        joined = True
            here = Counter((book.heard_of(entry.population).people, identity_of(entry, entry.id, entry.time))
                           for entry in book.entries)
            new = 0
            for one in told:
                name = population or one.population
                known = book.heard_of(name).people, identity_of(one.spend, one.id, one.time)
                if here[known] > 0:
                    here[known] -= 1
                else:
                    book.add(one.spend, name, time=one.time, state=one.state, own_id=one.id)
                    new += 1
            if not (new or joined):
                raise InputError("everything in this file is in the ledger already; nothing was added")
        return new

    def to_csv(self) -> str:
        """One line a release; no cell is a formula."""
        def cell(value: object) -> str:
            if isinstance(value, tuple):
                return f"not covered: {', '.join(value)}" if value else ""
            return repr(value) if isinstance(value, float | int) else spreadsheet_cell(str(value))

        rows = [asdict(entry) | {"caveats": entry.not_covered} for entry in self.entries]
        return csv_text([[field.name.replace("_", " ") for field in fields(Entry)],
                         *([cell(value) for value in row.values()] for row in rows)])

    def to_json(self) -> str:
        """Everything, with the caps."""
        def told(cap: tuple[float, float] | None) -> dict[str, float] | None:
            return None if cap is None else dict(zip(("epsilon", "delta"), cap, strict=True))

        book = self._now()
        groups = dict.fromkeys(book.names(one.name) for one in book.populations.values())
        return json.dumps({
            "cap": told(self._cap),
            "caps": {one.name: told(one.cap) for one in book.populations.values() if one.cap is not None},
            "same_people": [sorted(names) for names in groups if len(names) > 1],
            "releases": [asdict(entry) | {"not_covered": entry.not_covered} for entry in book.entries]}, indent=2)

    def _now(self) -> Book:
        """Everything as it is in this moment."""
        with self._file.transaction() as book:
            return book

    def _writing(self) -> AbstractContextManager[Book]:
        """Everything, to be added to while nobody else does; all of it or nothing."""
        return self._file.transaction(write=True)

    def _settle(self, reservation: Reservation, state: str) -> None:
        with self._writing() as book:
            book.settle([entry.number for entry in reservation.entries], state)

    def _named(self, population: str | None, data: str) -> str:
        """The population's name; that of the data in a ledger that does not last."""
        if not population and self.lasts:
            raise InputError("a lasting ledger needs to know who the records are about; name the population, such as "
                             "'patients of 2024'")
        return tidy(population or data)

    def _least_cap(self, book: Book, population: str) -> tuple[float, float] | None:
        caps = [cap for cap in (self._cap, *(one.cap for one in book.people(population))) if cap is not None]
        return min(caps, key=lambda cap: float(gaussian_mu(*cap)), default=None)

    def _refuse_excess(self, book: Book, population: str, *more: Spend) -> None:
        """Refuse releases with which the cap would not hold."""
        cap, before = self._least_cap(book, population), book.about(population)
        if cap is None:
            return
        (epsilon, delta), names = cap, " and ".join(sorted(book.names(population)))
        after = Sum([*before, *more])
        kinds = after.rules - {AS_DECLARED}
        if len(kinds) > 1:
            raise CapError(f"no cap holds for different neighbours together: the releases of {names} are about "
                           f"{' and '.join(sorted(kinds, reverse=True))}; name another population, or lift the cap")
        if not after.mu <= float(gaussian_mu(*cap)) * (1 + _ROUNDING):
            raise CapError(f"this release would exceed the cap: the releases of {names} have spent epsilon "
                           f"{Sum(before).total(delta).epsilon:.4g} at delta {delta:.3g} and would reach "
                           f"{after.total(delta).epsilon:.4g}, the cap is {epsilon:g}; ask for a smaller epsilon")


def ledger_from_environment() -> Ledger:
    """The ledger that ``MVGVIZ_LEDGER`` names, a file; in memory where it is "none", empty or not set."""
    place = os.environ.get(ENVIRONMENT, "").strip()
    return Ledger() if place.casefold() in ("", "none") else Ledger(place)
