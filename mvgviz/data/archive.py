"""ZIP archives that nobody vouches for: looked at before anything is expanded.

An .npz and an .xlsx are ZIP archives. Here the sizes that the archive declares
are summed first, and each member is then expanded in small pieces that are
counted, never more than the limit.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from mvgviz.data.source import Source, megabytes
from mvgviz.errors import InputError

_PIECE = 1 << 18
_MOST_MEMBERS = 10_000
_USUAL = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FOUND_IN = (
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb)"),
    ("word/", "a Word document"),
    ("ppt/", "a PowerPoint document"),
    ("content.xml", "an OpenDocument file (.ods, .odt)"),
)

# What zipfile and zlib raise on damaged, encrypted or unusual archives.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError,
              KeyError)


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


def format_of_archive(names: list[str], file_name: str) -> str:
    """``xlsx`` or ``npz``; any other archive is refused."""
    if any(name.startswith("xl/workbook.xml") or name.startswith("xl/worksheets/") for name in names):
        return "xlsx"
    if any(name.endswith(".npy") for name in names):
        return "npz"
    what = next((what for start, what in _FOUND_IN if any(name.startswith(start) for name in names)), None)
    if what:
        raise InputError(f"{file_name} is {what}, not a table: save the table as CSV or .xlsx and choose that file.")
    raise InputError(f"{file_name} is a ZIP archive, not a table: unpack it and choose the file inside.")


def check_declared(members: list[zipfile.ZipInfo], source: Source) -> None:
    """Whether what the archive says it holds stays below the limit."""
    if not all(member.compress_type in _USUAL for member in members):
        raise InputError(f"{source.name} uses an unusual compression: save it again, or as CSV.")
    if any(member.flag_bits & 1 for member in members):
        raise InputError(f"{source.name} is protected by a password: save it without one.")
    if not sum(member.file_size for member in members) <= source.max_bytes:
        raise _expands(source)


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
    if not expanded <= source.max_bytes:
        raise _expands(source)
    if expanded != member.file_size:
        raise damaged(source.name)


def damaged(name: str) -> InputError:
    """What to say of an archive that does not open."""
    return InputError(f"{name} is damaged or cut short: copy or download it again, or save the table as CSV.")


def _expands(source: Source) -> InputError:
    return InputError(
        f"{source.name} expands to more than the limit of {megabytes(source.max_bytes)}: "
        "keep fewer rows or columns, or save the table as CSV."
    )
