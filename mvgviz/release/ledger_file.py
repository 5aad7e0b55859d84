"""The database of a ledger: opened and checked for every step, never created again after it was there.

A transaction is on the disk before it counts as done (SQLite, write-ahead log, ``synchronous=FULL``), and writers take
turns. Every failure raises `InputError` with one sentence and undoes the transaction. A new file is created beside its
place and linked there whole, so that no crash leaves half a ledger.
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
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mvgviz.errors import InputError
from mvgviz.release.entries import Entry, Spend, Sum, old_id, tidy

PATIENCE = 10.0  # seconds that a writer waits for its turn

_APPLICATION, _VERSION = 0x6D76676C, 4  # "mvgl"
_READABLE = (1, 2, 3, 4)  # 1: entries have no id; 2: no answers are kept; 3: caps have no pure part
_ANSWERS = """
CREATE TABLE IF NOT EXISTS answer (number INTEGER PRIMARY KEY REFERENCES release (number), certificate TEXT NOT NULL,
                                   numbers BLOB NOT NULL, seal TEXT NOT NULL) STRICT
"""
_SCHEMA = """
CREATE TABLE population (key TEXT PRIMARY KEY, name TEXT NOT NULL, people INTEGER NOT NULL,
                         cap_epsilon REAL, cap_delta REAL,
                         cap_pure REAL NOT NULL DEFAULT 0) STRICT;
CREATE TABLE release (number INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL
                      CHECK (state IN ('reserved', 'released', 'withdrawn')),
                      key TEXT NOT NULL, content TEXT NOT NULL, seal TEXT NOT NULL) STRICT;
""" + f"{_ANSWERS};"
_DAMAGED = ("is damaged; put a backup in its place, or move it away and import a downloaded ledger.json")
_FULL = "could not be written: the disk is full or failing; free some space and try again"
_SENTENCES = {
    sqlite3.SQLITE_BUSY: f"has been in use by another program for more than {PATIENCE:g} seconds; try again",
    sqlite3.SQLITE_READONLY: "cannot be written: the file or its folder is read-only; allow writing, or choose another "
                             "place",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: the file or its folder is missing, or you may not read and write it",
    sqlite3.SQLITE_PERM: "cannot be opened: you may not read and write the file or its folder",
    sqlite3.SQLITE_CORRUPT: _DAMAGED, sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_FULL: _FULL, sqlite3.SQLITE_IOERR: _FULL}


def usual_place() -> Path:
    """Return the default place of a person's ledger: in the data folder of their system."""
    system, home = platform.system(), Path.home()
    if system == "Windows":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif system == "Darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "mvgviz" / "ledger.sqlite"


class Population(NamedTuple):
    """A name, the number of its ``people``, and their cap with its part for pure noise."""

    name: str
    people: int
    cap: tuple[float, float] | None
    pure: float = 0.0


class Answer(NamedTuple):
    """The certificate (JSON) of a release, and its noisy numbers row by row, eight bytes each."""

    certificate: str
    numbers: bytes


