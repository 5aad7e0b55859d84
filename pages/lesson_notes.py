"""Teacher's notes: timing, what to show and ask, expected mistakes, all right answers; for screen and paper."""

import streamlit as st

from mvgviz.lesson.steps import STEPS
from mvgviz.pictures.lesson import clock_picture
from mvgviz.pictures.scenes import SCENES, Scene, note_of
from mvgviz.text import as_number, in_html
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.menu import LESSON, LESSON_NOTES


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


open_plain_page(LESSON_NOTES)
session.write_link()
st.html(f"<style>{asset('notes.css')}</style>")
minutes = [step.minutes for step in STEPS]
clock = clock_picture([scene.title for scene in SCENES], minutes)
st.plotly_chart(clock.figure, key="lesson_clock", alt=clock.text_alternative, config={"displayModeBar": False})
st.markdown(f"Seven steps, **{sum(minutes)} minutes**. In each: read the three sentences aloud, let the class guess "
            "(the picture waits for it), then read the reason together and move the control. *Big screen* shows the "
            "lesson on a projector, *Class link* brings it to phones. Every answer below is computed, as on the page "
            "itself. To print these notes, use the browser's print command.")
for scene in SCENES:
    with st.spinner("Working out the answers …"):
        draw_note(scene)
