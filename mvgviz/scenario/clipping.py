"""The bias of clipping records to a bound: how far it moves each number of an answer, at most and on the data."""

from dataclasses import dataclass, field

import numpy as np

from mvgviz.query.queries import Query
from mvgviz.query.record_bound import RecordBound
from mvgviz.scenario.resolve import Setup
from mvgviz.validation import FloatArray

_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Clipping:
    """``most``: for any records inside the ranges, which is public; ``here``: on the data, which is not.

    Both are rows × cols in the units of the answer; rows × 1 where the columns are alike (a mean, a table).
    """

    most: FloatArray
    here: FloatArray = field(repr=False)


def clipping_of(setup: Setup) -> Clipping | None:
    """Return None where no record inside the ranges is clipped."""
    if setup.query.bound is None:
        return None
    most = most_clipped(type(setup.query), setup.query.bound, setup.table.lower, setup.table.upper)
    if most is None:
        return None
    here = np.abs(setup.query.value - setup.box.value)
    return Clipping(most=most, here=here.max(axis=1, keepdims=True) if setup.query.is_table else here)


def most_clipped(kind: type[Query], bound: RecordBound, lower: FloatArray, upper: FloatArray) -> FloatArray | None:
    """How far clipping moves each number of an answer at most, from ranges and bound; None: by nothing.

    A number of a kernel lies between 0 and 1 whatever the records are.
    """
    ellipse = bound.ellipse(lower.size)
    if ellipse.length_of(ellipse.furthest(lower, upper)) <= bound.radius * (1 + _ROUNDING):
        return None
    if kind.is_kernel:
        return np.ones((1, 1))
    return bound.worst_bias(lower, upper, products=kind.degree == 2).reshape(lower.size, -1)
