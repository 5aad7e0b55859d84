"""A file as it was read: its numbers, the names of its columns, and everything that was detected on the way."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mvgviz.errors import InputError
from mvgviz.text import one_line
from mvgviz.validation import FloatArray, frozen

LONGEST_NAME = 80
_MOST_COLUMNS = 50_000  # in a file, where records may be columns; a dataset takes far fewer features
_SHOWN_NAME = 40
_LONG_NUMBER = re.compile(r"\d(?:[.,]?\d){4}")
_BLOCK = 65_536  # rows looked at together, so that masks stay small
IntArray: TypeAlias = npt.NDArray[np.int64]


def clean_name(name: str, position: int) -> str:
    """A name on one line, at most 80 characters; "column 3" for the third if there is none."""
    return one_line(name)[:LONGEST_NAME].rstrip() or f"column {position}"


def clean_names(names: Iterable[str], file_name: str) -> tuple[str, ...]:
    """Every column's name, all different."""
    cleaned = tuple(clean_name(name, position) for position, name in enumerate(names, start=1))
    check_width(len(cleaned), file_name)
    twice = [name for name, times in Counter(cleaned).items() if times > 1]
    if twice:
        quoted = listed(twice, [cleaned.index(name) + 1 for name in twice[:3]], most=3)
        raise InputError(f"{file_name} has more than one column named {quoted}: give each column a name of its own, "
                         "or say that there is no header.")
    return cleaned


def plain_names(count: int, file_name: str) -> tuple[str, ...]:
    """Names for columns that have none."""
    check_width(count, file_name)
    return tuple(f"column {position}" for position in range(1, count + 1))


def check_width(count: int, file_name: str) -> None:
    """Whether a file has no more columns than can be handled."""
    if not count <= _MOST_COLUMNS:
        raise InputError(f"{file_name} has {count} columns and at most {_MOST_COLUMNS} can be read: "
                         "keep the columns you need, or turn the table so that records are rows.")


def shown(name: str, position: int) -> str:
    """A name as a message quotes it.

    A header that was guessed may be a first row of data: what carries a long
    number is called by its position, like a column without a name.
    """
    if _LONG_NUMBER.search(name) or name == f"column {position}":
        return f"number {position}"
    return f"'{name}'" if len(name) <= _SHOWN_NAME else f"'{name[: _SHOWN_NAME - 3]}...'"


def listed(names: Sequence[str], positions: Sequence[int], most: int = 5) -> str:
    """A few names for a sentence, with the positions of their columns."""
    quoted = ", ".join(shown(name, position) for name, position in zip(names[:most], positions, strict=False))
    return quoted + (f" and {len(names) - most} more" if len(names) > most else "")


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """``values``: rows × numeric columns, NaN where missing; taken over, not copied, and read-only.

    ``format`` is csv, npy, npz, xlsx or parquet. ``separator``, ``decimal``, ``header``, ``encoding`` and ``member``
    (an array or a sheet, one of ``members``) are what was detected, or None where the format has no such thing.
    ``text_columns`` and ``empty_columns`` were set aside; ``texts``: of columns that were to be kept, a text for each
    record. ``notes``: sentences for the user.

    ``first_row`` is the row of the file (counted from 1, header included) of the first record and ``left_out`` the rows
    after it that hold no record; ``empty_rows`` of them may have been records: they have nothing in them, or look like
    comments. ``row_names``: the first column if it is text, different in each row and there are few enough rows for
    them to be features.
    """

    name: str
    format: str
    columns: tuple[str, ...]
    values: FloatArray = field(repr=False)
    text_columns: tuple[str, ...] = ()
    texts: Mapping[str, npt.NDArray[np.object_]] = field(default_factory=dict, repr=False)
    empty_columns: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    encoding: str | None = None
    member: str | None = None
    members: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    first_row: int = 1
    left_out: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    empty_rows: int = 0
    row_names: tuple[str, ...] | None = field(default=None, repr=False)
    missing: Mapping[str, int] = field(init=False)
    rows_with_missing: int = field(init=False)

    def __post_init__(self) -> None:
        frozen(self.values)
        self.left_out.setflags(write=False)
        missing = np.zeros(len(self.columns), dtype=np.int64)
        incomplete = 0
        for start in range(0, self.n_rows, _BLOCK):
            block = self.values[start : start + _BLOCK]
            if np.isinf(block).any():
                row, column = np.argwhere(np.isinf(block))[0]
                quoted = shown(self.columns[column], int(column) + 1)
                raise InputError(f"{self.name} holds an infinite value in row {self.file_row(start + int(row))}, "
                                 f"column {quoted}: replace it by a number or leave it empty.")
            gaps = np.isnan(block)
            missing += gaps.sum(axis=0)
            incomplete += int(gaps.any(axis=1).sum())
        counted = {name: int(n) for name, n in zip(self.columns, missing, strict=True) if n}
        object.__setattr__(self, "missing", counted)
        object.__setattr__(self, "rows_with_missing", incomplete)

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def is_graph(self) -> bool:
        """Whether the numbers are an adjacency matrix: square, 0/1, symmetric, zero diagonal."""
        values = self.values
        return bool(values.shape[0] == values.shape[1] >= 2 and ((values == 0) | (values == 1)).all()
                    and not values.diagonal().any() and (values == values.T).all())

    def file_row(self, index: int) -> int:
        """The row of the file that holds record ``index`` (counted from 0)."""
        return int(file_rows(np.array([index]), first_row=self.first_row, left_out=self.left_out)[0])


def file_rows(indices: IntArray, *, first_row: int, left_out: IntArray) -> IntArray:
    """Rows of the file of records, when the rows ``left_out`` (sorted) hold none."""
    rows = indices + first_row
    # the k-th gap moves every record that would have come to lie on it or after it
    return rows + np.searchsorted(left_out - np.arange(left_out.size), rows, side="right")
