"""The longest ``A x`` and the furthest ``A x xᵀ Aᵀ``, x in a box: exact by its corners, or bounded with a proof.

The box is ``centre + halves z``, ``|z_i| <= 1``; the convex ``|A x|²`` is largest at a corner, and up to 16 features
all are tried. Above, any diagonal d with ``diag(d) - N`` positive semi-definite proves ``zᵀNz <= sum d_i``; the best d
is within pi/2 of the truth [1] and is found by growing the relaxed problem's vectors [2].

Two records, ``u = A x`` and ``v = A y``: ``G = ||u uᵀ - v vᵀ||_F² = |u|⁴ + |v|⁴ - 2(u·v)² = 8 (|p|²|q|² + (p·q)²)``
with ``p = A(x + y)/2``, ``q = A(x - y)/2``. In z all is of the size of the box, however far from 0 it lies.

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

ROUNDING = 1e-12  # by how much, relatively, a bound is enlarged for the rounding of its proof


class Longest(NamedTuple):
    """The largest square or a bound on it; ``signs`` the corner that attains it, None for a bound."""

    square: float
    signs: FloatArray | None


@one_blas_thread()
def longest(whitener: FloatArray, centre: FloatArray, halves: FloatArray) -> Longest:
    """Return the largest ``|A x|²`` over the box; exact up to 16 features."""
    moves, middle = whitener * halves, whitener @ centre
    if halves.size <= 16:
        signs = all_signs(halves.size)[: 2 ** (halves.size - 1)]  # both s and -s below
        moves = moves @ signs.T
        along = middle @ moves
        squares = np.einsum("ij,ij->j", moves, moves) + 2 * np.abs(along)
        k = first_of_largest(squares)
        return Longest(float(middle @ middle + squares[k]), signs[k] if along[k] >= 0 else -signs[k])
    columns = np.column_stack([middle, moves]) if middle.any() else moves  # 1 is one more sign
    return Longest(largest_form(columns.T @ columns), None)


def shortest_square(whitener: FloatArray, centre: FloatArray, halves: FloatArray) -> float:
    """Return a lower bound on ``|A x|²`` over the box; exact up to the steps of the descent.

    For every unit g ``|A x| >= gᵀA centre - sum_i |Aᵀg|_i halves_i``: the shortest vector's length at its own g.
    """
    if (np.abs(centre) <= halves).all():
        return 0.0
    moves, middle = whitener * halves, whitener @ centre
    form, pull = moves.T @ moves, moves.T @ middle
    z = np.clip(np.divide(-centre, halves, out=np.zeros_like(centre), where=halves > 0), -1.0, 1.0)
    for _ in range(60):
        before = z.copy()
        for i in range(z.size):
            if form[i, i] > 0:
                z[i] = min(max(z[i] - (form[i] @ z + pull[i]) / form[i, i], -1.0), 1.0)
        if np.array_equal(before, z):
            break
    vector = middle + moves @ z
    along = vector / (float(np.linalg.norm(vector)) or 1.0)
    return max(float(along @ middle - np.abs(along @ moves).sum()), 0.0) ** 2


def largest_form(form: FloatArray) -> float:
    """Return a bound on ``zᵀNz`` over ``|z_i| <= 1`` for a positive semi-definite N."""
    return certified(form, relaxed(form, first_vectors(len(form)), 300))


def first_vectors(size: int) -> FloatArray:
    """One unit vector for each sign, always the same ones."""
    vectors = np.random.default_rng(0).standard_normal((size, math.isqrt(2 * size) + 2))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def relaxed(form: FloatArray, vectors: FloatArray, steps: int) -> FloatArray:
    """Return the unit vectors ``v_i``, turned so that ``sum N_ij v_i·v_j`` grows; fewer steps for a large N.

    The steps blow up rounding, so the form has eight digits: a design in other units must get the same vectors.
    """
    form = _eight_digits(form / (float(np.trace(form)) or 1.0))
    for _ in range(max(min(steps, int(2e9 / (form.size * vectors.shape[1]))), 10)):
        vectors = form @ vectors
        vectors = vectors / np.maximum(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)), 1e-300)[:, None]
    return vectors


def certified(form: FloatArray, vectors: FloatArray) -> float:
    """Return the bound ``sum d``: any d > 0, here from vectors, times what makes ``diag(d) - N`` semi-definite."""
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
    """Return the first position within rounding of the largest value: equal corners differ by order alone."""
    return int(np.argmax(values >= values.max() * (1 - ROUNDING)))


@lru_cache(maxsize=16)
def all_signs(m: int) -> FloatArray:
    """All sign vectors of length m, 2^m × m; the first half holds one of each pair ±s."""
    bits = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    return frozen(np.where(bits == 1, -1.0, 1.0))


class Furthest(NamedTuple):
    """A pair in the coordinates z, and its ``G`` (for an ``A`` with columns of total length 1)."""

    value: float
    larger: FloatArray
    smaller: FloatArray


@one_blas_thread()
def furthest_pair(whitener: FloatArray, centre: FloatArray, halves: FloatArray, corners: FloatArray
                  ) -> tuple[FloatArray, FloatArray]:
    """Return the pair with the largest G, as two vectors z; ``corners`` are the signs that may hold the larger record.

    G is convex in the larger record, so that is a corner; its Hessian in the smaller one has at most one negative
    eigenvalue, so that lies on an edge. There G is a quartic: largest at an end, a corner, or at one inner point.
    """
    moves, middle = whitener * halves, whitener @ centre
    size = float(np.linalg.norm(moves))
    moves, middle = moves / size, middle / size
    best = _among_corners(moves, middle, corners)
    lengths = np.square(middle + corners @ moves.T).sum(axis=1)
    corners = corners[2 * lengths**2 >= best.value * (1 - 1e-9)]  # the larger record's |u| has G <= 2|u|⁴
    for i in range(halves.size):
        found = _along_edges(moves, middle, corners, i)
        if found is not None and found.value > best.value * (1 + ROUNDING):
            best = found
    return best.larger, best.smaller


def outer_distance(whitener: FloatArray, x: FloatArray, y: FloatArray) -> float:
    """``sqrt(G)`` of two records, through sum and difference: nothing cancels when they are close."""
    s, t = whitener @ (x + y), whitener @ (x - y)
    return math.sqrt((float(s @ s) * float(t @ t) + float(s @ t) ** 2) / 2)


def bound_from_lengths(longest: float, shortest: float, move: float) -> float:
    """Return a bound on ``sqrt(G)`` from the squares ``|u|², |v|²`` in [shortest, longest] and ``|q|² <= move``.

    ``u·v = (|u|² + |v|²)/2 - 2|q|²`` is at least ``x = (|u|² + |v|²)/2 - 2 move``, so ``G <= |u|⁴ + |v|⁴ - 2 max(x,
    0)²``. That grows with |u|, and in |v|² it grows or is convex: largest at ``|u|² = longest``, |v|² at either end.
    """
    found = 0.0
    for square in (longest, shortest):
        if (longest + square) / 2 <= 2 * move:
            found = max(found, longest * longest + square * square)
        else:  # the same with x inserted: what cancels is longest - square alone
            apart = longest - square + ROUNDING * longest if square < longest else 0.0
            found = max(found, apart * apart / 2 + 4 * move * (longest + square) - 8 * move * move)
    return math.sqrt(found) * (1 + ROUNDING)


@one_blas_thread()
def bound_from_products(whitener: FloatArray, centre: FloatArray, halves: FloatArray) -> float:
    """Return a bound on ``sqrt(G)`` from ``|p||q|`` and ``p·q`` together.

    ``sqrt(|p|²|q|² + (p·q)²)`` is the largest ``cos f |p||q| + sin f p·q`` over angles f, of at most 45° since ``p·q <=
    |p||q|``; between two tried angles it loses at most the cosine of half their distance. ``|p||q| <= (|p|²/w +
    w|q|²)/2`` for every w > 0 makes it a quadratic form in the signs of both records, semi-definite up to 45°.
    """
    moves, middle = whitener * halves / 2, whitener @ centre
    size = float(np.linalg.norm(moves)) + float(np.linalg.norm(middle))
    moves, middle = moves / size, middle / size
    p = np.column_stack([middle, moves, moves])
    q = np.column_stack([np.zeros_like(middle), moves, -moves])
    angles = np.linspace(0, math.pi / 4, 4)
    most = max(_product_bound(p, q, float(angle)) for angle in angles)
    return math.sqrt(8) * size * size * most / math.cos(float(angles[1]) / 2)


def _product_bound(p: FloatArray, q: FloatArray, angle: float) -> float:
    """Return a bound on ``cos f |p||q| + sin f p·q``; the weight by bisection, as the bound is convex in it.

    Each weight begins with the same vectors: those that a weight before drove to ``q = 0`` grow from rounding alone.
    """
    pp, qq, pq = p.T @ p, q.T @ q, p.T @ q
    cross, share = math.sin(angle) * (pq + pq.T) / 2, math.cos(angle) / 2
    guess = math.log(float(np.trace(pp)) / float(np.trace(qq))) / 2
    low, high, first = guess - 2.0, guess + 2.0, first_vectors(len(pp))
    for _ in range(6):
        weight = math.exp((low + high) / 2)
        vectors = relaxed(share * (pp / weight + weight * qq) + cross, first, 40)
        if weight * np.linalg.norm(q @ vectors) > (1 + 1e-9) * np.linalg.norm(p @ vectors):  # not by rounding alone
            high = math.log(weight)
        else:
            low = math.log(weight)
    form = share * (pp / weight + weight * qq) + cross
    return certified(form, relaxed(form, vectors, 150))


def _among_corners(moves: FloatArray, middle: FloatArray, corners: FloatArray) -> Furthest:
    others = all_signs(moves.shape[1])
    larger, smaller = corners @ moves.T, others @ moves.T
    products = larger @ smaller.T
    squares, other_squares = np.einsum("ij,ij->i", larger, larger)[:, None], np.einsum("ij,ij->i", smaller, smaller)
    pull, other_pull = (larger @ middle)[:, None], smaller @ middle
    ss = 4 * (middle @ middle + pull + other_pull) + squares + other_squares + 2 * products
    tt = squares + other_squares - 2 * products
    st = 2 * (pull - other_pull) + squares - other_squares
    values = (ss * tt + st * st) / 2
    a, b = np.unravel_index(first_of_largest(values.ravel()), values.shape)
    return Furthest(float(values[a, b]), corners[a], others[b])


def _along_edges(moves: FloatArray, middle: FloatArray, corners: FloatArray, i: int) -> Furthest | None:
    """The smaller record inside an edge along feature i; None where no quartic has an inner maximum there.

    With ``v = v0 + y g``, shortest at ``y = 0``: ``|v|² = n0 + C y²``, ``u·v = D + E y``, and the inner maximum is the
    middle root of ``C² y³ + (n0 C - E²) y - E D = 0``.
    """
    g = moves[:, i]
    big_c = float(g @ g)
    if big_c == 0:
        return None
    others = np.insert(all_signs(moves.shape[1] - 1), i, 0.0, axis=1)
    u, v0 = middle + corners @ moves.T, middle + others @ moves.T
    shift = (v0 @ g) / big_c
    v0 = v0 - shift[:, None] * g
    n0, e = np.einsum("ij,ij->i", v0, v0), (u @ g)[:, None]
    roots = middle_root((n0 * big_c - e * e) / big_c**2, -e * (u @ v0.T) / big_c**2) - shift
    a, b = np.nonzero(np.abs(roots) < 1)
    if not a.size:
        return None
    larger, smaller = corners[a], others[b]
    smaller[:, i] = roots[a, b]
    s, t = 2 * middle + (larger + smaller) @ moves.T, (larger - smaller) @ moves.T
    values = np.einsum("ij,ij->i", s, s) * np.einsum("ij,ij->i", t, t) + np.einsum("ij,ij->i", s, t) ** 2
    k = first_of_largest(values)
    return Furthest(float(values[k]) / 2, larger[k], smaller[k])


def middle_root(p: FloatArray, r: FloatArray) -> FloatArray:
    """Return the middle root of ``y³ + p y + r = 0`` where it has three, else 0 (any feasible value will do)."""
    size = np.sqrt(np.maximum(-p, 0.0) / 3)
    safe = np.where(size > 0, size, 1.0)
    cosine = -r / safe / safe / safe / 2  # one by one: the cube of a large root is no number
    three = (size > 0) & (np.abs(cosine) <= 1)
    angle = np.arccos(np.where(three, cosine, 0.0)) / 3 - 2 * np.pi / 3
    return np.where(three, 2 * size * np.cos(angle), 0.0)
