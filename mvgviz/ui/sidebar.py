"""The shared sidebar: four controls for a class, all of them one switch away."""

import numpy as np
import streamlit as st

from mvgviz.data import describe, samples
from mvgviz.design.noise_design import mode_of
from mvgviz.errors import InputError
from mvgviz.labels import SCALES
from mvgviz.pictures.glossary import DELTA_IS
from mvgviz.pictures.sentences import bound_choices, bound_words, link_words
from mvgviz.query.base import numbered
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import QUERIES
from mvgviz.scenario.resolve import delta_of, paper_delta, usual_delta
from mvgviz.scenario.scenario import LEAST_RADIUS, MOST_RADIUS, Scenario
from mvgviz.text import as_number, as_probability, capitalised, delta_caution, delta_words
from mvgviz.ui import session
from mvgviz.ui.sidebar_design import (
    draw_choice,
    draw_directions,
    draw_guarantee,
    draw_importance,
    draw_share,
    draw_split,
    favoured_label,
)

EPSILONS = (*(float(f"{m}e{e}") for e in range(-2, 2) for m in (1, 1.5, 2, 3, 4, 5, 7)), 100.0)
DELTAS = tuple(float(f"1e{e}") for e in range(-12, 0))


def draw_sidebar() -> None:
    """Simple view, or all controls; the same for every page."""
    st.session_state.setdefault("_all", False)
    _draw_data()
    if st.session_state["_all"]:
        _draw_query()
        _draw_epsilon()
        _draw_delta()
        draw_guarantee()
        names = _direction_names()
        draw_directions(len(names))
        draw_split(names)
        st.number_input("Trials", 1, 100_000, **session.bound_field("trials"))
        st.number_input("Seed of the draws", 0, 10**9, **session.bound_field("seed"))
    else:
        _draw_epsilon()
        _draw_favoured(_direction_names())
        if session.scenario().bound != "none" and not session.scenario().is_graph:
            st.caption(f"Records: {bound_words(session.scenario())}. Changed on Data & query.")
    st.session_state["w_all"] = st.session_state["_all"]
    st.toggle("All controls", key="w_all", on_change=lambda: st.session_state.update(_all=st.session_state["w_all"]))
    _draw_link()


def _draw_data() -> None:
    own = session.upload()
    names = {name: describe(name).title for name in samples()}
    if own is not None:
        names[own.data_name] = f"Your file: {own.name}"
    current = session.scenario().data
    if current not in names:
        names[current] = "A file that is not here"

    def change(data: str) -> dict[str, object]:
        if data not in names:  # a page of a session before still had it
            return {}
        old = session.scenario()
        new = Scenario.default_for(data).changed(epsilon=old.epsilon, from_data=tuple(
            name for name in old.from_data if name == "epsilon"))
        return dict(vars(new))

    st.selectbox("Data", list(names), format_func=names.__getitem__, **session.bound("w_data", current, change))


def _draw_query() -> None:
    scenario = session.scenario()
    words = {name: QUERIES[name].choice for name in _queries(scenario.query)}
    draw_choice("Query: what is asked of the data", words, **session.bound("w_query", scenario.query, _query_change))
    if not scenario.is_graph:
        draw_choice("Ranges", {name: capitalised(words) for name, words in SCALES.items()},
                    **session.bound_field("scale"))
        draw_choice("Records pulled into an ellipse", bound_choices(scenario.kind),
                    **session.bound_field("bound"))
        if scenario.bound == "own":
            st.number_input("Its length (1: an evenly spread record's)", min_value=LEAST_RADIUS, max_value=MOST_RADIUS,
                            step=0.1, format="%g", **session.bound_field("radius"))
    if scenario.kind.is_kernel:
        st.number_input("Kernel length", min_value=1e-6, max_value=1e6, format="%g", **session.bound_field("length"))


def _query_change(query: str) -> dict[str, object]:
    """Theorem 2, a chosen side, directions and split may not fit the new query: fall back to what does."""
    change: dict[str, object] = {"query": query, "mode": "auto"}
    old, kind = session.scenario(), QUERIES[query]
    if old.guarantee == "theorem2" and not kind.psd:
        change["guarantee"] = "theorem1"
    if old.allocation == "manual" or (kind.has_constant and old.allocation == "max-pnr"):
        change["allocation"] = "binary"
    if kind.has_constant and old.bound == "private":
        change["bound"] = "even"
    if kind.has_constant and old.directions != "rotation":
        change["directions"] = "standard"
    return change


def _queries(current: str) -> tuple[str, ...]:
    """The queries that make sense for the data, and the current one."""
    try:
        data = session.dataset()
    except InputError:
        return (current,)
    matrix = data.matrix
    square = matrix.shape[0] == matrix.shape[1] >= 2
    graph = square and bool(np.isin(matrix, (0.0, 1.0)).all() and (matrix == matrix.T).all()
                            and not np.diag(matrix).any())
    fitting = tuple(name for name, kind in QUERIES.items() if kind.is_graph == graph and kind.fits(data))
    return fitting if current in fitting else (*fitting, current)


