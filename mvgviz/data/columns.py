"""Columns of Arrow as numbers: cells of text in blocks, gathered into one array, and Parquet files.

A cell is a number, a percentage (``12%`` is read as 12), a truth value (0 or 1), missing, or text. Thousands may be set
apart by a comma (a point where the comma is the decimal mark), an apostrophe or a space. The array grows in place: its
size is estimated from the share of the file that has been read, so that never much more than the result is held.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from pyarrow import parquet

from mvgviz.data.readers import Source, damaged, megabytes
from mvgviz.data.table import MISSING_WORDS, MOST_FEATURES, IntArray, Table, clean_names, listed, shown
from mvgviz.errors import InputError
from mvgviz.validation import FloatArray

NUMBER, PERCENT, BOOLEAN, TEXT, MISSING = range(5)

Kinds: TypeAlias = npt.NDArray[np.uint8]

_NOTHING = pa.scalar(None, pa.string())
_SPACES = "'’ \u00a0\u202f"
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_BLOCK = 65_536
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_WORDS = {NUMBER: "plain numbers", PERCENT: "percentages", BOOLEAN: "true/false"}


def _patterns(decimal: str) -> dict[str, re.Pattern[str]]:
    mark, group = re.escape(decimal), "," if decimal == "." else "."
    plain = rf"[+-]?(?:[0-9]+{mark}?[0-9]*|{mark}[0-9]+){_EXPONENT}"
    grouped = rf"[+-]?[1-9][0-9]{{0,2}}(?:[{group}{_SPACES}][0-9]{{3}})+(?:{mark}[0-9]*)?"
    infinite = "[+-]?(?:inf|Inf|INF|infinity|Infinity|INFINITY)"
    patterns = {
        "number": f"^(?:{plain}|{grouped}|{infinite})$",
        "percent": f"^(?:{plain}|{grouped})[ \u00a0\u202f]?%$",
        "grouped": f"^{grouped}[ \u00a0\u202f]?%?$",
        "fraction": rf"^[+-]?(?:[0-9]*|[1-9][0-9]{{0,2}}(?:[{group}{_SPACES}][0-9]{{3}})+){mark}[0-9]+{_EXPONENT}%?$",
    }
    return {what: re.compile(pattern) for what, pattern in patterns.items()}


_PATTERNS = {decimal: _patterns(decimal) for decimal in ".,"}


def parse(cells: Any, decimal: str) -> tuple[FloatArray, Kinds, bool]:
    """A block of cells, an arrow array of strings or floats with NaN for missing.

    Its numbers, NaN for what is none; the kind of each cell; whether thousands were set apart.
    """
    values = cells if isinstance(cells, np.ndarray) else _cast(cells, decimal)
    if values is None:
        trimmed = pc.utf8_trim_whitespace(cells)
        cells = pc.if_else(pc.is_in(trimmed, value_set=pa.array(MISSING_WORDS)), _NOTHING, trimmed)
        values = _cast(cells, decimal)
    if values is None:
        return _mixed(cells, decimal)
    return values, np.where(np.isnan(values), MISSING, NUMBER).astype(np.uint8), False


def is_numeric(cell: str, decimal: str) -> bool:
    """Whether a cell would be read as a number, a percentage or a truth value."""
    text, patterns = cell.strip(), _PATTERNS[decimal]
    return bool(patterns["number"].match(text) or patterns["percent"].match(text) or text.lower() in ("true", "false"))


def is_fraction(cell: str, decimal: str) -> bool:
    """Whether a cell is a number written with this decimal mark, and cannot be thousands set apart by it."""
    text, other = cell.strip(), "," if decimal == "." else "."
    return bool(_PATTERNS[decimal]["fraction"].match(text)) and not is_grouped(text, other)


def is_grouped(cell: str, decimal: str) -> bool:
    """Whether a cell is a number whose thousands are set apart."""
    return bool(_PATTERNS[decimal]["grouped"].match(cell.strip()))


def _cast(cells: Any, decimal: str) -> FloatArray | None:
    """The whole block as plain numbers, or None if any cell is something else."""
    if decimal == ",":
        if pc.any(pc.match_substring(cells, ".")).as_py():  # 1.234 would be taken for a fraction
            return None
        cells = pc.replace_substring(cells, ",", ".")
    try:
        return floats(pc.cast(cells, pa.float64()))
    except pa.ArrowInvalid:
        return None


def _mixed(cells: Any, decimal: str) -> tuple[FloatArray, Kinds, bool]:
    number, percent, grouped = (pc.match_substring_regex(cells, _PATTERNS[decimal][what].pattern)
                                for what in ("number", "percent", "grouped"))
    lower = pc.utf8_lower(cells)
    true, false = (_mask(pc.equal(lower, word)) for word in ("true", "false"))
    digits = pc.if_else(pc.or_(number, percent), cells, _NOTHING)
    bare = pc.replace_substring_regex(digits, f"[%{_SPACES}{'.' if decimal == ',' else ','}]", "")
    values = floats(pc.cast(pc.replace_substring(bare, ",", "."), pa.float64()))
    kinds = np.select([_mask(number), _mask(percent), true | false, _mask(pc.is_valid(cells))],
                      [NUMBER, PERCENT, BOOLEAN, TEXT], MISSING).astype(np.uint8)
    return np.where(true | false, true, values), kinds, bool(_mask(grouped).any())


def floats(numbers: Any) -> FloatArray:
    """An arrow array of floats, NaN for null."""
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _mask(booleans: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.fill_null(booleans, False).to_numpy(zero_copy_only=False), dtype=np.bool_)


class Columns:
    """Takes blocks of cells, one arrow array (or float array) for each of the ``names``.

    ``texts``: the names of columns whose text is kept. ``n_added``: how many rows were taken; ``blank``: the indices of
    those that hold nothing at all.
    """

    def __init__(self, names: Sequence[str], *, decimal: str, source: Source, texts: Iterable[str] = ()) -> None:
        self._names, self._decimal, self._source = tuple(names), decimal, source
        self._counts = np.zeros((len(names), 4), dtype=np.int64)
        self._firsts = np.full((len(names), 4), -1, dtype=np.int64)
        self._grouped = np.zeros(len(names), dtype=np.bool_)
        self._stored: list[int] | None = None
        self._values: FloatArray = np.empty((0, 0))
        self._kept = self.n_added = 0
        self.blank: IntArray = np.empty(0, dtype=np.int64)
        self._row_names: list[str] | None = []
        self._texts: dict[int, list[Any]] = {self._names.index(name): [] for name in texts if name in self._names}

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
        kept = rows - int(np.count_nonzero(blank))
        if kept < rows:
            target[:kept] = target[~blank]
            self.blank = np.append(self.blank, np.flatnonzero(blank) + self.n_added)
        self._kept += kept
        self._collect_row_names(cells[0], blank)
        for position, blocks_of_text in self._texts.items():
            blocks_of_text.append(_as_written(cells[position])[~blank])
        self.n_added += rows

    def finish(self, row_of: Callable[[int], int]) -> tuple[dict[str, Any], list[str]]:
        """What every column is: fields of a :class:`Table`, and sentences for the user.

        ``row_of`` turns an added row's index into the file's row.
        """
        numeric, text, empty = [], [], []
        for position, counts in enumerate(self._counts):
            if not counts.any():
                empty.append(position)
            elif counts[TEXT] and (position in self._texts or not counts[NUMBER] + counts[PERCENT] > counts[TEXT]):
                text.append(position)
            else:
                self._check_one_kind(position, row_of)
                numeric.append(position)
        if not self._kept:
            raise InputError(f"{self._source.name} has no records: at least two rows of numbers are needed.")
        kept, aside = ([i for i in text if (i in self._texts) is wanted] for wanted in (True, False))
        if not numeric and not kept:
            raise InputError(f"{self._source.name} has no column of numbers, only text: check the separator and the "
                             "decimal mark, or choose another file.")
        found = {"columns": self._named(numeric), "text_columns": self._named(aside),
                 "texts": {self._names[i]: np.concatenate(self._texts[i]) for i in kept},
                 "empty_columns": self._named(empty), "values": self._selected(numeric),
                 "row_names": self._names_of_rows() if 0 in text else None}
        return found, self._notes(numeric, aside, empty)

    def _tally(self, position: int, column: Any) -> FloatArray:
        """A column's numbers; how many cells of each kind it has, and where the first is, is noted."""
        values, kinds, grouped = parse(column, self._decimal)
        counts, firsts = np.bincount(kinds, minlength=MISSING + 1)[:MISSING], self._firsts[position]
        for kind in np.flatnonzero((counts > 0) & (firsts < 0)):
            firsts[kind] = self.n_added + int(np.argmax(kinds == kind))
        self._counts[position] += counts
        self._grouped[position] |= grouped
        return values

    def _reserve(self, rows: int, share: float) -> None:
        stored = self._stored or []
        needed = self._kept + rows
        self._source.check_cells(needed, len(self._names))
        if needed > self._values.shape[0]:
            estimate = int(needed / share * 1.02) + 16 if share > 0 else 0
            capacity = max(needed, min(estimate, self._source.most_rows(len(self._names))))
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
        if not isinstance(column, pa.Array) or self._kept > MOST_FEATURES:
            self._row_names = None
        if self._row_names is not None:
            self._row_names += [name for name, out in zip(column.to_pylist(), blank, strict=True) if not out]

    def _names_of_rows(self) -> tuple[str, ...] | None:
        cleaned = tuple(" ".join(name.split()) for name in self._row_names or ())
        return cleaned if all(cleaned) and len(set(cleaned)) == len(cleaned) == self._kept else None

    def _check_one_kind(self, position: int, row_of: Callable[[int], int]) -> None:
        counts, firsts = self._counts[position], self._firsts[position]
        column = shown(self._names[position], position + 1)
        if counts[TEXT]:
            row, others = row_of(int(firsts[TEXT])), int(counts[TEXT]) - 1
            more = f" (and in {others} more)" if others else ""
            header = "" if row > 1 else ", or say that the first row is the header"
            raise InputError(f"{self._source.name} has text in row {row}{more} of column {column}, which holds "
                             f"numbers otherwise: correct it or leave the cell empty{header}.")
        present = sorted((int(counts[kind]), kind) for kind in _WORDS if counts[kind])
        if len(present) > 1:
            fewer, most = present[0][1], present[-1][1]
            raise InputError(f"{self._source.name} mixes {_WORDS[most]} and {_WORDS[fewer]} in column {column}, first "
                             f"in row {row_of(int(firsts[fewer]))}: write the whole column in one way.")

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
        if self.blank.size:
            notes.append(f"Rows with nothing in them were left out: {self.blank.size}.")
        return notes


