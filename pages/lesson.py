"""Lesson: directional noise in five steps, each with a guess, a picture and a control; four more for a second hour."""

from dataclasses import asdict
from typing import Any

import streamlit as st

from mvgviz.lesson.steps import MAIN, token_of
from mvgviz.pictures.scenes import SCENES, Scene
from mvgviz.pictures.theme import Picture
from mvgviz.text import in_html
from mvgviz.ui import screen, session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.menu import ATTACKER, LESSON

_STEP, _VALUES, _GUESSES = "_lesson_step", "_lesson_values", "_lesson_guesses"
_MARKS = {"right": " ✓", "tried": " •", "": ""}
_STATES = {"right": "● answered", "tried": "◐ tried", "": "○ still open"}
_PLAYED = {1: {}, 2: {"shape": "ellipse"}, 9: {"shape": "box"}}
_drag = st.components.v2.component("mvgviz_ghost", js=asset("ghost.js"))


def place() -> tuple[Scene, Any]:
    """Return the step and its value that a control asked for, else the address, else the last ones."""
    kept, number = _kept(_VALUES), st.session_state.get(_STEP, 1)
    if asked := screen.adopt_place():
        number, value = _asked(asked.get("step", "1"), asked.get("value"))
        kept[number] = value
    st.session_state[_STEP] = number
    scene = SCENES[number - 1]
    value = kept.get(number, scene.step.start)
    screen.write_place(**_place(scene, value))
    return scene, value


def draw_steps(scene: Scene) -> None:
    """Draw this hour's steps, with a mark on those tried or answered right; back and next."""
    number = scene.step.number
    hour = [one.step.number for one in SCENES if (one.step.number > MAIN) == (number > MAIN)]
    keys = {"back": "Left", "next": "Right"} if screen.is_big() else {"back": None, "next": None}
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_bar"):
        st.segmented_control("Step", hour, required=True, wrap=False, label_visibility="collapsed",
                             format_func=lambda one: SCENES[one - 1].label + _MARKS[_state(SCENES[one - 1])],
                             **session.control("lesson_steps", number, lambda one: screen.moved(**{_STEP: one})))
        st.button("Back", key="lesson_back", icon=":material/arrow_back:", disabled=number == 1, on_click=screen.moved,
                  kwargs={_STEP: number - 1}, shortcut=keys["back"])
        st.button("Next", key="lesson_next", icon=":material/arrow_forward:", icon_position="right",
                  disabled=number == hour[-1], on_click=screen.moved, kwargs={_STEP: number + 1}, shortcut=keys["next"])
        screen.draw_screen_switch()
        screen.draw_class_link(**_place(scene, _kept(_VALUES).get(number, scene.step.start)))


def draw_question(scene: Scene, value: Any) -> None:
    key, ghost = _draft_key(scene, value), scene.ghost(value)
    st.session_state[key] = _draft(scene, value)
    st.markdown(f"**{scene.question(value)}** Drag the dotted line.")
    st.slider(scene.question(value), ghost.least, ghost.most, key=key, step=ghost.step, format=ghost.shown,
              label_visibility="collapsed", on_change=screen.moved)
    st.button("Reveal", key="lesson_reveal", icon=":material/visibility:", type="primary", on_click=_take,
              args=(scene, value))


def draw_answer(scene: Scene, value: Any) -> None:
    """Say what is right about the guess and why, then show the step's control."""
    at, given = _kept(_GUESSES)[scene.step.number]
    said = scene.ghost(at).shown % given
    if at != value:
        st.info(scene.why(value), icon=":material/visibility:")
    elif scene.step.answer(at).accepts(given):
        st.success(f"**Right**, you said {said}. {scene.why(value)}", icon=":material/check_circle:")
    else:
        st.warning(f"**You said {said}.** {scene.hint(at, given)} {scene.why(value)}", icon=":material/lightbulb:")
    draw_control(scene, value)


def draw_control(scene: Scene, value: Any) -> None:
    """Draw the step's control; it keeps its value while the person visits other steps."""
    number, values = scene.step.number, scene.step.values

    def take(new: Any) -> None:
        _kept(_VALUES)[number] = new
        screen.moved()

    shared = {**session.control(f"lesson_control_{number}", value, take), "format_func": scene.shown}
    if scene.ordered:
        st.select_slider(scene.control, values, **shared)
    else:
        st.segmented_control(scene.control, values, required=True, **shared)


def draw_picture(scene: Scene, value: Any) -> None:
    """Draw the step's picture: what was before until the learner guesses, then the answer and the guess."""
    number = scene.step.number
    at, given = _kept(_GUESSES).get(number, (None, _draft(scene, value)))
    picture = _drawn(number, value, at, given, big=screen.is_big())
    with st.container(key="lesson_picture"):
        screen.draw_on_screen(picture, key=f"lesson_picture_{number}")
    if at is None:
        ghost = asdict(scene.ghost(value))
        _drag(key="lesson_drag", on_dragged_change=lambda: _dragged(scene, value), data={
            "chart": f"lesson_picture_{number}", "guess": given,
            "ghost": ghost | {"lines": tuple(tuple(map(tuple, line.tolist())) for line in ghost["lines"])}})


