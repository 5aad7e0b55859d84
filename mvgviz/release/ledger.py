"""The ledger: every release, what it spent, and what all of them spent together.

>>> from mvgviz import gaussian_mu
>>> from mvgviz.release.ledger import Ledger
>>> ledger = Ledger(cap=(1.0, 1e-5))
>>> ledger.would_exceed("liver", gaussian_mu(1.0, 1e-5)), ledger.would_exceed("liver", gaussian_mu(1.1, 1e-5))
(False, True)

Releases about the same people compose exactly, ``mu = sqrt(sum mu_i²)``, even if you choose one after seeing another
(Dong, Roth & Su 2022, Corollary 2). Beside replaced records, added or removed ones count twice. A *population* names
the people; several files may belong to one. A ledger in memory uses the name of the data by default; a lasting ledger,
``Ledger(path)``, asks for a name. Join two populations that turn out to be the same people:

>>> entry = ledger.enter(time="2030-01-01", data="a", query="mean", neighbour_rule="one record replaced",
...                      design="exact", mu=gaussian_mu(1.0, 1e-5), delta=1e-5)
>>> ledger.would_exceed("b", 0.01), ledger.join("a", "b"), ledger.would_exceed("b", 0.01)
(False, None, True)

*Reserve, then draw.* The ledger writes what a release spends to the disk before any noise exists, and completes the
entry with the answer. An incomplete entry counts as spent: a crash, a full disk or two programs at once can waste
budget, never exceed it. Nothing in a ledger is computed from the records.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import gaussian_mu, zcdp_rho
from mvgviz.query.queries import AS_DECLARED
from mvgviz.release.entries import CAVEATS, MIXED_RULES, Cost, Entry, Spend, Sum, Total, identity_of, imported, tidy
from mvgviz.release.ledger_file import Answer, Book, LedgerFile, usual_place
from mvgviz.text import as_probability, csv_text, spreadsheet_cell
from mvgviz.validation import epsilon_delta, fraction, number

__all__ = ["CAVEATS", "ENVIRONMENT", "MIXED_RULES", "Entry", "Ledger", "Reservation", "Spend", "Total",
           "ledger_from_environment", "usual_place"]

if TYPE_CHECKING:
    from mvgviz.release.answer import Release

ENVIRONMENT = "MVGVIZ_LEDGER"
"""The environment variable with the file of the app's ledger; "none" or nothing: in memory."""


class CapError(InputError):
    """A release that would exceed a cap."""


