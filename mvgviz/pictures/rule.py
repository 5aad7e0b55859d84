"""Everything that one record can change, in a plane, and the noise that hides it: the numbers of the picture.

Whatever the plane, the shadow of all changes on it lies inside the ellipse of mu standard deviations of the noise's
shadow: leaving coordinates out never lengthens a whitened difference. In the plane of two features of an unrotated
table or mean it is a rectangle, whose corners have ``(theta_i + theta_j) mu²`` of the whole square.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.directions import standard_basis
from mvgviz.noise.ties import eigen
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct
from mvgviz.query.record_bound import Ellipse
from mvgviz.validation import FloatArray

Point = tuple[float, float]
_WAYS, _FINE = 180, 3601  # ways to look, and records on the border
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


def changes_in_plane(design: NoiseDesign, pair: tuple[int, int], *, of_directions: bool) -> Changes | None:
    """Return what one record can change in the plane that is shown; None where no picture of it is known."""
    body, side = design.neighbours, design.directional_side
    if design.mode == "columns":
        return None
    turned = not side.is_diagonal
    in_plane, shadow = not turned or _turns_only(side.directions.matrix, pair), True
    corners: tuple[Point, ...]
    if isinstance(body, BoundedOuterProduct):
        if (of_directions and turned) or not _is_disc(body, pair):
            return None
        corners = _outline(body, pair, _within_ellipse(body, pair))
    elif isinstance(body, BoundedColumn):
        if of_directions or not in_plane:
            return None
        box = (body.widths if body.added else body.declared[1] - body.declared[0])[list(pair)] / body.divisor
        radii = (1 if body.added else 2) * body.ellipse.radius
        axes = radii / float(body.ellipse.weights[0] * math.sqrt(design.row_variances[0]))
        return Changes(corners=(), box=_point(box), axes=axes / body.divisor)
    elif isinstance(body, ReplacedColumn):
        widths = body.widths / body.divisor
        if of_directions and turned:
            corners = _shadow_of_box(side.directions.matrix[:, list(pair)], widths)
        else:
            across, up = _point(widths[list(pair)])
            corners, shadow = ((across, up), (-across, up), (-across, -up), (across, -up)), not in_plane
    elif isinstance(body, ReplacedOuterProduct) and not (of_directions and turned):
        corners = _outline(body, pair, _within_ranges(body, pair))
    else:
        return None
    return Changes(corners=corners, box=_point(np.abs(np.array(corners)).max(axis=0)), shadow=shadow,
                   still=isinstance(body, BoundedOuterProduct))


def _turns_only(w: FloatArray, pair: tuple[int, int]) -> bool:
    """Return whether the directions are the features themselves but for a turn within this plane."""
    others = np.delete(np.arange(w.shape[0]), list(pair))
    return bool(np.allclose(w[np.ix_(others, others)], np.eye(others.size), atol=1e-12))


def _shadow_of_box(plane: FloatArray, widths: FloatArray) -> tuple[Point, ...]:
    """Return the corners of the shadow of ``|d_i| <= widths_i``: the furthest corner each way."""
    ways = _ways(0.5, np.abs(plane).T @ widths)  # along an axis several corners may be as far
    signs = np.where(plane @ ways >= 0, 1.0, -1.0)
    return _distinct(plane.T @ (signs * widths[:, None]))


def _outline(body: ReplacedOuterProduct, pair: tuple[int, int], records: FloatArray) -> tuple[Point, ...]:
    """Return the furthest difference of second moments (a, b) and (b, b) each way; ``records``: a column each."""
    points = np.column_stack([records[0] * records[1], records[1] ** 2])
    most = body.largest_values[list(pair)]
    along = points @ _ways(0.0, most * most[1])
    first, last = points[along.argmax(axis=0)], points[along.argmin(axis=0)]
    # A record against an empty place, either way; or two records.
    ends = np.where((along.max(axis=0) >= -along.min(axis=0))[:, None], first, -last) if body.added else first - last
    return _distinct(ends.T / body.n_records)


def _within_ranges(body: ReplacedOuterProduct, pair: tuple[int, int]) -> FloatArray:
    """Return records with one feature at an end of its range, where their second moments can be largest."""
    low, high = body.lower[pair[1]], body.upper[pair[1]]
    others = np.append(np.linspace(low, high, _FINE), np.clip(0.0, low, high))
    return np.hstack([[np.full(others.size, end), others] for end in (body.lower[pair[0]], body.upper[pair[0]])])


def _is_disc(body: BoundedOuterProduct, pair: tuple[int, int]) -> bool:
    """Whether the records' shadow on this plane is what the ellipse and the ranges cut out of it: all else can be 0."""
    (low, high), directions = body.declared, body.ellipse.directions
    return bool((low <= 0).all() and (high >= 0).all()) and (
        directions.is_standard or _turns_only(directions.matrix, pair))


