"""The way in: any file that a user brings becomes a :class:`Table` or an ``InputError``.

What a file is, its first bytes or the names in its archive decide, never the file's name. The libraries that a format
needs are imported when a file of that format is read; NumPy's own are read here: only the header is parsed, then plain
numbers, and objects inside them are never unpickled.

>>> table = read_table(b"x;y\\n1,5;2\\n2,5;3\\n")
>>> table.separator, table.decimal, table.header, table.columns
(';', ',', True, ('x', 'y'))
"""

import io
import math
import tokenize
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mvgviz.data.conversion import table_to_dataset, texts_of
from mvgviz.data.source import SAMPLE, File, Progress, Source, archive, check_declared, damaged, opened, pieces
from mvgviz.data.table import Table, check_width, plain_names
from mvgviz.errors import InputError
from mvgviz.provenance import Ranges
from mvgviz.query.dataset import Dataset
from mvgviz.query.frames import is_frame
from mvgviz.validation import FloatArray, count, one_of

DEFAULT_LIMIT = 200 * 2**20
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252")
_PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
_MARKUP = (b"<!doctype", b"<html", b"<?xml", b"<svg")
_JSON = (b'{"', b"{\n", b"{\r", b"[{", b"[[")

_FOREIGN = {  # beginnings that no text has, and what they mean to the user
    b"\x89PNG": "a PNG image", b"\xff\xd8\xff": "a JPEG image", b"GIF87a": "a GIF image", b"GIF89a": "a GIF image",
    b"II*\0": "a TIFF image", b"MM\0*": "a TIFF image", b"%PDF-": "a PDF document", b"{\\rtf": "an RTF document",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file (.xls, .doc)", b"\x1f\x8b": "compressed with gzip",
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
_PLAIN_HEADER = 10_000  # bytes: numpy's own limit
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_KINDS = {"O": "Python objects, which are never opened", "V": "records of several fields", "c": "complex numbers",
          "U": "text", "S": "text", "T": "text", "M": "dates", "m": "time spans"}


def read_table(file: File, *, name: str | None = None, separator: str | None = None, decimal: str | None = None,
               header: bool | None = None, encoding: str | None = None, member: str | None = None,
               texts: Iterable[str] = (), max_bytes: int = DEFAULT_LIMIT, progress: Progress | None = None) -> Table:
    """Read a path, bytes or an open binary file: CSV and its kin, .npy, .npz, .xlsx or Parquet.

    The content decides the format. What is None is detected; what is given is taken as said where the format has such a
    thing (``header``: whether the first row holds names, refused where that is unclear; ``member``: an array of an
    .npz, a sheet of an .xlsx). ``texts``: columns of categories, dates or persons,
    whose text is kept beside the numbers. ``progress`` is called with fractions from 0 to 1.
    """
    _check_choices(separator, decimal, header, encoding, member)
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise InputError("texts must be a sequence of column names")
    texts = tuple(texts)
    with opened(file, name=name, max_bytes=count("max_bytes", max_bytes), progress=progress) as source:
        found = format_of(source.head(SAMPLE), source.name)
        if found == "npy":
            table = read_npy(source)
        elif found == "parquet":
            from mvgviz.data.parquet import read_parquet

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
               header: bool | None = None, levels: Mapping[str, Iterable[Any]] | None = None, person: str | None = None,
               at_most: int | None = None) -> Dataset:
    """Read a file and make a dataset of it: :func:`read_table`, then :func:`table_to_dataset`.

    Of a workbook the first sheet that holds anything is taken. An .npz must hold
    one array: nothing here could tell which one was taken. A data frame with its records in rows is taken as it is.
    """
    use: dict[str, Any] = {"orientation": orientation, "columns": columns, "ranges": ranges, "missing": missing,
                           "levels": levels, "person": person, "at_most": at_most}
    if is_frame(file):
        return table_to_dataset(file, **use)
    table = read_table(file, name=name, decimal=decimal, header=header, texts=texts_of(ranges, levels, person))
    if table.format == "npz" and len(table.members) > 1:
        raise InputError(f"{table.name} holds {len(table.members)} arrays: choose one with "
                         "read_table(..., member=...) and table_to_dataset.")
    return table_to_dataset(table, **use)


