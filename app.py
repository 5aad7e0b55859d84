"""Home: the idea in two pictures and a few sentences, then three doors."""

import numpy as np
import streamlit as st

from mvgviz import Scenario
from mvgviz.design.limits import rival
from mvgviz.figures.shared.noise_ellipse import ellipse_numbers, plot_noise_ellipse
from mvgviz.scenario.trade_off import trade_off_refusal
from mvgviz.text import as_number, delta_words, in_html
from mvgviz.ui.budget.frontier import draw_frontier
from mvgviz.ui.frame import chart, open_page
from mvgviz.ui.menu import DATA, HOME, LESSON, PRESENT
from mvgviz.words.shape import ABOUT_BOUND, ABOUT_ELLIPSE, coordinate_labels, ellipse_words, needed_and_other

setup = open_page(HOME)
scenario, design, labels = setup.scenario, setup.design, coordinate_labels(setup)

st.markdown("Privacy needs noise, but not the same noise everywhere. Under one fixed budget it can be **small along "
            "the direction you need** and large along the one you do not: a circle becomes an ellipse. Which shape is "
            "private can be computed exactly, and that is what this app shows.")
shape, trade_off = st.columns(2, gap="large")
with shape:
    if design.theta.size < 2:
        st.info("With one direction there is nothing to divide: the noise is a number, not a shape.")
    else:
        needed, other = needed_and_other(setup)
        numbers = ellipse_numbers(design, setup.iid, plane=(other, needed), level=0.95,
                                  normals=np.random.default_rng(scenario.seed).standard_normal((2, 250)))
        chart(plot_noise_ellipse(numbers, names=(in_html(labels[other]), in_html(labels[needed]))),
              ellipse_words(numbers, labels, needed, other), key="ellipse",
              about=ABOUT_ELLIPSE if setup.query.bound is None else f"{ABOUT_ELLIPSE} {ABOUT_BOUND}")
with trade_off:
    if trade_off_refusal(setup) is None:
        draw_frontier(setup, key="home_trade_off")
printed = rival(design, setup.query, guarantee="theorem1", epsilon=scenario.epsilon, delta=setup.delta,
                tail="printed").design
factor = printed.direction_std().max() / design.direction_std().max()
if scenario.guarantee == "exact":
    st.markdown(
        f"The paper's Theorem 1, as printed, asks for **{as_number(factor)} times** this noise, and then really "
        f"spends ε = {as_number(printed.epsilon_spent(setup.delta))} of the {scenario.epsilon:g} allowed at δ = "
        f"{delta_words(setup.delta, setup.dataset.n_records)}. Here both stand side by side.")
with st.container(horizontal=True):
    for page, label, about, chosen in (
            (LESSON, "Learn", "directional noise in seven steps", scenario),
            (DATA, "Tune", "your table, your budget", scenario),
            (PRESENT, "Present", "a real medical table, one picture a screen", Scenario.default_for("liver"))):
        st.page_link(page.path, label=f"**{label}**: {about}", icon=":material/arrow_forward:",
                     query_params=chosen.to_query())
