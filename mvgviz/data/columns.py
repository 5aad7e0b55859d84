"""Columns of Arrow as numbers: cells of text in blocks, gathered into one array, and Parquet files.

A cell is a number, a percentage (``12%`` becomes 12), a truth value (0 or 1), missing, or text. The array grows in
place to a size estimated from the share of the file read, so that memory holds little more than the result.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from pyarrow import parquet

from mvgviz.data.readers import Source, damaged, megabytes
from mvgviz.data.table import MISSING_WORDS, MOST_FEATURES, IntArray, Table, clean_names, listed, shown
from mvgviz.errors import InputError, refuse
from mvgviz.validation import FloatArray

NUMBER, PERCENT, BOOLEAN, TEXT, MISSING = range(5)

Kinds: TypeAlias = npt.NDArray[np.uint8]

_NOTHING = pa.scalar(None, pa.string())
_SPACES = "'’ \u00a0\u202f"
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_BLOCK = 65_536
_MOST_TEXTS = 500_000  # rows of a Parquet file whose text nobody named
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_date, pa.types.is_timestamp)
_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
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
    """Return a block's numbers (NaN for others), each cell's kind, and whether thousands are separated."""
    values = cells if isinstance(cells, np.ndarray) else _cast(cells, decimal)
    if values is None:
        trimmed = pc.utf8_trim_whitespace(cells)
        cells = pc.if_else(pc.is_in(trimmed, value_set=pa.array(MISSING_WORDS)), _NOTHING, trimmed)
        values = _cast(cells, decimal)
    if values is None:
        return _mixed(cells, decimal)
    return values, np.where(np.isnan(values), MISSING, NUMBER).astype(np.uint8), False


def is_numeric(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number, a percentage or a truth value."""
    text, patterns = cell.strip(), _PATTERNS[decimal]
    return bool(patterns["number"].match(text) or patterns["percent"].match(text) or text.lower() in ("true", "false"))


