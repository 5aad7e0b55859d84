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
        scale = math.sqrt(cols.largest_precision_diagonal()) / self.divisor
        box = super().worst_move(rows, cols)
        axes, moves = self.ellipse.through(rows)
        bounds = [box.case.mu, 2 * float(axes[0]) * scale]
        found = [box.move, 2 * moves[:, 0]]
        if rows.is_diagonal and self.ellipse.directions.is_standard:
            filled, filled_move = self._filled(rows)
            bounds.append(filled * scale)
            found.append(filled_move)
        mu = min(bounds)
        for move in found:
            if move is not None and self._fits(move) and self._length(rows, move) * scale >= mu * _ATTAINED:
                return WorstMove(WorstCase(mu, True), move, box.column)
        return WorstMove(WorstCase(mu, False), None, box.column)

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, self.declared)

    def _filled(self, rows: NoiseSide) -> tuple[float, FloatArray]:
        """Unrotated: the squared move is spent where the noise hides least, up to each feature's width."""
        weights = self.ellipse.weights
        prices = rows.precisions / weights**2
        parts = _fill(4 * self.ellipse.radius**2, (weights * self.widths) ** 2, prices)
        return math.sqrt(float(parts @ prices)), np.sqrt(parts) / weights

    def _fits(self, move: FloatArray) -> bool:
        """Whether two records this far apart, about the centre, are inside ellipse and ranges."""
        ends = self.ellipse.centre + move / 2, self.ellipse.centre - move / 2
        return all(_within(self.ellipse, self.lower, self.upper, end) for end in ends)

    def _length(self, rows: NoiseSide, move: FloatArray) -> float:
        return float(np.linalg.norm(rows.whitener() @ move))


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
        axes, moves = self.ellipse.through(rows)
        other = axes if cols is rows else self.ellipse.through(cols)[0]
        two = float(np.linalg.norm((axes * other)[:2]))
        bounds = [box.case.mu, two / self.n_records]
        if cols is rows and rows.is_diagonal and self.ellipse.directions.is_standard:
            bounds.append(math.sqrt(2) * self._longest_square(rows) / self.n_records)
        mu = min(bounds)
        second = moves[:, 1] if axes.size > 1 else np.zeros(1)
        for pair in (box.records, (self._turned(moves[:, 0]), self._turned(second))):
            if pair is not None and self._fits(pair) and self._distance(rows, cols, pair) >= mu * _ATTAINED:
                return WorstRecords(WorstCase(mu, True), pair)
        return WorstRecords(WorstCase(mu, False), None)

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, self.declared)

    def _longest_square(self, side: NoiseSide) -> float:
        """Unrotated: the longest record through the noise, filled where the noise hides least."""
        weights = self.ellipse.weights
        prices = side.precisions / weights**2
        return float(_fill(self.ellipse.radius**2, (weights * self.largest_values) ** 2, prices) @ prices)

    def _turned(self, record: FloatArray) -> FloatArray:
        """The record or its opposite, which has the same outer product: the one that the ranges hold."""
        return record if _within(self.ellipse, self.lower, self.upper, record) else -record

    def _fits(self, pair: tuple[FloatArray, FloatArray]) -> bool:
        return all(_within(self.ellipse, self.lower, self.upper, record) for record in pair)

    def _distance(self, rows: NoiseSide, cols: NoiseSide, pair: tuple[FloatArray, FloatArray]) -> float:
        x, y = pair
        left, right = rows.whitener(), cols.whitener()
        apart = np.outer(left @ x, right @ x) - np.outer(left @ y, right @ y)
        return float(np.linalg.norm(apart)) / self.n_records


def _fill(total: float, caps: FloatArray, prices: FloatArray) -> FloatArray:
    """Non-negative parts of at most ``total`` together and ``caps`` each, the dearest first."""
    order = np.argsort(-prices, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(caps[order])[:-1]])
    parts = np.zeros(caps.size)
    parts[order] = np.clip(total - before, 0.0, caps[order])
    return parts


def _within(ellipse: Ellipse, lower: FloatArray, upper: FloatArray, record: FloatArray) -> bool:
    slack = 1e-12 * (np.abs(lower) + np.abs(upper))
    return ellipse.holds(record) and bool(((record >= lower - slack) & (record <= upper + slack)).all())
