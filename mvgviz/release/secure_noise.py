"""Noise that protects people: fresh, and safe against the bits of floating-point numbers.

Floating-point noise reveals the answer in its last bits [1]. Here the answer is *whitened* with the design, ``A f Bᵀ``
with ``AᵀA = Sigma^-1`` and ``BᵀB = Psi^-1``: one neighbour then moves it by at most ``mu`` (Euclidean norm), and its
noise is standard normal. OpenDP rounds it to a grid and adds a discrete Gaussian [2] in exact arithmetic with its
own generator (cryptographic, seeded by the operating system). Everything after that is post-processing.

The claim stays ``mu``; the noise is slightly larger to cover everything that rounds:

* ``mu`` itself, and epsilon at delta computed from it: a relative margin of 1e-9;
* the answer and its whitening, computed in floats: a bound on their errors, twice (two
  neighbours), from the largest values that the ranges allow: nothing private;
* the grid, of width ``2^exponent``: sqrt(entries) times its width, as OpenDP's map has it.

The scale is then the least for which OpenDP's own map grants ``rho <= mu²/2``. That rho is zero-concentrated privacy
[2] and holds without exception. Epsilon at delta is the Gaussian's, and needs one more step. A *rounded* Gaussian would
give it exactly, rounding being post-processing. The *discrete* Gaussian has other probabilities; on so fine a grid (at
most 2^-60 of a standard deviation) they are close to the rounded one's, **outside an event of negligible probability**:

* while no entry's noise exceeds 2^10 standard deviations (2^11 as seen from a neighbour, for ``mu``
  up to 2^10), the two probabilities of an outcome differ by at most a factor ``exp(±eta)``,
  ``eta = entries · 2^-100``: an entry x grid steps from 0, with a standard deviation of s steps, has
  the ratio ``sinh(u)/u <= exp(u²/6)``, ``u = x/(2 s²) <= 2^-50``, and all else is smaller still;
* some entry exceeds them with probability at most ``2 · entries · exp(-2^19)`` (the discrete
  Gaussian is subgaussian [2]), which is below ``entries · 10^-227000``.

So what is proved is ``(epsilon + 2 eta, exp(eta) delta + 2 · entries · exp(-2^19))``. The margin of
1e-9, of which rounding uses up very little, pays for both additions wherever delta is a double of at
most 1/2; the claim as stated then holds, delta included.

References
  [1] Mironov, On significance of the least significant bits for differential privacy, CCS 2012.
  [2] Canonne, Kamath & Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mvgviz.design.sampling import colour, whiten
from mvgviz.errors import InputError, refuse
from mvgviz.noise.directions import Directions, standard_basis
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import system_noise
from mvgviz.query.base import sum_error
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query, covariance
from mvgviz.query.second_moments import learned_directions
from mvgviz.validation import FloatArray, positive
from mvgviz.version import install_words

MARGIN = 1e-9  # relative margin of the sensitivity for the rounding of mu and epsilon

FRESH_DIRECTIONS = "private eigenvectors, drawn for a release"  # the label of such directions

_COARSEST = -60
_FINER = 40  # binary digits that the grid has beyond mu/sqrt(entries)
_MOST_EXTRA = 0.1
_SAME_MU = 1e-6
_CHUNK = 4_096  # entries between two reports of progress, about 0.1 s


@dataclass(frozen=True, kw_only=True)
class Hardening:
    """How a whitened answer of ``entries`` numbers is made noisy; ``noise_std``: a little over 1. ``sensitivity``:
    ``mu`` with the errors of arithmetic. ``rho``: what OpenDP's map claims for all, at most ``mu²/2``.
    """

    entries: int
    mu: float
    sensitivity: float
    noise_std: float
    exponent: int
    rho: float

    @property
    def rounding(self) -> float:
        """Return what arithmetic and grid can add to the error of a number, in standard deviations.

        Arithmetic moves the whitened answer by at most half of what it adds to the sensitivity, the grid by its width
        an entry; a whitened error e moves a number by at most e standard deviations, the average of two by ``sqrt2 e``.
        """
        return self.sensitivity - self.mu + 2 * (math.sqrt(self.entries) * 2.0**self.exponent)


@system_noise
def noisy_answer(answer: FloatArray, rows: NoiseSide, cols: NoiseSide, plan: Hardening, *,
                 progress: Callable[[float], object] | None = None) -> FloatArray:
    """Return ``f + MVG(0, Sigma, Psi)``, drawn once with fresh noise; ``plan``: see :func:`hardening_for`."""
    white = whiten(rows, cols, answer)
    refuse(not np.isfinite(white).all(), "the answer is too large for this noise to be added in floating point; change "
           "the units")
    noisy = add_noise(white.ravel(), plan, progress=progress).reshape(white.shape)
    return np.asarray(colour(rows, cols, noisy[None])[0])


def private_directions(dataset: Dataset, *, mu: float) -> Directions:
    """Return eigenvectors of ``X Xᵀ/n`` from a fresh hardened release with equal noise; it spends ``mu``."""
    query, mu = covariance(dataset), positive("mu", mu)
    side = NoiseSide.of(standard_basis(query.rows), np.full(query.rows, (query.sensitivity / mu) ** 2))
    sides = side, NoiseSide.identity(query.rows)
    noisy = noisy_answer(query.value, *sides, hardening_for(query, *sides, mu))
    return learned_directions(dataset, noisy, mu=mu, source=noisy_answer, label=FRESH_DIRECTIONS)


@system_noise
def noisy_count(value: int, std: float) -> float:
    """Return a count with fresh hardened noise of at least this standard deviation."""
    plan = hardening(entries=1, mu=1 / positive("std", std), sensitivity=1.0)
    return float(add_noise(np.array([float(value)]), plan)[0])


def hardening_for(query: Query, rows: NoiseSide, cols: NoiseSide, mu: float, largest: FloatArray | None = None
                  ) -> Hardening:
    """Return how to add the noise of these sides, less with the ``largest`` value of each feature, or refuse to."""
    return hardening(entries=query.rows * query.cols, mu=mu,
                     sensitivity=computed_sensitivity(query, rows, cols, mu, largest))


def computed_sensitivity(query: Query, rows: NoiseSide, cols: NoiseSide, mu: float,
                         largest: FloatArray | None = None) -> float:
    """Return how far one neighbour moves the whitened answer *as computed*: ``mu`` and every rounding.

    Sums have the relative error ``sum_error`` of ``|A| a bᵀ |B|ᵀ``, where ``|f_ij| <= a_i b_j`` for every dataset.
    """
    worst = query.neighbours.worst(rows, cols).mu
    if not abs(worst - mu) <= _SAME_MU * mu:
        raise InputError("the design was made for another query or other ranges; make it from this query")
    steps = sum(side.size if not side.is_diagonal else 2 * (not side.is_identity) for side in (rows, cols)) + 2
    size = largest_white_norm(query, rows, cols, largest)
    exact = max(worst, mu) * (1 + MARGIN)
    computed = exact + 2 * (sum_error(steps) + query.rounding(largest)) * size * (1 + MARGIN)
    computed = min(computed, query.most_moved(exact) + 2 * sum_error(steps) * size * (1 + MARGIN))
    refuse(not computed <= mu * (1 + _MOST_EXTRA), "rounding errors could reach a tenth of what one record changes, "
           "which is not safe to release; use fewer records or ranges closer to 0")
    return computed


def largest_white_norm(query: Query, rows: NoiseSide, cols: NoiseSide, largest: FloatArray | None) -> float:
    """Return a bound on ``|| |A| |f| |B|ᵀ ||_F`` over all datasets."""
    entries = query.largest_entries(largest)
    if entries is None:  # the answer's norm, times a bound on the spectral norms of |A| and |B|
        return math.prod((math.sqrt(side.largest_precision if side.is_diagonal else float(side.precisions.sum()))
                          for side in (rows, cols)), start=query.gamma)
    spread = [side.whitened(vector[:, None]) if side.is_diagonal else np.abs(side.whitener()) @ vector
              for side, vector in zip((rows, cols), entries, strict=True)]
    return math.prod(float(np.linalg.norm(vector)) for vector in spread)


def hardening(*, entries: int, mu: float, sensitivity: float) -> Hardening:
    """Return the grid and the smallest scale for which OpenDP's map grants ``rho <= mu²/2``."""
    positive("mu", mu)  # its square has to be a number, too, or no scale is ever enough
    exponent = min(math.floor(math.log2(mu / math.sqrt(entries))) - _FINER, _COARSEST)
    moved = sensitivity + math.sqrt(entries) * 2.0**exponent
    noise_std, allowed = max(moved / mu, 1.0), Fraction(mu) ** 2 / 2
    while True:
        rho = float(gaussian(entries, noise_std, exponent).map(d_in=sensitivity))
        if Fraction(rho) <= allowed:
            return Hardening(entries=entries, mu=mu, sensitivity=sensitivity, noise_std=noise_std,
                             exponent=exponent, rho=rho)
        noise_std *= 1 + 1e-15


def add_noise(values: FloatArray, plan: Hardening, *, progress: Callable[[float], object] | None = None) -> FloatArray:
    """Add OpenDP's discrete Gaussian to each entry, in chunks with the scale of the whole."""
    noisy = np.empty(values.size)
    for start in range(0, values.size, _CHUNK):
        part = values[start : start + _CHUNK]
        noisy[start : start + part.size] = gaussian(part.size, plan.noise_std, plan.exponent)(part.tolist())
        if progress is not None:
            progress((start + part.size) / values.size)
    return noisy


def gaussian(entries: int, noise_std: float, exponent: int) -> Any:
    """Return OpenDP's measurement: ``entries`` floats, Euclidean distance, a grid of ``2^exponent``."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise InputError(f"a release needs the library OpenDP: {install_words('release')}") from None
    dp.enable_features("contrib")
    floats = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=entries)
    return dp.m.make_gaussian(floats, dp.l2_distance(T=float), scale=noise_std, k=exponent)
