"""A file as it was read, and the dataset made of it: features chosen, ranges set, gaps settled, values clipped."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mvgviz.errors import InputError
from mvgviz.optional import optional
from mvgviz.provenance import Origin, Range, Ranges
from mvgviz.query.dataset import MISSING, Dataset
from mvgviz.query.frames import from_frame, is_frame
from mvgviz.query.ranges import around, checked_range, is_dated
from mvgviz.text import one_line
from mvgviz.validation import FloatArray, frozen, instance, one_of

LONGEST_NAME = 80
MOST_FEATURES = 2_000
"""Of a dataset that is made from a file."""
_MOST_COLUMNS = 50_000  # in a file, where records may be columns
_SHOWN_NAME = 40
_LONG_NUMBER = re.compile(r"\d(?:[.,]?\d){4}")
_BLOCK = 65_536  # rows looked at together, so that masks stay small
_LARGEST = 1e60  # a dataset's own limit; here the message must not tell the data
IntArray: TypeAlias = npt.NDArray[np.int64]
MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "Null", "null", "None",
    "none", "?", ".")


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.strip() in MISSING_WORDS


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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Features:
    """``values``: records × features, a view where it can be. ``positions``: where in the table each feature is."""

    names: tuple[str, ...]
    values: FloatArray = field(repr=False)
    positions: Sequence[int]

    def shown(self, index: int) -> str:
        """A feature's name as a message quotes it."""
        return shown(self.names[index], self.positions[index] + 1)

    def extremes(self, index: int) -> tuple[float, float]:
        """The least and the greatest value of a feature, missing values left aside."""
        values = self.values[:, index]
        least, greatest = np.fmin.reduce(values), np.fmax.reduce(values)  # these two pass over NaN
        if np.isnan(least):
            raise InputError(f"Feature {self.shown(index)} has no values at all: leave it out.")
        return float(least), float(greatest)


def propose_ranges(table: Table, columns: Iterable[str] | None = None, *,
                   orientation: str = "rows") -> dict[str, tuple[float, float]]:
    """For each feature the least and the greatest value, rounded outwards: low < high always.

    They show what the data is like and are not private. With ``orientation="columns"`` the features are
    the rows of the table.

    >>> from mvgviz.data import read_table
    >>> propose_ranges(read_table(b"dose,age\\n0.27,23\\n4.81,67\\n"))
    {'dose': (0.0, 5.0), 'age': (20.0, 70.0)}
    """
    features = _features(table, orientation, columns)
    return {name: around(*features.extremes(i)) for i, name in enumerate(features.names)}


def table_to_dataset(table: Any, *, orientation: str = "rows", columns: Iterable[str] | None = None,
                     ranges: Ranges | None = None, missing: str = "reject",
                     levels: Mapping[str, Iterable[Any]] | None = None, person: str | None = None,
                     at_most: int | None = None) -> Dataset:
    """A dataset of the chosen features, clipped to their ranges.

    ``orientation``: whether records are "rows" or "columns" of the table. A feature that ``ranges`` leaves out gets the
    range of :func:`propose_ranges`, and its origin then says that it was read from the data. A missing value is
    refused, or (``missing="middle"``) becomes the middle of its range, whatever the other records hold; with "drop" its
    record is left out, and the number of records then follows from the data: ``records_origin`` says so, also where
    there was nothing to drop. The same goes for rows that have nothing in them. A data frame with its records in rows
    is taken too, as by :meth:`Dataset.from_frame`.

    Categories with their ``levels``, a ``person`` with ``at_most`` so many records, and dates (whose range is two
    dates) are as there, too; text of a table must have been kept (``read_table(…, texts=[…])``, which
    :func:`load_table` does by itself). Unless ``columns`` says otherwise, text comes after numbers.
    """
    declared: dict[str, Any] = {"ranges": ranges, "missing": missing, "levels": levels, "person": person,
                                "at_most": at_most}
    one_of("orientation", orientation, ("rows", "columns"))
    if is_frame(table) and not isinstance(table, Table):
        if orientation == "columns":
            raise InputError("A data frame must have its records in rows: turn it first (frame.T).")
        return Dataset.from_frame(table, columns=columns, **declared)
    instance("table", table, Table)
    if at_most is not None or texts_of(ranges, levels, person):
        one_of("orientation", orientation, ("rows",))
        return _with_texts(table, columns=columns, **declared)
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
        values = np.clip(values, lows, highs)  # copied only where it must be
    dropped = missing == "drop" or (orientation == "rows" and table.empty_rows > 0)
    return Dataset(matrix=values.T, features=features.names, lower=lows, upper=highs,
                   range_origins=[each.origin for each in used],
                   records_origin=Origin.READ if dropped else Origin.DECLARED)


def texts_of(ranges: Any, levels: Any, person: Any) -> tuple[str, ...]:
    """The columns that may hold text: categories, dates, and whose record it is."""
    dated = [name for name, ends in ranges.items() if is_dated(ends)] if isinstance(ranges, Mapping) else []
    named = [*(levels or ()), *dated, *([] if person is None else [person])]
    return tuple(dict.fromkeys(str(name) for name in named))


