"""How far apart two neighbouring answers can be when every record lies in an ellipse as well as in its ranges.

With ``z`` the record in coordinates where the ellipse is a ball of radius R, and ``q1 >= q2`` the largest
eigenvalues of the noise's precision there:

* a table or mean moves by at most ``2R sqrt(q1)``;
* second moments about the centre, by at most ``R² sqrt(q1² + q2²)/n`` (``z = R e1`` becomes ``z' = R e2``).

The ranges hold too, so the least of several bounds is taken. It is called exact when two records that
are inside both attain it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.noise.directions import Directions
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.neighbours import (
    ReplacedColumn,
    ReplacedOuterProduct,
    WorstCase,
    WorstMove,
    WorstRecords,
    support,
)
from mvgviz.query.pair_search import search_move, search_records
from mvgviz.query.record_bound import Ellipse
from mvgviz.validation import FloatArray

_ATTAINED = 1 - 1e-10


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedColumn(ReplacedColumn):
    """One column moves from one record of the ellipse to another; ``lower`` and ``upper`` hold them too.

    ``declared``: the widths of the ranges before the bound cut them, in which a share is counted.
    """

    ellipse: Ellipse = field(repr=False)
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    declared: FloatArray = field(repr=False)

    def worst_move(self, rows: NoiseSide, cols: NoiseSide) -> WorstMove:
        """The least of what the ellipse, the ranges and both together allow."""
        box = super().worst_move(rows, cols)
        scale = math.sqrt(cols.largest_precision_diagonal()) / self.divisor
        bounds = [box.case.mu, 2 * float(self.ellipse.through(rows)[0][0]) * scale]
        if rows.is_diagonal and self.ellipse.directions.is_standard:
            bounds.append(self._filled(rows)[0] * scale)
        x, y = self.furthest_pair(rows)
        exact = _length(rows, x - y) * scale >= min(bounds) * _ATTAINED
        return WorstMove(WorstCase(min(bounds), exact), x - y if exact else None, box.column)

    def furthest_pair(self, rows: NoiseSide) -> tuple[FloatArray, FloatArray]:
        """Two records inside ellipse and ranges, far apart through the noise: the furthest where that is exact."""
        moves = [self.ellipse.through(rows)[1][:, 0], search_move(rows, self.widths) / 2]
        if rows.is_diagonal and self.ellipse.directions.is_standard:
            moves.append(self._filled(rows)[1] / 2)
        pairs = [(self._inside(move), self._inside(-move)) for move in moves]
        return max(pairs, key=lambda pair: _length(rows, pair[0] - pair[1]))

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, self.declared)

    def _filled(self, rows: NoiseSide) -> tuple[float, FloatArray]:
        """Unrotated: the squared move is spent where the noise hides least, up to each feature's width."""
        weights = self.ellipse.weights
        prices = rows.precisions / weights**2
        parts = _fill(4 * self.ellipse.radius**2, (weights * self.widths) ** 2, prices)
        return math.sqrt(float(parts @ prices)), np.sqrt(parts) / weights

    def _inside(self, move: FloatArray) -> FloatArray:
        return _pulled(self.ellipse, self.lower, self.upper, self.ellipse.centre + move)


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedOuterProduct(ReplacedOuterProduct):
    """``D = (x xᵀ - x'x'ᵀ)/n``, both records in an ellipse about 0 and in [lower, upper].

    ``declared``: the largest values of the ranges before the bound cut them, in which a share is counted.
    """

    ellipse: Ellipse = field(repr=False)
    declared: FloatArray = field(repr=False)

    def worst_records(self, rows: NoiseSide, cols: NoiseSide) -> WorstRecords:
        """The least of what the ellipse, the ranges and both together allow."""
        box = super().worst_records(rows, cols)
        axes = self.ellipse.through(rows)[0]
        other = axes if cols is rows else self.ellipse.through(cols)[0]
        bounds = [box.case.mu, float(np.linalg.norm((axes * other)[:2])) / self.n_records]
        if cols is rows and rows.is_diagonal and self.ellipse.directions.is_standard:
            bounds.append(math.sqrt(2) * self._longest_square(rows) / self.n_records)
        pair = self._furthest_of(rows, cols, [box.records])
        exact = self._distance(rows, cols, pair) >= min(bounds) * _ATTAINED
        return WorstRecords(WorstCase(min(bounds), exact), pair if exact else None)

    def furthest_pair(self, rows: NoiseSide, cols: NoiseSide) -> tuple[FloatArray, FloatArray]:
        """Two records inside ellipse and ranges, far apart through the noise: the furthest where that is exact."""
        box = super().worst_records(rows, cols).records
        return self._furthest_of(rows, cols, [box, search_records(rows, cols, self.lower, self.upper)])

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, self.declared)

    def _furthest_of(self, rows: NoiseSide, cols: NoiseSide, found: list[tuple[FloatArray, FloatArray] | None]
                     ) -> tuple[FloatArray, FloatArray]:
        """The best of these pairs and of the ends of the two longest half-axes, all pulled inside."""
        moves = self.ellipse.through(rows)[1]
        second = moves[:, 1] if moves.shape[1] > 1 else np.zeros(1)
        ends = [[self._inside(sign * move) for sign in (1, -1)] for move in (moves[:, 0], second)]
        pairs = [(x, y) for x in ends[0] for y in ends[1]]
        pairs += [(self._inside(pair[0]), self._inside(pair[1])) for pair in found if pair is not None]
        return max(pairs, key=lambda pair: self._distance(rows, cols, pair))

    def _longest_square(self, side: NoiseSide) -> float:
        """Unrotated: the longest record through the noise, filled where the noise hides least."""
        weights = self.ellipse.weights
        prices = side.precisions / weights**2
        return float(_fill(self.ellipse.radius**2, (weights * self.largest_values) ** 2, prices) @ prices)

    def _inside(self, record: FloatArray) -> FloatArray:
        return _pulled(self.ellipse, self.lower, self.upper, record)

    def _distance(self, rows: NoiseSide, cols: NoiseSide, pair: tuple[FloatArray, FloatArray]) -> float:
        x, y = pair
        left, right = rows.whitener(), cols.whitener()
        apart = np.outer(left @ x, right @ x) - np.outer(left @ y, right @ y)
        return float(np.linalg.norm(apart)) / self.n_records


def _pulled(ellipse: Ellipse, lower: FloatArray, upper: FloatArray, record: FloatArray) -> FloatArray:
    """The record as it would be asked about: in its ranges, then drawn to the centre until the ellipse holds it."""
    clipped = np.clip(record, lower, upper)
    part = float(ellipse.parts(clipped[:, None])[0])
    return np.asarray(ellipse.centre + part * (clipped - ellipse.centre))


def _length(side: NoiseSide, move: FloatArray) -> float:
    return float(np.linalg.norm(side.whitener() @ move))


def _fill(total: float, caps: FloatArray, prices: FloatArray) -> FloatArray:
    """Non-negative parts of at most ``total`` together and ``caps`` each, the dearest first."""
    order = np.argsort(-prices, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(caps[order])[:-1]])
    parts = np.zeros(caps.size)
    parts[order] = np.clip(total - before, 0.0, caps[order])
    return parts
