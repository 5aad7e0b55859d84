"""Parts of the page Compare: all mechanisms ranked, and the epsilon each needs for the same error."""

import numpy as np
import pandas as pd
import streamlit as st

from mvgviz.errors import InputError
from mvgviz.figures.compare.frontier import needed, plot_frontier
from mvgviz.figures.compare.ranking import Ranking, plot_ranked, ranking
from mvgviz.figures.shared.error_axis import reference_items
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, in_markdown
from mvgviz.trials.frontier import frontier, grid_with
from mvgviz.trials.mechanisms import COMPARED, MECHANISMS
from mvgviz.trials.outcomes import Results
from mvgviz.trials.resumable import Point, coarse_first
from mvgviz.ui.frame import chart, show_table
from mvgviz.ui.slices import begin, problem, show_progress
from mvgviz.ui.task_controls import say_why_not
from mvgviz.words import compare as words
from mvgviz.words.trade_off import least_sentence
from mvgviz.words.utility import measured_words, metric_words

KEYS = (*(mechanism.key for mechanism in COMPARED), "iid")
CURVES, FRONTIER_TRIALS, _STEPS = 6, 40, 41


def choose_sensitivity(query: Query) -> tuple[str, str]:
    """One sensitivity for all mechanisms, and what it is called."""
    tight, printed = query.sensitivity, query.printed_sensitivity
    names = {"tight": f"the tight sensitivity s₂ = {as_number(tight)}",
             "printed": f"the sensitivity as the paper prints it, s₂ = {as_number(printed)}"}
    if not printed > tight * (1 + 1e-9):
        st.caption(f"Sensitivity of all: s₂ = {as_number(tight)}; tight and as printed are the same.")
        return "tight", names["tight"]
    chosen = st.segmented_control(
        "Sensitivity for all", list(names), default="tight", required=True, key="compare_s2",
        format_func={"tight": "Tight", "printed": "As printed"}.__getitem__,
        help=f"A comparison uses one and the same for all mechanisms: the tight one ({as_number(tight)}), or the one "
             f"the paper prints ({as_number(printed)}).")
    return chosen or "tight", names[chosen or "tight"]


def draw_ranking(setup: Setup, sensitivity: str, s2_words: str) -> None:
    """All mechanisms and guarantees on the task, ranked; what does not apply, and every number."""
    work = begin("compare_ranking", setup.scenario.to_json(), sensitivity)
    try:
        posed = problem(setup, sensitivity=sensitivity)
        results = work.resume([Point(posed, KEYS)])[0]
    except InputError as error:
        say_why_not(setup, error)
        return
    if results is None:
        show_progress(work, complete=False)
        return
    numbers = ranking(results)
    marks, best = words.ranking_marks(numbers), words.worth_zooming(numbers)
    if best and st.toggle(f"Only the {best} that beat the answer without data", key="compare_zoom"):
        marks = marks[:best]
    chart(plot_ranked(marks, reference_items(results.references) if len(marks) != best else [],
                      title=metric_words(results)),
          words.ranking_words(numbers), key="compare_ranking", about=words.ranking_about(results, s2_words))
    st.markdown(least_sentence(setup))
    slot = st.container()
    st.caption(f"{words.symbol_words(numbers)} All with {s2_words}, and with the same random numbers, trial by trial. "
               f"{in_markdown(measured_words(posed, results))}")
    _draw_rest(numbers)
    with slot:
        show_progress(work, complete=results.complete)


def _draw_rest(numbers: Ranking) -> None:
    caution = words.caution_words(numbers)
    if caution:
        st.caption(f":material/warning: {caution}")
    left_out = words.unsuitable_words(numbers)
    if left_out:
        with st.expander(f"Not in the chart: {len(left_out)}, and why", icon=":material/block:"):
            st.markdown("\n".join(f"- {line}" for line in left_out))
    with st.expander("All numbers", icon=":material/table:"):
        frame = pd.DataFrame(words.table_rows(numbers))
        show_table(frame, numbers=list(frame.select_dtypes("number").columns), key="compare_table")


