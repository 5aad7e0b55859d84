"""A file as it was read: its numbers, and everything that was detected on the way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mvgviz.data.names import shown
from mvgviz.errors import InputError
from mvgviz.validation import FloatArray, frozen

IntArray: TypeAlias = npt.NDArray[np.int64]

_BLOCK = 65_536  # rows looked at together, so that masks stay small


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
