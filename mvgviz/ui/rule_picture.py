"""Draw the rule as a picture that moves: numbers to the browser, one message back for each move."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import streamlit as st

from mvgviz.design.limits import Rival, rival
from mvgviz.labels import GUARANTEES
from mvgviz.pictures.rule import RADII, RuleModel, TheoremPlane, ellipse_of, rule_model, theorem_plane
from mvgviz.provenance import weakest
from mvgviz.scenario.own_units import product_unit, to_own, unit_of
from mvgviz.scenario.resolve import Setup, left_for_noise
from mvgviz.scenario.scenario import LEAST_SHARE, MOST_SHARE
from mvgviz.text import as_text
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached
from mvgviz.validation import FloatArray

ANGLE_STEP = 0.1  # degrees: dragged angles are multiples of it

_SLIDER = 'role="slider" tabindex="0"'
_HANDLES = "".join(f'<div class="handle" data-name="{name}" {role} hidden></div>' for role, names in (
    (_SLIDER, ("pull0", "pull1", "turn", "line")), ("", ("records0", "records1"))) for name in names)
_component = st.components.v2.component(
    "mvgviz_rule", css=asset("rule.css"), js=asset("formulas.js") + asset("rule.js"),
    html=f'<div class="rule"><div class="whole"><div class="stage"><div class="picture"></div>{_HANDLES}</div>'
         '<div class="side"><div class="heading"><b>Noise as a multiple of equal noise</b></div>'
         '<div class="bars"></div><div class="key">Orange mark: equal noise, 1×. <span>Green mark: the lowest '
         'possible noise of any shape.</span></div></div></div>'
         '<div class="switches"></div><div class="sliders"></div><div class="numbers"></div></div>')


def rule(setup: Setup, model: RuleModel, pair: tuple[int, int], *, key: str, names: tuple[str, str], takeaway: str,
         iid: float, draws: FloatArray, of_directions: bool = False, line: float = math.pi / 4,
         points: FloatArray | None = None, spread: float = 0.0, records: dict[str, Any] | None = None) -> None:
    """Draw what one record can change inside the noise, and the noise along a line that the person turns.

    ``pair``: the coordinates (or directions) of the plane, called ``names``. ``iid``: equal noise at the same privacy.
    ``draws`` (2 × many): standard normal; ``points``: data, with the root mean square ``spread``. ``line``: the first
    angle (radians) of the use.
    """
    normals, theorem = None if setup.design.blocks else draws, theorem_in(setup, pair, of_directions=of_directions)
    units, factors = own_axes(setup, pair, of_directions=of_directions)
    zooms = [name for name, wanted in (("rule", model.changes is not None or normals is None),
                                       ("noise", normals is not None), ("data", points is not None and points.size > 0))
             if wanted]
    shadow = model.changes is not None and model.changes.shadow

    def moved() -> None:
        sent = st.session_state[key].moved
        if sent is not None:
            first, second = map(float, sent["theta"])
            take_change(setup, model, pair, theta=(first, second), angle=float(sent["angle"]),
                        turned=bool(sent["turned"]),
                        epsilon=None if sent["epsilon"] is None else float(sent["epsilon"]))

    # Tuples: Streamlit looks at every list for a table.
    _component(key=key, on_moved_change=moved, data={
        "model": _sent(model, share_step(setup, model)), "iid": iid, "names": names, "units": units, "line": line,
        "factors": factors, "axisNames": _with_units([f"on {name}" for name in names], units),
        "controls": ("share", "angle", "epsilon"), "zooms": tuple(zooms), "radii": tuple(RADII), "spread": spread,
        "alt": as_text(takeaway),
        "grey": session.promised(f"what one record can change{', seen in this plane' if shadow else ''}"),
        "theorem": None if theorem is None or model.changes is None else _camel(asdict(theorem)),
        "normals": () if normals is None else tuple(normals.T.round(4).tolist()),
        "points": () if points is None else tuple(points.T.tolist()),
        "records": None if records is None else {
            **records, "axisNames": _with_units(records["axisNames"], units)}})


def _with_units(names: Sequence[str], units: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name} ({unit})" if unit else name for name, unit in zip(names, units, strict=True))


def _sent(model: RuleModel, share_step: float) -> dict[str, Any]:
    """Return the model as the browser's formulas read it."""
    return _camel(asdict(model)) | {"sum": model.rest + sum(model.theta), "least": LEAST_SHARE, "step": share_step,
                                    "angleStep": ANGLE_STEP}


