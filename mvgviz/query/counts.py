"""Counts of a category and cross-tables of two: how many records have each level, or each pair of levels.

A record adds 1 to one cell (a gap: equal parts of 1 to all levels). A neighbour changes the table by ``E_ij - E_kl``,
or by ``± E_ij`` where a record is added or removed. Distances are convex, so single cells are the worst, exactly.

Directional noise gains nothing with added or removed records: ``M_ii <= mu²`` and ``Sigma_ii >= 1/M_ii``, which equal
noise attains on every level at once. With replaced records the two most precise levels count together, ``q_1 + q_2 =
mu²``: one priority level gains at most √2, two or more nothing, nor does a row of a cross-table, within which a record
may move. Nothing here is in the paper.

>>> import numpy as np
>>> from mvgviz import Dataset, counts
>>> data = Dataset(matrix=np.eye(3)[:, [0, 0, 1, 2]], features=("eye=blue", "eye=brown", "eye=green"), lower=0, upper=1,
...                levels=[(0, 1, 2)])
>>> query = counts(data, "eye")
>>> query.row_names, query.value.ravel().tolist(), f"{query.sensitivity:.4f}"
(('eye=blue', 'eye=brown', 'eye=green'), [2.0, 1.0, 1.0], '1.4142')
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mvgviz.errors import refuse
from mvgviz.noise.directions import Directions
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin, weakest
from mvgviz.query.base import Derivation, Facts, Query
from mvgviz.query.dataset import Dataset
from mvgviz.query.neighbours import Neighbours, WorstCase
from mvgviz.query.prior import Guess, Weighing
from mvgviz.query.record_bound import RecordBound
from mvgviz.validation import FloatArray, count, frozen

_MOST_CELLS = 1_500  # whose pairs are all tried


class Category(NamedTuple):
    """A category of a table: its name, and the names and positions of the features that are its levels."""

    name: str
    levels: tuple[str, ...]
    positions: tuple[int, ...]

    def parts(self, table: Dataset) -> FloatArray:
        """Return what of each record is in each level: 1 in one of them, equal parts in all where it is missing."""
        rows = list(self.positions)
        return np.asarray((table.matrix[rows] - table.lower[rows, None]) / table.widths[rows, None])


def categories(table: Dataset) -> tuple[Category, ...]:
    """Return the categories of a table; "sex=f" and "sex=m" are the levels of sex."""
    found = []
    for k, positions in enumerate(table.levels):
        names = [table.features[i] for i in positions]
        ends = [i for i, sign in enumerate(names[0]) if sign == "=" and all(
            name.startswith(names[0][: i + 1]) and name != names[0][: i + 1] for name in names)]
        end = ends[-1] if ends else -1
        found.append(Category(names[0][: max(end, 0)] or f"category {k + 1}", tuple(names), positions))
    return tuple(found)


def chosen_categories(table: Dataset, chosen: Iterable[int | str], number: int) -> tuple[Category, ...]:
    """Return so many categories: the chosen ones first, by name or position, then others in their order."""
    known = categories(table)
    refuse(len(known) < number, f"this query needs {'a category' if number == 1 else 'two categories'}, and the table "
           f"has {len(known) or 'none'}: declare the levels of a column")
    wanted = [category_position(table, each) for each in chosen]
    order = dict.fromkeys([*wanted, *range(len(known))])
    return tuple(known[k] for k in list(order)[:number])


def category_position(table: Dataset, category: int | str) -> int:
    """Return the position of a category of the table, given by name or position."""
    names = [each.name for each in categories(table)]
    if isinstance(category, str):
        refuse(category not in names,
               f"category must be one of {', '.join(names[:20]) or 'none'}, got {category[:40]!r}")
        return names.index(category)
    refuse(not count("category", category, at_least=0) < len(names),
           f"category must be a position below {len(names)}, got {category}")
    return int(category)


@dataclass(frozen=True, kw_only=True)
class ReplacedCell(Neighbours):
    """``D = records (E_ij - E_kl)``, or ``D = ± records E_ij`` if ``added``, over ``rows`` × ``cols`` cells.

    A worst case that needs a record in no cell (some levels are left out) counts as a bound.
    """

    rows: int
    cols: int
    records: int = 1
    added: bool = False

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """``at``: the change ``left rightᵀ`` of a record that enters one cell and leaves another, if any."""
        lengths = np.outer(rows.precision_diagonal(), cols.precision_diagonal()).ravel()
        cells, exact = np.argsort(-lengths, kind="stable")[: 1 if self.added else 2], True
        square = float(lengths[cells].sum())
        if not self.added and not (rows.is_diagonal and cols.is_diagonal):
            exact, square = False, float(np.sqrt(lengths[cells]).sum()) ** 2
            if lengths.size <= _MOST_CELLS:
                squares = lengths[:, None] + lengths - 2 * np.kron(rows.precision(), cols.precision())
                cells = np.array(np.unravel_index(int(squares.argmax()), squares.shape))
                exact, square = bool(squares.max() >= lengths.max()), float(max(squares.max(), lengths.max()))
        left, right, signs = np.zeros((self.rows, 2)), np.zeros((self.cols, 2)), (1, -1)
        for k, (row, col) in enumerate(divmod(int(cell), self.cols) for cell in cells):
            left[row, k], right[col, k] = signs[k] * self.records, 1.0
        return WorstCase(self.records * math.sqrt(square), exact, (left, right))

    def reach(self, directions: Directions) -> FloatArray:
        if directions.is_standard:
            return np.ones(directions.size)
        w = directions.matrix
        if self.added:
            return np.asarray(np.abs(w).max(axis=0))
        return np.asarray(np.maximum(w.max(axis=0), 0) - np.minimum(w.min(axis=0), 0))


class _Cells(Query):
    takes_bound, more_steps = False, 8
    parameters = ("category",)
    rows_are, unit, n_categories = "level", "records", 1
    neighbours: ReplacedCell

    @classmethod
    def _facts(cls, table: Dataset, data: Dataset, bound: RecordBound | None, added: bool, **parameters: Any) -> Facts:
        used = cls._asked(data, **parameters)
        first, *others = (category.parts(data) for category in used)
        other = others[0] if others else np.ones((1, data.n_records))
        return {"value": frozen(first @ other.T), "gamma": float(data.n_records), "ranges_origin": _origin(data, used),
                "neighbours": ReplacedCell(rows=len(first), cols=len(other), records=data.per_person, added=added),
                "row_names": used[0].levels, "col_names": used[1].levels if others else ("count",)}

    @classmethod
    def fits(cls, table: Dataset) -> bool:
        return len(table.levels) >= cls.n_categories

    @classmethod
    def table_of(cls, table: Dataset, **parameters: Any) -> Dataset:
        """Return the levels that are the rows; all rest on every category that is used."""
        used = cls._asked(table, **parameters)
        levels = table.only(used[0].positions)
        return replace(levels, label=None, range_origins=(_origin(table, used),) * levels.n_features)

    @classmethod
    def uses(cls, table: Dataset, **parameters: Any) -> list[int]:
        return _positions(cls._asked(table, **parameters))

    @classmethod
    def _asked(cls, table: Dataset, **parameters: Any) -> tuple[Category, ...]:
        return chosen_categories(table, parameters.get("category", ()), cls.n_categories)

    def is_named_like(self, table: Dataset) -> bool:
        levels = {category.levels for category in categories(table)}
        return {self.row_names, self.col_names if self.n_categories > 1 else self.row_names} <= levels

    def guess(self, table: Dataset | None) -> Guess:
        body, n = self.neighbours, float(self.n_records or 0)
        part = 1 / (body.rows * body.cols)
        return Guess(answer=np.full(self.value.shape, n * part), name="as many records in every level",
                     spread=partial(_of_cells, n * self.cols * part, part, self.rows))

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        return np.full(self.rows, float(self.n_records or 0)), np.ones(self.cols)

    def absolute_sum(self, *, triangle: bool = False) -> float:
        return float(self.neighbours.records * (1 if self.neighbours.added else 2))


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts(_Cells):
    """How many records have each level of a category, levels × 1."""

    name, title, in_sentence = "counts", "counts", "counts"
    choice = "Counts of a category"
    question = "how many records each level of a category has"
    cols_are = "count"
    derivations: ClassVar = {
        "plain": Derivation((r"D=e_i-e_j", r"s_2=\sqrt2,\quad \gamma=n"),
                            "One record leaves a level and enters another. Directional noise gains at most √2 on one "
                            "priority level, and nothing on two or more."),
        "added": Derivation((r"D=\pm e_i", r"s_2=1,\quad \gamma=n"),
                            "One record counts in one level. Directional noise gains nothing: equal noise is the "
                            "lowest possible Gaussian noise on every level at once."),
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class CrossTable(_Cells):
    """How many records have each pair of levels of two categories, levels of the one × levels of the other."""

    name, title, in_sentence = "cross_table", "cross-table", "a cross-table"
    choice = "Cross-table of two categories"
    question = "how many records each pair of levels of two categories has"
    cols_are, n_categories = "column", 2
    derivations: ClassVar = {
        "plain": Derivation((r"D=e_ie_j^{\mathsf T}-e_ke_l^{\mathsf T}", r"s_2=\sqrt2,\quad \gamma=n"),
                            "One record leaves a cell and enters another, perhaps in the same row. So directional "
                            "noise gains nothing on a priority row."),
        "added": Derivation((r"D=\pm e_ie_j^{\mathsf T}", r"s_2=1,\quad \gamma=n"),
                            "One record counts in one cell. Directional noise gains nothing: equal noise is the "
                            "lowest possible Gaussian noise on every cell at once."),
    }


def counts(dataset: Dataset, category: int | str = 0, *, neighbours: str = "replace") -> Query:
    """Ask how many records have each level of a category (its name or its position), levels × 1."""
    return Counts.ask(dataset, neighbours=neighbours, category=(category,))


def cross_table(dataset: Dataset, categories: Sequence[int | str] = (), *, neighbours: str = "replace") -> Query:
    """Ask how many records have each pair of levels of two categories; by default the first two of the table."""
    return CrossTable.ask(dataset, neighbours=neighbours, category=categories)


def _positions(used: Iterable[Category]) -> list[int]:
    return [k for category in used for k in category.positions]


def _origin(table: Dataset, used: Iterable[Category]) -> Origin:
    return weakest(table.range_origins[k] for k in _positions(used))


def _of_cells(total: float, part: float, rows: int, weighing: Weighing | None) -> float:
    """``total (tr Q - part 1ᵀQ1)``, the variance of multinomial counts, for Q how rows count."""
    q = np.eye(rows) if weighing is None else weighing.matrix.T @ weighing.matrix
    return total * float(np.trace(q) - part * q.sum())
