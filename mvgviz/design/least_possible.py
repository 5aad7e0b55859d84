"""The lowest possible Gaussian noise, whatever its shape, and a bound for noise of any family.

For one use ``u`` of an answer no Gaussian noise of the same mu has a standard deviation below ``h(u)/mu``, ``h(u)`` the
most that one record can move it (Cauchy–Schwarz). For a table or mean with weights ``w`` the least of ``sum w_i v_i``
is ``(sum r_i sqrt w_i)²/mu²``, turned noise included: the corners of the ranges, each as likely, are the certificate.
For all additive noise the least of any noise on one number that changes by at most 1 takes the place of ``1/mu``.
Nothing here is in the paper.

References
  [1] Geng & Viswanath, The optimal mechanism in differential privacy, ISIT 2014.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from mvgviz.design.needs import checked_needs
from mvgviz.errors import InputError, refuse
from mvgviz.noise.directions import Directions, checked_directions
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray, fraction, one_of, positive


class LeastPossible(NamedTuple):
    """A root mean square that no noise with this promise is below; ``exact``: some comes as near as one likes."""

    noise: float
    exact: bool


def least_possible(query: Query, needs: Any, mu: float | None = None, *, directions: Directions | None = None,
                   among: str = "gaussian", promise: tuple[float, float] | None = None) -> LeastPossible:
    """Return the lowest possible root mean square of noise, weighted as :func:`noise_on` does; ``among``: "gaussian",
    with this ``mu``, or "any" additive noise, with the ``promise`` (epsilon, delta): a bound, known for some of them.
    """
    if one_of("among", among, ("gaussian", "any")) == "any":
        refuse(mu is not None or promise is None, "among any needs promise=(epsilon, delta) instead of mu")
        lowest = lowest_std(*(promise or ()))
        if lowest is None:
            raise InputError("the lowest possible noise of any family is known for epsilon from 0.1 to 10 and delta up "
                             "to 1e-5")
        return least_possible(query, needs, 1 / lowest, directions=directions)._replace(exact=False)
    refuse(mu is None or promise is not None, "among gaussian needs mu instead of a promise")
    budget, body = positive("mu", mu), query.neighbours
    bounded = isinstance(body, BoundedColumn | BoundedOuterProduct) and (body.added or not body.corners)
    refuse(bounded or getattr(body, "levels", False), "the lowest possible noise is not known for categories, nor for "
           "clipped records that are added or removed")
    weights, directions = checked_needs(needs, query.rows), checked_directions(directions, query.rows)
    if not directions.is_standard:
        if not isinstance(body, ReplacedColumn):
            raise InputError("the lowest possible noise along directions is known for tables and means alone")
        total, exact = _along(body, weights, directions)
        return LeastPossible(math.sqrt(total / weights.sum()) / (body.divisor * budget), exact)
    unit = body.reach(directions)
    if isinstance(body, ReplacedColumn):
        if isinstance(body, BoundedColumn):
            total, exact = _bounded_column(body, weights / unit**2)
        else:
            total, exact = float(np.sqrt(weights) @ (body.widths / unit)) ** 2, body.records == 1
        return LeastPossible(math.sqrt(total / weights.sum()) / (body.divisor * budget), exact)
    if isinstance(body, ReplacedOuterProduct):
        spans = _bounded_spans(body, weights) if isinstance(body, BoundedOuterProduct) else body.spans()
        pairs = np.outer(weights, weights)
        squares = (spans / np.outer(unit, unit) / body.n_records) ** 2
        return LeastPossible(math.sqrt(float((squares * pairs).sum()) / pairs.sum()) / budget, False)
    raise InputError(f"the lowest possible noise is not known for the {query.name} query")


def staircase_std(epsilon: float) -> float:
    """Return the lowest standard deviation of any pure epsilon noise on one number that changes by at most 1 [1]."""
    b = math.exp(-positive("epsilon", epsilon))
    return math.sqrt(2 ** (-2 / 3) * (b * (1 + b)) ** (2 / 3) + b) / -math.expm1(-epsilon)


def lowest_std(epsilon: float, delta: float) -> float | None:
    """Return a standard deviation that no noise on one number is below, whatever its family; None where none is known.

    Linear programmes over noise on fine grids: delta up to 1e-5 lowers the staircase's by less than 2 %.
    """
    known = 0.1 <= positive("epsilon", epsilon) <= 10 and fraction("delta", delta) <= 1e-5
    return 0.98 * staircase_std(epsilon) if known else None


def _along(body: ReplacedColumn, weights: FloatArray, directions: Directions) -> tuple[float, bool]:
    """``mu²`` times the least weighted noise along directions of a table or mean, and whether it is exact.

    Inside an ellipse all directions reach their own least at once. For a box, ``tr((G^½ S G^½)^½)²`` is a bound, with
    ``G_ij = L_ij r_i r_j`` of the loss ``L = W diag(w) Wᵀ`` and ``S = (2/pi) arcsin`` of its correlations: the
    corners, drawn as signs of normal numbers that are correlated so, are the certificate.
    """
    parts = directions.matrix * np.sqrt(weights) / body.reach(directions)
    if isinstance(body, BoundedColumn):
        _refuse_beyond(body)
        ellipse = body.ellipse
        inside = ellipse.directions.matrix.T @ parts / ellipse.weights[:, None]
        return 4 * ellipse.radius**2 * float((inside**2).sum()), True  # (2R/mu)² (BᵀB)^-1, as for features
    if np.count_nonzero(weights) == 1:
        return 1.0, True
    left, s, _ = np.linalg.svd(body.widths[:, None] * parts, full_matrices=False)
    root = (left * s) @ left.T  # of G
    size = np.linalg.norm(root, axis=1)
    signs = 2 / math.pi * np.arcsin(np.clip(root @ root / np.maximum(np.outer(size, size), 1e-300), -1.0, 1.0))
    inner = np.linalg.eigvalsh(root @ signs @ root)
    return float(np.sqrt(np.maximum(inner, 0.0)).sum()) ** 2, False


def _bounded_column(body: BoundedColumn, weights: FloatArray) -> tuple[float, bool]:
    """``mu²`` times the least of ``sum w_i v_i`` for moves inside ellipse and ranges, and whether it is exact.

    Not turned, the worst distribution of moves has squares ``D_i`` of at most each range and together at most the
    ellipse; the least is the largest ``(sum sqrt(w_i D_i))²`` (as for the ranges alone, whose corners are one such).
    """
    ellipse = body.ellipse
    if not ellipse.directions.is_standard:
        _refuse_beyond(body)
        return 4 * float(weights @ ellipse.extent() ** 2), True  # privacy means covariance >= (2R/mu)² (BᵀB)^-1
    below, above = ellipse.centre - body.declared[0], body.declared[1] - ellipse.centre
    half = np.minimum(below, above)
    if not half.min() > 0:
        raise InputError("the lowest possible noise is not known for a bound whose centre is not inside the ranges")
    gains = weights / ellipse.weights**2
    parts = _most_even(gains, (2 * half * ellipse.weights) ** 2, 4 * ellipse.radius**2)
    return float(np.sqrt(gains * parts).sum()) ** 2, np.allclose(below, above, rtol=1e-9)


def _most_even(gains: FloatArray, caps: FloatArray, total: float) -> FloatArray:
    """The parts, each at most its cap and together at most ``total``, with the largest ``sum sqrt(gain * part)``."""
    some = gains > 0
    if caps[some].sum() <= total:
        return np.where(some, caps, 0.0)
    order = np.flatnonzero(some)[np.argsort((caps / np.where(some, gains, 1.0))[some])]
    full, left = np.cumsum(caps[order]) - caps[order], np.cumsum(gains[order][::-1])[::-1]
    levels = (total - full) / left
    level = levels[np.argmax(levels * gains[order] <= caps[order])]
    return np.asarray(np.minimum(caps, gains * level))


def _bounded_spans(body: BoundedOuterProduct, weights: FloatArray) -> FloatArray:
    """At least this far a record inside ellipse and ranges can move n times each priority entry.

    What stays as near to 0 as its range allows takes a part of the radius, as the constant of joint moments does.
    """
    ellipse, (lower, upper) = body.ellipse, body.declared
    if not ellipse.directions.is_standard:
        _refuse_beyond(body)
        return np.outer(ellipse.extent(), ellipse.extent())
    nearest = np.clip(0.0, lower, upper)
    left = ellipse.radius**2 - float(np.sum((ellipse.weights * nearest) ** 2))
    if nearest[weights > 0].any() or not left > 0:
        raise InputError("the lowest possible noise is not known inside a bound for ranges that do not hold 0")
    extent = math.sqrt(left) / ellipse.weights
    up, down = (np.clip(ends / extent, 0.0, 1.0) for ends in (upper, -lower))
    highest, lowest = (np.maximum(_product(*first), _product(*second)) for first, second in (
        ((up, up), (down, down)), ((up, down), (down, up))))
    spans = highest + lowest
    np.fill_diagonal(spans, np.maximum(up, down) ** 2)
    return np.asarray(spans * np.outer(extent, extent))


def _product(one: FloatArray, other: FloatArray) -> FloatArray:
    """The largest ``x_i y_j`` with ``x_i <= one_i``, ``y_j <= other_j`` (none above 1) and ``x_i² + y_j² <= 1``."""
    x, y = np.broadcast_arrays(one[:, None], other[None, :])
    least = np.minimum(np.minimum(x, y), math.sqrt(0.5))
    return np.asarray(np.where(x**2 + y**2 <= 1, x * y, least * np.sqrt(1 - least**2)))


def _refuse_beyond(body: BoundedColumn | BoundedOuterProduct) -> None:
    """A turned ellipse must lie inside the ranges."""
    extent, slack = body.ellipse.extent(), 1e-9
    low, high = body.ellipse.centre - extent, body.ellipse.centre + extent
    if not ((low >= body.declared[0] - slack * extent).all() and (high <= body.declared[1] + slack * extent).all()):
        raise InputError("the lowest possible noise is not known for a turned bound that reaches beyond the ranges")
