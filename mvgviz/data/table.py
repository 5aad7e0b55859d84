"""A table as read from a file, and how it becomes a dataset: features, ranges, missing values, clipping."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mvgviz.errors import InputError, refuse
from mvgviz.optional import optional
from mvgviz.provenance import Category, Origin, Range, Ranges
from mvgviz.query.dataset import MISSING, Dataset, around, checked_range, is_dated
from mvgviz.query.frames import as_category, as_date, from_frame, is_frame
from mvgviz.text import one_line
from mvgviz.validation import FloatArray, frozen, instance, one_of

LONGEST_NAME = 80
MOST_FEATURES = 2_000  # most features of a dataset from a file
_MOST_COLUMNS = 50_000  # in a file, where records may be columns
_SHOWN_NAME = 40
_LONG_NUMBER = re.compile(r"\d(?:[.,]?\d){4}")
_BLOCK = 65_536  # rows looked at together, so that masks stay small
_LARGEST = 1e60  # a dataset's limit; the message here must not reveal the data
IntArray: TypeAlias = npt.NDArray[np.int64]
MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "Null", "null", "None",
    "none", "?", ".")


def is_missing(cell: str) -> bool:
    """Return whether a cell means a missing value."""
    return cell.strip() in MISSING_WORDS


def clean_name(name: str, position: int) -> str:
    """Return a name on one line, at most 80 characters; "column 3" for the third without a name."""
    return one_line(name)[:LONGEST_NAME].rstrip() or f"column {position}"


def clean_names(names: Iterable[str], file_name: str) -> tuple[str, ...]:
    """Return every column's name; raise `InputError` if two are equal."""
    cleaned = tuple(clean_name(name, position) for position, name in enumerate(names, start=1))
    check_width(len(cleaned), file_name)
    twice = [name for name, times in Counter(cleaned).items() if times > 1]
    if twice:
        quoted = listed(twice, [cleaned.index(name) + 1 for name in twice[:3]], most=3)
        raise InputError(f"{file_name} has more than one column named {quoted}: give each column a different "
                         "name, or say that there is no header.")
    return cleaned


def plain_names(count: int, file_name: str) -> tuple[str, ...]:
    """Return names for columns without any."""
    return clean_names([""] * count, file_name)


def check_width(count: int, file_name: str) -> None:
    """Raise `InputError` for too many columns."""
    refuse(not count <= _MOST_COLUMNS, f"{file_name} has {count} columns and at most {_MOST_COLUMNS} can be read: keep "
           "the columns you need, or turn the table so that records are rows.")


def shown(name: str, position: int) -> str:
    """Return a name for a message; a name with a long number may be data, so return its position."""
    if _LONG_NUMBER.search(name) or name == f"column {position}":
        return f"number {position}"
    return f"'{name}'" if len(name) <= _SHOWN_NAME else f"'{name[: _SHOWN_NAME - 3]}...'"


def listed(names: Sequence[str], positions: Sequence[int], most: int = 5) -> str:
    """Return a few names for a sentence."""
    quoted = ", ".join(shown(name, position) for name, position in zip(names[:most], positions, strict=False))
    return quoted + (f" and {len(names) - most} more" if len(names) > most else "")


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """``values``: rows × numeric columns, NaN if missing; not copied, read-only.

    ``separator`` to ``member`` (an array or a sheet, of ``members``): as detected. ``text_columns`` and
    ``empty_columns`` were set aside; ``texts``: kept text. ``true_false``: columns of 1 and 0 that were words.
    ``first_row``: the row of the file (from 1) with the first record; ``left_out``: later rows without one, of which
    ``empty_rows`` may have been records. ``row_names``: the first column if it may name features.
    """

    name: str
    format: str
    columns: tuple[str, ...]
    values: FloatArray = field(repr=False)
    text_columns: tuple[str, ...] = ()
    texts: Mapping[str, npt.NDArray[np.object_]] = field(default_factory=dict, repr=False)
    empty_columns: tuple[str, ...] = ()
    true_false: tuple[str, ...] = ()
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

    def cells(self, name: str) -> list[Any]:
        """Return a column's cells: numbers (NaN for gaps), or text, "" for gaps; true and false are words."""
        if name in self.texts:
            return self.texts[name].tolist()  # type: ignore[no-any-return]
        values: list[float] = self.values[:, self.columns.index(name)].tolist()
        return [{0.0: "false", 1.0: "true"}.get(value, "") for value in values] if name in self.true_false else values

    @property
    def is_graph(self) -> bool:
        """Return whether the numbers are an adjacency matrix: square, 0/1, symmetric, zero diagonal."""
        values = self.values
        return bool(values.shape[0] == values.shape[1] >= 2 and ((values == 0) | (values == 1)).all()
                    and not values.diagonal().any() and (values == values.T).all())

    def file_row(self, index: int) -> int:
        """Return the row of the file with record ``index`` (from 0)."""
        return int(file_rows(np.array([index]), first_row=self.first_row, left_out=self.left_out)[0])


