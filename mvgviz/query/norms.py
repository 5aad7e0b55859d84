"""How far one neighbour can move an answer in other norms than the Frobenius norm.

Differences of a covariance are ``x xᵀ - y yᵀ = ½(a bᵀ + b aᵀ)`` with a = x + y, b = x - y, so that
the sum of all ``|D_ij|`` is at most ``sum |a_i| · sum |b_i| / n``. Since ``|a_i| + |b_i| <= 2 c_i`` and
``|b_i| <= r_i``, c_i the largest absolute value and r_i the width, that is at most ``(2C - B) B/n``,
``C = sum c_i``, ``B`` the smaller of C and ``sum r_i``: ``C²/n`` for ranges around 0, far less for
narrow ranges far from it, and never more than ``sum_ij sup |x_i x_j - y_i y_j|/n`` (equal to it when no
range changes sign, where one pair attains it).
"""

import math

import numpy as np

from mvgviz.query.neighbours import FlippedEdge, ReplacedColumn, ReplacedOuterProduct
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray


def largest_absolute_sum(query: Query, *, triangle: bool = False) -> float:
    """An upper bound on the sum of ``|D_ij|``, over all entries or over the upper triangle."""
    body = query.neighbours
    if isinstance(body, ReplacedColumn):
        return float(body.widths.sum()) * body.records / body.divisor
    if isinstance(body, ReplacedOuterProduct):
        largest, diagonal = float(body.largest_values.sum()), float(_squares(body).sum())
        moved = largest if body.added else min(float((body.upper - body.lower).sum()), largest)
        everywhere = (2 * largest - moved) * moved
        return ((everywhere + diagonal) / 2 if triangle else everywhere) / body.n_records
    if isinstance(body, FlippedEdge):
        everywhere, diagonal = (2.0, 0.0) if query.name == "adjacency" else (4.0, 2.0)
        return (everywhere + diagonal) / 2 if triangle else everywhere
    if query.name == "rbf kernel":  # one row and column off the diagonal: 2(n - 1) entries of one size
        everywhere = query.sensitivity * math.sqrt(2 * (query.cols - 1)) if query.cols > 1 else query.sensitivity
        return everywhere / 2 if triangle else everywhere
    return query.sensitivity * math.sqrt(query.value.size)


def largest_diagonal_square(query: Query) -> float:
    """An upper bound on the sum of ``D_ii²``."""
    body = query.neighbours
    if isinstance(body, ReplacedOuterProduct):
        return float((_squares(body) ** 2).sum()) / body.n_records**2
    if isinstance(body, FlippedEdge):
        return 0.0 if query.name == "adjacency" else 2.0
    return 0.0 if query.name == "rbf kernel" else query.sensitivity**2


def _squares(body: ReplacedOuterProduct) -> FloatArray:
    """How much the square of each feature can change."""
    largest = body.largest_values
    if body.added:
        return largest**2
    nearest = np.abs(np.clip(0.0, body.lower, body.upper))
    return np.asarray((largest - nearest) * (largest + nearest))
