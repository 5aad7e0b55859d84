"""Noise shape: the ellipse that can be dragged, three dimensions, covariances, possible outcomes."""

import math

import numpy as np
import streamlit as st

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.sampling import sample_noise
from mvgviz.noise.sides import NoiseSide
from mvgviz.noise.ties import eigen
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.rule import iid_std, rule_model
from mvgviz.pictures.sentences import thing
from mvgviz.pictures.shape import (
    ABOUT_ZERO,
    drag_words,
    drowned_words,
    entries_words,
    leading_components,
    mixing_words,
    overlap_words,
    plane_labels,
    plane_words,
    plot_component_outcomes,
    plot_ellipsoid,
    plot_matrix_outcomes,
    records_words,
    rule_words,
)
from mvgviz.pictures.theme import MOST_COLS, MOST_ROWS, plot_matrix
from mvgviz.scenario.names import names_of_coordinates
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, in_html, in_markdown
from mvgviz.trials.tasks.post import centred
from mvgviz.ui.frame import chart, draw_takeaway, open_page
from mvgviz.ui.menu import SHAPE
from mvgviz.ui.rule_picture import own_axes, record_picture, rule, share_step, take_change, theorem_in
from mvgviz.validation import FloatArray

_MANY, _POINTS, _DRAWS, _OUTCOMES, _CORNER = 2_000, 300, 200, 30, 24
_USES = ("the features that matter", "an equal mixture", "along the data (not private)")


def draw_plane(setup: Setup) -> None:
    """The rule in the plane of two features or two directions, with handles."""
    names = _coordinates(setup)
    if len(names) < 2:
        std = as_number(setup.design.direction_std()[0])
        st.info(f"One direction only: the noise is a number, of typical error (standard deviation) {std}.")
        return
    picture, choices = st.columns([8, 2], gap="medium")
    with choices:
        pair, of_directions = _choose_plane(setup, names)
        model = rule_model(setup.design, pair, of_directions=of_directions, split=setup.split)
        shown = setup.direction_names if of_directions else names
        points = np.empty((2, 0)) if of_directions else _data_points(setup, pair)
        show_data = st.toggle("Data under it", key="shape_data", disabled=points.size == 0 and model.records == 0,
                              help="For the table itself, whose records the noise is added to, and for records that "
                                   "are pulled into an ellipse. Not private.")
        useful = st.selectbox("Your use", _USES, key="shape_useful", disabled=of_directions,
                              help="The line along which the noise is told; turn it in the picture.")
    iid, pair_names = iid_std(setup.iid, pair[1]), plane_labels(setup, shown, pair, of_directions=of_directions)
    spread = _root_mean_square(points) if points.size else 0.0
    takeaway = plane_words(model, iid, pair_names, spread)
    with picture:
        rule(model, key="shape_rule", on_change=lambda change: take_change(setup, model, pair, change), iid=iid,
             names=pair_names, **own_axes(setup, pair, of_directions=of_directions),
             line=_useful(setup, pair, useful, points), share_step=share_step(setup, model),
             controls=("share", "angle", "epsilon"), theorem=theorem_in(setup, pair, of_directions=of_directions),
             normals=np.random.default_rng([setup.scenario.seed, 2]).standard_normal((2, _DRAWS)),
             points=points if show_data else None, spread=spread, alt=takeaway.replace("**", "").replace("\\", ""),
             records=record_picture(setup, model, pair, (shown[pair[0]], shown[pair[1]]), of_directions=of_directions,
                                    show=show_data))
        draw_takeaway(takeaway, key="shape_rule")
        st.caption(rule_words(model, len(setup.design.theta), thing(setup)))
        if setup.query.bound is not None:
            st.caption(records_words(model))
        st.caption(drag_words(model))


