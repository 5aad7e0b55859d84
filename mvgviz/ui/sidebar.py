"""Draw the shared sidebar: five controls, and all of them behind one switch."""

from collections.abc import Sequence, Set
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.data import describe, samples
from mvgviz.design.noise_design import mode_of
from mvgviz.errors import InputError
from mvgviz.labels import SCALES
from mvgviz.pictures.sentences import DELTA_IS, bound_choices, bound_words, link_words, others_words
from mvgviz.query.base import numbered
from mvgviz.query.counts import categories
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import QUERIES
from mvgviz.scenario.resolve import delta_of, paper_delta, usual_delta
from mvgviz.scenario.scenario import LEAST_RADIUS, MOST_RADIUS, Scenario
from mvgviz.text import as_probability, capitalised, delta_caution, epsilon_caution
from mvgviz.ui import session
from mvgviz.ui import sidebar_design as design
from mvgviz.ui.sidebar_design import draw_choice
from mvgviz.ui.visitors import most_trials

EPSILONS = (*(float(f"{m}e{e}") for e in range(-2, 2) for m in (1, 1.5, 2, 3, 4, 5, 7)), 100.0)
_EPSILON_IS = ("When one record changes, the chance of any result grows at most e^ε times, plus δ.\n\nOthers chose:\n\n"
               f"{others_words()}")
DELTAS = tuple(float(f"1e{e}") for e in range(-12, 0))
LIVE = ("epsilon", "share")  # of the scenario: nothing of the sidebar depends on them but its parts


def draw_sidebar() -> list[design.Part]:
    """Draw the simple view, or all controls; return the parts that follow the sliders, undrawn."""
    st.session_state.setdefault("_all", False)
    parts: list[design.Part] = []
    _draw_data()
    draw_query("Query: what you ask of the data")
    if st.session_state["_all"]:
        _draw_records()
        parts.append((st.container(), draw_epsilon))
        draw_delta()
        design.draw_guarantee()
        design.draw_family()
        names = direction_names()
        design.draw_directions(len(names))
        design.draw_split(names, parts)
        st.number_input("Trials", 1, most_trials(), **session.bound_field("trials"))
        st.number_input("Seed of the draws", 0, 10**9, **session.bound_field("seed"))
    else:
        parts.append((st.container(), draw_epsilon))
        _draw_priority(direction_names(), parts)
        if session.scenario().bound != "none" and not session.scenario().is_graph:
            st.caption(f"Records: {bound_words(session.scenario())}. Change this on Data & query.")
    st.toggle("All controls", **session.control("w_all", st.session_state["_all"],
                                                lambda on: st.session_state.update(_all=on)))
    return [*parts, (_draw_link(), _draw_address)]


def _draw_data() -> None:
    own, current = session.upload(), session.scenario().data
    names = {name: describe(name).title for name in samples()}
    if own is not None:
        names[own.data_name] = f"Your file: {own.dataset.title or own.name}"
    names.setdefault(current, "A file that is not here")

    def change(data: str) -> dict[str, object]:
        if data not in names:  # a page of a session before still had it
            return {}
        old = session.scenario()
        new = Scenario.default_for(data).changed(epsilon=old.epsilon, from_data=tuple(
            name for name in old.from_data if name == "epsilon"))
        return dict(vars(new))

    draw_choice("Data", names, **session.bound("w_data", current, change))


def draw_query(label: str, where: str = "w") -> None:
    """Draw the query, and what it needs besides the table; keys of the controls begin with ``where``."""
    scenario = session.scenario()
    words = {name: QUERIES[name].choice for name in _queries(scenario.query)}
    draw_choice(label, words, **session.bound(f"{where}_query", scenario.query, _query_change))
    asked = scenario.kind.parameters
    if "length" in asked:
        st.number_input("Kernel length", min_value=1e-6, max_value=1e6, format="%g",
                        **session.bound_field("length", where))
    if not {"category", "group"} & {*asked}:
        return
    try:
        data = session.dataset()
    except InputError:  # the page says what is missing
        return
    known, by_group = categories(data), "category" in asked
    fields: dict[str, tuple[str, Sequence[str], Set[int]]] = {}
    if by_group:
        fields["category"] = "Categories (empty: the first)", [category.name for category in known], frozenset()
    if "group" in asked:
        levels = {k for category in known for k in category.positions} if by_group else set()
        label = "Features to average (empty: all)" if by_group else "Columns of the first group"
        fields["group"] = label, data.features, levels
    for field, (label, names, left_out) in fields.items():
        options = [k for k in range(len(names)) if k not in left_out]
        chosen = [k for k in getattr(scenario, field) if k in options]  # an older link may name others
        st.multiselect(label, options, format_func=names.__getitem__, **session.bound(
            f"{where}_{field}", chosen, partial(_positions, field)))


