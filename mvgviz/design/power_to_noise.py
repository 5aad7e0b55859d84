"""How much of the answer gets through the noise.

``PNR = det(I + K_f (Psi ⊗ Sigma)^-1)``, K_f the covariance of the answer's entries [Chanyaswad et al. 2018,
"Power-to-Noise Ratio"]. Half its logarithm is the mutual information between true and noisy answer *if the answer is
Gaussian*, else an upper bound with the same second moments.
"""

import math
from typing import Any

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError
from mvgviz.validation import FloatArray, array, instance, numbers


def pnr(eigenvalues: Any, design: NoiseDesign) -> float:
    """The power-to-noise ratio; infinite where it exceeds the range of a double."""
    log_value = log_pnr(eigenvalues, design)
    return math.exp(log_value) if log_value < 709.0 else math.inf


def mutual_information(eigenvalues: Any, design: NoiseDesign) -> float:
    """``½ log PNR`` in nats: the mutual information when the answer is Gaussian."""
    return log_pnr(eigenvalues, design) / 2


def log_pnr(eigenvalues: Any, design: NoiseDesign) -> float:
    """``log PNR`` for independent records with second moments ``K = X Xᵀ/n``.

    ``eigenvalues`` are those of K when the design's row directions are its eigenvectors; else give the matrix K itself.
    Table: ``sum_ij log(1 + kappa_i psi_j)`` with ``kappa`` the eigenvalues of ``Sigma^-1/2 K Sigma^-1/2`` and ``psi``
    those of ``Psi^-1``. Mean: the same with K/n. Covariance of Gaussian records: ``sum_{i<=j} log(1 + 2 kappa_i
    kappa_j/n)`` (noise on both sides).
    """
    kappa = _signal_to_noise(eigenvalues, design)
    if not design.kind.of_all_features:
        raise InputError(f"pnr is defined for identity, mean and covariance queries, got {design.kind.name}")
    if design.kind.degree == 2:
        if design.mode != "both":
            raise InputError(f"pnr of a covariance query needs mode both, got {design.mode}")
        return float(np.log1p(2 * np.outer(kappa, kappa)[np.triu_indices(kappa.size)] / _records(design)).sum())
    if not design.kind.is_table:
        kappa = kappa / _records(design)
    if design.col_side.is_identity:
        return float(design.cols * np.log1p(kappa).sum())
    return float(np.log1p(np.outer(kappa, design.col_side.precisions)).sum())


def _records(design: NoiseDesign) -> int:
    if design.n_records is None:
        raise InputError("pnr needs a design whose query has records")
    return design.n_records


def _signal_to_noise(eigenvalues: Any, design: NoiseDesign) -> FloatArray:
    """Eigenvalues of ``Sigma^-1/2 K Sigma^-1/2``."""
    instance("design", design, NoiseDesign)
    given = numbers("eigenvalues", eigenvalues)
    if given.ndim == 2:
        moments = array("eigenvalues", given, ndim=2)
        if moments.shape != (design.rows, design.rows):
            raise InputError(f"eigenvalues as a matrix must be {design.rows} × {design.rows}, got {moments.shape}")
        size = float(np.abs(moments).max())
        if not (np.abs(moments - moments.T).max() <= 1e-8 * size
                and np.linalg.eigvalsh(moments)[0] >= -1e-8 * size * design.rows):
            raise InputError("eigenvalues as a matrix must be symmetric positive semi-definite")
        a = design.row_side.whitener()
        return np.asarray(np.maximum(np.linalg.eigvalsh(a @ moments @ a.T), 0.0))
    lam = array("eigenvalues", given, ndim=1)
    if lam.size != design.rows:
        raise InputError(f"eigenvalues must number {design.rows}, got {lam.size}")
    if not (lam >= 0).all():
        raise InputError("eigenvalues must not be negative; clip those of a noisy release at 0")
    return np.asarray(lam * design.row_side.precisions)