def draw_space(setup: Setup) -> None:
    """The ellipsoid of three features."""
    names, design = _coordinates(setup), setup.design
    if len(names) < 3:
        st.info("Three dimensions need at least three features; this answer has fewer.")
        return
    options = range(min(len(names), _MANY))
    chosen = st.multiselect("Three features", options, default=list(options)[:3], max_selections=3, key="shape_three",
                            format_func=names.__getitem__)
    if len(chosen) < 3:
        st.info("Choose three features.")
        return
    covariance, column = design.directional_side.covariance_of(chosen), chosen[-1]
    labels = [in_html(names[k]) for k in chosen]
    if design.mode == "both":  # entries of one column
        covariance = covariance * design.directional_side.covariance_of([column])[0, 0]
        labels = [f"{label} × {labels[-1]}" for label in labels]
    std = np.sqrt(np.diag(covariance))
    chart(Picture(
        plot_ellipsoid(covariance, iid_std(setup.iid, column), names=(labels[0], labels[1], labels[2])),
        f"**From {as_number(std.min())} to {as_number(std.max())}**: the typical error (standard deviation) on these "
        f"three"
        f"{f' entries of the column {in_markdown(names[column])}' if design.mode == 'both' else ''}."),
          key="shape_ellipsoid")


def draw_matrices(setup: Setup) -> None:
    """Sigma, Psi and the standard deviation of every entry."""
    design = setup.design
    parts = [np.diag(_corner(design.row_side, MOST_ROWS)), np.diag(_corner(design.col_side, MOST_COLS))]
    std = np.sqrt(np.outer(*parts))
    rows, cols = std.shape
    part = f" (the first {rows} × {cols})" if (rows, cols) != (design.rows, design.cols) else ""
    middle, sides = st.columns([3, 2], gap="large")
    with middle:
        names = [in_html(name) for name in setup.query.row_names or ()]
        chart(Picture(
            plot_matrix(std, row_labels=names[:rows], col_labels=_column_labels(setup, names)[:cols], row_title="row",
                        col_title="column", value_title="typical error (standard deviation)"),
            entries_words(std, f"{part}, equal noise {as_number(_first_entry(setup.iid))}")
            + (" Row and column noise multiply: entry (i, j) has variance vᵢ vⱼ." if design.mode == "both" else "")),
              key="shape_std")
    with sides:
        for name, side in (("Sigma, over rows", design.row_side), ("Psi, over columns", design.col_side)):
            if side.is_identity:
                st.caption(f"{name}: the identity, {side.size:,} × {side.size:,}.")
                continue
            labels = names[:MOST_ROWS] if side is design.row_side else _column_labels(setup, names)[:MOST_ROWS]
            chart(Picture(
                plot_matrix(_corner(side, MOST_ROWS), row_labels=labels, col_labels=labels, row_title="",
                            col_title="", value_title="covariance", height=300),
                mixing_words(name, mixes=not side.is_diagonal)), key=f"shape_{name[:3]}")
            if design.mode == "both":
                st.caption("Psi is the same matrix.")
                break


def draw_outcomes(setup: Setup) -> None:
    """Thirty releases that might have been."""
    query, design = setup.query, setup.design
    kinds = ["The released matrix", "Its first principal component"]
    kind = kinds[0]
    if query.symmetric and query.rows > 1:
        kind = st.segmented_control("What", kinds, default=kind, key="shape_outcome",
                                    label_visibility="collapsed") or kind
    rng = np.random.default_rng([setup.scenario.seed, 3])
    if kind == kinds[0]:
        truth = query.value[:_CORNER, :_CORNER]
        rows, cols = (np.linalg.cholesky(_corner(side, _CORNER)) for side in (design.row_side, design.col_side))
        noise = np.asarray(rows @ rng.standard_normal((_OUTCOMES, *truth.shape)) @ cols.T)
        ratio = _root_mean_square(noise) / (_root_mean_square(truth) or 1.0)
        names = [in_html(name) for name in query.row_names or ()]
        chart(Picture(
            plot_matrix_outcomes(truth, truth + noise, value_title="answer", row_labels=names[:_CORNER],
                                 col_labels=_column_labels(setup, names)[:_CORNER]),
            f"**{drowned_words(ratio)}.** The noise is {as_factor(ratio)} the answer (root mean square, "
            f"{truth.shape[0]} × {truth.shape[1]} shown). Press play: 30 releases that might have been; the first "
            "picture is the true answer, not private."), key="shape_play")
        return
    answers = np.concatenate([query.value[None], query.value + sample_noise(design, rng=rng, trials=_OUTCOMES)])
    about_mean = query.has_constant
    components = leading_components(centred(answers) if about_mean else answers)
    overlap = np.abs(components[1:] @ components[0])
    labels = [in_html(name) for name in (query.row_names or [])][: components.shape[1]]
    about = "" if about_mean or setup.scenario.is_graph else f" {ABOUT_ZERO}"
    chart(Picture(
        plot_component_outcomes(components[0], components[1:], names=labels),
        f"**{overlap_words(overlap)}.** Overlap with the true component: {overlap.mean():.2f} on average (1 is "
        f"perfect), from {overlap.min():.2f} to {overlap.max():.2f} over 30 releases.{about}"), key="shape_play")