def is_fraction(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number with this decimal mark that cannot be a thousands separator."""
    text, other = cell.strip(), "," if decimal == "." else "."
    return bool(_PATTERNS[decimal]["fraction"].match(text)) and not is_grouped(text, other)


def is_grouped(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number with separated thousands."""
    return bool(_PATTERNS[decimal]["grouped"].match(cell.strip()))


def _cast(cells: Any, decimal: str) -> FloatArray | None:
    """Return the whole block as plain numbers, or None if any cell is something else."""
    if decimal == ",":
        if pc.any(pc.match_substring(cells, ".")).as_py():  # 1.234 would become a fraction
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
    """Return an arrow array as floats, NaN for null."""
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _mask(booleans: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.fill_null(booleans, False).to_numpy(zero_copy_only=False), dtype=np.bool_)


class Columns:
    """Gather blocks of cells, one arrow array (or float array) for each of the ``names``.

    ``texts``: columns whose text to keep; None: those with text in the first rows. ``blank``: rows without a character.
    """

    def __init__(self, names: Sequence[str], *, decimal: str, source: Source, texts: Iterable[str] | None = ()
                 ) -> None:
        self._names, self._decimal, self._source = tuple(names), decimal, source
        self._counts = np.zeros((len(names), 4), dtype=np.int64)
        self._firsts = np.full((len(names), 4), -1, dtype=np.int64)
        self._grouped = np.zeros(len(names), dtype=np.bool_)
        self._stored: list[int] | None = None
        self._values: FloatArray = np.empty((0, 0))
        self._kept = self.n_added = 0
        self.blank: IntArray = np.empty(0, dtype=np.int64)
        self._row_names: list[str] | None = []
        self._asked = {self._names.index(name) for name in texts or () if name in self._names}
        self._texts: dict[int, list[Any]] | None = None if texts is None else {i: [] for i in self._asked}
        self._sizes = np.zeros(len(names), dtype=np.int64)

    def add(self, cells: Sequence[Any], share: float) -> None:
        """Take the next rows; ``share``: the part of the file read so far."""
        rows = len(cells[0])
        blocks = [self._tally(position, column) for position, column in enumerate(cells)]
        if self._stored is None:  # a column with text never gives numbers
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
        if not isinstance(cells[0], pa.Array) or self._kept > MOST_FEATURES:
            self._row_names = None
        elif self._row_names is not None:
            self._row_names += [name for name, out in zip(cells[0].to_pylist(), blank, strict=True) if not out]
        if self._texts is None:
            self._texts = {int(i): [] for i in np.flatnonzero(self._counts[:, TEXT])}
        for position in list(self._texts):
            self._texts[position].append(_as_written(cells[position])[~blank])
            self._sizes[position] += 0 if position in self._asked else cells[position].nbytes
            if self._sizes.sum() > self._source.max_bytes // 4 and position not in self._asked:
                del self._texts[position]  # too much text that nobody named
                self._sizes[position] = 0
        self.n_added += rows

    def finish(self, row_of: Callable[[int], int]) -> tuple[dict[str, Any], list[str]]:
        """Return fields of a :class:`Table`, and sentences for the user; ``row_of``: row → row of the file."""
        numeric, text, empty = [], [], []
        for position, counts in enumerate(self._counts):
            if not counts.any():
                empty.append(position)
            elif counts[TEXT] and (position in self._asked or not counts[NUMBER] + counts[PERCENT] > counts[TEXT]):
                text.append(position)
            else:
                self._check_one_kind(position, row_of)
                numeric.append(position)
        refuse(not self._kept, f"{self._source.name} has no records: choose a file with at least two rows of numbers.")
        texts, rows = self._texts or {}, tuple(" ".join(name.split()) for name in self._row_names or ())
        kept, aside = ([i for i in text if (i in texts) is wanted] for wanted in (True, False))
        refuse(not numeric and not kept, f"{self._source.name} has no column of numbers, only text: check the "
               "separator and the decimal mark, or choose another file.")
        found = {"columns": self._named(numeric), "text_columns": self._named(aside),
                 "texts": {self._names[i]: np.concatenate(texts[i]) for i in kept},
                 "empty_columns": self._named(empty),
                 "true_false": self._named([i for i in numeric if self._counts[i, BOOLEAN]]),
                 "values": self._selected(numeric),
                 "row_names": rows if 0 in text and all(rows) and len(set(rows)) == len(rows) == self._kept else None}
        return found, self._notes(numeric, aside, empty)

    def _tally(self, position: int, column: Any) -> FloatArray:
        """Return a column's numbers; count the cells of each kind and note the first."""
        values, kinds, grouped = parse(column, self._decimal)
        counts, firsts = np.bincount(kinds, minlength=MISSING + 1)[:MISSING], self._firsts[position]
        for kind in np.flatnonzero((counts > 0) & (firsts < 0)):
            firsts[kind] = self.n_added + int(np.argmax(kinds == kind))
        self._counts[position] += counts
        self._grouped[position] |= grouped
        return values

    def _reserve(self, rows: int, share: float) -> None:
        stored = self._stored or []
        total = self._kept + rows
        self._source.check_cells(total, len(self._names))
        if total > self._values.shape[0]:
            estimate = int(total / share * 1.02) + 16 if share > 0 else 0
            capacity = max(total, min(estimate, self._source.most_rows(len(self._names))))
            self._values.resize((capacity, len(stored)), refcheck=False)

    def _blank_rows(self, values: FloatArray, cells: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Return rows without a single character; a row that spells out missing values is a record."""
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

    def _check_one_kind(self, position: int, row_of: Callable[[int], int]) -> None:
        counts, firsts = self._counts[position], self._firsts[position]
        column = shown(self._names[position], position + 1)
        if counts[TEXT]:
            row, others = row_of(int(firsts[TEXT])), int(counts[TEXT]) - 1
            more = f" (and in {others} more)" if others else ""
            header = "" if row > 1 else ", or say that the first row is the header"
            raise InputError(f"{self._source.name} has no number in row {row}{more} of column {column}, which "
                             f"otherwise holds numbers: correct it or leave the cell empty{header}.")
        present = sorted((int(counts[kind]), kind) for kind in _WORDS if counts[kind])
        if len(present) > 1:
            fewer, most = present[0][1], present[-1][1]
            raise InputError(f"{self._source.name} mixes {_WORDS[most]} and {_WORDS[fewer]} in column {column}, first "
                             f"in row {row_of(int(firsts[fewer]))}: use one notation in the whole column.")

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
        notes = _said(self._names, {
            "Set aside because they hold text: {}.": text,
            "Set aside because they are empty: {}.": [i for i in empty if self._names[i] != f"column {i + 1}"],
            "True and false were read as 1 and 0 in {}.": [i for i in numeric if self._counts[i, BOOLEAN]],
            "Percent signs were dropped (12% is 12) in {}.": [i for i in numeric if self._counts[i, PERCENT]],
            "Thousands separators were dropped in {}.": [i for i in numeric if self._grouped[i]]})
        return [*notes, *([f"Rows with nothing in them were left out: {self.blank.size}."] if self.blank.size else [])]


def _said(names: Sequence[str], of: Mapping[str, list[int]]) -> list[str]:
    return [words.format(listed([names[i] for i in positions], [i + 1 for i in positions]))
            for words, positions in of.items() if positions]


def _as_written(column: Any) -> Any:
    """Return a block of cells as text without blanks around it; whole numbers without a point."""
    if isinstance(column, pa.Array):
        coded = pc.fill_null(pc.utf8_trim_whitespace(column), "").dictionary_encode()  # equal cells share one text
        return np.array(coded.dictionary.to_pylist(), dtype=object)[coded.indices.to_numpy()]
    written = ["" if np.isnan(cell) else str(int(cell) if cell.is_integer() else cell) for cell in column.tolist()]
    return np.array(written, dtype=object)


def read_parquet(source: Source, *, texts: Iterable[str] | None = ()) -> Table:
    """Read a Parquet file as a table."""
    try:
        return _parquet(source, None if texts is None else set(texts))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise damaged(source.name) from None


def _parquet(source: Source, wanted: set[str] | None) -> Table:
    file = parquet.ParquetFile(source.stream, pre_buffer=False)  # threads of Arrow must not touch our stream
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    names = clean_names(schema.names, source.name)
    numeric = [i for i, field in enumerate(schema)
               if _is_any(field.type, _NUMBERS) and not _PANDAS_INDEX.fullmatch(field.name)]
    others = [i for i, field in enumerate(schema) if i not in numeric and not pa.types.is_null(field.type)]
    refuse(not n_rows >= 1, f"{source.name} has no records: choose a file with at least two.")
    if wanted is None:
        wanted = {names[i] for i in others if n_rows <= _MOST_TEXTS and _is_any(schema.field(i).type, _TEXTS)}
    kept = [i for i in others if names[i] in wanted]
    others = [i for i in others if names[i] not in wanted]
    refuse(not numeric and not kept, f"{source.name} has no column of numbers: choose another file.")
    expanded = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
    if not expanded <= 4 * source.max_bytes:
        raise InputError(f"{source.name} expands to more than {megabytes(4 * source.max_bytes)}: keep fewer columns.")
    source.check_cells(n_rows, len(numeric) + len(kept))
    values = _parquet_values(file, [schema.names[i] for i in numeric], n_rows, source)
    filled = np.array([not np.isnan(column).all() for column in values.T])
    refuse(not filled.any() and not kept, f"{source.name} has no numbers, only empty columns: choose another file.")
    used = [i for i, is_filled in zip(numeric, filled, strict=True) if is_filled]
    empty = sorted({*range(len(names))} - {*used, *others, *kept})
    notes = _said(names, {"Set aside because they hold no plain numbers: {}.": others,
                          "Set aside because they are empty: {}.": empty})
    return Table(name=source.name, format="parquet", header=True, columns=tuple(names[i] for i in used),
                 values=values if filled.all() else values[:, filled],
                 true_false=tuple(names[i] for i in used if _is_any(schema.field(i).type, [pa.types.is_boolean])),
                 texts={names[i]: np.array([_cell(cell) for cell in file.read(
                     [schema.names[i]], use_threads=False).column(0).to_pylist()], dtype=object) for i in kept},
                 text_columns=tuple(names[i] for i in others),
                 empty_columns=tuple(names[i] for i in empty), notes=("Read from a Parquet file.", *notes))


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


def _cell(cell: Any) -> str:
    return "" if cell is None else cell.isoformat() if isinstance(cell, date) else str(cell).strip()


def _is_any(kind: Any, tests: Iterable[Callable[[Any], bool]]) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(test(kind) for test in tests)
