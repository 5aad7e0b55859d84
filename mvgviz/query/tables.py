"""Queries whose numbers are values of features: the table itself and the mean record.

>>> import numpy as np
>>> from mvgviz import Dataset, mean
>>> query = mean(Dataset(matrix=np.zeros((2, 50)), features=("a", "b"), lower=-1, upper=1))
>>> f"{query.sensitivity:.4f}"
'0.0566'
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mvgviz.query.base import Derivation, Facts, Query, largest_norm
from mvgviz.query.bounded_neighbours import BoundedColumn
from mvgviz.query.dataset import Dataset
from mvgviz.query.neighbours import ReplacedColumn, move_widths
from mvgviz.query.prior import Guess, of_rows
from mvgviz.query.record_bound import RecordBound
from mvgviz.validation import FloatArray, frozen

INSIDE = r"z=B(x-c),\quad \|z\|\le R\;\Rightarrow\;"
"""For records inside an ellipse: B is its matrix, c its centre, R its radius."""


class _Values(Query):
    degree, of_all_features = 1, True
    neighbours: ReplacedColumn

    def guess(self, table: Dataset | None) -> Guess:
        assert table is not None
        middle, nearest = ((table.lower + table.upper) / 2)[:, None], np.clip(0.0, table.lower, table.upper)[:, None]
        variances = table.widths**2 / 12 * (self.cols / (table.n_records if self.is_mean else 1))
        return Guess(answer=np.broadcast_to(middle, self.value.shape), name="the middle of every range",
                     spread=partial(of_rows, variances),
                     plain={"in every range the value nearest 0": np.broadcast_to(nearest, self.value.shape)})

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        if largest is None:
            largest = np.full(self.rows, self.gamma / math.sqrt(self.cols))
        return largest, np.broadcast_to(1.0, (self.cols,))

    def absolute_sum(self, *, triangle: bool = False) -> float:
        body = self.neighbours
        return float(body.widths.sum()) * body.records / body.divisor


@dataclass(frozen=True, kw_only=True, eq=False)
class Table(_Values):
    """The table itself, features × records."""

    name, title, in_sentence = "identity", "table", "the table"
    choice = "The table itself"
    question = "the table itself: every record, with noise"
    cols_are, has_moments, is_table = "record", True, True
    derivations: ClassVar = {
        "plain": Derivation((r"\|X-X'\|_F=\|x-x'\|_2,\quad |x_i-x'_i|\le r_i",
                             r"s_2=\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{n\textstyle\sum_i c_i^2}"),
                            "Only the column of the replaced record changes, by at most the width rᵢ of each range."),
        "bounded": Derivation((INSIDE + r"\|z-z'\|\le 2R",
                               r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=2R/\sigma"),
                              "Worst from one end of the ellipse to the other. The noise has the ellipse's own shape: "
                              "the same in every direction of z. No private Gaussian noise has less anywhere."),
        "added": Derivation((r"\|X-X'\|_F=\|x-m\|_2,\quad |x_i-m_i|\le r_i/2",
                             r"s_2=\tfrac12\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{n\textstyle\sum_i c_i^2}")),
        "added bounded": Derivation((INSIDE + r"\|z-0\|\le R",
                                     r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=R/\sigma")),
    }

    @classmethod
    def _facts(cls, table: Dataset, data: Dataset, bound: RecordBound | None, added: bool, **parameters: Any) -> Facts:
        body = column_body(table, data, bound, 1.0, added=added, records=data.per_person)
        return {"value": data.matrix, "neighbours": body,
                "gamma": math.sqrt(data.n_records) * largest_norm(data, bound)}

    def answer(self, records: FloatArray) -> FloatArray:
        return records


@dataclass(frozen=True, kw_only=True, eq=False)
class Mean(_Values):
    """The average record, features × 1."""

    name, title, in_sentence = "mean", "mean", "a mean"
    choice = "The mean record"
    question = "the mean of every feature"
    cols_are, is_mean, more_steps = "mean", True, 3
    derivations: ClassVar = {
        "plain": Derivation((r"\|\bar x-\bar x'\|_2=\tfrac1n\|x-x'\|_2,\quad |x_i-x'_i|\le r_i",
                             r"s_2=\tfrac1n\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{\textstyle\sum_i c_i^2}"),
                            "One record of n moves the mean by an n-th of its own move."),
        "bounded": Derivation((INSIDE + r"\|\bar z-\bar z'\|\le 2R/n",
                               r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=2R/(n\sigma)"),
                              "One record of n moves the mean by an n-th of its own move, from one end of the ellipse "
                              "to the other. The noise has the ellipse's own shape: the same in every direction of z."),
        "added": Derivation((r"\|\bar x-\bar x'\|_2=\tfrac1n\|x-m\|_2,\quad |x_i-m_i|\le r_i/2",
                             r"s_2=\tfrac1{2n}\sqrt{\textstyle\sum_i r_i^2},\quad "
                             r"\gamma=\sqrt{\textstyle\sum_i c_i^2}")),
        "added bounded": Derivation((INSIDE + r"\|z-0\|\le R",
                                     r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=R/(n\sigma)")),
    }

    @classmethod
    def _facts(cls, table: Dataset, data: Dataset, bound: RecordBound | None, added: bool, **parameters: Any) -> Facts:
        body = column_body(table, data, bound, data.n_records / data.per_person, added=added)
        return {"value": frozen(data.matrix.mean(axis=1, keepdims=True)), "neighbours": body,
                "gamma": largest_norm(data, bound)}

    def answer(self, records: FloatArray) -> FloatArray:
        return np.asarray(records.mean(axis=1, keepdims=True))


def identity(dataset: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
    """Ask for the table itself, features × records."""
    return Table.ask(dataset, bound=bound, neighbours=neighbours)


def mean(dataset: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
    """Ask for the average record, features × 1."""
    return Mean.ask(dataset, bound=bound, neighbours=neighbours)


def column_body(declared: Dataset, data: Dataset, bound: RecordBound | None, divisor: float, *, added: bool = False,
                records: int = 1) -> ReplacedColumn:
    """Return what a table or mean can move by, across the ranges and within the bound if there is one."""
    if bound is None:
        return ReplacedColumn(widths=move_widths(data.widths, data.levels, added=added), divisor=divisor, added=added,
                              records=records, levels=data.levels)
    ellipse = bound.ellipse(data.n_features)
    widths = np.maximum(data.upper - ellipse.centre, ellipse.centre - data.lower) if added else data.widths
    return BoundedColumn(widths=widths, divisor=divisor, ellipse=ellipse, added=added, records=records,
                         declared=(declared.lower, declared.upper), corners=not declared.levels)
