"""The neighbours that are hardest to hide: which record (or edge) is replaced by which.

For a query and the noise on its two sides; for a look at the query alone, take no noise
(unit variance everywhere). ``attained`` is how much of the worst-case ``mu`` this pair
reaches: 1 where the worst case is exact, less where only a bound is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.neighbours import FlippedEdge, ReplacedColumn, ReplacedOuterProduct
from mvgviz.queries import Query
from mvgviz.sides import NoiseSide
from mvgviz.validation import FloatArray

_SHOWN = 24
_GRID = 33
_SWEEPS = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class WorstPair:
    """``difference`` of the two answers, at most 24 columns of it (the rest are zero or alike).

    ``before`` and ``after`` are the two records, features in order, or None; ``words`` says what changed.
    """

    difference: FloatArray = field(repr=False)
    before: FloatArray | None
    after: FloatArray | None
    words: str
    attained: float


def worst_pair(query: Query, rows: NoiseSide | None = None, cols: NoiseSide | None = None) -> WorstPair:
    """The worst neighbours of ``query`` seen through the noise of these sides."""
    rows = NoiseSide.identity(query.rows) if rows is None else rows
    cols = (rows if query.symmetric else NoiseSide.identity(query.cols)) if cols is None else cols
    body = query.neighbours
    if isinstance(body, ReplacedColumn):
        return _replaced_column(query, body, rows, cols)
    if isinstance(body, ReplacedOuterProduct):
        return _replaced_outer_product(body, rows, cols)
    if isinstance(body, FlippedEdge):
        return _flipped_edge(query, body, rows, cols)
    if query.name == "rbf kernel":
        return _replaced_kernel_record(query)
    raise InputError(f"a {query.name} query has no records or edges to show")


def _replaced_column(query: Query, body: ReplacedColumn, rows: NoiseSide, cols: NoiseSide) -> WorstPair:
    """Signs by ascent: each feature moves the way that lengthens the whitened difference."""
    m, r = rows.precision(), body.widths
    best = r
    starts = [np.ones(r.size)]
    if not rows.is_diagonal:
        starts += list(np.where(rows.directions.matrix.T >= 0, 1.0, -1.0))
    for signs in starts:
        d = signs * r
        for _ in range(_SWEEPS):
            d = r * np.where(m @ d >= 0, 1.0, -1.0)
        if d @ m @ d > best @ m @ best:
            best = d
    column = int(np.argmax(cols.precision_diagonal())) if not cols.is_identity else 0
    shown = min(query.cols, _SHOWN)
    difference = np.zeros((query.rows, shown))
    difference[:, min(column, shown - 1)] = best / body.divisor
    mu = math.sqrt(best @ m @ best) * math.sqrt(cols.largest_precision_diagonal()) / body.divisor
    return WorstPair(difference=difference, before=np.where(best > 0, 0.0, r), after=np.where(best > 0, r, 0.0),
                     words="one record moves across the whole declared range of every feature",
                     attained=mu / body.worst(rows, cols).mu)


def _replaced_outer_product(body: ReplacedOuterProduct, rows: NoiseSide, cols: NoiseSide) -> WorstPair:
    """By ascent over one feature of one record at a time, from a corner and its opposites."""
    side = rows if rows is cols else NoiseSide.identity(rows.size)
    precision, low, high = side.precision(), body.lower, body.upper
    size = low.size
    largest = np.where(np.abs(low) > np.abs(high), low, high)
    nearest = np.clip(0.0, low, high)
    alternate = np.where(np.arange(size) % 2 == 0, high, low)
    best_value, best = -1.0, (largest, nearest)
    for start in (nearest, alternate, np.where(np.arange(size) < size // 2, high, low), low):
        value, pair = _ascend(precision, low, high, (largest, start))
        if value > best_value:
            best_value, best = value, pair
    x, y = best
    worst = body.worst(side, side).mu
    return WorstPair(difference=(np.outer(y, y) - np.outer(x, x)) / body.n_records, before=x, after=y,
                     words="one record is replaced by another",
                     attained=min(math.sqrt(best_value) / body.n_records / worst, 1.0))


def _ascend(precision: FloatArray, low: FloatArray, high: FloatArray, start: tuple[FloatArray, FloatArray]
            ) -> tuple[float, tuple[FloatArray, FloatArray]]:
    """The square ``(|s|²|t|² + (s·t)²)/2`` of sum s and difference t, raised feature by feature.

    Moving feature i of one record by ``a`` moves s by ``a e_i`` and t by ``±a e_i``, so that
    ``M s`` and ``M t`` are all a step needs.
    """
    x, y = start[0].copy(), start[1].copy()
    grid = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _GRID)
    grid[:, -1] = high
    value = before = -1.0
    for _ in range(_SWEEPS):
        s, t = x + y, x - y
        ms, mt = precision @ s, precision @ t  # anew in every sweep: rounding does not pile up
        ss, tt, st = float(s @ ms), float(t @ mt), float(s @ mt)
        value = (ss * tt + st * st) / 2
        if value <= before * (1 + 1e-12):
            break
        before = value
        for record, sign in ((y, -1.0), (x, 1.0)):
            for i in range(record.size):
                a, own = grid[i] - record[i], precision[i, i]
                sss = ss + a * (2 * ms[i] + a * own)
                ttt = tt + a * (2 * sign * mt[i] + a * own)
                stt = st + a * (sign * ms[i] + mt[i] + sign * a * own)
                values = (sss * ttt + stt * stt) / 2
                k = int(values.argmax())
                if values[k] > value:
                    value, ss, tt, st = float(values[k]), float(sss[k]), float(ttt[k]), float(stt[k])
                    record[i] = grid[i, k]
                    ms = ms + a[k] * precision[i]
                    mt = mt + sign * a[k] * precision[i]
    return value, (x, y)


def _flipped_edge(query: Query, body: FlippedEdge, rows: NoiseSide, cols: NoiseSide) -> WorstPair:
    squares = body.squares(rows, cols)
    i, j = (int(k) for k in np.unravel_index(int(np.argmax(squares)), squares.shape))
    difference = np.zeros((query.rows, query.cols))
    difference[i, j] = difference[j, i] = -1.0 if body.laplacian else 1.0
    if body.laplacian:
        difference[i, i] = difference[j, j] = 1.0
    return WorstPair(difference=difference, before=None, after=None, attained=1.0,
                     words=f"the edge between vertex {i + 1} and vertex {j + 1} is added")


def _replaced_kernel_record(query: Query) -> WorstPair:
    """All records alike and one of them moves to the far corner: its row and column fall together."""
    shown = min(query.cols, _SHOWN)
    drop = query.sensitivity / math.sqrt(2 * (query.rows - 1))
    difference = np.zeros((shown, shown))
    difference[0, 1:] = difference[1:, 0] = -drop
    return WorstPair(difference=difference, before=None, after=None, attained=1.0,
                     words="one record leaves the others, which are all alike, for the far corner of the ranges")
