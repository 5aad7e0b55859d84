"""Compare: all mechanisms on one task, the epsilon each needs for the same error, the levers, and the advisor."""

import streamlit as st

from mvgviz.ui.compare.advisor import draw_advisor
from mvgviz.ui.compare.levers import draw_levers
from mvgviz.ui.compare.panels import choose_sensitivity, draw_ranking, draw_same_error
from mvgviz.ui.frame import draw_open_tab, open_page
from mvgviz.ui.menu import COMPARE
from mvgviz.ui.task_controls import draw_task

setup = open_page(COMPARE)
left, right = st.columns([3, 1], vertical_alignment="bottom")
with left:
    draw_task(setup)
with right:
    sensitivity, s2_words = choose_sensitivity(setup.query)
draw_open_tab({"All mechanisms": draw_ranking, "Same error": draw_same_error, "Lever by lever": draw_levers,
               "Advisor": draw_advisor}, setup, sensitivity, s2_words, key="compare_section")
