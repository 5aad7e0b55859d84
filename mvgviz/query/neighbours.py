"""How far apart the answers of two neighbouring datasets can be, seen through the noise.

Each class describes the differences ``D = f(X) - f(X')`` of one kind of query and computes ``mu* = sup ||Sigma^-1/2 D
Psi^-1/2||_F``: exactly where that is cheap, else an upper bound. ``M = Sigma^-1``; nothing here is in the paper.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mvgviz.noise.directions import Directions
from mvgviz.noise.sides import NoiseSide
from mvgviz.query import box_norms
from mvgviz.query.box_norms import Longest, bound_from_lengths, longest, shortest_square
from mvgviz.query.dataset import Levels
from mvgviz.validation import FloatArray


class WorstCase(NamedTuple):
    """The largest ``mu`` over all neighbours, or an upper bound; ``at``: what attains it, if known: a column's move,
    two records or two vertices. Of counts and groups: the change ``left rightᵀ``, or a large one where there is only a
    bound.
    """

    mu: float
    exact: bool
    at: Any = None


class Neighbours:
    """What two neighbouring answers can differ by."""

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """Return the largest ``||Sigma^-1/2 D Psi^-1/2||_F``; ``cols is rows`` when ``Psi = Sigma``."""
        raise NotImplementedError

    def reach(self, directions: Directions) -> FloatArray:
        """``h_k``, how far one record can move direction k; ones where that is not bounded singly."""
        return np.ones(directions.size)


@dataclass(frozen=True, kw_only=True)
class AnyChange(Neighbours):
    """Changes of which only ``||D||_F <= sensitivity`` is known, and that some pair attains it. ``fills_ball``: every
    such D may occur, so that the worst case is exact for every noise, not for isotropic noise alone.
    """

    sensitivity: float
    fills_ball: bool

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        exact = self.fills_ball or (rows.is_isotropic and cols.is_isotropic)
        return WorstCase(self.sensitivity * _stretch(rows, cols), exact)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplacedColumn(Neighbours):
    """Columns that move by ``d/divisor``, ``|d_i| <= widths_i`` (identity and mean queries).

    ``widths``: of the ranges; if ``added`` (a record is there or its place is empty), the largest distance from an
    empty place. ``records``: how many columns of one person move. ``levels``: positions of features of which one is at
    its upper end, the others at their lower ends; an empty place has equal parts.
    """

    widths: FloatArray = field(repr=False)
    divisor: float = 1.0
    added: bool = False
    records: int = 1
    levels: Levels = ()

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """``mu² = max_d dᵀMd · max_j (Psi^-1)_jj``: d in the column j that the noise hides least (each of several)."""
        move: FloatArray | None
        if rows.is_diagonal:
            move = self.widest(rows.precisions)
            square = float(move**2 @ rows.precisions)
        else:
            square, signs = longest(rows.whitener(), np.zeros(self.widths.size), self.widths)
            move = None if signs is None or self.levels else signs * self.widths
        weight, known = self.columns_weight(cols)
        exact = move is not None and known
        return WorstCase(math.sqrt(square) * math.sqrt(weight) / self.divisor, exact, move if exact else None)

    def widest(self, precisions: FloatArray) -> FloatArray:
        """The longest move along the features: across every range, and in each set of levels from one to another."""
        move = self.widths.copy()
        for group in map(list, self.levels):
            squares = self.widths[group] ** 2 * precisions[group]
            first, *others = np.argsort(-squares, kind="stable").tolist()
            if self.added:  # widths are (1 - 1/L) of the ranges, what the other levels move by 1/L
                move[group] = -self.widths[group] / (len(group) - 1)
            else:
                move[group] = 0.0
                move[group[others[0]]] = -self.widths[group[others[0]]]
            move[group[first]] = self.widths[group[first]]
        return move

    def columns_weight(self, cols: NoiseSide) -> tuple[float, bool]:
        """Return what the other side contributes to the square of mu, and whether that can be attained."""
        k = min(self.records, cols.size)
        if cols.is_identity:
            return float(k), True
        each = cols.precision_diagonal()
        if k == 1 or cols.is_diagonal:
            return float(np.sort(each)[-k:].sum()), True
        return min(k * k * float(each.max()), k * cols.largest_precision), False

    def columns(self, cols: NoiseSide) -> list[int]:
        """Return the columns that the noise hides least, as many as move together."""
        k = min(self.records, cols.size)
        if cols.is_identity:
            return list(range(k))
        return [int(j) for j in np.argsort(-cols.precision_diagonal(), kind="stable")[:k]]

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, self.widths)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplacedOuterProduct(Neighbours):
    """``D = (x xᵀ - x'x'ᵀ)/n`` (``added``, the place is empty: ``± x xᵀ/n``), both records in the box [lower, upper].

    ``n_records``: the divisor n, over the records of one person, which may all change alike. ``levels`` as above.
    """

    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    n_records: float
    added: bool = False
    levels: Levels = ()

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """With ``Psi = Sigma`` from the box; else from the largest ``||D||_F``. Added: ``|A x| |B x|``, the longest
        record through either side.
        """
        if self.added:
            (first, record), (second, other) = (self.longest_record(side) for side in (rows, cols))
            mu = math.sqrt(first) * math.sqrt(second) / self.n_records
            exact = record is not None and other is not None and np.array_equal(record, other)
            return WorstCase(mu, exact, (np.zeros(self.lower.size), record) if exact else None)
        if cols is rows:
            found = self._furthest(rows)
            return found._replace(mu=found.mu / self.n_records)
        unit = NoiseSide.identity(rows.size)
        sensitivity, exact, records = self.worst(unit, unit)
        attained = exact and rows.is_isotropic and cols.is_isotropic
        return WorstCase(sensitivity * _stretch(rows, cols), attained, records if attained else None)

    def longest_record(self, side: NoiseSide) -> tuple[float, FloatArray | None]:
        """Return the largest ``xᵀMx`` and its x, None where it is an upper bound."""
        if side.is_diagonal:
            record = self.largest_record(side.precisions)
            return float(record**2 @ side.precisions), record
        found = longest(side.whitener(), self._centre, self._halves)
        if found.signs is None or self.levels:
            return found.square, None
        return found.square, np.where(found.signs > 0, self.upper, self.lower)

    def largest_record(self, precisions: FloatArray) -> FloatArray:
        """Return the longest record: every range at its end further from 0, in each set of levels the best one."""
        record = np.where(np.abs(self.lower) > np.abs(self.upper), self.lower, self.upper)
        for group in map(list, self.levels):
            gains = (self.upper[group] ** 2 - self.lower[group] ** 2) * precisions[group]
            record[group] = self.lower[group]
            if gains.max() >= 0:  # else none of them is longer, as where some levels were left out
                record[group[int(np.argmax(gains))]] = self.upper[group[int(np.argmax(gains))]]
        return record

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, self.largest_values)

    @property
    def largest_values(self) -> FloatArray:
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @cached_property
    def _known(self) -> dict[bytes, WorstCase]:
        """The furthest pairs through noise along the features: the same few are asked for again and again."""
        return {}

    def _furthest(self, side: NoiseSide) -> WorstCase:
        """``sup ||u uᵀ - u'u'ᵀ||_F`` over ``u = A x``, ``A`` the whitener, x in the box."""
        if not side.is_diagonal:
            return self._found(side)
        key = side.precisions.tobytes()
        if key not in self._known:
            if len(self._known) >= 1_000:
                self._known.clear()
            self._known[key] = self._found(side)
        return self._known[key]

    def _found(self, side: NoiseSide) -> WorstCase:
        found = self._in_box(side)
        if not self.levels:
            return found
        bound, q = found.mu, side.precisions
        if side.is_diagonal:  # from the longest record and the longest move that have one level of each set
            moves = ReplacedColumn(widths=self.upper - self.lower, levels=self.levels).widest(q) / 2
            shortest = shortest_square(side.whitener(), self._centre, self._halves)
            most = bound_from_lengths(float(self.largest_record(q) ** 2 @ q), shortest, float(moves**2 @ q))
            bound = min(bound, most)
        return WorstCase(bound, False)

    def _in_box(self, side: NoiseSide) -> WorstCase:
        m, low, high = self.lower.size, self.lower, self.upper
        one_sided, symmetric = bool(((low >= 0) | (high <= 0)).all()), bool((low == -high).all())
        if side.is_diagonal and one_sided:  # one pair attains every entry
            ends = np.where(np.abs(low) > np.abs(high), low, high), np.clip(0.0, low, high)
            return WorstCase(self._entry_by_entry(side), True, ends)
        if side.is_diagonal and symmetric and m <= 12:  # 12 * 2^11 quartics, for signs can be absorbed
            return self._enumerated(side, np.ones((1, m)))
        if m <= 8:  # 2^8 corners against 8 * 2^7 edges
            signs = box_norms.all_signs(m)
            return self._enumerated(side, signs[: 2 ** (m - 1)] if symmetric else signs)
        return WorstCase(self._bound(side), False)

    def _enumerated(self, side: NoiseSide, corners: FloatArray) -> WorstCase:
        whitener, centre, halves = side.whitener(), self._centre, self._halves
        pair = box_norms.furthest_pair(whitener, centre, halves, corners)
        x, y = (np.where(z == 1, self.upper, np.where(z == -1, self.lower, np.clip(
            centre + halves * z, self.lower, self.upper))) for z in pair)
        return WorstCase(box_norms.outer_distance(whitener, x, y), True, (x, y))

    def _bound(self, side: NoiseSide) -> float:
        whitener, centre, halves = side.whitener(), self._centre, self._halves
        most, move = (longest_in(side, middle, halves).square for middle in (centre, np.zeros(halves.size)))
        bounds = [bound_from_lengths(most, shortest_square(whitener, centre, halves), move)]
        if side.is_diagonal:
            bounds.append(self._entry_by_entry(side))
        if centre.any() and halves.size <= 64:  # around 0 the lengths say more, and many take a second
            bounds.append(box_norms.bound_from_products(whitener, centre, halves))
        return min(bounds)

    @property
    def _centre(self) -> FloatArray:
        return (self.lower + self.upper) / 2

    @property
    def _halves(self) -> FloatArray:
        return (self.upper - self.lower) / 2

    def spans(self) -> FloatArray:
        """Return the width of the range of each ``x_i x_j``: the most that one record can move n times that entry."""
        if self.added:
            return np.outer(self.largest_values, self.largest_values)
        ends = (self.lower, self.upper)
        products = np.array([np.outer(a, b) for a in ends for b in ends])
        spans = products.max(axis=0) - products.min(axis=0)
        # Where neither range holds 0 that would cancel: with l the end nearer 0 and w the width,
        # the span is (l_i + w_i)(l_j + w_j) - l_i l_j.
        nearest, widths = np.abs(np.clip(0.0, self.lower, self.upper)), self.upper - self.lower
        away = nearest > 0
        moved = np.outer(nearest, widths) + np.outer(widths, nearest) + np.outer(widths, widths)
        spans = np.where(np.outer(away, away), moved, spans)
        largest = self.largest_values
        np.fill_diagonal(spans, np.where(away, widths, largest) * (largest + nearest))
        return spans

    def _entry_by_entry(self, side: NoiseSide) -> float:
        """``sqrt(sum q_i q_j span_ij²)``."""
        return math.sqrt(float(side.precisions @ self.spans() ** 2 @ side.precisions))


@dataclass(frozen=True, kw_only=True)
class FlippedEdge(Neighbours):
    """An edge comes or goes: ``±(e_i - e_j)(e_i - e_j)ᵀ`` (Laplacian) or ``±(e_i e_jᵀ + e_j e_iᵀ)``. Always exact."""

    laplacian: bool

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        if self.laplacian:
            squares = _edge_lengths(rows) * _edge_lengths(cols)
        else:
            m, p = rows.precision(), cols.precision()
            squares = np.outer(np.diag(m), np.diag(p))
            squares = squares + squares.T + 2 * m * p
        np.fill_diagonal(squares, 0.0)
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(squares)), squares.shape))
        return WorstCase(math.sqrt(float(squares[i, j])), True, (min(i, j), max(i, j)))


def longest_in(side: NoiseSide, centre: FloatArray, halves: FloatArray) -> Longest:
    """Return the largest ``xᵀMx`` over the box ``centre ± halves``: exact along the features, or of few of them."""
    if side.is_diagonal:
        return Longest(float((np.abs(centre) + halves) ** 2 @ side.precisions), np.where(centre < 0, -1.0, 1.0))
    return longest(side.whitener(), centre, halves)


def _stretch(rows: NoiseSide, cols: NoiseSide) -> float:
    """The most that whitening by both sides can lengthen a difference."""
    return math.sqrt(rows.largest_precision) * math.sqrt(cols.largest_precision)


def _edge_lengths(side: NoiseSide) -> FloatArray:
    """``(e_i - e_j)ᵀ M (e_i - e_j)`` for every pair, without what the whitener's columns have in common."""
    whitener = side.whitener()
    apart = whitener - whitener.mean(axis=1, keepdims=True)
    products = apart.T @ apart
    squares = np.diag(products)
    return np.asarray(squares[:, None] + squares[None, :] - 2 * products)


def move_widths(widths: FloatArray, levels: Levels, *, added: bool) -> FloatArray:
    """Return how far a record is at most from another; ``added``: from an empty place, the middle of every range and an
    equal part of each of the L levels of a category, ``1 - 1/L`` away from one.
    """
    if not added:
        return widths
    moves = widths / 2
    for group in map(list, levels):
        moves[group] = widths[group] * (1 - 1 / len(group))
    return np.asarray(moves)


def support(directions: Directions, reach: FloatArray) -> FloatArray:
    """``sum_i |W_ik| reach_i``, the box's half-width (or width) along each direction."""
    return reach if directions.is_standard else np.abs(directions.matrix).T @ reach
