"""The files of a session, recognised in its memory only: what a person said of each, and room for their tables."""

import gc
import hashlib
import json
import os
import secrets
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import streamlit as st

from mvgviz.data import Table, sample, samples
from mvgviz.data.recognise import Contents, contents_of, new_key
from mvgviz.errors import refuse
from mvgviz.provenance import Category, Origin, Range, Ranges, weakest
from mvgviz.scenario.scenario import UPLOAD
from mvgviz.scenario.source import MOST_TITLE
from mvgviz.scenario.study import Study
from mvgviz.text import one_line
from mvgviz.ui.streamlit_internals import let_go


@dataclass(eq=False)
class Said:
    """What the person said of a table as it is read now: which columns, whose rows, and by column."""

    columns: Any = None  # the list of those in use; None: as suggested
    person: str = ""  # the column that says whose row it is; empty: each is a person's
    at_most: int = 1  # rows of each person
    seen: int = 0  # the form's last message
    ranges: dict[str, Range] = field(default_factory=dict)
    proposed: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # ends that the data gave
    typed: dict[str, set[tuple[str, Any]]] = field(default_factory=dict)  # cells and ends that the person typed
    half: dict[str, tuple[str, str]] = field(default_factory=dict)  # the two cells of incomplete ranges
    kinds: dict[str, str] = field(default_factory=dict)
    levels: dict[str, Category] = field(default_factory=dict)
    read_levels: dict[str, set[str]] = field(default_factory=dict)  # that the data gave
    units: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class OpenFile:
    """A file as it is read and used."""

    name: str
    data_name: str  # what the scenario calls it, random; no other file has it
    content: bytes | None = field(repr=False)  # of the current file alone
    reading: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    orientation: str = "rows"
    missing: str = "middle"
    features: tuple[str, ...] = ()
    read_as: str = field(default="", repr=False)
    used: str = field(default="", repr=False)
    edits: int = 0
    looked: bool = False  # whether the person saw results on it: what is said of it from then on is the data's
    study: Study | None = field(default=None, repr=False)  # that its reading was last taken from
    _said: dict[str, Said] = field(default_factory=dict, repr=False)

    @property
    def said(self) -> Said:
        return self._said.setdefault(self.read_as, Said())

    @property
    def stated(self) -> Origin:
        """The origin of what the person says now."""
        return Origin.ACCEPTED if self.looked else Origin.DECLARED

    def take_ranges(self, given: Ranges) -> None:
        """Ranges from a file or a study, with their origins; those that come after a look are accepted at best."""
        for name, ends in given.items():
            span = Range(*ends)
            self.let_go(name)
            self.said.ranges[name] = span._replace(origin=weakest([span.origin, self.stated]))
            self._note_ends(name)

    def let_go(self, name: str) -> None:
        """Forget a range; ends that the data gave are known again unless they are typed."""
        self._note_ends(name)
        self.said.half.pop(name, None)
        self.said.ranges.pop(name, None)

    def _note_ends(self, name: str) -> None:
        span, proposed = self.said.ranges.get(name), self.said.proposed
        if span is not None and not span.origin.is_covered:
            proposed[name] = (*proposed.get(name, ()), span.low, span.high)


@dataclass(eq=False)
class OpenFiles:
    """All that the session knows about its files."""

    key: bytes = field(default_factory=new_key, repr=False)
    current: OpenFile | None = None
    _file_id: str = ""
    _files: dict[bytes, OpenFile] = field(default_factory=dict, repr=False)
    _contents: dict[str, list[Contents]] = field(default_factory=dict, repr=False)

    def open(self, file_id: str, name: str, content: bytes, *, wanted: str | None) -> OpenFile:
        """Return the chosen file; the same bytes keep what was said of them. ``wanted``: a link's name for new data."""
        if self.current is None or file_id != self._file_id:
            if self.current is not None:
                self.current.content = None
            digest = hashlib.blake2b(content, key=self.key).digest()
            known = self._files.get(digest)
            if known is None:
                if not wanted or wanted in {file.data_name for file in self._files.values()}:
                    wanted = f"{UPLOAD}{secrets.token_hex(6)}"
                known = self._files[digest] = OpenFile(
                    one_line(name), wanted, content, title=PurePath(one_line(name)).stem[:MOST_TITLE])
            self.current, self._file_id = known, file_id
            known.content = content
        return self.current

    def read(self, opened: OpenFile, table: Table) -> tuple[str, ...]:
        """Note how a file is read now; return the names of other known data that hold the same records."""
        read_as = json.dumps([opened.orientation, table.format, table.member, table.header, table.separator,
                              table.decimal, table.columns, table.n_rows])
        if read_as == opened.read_as:
            return ()
        opened.read_as, opened.features = read_as, table.columns
        by_rows = opened.orientation == "rows"
        found = contents_of(table.values if by_rows else table.values.T, self.key,
                            table.texts.values() if by_rows else ())
        if not self._contents:
            self._contents = {name: [contents_of(sample(name).matrix.T, self.key)] for name in samples()}
        same = [name for name, kept in self._contents.items()
                if name != opened.data_name and any(contents.matches(found) for contents in kept)]
        self._contents.setdefault(opened.data_name, []).append(found)
        return tuple(same)

    def others(self) -> dict[str, OpenFile]:
        return {file.data_name: file for file in self._files.values() if file is not self.current and file.features}


def open_files() -> OpenFiles:
    """Return the session's files."""
    return st.session_state.setdefault("_open_files", OpenFiles())  # type: ignore[no-any-return]


ENVIRONMENT, USUAL = "MVGVIZ_TABLES_MB", 2_000.0
_HELD: "weakref.WeakSet[Table]" = weakref.WeakSet()  # tables that a session still has


def check_room(size: int, forget: Callable[[], object] = bool) -> None:
    """Raise `InputError` where the server has no room for so many bytes; ``forget`` drops the session's tables."""
    try:
        most = 1e6 * float(os.environ.get(ENVIRONMENT, USUAL))
    except ValueError:
        most = 1e6 * USUAL
    if held() + size > most:
        forget()
        let_go()
        gc.collect()  # what nobody has any more may not be gone yet
        refuse(held() + size > most, f"this server has no room for a file of {size / 1e6:,.0f} MB now: all visitors "
               f"share {most / 1e6:,.0f} MB. Try again later, or run mvgviz on your computer")


def keep_count(table: Table) -> Table:
    """Count the table as long as it exists, and return it."""
    _HELD.add(table)
    return table


def held() -> int:
    """Return the bytes of all tables in memory."""
    return sum(map(size_of, list(_HELD)))


def size_of(table: Table) -> int:
    """Return a table's bytes; each text counts as short."""
    return table.values.nbytes + 16 * sum(cells.size for cells in table.texts.values())
