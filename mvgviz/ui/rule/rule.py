"""The rule as a picture that moves: numbers to the browser, one message back when something is let go.

``rule`` draws any :class:`RuleModel`; for plain numbers, such as two averages of a lesson, make one with
``averages_model((0.1, 0.1), epsilon=1, delta=1e-3, share=0.8)``.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from mvgviz.figures.shared.rule_model import RADII, RuleModel, TheoremPlane
from mvgviz.scenario.scenario import LEAST_SHARE
from mvgviz.validation import FloatArray, one_of

ANGLE_STEP = 0.1
"""Degrees: the angles that can be dragged to are multiples of it."""
CONTROLS = ("share", "angle", "epsilon", "columns")
"""What can be moved: the split and the angle by handles, epsilon and the number of columns by sliders."""

_HERE = Path(__file__).parent
_SLIDER = 'role="slider" tabindex="0"'
_HANDLES = "".join(f'<div class="handle" data-name="{name}" {role} hidden></div>' for role, names in (
    (_SLIDER, ("pull0", "pull1", "turn", "line")), ("", ("records0", "records1"))) for name in names)
_component = st.components.v2.component(
    "mvgviz_rule", css=(_HERE / "rule.css").read_text(encoding="utf-8"),
    js="".join((_HERE / name).read_text(encoding="utf-8") for name in ("formulas.js", "rule.js")),
    html=f'<div class="rule"><div class="whole"><div class="stage"><div class="picture"></div>{_HANDLES}</div>'
         '<div class="side"><div class="heading"><b>Noise as a multiple of equal noise</b></div>'
         '<div class="bars"></div><div class="key">Orange mark: equal noise, 1×. <span>Green mark: the least that '
         'private noise of any shape can have there.</span></div></div></div>'
         '<div class="switches"></div><div class="sliders"></div><div class="numbers"></div></div>')


@dataclass(frozen=True, kw_only=True)
class RuleChange:
    """What was let go: the shares of both axes, the angle (radians), epsilon where it can be moved, the columns."""

    theta: tuple[float, float]
    angle: float
    turned: bool
    epsilon: float | None
    columns: int


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordPicture:
    """The ellipse that records are pulled into, about its centre, beside that of the noise.

    ``box``: lowest and highest across, lowest and highest up, of the ranges. ``points``, 4 × records, none where they
    are not to be shown: where they were, their squared length along all other directions, what they are multiplied by.
    """

    radius: float
    view: float
    box: tuple[float, float, float, float]
    points: FloatArray = field(repr=False)
    names: tuple[str, str]


def rule(model: RuleModel, *, key: str, names: tuple[str, str], alt: str, iid: float | None = None,
         on_change: Callable[[RuleChange], None] | None = None, controls: Sequence[str] = ("share", "angle"),
         units: tuple[str, str] = ("", ""), factors: tuple[float, float] = (1.0, 1.0),
         line: float = math.pi / 4, share_step: float = 0.001,
         theorem: TheoremPlane | None = None, normals: FloatArray | None = None, points: FloatArray | None = None,
         spread: float = 0.0, records: RecordPicture | None = None, tall: bool = False) -> None:
    """Draw what one record can change inside the noise, and beside it the noise along a line that can be turned.

    ``factors``: what 1 in the model is in the unit of each axis.
    ``iid``: equal noise at the same privacy; by default that of a table or mean of the model's own columns. ``line``:
    the angle (radians) of the use at first. ``normals`` and ``points`` (2 × many): draws of the noise and data to look
    at; ``spread`` the data's root mean square. ``share_step``: shares are taken in multiples of it, so the picture
    shows no others. ``theorem``: what a theorem asks for, behind a switch. ``tall``: for a wall, down to the bottom of
    the screen.
    """
    for control in controls:
        one_of("controls", control, CONTROLS)
    if iid is None:
        iid = math.hypot(*(model.reaches or model.reach)) / model.mu
    zooms = [name for name, wanted in (("rule", model.changes is not None or normals is None),
                                       ("noise", normals is not None), ("data", points is not None and points.size > 0))
             if wanted]
    shadow = model.changes is not None and model.changes.shadow

    def moved() -> None:
        change = st.session_state[key].moved
        if on_change is not None and change is not None:
            on_change(_change(change))

    # Tuples: Streamlit looks at every list for a table.
    _component(key=key, on_moved_change=moved, data={
        "model": _sent(model, share_step), "iid": iid, "names": names, "units": units, "line": line,
        "factors": factors, "tall": tall,
        "axisNames": tuple(f"on {name}{f' ({unit})' if unit else ''}" for name, unit in zip(names, units, strict=True)),
        "controls": tuple(controls), "zooms": tuple(zooms), "radii": tuple(RADII), "spread": spread, "alt": alt,
        "grey": f"all that one record can change{', seen in this plane' if shadow else ''}",
        "theorem": None if theorem is None or model.changes is None else _camel(asdict(theorem)),
        "normals": () if normals is None else tuple(normals.T.round(4).tolist()),
        "points": () if points is None else tuple(points.T.tolist()),
        "records": None if records is None else {
            "radius": records.radius, "view": records.view, "box": list(records.box),
            "axisNames": [f"{name}{f' ({unit})' if unit else ''}"
                          for name, unit in zip(records.names, units, strict=True)],
            "points": records.points.T.tolist()}})


def _sent(model: RuleModel, share_step: float) -> dict[str, Any]:
    """The model as the browser's formulas read it."""
    return _camel(asdict(model)) | {"sum": model.rest + sum(model.theta), "least": LEAST_SHARE, "step": share_step,
                                    "angleStep": ANGLE_STEP}


def _camel(fields: dict[str, Any]) -> dict[str, Any]:
    """Names as JavaScript has them."""
    return {name.split("_")[0] + "".join(map(str.capitalize, name.split("_")[1:])): value
            for name, value in fields.items()}


def _change(sent: dict[str, Any]) -> RuleChange:
    first, second = (float(share) for share in sent["theta"])
    epsilon = sent["epsilon"]
    return RuleChange(theta=(first, second), angle=float(sent["angle"]), turned=bool(sent["turned"]),
                      epsilon=None if epsilon is None else float(epsilon), columns=int(sent["columns"]))
