"""Ranges rounded outwards to plain numbers."""

import math
import sys
from fractions import Fraction

_FINENESS = 10  # a range is at most about this many steps wide
_LARGEST = Fraction(sys.float_info.max)


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
