"""The files of a session: what a person said of each, which hold the same records, and the room for their tables.

A file is known again by its bytes and numbers; what that takes stays in the session's memory, as long as it lasts.
"""

import gc
import hashlib
import json
import os
import secrets
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from mvgviz.data import Table, sample, samples
from mvgviz.data.recognise import Contents, contents_of, new_key
from mvgviz.errors import InputError
from mvgviz.provenance import Range, Ranges
from mvgviz.scenario.scenario import UPLOAD
from mvgviz.scenario.study import Study
from mvgviz.text import one_line
from mvgviz.ui.streamlit_internals import let_go

_OPEN_FILES = "_open_files"


@dataclass(eq=False)
class OpenFile:
    """A file as it is read and used; ``content`` is that of the current file alone.

    ``data_name``: what the scenario calls it, random; no other file has it.
    """

    name: str
    data_name: str
    content: bytes | None = field(repr=False)
    reading: dict[str, Any] = field(default_factory=dict)
    orientation: str = "rows"
    missing: str = "middle"
    features: tuple[str, ...] = ()
    read_as: str = field(default="", repr=False)
    used: str = field(default="", repr=False)
    edits: int = 0
    study: Study | None = field(default=None, repr=False)  # that its reading was last taken from
    _said: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    @property
    def said(self) -> dict[str, Any]:
        """What the person said of the table as it is read now: ``columns`` to use (None: all), ``ranges``.

        ``proposed``: ends of ranges by feature that came with a file or a study, which do not say that they are known.
        """
        return self._said.setdefault(self.read_as, {"columns": None, "ranges": {}, "proposed": {}})

    @property
    def ranges(self) -> dict[str, Range]:
        """Those that the person gave or stated to know, by feature."""
        return self.said["ranges"]  # type: ignore[no-any-return]

    @property
    def proposed(self) -> dict[str, tuple[float, ...]]:
        """Ends that data proposed, this file's or another's, beside what is proposed now."""
        return self.said["proposed"]  # type: ignore[no-any-return]

    def take_ranges(self, given: Ranges) -> None:
        """Ranges from a file or a study, with their origins."""
        for name, span in ((name, Range(*ends)) for name, ends in given.items()):
            self.ranges[name] = span
            if not span.origin.is_covered:
                self.proposed[name] = (*self.proposed.get(name, ()), span.low, span.high)


@dataclass(eq=False)
class OpenFiles:
    """All that the session knows about its files."""

    key: bytes = field(default_factory=new_key, repr=False)
    current: OpenFile | None = None
    _file_id: str = ""
    _files: dict[bytes, OpenFile] = field(default_factory=dict, repr=False)
    _contents: dict[str, list[Contents]] = field(default_factory=dict, repr=False)

    def open(self, file_id: str, name: str, content: bytes, *, wanted: str | None) -> OpenFile:
        """The file just chosen; the same bytes keep what was said of them. ``wanted``: a link's name for a new file."""
        if self.current is None or file_id != self._file_id:
            if self.current is not None:
                self.current.content = None
            digest = hashlib.blake2b(content, key=self.key).digest()
            known = self._files.get(digest)
            if known is None:
                taken = {file.data_name for file in self._files.values()}
                data_name = wanted if wanted and wanted not in taken else f"{UPLOAD}{secrets.token_hex(6)}"
                known = self._files[digest] = OpenFile(name=one_line(name), data_name=data_name, content=content)
            self.current, self._file_id = known, file_id
            known.content = content
        return self.current

    def read(self, opened: OpenFile, table: Table) -> tuple[str, ...]:
        """Take note of how a file is read now; the names of other known data that hold the same records."""
        read_as = json.dumps([opened.orientation, table.format, table.member, table.header, table.separator,
                              table.decimal, table.columns, table.n_rows])
        if read_as == opened.read_as:
            return ()
        opened.read_as, opened.features = read_as, table.columns
        found = contents_of(table.values if opened.orientation == "rows" else table.values.T, self.key)
        if not self._contents:
            self._contents = {name: [contents_of(sample(name).matrix.T, self.key)] for name in samples()}
        same = [name for name, kept in self._contents.items()
                if name != opened.data_name and any(contents.matches(found) for contents in kept)]
        self._contents.setdefault(opened.data_name, []).append(found)
        return tuple(same)

    def others(self) -> dict[str, OpenFile]:
        """The other files of this session, by the name of their data."""
        return {file.data_name: file for file in self._files.values() if file is not self.current and file.features}


def open_files() -> OpenFiles:
    """The session's own; lost with it."""
    return st.session_state.setdefault(_OPEN_FILES, OpenFiles())  # type: ignore[no-any-return]


ENVIRONMENT, USUAL = "MVGVIZ_TABLES_MB", 2_000.0
_HELD: "weakref.WeakSet[Table]" = weakref.WeakSet()
"""Tables that some session still has: one that left takes its own along."""


def check_room(size: int, forget: Callable[[], object] = bool) -> None:
    """Refuse a file of so many bytes where the server has no room for it; ``forget`` lets go of one's own tables."""
    try:
        most = 1e6 * float(os.environ.get(ENVIRONMENT, USUAL))
    except ValueError:
        most = 1e6 * USUAL
    if held() + size <= most:
        return
    forget()
    let_go()
    gc.collect()  # what nobody has any more may not be gone yet
    if held() + size > most:
        raise InputError(f"this server has no room for a file of {size / 1e6:,.0f} MB now: the tables of all visitors "
                         f"together may take {most / 1e6:,.0f} MB; try again later, or open mvgviz on your computer")


def keep_count(table: Table) -> Table:
    """Count the table as long as it is there, and return it."""
    _HELD.add(table)
    return table


def held() -> int:
    """Bytes of all tables that are there."""
    return sum(table.values.nbytes for table in list(_HELD))
