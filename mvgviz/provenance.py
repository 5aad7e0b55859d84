"""Where a choice came from: the one thing a guarantee cannot compute for itself.

A range, a direction, a split, a number of records is *declared* (known or chosen without
looking at the data), *paid for* (learned from the data through noise, out of the budget) or
*read from the data* (which no guarantee covers). The value carries its origin with it, and
what is made of several values has the most careful of their origins.

>>> from mvgviz.provenance import Origin, Range, weakest
>>> weakest([Origin.DECLARED, Range(0, 120, Origin.READ).origin]).value
'read from the data'
"""

from collections.abc import Iterable, Mapping
from datetime import date
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from numpy import datetime64


class Origin(StrEnum):
    """From the best to the worst, as far as a guarantee goes."""

    DECLARED = "declared"
    PAID = "paid for"
    READ = "read from the data"

    @property
    def is_covered(self) -> bool:
        """Whether a guarantee can speak of a value with this origin."""
        return self is not Origin.READ

    @property
    def words(self) -> str:
        """As a person should read it."""
        if self is Origin.DECLARED:
            return "chosen without looking at the data"
        return self.value if self.is_covered else f"{self.value}: not private"


class Range(NamedTuple):
    """The ends of a feature's range, and who knows them from where."""

    low: float
    high: float
    origin: Origin = Origin.DECLARED


Ranges: TypeAlias = Mapping[str, Range | tuple[float, float] | tuple[str | date | datetime64, str | date | datetime64]]
"""By feature: a range with its origin, or a pair, which the caller thereby declares; of a column of dates two dates."""


def weakest(origins: Iterable[Origin]) -> Origin:
    """The origin of what rests on all of these; declared where it rests on none."""
    order = list(Origin)
    return max(origins, key=order.index, default=Origin.DECLARED)
