"""From a table to a dataset: features chosen, ranges set, gaps settled, values clipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mvgviz.data.ranges import around, extremes
from mvgviz.data.selection import Features, features_of
from mvgviz.data.table import Table
from mvgviz.errors import InputError
from mvgviz.provenance import Origin, Range, Ranges
from mvgviz.query.dataset import MISSING, Dataset
from mvgviz.validation import FloatArray, number, one_of

_LARGEST = 1e60  # a dataset's own limit; here the message must not tell the data


def table_to_dataset(table: Table, *, orientation: str = "rows", columns: Iterable[str] | None = None,
                     ranges: Ranges | None = None, missing: str = "reject") -> Dataset:
    """A dataset of the chosen features, clipped to their ranges.

    ``orientation``: whether records are "rows" or "columns" of the table. A feature
    that ``ranges`` leaves out gets the range of :func:`propose_ranges`, and its
    origin then says that it was read from the data. A missing value is refused, or
    (``missing="middle"``) becomes the middle of its range, whatever the other
    records hold; with "drop" its record is left out, and the number of records then
    follows from the data: ``records_origin`` says so, also where there was nothing
    to drop. The same goes for rows that have nothing in them.
    """
    one_of("missing", missing, MISSING)
    features = features_of(table, orientation=orientation, columns=columns)
    values = features.values
    if table.rows_with_missing:
        values = _complete(table, features, orientation, missing)
    if not values.shape[0] >= 2:
        raise InputError(
            f"{table.name} has {values.shape[0]} record{'s' * (values.shape[0] != 1)}"
            f"{' without missing values' * bool(table.rows_with_missing)}, and at least 2 are needed"
            f"{': are the records in columns?' if orientation == 'rows' and values.shape[1] > 2 else '.'}"
        )
    dropped = missing == "drop" or (orientation == "rows" and table.empty_rows > 0)
    given = _given(table, features, ranges)
    lows, highs = _ends(table, features, given)
    if missing == "middle" and np.isnan(values).any():
        values = np.where(np.isnan(values), (lows + highs) / 2, values)
    if given and (lows < highs).all() and ((values.min(axis=0) < lows) | (values.max(axis=0) > highs)).any():
        values = np.clip(values, lows, highs)  # copied only where it must be
    origins = [given[i].origin if i in given else Origin.READ for i in range(len(features.names))]
    return Dataset(matrix=values.T, features=features.names, lower=lows, upper=highs, range_origins=origins,
                   records_origin=Origin.READ if dropped else Origin.DECLARED)


def _given(table: Table, features: Features, ranges: Ranges | None) -> dict[int, Range]:
    """The given ranges by the feature's place; those of columns that were not chosen are left aside."""
    if ranges is None:
        return {}
    if not isinstance(ranges, Mapping):
        raise InputError("ranges must map column names to pairs (low, high)")
    if not ranges.keys() <= {*features.names, *table.columns}:
        raise InputError("ranges must name columns of the table, and one of its names is no column: check the spelling")
    return {i: _range(ranges[name], features.shown(i)) for i, name in enumerate(features.names) if name in ranges}


def _ends(table: Table, features: Features,
          given: Mapping[int, Range]) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends: given, or around the data."""
    pairs = {i: (one.low, one.high) for i, one in given.items()}
    others = [i for i in range(len(features.names)) if i not in pairs]
    for i, (least, greatest) in zip(others, extremes(features, others), strict=True):
        if least == greatest and not table.is_graph:
            raise InputError(
                f"{table.name} has the same value in every record of {features.shown(i)}: leave this feature out "
                "or declare its range."
            )
        low, high = pairs[i] = around(least, greatest)
        if not (max(-low, high) <= _LARGEST and high - low >= 1 / _LARGEST):
            raise InputError(
                f"{table.name} has values in {features.shown(i)} that are too large or too close together to work "
                f"with (beyond {_LARGEST:g}): change its unit or leave it out."
            )
    ends = np.array([pairs[i] for i in range(len(features.names))])
    return ends[:, 0], ends[:, 1]


def _range(ends: Any, feature: str) -> Range:
    origin = ends.origin if isinstance(ends, Range) else Origin.DECLARED
    try:
        low, high = ends[:2] if isinstance(ends, Range) else ends
    except (TypeError, ValueError):
        raise InputError(f"The range of {feature} must be a pair (low, high).") from None
    return Range(number(f"the low end of {feature}", low), number(f"the high end of {feature}", high), origin)


def _complete(table: Table, features: Features, orientation: str, missing: str) -> FloatArray:
    """The records, or those without a missing value among the chosen features; refuses what is to be refused."""
    gaps = np.isnan(features.values)
    incomplete = gaps.any(axis=1)
    count = int(incomplete.sum())
    if not count:
        return features.values
    if missing == "middle":
        return features.values
    if missing == "drop":
        return features.values[~incomplete]
    record, feature = (int(i) for i in np.argwhere(gaps)[0])
    row, column = (record, features.positions[feature]) if orientation == "rows" else (
        features.positions[feature], record)
    raise InputError(
        f"{table.name} has missing values in {count} record{'s' * (count != 1)}, the first in row "
        f"{table.file_row(row)}, column {column + 1 if orientation == 'columns' else features.shown(feature)}: "
        "fill them in (with the middle of their range, if you like), drop those records or leave the column out."
    )
