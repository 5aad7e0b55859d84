"""Everything that one record can change, in the plane of two features or two directions of an answer.

Whatever the plane, the shadow of all changes on it lies inside the ellipse of mu standard deviations of the noise's
shadow: leaving coordinates out never lengthens a whitened difference. In the plane of two features of an unrotated
table or mean it is a rectangle, whose corners have ``(theta_i + theta_j) mu²`` of the whole square.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct
from mvgviz.validation import FloatArray

Point = tuple[float, float]
_WAYS = 180
_SMALL = 1e-9


@dataclass(frozen=True, kw_only=True)
class Changes:
    """The corners of the changes' outline; or, inside an ellipse of records, its half-axes in standard deviations.

    ``box``: the most that the ranges allow across and up. ``shadow``: changes along other directions take part in the
    whole, so that none of these need reach as far as the noise allows. ``still``: they hold for the shape as it is,
    not for one that is being dragged.
    """

    corners: tuple[Point, ...] = field(repr=False)
    box: Point
    axes: float = 0.0
    shadow: bool = False
    still: bool = False


def box_changes(reach: Point) -> Changes:
    """A rectangle."""
    across, up = reach
    return Changes(corners=((across, up), (-across, up), (-across, -up), (across, -up)), box=reach)


def changes_in_plane(design: NoiseDesign, pair: tuple[int, int], *, of_directions: bool) -> Changes | None:
    """What one record can change in the plane that is shown; None where no picture of it is known."""
    body, side = design.neighbours, design.directional_side
    if design.mode == "columns":
        return None
    turned = not side.is_diagonal
    if isinstance(body, BoundedOuterProduct):
        if (of_directions and turned) or not _is_disc(body, pair):
            return None
        corners = _outline(lambda way: _most_within(body, pair, way), _largest_moments(body, pair), body.n_records,
                           added=body.added)
        return Changes(corners=corners, box=_extent(corners), shadow=True, still=True)
    in_plane = not turned or _turns_only(side.directions.matrix, pair)
    if isinstance(body, BoundedColumn):
        if of_directions or not in_plane:
            return None
        box = (body.widths if body.added else body.declared[1] - body.declared[0])[list(pair)] / body.divisor
        radii = (1 if body.added else 2) * body.ellipse.radius
        axes = radii / float(body.ellipse.weights[0] * math.sqrt(design.row_variances[0]))
        return Changes(corners=(), box=_point(box), axes=axes / body.divisor)
    if isinstance(body, ReplacedColumn):
        widths = body.widths / body.divisor
        if of_directions and turned:
            corners = _shadow_of_box(side.directions.matrix[:, list(pair)], widths)
            return Changes(corners=corners, box=_extent(corners), shadow=True)
        found = box_changes(_point(widths[list(pair)]))
        return found if in_plane else Changes(corners=found.corners, box=found.box, shadow=True)
    if isinstance(body, ReplacedOuterProduct) and not (of_directions and turned):
        corners = _second_moments(body, pair)
        return Changes(corners=corners, box=_extent(corners), shadow=True)
    return None


def _turns_only(w: FloatArray, pair: tuple[int, int]) -> bool:
    """Whether the directions are the features themselves but for a turn within this plane."""
    others = np.delete(np.arange(w.shape[0]), list(pair))
    return bool(np.allclose(w[np.ix_(others, others)], np.eye(others.size), atol=1e-12))


def _shadow_of_box(plane: FloatArray, widths: FloatArray) -> tuple[Point, ...]:
    """The corners of the shadow of ``|d_i| <= widths_i``: the furthest corner each way."""
    ways = _ways(0.5, np.abs(plane).T @ widths)  # along an axis several corners may be as far
    signs = np.where(plane @ ways >= 0, 1.0, -1.0)
    return _distinct(plane.T @ (signs * widths[:, None]))


def _second_moments(body: ReplacedOuterProduct, pair: tuple[int, int]) -> tuple[Point, ...]:
    """The outline of ``(x_a x_b - x'_a x'_b, x_b² - x'_b²)/n``: the entries (a, b) and (b, b), with both records free.

    Each way the furthest of one record: with ``x_a`` at an end of its range a parabola in ``x_b``.
    """
    a, b = pair
    low, high = body.lower[b], body.upper[b]

    def records(way: FloatArray) -> FloatArray:
        return np.array([(e, s) for e in (body.lower[a], body.upper[a])
                         for s in (low, high, float(np.clip(_top(way, e), low, high)))])

    return _outline(records, _largest_moments(body, pair), body.n_records, added=body.added)


def _outline(records: Callable[[FloatArray], FloatArray], size: FloatArray, n_records: float, *,
             added: bool = False) -> tuple[Point, ...]:
    """The furthest difference of second moments each way; ``records``: those to try for a way, a row each."""
    ends = []
    for way in _ways(0.0, size).T:
        tried = records(way)
        points = np.column_stack([tried[:, 0] * tried[:, 1], tried[:, 1] ** 2])
        along = points @ way
        if added:  # a record against an empty place, either way
            ends.append(points[along.argmax()] if along.max() >= -along.min() else -points[along.argmin()])
        else:
            ends.append(points[along.argmax()] - points[along.argmin()])
    return _distinct(np.array(ends).T / n_records)


def _top(way: FloatArray, end: float) -> float:
    """Where ``across end s + up s²`` turns."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nan_to_num(-way[0] * end / (2 * way[1])))


def _largest_moments(body: ReplacedOuterProduct, pair: tuple[int, int]) -> FloatArray:
    most = body.largest_values[list(pair)]
    return np.asarray(most * most[1])


def _is_disc(body: BoundedOuterProduct, pair: tuple[int, int]) -> bool:
    """Whether the records' shadow on this plane is what the ellipse and the ranges cut out of it: all else can be 0."""
    low, high = body.declared
    directions = body.ellipse.directions
    return bool((low <= 0).all() and (high >= 0).all()) and (
        directions.is_standard or _turns_only(directions.matrix, pair))


def _most_within(body: BoundedOuterProduct, pair: tuple[int, int], way: FloatArray) -> FloatArray:
    """Where ``across x_a x_b + up x_b²`` can be largest or least over ``xᵀQx <= R²`` and the ranges, a row each.

    At 0, where an edge of the ranges crosses the ellipse, on an edge where the parabola turns, and on the ellipse
    along the eigenvectors of the form.
    """
    plane = list(pair)
    inverse = body.ellipse.inverse[plane]
    shape = inverse @ inverse.T  # R² Q^-1
    low, high = body.declared[0][plane], body.declared[1][plane]
    q = np.linalg.inv(shape)
    tried = [(0.0, 0.0)]
    for axis in (0, 1):
        for end in (low[axis], high[axis]):
            inner = (q[0, 1] * end) ** 2 - q[1 - axis, 1 - axis] * (q[axis, axis] * end * end - 1)
            if inner < 0:
                continue
            roots = (-q[0, 1] * end + np.array([-1, 1]) * math.sqrt(inner)) / q[1 - axis, 1 - axis]
            first, last = max(roots[0], low[1 - axis]), min(roots[1], high[1 - axis])
            if first <= last:
                others = (first, last, float(np.clip(_top(way, end), first, last)) if axis == 0 else first)
                tried += [(end, other) if axis == 0 else (other, end) for other in others]
    root = np.linalg.cholesky(shape)
    form = root.T @ np.array([[0.0, way[0] / 2], [way[0] / 2, way[1]]]) @ root
    for vector in (root @ np.linalg.eigh(form)[1]).T:
        tried += [_point(point) for point in (vector, -vector) if (point >= low).all() and (point <= high).all()]
    return np.array(tried)


def _ways(first: float, size: FloatArray) -> FloatArray:
    """Ways to look all around what is of this size, 2 × many; the first is that many steps from the axis."""
    turn = (np.arange(_WAYS) + first) * 2 * np.pi / _WAYS
    return np.vstack([np.cos(turn), np.sin(turn)]) / size[:, None]


def _distinct(points: FloatArray) -> tuple[Point, ...]:
    """The points in their order, without those that repeat the one before."""
    near = _SMALL * np.abs(points).max(axis=1, keepdims=True)
    new = (np.abs(points - np.roll(points, 1, axis=1)) > near).any(axis=0)
    return tuple(_point(point) for point in points[:, new].T)


def _extent(corners: tuple[Point, ...]) -> Point:
    return _point(np.abs(np.array(corners)).max(axis=0))


def _point(values: FloatArray) -> Point:
    return float(values[0]), float(values[1])
