"""Presenter's view: the scenario as five slides."""

from functools import partial

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures.ledger import budget_numbers, room_words
from mvgviz.release.release import plan
from mvgviz.report.talk import SLIDES, slides, talk_html, talk_style
from mvgviz.scenario.resolve import Setup
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import draw_switch, offer_file, open_bare_page
from mvgviz.ui.menu import PRESENT, SHAPE
from mvgviz.ui.release_desk import release_desk

_slides = cached(4, session.here)(slides)


def draw_talk(setup: Setup) -> None:
    simulated, left, at = session.is_simulated(), _left(setup), _place()
    session.write_link(slide=str(at + 1))
    st.html(f"<style>{talk_style()}{asset('presenter.css')}</style>")
    noted = st.session_state.get("_present_notes", False)
    st.html(f'<div class="{"noted" * noted}">{_slides(setup, simulated=simulated, left=left)[at]}</div>')
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="center", gap="small"):
        for label, key, icon, move in (("Back", "Left", "arrow_back", -1), ("Next", "Right", "arrow_forward", 1)):
            st.button(label, key=f"present_{label.lower()}", icon=f":material/{icon}:", shortcut=key,
                      disabled=not 0 <= at + move < len(SLIDES), on_click=st.session_state.update,
                      args=({session.SLIDE: at + move},))
        st.button("Notes", key="present_notes", icon=":material/speaker_notes:", shortcut="N",
                  on_click=st.session_state.update, args=({"_present_notes": not noted},))
        offer_file("Save slides", "talk.html", "text/html", partial(talk_html, setup, simulated=simulated, left=left),
                   key="present_save", help="One file that works offline. Its Print button makes a PDF.")
        if st.button("Leave", key="present_leave", icon=":material/close:", shortcut="Esc"):
            session.come_back(SHAPE.path)
        draw_switch()


def _left(setup: Setup) -> str:
    desk, data = release_desk(), setup.scenario.data
    try:
        return "" if desk.cap(data) is None else room_words(
            budget_numbers(desk.ledger, desk.population(data), plan(setup)))
    except InputError:
        return ""


def _place() -> int:
    """Return the slide chosen by a button, else the address's."""
    asked = st.session_state.get(session.SLIDE)
    if asked is None:
        text = st.query_params.get("slide", "1")
        asked = int(text) - 1 if text.isdecimal() and len(text) < 4 else 0
    at = st.session_state[session.SLIDE] = min(max(asked, 0), len(SLIDES) - 1)
    return at


draw_talk(open_bare_page(PRESENT))
