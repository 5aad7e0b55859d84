"""What every kind of query has: an answer, how far one neighbour can move it, its structure, its words.

Neighbours have the same number of records, one of them *replaced*; for graphs, one edge is *added or removed*. With
``neighbours="add-remove"`` one record is there or its place is empty: the number of places is public, and an empty one
counts as the middle of every range (as the centre of a bound; of the levels of a category, as an equal part of each),
as nothing in second moments and counts. All records of a person change together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.sides import NoiseSide
from mvgviz.optional import optional
from mvgviz.provenance import Origin, checked_origin
from mvgviz.query.dataset import Dataset, is_added, origins
from mvgviz.query.neighbours import Neighbours
from mvgviz.query.prior import Guess
from mvgviz.query.record_bound import RecordBound
from mvgviz.validation import FloatArray, count, instance

AS_DECLARED = "as declared with the sensitivity"  # what neighbours of a custom query differ by
_ELSEWHERE = "this answer was computed elsewhere, so mvgviz cannot compute it for other records"
_LABELS = 10_000
UNIT = 2.0**-53  # the relative error of one operation in floating point

Facts: TypeAlias = dict[str, Any]  # fields of a query


class Derivation(NamedTuple):
    """Why a sensitivity is what it is: two lines of LaTeX and a sentence."""

    lines: tuple[str, str]
    words: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Query:
    """A matrix-valued answer with what is publicly known about it; one subclass for each kind of query.

    ``value`` is private; all other fields are public, as far as ranges and number of records are
    (``ranges_origin``, ``records_origin``). ``printed_sensitivity``: the paper's ``s2``, ``sensitivity``: the tight
    one; ``gamma`` bounds the norm of any answer. ``symmetric`` and ``psd`` hold for every dataset. ``n_records``: None
    where records have no meaning; ``bound``: what records were clipped to first.

    Facts of a kind. ``rows_are``, ``cols_are``: "feature", "record", "vertex", "mean", "row" or "column". ``degree``:
    in the data, 1 or 2; 0 for neither values nor products of features. ``has_constant``: the last row is a constant's.
    ``of_all_features``: the rows are all features and nothing else. ``has_moments``: second moments follow from the
    answer. ``is_table``: the answer is the records, one in each column; ``is_mean``: their average. ``is_kernel``: rows
    are records. ``parameters``: the fields of a scenario that it needs. ``unit``: of all numbers, where it is none of
    the data's. ``more_steps``: of arithmetic in a sum over the records, beside one for each.
    """

    name: ClassVar[str]
    title: ClassVar[str] = "answer"
    in_sentence: ClassVar[str] = "an answer"
    choice: ClassVar[str] = ""
    question: ClassVar[str] = ""
    rows_are: ClassVar[str] = "feature"
    cols_are: ClassVar[str] = "feature"
    degree: ClassVar[int] = 0
    has_constant: ClassVar[bool] = False
    of_all_features: ClassVar[bool] = False
    has_moments: ClassVar[bool] = False
    is_table: ClassVar[bool] = False
    is_mean: ClassVar[bool] = False
    by_group: ClassVar[bool] = False
    is_kernel: ClassVar[bool] = False
    is_graph: ClassVar[bool] = False
    takes_bound: ClassVar[bool] = True
    parameters: ClassVar[tuple[str, ...]] = ()
    unit: ClassVar[str] = ""
    more_steps: ClassVar[int] = 0
    derivations: ClassVar[dict[str, Derivation]] = {}
    """By "plain", "bounded", "added" and "added bounded", as far as they can be."""

    value: FloatArray = field(repr=False)
    sensitivity: float
    printed_sensitivity: float
    gamma: float
    psd: bool = False
    symmetric: bool = False
    neighbours: Neighbours = field(repr=False)
    neighbour_rule: str
    row_names: tuple[str, ...] | None = None
    col_names: tuple[str, ...] | None = None
    n_records: int | None = None
    bound: RecordBound | None = None
    ranges_origin: Origin = Origin.DECLARED
    records_origin: Origin = Origin.DECLARED

    def __post_init__(self) -> None:
        for attribute in ("sensitivity", "printed_sensitivity", "gamma"):
            value = getattr(self, attribute)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{attribute} of the {self.name} query must be positive and finite, got {value:g}")
        checked_origin("a range", self.ranges_origin)
        checked_origin("the number of records", self.records_origin)

    @classmethod
    def ask(cls, table: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace",
            **parameters: Any) -> Query:
        """Ask a table whose values are inside their ranges, with the values of the kind's ``parameters``."""
        if bound is not None and not cls.takes_bound:
            raise InputError(f"{cls.in_sentence} cannot be computed from clipped records: choose no clipping bound")
        data, added = inside(table, bound), is_added(neighbours)
        facts = origins(data, neighbours) | {"row_names": data.features, "bound": bound} | cls._facts(
            table, data, bound, added, **parameters)
        if "sensitivity" not in facts:
            rows, cols = map(NoiseSide.identity, facts["value"].shape)
            facts["sensitivity"] = facts["neighbours"].worst(rows, rows if cls.symmetric else cols).mu
        return cls(**{"printed_sensitivity": facts["sensitivity"]} | facts)

    @classmethod
    def _facts(cls, table: Dataset, data: Dataset, bound: RecordBound | None, added: bool, **parameters: Any) -> Facts:
        """Return value, gamma and neighbours, and what differs from :meth:`ask`; ``data``: the records as clipped."""
        raise InputError(_ELSEWHERE)

    @classmethod
    def fits(cls, table: Dataset) -> bool:
        """Return whether it can be asked of a table of this size."""
        return True

    @classmethod
    def table_of(cls, table: Dataset, **parameters: Any) -> Dataset:
        """Return the table with one feature for each row of the answer."""
        return table

    @classmethod
    def uses(cls, table: Dataset, **parameters: Any) -> list[int]:
        """Return the positions of the features that the answer rests on: of no other is anything published."""
        return list(range(table.n_features))

    def is_named_like(self, table: Dataset) -> bool:
        """Return whether the rows have the names of this table, so that the query may come from it."""
        return set((self.row_names or ())[: self.features]) <= set(table.features)

    def answer(self, records: FloatArray) -> FloatArray:
        """Return what the query says of other records, features × records, in its units."""
        raise InputError(_ELSEWHERE)

    def guess(self, table: Dataset | None) -> Guess:
        """Return what somebody would answer who knows the ranges of ``table`` and has not seen the data."""
        raise InputError(_ELSEWHERE)

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray] | None:
        """Return ``a`` and ``b`` with ``|f_ij| <= a_i b_j`` for every dataset; None where only the norm is known.

        ``largest``: the largest absolute value of each feature, if known.
        """
        return None

    def rounding(self, largest: FloatArray | None) -> float:
        """Bound the error of the answer as computed, as a share of the bound on its entries."""
        return sum_error((self.n_records or 0) + self.more_steps) if self.more_steps else 0.0

    def most_moved(self, mu: float) -> float:
        """Bound how far one neighbour moves the answer *as computed*, where ``mu`` bounds the exact one."""
        return math.inf

    def absolute_sum(self, *, triangle: bool = False) -> float:
        """Bound the sum of ``|D_ij|`` over neighbours, over all entries or over the upper triangle."""
        return self.sensitivity * math.sqrt(self.value.size)

    def diagonal_square(self) -> float:
        return self.sensitivity**2

    @classmethod
    def own_features(cls, rows: int) -> int:
        """Return how many of so many rows are features, which stand first; a joined constant is none."""
        return rows - cls.has_constant

    @property
    def features(self) -> int:
        return self.own_features(self.rows)

    @property
    def rows(self) -> int:
        return int(self.value.shape[0])

    @property
    def cols(self) -> int:
        return int(self.value.shape[1])

    def position(self, feature: str | int) -> int:
        """Return the position of a row of the answer, given by name or position."""
        if isinstance(feature, str):
            refuse(feature not in (self.row_names or ()), f"the {self.name} query has no row named {feature[:40]!r}")
            return self.row_names.index(feature)  # type: ignore[union-attr]
        return count("the position of a feature", feature, at_least=0)

    @classmethod
    def names_of(cls, shape: tuple[int, ...], row_names: tuple[str, ...] | None,
                 col_names: tuple[str, ...] | None = None) -> tuple[tuple[str, ...], ...]:
        rows = row_names or numbered("row" if cls.rows_are == "feature" else cls.rows_are, shape[0])
        if col_names is not None or cls.cols_are == cls.rows_are:
            return rows, col_names or rows
        return rows, ("mean",) if cls.is_mean else numbered(cls.cols_are, shape[1])

    def coordinate_names(self, mode: str, size: int) -> tuple[str, ...]:
        """Name the rows (columns, in mode "columns") of the answer, 10 000 at most."""
        names = self.col_names if mode == "columns" else self.row_names
        if names is not None:
            return names[:_LABELS]
        return numbered("vertex" if self.is_graph else "record", min(size, _LABELS))

    def to_frame(self) -> Any:
        """Return the true, private answer as a pandas frame with names; a table has its records in rows."""
        rows, cols = self.names_of(self.value.shape, self.row_names, self.col_names)
        frame = optional("pandas").DataFrame(np.array(self.value), index=list(rows), columns=list(cols))
        return frame.T.reset_index(drop=True) if self.is_table else frame


