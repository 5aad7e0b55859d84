"""Orthonormal directions along which noise is spent, the columns of an orthogonal ``W``, and where they come from:
declared (chosen without the data), paid for (``mu`` was spent) or read from the data (not private).

>>> from mvgviz import rotation
>>> rotation(2, (0, 1), 0.5).origin.value
'declared'
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.provenance import Origin, Receipt, checked_origin, counted, with_receipts
from mvgviz.validation import FloatArray, array, count, frozen, generator, number, square

_TOLERANCE = 1e-8
_ROUNDING = 1e-14


@dataclass(frozen=True, kw_only=True, eq=False)
class Directions:
    """``size`` orthonormal directions, the columns of ``matrix``; the standard basis stores none. ``receipts``: what
    learning them has spent. ``eigenvalues``: those that came with them, if any, of the same origin. ``matrix`` has no
    origin: say where choices made of it come from.
    """

    size: int
    rotated: FloatArray | None = field(default=None, repr=False)
    origin: Origin = Origin.DECLARED
    receipts: tuple[Receipt, ...] = field(default=(), repr=False)
    eigenvalues: FloatArray | None = field(default=None, repr=False)
    label: str = "standard basis"

    def __post_init__(self) -> None:
        count("size", self.size)
        object.__setattr__(self, "origin", checked_origin("this set of directions", self.origin, self.receipts))
        if self.rotated is not None:
            object.__setattr__(self, "rotated", _orthonormal(self.rotated, self.size))
        if self.eigenvalues is not None:
            values = array("eigenvalues", counted(self.eigenvalues), ndim=1)
            refuse(values.size != self.size, f"eigenvalues must number {self.size}, got {values.size}")
            object.__setattr__(self, "eigenvalues", with_receipts(values, self.receipts) if self.receipts else values)
        for receipt in self.receipts:
            receipt.check(self.with_eigenvalues)

    @property
    def with_eigenvalues(self) -> FloatArray:
        values = np.zeros(self.size) if self.eigenvalues is None else self.eigenvalues
        return np.column_stack([self.matrix, values])

    @property
    def mu(self) -> float:
        """What learning them has spent: 0 for declared directions, infinity for those read from the data."""
        return math.hypot(*(receipt.mu for receipt in self.receipts)) if self.origin.is_covered else math.inf

    @property
    def is_standard(self) -> bool:
        return self.rotated is None

    @property
    def matrix(self) -> FloatArray:
        return frozen(np.eye(self.size)) if self.rotated is None else self.rotated

    @cached_property
    def digest(self) -> str:
        """Tells these directions from others, in memory; it follows from their numbers and must not leave it."""
        return "standard" if self.rotated is None else hashlib.sha256(self.rotated.tobytes()).hexdigest()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.array(self.matrix, dtype=dtype, copy=copy)


def standard_basis(k: int) -> Directions:
    """Return the ``k`` features themselves."""
    return Directions(size=count("k", k))


def checked_directions(directions: Directions | None, size: int) -> Directions:
    """Return the features by default, else as many directions."""
    if directions is not None and not isinstance(directions, Directions):
        raise InputError("directions must be Directions; make them with from_matrix(w)")
    chosen = standard_basis(size) if directions is None else directions
    refuse(chosen.size != size, f"directions must number {size}, one for each row of the answer (column, in mode "
           f"columns), got {chosen.size}; make them for this data and query")
    return chosen


def rotation(k: int, plane: Sequence[int], angle: float) -> Directions:
    """Return the standard basis turned by ``angle`` (radians) in the plane of two features."""
    size, turn = count("k", k, at_least=2), number("angle", angle)
    try:
        i, j = (count("plane", index, at_least=0) for index in plane)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("plane must be a pair of feature positions") from None
    if not (i < size and j < size and i != j):
        raise InputError(f"plane must be two different positions below {size}, got ({i}, {j})")
    w, cosine, sine = np.eye(size), math.cos(turn), math.sin(turn)
    w[np.ix_((i, j), (i, j))] = (cosine, -sine), (sine, cosine)
    return Directions(size=size, rotated=w, label=f"rotation by {math.degrees(turn):g}°")


def from_matrix(w: Any, *, origin: Origin = Origin.DECLARED) -> Directions:
    """Directions given by the caller: the columns of an orthogonal matrix; ``origin``: how they came to be."""
    matrix = array("directions", w, ndim=2)
    rows, columns = matrix.shape
    refuse(rows != columns, f"directions must be a square table with one direction a column, got {rows} × {columns} "
           "numbers")
    return Directions(size=rows, rotated=matrix, label="given", origin=origin)


def random_rotation(k: int, *, rng: np.random.Generator) -> Directions:
    """Return a rotation drawn uniformly (Haar measure, determinant 1)."""
    size = count("k", k)
    q, r = np.linalg.qr(generator(rng).standard_normal((size, size)))
    q = q * np.where(np.diag(r) < 0, -1.0, 1.0)
    if np.linalg.det(q) < 0:
        q[:, 0] = -q[:, 0]
    return Directions(size=size, rotated=q, label="random rotation")


def _orthonormal(w: FloatArray, size: int) -> FloatArray:
    matrix = square("directions", w)
    refuse(matrix.shape[0] != size, f"directions must be {size} × {size}, got shape {matrix.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        gap = float(np.abs(matrix.T @ matrix - np.eye(size)).max())
    refuse(not gap <= _TOLERANCE, f"directions must be orthonormal (columns of length 1 at right angles) to "
           f"{_TOLERANCE:g}, got columns off by {gap:.3g}; save all digits, or take the Q of numpy.linalg.qr")
    if gap <= _ROUNDING:
        return matrix
    left, _, right = np.linalg.svd(matrix)
    return frozen(left @ right)  # the nearest orthogonal matrix: what follows relies on it
