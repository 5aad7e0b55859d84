"""Lesson: directional noise in seven steps, each with one control, one guess and one picture."""

import math
from typing import Any

import streamlit as st

from mvgviz.lesson.steps import token_of
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.scenes import LEAST_GHOST, MOST_GHOST, SCENES, Scene, rule_options
from mvgviz.text import in_html
from mvgviz.ui import screen
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import offer_file, open_plain_page
from mvgviz.ui.menu import ATTACKER, LESSON
from mvgviz.ui.more_columns import draw_more_columns
from mvgviz.ui.rule_picture import rule

_STEP, _VALUES, _ANSWERS, _SEEN = "_lesson_step", "_lesson_values", "_lesson_answers", "_lesson_seen"
_STYLE = """<style>
.st-key-lesson_words p {font-size: 1.15rem; margin-bottom: .35rem;}
.st-key-lesson_question p, .st-key-lesson_control [data-testid=stWidgetLabel] p {font-size: 1.05rem;}
.dots {display: flex; gap: .45rem; align-items: center;}
.dots i {width: .8rem; height: .8rem; border-radius: 50%; border: 2px solid #767676; box-sizing: border-box;}
.dots .tried {background: linear-gradient(90deg, #2B8CD6 50%, transparent 50%); border-color: #2B8CD6;}
.dots .right {background: #2B8CD6; border-color: #2B8CD6;}
.dots .here {outline: 2px solid currentColor; outline-offset: 2px;}
.summary {list-style: none; padding: 0; margin: 0;}
.summary li {padding: .2rem 0; font-size: 1.05rem; margin: 0;}
</style>"""
_VIEWS = {"picture": "The noise", "rule": "Why it is private", "columns": "One needed column among many"}
_STATES = {"right": "● answered", "tried": "◐ tried", "": "○ still open"}


def place() -> tuple[Scene, Any]:
    """The step and the control's value that a control asked for, else the address, else where one was."""
    kept, number = _kept(_VALUES), st.session_state.get(_STEP, 1)
    if asked := screen.adopt_place():
        number = _asked_step(asked.get("step", "1"))
        kept[number] = _asked_value(SCENES[number - 1], asked.get("value"))
    st.session_state[_STEP] = number
    scene = SCENES[number - 1]
    value = kept.get(number, scene.step.start)
    screen.write_place(**_place(scene, value))
    return scene, value


def draw_steps(scene: Scene) -> None:
    """Back, all steps, next; how far one is, and ways to a wall and to phones."""
    number, last = scene.step.number, len(SCENES)
    keys = {"back": "Left", "next": "Right"} if screen.is_big() else {"back": None, "next": None}
    st.html(_STYLE)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.session_state["lesson_steps"] = number
        st.segmented_control("Step", list(range(1, last + 1)), key="lesson_steps", required=True, wrap=False,
                             label_visibility="collapsed",
                             on_change=lambda: screen.moved(**{_STEP: st.session_state["lesson_steps"]}))
        st.button("Back", key="lesson_back", icon=":material/arrow_back:", disabled=number == 1, on_click=screen.moved,
                  kwargs={_STEP: number - 1}, shortcut=keys["back"])
        st.button("Next", key="lesson_next", icon=":material/arrow_forward:", icon_position="right",
                  disabled=number == last, on_click=screen.moved, kwargs={_STEP: number + 1}, shortcut=keys["next"])
        st.html(_dots(number), width="content")
        st.markdown(f"step {number} of {last}", width="content")
        screen.draw_screen_switch()
        screen.draw_class_link(**_place(scene, _kept(_VALUES).get(number, scene.step.start)))


def draw_control(scene: Scene, value: Any) -> None:
    """The step's one control; its value stays while the session goes on to other steps."""
    number, values = scene.step.number, scene.step.values
    key = f"lesson_control_{number}"
    st.session_state[key] = value

    def take() -> None:
        _kept(_VALUES)[number] = st.session_state[key]
        screen.moved()

    shared: dict[str, Any] = {"key": key, "on_change": take, "format_func": scene.shown}
    with st.container(key="lesson_control"):
        if scene.ordered:
            st.select_slider(scene.control, values, **shared)
        else:
            st.segmented_control(scene.control, values, required=True, **shared)


def draw_picture(scene: Scene, value: Any) -> None:
    """The step's one picture: what was before until the learner has guessed."""
    ghost = float(st.session_state.get(_answer_key(scene, value), 1.0)) if scene.ghost else 1.0
    revealed = _is_revealed(scene, value)
    picture = _drawn(scene.step.number, value, None if revealed else ghost, big=screen.is_big())
    with st.container(key="lesson_picture"):
        screen.draw_on_screen(picture, key=f"lesson_picture_{scene.step.number}")


