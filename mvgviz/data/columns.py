"""Blocks of rows gathered into one array, and what each column turns out to be.

The array grows in place: its size is estimated from the share of the file that
has been read, so that never much more than the result is held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from mvgviz.data.cells import BOOLEAN, NUMBER, PERCENT, TEXT, parse
from mvgviz.data.names import listed, shown
from mvgviz.data.source import Source
from mvgviz.data.table import IntArray
from mvgviz.errors import InputError
from mvgviz.validation import FloatArray

MOST_ROW_NAMES = 2_000
"""As many as a dataset may have features."""

_WORDS = {NUMBER: "plain numbers", PERCENT: "percentages", BOOLEAN: "true/false"}


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """What :class:`Columns` found. ``blank``: indices of rows, as they were added, that hold nothing at all."""

    columns: tuple[str, ...]
    text_columns: tuple[str, ...]
    empty_columns: tuple[str, ...]
    values: FloatArray
    blank: IntArray
    row_names: tuple[str, ...] | None
    notes: tuple[str, ...]


class Columns:
    """Takes blocks of cells, one arrow array (or float array) for each of the ``names``."""

    def __init__(self, names: Sequence[str], *, decimal: str, source: Source) -> None:
        self._names, self._decimal, self._source = tuple(names), decimal, source
        self._counts = np.zeros((len(names), 4), dtype=np.int64)
        self._firsts = np.full((len(names), 4), -1, dtype=np.int64)
        self._grouped = np.zeros(len(names), dtype=np.bool_)
        self._stored: list[int] | None = None
        self._values: FloatArray = np.empty((0, 0))
        self._kept = 0
        self._blank: list[int] = []
        self._row_names: list[str] | None = []
        self.n_added = 0

    def add(self, cells: Sequence[Any], share: float) -> None:
        """Take the next rows; ``share`` is the part of the file read so far."""
        rows = len(cells[0])
        blocks = [self._tally(position, column) for position, column in enumerate(cells)]
        if self._stored is None:  # text in a column, once seen, means that its numbers are never used
            self._stored = [i for i in range(len(self._names)) if not self._counts[i, TEXT]]
        self._reserve(rows, share)
        target = self._values[self._kept : self._kept + rows]
        for slot, position in enumerate(self._stored):
            target[:, slot] = blocks[position]
        blank = self._blank_rows(target, cells)
        if blank.any():
            kept = int((~blank).sum())
            target[:kept] = target[~blank]
            self._blank.extend((np.flatnonzero(blank) + self.n_added).tolist())
            self._kept += kept
        else:
            self._kept += rows
        self._collect_row_names(cells[0], blank)
        self.n_added += rows

    def finish(self, row_of: Callable[[int], int]) -> Gathered:
        """Decide what every column is; ``row_of`` turns an added row's index into the file's row."""
        numeric, text, empty = [], [], []
        for position, counts in enumerate(self._counts):
            if not counts.any():
                empty.append(position)
            elif counts[TEXT] and not counts[NUMBER] + counts[PERCENT] > counts[TEXT]:
                text.append(position)
            else:
                self._check_one_kind(position, row_of)
                numeric.append(position)
        if not self._kept:
            raise InputError(f"{self._source.name} has no records: at least two rows of numbers are needed.")
        if not numeric:
            raise InputError(
                f"{self._source.name} has no column of numbers, only text: check the separator and the decimal mark, "
                "or choose another file."
            )
        return Gathered(
            columns=self._named(numeric), text_columns=self._named(text), empty_columns=self._named(empty),
            values=self._selected(numeric), blank=np.array(self._blank, dtype=np.int64),
            row_names=self._names_of_rows(text), notes=tuple(self._notes(numeric, text, empty)),
        )

    def _tally(self, position: int, column: Any) -> FloatArray:
        block = parse(column, self._decimal)
        if block.kinds is None:
            self._count(position, NUMBER, ~np.isnan(block.values))
            return block.values
        self._grouped[position] |= block.grouped
        for kind in (NUMBER, PERCENT, BOOLEAN, TEXT):
            self._count(position, kind, block.kinds == kind)
        return block.values

    def _count(self, position: int, kind: int, found: npt.NDArray[np.bool_]) -> None:
        count = int(np.count_nonzero(found))
        if count and self._firsts[position, kind] < 0:
            self._firsts[position, kind] = self.n_added + int(np.argmax(found))
        self._counts[position, kind] += count

    def _reserve(self, rows: int, share: float) -> None:
        stored = self._stored or []
        needed = self._kept + rows
        self._source.check_cells(needed, len(self._names))
        if needed > self._values.shape[0] or self._values.shape[1] != len(stored):
            estimate = int(needed / share * 1.02) + 16 if share > 0 else 0
            capacity = max(needed, min(estimate, self._source.most_rows(len(self._names))))
            if self._kept == 0:
                self._values = np.empty((capacity, len(stored)))
            else:
                self._values.resize((capacity, len(stored)), refcheck=False)

    def _blank_rows(self, values: FloatArray, cells: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Rows without a single character; one that spells its missing values out is a record."""
        blank: npt.NDArray[np.bool_] = np.asarray(np.isnan(values).all(axis=1))
        for column in cells:
            candidates = np.flatnonzero(blank)
            if not candidates.size:
                break
            if isinstance(column, pa.Array):
                there = pc.utf8_trim_whitespace(column.take(pa.array(candidates)))
                blank[candidates] = pc.equal(pc.fill_null(there, ""), "").to_numpy(zero_copy_only=False)
            else:
                blank[candidates] = np.isnan(column[candidates])
        return blank

    def _collect_row_names(self, column: Any, blank: Any) -> None:
        if self._row_names is None:
            return
        if not isinstance(column, pa.Array) or self._kept > MOST_ROW_NAMES:
            self._row_names = None
            return
        self._row_names += [name or "" for name, out in zip(column.to_pylist(), blank, strict=True) if not out]

    def _names_of_rows(self, text: list[int]) -> tuple[str, ...] | None:
        if self._row_names is None or 0 not in text:
            return None
        cleaned = tuple(" ".join(name.split()) for name in self._row_names)
        return cleaned if all(cleaned) and len(set(cleaned)) == len(cleaned) == self._kept else None

    def _check_one_kind(self, position: int, row_of: Callable[[int], int]) -> None:
        counts, firsts = self._counts[position], self._firsts[position]
        column = shown(self._names[position], position + 1)
        if counts[TEXT]:
            row, others = row_of(int(firsts[TEXT])), int(counts[TEXT]) - 1
            more = f" (and in {others} more)" if others else ""
            raise InputError(
                f"{self._source.name} has text in row {row}{more} of column {column}, which holds numbers otherwise: "
                f"correct it or leave the cell empty{'' if row > 1 else ', or say that the first row is the header'}."
            )
        present = sorted((int(counts[kind]), kind) for kind in _WORDS if counts[kind])
        if len(present) > 1:
            fewer, most = present[0][1], present[-1][1]
            raise InputError(
                f"{self._source.name} mixes {_WORDS[most]} and {_WORDS[fewer]} in column {column}, first in row "
                f"{row_of(int(firsts[fewer]))}: write the whole column in one way."
            )

    def _selected(self, numeric: list[int]) -> FloatArray:
        stored = self._stored or []
        if numeric == stored:
            self._values.resize((self._kept, len(stored)), refcheck=False)
            return self._values
        slots = {position: slot for slot, position in enumerate(stored)}
        return self._values[: self._kept, [slots[position] for position in numeric]]

    def _named(self, positions: list[int]) -> tuple[str, ...]:
        return tuple(self._names[position] for position in positions)

    def _notes(self, numeric: list[int], text: list[int], empty: list[int]) -> list[str]:
        notes = []
        for positions, words in (
            (text, "Set aside because they hold text: {}."),
            ([i for i in empty if self._names[i] != f"column {i + 1}"], "Set aside because they are empty: {}."),
            ([i for i in numeric if self._counts[i, BOOLEAN]], "True and false were read as 1 and 0 in {}."),
            ([i for i in numeric if self._counts[i, PERCENT]], "Percent signs were dropped (12% is 12) in {}."),
            ([i for i in numeric if self._grouped[i]], "Thousands separators were dropped in {}."),
        ):
            if positions:
                notes.append(words.format(listed(self._named(positions), [i + 1 for i in positions])))
        if self._blank:
            notes.append(f"Rows with nothing in them were left out: {len(self._blank)}.")
        return notes
