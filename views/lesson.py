"""Lesson: directional noise in seven steps, each with one control, one guess and one picture."""

import streamlit as st

from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.lesson import panels
from mvgviz.ui.lesson.screen import adopt_screen
from mvgviz.ui.menu import LESSON

open_plain_page(LESSON)
big = adopt_screen()
scene, value = panels.place()
panels.draw_steps(scene)
words = None if big else st.container()
picture, question = st.columns([5, 3] if big else [2, 1], gap="large")
with words or question:
    panels.draw_words(scene, value)
with question if big else picture:
    panels.draw_control(scene, value)
with picture, st.spinner("Working it out …"):
    if big:
        panels.draw_on_wall(scene, value)
    else:
        panels.draw_picture(scene, value)
        panels.draw_rule(scene, value)
with question:
    panels.draw_question(scene, value)
    if big:
        panels.draw_views(scene, value)
    panels.draw_more(scene)
panels.draw_end(scene)
