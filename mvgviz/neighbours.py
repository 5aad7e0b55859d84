"""How far apart the answers of two neighbouring datasets can be, seen through the noise.

Each class describes the set of differences ``D = f(X) - f(X')`` of one kind of query
and computes ``mu* = sup ||Sigma^-1/2 D Psi^-1/2||_F`` over it: exactly where that is
cheap, else an upper bound. ``M = Sigma^-1`` throughout; nothing here is in the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from mvgviz.directions import Directions
from mvgviz.sides import NoiseSide
from mvgviz.validation import FloatArray, frozen

_ALL_CORNERS = 16  # 2^15 corners of a symmetric box
_SYMMETRIC_EDGES = 12  # 12 * 2^11 quartics
_ALL_EDGES = 5  # 2^5 corners against 5 * 2^4 edges


class WorstCase(NamedTuple):
    """The largest ``mu`` over all neighbours, or an upper bound on it."""

    mu: float
    exact: bool


class Neighbours(Protocol):
    """What two neighbouring answers can differ by."""

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """The largest ``||Sigma^-1/2 D Psi^-1/2||_F``; ``cols is rows`` when ``Psi = Sigma``."""
        ...

    def reach(self, directions: Directions) -> FloatArray:
        """``h_k``, how far one record can move direction k; ones where that is not bounded singly."""
        ...


@dataclass(frozen=True, kw_only=True)
class AnyChange:
    """Only ``||D||_F <= sensitivity`` is used, and some pair attains it.

    ``fills_ball``: every such D may occur (it is all that was declared), so the
    result is exact for every noise; otherwise only for isotropic noise.
    """

    sensitivity: float
    fills_ball: bool

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        exact = self.fills_ball or (rows.is_isotropic and cols.is_isotropic)
        return WorstCase(self.sensitivity * _stretch(rows, cols), exact)

    def reach(self, directions: Directions) -> FloatArray:
        return np.ones(directions.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplacedColumn:
    """One column moves by ``d/divisor``, ``|d_i| <= widths_i`` (identity and mean queries)."""

    widths: FloatArray = field(repr=False)
    divisor: float = 1.0

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """``mu² = max_d dᵀMd · max_j (Psi^-1)_jj``."""
        square, exact = _largest_quadratic(rows, self.widths)
        mu = math.sqrt(square) * math.sqrt(cols.largest_precision_diagonal()) / self.divisor
        return WorstCase(mu, exact)

    def reach(self, directions: Directions) -> FloatArray:
        return _support(directions, self.widths)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplacedOuterProduct:
    """``D = (x xᵀ - x'x'ᵀ)/n``, both records in the box [lower, upper] (covariance query)."""

    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    n_records: int

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """With ``Psi = Sigma`` from the box; else from the largest ``||D||_F``."""
        if cols is rows:
            distance, exact = self._largest_distance(rows)
            return WorstCase(distance / self.n_records, exact)
        unit = NoiseSide.identity(rows.size)
        sensitivity, exact = self.worst(unit, unit)
        attained = exact and rows.is_isotropic and cols.is_isotropic
        return WorstCase(sensitivity * _stretch(rows, cols), attained)

    def reach(self, directions: Directions) -> FloatArray:
        return _support(directions, self._largest_values)

    @property
    def _largest_values(self) -> FloatArray:
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    def _largest_distance(self, side: NoiseSide) -> WorstCase:
        """``sup ||u uᵀ - u'u'ᵀ||_F`` over ``u = A x``, ``A`` the whitener, x in the box."""
        m, c = self.lower.size, self._largest_values
        one_sided = bool(((self.lower >= 0) | (self.upper <= 0)).all())
        symmetric = bool((self.lower == -self.upper).all())
        if side.is_diagonal and one_sided:
            return WorstCase(self._entry_by_entry(side), True)  # one pair attains every entry
        if side.is_diagonal and symmetric and m <= _SYMMETRIC_EDGES:
            # Signs can be absorbed, so the larger record may be taken as c itself.
            return WorstCase(self._corner_to_edge(side.whitener(), c[None, :]), True)
        if m <= _ALL_EDGES:
            return WorstCase(self._corner_to_edge(side.whitener(), self._corners()), True)
        square, _ = (_largest_quadratic(side, c) if symmetric or side.is_diagonal
                     else _largest_square_norm(side, self.lower, self.upper))
        apart, _ = _largest_quadratic(side, self.upper - self.lower)
        bounds = [math.sqrt(2) * square, 2 * math.sqrt(square) * math.sqrt(apart)]  # the latter: |s| |t|
        if side.is_diagonal:
            bounds.append(self._entry_by_entry(side))
        return WorstCase(min(bounds), False)

    def _entry_by_entry(self, side: NoiseSide) -> float:
        """``sqrt(sum q_i q_j span_ij²)``, span_ij the width of the range of ``x_i x_j``."""
        ends = (self.lower, self.upper)
        products = np.array([np.outer(a, b) for a in ends for b in ends])
        spans = products.max(axis=0) - products.min(axis=0)
        # Where neither range holds 0 that would cancel: with l the end nearer 0 and w the width,
        # the span is (l_i + w_i)(l_j + w_j) - l_i l_j.
        nearest, widths = np.abs(np.clip(0.0, self.lower, self.upper)), self.upper - self.lower
        away = nearest > 0
        moved = np.outer(nearest, widths) + np.outer(widths, nearest) + np.outer(widths, widths)
        spans = np.where(np.outer(away, away), moved, spans)
        largest = self._largest_values
        np.fill_diagonal(spans, np.where(away, widths, largest) * (largest + nearest))
        q = side.precisions
        return math.sqrt(float(q @ spans**2 @ q))

    def _corners(self) -> FloatArray:
        return np.where(_signs(self.lower.size) > 0, self.upper, self.lower)

    def _edges(self, i: int) -> FloatArray:
        """The edges along feature i, each by its point with feature i set to 0."""
        others = np.arange(self.lower.size) != i
        points = np.zeros((2 ** (self.lower.size - 1), self.lower.size))
        points[:, others] = np.where(_signs(self.lower.size - 1) > 0, self.upper[others], self.lower[others])
        return points

    def _corner_to_edge(self, whitener: FloatArray, corners: FloatArray) -> float:
        """The largest distance between a corner's outer product and an edge point's.

        ``G = |u|⁴ + |u'|⁴ - 2(u·u')²`` is convex in the larger record, which is
        therefore a corner; its Hessian in the smaller one has at most one negative
        eigenvalue, so that one lies on an edge. Along it, with the origin shifted,
        ``|u'|² = n0 + C y²`` and ``u·u' = D + E y``: G is a quartic whose inner
        maximum is the middle root of ``C² y³ + (n0 C - E²) y - E D = 0``.
        """
        u = corners @ whitener.T
        best = 0.0
        for i in range(self.lower.size):
            low, high = float(self.lower[i]), float(self.upper[i])
            edges, g = self._edges(i), whitener[:, i]
            u0, big_c = edges @ whitener.T, float(g @ g)
            shift = (u0 @ g) / big_c
            n0 = (np.einsum("ij,ij->i", u0, u0) - big_c * shift**2)[None, :]
            e = (u @ g)[:, None]
            d = u @ u0.T - e * shift
            inner = _middle_root((n0 * big_c - e * e) / big_c**2, -e * d / big_c**2) - shift
            for value in (low, high, np.clip(inner, low, high)):
                best = max(best, _largest_outer_square(whitener, corners, edges, i, value))
        return math.sqrt(best)


@dataclass(frozen=True, kw_only=True)
class FlippedEdge:
    """One edge {i, j} of a graph is added or removed.

    Laplacian: ``D = ±(e_i - e_j)(e_i - e_j)ᵀ``; adjacency: ``D = ±(e_i e_jᵀ + e_j e_iᵀ)``.
    Exact for every ``Sigma`` and ``Psi``.
    """

    laplacian: bool

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        return WorstCase(math.sqrt(float(self.squares(rows, cols).max())), True)

    def squares(self, rows: NoiseSide, cols: NoiseSide) -> FloatArray:
        """The square of ``||Sigma^-1/2 D Psi^-1/2||_F`` for every pair of vertices, 0 on the diagonal."""
        if self.laplacian:
            squares = _edge_lengths(rows) * _edge_lengths(cols)
        else:
            m, p = rows.precision(), cols.precision()
            squares = np.outer(np.diag(m), np.diag(p))
            squares = squares + squares.T + 2 * m * p
        np.fill_diagonal(squares, 0.0)
        return squares

    def reach(self, directions: Directions) -> FloatArray:
        return np.ones(directions.size)


def _stretch(rows: NoiseSide, cols: NoiseSide) -> float:
    """The most that whitening by both sides can lengthen a difference."""
    return math.sqrt(rows.largest_precision) * math.sqrt(cols.largest_precision)


def _edge_lengths(side: NoiseSide) -> FloatArray:
    """``(e_i - e_j)ᵀ M (e_i - e_j)`` for every pair: the squared distances of the whitener's columns.

    What the columns have in common is taken out first, or it would drown their differences.
    """
    whitener = side.whitener()
    apart = whitener - whitener.mean(axis=1, keepdims=True)
    products = apart.T @ apart
    squares = np.diag(products)
    return np.asarray(squares[:, None] + squares[None, :] - 2 * products)


def _largest_outer_square(whitener: FloatArray, corners: FloatArray, edges: FloatArray, i: int,
                          value: float | FloatArray) -> float:
    """The largest ``||u uᵀ - u'u'ᵀ||_F²`` with feature i of each edge set to ``value``.

    Through sum s and difference t of the two: ``(|s|²|t|² + (s·t)²)/2``, which does not cancel
    when both are far from 0 and near each other.
    """
    other = np.broadcast_to(edges, (len(corners), *edges.shape)).copy()
    other[:, :, i] = value
    s = (corners[:, None, :] + other) @ whitener.T
    t = (corners[:, None, :] - other) @ whitener.T
    squares = np.einsum("cek,cek->ce", s, s) * np.einsum("cek,cek->ce", t, t)
    return float((squares + np.einsum("cek,cek->ce", s, t) ** 2).max()) / 2


def _support(directions: Directions, reach: FloatArray) -> FloatArray:
    """``sum_i |W_ik| reach_i``, the box's half-width (or width) along each direction."""
    return reach if directions.is_standard else np.abs(directions.matrix).T @ reach


