"""The tab "Needed and rest" of the page Utility: who gains and who pays, and the noise in the data's own units."""

import streamlit as st

from mvgviz.figures.utility.parts import plot_parts
from mvgviz.scenario.own_units import own_units
from mvgviz.scenario.resolve import Setup
from mvgviz.text import capitalised, in_markdown
from mvgviz.trials.parts import part_errors, part_points
from mvgviz.ui.frame import chart, show_table
from mvgviz.ui.slices import problem
from mvgviz.ui.utility.panels import Pending, work_in_tab
from mvgviz.words.budget import short_label
from mvgviz.words.utility import own_units_words, parts_words


def draw_parts(setup: Setup) -> Pending:
    """The three errors beside equal noise and "only the needed"."""
    points, reasons = part_points(problem(setup))
    if len(points) < 2:
        st.info("Say which features are needed (in the sidebar: what is favoured) to see who gains and who pays.",
                icon=":material/checklist:")
    known, pending = work_in_tab(setup, "parts", list(points.values()))
    found = part_errors(known)
    left, right = st.columns(2, gap="large")
    with left:
        if found:
            chart(plot_parts(found), parts_words(setup, found), key="utility_parts")
        for part, reason in reasons.items():
            if len(points) > 1:
                st.caption(in_markdown(f"{capitalised(part)}: {reason}."))
    with right:
        _draw_own_units(setup)
    return pending


def _draw_own_units(setup: Setup) -> None:
    rows = own_units(setup)
    if not rows:
        return
    st.markdown(own_units_words(setup, rows))
    show_table({"feature": [short_label(row.name) for row in rows], "needed": [row.needed for row in rows],
                "this design ±": [row.ours for row in rows], "equal noise ±": [row.equal for row in rows],
                "range": [f"{row.lower:g} to {row.upper:g}" for row in rows], "unit": [row.unit for row in rows]},
               numbers=("this design ±", "equal noise ±"))
