"""Which numbers of a table are a feature's: by rows or by columns, all or a choice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mvgviz.data.names import clean_name, shown
from mvgviz.data.table import Table
from mvgviz.errors import InputError
from mvgviz.validation import FloatArray, one_of

MOST_FEATURES = 2_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """``values``: records × features, a view where it can be. ``positions``: where in the table each feature is."""

    names: tuple[str, ...]
    values: FloatArray = field(repr=False)
    positions: tuple[int, ...]

    def shown(self, index: int) -> str:
        """A feature's name as a message quotes it."""
        return shown(self.names[index], self.positions[index] + 1)


def features_of(table: Table, *, orientation: str, columns: Iterable[str] | None) -> Features:
    """The chosen features in the chosen order; all of them by default."""
    turned = one_of("orientation", orientation, ("rows", "columns")) == "columns"
    names = _row_names(table) if turned else table.columns
    values = table.values.T if turned else table.values
    if columns is None:
        _check_count(len(names), values.shape[0], table)
        return Features(names=names, values=values, positions=tuple(range(len(names))))
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InputError("columns must be a sequence of column names")
    chosen = tuple(columns)
    place = {name: position for position, name in enumerate(names)}
    for position, name in enumerate(chosen, start=1):
        if not isinstance(name, str) or name not in place:
            raise InputError(_unknown(name, position, table))
    if len(set(chosen)) != len(chosen):
        raise InputError("columns must be different from each other: one is named twice")
    if not chosen:
        raise InputError("columns must name at least one feature")
    _check_count(len(chosen), values.shape[0], table)
    positions = tuple(place[name] for name in chosen)
    return Features(names=chosen, values=values if chosen == names else values[:, list(positions)], positions=positions)


def _row_names(table: Table) -> tuple[str, ...]:
    if table.row_names is not None:
        cleaned = tuple(clean_name(name, row) for row, name in enumerate(table.row_names, start=1))
        if len(set(cleaned)) == len(cleaned):
            return cleaned
    return tuple(f"row {row}" for row in range(1, table.n_rows + 1))


def _check_count(features: int, records: int, table: Table) -> None:
    if not features <= MOST_FEATURES:
        turn = " If its records are columns, say so." if records <= MOST_FEATURES else ""
        raise InputError(
            f"{table.name} has {features} features and at most {MOST_FEATURES} can be used: "
            f"choose the columns you need.{turn}"
        )


def _unknown(name: object, position: int, table: Table) -> str:
    if not isinstance(name, str):
        return f"columns must be names, got a {type(name).__name__}"
    if name in table.text_columns:
        return f"{table.name} has text in column {shown(name, position)}: only columns of numbers can be features."
    if name in table.empty_columns:
        return f"{table.name} has nothing in column {shown(name, position)}: leave it out."
    return f"{table.name} has no column named {shown(name, position)}: check the spelling and the header."
