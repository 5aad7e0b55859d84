"""The two records of a box whose outer products are furthest apart, seen through the noise.

``G = ||u uᵀ - v vᵀ||_F² = |u|⁴ + |v|⁴ - 2(u·v)²`` for ``u = A x``, ``v = A y``. In x = centre +
halves z everything is of the size of the box, however far from 0 it lies. With ``p = A(x + y)/2``
and ``q = A(x - y)/2``: ``G = 8 (|p|²|q|² + (p·q)²)``.
"""

import math
from typing import NamedTuple

import numpy as np

from mvgviz.query.box_norms import ROUNDING, all_signs, certified, first_of_largest, first_vectors, relaxed
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray

_ANGLES = 4
_HALVINGS, _SHORT, _LONG = 6, 40, 150
_WIDEST = 2.0  # how far from the first guess, in logarithms, the weight is looked for


class Furthest(NamedTuple):
    """A pair in the coordinates z, and its ``G`` (for an ``A`` with columns of total length 1)."""

    value: float
    larger: FloatArray
    smaller: FloatArray


@one_blas_thread()
def furthest_pair(whitener: FloatArray, centre: FloatArray, halves: FloatArray, corners: FloatArray
                  ) -> tuple[FloatArray, FloatArray]:
    """The pair with the largest G, as two vectors z; ``corners`` are the signs that may hold the larger record.

    G is convex in the larger record, which is therefore a corner; its Hessian in the smaller one
    has at most one negative eigenvalue, so that one lies on an edge. Along an edge G is a
    quartic: largest at an end, which is another corner, or at one inner point.
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
    """A bound on ``sqrt(G)`` from the squares ``|u|², |v|²`` in [shortest, longest] and ``|q|² <= move``.

    ``u·v = (|u|² + |v|²)/2 - 2|q|²`` is at least ``x = (|u|² + |v|²)/2 - 2 move``, so
    ``G <= |u|⁴ + |v|⁴ - 2 max(x, 0)²``. That grows with |u|, and in |v|² it grows or is convex:
    its largest value has ``|u|² = longest`` and ``|v|²`` at one of its two ends.
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
    """A bound on ``sqrt(G)`` from ``|p||q|`` and ``p·q`` together.

    ``sqrt(|p|²|q|² + (p·q)²)`` is the largest ``cos f |p||q| + sin f p·q`` over angles f, at one of
    at most 45° since ``p·q <= |p||q|``; between two angles that are tried it loses at most the
    cosine of half their distance. ``|p||q| <= (|p|²/w + w|q|²)/2`` for every weight w > 0 makes it a
    quadratic form in the signs of both records, positive semi-definite up to 45°.
    """
    moves, middle = whitener * halves / 2, whitener @ centre
    size = float(np.linalg.norm(moves)) + float(np.linalg.norm(middle))
    moves, middle = moves / size, middle / size
    p = np.column_stack([middle, moves, moves])
    q = np.column_stack([np.zeros_like(middle), moves, -moves])
    angles = np.linspace(0, math.pi / 4, _ANGLES)
    most = max(_product_bound(p, q, float(angle)) for angle in angles)
    return math.sqrt(8) * size * size * most / math.cos(float(angles[1]) / 2)


def _product_bound(p: FloatArray, q: FloatArray, angle: float) -> float:
    """A bound on ``cos f |p||q| + sin f p·q``; the weight by bisection, as the bound is convex in it."""
    pp, qq, pq = p.T @ p, q.T @ q, p.T @ q
    cross, share = math.sin(angle) * (pq + pq.T) / 2, math.cos(angle) / 2
    guess = math.log(float(np.trace(pp)) / float(np.trace(qq))) / 2
    low, high, vectors = guess - _WIDEST, guess + _WIDEST, first_vectors(len(pp))
    for _ in range(_HALVINGS):
        weight = math.exp((low + high) / 2)
        vectors = relaxed(share * (pp / weight + weight * qq) + cross, vectors, _SHORT)
        if weight * np.linalg.norm(q @ vectors) > (1 + 1e-9) * np.linalg.norm(p @ vectors):  # not by rounding alone
            high = math.log(weight)
        else:
            low = math.log(weight)
    form = share * (pp / weight + weight * qq) + cross
    return certified(form, relaxed(form, vectors, _LONG))


def _among_corners(moves: FloatArray, middle: FloatArray, corners: FloatArray) -> Furthest:
    """Both records at corners."""
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

    With ``v = v0 + y g`` and the origin of y where v is shortest, ``|v|² = n0 + C y²`` and
    ``u·v = D + E y``: the inner maximum is the middle root of ``C² y³ + (n0 C - E²) y - E D = 0``.
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
    """The middle root of ``y³ + p y + r = 0`` where it has three, else 0 (any feasible value will do)."""
    size = np.sqrt(np.maximum(-p, 0.0) / 3)
    safe = np.where(size > 0, size, 1.0)
    cosine = -r / safe / safe / safe / 2  # one by one: the cube of a large root is no number
    three = (size > 0) & (np.abs(cosine) <= 1)
    angle = np.arccos(np.where(three, cosine, 0.0)) / 3 - 2 * np.pi / 3
    return np.where(three, 2 * size * np.cos(angle), 0.0)
