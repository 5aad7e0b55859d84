"""The way in: any file that a user brings becomes a :class:`Table` or an ``InputError``.

>>> table = read_table(b"x;y\\n1,5;2\\n2,5;3\\n")
>>> table.separator, table.decimal, table.header, table.columns
(';', ',', True, ('x', 'y'))
"""

from collections.abc import Iterable

from mvgviz.data.archive import archive
from mvgviz.data.arrays import read_npy, read_npz
from mvgviz.data.conversion import table_to_dataset
from mvgviz.data.delimited import SAMPLE, read_delimited
from mvgviz.data.formats import format_of, format_of_archive
from mvgviz.data.parquet import read_parquet
from mvgviz.data.sheets import read_xlsx
from mvgviz.data.source import File, Progress, opened
from mvgviz.data.table import Table
from mvgviz.errors import InputError
from mvgviz.provenance import Ranges
from mvgviz.query.dataset import Dataset
from mvgviz.validation import count, one_of

DEFAULT_LIMIT = 200 * 2**20
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252")


def read_table(file: File, *, name: str | None = None, separator: str | None = None, decimal: str | None = None,
               header: bool | None = None, encoding: str | None = None, member: str | None = None,
               max_bytes: int = DEFAULT_LIMIT, progress: Progress | None = None) -> Table:
    """Read a path, bytes or an open binary file: CSV and its kin, .npy, .npz, .xlsx or Parquet.

    The content decides the format. What is None is detected; what is given is
    taken as said where the format has such a thing (``member``: an array of an
    .npz, a sheet of an .xlsx). ``progress`` is called with fractions from 0 to 1.
    """
    _check_choices(separator, decimal, header, encoding, member)
    with opened(file, name=name, max_bytes=count("max_bytes", max_bytes), progress=progress) as source:
        found = format_of(source.head(SAMPLE), source.name)
        if found == "npy":
            table = read_npy(source)
        elif found == "parquet":
            table = read_parquet(source)
        elif found == "zip":
            with archive(source) as zipped:
                if format_of_archive(zipped.namelist(), source.name) == "npz":
                    table = read_npz(source, zipped, member)
                else:
                    table = read_xlsx(source, zipped, member=member, header=header, decimal=decimal)
        else:
            table = read_delimited(source, separator=separator, decimal=decimal, header=header, encoding=encoding)
        source.report(1.0)
        return table


def load_table(file: File, *, name: str | None = None, orientation: str = "rows",
               columns: Iterable[str] | None = None, ranges: Ranges | None = None,
               missing: str = "reject", decimal: str | None = None) -> Dataset:
    """Read a file and make a dataset of it: :func:`read_table`, then :func:`table_to_dataset`.

    Of a workbook the first sheet that holds anything is taken. An .npz must hold
    one array: nothing here could tell which one was taken.
    """
    table = read_table(file, name=name, decimal=decimal)
    if table.format == "npz" and len(table.members) > 1:
        raise InputError(f"{table.name} holds {len(table.members)} arrays: choose one with "
                         "read_table(..., member=...) and table_to_dataset.")
    return table_to_dataset(table, orientation=orientation, columns=columns, ranges=ranges, missing=missing)


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