@cached(64, of_server)
def _drawn(number: int, value: Any, at: Any, given: float, *, big: bool) -> Picture:
    """Return the picture of a guess made ``at`` a value, or before any; all sessions share it."""
    scene = SCENES[number - 1]
    picture = scene.before(value, given) if at is None else scene.after(value, at, given)
    if big:
        screen.enlarge(picture.figure)
        picture.figure.update_annotations(font_size=22).update_traces(textfont_size=34, selector={"type": "heatmap"})
    return picture


def draw_end() -> None:
    done = [_state(one) for one in SCENES[:MAIN]]
    st.markdown(f"#### What you have seen\n{sum(map(bool, done))} of {MAIN} questions tried, {done.count('right')} "
                "answered right.")
    st.html('<ul class="summary">' + "".join(
        f"<li><b>{one.label}. {in_html(one.title)}</b> ({_STATES[state]}). {in_html(one.takeaway * bool(state))}</li>"
        for one, state in zip(SCENES[:MAIN], done, strict=True)) + "</ul>")
    st.markdown("#### For a second hour")
    with st.container(horizontal=True):
        for one in SCENES[MAIN:]:
            st.button(f"{one.label}. {one.title}", key=f"lesson_more_{one.step.number}", on_click=screen.moved,
                      kwargs={_STEP: one.step.number})


def _take(scene: Scene, value: Any) -> None:
    _kept(_GUESSES)[scene.step.number] = (value, _draft(scene, value))
    screen.moved()


def _forget(scene: Scene) -> None:
    del _kept(_GUESSES)[scene.step.number]
    screen.moved()


def _dragged(scene: Scene, value: Any) -> None:
    given, ghost = st.session_state["lesson_drag"].dragged, scene.ghost(value)
    if given is not None:
        st.session_state[_draft_key(scene, value)] = min(max(round(float(given), 6), ghost.least), ghost.most)
        screen.moved()


def _draft(scene: Scene, value: Any) -> float:
    return float(st.session_state.get(_draft_key(scene, value), scene.ghost(value).start))


def _draft_key(scene: Scene, value: Any) -> str:
    return f"lesson_guess_{scene.step.number}_{token_of(value)}"


def _state(scene: Scene) -> str:
    if scene.step.number not in _kept(_GUESSES):
        return ""
    at, given = _kept(_GUESSES)[scene.step.number]
    return "right" if scene.step.answer(at).accepts(given) else "tried"


def _kept(name: str) -> dict[Any, Any]:
    return st.session_state.setdefault(name, {})  # type: ignore[no-any-return]


def _place(scene: Scene, value: Any) -> dict[str, str]:
    """Return the step and value as link parameters, without the first and the starting one."""
    step = {} if scene.step.number == 1 else {"step": str(scene.step.number)}
    return step | ({} if value == scene.step.start else {"value": token_of(value)})


def _asked(step: str, token: str | None) -> tuple[int, Any]:
    """Return a link's step and value; an older link may mean another step that has this value."""
    if step not in map(str, range(1, len(SCENES) + 1)):
        screen.say_ignored(f"the steps are 1 to {len(SCENES)}")
        step = "1"
    asked = SCENES[int(step) - 1].step
    if token is None:
        return asked.number, asked.start
    for one in (asked, *(scene.step for scene in SCENES)):
        if (value := one.value_of(token)) is not None:
            return one.number, value
    screen.say_ignored(f"the values of step {asked.number} are {', '.join(map(token_of, asked.values))}")
    return asked.number, asked.start


open_plain_page(LESSON)
scene, value = place()
draw_steps(scene)
desk, side = st.columns([1, 3] if screen.is_big() else [3, 4], gap="medium")
with desk, st.container(key="lesson_desk"):
    st.markdown(f"#### {scene.title}")
    st.markdown("  \n".join(scene.sentences(value)))
    if scene.step.number in _kept(_GUESSES):
        draw_answer(scene, value)
    else:
        draw_question(scene, value)
with side, st.spinner("Working it out …"):
    draw_picture(scene, value)
with st.container(horizontal=True, vertical_alignment="center"):
    with st.popover("Formulas", icon=":material/function:"):
        for said, formula in scene.formulas:
            st.markdown(said)
            st.latex(formula)
    if scene.step.number in _kept(_GUESSES):
        st.button("Guess again", key="lesson_again", icon=":material/replay:", on_click=_forget, args=(scene,))
    if scene.step.number in _PLAYED:
        st.page_link(ATTACKER.path, label="Play the attacker", icon=ATTACKER.icon,
                     query_params={**_PLAYED[scene.step.number], **screen.shown_views()})
    if scene.step.number == 1 and not screen.is_big():
        screen.offer_handout()
if scene.step.number == MAIN:
    draw_end()
