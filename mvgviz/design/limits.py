"""Theorem 1, Theorem 2 and the exact limit on one scale, as one of their inputs varies.

A theorem allows ``||sigma(Sigma^-1)||_2 * ||sigma(Psi^-1)||_2 <= phi²``. Equal noise of standard deviation ``s`` on a
rows × cols answer has the product ``sqrt(rows*cols)/s²``, so a limit L is ``s = (rows*cols)^(1/4)/sqrt(L)``, and the
exact guarantee, ``s = s2/mu(epsilon, delta)`` (Balle & Wang 2018), allows ``sqrt(rows*cols) (mu/s2)²``.

>>> from mvgviz.design.limits import LimitInputs, exact_limit, iid_std
>>> table = LimitInputs(rows=6, cols=248, epsilon=1, delta=1/248, gamma=38.5746, sensitivity=24**0.5)
>>> f"{iid_std(table, exact_limit(table)):.2f}", f"{iid_std(table, table.theorem1('printed').limit):.0f}"
('10.60', '777909')
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.bounds import TAILS, Bound, theorem_bound
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray

AXES = ("epsilon", "delta", "size", "gamma", "sensitivity")
_POINTS = 61
_DECADES = 1e3
_LARGEST_SQUARE, _LONGEST_SIDE = 1_000, 100_000


@dataclass(frozen=True, kw_only=True)
class LimitInputs:
    """All that the limits depend on; ``psd`` says whether the paper's Theorem 2 applies."""

    rows: int
    cols: int
    epsilon: float
    delta: float
    gamma: float
    sensitivity: float
    psd: bool = False

    @property
    def entries(self) -> int:
        return self.rows * self.cols

    @property
    def rank(self) -> int:
        return min(self.rows, self.cols)

    def theorem1(self, tail: str) -> Bound:
        return self._bound("theorem1", tail)

    def theorem2(self, tail: str) -> Bound:
        """Return the bound for PSD queries; for others its constant ("theorem2-any", beyond the paper)."""
        return self._bound("theorem2" if self.psd else "theorem2-any", tail)

    def _bound(self, theorem: str, tail: str) -> Bound:
        return theorem_bound(theorem, self.rows, self.cols, epsilon=self.epsilon, delta=self.delta, gamma=self.gamma,
                             sensitivity=self.sensitivity, tail=tail)


def limit_inputs(query: Query, *, epsilon: float, delta: float, sensitivity: float) -> LimitInputs:
    """Return the inputs of a query's limits, at the sensitivity that all limits share."""
    return LimitInputs(rows=query.rows, cols=query.cols, epsilon=epsilon, delta=delta, gamma=query.gamma,
                   sensitivity=sensitivity, psd=query.psd)


def exact_limit(inputs: LimitInputs) -> float:
    """Return the product of the two norms that exactly calibrated equal noise attains."""
    mu = float(gaussian_mu(inputs.epsilon, inputs.delta))
    return math.sqrt(inputs.entries) * (mu / inputs.sensitivity) ** 2


def iid_std(inputs: LimitInputs, limit: float) -> float:
    """Return the standard deviation per entry of equal noise whose product of norms is ``limit``."""
    return math.sqrt(math.sqrt(inputs.entries) / limit)


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundCurves:
    """Limits on the product of the two norms along an axis, about ``here``; ``entries``: rows*cols at each position."""

    axis: str
    positions: FloatArray
    here: float
    entries: FloatArray
    exact: FloatArray
    theorem1: Mapping[str, FloatArray] = field(repr=False)
    theorem2: Mapping[str, FloatArray] = field(repr=False)

    def as_std(self, limits: FloatArray) -> FloatArray:
        return np.asarray(self.entries**0.25 / np.sqrt(limits))


def bound_curves(inputs: LimitInputs, axis: str) -> BoundCurves:
    """All limits as ``axis`` varies and all else stays; "size": of the longer side, or both of a square answer.

    Sensitivities end at ``2 gamma``, and gammas begin at ``s2/2``: no query is beyond.
    """
    here = float(max(inputs.rows, inputs.cols) if axis == "size" else getattr(inputs, axis))
    values = _values(inputs, axis, here)
    moved = [_moved(inputs, axis, value) for value in values]
    mu = gaussian_mu(np.array([p.epsilon for p in moved]), np.array([p.delta for p in moved]))
    entries = np.array([p.entries for p in moved], dtype=np.float64)
    return BoundCurves(axis=axis, positions=np.array(values, dtype=np.float64), here=here, entries=entries,
                       exact=np.sqrt(entries) * (mu / np.array([p.sensitivity for p in moved])) ** 2,
                       theorem1={tail: np.array([p.theorem1(tail).limit for p in moved]) for tail in TAILS},
                       theorem2={tail: np.array([p.theorem2(tail).limit for p in moved]) for tail in TAILS})


def precision_norm(side: NoiseSide) -> float:
    """``||sigma(Sigma^-1)||_2``: the root of the sum of squared precisions."""
    if side.is_identity:
        return math.sqrt(side.size)
    largest = side.largest_precision
    return largest * float(np.linalg.norm(side.precisions / largest))


@dataclass(frozen=True, kw_only=True, eq=False)
class Rival:
    """The same directions and shares under another guarantee, and its noise over this design's."""

    design: NoiseDesign = field(repr=False)
    factors: FloatArray

    @property
    def guarantee(self) -> str:
        return self.design.guarantee


def rival(design: NoiseDesign, query: Query, *, guarantee: str, epsilon: float, delta: float, tail: str) -> Rival:
    """Return what another guarantee asks for the same theta along the same directions, direction by direction.

    Noise with the shape of a bound keeps that shape. ``epsilon`` and ``delta`` are what the noise alone may spend.
    """
    as_bound = isinstance(query.neighbours, BoundedColumn | BoundedOuterProduct)
    other = design_noise(query, epsilon=epsilon, delta=delta, guarantee=guarantee, mode=design.mode, tail=tail,
                         directions=None if as_bound else design.directional_side.directions,
                         theta=None if as_bound else design.theta)
    return Rival(design=other, factors=other.direction_std() / design.direction_std())


def _values(inputs: LimitInputs, axis: str, here: float) -> list[float]:
    """Positions along an axis, evenly spaced in decades, the one varied about among them."""
    if axis == "size":
        longest = _LARGEST_SQUARE if inputs.rows == inputs.cols else _LONGEST_SIDE
        return sorted({*np.geomspace(1, max(longest, here), _POINTS).round().tolist(), here})
    low, high = {
        "epsilon": (min(0.01, here), max(100.0, here)),
        "delta": (min(1e-12, here), max(0.5, here)),
        "gamma": (min(here, max(here / _DECADES, inputs.sensitivity / 2)), here * _DECADES),
        "sensitivity": (here / _DECADES, max(here, min(here * _DECADES, 2 * inputs.gamma))),
    }[axis]
    inside = np.geomspace(low, high, _POINTS)[1:-1]  # the ends are given, not computed
    return sorted({low, high, here, *inside.tolist()})


def _moved(inputs: LimitInputs, axis: str, value: float) -> LimitInputs:
    if axis != "size":
        return replace(inputs, **{axis: value})  # type: ignore[arg-type]
    side = int(value)
    if inputs.rows == inputs.cols:
        return replace(inputs, rows=side, cols=side)
    return replace(inputs, rows=side) if inputs.rows > inputs.cols else replace(inputs, cols=side)
