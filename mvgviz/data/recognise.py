"""What the numbers of a table tell of its people: whether another table holds the same, which columns name them.

A table is known again in another format, with a blank line more, with other columns left out or beside it, with its
records in another order, or turned on its side. Two tables are the same when a feature that tells records apart stands
in both: one whose values are not all alike and do not simply count; of features with but two values the order must be
the same, too. Another unit, rounding, a record more or less make another table: that only the person can know. What is
kept of a table follows from its values, so it must never leave the memory of the session; a key drawn afresh makes it
worthless elsewhere.

>>> from mvgviz.data import read_table
>>> key = new_key()
>>> patients = contents_of(read_table(b"age,dose\\n31,0.5\\n58,2.5\\n40,1\\n").values, key)
>>> patients.matches(contents_of(read_table(b"dose;visit\\n0,5;1\\n1;2\\n2,5;3\\n\\n").values, key))
True
>>> found = identifiers(read_table(b"Unnamed: 0,patient_id,age\\n0,7,31\\n1,9,58\\n2,7,44\\n"))
>>> [(each.name, each.numbers_records, each.most) for each in found]
[('Unnamed: 0', True, 1), ('patient_id', False, 2)]
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from mvgviz.data.table import MOST_FEATURES, Table
from mvgviz.validation import FloatArray

_INDEX = re.compile(r"unnamed: \d+|index|level_\d+|row(_?(nr|no|number|names?))?|column 1", re.IGNORECASE)
_ID = re.compile(r"(?i:(.*[\s_.-])?(id|uid|uuid|guid|ssn|mrn))|.*[a-z](ID|Id)|(?i:(patient|person|subject|user|customer"
                 r"|client|member|household|participant|respondent)([\s_.-]?(no|nr|number|num|code))?)")


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The features of a table, and its records where those could be features of one that lies on its side."""

    features: frozenset[bytes] = field(repr=False)
    records: frozenset[bytes] = field(repr=False)

    def matches(self, other: Contents) -> bool:
        """Whether both hold the same records, as far as their numbers tell."""
        return bool(self.features & other.features or self.features & other.records or self.records & other.features)


def new_key() -> bytes:
    """Fresh bits for :func:`contents_of`."""
    return secrets.token_bytes(16)


def contents_of(values: FloatArray, key: bytes) -> Contents:
    """What makes a table, records × features, known again to whoever has the same key."""
    records = _digests(values.T, key) if values.shape[0] <= MOST_FEATURES else ()
    return Contents(features=frozenset(_digests(values, key)), records=frozenset(records))


def _digests(values: FloatArray, key: bytes) -> Iterator[bytes]:
    """One for each column that tells records apart, whatever their order; the order counts where it has two values."""
    for column in values.T:
        low, high = np.fmin.reduce(column), np.fmax.reduce(column)
        if not low < high or _has_equal_steps(column):
            continue
        with np.errstate(over="ignore"):
            short = column.astype(np.float32) + np.float32(0)  # as some files have them; -0 is 0
        short[np.isnan(short)] = np.nan  # one gap is like another
        if not ((column == low) | (column == high)).all():
            short.sort()
        yield hashlib.blake2b(short.tobytes(), key=key, digest_size=16).digest()


def _has_equal_steps(column: FloatArray) -> bool:
    """Whether a column simply counts, as record numbers do."""
    step = column[1] - column[0]
    return bool(column.size > 2 and (np.abs(np.diff(column) - step) <= 1e-9 * np.abs(step)).all())


@dataclass(frozen=True, kw_only=True)
class Identifier:
    """``numbers_records``: it counts them from 0 or 1; ``most``: how often one value occurs at most."""

    name: str
    numbers_records: bool
    most: int


def identifiers(table: Table) -> tuple[Identifier, ...]:
    """The columns of numbers that look like one; what is in them is looked at, so this is for the owner's eyes."""
    found = []
    for position, name in enumerate(table.columns):
        numbered = _counts(table.values[:, position])
        if (numbered and (_INDEX.fullmatch(name) or position == 0)) or (_ID.fullmatch(name) and _whole(
                table.values[:, position])):
            found.append(Identifier(name=name, numbers_records=numbered, most=_most(table.values[:, position])))
    return tuple(found)


def _counts(values: FloatArray) -> bool:
    """Whether these are 0, 1, 2, … or 1, 2, 3, …, three of them at least."""
    first = values[0] if values.size >= 3 else np.nan
    return bool(first in (0, 1) and values[-1] == first + values.size - 1
                and np.array_equal(values, first + np.arange(values.size)))


def _whole(values: FloatArray) -> bool:
    there = values[~np.isnan(values)]
    return bool(there.size and (there == np.floor(there)).all())


def _most(values: FloatArray) -> int:
    return int(np.unique(values[~np.isnan(values)], return_counts=True)[1].max(initial=0))
