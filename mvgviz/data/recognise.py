"""Recognise the people of a table: whether another table holds the same, which columns name them.

Two tables are the same if they share a feature that distinguishes records: its values differ and do not simply count.
Features with two values, and text with few, must also have the same order. Another unit, rounding or one record more
make another table: only the person can know. The digests stay in the session's memory, under a fresh key.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from mvgviz.data.table import MOST_FEATURES, Table, is_missing
from mvgviz.query.frames import as_date, level_text
from mvgviz.validation import FloatArray

MOST_LEVELS = 50  # most values that can be proposed as levels of a category
_INDEX = re.compile(r"unnamed: \d+|index|level_\d+|row(_?(nr|no|number|names?))?|column 1", re.IGNORECASE)
_ID = re.compile(r"(?i:(.*[\s_.-])?(id|uid|uuid|guid|ssn|mrn))|.*[a-z](ID|Id)|(?i:(patient|person|subject|user|customer"
                 r"|client|member|household|participant|respondent)([\s_.-]?(no|nr|number|num|code))?)")


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The features of a table, and its records if they could be features of a transposed table."""

    features: frozenset[bytes] = field(repr=False)
    records: frozenset[bytes] = field(repr=False)

    def matches(self, other: Contents) -> bool:
        """Return whether both hold the same records, judged by their values."""
        return bool(self.features & other.features or self.features & other.records or self.records & other.features)


def new_key() -> bytes:
    """Return fresh bits for :func:`contents_of`."""
    return secrets.token_bytes(16)


def contents_of(values: FloatArray, key: bytes, texts: Iterable[Iterable[object]] = ()) -> Contents:
    """Return digests of a table, records × features, under this key; ``texts``: its other columns."""
    records = _digests(values.T, key) if values.shape[0] <= MOST_FEATURES and values.shape[1] else ()
    told = set(_digests(values, key))
    for column in texts:
        cells = ["" if is_missing(text := str(cell).strip()) else text for cell in column]
        levels = set(cells) - {""}
        if len(levels) > 1:  # the order counts if there are as few as in a category
            ordered = cells if len(levels) <= MOST_LEVELS else sorted(cells)
            told.add(hashlib.blake2b(json.dumps(ordered).encode(), key=key, digest_size=16).digest())
    return Contents(features=frozenset(told), records=frozenset(records))


def _digests(values: FloatArray, key: bytes) -> Iterator[bytes]:
    """Digest each column that distinguishes records; the order counts only with two values."""
    for column in values.T:
        low, high = np.fmin.reduce(column), np.fmax.reduce(column)
        if not low < high:
            continue
        step = column[1] - column[0]
        if column.size > 2 and (np.abs(np.diff(column) - step) <= 1e-9 * np.abs(step)).all():  # it counts
            continue
        with np.errstate(over="ignore"):
            short = column.astype(np.float32) + np.float32(0)  # some files hold these; -0 becomes 0
        short[np.isnan(short)] = np.nan  # all gaps are equal
        if not ((column == low) | (column == high)).all():
            short.sort()
        yield hashlib.blake2b(short.tobytes(), key=key, digest_size=16).digest()


@dataclass(frozen=True, kw_only=True)
class Identifier:
    """``numbers_records``: it counts records from 0 or 1; ``most``: how often one value occurs at most."""

    name: str
    numbers_records: bool
    most: int


def identifiers(table: Table) -> tuple[Identifier, ...]:
    """Return the columns that look like identifiers, judged by names and (repeated) values: for the owner's eyes."""
    found = []
    for position, (name, values) in enumerate(zip(table.columns, table.values.T, strict=True)):
        numbered, there = _counts(values), values[~np.isnan(values)]
        whole = there.size > 0 and (there == np.floor(there)).all()
        if (numbered and (_INDEX.fullmatch(name) or position == 0)) or (_ID.fullmatch(name) and whole):
            most = int(np.unique(there, return_counts=True)[1].max())
            found.append(Identifier(name=name, numbers_records=numbered, most=most))
    for name, cells in table.texts.items():
        times = Counter(cell for cell in cells.tolist() if not is_missing(cell))
        most = max(times.values(), default=0)
        if _ID.fullmatch(name) or (len(times) > MOST_LEVELS and most > 1 and not are_dates(times)):
            found.append(Identifier(name=name, numbers_records=False, most=most))
    return tuple(found)


def levels_of(cells: Sequence[object]) -> tuple[str, ...] | None:
    """Return the sorted values of a column without gaps; None for more than 50. Not private."""
    found = {text for cell in set(cells) if cell == cell and not is_missing(text := level_text(cell))}
    def as_number(text: str) -> tuple[float, str]:
        try:
            return float(text), text
        except ValueError:
            return np.inf, text

    return tuple(sorted(found, key=as_number)) if len(found) <= MOST_LEVELS else None


def holds_dates(table: Table, name: str) -> bool:
    """Return whether all text of a column is dates."""
    cells = {cell for cell in table.texts.get(name, ()) if not is_missing(cell)}
    return bool(cells) and are_dates(cells)


def are_dates(cells: Iterable[str]) -> bool:
    """Return whether all cells are dates."""
    try:
        return all(as_date(cell) for cell in cells)
    except ValueError:
        return False


def _counts(values: FloatArray) -> bool:
    """Return whether these are 0, 1, 2, … or 1, 2, 3, …, at least three."""
    first = values[0] if values.size >= 3 else np.nan
    return bool(first in (0, 1) and values[-1] == first + values.size - 1
                and np.array_equal(values, first + np.arange(values.size)))