def _within_ellipse(body: BoundedOuterProduct, pair: tuple[int, int]) -> FloatArray:
    """Return records on the border of what the ellipse and the ranges, which hold 0, leave of the plane."""
    inverse = body.ellipse.inverse[list(pair)]
    root = np.linalg.cholesky(inverse @ inverse.T)
    turn, part = np.linspace(0, 2 * np.pi, _FINE), np.linspace(0, 1, _FINE)
    (a, c), (b, d) = (ends[list(pair)] for ends in body.declared)
    across, up, same = a + (b - a) * part, c + (d - c) * part, np.ones(_FINE)
    tried = np.hstack([root @ [np.cos(turn), np.sin(turn)],  # few of these lie where a long ellipse leaves the ranges
                       [a * same, up], [b * same, up], [across, c * same], [across, d * same]])
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.where(tried > 0, [[b], [d]], [[a], [c]]) / tried
        lengths = np.linalg.norm(np.linalg.solve(root, tried), axis=0)
        parts = np.vstack([np.where(tried == 0, 1.0, ends), 1 / lengths])
    return np.asarray(tried * np.minimum(parts.min(axis=0), 1.0))


def _ways(first: float, size: FloatArray) -> FloatArray:
    """Ways to look all around what is of this size, 2 × many; the first is that many steps from the axis."""
    turn = (np.arange(_WAYS) + first) * 2 * np.pi / _WAYS
    return np.vstack([np.cos(turn), np.sin(turn)]) / size[:, None]


def _distinct(points: FloatArray) -> tuple[Point, ...]:
    near = _SMALL * np.abs(points).max(axis=1, keepdims=True)
    new = (np.abs(points - np.roll(points, 1, axis=1)) > near).any(axis=0)
    return tuple(_point(point) for point in points[:, new].T)


def _point(values: FloatArray | Sequence[float]) -> Point:
    return float(values[0]), float(values[1])


LEVELS = (0.5, 0.9, 0.95)
RADII = tuple(math.sqrt(-2 * math.log1p(-level)) for level in LEVELS)


@dataclass(frozen=True, kw_only=True)
class RuleModel:
    """Axes of the ellipse: ``angle`` of the first (radians), ``std`` along both.

    ``kind`` "theorem": ``v = 1/(sqrt(theta) root_budget)``; "exact": ``v = h²/(kappa theta)``, with ``kappa = factor *
    total / worst(theta, angle)``; "bounded", shaped by clipping: ``std = scale s/sqrt(theta)``, ``s²`` along an axis
    from ``spread``, the entries (1, 1), (1, 2), (2, 2) of a typical record's second moments; "fixed": cannot be moved;
    "pure", box or Laplace noise: ``std`` as 1 over the share, one block where not ``apart``. ``gaussian``: whether the
    lowest possible Gaussian noise is shown. ``rest``: the share of all other directions. ``reach``: how far a record
    goes along the two features. ``across``: the variance from the other side of the matrix. ``records``: half an axis
    of the clipping ellipse in deviations, 0 without one. ``mu``: what the noise may spend; from ``epsilon`` and
    ``delta`` where it follows from them. ``groups``: how many directions get the share of each axis; ``joined``: how
    many share its block of box or Laplace noise.
    """

    kind: str
    std: tuple[float, float]
    angle: float
    across: float
    theta: tuple[float, float] = (0.0, 0.0)
    rest: float = 0.0
    reach: tuple[float, float] = (1.0, 1.0)
    root_budget: float = 1.0
    factor: float = 1.0
    total: float = 1.0
    spread: tuple[float, float, float] = (1.0, 0.0, 1.0)
    scale: float = 1.0
    records: float = 0.0
    rough: bool = False
    can_turn: bool = False
    apart: bool = True
    gaussian: bool = True
    mu: float = 1.0
    epsilon: float | None = None
    delta: float = 0.0
    groups: tuple[int, int] = (1, 1)
    joined: tuple[int, int] = (1, 1)
    changes: Changes | None = None

    @property
    def std_on_features(self) -> tuple[float, float]:
        """The standard deviation across and up, however the axes are turned."""
        c, s = math.cos(self.angle), math.sin(self.angle)
        return math.hypot(c * self.std[0], s * self.std[1]), math.hypot(s * self.std[0], c * self.std[1])


