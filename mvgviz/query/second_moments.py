"""Queries whose numbers are mean products of features: ``X Xᵀ/n``, alone or with the mean beside it; its eigenvectors.

In other norms than the Frobenius norm: ``x xᵀ - y yᵀ = ½(a bᵀ + b aᵀ)`` with a = x + y, b = x - y, so that the sum of
all ``|D_ij|`` is at most ``sum |a_i| · sum |b_i| / n``. Since ``|a_i| + |b_i| <= 2 c_i`` and ``|b_i| <= r_i``, c_i the
largest absolute value and r_i the width, that is at most ``(2C - B) B/n``, ``C = sum c_i``, ``B`` the smaller of C and
``sum r_i``: never more than ``sum_ij sup |x_i x_j - y_i y_j|/n``, and equal to it when no range changes sign.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.directions import Directions
from mvgviz.noise.ties import eigen
from mvgviz.provenance import Origin, receipt_for
from mvgviz.query.base import Derivation, Facts, Query, largest_norm
from mvgviz.query.bounded_neighbours import BoundedOuterProduct
from mvgviz.query.dataset import Dataset, origins
from mvgviz.query.neighbours import ReplacedOuterProduct
from mvgviz.query.prior import Guess, guessed_moments
from mvgviz.query.record_bound import RecordBound
from mvgviz.query.tables import INSIDE
from mvgviz.validation import FloatArray, fraction, frozen, generator, instance, positive

CONSTANT = "constant"
_BOUNDED = (r"z=Bx:\quad zz^{\mathsf T}\!-z'z'^{\mathsf T}\text{ of rank 2, within}\pm R^2",
            r"\mu\le\tfrac{R^2}{n}\sqrt{q_1^2+q_2^2},\;\; q_k\text{ precisions in }z")
_ADDED_BOUNDED = (INSIDE + r"\|z-0\|\le R", r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=R^2/(n\sigma)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Covariance(Query):
    """The second-moment matrix ``X Xᵀ/n``."""

    name, title, in_sentence = "covariance", "covariance", "second moments"
    choice = "Second moments (covariance)"
    question = "the second moments (covariance): how the features vary together"
    degree, of_all_features, has_moments, more_steps = 2, True, True, 3
    derivations: ClassVar = {
        "plain": Derivation((r"\|xx^{\mathsf T}\!-x'x'^{\mathsf T}\|_F^2=|x|^4+|x'|^4-2(x\!\cdot\! x')^2",
                             r"s_2\le\tfrac{\sqrt2}{n}\textstyle\sum_i c_i^2,\quad \gamma=\textstyle\sum_i c_i^2"),
                            "Largest with one record at a corner of the ranges, the other on an edge. cᵢ: the largest "
                            "size in a range. The paper uses 2 in place of √2."),
        "bounded": Derivation(_BOUNDED,
                              "Worst from the end of one axis to that of another; q₁ ≥ q₂ are the largest. With the "
                              "ellipse's own shape q₁ = q₂ = 1/σ, so μ = √2 R²/(nσ). The ranges hold, too: where they "
                              "allow less, the smaller bound is used."),
        "added": Derivation((r"\|xx^{\mathsf T}\|_F=|x|^2",
                             r"s_2=\tfrac1n\textstyle\sum_i c_i^2,\quad \gamma=\sum_i c_i^2")),
        "added bounded": Derivation(_ADDED_BOUNDED),
    }
    psd: bool = True
    symmetric: bool = True

    @classmethod
    def _facts(cls, table: Dataset, data: Dataset, bound: RecordBound | None, added: bool, **parameters: Any) -> Facts:
        n, total = data.n_records / data.per_person, largest_norm(data, bound) ** 2
        least = np.append(table.lower[:-1], 1.0) if cls.has_constant else table.lower  # before records are clipped
        body: ReplacedOuterProduct
        if bound is None:
            body = ReplacedOuterProduct(lower=least, upper=data.upper, n_records=n, added=added, levels=data.levels)
        else:
            ellipse = bound.ellipse(data.n_features)
            refuse(ellipse.centre.any(), "second moments are about 0: give the bound the centre 0, or ask moments(), "
                   "which takes any centre")
            body = BoundedOuterProduct(lower=data.lower, upper=data.upper, n_records=n, ellipse=ellipse,
                                       declared=(least, table.upper), added=added, corners=not table.levels)
        return {"value": frozen(data.matrix @ data.matrix.T / data.n_records), "neighbours": body, "gamma": total,
                "printed_sensitivity": (1 if added else 2) * total / n}

    def answer(self, records: FloatArray) -> FloatArray:
        return np.asarray(records @ records.T / records.shape[1])

    def guess(self, table: Dataset | None) -> Guess:
        assert table is not None
        return guessed_moments(table, constant=self.has_constant)

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        body = self.neighbours
        ends = (body.largest_values if isinstance(body, ReplacedOuterProduct)
                else np.full(self.rows, math.sqrt(self.gamma)))
        return ends, ends

    def absolute_sum(self, *, triangle: bool = False) -> float:
        body = self.neighbours
        if not isinstance(body, ReplacedOuterProduct):
            return super().absolute_sum(triangle=triangle)
        largest, diagonal = float(body.largest_values.sum()), float(_squares(body).sum())
        moved = largest if body.added else min(float((body.upper - body.lower).sum()), largest)
        everywhere = (2 * largest - moved) * moved
        return ((everywhere + diagonal) / 2 if triangle else everywhere) / body.n_records

    def diagonal_square(self) -> float:
        body = self.neighbours
        if not isinstance(body, ReplacedOuterProduct):
            return super().diagonal_square()
        return float((_squares(body) ** 2).sum()) / body.n_records**2


@dataclass(frozen=True, kw_only=True, eq=False)
class JointMoments(Covariance):
    """Mean and second moments in one answer: a constant is joined to every record."""

    name, title, in_sentence = "moments", "mean and second moments", "a mean and second moments"
    choice = "Mean and second moments together"
    question = "the mean and the second moments in one answer, for a regression with an intercept"
    has_constant, of_all_features = True, False
    derivations: ClassVar = {
        "plain": Derivation((r"y=(x,1),\quad\|yy^{\mathsf T}\!-y'y'^{\mathsf T}\|_F^2=|y|^4+|y'|^4-2(y\!\cdot\! y')^2",
                             r"s_2\le\tfrac{\sqrt2}{n}\bigl(1+\textstyle\sum_i c_i^2\bigr),\quad "
                             r"\gamma=1+\textstyle\sum_i c_i^2"),
                            "The constant 1 is joined to every record; the second moments of both hold the mean beside "
                            "them."),
        "bounded": Derivation(_BOUNDED, "As for second moments, with the constant joined. Clipping scales both, so "
                                        "it only lowers a record's weight."),
        "added": Derivation((r"y=(x,1),\quad\|yy^{\mathsf T}\|_F=|y|^2",
                             r"s_2=\tfrac1n\bigl(1+\textstyle\sum_i c_i^2\bigr),\quad "
                             r"\gamma=1+\textstyle\sum_i c_i^2")),
        "added bounded": Derivation(_ADDED_BOUNDED),
    }

    @classmethod
    def ask(cls, table: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace",
            **parameters: Any) -> Query:
        return super().ask(with_constant(table), bound=bound, neighbours=neighbours)

    @classmethod
    def table_of(cls, table: Dataset, **parameters: Any) -> Dataset:
        return with_constant(table)


def covariance(dataset: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
    """Ask for the second-moment matrix ``X Xᵀ/n`` (the paper's covariance; nothing is centred)."""
    return Covariance.ask(dataset, bound=bound, neighbours=neighbours)


def joint_moments(dataset: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
    """Ask for ``X Xᵀ/n`` with the constant 1 joined to every record, last: mean and second moments in one answer.
    ``bound`` is for the joined record: clipping scales the constant too, which leaves a regression as it is.
    """
    return JointMoments.ask(dataset, bound=bound, neighbours=neighbours)


def with_constant(dataset: Dataset, name: str = CONSTANT) -> Dataset:
    """Return the table with one more feature, last, that is 1 everywhere (and less where a record is scaled)."""
    while name in dataset.features:
        name += "_"
    return replace(dataset, matrix=np.vstack([dataset.matrix, np.ones(dataset.n_records)]),
                   features=(*dataset.features, name), lower=np.append(dataset.lower, 0.0),
                   upper=np.append(dataset.upper, 1.0), range_origins=(*dataset.range_origins, Origin.DECLARED),
                   units=(*dataset.units, ""))


def _squares(body: ReplacedOuterProduct) -> FloatArray:
    """How much the square of each feature can change."""
    largest = body.largest_values
    if body.added:
        return largest**2
    nearest = np.abs(np.clip(0.0, body.lower, body.upper))
    return np.asarray((largest - nearest) * (largest + nearest))


def eigenvectors(query: Query) -> Directions:
    """Eigenvectors of a symmetric answer, or of ``f fᵀ/cols`` for any other. **Not private.**"""
    instance("query", query, Query)
    value = query.value if query.symmetric else query.value @ query.value.T / query.cols
    values, vectors = _sorted_eigh(value)
    return Directions(size=query.rows, rotated=vectors, eigenvalues=values, origin=Origin.READ,
                      label="eigenvectors of the data")


def private_eigenvectors(dataset: Dataset, *, epsilon: float | None = None, delta: float | None = None,
                         mu: float | None = None, rng: np.random.Generator) -> Directions:
    """Eigenvectors of ``X Xᵀ/n`` released by the analytic Gaussian mechanism, for ``epsilon`` and ``delta`` or ``mu``.

    Noise of standard deviation ``s2/mu`` on every entry, then symmetrised. The paper gives a fifth of epsilon and delta
    to this step. Whoever knows the seed knows the noise: for trials; a release refuses it.
    """
    if mu is None:
        spent = float(gaussian_mu(positive("epsilon", epsilon), fraction("delta", delta)))
    elif epsilon is None and delta is None:
        spent = positive("mu", mu)
    else:
        raise InputError("the budget must be given as epsilon and delta or as mu, not both")
    query, rng = covariance(dataset), generator(rng)
    noisy = query.value + query.sensitivity / spent * rng.standard_normal(query.value.shape)
    return learned_directions(dataset, noisy, mu=spent, source=rng, label="private eigenvectors")


def learned_directions(dataset: Dataset, noisy: FloatArray, *, mu: float, source: object, label: str) -> Directions:
    """Eigenvectors of noisy second moments of ``dataset`` that spent ``mu`` on noise from ``source``."""
    values, vectors = _sorted_eigh((noisy + noisy.T) / 2)
    found = Directions(size=len(noisy), rotated=vectors, eigenvalues=np.maximum(values, 0.0), label=label)
    receipt = receipt_for(source, what="directions", mu=mu, value=found.with_eigenvalues, **origins(dataset))
    return replace(found, origin=Origin.PAID, receipts=(receipt,))


def _sorted_eigh(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    values, vectors = eigen(-matrix)
    return -values, vectors
