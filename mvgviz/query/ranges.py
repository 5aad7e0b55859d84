"""Ranges: what a caller may write for one, and a plain one around values."""

import math
import sys
from datetime import date
from fractions import Fraction
from typing import Any

from mvgviz.errors import InputError
from mvgviz.provenance import Origin, Range, checked_origin
from mvgviz.validation import number

_FINENESS = 10  # a proposed range is at most about this many steps wide
_LARGEST_FLOAT = Fraction(sys.float_info.max)


def around(low: float, high: float) -> tuple[float, float]:
    """Return a plain range that contains [low, high]: multiples of 1, 2 or 5 times a power of ten.

    >>> around(106, 159), around(0.0021, 0.0189), around(0, 0.1), around(3, 3), around(0, 0)
    ((100.0, 160.0), (0.002, 0.02), (0.0, 0.1), (0.0, 3.0), (0.0, 1.0))
    """
    if low == high:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return 0.0, 1.0
    least, greatest = Fraction(str(low)), Fraction(str(high))  # as written: the float 0.1 is a little more than that
    share = (greatest - least) / _FINENESS
    power = Fraction(10) ** math.floor(math.log10(share.numerator) - math.log10(share.denominator))
    # the logarithm may be a little off where it is nearly whole: then the power is one too small
    step = next(step for factor in (1, 2, 5, 10, 20) if (step := factor * power) >= share)
    ends = math.floor(least / step) * step, math.ceil(greatest / step) * step
    lower, upper = (float(max(min(end, _LARGEST_FLOAT), -_LARGEST_FLOAT)) for end in ends)
    return lower, upper


def pair_of(ends: Any, feature: str) -> tuple[Any, Any, Origin]:
    """Return the two ends as they were written, and where they come from."""
    origin = checked_origin("a range", ends.origin) if isinstance(ends, Range) else Origin.DECLARED
    try:
        low, high = ends[:2] if isinstance(ends, Range) else ends
    except (TypeError, ValueError):
        raise InputError(f"The range of {feature} must be a pair (low, high).") from None
    return low, high, origin


def is_dated(ends: Any) -> bool:
    """Return whether a range is written in dates: as such, or as texts."""
    return isinstance(ends, tuple | list) and any(isinstance(end, str | date) for end in ends[:2])


def checked_range(ends: Any, feature: str) -> Range:
    """Return a range of numbers from what a caller wrote."""
    low, high, origin = pair_of(ends, feature)
    return Range(number(f"the low end of {feature}", low), number(f"the high end of {feature}", high), origin)
