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

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mvgviz.data.table import Table
from mvgviz.validation import FloatArray

_MOST_RECORDS = 2_000  # as features: no more than a dataset may have
_BLOCK = 16_384

Words = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]
Line = tuple[int, int, int]
_INDEX = re.compile(r"unnamed: \d+|index|level_\d+|row(_?(nr|no|number|names?))?|column 1", re.IGNORECASE)
_ID = re.compile(r"(?i:(.*[\s_.-])?(id|uid|uuid|guid|ssn|mrn))|.*[a-z](ID|Id)|(?i:(patient|person|subject|user|customer"
                 r"|client|member|household|participant|respondent)([\s_.-]?(no|nr|number|num|code))?)")


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The features of a table, and its records where those could be features of one that lies on its side."""

    features: frozenset[Line] = field(repr=False)
    records: frozenset[Line] = field(repr=False)

    def matches(self, other: Contents) -> bool:
        """Whether both hold the same records, as far as their numbers tell."""
        return bool(self.features & other.features or self.features & other.records or self.records & other.features)


def new_key() -> int:
    """64 fresh bits for :func:`contents_of`."""
    return secrets.randbits(64)


def contents_of(values: FloatArray, key: int) -> Contents:
    """What makes a table, records × features, known again to whoever has the same key."""
    records = _lines(values.T, key) if values.shape[0] <= _MOST_RECORDS else ()
    return Contents(features=frozenset(_lines(values, key)), records=frozenset(records))


def _lines(values: FloatArray, key: int) -> Iterator[Line]:
    """One for each column that tells records apart: not the same everywhere, not simply counting.

    How many values, and two sums of their mixed bits, which do not depend on their order. Two values say
    little beyond how often each occurs: there the order has to be the same, too.
    """
    counts, binary, constant = _kinds(values)
    first, second = (np.zeros(values.shape[1], dtype=np.uint64) for _ in range(2))
    with np.errstate(over="ignore"):
        for start in range(0, values.shape[0], _BLOCK):
            bits = _bits(values[start : start + _BLOCK])
            places = np.arange(start, start + bits.shape[0], dtype=np.uint64) << np.uint64(32)
            bits[:, binary] += places[:, None]
            mixed = _mixed(bits ^ np.uint64(key))
            first += mixed.sum(axis=0)
            second += _mixed(mixed ^ np.uint64(key)).sum(axis=0)
    for column in np.flatnonzero(~(counts | constant)):
        yield values.shape[0], int(first[column]), int(second[column])


def _kinds(values: FloatArray) -> tuple[Flags, Flags, Flags]:
    """Which columns run in equal steps (as record numbers do), have but two values, or one."""
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    steps = values[1] - values[0] if values.shape[0] > 2 else np.full(values.shape[1], np.nan)
    counts, binary = np.ones(values.shape[1], dtype=np.bool_), np.ones(values.shape[1], dtype=np.bool_)
    for start in range(0, values.shape[0], _BLOCK):
        block = values[start : start + _BLOCK + 1]
        if counts.any():
            counts &= (np.abs(np.diff(block, axis=0) - steps) <= 1e-9 * np.abs(steps)).all(axis=0)
        if binary.any():
            binary &= ((block == low) | (block == high)).all(axis=0)
    return counts, binary, ~(low < high)


def _bits(block: FloatArray) -> Words:
    """As 32-bit floats, whatever the file had of them: -0 is 0, and one gap is like another."""
    with np.errstate(over="ignore", invalid="ignore"):
        short = np.ascontiguousarray(block, dtype=np.float32) + np.float32(0)
    return np.where(np.isnan(short), np.uint32(1), short.view(np.uint32)).astype(np.uint64)


def _mixed(words: Words) -> Words:
    """Each word's bits stirred (the finaliser of SplitMix64: Steele, Lea & Flood 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


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
