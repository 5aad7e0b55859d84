"""Data & query: the data against its declared ranges, the answer, and what one record can change."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from mvgviz.data import describe, samples
from mvgviz.pictures.data import FeatureHistogram, derivation, facts, feature_histograms, plot_histograms
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.sentences import EMPTY_PLACE
from mvgviz.pictures.theme import plot_matrix, top_left
from mvgviz.query.dataset import Dataset
from mvgviz.text import as_number, in_html, in_markdown
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.data.bound_panel import draw_bound
from mvgviz.ui.data.upload_panel import draw_upload_panel
from mvgviz.ui.frame import Setup, chart, try_open_page
from mvgviz.ui.menu import DATA

PANELS = 9
NEIGHBOURS = {"replace": "one record replaced", "add-remove": "one record added or removed"}


@cached(12, session.here)
def _histograms(data: Dataset, positions: tuple[int, ...]) -> tuple[list[FeatureHistogram], go.Figure]:
    found = feature_histograms(data, positions)
    return found, plot_histograms(found)


def draw_data(setup: Setup) -> None:
    """Small histograms of up to nine features at a time."""
    data = setup.dataset
    groups = [list(range(k, min(k + PANELS, data.n_features))) for k in range(0, data.n_features, PANELS)]
    group = groups[0]
    if len(groups) > 1:
        group = st.selectbox("Features", groups, key="data_group", label_visibility="collapsed",
                             format_func=lambda g: f"Features {g[0] + 1} to {g[-1] + 1} of {data.n_features}")
    histograms, figure = _histograms(data, tuple(group))
    narrow = min(histograms, key=lambda h: h.used)
    chart(Picture(
        figure,
        f"**{data.n_features} features × {data.n_records:,} records**, each against its range; "
        f"{in_markdown(narrow.name)} uses the least of it ({narrow.used:.0%}).",
        about=(f"{session.computed_on()} Privacy rests on the declared ranges, which are public: the wider they are, "
               "the more noise is needed.")), key="histograms")
    if setup.scenario.data in samples() and describe(setup.scenario.data).not_person_level:
        st.caption(f":material/group: A record is {describe(setup.scenario.data).record}. "
                   "What hides one record does not hide a person who has several.")


def draw_answer(setup: Setup) -> None:
    """The query's answer as a heat map."""
    query, shown = setup.query, top_left(setup.query.value)
    rows = [in_html(name) for name in (query.row_names or ())[: shown.shape[0]]]
    cols = rows if query.symmetric else ["mean"] if query.is_mean else []
    part = f" (the first {shown.shape[0]} × {shown.shape[1]} shown)" if shown.size < query.value.size else ""
    inside = "" if query.bound is None else " about records inside their ellipse"
    chart(Picture(
        plot_matrix(shown, row_labels=rows, col_labels=cols, row_title="feature" if rows else "row",
                    col_title="feature" if query.symmetric and rows else "record" if query.is_table else "",
                    value_title="true answer"),
        f"**The true answer{inside}**, {query.rows:,} × {query.cols:,}{part}. {session.computed_on()}"), key="answer")


def draw_change(setup: Setup) -> None:
    """The worst neighbours' difference, and why it cannot be larger."""
    query, pair = setup.query, session.unseen_pair(setup.query)
    shown = top_left(pair.difference)
    rows = [in_html(name) for name in (query.row_names or ())[: shown.shape[0]]]
    left, right = st.columns([3, 2], gap="large")
    with left:
        almost = "" if pair.attained > 0.999 else f" (the worst found; the bound used is {1 / pair.attained:.2f}×)"
        chart(Picture(
            plot_matrix(shown, row_labels=rows, col_labels=rows if query.symmetric else [], height=300,
                        row_title="feature" if rows else "row", value_title="change of the answer",
                        col_title="feature" if rows and query.symmetric else "column"),
            f"**What one record can change:** {pair.words}; the answer moves by "
            f"{as_number(query.sensitivity * pair.attained)}{almost}."), key="change")
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
        draw_answer(opened)
    draw_bound(opened)
    draw_change(opened)
    with st.expander("The records, and where they come from", icon=":material/info:"):
        draw_about(opened)