def file_rows(indices: IntArray, *, first_row: int, left_out: IntArray) -> IntArray:
    """Return the rows of records in the file; the sorted rows ``left_out`` hold none."""
    rows = indices + first_row
    # the k-th gap moves every record that would have come to lie on it or after it
    return rows + np.searchsorted(left_out - np.arange(left_out.size), rows, side="right")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Features:
    """``values``: records × features, a view where it can be. ``positions``: where in the table each feature is."""

    names: tuple[str, ...]
    values: FloatArray = field(repr=False)
    positions: Sequence[int]

    def shown(self, index: int) -> str:
        return shown(self.names[index], self.positions[index] + 1)

    def extremes(self, index: int) -> tuple[float, float]:
        values = self.values[:, index]
        least, greatest = np.fmin.reduce(values), np.fmax.reduce(values)  # these ignore NaN
        if np.isnan(least):
            raise InputError(f"Feature {self.shown(index)} has no values at all: leave it out.")
        return float(least), float(greatest)


def propose_ranges(table: Table, columns: Iterable[str] | None = None, *,
                   orientation: str = "rows") -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest value of each feature, rounded outwards: low < high. Not private."""
    features = _features(table, orientation, columns)
    return {name: around(*features.extremes(i)) for i, name in enumerate(features.names)}


def table_to_dataset(table: Any, *, orientation: str = "rows", columns: Iterable[str] | None = None,
                     ranges: Ranges | None = None, missing: str = "reject",
                     levels: Mapping[str, Iterable[Any] | Category] | None = None, person: str | None = None,
                     at_most: int | None = None, units: Mapping[str, str] | None = None, title: str = "") -> Dataset:
    """Return a dataset of the chosen features, clipped to their ranges; more arguments as in `Dataset.from_frame`.

    ``orientation``: whether records are "rows" or "columns" of the table. A feature without a range gets that of
    :func:`propose_ranges`, "read from the data". ``missing``: "reject" raises `InputError`, "middle" fills in the
    middle of the range, "drop" leaves the record out: then ``records_origin`` says that their number depends on data.
    Text must have been kept (``read_table(…, texts=[…])``); it comes after numbers unless ``columns`` gives an order.
    """
    declared: dict[str, Any] = {"ranges": ranges, "missing": missing, "levels": levels, "person": person,
                                "at_most": at_most, "units": units, "title": title}
    one_of("orientation", orientation, ("rows", "columns"))
    if is_frame(table) and not isinstance(table, Table):
        refuse(orientation == "columns", "A data frame must have its records in rows: turn it first (frame.T).")
        return Dataset.from_frame(table, columns=columns, **declared)
    instance("table", table, Table)
    if at_most is not None or texts_of(ranges, levels, person):
        one_of("orientation", orientation, ("rows",))
        return _with_texts(table, columns, **declared)
    one_of("missing", missing, MISSING)
    features = _features(table, orientation, columns)
    values = features.values
    if missing != "middle" and table.rows_with_missing:
        values = _complete(table, features, orientation, missing)
    if not values.shape[0] >= 2:
        raise InputError(f"{table.name} has {values.shape[0]} record{'s' * (values.shape[0] != 1)}"
                         f"{' without missing values' * bool(table.rows_with_missing)}, and at least 2 are needed"
                         f"{': are the records in columns?' if orientation == 'rows' and values.shape[1] > 2 else '.'}")
    used = _ranges(table, features, ranges)
    lows, highs = np.array([(each.low, each.high) for each in used]).T
    if missing == "middle" and np.isnan(values).any():
        values = np.where(np.isnan(values), (lows + highs) / 2, values)
    if ranges and (lows < highs).all() and ((values.min(axis=0) < lows) | (values.max(axis=0) > highs)).any():
        values = np.clip(values, lows, highs)  # avoids a copy
    dropped = missing == "drop" or (orientation == "rows" and table.empty_rows > 0)
    return Dataset(matrix=values.T, features=features.names, lower=lows, upper=highs,
                   range_origins=[each.origin for each in used],
                   units=[(units or {}).get(name, "") for name in features.names],
                   records_origin=Origin.READ if dropped else Origin.DECLARED, gaps=missing, title=title)


def texts_of(ranges: Any, levels: Any, person: Any) -> tuple[str, ...]:
    """Return the columns that may hold text: categories, dates and persons."""
    dated = [name for name, ends in ranges.items() if is_dated(ends)] if isinstance(ranges, Mapping) else []
    named = [*(levels or ()), *dated, *([] if person is None else [person])]
    return tuple(dict.fromkeys(str(name) for name in named))


def _with_texts(table: Table, columns: Iterable[str] | None, *, ranges: Ranges | None, levels: Any,
                person: str | None, units: Mapping[str, str] | None, **declared: Any) -> Dataset:
    refuse(not isinstance(levels, Mapping | None), "levels must map column names to sequences of levels")
    levels = {name: as_category(name, given) for name, given in (levels or {}).items()}
    named = texts_of(ranges, levels, person)
    for name in named:
        refuse(name in table.text_columns,
               f"{table.name} was read without the text of {shown(name, 1)}: name it in read_table(…, texts=[…]).")
    _chosen(named or table.columns, (*table.columns, *table.texts), table)
    found: dict[str, Any] = {name: table.values[:, i] for i, name in enumerate(table.columns)}
    for name in [name for name in named if name in table.texts or (name in levels and name in table.true_false)]:
        cells, category = table.cells(name), levels.get(name)
        known = set() if category is None else set(map(str, category.levels))
        cells = [None if is_missing(cell) and cell not in known else cell for cell in cells]
        is_date = name not in levels and name != person
        found[name] = np.array(_dates(table, name, cells) if is_date else cells, dtype=object)
    chosen = None if columns is None else _chosen(columns, tuple(found), table)
    data = from_frame(optional("pandas").DataFrame(found), columns=chosen, ranges=ranges, levels=levels, person=person,
                      units=None if units is None else {name: unit for name, unit in units.items() if name in found},
                      called=table.name, **declared)
    return replace(data, records_origin=Origin.READ) if table.empty_rows else data


def _dates(table: Table, name: str, cells: Sequence[str | None]) -> list[datetime | None]:
    found = []
    for row, cell in enumerate(cells):
        try:
            found.append(None if cell is None else as_date(cell))
        except ValueError:
            raise InputError(f"{table.name} has no date in row {table.file_row(row)} of column {shown(name, 1)}: write "
                             "dates as 2024-03-05 or 05.03.2024.") from None
    return found


def _features(table: Table, orientation: str, columns: Iterable[str] | None) -> _Features:
    names, values = table.columns, table.values
    if one_of("orientation", orientation, ("rows", "columns")) == "columns":
        values = values.T
        names = tuple(clean_name(name, row) for row, name in enumerate(table.row_names or (), start=1))
        if not names or len(set(names)) < len(names):
            names = tuple(f"row {row}" for row in range(1, table.n_rows + 1))
    chosen = names if columns is None else _chosen(columns, names, table)
    turn = " If its records are columns, say so." * (values.shape[0] <= MOST_FEATURES)
    refuse(len(chosen) > MOST_FEATURES, f"{table.name} has {len(chosen)} features and at most {MOST_FEATURES} can be "
           f"used: choose the columns you need.{turn}")
    if chosen == names:
        return _Features(names=names, values=values, positions=range(len(names)))
    position_of = {name: position for position, name in enumerate(names)}
    positions = [position_of[name] for name in chosen]
    return _Features(names=chosen, values=values[:, positions], positions=positions)


def _chosen(columns: Any, names: tuple[str, ...], table: Table) -> tuple[str, ...]:
    refuse(isinstance(columns, str) or not isinstance(columns, Iterable), "columns must be a sequence of column names")
    chosen, known = tuple(columns), set(names)
    for position, name in enumerate(chosen, start=1):
        if not isinstance(name, str):
            raise InputError(f"columns must be names, got a {type(name).__name__}")
        if name in known:
            continue
        quoted = shown(name, position)
        refuse(name in table.text_columns, f"{table.name} has text in column {quoted}: choose columns of numbers, or "
               "declare its levels.")
        refuse(name in table.empty_columns, f"{table.name} has nothing in column {quoted}: leave it out.")
        raise InputError(f"{table.name} has no column named {quoted}: check the spelling and the header.")
    refuse(len(set(chosen)) != len(chosen), "columns must be different from each other: one is named twice")
    refuse(not chosen, "columns must name at least one feature")
    return chosen


def _ranges(table: Table, features: _Features, ranges: Ranges | None) -> list[Range]:
    """Return the range of each feature: as given, else around its values."""
    refuse(not isinstance(ranges, Mapping | None), "ranges must map column names to pairs (low, high)")
    ranges = ranges or {}
    if not ranges.keys() <= {*features.names, *table.columns}:
        raise InputError("ranges names a column that the table does not have: check the spelling")
    used = {i: checked_range(ranges[name], features.shown(i)) for i, name in enumerate(features.names)
            if name in ranges}
    ends = {i: features.extremes(i) for i in range(len(features.names)) if i not in used}
    constant = [] if table.is_graph else [i for i, (least, greatest) in ends.items() if least == greatest]
    if constant:
        named = listed([features.names[i] for i in constant], [features.positions[i] + 1 for i in constant])
        them = "this feature out or declare its range" if len(constant) == 1 else "them out or declare their ranges"
        raise InputError(f"{table.name} has the same value in every record of {named}: leave {them}.")
    for i, (least, greatest) in ends.items():
        low, high = around(least, greatest)
        if not (max(-low, high) <= _LARGEST and high - low >= 1 / _LARGEST):
            raise InputError(f"{table.name} has values in {features.shown(i)} that are too large or too close together "
                             f"to work with (beyond {_LARGEST:g}): declare its range, change its unit or leave it out.")
        used[i] = Range(low, high, Origin.READ)
    return [used[i] for i in range(len(features.names))]


def _complete(table: Table, features: _Features, orientation: str, missing: str) -> FloatArray:
    """Return the complete records; raise `InputError` for others unless they are to be dropped."""
    gaps = np.isnan(features.values)
    incomplete = gaps.any(axis=1)
    count = int(incomplete.sum())
    if missing == "drop" or not count:
        return features.values[~incomplete] if count else features.values
    record, feature = (int(i) for i in np.argwhere(gaps)[0])
    row, column = record, features.shown(feature)
    if orientation == "columns":
        row, column = features.positions[feature], str(record + 1)
    raise InputError(f"{table.name} has missing values in {count} record{'s' * (count != 1)}, the first in row "
                     f"{table.file_row(row)}, column {column}: fill them in, drop those records or leave "
                     "the column out.")
