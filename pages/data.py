"""Data & query: the data against its declared ranges, the answer, and what one record can change."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from mvgviz.data import describe, samples
from mvgviz.pictures.data import answer_picture, change_picture, derivation, facts, histograms_picture
from mvgviz.pictures.sentences import EMPTY_PLACE
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.data.bound_panel import draw_bound
from mvgviz.ui.data.upload_panel import draw_upload_panel
from mvgviz.ui.frame import Setup, chart, try_open_page
from mvgviz.ui.menu import DATA

PANELS = 9
NEIGHBOURS = {"replace": "one record replaced", "add-remove": "one record added or removed"}


_histograms = cached(12, session.here)(histograms_picture)


def draw_data(setup: Setup) -> None:
    """Small histograms of up to nine features at a time."""
    data = setup.dataset
    groups = [list(range(k, min(k + PANELS, data.n_features))) for k in range(0, data.n_features, PANELS)]
    group = groups[0]
    if len(groups) > 1:
        group = st.selectbox("Features", groups, key="data_group", label_visibility="collapsed",
                             format_func=lambda g: f"Features {g[0] + 1} to {g[-1] + 1} of {data.n_features}")
    picture = _histograms(data, tuple(group))
    chart(replace(picture, about=f"{session.computed_on()} {picture.about}"), key="histograms")
    if setup.scenario.data in samples() and describe(setup.scenario.data).not_person_level:
        st.caption(f":material/group: A record is {describe(setup.scenario.data).record}. "
                   "What hides one record does not hide a person who has several.")


def draw_change(setup: Setup) -> None:
    """The worst neighbours' difference, and why it cannot be larger."""
    query = setup.query
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart(change_picture(query, session.unseen_pair(query)), key="change")
    with right:
        draw_neighbours()
        st.markdown(facts(query))
        lines, said = derivation(query)
        for line in lines:
            st.latex(line)
        st.caption(said)


def draw_neighbours() -> None:
    """What two datasets differ by that the promise is about; a graph's differ by an edge."""
    if not session.scenario().is_graph:
        st.radio("Neighbours differ by", list(NEIGHBOURS), format_func=NEIGHBOURS.__getitem__, horizontal=True,
                 help=f"{EMPTY_PLACE} A table or a mean then needs half the noise; second moments far from 0 need "
                      "more. A kernel, and what is learned privately, know replaced records alone.",
                 **session.bound_field("neighbours"))


def draw_about(setup: Setup) -> None:
    """Where the data comes from and who a record is; the first records."""
    name = setup.scenario.data
    if name in samples():
        about = describe(name)
        st.markdown(f"**{about.title}**{' (simulated)' if about.simulated else ''}. {about.summary} "
                    f"A record is {about.record}.")
        st.caption(f"{about.citation}. {about.licence}.")
    shown = setup.dataset.matrix[:, :200].T
    st.dataframe(pd.DataFrame(shown, columns=list(setup.dataset.features)), height=240)
    st.caption(f"The first {len(shown)} of {setup.dataset.n_records:,} records, moved into their ranges. "
               f"{session.computed_on()}")


opened = try_open_page(DATA)
with st.expander("Use your own file", icon=":material/upload_file:",
                 expanded=opened is None or opened.scenario.is_upload):
    draw_upload_panel()
if opened is None and session.scenario().neighbours != "replace":
    draw_neighbours()
if opened is not None:
    answer, histogram = st.columns(2, gap="large")
    with histogram:
        draw_data(opened)
    with answer:
        chart(answer_picture(opened.query).adding(session.computed_on()), key="answer")
    draw_bound(opened)
    draw_change(opened)
    with st.expander("The records, and where they come from", icon=":material/info:"):
        draw_about(opened)
