"""A ledger's database as it is in one transaction: populations, entries, and the one place that writes them."""

import hashlib
import json
import secrets
import sqlite3
import unicodedata
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.release.entries import Entry, Spend, Sum, old_id
from mvgviz.validation import MOST_POPULATION


@dataclass(frozen=True, kw_only=True)
class Population:
    """A name; names of the same ``people`` share that number."""

    name: str
    people: int
    cap: tuple[float, float] | None


class Book:
    """What the database holds; good until the transaction ends.

    Each entry is sealed: what was damaged or lost on the disk shows, and ``damaged`` is raised.
    """

    def __init__(self, rows: sqlite3.Connection, damaged: Callable[[], InputError]) -> None:
        self._rows, self._last_seal = rows, ""
        self.populations: dict[str, Population] = {}
        self._read_populations()
        self.entries: list[Entry] = []
        self._sums: dict[int, Sum] = {}  # by people; worked out where something is added
        number, last_old = 0, ""
        for number, state, key, content, seal in rows.execute("SELECT * FROM release ORDER BY number"):
            self._last_seal, entry = _read(self._last_seal, number, state, key, content)
            if entry is None or seal != self._last_seal or key not in self.populations:
                raise damaged()
            if state == "withdrawn":
                continue
            if not entry.id:
                last_old = old_id(last_old, asdict(entry))
                entry = replace(entry, id=last_old)
            self.entries.append(entry)
        if number != (rows.execute("SELECT seq FROM sqlite_sequence").fetchone() or (0,))[0]:  # the last number given
            raise damaged()

    def _read_populations(self) -> None:
        self.populations = {
            key: Population(name=name, people=people, cap=None if epsilon is None else (epsilon, delta))
            for key, name, people, epsilon, delta in self._rows.execute("SELECT * FROM population ORDER BY rowid")}

    def people(self, population: str) -> list[Population]:
        """All names of the same people; none where nobody has heard of them."""
        known = self.populations.get(_key(population))
        return [] if known is None else [one for one in self.populations.values() if one.people == known.people]

    def names(self, population: str) -> frozenset[str]:
        """The same, as names, itself included."""
        return frozenset(one.name for one in self.people(population)) or frozenset({tidy(population)})

    def about(self, population: str) -> list[Entry]:
        """The entries about these people."""
        names = self.names(population)
        return [entry for entry in self.entries if entry.population in names]

    def add(self, spend: Spend, population: str, *, time: str, state: str, own_id: str | None = None) -> Entry:
        """Write an entry; the totals are worked out here. ``own_id``: that of an entry of another ledger."""
        known = self.heard_of(population)
        if known.people not in self._sums:
            self._sums[known.people] = Sum(self.about(population))
        total = self._sums[known.people].add(spend).total(spend.delta)
        content = asdict(spend) | {
            "id": own_id or secrets.token_hex(16),
            "time": time, "population": known.name, "epsilon": float(gaussian_epsilon(spend.delta, spend.mu)),
            "total_mu": total.mu, "total_epsilon": total.epsilon, "total_not_covered": total.not_covered}
        key, text = _key(population), json.dumps(content)
        self._last_seal = _seal(self._last_seal, key, text)
        [number] = self._rows.execute(
            "INSERT INTO release (state, key, content, seal) VALUES (?, ?, ?, ?) RETURNING number",
            (state, key, text, self._last_seal)).fetchone()
        self.entries.append(Entry(**content, number=number, state=state))
        return self.entries[-1]

    def heard_of(self, population: str) -> Population:
        """The population; written down if it is new."""
        key = _key(population)
        if key not in self.populations:
            people = 1 + max((one.people for one in self.populations.values()), default=0)
            made = Population(name=tidy(population), people=people, cap=None)
            self._rows.execute("INSERT INTO population (key, name, people) VALUES (?, ?, ?)", (key, made.name, people))
            self.populations[key] = made
        return self.populations[key]

    def join(self, population: str, other: str) -> None:
        """Two populations become the same people."""
        self._rows.execute("UPDATE population SET people = ? WHERE people = ?",
                           (self.heard_of(population).people, self.heard_of(other).people))
        self._read_populations()
        self._sums.clear()

    def set_cap(self, cap: tuple[float, float] | None, population: str) -> None:
        """The cap of all names of these people."""
        self._rows.execute("UPDATE population SET cap_epsilon = ?, cap_delta = ? WHERE people = ?",
                           (*(cap or (None, None)), self.heard_of(population).people))

    def settle(self, numbers: list[int], state: str) -> None:
        """What becomes of entries that were reserved."""
        self._rows.executemany("UPDATE release SET state = ? WHERE number = ? AND state = 'reserved'",
                               [(state, number) for number in numbers])


def tidy(name: str) -> str:
    """A population's name on one line, with single spaces."""
    words = " ".join(unicodedata.normalize("NFC", name).split()) if isinstance(name, str) else ""
    if not (0 < len(words) <= MOST_POPULATION and words.isprintable()):
        raise InputError(f"the name of a population must be a line of at most {MOST_POPULATION} characters")
    return words


def _key(name: str) -> str:
    """Names that differ in capitals or spaces are one."""
    return unicodedata.normalize("NFKC", tidy(name)).casefold()


@lru_cache(maxsize=10_000)
def _read(before: str, number: int, state: str, key: str, content: str) -> tuple[str, Entry | None]:
    """The seal that a row must have, and its entry, if it can be read at all."""
    try:
        told = json.loads(content)
        lists = {name: tuple(told[name]) for name in ("caveats", "total_not_covered")}
        entry = Entry(**told | lists, number=number, state=state)
    except (ValueError, TypeError, KeyError):
        return "", None
    return _seal(before, key, content), entry


def _seal(before: str, key: str, content: str) -> str:
    """Follows from an entry and all before it."""
    return hashlib.blake2b("\n".join((before, key, content)).encode(), digest_size=16).hexdigest()
