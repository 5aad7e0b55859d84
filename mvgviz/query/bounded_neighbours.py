"""How far apart two neighbouring answers can be when every record lies in an ellipse as well as in its ranges.

With ``z`` the record in coordinates where the ellipse is a ball of radius R, and ``q1 >= q2`` the largest
eigenvalues of the noise's precision there:

* a table or mean moves by at most ``2R sqrt(q1)``;
* second moments about the centre, by at most ``R² sqrt(q1² + q2²)/n`` (``z = R e1`` becomes ``z' = R e2``).

The ranges hold too: the least of several bounds is taken, exact when two records inside both attain it.
"""

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

import numpy as np

from mvgviz.noise.directions import Directions
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct, WorstCase, support
from mvgviz.query.pair_search import search_move, search_records
from mvgviz.query.record_bound import Ellipse
from mvgviz.validation import FloatArray

_ATTAINED = 1 - 1e-10
_MOST_CORNERS = 12

Pair: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedColumn(ReplacedColumn):
    """A column that moves from one record of the ellipse to another, both inside ranges.

    ``declared``: the ranges before clipping; shares are in units of their widths. ``added``: one of the two is an empty
    place, which counts as the centre. ``corners``: whether every record of the box may occur; if not (levels of a
    category), no worst case counts as exact.
    """

    ellipse: Ellipse = field(repr=False)
    declared: Pair = field(repr=False)
    corners: bool

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """Return the least of what the ellipse, the ranges and both together allow."""
        weight, known = self.columns_weight(cols)
        scale = math.sqrt(weight) / self.divisor
        apart = 1 if self.added else 2  # radii; an empty place is the centre
        bounds = [super().worst(rows, cols).mu, apart * float(self.ellipse.through(rows)[0][0]) * scale]
        if rows.is_diagonal and self.ellipse.directions.is_standard:
            bounds.append(math.sqrt(self.ellipse.most_inside(rows, self.widths, radii=apart)[0]) * scale)
        x, y = self.furthest_pair(rows)
        exact = known and self.corners and _length(rows, x - y) * scale >= min(bounds) * _ATTAINED
        return WorstCase(min(bounds), exact, x - y if exact else None)

    def furthest_pair(self, rows: NoiseSide) -> Pair:
        """Two records inside ellipse and ranges, far apart through the noise: the furthest where that is exact."""
        ellipse, part = self.ellipse, 1.0 if self.added else 0.5
        moves = [ellipse.through(rows)[1][:, 0], part * search_move(rows, self.widths)]
        if rows.is_diagonal and ellipse.directions.is_standard:
            moves.append(part * ellipse.most_inside(rows, self.widths, radii=1 / part)[1])
        middles = [ellipse.centre] if self.added else [ellipse.centre, (self.declared[0] + self.declared[1]) / 2]
        pairs = _clipped(self, [(middle + move, middle - move) for move in moves for middle in middles]
                         + _pairs_of_corners(self.declared))
        if self.added:
            pairs = [(end, ellipse.centre) for pair in pairs for end in pair]
        return max(pairs, key=lambda pair: _length(rows, pair[0] - pair[1]))

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, self.declared[1] - self.declared[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedOuterProduct(ReplacedOuterProduct):
    """``D = (x xᵀ - x'x'ᵀ)/n``, both records in an ellipse about 0 and in [lower, upper]; ``declared`` as above."""

    ellipse: Ellipse = field(repr=False)
    declared: Pair = field(repr=False)
    corners: bool

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        box = super().worst(rows, cols)
        axes = self.ellipse.through(rows)[0]
        other = axes if cols is rows else self.ellipse.through(cols)[0]
        most = 1 if self.added else 2  # of the longest axes
        bounds = [box.mu, float(np.linalg.norm((axes * other)[:most])) / self.n_records]
        if cols is rows and rows.is_diagonal and self.ellipse.directions.is_standard:
            square = self.ellipse.most_inside(rows, self.largest_values)[0]
            bounds.append(math.sqrt(most) * square / self.n_records)
        pair = self._furthest_of(rows, cols, [] if box.at is None else [box.at])
        exact = self.corners and self._distance(rows, cols, pair) >= min(bounds) * _ATTAINED
        return WorstCase(min(bounds), exact, pair if exact else None)

    def furthest_pair(self, rows: NoiseSide, cols: NoiseSide) -> Pair:
        box = super().worst(rows, cols).at
        found = [search_records(rows, cols, self.lower, self.upper), *_pairs_of_corners(self.declared)]
        return self._furthest_of(rows, cols, found if box is None else [box, *found])

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, np.maximum(*np.abs(self.declared)))

    def _furthest_of(self, rows: NoiseSide, cols: NoiseSide, found: list[Pair]) -> Pair:
        """Return the best of these pairs and of the ends of the two longest half-axes, all clipped."""
        moves = self.ellipse.through(rows)[1]
        first, second = moves[:, 0], moves[:, 1] if moves.shape[1] > 1 else np.zeros(1)
        pairs = _clipped(self, [(i * first, j * second) for i in (1, -1) for j in (1, -1)] + found)
        if self.added:
            pairs = [(np.zeros(self.lower.size), end) for pair in pairs for end in pair]
        return max(pairs, key=lambda pair: self._distance(rows, cols, pair))

    def _distance(self, rows: NoiseSide, cols: NoiseSide, pair: Pair) -> float:
        left, right = rows.whitener(), cols.whitener()
        before, after = (np.outer(left @ record, right @ record) for record in pair)
        return float(np.linalg.norm(before - after)) / self.n_records


def _clipped(body: BoundedColumn | BoundedOuterProduct, pairs: list[Pair]) -> list[Pair]:
    """Return records as the query gets them: clipped to their ranges, then moved to the centre until in the ellipse."""
    def clipped(record: FloatArray) -> FloatArray:
        inside, centre = np.clip(record, *body.declared), body.ellipse.centre
        return np.asarray(centre + float(body.ellipse.parts(inside[:, None])[0]) * (inside - centre))

    return [(clipped(x), clipped(y)) for x, y in pairs]


def _pairs_of_corners(ends: Pair) -> list[Pair]:
    """Return pairs of corners of the ranges: one feature at one end, all others at the other."""
    low, high = ends
    corners = [np.where(np.arange(low.size) == i, *order) for i in range(min(low.size, _MOST_CORNERS))
               for order in ((low, high), (high, low))]
    return list(combinations(corners, 2))


def _length(side: NoiseSide, move: FloatArray) -> float:
    return float(np.linalg.norm(side.whitener() @ move))
