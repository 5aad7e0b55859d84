"""The teacher's notes: for each step what to show, what to ask, which mistakes to expect, and all right answers."""

from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from mvgviz.lesson.steps import (
    BUDGET_NOISE,
    COLUMNS,
    STEPS,
    against_circle_along,
    along,
    asking_less,
    circle,
    liver_pay,
    noise_in_units,
    table_noise,
    turned,
)
from mvgviz.pictures.glossary import DELTA_IS
from mvgviz.pictures.lesson import clock_picture
from mvgviz.pictures.sentences import neighbour_words
from mvgviz.query.queries import REPLACED_RECORD
from mvgviz.text import as_factor, as_number, in_html
from mvgviz.ui.assets import asset
from mvgviz.ui.lesson.scenes import SCENES, TEXTS, Scene, hours, minutes
from mvgviz.ui.menu import LESSON


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a teacher needs for one step; ``mistakes``: what pupils say, and what to answer."""

    show: str
    ask: str
    mistakes: tuple[tuple[str, str], ...]


@lru_cache(maxsize=len(STEPS))
def note_of(number: int) -> Note:
    """The note of one step; the last one waits for the trials."""
    text, numbers = TEXTS[number - 1], _numbers(number)
    return Note(show=text["show"].format(**numbers), ask=text["ask"],
                mistakes=tuple((said, reply.format(**numbers)) for said, reply in text["mistakes"]))


def _numbers(step: int) -> dict[str, str]:
    """What stands in the text of a note."""
    if step == 1:
        return {"start": hours(BUDGET_NOISE), "neighbours": neighbour_words(REPLACED_RECORD, "pupil")}
    if step == 2:
        return {"alone": minutes(BUDGET_NOISE), "both": minutes(float(noise_in_units(circle())[0])),
                "delta": DELTA_IS}
    if step == 4:
        along_line = {f"at_{angle}": as_factor(STEPS[3].answer(angle).value) for angle in (0, 15, 45)}
        return along_line | {"across": as_factor(against_circle_along(turned(45), along(-45)))}
    if step == 5:
        equal = 1 / len(COLUMNS)
        ours, equal_noise, people = (float(table_noise(*asked).noise_std()[0, 0]) for asked in (
            ("averages",), ("averages", equal), ("people", equal)))
        return {"ours": minutes(ours), "equal": minutes(equal_noise), "alone_people": f"{people:.0f} hours"}
    if step == len(STEPS):
        errors = {"worse": abs(liver_pay("mcv-alkphos").gain), "whole": liver_pay("drinks").one_size,
                  "less": asking_less().one_size}
        return {name: as_number(error, 2) for name, error in errors.items()}
    return {}


def draw_overview() -> None:
    """The clock, and how to use the notes."""
    st.html(f"<style>{asset('notes.css')}</style>")
    minutes = [step.minutes for step in STEPS]
    clock = clock_picture([scene.title for scene in SCENES], minutes)
    st.plotly_chart(clock.figure, key="lesson_clock", alt=clock.text_alternative, config={"displayModeBar": False})
    st.markdown(f"Seven steps, **{sum(minutes)} minutes**. In each: read the three sentences aloud, let the class "
                "guess (the picture waits for it), then read the reason together and move the control. "
                "*Big screen* shows the lesson on a projector, *Class link* brings it to phones. "
                "Every answer below is computed, as on the "
                "page itself. To print these notes, use the browser's print command.")


def draw_note(scene: Scene) -> None:
    """One step."""
    number = scene.step.number
    note = note_of(number)
    begin = sum(step.minutes for step in STEPS[: number - 1])
    with st.container(border=True, key=f"lesson_note_{number}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"#### {number}. {scene.title}")
            st.markdown(f"minute {begin} to {begin + scene.step.minutes} · {scene.step.minutes} minutes")
            with st.container(key=f"lesson_open_{number}", width="content"):
                st.page_link(LESSON.path, label=f"Open step {number}", icon=LESSON.icon,
                             query_params={"step": str(number)})
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.markdown(f"**Show.** {note.show}")
            st.markdown(f"**Ask.** {note.ask}")
            st.markdown("**Expect.**\n" + "\n".join(f"* {said} {reply}" for said, reply in note.mistakes))
        with right:
            st.markdown(f"**Right answers.** {scene.question(scene.step.start)}")
            st.html(_key(scene))


def _key(scene: Scene) -> str:
    """Every value of the control with its right answer, as a table."""
    lines = []
    for value in scene.step.values:
        answer = scene.step.answer(value)
        right = scene.option(answer.right) if answer.options else as_number(answer.value)
        lines.append(f'<tr><th scope="row">{in_html(scene.shown(value))}</th><td>{in_html(right)}</td></tr>')
    return (f'<table class="key"><thead><tr><th scope="col">{in_html(scene.control)}</th><th scope="col">right answer'
            f"</th></tr></thead><tbody>{''.join(lines)}</tbody></table>")
