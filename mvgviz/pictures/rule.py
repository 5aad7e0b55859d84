"""The noise in the plane of two features or two directions, as numbers that a browser can move.

``RuleModel`` says how the standard deviations along the two axes follow from their shares of the budget and from the
angle, so that a picture can answer a drag without the server. It is exact for theorems and for table and mean queries;
elsewhere it is close ("rough") and the design itself, computed after the drag, has the last word. Records inside an
ellipse lie in the very shape of the noise, at another scale. Beside it stands everything that one record can change
(:mod:`mvgviz.figures.shared.one_change`): noise is private when that lies inside the ellipse of mu standard deviations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError
from mvgviz.figures.shared.one_change import Changes, box_changes, changes_in_plane
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.directions import standard_basis
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.record_bound import Ellipse
from mvgviz.validation import FloatArray

LEVELS = (0.5, 0.9, 0.95)
RADII = tuple(math.sqrt(-2 * math.log1p(-level)) for level in LEVELS)


@dataclass(frozen=True, kw_only=True)
class RuleModel:
    """Axes of the ellipse: ``angle`` of the first (radians), ``std`` along both.

    ``kind`` "theorem": ``v = 1/(sqrt(theta) root_budget)``; "exact": ``v = h²/(kappa theta)``
    with ``kappa = factor * total / worst(theta, angle)``; "bounded", the shape of an ellipse of
    records: ``std = scale s/sqrt(theta)``, ``s²`` along an axis from ``spread``, the entries (1, 1),
    (1, 2), (2, 2) of an evenly spread record's second moments; "fixed": cannot be moved. ``rest``
    is the share of all other directions, ``reach`` how far a record goes along the two
    features, ``across`` the variance that the other side of the matrix contributes. Half an axis of
    the ellipse of records is ``records`` standard deviations long; 0 where there is none.
    ``mu`` is what the noise may spend; ``epsilon`` that it follows from, with ``delta``, where it does. ``groups``: how
    many directions get the share of each axis, when these two stand for others that are treated alike. ``reaches``:
    of all columns, where the first is needed and the others can be left out.
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
    mu: float = 1.0
    epsilon: float | None = None
    delta: float = 0.0
    groups: tuple[int, int] = (1, 1)
    reaches: tuple[float, ...] = ()
    changes: Changes | None = None

    @property
    def share(self) -> float:
        """What the directions like the first have of what these two kinds have together."""
        first, second = (theta * number for theta, number in zip(self.theta, self.groups, strict=True))
        return first / (first + second)

    @property
    def std_on_features(self) -> tuple[float, float]:
        """The standard deviation across and up, however the axes are turned."""
        c, s = math.cos(self.angle), math.sin(self.angle)
        return math.hypot(c * self.std[0], s * self.std[1]), math.hypot(s * self.std[0], c * self.std[1])


def rule_model(design: NoiseDesign, pair: tuple[int, int], *, of_directions: bool, split: FloatArray | None = None,
               groups: tuple[int, int] = (1, 1)) -> RuleModel:
    """The model for the plane of two features, or of two of the design's own directions.

    ``split``: the shares that an ellipse of records has its shape from, where those are not the noise's own.
    """
    model = _in_plane(design, pair, of_directions, split)
    asked = float(gaussian_mu(design.epsilon, design.delta))
    exact = design.guarantee == "exact"
    whole = exact and math.isclose(design.mu, asked, rel_tol=1e-9) and not design.bound_mu
    return replace(model, mu=design.mu if exact else asked, epsilon=design.epsilon if whole else None,
                   delta=design.delta, groups=groups, can_turn=model.can_turn and groups == (1, 1),
                   changes=changes_in_plane(design, pair, of_directions=of_directions))


def averages_model(reaches: Sequence[float], *, epsilon: float, delta: float, share: float, angle: float = 0.0
                   ) -> RuleModel:
    """Averages of which the first gets a share of the budget and the others what is left, in plain numbers.

    ``reaches``: how far one record can move each of them. ``angle`` (radians) turns the first two, where there are no
    more.
    """
    mu, count, width = float(gaussian_mu(epsilon, delta)), len(reaches), tuple(map(float, reaches))
    if count < 2 or not min(width) > 0:
        raise InputError(f"reaches must be two or more positive numbers, got {count}")
    theta = (share, (1 - share) / (count - 1))
    reach, rest = (width[0], width[1]), 1 - theta[0] - theta[1]
    h, total = _worst(reach, rest, theta, angle)
    kappa = mu**2 / total
    std = (h[0] / math.sqrt(kappa * theta[0]), h[1] / math.sqrt(kappa * theta[1]))
    return RuleModel(kind="exact", std=std, angle=angle, across=1.0, theta=theta, rest=rest, reach=reach, factor=kappa,
                     total=total, can_turn=count == 2, mu=mu, epsilon=epsilon, delta=delta, groups=(1, count - 1),
                     reaches=width, changes=box_changes(reach))


def _in_plane(design: NoiseDesign, pair: tuple[int, int], of_directions: bool, split: FloatArray | None) -> RuleModel:
    side, ellipse = design.directional_side, ellipse_of(design)
    across = _across(design, pair[1])
    block = None if of_directions or side.is_diagonal else _block(side.directions.matrix, pair)
    if of_directions or side.directions.is_standard or block is not None:
        angle = 0.0 if block is None else math.atan2(block[1, 0], block[0, 0])
        if ellipse is not None:
            return _bounded(design, ellipse, pair, angle, design.theta if split is None else split,
                            can_turn=not of_directions)
        return _movable(design, pair, angle, across, can_turn=not of_directions)
    std, angle = _axes(across * side.covariance_of(list(pair)))
    records = 0.0 if ellipse is None else _records(design, ellipse, across)
    return RuleModel(kind="fixed", std=std, angle=angle, across=across, records=records)


