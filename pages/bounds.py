"""Bounds: Theorem 1, Theorem 2 and the exact limit; which allows more; how far this design is from the limit."""

import streamlit as st

from mvgviz.design.limits import AXES, LimitInputs, Rival, limit_inputs, rival
from mvgviz.noise.sides import NoiseSide
from mvgviz.pictures import bounds as words
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup, left_for_noise
from mvgviz.text import as_number
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, open_page
from mvgviz.ui.menu import BOUNDS

_ON_THE_WAY = 9
SHOWN = {"noise": "Noise", "precision": "Precision φ²"}
_curves = cached(20, session.here)(words.curves_picture)
_map = cached(20, session.here)(words.map_picture)


@cached(12, session.here)
def rivals(setup: Setup) -> tuple[Rival, ...]:
    """The exact design for a theorem's; what both theorems would ask for an exact one."""
    scenario, design, query = setup.scenario, setup.design, setup.query
    epsilon, delta = left_for_noise(scenario.changed(guarantee="theorem1"), setup.delta)
    second = "theorem2" if query.psd and design.mode == "both" else "theorem2-any"
    names = ["theorem1", second] if design.guarantee == "exact" else ["exact"]
    return tuple(rival(design, query, guarantee=name, epsilon=epsilon, delta=delta, tail=scenario.tail)
                 for name in names)


@cached(6, session.here)
def sensitivity_is_exact(query: Query) -> bool:
    """Whether the tight sensitivity is attained; that of many features' second moments is an upper bound."""
    unit = NoiseSide.identity(query.rows)
    return query.degree != 2 or query.neighbours.worst(unit, unit).exact


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
            format_func=lambda name: f"{name.capitalize()} {as_number(values[name])}",
            help="The theorems as printed use the paper's s₂. A fair comparison uses one value for all.") or "tight"
    else:
        said["tight"] += " (the paper's is the same)"
    if not sensitivity_is_exact(query):
        said["tight"] += " (itself an upper bound)"
    return limit_inputs(query, epsilon=setup.scenario.epsilon, delta=setup.delta,
                        sensitivity=values[which]), said[which]


setup = open_page(BOUNDS)
tail = setup.scenario.tail
with st.container(horizontal=True, vertical_alignment="bottom"):
    axis = st.segmented_control("What varies", AXES, default="epsilon", required=True, key="bounds_axis", wrap=True,
                                format_func=words.AXIS_LABELS.__getitem__) or "epsilon"
    shown = st.segmented_control("Shown as", list(SHOWN), default="noise", required=True, key="bounds_shown",
                                 format_func=SHOWN.__getitem__)
    problem, s2_words = choose_sensitivity(setup)
    all_tails = st.toggle("All three tails", key="bounds_tails")
if setup.query.bound is not None:
    st.caption(words.bound_words(setup))
left, right = st.columns([5, 2], gap="large")
with left:
    curves = _curves(problem, axis, tail=tail, as_noise=shown == "noise", all_tails=all_tails, s2_words=s2_words)
    chart(curves.adding(words.held_fixed(problem, axis)), key="bounds_curves")
with right:
    for sentence in words.looseness_words(setup, rivals(setup)):
        st.markdown(sentence)
    if setup.scenario.directions == "private":
        st.caption(f"{setup.scenario.private_share:.0%} of the budget went to the directions; noise is compared at the "
                   "rest of it. Curves and map are of equal noise, which needs no directions and has all of it.")
    with st.popover("Footnotes on the paper", type="tertiary", icon=":material/menu_book:"):
        for note in words.FOOTNOTES:
            st.markdown(note)
left, right = st.columns(2, gap="large")
with left:
    chart(_map(problem, tail=tail, s2_words=s2_words), key="bounds_map")
with right:
    chart(words.space_picture(setup, problem, rivals(setup)), key="bounds_space")
which = "tight" if s2_words.startswith("the tight") else "the paper's"
st.markdown(f"**Check it by hand.** {words.given_words(problem, tail, s2_words=which)}")
lines = [f"| {name} | ${formula}$ | {value} |" for name, formula, value in words.table_lines(problem, tail)]
for column, part in zip(st.columns(2, gap="large"), (lines[:_ON_THE_WAY], lines[_ON_THE_WAY:]), strict=True):
    column.markdown("\n".join(["| quantity | formula | value |", "|:--|:--|--:|", *part]))
st.caption("φ as printed is (−β + √(β² + 8αε)) / 2α: the same number, but the difference loses its digits.")
