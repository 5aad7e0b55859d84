"""The noise in the plane of two features or two directions, as numbers that a browser can move.

``ShapeModel`` says how the standard deviations along the two axes follow from their shares of the budget and from the
angle, so that a picture can answer a drag without the server. It is exact for theorems and for table and mean queries;
elsewhere it is close ("rough") and the design itself, computed after the drag, has the last word.
"""

import math
from dataclasses import dataclass

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.noise.directions import standard_basis
from mvgviz.validation import FloatArray

LEVELS = (0.5, 0.9, 0.95)
RADII = tuple(math.sqrt(-2 * math.log1p(-level)) for level in LEVELS)


@dataclass(frozen=True, kw_only=True)
class ShapeModel:
    """Axes of the ellipse: ``angle`` of the first (radians), ``std`` along both.

    ``kind`` "theorem": ``v = 1/(sqrt(theta) root_budget)``; "exact": ``v = h²/(kappa theta)``
    with ``kappa = factor * total / worst(theta, angle)``; "fixed": cannot be moved. ``rest``
    is the share of all other directions, ``reach`` how far a record goes along the two
    features, ``across`` the variance that the other side of the matrix contributes.
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
    rough: bool = False
    can_turn: bool = False


def shape_model(design: NoiseDesign, pair: tuple[int, int], *, of_directions: bool) -> ShapeModel:
    """The model for the plane of two features, or of two of the design's own directions."""
    side = design.directional_side
    across = _across(design, pair[1])
    block = None if of_directions or side.is_diagonal else _block(side.directions.matrix, pair)
    if of_directions or side.directions.is_standard or block is not None:
        angle = 0.0 if block is None else math.atan2(block[1, 0], block[0, 0])
        return _movable(design, pair, angle, across, can_turn=not of_directions)
    values, vectors = np.linalg.eigh(across * side.covariance_of(list(pair)))
    std = (math.sqrt(values[1]), math.sqrt(max(values[0], 0.0)))
    angle = math.atan2(vectors[1, 1], vectors[0, 1])
    return ShapeModel(kind="fixed", std=std, angle=angle - math.pi * round(angle / math.pi), across=across)


def iid_std(iid: NoiseDesign, position: int) -> float:
    """The standard deviation of i.i.d. noise in the same picture."""
    return math.sqrt(_across(iid, position) * float(iid.directional_side.variances[0]))


def moved(model: ShapeModel, theta: tuple[float, float], angle: float) -> tuple[float, float]:
    """The standard deviations after a drag: the same formulas as the browser's."""
    if model.kind == "theorem":
        first, second = (math.sqrt(model.across / (math.sqrt(t) * model.root_budget)) for t in theta)
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


def _movable(design: NoiseDesign, pair: tuple[int, int], angle: float, across: float, *, can_turn: bool) -> ShapeModel:
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
    return ShapeModel(
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
