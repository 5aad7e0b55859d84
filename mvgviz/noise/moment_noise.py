"""Second moments with known noise: where it is white, regressions from them, and how sure a fit is.

All of this is post-processing of many releases at once, ``… × m × m``, symmetrised. Nothing here is in the paper.

>>> import numpy as np
>>> from mvgviz.noise.moment_noise import MomentNoise, ridge_weights
>>> true = np.array([[1.0, 0.2, 0.9], [0.2, 1.0, 0.1], [0.9, 0.1, 1.0]])
>>> noise = MomentNoise.from_std(np.diag([0.01, 50.0, 0.01]))  # the second feature is mostly noise
>>> noisy = true + noise.draws(1_000, rng=np.random.default_rng(0))
>>> ridge_weights(noisy, noise, features=[0, 1], label=2).std(axis=0) < 0.1
array([ True,  True])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import refuse
from mvgviz.validation import FloatArray, count, fraction, frozen, generator

RIDGE, PER_NOISE, INTERCEPT, PLAIN = 0.003, 0.5, 1e-3, 0.1
"""Ridge of a feature without noise, per ``std sqrt(m)``, of the intercept, and where the noise is not looked at."""

_LEAST, _RELEASED, _TINY = 1e-7, 0.3, 1e-150
_PRIORS, _AVERAGED = np.append(0.0, 2.0 ** np.arange(-4, 8)), 0.1
"""Inverse prior variances of coefficients, in units of features over label; risks this close are averaged."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MomentNoise:
    """Noise ``B G Bᵀ`` on second moments, G standard normal, averaged with its transpose; ``root``: B, one or many."""

    root: FloatArray = field(repr=False)

    @classmethod
    def from_std(cls, std: FloatArray) -> MomentNoise:
        """Noise like a product ``sqrt(std_ii std_jj)``, from the standard deviations of the diagonal entries."""
        each = np.einsum("...ii->...i", np.asarray(std, dtype=np.float64))
        return cls(root=frozen(np.sqrt(each)[..., None] * np.eye(each.shape[-1])))

    @property
    def size(self) -> int:
        return int(self.root.shape[-1])

    @property
    def std(self) -> FloatArray:
        sigma = self.root @ np.swapaxes(self.root, -1, -2)
        each = np.einsum("...ii->...i", sigma)
        return np.asarray(np.sqrt((each[..., :, None] * each[..., None, :] + sigma**2) / 2))

    @property
    def edge(self) -> float:
        """Where the eigenvalues of the white noise end: ``sqrt(2m)``."""
        return math.sqrt(2 * self.size)

    def turned(self, matrix: FloatArray) -> MomentNoise:
        root = matrix @ self.root
        return MomentNoise(root=frozen(root) if len(matrix) == self.size else _square(root))

    def on(self, positions: Sequence[int]) -> MomentNoise:
        return MomentNoise(root=_square(self.root[..., list(positions), :]))

    def draws(self, times: int, *, rng: np.random.Generator) -> FloatArray:
        normal = generator(rng).standard_normal((times, self.size, self.size))
        return symmetrised(self.root @ normal @ np.swapaxes(self.root, -1, -2))

    def white(self, moments: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Eigenvalues and eigenvectors where the noise is white, and the map back from there."""
        left, s, right = np.linalg.svd(self.root)
        most = s.max(axis=-1, keepdims=True)
        s = np.where(most > 0, np.maximum(s, _LEAST * most), 1.0)  # no noise is white in any coordinates
        back = (left * s[..., None, :]) @ right
        there = (np.swapaxes(right, -1, -2) / s[..., None, :]) @ np.swapaxes(left, -1, -2)
        values, vectors = np.linalg.eigh(symmetrised(there @ moments @ np.swapaxes(there, -1, -2)))
        return values, vectors, back


def symmetrised(matrices: FloatArray) -> FloatArray:
    """``(A + Aᵀ)/2`` for each."""
    return np.asarray((matrices + np.swapaxes(matrices, -1, -2)) / 2)


def silent(size: int) -> MomentNoise:
    """No noise at all."""
    return MomentNoise(root=np.zeros((size, size)))


def projected_root(moments: FloatArray, noise: MomentNoise) -> FloatArray:
    """G with ``G Gᵀ`` the nearest positive semi-definite matrix to each, measured where the noise is white."""
    values, vectors, back = noise.white(moments)
    return np.asarray(back @ (vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]))


def projected(moments: FloatArray, noise: MomentNoise) -> FloatArray:
    """Return the nearest positive semi-definite matrix to each, measured where the noise is white."""
    root = projected_root(moments, noise)
    return np.asarray(root @ np.swapaxes(root, -1, -2))


def penalties(noise: MomentNoise, features: Sequence[int]) -> FloatArray:
    """``0.003 + 0.5 std_ii sqrt(m)`` on each feature; m counts the features and the label."""
    each = np.einsum("...ii->...i", noise.std)[..., list(features)]
    return np.asarray(RIDGE + PER_NOISE * math.sqrt(1 + len(features)) * each)


def ridge_weights(moments: FloatArray, noise: MomentNoise, *, features: Sequence[int], label: int,
                  constant: int | None = None, aware: bool = True, shrink: bool = True) -> FloatArray:
    """Coefficients of the label on these features, ``… × len(features)``, for moments of the size of 1.

    ``constant``: the position of a row of ones among the features, whose coefficient is hardly shrunk. Features that
    are mostly noise switch themselves off; with ``shrink`` all of them where they explain what noise alone would
    (:func:`_shrunk_fits`), down to the label's mean. ``aware=False``: ridge 0.1, projected as it stands.
    """
    chosen = list(features)
    refuse(label in chosen or not chosen, "regression needs at least one feature, and the label must not be among them")
    others = [i for i in chosen if i != constant]
    root, known = projected_root(moments, noise if aware else silent(noise.size)), noise.root
    means = np.zeros(root.shape[:-1])
    if constant is not None:  # rows of the root about their means, so far as the intercept's small ridge allows
        one = root[..., [constant], :]
        square = np.maximum(np.square(one).sum(axis=-1), _TINY)
        along_one = (root @ np.swapaxes(one, -1, -2))[..., 0]
        # The projection draws products with the constant towards 0; where little but a mean is left, that is a bias.
        means = (moments[..., constant, :] if aware and shrink else along_one) / (square + INTERCEPT)
        root = root - (along_one / square * (1 - np.sqrt(INTERCEPT / (square + INTERCEPT))))[..., None] * one
        known = known - means[..., None] * known[..., [constant], :]
    scale = np.sqrt(penalties(noise, others) if aware else np.full(len(others), PLAIN))[..., None]
    # With S = G Gᵀ and K = G_x / sqrt(ridge): K (KᵀK + 1)^-1 g_y / sqrt(ridge), so that much noise drowns nothing.
    left, s, right = np.linalg.svd(root[..., others, :] / scale, full_matrices=False)
    along = (right @ root[..., label, :, None])[..., 0]
    fits = 1 / (s * s + 1)
    if aware and shrink:
        turned = np.swapaxes(left, -1, -2) @ (known[..., others, :] / scale)
        both = (turned @ known[..., label, :, None])[..., 0]
        each = np.square(turned).sum(axis=-1) * np.square(known[..., [label], :]).sum(axis=-1)
        fits = _shrunk_fits(s * s, along * along, (each + both**2) / 2)
    slopes = (left @ (s * fits * along)[..., None])[..., 0] / scale[..., 0]
    if constant is None:
        return np.asarray(slopes)
    intercept = means[..., label] - (slopes * means[..., others]).sum(axis=-1)
    return np.asarray(np.insert(slopes, chosen.index(constant), intercept, axis=-1))


def _shrunk_fits(squares: FloatArray, explained: FloatArray, noise: FloatArray) -> FloatArray:
    """``1/(s² + ridge)`` along each direction, ridges averaged by how well each is estimated to predict.

    ``squares`` s²: of the features, in units of the least ridge; ``explained``: of the label; ``noise``: the variance
    v of their product. A coefficient whose prior variance is t has the ridge ``1 + v/(t s²)``, from 1 (t infinite) to
    infinite (t = 0: the mean alone). The error of each t is estimated without bias by Mallows' Cp: what is left of
    the label, and ``2 v/(s² + ridge)`` for what the noise seems to explain.
    """
    s2, v = squares[..., None, :], noise[..., None, :]
    prior = _PRIORS[:, None] * (squares.sum(axis=-1) / np.maximum(explained.sum(axis=-1), _TINY))[..., None, None]
    ridges = s2 + 1 + prior * v / np.maximum(s2, _TINY)
    fits = np.concatenate([1 / ridges, np.zeros_like(s2)], axis=-2)
    kept = s2 * fits
    risk = ((kept - 2) * kept * explained[..., None, :] + 2 * v * fits).sum(axis=-1)
    unit = _AVERAGED * (noise / (squares + 1)).sum(axis=-1) + _LEAST * explained.sum(axis=-1) + _TINY
    weights = np.exp((risk.min(axis=-1, keepdims=True) - risk) / unit[..., None])
    return np.asarray((weights[..., None] * fits).sum(axis=-2) / weights.sum(axis=-1)[..., None])


def shrunk(moments: FloatArray, noise: MomentNoise) -> FloatArray:
    """Positive semi-definite moments, each eigenvalue y lowered to ``sqrt(y² - edge²)`` where the noise is white, to 0
    below its edge: the least squared error for few strong directions (Gavish & Donoho 2017).
    """
    values, vectors, back = noise.white(moments)
    lowered = np.sqrt(np.maximum((values - noise.edge) * (values + noise.edge), 0.0)) * (values > 0)
    root = back @ (vectors * np.sqrt(lowered)[..., None, :])
    return np.asarray(root @ np.swapaxes(root, -1, -2))


def components(moments: FloatArray, noise: MomentNoise) -> tuple[FloatArray, FloatArray]:
    """Strengths, and orthonormal directions in the columns, the strongest first, of the shrunk moments.

    A part of the released ones orders what was cut to 0; under equal noise these are the released directions.
    """
    mixed = (1 - _RELEASED) * shrunk(moments, noise) + _RELEASED * moments
    values, vectors = np.linalg.eigh(mixed)
    return values[..., ::-1], vectors[..., ::-1]


def table_noise(moments: FloatArray, noise: FloatArray, n_records: int) -> MomentNoise:
    """Return the noise on ``R Rᵀ/n - Sigma`` of released tables R, as noise like a product, one for each release.

    ``moments``: ``R Rᵀ/n``, ``… × m × m``; ``noise``: Sigma. With S the records' own moments, read from the release,
    and ``M = S + Sigma`` a diagonal entry has the variance ``2 (M_ii² - S_ii²)/n``.
    """
    values, vectors = np.linalg.eigh(noise)
    own = projected(moments - noise, MomentNoise(root=vectors * np.sqrt(np.maximum(values, 0.0))))
    variance = 2 * ((own + noise) ** 2 - own**2)
    return MomentNoise.from_std(np.sqrt(np.maximum(variance, 0.0) / count("records", n_records)))


def coefficient_intervals(moments: FloatArray, noise: MomentNoise, *, features: Sequence[int], label: int,
                          rng: np.random.Generator, constant: int | None = None, level: float = 0.95,
                          draws: int = 1_000) -> FloatArray:
    """Low and high ends for each coefficient of one release, ``len(features) × 2``: for the noise, not the sampling.

    New draws around the projected release are fitted again, unshrunk, or what is switched off would look certain.
    """
    tail = (1 - fraction("level", level)) / 2
    centre = projected(moments, noise)
    again = centre + noise.draws(count("draws", draws), rng=rng)
    found, fits = (ridge_weights(each, noise, features=features, label=label, constant=constant,
                                 shrink=each is moments) for each in (moments, again))
    low, high = np.quantile(fits, [tail, 1 - tail], axis=0)
    return np.stack([np.minimum(low, found), np.maximum(high, found)], axis=-1)


def _square(root: FloatArray) -> FloatArray:
    """The symmetric root of the same noise, of one with more columns than rows."""
    left, s, _ = np.linalg.svd(root, full_matrices=False)
    return frozen((left * s[..., None, :]) @ np.swapaxes(left, -1, -2))