def numbered(kind: str, size: int) -> tuple[str, ...]:
    """"record 1", "record 2", …"""
    return tuple(f"{kind} {i + 1}" for i in range(size))


def sum_error(steps: int) -> float:
    """Bound the relative error of a sum of products, in any order, of the same sum of absolute values."""
    return steps * UNIT / (1 - steps * UNIT)


def largest_norm(data: Dataset, bound: RecordBound | None) -> float:
    """Return the longest record that ranges and bound allow."""
    box = norm(data.largest_values)
    if bound is None:
        return box
    ellipse = bound.ellipse(data.n_features)
    if ellipse.directions.is_standard and not ellipse.centre.any():
        square, _ = ellipse.most_inside(NoiseSide.identity(data.n_features), data.largest_values)
        return min(box, math.sqrt(square))
    return min(box, norm(ellipse.centre) + ellipse.radius / float(ellipse.weights.min()))


def inside(dataset: Dataset, bound: RecordBound | None = None) -> Dataset:
    """Return the dataset, refused where values lie outside their ranges, with its records clipped to the bound."""
    outside = instance("dataset", dataset, Dataset).count_outside()
    refuse(outside, f"{outside} of {dataset.matrix.size} entries lie outside their declared ranges; widen the ranges "
           "or use dataset.clipped()")
    return dataset if bound is None else instance("bound", bound, RecordBound).clipped(dataset)


def norm(values: FloatArray) -> float:
    """Euclidean norm without overflow."""
    return math.hypot(*values.tolist())