@cached(32, of_server)
def _drawn(number: int, value: Any, ghost: float | None, *, big: bool) -> Picture:
    """The picture, or with the height of a ghost the one before the guess: the same for everybody."""
    scene = SCENES[number - 1]
    picture = scene.picture(value) if ghost is None else scene.before(value, ghost)
    if big:
        figure = picture.figure
        screen.enlarge(figure)
        figure.update_xaxes(title_font_size=24, tickfont_size=20).update_yaxes(title_font_size=24, tickfont_size=20)
        figure.update_annotations(font_size=22)
    return picture


def draw_on_wall(scene: Scene, value: Any) -> None:
    """One picture at full height: the step's own, or the one that the switch asks for."""
    view = st.session_state.get(_view_key(scene), "picture")
    if view not in _views(scene, value) or view == "picture":
        draw_picture(scene, value)
    elif view == "rule":
        draw_rule(scene, value)
    else:
        with st.container(key="lesson_columns_wall"):
            draw_more_columns(key="lesson_columns")


def _views(scene: Scene, value: Any) -> list[str]:
    rule_too = scene.shape is not None and _is_revealed(scene, value)
    return ["picture", *["rule"] * rule_too, *["columns"] * (scene.step.number == len(SCENES))]


def _view_key(scene: Scene) -> str:
    return f"lesson_view_{scene.step.number}"


def draw_rule(scene: Scene, value: Any) -> None:
    """Why it is private: all that one pupil can change inside the shape; to be dragged, nothing is sent back."""
    if scene.shape is None or not _is_revealed(scene, value):
        return
    model, options = rule_options(scene.shape(value))
    st.markdown("**Why it is private.** Everything that one pupil can change (grey) stays inside the shape, and a "
                "corner touches it. Drag the shape and the green line.")
    rule(model, key=f"lesson_rule_{scene.step.number}_{token_of(value)}", **options, tall=screen.is_big(),
         line=math.radians(value) if scene.step.number == 4 else 0.0,
         alt=f"All that one pupil can change inside the shape of privacy. {scene.picture(value).takeaway}")


def draw_question(scene: Scene, value: Any) -> None:
    """The question; a guess is kept for its value of the control and checked at once against the engine's answer."""
    answer, given = scene.step.answer(value), _kept(_ANSWERS).get(_at(scene, value))
    with st.container(key="lesson_question"):
        _draw_input(scene, value)
        if not _is_revealed(scene, value):
            with st.container(horizontal=True, vertical_alignment="center"):
                if scene.ghost:
                    st.button("Reveal", key="lesson_reveal", icon=":material/visibility:", type="primary",
                              on_click=_take, args=(scene, value))
                else:
                    st.markdown("Guess first: the picture waits for you.", width="content")
                    st.button("Show me", key="lesson_reveal", type="tertiary", icon=":material/visibility:",
                              on_click=_see, args=(scene, value))
        elif given is None:
            st.info(scene.why(value), icon=":material/visibility:")
        elif answer.accepts(given):
            st.success(f"**Right.** {scene.why(value)}", icon=":material/check_circle:")
        else:
            st.warning(f"**Not yet.** {scene.hint(value, given)}", icon=":material/lightbulb:")


def draw_end() -> None:
    """After the last step: one needed column among more and more, what was seen, and a page to take along."""
    if not screen.is_big():  # where it stands on the wall
        st.markdown(f"#### {_VIEWS['columns']}")
        draw_more_columns(key="lesson_columns")
    st.markdown("#### What you have seen")
    done = [_state(one) for one in SCENES]
    st.markdown(f"{sum(map(bool, done))} of {len(SCENES)} questions tried, {done.count('right')} answered right.")
    st.html('<ul class="summary">' + "".join(
        f"<li><b>{one.step.number}. {in_html(one.title)}</b> ({_STATES[state]}). {in_html(one.takeaway)}</li>"
        for one, state in zip(SCENES, done, strict=True)) + "</ul>")
    address = screen.class_link()
    offer_file("Handout: one page to print", "mvgviz-lesson.html", "text/html", lambda: screen.handout(address),
               key="lesson_handout")


