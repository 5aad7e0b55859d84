"""Exact accounting for Gaussian noise.

For one pair of neighbours whose answers differ by D, the privacy loss of ``f + MVG(0, Sigma, Psi)`` is exactly
``N(mu²/2, mu²)`` with ``mu = ||Sigma^-1/2 D Psi^-1/2||_F``. Everything about the privacy of a Gaussian design follows
from its largest ``mu``.

>>> from mvgviz import gaussian_delta, gaussian_mu
>>> round(gaussian_mu(1.0, 1e-5), 6)
0.268051
>>> round(gaussian_delta(1.0, gaussian_mu(1.0, 1e-5)) / 1e-5, 9)
1.0

References
  [1] Balle & Wang, Improving the Gaussian mechanism, ICML 2018, Theorem 8.
  [2] Dong, Roth & Su, Gaussian differential privacy, JRSS-B 2022.

Symbols: epsilon, delta, mu as in [2]; ``a = epsilon/mu - mu/2`` and ``b = epsilon/mu + mu/2`` are the two arguments of
the normal distribution in [1]. All functions take scalars or arrays that broadcast.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from mvgviz.errors import InputError
from mvgviz.validation import FloatArray, broadcast, numbers

_SQRT2 = math.sqrt(2.0)
_SQRT_2PI = math.sqrt(2.0 * math.pi)
_CUT = 80.0  # the integrand is dropped where it has fallen below exp(-40), half of this
_LARGEST = 1e100
_MANY_STEPS = 200
_FAR = 1e9  # a larger mu is the start of Newton's steps to the last digit: it differs by a part of about 1/mu²
_LAST_STEP = 1e-9  # Newton's error after such a step is its square
_ROUNDING = 1e-15  # of log delta: steps of this size are noise
_remembered = lru_cache(maxsize=4096)  # a picture asks for the same few many times


def gaussian_delta(epsilon: Any, mu: Any) -> Any:
    """Return the smallest delta at this epsilon, any real number, when the worst-case shift is ``mu``.

    ``Phi(-a) - e^epsilon Phi(-b)`` [1, Theorem 8], without its cancellation; below 0, which mixtures with other noise
    need, ``delta(-x) = 1 - e^-x + e^-x delta(x)``. At 0 it is :func:`total_variation`.
    """
    e, m = broadcast(epsilon=numbers("epsilon", epsilon), mu=_limited("mu", mu))
    _limited("epsilon", np.abs(e))
    return _plain(checked_delta(e, m))


def checked_delta(e: FloatArray, m: FloatArray) -> FloatArray:
    """Return :func:`gaussian_delta` of two arrays of one shape, whose values were checked before."""
    exponent, mantissa = _delta_parts(np.maximum(np.abs(e), 1 / _LARGEST), m)
    delta, below = np.exp(exponent) * mantissa, np.minimum(e, 0.0)
    return np.where(e < 0, np.exp(below) * delta - np.expm1(below), delta)


def zcdp_rho(mu: float) -> float:
    """Return ``mu²/2``, the rho of zero-concentrated privacy (zCDP)."""
    return mu * mu / 2


def total_variation(mu: Any) -> Any:
    """Return delta at epsilon = 0: ``2 Phi(mu/2) - 1``."""
    return _plain(special.erf(_limited("mu", mu) / math.sqrt(8.0)))


def gaussian_mu(epsilon: Any, delta: Any) -> Any:
    """Return the largest ``mu`` that is (epsilon, delta)-private; the inverse of :func:`gaussian_delta`.

    Newton's method in (log mu, log delta), where the curve is concave, from a
    start on the left: the steps only go up and cannot pass the root.
    """
    return (_mu_of_numbers if type(epsilon) is type(delta) is float else _mu_of)(epsilon, delta)


def _mu_of(epsilon: Any, delta: Any) -> Any:
    e, d = broadcast(epsilon=_limited("epsilon", epsilon), delta=numbers("delta", delta, above=0, below=1))
    if not (e >= 1 / _LARGEST).all():
        raise InputError(f"epsilon must be at least {1 / _LARGEST:g}, got {e.min():g}")
    z = -special.ndtri(d)
    larger = np.sqrt(z * z + 2 * e) + np.abs(z)
    where_one_term_is_delta = np.where(z > 0, 2 * e / larger, larger)
    mu = np.array(np.maximum(where_one_term_is_delta, math.sqrt(8.0) * special.erfinv(d)))
    near = mu < _FAR
    mu[near] = _climbed(e[near], d[near], mu[near])
    return _plain(mu)


def _climbed(e: FloatArray, d: FloatArray, mu: FloatArray) -> FloatArray:
    for _ in range(_MANY_STEPS):
        exponent, mantissa = _delta_parts(e, mu)
        a = e / mu - mu / 2
        slope = mu * np.exp(-a * a / 2 - exponent) / (_SQRT_2PI * mantissa)
        step = (np.log(d) - exponent - np.log(mantissa)) / slope
        mu = mu * np.exp(step)
        if np.all(np.abs(step) <= _LAST_STEP + _ROUNDING / slope):
            return mu
    raise ArithmeticError("gaussian_mu did not converge; please report the arguments")


_mu_of_numbers = _remembered(_mu_of)


def gaussian_epsilon(delta: Any, mu: Any) -> Any:
    """Return the smallest epsilon at this delta when the worst-case shift is ``mu``; 0 where delta alone is enough.

    Newton's method on log delta, which is concave in epsilon, from a start on
    the right: the steps only go down and cannot pass the root.
    """
    return (_epsilon_of_numbers if type(delta) is type(mu) is float else _epsilon_of)(delta, mu)


def _epsilon_of(delta: Any, mu: Any) -> Any:
    d, m = broadcast(delta=numbers("delta", delta, above=0, below=1), mu=_limited("mu", mu))
    above = d < special.erf(m / math.sqrt(8.0))
    epsilon = np.where(above, m * (m / 2 - special.ndtri(d)), 0.0)
    near = above & (m < _FAR)
    epsilon[near] = _descended(d[near], m[near], epsilon[near])
    return _plain(epsilon)


def _descended(d: FloatArray, m: FloatArray, epsilon: FloatArray) -> FloatArray:
    for _ in range(_MANY_STEPS):
        exponent, mantissa = _delta_parts(epsilon, m)
        a, b = epsilon / m - m / 2, epsilon / m + m / 2
        slope = np.exp(-a * a / 2 - exponent) * special.erfcx(b / _SQRT2) / (2 * mantissa)
        step = (np.log(d) - exponent - np.log(mantissa)) / slope
        last = np.abs(step) <= _LAST_STEP * epsilon + _ROUNDING / slope
        epsilon = np.maximum(epsilon - step, 0.0)
        if np.all(last):
            return np.asarray(epsilon)
    raise ArithmeticError("gaussian_epsilon did not converge; please report the arguments")


_epsilon_of_numbers = _remembered(_epsilon_of)


def compose_mu(mus: Any) -> float:
    """Return the ``mu`` of several releases together, ``sqrt(sum mu²)`` [2, Corollary 2].

    Safe for adaptively chosen releases; exact when one pair of neighbours is worst for all of them.
    """
    return math.hypot(*np.ravel(_limited("mus", mus)).tolist())


def tradeoff(alpha: Any, mu: Any) -> Any:
    """Return the best attacker's miss rate at false-alarm rate ``alpha``: ``Phi(Phi^-1(1-alpha) - mu)`` [2]."""
    rate, m = broadcast(alpha=numbers("alpha", alpha, above=0, below=1, closed=True), mu=_limited("mu", mu))
    return _plain(special.ndtr(-special.ndtri(rate) - m))


