"""A data frame as a dataset: records in rows, of any frame whose columns can be had by name and made arrays."""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mvgviz.errors import InputError, refuse
from mvgviz.provenance import Category, Origin, Range, Ranges, checked_origin
from mvgviz.query.dataset import MISSING, Dataset, around, checked_range, pair_of
from mvgviz.validation import FloatArray, count, one_of

Mask: TypeAlias = npt.NDArray[np.bool_]

OTHER = "other"  # the level for all values that are not named
DAYS = "days since 1970-01-01"  # what a date becomes
_DAY = np.timedelta64(86_400_000_000, "us")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", re.ASCII)
_YEAR_OR_MONTH = re.compile(r"\d{4}(-\d{2})?", re.ASCII)
_NO_VALUE = ("NAType", "NaTType")  # of pandas, known without it
_MOST_FEATURES = 2_000
_LARGEST = 1e60  # a dataset's own limit; here the message must not tell the data


def is_frame(value: object) -> bool:
    """Return whether this looks like a data frame."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__") and hasattr(value, "shape")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Column:
    """A column as numbers, NaN where missing; ``given``: its range, or None to read it from the data; ``empty``: the
    value of a gap, by default the middle of the range; ``category``: the one that it is a level of.
    """

    name: str
    values: FloatArray = field(repr=False)
    given: Range | None
    unit: str = ""
    empty: float | None = None
    category: str | None = None


def from_frame(frame: Any, *, ranges: Ranges | None = None, missing: str = "reject",
               columns: Iterable[Any] | None = None, label: Any = None,
               levels: Mapping[Any, Iterable[Any] | Category] | None = None, person: Any = None,
               at_most: int | None = None, units: Mapping[Any, str] | None = None, title: str = "",
               called: str = "The frame") -> Dataset:
    """See :meth:`Dataset.from_frame`; ``called``: what messages call the frame."""
    one_of("missing", missing, MISSING)
    most = most_of_each(person, at_most)
    names = _chosen(frame, columns)
    declared = _declared(ranges, frame, "ranges", "pairs (low, high)")
    categories = _declared(levels, frame, "levels", "sequences of levels")
    measured = _declared(units, frame, "units", "texts")
    if person is not None:
        owner = _known(person, list(frame.columns), "person")
        names = [name for name in names if name != owner]
    text = [str(name) for name in names if name not in categories and _numbers(frame[name]) is None]
    if text:
        raise InputError(f"Not numbers, dates or true/false in {_listed(text)}: leave these columns out "
                         "(columns=[…] names those to use) or declare their categories (levels={…}).")
    found = [column for name in names for column in (
        _level_columns(frame, name, as_category(name, categories[name])) if name in categories
        else [_column(frame, name, declared.get(name), measured.get(name, ""))])]
    named = [column.name for column in found]
    label = None if label is None else str(_known(label, named, "label"))
    first = None if most is None else first_of_each(frame[owner], most, Counter())
    return _dataset(found, missing=missing, label=label, called=called, title=title, first=first, per_person=most or 1)


def most_of_each(person: Any, at_most: Any) -> int | None:
    """Return how many records of a person are kept, None for all; check that both arguments are there or neither."""
    if (person is None) != (at_most is None):
        raise InputError("person and at_most go together: whose record it is, and how many of each person are kept")
    return None if person is None else count("at_most", at_most)


def first_of_each(series: Any, most: int, seen: Counter[str]) -> Mask:
    """Return which records are among the first ``most`` of their person; ``seen`` counts on from earlier pieces."""
    kept = []
    for known in people(series):
        seen[known] += 1
        kept.append(seen[known] <= most)
    return np.array(kept, dtype=np.bool_)


def people(series: Any) -> Iterator[str]:
    """Yield whose each record is."""
    for owner in np.asarray(series.to_numpy()).tolist():
        refuse(_is_gap(owner), "the column that says whose record it is must be filled in for every record")
        if not isinstance(owner, Hashable):
            raise InputError("the column that says whose record it is must hold texts or numbers, one for each person")
        yield _person(level_text(owner.decode(errors="backslashreplace") if isinstance(owner, bytes) else owner))


def _person(text: str) -> str:
    """Return one text for each person: 1, 1.0, b"1" and " 01" are the same. Two people taken for one stay protected."""
    try:
        return str(Decimal(text).normalize())
    except ArithmeticError:  # no number
        return text.strip()


def as_category(name: Any, given: Any) -> Category:
    """Return a category from what a caller wrote: one, or its levels, which declares them."""
    found = given if isinstance(given, Category) else Category(given)
    if isinstance(found.levels, str) or not isinstance(found.levels, Iterable):
        raise InputError(f"levels of {_quoted(name)} must be a sequence")
    return replace(found, levels=tuple(found.levels), origin=checked_origin("the levels", found.origin))


def _level_columns(frame: Any, name: Any, category: Category) -> list[_Column]:
    """Return a column for each level (1 if a record has it, NaN in all for a gap); of an ordered category its numbers.
    """
    wanted = list(category.levels)
    texts = [level_text(level) for level in wanted]
    if len(set(texts)) < len(texts) or len(texts) < 2:
        raise InputError(f"levels of {_quoted(name)} must be two or more, all different")
    values = np.asarray(frame[name].to_numpy()).tolist()
    position = {str(level): i for i, level in enumerate(wanted)} | {text: i for i, text in enumerate(texts)}
    other = position.get(OTHER, -1)
    codes = np.array([-2 if _is_gap(value) else position.get(level_text(value), position.get(str(value), other))
                      for value in values])
    unknown = int(np.count_nonzero(codes == -1))
    refuse(unknown, f"{_quoted(name)} has undeclared levels in {unknown} of {len(values)} records: declare them, or a "
           f'level "{OTHER}" for all others.')
    if category.ordered:
        return [_Column(name=str(name), values=np.where(codes == -2, np.nan, codes),
                        given=Range(0.0, len(texts) - 1.0, category.origin))]
    given = Range(0.0, 1.0, category.origin)
    return [_Column(name=f"{name}={text}", values=np.where(codes == -2, np.nan, codes == i), given=given,
                    empty=1 / len(texts), category=str(name)) for i, text in enumerate(texts)]


def level_text(value: Any) -> str:
    """Return a value as its level is written: 1.0, which pandas makes of 1 where there are gaps, as 1."""
    value = value.item() if isinstance(value, np.generic) else value
    whole = isinstance(value, float | Decimal | np.floating) and math.isfinite(value) and value == int(value)
    return str(int(value) if whole else value)


def _dataset(found: Sequence[_Column], *, missing: str, label: str | None, called: str, title: str,
             first: Mask | None, per_person: int) -> Dataset:
    refuse(not found, "columns must name at least one column besides the person's")
    if not len(found) <= _MOST_FEATURES:
        raise InputError(f"The columns make {len(found)} features and at most {_MOST_FEATURES} can be used.")
    if first is not None:
        found = [replace(column, values=column.values[first]) for column in found]
    gaps = np.any([np.isnan(column.values) for column in found], axis=0)
    if missing == "reject" and gaps.any():
        named = _listed([column.name for column in found if np.isnan(column.values).any()])
        raise InputError(f"{called} has missing values in {int(gaps.sum())} of {gaps.size} records, in {named}: fill "
                         'them in, or say missing="middle" (of their ranges) or missing="drop".')
    kept = ~gaps if missing == "drop" else np.ones(gaps.size, dtype=np.bool_)
    refuse(not kept.sum() >= 2, f"{called} has {int(kept.sum())} complete records, and at least 2 are needed.")
    used = _ranges(found, kept)
    rows = []
    for column, known in zip(found, used, strict=True):
        empty = (known.low + known.high) / 2 if column.empty is None else column.empty
        filled = np.where(np.isnan(column.values), empty, column.values)[kept]
        rows.append(np.clip(filled, known.low, known.high))
    categories = dict.fromkeys(column.category for column in found if column.category is not None)
    levels = [[k for k, column in enumerate(found) if column.category == name] for name in categories]
    return Dataset(matrix=np.array(rows), features=[column.name for column in found], label=label,
                   lower=[known.low for known in used], upper=[known.high for known in used],
                   range_origins=[known.origin for known in used], units=[column.unit for column in found],
                   levels=levels, per_person=per_person, by_person=first is not None, gaps=missing, title=title,
                   records_origin=Origin.READ if missing == "drop" or first is not None else Origin.DECLARED)


def _chosen(frame: Any, columns: Iterable[Any] | None) -> list[Any]:
    refuse(not is_frame(frame), f"the frame must be a data frame with records in rows, got a {type(frame).__name__}")
    own = list(frame.columns)
    if len({str(name) for name in own}) < len(own):
        raise InputError("The frame has two columns of one name: give each a name of its own.")
    if isinstance(columns, str) or not isinstance(columns, Iterable | None):
        raise InputError("columns must be a sequence of column names")
    chosen = own if columns is None else [_known(name, own, "columns") for name in columns]
    if len({str(name) for name in chosen}) < len(chosen) or not chosen:
        raise InputError("columns must name at least one column, and none twice")
    refuse(not len(chosen) <= _MOST_FEATURES, f"The frame has {len(chosen)} columns and at most {_MOST_FEATURES} can "
           "be used: choose some with columns=[…].")
    return chosen


def _known(name: Any, names: Sequence[Any], argument: str) -> Any:
    if not isinstance(name, Hashable):  # such as the column itself, whose values are no part of a message
        raise InputError(f"{argument} must name columns of the frame, and a {type(name).__name__} is no name.")
    if name in names:
        return name
    for other in names:
        if str(other) == str(name):
            return other
    raise InputError(f"{argument} must name columns of the frame, and {_quoted(name)} is none: check the spelling.")


def _declared(given: Any, frame: Any, argument: str, what: str) -> dict[Any, Any]:
    refuse(not isinstance(given, Mapping | None), f"{argument} must map column names to {what}")
    own = list(frame.columns)
    return {_known(name, own, argument): said for name, said in (given or {}).items()}


def _column(frame: Any, name: Any, ends: Any, unit: str) -> _Column:
    feature, values = str(name), _numbers(frame[name])
    assert values is not None  # text was refused before
    if values.dtype.kind == "M":
        if ends is None:
            raise InputError(f"{_quoted(name)} holds dates: declare their range, ranges={{{feature!r}: "
                             '("2020-01-01", "2024-12-31")}.')
        low, high, origin = pair_of(ends, _quoted(name))
        given = Range(_day(low, feature), _day(high, feature), origin)
        return _Column(name=feature, values=_days(values), given=given, unit=DAYS)
    refuse(np.isinf(values).any(), f"{_quoted(name)} holds values that are infinite or too large: replace them by "
           "numbers or leave them empty.")
    return _Column(name=feature, values=values, unit=unit,
                   given=None if ends is None else checked_range(ends, _quoted(name)))


def _numbers(series: Any) -> Any:
    """Floats with NaN for gaps, or dates (datetime64) with NaT; None where the column holds anything else."""
    if getattr(getattr(series, "dtype", None), "tz", None) is not None and hasattr(series, "dt"):
        series = series.dt.tz_convert(None)  # pandas: the moment in UTC
    values = np.asarray(series.to_numpy())
    if values.ndim != 1:
        return None
    if values.dtype.kind in "biuf":
        return np.asarray(values, dtype=np.float64)
    if values.dtype.kind == "M":
        return values
    if values.dtype.kind != "O":
        return None
    gaps = np.array([_is_gap(item) for item in values.tolist()], dtype=np.bool_)
    there = values[~gaps].tolist()
    if there and all(isinstance(item, date) for item in there):
        dates = np.full(values.size, np.datetime64("NaT"), dtype="datetime64[us]")
        dates[~gaps] = [_moment(item) for item in there]
        return dates
    if not all(isinstance(item, Real) for item in there):
        return None
    numbers = np.full(values.size, np.nan)
    numbers[~gaps] = [_float(item) for item in there]
    return numbers


def _float(item: Any) -> float:
    """Return a number; one that no float can hold becomes infinite and is refused by the name of its column."""
    try:
        return float(item)
    except OverflowError:
        return math.inf


def _moment(item: date) -> np.datetime64:
    if isinstance(item, datetime) and item.tzinfo is not None:
        item = item.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(item.isoformat()[:26], "us")


def _is_gap(item: Any) -> bool:
    return item is None or type(item).__name__ in _NO_VALUE or (isinstance(item, float) and math.isnan(item))


def _days(dates: Any) -> FloatArray:
    days = (dates.astype("datetime64[us]") - np.datetime64(0, "us")) / _DAY
    return np.where(np.isnat(dates), np.nan, days)


def as_date(text: str) -> datetime:
    """Return a date written as 2024-03-05 or 5.3.2024 (day first), no other way, or it would have to be guessed."""
    dotted = _DOTTED.fullmatch(text.strip())
    if not dotted:
        return datetime.fromisoformat(text)
    day, month, year = map(int, dotted.groups())
    return datetime(year, month, day)


def date_text(day: float) -> str:
    """Return the date of so many days since 1970."""
    return str(np.datetime64(round(day), "D"))


def as_day(text: str) -> float:
    """Return a date as days since 1970."""
    return float((_moment(as_date(text)) - np.datetime64(0, "us")) / _DAY)


def _day(end: Any, feature: str) -> float:
    try:
        if isinstance(end, str):
            end = np.datetime64(end, "us") if _YEAR_OR_MONTH.fullmatch(end) else as_date(end)
        moment = _moment(end) if isinstance(end, date) else end
        if not isinstance(moment, np.datetime64) or np.isnat(moment):
            raise ValueError
    except ValueError:
        raise InputError(f"{_quoted(feature)} holds dates, and its range must be two dates, such as (\"2020-01-01\", "
                         '"2024-12-31"), not numbers') from None
    return float((moment.astype("datetime64[us]") - np.datetime64(0, "us")) / _DAY)


def _ranges(found: Sequence[_Column], kept: Mask) -> list[Range]:
    used, constant = [], []
    for column in found:
        if column.given is not None:
            used.append(column.given)
            continue
        values = column.values[kept]
        least, greatest = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
        if not least < greatest:  # nothing at all, too
            constant.append(column.name)
            continue
        low, high = around(least, greatest)
        refuse(not (max(-low, high) <= _LARGEST and high - low >= 1 / _LARGEST), f"{_quoted(column.name)} has values "
               "that are too large or too close together to work with: declare its range, change its unit or leave it "
               "out.")
        used.append(Range(low, high, Origin.READ))
    refuse(constant, f"The same value, or none, in every record of {_listed(constant)}: declare a range for each or "
           "leave them out.")
    return used


def _quoted(name: Any) -> str:
    text = str(name)
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(_quoted, names[:most])) + more
