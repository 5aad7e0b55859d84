"""Paper: the three experiments, what was printed and what comes out."""

import streamlit as st

from mvgviz.ui import paper as panels
from mvgviz.ui.frame import try_open_page
from mvgviz.ui.menu import PAPER
from mvgviz.ui.slices import show_progress

TABLE, FIGURE = "The table, row by row", "Effect of the directions (Figure 4)"

try_open_page(PAPER)  # the page stands without the sidebar's scenario
with st.container(horizontal=True, vertical_alignment="center"):
    experiment = panels.choose()
    panels.draw_open(experiment)
work = panels.start("rows", experiment)
report = panels.rows_so_far(experiment, work)
panels.draw_rows(report)
tabs = st.tabs((TABLE, FIGURE), key="paper_tab", on_change="rerun")
complete = report.complete
if tabs[0].open:
    with tabs[0]:
        panels.draw_table(report)
if tabs[1].open:
    with tabs[1]:
        if complete:
            work = panels.start("figure", experiment)
            curves, references, complete = panels.curves_so_far(experiment, work)
            panels.draw_directions(experiment, curves, references)
        else:
            st.caption("The rows above come first.")
panels.draw_notes(experiment)
show_progress(work, complete=complete)
