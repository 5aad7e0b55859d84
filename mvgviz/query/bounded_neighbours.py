"""How far apart two neighbouring answers can be when every record lies in an ellipse as well as in its ranges.

With ``z`` the record in coordinates where the ellipse is a ball of radius R, and ``q1 >= q2`` the largest
eigenvalues of the noise's precision there:

* a table or mean moves by at most ``2R sqrt(q1)``;
* second moments about the centre, by at most ``R² sqrt(q1² + q2²)/n`` (``z = R e1`` becomes ``z' = R e2``).

The ranges hold too, so the least of several bounds is taken. It is called exact when two records that
are inside both attain it.
"""

import math
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from mvgviz.noise.directions import Directions
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct, WorstCase, WorstMove, WorstRecords, support
from mvgviz.query.pair_search import search_move, search_records
from mvgviz.query.record_bound import Ellipse
from mvgviz.validation import FloatArray

_ATTAINED = 1 - 1e-10
_MOST_CORNERS = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedColumn(ReplacedColumn):
    """A column that moves from one record of the ellipse to another, both inside ``lower`` and ``upper``.

    ``declared``: the ranges before clipping; shares are in units of their widths. ``added``: one of the two is an empty
    place, which counts as the centre. ``corners``: whether every record of the box may occur; if not (levels of a
    category), no worst case counts as exact.
    """

    ellipse: Ellipse = field(repr=False)
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    declared: tuple[FloatArray, FloatArray] = field(repr=False)
    corners: bool

    def worst_move(self, rows: NoiseSide, cols: NoiseSide) -> WorstMove:
        """Return the least of what the ellipse, the ranges and both together allow."""
        box = super().worst_move(rows, cols)
        weight, known = self.columns_weight(cols)
        scale = math.sqrt(weight) / self.divisor
        bounds = [box.case.mu, self._radii * float(self.ellipse.through(rows)[0][0]) * scale]
        if rows.is_diagonal and self.ellipse.directions.is_standard:
            bounds.append(self._filled(rows)[0] * scale)
        x, y = self.furthest_pair(rows)
        exact = known and self.corners and _length(rows, x - y) * scale >= min(bounds) * _ATTAINED
        return WorstMove(WorstCase(min(bounds), exact), x - y if exact else None, box.column)

    @property
    def _radii(self) -> float:
        """Return how many radii two records can be apart: 2, or 1 if one is an empty place (the centre)."""
        return 1.0 if self.added else 2.0

    def furthest_pair(self, rows: NoiseSide) -> tuple[FloatArray, FloatArray]:
        """Two records inside ellipse and ranges, far apart through the noise: the furthest where that is exact."""
        centre = self.ellipse.centre
        if self.added:
            moves = [self.ellipse.through(rows)[1][:, 0], search_move(rows, self.widths)]
            if rows.is_diagonal and self.ellipse.directions.is_standard:
                moves.append(self._filled(rows)[1])
            ends = [_clipped(self, centre + sign * move) for move in moves for sign in (1, -1)]
            ends += [_clipped(self, corner) for pair in _pairs_of_corners(self.declared) for corner in pair]
            return max(ends, key=lambda end: _length(rows, end - centre)), centre
        moves = [self.ellipse.through(rows)[1][:, 0], search_move(rows, self.widths) / 2]
        if rows.is_diagonal and self.ellipse.directions.is_standard:
            moves.append(self._filled(rows)[1] / 2)
        middles = self.ellipse.centre, (self.declared[0] + self.declared[1]) / 2
        pairs = [(_clipped(self, middle + move), _clipped(self, middle - move)) for move in moves for middle in middles]
        pairs += [(_clipped(self, x), _clipped(self, y)) for x, y in _pairs_of_corners(self.declared)]
        return max(pairs, key=lambda pair: _length(rows, pair[0] - pair[1]))

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, self.declared[1] - self.declared[0])

    def _filled(self, rows: NoiseSide) -> tuple[float, FloatArray]:
        """Spend the squared move where the noise hides least, up to the width of each feature (unrotated noise)."""
        weights = self.ellipse.weights
        prices = rows.precisions / weights**2
        parts = filled((self._radii * self.ellipse.radius) ** 2, (weights * self.widths) ** 2, prices)
        return math.sqrt(float(parts @ prices)), np.sqrt(parts) / weights


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedOuterProduct(ReplacedOuterProduct):
    """``D = (x xᵀ - x'x'ᵀ)/n``, both records in an ellipse about 0 and in [lower, upper].

    ``declared``: the ranges before clipping; shares are in units of their largest values.
    """

    ellipse: Ellipse = field(repr=False)
    declared: tuple[FloatArray, FloatArray] = field(repr=False)
    corners: bool

    def worst_records(self, rows: NoiseSide, cols: NoiseSide) -> WorstRecords:
        box = super().worst_records(rows, cols)
        axes = self.ellipse.through(rows)[0]
        other = axes if cols is rows else self.ellipse.through(cols)[0]
        most = 1 if self.added else 2  # of the longest axes
        bounds = [box.case.mu, float(np.linalg.norm((axes * other)[:most])) / self.n_records]
        if cols is rows and rows.is_diagonal and self.ellipse.directions.is_standard:
            bounds.append(math.sqrt(most) * self._longest_square(rows) / self.n_records)
        pair = self._furthest_of(rows, cols, [box.records])
        exact = self.corners and self._distance(rows, cols, pair) >= min(bounds) * _ATTAINED
        return WorstRecords(WorstCase(min(bounds), exact), pair if exact else None)

    def furthest_pair(self, rows: NoiseSide, cols: NoiseSide) -> tuple[FloatArray, FloatArray]:
        box = super().worst_records(rows, cols).records
        found = [box, search_records(rows, cols, self.lower, self.upper), *_pairs_of_corners(self.declared)]
        return self._furthest_of(rows, cols, found)

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, np.maximum(*np.abs(self.declared)))

    def _furthest_of(self, rows: NoiseSide, cols: NoiseSide, found: list[tuple[FloatArray, FloatArray] | None]
                     ) -> tuple[FloatArray, FloatArray]:
        """Return the best of these pairs and of the ends of the two longest half-axes, all clipped."""
        moves = self.ellipse.through(rows)[1]
        second = moves[:, 1] if moves.shape[1] > 1 else np.zeros(1)
        ends = [[_clipped(self, sign * move) for sign in (1, -1)] for move in (moves[:, 0], second)]
        pairs = [(x, y) for x in ends[0] for y in ends[1]]
        pairs += [(_clipped(self, pair[0]), _clipped(self, pair[1])) for pair in found if pair is not None]
        if self.added:
            pairs = [(np.zeros(self.lower.size), end) for pair in pairs for end in pair]
        return max(pairs, key=lambda pair: self._distance(rows, cols, pair))

    def _longest_square(self, side: NoiseSide) -> float:
        weights = self.ellipse.weights
        prices = side.precisions / weights**2
        return float(filled(self.ellipse.radius**2, (weights * self.largest_values) ** 2, prices) @ prices)

    def _distance(self, rows: NoiseSide, cols: NoiseSide, pair: tuple[FloatArray, FloatArray]) -> float:
        x, y = pair
        left, right = rows.whitener(), cols.whitener()
        apart = np.outer(left @ x, right @ x) - np.outer(left @ y, right @ y)
        return float(np.linalg.norm(apart)) / self.n_records


