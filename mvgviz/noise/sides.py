"""One side of a matrix-variate Gaussian: the covariance over rows, or over columns.

Kept factored as ``W diag(v) Wᵀ``; the identity stores nothing of its size, so a
table of a million records costs nothing on its column side.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import refuse
from mvgviz.noise.directions import Directions, standard_basis
from mvgviz.validation import FloatArray, array, frozen


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseSide:
    """``W diag(variances) Wᵀ``, of ``directions.size`` rows."""

    directions: Directions
    variances: FloatArray = field(repr=False)
    is_identity: bool = False

    @classmethod
    def identity(cls, size: int) -> NoiseSide:
        """Unit variance in every direction, without memory for them."""
        ones = np.broadcast_to(1.0, (size,))
        return cls(directions=standard_basis(size), variances=ones, is_identity=True)

    @classmethod
    def of(cls, directions: Directions, variances: FloatArray) -> NoiseSide:
        values = array("variances", variances, ndim=1)
        refuse(values.size != directions.size, f"variances must number {directions.size}, got {values.size}")
        refuse(not (values > 0).all(), "variances must be positive")
        return cls(directions=directions, variances=values)

    @property
    def size(self) -> int:
        return self.directions.size

    @property
    def is_isotropic(self) -> bool:
        return self.is_identity or float(self.variances.min()) == float(self.variances.max())

    @property
    def is_diagonal(self) -> bool:
        """Whether the covariance itself is diagonal: unrotated, or the same in all directions."""
        return self.directions.is_standard or self.is_isotropic

    @property
    def precisions(self) -> FloatArray:
        return self.variances if self.is_identity else frozen(1 / self.variances)

    @property
    def largest_precision(self) -> float:
        return 1.0 if self.is_identity else 1 / float(self.variances.min())

    def covariance(self) -> FloatArray:
        return self._weighted(self.variances)

    def covariance_diagonal(self) -> FloatArray:
        return self._weighted_diagonal(self.variances)

    def covariance_of(self, positions: list[int]) -> FloatArray:
        """Return the covariance of a few coordinates, without the rest of the matrix."""
        return self._weighted(self.variances, positions)

    def precision(self) -> FloatArray:
        """``M``, the inverse covariance, size × size."""
        return self._weighted(self.precisions)

    def precision_diagonal(self) -> FloatArray:
        return self._weighted_diagonal(self.precisions)

    def whitener(self) -> FloatArray:
        """``A = diag(sqrt q) Wᵀ``, so that ``AᵀA = M``; diagonal where M is."""
        root = np.sqrt(self.precisions)
        return np.diag(root) if self.is_diagonal else root[:, None] * self.directions.matrix.T

    def whitened(self, matrices: FloatArray) -> FloatArray:
        """Return the whitener times a matrix, or each of some."""
        if self.is_identity:
            return matrices
        if self.is_diagonal:
            return np.asarray(matrices / np.sqrt(self.variances)[:, None])
        return np.asarray(self.whitener() @ matrices)

    def along(self, vectors: FloatArray) -> FloatArray:
        """``diag(sqrt q) Wᵀ`` times some columns: whitened, one direction a row, even where the noise is isotropic."""
        turned = vectors if self.directions.is_standard else self.directions.matrix.T @ vectors
        return np.sqrt(self.precisions)[:, None] * turned

    def precise(self, vectors: FloatArray) -> FloatArray:
        """Return the inverse covariance times some columns."""
        weighed = np.sqrt(self.precisions)[:, None] * self.along(vectors)
        return weighed if self.directions.is_standard else np.asarray(self.directions.matrix @ weighed)

    def root(self) -> FloatArray:
        """``B = W diag(sqrt v)``, so that ``B Bᵀ`` is the covariance; row by row in memory, for fast products."""
        return np.ascontiguousarray(self.directions.matrix * np.sqrt(self.variances))

    def _weighted(self, values: FloatArray, positions: list[int] | slice = slice(None)) -> FloatArray:
        if self.is_diagonal:
            return np.diag(values[positions])
        w = self.directions.matrix[positions]
        return (w * values) @ w.T

    def _weighted_diagonal(self, values: FloatArray) -> FloatArray:
        return values if self.is_diagonal else np.square(self.directions.matrix) @ values