def _axes(covariance: FloatArray) -> tuple[tuple[float, float], float]:
    """Standard deviations along both axes of a 2 × 2 covariance, the longer first, and the angle of that one."""
    values, vectors = np.linalg.eigh(covariance)
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
    bound, across = asked.bound, _across(asked, pair[1])
    assert bound is not None
    shown = list(pair)
    side = asked.directional_side
    covariance = across * (np.diag(side.variances[shown]) if of_directions else side.covariance_of(shown))
    std, angle = _axes(covariance)
    return TheoremPlane(
        name=name, epsilon=asked.epsilon, constant=bound.constant, beta=bound.beta, across=across,
        root_budget=math.sqrt(asked.precision_budget),
        factor=float(asked.direction_std().max() / design.direction_std().max()), std=std, angle=angle)


def ellipse_of(design: NoiseDesign) -> Ellipse | None:
    """The ellipse of records that the noise has its shape from, if there is one."""
    body = design.neighbours
    return body.ellipse if isinstance(body, BoundedColumn | BoundedOuterProduct) else None


def iid_std(iid: NoiseDesign, position: int) -> float:
    """The standard deviation of equal noise in the same picture."""
    return math.sqrt(_across(iid, position) * float(iid.directional_side.variances[0]))


def moved(model: RuleModel, theta: tuple[float, float], angle: float) -> tuple[float, float]:
    """The standard deviations after a drag: the same formulas as the browser's."""
    if model.kind == "theorem":
        first, second = (math.sqrt(model.across / (math.sqrt(t) * model.root_budget)) for t in theta)
        return first, second
    if model.kind == "bounded":
        first, second = (model.scale * s / math.sqrt(t)
                         for s, t in zip(_spreads(model.spread, angle), theta, strict=True))
        return first, second
    h, total = _worst(model.reach, model.rest, theta, angle)
    kappa = model.factor * model.total / total
    first, second = (math.sqrt(model.across * h_k**2 / (kappa * t)) for h_k, t in zip(h, theta, strict=True))
    return first, second


def _across(design: NoiseDesign, position: int) -> float:
    """What the other side contributes to the variance: with both sides alike, that of column ``position``."""
    return float(design.col_side.covariance_of([position])[0, 0]) if design.mode == "both" else 1.0


def _block(w: FloatArray, pair: tuple[int, int]) -> FloatArray | None:
    """The 2 × 2 rotation of the pair, if these two directions live in the plane of these two features."""
    block = w[np.ix_(pair, pair)]
    return block if abs(float(np.sum(block**2)) - 2) < 1e-12 and np.linalg.det(block) > 0 else None


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
        kind="bounded", std=(float(std[0]), float(std[1])), angle=angle, theta=(float(theta[0]), float(theta[1])),
        rest=float(split.sum() - theta.sum()), across=across, spread=spread, can_turn=can_turn, rough=not alone,
        scale=float(std[0] * math.sqrt(theta[0])) / _spreads(spread, angle)[0],
        records=_records(design, ellipse, across))


def _spreads(spread: tuple[float, float, float], angle: float) -> tuple[float, float]:
    """The root of the second moment along either axis."""
    c, s = math.cos(angle), math.sin(angle)
    first, mixed, second = spread
    return (math.sqrt(c * c * first + 2 * c * s * mixed + s * s * second),
            math.sqrt(s * s * first - 2 * c * s * mixed + c * c * second))


def _movable(design: NoiseDesign, pair: tuple[int, int], angle: float, across: float, *, can_turn: bool) -> RuleModel:
    side = design.directional_side
    i, j = pair
    theta = (float(design.theta[i]), float(design.theta[j]))
    v = (float(side.variances[i]), float(side.variances[j]))
    std = (math.sqrt(across * v[0]), math.sqrt(across * v[1]))
    exact = design.guarantee == "exact"
    rest = float(design.theta.sum()) - theta[0] - theta[1]
    reach = (1.0, 1.0)
    if exact and design.mode != "columns":
        # Where it can turn, the features' own ranges, not their shadows on turned axes.
        h = design.neighbours.reach(standard_basis(side.size) if can_turn else side.directions)
        reach = (float(h[i]), float(h[j]))
    h_now, total = _worst(reach, rest, theta, angle)
    return RuleModel(
        kind="exact" if exact else "theorem", std=std, angle=angle, theta=theta, rest=rest, reach=reach,
        root_budget=1 / (v[0] * math.sqrt(theta[0])), factor=h_now[0] ** 2 / (v[0] * theta[0]), total=total,
        across=across, can_turn=can_turn,
        rough=design.mode == "both" or (exact and not (can_turn and design.query_name in ("identity", "mean"))))


def _worst(reach: tuple[float, float], rest: float, theta: tuple[float, float], angle: float
           ) -> tuple[tuple[float, float], float]:
    """``h`` along the two axes, and the worst whitened square without its common factor."""
    c, s = math.cos(angle), math.sin(angle)
    r1, r2 = reach
    h = (abs(c) * r1 + abs(s) * r2, abs(s) * r1 + abs(c) * r2)
    q = (theta[0] / h[0] ** 2, theta[1] / h[1] ** 2)
    corners = [q[0] * (c * r1 + sign * s * r2) ** 2 + q[1] * (-s * r1 + sign * c * r2) ** 2 for sign in (1, -1)]
    return h, rest + max(corners)
