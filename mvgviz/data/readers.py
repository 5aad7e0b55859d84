"""Turn any file into a :class:`Table`, or raise `InputError`.

The first bytes or the names in an archive decide what a file is, never its name. Libraries are imported when their
format is read. NumPy files are read here: a header, then plain numbers; objects are never unpickled.
"""

import io
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from mvgviz.data.table import LONGEST_NAME, Table, check_width, plain_names, table_to_dataset, texts_of
from mvgviz.errors import InputError, refuse
from mvgviz.provenance import Category, Ranges
from mvgviz.query.dataset import Dataset
from mvgviz.query.frames import is_frame
from mvgviz.text import one_line
from mvgviz.validation import FloatArray, count, one_of

Progress: TypeAlias = Callable[[float], object]
File: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
SAMPLE = 1 << 16  # bytes at the beginning of a file that show what it is
_PIECE, _MOST_MEMBERS = 1 << 18, 10_000
_USUAL = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile and zlib raise on damaged, encrypted or unusual archives.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError, KeyError)
DEFAULT_LIMIT = 200 * 2**20
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252")
_PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
_MARKUP = (b"<!doctype", b"<html", b"<?xml", b"<svg")
_JSON = (b'{"', b"{\n", b"{\r", b"[{", b"[[")

_FOREIGN = {  # beginnings that no text has, and what they mean to the user
    b"\x89PNG": "a PNG image", b"\xff\xd8\xff": "a JPEG image", b"GIF87a": "a GIF image", b"GIF89a": "a GIF image",
    b"II*\0": "a TIFF image", b"MM\0*": "a TIFF image", b"%PDF-": "a PDF document", b"{\\rtf": "an RTF document",
    b"\xd0\xcf\x11\xe0": "an Office file, old (.xls, .doc) or with a password", b"\x1f\x8b": "compressed with gzip",
    b"BZh": "compressed with bzip2", b"\xfd7zXZ": "compressed with xz", b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"7z\xbc\xaf": "a 7z archive", b"Rar!\x1a": "a RAR archive", b"\x7fELF": "a program",
    b"SQLite format 3\0": "an SQLite database", b"\x89HDF": "an HDF5 file", b"ARROW1\0": "an Arrow file",
    b"PARE": "an encrypted Parquet file", b"MATLAB 5.0": "a MATLAB file",
}
_IN_ARCHIVES = {"xl/workbook.bin": "a binary Excel workbook (.xlsb)", "word/": "a Word document",
                "ppt/": "a PowerPoint document", "content.xml": "an OpenDocument file (.ods, .odt)"}
# What numpy's header parser lets through from ast, tokenize and dtype on a damaged header.
_HEADER_ERRORS = (ValueError, TypeError, KeyError, IndexError, SyntaxError, OverflowError, RecursionError, MemoryError,
                  tokenize.TokenError)
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_KINDS = {"O": "Python objects, which are never opened", "V": "records of several fields", "c": "complex numbers",
          "U": "text", "S": "text", "T": "text", "M": "dates", "m": "time spans"}


def read_table(file: File, *, name: str | None = None, separator: str | None = None, decimal: str | None = None,
               header: bool | None = None, encoding: str | None = None, member: str | None = None,
               texts: Iterable[str] | None = (), max_bytes: int = DEFAULT_LIMIT, progress: Progress | None = None
               ) -> Table:
    """Read a path, bytes or an open binary file: CSV and its kin, .npy, .npz, .xlsx or Parquet, by its content.

    Options that are None are detected; an unclear ``header`` raises `InputError`. ``member``: an array of an .npz, a
    sheet of an .xlsx. ``texts``: columns whose text to keep (None: all that hold text from the start, up to a quarter
    of ``max_bytes``). ``progress`` is called with the share done.
    """
    _check_choices(separator, header, member)
    for what, given, known in (("decimal", decimal, (".", ",")), ("encoding", encoding, ENCODINGS)):
        if given is not None:
            one_of(what, given, known)
    refuse(isinstance(texts, str) or not isinstance(texts, Iterable | None), "texts must be a sequence of column names")
    texts = None if texts is None else tuple(texts)
    with opened(file, name=name, max_bytes=count("max_bytes", max_bytes), progress=progress) as source:
        found = format_of(source.head(SAMPLE), source.name)
        if found == "npy":
            table = _array_table(source, source.stream.read(), format="npy")
        elif found == "parquet":
            from mvgviz.data.columns import read_parquet

            table = read_parquet(source, texts=texts)
        elif found == "zip":
            with archive(source) as zipped:
                if format_of_archive(zipped.namelist(), source.name) == "npz":
                    table = read_npz(source, zipped, member)
                else:
                    from mvgviz.data.sheets import read_xlsx

                    table = read_xlsx(source, zipped, member=member, header=header, decimal=decimal, texts=texts)
        else:
            from mvgviz.data.delimited import read_delimited

            table = read_delimited(source, separator=separator, decimal=decimal, header=header, encoding=encoding,
                                   texts=texts)
        source.report(1.0)
        return table


