"""Bounds: Theorem 1, Theorem 2 and the exact limit; which allows more; how far this design is from the limit."""

import plotly.graph_objects as go
import streamlit as st

from mvgviz.design.limits import AXES, LimitInputs, Rival, bound_curves, exact_limit, limit_inputs, rival
from mvgviz.labels import GUARANTEES
from mvgviz.noise.sides import NoiseSide
from mvgviz.pictures import bounds as words
from mvgviz.pictures.bounds import (
    AXIS_LABELS,
    CurveLine,
    Edge,
    WinnerMap,
    bound_words,
    curve_lines,
    place,
    plot_bound_curves,
    plot_design_space,
    plot_winner_map,
    winner_map,
)
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.theme import DIRECTIONAL, EXACT, GUARANTEE_COLOURS, THEOREM1, THEOREM2
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup, left_for_noise
from mvgviz.text import as_number, capitalised
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, open_page
from mvgviz.ui.menu import BOUNDS

_ON_THE_WAY = 9


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


@cached(20, session.here)
def _curves(problem: LimitInputs, axis: str, tail: str, as_noise: bool, all_tails: bool
            ) -> tuple[go.Figure, list[CurveLine]]:
    """The picture of the three limits and its lines."""
    curves = bound_curves(problem, axis)
    lines = curve_lines(curves, second=words.second_name(problem), tail=tail, all_tails=all_tails, as_noise=as_noise)
    value = "typical error of an entry (standard deviation)" if as_noise else "allowed precision φ² (product of norms)"
    return plot_bound_curves(curves, lines, axis_title=words.axis_title(problem, axis), value_title=value), lines


@cached(20, session.here)
def _map(rank: int, ratio: float, psd: bool, second: str) -> tuple[go.Figure, WinnerMap]:
    """The map of Theorem 3, which epsilon, delta and the tail do not touch."""
    numbers = winner_map(rank, ratio)
    return plot_winner_map(numbers, psd=psd, second=second), numbers


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


def draw_curves(problem: LimitInputs, s2_words: str, axis: str, tail: str, *, as_noise: bool, all_tails: bool) -> None:
    """The three limits as one input varies."""
    figure, lines = _curves(problem, axis, tail, as_noise, all_tails)
    chart(Picture(
        figure,
        f"{words.curves_takeaway(problem, lines, as_noise=as_noise, s2_words=s2_words)} "
        f"{words.held_fixed(problem, axis)}"), key="bounds_curves")


def draw_map(problem: LimitInputs, tail: str, s2_words: str) -> None:
    """Where Theorem 2 allows more."""
    figure, numbers = _map(problem.rank, problem.sensitivity / problem.gamma, problem.psd, words.short_second(problem))
    chart(Picture(
        figure,
        words.map_takeaway(problem, numbers, tail, s2_words=s2_words)), key="bounds_map")


def draw_space(setup: Setup, problem: LimitInputs) -> None:
    """The two norms: what each guarantee allows, this design, and the same shares under another guarantee."""
    design, tail, limit = setup.design, setup.scenario.tail, exact_limit(problem)
    edges = [Edge(name="Theorem 1", colour=THEOREM1, limit=problem.theorem1(tail).limit, width=6),
             Edge(name=words.short_second(problem), colour=THEOREM2, limit=problem.theorem2(tail).limit),
             Edge(name="Exact, equal noise", colour=EXACT, limit=limit)]
    this = place(design, name="this design", colour=DIRECTIONAL)
    others = [place(other.design, name=f"{capitalised(GUARANTEES[other.guarantee].name)}, same shares",
                    colour=GUARANTEE_COLOURS[other.guarantee], symbol="diamond",
                    size=17 if other.guarantee == "theorem1" else 11) for other in rivals(setup)]
    reason = ""
    if design.bound is not None and all(abs(edge.limit / design.bound.limit - 1) > 1e-9 for edge in edges):
        reason = words.own_edge_reason(setup, problem)
        edges.append(Edge(name=f"its own edge ({reason})", colour=GUARANTEE_COLOURS[design.guarantee],
                          limit=design.bound.limit, dash="dash", filled=False, width=2))
    chart(Picture(
        plot_design_space(edges, [*others, this]),
        words.space_takeaway(setup, this, exact_limit=limit, own_edge=reason)), key="bounds_space")


def draw_looseness(setup: Setup) -> None:
    """How much of the budget the noise really spends, how much noise that costs, and footnotes one click away."""
    for sentence in words.looseness_words(setup, rivals(setup)):
        st.markdown(sentence)
    if setup.scenario.directions == "private":
        st.caption(f"{setup.scenario.private_share:.0%} of the budget went to the directions; noise is compared at the "
                   "rest of it. Curves and map are of equal noise, which needs no directions and has all of it.")
    with st.popover("Footnotes on the paper", type="tertiary", icon=":material/menu_book:"):
        for note in words.FOOTNOTES:
            st.markdown(note)


def draw_table(problem: LimitInputs, tail: str, s2_words: str) -> None:
    """Every quantity on the way to phi, with its formula and six digits."""
    s2_words = "tight" if s2_words.startswith("the tight") else "the paper's"
    st.markdown(f"**Check it by hand.** {words.given_words(problem, tail, s2_words=s2_words)}")
    lines = [f"| {name} | ${formula}$ | {value} |" for name, formula, value in words.table_lines(problem, tail)]
    for column, part in zip(st.columns(2, gap="large"), (lines[:_ON_THE_WAY], lines[_ON_THE_WAY:]), strict=True):
        column.markdown("\n".join(["| quantity | formula | value |", "|:--|:--|--:|", *part]))
    st.caption("φ as printed is (−β + √(β² + 8αε)) / 2α: the same number, but the difference loses its digits.")


SHOWN = {"noise": "Noise", "precision": "Precision φ²"}

setup = open_page(BOUNDS)
tail = setup.scenario.tail
with st.container(horizontal=True, vertical_alignment="bottom"):
    axis = st.segmented_control("What varies", AXES, default="epsilon", required=True, key="bounds_axis", wrap=True,
                                format_func=AXIS_LABELS.__getitem__) or "epsilon"
    shown = st.segmented_control("Shown as", list(SHOWN), default="noise", required=True, key="bounds_shown",
                                 format_func=SHOWN.__getitem__)
    problem, s2_words = choose_sensitivity(setup)
    all_tails = st.toggle("All three tails", key="bounds_tails")
if setup.query.bound is not None:
    st.caption(bound_words(setup))
left, right = st.columns([5, 2], gap="large")
with left:
    draw_curves(problem, s2_words, axis, tail, as_noise=shown == "noise", all_tails=all_tails)
with right:
    draw_looseness(setup)
left, right = st.columns(2, gap="large")
with left:
    draw_map(problem, tail, s2_words)
with right:
    draw_space(setup, problem)
draw_table(problem, tail, s2_words)
