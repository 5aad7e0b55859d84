"""Families of noise for answers that one record changes inside a box: Gaussian, ellipse (l2), box and Laplace.

Everything here goes beyond the paper. One record moves each of ``d`` numbers by at most 1 (the *change box*); every
standard deviation is in that unit. Norm noise has the density ``exp(-epsilon N(z))`` for a norm ``N`` whose unit ball
holds the change box, and is private with delta = 0 [1]. The ellipse family uses the Euclidean norm with the scale that
an (epsilon, delta) promise allows [2].

>>> from mvgviz.noise.families import FAMILIES
>>> {name: round(family.std(6, 1.0, 1e-6), 1) for name, family in FAMILIES.items()}
{'gaussian': 10.3, 'ellipse': 6.3, 'box': 4.3, 'laplace': 8.5}

References
  [1] Hardt & Talwar, On the geometry of differential privacy, STOC 2010.
  [2] Joseph, Kulesza & Yu, ICML 2025: the l2 mechanism at (epsilon, delta).
  [3] Kairouz, Oh & Viswanath, The composition theorem for differential privacy, ICML 2015.
  [4] Geng & Viswanath, The optimal mechanism in differential privacy, ISIT 2014.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special

from mvgviz.errors import refuse
from mvgviz.noise.accounting import gaussian_delta, gaussian_mu, legendre, root
from mvgviz.validation import FloatArray, count, fraction, positive

_TAIL = 1e-22  # of the gamma distribution, left out at either end
_SAFE = 1 + 1e-9  # times a calibrated scale: rounding must not make it optimistic
_LEAST_DELTA, _MOST_EPSILON = 1e-12, 100.0  # of the integral
_FEW = 100  # dimensions, below which the integral over the angle is used: its Bessel functions fit into floats


class Split(NamedTuple):
    """The standard deviations of priority numbers and of other numbers."""

    priority: float
    other: float


@dataclass(frozen=True)
class Family:
    """One family: how much noise a promise asks for, and what an attacker gains at every epsilon.

    ``title`` names it in a legend, ``word`` in a sentence. ``is_pure``: delta buys nothing, and epsilon is divided; the
    promise holds with delta = 0, and Laplace noise on one number is the worst case. The others are the noise of a
    whitened answer, so that precisions add up.
    """

    name: str
    title: str
    word: str
    is_pure: bool

    def std(self, size: int, epsilon: float, delta: float) -> float:
        """Return the standard deviation of each of ``size`` numbers with equal noise."""
        if self.name == "gaussian":
            return math.sqrt(size) / float(gaussian_mu(epsilon, delta))
        if self.name == "ellipse":
            return math.sqrt(size * (size + 1)) * l2_scale(size, epsilon, delta)
        return (math.sqrt((size + 1) * (size + 2) / 3) if self.name == "box" else math.sqrt(2) * size) / epsilon

    def split(self, priority: int, other: int, share: float, epsilon: float, delta: float) -> Split:
        """Return the noise when ``priority`` numbers get ``share`` of the precision (of epsilon, for pure noise)."""
        if self.is_pure:
            return Split(self.std(priority, share * epsilon, 0), self.std(other, (1 - share) * epsilon, 0))
        unit = self.std(priority + other, epsilon, delta) / math.sqrt(priority + other)
        return Split(math.sqrt(priority / share) * unit, math.sqrt(other / (1 - share)) * unit)

    def half_width(self, size: int, epsilon: float, delta: float, confidence: float = 0.95) -> float:
        """Return ``x`` such that a share ``confidence`` of the draws of one number, with equal noise, is within ± x.

        Box: ``P(|z| > x/epsilon) = Q(size + 1, x) - (x/size) Q(size, x)``, Q the regularised upper gamma function.
        Ellipse: a coordinate is ``sqrt(2 G) N(0, 1)`` times the scale, with ``G ~ Gamma((size + 1)/2)``.
        """
        if self.name == "gaussian":
            return float(special.ndtri((1 + confidence) / 2)) * self.std(size, epsilon, delta)
        if self.name == "laplace":
            return -math.log(1 - confidence) * size / epsilon
        if self.name == "box":
            return root(lambda x: float(special.gammaincc(size + 1, x) - x / size * special.gammaincc(size, x))
                        - (1 - confidence), 0.0, size + 40.0 * math.sqrt(size) + 80) / epsilon
        nodes, weights = gamma_nodes((size + 1) / 2)
        found = root(lambda x: float(weights @ special.erfc(x / (2 * np.sqrt(nodes)))) - (1 - confidence),
                     0.0, 40.0 * math.sqrt(size + 1))
        return found * math.sqrt(size) * l2_scale(size, epsilon, delta)

    def fill(self, rng: np.random.Generator, out: FloatArray) -> None:
        """Draw noise of unit variance into ``out``, whose columns are independent of each other."""
        size, cols = out.shape
        if self.name == "laplace":
            np.copyto(out, rng.laplace(scale=math.sqrt(0.5), size=out.shape))
        elif self.name == "box":  # a uniform point of the box, and a length that is Gamma(size + 1)
            rng.random(out=out)
            out -= 0.5
            out *= rng.standard_gamma(size + 1, size=cols) * (2 / self.std(size, 1.0, 0.0))
        else:
            rng.standard_normal(out=out)
            if self.name == "ellipse":  # a uniform direction, and a length that is Gamma(size)
                out *= rng.standard_gamma(size, size=cols) / np.sqrt((size + 1) * np.einsum("ij,ij->j", out, out))

    def pure_part(self, size: int, epsilon: float, delta: float) -> float:
        """Return the epsilon that holds with delta = 0, infinite where none does."""
        if self.name == "gaussian":
            return math.inf
        return epsilon if self.is_pure else 1 / l2_scale(size, epsilon, delta)

    def delta_at(self, at: float, size: int, epsilon: float, delta: float) -> float:
        """Return delta at the epsilon ``at >= 0`` of equal noise that was made for (epsilon, delta): an upper bound for
        Laplace noise on several numbers, exact for the others."""
        if self.is_pure:
            return abs(math.expm1(min(at - epsilon, 0.0) / 2))
        if self.name == "ellipse":
            return l2_delta(at, l2_scale(size, epsilon, delta), size)
        return float(gaussian_delta(at, gaussian_mu(epsilon, delta)))

    def advantage(self, size: int, epsilon: float, delta: float) -> float:
        """Return the best attacker's advantage: right in ``(1 + advantage)/2`` of all cases."""
        return self.delta_at(0.0, size, epsilon, delta)