def load_table(file: Any, *, name: str | None = None, orientation: str = "rows", columns: Iterable[str] | None = None,
               ranges: Ranges | None = None, missing: str = "reject", decimal: str | None = None,
               header: bool | None = None, levels: Mapping[str, Iterable[Any] | Category] | None = None,
               person: str | None = None, at_most: int | None = None, units: Mapping[str, str] | None = None,
               title: str = "") -> Dataset:
    """Read a file as a dataset: :func:`read_table`, then :func:`table_to_dataset`.

    A workbook gives its first sheet with content; an .npz must hold one array.
    """
    use: dict[str, Any] = {"orientation": orientation, "columns": columns, "ranges": ranges, "missing": missing,
                           "levels": levels, "person": person, "at_most": at_most, "units": units,
                           "title": title}
    if is_frame(file):
        return table_to_dataset(file, **use)
    table = read_table(file, name=name, decimal=decimal, header=header, texts=texts_of(ranges, levels, person))
    refuse(table.format == "npz" and len(table.members) > 1, f"{table.name} holds {len(table.members)} arrays: choose "
           "one with read_table(..., member=...) and table_to_dataset.")
    return table_to_dataset(table, **use)


def _check_choices(separator: str | None, header: bool | None, member: str | None) -> None:
    refuse(separator is not None and not (
        isinstance(separator, str) and len(separator) == 1 and separator.isascii()
        and (separator == "\t" or separator.isprintable()) and not (separator.isalnum() or separator in "\"+-.#_")),
        "separator must be one character such as a comma, a semicolon, a tab or a bar")
    for what, given, kind, known in (("header", header, bool, "True, False"), ("member", member, str, "a name")):
        refuse(not isinstance(given, kind | None), f"{what} must be {known} or None, got a {type(given).__name__}")


def format_of(head: bytes, name: str) -> str:
    """Return ``npy``, ``zip``, ``parquet`` or ``text``; raise `InputError` with the name of any other format."""
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if head.startswith(b"PAR1") and (b"\0" in head or not head.isascii()):
        return "parquet"
    refuse(what := _foreign(head), f"{name} is {what}, not a table: "
           "save the table as CSV, Excel (.xlsx), Parquet or .npy and choose that file.")
    return "text"


def format_of_archive(members: Sequence[str], name: str) -> str:
    """Return ``xlsx`` or ``npz``; raise `InputError` for any other archive."""
    if any(member.startswith(("xl/workbook.xml", "xl/worksheets/")) for member in members):
        return "xlsx"
    if any(member.endswith(".npy") for member in members):
        return "npz"
    for start, what in _IN_ARCHIVES.items():
        if any(member.startswith(start) for member in members):
            raise InputError(f"{name} is {what}, not a table: save the table as CSV or .xlsx and choose that file.")
    raise InputError(f"{name} is a ZIP archive, not a table: unpack it and choose the file inside.")


def _foreign(head: bytes) -> str | None:
    for signature, what in _FOREIGN.items():
        if head.startswith(signature):
            return what
    if b"\0" in head and head.startswith((b"MZ", b"BM")):
        return "a program" if head.startswith(b"MZ") else "a bitmap image"
    if head.startswith(_PICKLES) and not head.isascii():
        return "a Python pickle (these are never opened)"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:16].lower()
    if start.startswith(_MARKUP):
        return "a web page or an XML file"
    return "a JSON file" if start.startswith(_JSON) else None