def rule_model(design: NoiseDesign, pair: tuple[int, int], *, of_directions: bool, split: FloatArray | None = None,
               groups: tuple[int, int] = (1, 1)) -> RuleModel:
    """Return the model for a plane. ``split``: the shares that shape an ellipse of records, if not the noise's own."""
    changes = changes_in_plane(design, pair, of_directions=of_directions)
    if design.is_pure and changes is not None:
        return _pure(design, pair, groups, changes)
    model = _in_plane(design, pair, of_directions, split)
    if len(design.blocks) > 1:  # a box and an ellipse have no outline in common
        return replace(model, kind="fixed", gaussian=False)
    asked = float(gaussian_mu(design.epsilon, design.delta))
    exact = design.guarantee == "exact"
    whole = exact and math.isclose(design.mu, asked, rel_tol=1e-9) and not design.bound_mu
    spent = math.sqrt(len(design.blocks[0].rows)) / design.blocks[0].std if design.blocks else design.mu
    return replace(model, mu=spent if exact else asked, epsilon=design.epsilon if whole else None,
                   gaussian=not design.blocks, delta=design.delta, groups=groups,
                   can_turn=model.can_turn and groups == (1, 1), changes=changes)


def _pure(design: NoiseDesign, pair: tuple[int, int], groups: tuple[int, int], changes: Changes) -> RuleModel:
    first, second = (next(block for block in design.blocks if k in block.rows) for k in pair)
    sizes, joins = (len(first.rows), len(second.rows)), first.family.joins
    theta = _point([block.epsilon / design.epsilon / len(block.rows) for block in (first, second)])
    return RuleModel(kind="pure", std=_point(np.sqrt(design.row_variances[list(pair)])), angle=0.0, across=1.0,
                     theta=theta, groups=sizes if joins else groups, joined=sizes, gaussian=False,
                     rest=1 - theta[0] - theta[1], mu=design.epsilon, epsilon=design.epsilon, delta=design.delta,
                     rough=joins and groups != sizes, apart=first is not second, reach=changes.box, changes=changes)


def _in_plane(design: NoiseDesign, pair: tuple[int, int], of_directions: bool, split: FloatArray | None) -> RuleModel:
    side, ellipse = design.directional_side, ellipse_of(design)
    across = _across(design, pair[1])
    movable, angle = of_directions or side.directions.is_standard, 0.0
    if not (of_directions or side.is_diagonal):
        block = side.directions.matrix[np.ix_(pair, pair)]  # a turn, where both directions lie in the features' plane
        if abs(float(np.sum(block**2)) - 2) < 1e-12 and np.linalg.det(block) > 0:
            movable, angle = True, math.atan2(block[1, 0], block[0, 0])
    if movable:
        if ellipse is not None:
            return _bounded(design, ellipse, pair, angle, design.theta if split is None else split,
                            can_turn=not of_directions)
        return _movable(design, pair, angle, across, can_turn=not of_directions)
    std, angle = _axes(across * side.covariance_of(list(pair)))
    records = 0.0 if ellipse is None else _records(design, ellipse, across)
    return RuleModel(kind="fixed", std=std, angle=angle, across=across, records=records)


def _axes(covariance: FloatArray) -> tuple[tuple[float, float], float]:
    """Standard deviations along both axes of a 2 × 2 covariance, the longer first, and the angle of that one."""
    values, vectors = eigen(covariance)
    angle = math.atan2(vectors[1, 1], vectors[0, 1])
    return (math.sqrt(values[1]), math.sqrt(max(values[0], 0.0))), angle - math.pi * round(angle / math.pi)


@dataclass(frozen=True, kw_only=True)
class TheoremPlane:
    """What a theorem asks for in the same plane: ``v = across/(sqrt(theta) root_budget)``, at ``epsilon``.

    Of other epsilons through ``constant`` and ``beta``. The noise beside an ellipse of records is ``factor`` times the
    exact one; ``std`` and ``angle`` are the axes of a shape that cannot be moved.
    """

    name: str
    epsilon: float
    constant: float
    beta: float
    root_budget: float
    across: float
    factor: float
    std: tuple[float, float]
    angle: float


def theorem_plane(asked: NoiseDesign, design: NoiseDesign, pair: tuple[int, int], *, of_directions: bool, name: str
                  ) -> TheoremPlane:
    """``asked``: the noise that a theorem asks for, of the same directions and shares as ``design``."""
    bound, across, side, shown = asked.bound, _across(asked, pair[1]), asked.directional_side, list(pair)
    assert bound is not None
    std, angle = _axes(across * (np.diag(side.variances[shown]) if of_directions else side.covariance_of(shown)))
    return TheoremPlane(
        name=name, epsilon=asked.epsilon, constant=bound.constant, beta=bound.beta, across=across,
        root_budget=math.sqrt(asked.precision_budget),
        factor=float(asked.direction_std().max() / design.direction_std().max()), std=std, angle=angle)


