"""Where a choice came from: the one thing a guarantee cannot compute for itself.

A range, a direction, a split, a number of records is *declared* (known or chosen without
looking at the data), *paid for* (learned from the data through noise, out of the budget) or
*read from the data* (which no guarantee covers, even where a person *accepted* the proposal). The value carries its
origin with it, and what is made of several values has the most careful of their origins.

>>> from mvgviz.provenance import Origin, Range, weakest
>>> weakest([Origin.DECLARED, Range(0, 120, Origin.READ).origin]).value
'read from the data'

What is paid for carries a :class:`Receipt`. A release adds up the receipts of everything that it was built from, and
refuses those whose noise came from a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias, TypeVar
from weakref import WeakSet

import numpy as np
from numpy import datetime64

from mvgviz.errors import InputError, refuse
from mvgviz.validation import FloatArray

_Draw = TypeVar("_Draw", bound=Callable[..., Any])


class Origin(StrEnum):
    """Where a value comes from, from the best for a guarantee to the worst."""

    DECLARED = "declared"
    PAID = "paid for"
    ACCEPTED = "proposed from the data, accepted"
    READ = "read from the data"

    @property
    def is_covered(self) -> bool:
        """Whether a guarantee can speak of a value with this origin."""
        return self in (Origin.DECLARED, Origin.PAID)

    @property
    def words(self) -> str:
        if self is Origin.DECLARED:
            return "chosen without looking at the data"
        return self.value if self.is_covered else f"{self.value}: not private"


class Range(NamedTuple):
    """The ends of a feature's range, and their origin."""

    low: float
    high: float
    origin: Origin = Origin.DECLARED


@dataclass(frozen=True)
class Category:
    """The levels of a column, and who knows them from where; ``ordered``: as one feature 0, 1, 2, … in this order."""

    levels: Iterable[Any]
    origin: Origin = Origin.DECLARED
    ordered: bool = False


Ranges: TypeAlias = Mapping[str, Range | tuple[float, float] | tuple[str | date | datetime64, str | date | datetime64]]
"""By feature: a range with its origin, or a pair, which the caller thereby declares; of a column of dates two dates."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Receipt:
    """What was spent to learn something from the data; it counts once, however often the result is used.

    ``mu`` holds for ``neighbour_rule`` and ``n_records``, and rests on ranges and a number of records of these origins.
    ``value``: the only numbers that may carry the receipt; None if numbers computed from them may, too.
    """

    what: str
    mu: float
    value: FloatArray | None = field(default=None, repr=False)
    neighbour_rule: str
    n_records: int
    ranges_origin: Origin
    records_origin: Origin

    @property
    def is_fresh(self) -> bool:
        """Whether the noise came from the operating system; only :func:`receipt_for` can say so, no copy."""
        return self in _FRESH

    def check(self, value: FloatArray) -> None:
        """Refuse numbers that it was not given for."""
        if self.value is not None and not np.allclose(value, self.value, rtol=1e-9, atol=1e-12):
            raise InputError(f"the receipt belongs to other {self.what}: learn these privately, too")


_SYSTEM: set[Callable[..., Any]] = set()
_FRESH = WeakSet[Receipt]()


def system_noise(draw: _Draw) -> _Draw:
    """Mark a function whose noise comes from the operating system."""
    _SYSTEM.add(draw)
    return draw


def receipt_for(source: object, **facts: Any) -> Receipt:
    """The receipt for what was learned with noise from ``source``; all but a marked function counts as a seed."""
    made = Receipt(**facts)
    if source in _SYSTEM:
        _FRESH.add(made)
    return made


class Learned(np.ndarray[Any, np.dtype[np.float64]]):
    """Numbers that were learned from the data; what numpy computes from them keeps their receipts.

    Only what counts receipts takes them (:func:`counted`); every other check of an argument refuses them.
    """

    receipts: tuple[Receipt, ...] = ()
    __array_priority__ = 1.0  # of plain.dot(learned), too

    def __array_finalize__(self, before: Any) -> None:
        self.receipts = receipts_of(before)

    def dot(self, other: Any, out: Any = None) -> Any:
        return np.dot(self, other, out)

    def trace(self, *given: Any, **options: Any) -> Any:
        return np.trace(self, *given, **options)

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, _plain(value))
        self.receipts = _receipts_in([self, value])

    def __getitem__(self, index: Any) -> Any:
        return with_receipts(super().__getitem__(index), self.receipts)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return self.__array_function__(getattr(ufunc, method), (), inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        plain = {name: _plain(value) for name, value in kwargs.items()}
        return with_receipts(func(*_plain(args), **plain), _receipts_in([args, kwargs]))


def _plain(value: Any) -> Any:
    """The same without receipts, in nested sequences too."""
    if isinstance(value, Learned):
        return value.view(np.ndarray)
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _receipts_in(values: Any) -> tuple[Receipt, ...]:
    if isinstance(values, dict):
        values = list(values.values())
    found = [_receipts_in(value) for value in values] if isinstance(values, list | tuple) else [receipts_of(values)]
    return tuple(dict.fromkeys(receipt for some in found for receipt in some))


def with_receipts(result: Any, receipts: tuple[Receipt, ...]) -> Any:
    """Return real numbers with these receipts; whatever else numpy returns as it is."""
    if isinstance(result, tuple):
        parts = [with_receipts(part, receipts) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    if not (isinstance(result, np.ndarray | np.floating) and result.dtype.kind == "f"):
        return result
    learned = np.asarray(result).view(Learned)
    learned.receipts = receipts
    return learned


def counted(value: Any) -> Any:
    """Numbers whose receipts are counted here, without them; refuse what has lost its receipts."""
    if not isinstance(value, Learned):
        return value
    refuse(not value.receipts, "these numbers were learned from the data and lost their receipts: learn them again")
    return value.view(np.ndarray)


def receipts_of(*values: Any) -> tuple[Receipt, ...]:
    """Return the receipts that these values carry, each once."""
    return tuple(dict.fromkeys(receipt for value in values for receipt in getattr(value, "receipts", ())))


def checked_origin(what: str, origin: Any, receipts: Iterable[Receipt] = ()) -> Origin:
    """Return an origin that may be claimed of a value with these receipts: at best paid for, if there are any."""
    if not isinstance(origin, Origin):
        raise InputError(f"the origin of {what} must be an Origin")
    if origin is Origin.PAID and not receipts:
        raise InputError(f'"paid for" needs a receipt, and {what} has none: say that it is declared or '
                         "read from the data")
    return weakest([origin, Origin.PAID]) if receipts else origin


def weakest(origins: Iterable[Origin]) -> Origin:
    """Return the origin of what rests on all of these; declared where it rests on none."""
    order = list(Origin)
    return max(origins, key=order.index, default=Origin.DECLARED)
