"""Directions that come from the data: openly (not private) or through a private release.

Both bring the eigenvalues of ``X Xᵀ/n`` (or of the answer itself), largest first.
"""

from dataclasses import replace

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.directions import Directions
from mvgviz.noise.ties import eigen
from mvgviz.provenance import Origin, receipt_for
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query, covariance, origins
from mvgviz.validation import FloatArray, fraction, generator, instance, positive


def eigenvectors(query: Query) -> Directions:
    """Eigenvectors of a symmetric answer, or of ``f fᵀ/cols`` for any other. **Not private.**"""
    instance("query", query, Query)
    value = query.value if query.symmetric else query.value @ query.value.T / query.cols
    values, vectors = _sorted_eigh(value)
    return Directions(size=query.rows, rotated=vectors, eigenvalues=values, origin=Origin.READ,
                      label="eigenvectors of the data")


def private_eigenvectors(dataset: Dataset, *, epsilon: float | None = None, delta: float | None = None,
                         mu: float | None = None, rng: np.random.Generator) -> Directions:
    """Eigenvectors of ``X Xᵀ/n`` released by the analytic Gaussian mechanism.

    Noise of standard deviation ``s2/mu`` on every entry, then symmetrised; the budget is given as ``epsilon`` and
    ``delta``, or as the ``mu`` they allow. The paper gives a fifth of epsilon and delta to this step. Whoever knows
    the seed of ``rng`` knows the noise: good for trials, refused by a release.
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
