"""Noise shape: the ellipse to drag, three dimensions, covariances, possible outcomes."""

import math

import numpy as np
import streamlit as st

from mvgviz.noise.ties import eigen
from mvgviz.pictures import shape as words
from mvgviz.pictures.rule import iid_std, rule_model
from mvgviz.pictures.sentences import thing
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, in_markdown
from mvgviz.ui.frame import chart, draw_takeaway, open_live_page
from mvgviz.ui.menu import SHAPE
from mvgviz.ui.rule_picture import priority_against_others, record_picture, rule
from mvgviz.ui.sidebar_design import draw_family
from mvgviz.validation import FloatArray

_MANY, _POINTS = 2_000, 300
_USES = ("priority columns", "an equal mixture", "along the data (not private)")


def draw_line(setup: Setup) -> None:
    st.info("This answer has one direction. Its typical error (standard deviation) is "
            f"{as_number(setup.design.direction_std()[0])}.")


def draw_plane(setup: Setup) -> None:
    names = _coordinates(setup)
    picture, choices = st.columns([8, 2], gap="medium")
    with choices:
        draw_family("shape_family")
        pair, of_directions = _choose_plane(setup, names)
        no_data = setup.query.bound is None and (of_directions or _data_points(setup, pair).size == 0)
        show_data = st.toggle("Show data", key="shape_data", disabled=no_data,
                              help="Not private. For the table query, or when records are clipped to an ellipse.")
        useful = st.selectbox("Your mixture", _USES, key="shape_useful", disabled=of_directions,
                              help="The direction in which noise is measured. Drag it in the picture.")
    draw_live(picture, _draw_rule, pair, useful, of_directions, show_data)


def _draw_rule(setup: Setup, pair: tuple[int, int], useful: str, of_directions: bool, show_data: bool) -> None:
    joined = setup.design.is_pure and any(len(block.rows) > 1 for block in setup.design.blocks)
    model = priority_against_others(setup, pair) if joined else rule_model(
        setup.design, pair, of_directions=of_directions, split=setup.split)
    shown = setup.direction_names if of_directions else _coordinates(setup)
    points = np.empty((2, 0)) if of_directions else _data_points(setup, pair)
    iid, pair_names = iid_std(setup.iid, pair[1]), words.plane_labels(setup, shown, pair, of_directions=of_directions)
    spread = words.root_mean_square(points) if points.size else 0.0
    takeaway = words.plane_words(model, iid, spread)
    rule(setup, model, pair, key="shape_rule", names=pair_names, takeaway=takeaway, iid=iid,
         draws=np.random.default_rng([setup.scenario.seed, 2]).standard_normal((2, 200)),
         of_directions=of_directions, line=_useful(setup, pair, useful, points),
         points=points if show_data else None, spread=spread,
         records=record_picture(setup, model, pair, (shown[pair[0]], shown[pair[1]]), of_directions=of_directions,
                                show=show_data))
    draw_takeaway(takeaway, key="shape_rule")
    sentences = [words.rule_words(model, len(setup.design.theta), thing(setup)), words.drag_words(model)]
    if setup.query.bound is not None:
        sentences.insert(1, words.records_words(model))
    st.caption("\n\n".join(sentences))


def draw_space(setup: Setup) -> None:
    names = _coordinates(setup)
    if setup.design.blocks:
        st.info("This picture is for Gaussian noise.")
        return
    if len(names) < 3:
        st.info("This picture needs at least three features. This answer has fewer.")
        return
    options = range(min(len(names), _MANY))
    chosen = st.multiselect("Three features", options, default=list(options)[:3], max_selections=3, key="shape_three",
                            format_func=names.__getitem__)
    if len(chosen) < 3:
        st.info("Choose three features.")
        return
    chart(words.ellipsoid_picture(setup, chosen, names), key="shape_ellipsoid")


