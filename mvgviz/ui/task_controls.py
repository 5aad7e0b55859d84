"""Draw the controls of a task, one sensitivity for all noise, and ways out where a task does not fit the query."""

from functools import partial
from typing import Any

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.labels import JUDGED
from mvgviz.pictures.shape import ABOUT_ZERO
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import for_task, usual_settings
from mvgviz.scenario.tasks import POST, TASKS
from mvgviz.text import as_number, capitalised, in_markdown
from mvgviz.ui import session


def draw_task(setup: Setup) -> None:
    """Draw the task, its label where it needs one, and free post-processing."""
    scenario = setup.scenario
    left, middle, judged = st.columns([2, 1, 1], vertical_alignment="bottom")
    left.selectbox("What you use the answer for", list(TASKS), format_func=lambda key: TASKS[key].label,
                   **session.bound("w_task", scenario.task, lambda task: for_task(session.scenario(), task)))
    if scenario.use.predicts:
        names = dict(enumerate(setup.dataset.features))
        middle.selectbox("Label to predict", [None, *names],
                         format_func=lambda k: "choose a feature" if k is None else names[k],
                         **session.bound("w_label", scenario.label if scenario.label in names else None,
                                         lambda label: {"label": label}))
    if scenario.needs:
        judged.selectbox("Errors on", list(JUDGED), format_func=JUDGED.__getitem__, **session.bound_field("judged"))
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Free post-processing", icon=":material/tune:"):
            st.caption("Done after the noise, so it costs no privacy.")
            for step in scenario.use.post:
                st.checkbox(POST[step].capitalize(),
                            **session.bound(f"w_post_{step}", step in scenario.post, partial(_switch, step)))
        usual = usual_settings(scenario)
        if usual and scenario.changed(**usual) != scenario:
            st.button("Usual settings for this task", key="task_usual", type="tertiary",
                      icon=":material/auto_fix_high:", on_click=session.update, kwargs=usual,
                      help="They follow from the task, not from your data.")
    if not scenario.use.of_directions or scenario.is_graph:
        return
    if scenario.kind.has_constant:
        st.caption("Components are about the mean, which you release too.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(ABOUT_ZERO)
        st.button("Components about the mean", key="task_about_mean", type="tertiary",
                  icon=":material/filter_center_focus:", on_click=session.update,
                  kwargs={"query": "moments", "mode": "auto"})


def choose_s2(query: Query, *, key: str) -> str:
    """Return one sensitivity for all noise, "tight" or, where it is larger, "printed"."""
    tight, printed = as_number(query.sensitivity), as_number(query.printed_sensitivity)
    if query.printed_sensitivity <= query.sensitivity * (1 + 1e-9):
        st.caption(f"Sensitivity of all: s₂ = {tight}; tight and as printed are the same.")
        return "tight"
    labels = {"tight": f"Tight {tight}", "printed": f"As printed {printed}"}
    return st.segmented_control("Sensitivity s₂ of all", list(labels), default="tight", required=True, key=key,
                                format_func=labels.__getitem__)


def say_why_not(setup: Setup, error: InputError) -> None:
    """Say what does not fit together, and offer what does."""
    text, scenario = str(error), setup.scenario
    st.info(in_markdown(capitalised(text)) + ("" if text.endswith(".") else "."), icon=":material/block:")
    with st.container(horizontal=True):
        if scenario.task != "reconstruction":
            _way_out("Measure the answer itself instead", task="reconstruction")
        if not scenario.kind.has_moments:
            _way_out("Ask for the covariance instead", query="covariance", mode="auto")
        elif scenario.task == "kernel-ridge" and not scenario.is_graph:
            _way_out("Use linear ridge instead", task="linear-ridge")
        if scenario.judged != "everything" and scenario.needs:
            _way_out("Measure errors on everything instead", judged="everything")


def _way_out(label: str, **change: str) -> None:
    st.button(label, key=f"trials_fix_{'_'.join(change)}_{'_'.join(change.values())}", icon=":material/swap_horiz:",
              on_click=session.update, kwargs=change)


def _switch(step: str, on: bool) -> dict[str, Any]:
    others = set(session.scenario().post) - {step}
    return {"post": tuple(others | {step} if on else others)}
