"""Home: the picture that moves, one sentence and three doors; below, what there is to gain and what it costs."""

import numpy as np
import streamlit as st

from mvgviz import Scenario
from mvgviz.pictures import shape as words
from mvgviz.pictures.rule import iid_std
from mvgviz.pictures.sentences import thing
from mvgviz.scenario.trade_off import trade_off_refusal
from mvgviz.text import as_number, delta_words
from mvgviz.ui.frame import draw_takeaway, open_page
from mvgviz.ui.frontier import draw_frontier
from mvgviz.ui.menu import DATA, HOME, LESSON, PRESENT
from mvgviz.ui.more_columns import draw_more_columns
from mvgviz.ui.rule_picture import (
    asked_by_theorem,
    needed_against_others,
    own_axes,
    rule,
    share_step,
    take_change,
    theorem_in,
)

setup = open_page(HOME)
scenario, design, labels = setup.scenario, setup.design, words.coordinate_labels(setup)

st.markdown("Privacy needs noise, but not the same noise everywhere: under one fixed budget it can be **small where "
            "you need the answer** and large where you do not.")
with st.container(horizontal=True):
    for page, label, about, chosen in (
            (LESSON, "Learn", "directional noise in seven steps", scenario),
            (DATA, "Tune", "your table, your budget", scenario),
            (PRESENT, "Present", "a real medical table, one picture a screen", Scenario.default_for("liver"))):
        st.page_link(page.path, label=f"**{label}**: {about}", icon=":material/arrow_forward:",
                     query_params=chosen.to_query())
if design.theta.size < 2:
    st.info("With one direction there is nothing to divide: the noise is a number, not a shape.")
else:
    needed, other = words.needed_and_other(setup)
    pair = (other, needed) if design.mode == "both" else (needed, other)  # as in the lesson; of both, a needed column
    model, equal = needed_against_others(setup, pair), iid_std(setup.iid, needed)
    names = words.plane_labels(setup, labels, pair)
    takeaway = words.ellipse_words([std / equal for std in model.std_on_features], names)
    rule(model, key="home_rule", on_change=lambda change: take_change(setup, model, pair, change), iid=equal,
         names=names, **own_axes(setup, pair), share_step=share_step(setup, model),
         controls=("share", "angle", "epsilon"),
         normals=np.random.default_rng(scenario.seed).standard_normal((2, 250)), theorem=theorem_in(setup, pair),
         alt=takeaway.replace("**", "").replace("\\", ""))
    draw_takeaway(f"{takeaway} {words.rule_words(model, design.theta.size, thing(setup))}", key="home_rule",
                  about="" if setup.query.bound is None else words.ABOUT_BOUND)
st.markdown("#### The more columns, the more there is to gain")
draw_more_columns(key="home_columns", epsilon=scenario.epsilon)
if trade_off_refusal(setup) is None:
    st.markdown("#### What the needed gain, what the rest pay")
    draw_frontier(setup, key="home_trade_off")
if scenario.guarantee == "exact":
    printed = asked_by_theorem(setup)
    factor = printed.direction_std().max() / design.direction_std().max()
    st.markdown(
        f"The paper's Theorem 1, as printed, asks for **{as_number(factor)} times** this noise, and then really "
        f"spends ε = {as_number(printed.epsilon_spent(setup.delta))} of the {scenario.epsilon:g} allowed at δ = "
        f"{delta_words(setup.delta, setup.dataset.n_records)}.")
