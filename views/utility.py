"""Utility: the trials as dots, over epsilon, for other directions, and one draw to look at."""

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.ui.frame import open_page
from mvgviz.ui.menu import UTILITY
from mvgviz.ui.task_controls import draw_task, say_why_not
from mvgviz.ui.utility.draw import draw_one_draw
from mvgviz.ui.utility.panels import draw_sweep, draw_trials, go_on
from mvgviz.ui.utility.parts import draw_parts
from mvgviz.ui.utility.sets import draw_sets

SECTIONS = {"Needed and rest": draw_parts, "Over epsilon": draw_sweep, "Choice of directions": draw_sets,
            "True against noisy": draw_one_draw}

setup = open_page(UTILITY)
draw_task(setup)
main = draw_trials(setup)
pending = [main]
if main is not None:
    tabs = st.tabs(list(SECTIONS), key="utility_section", on_change="rerun")
    for tab, draw in zip(tabs, SECTIONS.values(), strict=True):
        if tab.open:  # only the visible one is worked out
            with tab:
                if not (main.complete or main.work.stopped):
                    st.caption("After the trials above.")
                    continue
                try:
                    pending.append(draw(setup))
                except InputError as error:
                    say_why_not(setup, error)
go_on(pending)
