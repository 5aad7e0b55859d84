"""Records inside an ellipse: the choice, whom it pulls in, what it saves and what it costs."""

from dataclasses import replace

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures import data as words
from mvgviz.pictures.data import LengthNumbers, length_numbers
from mvgviz.pictures.sentences import bound_choices
from mvgviz.scenario.resolve import Setup, with_bound
from mvgviz.scenario.scenario import LEAST_RADIUS, MOST_RADIUS
from mvgviz.text import capitalised, in_markdown
from mvgviz.trials.stand_in import BoundCost, bound_cost, radius_for_all
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart

_OWN, _RADIUS = "data_bound", "data_radius"
_MOST = 150  # features; with more a look would take too long


def draw_bound(setup: Setup) -> None:
    """Nothing for a graph, which has no records."""
    if setup.query.is_graph:
        return
    if setup.query.bound is None and setup.dataset.n_features > _MOST:
        st.caption(f"Records inside an ellipse: shown here for at most {_MOST} features; choose it in the sidebar, or "
                   "use fewer columns.")
        return
    st.markdown("#### Records inside an ellipse")
    choice, picture = st.columns([2, 3], gap="large")
    with choice:
        _choose(setup)
    try:
        tried, numbers, cost = _worked_out(setup)
    except InputError as error:
        with picture:
            st.info(f"{capitalised(in_markdown(str(error)))}.", icon=":material/info:")
        return
    with picture:
        lengths = words.lengths_picture(numbers, setup.dataset.n_records, joined=setup.query.has_constant,
                                        chosen=setup.scenario.bound != "none")
        chart(lengths.adding(session.computed_on()), key="record_lengths")
    with choice:
        _say(tried, cost, chosen=setup.scenario.bound != "none")


@cached(8, session.here)
def _worked_out(setup: Setup) -> tuple[Setup, LengthNumbers, BoundCost]:
    """The setup with its bound, or with the one that would be offered first."""
    if setup.query.bound is None:
        setup = with_bound(setup, bound="even")
    assert setup.query.bound is not None
    cost = bound_cost(setup)
    if session.is_simulated():  # one simulated table is enough
        cost = replace(cost, data_pull=cost.pull)
    return setup, length_numbers(setup.table, setup.query.bound), cost


def _choose(setup: Setup) -> None:
    """A length that is chosen beside a picture of the data is marked, as any choice then is."""
    scenario = setup.scenario
    choices = bound_choices(scenario.kind)
    st.selectbox("Pull records into an ellipse first", list(choices), format_func=choices.__getitem__,
                 **session.bound(_OWN, scenario.bound, lambda kind: {"bound": kind}))
    if scenario.bound == "own":
        st.number_input("Clipping radius (1 = a typical record)", LEAST_RADIUS, MOST_RADIUS, step=0.1, format="%g",
                        **session.bound(_RADIUS, scenario.radius, lambda radius: {"radius": radius}))


def _say(tried: Setup, cost: BoundCost, *, chosen: bool) -> None:
    """What is saved and what it costs; the length that pulls nobody in is one click away."""
    st.markdown(words.saved_words(tried, cost, chosen=chosen))
    st.markdown(words.pull_words(tried, cost, on_data=not session.is_simulated()))
    warning = words.cost_warning(tried, cost)
    if warning is not None and chosen:
        st.warning(warning, icon=":material/warning:")
    elif warning is not None:
        st.markdown(f":material/warning: {warning}")
    radius = radius_for_all(tried)
    if radius <= MOST_RADIUS:
        st.button("An ellipse that pulls nobody in", key="data_bound_all", type="tertiary",
                  disabled=tried.scenario.bound == "own" and tried.scenario.radius >= radius,
                  help=f"As long as the longest record that the ranges allow: {radius:g}. It follows from the ranges "
                       "alone.", on_click=session.take_over, args=(tried,), kwargs={"bound": "own", "radius": radius})
