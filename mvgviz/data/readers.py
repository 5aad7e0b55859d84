"""The way in: any file that a user brings becomes a :class:`Table` or an ``InputError``.

What a file is, its first bytes or the names in its archive decide, never the file's name. The libraries that a format
needs are imported when a file of that format is read.

>>> table = read_table(b"x;y\\n1,5;2\\n2,5;3\\n")
>>> table.separator, table.decimal, table.header, table.columns
(';', ',', True, ('x', 'y'))
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mvgviz.data.arrays import read_npy, read_npz
from mvgviz.data.conversion import table_to_dataset, texts_of
from mvgviz.data.source import SAMPLE, File, Progress, archive, opened
from mvgviz.data.table import Table
from mvgviz.errors import InputError
from mvgviz.provenance import Ranges
from mvgviz.query.dataset import Dataset
from mvgviz.query.frames import is_frame
from mvgviz.validation import count, one_of

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


def read_table(file: File, *, name: str | None = None, separator: str | None = None, decimal: str | None = None,
               header: bool | None = None, encoding: str | None = None, member: str | None = None,
               texts: Iterable[str] = (), max_bytes: int = DEFAULT_LIMIT, progress: Progress | None = None) -> Table:
    """Read a path, bytes or an open binary file: CSV and its kin, .npy, .npz, .xlsx or Parquet.

    The content decides the format. What is None is detected; what is given is taken as said where the format has such a
    thing (``member``: an array of an .npz, a sheet of an .xlsx). ``texts``: columns of categories, dates or persons,
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
               levels: Mapping[str, Iterable[Any]] | None = None, person: str | None = None,
               at_most: int | None = None) -> Dataset:
    """Read a file and make a dataset of it: :func:`read_table`, then :func:`table_to_dataset`.

    Of a workbook the first sheet that holds anything is taken. An .npz must hold
    one array: nothing here could tell which one was taken. A data frame with its records in rows is taken as it is.
    """
    use: dict[str, Any] = {"orientation": orientation, "columns": columns, "ranges": ranges, "missing": missing,
                           "levels": levels, "person": person, "at_most": at_most}
    if is_frame(file):
        return table_to_dataset(file, **use)
    table = read_table(file, name=name, decimal=decimal, texts=texts_of(ranges, levels, person))
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
