"""A table with the ranges its owner declares for each feature.

>>> import numpy as np
>>> from mvgviz import Dataset
>>> data = Dataset(matrix=np.array([[1.0, 3.0], [20.0, 40.0]]), features=("dose", "age"),
...                lower=[0, 0], upper=[5, 100])
>>> data.n_features, data.n_records
(2, 2)
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mvgviz.errors import InputError, refuse
from mvgviz.provenance import Category, Origin, Range, Ranges, checked_origin, weakest
from mvgviz.validation import FloatArray, array, count, instance, number, numbers, one_of

MISSING = ("reject", "middle", "drop")
"""What may be done with a record's gaps: refuse it, fill them with the middle of their ranges, leave it out."""

REPLACED_RECORD = "one record replaced"
FLIPPED_EDGE = "one edge added or removed"
ADDED_RECORD = "one record added or removed"
NEIGHBOURS = ("replace", "add-remove")

_LARGEST = 1e60  # fourth powers must be numbers
_PART = 1e-9

Levels: TypeAlias = tuple[tuple[int, ...], ...]  # sets of positions: the levels of one category each


@dataclass(frozen=True, kw_only=True, eq=False, init=False)
class Dataset:
    """``matrix``: features × records, a record a column. ``lower``, ``upper``: declared ranges.

    The ranges are public, one pair for each feature (or one number for all): guarantees rest on them. Queries refuse
    values outside; :meth:`clipped` moves them inside. ``range_origins``, ``records_origin``: whether each range and the
    number of records were declared or read from the data, which is not private. ``units``: of each feature, may be
    empty. ``label``: the feature to be predicted. ``levels``: sets of positions, each the levels of one category, of
    which a record has one at its upper end and the others at their lower ends (a gap: equal parts of all).
    ``per_person``: the most records of a person, whom the promise is about; ``by_person``: whether a column named each
    record's person. ``gaps``: how they were treated (one of ``MISSING``, or empty). ``title``: is published.
    """

    matrix: FloatArray = field(repr=False)
    features: tuple[str, ...]
    lower: FloatArray
    upper: FloatArray
    range_origins: tuple[Origin, ...] = field(repr=False)
    records_origin: Origin = Origin.DECLARED
    units: tuple[str, ...] = field(default=(), repr=False)
    label: str | None = None
    levels: Levels = field(default=(), repr=False)
    per_person: int = 1
    by_person: bool = False
    gaps: str = ""
    title: str = ""

    def __init__(self, *, matrix: npt.ArrayLike, features: Iterable[str], lower: npt.ArrayLike, upper: npt.ArrayLike,
                 range_origins: Origin | Iterable[Origin] = Origin.DECLARED, records_origin: Origin = Origin.DECLARED,
                 units: Iterable[str] = (), label: str | None = None, levels: Iterable[Iterable[int]] = (),
                 per_person: int = 1, by_person: bool = False, gaps: str = "", title: str = "") -> None:
        values = array("matrix", matrix, ndim=2)
        names = _names(features, values.shape[0])
        lows, highs = _limits("lower", lower, values.shape[0]), _limits("upper", upper, values.shape[0])
        for name, low, high in zip(names, lows.tolist(), highs.tolist(), strict=True):
            refuse(not low < high, f"lower must be below upper for each feature, got {low:g} and {high:g} for "
                   f"{name!r}")
            refuse(not (max(-low, high) <= _LARGEST and high - low >= 1 / _LARGEST), f"the range of {name!r} must stay "
                   f"below {_LARGEST:g} and be at least {1 / _LARGEST:g} wide, got {low:g} to {high:g}")
        refuse(label is not None and label not in names, "label must be the name of a feature")
        vars(self).update(
            matrix=values, features=names, lower=lows, upper=highs, label=label,
            range_origins=_origins(range_origins, values.shape[0]), units=_units(units, values.shape[0]),
            records_origin=checked_origin("the number of records", records_origin),
            levels=_levels(levels, values, lows, highs), per_person=count("per_person", per_person),
            by_person=bool(by_person) or per_person > 1, gaps=one_of("gaps", gaps, ("", *MISSING)),
            title=instance("title", title, str))

    @classmethod
    def from_frame(cls, frame: Any, *, ranges: Ranges | None = None, missing: str = "reject",
                   columns: Iterable[Any] | None = None, label: Any = None,
                   levels: Mapping[Any, Iterable[Any] | Category] | None = None, person: Any = None,
                   at_most: int | None = None, units: Mapping[Any, str] | None = None, title: str = "") -> Dataset:
        """Read a pandas or polars frame with its records in rows; clip values to their ranges.

        ``columns``: those to use, in this order. ``ranges``: by name, pairs (low, high) that are known without looking
        at the data; any other column gets a range read from it, which is not private. Dates become days since
        1970-01-01 and need a range of dates. ``missing``: refuse records with gaps ("reject"), fill gaps with the
        middle of their ranges ("middle") or leave such records out ("drop"): their number then follows from the data.

        ``levels``: of columns that hold categories, known without looking at the data; each becomes a feature, 1 where
        a record has it and else 0 ("sex=f", "sex=m"). Other values are refused, or count as the level "other" if there
        is one. A :class:`Category` says where levels come from, and whether they are ordered: one feature, 0 for the
        first. ``person``: the column that says whose record it is; of each person the first ``at_most`` records are
        kept, and the promise is about all of them together. How many records are kept then follows from the data, and
        how many each person has is not hidden. ``label``: the column to be predicted. ``title``: is published.
        """
        from mvgviz.query.frames import from_frame

        return from_frame(frame, ranges=ranges, missing=missing, columns=columns, label=label, levels=levels,
                          person=person, at_most=at_most, units=units, title=title)

    @property
    def n_features(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def n_records(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def widths(self) -> FloatArray:
        return self.upper - self.lower

    @property
    def largest_values(self) -> FloatArray:
        """``c = max(|lower|, |upper|)``."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @property
    def ranges(self) -> dict[str, Range]:
        return dict(zip(self.features, map(Range, self.lower.tolist(), self.upper.tolist(), self.range_origins),
                        strict=True))

    @property
    def ranges_origin(self) -> Origin:
        """Return the origin of all ranges together: READ if any range was read from the data."""
        return weakest(self.range_origins)

    def count_outside(self) -> int:
        return int(np.count_nonzero(self._outside()))

    def clipped(self) -> Dataset:
        """Return the same data with every value moved into its declared range."""
        return replace(self, matrix=np.clip(self.matrix, self.lower[:, None], self.upper[:, None]))

    def normalised(self, to: tuple[float, float] = (-1, 1)) -> Dataset:
        """Each declared range mapped onto ``to``; values inside stay inside."""
        try:
            low, high = (number("to", end) for end in to)
        except (TypeError, ValueError):
            raise InputError("to must be a pair of numbers") from None
        refuse(not low < high, f"to must be an increasing pair, got ({low:g}, {high:g})")
        with np.errstate(over="ignore"):  # of values far outside; refused below as infinite
            share = (self.matrix - self.lower[:, None]) / self.widths[:, None]
            scaled = np.where(share == 1, high, low + share * (high - low))
        inside = np.where(self._outside(), scaled, np.clip(scaled, low, high))
        ends = np.ones(self.n_features)
        return replace(self, matrix=inside, lower=low * ends, upper=high * ends)

    def scaled(self, to: tuple[float, float]) -> Dataset:
        """Return :meth:`normalised`, with the last result cached: every reply of a page asks for it again."""
        last, table = vars(self).get("_scaled", (None, self))
        if last != to:
            table = self.normalised(to)
            vars(self)["_scaled"] = to, table
        return instance("table", table, Dataset)

    def position(self, feature: str | int, what: str = "feature") -> int:
        """Return the position of a feature, given by name or position."""
        if isinstance(feature, str):
            if feature in self.features:
                return self.features.index(feature)
            raise InputError(f"{what} must be one of {', '.join(self.features[:20])}, got {feature[:40]!r}")
        place = count(what, feature, at_least=0)
        refuse(not place < self.n_features, f"{what} must be a position below {self.n_features}, got {place}")
        return place

    def only(self, positions: Iterable[int]) -> Dataset:
        chosen = list(positions)
        return replace(self, matrix=self.matrix[chosen], lower=self.lower[chosen], upper=self.upper[chosen],
                       features=(names := tuple(self.features[k] for k in chosen)),
                       label=self.label if self.label in names else None, levels=_kept_levels(self.levels, chosen),
                       range_origins=tuple(self.range_origins[k] for k in chosen),
                       units=tuple(self.units[k] for k in chosen))

    def _outside(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return (self.matrix < self.lower[:, None]) | (self.matrix > self.upper[:, None])


def _names(features: Any, size: int) -> tuple[str, ...]:
    try:
        names = () if isinstance(features, str) else tuple(features)
    except TypeError:
        names = ()
    refuse(not names, "features must be a sequence of names, one for each row of the matrix")
    refuse(not all(isinstance(name, str) and name for name in names), "features must be non-empty strings")
    refuse(len(names) != size, f"features must name each of the {size} rows of the matrix, got {len(names)} names")
    for i, name in enumerate(names) if len(set(names)) != size else ():
        refuse(name in names[:i], f"features must be different from each other, got {name!r} twice")
    return names


def _levels(levels: Any, values: FloatArray, lows: FloatArray, highs: FloatArray) -> Levels:
    """Checked: different positions, two or more each, and parts of one in every record."""
    sets = tuple(tuple(count("levels", position, at_least=0) for position in group) for group in levels)
    flat = [position for group in sets for position in group]
    refuse(len(set(flat)) < len(flat) or not all(len(group) >= 2 and max(group) < len(values) for group in sets),
           "levels must be sets of two or more different positions of features")
    for group in map(list, sets):
        parts = (values[group] - lows[group, None]) / (highs - lows)[group, None]
        refuse(not ((parts >= -_PART) & (parts <= 1 + _PART)).all() or not (parts.sum(axis=0) <= 1 + _PART).all(),
               "a record must have one level of a category, and some record has more")
    return sets


def _kept_levels(levels: Levels, chosen: list[int]) -> Levels:
    """Return the sets of levels among the chosen features, at their new positions; drop a set with one level left."""
    kept = (tuple(chosen.index(position) for position in group if position in chosen) for group in levels)
    return tuple(group for group in kept if len(group) > 1)


def _units(units: Any, size: int) -> tuple[str, ...]:
    named = tuple(units) if isinstance(units, Iterable) and not isinstance(units, str) else (None,)
    refuse(not all(isinstance(unit, str) for unit in named),
           "units must be texts, one for each feature, empty where there is none")
    refuse(len(named) not in (0, size), f"units must have one entry for each of the {size} features, got {len(named)}")
    return tuple(map(str, named)) or ("",) * size


def _origins(value: Any, size: int) -> tuple[Origin, ...]:
    origins = (value,) * size if isinstance(value, str) else tuple(value)
    if len(origins) != size:
        raise InputError(f"range_origins must have one entry for each of the {size} features, got {len(origins)}")
    return tuple(checked_origin("a range", origin) for origin in origins)


def _limits(name: str, value: Any, size: int) -> FloatArray:
    limits = numbers(name, value)
    limits = array(name, np.full(size, limits) if limits.ndim == 0 else limits, ndim=1)
    refuse(limits.size != size, f"{name} must have one entry for each of the {size} features, got {limits.size}")
    return limits


def origins(data: Dataset, neighbours: str = "replace") -> dict[str, Any]:
    """Return how many records there are, one of which changes; where that number and the ranges come from."""
    return {"n_records": data.n_records, "ranges_origin": data.ranges_origin, "records_origin": data.records_origin,
            "neighbour_rule": rule_of(neighbours, data.per_person)}


def rule_of(neighbours: str, per_person: int = 1) -> str:
    """Return what neighbours differ by, in words."""
    if per_person == 1:
        return ADDED_RECORD if is_added(neighbours) else REPLACED_RECORD
    return f"up to {per_person} records of one person {'added or removed' if is_added(neighbours) else 'replaced'}"


def of_person(rule: str) -> str:
    """Return the rule about one record as one about the person whose only record it is."""
    return rule.replace("one record", "one person")


def of_record(rule: str) -> str:
    """Return the rule without regard to whose the record is; releases of both kinds add up under it."""
    return rule.replace("one person", "one record") if rule.startswith("one person") else rule


def is_added(neighbours: str) -> bool:
    """Return whether a neighbour has a record more or fewer, instead of another one."""
    return one_of("neighbours", neighbours, NEIGHBOURS) == "add-remove"


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
    share = (greatest - least) / 10  # at most about so many steps
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
