"""Ranges proposed from the data, rounded outwards to plain numbers.

They show what the data is like; they are not private, and whoever accepts them
is told so.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from mvgviz.data.selection import Features, features_of
from mvgviz.data.table import Table
from mvgviz.errors import InputError

_FINENESS = 10  # a range is at most about this many steps wide
_LARGEST = Fraction(sys.float_info.max)


def propose_ranges(table: Table, columns: Iterable[str] | None = None, *,
                   orientation: str = "rows") -> dict[str, tuple[float, float]]:
    """For each feature the least and the greatest value, rounded outwards: low < high always.

    With ``orientation="columns"`` the features are the rows of the table.

    >>> from mvgviz.data import read_table
    >>> propose_ranges(read_table(b"dose,age\\n0.27,23\\n4.81,67\\n"))
    {'dose': (0.0, 5.0), 'age': (20.0, 70.0)}
    """
    features = features_of(table, orientation=orientation, columns=columns)
    found = extremes(features, range(len(features.names)))
    return {name: around(*ends) for name, ends in zip(features.names, found, strict=True)}


def extremes(features: Features, which: Sequence[int]) -> list[tuple[float, float]]:
    """The least and the greatest value of some features, missing values left aside."""
    found = []
    for i in which:
        values = features.values[:, i]
        least, greatest = np.fmin.reduce(values), np.fmax.reduce(values)  # these two pass over NaN
        if np.isnan(least):
            raise InputError(f"Feature {features.shown(i)} has no values at all: leave it out.")
        found.append((float(least), float(greatest)))
    return found


def around(low: float, high: float) -> tuple[float, float]:
    """A plain range that contains [low, high]: multiples of 1, 2 or 5 times a power of ten.

    >>> around(106, 159), around(0.0021, 0.0189), around(3, 3), around(0, 0)
    ((100.0, 160.0), (0.002, 0.02), (0.0, 3.0), (0.0, 1.0))
    """
    if low == high:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return 0.0, 1.0
    step = _step(Fraction(high) - Fraction(low))
    bottom, top = math.floor(Fraction(low) / step), math.ceil(Fraction(high) / step)
    while (lower := _float(bottom * step)) > low:  # the nearest float may lie on the wrong side
        bottom -= 1
    while (upper := _float(top * step)) < high:
        top += 1
    return lower, upper


def _step(width: Fraction) -> Fraction:
    """The least plain number that is a tenth of the width or more."""
    share = width / _FINENESS
    # digits of numerator and denominator give the power of ten up to one
    power = Fraction(10) ** (len(str(share.numerator)) - len(str(share.denominator)))
    while power > share:
        power /= 10
    while power * 10 <= share:
        power *= 10
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= share)


def _float(value: Fraction) -> float:
    return float(max(min(value, _LARGEST), -_LARGEST))
