"""Lesson: directional noise in seven steps, each with one control, one picture and one question."""

import streamlit as st

from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.lesson.panels import (
    draw_control,
    draw_formulas,
    draw_picture,
    draw_question,
    draw_steps,
    draw_words,
    place,
)
from mvgviz.ui.menu import LESSON

open_plain_page(LESSON)
scene = place()
draw_steps(scene)
words = st.container()
picture, question = st.columns([2, 1], gap="large")
with picture:
    value = draw_control(scene)
    with st.spinner("Working it out …"):
        draw_picture(scene, value)
with words:
    draw_words(scene, value)
with question:
    draw_question(scene, value)
    draw_formulas(scene)
