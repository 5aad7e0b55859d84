"""Everything that one record can change, in the plane of two features or two directions of an answer.

Whatever the plane, the shadow of all changes on it lies inside the ellipse of mu standard deviations of the noise's
shadow: leaving coordinates out never lengthens a whitened difference. In the plane of two features of an unrotated
table or mean it is a rectangle, whose corners have ``(theta_i + theta_j) mu²`` of the whole square.
"""

import math
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
    whole, so that none of these need reach as far as the noise allows.
    """

    corners: tuple[Point, ...] = field(repr=False)
    box: Point
    axes: float = 0.0
    shadow: bool = False


def box_changes(reach: Point) -> Changes:
    """A rectangle."""
    across, up = reach
    return Changes(corners=((across, up), (-across, up), (-across, -up), (across, -up)), box=reach)


def changes_in_plane(design: NoiseDesign, pair: tuple[int, int], *, of_directions: bool) -> Changes | None:
    """What one record can change in the plane that is shown; None where no picture of it is known."""
    body, side = design.neighbours, design.directional_side
    if design.mode == "columns" or isinstance(body, BoundedOuterProduct):
        return None
    turned = not side.is_diagonal
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
    most = np.maximum(np.abs(body.lower), np.abs(body.upper))[[a, b]]
    ends = []
    for across, up in _ways(0.0, most * most[1]).T:
        with np.errstate(divide="ignore", invalid="ignore"):
            tops = [np.nan_to_num(-across * e / (2 * up)) for e in (body.lower[a], body.upper[a])]
        points = np.array([(e * s, s * s) for e, top in zip((body.lower[a], body.upper[a]), tops, strict=True)
                           for s in (low, high, float(np.clip(top, low, high)))])
        along = points @ np.array([across, up])
        if body.added:  # a record against an empty place, either way
            ends.append(points[along.argmax()] if along.max() >= -along.min() else -points[along.argmin()])
        else:
            ends.append(points[along.argmax()] - points[along.argmin()])
    return _distinct(np.array(ends).T / body.n_records)


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