def draw_matrices(setup: Setup) -> None:
    design, labels = setup.design, words.answer_labels(setup.query)
    middle, sides = st.columns([3, 2], gap="large")
    with middle:
        chart(words.std_picture(setup), key="shape_std")
    with sides:
        for name, side, own in (("Sigma, over rows", design.row_side, labels[0]),
                                ("Psi, over columns", design.col_side, labels[1])):
            if side.is_identity:
                st.caption(f"{name}: the identity, {side.size:,} × {side.size:,}.")
                continue
            chart(words.covariance_picture(side, name, own), key=f"shape_{name[:3]}")
            if design.mode == "both":
                st.caption("Psi is the same matrix.")
                break


def draw_outcomes(setup: Setup) -> None:
    kinds = ["Released matrix", "First principal component"]
    kind = kinds[0]
    if setup.query.symmetric and setup.query.rows > 1:
        kind = st.segmented_control("What", kinds, default=kind, key="shape_outcome",
                                    label_visibility="collapsed") or kind
    chart(words.outcomes_picture(setup) if kind == kinds[0] else words.component_picture(setup), key="shape_play")


def _coordinates(setup: Setup) -> tuple[str, ...]:
    design = setup.design
    names = setup.query.coordinate_names(design.mode, design.directional_side.size)
    return names[: setup.query.own_features(len(names))][:_MANY]


def _choose_plane(setup: Setup, names: tuple[str, ...]) -> tuple[tuple[int, int], bool]:
    scenario, of_directions = setup.scenario, False
    if not setup.design.directional_side.directions.is_standard:
        of_directions = st.segmented_control("Plane of", ["features", "directions"], default="features",
                                             key="shape_of") == "directions"
    shown = setup.direction_names if of_directions else names
    size = min(len(shown), len(names))
    priority = next(iter(scenario.priority_features), 1)
    first, second = scenario.plane if scenario.directions == "rotation" else (0, priority)
    second = min(second, size - 1)
    first = first if first != second and first < size else (1 if second == 0 else 0)
    across = st.selectbox("Across", range(size), index=first, format_func=shown.__getitem__,
                          key=f"shape_x_{of_directions}")
    up = st.selectbox("Up", range(size), index=second, format_func=shown.__getitem__, key=f"shape_y_{of_directions}")
    if up == across:
        up = 1 if across == 0 else 0
        st.caption(f"Both axes are the same, so up shows {in_markdown(shown[up])}.")
    return (across, up), of_directions


def _data_points(setup: Setup, pair: tuple[int, int]) -> FloatArray:
    """Return some records around the middle of their ranges, where the query is the table."""
    if not setup.query.is_table or setup.design.mode == "columns":
        return np.empty((2, 0))
    table = setup.table
    middle = (table.lower + table.upper) / 2
    return setup.query.value[list(pair), ::max(table.n_records // _POINTS, 1)][:, :_POINTS] - middle[list(pair), None]


def _useful(setup: Setup, pair: tuple[int, int], choice: str, points: FloatArray) -> float:
    """Return the angle of the use; an equal mixture where nothing else is known."""
    if choice == _USES[0]:
        wanted = [float(k in setup.scenario.priority_features) for k in pair]
        return math.atan2(wanted[1], wanted[0]) if any(wanted) else math.pi / 4
    if choice == _USES[2] and points.size:
        vector = eigen(points @ points.T)[1][:, -1]
        return math.atan2(vector[1], vector[0])
    return math.pi / 4


PANELS = {"Three features": draw_space, "Covariances": draw_matrices, "Possible outcomes": draw_outcomes}

setup, draw_live = open_live_page(SHAPE)
chosen = st.segmented_control("Show", ["Ellipse", *PANELS], default="Ellipse", key="shape_panel",
                              label_visibility="collapsed") or "Ellipse"
if chosen == "Ellipse" and len(_coordinates(setup)) > 1:
    draw_plane(setup)
else:
    draw_live(st.container(), PANELS.get(chosen, draw_line))
