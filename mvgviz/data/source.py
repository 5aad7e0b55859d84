"""Files that nobody vouches for: streams whose real size is known and within the limit, ZIP archives (.npz, .xlsx).

The sizes that an archive declares are summed before anything is expanded; each member is then expanded in small pieces
that are counted, never more than the limit.
"""

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from mvgviz.data.table import LONGEST_NAME
from mvgviz.errors import InputError
from mvgviz.text import one_line

Progress: TypeAlias = Callable[[float], object]
File: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
SAMPLE = 1 << 16
"""Bytes at the beginning of a file that tell what it is."""
_PIECE, _MOST_MEMBERS = 1 << 18, 10_000
_USUAL = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile and zlib raise on damaged, encrypted or unusual archives.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError, KeyError)


@dataclass(frozen=True, kw_only=True)
class Source:
    """``stream`` stands at its beginning and can be sought; ``name`` is for messages."""

    stream: BinaryIO
    name: str
    size: int
    max_bytes: int
    progress: Progress | None = None

    def report(self, fraction: float) -> None:
        """Tell whoever waits how far the reading is."""
        if self.progress is not None:
            self.progress(min(max(fraction, 0.0), 1.0))

    def head(self, count: int) -> bytes:
        """The first bytes; the stream stays at its beginning."""
        found = self.stream.read(count)
        self.stream.seek(0)
        return found

    def most_rows(self, columns: int) -> int:
        """How many rows of numbers may be held in memory: four times the file limit, as floats."""
        return 4 * self.max_bytes // (8 * max(columns, 1))

    def check_cells(self, rows: int, columns: int) -> None:
        """Whether so many numbers may be held in memory."""
        if not rows <= self.most_rows(columns):
            most = megabytes(4 * self.max_bytes)
            raise InputError(f"{self.name} holds a table of {rows} × {columns} or more, which is too large: numbers "
                             f"may take {most} in memory. Keep fewer rows or columns.")


@contextmanager
def opened(file: File, *, name: str | None, max_bytes: int, progress: Progress | None) -> Iterator[Source]:
    """The file as a :class:`Source`; what was opened here is closed here."""
    shown = one_line(name or _own_name(file))[:LONGEST_NAME] or "The file"
    ours = not hasattr(file, "read")
    stream = _stream(file, shown, max_bytes)
    try:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        _check_size(size, shown, max_bytes)
        yield Source(stream=stream, name=shown, size=size, max_bytes=max_bytes, progress=progress)
    except OSError as error:
        raise InputError(f"{shown} cannot be read ({error.strerror or 'input/output error'}): try again.") from None
    finally:
        if ours:
            stream.close()


def megabytes(count: int) -> str:
    """A number of bytes for a sentence."""
    return f"{count / 2**20:.3g} MB" if count >= 2**20 / 10 else f"{count} bytes"


def _own_name(file: Any) -> str:
    own = file if isinstance(file, str | os.PathLike) else getattr(file, "name", "")
    return Path(own).name if isinstance(own, str | os.PathLike) else ""


def _stream(file: Any, name: str, max_bytes: int) -> BinaryIO:
    if isinstance(file, bytes | bytearray | memoryview):
        _check_size(memoryview(file).nbytes, name, max_bytes)
        return io.BytesIO(file)
    if isinstance(file, str | os.PathLike):
        try:
            return Path(file).open("rb")
        except OSError as error:
            raise InputError(f"{name} cannot be opened: {error.strerror or 'input/output error'}.") from None
        except ValueError:  # a NUL in the path
            raise InputError(f"{name} cannot be opened: this is not a file name.") from None
    if not callable(getattr(file, "read", None)):
        raise InputError(f"file must be a path, bytes or an open binary file, got a {type(file).__name__}")
    try:
        if not isinstance(file.read(0), bytes):
            raise InputError(f"{name} is open as text: open it in binary mode.")
        if hasattr(file, "seekable") and file.seekable():
            return file  # type: ignore[no-any-return]
        return io.BytesIO(file.read(max_bytes + 1))
    except InputError:
        raise
    except (OSError, ValueError):  # closed, or open for writing only
        raise InputError(f"{name} cannot be read: open it for reading in binary mode.") from None


def _check_size(size: int, name: str, max_bytes: int) -> None:
    if size == 0:
        raise InputError(f"{name} is empty: choose a file with a table of at least two records.")
    if not size <= max_bytes:
        raise InputError(f"{name} is larger than the limit of {megabytes(max_bytes)}: keep fewer rows or columns, "
                         "or raise the limit.")


@contextmanager
def archive(source: Source) -> Iterator[zipfile.ZipFile]:
    """The archive, its directory read and found sane."""
    try:
        opened = zipfile.ZipFile(source.stream)
    except ZIP_ERRORS:
        raise damaged(source.name) from None
    with opened:
        if len(opened.infolist()) > _MOST_MEMBERS:
            raise InputError(f"{source.name} is a ZIP archive of more than {_MOST_MEMBERS} files, not a table.")
        yield opened


def check_declared(members: list[zipfile.ZipInfo], source: Source) -> None:
    """Whether what the archive says it holds stays below the limit."""
    if not all(member.compress_type in _USUAL for member in members):
        raise InputError(f"{source.name} uses an unusual compression: save it again, or as CSV.")
    if any(member.flag_bits & 1 for member in members):
        raise InputError(f"{source.name} is protected by a password: save it without one.")
    check_expanded(sum(member.file_size for member in members), source)


def pieces(opened: zipfile.ZipFile, member: zipfile.ZipInfo, source: Source) -> Iterator[bytes]:
    """A member, expanded piece by piece; never more than it declared or than the limit."""
    expanded = 0
    try:
        with opened.open(member) as stream:
            while piece := stream.read(_PIECE):
                expanded += len(piece)
                if not expanded <= min(member.file_size, source.max_bytes):
                    break
                yield piece
    except ZIP_ERRORS:
        raise damaged(source.name) from None
    check_expanded(expanded, source)
    if expanded != member.file_size:
        raise damaged(source.name)


def damaged(name: str) -> InputError:
    """What to say of an archive that does not open."""
    return InputError(f"{name} is damaged or cut short: copy or download it again, or save the table as CSV.")


def check_expanded(size: int, source: Source) -> None:
    """Whether so many bytes stay below the limit."""
    if not size <= source.max_bytes:
        raise InputError(f"{source.name} expands to more than the limit of {megabytes(source.max_bytes)}: "
                         "keep fewer rows or columns, or save the table as CSV.")
