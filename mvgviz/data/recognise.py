"""Whether two tables hold the same people, told by their numbers: for a session's memory alone.

A table is known again in another format, with a blank line more, with other columns left out
or beside it, with its records in another order, or turned on its side. Two tables are the
same when a column that tells records apart stands in both. What is kept of a table follows
from its values, so it must never leave the memory of the session; a key drawn afresh makes it
worthless elsewhere.

>>> from mvgviz.data import read_table
>>> key = new_key()
>>> one = contents_of(read_table(b"age,dose\\n31,0.5\\n58,2.5\\n40,1\\n"), key)
>>> one.matches(contents_of(read_table(b"dose;visit\\n0,5;1\\n1;2\\n2,5;3\\n\\n"), key))
True
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mvgviz.data.table import Table
from mvgviz.validation import FloatArray

_MOST_ROWS = 2_000  # as features: no more than a dataset may have
_BLOCK = 65_536

Words = npt.NDArray[np.uint64]
Line = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The columns of a table, and its rows where those can be features; nothing of their order."""

    columns: frozenset[Line] = field(repr=False)
    rows: frozenset[Line] = field(repr=False)

    def matches(self, other: Contents) -> bool:
        """Whether both hold the same records, as far as their numbers tell."""
        return bool(self.columns & other.columns or self.columns & other.rows or self.rows & other.columns)


def new_key() -> int:
    """64 fresh bits for :func:`contents_of`."""
    return secrets.randbits(64)


def contents_of(table: Table, key: int) -> Contents:
    """What makes a table known again to whoever has the same key."""
    values = table.values
    rows = _lines(values.T, key) if table.n_rows <= _MOST_ROWS else ()
    return Contents(columns=frozenset(_lines(values, key)), rows=frozenset(rows))


def _lines(values: FloatArray, key: int) -> Iterator[Line]:
    """One for each column that tells records apart: not the same everywhere, not simply counting."""
    for column in values.T:
        low, high = np.fmin.reduce(column), np.fmax.reduce(column)
        if not low < high or _counts(column):
            continue
        # Two values say little beyond how often each occurs: then the order has to be the same, too.
        yield _line(column, key, ordered=bool(((column == low) | (column == high)).all()))


def _counts(column: FloatArray) -> bool:
    """Whether the values run in equal steps, as record numbers do."""
    steps = np.diff(column)
    return bool(steps.size > 1 and (np.abs(steps - steps[0]) <= 1e-9 * abs(steps[0])).all())


def _line(column: FloatArray, key: int, *, ordered: bool) -> Line:
    """How many values, and two sums of their mixed bits, which do not depend on their order.

    Numbers are compared as 32-bit floats: a file may hold no more than that of another.
    """
    first = second = np.uint64(0)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, column.size, _BLOCK):
            block = column[start : start + _BLOCK].astype(np.float32) + np.float32(0)  # -0 becomes 0
            bits = np.where(np.isnan(block), np.uint32(1), block.view(np.uint32)).astype(np.uint64)
            if ordered:
                bits += np.arange(start, start + block.size, dtype=np.uint64) << np.uint64(32)
            mixed = _mixed(bits ^ np.uint64(key))
            first, second = first + mixed.sum(), second + _mixed(mixed ^ np.uint64(key)).sum()
    return column.size, int(first), int(second)


def _mixed(words: Words) -> Words:
    """Each word's bits stirred (the finaliser of SplitMix64: Steele, Lea & Flood 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))
