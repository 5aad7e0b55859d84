"""Several questions: one budget divided over several answers, what each gets, and their release."""

from collections.abc import Sequence

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.scenario.plan_noise import QuestionNoise, plan_noise
from mvgviz.scenario.resolve import Setup
from mvgviz.ui.frame import open_page, show_error
from mvgviz.ui.menu import PLAN
from mvgviz.ui.plan.panels import draw_changes, draw_noise, draw_only_exact, draw_questions, draw_trade
from mvgviz.ui.plan.release import draw_plan_release
from mvgviz.ui.session_plan import HeldPlan, held_plan, plan_setups
from mvgviz.words.plan import plan_words, question_name


def draw_plan(setup: Setup, held: HeldPlan) -> None:
    """Sliders on the left, the trade on the right, every number and the release below."""
    plan, data = held.plan, setup.dataset
    names = [f"{k + 1}: {question_name(asked, data.features)}" for k, asked in enumerate(plan.scenarios)]
    setups, noise = worked_out(held)
    if setups:
        st.markdown(plan_words(plan, noise, setups[0].delta, data.n_records))
    left, right = st.columns([2, 3], gap="large")
    with left:
        draw_questions(held, names)
        draw_changes(held, noise, setups, question_name(setup.scenario, data.features))
    if setups:
        with right:
            draw_trade(plan, noise)
        draw_noise(plan, noise, setups, names)
        draw_plan_release(held, setups, names)


def worked_out(held: HeldPlan) -> tuple[Sequence[Setup], Sequence[QuestionNoise]]:
    """Every question's design and what it gets; nothing, and a sentence, where one does not work out."""
    try:
        setups = plan_setups(held.plan)
        return setups, plan_noise(held.plan, setups)
    except InputError as error:
        show_error(error)
        return (), ()


setup, held = open_page(PLAN), held_plan()
if held is None:
    draw_only_exact()
else:
    draw_plan(setup, held)
