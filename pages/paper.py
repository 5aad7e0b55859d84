"""Paper: the three experiments, what was printed and what comes out."""

import streamlit as st

from mvgviz.ui.frame import try_open_page
from mvgviz.ui.menu import PAPER
from mvgviz.ui.paper.panels import (
    choose,
    curves_so_far,
    draw_directions,
    draw_notes,
    draw_open,
    draw_rows,
    draw_table,
    rows_so_far,
    start,
)
from mvgviz.ui.slices import show_progress_and_rerun

TABLE, FIGURE = "The table, row by row", "Effect of the directions (Figure 4)"

try_open_page(PAPER)  # the page stands without the sidebar's scenario
with st.container(horizontal=True, vertical_alignment="center"):
    experiment = choose()
    draw_open(experiment)
work = start("rows", experiment)
report = rows_so_far(experiment, work)
draw_rows(report)
tabs = st.tabs((TABLE, FIGURE), key="paper_tab", on_change="rerun")
complete = report.complete
if tabs[0].open:
    with tabs[0]:
        draw_table(report)
if tabs[1].open:
    with tabs[1]:
        if complete:
            work = start("figure", experiment)
            curves, references, complete = curves_so_far(experiment, work)
            draw_directions(experiment, curves, references)
        else:
            st.caption("The rows above come first.")
draw_notes(experiment)
show_progress_and_rerun(work, complete=complete)
