"""Drawing matrix-variate Gaussian noise, for trials and pictures, reproducibly from a seed; releases have their own.

The same generator gives the same draws whatever the number of trials per call.

References
  [1] Chanyaswad et al. 2018, Section "Sampling from MVG": both methods.
  [2] Smith & Hocking, Wishart variate generator, Applied Statistics 1972 (Bartlett).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError, refuse
from mvgviz.noise.sides import NoiseSide
from mvgviz.noise.ties import root
from mvgviz.validation import FloatArray, array, count, frozen, generator, instance, one_of

_LARGEST_KRONECKER = 4_096


def sample_noise(design: NoiseDesign, *, rng: np.random.Generator, trials: int | None = None,
                 method: str = "affine") -> FloatArray:
    """Noise of the design: rows × cols, or trials × rows × cols.

    "affine": ``Z = B_Sigma N B_Psiᵀ`` from the factored design, the working path.
    "kronecker": ``vec Z ~ N(0, Psi ⊗ Sigma)``, the paper's other method, for small sizes.
    """
    design, rng = instance("design", design, NoiseDesign), generator(rng)
    method = one_of("method", method, ("affine", "kronecker"))
    draws = 1 if trials is None else count("trials", trials)
    if method == "kronecker":
        noise = _kronecker(design, rng, draws)
    else:
        noise = np.empty((draws, design.rows, design.cols))
        for own in noise:
            design.fill_standard(rng, own)
        noise = colour(design.row_side, design.col_side, noise)
    return noise[0] if trials is None else noise


@dataclass(frozen=True, kw_only=True, eq=False)
class Gram:
    """What ``sample_gram`` needs of a table: ``factor`` F with ``F Fᵀ = X Xᵀ``, m × min(m, n) or the table itself when
    it has fewer than 2m records; ``rest`` the number of records F does not stand for.
    """

    factor: FloatArray = field(repr=False)
    n_records: int

    @classmethod
    def of(cls, matrix: Any) -> Gram:
        x = array("matrix", matrix, ndim=2)
        m, n = x.shape
        if n < 2 * m:
            return cls(factor=x, n_records=n)
        return cls(factor=frozen(root(x @ x.T)), n_records=n)

    @property
    def rest(self) -> int:
        return self.n_records - int(self.factor.shape[1])


def sample_gram(matrix: Any, design: NoiseDesign, *, rng: np.random.Generator, trials: int) -> FloatArray:
    """Draws of ``(X+Z)(X+Z)ᵀ``, trials × m × m, ``Z`` the design's noise with ``Psi = I``.

    ``matrix`` is the table X or its :class:`Gram`. With ``F Fᵀ = X Xᵀ`` and ``B Bᵀ = Sigma`` the product has the
    distribution of ``(F + B N)(F + B N)ᵀ + Wishart(Sigma, n - m)``, N standard normal m × m: exact, and a trial costs
    the same for a thousand records as for a million.
    """
    design, rng = instance("design", design, NoiseDesign), generator(rng)
    gram = matrix if isinstance(matrix, Gram) else Gram.of(matrix)
    draws = count("trials", trials)
    _need_gaussian(design)
    refuse(not design.col_side.is_identity, f"sample_gram needs noise over rows only (Psi = I), got mode {design.mode}")
    if (design.rows, design.cols) != (gram.factor.shape[0], gram.n_records):
        raise InputError(f"matrix must be {design.rows} × {design.cols} like the design, "
                         f"got {gram.factor.shape[0]} × {gram.n_records}")
    return gram_trials(gram, design.row_side, [rng] * draws)


def _need_gaussian(design: NoiseDesign) -> None:
    refuse(design.blocks, f"this draws Gaussian noise alone, got {design.family.word} noise; use sample_noise")


def gram_trials(gram: Gram, side: NoiseSide, rngs: Sequence[np.random.Generator]) -> FloatArray:
    """One draw of ``(X+Z)(X+Z)ᵀ`` from each generator in turn; ``side`` is Sigma, ``Psi = I``."""
    m, p = gram.factor.shape
    root, result = side.root(), np.empty((len(rngs), m, m))
    at_once = max(14_000 // (m * (p + m)), 1)  # numbers in the cache: fresh memory costs more
    for start in range(0, len(rngs), at_once):
        part = result[start : start + at_once]
        released = root @ _gram_normals(gram, rngs[start : start + at_once])
        released[:, :, :p] += gram.factor
        np.matmul(released, released.transpose(0, 2, 1), out=part)
    return result


def colour(rows: NoiseSide, cols: NoiseSide, normals: FloatArray) -> FloatArray:
    """``B_Sigma N B_Psiᵀ`` for each draw of standard normals, which it may overwrite."""
    return _colour_columns(cols, _colour_rows(rows, normals))


def whiten(rows: NoiseSide, cols: NoiseSide, matrices: FloatArray) -> FloatArray:
    """``A Z Bᵀ``, which undoes :func:`colour`, for one matrix or each of some."""
    return cols.whitened(rows.whitened(matrices).swapaxes(-1, -2)).swapaxes(-1, -2)


def _gram_normals(gram: Gram, rngs: Sequence[np.random.Generator]) -> FloatArray:
    """Standard noise, draws × m × (p + m): N for the factor's p columns, then Bartlett's triangle.

    The triangle T has ``T Tᵀ ~ Wishart(I, rest)`` [2]: normals below the diagonal and, on it, roots of chi-squares with
    rest - i degrees of freedom: m with rest - m + 1, plus the squares of the normals that would stand above it.
    """
    m, p = gram.factor.shape
    normals = np.empty((len(rngs), m, p + m if gram.rest else p))
    gammas = np.empty((len(rngs), m))
    for own, gamma, rng in zip(normals, gammas, rngs, strict=True):  # trial by trial: the batch must not matter
        rng.standard_normal(out=own)
        if gram.rest:
            rng.standard_gamma((gram.rest - m + 1) / 2, out=gamma)
    if not gram.rest:
        return normals
    triangle = normals[:, :, p:]
    below = np.tri(m, k=-1)
    squares = 2 * gammas + np.einsum("tij,tij,ij->ti", triangle, triangle, below.T)
    triangle *= below
    triangle[:, np.arange(m), np.arange(m)] = np.sqrt(squares)
    return normals


def _colour_rows(side: NoiseSide, noise: FloatArray) -> FloatArray:
    """``B noise`` for each draw, in place where that is faster.

    A long product of few rows goes block by block, in the cache and without BLAS threads, whose waking takes longer.
    """
    if side.is_identity:
        return noise
    if side.is_diagonal:
        noise *= np.sqrt(side.variances)[:, None]
        return noise
    root, width = side.root(), 2**18 // side.size**2  # multiplications
    if width < side.size:
        return root @ noise
    for start in range(0, noise.shape[2], width):
        block = noise[:, :, start : start + width]
        block[...] = root @ block
    return noise


def _colour_columns(side: NoiseSide, noise: FloatArray) -> FloatArray:
    """``noise Bᵀ`` for each draw; in place where B is diagonal."""
    if side.is_identity:
        return noise
    if side.is_diagonal:
        noise *= np.sqrt(side.variances)
        return noise
    return noise @ side.root().T


def _kronecker(design: NoiseDesign, rng: np.random.Generator, draws: int) -> FloatArray:
    """The paper's first method [1]: one long normal vector, columns stacked."""
    size = design.rows * design.cols
    _need_gaussian(design)
    if size > _LARGEST_KRONECKER:
        raise InputError(f"method kronecker is for at most {_LARGEST_KRONECKER} entries, got {size}; use affine")
    covariance = np.kron(design.col_covariance(), design.row_covariance())
    largest = float(covariance.max())
    try:
        root = np.linalg.cholesky(covariance / largest) * math.sqrt(largest)
    except np.linalg.LinAlgError:
        raise InputError("the design's variances differ too much for method kronecker; use affine") from None
    stacked = root @ rng.standard_normal((draws, size, 1))  # one product a trial: the batch must not matter
    return stacked.reshape(draws, design.cols, design.rows).transpose(0, 2, 1)