def ellipse_of(design: NoiseDesign) -> Ellipse | None:
    """Return the ellipse of records that the noise has its shape from, if there is one."""
    body = design.neighbours
    return body.ellipse if isinstance(body, BoundedColumn | BoundedOuterProduct) else None


def iid_std(iid: NoiseDesign, position: int) -> float:
    """Return the standard deviation of equal noise in the same picture."""
    return math.sqrt(_across(iid, position) * float(iid.directional_side.variances[0]))


def _across(design: NoiseDesign, position: int) -> float:
    return float(design.col_side.covariance_of([position])[0, 0]) if design.mode == "both" else 1.0


def _records(design: NoiseDesign, ellipse: Ellipse, across: float) -> float:
    """Half an axis of the ellipse in standard deviations: the same along every direction."""
    return ellipse.radius / float(ellipse.weights[0] * math.sqrt(across * design.row_variances[0]))


def _bounded(design: NoiseDesign, ellipse: Ellipse, pair: tuple[int, int], angle: float, split: FloatArray, *,
             can_turn: bool) -> RuleModel:
    body, across, shown = design.neighbours, _across(design, pair[1]), list(pair)
    assert isinstance(body, BoundedColumn | BoundedOuterProduct)
    theta, std = split[shown], np.sqrt(across * design.row_variances[shown])
    if can_turn:
        low, high = (ends[shown] - ellipse.centre[shown] for ends in body.declared)
        moments = np.diag((high - low) ** 2 / 12) + np.outer(low + high, low + high) / 4
    else:
        moments = np.diag(theta / ellipse.weights[shown] ** 2)
    spread = (float(moments[0, 0]), float(moments[0, 1]), float(moments[1, 1]))
    alone = isinstance(body, BoundedColumn) and design.guarantee == "exact" and math.isclose(  # the ranges do not help
        design.mu * body.divisor, 2 * _records(design, ellipse, 1.0), rel_tol=1e-9)
    return RuleModel(
        kind="bounded", std=_point(std), angle=angle, theta=_point(theta),
        rest=float(split.sum() - theta.sum()), across=across, spread=spread, can_turn=can_turn, rough=not alone,
        scale=float(std[0] * math.sqrt(theta[0])) / _spreads(spread, angle)[0],
        records=_records(design, ellipse, across))


def _spreads(spread: tuple[float, float, float], angle: float) -> tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    first, mixed, second = spread
    return (math.sqrt(c * c * first + 2 * c * s * mixed + s * s * second),
            math.sqrt(s * s * first - 2 * c * s * mixed + c * c * second))


def _movable(design: NoiseDesign, pair: tuple[int, int], angle: float, across: float, *, can_turn: bool) -> RuleModel:
    side, shown, exact = design.directional_side, list(pair), design.guarantee == "exact"
    theta, v, reach = _point(design.theta[shown]), _point(side.variances[shown]), (1.0, 1.0)
    std = (math.sqrt(across * v[0]), math.sqrt(across * v[1]))
    rest = float(design.theta.sum()) - theta[0] - theta[1]
    if exact and design.mode != "columns":
        # Where it can turn, the features' own ranges, not their shadows on turned axes.
        reach = _point(design.neighbours.reach(standard_basis(side.size) if can_turn else side.directions)[shown])
    h_now, total = _worst(reach, rest, theta, angle)
    return RuleModel(
        kind="exact" if exact else "theorem", std=std, angle=angle, theta=theta, rest=rest, reach=reach,
        root_budget=1 / (v[0] * math.sqrt(theta[0])), factor=h_now[0] ** 2 / (v[0] * theta[0]), total=total,
        across=across, can_turn=can_turn,
        rough=design.mode == "both" or (exact and not (can_turn and design.kind.degree == 1)))


def _worst(reach: tuple[float, float], rest: float, theta: tuple[float, float], angle: float
           ) -> tuple[tuple[float, float], float]:
    """``h`` along the two axes, and the worst whitened square without its common factor."""
    c, s = math.cos(angle), math.sin(angle)
    r1, r2 = reach
    h = (abs(c) * r1 + abs(s) * r2, abs(s) * r1 + abs(c) * r2)
    q = (theta[0] / h[0] ** 2, theta[1] / h[1] ** 2)
    corners = [q[0] * (c * r1 + sign * s * r2) ** 2 + q[1] * (-s * r1 + sign * c * r2) ** 2 for sign in (1, -1)]
    return h, rest + max(corners)
