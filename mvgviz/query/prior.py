"""What someone would answer who knows the ranges and has not seen the data.

A record is thought uniform in the box of declared ranges, an edge present with
probability ½. The *expected answer* is that of such data; a *random guess* is the
answer of one such dataset. Real data may be far from uniform, and most graphs have few
edges, so the trivial answer that mechanisms are held against is the best of the expected
one and the *plain* ones: all zeros, and for graphs every edge there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import erf, expm1

from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray

ZEROS = "all zeros"
"""What that answer is called."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Guess:
    """``answer``: the expected one; ``variance``: of a random guess about it, summed over the entries.

    ``name``: what the expected answer is called; ``plain``: other answers without data, by name.
    """

    answer: FloatArray = field(repr=False)
    variance: float
    name: str = "the answer of records spread evenly over their ranges"
    plain: Mapping[str, FloatArray] = field(default_factory=dict, repr=False)

    def expected_error(self, value: FloatArray) -> float:
        """Frobenius norm of what the expected answer misses."""
        return float(np.linalg.norm(self.answer - value))

    def blind_errors(self, value: FloatArray) -> dict[str, float]:
        """Frobenius norms of what each answer without data misses, the expected one first."""
        errors = {self.name: self.expected_error(value), ZEROS: float(np.linalg.norm(value))}
        return errors | {name: float(np.linalg.norm(answer - value)) for name, answer in self.plain.items()}

    def on(self, positions: list[int]) -> Guess:
        """The guess for a graph's entries between some vertices."""
        block = np.ix_(positions, positions)
        diagonal, others = len(positions), len(positions) * (len(positions) - 1)
        size = self.answer.shape[0]
        each = np.diag(self.answer).any() * (size - 1) * diagonal + others  # of a Laplacian's degrees, and of ties
        return replace(self, answer=self.answer[block], variance=each / 4,
                       plain={name: answer[block] for name, answer in self.plain.items()})

    def random_error(self, value: FloatArray) -> float:
        """Root of the expected squared Frobenius error of a random guess."""
        return math.hypot(self.expected_error(value), math.sqrt(self.variance))


def ignorant_guess(query: Query, table: Dataset | None, *, length: float = 1.0) -> Guess:
    """The guess for a query of ``table`` (None for graphs); ``length`` of an RBF kernel."""
    if table is None:
        return _graph(query)
    middle, widths = (table.lower + table.upper) / 2, table.widths
    spread = widths**2 / 12
    if query.name in ("identity", "mean"):
        variance = float(spread.sum()) * query.cols if query.name == "identity" else (
            float(spread.sum()) / table.n_records)
        nearest = np.clip(0.0, table.lower, table.upper)[:, None]
        return Guess(answer=np.broadcast_to(middle[:, None], query.value.shape), variance=variance,
                     name="the middle of every range",
                     plain={"in every range the value nearest 0": np.broadcast_to(nearest, query.value.shape)})
    if query.name in ("covariance", "moments"):
        return guessed_moments(table, constant=query.name == "moments")
    return _kernel(widths / length, table.n_records)


def guessed_moments(table: Dataset, *, constant: bool = False) -> Guess:
    """The guess for ``X Xᵀ/n`` of a table, from its ranges and number of records alone; with a ``constant`` 1, last."""
    middle, widths = (table.lower + table.upper) / 2, table.widths
    if constant:
        middle, widths = np.append(middle, 1.0), np.append(widths, 0.0)
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
    safe = np.maximum(a, 1e-4)
    full = 2 / safe**2 * (safe * math.sqrt(math.pi / 2) * erf(safe / math.sqrt(2)) + expm1(-safe**2 / 2))
    return np.where(a < 1e-3, 1 - a**2 / 12, full)


def _graph(query: Query) -> Guess:
    size = query.rows
    full = np.full((size, size), 1.0 if query.name == "adjacency" else -1.0)
    np.fill_diagonal(full, 0.0 if query.name == "adjacency" else size - 1)
    edges = size * (size - 1) / 4
    return Guess(answer=full / 2, variance=edges if query.name == "adjacency" else 2 * edges,
                 name="half an edge between any two vertices", plain={"every edge there": full})