def _check_choices(separator: str | None, decimal: str | None, header: bool | None, encoding: str | None,
                   member: str | None) -> None:
    if separator is not None and not (
        isinstance(separator, str) and len(separator) == 1 and separator.isascii()
        and (separator == "\t" or separator.isprintable()) and not (separator.isalnum() or separator in "\"+-.#_")
    ):
        raise InputError("separator must be one character such as a comma, a semicolon, a tab or a bar")
    if decimal is not None:
        one_of("decimal", decimal, (".", ","))
    if encoding is not None:
        one_of("encoding", encoding, ENCODINGS)
    if not (header is None or isinstance(header, bool)):
        raise InputError(f"header must be True, False or None, got a {type(header).__name__}")
    if not (member is None or isinstance(member, str)):
        raise InputError(f"member must be a name or None, got a {type(member).__name__}")


def format_of(head: bytes, name: str) -> str:
    """``npy``, ``zip``, ``parquet`` or ``text``; anything else is refused by its own name."""
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if head.startswith(b"PAR1") and (b"\0" in head or not head.isascii()):
        return "parquet"
    if what := _foreign(head):
        raise InputError(f"{name} is {what}, not a table: "
                         "save the table as CSV, Excel (.xlsx), Parquet or .npy and choose that file.")
    return "text"


def format_of_archive(members: Sequence[str], name: str) -> str:
    """``xlsx`` or ``npz``; any other archive is refused."""
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


def read_npy(source: Source) -> Table:
    """An .npy file as a table."""
    return _table(source, source.stream.read(), format="npy")


def read_npz(source: Source, opened: zipfile.ZipFile, member: str | None) -> Table:
    """One array of an .npz file: the one asked for, else the first matrix of numbers."""
    found = {info.filename.removesuffix(".npy"): info for info in opened.infolist() if info.filename.endswith(".npy")}
    if member is None:
        member = _first_matrix(source, opened, found)
    if member not in found:
        raise InputError(f"{source.name} has no array of that name: choose one of the {len(found)} it holds.")
    check_declared([found[member]], source)
    notes = (f"The file holds {len(found)} arrays: one was read, another can be chosen.",) if len(found) > 1 else ()
    return _table(source, b"".join(pieces(opened, found[member], source)), notes, format="npz", member=member,
                  members=tuple(found))


def _first_matrix(source: Source, opened: zipfile.ZipFile, found: dict[str, zipfile.ZipInfo]) -> str:
    """The first member with two dimensions and numbers, from the headers alone."""
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


def _table(source: Source, content: bytes, notes: tuple[str, ...] = (), **said: Any) -> Table:
    values = _numbers(content, source)
    rows, columns = values.shape
    return Table(name=source.name, values=values, header=False, columns=plain_names(columns, source.name),
                 notes=(f"Read as a NumPy array of {rows} × {columns} numbers.", *notes), **said)


def _header(stream: io.BytesIO, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array; the stream then stands at its numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote, or damaged
            version = np.lib.format.read_magic(stream)
            if version != (3, 0):
                return _READERS[version](stream, max_header_size=_PLAIN_HEADER)
    except _HEADER_ERRORS:
        raise damaged(name) from None
    # version 3 has field names beyond Latin-1: records, never plain numbers
    raise InputError(f"{name} holds {_KINDS['V']}, not a matrix of numbers: save each field as a column.")


def _numbers(content: bytes, source: Source) -> FloatArray:
    """The array of an .npy file: rows × columns; a vector is one column."""
    stream, name = io.BytesIO(content), source.name
    shape, fortran, dtype = _header(stream, name)
    if dtype.kind not in "biuf":
        what = _KINDS.get(dtype.kind, "something else")
        raise InputError(f"{name} holds {what}, not numbers: save a matrix of plain numbers.")
    if len(shape) not in (1, 2):
        raise InputError(f"{name} holds an array of {len(shape)} dimensions and a table has two: "
                         "save one with rows and columns.")
    if not all(side > 0 for side in shape):
        raise InputError(f"{name} holds an array without numbers (shape {shape}): at least two records are needed.")
    size = math.prod(shape)
    if not len(content) - stream.tell() >= size * dtype.itemsize:
        raise damaged(name)
    rows, columns = (*shape, 1)[:2]
    check_width(columns, name)
    source.check_cells(rows, columns)
    flat = np.frombuffer(content, dtype=dtype, count=size, offset=stream.tell())
    matrix = flat.reshape(rows, columns, order="F" if fortran else "C")
    with np.errstate(over="ignore", invalid="ignore"):  # a long double beyond a float is infinite: refused later
        return np.asarray(matrix, dtype=np.float64)