class Book:
    """What the database holds until the transaction ends; it alone writes. Damage is a ``sqlite3.DatabaseError``."""

    def __init__(self, rows: sqlite3.Connection) -> None:
        self._rows, self._last_seal = rows, ""
        self.populations: dict[str, Population] = {}
        self._read_populations()
        self.entries: list[Entry] = []
        self._sums: dict[int, Sum] = {}  # by people; worked out where something is added
        number, last_old = 0, ""
        self._seals: dict[int, str] = {}
        for number, state, key, content, seal in rows.execute("SELECT * FROM release ORDER BY number"):
            self._last_seal, entry = _read(self._last_seal, number, state, key, content)
            if entry is None or seal != self._last_seal or key not in self.populations:
                raise sqlite3.DatabaseError
            self._seals[number] = seal
            if state == "withdrawn":
                continue
            if not entry.id:
                last_old = old_id(last_old, asdict(entry))
                entry = replace(entry, id=last_old)
            self.entries.append(entry)
        if number != (rows.execute("SELECT seq FROM sqlite_sequence").fetchone() or (0,))[0]:  # the last number given
            raise sqlite3.DatabaseError

    def _read_populations(self) -> None:
        rows = self._rows.execute("SELECT * FROM population ORDER BY rowid")
        self.populations = {
            key: Population(name, people, None if epsilon is None else (epsilon, delta), *pure)
            for key, name, people, epsilon, delta, *pure in rows}

    def people(self, population: str) -> list[Population]:
        """Return all names of the same people; none if the population is unknown."""
        known = self.populations.get(_key(population))
        return [] if known is None else [one for one in self.populations.values() if one.people == known.people]

    def names(self, population: str) -> frozenset[str]:
        return frozenset(one.name for one in self.people(population)) or frozenset({tidy(population)})

    def about(self, population: str) -> list[Entry]:
        names = self.names(population)
        return [entry for entry in self.entries if entry.population in names]

    def add(self, spend: Spend, population: str, *, time: str, state: str, own_id: str | None = None) -> Entry:
        """Write an entry with its totals; ``own_id``: its id in another ledger."""
        known = self.heard_of(population)
        if known.people not in self._sums:
            self._sums[known.people] = Sum(self.about(population))
        total = self._sums[known.people].add(spend).total(spend.delta)
        content = asdict(spend) | {
            "id": own_id or secrets.token_hex(16),
            "time": time, "population": known.name, "epsilon": spend.epsilon,
            "total_mu": total.mu, "total_epsilon": total.epsilon, "total_not_covered": total.not_covered}
        key, text = _key(population), json.dumps(content)
        self._last_seal = _seal(self._last_seal, key, text)
        [number] = self._rows.execute(
            "INSERT INTO release (state, key, content, seal) VALUES (?, ?, ?, ?) RETURNING number",
            (state, key, text, self._last_seal)).fetchone()
        self._seals[number] = self._last_seal
        self.entries.append(Entry(**content, number=number, state=state))
        return self.entries[-1]

    def heard_of(self, population: str) -> Population:
        """Return the population; write it if it is new."""
        key = _key(population)
        if key not in self.populations:
            made = Population(tidy(population), 1 + max((one.people for one in self.populations.values()), default=0),
                              None)
            self._rows.execute("INSERT INTO population (key, name, people) VALUES (?, ?, ?)",
                               (key, made.name, made.people))
            self.populations[key] = made
        return self.populations[key]

    def join(self, population: str, other: str) -> None:
        self._rows.execute("UPDATE population SET people = ? WHERE people = ?",
                           (self.heard_of(population).people, self.heard_of(other).people))
        self._read_populations()
        self._sums.clear()

    def set_cap(self, cap: tuple[float, float] | None, population: str, pure: float) -> None:
        self._rows.execute("UPDATE population SET cap_epsilon = ?, cap_delta = ?, cap_pure = ? WHERE people = ?",
                           (*(cap or (None, None)), pure, self.heard_of(population).people))

    def settle(self, numbers: list[int], state: str, answers: Mapping[int, Answer]) -> None:
        """Set the state of reserved entries, and keep their answers."""
        self._rows.executemany("INSERT INTO answer VALUES (?, ?, ?, ?)", [
            (number, *answer, _answer_seal(self._seals[number], answer)) for number, answer in answers.items()])
        self._rows.executemany("UPDATE release SET state = ? WHERE number = ? AND state = 'reserved'",
                               [(state, number) for number in numbers])

    def answer(self, number: int) -> Answer | None:
        """Return what was kept of a release, or None."""
        if not self._rows.execute("SELECT 1 FROM sqlite_schema WHERE name = 'answer'").fetchone():
            return None
        found = self._rows.execute("SELECT certificate, numbers, seal FROM answer WHERE number = ?",
                                   (number,)).fetchone()
        if found is None:
            return None
        answer = Answer(*found[:2])
        if number not in self._seals or found[2] != _answer_seal(self._seals[number], answer):
            raise sqlite3.DatabaseError
        return answer


def _key(name: str) -> str:
    """Return the same key for names that differ in capitals or spaces."""
    return unicodedata.normalize("NFKC", tidy(name)).casefold()


