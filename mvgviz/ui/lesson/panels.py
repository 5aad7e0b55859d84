"""The lesson's machinery: where one is, one control, one picture, one question that checks itself."""

from typing import Any

import streamlit as st

from mvgviz.ui import session
from mvgviz.ui.lesson.scenes import SCENES as SCENES
from mvgviz.ui.lesson.scenes import Scene
from mvgviz.ui.menu import LESSON_NOTES

_STEP, _MOVED, _VALUES = "_lesson_step", "_lesson_moved", "_lesson_values"
_STYLE = """<style>
.st-key-lesson_words p {font-size: 1.15rem; margin-bottom: .35rem;}
.st-key-lesson_question p, .st-key-lesson_control [data-testid=stWidgetLabel] p {font-size: 1.05rem;}
</style>"""


def place() -> Scene:
    """The step that a control asked for (the address may still be the old one), else the address, else the last."""
    asked, number = st.query_params.get("step", "1"), 1
    if st.session_state.pop(_MOVED, False) or not st.query_params.to_dict():
        number = st.session_state.get(_STEP, 1)
    elif asked in map(str, range(1, len(SCENES) + 1)):
        number = int(asked)
    else:
        st.info(f"A part of the link was ignored: the steps are 1 to {len(SCENES)}.", icon=":material/link_off:")
    st.session_state[_STEP] = number
    session.write_link(**({} if number == 1 else {"step": str(number)}))  # the first needs no parameter
    return SCENES[number - 1]


def draw_steps(scene: Scene) -> None:
    """Back, all steps, next; how far and how long."""
    number, last = scene.step.number, len(SCENES)
    st.html(_STYLE)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.session_state["lesson_steps"] = number
        st.segmented_control("Step", list(range(1, last + 1)), key="lesson_steps", required=True, wrap=False,
                             on_change=lambda: _go(st.session_state["lesson_steps"]), label_visibility="collapsed")
        st.button("Back", key="lesson_back", icon=":material/arrow_back:", disabled=number == 1, on_click=_go,
                  args=(number - 1,))
        st.button("Next", key="lesson_next", icon=":material/arrow_forward:", icon_position="right",
                  disabled=number == last, on_click=_go, args=(number + 1,))
        st.markdown(f"step {number} of {last} · {scene.step.minutes} minutes")
        st.page_link(LESSON_NOTES.path, label="Teacher's notes", icon=LESSON_NOTES.icon)


def draw_words(scene: Scene, value: Any) -> None:
    """The title and the three sentences."""
    with st.container(key="lesson_words"):
        st.markdown(f"#### {scene.title}")
        st.markdown("  \n".join(scene.sentences(value)))


def draw_control(scene: Scene) -> Any:
    """The step's one control; its value stays while the session goes on to other steps."""
    number, values = scene.step.number, scene.step.values
    key = f"lesson_control_{number}"
    kept: dict[int, Any] = st.session_state.setdefault(_VALUES, {})
    st.session_state[key] = kept.get(number, scene.step.start)

    def take() -> None:
        kept[number] = st.session_state[key]
        st.session_state.pop(f"lesson_answer_{number}", None)  # it was given for another picture
        st.session_state[_MOVED] = True

    shared: dict[str, Any] = {"key": key, "on_change": take, "format_func": scene.shown}
    with st.container(key="lesson_control"):
        if scene.ordered:
            st.select_slider(scene.control, values, **shared)
        else:
            st.segmented_control(scene.control, values, required=True, **shared)
    return st.session_state[key]


def draw_picture(scene: Scene, value: Any) -> None:
    """The step's one picture."""
    figure, description = scene.picture(value)
    st.plotly_chart(figure, key=f"lesson_picture_{scene.step.number}", alt=description,
                    config={"displayModeBar": False, "scrollZoom": False})


def draw_question(scene: Scene, value: Any) -> None:
    """The question; an answer is checked at once against the engine's."""
    answer, question = scene.step.answer(value), scene.question(value)
    shared: dict[str, Any] = {"key": f"lesson_answer_{scene.step.number}", "on_change": st.session_state.update,
                              "args": ({_MOVED: True},)}
    with st.container(key="lesson_question"):
        if answer.options:
            given: Any = st.radio(question, answer.options, index=None, format_func=scene.option, **shared)
        else:
            given = st.number_input(question, value=None, min_value=0.0, step=0.1, format="%.4g",
                                    placeholder="a number", **shared)
        if given is None:
            st.markdown("Choose: the answer checks itself." if answer.options else
                        f"Type a number: within {100 * answer.tolerance:.0f} % counts as right.")
        elif answer.accepts(given):
            st.success(f"**Right.** {scene.why(value)}", icon=":material/check_circle:")
        else:
            st.warning(f"**Not yet.** {scene.hint(value, given)}", icon=":material/lightbulb:")


def draw_formulas(scene: Scene) -> None:
    """The mathematics, one click away."""
    with st.popover("Formulas", icon=":material/function:"):
        for words, formula in scene.formulas:
            st.markdown(words)
            st.latex(formula)


def _go(number: int) -> None:
    st.session_state.update({_STEP: number, _MOVED: True})