FAMILIES: dict[str, Family] = {family.name: family for family in (
    Family("gaussian", "Gaussian", "Gaussian", False), Family("ellipse", "Ellipse (l2)", "ellipse", False),
    Family("box", "Box", "box", True), Family("laplace", "Laplace", "Laplace", True))}


class _BoxAndEllipse(Family):
    """Priority numbers in a box; the others in a box or an ellipse, whichever needs less noise."""

    def std(self, size: int, epsilon: float, delta: float) -> float:
        return min(FAMILIES[name].std(size, epsilon, delta) for name in ("box", "ellipse"))

    def split(self, priority: int, other: int, share: float, epsilon: float, delta: float) -> Split:
        return Split(FAMILIES["box"].std(priority, share * epsilon, 0.0),
                     self.std(other, (1 - share) * epsilon, delta))

    def advantage(self, size: int, epsilon: float, delta: float) -> float:
        """Return the most that any noise with this promise gives the best attacker."""
        return math.tanh(epsilon / 2) + delta * (1 - math.tanh(epsilon / 2))


BOX_AND_ELLIPSE = _BoxAndEllipse("box-ellipse", "Box and ellipse", "box and ellipse", False)


@dataclass(frozen=True)
class Block:
    """Numbers that share one norm: the rows of an answer that ``family`` hides with (epsilon, delta)."""

    rows: tuple[int, ...]
    family: Family
    epsilon: float
    delta: float = 0.0

    @property
    def std(self) -> float:
        """The standard deviation of each number, where one record moves it by at most 1."""
        return self.family.std(len(self.rows), self.epsilon, self.delta)

    @property
    def pure_epsilon(self) -> float:
        return self.family.pure_part(len(self.rows), self.epsilon, self.delta)

    def half_width(self, confidence: float) -> float:
        """Return how many standard deviations hold a share ``confidence`` of the draws of one number."""
        return self.family.half_width(len(self.rows), self.epsilon, self.delta, confidence) / self.std

    def delta_at(self, epsilon: float) -> float:
        """Return delta at any epsilon; below 0 by the symmetry of the worst pair."""
        if epsilon >= 0:
            return self.family.delta_at(epsilon, len(self.rows), self.epsilon, self.delta)
        return -math.expm1(epsilon) + math.exp(epsilon) * self.delta_at(-epsilon)


