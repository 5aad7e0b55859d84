"""Make the same choice among equals on every processor, whatever its rounding.

Which basis of equal eigenvalues ``eigh`` returns, and which of two equal numbers is a last digit larger, differs
between processors. What is shown or drawn from a seed must not.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mvgviz.validation import FloatArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]

_EQUAL = 1e-11  # of the largest eigenvalue: a gap that rounding may make
_SAME = 1e-6  # of a squared length: the rounding of eigenvectors with a small gap


def to_nine_digits(value: float) -> float:
    """Round a number, for sorting: numbers that differ in a later digit count as equal."""
    return float(f"{value:.9g}")


def largest_first(values: FloatArray) -> list[int]:
    """Return the positions by falling value; equals, up to rounding, in their order."""
    return sorted(range(len(values)), key=lambda k: -to_nine_digits(float(values[k])))


def ties(values: FloatArray) -> BoolArray:
    """Return for all but the last of sorted eigenvalues whether the next is equal, up to rounding."""
    return np.asarray(np.abs(np.diff(values)) <= _EQUAL * np.abs(values).max(axis=-1, keepdims=True))


def spaces(values: FloatArray, vectors: FloatArray) -> list[FloatArray]:
    """Split eigenvectors, in the columns, into a basis for each distinct eigenvalue, in their order."""
    return np.split(vectors, np.flatnonzero(~ties(values)) + 1, axis=1)


def eigen(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues and eigenvectors of a symmetric matrix as ``eigh`` does, the same ones on every processor.

    The largest entry of a vector is positive; of equal eigenvalues the vectors are nearest to the axes, in turn.
    """
    values, vectors = np.linalg.eigh(matrix)
    vectors = np.hstack([space if space.shape[1] == 1 else _by_axes(space) for space in spaces(values, vectors)])
    largest = np.take_along_axis(vectors, _first_of_largest(vectors**2)[None], axis=0)
    return np.asarray(values), np.asarray(vectors * np.sign(largest))


def _by_axes(space: FloatArray) -> FloatArray:
    """The basis of a space that its projections of the axes give, the nearest axis first."""
    found = np.empty_like(space)
    for k in range(space.shape[1]):
        row = space[_first_of_largest((space**2).sum(axis=1))]
        along = row / np.linalg.norm(row)
        found[:, k] = space @ along
        space = space - np.outer(found[:, k], along)
    return found


def _first_of_largest(squares: FloatArray) -> Any:
    return np.argmax(squares >= squares.max(axis=0) * (1 - _SAME), axis=0)


def nearest_psd(matrices: FloatArray) -> FloatArray:
    """Return the nearest positive semi-definite matrix (Frobenius norm) to each symmetric one."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def root(matrix: FloatArray) -> FloatArray:
    """Return the positive semi-definite square root, which is the same for every choice of eigenvectors."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