def _clipped(body: BoundedColumn | BoundedOuterProduct, record: FloatArray) -> FloatArray:
    """Return a record as the query gets it: clipped to its ranges, then moved to the centre until it is in the ellipse.
    """
    clipped, ellipse = np.clip(record, *body.declared), body.ellipse
    part = float(ellipse.parts(clipped[:, None])[0])
    return np.asarray(ellipse.centre + part * (clipped - ellipse.centre))


def _pairs_of_corners(ends: tuple[FloatArray, FloatArray]) -> list[tuple[FloatArray, FloatArray]]:
    """Return pairs of corners of the ranges: one feature at one end, all others at the other."""
    low, high = ends
    corners = [np.where(np.arange(low.size) == i, *order) for i in range(min(low.size, _MOST_CORNERS))
               for order in ((low, high), (high, low))]
    return list(combinations(corners, 2))


def _length(side: NoiseSide, move: FloatArray) -> float:
    return float(np.linalg.norm(side.whitener() @ move))


def filled(total: float, caps: FloatArray, prices: FloatArray) -> FloatArray:
    """Return non-negative parts with a sum of at most ``total``, each at most its cap, filled in order of price."""
    order = np.argsort(-prices, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(caps[order])[:-1]])
    parts = np.zeros(caps.size)
    parts[order] = np.clip(total - before, 0.0, caps[order])
    return parts