def _draw_input(scene: Scene, value: Any) -> None:
    """Where the learner answers; each value of the control has a field of its own, with what was said before."""
    answer, question, key = scene.step.answer(value), scene.question(value), _answer_key(scene, value)
    given, revealed = _kept(_ANSWERS).get(_at(scene, value)), _is_revealed(scene, value)
    if key not in st.session_state and (given is not None or scene.ghost):
        st.session_state[key] = 1.0 if given is None else given
    take: dict[str, Any] = {"key": key, "on_change": screen.moved} if scene.ghost and not revealed else {
        "key": key, "on_change": _take, "args": (scene, value)}
    if answer.options:
        st.radio(question, answer.options, index=None, format_func=scene.option, **take)
    elif scene.ghost:
        st.slider(question, LEAST_GHOST, MOST_GHOST, step=0.05, format="%.2f×", **take)
    else:
        st.number_input(question, value=None, min_value=0.0, step=0.1, format="%.4g", placeholder="a number", **take,
                        help=f"Within {100 * answer.tolerance:.0f} % counts as right.")


def _take(scene: Scene, value: Any) -> None:
    given = st.session_state[_answer_key(scene, value)]
    if given is None:
        _kept(_ANSWERS).pop(_at(scene, value), None)
    else:
        _kept(_ANSWERS)[_at(scene, value)] = given
    screen.moved()


def _see(scene: Scene, value: Any) -> None:
    _kept(_SEEN)[_at(scene, value)] = True
    screen.moved()


def _is_revealed(scene: Scene, value: Any) -> bool:
    return _at(scene, value) in _kept(_ANSWERS) or _at(scene, value) in _kept(_SEEN)


def _state(scene: Scene) -> str:
    """Whether the step's question was answered right at some value, or at least tried."""
    given = {token: answer for (number, token), answer in _kept(_ANSWERS).items() if number == scene.step.number}
    right = any(scene.step.answer(scene.step.value_of(token)).accepts(answer) for token, answer in given.items())
    return "right" if right else "tried" if given else ""


def _dots(number: int) -> str:
    states = [_state(scene) for scene in SCENES]
    marks = "".join(f'<i class="{state}{" here" if k + 1 == number else ""}"></i>' for k, state in enumerate(states))
    words = f"{states.count('right')} of {len(SCENES)} questions answered right"
    return f'<div class="dots" role="img" aria-label="{words}">{marks}</div>'


def _kept(name: str) -> dict[Any, Any]:
    kept: dict[Any, Any] = st.session_state.setdefault(name, {})
    return kept


def _at(scene: Scene, value: Any) -> tuple[int, str]:
    return scene.step.number, token_of(value)


def _answer_key(scene: Scene, value: Any) -> str:
    return f"lesson_answer_{scene.step.number}_{token_of(value)}"


def _place(scene: Scene, value: Any) -> dict[str, str]:
    """The step and the value; the first and the starting one need no parameter."""
    step = {} if scene.step.number == 1 else {"step": str(scene.step.number)}
    return step | ({} if value == scene.step.start else {"value": token_of(value)})


def _asked_step(text: str) -> int:
    if text in map(str, range(1, len(SCENES) + 1)):
        return int(text)
    screen.say_ignored(f"the steps are 1 to {len(SCENES)}")
    return 1


def _asked_value(scene: Scene, text: str | None) -> Any:
    value = scene.step.start if text is None else scene.step.value_of(text)
    if value is not None:
        return value
    screen.say_ignored(f"the values of step {scene.step.number} are {', '.join(map(token_of, scene.step.values))}")
    return scene.step.start


open_plain_page(LESSON)
scene, value = place()
big = screen.is_big()
draw_steps(scene)
words = None if big else st.container()
picture, question = st.columns([5, 3] if big else [2, 1], gap="large")
with words or question, st.container(key="lesson_words"):
    st.markdown(f"#### {scene.title}")
    st.markdown("  \n".join(scene.sentences(value)))
with question if big else picture:
    draw_control(scene, value)
with picture, st.spinner("Working it out …"):
    if big:
        draw_on_wall(scene, value)
    else:
        draw_picture(scene, value)
        draw_rule(scene, value)
with question:
    draw_question(scene, value)
    if big and len(views := _views(scene, value)) > 1:
        st.segmented_control("On the wall", views, format_func=_VIEWS.__getitem__, default="picture", required=True,
                             key=_view_key(scene), on_change=screen.moved)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Formulas", icon=":material/function:"):
            for said, formula in scene.formulas:
                st.markdown(said)
                st.latex(formula)
        if scene.step.number <= 3:
            st.page_link(ATTACKER.path, label="Play the attacker", icon=ATTACKER.icon,
                         query_params={"shape": "ellipse"} if scene.step.number == 3 else {})
if scene.step.number == len(SCENES):
    draw_end()
