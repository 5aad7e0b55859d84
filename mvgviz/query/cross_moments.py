"""Cross-moments of two groups of columns: ``X_a X_bᵀ/n``, how each column of one group varies with each of the other.

One record changes it by ``D = (x_a x_bᵀ - y_a y_bᵀ)/n``. Whitened, ``u = A x_a``, ``v = B x_b``, its squared length is
convex in each of the four vectors, so the largest is at corners of the ranges. A few are tried one by one. For many,
with ``L`` the longest vector of a group and ``W`` the widest move in it,

    D = ½[(u - u')(v + v')ᵀ + (u + u')(v - v')ᵀ]  gives  n|D| <= 2 L_a L_b sin(min(alpha + beta, pi/2)),

``sin alpha = W_a/(2 L_a)``, since ``|u - u'|² + |u + u'|² <= 4 L_a²``. Nothing here is in the paper.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mvgviz.errors import refuse
from mvgviz.noise.directions import Directions
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.base import Derivation, Facts, Query, norm
from mvgviz.query.dataset import Dataset
from mvgviz.query.neighbours import Neighbours, WorstCase, longest_in, support
from mvgviz.query.prior import Guess, Weighing
from mvgviz.query.record_bound import RecordBound
from mvgviz.validation import FloatArray, frozen

_MOST_CORNERS = 10  # 2^20 pairs of records


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplacedProduct(Neighbours):
    """``D = (x_a x_bᵀ - y_a y_bᵀ)/n`` (``added``: ``± x_a x_bᵀ/n``); the ends of the ranges of two groups.

    ``levels``: whether some corners of the ranges are no records; then no worst case counts as exact.
    """

    rows: tuple[FloatArray, FloatArray] = field(repr=False)
    cols: tuple[FloatArray, FloatArray] = field(repr=False)
    n_records: float
    added: bool = False
    levels: bool = False

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """``at``: the change ``left rightᵀ`` of two records far apart: the furthest where all corners can be tried."""
        if not self.added and rows.size + cols.size <= _MOST_CORNERS:
            return self._by_corners(rows, cols)
        sides = (rows, self.rows), (cols, self.cols)
        longest = [longest_in(side, (low + high) / 2, (high - low) / 2) for side, (low, high) in sides]
        long, long_b = (math.sqrt(each.square) for each in longest)
        far = [np.where(np.abs(low) > np.abs(high), low, high) for _, (low, high) in sides]
        if self.added:
            nothing = np.zeros(rows.size), np.zeros(cols.size)
            known = not self.levels and all(each.signs is not None for each in longest)
            return self._case(long * long_b, known, nothing, far)
        moves = [math.sqrt(longest_in(side, np.zeros(side.size), high - low).square) for side, (low, high) in sides]
        angles = [math.asin(min(move / (2 * size), 1.0)) for move, size in zip(moves, (long, long_b), strict=True)]
        near = np.where(far[0] == self.rows[0], self.rows[1], self.rows[0])
        return self._case(2 * long * long_b * math.sin(min(sum(angles), math.pi / 2)), False, (near, far[1]), far)

    def _by_corners(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        ends = _corners(*self.rows), _corners(*self.cols)
        u, v = rows.whitener() @ ends[0], cols.whitener() @ ends[1]
        products = np.outer(np.sum(u**2, axis=0), np.sum(v**2, axis=0)).ravel()
        mixed = np.einsum("ij,kl->ikjl", u.T @ u, v.T @ v).reshape(products.size, products.size)
        squares = products[:, None] + products - 2 * mixed
        pair = [divmod(int(k), v.shape[1]) for k in np.unravel_index(squares.argmax(), squares.shape)]
        x, y = ((ends[0][:, i], ends[1][:, j]) for i, j in pair)
        return self._case(math.sqrt(max(float(squares.max()), 0.0)), not self.levels, x, y)

    def _case(self, size: float, exact: bool, x: Sequence[FloatArray], y: Sequence[FloatArray]) -> WorstCase:
        """From the largest ``n|D|`` and two records, each in its two groups of columns."""
        change = np.stack([y[0], -x[0]], axis=1) / self.n_records, np.stack([y[1], x[1]], axis=1)
        return WorstCase(size / self.n_records, exact, change)

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, np.maximum(*np.abs(self.rows)))


@dataclass(frozen=True, kw_only=True, eq=False)
class CrossMoments(Query):
    """``X_a X_bᵀ/n``, features of the one group × features of the other."""

    name, title, in_sentence = "cross", "cross-moments", "cross-moments"
    choice = "Cross-moments of two groups of columns"
    question = "how each column of one group varies with each of another"
    parameters = ("group",)
    takes_bound, more_steps = False, 3
    derivations: ClassVar = {
        "plain": Derivation((r"\|x_ax_b^{\mathsf T}\!-y_ay_b^{\mathsf T}\|_F\le 2L_aL_b\sin\min(\alpha+\beta,\pi/2)",
                             r"s_2\le\tfrac2n L_aL_b,\quad \gamma=L_aL_b,\quad L_a^2=\textstyle\sum_{i\in a}c_i^2"),
                            "Largest at corners of the ranges; few corners are tried one by one. sin α: half a group's "
                            "widest move over its longest record. For ranges around 0 one group changes its sign: "
                            "2 L L."),
        "added": Derivation((r"\|x_ax_b^{\mathsf T}\|_F=|x_a||x_b|", r"s_2=\tfrac1nL_aL_b,\quad \gamma=L_aL_b")),
    }
    neighbours: ReplacedProduct

    @classmethod
    def _facts(cls, table: Dataset, data: Dataset, bound: RecordBound | None, added: bool, **parameters: Any) -> Facts:
        first, second = map(data.only, _groups(data, parameters.get("group", ())))
        n, gamma = data.n_records / data.per_person, norm(first.largest_values) * norm(second.largest_values)
        return {"value": frozen(first.matrix @ second.matrix.T / data.n_records), "gamma": gamma,
                "neighbours": ReplacedProduct(rows=(first.lower, first.upper), cols=(second.lower, second.upper),
                                              n_records=n, added=added, levels=bool(data.levels)),
                "printed_sensitivity": (1 if added else 2) * gamma / n,
                "row_names": first.features, "col_names": second.features}

    @classmethod
    def fits(cls, table: Dataset) -> bool:
        return table.n_features > 1

    @classmethod
    def table_of(cls, table: Dataset, **parameters: Any) -> Dataset:
        rows = table.only(_groups(table, parameters.get("group", ()))[0])
        return replace(rows, range_origins=(table.ranges_origin,) * rows.n_features)  # the answer rests on all ranges

    def guess(self, table: Dataset | None) -> Guess:
        assert table is not None
        rows, (low, high) = table.only(map(table.position, self.row_names or ())), self.neighbours.cols
        middles = (rows.lower + rows.upper) / 2, (low + high) / 2
        spread = partial(_of_products, middles, (rows.widths**2 / 12, (high - low) ** 2 / 12), table.n_records)
        return Guess(answer=np.outer(*middles), spread=spread)

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        return np.maximum(*np.abs(self.neighbours.rows)), np.maximum(*np.abs(self.neighbours.cols))


def cross_moments(dataset: Dataset, group: Sequence[int | str] = (), *, neighbours: str = "replace") -> Query:
    """Ask for ``X_a X_bᵀ/n``: the ``group`` (names or positions; by default the first half) with all other columns."""
    return CrossMoments.ask(dataset, neighbours=neighbours, group=group)


def _groups(table: Dataset, group: Sequence[int | str]) -> tuple[list[int], list[int]]:
    first = sorted({table.position(feature, "group") for feature in group}) or list(range(table.n_features // 2))
    second = [k for k in range(table.n_features) if k not in first]
    refuse(not (first and second), "cross-moments need two groups: choose some of the columns, not all and not none")
    return first, second


def _corners(low: FloatArray, high: FloatArray) -> FloatArray:
    upper = np.arange(2**low.size) >> np.arange(low.size)[:, None] & 1
    return np.where(upper, high[:, None], low[:, None])


def _of_products(middles: tuple[FloatArray, FloatArray], variances: tuple[FloatArray, FloatArray], n_records: int,
                 weighing: Weighing | None) -> float:
    """``sum_j (sum_i Q_ii s_i E z_j² + mᵀQm s_j)/n``, for x and z evenly spread and Q how rows count."""
    (m, z), (s, t) = middles, variances
    q = np.eye(m.size) if weighing is None else weighing.matrix.T @ weighing.matrix
    return float(np.diag(q) @ s * np.sum(t + z**2) + m @ q @ m * t.sum()) / n_records
