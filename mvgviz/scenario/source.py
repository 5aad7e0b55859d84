"""Where a study's data comes from: a sample, or a file and how a person had it read and used; never its values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, Self

from mvgviz.data import Table, read_table, table_to_dataset
from mvgviz.data.readers import File
from mvgviz.data.table import texts_of
from mvgviz.errors import InputError
from mvgviz.provenance import Origin, Range, Ranges, checked_origin
from mvgviz.query.dataset import MISSING, Dataset
from mvgviz.query.frames import level_text
from mvgviz.query.ranges import is_dated
from mvgviz.text import listed
from mvgviz.validation import count, number, one_of

READING = ("separator", "decimal", "header", "member")
"""What a person may correct in how a file is read."""


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """Where the data comes from. A bundled sample: its name. A file: its name and how it was read.

    ``columns``: the features, in order (None: all). ``ranges``: those that a person gave, with their origins (a pair is
    declared); the others are read from the file again, by the same rule, and count as not private. ``separator``,
    ``decimal``, ``header`` and ``member``: what was corrected by hand (None: as detected). ``levels`` of categories,
    ``person`` and ``at_most``, and ranges that are dates: as for :meth:`Dataset.from_frame`. ``directions``: the name
    of the file with the directions, where the scenario has such, and ``directions_origin`` where they come from.
    """

    name: str
    columns: tuple[str, ...] | None = None
    ranges: Ranges | None = None
    orientation: str = "rows"
    missing: str = "reject"
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    member: str | None = None
    levels: Mapping[str, tuple[str, ...]] | None = None
    person: str | None = None
    at_most: int | None = None
    directions: str = "directions.csv"
    directions_origin: Origin = Origin.READ

    def __post_init__(self) -> None:
        texts = ("name", "separator", "decimal", "member", "person", "directions")
        for name, value in ((name, getattr(self, name)) for name in texts):
            if not (isinstance(value, str) or (value is None and name not in ("name", "directions"))):
                raise InputError(f"{name} of a data source must be text, got a {type(value).__name__}")
        if not (self.header is None or isinstance(self.header, bool)):
            raise InputError("header of a data source must be True, False or None")
        checked_origin("this set of directions", self.directions_origin)
        one_of("orientation", self.orientation, ("rows", "columns"))
        one_of("missing", self.missing, MISSING)
        if self.columns is not None:
            object.__setattr__(self, "columns", _names(self.columns))
        if self.ranges is not None:
            pairs = zip(_names(self.ranges), self.ranges.values(), strict=True)
            object.__setattr__(self, "ranges", {name: _range(ends) for name, ends in pairs})
        if self.levels is not None:
            pairs_of_levels = zip(_names(self.levels), self.levels.values(), strict=True)
            object.__setattr__(self, "levels", {name: _levels(given) for name, given in pairs_of_levels})
        if (self.person is None) != (self.at_most is None):
            raise InputError("person and at_most of a data source go together")
        if self.at_most is not None:
            count("at_most", self.at_most)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that may hold text: categories, dates, persons."""
        return texts_of(self.ranges, self.levels, self.person)

    @property
    def reading(self) -> dict[str, Any]:
        """How the file is read, as far as that was corrected."""
        return {name: value for name in READING if (value := getattr(self, name)) is not None}

    def read(self, file: File, *, name: str | None = None) -> Table:
        """The table in a file, read as it was; refused, with the names, where columns are gone."""
        table = read_table(file, name=name, texts=self.texts, **self.reading)
        self.check(table)
        return table

    def check(self, table: Table) -> None:
        """Whether the columns that were used are in the table."""
        wanted = [*(self.columns or ()), *(self.ranges or ()), *self.texts] if self.orientation == "rows" else []
        known = [*table.columns, *table.texts]
        gone = [name for name in dict.fromkeys(wanted) if name not in known]
        if gone:
            raise InputError(f"{table.name} does not fit: the study uses {listed(gone)}, and its columns are "
                             f"{listed(known)}; choose the file that the study was made with, "
                             f"{self.name}, or one with the same columns")

    def dataset(self, table: Table) -> Dataset:
        """The table as it was used: its features, its ranges, what becomes of gaps."""
        if table.is_graph and not self.texts:
            return table_to_dataset(table, missing=self.missing)
        return table_to_dataset(table, columns=self.columns, ranges=self.ranges, orientation=self.orientation,
                                missing=self.missing, levels=self.levels, person=self.person, at_most=self.at_most)

    def to_dict(self) -> dict[str, Any]:
        """What stands in a study's file; as usual is left out."""
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.ranges is not None:
            held["ranges"] = {name: range_to_list(Range(*ends)) for name, ends in self.ranges.items()}
        return {name: value for name, value in held.items() if name == "name" or value != _USUAL[name]}

    @classmethod
    def from_dict(cls, held: Any) -> Self:
        """What :meth:`to_dict` gave; refuses what it does not know."""
        if not (isinstance(held, dict) and "name" in held and set(held) <= set(_USUAL)):
            raise InputError(f"the data of a study must hold its name and may hold {listed(list(_USUAL)[1:], 99)}")
        given = dict(held)
        for name, kind in (("columns", list), ("ranges", dict), ("levels", dict)):
            if not isinstance(given.get(name), kind | None):
                raise InputError(f"{name} of a study's data must be a {'list' if kind is list else 'table by column'}")
        if given.get("ranges") is not None:
            given["ranges"] = {name: range_from_list(name, ends) for name, ends in given["ranges"].items()}
        if "directions_origin" in given:
            given["directions_origin"] = origin_called(given["directions_origin"])
        return cls(**given)


def range_to_list(span: Range) -> list[Any]:
    """``[low, high]`` where it is declared, else with its origin."""
    return [span.low, span.high] if span.origin is Origin.DECLARED else [span.low, span.high, span.origin.value]


def range_from_list(name: str, ends: Any) -> Range:
    """The range of a column as it stands in a file."""
    if not (isinstance(ends, list) and len(ends) in (2, 3)):
        raise InputError(f"the range of {name!r} must be [low, high], or [low, high, where it comes from]")
    if is_dated(ends):
        return _range([*ends[:2], *map(origin_called, ends[2:])])
    low, high = (number(f"an end of the range of {name!r}", end) for end in ends[:2])
    if not low < high:
        raise InputError(f"the range of {name!r} must have its low end below its high end")
    return Range(low, high, origin_called(ends[2]) if len(ends) == 3 else Origin.DECLARED)


def origin_called(word: Any) -> Origin:
    """An origin by the word for it in a file."""
    return Origin(one_of("where something comes from", word, tuple(origin.value for origin in Origin)))


def _names(names: Iterable[Any]) -> tuple[str, ...]:
    found = tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise InputError("columns and ranges of a data source must be named by text")
    return found


def _levels(given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError("levels of a data source must be a sequence for each category")
    return tuple(map(level_text, given))


def _range(ends: Any) -> Range:
    try:
        low, high, *origin = ends
        if is_dated(ends):
            span = Range(_date(low), _date(high), *origin)
        else:
            span = Range(number("the low end of a range", low), number("the high end of a range", high), *origin)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("the range of a column must be a pair (low, high)") from None
    checked_origin("a range", span.origin)
    return span


def _date(end: Any) -> Any:
    """An end of a range of dates, as text."""
    try:
        return (end if isinstance(end, date) else datetime.fromisoformat(end)).isoformat().removesuffix("T00:00:00")
    except (TypeError, ValueError):
        raise InputError("the range of a column of dates must be two dates, such as 2020-01-01") from None


_USUAL: dict[str, Any] = {field.name: field.default for field in fields(DataSource)}
