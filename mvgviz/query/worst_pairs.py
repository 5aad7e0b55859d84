"""The neighbours that are hardest to hide: which record (or edge) is replaced by which, seen through the noise.

Where the worst case is exact this pair attains it; else it is the worst found, and reaches ``attained`` of the bound.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.counts import ReplacedCell
from mvgviz.query.cross_moments import ReplacedProduct
from mvgviz.query.group_means import ReplacedMember
from mvgviz.query.neighbours import FlippedEdge, ReplacedColumn, ReplacedOuterProduct
from mvgviz.query.pair_search import search_levels, search_move, search_records
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray

_SHOWN = 24


@dataclass(frozen=True, kw_only=True, eq=False)
class WorstPair:
    """``difference`` of the two answers, at most 24 columns, and its thin factors ``left rightᵀ``; ``before``,
    ``after``: the records, if any (of a table or mean: above the lowest declared values); ``words``: the change.
    """

    difference: FloatArray = field(repr=False)
    left: FloatArray = field(repr=False)
    right: FloatArray = field(repr=False)
    before: FloatArray | None
    after: FloatArray | None
    words: str
    attained: float


def worst_pair(query: Query, rows: NoiseSide | None = None, cols: NoiseSide | None = None) -> WorstPair:
    """Return the worst neighbours of ``query`` seen through the noise of these sides."""
    rows = NoiseSide.identity(query.rows) if rows is None else rows
    cols = (rows if query.symmetric else NoiseSide.identity(query.cols)) if cols is None else cols
    body = query.neighbours
    mu, _, at = body.worst(rows, cols)
    before = after = None
    words = "one record is added" if getattr(body, "added", False) else "one record is replaced by another"
    if isinstance(body, ReplacedColumn):
        before, after, words = _moved(body, at, rows)
        left, right, columns = ((after - before) / body.divisor)[:, None], np.zeros((query.cols, 1)), body.columns(cols)
        right[columns] = 1.0
        difference = np.zeros((query.rows, min(query.cols, _SHOWN)))
        difference[:, np.minimum(columns, difference.shape[1] - 1)] = left
    elif isinstance(body, ReplacedOuterProduct):
        if isinstance(body, BoundedOuterProduct):
            at = body.furthest_pair(rows, cols)
        elif at is None:
            at = _some_records(body, rows, cols) if body.added or body.levels else search_records(
                rows, cols, body.lower, body.upper)
        before, after = at
        # y yᵀ - x xᵀ through sum and difference, which does not cancel when x and y are close
        apart, together = after - before, (after + before) / 2
        left, right = np.stack([apart, together], axis=1) / body.n_records, np.stack([together, apart], axis=1)
        difference = left @ right.T
    elif isinstance(body, FlippedEdge):
        first, second = (_unit(query.rows, vertex) for vertex in at)
        left = (first - second)[:, None] if body.laplacian else np.stack([first, second], axis=1)
        right = left[:, ::-1]
        difference = left @ right.T
        words = f"the edge between vertex {at[0] + 1} and vertex {at[1] + 1} is added"
    elif isinstance(body, ReplacedProduct | ReplacedCell | ReplacedMember):
        left, right = at
        difference = left @ right.T[:, :_SHOWN]
    elif query.is_kernel:
        left, right, difference, words = _kernel_record(query, rows, cols)
    else:
        raise InputError(f"the {query.name} query has no records or edges to show")
    triangle = np.asarray(np.linalg.qr(cols.along(right), mode="r"))
    attained = min(float(np.linalg.norm(rows.along(left) @ triangle.T)) / mu, 1.0)
    return WorstPair(difference=difference, left=left, right=right, before=before, after=after, words=words,
                     attained=attained)


def _moved(body: ReplacedColumn, move: FloatArray | None, rows: NoiseSide) -> tuple[FloatArray, FloatArray, str]:
    """The records above the lowest declared values, and words; ``move``: what attains the worst case, if known."""
    words = "one record moves across its declared ranges"
    if isinstance(body, BoundedColumn):
        after, before = (record - body.declared[0] for record in body.furthest_pair(rows))
        words = "one record moves from one end of the bound to another"
    else:
        if move is None:  # a long one that keeps to one level of each set
            move = body.widest(rows.precision_diagonal()) if body.levels else search_move(rows, body.widths)
        before = _empty_place(body) if body.added else np.maximum(-move, 0.0)
        after = before + move
    return before, after, "a record at the far end is added" if body.added else words


def _empty_place(body: ReplacedColumn) -> FloatArray:
    """What it counts as, above the lowest declared values: the middle, of levels an equal part each."""
    place = body.widths.copy()
    for group in map(list, body.levels):
        place[group] /= len(group) - 1
    return place


def _some_records(body: ReplacedOuterProduct, rows: NoiseSide, cols: NoiseSide) -> tuple[FloatArray, FloatArray]:
    """An empty place and a long record; or two records far apart that have one level of each set."""
    weights = rows.precision_diagonal()
    record = body.largest_record(weights)
    if body.added:
        low, high = body.lower, body.upper
        m = rows.precision()
        for i in [*range(record.size)] * 4 if not body.levels else []:
            others = float(m[i] @ record - m[i, i] * record[i])
            ends = np.array([low[i], high[i]])
            record[i] = ends[int(np.argmax(m[i, i] * ends**2 + 2 * others * ends))]
        return np.zeros(record.size), record
    other = np.clip(0.0, body.lower, body.upper)
    for group in map(list, body.levels):
        least = next(k for k in group if record[k] != body.upper[k])
        other[group] = body.lower[group]
        other[least] = body.upper[least]
    return search_levels(rows, cols, other, record, low=body.lower, high=body.upper, levels=body.levels)


def _kernel_record(query: Query, rows: NoiseSide, cols: NoiseSide) -> tuple[FloatArray, FloatArray, FloatArray, str]:
    """All records alike and one of them moves to the far corner: its row and column fall together.

    It is the one that the noise hides least. With ``e`` its unit vector and ``s = 1 - e``: ``D = -drop (e sᵀ + s eᵀ)``,
    whose square through M and P is ``drop² (M_ee P_ss + M_ss P_ee + 2 M_es P_es)``.
    """
    parts = []
    for side in (rows, cols):
        of_all, own = side.precise(np.ones((side.size, 1)))[:, 0], side.precision_diagonal()
        parts.append((own, of_all.sum() - 2 * of_all + own, of_all - own))
    (m, m_rest, m_cross), (p, p_rest, p_cross) = parts
    leaver = _unit(query.rows, int(np.argmax(m * p_rest + m_rest * p + 2 * m_cross * p_cross)))
    drop, shown = query.sensitivity / math.sqrt(2 * (query.rows - 1)), min(query.cols, _SHOWN)
    left, right = -drop * np.stack([leaver, 1 - leaver], axis=1), np.stack([1 - leaver, leaver], axis=1)
    difference = np.zeros((shown, shown))
    difference[0, 1:] = difference[1:, 0] = -drop
    end = "corner of the ranges" if query.bound is None else "side of the bound"
    words = f"one record leaves the others, which are all alike, for the far {end}"
    return left, right, difference, words


def _unit(size: int, position: int) -> FloatArray:
    return np.asarray(np.eye(1, size, position)[0])