def blocks_delta(blocks: Sequence[Block], epsilon: float) -> float:
    """Return delta at ``epsilon`` of noise on several blocks: exact for one; above, pure ones count as one Laplace."""
    pure = sum(block.epsilon for block in blocks if block.family.is_pure)
    others = [block for block in blocks if not block.family.is_pure]
    if not others:
        return abs(math.expm1(min(epsilon - pure, 0.0) / 2))
    refuse(len(others) > 1, "only one block may use delta")
    return others[0].delta_at(epsilon - pure)


def l2_delta(epsilon: float, scale: float, size: int) -> float:
    """Return delta at ``epsilon >= 0`` of noise ``exp(-|z|/scale)`` in ``size`` dimensions, for a change of length 1.

    The loss exceeds epsilon on one sheet of a hyperboloid. In polar coordinates about either focus, with
    ``t = epsilon scale``, ``h = (1 - t²)/(2 scale)`` and ``F`` the distribution of one coordinate of a point on the
    sphere: ``E[F(h/g - t) - e^epsilon F(-h/g - t)]`` over ``g ~ Gamma(size)``. Above epsilon = 100 the second term is
    left out, which gives an upper bound. Below 100 dimensions, where the difference would cancel: :func:`_by_angle`.
    """
    t = epsilon * scale
    if t >= 1:
        return 0.0
    if size == 1:
        return -math.expm1((epsilon - 1 / scale) / 2)
    if size < _FEW:
        return min(_by_angle(t, 1 / (2 * scale), size), 1.0)
    h = (1 - t * t) / (2 * scale)
    nodes, weights = gamma_nodes(float(size))
    inside = _sphere_share(h / nodes - t, size)
    if epsilon <= _MOST_EPSILON:
        inside = inside - math.exp(epsilon) * _sphere_share(-h / nodes - t, size)
    return min(max(float(weights @ inside), 0.0), 1.0)


def _by_angle(t: float, a: float, size: int) -> float:
    """Return :func:`l2_delta` without cancellation, for ``a = 1/(2 scale)``.

    With foci at the two answers, in coordinates by the sum and the difference ``cos v`` of the distances, the integral
    over the sum gives Bessel functions K of order ``size/2`` and ``size/2 - 1``. What is left over ``0 < v < acos t``
    is smooth and positive.
    """
    end, (base, weights) = math.acos(t), legendre(160)
    v = end * (base + 1) / 2
    common = special.gammaln(size / 2) - special.gammaln(size) - math.log(math.pi)
    first = math.log((size - 1) / 2) + size / 2 * math.log(2 * a) + _log_bessel(size / 2, a)
    second = (size / 2 - 1) * math.log(2) + (size / 2 + 1) * math.log(a) + _log_bessel(size / 2 - 1, a)
    gained = -np.expm1(-4 * a * np.sin((end + v) / 2) * np.sin((end - v) / 2))  # 1 - e^(epsilon - loss)
    values = (np.sin(v) ** (size - 2) * np.exp(-2 * a * np.sin(v / 2) ** 2) * gained
              * (math.exp(common + first) + math.exp(common + second) * np.sin(v) ** 2))
    return end / 2 * float(weights @ values)


def _log_bessel(order: float, at: float) -> float:
    """Return the logarithm of ``e^at K_order(at)``; where K is too large for a float, of its limit at 0."""
    found = float(special.kve(order, at))
    return math.log(found) if math.isfinite(found) else float(
        special.gammaln(order) - math.log(2) + order * math.log(2 / at))


@lru_cache(maxsize=4096)
def l2_scale(size: int, epsilon: float, delta: float) -> float:
    """Return the smallest scale of l2 noise that is (epsilon, delta)-private for a change of length 1.

    Where the integral would lose its digits, the scale that is private with delta = 0: an upper bound.
    """
    count("size", size)
    pure = 1 / positive("epsilon", epsilon)
    if fraction("delta", delta) < _LEAST_DELTA or epsilon > _MOST_EPSILON:
        return pure
    low = high = pure
    while l2_delta(epsilon, low, size) <= delta:
        low, high = low / 2, low
    found = root(lambda scale: l2_delta(epsilon, scale, size) - delta, low, high, xtol=1e-12 * low)
    return min(found * _SAFE, pure)


