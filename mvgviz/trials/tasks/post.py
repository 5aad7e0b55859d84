"""Post-processing: costs no privacy, and often changes the result a lot."""

import numpy as np

from mvgviz.validation import FloatArray

_LEAST = 0.05  # of the weight of scaled records, which is at most 1: less can only be noise

WORDS = {
    "clip": "clip released values to their declared ranges",
    "symmetrise": "symmetrise: average the noisy matrix with its transpose",
    "psd": "set negative eigenvalues to 0 (project to positive semi-definite; up to 400 rows)",
    "subtract": "subtract the noise's known second moments from those of a noisy table",
    "aware": "use the known noise: directions that are mostly noise count less (ridge, components)",
}
"""What each step does; which of them matter is the task's to say."""


def symmetrised(matrices: FloatArray) -> FloatArray:
    """``(A + Aᵀ)/2`` for each."""
    return np.asarray((matrices + matrices.transpose(0, 2, 1)) / 2)


def nearest_psd(matrices: FloatArray) -> FloatArray:
    """The nearest positive semi-definite matrix (Frobenius norm) to each symmetric one."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.maximum(values, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1))


def psd_root(matrices: FloatArray) -> FloatArray:
    """G with ``G Gᵀ`` the nearest positive semi-definite matrix to each symmetric one."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def centred(joined: FloatArray) -> FloatArray:
    """The covariance about the mean from moments with a constant, last: ``S - s sᵀ/w``."""
    moments, sums, weight = joined[:, :-1, :-1], symmetrised(joined)[:, :-1, -1], joined[:, -1, -1]
    return np.asarray(moments - sums[:, :, None] * (sums / np.maximum(weight, _LEAST)[:, None])[:, None, :])


def components(matrices: FloatArray, *, symmetrise: bool) -> tuple[FloatArray, FloatArray]:
    """Strengths, and orthonormal directions in the columns, the strongest first.

    Eigenvectors of the symmetrised matrices by eigenvalue, signs included; without
    symmetrising, left singular vectors, as in the paper.
    """
    if symmetrise:
        values, vectors = np.linalg.eigh(symmetrised(matrices))
        return values[:, ::-1], vectors[:, :, ::-1]
    vectors, values, _ = np.linalg.svd(matrices)
    return values, vectors
