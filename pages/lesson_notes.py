"""Teacher's notes: timing, what to show and ask, expected mistakes, all right answers."""

import streamlit as st

from mvgviz.lesson.steps import MAIN, STEPS
from mvgviz.pictures.scenes import SCENES, Scene, note_of
from mvgviz.text import in_html
from mvgviz.ui import screen, session
from mvgviz.ui.assets import asset
from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.menu import LESSON, LESSON_NOTES


def draw_note(scene: Scene, *, all_open: bool) -> None:
    number = scene.step.number
    note = note_of(number)
    begin = sum(step.minutes for step in STEPS[0 if number <= MAIN else MAIN: number - 1])
    with st.expander(f"{scene.label}. {scene.title}", expanded=all_open), st.container(key=f"lesson_note_{number}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"minute {begin} to {begin + scene.step.minutes} · {scene.step.minutes} minutes")
            with st.container(key=f"lesson_open_{number}", width="content"):
                st.page_link(LESSON.path, label=f"Open step {scene.label}", icon=LESSON.icon,
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
    lines = []
    for value in scene.step.values:
        right = scene.ghost(value).shown % scene.step.answer(value).value
        lines.append(f'<tr><th scope="row">{in_html(scene.shown(value))}</th><td>{in_html(right)}</td></tr>')
    return (f'<table class="key"><thead><tr><th scope="col">{in_html(scene.control)}</th><th scope="col">right answer'
            f"</th></tr></thead><tbody>{''.join(lines)}</tbody></table>")


open_plain_page(LESSON_NOTES)
session.write_link()
st.html(f"<style>{asset('notes.css')}</style>")
minutes = [step.minutes for step in STEPS[:MAIN]]
st.markdown(f"Five steps, **{sum(minutes)} minutes**. In each: read the sentences aloud, let the class drag the dotted "
            "line, press *Reveal*, read the reason, move the control.")
with st.container(horizontal=True):
    screen.offer_handout()
    screen.offer_lesson()
    all_open = st.toggle("Open all, to print", key="lesson_notes_open")
for scene in SCENES:
    if scene.step.number == MAIN + 1:
        st.markdown("### For a second hour\nFour more steps of the same form, in any order.")
    with st.spinner("Working out the answers …"):
        draw_note(scene, all_open=all_open)
