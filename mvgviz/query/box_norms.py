"""The longest vector ``A x``, x in a box: exactly by its corners, or a bound that is proved anew each time.

The box is ``centre + halves z``, ``|z_i| <= 1``, and ``|A x|²`` a quadratic form in z: its
largest value is at a corner. Up to 16 features all corners are tried. Above, any diagonal d with
``diag(d) - N`` positive semi-definite proves ``zᵀNz <= sum d_i z_i² <= sum d_i``; the best d is
within pi/2 of the truth [1] and is found by growing the relaxed problem's vectors [2].

References
  [1] Nesterov, Semidefinite relaxation and nonconvex quadratic optimization, 1998.
  [2] Burer & Monteiro, Nonlinear programming for low-rank semidefinite programs, 2003.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray, frozen

ROUNDING = 1e-12
"""By how much, relatively, a bound is enlarged for the rounding of its proof."""

_ALL_CORNERS = 16  # 2^15 corners of a symmetric box
_STEPS = 300
_MOST_WORK = 2e9  # multiplications
_SWEEPS = 60


class Longest(NamedTuple):
    """The largest square or a bound on it; ``signs`` the corner that attains it, None for a bound."""

    square: float
    signs: FloatArray | None


@one_blas_thread()
def longest(whitener: FloatArray, centre: FloatArray, halves: FloatArray) -> Longest:
    """The largest ``|A x|²`` over the box; exact up to 16 features."""
    if halves.size <= _ALL_CORNERS:
        return _by_corners(whitener, centre, halves)
    moves, middle = whitener * halves, whitener @ centre
    columns = np.column_stack([middle, moves]) if middle.any() else moves  # 1 is one more sign
    return Longest(largest_form(columns.T @ columns), None)


def shortest_square(whitener: FloatArray, centre: FloatArray, halves: FloatArray) -> float:
    """A lower bound on ``|A x|²`` over the box; exact up to the steps of the descent.

    For every unit g ``|A x| >= gᵀA x >= gᵀA centre - sum_i |Aᵀg|_i halves_i``; at the shortest
    vector's own g that is its length.
    """
    if (np.abs(centre) <= halves).all():
        return 0.0
    moves, middle = whitener * halves, whitener @ centre
    form, pull = moves.T @ moves, moves.T @ middle
    z = np.clip(np.divide(-centre, halves, out=np.zeros_like(centre), where=halves > 0), -1.0, 1.0)
    for _ in range(_SWEEPS):
        before = z.copy()
        for i in range(z.size):
            if form[i, i] > 0:
                z[i] = min(max(z[i] - (form[i] @ z + pull[i]) / form[i, i], -1.0), 1.0)
        if np.array_equal(before, z):
            break
    vector = middle + moves @ z
    length = float(np.linalg.norm(vector))
    if length == 0:
        return 0.0
    along = vector / length
    return max(float(along @ middle - np.abs(along @ moves).sum()), 0.0) ** 2


def largest_form(form: FloatArray) -> float:
    """A bound on ``zᵀNz`` over ``|z_i| <= 1`` for a positive semi-definite N."""
    return certified(form, relaxed(form, first_vectors(len(form)), _STEPS))


def first_vectors(size: int) -> FloatArray:
    """One unit vector for each sign, always the same ones."""
    vectors = np.random.default_rng(0).standard_normal((size, math.isqrt(2 * size) + 2))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def relaxed(form: FloatArray, vectors: FloatArray, steps: int) -> FloatArray:
    """The unit vectors ``v_i``, turned so that ``sum N_ij v_i·v_j`` grows; fewer steps for a large N.

    Of the form only eight digits are used: the steps can blow up the rounding of the last ones, and the
    same design in other units must get the same vectors.
    """
    form = _eight_digits(form / (float(np.trace(form)) or 1.0))
    for _ in range(max(min(steps, int(_MOST_WORK / (form.size * vectors.shape[1]))), 10)):
        vectors = form @ vectors
        vectors = vectors / np.maximum(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)), 1e-300)[:, None]
    return vectors


def certified(form: FloatArray, vectors: FloatArray) -> float:
    """The bound ``sum d``: d from the vectors, times what makes ``diag(d) - N`` positive semi-definite.

    Any d > 0 gives a valid bound, so it does not matter how well the vectors have settled.
    """
    total = float(np.trace(form))
    if total == 0:
        return 0.0
    form = form / total
    d = np.linalg.norm(form @ vectors, axis=1)
    d = np.maximum(d, 1e-9 * d.max())
    roots = np.sqrt(d)
    stretch = float(np.linalg.eigvalsh(form / roots[:, None] / roots)[-1])
    return stretch * float(d.sum()) * total * (1 + ROUNDING)


def _eight_digits(form: FloatArray) -> FloatArray:
    """The form with coarse diagonal and correlations; the odd numbers keep round values off the borders."""
    mantissas, exponents = np.frexp(np.sqrt(np.diag(form)) * 0.7390851332)
    sizes = np.ldexp(np.round(mantissas * 9.1e7) / 9.1e7, exponents)
    safe = np.where(sizes > 0, sizes, 1.0)
    return np.asarray(np.round(form / safe[:, None] / safe * 8.3e7) / 8.3e7 * safe[:, None] * safe)


def first_of_largest(values: FloatArray) -> int:
    """The first position within rounding of the largest value: equal corners are told apart by order alone."""
    return int(np.argmax(values >= values.max() * (1 - ROUNDING)))


@lru_cache(maxsize=16)
def all_signs(m: int) -> FloatArray:
    """All sign vectors of length m, 2^m × m; the first half holds one of each pair ±s."""
    bits = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    return frozen(np.where(bits == 1, -1.0, 1.0))


def _by_corners(whitener: FloatArray, centre: FloatArray, halves: FloatArray) -> Longest:
    signs = all_signs(halves.size)[: 2 ** (halves.size - 1)]  # both s and -s below
    middle, moves = whitener @ centre, (whitener * halves) @ signs.T
    along = middle @ moves
    squares = np.einsum("ij,ij->j", moves, moves) + 2 * np.abs(along)
    k = first_of_largest(squares)
    return Longest(float(middle @ middle + squares[k]), signs[k] if along[k] >= 0 else -signs[k])
