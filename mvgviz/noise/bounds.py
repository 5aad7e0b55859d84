"""The sufficient conditions of the MVG paper, as printed, and what surrounds them.

A design is private when ``||sigma(Sigma^-1)||_2 * ||sigma(Psi^-1)||_2 <= phi²``.

>>> from mvgviz import theorem1
>>> bound = theorem1(6, 248, epsilon=1, delta=1/248, gamma=38.57460304397182, sensitivity=24**0.5)
>>> f"{bound.limit:.3e}"
'6.374e-11'

Symbols: ``s2`` sensitivity, ``gamma`` largest norm of an answer, ``k = rows*cols``, ``r = min(rows, cols)``, ``H_r =
sum 1/i``, ``H_{r,1/2} = sum 1/sqrt(i)``.

References
  [1] Chanyaswad, Dytso, Poor & Mittal, MVG mechanism: differential privacy under matrix-valued query, CCS 2018: the
      general bound (here Theorem 1), that for positive semi-definite queries (2), their comparison (3).
  [2] Laurent & Massart, Adaptive estimation of a quadratic functional, 2000, Lemma 1.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from mvgviz.errors import InputError, refuse
from mvgviz.validation import FloatArray, broadcast, count, fraction, numbers, one_of, positive

TAILS = ("printed", "laurent-massart", "exact-chi")
"""How ``||N||_F`` of a standard normal matrix is bounded with probability 1 - delta."""

_LARGEST_RANK = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One theorem's limit ("theorem1", "theorem2" or "theorem2-any"), with every quantity on the way to it;
    ``constant``: the one of ``alpha`` and ``omega`` that it uses.
    """

    theorem: str
    tail: str
    rank: int
    harmonic: float
    harmonic_half: float
    zeta: float
    tail_value: float
    alpha: float
    omega: float
    constant: float
    beta: float
    phi: float

    @property
    def limit(self) -> float:
        """``phi²``, the largest allowed product of the two norms."""
        return self.phi * self.phi


def theorem1(rows: int, cols: int, *, epsilon: float, delta: float, gamma: float,
             sensitivity: float, tail: str = "printed") -> Bound:
    """Return the general bound [1, Theorem "design_general"]: any query, any noise."""
    return theorem_bound("theorem1", rows, cols, epsilon=epsilon, delta=delta, gamma=gamma, sensitivity=sensitivity,
                         tail=tail)


def theorem2(size: int, *, epsilon: float, delta: float, gamma: float, sensitivity: float,
             tail: str = "printed") -> Bound:
    """Return the bound for positive semi-definite queries and ``Psi = Sigma`` [1, "mvg_for_psd"]."""
    return theorem_bound("theorem2", size, size, epsilon=epsilon, delta=delta, gamma=gamma, sensitivity=sensitivity,
                         tail=tail)


def theorem2_any(rows: int, cols: int, *, epsilon: float, delta: float, gamma: float,
                 sensitivity: float, tail: str = "printed") -> Bound:
    """Theorem 2's constant for any query and any noise. Not in the paper.

    Its proof needs neither the PSD query nor ``Psi = Sigma``: the last two terms are ``||A||² - ||B||² = <A-B, A+B>``
    with ``A = Sigma^-1/2 f2 Psi^-1/2``, at most ``2 H_r gamma s2 phi²`` as the first two.
    """
    return theorem_bound("theorem2-any", rows, cols, epsilon=epsilon, delta=delta, gamma=gamma,
                         sensitivity=sensitivity, tail=tail)


def theorem2_wins(rank: Any, ratio: Any) -> Any:
    """Return whether Theorem 2 allows at least as much as Theorem 1 (Theorem 3, exact).

    True exactly when ``alpha >= omega``: ``ratio = s2/gamma <= (1 + H_{r,1/2}/H_r)/2``. The paper gives two sufficient
    conditions: ``ratio <= 1``, or ``rank > 12`` for PSD queries (for which ``ratio <= sqrt 2``).
    """
    ranks, ratios = broadcast(rank=numbers("rank", rank, above=0), ratio=numbers("ratio", ratio, above=0))
    wins = ratios <= ratio_limit(ranks)
    return bool(wins) if wins.ndim == 0 else wins


def ratio_limit(ranks: FloatArray) -> FloatArray:
    """Return the largest ``s2/gamma`` at which Theorem 2 allows as much as Theorem 1, for whole ranks."""
    whole = [count("rank", rank) for rank in ranks.ravel()]
    return np.array([(1 + harmonic(rank, 0.5) / harmonic(rank)) / 2 for rank in whole]).reshape(ranks.shape)


def zeta(k: int, delta: float) -> float:
    """``2 sqrt(-k ln delta) - 2 ln delta + k`` [1, Lemma "laurent_massart"; 2]."""
    surprise = -math.log(delta)
    return 2 * math.sqrt(k * surprise) + 2 * surprise + k


def tail_value(k: int, delta: float, tail: str) -> float:
    """Return a number that ``||N||_F`` exceeds with probability at most delta, N of k entries: "printed": zeta, as in
    the paper. "laurent-massart": its root, what [2] gives. "exact-chi": the quantile of chi itself.
    """
    if tail == "printed":
        return zeta(k, delta)
    if tail == "laurent-massart":
        return math.sqrt(zeta(k, delta))
    return math.sqrt(2 * float(special.gammainccinv(k / 2, delta)))


@lru_cache(maxsize=4096)
def harmonic(rank: int, power: float = 1.0) -> float:
    """``sum_{i=1}^{rank} i^-power``."""
    refuse(rank > _LARGEST_RANK, f"min(rows, cols) must be at most {_LARGEST_RANK}, got {rank}")
    return float(np.sum(np.arange(1, rank + 1, dtype=np.float64) ** -power))


def theorem_bound(theorem: str, rows: int, cols: int, *, epsilon: float, delta: float, gamma: float,
                  sensitivity: float, tail: str) -> Bound:
    """Return the bound of a theorem by its name."""
    rows, cols = count("rows", rows), count("cols", cols)
    epsilon, delta = positive("epsilon", epsilon), fraction("delta", delta)
    gamma, s2 = positive("gamma", gamma), positive("sensitivity", sensitivity)
    tail = one_of("tail", tail, TAILS)
    k, r = rows * cols, min(rows, cols)
    h, h_half = harmonic(r), harmonic(r, 0.5)

    alpha = (h + h_half) * gamma * gamma + 2 * h * gamma * s2
    omega = 4 * h * gamma * s2
    constant = alpha if theorem == "theorem1" else omega
    reach = tail_value(k, delta, tail)
    beta = 2 * k**0.25 * reach * h * s2
    # The root of constant*phi² + beta*phi = 2*epsilon, without cancellation or overflow.
    phi = 4 * epsilon / (beta + math.hypot(beta, math.sqrt(8 * constant) * math.sqrt(epsilon)))
    if not (math.isfinite(alpha) and math.isfinite(beta) and phi * phi > 0 and constant > 0):
        raise InputError("gamma, sensitivity and epsilon must leave the bound within the range of a double, "
                         f"got gamma {gamma:g}, sensitivity {s2:g}, epsilon {epsilon:g}")
    return Bound(theorem=theorem, tail=tail, rank=r, harmonic=h, harmonic_half=h_half, zeta=zeta(k, delta),
                 tail_value=reach, alpha=alpha, omega=omega, constant=constant, beta=beta, phi=phi)
