"""The least noise that any private Gaussian noise can have, whatever its shape.

For one use ``u`` of an answer no Gaussian noise of the same mu has a standard deviation below
``h(u)/mu``, ``h(u)`` the most that one record can move it (Cauchy–Schwarz). For a table or mean with
weights ``w`` on its features the least of ``sum w_i v_i`` is ``(sum r_i sqrt w_i)²/mu²``, turned noise
included: the corners of the ranges, each as likely, are the certificate. Nothing here is in the paper.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mvgviz.design.needs import checked_needs
from mvgviz.errors import InputError
from mvgviz.noise.directions import standard_basis
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct
from mvgviz.query.queries import Query
from mvgviz.validation import positive


class LeastPossible(NamedTuple):
    """A root mean square of noise, in units of what a record can move, that no Gaussian noise of this mu is below.

    ``exact``: some noise comes as near to it as one likes.
    """

    noise: float
    exact: bool


def least_possible(query: Query, needs: Any, mu: float) -> LeastPossible:
    """The least root mean square noise on what is needed, weighted as :func:`noise_on` does."""
    budget, body = positive("mu", mu), query.neighbours
    weights = checked_needs(needs, query.rows)
    unit = body.reach(standard_basis(query.rows))
    if isinstance(body, BoundedColumn | BoundedOuterProduct) and not _fits(body):
        raise InputError("the least possible noise is not known for a bound that reaches beyond the ranges")
    if isinstance(body, ReplacedColumn):
        if isinstance(body, BoundedColumn):  # privacy means covariance >= (2R/mu)² (BᵀB)^-1
            total = 4 * float(weights @ (body.ellipse.extent() / unit) ** 2)
        else:
            total = float(np.sqrt(weights) @ (body.widths / unit)) ** 2
        return LeastPossible(math.sqrt(total / weights.sum()) / (body.divisor * budget), True)
    if isinstance(body, ReplacedOuterProduct):
        reach = np.outer(body.ellipse.extent(), body.ellipse.extent()) if isinstance(
            body, BoundedOuterProduct) else body.spans()
        pairs = np.outer(weights, weights)
        squares = (reach / np.outer(unit, unit) / body.n_records) ** 2
        return LeastPossible(math.sqrt(float((squares * pairs).sum()) / pairs.sum()) / budget, False)
    raise InputError(f"the least possible noise is not known for the {query.name} query")


def _fits(body: BoundedColumn | BoundedOuterProduct) -> bool:
    """Whether the ranges hold the whole ellipse."""
    extent, slack = body.ellipse.extent(), 1e-9
    low, high = body.ellipse.centre - extent, body.ellipse.centre + extent
    return bool((low >= body.lower - slack * extent).all() and (high <= body.upper + slack * extent).all())