def _camel(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with names in camel case."""
    return {name.split("_")[0] + "".join(map(str.capitalize, name.split("_")[1:])): value
            for name, value in fields.items()}


PARTS, STEP = 10_000, 0.001  # parts of the whole budget in a split by hand; the step of a share of two


def share_step(setup: Setup, model: RuleModel) -> float:
    """Return the step of the shares that the scenario takes."""
    constant = float(setup.split[-1]) if setup.query.has_constant else 0.0  # nobody divides it
    # One share, where the two axes and what they stand for have the whole budget.
    one = sum(model.groups) == setup.query.own_features(setup.split.size)
    return (STEP if one else 1 / PARTS) * (1 - constant)


def priority_against_others(setup: Setup, pair: tuple[int, int]) -> RuleModel:
    """Return the plane of a priority coordinate and another one, each standing for all of its kind."""
    scenario, size = setup.scenario, setup.design.theta.size
    priorities = [k for k in scenario.priority_directions if k < size]
    alike = (scenario.allocation == "binary" and not scenario.importance and not setup.query.has_constant
             and sum(k in priorities for k in pair) == 1
             and setup.design.directional_side.directions.is_standard)
    first, second = (len(priorities) if k in priorities else size - len(priorities) for k in pair)
    groups = (first, second) if alike else (1, 1)
    return rule_model(setup.design, pair, of_directions=False, split=setup.split, groups=groups)


@cached(12, session.here)
def rivals(setup: Setup) -> tuple[Rival, ...]:
    """Return the exact rival of a theorem's design, or both theorems' rivals of an exact one."""
    scenario, design, query = setup.scenario, setup.design, setup.query
    epsilon, delta = left_for_noise(scenario.changed(guarantee="theorem1"), setup.delta)
    second = "theorem2" if query.psd and design.mode == "both" else "theorem2-any"
    names = ["theorem1", second] if design.guarantee == "exact" else ["exact"]
    return tuple(rival(design, query, guarantee=name, epsilon=epsilon, delta=delta, tail=scenario.tail)
                 for name in names)


def theorem_in(setup: Setup, pair: tuple[int, int], *, of_directions: bool) -> TheoremPlane | None:
    """Return Theorem 1's noise in a plane; None where the design is a theorem's."""
    if setup.scenario.guarantee != "exact" or setup.design.blocks:
        return None
    return theorem_plane(rivals(setup)[0].design, setup.design, pair, of_directions=of_directions,
                         name=GUARANTEES["theorem1"].name)


def own_axes(setup: Setup, pair: tuple[int, int], *, of_directions: bool
             ) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the axes' units, and what 1 in the query's scale is there (of the upright column's entries)."""
    if of_directions or session.normalised() or setup.design.mode != {1: "rows", 2: "both"}.get(setup.query.degree):
        return ("", ""), (1.0, 1.0)
    factors, units = [float(part) for part in to_own(setup)[list(pair)]], [unit_of(setup, k) for k in pair]
    if setup.design.mode == "both":
        factors, units = [part * factors[1] for part in factors], [product_unit(unit, units[1]) for unit in units]
    return tuple(units), tuple(factors)


def take_change(setup: Setup, model: RuleModel, pair: tuple[int, int], *, theta: tuple[float, float], angle: float,
                turned: bool, epsilon: float | None) -> None:
    """Take a move into the scenario: epsilon, the shares of both axes, and the angle (radians) if it was turned."""
    if epsilon is not None and epsilon != setup.scenario.epsilon:
        session.update(epsilon=epsilon)
    if theta == model.theta and not turned:
        return
    changes = _split_of(setup, model, pair, theta, turned=turned)
    if turned:
        degrees = round(round(math.degrees(angle) / ANGLE_STEP) * ANGLE_STEP, 6)
        changes |= {"directions": "rotation" if degrees else "standard", "plane": pair, "angle": degrees}
    # What was not dragged comes along, and so does its origin.
    seen = setup.looked_at
    session.choose(weakest([seen["directions"], seen["split"]]), **changes)


def _split_of(setup: Setup, model: RuleModel, pair: tuple[int, int], theta: tuple[float, float], *, turned: bool
              ) -> dict[str, Any]:
    if model.groups != (1, 1):
        at = 0 if pair[0] in setup.scenario.priority_directions else 1
        return {"allocation": "binary", "share": taken_share(theta[at] * model.groups[at])}
    shares = np.array(setup.split)
    shares[list(pair)] = theta
    if setup.query.has_constant:
        shares = shares[:-1] / shares[:-1].sum()
    if shares.size > 2:
        return {"allocation": "manual", "weights": tuple(max(round(PARTS * part), 1) for part in shares.tolist())}
    most, needs = int(np.argmax(shares)), setup.scenario.priority_features
    # Dragging changes who gets the budget, not who has priority.
    return {"allocation": "binary", "priority_directions": (most,), "share": taken_share(float(shares[most])),
            "priority": () if needs == (most,) and not turned else needs}


def taken_share(dragged: float) -> float:
    """Return the share as the scenario takes it; the browser uses the same step and limits."""
    return min(max(round(round(dragged / STEP) * STEP, 6), LEAST_SHARE), MOST_SHARE)


_POINTS = 300


def record_picture(setup: Setup, model: RuleModel, pair: tuple[int, int], names: tuple[str, str], *,
                   of_directions: bool, show: bool) -> dict[str, Any] | None:
    """Return the clipping ellipse about its centre in a plane, for ``rule``; None where there is none.

    ``box``: lowest and highest across and up, of the ranges. ``points``, if ``show``: where records were, their squared
    length along all other directions, and their factor.
    """
    ellipse, table = ellipse_of(setup.design), setup.table
    if ellipse is None:
        return None
    shown, centre = list(pair), ellipse.centre
    w = ellipse.directions.matrix
    basis = w[:, shown] if of_directions else np.eye(table.n_features)[:, shown]
    middle, half = basis.T @ ((table.lower + table.upper) / 2 - centre), np.abs(basis.T) @ (table.widths / 2)
    records = table.matrix[:, ::max(table.n_records // _POINTS, 1)][:, :_POINTS] if show else table.matrix[:, :0]
    own = ellipse.coordinates(records)
    own[shown] = 0.0  # what is left is the length along all other directions
    ends = np.abs(middle) + half
    c, s = abs(math.cos(model.angle)), abs(math.sin(model.angle))
    first, second = (model.records * std for std in model.std)
    across, up = max(ends[0], math.hypot(c * first, s * second)), max(ends[1], math.hypot(s * first, c * second))
    where = "about the middle of its range" if setup.query.degree == 1 else "about 0"
    points = np.vstack([basis.T @ (records - centre[:, None]), np.sum(own**2, axis=0), ellipse.parts(records)])
    return {"radius": ellipse.radius, "view": 1.12 * max(up, across / 1.1),
            "box": np.ravel([middle - half, middle + half], order="F").tolist(),
            "axisNames": [f"{name}, {where}" for name in names], "points": points.T.tolist()}
