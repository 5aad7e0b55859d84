"""ZIP archives (.npz, .xlsx) that nobody vouches for.

The sizes that an archive declares are summed before anything is expanded; each member is then
expanded in small pieces that are counted, never more than the limit.
"""

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
# What zipfile and zlib raise on damaged, encrypted or unusual archives.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError, KeyError)


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
    _check_expanded(sum(member.file_size for member in members), source)


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
    _check_expanded(expanded, source)
    if expanded != member.file_size:
        raise damaged(source.name)


def damaged(name: str) -> InputError:
    """What to say of an archive that does not open."""
    return InputError(f"{name} is damaged or cut short: copy or download it again, or save the table as CSV.")


def _check_expanded(size: int, source: Source) -> None:
    if not size <= source.max_bytes:
        raise InputError(f"{source.name} expands to more than the limit of {megabytes(source.max_bytes)}: "
                         "keep fewer rows or columns, or save the table as CSV.")
