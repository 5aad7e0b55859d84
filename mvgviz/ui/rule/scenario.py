"""The session's scenario in the picture of the rule, and what is let go there in the scenario."""

import math
from typing import Any

import numpy as np

from mvgviz.design.limits import rival
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.shared.rule_model import RuleModel, TheoremPlane, rule_model, theorem_plane
from mvgviz.labels import GUARANTEES
from mvgviz.provenance import weakest
from mvgviz.scenario.resolve import SCALED_TO, Setup
from mvgviz.scenario.scenario import LEAST_SHARE, MOST_SHARE
from mvgviz.trials.question import OWN
from mvgviz.ui import session
from mvgviz.ui.rule.rule import ANGLE_STEP, RuleChange

PARTS = 10_000
"""Of the whole budget, where a split is given by hand."""
STEP = 0.001
"""Of a share of two."""


def share_step(setup: Setup, model: RuleModel) -> float:
    """The shares that the scenario takes are multiples of it."""
    constant = float(setup.split[-1]) if setup.query.name == "moments" else 0.0  # not a person's to divide
    return (STEP if is_one_share(setup, model) else 1 / PARTS) * (1 - constant)


def is_one_share(setup: Setup, model: RuleModel) -> bool:
    """Whether the two axes have all of the budget between them and those that they stand for."""
    return sum(model.groups) == setup.split.size - (setup.query.name == "moments")


def needed_against_others(setup: Setup, needed: int, other: int) -> RuleModel:
    """The plane of a coordinate that is needed (up) and one that is not, each standing for all of its kind."""
    scenario, size = setup.scenario, setup.design.theta.size
    favoured = [k for k in scenario.favoured if k < size]
    alike = (scenario.allocation == "binary" and not scenario.importance and setup.query.name != "moments"
             and needed in favoured and other not in favoured
             and setup.design.directional_side.directions.is_standard)
    groups = (size - len(favoured), len(favoured)) if alike else (1, 1)
    return rule_model(setup.design, (other, needed), of_directions=False, split=setup.split, groups=groups)


@session.remembered(12)
def asked_by_theorem(setup: Setup) -> NoiseDesign:
    """What the paper's Theorem 1, as printed, asks for in place of this noise."""
    return rival(setup.design, setup.query, guarantee="theorem1", epsilon=setup.scenario.epsilon, delta=setup.delta,
                 tail="printed").design


def theorem_in(setup: Setup, pair: tuple[int, int], *, of_directions: bool = False) -> TheoremPlane | None:
    """The same in a plane; None where the noise is a theorem's own."""
    if setup.scenario.guarantee != "exact":
        return None
    return theorem_plane(asked_by_theorem(setup), setup.design, pair, of_directions=of_directions,
                         name=GUARANTEES["theorem1"].name)


def own_axes(setup: Setup, pair: tuple[int, int], *, of_directions: bool = False) -> dict[str, Any]:
    """The axes of a table or mean in the data's own units: their names, and what 1 in the query's scale is there."""
    data, ends = setup.dataset, SCALED_TO.get(setup.scenario.scale)
    if setup.query.name not in ("identity", "mean") or setup.design.mode != "rows" or of_directions:
        return {}
    factors = tuple(1.0 if ends is None else float(data.widths[k]) / (ends[1] - ends[0]) for k in pair)
    return {"units": tuple(data.units[k] or OWN for k in pair), "factors": factors}


def take_change(setup: Setup, model: RuleModel, pair: tuple[int, int], change: RuleChange) -> None:
    """What was let go becomes part of the scenario: epsilon, a share or parts, and directions if it was turned."""
    if change.epsilon is not None and change.epsilon != setup.scenario.epsilon:
        session.update(epsilon=change.epsilon)
    if change.theta == model.theta and not change.turned:
        return
    changes = _split_of(setup, model, pair, change)
    if change.turned:
        degrees = round(round(math.degrees(change.angle) / ANGLE_STEP) * ANGLE_STEP, 6)
        changes |= {"directions": "rotation" if degrees else "standard", "plane": pair, "angle": degrees}
    # What was not dragged is taken over as it stands, and so is where it comes from.
    seen = setup.looked_at
    session.choose(weakest([seen["directions"], seen["split"]]), **changes)


def _split_of(setup: Setup, model: RuleModel, pair: tuple[int, int], change: RuleChange) -> dict[str, Any]:
    theta = change.theta
    if model.groups != (1, 1):
        return {"allocation": "binary", "share": taken_share(theta[1] * model.groups[1])}
    shares = np.array(setup.split)
    shares[list(pair)] = theta
    if setup.query.name == "moments":
        shares = shares[:-1] / shares[:-1].sum()
    if shares.size > 2:
        return {"allocation": "manual", "weights": tuple(max(round(PARTS * part), 1) for part in shares.tolist())}
    most, needs = int(np.argmax(shares)), setup.scenario.needed_features
    # Dragging changes who gets the budget, not who needs it.
    return {"allocation": "binary", "favoured": (most,), "share": taken_share(float(shares[most])),
            "needed": () if needs == (most,) and not change.turned else needs}


def taken_share(dragged: float) -> float:
    """A share as the scenario takes it: the browser keeps to the same step and limit."""
    return min(max(round(round(dragged / STEP) * STEP, 6), LEAST_SHARE), MOST_SHARE)
