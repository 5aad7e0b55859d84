"""The database a ledger is kept in: opened for every step, checked each time, never begun anew where one was.

A transaction is on the disk before it counts as done (SQLite, write-ahead log, ``synchronous=FULL``), and writers take
turns. Whatever goes wrong ends in an InputError of one sentence, and nothing of the transaction is kept. A new file is
made beside its place and put there whole, so that no crash leaves half a ledger.
"""

import os
import platform
import secrets
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from mvgviz.errors import InputError

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


class LedgerFile:
    """The database at ``path``, begun when it is first used; in memory, and lost with this object, if None."""

    def __init__(self, path: Path | None) -> None:
        self.path = None if path is None else path.expanduser().absolute()
        self._turn, self._seen, self._memory = threading.RLock(), False, None
        if self.path is None:
            self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._memory.executescript(_SCHEMA)
            weakref.finalize(self, self._memory.close)

    def damaged(self) -> InputError:
        """What is said when the content contradicts itself."""
        return self._failure(_DAMAGED)

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """All or nothing; with ``write`` nobody else writes from the first to the last line."""
        with self._turn, self._in_sentences(), self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                if self.path is not None:
                    self._check(connection)
                    if write:
                        connection.execute(f"PRAGMA user_version = {_VERSION}")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        if self._memory is not None:
            yield self._memory
            return
        if not self._place.exists():
            self._begin()
        self._seen = True
        with closing(_connect(self._place)) as connection:
            yield connection

    @property
    def _place(self) -> Path:
        assert self.path is not None
        return self.path

    def _begin(self) -> None:
        """Make an empty ledger whole, beside its place, then put it there; refused where one has been."""
        place = self._place
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
        """Whether this is a ledger that can be read here, sound in all its pages."""
        [application], [version] = (connection.execute(f"PRAGMA {name}").fetchone()
                                    for name in ("application_id", "user_version"))
        if application != _APPLICATION:
            raise self._failure("is not a ledger but another file; choose another place for the ledger")
        if version not in _READABLE:
            raise self._failure(f"was written by another version of mvgviz (ledger version {version}, this one reads "
                                f"up to {_VERSION}); use that version")
        if connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
            raise self._failure(_DAMAGED)

    @contextmanager
    def _in_sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
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