def _as_written(column: Any) -> Any:
    """A block of cells as text, blanks around it left away; whole numbers without a point."""
    if isinstance(column, pa.Array):
        written = pc.utf8_trim_whitespace(column).to_pylist()
    else:
        written = ["" if np.isnan(cell) else str(int(cell) if cell.is_integer() else cell) for cell in column.tolist()]
    return np.array(written, dtype=object)


def read_parquet(source: Source, *, texts: Iterable[str] = ()) -> Table:
    """A Parquet file as a table."""
    try:
        return _parquet(source, set(texts))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise damaged(source.name) from None


def _parquet(source: Source, wanted: set[str]) -> Table:
    file = parquet.ParquetFile(source.stream)
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    names = clean_names(schema.names, source.name)
    numeric = [i for i, field in enumerate(schema)
               if _holds_numbers(field.type) and not _PANDAS_INDEX.fullmatch(field.name)]
    others = sorted({i for i, field in enumerate(schema) if not pa.types.is_null(field.type)} - {*numeric})
    if not n_rows >= 1:
        raise InputError(f"{source.name} has no records: at least two are needed.")
    kept = [i for i in others if names[i] in wanted]
    others = [i for i in others if names[i] not in wanted]
    if not numeric and not kept:
        raise InputError(f"{source.name} has no column of numbers: choose another file.")
    expanded = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
    if not expanded <= 4 * source.max_bytes:
        raise InputError(f"{source.name} expands to more than {megabytes(4 * source.max_bytes)}: keep fewer columns.")
    source.check_cells(n_rows, len(numeric) + len(kept))
    values = _parquet_values(file, [schema.names[i] for i in numeric], n_rows, source)
    filled = np.array([not np.isnan(column).all() for column in values.T])
    if not filled.any() and not kept:
        raise InputError(f"{source.name} has no numbers: every numeric column is empty.")
    used = [i for i, is_filled in zip(numeric, filled, strict=True) if is_filled]
    empty = sorted({*range(len(names))} - {*used, *others, *kept})
    notes = ["Read from a Parquet file."]
    for positions, words in ((others, "they hold no plain numbers"), (empty, "they are empty")):
        if positions:
            quoted = listed([names[i] for i in positions], [i + 1 for i in positions])
            notes.append(f"Set aside because {words}: {quoted}.")
    return Table(name=source.name, format="parquet", header=True, columns=tuple(names[i] for i in used),
                 values=values if filled.all() else values[:, filled],
                 texts={names[i]: _parquet_texts(file.read(columns=[schema.names[i]]).column(0)) for i in kept},
                 text_columns=tuple(names[i] for i in others),
                 empty_columns=tuple(names[i] for i in empty), notes=tuple(notes))


def _parquet_values(file: Any, names: list[str], n_rows: int, source: Source) -> FloatArray:
    values = np.empty((n_rows, len(names)))
    row = 0
    for batch in file.iter_batches(batch_size=_BLOCK, columns=names, use_threads=False):
        if not row + batch.num_rows <= n_rows:
            break
        for slot, name in enumerate(names):
            column = batch.column(name)
            decoded = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
            # whole numbers beyond 2**53 are rounded
            values[row : row + batch.num_rows, slot] = floats(pc.cast(decoded, pa.float64(), safe=False))
        row += batch.num_rows
        source.report(row / n_rows)
    if row != n_rows:
        raise damaged(source.name)
    return values


def _parquet_texts(column: Any) -> Any:
    """The cells of a column as text, dates as 2024-03-05."""
    cells = ("" if cell is None else cell.isoformat() if isinstance(cell, date) else str(cell).strip()
             for cell in column.to_pylist())
    return np.array(list(cells), dtype=object)


def _holds_numbers(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean,
                                       pa.types.is_decimal))