def draw_same_error(setup: Setup, sensitivity: str, s2_words: str) -> None:
    """The epsilon each mechanism needs for one error."""
    work = begin("compare_frontier", setup.scenario.to_json(), sensitivity)
    scenario = setup.scenario.changed(trials=min(FRONTIER_TRIALS, setup.scenario.trials))
    try:
        posed = problem(setup, sensitivity=sensitivity).with_scenario(scenario)
        here = work.resume([Point(posed, KEYS)])[0]
    except InputError as error:
        say_why_not(setup, error)
        return
    if here is None or not here.complete:
        st.caption("First, all mechanisms at this ε.")
        show_progress(work, complete=False)
        return
    own = f"mvg-{setup.scenario.guarantee}"
    left, right = st.columns([1, 3], gap="medium", vertical_alignment="bottom")
    with left:
        shown = _choose_mechanisms(setup, here, own)
    with right:
        wanted = _choose_error(setup, here, own, sensitivity)
    if not shown or wanted is None:
        st.info("Choose at least one mechanism." if not shown else "Every error is 0 here: any ε will do.",
                icon=":material/info:")
        return
    found = work.resume([Point(posed.with_scenario(scenario.changed(epsilon=epsilon)), tuple(shown))
                         for epsilon in coarse_first(grid_with(scenario.epsilon), scenario.epsilon)])
    known = [results for results in found if results is not None]
    curves = [curve for curve in frontier(known) if np.isfinite(curve.means).all()]
    if curves:
        lines = needed(curves, wanted, guarantee=scenario.guarantee)
        chart(plot_frontier(lines, error=wanted, epsilon=scenario.epsilon, title=here.metric,
                            references=reference_items(here.references)),
              words.frontier_words([line.curve for line in lines], [line.reading for line in lines], wanted, own=own,
                                   trivial=here.references.trivial), key="compare_frontier")
    slot = st.container()
    st.caption(f"All with {s2_words}; {scenario.trials:,} trials a point, the same random numbers at every ε. "
               "Gaussian, classic is proved for ε below 1 only. Measured on the data itself: not private.")
    with slot:
        show_progress(work, complete=len(known) == len(found) and all(results.complete for results in known))


def _choose_mechanisms(setup: Setup, here: Results, own: str) -> list[str]:
    """Some of those that apply; at first the design as it stands and the best others."""
    ranked = [outcome.mechanism.key for outcome in ranking(here).outcomes]
    first = [key for key in ranked if key != own][: CURVES - (own in ranked)]
    usual = [key for key in ranked if key == own or key in first]
    scenario = setup.scenario
    key = f"compare_shown {scenario.data} {scenario.query} {scenario.task} {scenario.guarantee}"
    with st.popover(f"Mechanisms: {len(st.session_state.get(key, usual))} of {len(ranked)}", width="stretch"):
        return st.multiselect("Mechanisms drawn", ranked, default=usual, placeholder="choose some", key=key,
                              format_func=lambda key: MECHANISMS[key].label)


def _choose_error(setup: Setup, here: Results, own: str, sensitivity: str) -> float | None:
    """The wanted error, at first that of the design as it stands; None where every error is 0."""
    ranked = [outcome.mean for outcome in here.ranked() if np.isfinite(outcome.mean) and outcome.mean > 0]
    if not ranked:
        return None
    usual = _rounded(next((outcome.mean for outcome in here.outcomes
                           if outcome.mechanism.key == own and outcome.mean > 0), ranked[0]))
    low, high = max(ranked[0] / 10, here.references.non_private), max(here.references.trivial, usual)
    steps = np.geomspace(low, high, _STEPS) if 0 < low < high else np.array([usual])
    options = sorted({_rounded(float(step)) for step in steps} | {usual})
    if len(options) < 2:
        return usual
    return float(st.select_slider("Wanted error", options, value=usual, format_func=as_number,
                                  key=f"compare_error {sensitivity} {setup.scenario.to_json()}",
                                  help="At first the error of the design as it stands. Move it and read across."))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