@dataclass(frozen=True, kw_only=True)
class Source:
    """A seekable ``stream`` at its beginning; ``name``: for messages."""

    stream: BinaryIO
    name: str
    size: int
    max_bytes: int
    progress: Progress | None = None

    def report(self, fraction: float) -> None:
        if self.progress is not None:
            self.progress(min(max(fraction, 0.0), 1.0))

    def head(self, count: int) -> bytes:
        """Return the first bytes; the stream stays at its beginning."""
        found = self.stream.read(count)
        self.stream.seek(0)
        return found

    def most_rows(self, columns: int) -> int:
        """Return how many rows of floats memory may hold: four times the file limit."""
        return 4 * self.max_bytes // (8 * max(columns, 1))

    def check_cells(self, rows: int, columns: int) -> None:
        """Raise `InputError` for more numbers than memory may hold."""
        refuse(not rows <= self.most_rows(columns), f"{self.name} holds a table of {rows} × {columns} or more, which "
               f"is too large: numbers may take {megabytes(4 * self.max_bytes)} in memory. Keep fewer rows or columns.")


@contextmanager
def opened(file: File, *, name: str | None, max_bytes: int, progress: Progress | None) -> Iterator[Source]:
    """Yield the file as a :class:`Source`; close it if it was opened here."""
    own = file if isinstance(file, str | os.PathLike) else getattr(file, "name", "")
    shown = name or (Path(own).name if isinstance(own, str | os.PathLike) else "")
    shown = one_line(shown)[:LONGEST_NAME] or "The file"
    ours = not hasattr(file, "read")
    stream = _stream(file, shown, max_bytes)
    try:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        refuse(size == 0, f"{shown} is empty: choose a file with a table of at least two records.")
        refuse(not size <= max_bytes, f"{shown} is larger than the limit of {megabytes(max_bytes)}: keep fewer rows or "
               "columns, or raise the limit.")
        yield Source(stream=stream, name=shown, size=size, max_bytes=max_bytes, progress=progress)
    except OSError as error:
        raise InputError(f"{shown} cannot be read ({error.strerror or 'input/output error'}): try again.") from None
    finally:
        if ours:
            stream.close()


def megabytes(count: int) -> str:
    """Return a number of bytes for a sentence."""
    return f"{count / 2**20:.3g} MB" if count >= 2**20 / 10 else f"{count} bytes"


def _stream(file: Any, name: str, max_bytes: int) -> BinaryIO:
    if isinstance(file, bytes | bytearray | memoryview):
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
        refuse(not isinstance(file.read(0), bytes), f"{name} is open as text: open it in binary mode.")
        if hasattr(file, "seekable") and file.seekable():
            return file  # type: ignore[no-any-return]
        return io.BytesIO(file.read(max_bytes + 1))
    except InputError:
        raise
    except (OSError, ValueError):  # closed, or open for writing only
        raise InputError(f"{name} cannot be read: open it for reading in binary mode.") from None


@contextmanager
def archive(source: Source) -> Iterator[zipfile.ZipFile]:
    """Yield the archive after a check of its directory."""
    try:
        opened = zipfile.ZipFile(source.stream)
    except ZIP_ERRORS:
        raise damaged(source.name) from None
    with opened:
        refuse(len(opened.infolist()) > _MOST_MEMBERS,
               f"{source.name} is a ZIP archive of more than {_MOST_MEMBERS} files, not a table.")
        yield opened


def check_declared(members: list[zipfile.ZipInfo], source: Source) -> None:
    """Raise `InputError` if the declared content is unusual or above the limit."""
    if not all(member.compress_type in _USUAL for member in members):
        raise InputError(f"{source.name} uses an unusual compression: save it again, or as CSV.")
    if any(member.flag_bits & 1 for member in members):
        raise InputError(f"{source.name} is protected by a password: save it without one.")
    check_expanded(sum(member.file_size for member in members), source)


