"""Bounds: Theorem 1, Theorem 2 and the exact limit; which allows more; how far this design is from the limit."""

import plotly.graph_objects as go
import streamlit as st

from mvgviz.design.limits import AXES, LimitInputs, bound_curves, limit_inputs
from mvgviz.figures.bounds.curves import CurveLine, curve_lines, plot_bound_curves
from mvgviz.figures.bounds.design_space import plot_design_space
from mvgviz.figures.bounds.winner_map import WinnerMap, plot_winner_map, winner_map
from mvgviz.text import as_number
from mvgviz.ui.bounds import panels
from mvgviz.ui.frame import Setup, chart, open_page
from mvgviz.ui.menu import BOUNDS
from mvgviz.words import bounds as words

SHOWN = {"precision": "Precision φ²", "noise": "Noise"}


def choose_sensitivity(setup: Setup) -> tuple[LimitInputs, str]:
    """One sensitivity for all limits: the tight one, or the paper's where it is larger."""
    query = setup.query
    values = {"tight": query.sensitivity, "paper": query.printed_sensitivity}
    said = {"tight": f"the tight s₂ = {as_number(values['tight'])}",
            "paper": f"the paper's s₂ = {as_number(values['paper'])}"}
    which = "tight"
    if values["paper"] > values["tight"] * (1 + 1e-9):
        which = st.segmented_control(
            "Sensitivity for all", list(said), default="tight", required=True, key="bounds_s2",
            format_func=lambda one: f"{one.capitalize()} {as_number(values[one])}",
            help="The theorems as printed use the paper's s₂. A fair comparison uses one value for all.") or "tight"
    else:
        said["tight"] += " (the paper's is the same)"
    if not panels.sensitivity_is_exact(query):
        said["tight"] += " (itself an upper bound)"
    return limit_inputs(query, epsilon=setup.scenario.epsilon, delta=setup.delta,
                      sensitivity=values[which]), said[which]


@st.cache_resource(scope="session", max_entries=20, show_spinner=False)
def curves_of(problem: LimitInputs, axis: str, tail: str, as_noise: bool, all_tails: bool
              ) -> tuple[go.Figure, list[CurveLine]]:
    """The picture of the three limits and its lines."""
    curves = bound_curves(problem, axis)
    lines = curve_lines(curves, second=words.second_name(problem), tail=tail, all_tails=all_tails, as_noise=as_noise)
    value = "noise per entry (standard deviation)" if as_noise else "allowed precision φ² (product of norms)"
    return plot_bound_curves(curves, lines, axis_title=words.axis_title(problem, axis), value_title=value), lines


@st.cache_resource(scope="session", max_entries=20, show_spinner=False)
def map_of(rank: int, ratio: float, psd: bool, second: str) -> tuple[go.Figure, WinnerMap]:
    """The map of Theorem 3, which epsilon, delta and the tail do not touch."""
    numbers = winner_map(rank, ratio)
    return plot_winner_map(numbers, psd=psd, second=second), numbers


def draw_curves(problem: LimitInputs, s2_words: str, axis: str, tail: str, *, as_noise: bool, all_tails: bool) -> None:
    """The three limits as one input varies."""
    figure, lines = curves_of(problem, axis, tail, as_noise, all_tails)
    chart(figure, f"{words.curves_takeaway(problem, lines, as_noise=as_noise, s2_words=s2_words)} "
                  f"{words.held_fixed(problem, axis)}", key="bounds_curves", about=words.ABOUT_CURVES)


def draw_map(problem: LimitInputs, tail: str, s2_words: str) -> None:
    """Where Theorem 2 allows more."""
    figure, numbers = map_of(problem.rank, problem.sensitivity / problem.gamma, problem.psd,
                             words.short_second(problem))
    chart(figure, words.map_takeaway(problem, numbers, tail, s2_words=s2_words), key="bounds_map",
          about=words.ABOUT_MAP)


def draw_space(setup: Setup, problem: LimitInputs) -> None:
    """The two norms: what each guarantee allows, and this design."""
    edges, places, takeaway = panels.space_of(setup, problem)
    chart(plot_design_space(edges, places), takeaway, key="bounds_space", about=panels.ABOUT_SPACE)


page = open_page(BOUNDS)
with st.container(horizontal=True, vertical_alignment="bottom"):
    varies = st.segmented_control("What varies", AXES, default="epsilon", required=True, key="bounds_axis", wrap=True,
                                  format_func=words.AXIS_LABELS.__getitem__) or "epsilon"
    shown = st.segmented_control("Shown as", list(SHOWN), default="precision", required=True, key="bounds_shown",
                                 format_func=SHOWN.__getitem__)
    asked, sensitivity = choose_sensitivity(page)
    every_tail = st.toggle("All three tails", value=True, key="bounds_tails")
left, right = st.columns([5, 2], gap="large")
with left:
    draw_curves(asked, sensitivity, varies, page.scenario.tail, as_noise=shown == "noise", all_tails=every_tail)
with right:
    panels.draw_looseness(page)
    panels.draw_footnotes()
left, right = st.columns(2, gap="large")
with left:
    draw_map(asked, page.scenario.tail, sensitivity)
with right:
    draw_space(page, asked)
panels.draw_table(asked, page.scenario.tail, s2_words="tight" if sensitivity.startswith("the tight") else "the paper's")