def _draw_epsilon() -> None:
    options = sorted({*EPSILONS, session.scenario().epsilon})
    st.select_slider("Privacy budget epsilon (ε)", options, format_func=lambda e: f"{e:g}",
                     help="When one record changes, the chance of any result grows at most e^ε times, plus δ.",
                     **session.bound_field("epsilon"))
    st.caption("0.01: strong privacy, much noise · 100: hardly any privacy, little noise")


def _draw_delta() -> None:
    scenario = session.scenario()
    try:
        data = session.dataset()
    except InputError:
        return
    value, usual, paper = delta_of(scenario, data), usual_delta(data.n_records), paper_delta(data.n_records)
    thing = "edge" if scenario.is_graph else "record"
    st.select_slider("Delta (δ)", sorted({*DELTAS, value, usual, paper}),
                     format_func=lambda d: (f"{as_probability(d)} (usual)" if d == usual
                                            else delta_words(d, data.n_records)),
                     help=f"δ is {DELTA_IS}. It must be far below 1/n, or a mechanism could publish one {thing}, "
                          "chosen at random, and still pass.",
                     **session.bound("w_delta", value, lambda delta: _delta_change(delta, data)))
    with st.container(horizontal=True):
        st.button("δ = 1/n, as in the paper", key="w_one_over_n", disabled=value == paper, type="tertiary",
                  help=delta_caution(paper, data.n_records, thing),
                  on_click=lambda: session.update(**_delta_change(paper, data)))
        if scenario.delta is not None:
            st.button("Back to the usual", key="w_usual_delta", type="tertiary",
                      help="The smaller of 1e-6 and 1/(100 n)", on_click=lambda: session.update(delta=None))
    caution = delta_caution(value, data.n_records, thing)
    if caution:
        st.caption(f":material/warning: {caution}")


def _delta_change(delta: float, data: Dataset) -> dict[str, object]:
    """The usual one is no choice; 1/n tells the number of records, and where that comes from."""
    if delta == usual_delta(data.n_records):
        return {"delta": None}
    if delta == paper_delta(data.n_records) and not data.records_origin.is_covered:
        return {"delta": delta, "from_data": (*session.scenario().from_data, "delta")}
    return {"delta": delta}


def _direction_names() -> tuple[str, ...]:
    """What the directions are called; empty where the data or the query is missing."""
    scenario = session.scenario()
    try:
        query = session.query()
    except InputError:
        return ()
    mode = mode_of(query, scenario.mode)
    size = query.cols if mode == "columns" else query.rows
    size = query.own_features(size)  # a constant's share is not a person's to choose
    if scenario.directions == "standard" or size < 2:
        return query.coordinate_names(mode, size)[:size]
    try:
        return session.setup().direction_names[:size]
    except InputError:
        return numbered("direction", size)


def _draw_favoured(names: tuple[str, ...]) -> None:
    """The simple view of the split: who matters, and how much of the budget they get."""
    scenario = session.scenario()
    if not 1 < len(names) <= 2_000:
        if names:
            many = f"{len(names):,} directions: too many to list here."
            st.caption("One direction only." if len(names) == 1 else many)
        return
    if scenario.allocation not in ("binary", "uniform"):
        st.caption("The split was chosen with all controls; a choice here replaces it.")
    chosen = [k for k in scenario.favoured if k < len(names)] if scenario.allocation == "binary" else []
    st.multiselect(favoured_label(), range(len(names)), format_func=names.__getitem__, placeholder="all the same",
                   **session.bound("w_favoured", chosen, lambda favoured: {
                       "favoured": tuple(favoured), "needed": (),
                       "allocation": "binary" if favoured else "uniform"}))
    draw_importance(names, chosen)
    draw_share("How much of the precision they get", disabled=not 0 < len(chosen) < len(names))


def _draw_link() -> None:
    scenario, usual = session.scenario(), Scenario.default_for(session.scenario().data)
    st.divider()
    with st.container(horizontal=True):
        st.button("New draw", key="w_draw", icon=":material/casino:", help="Fresh randomness for what is drawn",
                  on_click=lambda: session.update(seed=(scenario.seed + 1) % 10**9))
        st.button("Reset", key="w_reset", icon=":material/restart_alt:",
                  help=f"Back to the defaults of this data (ε = {as_number(usual.epsilon)})",
                  on_click=lambda: session.put(usual))
        with st.popover("Copy link", icon=":material/link:"):
            st.code(session.link(), language=None, wrap_lines=True)
            st.caption(link_words(scenario))
