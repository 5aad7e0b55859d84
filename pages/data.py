"""Data & query: the data in its ranges, the answer, and what one record can change."""

from dataclasses import replace

import streamlit as st

from mvgviz.data import describe, samples
from mvgviz.errors import InputError
from mvgviz.pictures import data as words
from mvgviz.pictures.sentences import EMPTY_PLACE
from mvgviz.query.worst_pairs import worst_pair
from mvgviz.release.intervals import DataUnits, data_units
from mvgviz.scenario.resolve import Setup, with_bound
from mvgviz.scenario.scenario import MOST_RADIUS
from mvgviz.text import capitalised, in_markdown
from mvgviz.trials.simulated import BoundCost, bound_cost, radius_for_all
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, draw_open_tab, try_open_page
from mvgviz.ui.menu import DATA
from mvgviz.ui.sidebar import draw_clipping
from mvgviz.ui.upload_panel import draw_question, draw_upload_panel

MOST_LOOKED_AT = 150  # features; with more, a look at an ellipse takes too long
NEIGHBOURS = {"replace": "one record replaced", "add-remove": "one record added or removed"}
_histograms = cached(12, session.here)(words.histograms_picture)
_unseen_pair = cached(6, session.here)(worst_pair)  # inside the query's bound, if it has one, before any noise


def draw_neighbours() -> None:
    if not session.scenario().is_graph:
        labels = {key: session.promised(label) for key, label in NEIGHBOURS.items()}
        st.radio("Neighbours differ by", list(NEIGHBOURS), horizontal=True, format_func=labels.__getitem__,
                 help=f'{EMPTY_PLACE} The kernel query and private directions support only "replace".',
                 **session.bound_field("neighbours"))


def draw_bound(setup: Setup) -> None:
    if setup.query.bound is None and setup.dataset.n_features > MOST_LOOKED_AT:
        st.caption(f"Clipping is drawn for at most {MOST_LOOKED_AT} features. Choose it in the sidebar, or use fewer "
                   "columns.")
        return
    choice, picture = st.columns([2, 3], gap="large")
    with choice:
        draw_clipping("Clip records first", "data")
    tried, numbers, cost = _worked_out(setup)
    chosen = setup.scenario.bound != "none"
    with picture:
        lengths = words.lengths_picture(numbers, setup.dataset.n_records, joined=setup.query.has_constant,
                                        chosen=chosen)
        chart(lengths.adding(session.computed_on()), key="record_lengths")
    with choice:
        st.markdown(words.cost_words(tried, cost, chosen=chosen, on_data=not session.is_simulated()))
        if warning := words.cost_warning(tried, cost):
            (st.warning if chosen else st.info)(warning, icon=":material/warning:")
        radius = radius_for_all(tried)
        if radius <= MOST_RADIUS:
            st.button("Use an ellipse that clips no record", key="data_bound_all", type="tertiary",
                      disabled=tried.scenario.bound == "own" and tried.scenario.radius >= radius,
                      on_click=session.take_over, args=(tried,), kwargs={"bound": "own", "radius": radius})


@cached(8, session.here)
def _worked_out(setup: Setup) -> tuple[Setup, words.LengthNumbers, BoundCost]:
    """Return the setup with its bound, or with the first one offered, and what that clips and costs."""
    if setup.query.bound is None:
        setup = with_bound(setup, bound="even")
    assert setup.query.bound is not None
    cost = bound_cost(setup)
    if session.is_simulated():  # one simulated table is enough
        cost = replace(cost, data_bias=cost.bias)
    return setup, words.length_numbers(setup.table, setup.query.bound), cost


def draw_answer(setup: Setup) -> None:
    query, data = setup.query, setup.dataset
    answer, histogram = st.columns(2, gap="large")
    with histogram:
        groups = [list(range(k, min(k + 9, data.n_features))) for k in range(0, data.n_features, 9)]
        group = groups[0]
        if len(groups) > 1:
            group = st.selectbox("Features", groups, key="data_group", label_visibility="collapsed",
                                 format_func=lambda g: f"Features {g[0] + 1} to {g[-1] + 1} of {data.n_features}")
        picture = _histograms(data, tuple(group))
        chart(replace(picture, about=f"{session.computed_on()} {picture.about}"), key="histograms")
    with answer:
        picture = words.answer_picture(query, own_units(setup), data.units if query.is_mean else ())
        chart(picture.adding(session.computed_on()), key="answer")


def draw_change(setup: Setup) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart(words.change_picture(setup.query, _unseen_pair(setup.query), own_units(setup)), key="change")
    with right:
        draw_neighbours()
        st.markdown(session.promised(words.facts(setup.query)))
        lines, said = words.derivation(setup.query)
        for line in lines:
            st.latex(line)
        st.caption(session.promised(said))


def own_units(setup: Setup) -> DataUnits | None:
    """Return the data's units of the answer; None where the page shows it as it is computed."""
    query = setup.query
    return None if query.is_graph or session.normalised() else data_units(
        type(query), setup.scenario.scale, setup.dataset.ranges, query.row_names)


def draw_records(setup: Setup) -> None:
    data = setup.dataset
    if about is not None:
        st.markdown(f"**{about.title}**. {about.summary} A record is {about.record}.")
        st.caption(f"{about.citation}. {about.licence}.")
    st.dataframe(words.record_columns(data, 200), height=247)
    st.caption(f"{min(200, data.n_records)} of {data.n_records:,} records, clipped to their ranges. "
               f"{session.computed_on()}")


def say_why_not(error: InputError) -> None:
    st.info(f"{capitalised(in_markdown(str(error)))}.", icon=":material/info:")


setup = try_open_page(DATA)
draw_upload_panel()
draw_question()
if setup is None:
    if session.scenario().neighbours != "replace":
        draw_neighbours()
    st.stop()
about = describe(setup.scenario.data) if setup.scenario.data in samples() else None
if about is not None and about.not_person_level:
    st.caption(f":material/group: A record is {about.record}. "
               "What hides one record does not hide a person who has several.")
bounds = {} if setup.query.is_graph or not setup.query.takes_bound else {"Clip records": draw_bound}
draw_open_tab({"The answer": draw_answer, "What one record can change": draw_change, **bounds,
               "The records": draw_records}, setup, key="data_tab",
              refused=say_why_not)
