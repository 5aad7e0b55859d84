"""Bounds: compare Theorem 1, Theorem 2 and the exact limit, and this design with the limit."""


import streamlit as st

from mvgviz.design.limits import AXES, LimitInputs, limit_inputs
from mvgviz.noise.sides import NoiseSide
from mvgviz.pictures import bounds as words
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, draw_charts, draw_open_tab, open_page
from mvgviz.ui.menu import BOUNDS
from mvgviz.ui.rule_picture import rivals
from mvgviz.ui.task_controls import choose_s2

SHOWN = {"noise": "Noise", "precision": "Precision φ²"}
_curves = cached(20, session.here)(words.curves_picture)
_map = cached(20, session.here)(words.map_picture)


@cached(6, session.here)
def sensitivity_is_exact(query: Query) -> bool:
    """Whether neighbours attain the tight sensitivity; for second moments of many features it is an upper bound."""
    unit = NoiseSide.identity(query.rows)
    return query.degree != 2 or query.neighbours.worst(unit, unit).exact


def choose_sensitivity(setup: Setup) -> tuple[LimitInputs, str, str]:
    """Return the limits' inputs with one sensitivity, its choice and its name."""
    query, which = setup.query, choose_s2(setup.query, key="bounds_s2")
    s2 = query.sensitivity if which == "tight" else query.printed_sensitivity
    bound = "" if which == "printed" or sensitivity_is_exact(query) else " (itself an upper bound)"
    whose = "the tight" if which == "tight" else "the paper's"
    return limit_inputs(query, epsilon=setup.scenario.epsilon, delta=setup.delta, sensitivity=s2), which, (
        f"{whose} sensitivity s₂ = {as_number(s2)}{bound}")


def draw_curves() -> None:
    left, right = st.columns([5, 2], gap="large")
    with left:
        chart(_curves(problem, axis, tail=tail, as_noise=shown == "noise", all_tails=all_tails, s2_words=s2_words),
              key="bounds_curves")
    with right:
        for sentence in words.looseness_words(setup, rivals(setup)):
            st.markdown(sentence)
        if setup.scenario.directions == "private":
            st.caption(f"Private directions took {100 * setup.scenario.private_share:.0f} % of the budget. The words "
                       "compare noise at what is left; curves and map show equal noise at the whole budget.")
        with st.popover("Footnotes on the paper", type="tertiary", icon=":material/menu_book:"):
            st.markdown("\n\n".join(words.FOOTNOTES))


def draw_designs() -> None:
    draw_charts({"bounds_map": _map(problem, tail=tail, s2_words=s2_words),
                 "bounds_space": words.space_picture(setup, problem, rivals(setup))})


def draw_by_hand() -> None:
    st.markdown(words.given_words(problem, tail, s2_words="tight" if which == "tight" else "the paper's"))
    lines = [f"| {name} | ${formula}$ | {value} |" for name, formula, value in words.table_lines(problem, tail)]
    for column, part in zip(st.columns(2, gap="large"), (lines[:9], lines[9:]), strict=True):
        column.markdown("\n".join(["| quantity | formula | value |", "|:--|:--|--:|", *part]))


setup = open_page(BOUNDS)
tail = setup.scenario.tail
with st.container(horizontal=True, vertical_alignment="bottom"):
    axis = st.segmented_control("What varies", AXES, default="epsilon", required=True, key="bounds_axis", wrap=True,
                                format_func=words.AXIS_LABELS.__getitem__) or "epsilon"
    shown = st.segmented_control("Shown as", list(SHOWN), default="noise", required=True, key="bounds_shown",
                                 format_func=SHOWN.__getitem__)
    problem, which, s2_words = choose_sensitivity(setup)
    all_tails = st.toggle("All three tails", key="bounds_tails")
if setup.query.bound is not None:
    st.caption(words.bound_words(setup))
draw_open_tab({"Curves": draw_curves, "Every design": draw_designs, "By hand": draw_by_hand}, key="bounds_tab")
