"""Draw the sidebar's guarantee, family, directions, and every way to split the budget."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz import data
from mvgviz.design.allocation import rebalanced
from mvgviz.errors import InputError
from mvgviz.labels import ALLOCATIONS, DIRECTIONS, FORMS, GUARANTEES, MODES, TAILS
from mvgviz.noise.directions import from_matrix
from mvgviz.noise.families import CHOICES
from mvgviz.provenance import Origin
from mvgviz.scenario.scenario import FORMS as SCENARIO_FORMS
from mvgviz.scenario.scenario import LEAST_SHARE, MOST_SHARE
from mvgviz.text import capitalised, in_markdown
from mvgviz.ui import session
from mvgviz.ui.door import is_demo
from mvgviz.ui.visitors import choose_file

_BY_DATA, _DIRECTION_FILE = ":material/visibility:", "_direction_file"
_WEIGHED = 12  # priority columns
Part = tuple[DeltaGenerator, Callable[[], object]]
"""A place on the screen and what draws there."""


def draw_choice(label: str, words: Mapping[str, str], **options: Any) -> None:
    """Draw a box to choose one of the keys, shown in words."""
    st.selectbox(label, list(words), format_func=words.__getitem__, **options)


def draw_guarantee() -> None:
    """Draw a button for each guarantee; Theorem 2 says why when it does not apply."""
    chosen = session.scenario().guarantee
    try:
        asked = session.query()
        psd, name, square = asked.psd, asked.name, asked.rows == asked.cols
    except InputError:
        psd, name, square = True, "", True
    st.markdown("Guarantee")
    with st.container(horizontal=True):
        for key, label in GUARANTEES.items():
            reason = f"Needs a positive semi-definite query; {name} is not." if key == "theorem2" and not psd else ""
            st.button(label.button, key=f"w_guarantee_{key}", help=reason or label.explained, on_click=session.update,
                      kwargs={"guarantee": key} | ({"mode": "auto"} if key == "theorem2" else {}),
                      disabled=bool(reason), type="primary" if chosen == key else "secondary")
    with st.expander("More: tail, sides"):
        draw_choice("Tail of the noise's norm in the theorems",
                    {tail: capitalised(label.name) for tail, label in TAILS.items()}, disabled=chosen == "exact",
                    **session.bound_field("tail"))
        draw_choice("Directional noise over", {mode: label.choice for mode, label in MODES.items()
                                               if mode != "both" or square or session.scenario().mode == "both"},
                    disabled=chosen == "theorem2", **session.bound_field("mode"))


def draw_family(key: str = "w_family") -> None:
    """Draw the families of noise that fit the scenario; nothing where only Gaussian noise does."""
    scenario = session.scenario()
    fitting = {name: family.title for name, family in CHOICES.items()
               if name == scenario.noise_family or not scenario.changed(family=name).is_idle("family")}
    if len(fitting) > 1:
        draw_choice("Family of noise", fitting, **session.bound(key, scenario.noise_family,
                                                                lambda family: {"family": family}))
    if scenario.family != scenario.noise_family:
        st.caption(f"{CHOICES[scenario.family].title} noise does not fit here, so the noise is Gaussian.")


def draw_directions(size: int) -> None:
    """Draw where the ``size`` directions come from, and what that costs."""
    scenario = session.scenario()
    learned = scenario.kind.of_all_features and scenario.neighbours == "replace"
    offered = {"private": learned, "upload": not is_demo()}
    draw_choice("Directions", {kind: choice for kind, (choice, _) in DIRECTIONS.items()
                               if offered.get(kind, True) or scenario.directions == kind},
                **session.bound_field("directions"))
    if scenario.directions == "rotation":
        st.slider("Angle (degrees)", -180, 180,
                  **session.bound("w_angle", round(scenario.angle), lambda angle: {"angle": float(angle)}))
        most = max(size, *(position + 1 for position in scenario.plane))  # a link may say more
        for end, (column, label) in enumerate(zip(st.columns(2), ("Turn feature", "towards feature"), strict=True)):
            column.number_input(label, 1, most, **session.bound(
                f"w_plane_{end}", scenario.plane[end] + 1, partial(_plane, end)))
    elif scenario.directions == "eigenvectors":
        st.warning("Read from the data: **not private**. The guarantee covers the noise only.", icon=_BY_DATA)
    elif scenario.directions == "private":
        st.slider("Share of the budget for directions", 5, 95, step=5, format="%d%%", **session.bound(
            "w_private_share", min(max(round(100 * scenario.private_share), 5), 95),
            lambda percent: {"private_share": percent / 100}))
    elif scenario.directions == "upload":
        _upload_directions()


def _plane(end: int, number: int) -> dict[str, Any]:
    """Return the plane with one feature changed; the same feature twice swaps the two."""
    plane = list(session.scenario().plane)
    if plane[1 - end] == number - 1:
        plane[1 - end] = plane[end]
    plane[end] = number - 1
    return {"plane": tuple(plane)}


def _upload_directions() -> None:
    """Take directions from a file; they count as read from the data until the person says otherwise."""
    chosen = choose_file("Orthonormal matrix, one direction per column (CSV, NPY)", key="w_direction_file",
                         max_upload_size=50)
    if chosen is not None:
        try:
            if st.session_state.get(_DIRECTION_FILE) != chosen.file_id:  # take each file once
                matrix = data.read_table(chosen.getvalue(), name=chosen.name).values
                session.set_uploaded_directions(from_matrix(matrix, origin=Origin.READ))
                st.session_state[_DIRECTION_FILE] = chosen.file_id
        except InputError as error:
            st.error(in_markdown(str(error)), icon=":material/error:")
    if (own := session.uploaded_directions()) is not None:
        st.checkbox("I know these directions without looking at the data. Else they are **not private**.",
                    **session.control("w_directions_known", own.origin.is_covered, lambda known:
                                      session.state_directions_origin(Origin.DECLARED if known else Origin.READ)))


def draw_split(names: tuple[str, ...], parts: list[Part]) -> None:
    """Draw how theta divides the precision budget; the share is one of the ``parts``."""
    scenario, kind = session.scenario(), session.scenario().allocation
    draw_choice("Split of the precision budget (theta)", {key: label.choice for key, label in ALLOCATIONS.items()},
                **session.bound("w_allocation", kind, lambda new: _allocation(new, len(names))))
    if not 1 < len(names) <= 2_000:
        return
    if kind in ("binary", "least-error"):
        chosen = [k for k in scenario.priority_directions if k < len(names)]
        st.multiselect(priority_label(), range(len(names)), format_func=names.__getitem__, **session.bound(
            "w_priority", chosen, lambda priorities: {"priority_directions": tuple(priorities), "priority": ()}))
        draw_importance(names, chosen)
        label = "How much of the precision they get" if kind == "binary" else "How much they weigh in the error"
        parts.append((st.container(), partial(draw_share, label)))
    elif kind == "manual":
        _draw_manual(names)
    elif kind == "max-pnr":
        if scenario.guarantee != "exact":
            draw_choice("Form", {form: FORMS[form][0] for form in SCENARIO_FORMS}, **session.bound_field("form"))
        if scenario.directions != "private":
            st.warning("The split reads the data's spread: **not private**, unless the directions are private too.",
                       icon=_BY_DATA)


def priority_label() -> str:
    """Name the control of priority columns, or of other priority directions."""
    scenario = session.scenario()
    of_features = scenario.directions == "standard" and scenario.mode != "columns" and not (
        scenario.is_graph or scenario.kind.is_kernel)
    return "Priority columns" if of_features else "Priority directions"


def draw_importance(names: tuple[str, ...], chosen: list[int]) -> None:
    """Draw how much each priority column matters, in parts; keep nothing where all are equal."""
    scenario = session.scenario()
    if scenario.priority or len(chosen) < 2 or list(scenario.needs) != chosen:
        return
    with st.popover("Weigh them", icon=":material/balance:"):
        if len(chosen) > _WEIGHED:
            st.caption(f"You can weigh up to {_WEIGHED}. You chose {len(chosen)}.")
            return
        parts = [round(weight * max(scenario.importance, default=1)) for weight in scenario.need_weights.values()]
        for i, k in enumerate(chosen):
            st.number_input(in_markdown(names[k]), 1, max(9, parts[i]), **session.bound(
                f"w_importance_{k}", parts[i], partial(_importance, parts, i)))
        st.caption("Errors in a column of weight 2 count twice, so it gets less noise. Regressions ignore weights.")


def _importance(parts: list[int], position: int, value: int) -> dict[str, Any]:
    new = (*parts[:position], value, *parts[position + 1:])
    return {"importance": new if len(set(new)) > 1 else ()}


def draw_share(label: str, *, disabled: bool = False) -> None:
    """Draw how much of the budget (or of the weight) priority directions get together."""
    st.slider(label, round(100 * LEAST_SHARE), round(100 * MOST_SHARE), format="%d%%", disabled=disabled,
              **session.bound("w_share", round(100 * session.scenario().share), lambda value: {"share": value / 100}))


def _allocation(kind: str, size: int) -> dict[str, Any]:
    """Return the change; a manual split starts from equal parts where none of the right length is there."""
    if kind == "manual" and len(session.scenario().weights) != size:
        return {"allocation": kind, "weights": (max(10_000 // max(size, 1), 1),) * size}
    return {"allocation": kind}


def _draw_manual(names: tuple[str, ...]) -> None:
    """Draw a slider and a lock for each direction chosen; the others keep their proportions."""
    parts = session.scenario().weights
    if len(parts) != len(names):
        st.button("Start from equal parts", key="w_manual_start", on_click=session.update,
                  kwargs=_allocation("manual", len(names)))
        return
    shown: list[int] = list(range(len(names)))
    if len(names) > 8:
        st.session_state.setdefault("w_shown", shown[:3])
        st.session_state["w_shown"] = [k for k in st.session_state["w_shown"] if k < len(names)]
        shown = st.multiselect("Directions with a slider", range(len(names)), key="w_shown",
                               format_func=names.__getitem__)
    locks = {k for k in range(len(names)) if st.session_state.get(f"w_lock_{k}")}
    total = sum(parts)
    for k in shown:
        slider, lock = st.columns([5, 1], vertical_alignment="bottom")
        slider.slider(in_markdown(names[k]), 0.1, 99.9, step=0.1, format="%.1f%%", disabled=k in locks, **session.bound(
            f"w_part_{k}", min(max(round(100 * parts[k] / total, 1), 0.1), 99.9),
            partial(_moved, parts=parts, position=k, locked=locks)))
        lock.checkbox(":material/lock:", key=f"w_lock_{k}")
    left = 100 * sum(part for k, part in enumerate(parts) if k not in shown) / total
    st.caption(f"The other {len(names) - len(shown)} share {left:.1f} % in their old proportions." if left else
               "Parts sum to 100 %. Moving one moves the others, except locked ones.")


def _moved(percent: float, *, parts: tuple[int, ...], position: int, locked: set[int]) -> dict[str, Any]:
    return {"weights": rebalanced(parts, position=position, value=round(sum(parts) * percent / 100), locked=locked)}