def _column_labels(setup: Setup, names: list[str]) -> list[str]:
    """The columns of the answer: features again, the mean, or nothing but numbers."""
    return names if setup.query.symmetric else ["mean"] if setup.query.is_mean else []


def _coordinates(setup: Setup) -> tuple[str, ...]:
    """Names of the coordinates of the directional side (features, vertices, records), but for a joined constant."""
    design = setup.design
    names = names_of_coordinates(setup.query, design.mode, design.directional_side.size)
    return names[: setup.query.own_features(len(names))][:_MANY]


def _choose_plane(setup: Setup, names: tuple[str, ...]) -> tuple[tuple[int, int], bool]:
    scenario, of_directions = setup.scenario, False
    if not setup.design.directional_side.directions.is_standard:
        of_directions = st.segmented_control("Plane of", ["features", "directions"], default="features",
                                             key="shape_of") == "directions"
    shown = setup.direction_names if of_directions else names
    size = min(len(shown), len(names))
    needed = next(iter(scenario.needed_features), 1)
    first, second = scenario.plane if scenario.directions == "rotation" else (0, needed)
    second = min(second, size - 1)
    first = first if first != second and first < size else (1 if second == 0 else 0)
    across = st.selectbox("Across", range(size), index=first, format_func=shown.__getitem__,
                          key=f"shape_x_{of_directions}")
    up = st.selectbox("Up", range(size), index=second, format_func=shown.__getitem__, key=f"shape_y_{of_directions}")
    if up == across:
        up = 1 if across == 0 else 0
        st.caption(f"Across and up are the same: up shows {in_markdown(shown[up])}.")
    return (across, up), of_directions


def _data_points(setup: Setup, pair: tuple[int, int]) -> FloatArray:
    """Some records around the middle of their ranges, as they are asked about, for the table itself."""
    if not setup.query.is_table or setup.design.mode == "columns":
        return np.empty((2, 0))
    table = setup.table
    middle = (table.lower + table.upper) / 2
    return setup.query.value[list(pair), ::max(table.n_records // _POINTS, 1)][:, :_POINTS] - middle[list(pair), None]


def _useful(setup: Setup, pair: tuple[int, int], choice: str, points: FloatArray) -> float:
    """The angle of the use; an equal mixture where nothing else is known."""
    if choice == _USES[0]:
        wanted = [float(k in setup.scenario.needed_features) for k in pair]
        return math.atan2(wanted[1], wanted[0]) if any(wanted) else math.pi / 4
    if choice == _USES[2] and points.size:
        vector = eigen(points @ points.T)[1][:, -1]
        return math.atan2(vector[1], vector[0])
    return math.pi / 4


def _corner(side: NoiseSide, most: int) -> FloatArray:
    """The covariance of the first coordinates, without the rest of it."""
    return side.covariance_of(list(range(min(side.size, most))))


def _first_entry(design: NoiseDesign) -> float:
    """The typical error of the answer's first entry."""
    return math.sqrt(float(_corner(design.row_side, 1)[0, 0] * _corner(design.col_side, 1)[0, 0]))


def _root_mean_square(values: FloatArray) -> float:
    return float(np.sqrt((values**2).mean()))


PANELS = {"Ellipse": draw_plane, "Three features": draw_space, "Covariances": draw_matrices,
          "Possible outcomes": draw_outcomes}

setup = open_page(SHAPE)
chosen = st.segmented_control("Show", list(PANELS), default="Ellipse", key="shape_panel",
                              label_visibility="collapsed") or "Ellipse"
PANELS[chosen](setup)
