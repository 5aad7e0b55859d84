"""From a table to a dataset: features chosen, ranges set, gaps settled, values clipped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from mvgviz.data.table import Table, clean_name, listed, shown
from mvgviz.errors import InputError
from mvgviz.provenance import Origin, Range, Ranges
from mvgviz.query.dataset import MISSING, Dataset
from mvgviz.query.frames import from_frame, is_frame
from mvgviz.query.ranges import around, checked_range, is_dated
from mvgviz.validation import FloatArray, instance, one_of

MOST_FEATURES = 2_000
"""Of a dataset that is made from a file."""
_LARGEST = 1e60  # a dataset's own limit; here the message must not tell the data


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
    declared: dict[str, Any] = {"levels": levels, "person": person, "at_most": at_most}
    if is_frame(table) and not isinstance(table, Table):
        return frame_to_dataset(table, orientation=orientation, columns=columns, ranges=ranges, missing=missing,
                                **declared)
    instance("table", table, Table)
    if at_most is not None or texts_of(ranges, levels, person):
        one_of("orientation", orientation, ("rows",))
        return _with_texts(table, columns=columns, ranges=ranges, missing=missing, **declared)
    one_of("missing", missing, MISSING)
    features = _features(table, orientation, columns)
    values = features.values
    if missing != "middle" and table.rows_with_missing:
        values = _complete(table, features, orientation, missing)
    if not values.shape[0] >= 2:
        raise InputError(f"{table.name} has {values.shape[0]} record{'s' * (values.shape[0] != 1)}"
                         f"{' without missing values' * bool(table.rows_with_missing)}, and at least 2 are needed"
                         f"{': are the records in columns?' if orientation == 'rows' and values.shape[1] > 2 else '.'}")
    given = _given(table, features, ranges)
    _refuse_constants(table, features, [i for i, known in enumerate(given) if known is None])
    used = [known or _proposed(table, features, i) for i, known in enumerate(given)]
    lows, highs = np.array([(each.low, each.high) for each in used]).T
    if missing == "middle" and np.isnan(values).any():
        values = np.where(np.isnan(values), (lows + highs) / 2, values)
    if ranges and (lows < highs).all() and ((values.min(axis=0) < lows) | (values.max(axis=0) > highs)).any():
        values = np.clip(values, lows, highs)  # copied only where it must be
    dropped = missing == "drop" or (orientation == "rows" and table.empty_rows > 0)
    return Dataset(matrix=values.T, features=features.names, lower=lows, upper=highs,
                   range_origins=[each.origin for each in used],
                   records_origin=Origin.READ if dropped else Origin.DECLARED)


def frame_to_dataset(frame: Any, *, orientation: str, columns: Iterable[str] | None, ranges: Ranges | None,
                     missing: str, **declared: Any) -> Dataset:
    """A dataset of a data frame; its records must be rows."""
    if one_of("orientation", orientation, ("rows", "columns")) == "columns":
        raise InputError("A data frame must have its records in rows: turn it first (frame.T).")
    return Dataset.from_frame(frame, columns=columns, ranges=ranges, missing=missing, **declared)


def texts_of(ranges: Any, levels: Any, person: Any) -> tuple[str, ...]:
    """The columns that may hold text: categories, dates, and whose record it is."""
    dated = [name for name, ends in ranges.items() if is_dated(ends)] if isinstance(ranges, Mapping) else []
    named = [*(levels or ()), *dated, *([] if person is None else [person])]
    return tuple(dict.fromkeys(str(name) for name in named))


@dataclass(frozen=True, eq=False)
class _Series:
    """A column as a frame gives it."""

    values: Any

    def to_numpy(self) -> Any:
        return self.values


class _Frame(dict[str, _Series]):
    """The columns of a table as a frame has them."""

    def __init__(self, columns: Mapping[str, Any], n_rows: int) -> None:
        super().__init__({name: _Series(values) for name, values in columns.items()})
        self.columns, self.shape = tuple(self), (n_rows, len(self))


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
        given = levels.get(name, ())
        found[name] = _filled(table.texts[name], set(map(str, given)) if isinstance(given, tuple) else set())
        if name not in levels and name != person:
            found[name] = _dates(table, name, found[name])
    chosen = None if columns is None else _chosen(columns, tuple(found), table)
    data = from_frame(_Frame(found, table.n_rows), columns=chosen, ranges=ranges, missing=missing, levels=levels,
                      person=person, at_most=at_most, called=table.name)
    return replace(data, records_origin=Origin.READ) if table.empty_rows else data


def _filled(cells: Any, known: set[str]) -> Any:
    """Texts, and None where one stands for a missing value and is no level."""
    from mvgviz.data.columns import is_missing  # brings a large library along

    return np.array([None if is_missing(cell) and cell not in known else cell for cell in cells.tolist()], dtype=object)


def _dates(table: Table, name: str, cells: Any) -> Any:
    """Dates as written in ISO 8601; with a time zone the moment in UTC."""
    found = np.full(cells.size, np.datetime64("NaT"), dtype="datetime64[us]")
    for row, cell in enumerate(cells.tolist()):
        if cell is None:
            continue
        try:
            moment = datetime.fromisoformat(cell)
        except ValueError:
            raise InputError(f"{table.name} has no date in row {table.file_row(row)} of column {shown(name, 1)}: write "
                             "each as 2024-03-05.") from None
        found[row] = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return found


def _features(table: Table, orientation: str, columns: Iterable[str] | None) -> _Features:
    """The chosen features in the chosen order; all of them by default."""
    turned = one_of("orientation", orientation, ("rows", "columns")) == "columns"
    names = _row_names(table) if turned else table.columns
    values = table.values.T if turned else table.values
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


def _row_names(table: Table) -> tuple[str, ...]:
    cleaned = tuple(clean_name(name, row) for row, name in enumerate(table.row_names or (), start=1))
    if cleaned and len(set(cleaned)) == len(cleaned):
        return cleaned
    return tuple(f"row {row}" for row in range(1, table.n_rows + 1))


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


def _given(table: Table, features: _Features, ranges: Ranges | None) -> list[Range | None]:
    """The given range of each feature, or None; those of columns that were not chosen are left aside."""
    if not isinstance(ranges, Mapping | None):
        raise InputError("ranges must map column names to pairs (low, high)")
    ranges = ranges or {}
    if not ranges.keys() <= {*features.names, *table.columns}:
        raise InputError("ranges must name columns of the table, and one of its names is no column: check the spelling")
    return [checked_range(ranges[name], features.shown(i)) if name in ranges else None
            for i, name in enumerate(features.names)]


def _proposed(table: Table, features: _Features, index: int) -> Range:
    """A range around the data of a feature, as read from it."""
    least, greatest = features.extremes(index)
    low, high = around(least, greatest)
    if not (max(-low, high) <= _LARGEST and high - low >= 1 / _LARGEST):
        raise InputError(f"{table.name} has values in {features.shown(index)} that are too large or too close together "
                         f"to work with (beyond {_LARGEST:g}): change its unit or leave it out.")
    return Range(low, high, Origin.READ)


def _refuse_constants(table: Table, features: _Features, positions: Sequence[int]) -> None:
    """Features without a range of their own that are the same in every record: all of them in one sentence."""
    constant = [] if table.is_graph else [i for i in positions if len(set(features.extremes(i))) == 1]
    if constant:
        named = listed([features.names[i] for i in constant], [features.positions[i] + 1 for i in constant])
        them = "this feature out or declare its range" if len(constant) == 1 else "them out or declare their ranges"
        raise InputError(f"{table.name} has the same value in every record of {named}: leave {them}.")


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