def _positions(field: str, chosen: Sequence[int]) -> dict[str, object]:
    return {field: tuple(chosen)}


def _draw_records() -> None:
    """Draw the mapping of the ranges, and what records are clipped to."""
    scenario = session.scenario()
    if scenario.is_graph:
        return
    draw_choice("Ranges", {name: capitalised(words) for name, words in SCALES.items()},
                **session.bound_field("scale"))
    st.toggle("Show the normalised scale", **session.control(
        "w_normalised", session.normalised(), lambda on: st.session_state.update(_normalised=on)))
    if scenario.kind.takes_bound or scenario.bound != "none":
        draw_clipping("Clip records")


def draw_clipping(label: str, where: str = "w") -> None:
    """Draw what records are clipped to; keys of the controls begin with ``where``."""
    draw_choice(label, bound_choices(session.scenario().kind), **session.bound_field("bound", where))
    if session.scenario().bound == "own":
        st.number_input("Clipping radius (1 = an evenly spread record)", LEAST_RADIUS, MOST_RADIUS, step=0.1,
                        format="%g", **session.bound_field("radius", where))


def _query_change(query: str) -> dict[str, object]:
    """Return the new query with a guarantee, side, directions and split that fit it."""
    change: dict[str, object] = {"query": query, "mode": "auto"}
    old, kind = session.scenario(), QUERIES[query]
    if old.guarantee == "theorem2" and not kind.psd:
        change["guarantee"] = "theorem1"
    if old.allocation == "manual" or (kind.has_constant and old.allocation == "max-pnr"):
        change["allocation"] = "binary"
    if kind.has_constant and old.bound == "private":
        change["bound"] = "even"
    if not kind.takes_bound:
        change["bound"] = "none"
    if kind.parameters != old.kind.parameters:
        change["group"] = ()
    if kind.has_constant and old.directions != "rotation":
        change["directions"] = "standard"
    return change


def _queries(current: str) -> tuple[str, ...]:
    """Return the queries that fit the data, and the current one."""
    data = session.dataset_here()
    if data is None:
        return (current,)
    matrix = data.matrix
    square = matrix.shape[0] == matrix.shape[1] >= 2
    graph = square and bool(np.isin(matrix, (0.0, 1.0)).all() and (matrix == matrix.T).all()
                            and not np.diag(matrix).any())
    fitting = tuple(name for name, kind in QUERIES.items() if kind.is_graph == graph and kind.fits(data))
    return fitting if current in fitting else (*fitting, current)


def draw_epsilon(where: str = "w") -> None:
    """Draw epsilon; keys of the controls begin with ``where``."""
    scenario = session.scenario()
    st.select_slider("Privacy budget epsilon (ε)", sorted({*EPSILONS, scenario.epsilon}), format_func="{:g}".format,
                     help=session.promised(_EPSILON_IS) if where == "w" else None,
                     **session.bound_field("epsilon", where))
    caution = epsilon_caution(scenario.epsilon, "edge" if scenario.is_graph else "record")
    st.caption(f":material/warning: **{session.promised(caution)}**" if caution else
               "0.01: strong privacy, much noise · 100: almost no privacy, little noise")


