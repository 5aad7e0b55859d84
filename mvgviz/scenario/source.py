"""Where a study's data comes from: a sample, or a file with everything a person said about it; never its values."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from mvgviz.data import Table, read_table, table_to_dataset
from mvgviz.data.readers import File
from mvgviz.data.table import texts_of
from mvgviz.errors import InputError, refuse
from mvgviz.provenance import Category, Origin, Range, Ranges, checked_origin
from mvgviz.query.dataset import MISSING, Dataset
from mvgviz.query.frames import as_category, level_text
from mvgviz.scenario.codec import Kind, check_fields, choice, declared, held, text, whole
from mvgviz.scenario.ranges import origin_called, range_of, range_to_list
from mvgviz.text import listed

READING = ("separator", "decimal", "header", "member")  # what a person may correct in how a file is read
MOST_TITLE = 80  # characters of the name of the data


def _names(name: str, value: Any) -> tuple[str, ...]:
    """Return the columns, or the names that have ranges, levels or units."""
    if isinstance(value, str) or not (isinstance(value, Iterable) and all(isinstance(column, str) for column in value)
                                      and isinstance(value, Mapping) == (name != "columns")):
        raise InputError("columns and ranges of a data source must be named by text")
    return tuple(value)


def _levels(column: str, one: Any) -> tuple[str, ...] | Category:
    """Plain levels where they are declared and not ordered, else a category."""
    if isinstance(one, Mapping):
        refuse(not {"levels"} <= set(one) <= {"levels", "origin", "ordered"},
               "a category of a data source must hold its levels, and may hold origin and ordered")
        one = Category(one["levels"], origin_called(one.get("origin", Origin.DECLARED.value)),
                       _flag("ordered", one.get("ordered", False)))
    category = as_category(column, one)
    texts = tuple(map(level_text, category.levels))
    plain = category.origin is Origin.DECLARED and not category.ordered
    return texts if plain else replace(category, levels=texts)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} of a data source must be True, False or None")
    return value


def _each(of: Callable[[str, Any], Any]) -> Kind:
    """Declare a mapping by column; ``of``: what stands there, by column and value."""
    return Kind(lambda name, given: {column: of(column, given[column]) for column in _names(name, given)})


_TEXT, _TITLE = text("a data source"), text("a data source", most=MOST_TITLE)


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """Where the data comes from. A bundled sample: its name. A file: its name and how it was read.

    ``columns``: the features, in order (None: all). ``ranges``: those that a person gave; the others are read from the
    file again and count as not private. ``separator`` to ``member``: what was corrected by hand. ``levels`` to
    ``units``: as for :meth:`Dataset.from_frame`. ``title`` is published. ``directions``: the file with the directions.
    """

    name: str = field(metadata={"kind": _TEXT})
    columns: tuple[str, ...] | None = held(None, Kind(_names))
    ranges: Ranges | None = held(None, _each(range_of))
    orientation: str = held("rows", choice(("rows", "columns")))
    missing: str = held("reject", choice(MISSING))
    separator: str | None = held(None, _TEXT)
    decimal: str | None = held(None, _TEXT)
    header: bool | None = held(None, Kind(_flag))
    member: str | None = held(None, _TEXT)
    levels: Mapping[str, tuple[str, ...] | Category] | None = held(None, _each(_levels))
    person: str | None = held(None, _TEXT)
    at_most: int | None = held(None, whole())
    units: Mapping[str, str] | None = held(None, _each(_TITLE.check))
    title: str = held("", _TITLE)
    directions: str = held("directions.csv", _TEXT)
    directions_origin: Origin = held(Origin.READ, Kind(
        lambda _, origin: checked_origin("this set of directions", origin_called(origin))))

    def __post_init__(self) -> None:
        check_fields(self)
        refuse((self.person is None) != (self.at_most is None), "person and at_most of a data source go together")

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that may hold text: categories, dates, persons."""
        return texts_of(self.ranges, self.levels, self.person)

    @property
    def reading(self) -> dict[str, Any]:
        return {name: value for name in READING if (value := getattr(self, name)) is not None}

    def read(self, file: File, *, name: str | None = None) -> Table:
        """Return the table in a file, read as it was; refused, with the names, where columns are gone."""
        table = read_table(file, name=name, texts=self.texts, **self.reading)
        self.check(table)
        return table

    def check(self, table: Table) -> None:
        """Raise `InputError` when the table lacks a column that the study uses."""
        wanted = [*(self.columns or ()), *(self.ranges or ()), *self.texts] if self.orientation == "rows" else []
        known = [*table.columns, *table.texts]
        gone = [name for name in dict.fromkeys(wanted) if name not in known]
        refuse(gone, f"{table.name} does not fit: it lacks {listed(gone)} and has {listed(known)}; choose the study's "
               "file, or one with the same columns")

    def dataset(self, table: Table) -> Dataset:
        """Return the table as it was used: its features, its ranges, what becomes of gaps."""
        names = ("missing",) if table.is_graph and not self.texts else (
            "columns", "ranges", "orientation", "missing", "levels", "person", "at_most", "units")
        return table_to_dataset(table, title=self.title, **{name: getattr(self, name) for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Return what stands in a study's file; as usual is left out."""
        found = {name: value for name, value in vars(self).items() if name == "name" or value != vars(DataSource)[name]}
        if self.ranges is not None:
            found["ranges"] = {column: range_to_list(Range(*ends)) for column, ends in self.ranges.items()}
        if self.levels is not None:
            found["levels"] = {column: one if isinstance(one, tuple) else {
                "levels": one.levels, "origin": one.origin.value, "ordered": one.ordered}
                for column, one in self.levels.items()}
        return found

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """Return what :meth:`to_dict` gave; refuse what it does not know."""
        _, *others = known = list(declared(DataSource))
        if not (isinstance(content, dict) and "name" in content and set(content) <= set(known)):
            raise InputError(f"the data of a study must hold its name and may hold {listed(others, len(others))}")
        return cls(**content)
