"""The draggable ellipse: numbers to the browser, one message back when a handle is let go."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from mvgviz.figures.shape.model import RADII, ShapeModel
from mvgviz.scenario.scenario import LEAST_SHARE
from mvgviz.validation import FloatArray

ANGLE_STEP = 0.1
"""Degrees: the angles that can be dragged to are multiples of it."""

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "mvgviz_ellipse", html='<div class="ellipse"></div>', css=(_HERE / "ellipse.css").read_text(encoding="utf-8"),
    js=(_HERE / "ellipse.js").read_text(encoding="utf-8"))


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


def draw_ellipse(model: ShapeModel, *, key: str, on_drag: Callable[[tuple[float, float], float, bool], None],
                 iid: float, names: tuple[str, str], view: float, normals: FloatArray, points: FloatArray,
                 useful: float | None, show_draws: bool, spread: float, share_step: float, alt: str,
                 records: RecordPicture | None = None) -> None:
    """Draw the model, i.i.d. noise, draws, data points and the useful direction (radians).

    ``on_drag`` gets the two new shares, the angle, and whether it was turned. ``view`` is half the height of
    the picture in the units of the noise, ``spread`` the data's root mean square (0 for none). ``share_step``:
    the scenario takes shares in multiples of it, so the picture shows no others.
    """
    def dragged() -> None:
        change = st.session_state[key].dragged
        first, second = (float(share) for share in change["theta"])
        on_drag((first, second), float(change["angle"]), bool(change["turned"]))

    _component(key=key, on_dragged_change=dragged, data={
        "model": {"kind": model.kind, "std": list(model.std), "angle": model.angle, "theta": list(model.theta),
                  "rest": model.rest, "reach": list(model.reach), "rootBudget": model.root_budget,
                  "factor": model.factor, "total": model.total, "across": model.across, "rough": model.rough,
                  "spread": list(model.spread), "scale": model.scale, "records": model.records,
                  "least": LEAST_SHARE, "step": share_step, "angleStep": ANGLE_STEP},
        "iid": iid, "names": list(names), "view": view, "radii": list(RADII),
        "axisNames": [f"noise on {name}" for name in names], "normals": normals.T.round(4).tolist(),
        "points": points.T.tolist(), "useful": useful, "showDraws": show_draws, "spread": spread,
        "canPull": model.kind != "fixed", "canTurn": model.can_turn, "alt": alt,
        "records": None if records is None else {
            "radius": records.radius, "view": records.view, "box": list(records.box), "axisNames": list(records.names),
            "points": records.points.T.tolist()}})