def _delta_parts(e: FloatArray, mu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """delta as ``exp(exponent) * mantissa``: no underflow, no cancellation.

    Up to mu = 2 as a positive integral; above, as the scaled difference of the two terms of [1].
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        a, small = e / mu - mu / 2, mu <= 2  # without any shift a is infinite
        exponent = -np.where(small, a, np.maximum(a, 0.0)) ** 2 / 2
    mantissa = np.empty_like(a)
    for part, tail in ((small, _tail_integral), (~small, _tail_difference)):
        mantissa[part] = tail(a[part], mu[part])
    return exponent, mantissa


def _tail_integral(a: FloatArray, mu: FloatArray) -> FloatArray:
    """``integral_0^inf exp(-u²/2 - a u) (1 - exp(-mu u)) du / sqrt(2 pi)`` by Gauss–Legendre.

    It is the difference of the two terms of [1], each written through
    ``Phi(-x) = phi(x) integral_0^inf exp(-u²/2 - x u) du``.
    """
    nodes, weights = legendre(64)
    nodes, weights = (nodes + 1) / 2, weights / 2
    cut = _CUT / (a + np.hypot(a, math.sqrt(_CUT)))  # where u² + 2 a u = _CUT
    u = cut[..., None] * nodes
    finite_a = np.where(np.isfinite(a), a, 0.0)[..., None]
    values = np.exp(-u * (u / 2 + finite_a)) * -np.expm1(-mu[..., None] * u)
    return np.asarray(cut * (values @ weights) / _SQRT_2PI)


def _tail_difference(a: FloatArray, mu: FloatArray) -> FloatArray:
    """``Phi(-a) - e^epsilon Phi(-b)``, divided by ``exp(-a²/2)`` where a > 0."""
    right, left = np.maximum(a, 0.0), np.minimum(a, 0.0)
    near = np.where(a > 0, special.erfcx(right / _SQRT2) / 2, special.ndtr(-left))
    with np.errstate(over="ignore"):
        return np.asarray(near - np.exp(-left * left / 2) * special.erfcx((a + mu) / _SQRT2) / 2)


def root(of: Callable[[float], float], low: float, high: float, **options: float) -> float:
    """Return where a function of one number is 0, between two ends where its signs differ."""
    from scipy.optimize import brentq  # only here: importing it takes longer than all else

    return float(brentq(of, low, high, **options))


@lru_cache(maxsize=8)
def legendre(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return so many nodes and weights for integrals from -1 to 1."""
    at, weights = special.roots_legendre(nodes)
    return at, weights


def _limited(name: str, value: Any) -> FloatArray:
    result = numbers(name, value, above=0, closed=True)
    if not (result <= _LARGEST).all():
        raise InputError(f"{name} must be at most {_LARGEST:g}, got {result.max():g}")
    return result


def _plain(value: Any) -> Any:
    """A float for a scalar, else the array."""
    result = np.asarray(value)
    return float(result) if result.ndim == 0 else result