class Reservation:
    """Entries written and not yet released, what ``answers`` to keep, and whether ``progress`` ``stopped`` them."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.entries, self.stopped = entries, False
        self.answers: dict[int, Answer] = {}

    def watch(self, progress: Callable[[float], object] | None) -> Callable[[float], None]:
        """Return ``progress`` so that an error in it marks the release as stopped."""
        def watched(share: float) -> None:
            if progress is not None:
                self.stopped = True
                progress(share)
                self.stopped = False

        return watched


class Ledger:
    """Releases in order; entries are added and completed, never changed or removed.

    ``path``: its file, created at first use; None keeps it in memory. ``cap``: (epsilon, delta) that releases about the
    same people may spend together; it belongs to this object, beside the lasting caps of populations
    (:meth:`set_cap`). ``pure``: the part of its epsilon that pure noise (box, Laplace) may spend beside Gaussian noise.
    Threads may share a ledger, and programs its file.
    """

    def __init__(self, path: str | Path | None = None, *, cap: tuple[float, float] | None = None, pure: float = 0.0
                 ) -> None:
        if not (path is None or (isinstance(path, str | Path) and str(path).isprintable() and Path(path).name)):
            raise InputError('the path of a ledger must name its file, such as "ledger.sqlite"; None keeps it in '
                             "memory")
        self._file = LedgerFile(None if path is None else Path(path))
        self._cap, self._pure = _checked_cap(cap, pure)

    def __repr__(self) -> str:
        if self.path is not None:
            return f"Ledger({self.path.name!r}, cap={self._cap})"
        return f"Ledger({len(self.entries)} releases, cap={self._cap})"

    @property
    def path(self) -> Path | None:
        return self._file.path

    @property
    def lasts(self) -> bool:
        """Return whether it outlives the program."""
        return self.path is not None

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._now().entries)

    @property
    def populations(self) -> tuple[str, ...]:
        """Return every name, the last used first."""
        book = self._now()
        used = [entry.population for entry in reversed(book.entries)]
        return tuple(dict.fromkeys([*used, *(one.name for one in book.populations.values())]))

    @property
    def cap(self) -> tuple[float, float] | None:
        """Return the cap of this object alone."""
        return self._cap

    def cap_of(self, population: str) -> tuple[float, float] | None:
        """Return the lower of these people's cap and this object's."""
        caps = [cap for cap, _ in self._caps(self._now(), population)]
        return min(caps, key=lambda cap: float(gaussian_mu(*cap)), default=None)

    def pure_part(self, population: str | None) -> float:
        """The part of their cap's epsilon that is kept for pure noise; None: people yet to be named."""
        book = self._now()
        return min((pure for _, pure in self._caps(book, population)), default=self._own_part(book, population))

    def rooms(self, population: str | None, *more: Cost) -> tuple[float, float] | None:
        """Return the ``mu`` and the pure epsilon that releases about these people may reach, ``more`` included.

        None without a cap. Without Gaussian noise the part of pure noise is all of the cap's epsilon.
        """
        book = self._now()
        spent = Sum([*(() if population is None else book.about(population)), *more])
        caps = self._caps(book, population)
        return None if not caps else (min(spent.room(*cap) for cap in caps),
                                      min(pure if spent.mu > 0 else cap[0] for cap, pure in caps))

    def set_cap(self, cap: tuple[float, float] | None, population: str | None = None, *, pure: float = 0.0) -> None:
        """Cap what may be spent on these people, for good; without a population, cap this object.

        ``pure``: the part of epsilon that pure noise (box, Laplace) may spend beside Gaussian noise. A Gaussian answer
        fixes it, even if you lift the cap. Without Gaussian noise pure noise may spend all of epsilon.
        """
        cap, pure = _checked_cap(cap, pure)
        with self._writing() as book:
            if any(entry.mu > 0 for entry in (book.entries if population is None else book.about(population))):
                fixed = self._own_part(book, population)
                pure = fixed if cap is None else pure
                refuse(pure != fixed, f"the cap's part for box and Laplace noise stays {fixed:g} after a release with "
                       "Gaussian noise: a part chosen after an answer can exceed delta")
            if population is None:
                self._cap, self._pure = cap, pure
            else:
                book.set_cap(cap, population, pure)

    def join(self, population: str, other: str) -> None:
        """Declare that both are the same people: all their releases count together, under the lower of two caps."""
        with self._writing() as book:
            book.join(population, other)

    def same_people(self, population: str) -> frozenset[str]:
        """Return all names of these people."""
        return self._now().names(population)

    def entries_about(self, population: str) -> tuple[Entry, ...]:
        """Return the releases about these people."""
        return tuple(self._now().about(population))

    def releases(self, population: str) -> tuple[Release, ...]:
        """Return the kept answers about these people, in order. They are public."""
        from mvgviz.release.kept import restored

        with self._file.transaction() as book:
            found = [(entry, book.answer(entry.number)) for entry in book.about(population)]
        return tuple(restored(entry, answer) for entry, answer in found if answer is not None)

    def total(self, population: str | None = None, *, delta: float) -> Total:
        """Return what the releases about these people spent; None: all, as if about the same people."""
        return Sum(self.entries if population is None else self.entries_about(population)).total(
            fraction("delta", delta))

    def would_exceed(self, population: str, mu: float, *, rule: str | None = None, epsilon_pure: float = 0.0) -> bool:
        """Return whether :meth:`check` would refuse this release."""
        try:
            self.check(population, mu, rule=rule, epsilon_pure=epsilon_pure)
        except CapError:
            return True
        return False

    def check(self, population: str, mu: float, *, rule: str | None = None, epsilon_pure: float = 0.0) -> None:
        """Raise `InputError` if this release would exceed the cap; ``rule``: its neighbours (the last's)."""
        book = self._now()
        known = rule or next((entry.neighbour_rule for entry in reversed(book.about(population))), "")
        self._refuse_excess(book, population, Spend(data="", query="", design="", neighbour_rule=known, mu=mu,
                                                    delta=0.5, epsilon_pure=epsilon_pure))

    @contextmanager
    def reserved(self, *spends: Spend, population: str | None = None) -> Iterator[Reservation]:
        """Write what these releases about the same people spend; after the block, mark them as released.

        If the block fails they count as spent, and are withdrawn if ``progress`` stopped it, which reveals nothing.
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
            raise InputError(f"{error}, and the reserved budget counts as spent") from None

    def enter(self, *, time: str, population: str | None = None, **spend: Any) -> Entry:
        """Enter a release made elsewhere, with the fields of ``Spend``; raise `InputError` above the cap."""
        made = Spend(**spend)
        name = self._named(population, made.data)
        with self._writing() as book:
            self._refuse_excess(book, name, made)
            return book.add(made, name, time=time, state="released")

    def import_json(self, text: str, *, population: str | None = None) -> int:
        """Enter what :meth:`to_json` of another ledger holds; return how many entries were new.

        All go to ``population``, by default to the populations of the other ledger, joined as there. Entries already
        here are skipped, by their ids; old entries without ids by the ledger up to them: in doubt they count twice.
        Imported releases ignore the cap; caps are not imported. Raise `InputError` if nothing is new.
        """
        others, same = imported(text)
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
            for one in others:
                name = population or one.population
                known = book.heard_of(name).people, identity_of(one.spend, one.id, one.time)
                if here[known] > 0:
                    here[known] -= 1
                else:
                    book.add(one.spend, name, time=one.time, state=one.state, own_id=one.id)
                    new += 1
            refuse(not (new or joined), "the ledger already holds everything in this file; nothing was added")
        return new

    def to_csv(self) -> str:
        """Return a line for each release; no cell is a formula."""
        def cell(value: object) -> str:
            if isinstance(value, tuple):
                return f"not covered: {', '.join(value)}" if value else ""
            return repr(value) if isinstance(value, float | int) else spreadsheet_cell(str(value))

        rows = [asdict(entry) | {"caveats": entry.not_covered, "rho": zcdp_rho(entry.mu),
                                 "total_rho": zcdp_rho(entry.total_mu)} for entry in self.entries]
        return csv_text([[*(field.name.replace("_", " ") for field in fields(Entry)), "rho", "total rho"],
                         *([cell(value) for value in row.values()] for row in rows)])

    def to_json(self) -> str:
        """Return everything, with the caps."""
        def as_json(cap: tuple[float, float] | None, pure: float) -> dict[str, float] | None:
            return None if cap is None else {"epsilon": cap[0], "delta": cap[1]} | ({"pure": pure} if pure else {})

        book = self._now()
        groups = dict.fromkeys(book.names(one.name) for one in book.populations.values())
        return json.dumps({
            "cap": as_json(self._cap, self._pure),
            "caps": {one.name: as_json(one.cap, one.pure) for one in book.populations.values() if one.cap is not None},
            "same_people": [sorted(names) for names in groups if len(names) > 1],
            "releases": [asdict(entry) | {"not_covered": entry.not_covered} for entry in book.entries]}, indent=2)

    def _now(self) -> Book:
        with self._file.transaction() as book:
            return book

    def _writing(self) -> AbstractContextManager[Book]:
        return self._file.transaction(write=True)

    def _settle(self, reservation: Reservation, state: str) -> None:
        with self._writing() as book:
            book.settle([entry.number for entry in reservation.entries], state,
                        reservation.answers if state == "released" else {})

    def _named(self, population: str | None, data: str) -> str:
        refuse(not population and self.lasts, "a lasting ledger needs a name for the people; name the population, such "
               "as 'patients of 2024'")
        return tidy(population or data)

    def _caps(self, book: Book, population: str | None) -> list[tuple[tuple[float, float], float]]:
        """Return every cap for these people with its pure part; at another delta another one may be stricter."""
        own = () if population is None else [(one.cap, one.pure) for one in book.people(population)]
        return [(cap, pure) for cap, pure in ((self._cap, self._pure), *own) if cap is not None]

    def _own_part(self, book: Book, population: str | None) -> float:
        """Return the pure part of these people's last cap, lifted or not; None: of this object's."""
        if population is None:
            return self._pure
        names = book.people(population)
        return min((one.pure for one in [one for one in names if one.cap is not None] or names), default=0.0)

    def _refuse_excess(self, book: Book, population: str, *more: Spend) -> None:
        caps, before = self._caps(book, population), book.about(population)
        if not caps:
            return
        names, after = " and ".join(sorted(book.names(population))), Sum([*before, *more])
        kinds = after.rules - {AS_DECLARED}
        if len(kinds) > 1:
            raise CapError(f"a cap needs one kind of neighbours: the releases of {names} are about "
                           f"{' and '.join(sorted(kinds, reverse=True))}; name another population, or lift the cap")
        for (epsilon, delta), pure in caps:
            if after.fits((epsilon, delta), pure):
                continue
            if after.mu > 0 and after.pure > pure:
                raise CapError("this release would exceed the cap's part for box and Laplace noise: the releases of "
                               f"{names} would reach epsilon {after.pure:.4g} of {pure:g}; " + (
                                   "stay with Gaussian noise: the cap can no longer be divided" if Sum(before).mu else
                                   "divide the cap first, or stay with box and Laplace noise"))
            raise CapError(f"this release would exceed the cap: the releases of {names} have spent epsilon "
                           f"{Sum(before).total(delta).epsilon:.4g} of {epsilon:g} at delta "
                           f"{as_probability(delta)}{f', {pure:g} of it for pure noise,' if pure else ''} and would "
                           f"reach {after.total(delta).epsilon:.4g}; ask for a smaller epsilon")


def _checked_cap(cap: tuple[float, float] | None, pure: float) -> tuple[tuple[float, float] | None, float]:
    whole = None if cap is None else epsilon_delta("cap", cap)
    part = number("pure", pure)
    if not (0 <= part < (math.inf if whole is None else whole[0])):
        raise InputError("pure must be from 0 to less than the cap's epsilon")
    return whole, part


def ledger_from_environment() -> Ledger:
    """Return the ledger in the file ``MVGVIZ_LEDGER``; in memory if that is "none", empty or not set."""
    place = os.environ.get(ENVIRONMENT, "").strip()
    return Ledger() if place.casefold() in ("", "none") else Ledger(place)
