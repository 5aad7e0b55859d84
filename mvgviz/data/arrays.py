"""NumPy's files. Objects inside them are never unpickled: only the header is parsed, then plain numbers."""

import io
import math
import tokenize
import warnings
import zipfile
from typing import Any

import numpy as np

from mvgviz.data.names import check_width, plain_names
from mvgviz.data.source import Source, check_declared, damaged, pieces
from mvgviz.data.table import Table
from mvgviz.errors import InputError
from mvgviz.validation import FloatArray

# What numpy's header parser lets through from ast, tokenize and dtype on a damaged header.
_HEADER_ERRORS = (ValueError, TypeError, KeyError, IndexError, SyntaxError, OverflowError, RecursionError, MemoryError,
                  tokenize.TokenError)
_PLAIN_HEADER = 10_000  # bytes: numpy's own limit
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_KINDS = {"O": "Python objects, which are never opened", "V": "records of several fields", "c": "complex numbers",
          "U": "text", "S": "text", "T": "text", "M": "dates", "m": "time spans"}


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