@lru_cache(maxsize=10_000)
def _read(before: str, number: int, state: str, key: str, content: str) -> tuple[str, Entry | None]:
    """Return the seal that a row must have, and its entry if it can be read."""
    try:
        fields = json.loads(content)
        lists = {name: tuple(fields[name]) for name in ("caveats", "total_not_covered", "parameters") if name in fields}
        entry = Entry(**fields | lists, number=number, state=state)
    except (ValueError, TypeError, KeyError):
        return "", None
    return _seal(before, key, content), entry


def _seal(before: str, key: str, content: str) -> str:
    return hashlib.blake2b("\n".join((before, key, content)).encode(), digest_size=16).hexdigest()


def _answer_seal(of_entry: str, answer: Answer) -> str:
    hashed = hashlib.blake2b(f"{of_entry}\n{answer.certificate}\n".encode(), digest_size=16)
    hashed.update(answer.numbers)
    return hashed.hexdigest()


class LedgerFile:
    """The database at ``path``, created at first use; None keeps it in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = None if path is None else path.expanduser().absolute()
        self._turn, self._seen, self._memory = threading.RLock(), False, None
        if self.path is None:
            self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._memory.executescript(_SCHEMA)
            weakref.finalize(self, self._memory.close)

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Book]:
        """Do all or nothing; with ``write`` nobody else writes meanwhile."""
        with self._turn, self._in_sentences(), self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                if self.path is not None:
                    self._check(connection)
                    if write:
                        _migrate(connection)
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
        with _connect(self.path) as connection:
            yield connection

    def _begin(self, place: Path) -> None:
        """Create an empty ledger beside its place, then link it there; refuse if one has been there."""
        if self._seen or place.with_name(f"{place.name}-wal").exists():
            raise self._failure("is gone; put it or a backup in its place")
        if place.resolve() == usual_place().resolve():
            place.parent.mkdir(parents=True, exist_ok=True)
        if not place.parent.is_dir():
            raise self._failure("cannot be created: its folder does not exist")
        made = place.with_name(f".{place.name}.{secrets.token_hex(6)}")
        try:
            made.touch(exist_ok=False)
            with _connect(made) as connection:
                if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
                    raise self._failure("cannot be kept there; choose a folder on a local disk")
                connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA application_id = {_APPLICATION}; "
                                         f"PRAGMA user_version = {_VERSION}; COMMIT;")
            with suppress(FileExistsError):  # another program created it just now
                os.link(made, place)
            _sync_folder(place.parent)
        finally:
            for name in (made.name, f"{made.name}-wal", f"{made.name}-shm"):
                made.with_name(name).unlink(missing_ok=True)

    def _check(self, connection: sqlite3.Connection) -> None:
        """Raise unless this is a sound ledger of a readable version."""
        [application], [version] = (connection.execute(f"PRAGMA {name}").fetchone()
                                    for name in ("application_id", "user_version"))
        if application != _APPLICATION:
            raise self._failure("is another kind of file; choose another place for the ledger")
        if version not in _READABLE:
            raise self._failure(f"was written by another version of mvgviz (ledger version {version}, this one reads "
                                f"up to {_VERSION}); use that version")
        for table in ("population", "release"):  # an answer has its own seal
            if connection.execute(f"PRAGMA quick_check({table})").fetchall() != [("ok",)]:
                raise sqlite3.DatabaseError

    @contextmanager
    def _in_sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:  # one without a code is ours: the content is inconsistent
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
            raise self._failure(_SENTENCES.get(code, f"failed ({error})")) from None
        except OSError as error:
            raise self._failure(f"cannot be read and written there ({error.strerror}); choose another place") from None

    def _failure(self, words: str) -> InputError:
        name = "in memory" if self.path is None else f'"{self.path.name}"'
        return InputError(f"the ledger {name} {words}; nothing was released")


@contextmanager
def _connect(place: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{place.as_uri()}?mode=rw", uri=True, timeout=PATIENCE, isolation_level=None,
                                 check_same_thread=False)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        yield connection


def _migrate(connection: sqlite3.Connection) -> None:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if version < _VERSION:
        connection.execute(_ANSWERS)
        connection.execute("ALTER TABLE population ADD COLUMN cap_pure REAL NOT NULL DEFAULT 0")
        connection.execute(f"PRAGMA user_version = {_VERSION}")


def _sync_folder(folder: Path) -> None:
    """Write the folder to the disk, if the system can, so that a power cut keeps its new file."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
