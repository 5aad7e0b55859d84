"""Exact draws from the Bingham distribution, for the private first principal component.

On the unit sphere of m dimensions the density is proportional to ``exp(xᵀ A x)``. With
``A = epsilon/(2B²) X Xᵀ``, no record longer than B, a draw is the exponential mechanism's
first principal component of the table X, private with epsilon alone [2].

The method is rejection [1], whose density is ``exp(-xᵀ A x)``; here the sign is turned and
the eigenvalues become ``lambda_i = a_max - a_i``, so that the least is 0. With
``t = sum lambda_i x_i²``, x in the eigenvectors' coordinates, and any b > 0:

* proposal: y normal with variances ``1/(1 + 2 lambda_i/b)`` and ``x = y/|y|``, which has the
  angular central Gaussian density, proportional to ``(1 + 2t/b)^(-m/2)``;
* target over proposal is at most ``M(b) = exp((b - m)/2) (m/b)^(m/2)``, as at ``b + 2t = m``;
* so accept with probability ``exp(-t) (1 + 2t/b)^(m/2) / M(b) = (w exp(1 - w))^(m/2)``, where
  ``w = (b + 2t)/m``. It never exceeds 1, whatever b: b decides the speed, not the distribution.

References
  [1] Kent, Ganeiber & Mardia, A new unified approach for the simulation of a wide class of
      directional distributions, J. Computational and Graphical Statistics 27, 2018.
  [2] Chaudhuri, Sarwate & Sinha, A near-optimal algorithm for differentially-private
      principal components, J. Machine Learning Research 14, 2013.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.ties import eigen
from mvgviz.validation import LARGEST, FloatArray, generator, square


def sample_bingham(matrix: Any, generators: Sequence[np.random.Generator]) -> FloatArray:
    """Unit vectors with density proportional to ``exp(xᵀ matrix x)``, one a generator: trials × m.

    Each round of a trial takes m normals and one uniform from its own generator, and the
    arithmetic treats each row alone: a draw is the same, bit for bit, whatever the batch.
    A generator that stands in several places gives several independent draws.
    """
    values, vectors = eigen(_symmetric(matrix))
    try:
        sources = [generator(rng) for rng in generators]
    except TypeError:
        raise InputError("generators must be a sequence of numpy.random.Generator, one a draw") from None
    lam, m = values[-1] - values, values.size
    b = _envelope(lam)
    spread = 1 / np.sqrt(1 + 2 * lam / b)
    draws, pending = np.empty((len(sources), m)), np.arange(len(sources))
    while pending.size:
        y, uniform = np.empty((pending.size, m)), np.empty(pending.size)
        for row, k in enumerate(pending.tolist()):
            sources[k].standard_normal(out=y[row])
            uniform[row] = sources[k].random()
        y *= spread
        x = y / np.sqrt((y * y).sum(axis=1, keepdims=True))
        w = (b + 2 * (lam * x * x).sum(axis=1)) / m
        accepted = uniform < np.exp(m / 2 * (np.log(w) + 1 - w))
        draws[pending[accepted]] = x[accepted]
        pending = pending[~accepted]
    return np.asarray((draws[:, None, :] @ vectors.T)[:, 0, :])  # one product a trial: the batch must not matter


def _envelope(lam: FloatArray) -> float:
    """The b with ``sum 1/(b + 2 lambda_i) = 1``, the least M(b) over the proposal's own constant.

    Newton's method for the harmonic sum ``1/sum 1/(b + 2 lambda_i) = 1``: increasing and
    concave in b and at most 1 at b = 1, so the steps climb to the root and never pass it.
    """
    b = 1.0
    for _ in range(100):
        inverse = 1 / (b + 2 * lam)
        total = float(inverse.sum())
        step = total * (total - 1) / float((inverse * inverse).sum())
        b += step
        if not step > 1e-12 * b:
            break
    return b


def _symmetric(matrix: Any) -> FloatArray:
    a = square("matrix", matrix)
    size = float(np.abs(a).max())
    if not size <= LARGEST:
        raise InputError(f"matrix must have entries of at most {LARGEST:g}")
    if not np.abs(a - a.T).max() <= 1e-8 * size:
        raise InputError("matrix must be symmetric")
    return np.asarray((a + a.T) / 2)
