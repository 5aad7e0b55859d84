"""Columns that are no features: those that number the records, and those that say whose record it is.

>>> from mvgviz.data import read_table
>>> found = identifiers(read_table(b"Unnamed: 0,patient_id,age\\n0,7,31\\n1,9,58\\n2,7,44\\n"))
>>> [(each.name, each.numbers_records, each.most) for each in found]
[('Unnamed: 0', True, 1), ('patient_id', False, 2)]
"""

import re
from dataclasses import dataclass

import numpy as np

from mvgviz.data.table import Table
from mvgviz.validation import FloatArray

_INDEX = re.compile(r"unnamed: \d+|index|level_\d+|row(_?(nr|no|number|names?))?|column 1", re.IGNORECASE)
_ID = re.compile(r"(?i:(.*[\s_.-])?(id|uid|uuid|guid|ssn|mrn))|.*[a-z](ID|Id)|(?i:(patient|person|subject|user|customer"
                 r"|client|member|household|participant|respondent)([\s_.-]?(no|nr|number|num|code))?)")


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
