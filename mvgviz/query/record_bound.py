"""A public ellipse that every record is clipped to before any query.

Ranges allow far longer records than any there is. A *clipping bound* is a smaller public set, ``||diag(b) Wᵀ (x - c)||
<= R``: a record outside moves towards the centre until it is inside. Nothing here is in the paper.

>>> import numpy as np
>>> from mvgviz import Dataset, RecordBound, mean
>>> data = Dataset(matrix=np.eye(4), features=list("abcd"), lower=-1, upper=1)
>>> round(mean(data).sensitivity, 6), round(mean(data, bound=RecordBound(radius=1)).sensitivity, 6)
(1.0, 0.5)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.directions import Directions, checked_directions
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Learned, Origin, Receipt, checked_origin, counted, receipt_for, receipts_of, weakest
from mvgviz.query.dataset import Dataset, origins
from mvgviz.validation import FloatArray, array, count, fraction, frozen, generator, numbers, positive, shares

_WITHIN = 1 - 1e-12  # records are clipped to a little less than the edge, so that rounding leaves none outside


NoisyCount = Callable[[int, float], float]  # a count with noise of a standard deviation

_FOR_RANK, _HALF_WAY, _FEW = 0.1, 900.0, 75.0
"""The part of ``mu²`` that the rank rule spends; records times mu for each feature, half-way to the box; records times
mu, half-way to a release of the label's mean alone."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordBound:
    """The records with ``||diag(weights) Wᵀ (x - centre)|| <= radius``, in the units of the query.

    By default the ``directions`` W are the features; a single number stands for every feature. ``origin``: of the bound
    or of its directions, the worse. ``receipts``: what was spent to learn it from the data.
    """

    radius: float
    weights: FloatArray | float = 1.0
    centre: FloatArray | float = 0.0
    directions: Directions | None = None
    origin: Origin = Origin.DECLARED
    receipts: tuple[Receipt, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        if self.directions is not None and not isinstance(self.directions, Directions):
            raise InputError("directions must be Directions; make them with from_matrix(w)")
        receipts = receipts_of(self, self.directions, self.weights, self.centre)
        origin = checked_origin("the bound", self.origin, receipts)
        origin = origin if self.directions is None else weakest([origin, self.directions.origin])
        vars(self).update(receipts=receipts, origin=origin)
        for name in ("weights", "centre"):
            values = numbers(name, counted(getattr(self, name)))
            object.__setattr__(self, name, array(name, values, ndim=1) if values.ndim else float(values))
        refuse(not (np.asarray(self.weights) > 0).all(), "weights of a bound must be positive")

    @property
    def is_public(self) -> bool:
        """Return whether a certificate shows its numbers: they reveal nothing of the data and are few."""
        return self.origin.is_covered and self.directions is None

    @property
    def mu(self) -> float:
        return math.hypot(*(receipt.mu for receipt in self.receipts))

    @classmethod
    def from_shares(cls, dataset: Dataset, theta: Any, *, spreads: Any = None, centre: Any = 0.0) -> RecordBound:
        """One ellipse for records and noise: ``b_i = sqrt(theta_i)/spread_i``, radius 1.

        ``theta_i``: the part of the squared length that feature i takes in a record spread evenly over its ranges.
        ``spreads`` must be public; by default those of such a record, about the centre.
        """
        receipts, theta = receipts_of(theta, spreads, centre), shares("theta", counted(theta), size=dataset.n_features)
        middle = np.broadcast_to(numbers("centre", counted(centre)), theta.shape)
        sigma = even_spreads(dataset, middle) if spreads is None else array("spreads", counted(spreads), ndim=1)
        if sigma.shape != theta.shape or not (sigma > 0).all():
            raise InputError(f"spreads must be {theta.size} positive numbers, one for each feature")
        return cls(radius=1.0, weights=np.sqrt(theta) / sigma, centre=middle, origin=dataset.ranges_origin,
                   receipts=receipts)

    def ellipse(self, size: int) -> Ellipse:
        for name in ("weights", "centre"):
            each = np.asarray(getattr(self, name))
            refuse(each.ndim and each.size != size, f"the bound's {name} must number {size}, one for each feature, got "
                   f"{each.size}")
        return Ellipse(radius=self.radius, directions=checked_directions(self.directions, size),
                       weights=frozen(np.broadcast_to(self.weights, size).copy()),
                       centre=frozen(np.broadcast_to(self.centre, size).copy()))

    def clipped(self, dataset: Dataset) -> Dataset:
        """Return the records inside the bound, with the declared ranges, cut by the bound. A centre outside the ranges
        widens them by as much as the furthest record can be drawn towards it.
        """
        ellipse = self.ellipse(dataset.n_features)
        part = ellipse.parts(dataset.matrix)
        centre, extent = ellipse.centre, ellipse.extent()
        least = min(1.0, self.radius * _WITHIN / ellipse.longest(dataset.lower, dataset.upper))
        low = np.maximum(np.minimum(dataset.lower, centre + least * (dataset.lower - centre)), centre - extent)
        high = np.minimum(np.maximum(dataset.upper, centre + least * (dataset.upper - centre)), centre + extent)
        moved = centre[:, None] + part * (dataset.matrix - centre[:, None])
        matrix = np.clip(np.where(part == 1, dataset.matrix, moved), low[:, None], high[:, None])
        return replace(dataset, matrix=matrix, lower=low, upper=high, levels=())  # it has parts of several

    def worst_bias(self, lower: FloatArray, upper: FloatArray, *, products: bool = False) -> FloatArray:
        """Return how far clipping moves the mean of each feature at most, from the ranges alone; ``products``: each
        second moment about 0.

        With ``e`` the furthest value from the centre and ``s`` the radius over the longest record: ``e_i (1 - s)`` and
        ``e_i e_j (1 - s²)``. Records in the furthest corner attain it, if nothing is turned and no feature is a level.
        """
        ellipse = self.ellipse(lower.size)
        ends = ellipse.furthest(lower, upper)
        kept = min(1.0, self.radius * _WITHIN / ellipse.longest(lower, upper))
        return np.outer(ends, ends) * (1 - kept**2) if products else ends * (1 - kept)

    def count_outside(self, dataset: Dataset) -> int:
        """Return how many records would be clipped."""
        return int(np.count_nonzero(self.ellipse(dataset.n_features).lengths(dataset.matrix) > self.radius))


@dataclass(frozen=True, kw_only=True, eq=False)
class Ellipse:
    """``||diag(weights) Wᵀ (x - centre)|| <= radius`` with everything written out."""

    radius: float
    weights: FloatArray
    centre: FloatArray
    directions: Directions

    @property
    def inverse(self) -> FloatArray:
        """``R (diag(b) Wᵀ)^-1``, which maps the unit ball onto the ellipse about its centre."""
        return np.asarray(self.directions.matrix * (self.radius / self.weights))

    def coordinates(self, matrix: FloatArray) -> FloatArray:
        """``z = diag(b) Wᵀ (x - c)`` of each record, a column of ``matrix``."""
        away = matrix - self.centre[:, None]
        along = away if self.directions.is_standard else self.directions.matrix.T @ away
        return np.asarray(self.weights[:, None] * along)

    def lengths(self, matrix: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(self.coordinates(matrix), axis=0))

    def parts(self, matrix: FloatArray) -> FloatArray:
        """Return what each record is multiplied by, about the centre, to lie inside: 1 where it does already."""
        edge = self.radius * _WITHIN
        return np.asarray(edge / np.maximum(self.lengths(matrix), edge))

    def longest(self, lower: FloatArray, upper: FloatArray) -> float:
        """No record of these ranges is longer; where nothing is turned, some corner is as long."""
        along = np.abs(self.directions.matrix.T) @ self.furthest(lower, upper)
        return float(np.linalg.norm(self.weights * along))

    def furthest(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return how far from the centre a value of each feature can lie."""
        return np.maximum(np.abs(lower - self.centre), np.abs(upper - self.centre))

    def extent(self) -> FloatArray:
        """Return how far the ellipse reaches from its centre along each feature."""
        return np.asarray(np.linalg.norm(self.inverse, axis=1))

    def through(self, side: NoiseSide) -> tuple[FloatArray, FloatArray]:
        """Return the ellipse seen through the noise: its half-axes in standard deviations, longest first, and the moves
        from the centre to their ends, a column each."""
        inverse = self.inverse
        _, axes, turned = np.linalg.svd(side.whitener() @ inverse)
        return np.asarray(axes), np.asarray(inverse @ turned.T)

    def most_inside(self, side: NoiseSide, ends: FloatArray, radii: float = 1) -> tuple[float, FloatArray]:
        """Return the longest ``xᵀMx`` with ``|x_i| <= ends_i``, at most so many radii long, and its x; unrotated: the
        squared length is spent where the noise hides least.
        """
        prices, caps = side.precisions / self.weights**2, (self.weights * ends) ** 2
        order = np.argsort(-prices, kind="stable")
        before = np.concatenate([[0.0], np.cumsum(caps[order])[:-1]])
        parts = np.zeros(caps.size)
        parts[order] = np.clip((radii * self.radius) ** 2 - before, 0.0, caps[order])
        return float(parts @ prices), np.sqrt(parts) / self.weights

    def shape_shares(self, reach: FloatArray) -> FloatArray:
        """Return the split that gives noise the shape of the ellipse, where ``reach`` is what a share is counted in."""
        parts = (self.weights / self.weights.max() * reach / reach.max()) ** 2
        return np.asarray(parts / parts.sum())


def even_moments(dataset: Dataset, centre: FloatArray) -> FloatArray:
    """Return the second moments about the centre of a record spread evenly over its ranges."""
    off = (dataset.lower + dataset.upper) / 2 - centre
    return np.asarray(np.diag(dataset.widths**2 / 12) + np.outer(off, off))


def even_spreads(dataset: Dataset, centre: FloatArray) -> FloatArray:
    """Return the root mean square about the centre of a value spread evenly over its range."""
    low, high = dataset.lower - centre, dataset.upper - centre
    return np.asarray(np.sqrt((low * low + low * high + high * high) / 3))


def private_radius(dataset: Dataset, quantile: float, *, mu: float, rng: np.random.Generator | NoisyCount,
                   bound: RecordBound | None = None, least: float = 0.01, halvings: int = 20) -> RecordBound:
    """Return the bound with a radius that is a private quantile of the records' lengths; spend ``mu``.

    Its shape is that of ``bound`` (by default a ball, features divided by their even spreads). A search halves the
    interval from ``least`` times the longest that the ranges allow: each step counts the records within a length
    (sensitivity 1) with Gaussian noise of its part of ``mu``. ``rng`` may be a function that adds noise of a standard
    deviation to a count.
    """
    share, budget = fraction("quantile", quantile), positive("mu", mu)
    if bound is None:
        bound = RecordBound.from_shares(dataset, np.full(dataset.n_features, 1 / dataset.n_features))
    shape = bound.ellipse(dataset.n_features)
    lengths = np.sort(shape.lengths(dataset.clipped().matrix))
    corner = shape.longest(dataset.lower, dataset.upper)
    low, high, noise = fraction("least", least) * corner, corner, math.sqrt(count("halvings", halvings)) / budget

    def noisy(value: int) -> float:
        return rng(value, noise) if callable(rng) else value + noise * float(generator(rng).standard_normal())

    for _ in range(halvings):
        middle = math.sqrt(low * high)
        within = noisy(int(np.searchsorted(lengths, middle, side="right")))
        low, high = (middle, high) if within < share * lengths.size else (low, middle)
    return replace(bound, radius=high, receipts=(*bound.receipts, _receipt(rng, dataset, what="radius", mu=budget)),
                   origin=weakest([bound.origin, dataset.ranges_origin]))


def _receipt(source: object, dataset: Dataset, **facts: Any) -> Receipt:
    refuse(dataset.per_person > 1, "a private bound supports one record a person; choose a bound from the ranges")
    return receipt_for(source, **facts, **origins(dataset))


def rank_radius(dataset: Dataset, *, mu: float, rng: np.random.Generator | NoisyCount,
                bound: RecordBound | None = None) -> RecordBound:
    """The bound that leaves about ``m/(n mu)`` of the records outside, at most half; it spends a tenth of ``mu²``,
    which is for bound and release together. So the bias of clipping shrinks like the noise as records are added.
    """
    budget = positive("mu", mu)
    outside = min(0.5, dataset.n_features / (count("records", dataset.n_records) * budget))
    return private_radius(dataset, 1 - outside, mu=math.sqrt(_FOR_RANK) * budget, rng=rng, bound=bound)


def least_label_share(n_records: int, mu: float) -> float:
    """Return what a label has of the shares at least, in a bound for regressions."""
    return 0.3 + 0.5 * _fewness(n_records, mu)


def _fewness(n_records: int, mu: float) -> float:
    """From 0 to 1, where the records tell little but a mean."""
    return 1 / (1 + (n_records * mu / _FEW) ** 2)


def regression_shape(theta: FloatArray, n_records: int, *, mu: float, label: int | None = None,
                     radius: float | None = None) -> tuple[FloatArray, float, float]:
    """Shares, radius and constant (see ``moments``) of a bound for regressions; from records and budget alone.

    With few records for their features: the ellipse of an even record with shares ``theta``, and half its ``radius`` as
    constant; with more it nears the box with equal shares, since records do not lower the bias of clipping. A ``label``
    has at least 0.3 of the shares, for its noise is in every coefficient; where records tell little but its mean, up to
    0.8, with a constant up to the radius and a radius up to a fifth larger: the mean is a quotient by the constant's
    own moment.
    """
    m, way = theta.size, 0.0 if radius else way_to_box(n_records, theta.size, mu)
    few = 0.0 if label is None else _fewness(n_records, mu)
    length = radius or 3 ** (way / 2) * (1 + few / 5)  # from an evenly spread record to the whole box
    split, least = np.array(theta), least_label_share(n_records, mu)
    if label is not None and split[label] < least:
        split *= (1 - least) / (1 - split[label])
        split[label] = least
    return (1 - way) * split + way / m, length, length * ((1 + few) / 2) ** (1 - way) * m ** (-way / 2)


def way_to_box(n_records: int, n_features: int, mu: float) -> float:
    """How far a bound for regressions goes from the ellipse (0) to the box (1): ``x²/(x² + 900²)``, ``x = n mu/m``;
    half-way where equal noise is less than the bias of clipping, found on simulated tables.
    """
    x = count("records", n_records) * positive("mu", mu) / count("features", n_features)
    return float(1 / (1 + (_HALF_WAY / x) ** 2))


def private_spreads(dataset: Dataset, *, mu: float, rng: np.random.Generator, centre: Any = 0.0) -> Learned:
    """Each feature's root mean square about the centre, with noise on its square; it spends ``mu``.

    A record moves the square of feature i by at most ``max(x_i - c_i)²/n``; what falls below a hundredth of the
    even spread is lifted to it. The numbers keep a receipt, and so do arrays computed from them: for trials; a release
    refuses what came from a seed.
    """
    budget, data = positive("mu", mu), dataset.clipped()
    middle = np.broadcast_to(numbers("centre", centre), dataset.n_features)
    ends = np.maximum(np.abs(data.lower - middle), np.abs(data.upper - middle))
    squares = ((data.matrix - middle[:, None]) / ends[:, None]) ** 2
    noise = math.sqrt(data.n_features) / (budget * count("records", data.n_records))
    noisy = squares.mean(axis=1) + noise * generator(rng).standard_normal(data.n_features)
    even = even_spreads(data, middle)
    found: Learned = np.maximum(ends * np.sqrt(np.maximum(noisy, 0.0)), even / 100).view(Learned)
    found.receipts = (_receipt(rng, dataset, what="spreads", mu=budget),)
    return found
