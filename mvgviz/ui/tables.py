"""The files of a session: what a person said of each, and which of them hold the same records.

A file gets a random name when it is first opened. By its bytes and its numbers it is known
again as long as the session lasts; what that takes stays in the session's memory.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from mvgviz.data import Table
from mvgviz.data.recognise import Contents, contents_of, new_key
from mvgviz.provenance import Range

_TABLES = "_tables"


@dataclass(eq=False)
class OpenFile:
    """A file as it is read and used. ``ranges``: those the person gave, or stated to know, by feature.

    ``data_name``: what the scenario calls it, once it was read. ``edits`` counts the uses that differ.
    """

    name: str
    file: UploadedFile | None = field(repr=False)
    reading: dict[str, Any] = field(default_factory=dict)
    orientation: str = "rows"
    missing: str = "middle"
    columns: list[str] | None = None
    ranges: dict[str, Range] = field(default_factory=dict, repr=False)
    data_name: str | None = None
    identified: str = field(default="", repr=False)
    features: tuple[str, ...] = ()
    used: str = field(default="", repr=False)
    edits: int = 0


@dataclass(eq=False)
class Tables:
    """All that the session knows about its files."""

    key: int = field(default_factory=new_key, repr=False)
    current: OpenFile | None = None
    _file_id: str = ""
    _files: dict[bytes, OpenFile] = field(default_factory=dict, repr=False)
    _contents: dict[str, list[Contents]] = field(default_factory=dict, repr=False)
    _names: dict[str, OpenFile] = field(default_factory=dict, repr=False)

    def open(self, chosen: UploadedFile) -> OpenFile:
        """The file just chosen; the very same bytes keep what was said of them."""
        if self.current is None or chosen.file_id != self._file_id:
            if self.current is not None:
                self.current.file = None
            digest = hashlib.blake2b(chosen.getbuffer(), key=self.key.to_bytes(8)).digest()
            self.current = self._files.setdefault(digest, OpenFile(name=chosen.name, file=chosen))
            self.current.file, self._file_id = chosen, chosen.file_id
        return self.current

    def identify(self, opened: OpenFile, table: Table, *, wanted: str | None) -> tuple[str, ...]:
        """Names the file's data, for good; the other known data that hold the same records.

        ``wanted``: the name that a link has for a file nobody has brought yet.
        """
        found = contents_of(table, self.key)
        same = [name for name, kept in self._contents.items() if any(one.matches(found) for one in kept)]
        if opened.data_name is None:
            fresh = wanted if wanted is not None and wanted not in self._contents else f"upload-{secrets.token_hex(6)}"
            opened.data_name = same[0] if same else fresh
        self._contents.setdefault(opened.data_name, []).append(found)
        self._names.setdefault(opened.data_name, opened)
        return tuple(name for name in same if name != opened.data_name)

    def others(self) -> dict[str, OpenFile]:
        """The other data of this session that were read from files, by name."""
        own = None if self.current is None else self.current.data_name
        return {name: opened for name, opened in self._names.items() if name != own}


def tables() -> Tables:
    """The session's own; lost with it."""
    if _TABLES not in st.session_state:
        st.session_state[_TABLES] = Tables()
    kept: Tables = st.session_state[_TABLES]
    return kept
