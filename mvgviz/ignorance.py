"""What someone would answer who knows the ranges and has not seen the data.

A record is thought uniform in the box of declared ranges, an edge present with
probability ½. The *trivial answer* is the expected answer of such data; a *random
guess* is the answer of one such dataset.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.dataset import Dataset
from mvgviz.queries import Query
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Guess:
    """``answer``: the trivial one; ``variance``: of a random guess about it, summed over the entries."""

    answer: FloatArray = field(repr=False)
    variance: float

    def trivial_error(self, value: FloatArray) -> float:
        """Frobenius norm of what the trivial answer misses."""
        return float(np.linalg.norm(self.answer - value))

    def random_error(self, value: FloatArray) -> float:
        """Root of the expected squared Frobenius error of a random guess."""
        return math.hypot(self.trivial_error(value), math.sqrt(self.variance))


def ignorant_guess(query: Query, table: Dataset | None, *, length: float = 1.0) -> Guess:
    """The guess for a query of ``table`` (None for graphs); ``length`` of an RBF kernel."""
    if table is None:
        return _graph(query)
    middle, widths = (table.lower + table.upper) / 2, table.widths
    spread = widths**2 / 12
    if query.name == "identity":
        return Guess(answer=np.broadcast_to(middle[:, None], query.value.shape),
                     variance=float(spread.sum()) * query.cols)
    if query.name == "mean":
        return Guess(answer=middle[:, None], variance=float(spread.sum()) / table.n_records)
    if query.name == "covariance":
        return guessed_moments(table)
    return _kernel(widths / length, table.n_records)


def guessed_moments(table: Dataset) -> Guess:
    """The guess for ``X Xᵀ/n`` of a table, from its ranges and number of records alone."""
    middle, widths = (table.lower + table.upper) / 2, table.widths
    squares = middle**2 + widths**2 / 12
    answer = np.outer(middle, middle)
    np.fill_diagonal(answer, squares)
    products = np.outer(squares, squares)  # E x_i² x_j²
    np.fill_diagonal(products, middle**4 + middle**2 * widths**2 / 2 + widths**4 / 80)
    return Guess(answer=answer, variance=float((products - answer**2).sum()) / table.n_records)


def _kernel(widths: FloatArray, n: int) -> Guess:
    mean, square = (float(np.prod(_expected_similarity(widths * factor))) for factor in (1.0, math.sqrt(2)))
    answer = np.full((n, n), mean)
    np.fill_diagonal(answer, 1.0)
    return Guess(answer=answer, variance=n * (n - 1) * max(square - mean**2, 0.0))


def _expected_similarity(a: FloatArray) -> FloatArray:
    """``E exp(-(u-v)²/2)`` for u, v uniform on an interval of width a; 1 - a²/12 near 0."""
    from scipy.special import erf, expm1

    safe = np.maximum(a, 1e-4)
    full = 2 / safe**2 * (safe * math.sqrt(math.pi / 2) * erf(safe / math.sqrt(2)) + expm1(-safe**2 / 2))
    return np.where(a < 1e-3, 1 - a**2 / 12, full)


def _graph(query: Query) -> Guess:
    size = query.rows
    answer = np.full((size, size), 0.5 if query.name == "adjacency" else -0.5)
    np.fill_diagonal(answer, 0.0 if query.name == "adjacency" else (size - 1) / 2)
    edges = size * (size - 1) / 4
    return Guess(answer=answer, variance=edges if query.name == "adjacency" else 2 * edges)