def blocks_epsilon(blocks: Sequence[Block], delta: float) -> float:
    """Return the least epsilon at which :func:`blocks_delta` is at most ``delta``."""
    if blocks_delta(blocks, 0.0) <= delta:
        return 0.0
    most = math.fsum(block.pure_epsilon for block in blocks) * _SAFE
    return root(lambda epsilon: blocks_delta(blocks, epsilon) - delta, 0.0, most)


def _repeated_delta(releases: int, each: float, epsilon: float) -> float:
    """Return delta at ``epsilon`` of randomised response, the worst of all pure mechanisms, so many times [3]."""
    ups = np.arange(releases + 1)
    losses = (2 * ups - releases) * each
    log_chances = (ups * special.log_expit(each) + (releases - ups) * special.log_expit(-each)
                   - special.betaln(ups + 1, releases - ups + 1) - math.log(releases + 1))
    return float(np.exp(log_chances) @ -np.expm1(np.minimum(epsilon - losses, 0)))


def repeated_epsilon(releases: int, each: float, delta: float) -> float:
    """Return the epsilon of several releases that are pure ``each``: an upper bound, from the worst of all such."""
    most = releases * each
    if _repeated_delta(releases, each, 0.0) <= delta:
        return 0.0
    return min(root(lambda epsilon: _repeated_delta(releases, each, epsilon) - delta, 0.0, most) * _SAFE, most)


def pure_epsilon(releases: int, epsilon: float, delta: float) -> float:
    """Return an epsilon that each of several pure releases may have when all together are (epsilon, delta)-private.

    By randomised response, the worst pure mechanism [3]: a lower bound, never less than an equal part of epsilon.
    """
    low, high = epsilon / releases, epsilon + 40.0
    if releases == 1:
        return low
    return max(root(lambda each: _repeated_delta(releases, each, epsilon) - delta, low, high, xtol=1e-13) / _SAFE, low)


def same_attacker(name: str, size: int, epsilon: float, delta: float) -> float:
    """Return a pure family's noise over Gaussian noise when both give the best attacker the same advantage."""
    missed = math.log(2) + float(special.log_ndtr(-gaussian_mu(epsilon, delta) / 2))  # log of 1 - advantage
    return FAMILIES[name].std(size, -2 * missed, 0) / FAMILIES["gaussian"].std(size, epsilon, delta)


def staircase_std(epsilon: float) -> float:
    """Return the lowest standard deviation of any pure epsilon noise on one number that changes by at most 1 [4]."""
    b = math.exp(-positive("epsilon", epsilon))
    return math.sqrt(2 ** (-2 / 3) * (b * (1 + b)) ** (2 / 3) + b) / -math.expm1(-epsilon)


def lowest_std(epsilon: float, delta: float) -> float | None:
    """Return a standard deviation that no noise on one number is below, whatever its family; None where none is known.

    Linear programmes over noise on fine grids: delta up to 1e-5 lowers the staircase's by less than 2 %.
    """
    known = 0.1 <= positive("epsilon", epsilon) <= 10 and fraction("delta", delta) <= 1e-5
    return 0.98 * staircase_std(epsilon) if known else None


def _sphere_share(x: FloatArray, size: int) -> FloatArray:
    """Return the probability that one coordinate of a uniform point on the unit sphere is at most ``x``."""
    near = np.clip(x, -1, 1)
    tail = special.betainc((size - 1) / 2, 0.5, 1 - near * near) / 2
    return np.asarray(np.where(x > 0, 1 - tail, tail))


def gamma_nodes(shape: float) -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre nodes and weights for an expectation over Gamma(shape)."""
    low, high = float(special.gammaincinv(shape, _TAIL)), float(special.gammainccinv(shape, _TAIL))
    base, weights = legendre(160)
    nodes = low + (high - low) * (base + 1) / 2
    return nodes, (high - low) * weights / 2 * np.exp(special.xlogy(shape - 1, nodes) - nodes - special.gammaln(shape))
