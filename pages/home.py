"""Home: one sentence, three ways on and the picture that moves; below, the gain and its cost."""

from typing import Any

import numpy as np
import streamlit as st

from mvgviz import Scenario
from mvgviz.design.trade_off import gain_among
from mvgviz.labels import TAILS
from mvgviz.pictures import shape as words
from mvgviz.pictures.bounds import times
from mvgviz.pictures.rule import iid_std
from mvgviz.pictures.sentences import thing
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.trade_off import trade_off_refusal
from mvgviz.text import as_number, as_probability
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import draw_takeaway, open_live_page
from mvgviz.ui.frontier import draw_frontier
from mvgviz.ui.menu import DATA, HOME, LESSON, PRESENT
from mvgviz.ui.rule_picture import priority_against_others, rivals, rule
from mvgviz.ui.sidebar_design import draw_family

_FEWEST, _MOST = 2, 21
_SHARE, _RECORDS = 0.8, 2126  # the records of the paper's largest table; delta is one over them
_more_columns = st.components.v2.component(
    "mvgviz_more_columns", css=asset("more_columns.css"), js=asset("more_columns.js"),
    html='<div class="columns"><label><span>Columns</span><input type="range"></label>'
         '<div class="bars" role="img"></div><div class="budget" aria-hidden="true"><div class="own"></div>'
         '<div class="equal"></div></div><p aria-live="polite"></p><small></small></div>')


@cached(16, of_server)
def _gains(epsilon: float) -> tuple[dict[str, Any], ...]:
    """Return what the browser draws for each number of columns."""
    drawn = []
    for columns in range(_FEWEST, _MOST + 1):
        gain = gain_among(columns, share=_SHARE, epsilon=epsilon, delta=1 / _RECORDS)
        priority, equal = as_number(gain.priority, 2), as_number(gain.equal_epsilon, 2)
        drawn.append({
            "columns": columns, "priority": gain.priority, "other": gain.other, "epsilon": gain.equal_epsilon,
            "short": priority, "spent": equal,
            "words": f"{columns} columns, one with priority: it has {priority}× equal noise. For that, equal noise "
                     f"needs ε = {equal} instead of {epsilon:g}."})
    return tuple(drawn)


def draw(setup: Setup) -> None:
    scenario, design, labels = setup.scenario, setup.design, words.coordinate_labels(setup)
    with st.container(horizontal=True):
        for page, label, about, chosen in (
                (LESSON, "Learn", "directional noise in five steps", scenario),
                (DATA, "Tune", "your table, your budget", scenario),
                (PRESENT, "Present", "a real medical table in five slides", Scenario.default_for("liver"))):
            st.page_link(page.path, label=f"**{label}**: {about}", icon=":material/arrow_forward:",
                         query_params=chosen.to_query())
    if design.theta.size < 2:
        st.info("This answer has one direction, so the noise has no shape.")
    else:
        priority, other = words.priority_and_other(setup)
        # As in the lesson; with noise on both sides, of a priority column.
        pair = (other, priority) if design.mode == "both" else (priority, other)
        model, equal = priority_against_others(setup, pair), iid_std(setup.iid, priority)
        names = words.plane_labels(setup, labels, pair)
        takeaway = words.ellipse_words([std / equal for std in model.std_on_features], names)
        rule(setup, model, pair, key="home_rule", names=names, takeaway=takeaway, iid=equal,
             draws=np.random.default_rng(scenario.seed).standard_normal((2, 250)))
        draw_family("home_family")
        draw_takeaway(f"{takeaway} {words.rule_words(model, design.theta.size, thing(setup))}", key="home_rule",
                      about=words.drag_words(model) + f" {words.ABOUT_BOUND}" * (setup.query.bound is not None))
    st.markdown("#### The more columns, the more there is to gain")
    _more_columns(key="home_columns", data={
        "start": _MOST, "epsilon": scenario.epsilon, "gains": _gains(scenario.epsilon),
        "about": f"One column gets {100 * _SHARE:.0f} % of the budget; ε = {scenario.epsilon:g}, δ = "
                 f"{as_probability(1 / _RECORDS)}; noise in units of each column's range."})
    if trade_off_refusal(setup) is None:
        st.markdown("#### What priority columns gain, what other columns pay")
        draw_frontier(setup, key="home_trade_off")
    if scenario.guarantee == "exact":
        theorem, tail = rivals(setup)[0], TAILS[scenario.tail].in_sentence
        st.markdown(
            f"The paper's Theorem 1{'' if scenario.tail == 'printed' else f', with {tail},'} uses "
            f"**{times(theorem.factors)}** this noise. It then spends only ε = "
            f"{as_number(theorem.design.epsilon_spent(setup.delta))} of the {scenario.epsilon:g} allowed.")


setup, draw_live = open_live_page(HOME)
st.markdown("Privacy needs noise, but not equal noise. With one budget it can be **small where you need the answer** "
            "and large where you do not.")
draw_live(st.container(), draw)