def _largest_quadratic(side: NoiseSide, widths: FloatArray) -> WorstCase:
    """``max dᵀMd`` over ``|d_i| <= widths_i``; ``mu`` of the result is the square itself.

    Exact by its corners up to 16 features; above, the smaller of two bounds.
    """
    if side.is_diagonal:
        return WorstCase(float(widths**2 @ side.precisions), True)
    if widths.size <= _ALL_CORNERS:
        return _largest_square_norm(side, -widths, widths)
    by_entry = float(widths @ np.abs(side.precision()) @ widths)
    by_norm = side.largest_precision * float(widths @ widths)
    return WorstCase(min(by_entry, by_norm), False)


def _largest_square_norm(side: NoiseSide, lower: FloatArray, upper: FloatArray) -> WorstCase:
    """``max xᵀMx`` over the box: at a corner. Above 16 features, the bound of the enclosing
    symmetric box."""
    if lower.size > _ALL_CORNERS:
        return _largest_quadratic(side, np.maximum(np.abs(lower), np.abs(upper)))
    a = side.whitener()
    one_of_each_pair = _signs(lower.size)[: 2 ** (lower.size - 1)]
    middle, moves = a @ ((lower + upper) / 2), (a * ((upper - lower) / 2)) @ one_of_each_pair.T
    norms = np.einsum("ij,ij->j", moves, moves) + 2 * np.abs(middle @ moves)  # both d and -d
    return WorstCase(float(middle @ middle + norms.max()), True)


def _middle_root(p: FloatArray, r: FloatArray) -> FloatArray:
    """The middle root of ``y³ + p y + r = 0`` where it has three, else 0 (any feasible value will do)."""
    three = (p < 0) & (27 * r * r <= -4 * p * p * p)
    safe_p = np.where(three, p, -1.0)
    cosine = np.clip(1.5 * np.where(three, r, 0.0) / safe_p * np.sqrt(-3 / safe_p), -1.0, 1.0)
    angle = np.arccos(cosine) / 3 - 2 * np.pi / 3
    return np.where(three, 2 * np.sqrt(-safe_p / 3) * np.cos(angle), 0.0)


@lru_cache(maxsize=8)
def _signs(m: int) -> FloatArray:
    """All sign vectors of length m, 2^m × m; the first half holds one of each pair ±s."""
    bits = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    return frozen(np.where(bits == 1, -1.0, 1.0))
