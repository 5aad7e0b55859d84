"""Lesson: directional noise in seven steps, each with one control, one picture and one question."""

import streamlit as st

from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.lesson import panels
from mvgviz.ui.menu import LESSON

open_plain_page(LESSON)
scene = panels.place()
panels.draw_steps(scene)
words = st.container()
picture, question = st.columns([2, 1], gap="large")
with picture:
    value = panels.draw_control(scene)
    with st.spinner("Working it out …"):
        panels.draw_picture(scene, value)
with words:
    panels.draw_words(scene, value)
with question:
    panels.draw_question(scene, value)
    panels.draw_formulas(scene)