def _with_texts(table: Table, *, columns: Iterable[str] | None, ranges: Ranges | None, missing: str,
                levels: Mapping[str, Iterable[Any]] | None, person: str | None, at_most: int | None) -> Dataset:
    """A dataset of numbers, categories and dates."""
    if not isinstance(levels, Mapping | None):
        raise InputError("levels must map column names to sequences of levels")
    levels = {name: given if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
              for name, given in (levels or {}).items()}
    named = texts_of(ranges, levels, person)
    lost = [name for name in named if name in table.text_columns]
    if lost:
        raise InputError(f"{table.name} was read without the text of {shown(lost[0], 1)}: name it in "
                         "read_table(…, texts=[…]).")
    _chosen(named or table.columns, (*table.columns, *table.texts), table)
    found: dict[str, Any] = {name: table.values[:, i] for i, name in enumerate(table.columns)}
    for name in [name for name in named if name in table.texts]:
        cells, given = table.texts[name].tolist(), levels.get(name, ())
        known = set(map(str, given)) if isinstance(given, tuple) else set()
        cells = [None if is_missing(cell) and cell not in known else cell for cell in cells]
        is_date = name not in levels and name != person
        found[name] = np.array(_dates(table, name, cells) if is_date else cells, dtype=object)
    chosen = None if columns is None else _chosen(columns, tuple(found), table)
    data = from_frame(optional("pandas").DataFrame(found), columns=chosen, ranges=ranges, missing=missing,
                      levels=levels, person=person, at_most=at_most, called=table.name)
    return replace(data, records_origin=Origin.READ) if table.empty_rows else data


def _dates(table: Table, name: str, cells: Sequence[str | None]) -> list[datetime | None]:
    """Dates as written in ISO 8601."""
    found = []
    for row, cell in enumerate(cells):
        try:
            found.append(None if cell is None else datetime.fromisoformat(cell))
        except ValueError:
            raise InputError(f"{table.name} has no date in row {table.file_row(row)} of column {shown(name, 1)}: write "
                             "each as 2024-03-05.") from None
    return found


def _features(table: Table, orientation: str, columns: Iterable[str] | None) -> _Features:
    """The chosen features in the chosen order; all of them by default."""
    names, values = table.columns, table.values
    if one_of("orientation", orientation, ("rows", "columns")) == "columns":
        values = values.T
        names = tuple(clean_name(name, row) for row, name in enumerate(table.row_names or (), start=1))
        if not names or len(set(names)) < len(names):
            names = tuple(f"row {row}" for row in range(1, table.n_rows + 1))
    chosen = names if columns is None else _chosen(columns, names, table)
    if not len(chosen) <= MOST_FEATURES:
        turn = " If its records are columns, say so." if values.shape[0] <= MOST_FEATURES else ""
        raise InputError(f"{table.name} has {len(chosen)} features and at most {MOST_FEATURES} can be used: "
                         f"choose the columns you need.{turn}")
    if chosen == names:
        return _Features(names=names, values=values, positions=range(len(names)))
    position_of = {name: position for position, name in enumerate(names)}
    positions = [position_of[name] for name in chosen]
    return _Features(names=chosen, values=values[:, positions], positions=positions)


def _chosen(columns: Any, names: tuple[str, ...], table: Table) -> tuple[str, ...]:
    """The names asked for, found to be names of features, all different."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InputError("columns must be a sequence of column names")
    chosen, known = tuple(columns), set(names)
    for position, name in enumerate(chosen, start=1):
        if not isinstance(name, str):
            raise InputError(f"columns must be names, got a {type(name).__name__}")
        if name in known:
            continue
        quoted = shown(name, position)
        if name in table.text_columns:
            raise InputError(f"{table.name} has text in column {quoted}: only columns of numbers can be features, "
                             "and categories whose levels are declared (in Python).")
        if name in table.empty_columns:
            raise InputError(f"{table.name} has nothing in column {quoted}: leave it out.")
        raise InputError(f"{table.name} has no column named {quoted}: check the spelling and the header.")
    if len(set(chosen)) != len(chosen):
        raise InputError("columns must be different from each other: one is named twice")
    if not chosen:
        raise InputError("columns must name at least one feature")
    return chosen


def _ranges(table: Table, features: _Features, ranges: Ranges | None) -> list[Range]:
    """The range of each feature: as given, else around its values; ranges of columns not chosen are left aside."""
    if not isinstance(ranges, Mapping | None):
        raise InputError("ranges must map column names to pairs (low, high)")
    ranges = ranges or {}
    if not ranges.keys() <= {*features.names, *table.columns}:
        raise InputError("ranges must name columns of the table, and one of its names is no column: check the spelling")
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
                             f"to work with (beyond {_LARGEST:g}): change its unit or leave it out.")
        used[i] = Range(low, high, Origin.READ)
    return [used[i] for i in range(len(features.names))]


def _complete(table: Table, features: _Features, orientation: str, missing: str) -> FloatArray:
    """The records without a missing value among the chosen features; refuses the others if they are not to drop."""
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
                     f"{table.file_row(row)}, column {column}: fill them in (with the middle of their range, if you "
                     "like), drop those records or leave the column out.")
