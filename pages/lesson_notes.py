"""Teacher's notes: timing, what to show and ask, expected mistakes, all right answers; for screen and paper."""

import streamlit as st

from mvgviz.ui import session
from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.lesson.notes import draw_note, draw_overview
from mvgviz.ui.lesson.scenes import SCENES
from mvgviz.ui.menu import LESSON_NOTES

open_plain_page(LESSON_NOTES)
session.write_link()
draw_overview()
for scene in SCENES:
    with st.spinner("Working out the answers …"):
        draw_note(scene)
