"""Ellipse (l2) noise: ``exp(-|z|/scale)``, with the scale that an (epsilon, delta) promise allows [1].

It keeps every direction and split of a Gaussian design: delta depends on the length of the whitened change alone.

References
  [1] Joseph, Kulesza & Yu, ICML 2025: the l2 mechanism at (epsilon, delta).
"""

import math
from functools import lru_cache

import numpy as np
from scipy import special

from mvgviz.noise.accounting import legendre, root
from mvgviz.noise.families.base import NUMBERS, SAFE, Law, gamma_nodes, nodes_to, norm_entropy
from mvgviz.validation import FloatArray, count, fraction, positive

_LEAST_DELTA, _MOST_EPSILON = 1e-12, 100.0  # of the integral
_FEW = 100  # dimensions, below which the integral over the angle is used: its Bessel functions fit into floats


class Ellipse(Law):
    """The l2 mechanism."""

    name, title, word = "ellipse", "Ellipse (l2)", "ellipse"
    trials_only = ("ellipse noise cannot be drawn exactly, so it is only for trials; release box, Laplace or Gaussian "
                   "noise")

    def std(self, size: int, epsilon: float, delta: float) -> float:
        return math.sqrt(size * (size + 1)) * l2_scale(size, epsilon, delta)

    def half_width(self, size: int, epsilon: float, delta: float, confidence: float = 0.95) -> float:
        """Integrate: a coordinate is ``sqrt(2 G) N(0, 1)`` times the scale, with ``G ~ Gamma((size + 1)/2)``."""
        nodes, weights = gamma_nodes((size + 1) / 2)
        found = root(lambda x: float(weights @ special.erfc(x / (2 * np.sqrt(nodes)))) - (1 - confidence),
                     0.0, 40.0 * math.sqrt(size + 1))
        return found * math.sqrt(size) * l2_scale(size, epsilon, delta)

    def fill(self, rng: np.random.Generator, out: FloatArray) -> None:
        """Draw a uniform direction, and a length that is Gamma(size)."""
        size, cols = out.shape
        rng.standard_normal(out=out)
        out *= rng.standard_gamma(size, size=cols) / np.sqrt((size + 1) * np.einsum("ij,ij->j", out, out))

    def pure_part(self, size: int, epsilon: float, delta: float) -> float:
        return 1 / l2_scale(size, epsilon, delta)

    def delta_at(self, at: float, size: int, epsilon: float, delta: float) -> float:
        return l2_delta(at, l2_scale(size, epsilon, delta), size)

    def bits(self, ratio: float) -> float:
        return ball_bits(NUMBERS, ratio)


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


def _sphere_share(x: FloatArray, size: int) -> FloatArray:
    """Return the probability that one coordinate of a uniform point on the unit sphere is at most ``x``."""
    near = np.clip(x, -1, 1)
    tail = special.betainc((size - 1) / 2, 0.5, 1 - near * near) / 2
    return np.asarray(np.where(x > 0, 1 - tail, tail))


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
    return min(found * SAFE, pure)


def ball_bits(size: int, ratio: float) -> float:
    """Return what the noise ``exp(-|z|/scale)`` of unit variance lets through about ``size`` normal numbers.

    It is normal given its variance, ``2 scale² Gamma((size + 1)/2)``, and so is the sum.
    """
    scale = 1 / math.sqrt(size + 1)
    lengths, weights = gamma_nodes((size + 1) / 2)
    variances = ratio + 2 * scale**2 * lengths
    at, width = nodes_to(12 * math.sqrt(ratio) + 80 * scale, 320)
    density = np.exp(-at[:, None] ** 2 / (2 * variances)) @ (weights * (2 * math.pi * variances) ** (-size / 2))
    ball = math.pi ** (size / 2) / math.gamma(size / 2 + 1)
    entropy = -float((width * size * ball * at ** (size - 1)) @ special.xlogy(density, density))
    return (entropy - norm_entropy(size, ball, scale)) / math.log(2)