def pieces(opened: zipfile.ZipFile, member: zipfile.ZipInfo, source: Source) -> Iterator[bytes]:
    """Expand a member piece by piece, never beyond its declared size or the limit."""
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
    """Return the error for a file that does not open."""
    return InputError(f"{name} is damaged or cut short: copy or download it again, or save the table as CSV.")


def check_expanded(size: int, source: Source) -> None:
    """Raise `InputError` for bytes above the limit."""
    if not size <= source.max_bytes:
        raise InputError(f"{source.name} expands to more than the limit of {megabytes(source.max_bytes)}: "
                         "keep fewer rows or columns, or save the table as CSV.")


def read_npz(source: Source, opened: zipfile.ZipFile, member: str | None) -> Table:
    """Read one array of an .npz file: the named one, else the first matrix of numbers."""
    found = {info.filename.removesuffix(".npy"): info for info in opened.infolist() if info.filename.endswith(".npy")}
    if member is None:
        member = _first_matrix(source, opened, found)
    refuse(member not in found, f"{source.name} has no array of that name: choose one of the {len(found)} it holds.")
    check_declared([found[member]], source)
    notes = (f"The file holds {len(found)} arrays: one was read, another can be chosen.",) if len(found) > 1 else ()
    return _array_table(source, b"".join(pieces(opened, found[member], source)), notes, format="npz", member=member,
                        members=tuple(found))


def _first_matrix(source: Source, opened: zipfile.ZipFile, found: dict[str, zipfile.ZipInfo]) -> str:
    """Return the first member that is a matrix of numbers, from the headers alone."""
    if len(found) > 1:
        check_declared([info for info in found.values() if info.file_size <= source.max_bytes], source)
        for name, info in found.items():
            start = next(pieces(opened, info, source), b"")
            try:
                shape, _, dtype = _header(io.BytesIO(start), source.name)
            except InputError:
                continue
            if len(shape) == 2 and dtype.kind in "biuf":
                return name
    return next(iter(found))


def _array_table(source: Source, content: bytes, notes: tuple[str, ...] = (), **said: Any) -> Table:
    values = _numbers(content, source)
    rows, columns = values.shape
    return Table(name=source.name, values=values, header=False, columns=plain_names(columns, source.name),
                 notes=(f"Read as a NumPy array of {rows} × {columns} numbers.", *notes), **said)


def _header(stream: io.BytesIO, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read shape, order and type of an array up to its numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote, or damaged
            version = np.lib.format.read_magic(stream)
            if version != (3, 0):
                return _READERS[version](stream, max_header_size=10_000)  # numpy's own limit
    except _HEADER_ERRORS:
        raise damaged(name) from None
    # version 3 has field names beyond Latin-1: records, never plain numbers
    raise InputError(f"{name} holds {_KINDS['V']}, not a matrix of numbers: save each field as a column.")


def _numbers(content: bytes, source: Source) -> FloatArray:
    """Return the array of an .npy file, rows × columns; a vector is one column."""
    stream, name = io.BytesIO(content), source.name
    shape, fortran, dtype = _header(stream, name)
    refuse(dtype.kind not in "biuf", f"{name} holds {_KINDS.get(dtype.kind, 'something else')}, not numbers: save a "
           "matrix of plain numbers.")
    refuse(len(shape) not in (1, 2), f"{name} holds an array of {len(shape)} dimensions and a table has two: save one "
           "with rows and columns.")
    refuse(not all(side > 0 for side in shape),
           f"{name} holds an array without numbers (shape {shape}): bring at least two records.")
    size = math.prod(shape)
    if not len(content) - stream.tell() >= size * dtype.itemsize:
        raise damaged(name)
    rows, columns = (*shape, 1)[:2]
    check_width(columns, name)
    source.check_cells(rows, columns)
    flat = np.frombuffer(content, dtype=dtype, count=size, offset=stream.tell())
    matrix = flat.reshape(rows, columns, order="F" if fortran else "C")
    with np.errstate(over="ignore", invalid="ignore"):  # a long double may become infinite, which is refused later
        return np.asarray(matrix, dtype=np.float64)
