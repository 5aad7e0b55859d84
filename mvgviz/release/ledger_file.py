"""The database a ledger is kept in: opened for every step, checked each time, never begun again where one was.

A transaction is on the disk before it counts as done (SQLite, write-ahead log, ``synchronous=FULL``), and writers take
turns. Whatever goes wrong ends in an InputError of one sentence, and nothing of the transaction is kept. A new file is
made beside its place and put there whole, so that no crash leaves half a ledger.
"""

import hashlib
import json
import os
import platform
import secrets
import sqlite3
import threading
import unicodedata
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.release.entries import Entry, Spend, Sum, old_id, tidy

PATIENCE = 10.0
"""For how many seconds a writer waits for its turn."""

_APPLICATION, _VERSION, _READABLE = 0x6D76676C, 2, (1, 2)  # "mvgl"; entries of version 1 have no id
_SCHEMA = """
CREATE TABLE population (key TEXT PRIMARY KEY, name TEXT NOT NULL, people INTEGER NOT NULL,
                         cap_epsilon REAL, cap_delta REAL) STRICT;
CREATE TABLE release (number INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL
                      CHECK (state IN ('reserved', 'released', 'withdrawn')),
                      key TEXT NOT NULL, content TEXT NOT NULL, seal TEXT NOT NULL) STRICT;
"""
_DAMAGED = ("is damaged and cannot be trusted; put a backup in its place, or move it away and bring what was released "
            "from a downloaded JSON")
_FULL = "could not be written: the disk is full or failing; make room and try again"
_SENTENCES = {
    sqlite3.SQLITE_BUSY: f"has been in use by another program for more than {PATIENCE:g} seconds; try again",
    sqlite3.SQLITE_READONLY: "may not be written: the file or its folder is read-only; change that, or keep the ledger "
                             "elsewhere",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: the file or its folder is missing, or may not be read and written",
    sqlite3.SQLITE_PERM: "cannot be opened: the file or its folder may not be read and written",
    sqlite3.SQLITE_CORRUPT: _DAMAGED, sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_FULL: _FULL, sqlite3.SQLITE_IOERR: _FULL}


def usual_place() -> Path:
    """Where a person's ledger is kept unless they say otherwise: in the folder their system has for data."""
    system, home = platform.system(), Path.home()
    if system == "Windows":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif system == "Darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "mvgviz" / "ledger.sqlite"


class Population(NamedTuple):
    """A name; names of the same ``people`` share that number."""

    name: str
    people: int
    cap: tuple[float, float] | None


class Book:
    """What the database holds, and the one place that writes it; good until the transaction ends.

    Each entry is sealed: what was damaged or lost on the disk shows, and ends in ``sqlite3.DatabaseError``.
    """

    def __init__(self, rows: sqlite3.Connection) -> None:
        self._rows, self._last_seal = rows, ""
        self.populations: dict[str, Population] = {}
        self._read_populations()
        self.entries: list[Entry] = []
        self._sums: dict[int, Sum] = {}  # by people; worked out where something is added
        number, last_old = 0, ""
        for number, state, key, content, seal in rows.execute("SELECT * FROM release ORDER BY number"):
            self._last_seal, entry = _read(self._last_seal, number, state, key, content)
            if entry is None or seal != self._last_seal or key not in self.populations:
                raise sqlite3.DatabaseError
            if state == "withdrawn":
                continue
            if not entry.id:
                last_old = old_id(last_old, asdict(entry))
                entry = replace(entry, id=last_old)
            self.entries.append(entry)
        if number != (rows.execute("SELECT seq FROM sqlite_sequence").fetchone() or (0,))[0]:  # the last number given
            raise sqlite3.DatabaseError

    def _read_populations(self) -> None:
        self.populations = {
            key: Population(name, people, None if epsilon is None else (epsilon, delta))
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
        """Write an entry with its totals. ``own_id``: that of an entry of another ledger."""
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
            made = Population(tidy(population), 1 + max((one.people for one in self.populations.values()), default=0),
                              None)
            self._rows.execute("INSERT INTO population (key, name, people) VALUES (?, ?, ?)",
                               (key, made.name, made.people))
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


class LedgerFile:
    """The database at ``path``, begun when it is first used; in memory, and lost with this object, if None."""

    def __init__(self, path: Path | None) -> None:
        self.path = None if path is None else path.expanduser().absolute()
        self._turn, self._seen, self._memory = threading.RLock(), False, None
        if self.path is None:
            self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._memory.executescript(_SCHEMA)
            weakref.finalize(self, self._memory.close)

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Book]:
        """All or nothing; with ``write`` nobody else writes from the first to the last line."""
        with self._turn, self._in_sentences(), self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                if self.path is not None:
                    self._check(connection)
                    if write:
                        connection.execute(f"PRAGMA user_version = {_VERSION}")
                yield Book(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        if self.path is None:
            assert self._memory is not None
            yield self._memory
            return
        if not self.path.exists():
            self._begin(self.path)
        self._seen = True
        with closing(_connect(self.path)) as connection:
            yield connection

    def _begin(self, place: Path) -> None:
        """Make an empty ledger whole, beside its place, then put it there; refused where one has been."""
        if self._seen or place.with_name(f"{place.name}-wal").exists():
            raise self._failure("is gone; put it or a backup back in its place")
        if place.resolve() == usual_place().resolve():
            place.parent.mkdir(parents=True, exist_ok=True)
        if not place.parent.is_dir():
            raise self._failure("cannot be begun: its folder does not exist")
        made = place.with_name(f".{place.name}.{secrets.token_hex(6)}")
        try:
            made.touch(exist_ok=False)
            with closing(_connect(made)) as connection:
                if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
                    raise self._failure("cannot be kept there: a ledger needs a folder on a local disk")
                connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA application_id = {_APPLICATION}; "
                                         f"PRAGMA user_version = {_VERSION}; COMMIT;")
            with suppress(FileExistsError):  # somebody else began it in this moment
                os.link(made, place)
            _sync_folder(place.parent)
        finally:
            for name in (made.name, f"{made.name}-wal", f"{made.name}-shm"):
                made.with_name(name).unlink(missing_ok=True)

    def _check(self, connection: sqlite3.Connection) -> None:
        """Refuse what is no ledger that can be read here, sound in all its pages."""
        [application], [version] = (connection.execute(f"PRAGMA {name}").fetchone()
                                    for name in ("application_id", "user_version"))
        if application != _APPLICATION:
            raise self._failure("is not a ledger but another file; choose another place for the ledger")
        if version not in _READABLE:
            raise self._failure(f"was written by another version of mvgviz (ledger version {version}, this one reads "
                                f"up to {_VERSION}); use that version")
        if connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
            raise sqlite3.DatabaseError

    @contextmanager
    def _in_sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:  # one without a code is ours: the content contradicts itself
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
            raise self._failure(_SENTENCES.get(code, f"failed ({error})")) from None
        except OSError as error:
            raise self._failure(f"cannot be read and written there ({error.strerror})") from None

    def _failure(self, words: str) -> InputError:
        name = "in memory" if self.path is None else f'"{self.path.name}"'
        return InputError(f"the ledger {name} {words}; nothing was released")


def _connect(place: Path) -> sqlite3.Connection:
    """A connection to a file that is there; it never makes one."""
    connection = sqlite3.connect(f"{place.as_uri()}?mode=rw", uri=True, timeout=PATIENCE, isolation_level=None,
                                 check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _sync_folder(folder: Path) -> None:
    """Have the folder remember its new file through a power cut, where the system can be asked to."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
