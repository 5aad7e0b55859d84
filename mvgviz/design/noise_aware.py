"""Using a release with the noise in mind: what a design's noise does to second moments, and how sure a fit is.

Regressions, components and projections themselves are in ``mvgviz.noise.moment_noise`` and can be had from here
too. All of it is post-processing and costs no privacy. Nothing here is in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.noise.moment_noise import (
    MomentNoise,
    components,
    penalties,
    projected,
    projected_root,
    ridge_weights,
    shrunk,
)
from mvgviz.noise.sides import NoiseSide
from mvgviz.validation import FloatArray, count, fraction

__all__ = [
    "MomentNoise", "coefficient_intervals", "components", "moment_noise", "penalties", "projected", "projected_root",
    "ridge_weights", "shrunk", "table_noise", "table_std",
]


def moment_noise(design: NoiseDesign) -> MomentNoise:
    """The noise of a design on a square answer, averaged with its transpose.

    Exact for noise on both sides; noise on one side is taken for the noise on both with the same diagonal.
    """
    side = design.directional_side
    if design.mode == "both":
        return MomentNoise(root=side.root())
    return MomentNoise(root=NoiseSide.of(side.directions, np.sqrt(side.variances)).root())


def table_std(moments: FloatArray, noise: FloatArray, n_records: int) -> FloatArray:
    """The noise on ``R Rᵀ/n - Sigma`` of released tables R, entry by entry.

    ``moments``: ``R Rᵀ/n``, ``… × m × m``; ``noise``: Sigma, the covariance of the noise on a record. With S the
    records' own moments and ``M = S + Sigma`` the variance is ``(M_ii M_jj + M_ij² - S_ii S_jj - S_ij²)/n``; S is
    read from the release.
    """
    values, vectors = np.linalg.eigh(noise)
    own = projected(moments - noise, MomentNoise(root=vectors * np.sqrt(np.maximum(values, 0.0))))
    variance = _products(own + noise) - _products(own)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0) / count("records", n_records)))


def table_noise(moments: FloatArray, noise: FloatArray, n_records: int) -> MomentNoise:
    """The same as noise like a product, one for each release."""
    return MomentNoise.from_std(table_std(moments, noise, n_records))


def coefficient_intervals(moments: FloatArray, noise: MomentNoise, *, features: Sequence[int], label: int,
                          rng: np.random.Generator, constant: int | None = None, aware: bool = True,
                          level: float = 0.95, draws: int = 1_000) -> FloatArray:
    """Low and high ends for each coefficient of one release, ``len(features) × 2``.

    The known noise is drawn anew around the projected release and the fit repeated: what differs is what the noise
    did. They speak of the noise, not of which records were sampled. What is drawn is fitted without shrinking, which
    would make a coefficient that was switched off look certain.
    """
    tail = (1 - fraction("level", level)) / 2
    centre = projected(moments, noise)
    again = centre + noise.draws(count("draws", draws), rng=rng)
    found, fits = (ridge_weights(each, noise, features=features, label=label, constant=constant, aware=aware,
                                 shrink=each is moments) for each in (moments, again))
    low, high = np.quantile(fits, [tail, 1 - tail], axis=0)
    return np.stack([np.minimum(low, found), np.maximum(high, found)], axis=-1)


def _products(moments: FloatArray) -> FloatArray:
    """``M_ii M_jj + M_ij²``."""
    each = np.einsum("...ii->...i", moments)
    return np.asarray(each[..., :, None] * each[..., None, :] + moments**2)
