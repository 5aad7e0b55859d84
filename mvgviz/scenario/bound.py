"""The ellipse that a scenario clips records to, in the shape of the split, and the bias of clipping."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mvgviz.design.allocation import uniform
from mvgviz.errors import refuse
from mvgviz.noise.directions import Directions, standard_basis
from mvgviz.provenance import Origin, weakest
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query
from mvgviz.query.record_bound import NoisyCount, RecordBound, even_moments, rank_radius, regression_shape
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray

if TYPE_CHECKING:
    from mvgviz.scenario.resolve import Setup

_ROUNDING = 1e-9


def refuse_bound(scenario: Scenario, mode: str) -> None:
    """Raise `InputError` where the scenario's bound does not go with its other choices."""
    private = scenario.bound == "private"
    for wrong, why in (
            (mode == "columns", "a clipping bound shapes the noise over features; choose rows or both sides"),
            (scenario.directions == "private", "a clipping bound needs directions that are known before; choose the "
                                               "features themselves"),
            (private and scenario.guarantee != "exact", "a private radius needs the exact guarantee, which counts what "
                                                        "it spends; choose that or another bound"),
            (private and scenario.neighbours != "replace", "a private radius supports only replaced records; choose "
                                                           "these or another bound"),
            (private and scenario.kind.has_constant, "a private radius does not support mean and second moments "
                                                     "together; choose another bound")):
        refuse(wrong, why)


def record_ellipse(scenario: Scenario, table: Dataset, directions: Directions, theta: FloatArray, origin: Origin, *,
                   mu: float, rng: np.random.Generator | NoisyCount) -> RecordBound:
    """Return the ellipse around the middle of the ranges, or around 0 for second moments; a kernel's is round.

    Along each direction an evenly spread record has length 1. ``mu``: of the whole budget; a private radius takes its
    part.
    """
    kind, own = scenario.kind, scenario.radius if scenario.bound == "own" else None
    if kind.is_kernel:
        directions, theta = standard_basis(table.n_features), uniform(table.n_features)
    centre = np.zeros(table.n_features) if kind.degree == 2 else (table.lower + table.upper) / 2
    moments, roots, radius = even_moments(table, centre), np.sqrt(theta), own or 1.0
    if kind.has_constant:  # last, and scaled with the records
        size = table.n_features - 1
        predicts = scenario.task == "linear-ridge" and directions.is_standard and (scenario.label or 0) < size
        shares, radius, constant = regression_shape(theta[:-1] / theta[:-1].sum(), table.n_records, mu=mu, radius=own,
                                                    label=scenario.label if predicts else None)
        moments[-1], moments[:, -1], moments[-1, -1] = 0.0, 0.0, 1.0
        roots, radius = np.append(np.sqrt(shares), constant), float(np.hypot(radius, constant))
    w = directions.matrix
    spreads = np.sqrt(np.einsum("ik,ik->k", w, moments @ w))  # of an evenly spread record along each direction
    bound = RecordBound(radius=radius, centre=centre, weights=roots / spreads,
                        directions=None if directions.is_standard else directions,
                        origin=weakest([table.ranges_origin, origin, directions.origin]))
    return rank_radius(table, mu=mu, rng=rng, bound=bound) if scenario.bound == "private" else bound


@dataclass(frozen=True, kw_only=True, eq=False)
class Clipping:
    """In the units of the answer: ``most``, for any records in the ranges, is public; ``here``, on the data, is not."""

    most: FloatArray
    here: FloatArray = field(repr=False)


def clipping_of(setup: Setup) -> Clipping | None:
    """Return None where no record inside the ranges is clipped."""
    query, table = setup.query, setup.table
    most = None if query.bound is None else most_clipped(type(query), query.bound, table.lower, table.upper)
    if most is None:
        return None
    here = np.abs(query.value - setup.box.value)
    return Clipping(most=most, here=here.max(axis=1, keepdims=True) if query.is_table else here)


def most_clipped(kind: type[Query], bound: RecordBound, lower: FloatArray, upper: FloatArray) -> FloatArray | None:
    """Return how far clipping moves each number at most, from ranges and bound; None: by nothing. Of a kernel: by 1."""
    ellipse = bound.ellipse(lower.size)
    if ellipse.longest(lower, upper) <= bound.radius * (1 + _ROUNDING):
        return None
    if kind.is_kernel:
        return np.ones((1, 1))
    return bound.worst_bias(lower, upper, products=kind.degree == 2).reshape(lower.size, -1)