def draw_delta(where: str = "w") -> None:
    """Draw delta, with the paper's and the usual one; keys of the controls begin with ``where``."""
    scenario, data = session.scenario(), session.dataset_here()
    if data is None:
        return
    value, usual, paper = delta_of(scenario, data), usual_delta(data.n_records), paper_delta(data.n_records)
    thing = "edge" if scenario.is_graph else "person" if data.by_person else "record"
    st.select_slider("Delta (δ)", sorted({*DELTAS, value, usual, paper}),
                     help=f"δ is {DELTA_IS}." if where == "w" else None,
                     format_func=lambda d: f"{as_probability(d)}{' (usual)' if d == usual else ''}",
                     **session.bound(f"{where}_delta", value, lambda delta: delta_change(delta, data)))
    with st.container(horizontal=True):
        st.button("δ = 1/n, as in the paper", key=f"{where}_one_over_n", disabled=value == paper, type="tertiary",
                  help=delta_caution(paper, data.n_records, thing),
                  on_click=lambda: session.update(**delta_change(paper, data)))
        if scenario.delta is not None:
            st.button("Usual δ", key=f"{where}_usual_delta", type="tertiary", help="The smaller of 10⁻⁶ and 1/(100 n)",
                      on_click=lambda: session.update(delta=None))
    if caution := delta_caution(value, data.n_records, thing):
        st.caption(f":material/warning: {caution}")


def delta_change(delta: float, data: Dataset) -> dict[str, object]:
    """Return the change; the usual δ is no choice, and 1/n reveals the number of records."""
    if delta == usual_delta(data.n_records):
        return {"delta": None}
    if delta == paper_delta(data.n_records) and not data.records_origin.is_covered:
        return {"delta": delta, "from_data": (*session.scenario().from_data, "delta")}
    return {"delta": delta}


def direction_names() -> tuple[str, ...]:
    """Return the directions' names; none where the data or the query is missing."""
    scenario = session.scenario()
    try:
        query = session.query()
    except InputError:
        return ()
    mode = mode_of(query, scenario.mode)
    size = query.own_features(query.cols if mode == "columns" else query.rows)  # nobody chooses a constant's share
    if scenario.directions == "standard" or size < 2:
        return query.coordinate_names(mode, size)[:size]
    try:
        return session.setup().direction_names[:size]
    except InputError:
        return numbered("direction", size)


def _draw_priority(names: tuple[str, ...], parts: list[design.Part]) -> None:
    scenario = session.scenario()
    if not 1 < len(names) <= 2_000:
        if names:
            st.caption("One direction." if len(names) == 1 else f"{len(names):,} directions: too many to list here.")
        return
    if scenario.allocation not in ("binary", "uniform"):
        st.caption("You split the budget under All controls. A choice here replaces that split.")
    chosen = draw_priorities(design.priority_label(), names)
    design.draw_importance(names, chosen)
    parts.append((st.container(), partial(design.draw_share, "How much of the precision they get",
                                          disabled=not 0 < len(chosen) < len(names))))


def draw_priorities(label: str, names: Sequence[str], where: str = "w") -> list[int]:
    """Draw the priority directions and return those chosen; with some, the split is one of two parts."""
    chosen = priorities_among(names)
    st.multiselect(label, range(len(names)), format_func=names.__getitem__, placeholder="all the same",
                   **session.bound(f"{where}_priority", chosen, lambda priorities: {
                       "priority_directions": tuple(priorities), "priority": (),
                       "allocation": "binary" if priorities else "uniform"}))
    return chosen


def priorities_among(names: Sequence[str]) -> list[int]:
    """Return the positions of the priority directions, none unless they get one share together."""
    scenario = session.scenario()
    return [k for k in scenario.priority_directions if k < len(names)] if scenario.allocation == "binary" else []


def _draw_link() -> DeltaGenerator:
    scenario, usual = session.scenario(), Scenario.default_for(session.scenario().data)
    st.divider()
    with st.container(horizontal=True):
        st.button("New draw", key="w_draw", icon=":material/casino:",
                  on_click=lambda: session.update(seed=(scenario.seed + 1) % 10**9))
        st.button("Reset", key="w_reset", icon=":material/restart_alt:", on_click=lambda: session.put(usual))
        with st.popover("Copy link", icon=":material/link:"):
            address = st.container()
            st.caption(link_words(scenario))
    return address


def _draw_address() -> None:
    st.code(session.link(), language=None, wrap_lines=True)
