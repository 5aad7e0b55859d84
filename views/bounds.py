"""Bounds: Theorem 1, Theorem 2 and the exact limit; which allows more; how far this design is from the limit."""

import streamlit as st

from mvgviz.design.limits import AXES
from mvgviz.ui.bounds.panels import choose_sensitivity, draw_curves, draw_looseness, draw_map, draw_space, draw_table
from mvgviz.ui.frame import open_page
from mvgviz.ui.menu import BOUNDS
from mvgviz.words.bounds import AXIS_LABELS, bound_words

SHOWN = {"noise": "Noise", "precision": "Precision φ²"}

setup = open_page(BOUNDS)
tail = setup.scenario.tail
with st.container(horizontal=True, vertical_alignment="bottom"):
    axis = st.segmented_control("What varies", AXES, default="epsilon", required=True, key="bounds_axis", wrap=True,
                                format_func=AXIS_LABELS.__getitem__) or "epsilon"
    shown = st.segmented_control("Shown as", list(SHOWN), default="noise", required=True, key="bounds_shown",
                                 format_func=SHOWN.__getitem__)
    problem, s2_words = choose_sensitivity(setup)
    all_tails = st.toggle("All three tails", key="bounds_tails")
if setup.query.bound is not None:
    st.caption(bound_words(setup))
left, right = st.columns([5, 2], gap="large")
with left:
    draw_curves(problem, s2_words, axis, tail, as_noise=shown == "noise", all_tails=all_tails)
with right:
    draw_looseness(setup)
left, right = st.columns(2, gap="large")
with left:
    draw_map(problem, tail, s2_words)
with right:
    draw_space(setup, problem)
draw_table(problem, tail, s2_words)
