"""Compare: all mechanisms on one task, their epsilon for the same error, the levers, and the advisor."""

import math
import zlib
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from mvgviz.pictures import advice as advised
from mvgviz.pictures import compare as words
from mvgviz.pictures.compare import ranking
from mvgviz.pictures.sentences import clipping_words, design_words
from mvgviz.pictures.trade_off import least_sentence, others_sentence
from mvgviz.pictures.utility import measured_words
from mvgviz.provenance import Origin
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, capitalised, in_markdown
from mvgviz.trials.advisor import Advice, Row, advise
from mvgviz.trials.candidates import ADVISED_FAMILIES, SEARCHED, forgets_directions
from mvgviz.trials.levers import levers
from mvgviz.trials.mechanisms import COMPARED, MECHANISMS, own_key
from mvgviz.trials.results import Results
from mvgviz.trials.sweeps import coarse_first, epsilon_grid, frontier
from mvgviz.ui import session
from mvgviz.ui.cache import cached, of_session
from mvgviz.ui.frame import chart, draw_open_tab, open_page, show_table
from mvgviz.ui.menu import COMPARE
from mvgviz.ui.slices import Slice, begin, problem, show_progress, trial_cache
from mvgviz.ui.task_controls import choose_s2, draw_task, say_why_not

KEYS = (*(mechanism.key for mechanism in COMPARED), "iid")
CURVES = 6


def draw_ranking(setup: Setup, sensitivity: str) -> None:
    work = begin("compare_ranking", setup.scenario.to_json(), sensitivity)
    posed = problem(setup, sensitivity=sensitivity, mechanisms=KEYS)
    results = work.resume([posed])[0]
    if results is None:
        show_progress(work)
        return
    numbers = ranking(results)
    best = words.worth_zooming(numbers)
    zoomed = best and st.toggle(f"Only the {best} that beat {results.references.to_beat[0]}", key="compare_zoom")
    chart(words.ranking_picture(numbers, only=best if zoomed else 0), key="compare_ranking")
    st.markdown(" ".join([least_sentence(setup), others_sentence(setup),
                          clipping_words(setup, on_data=not session.is_simulated(), name=in_markdown)]))
    work.slot = st.container()
    st.caption(f"{words.symbol_words(numbers)} {session.computed_on()} {in_markdown(measured_words(posed, results))}")
    if caution := words.caution_words(numbers):
        st.caption(f":material/warning: {caution}")
    if left_out := words.unsuitable_words(numbers):
        with st.expander(f"Not in the chart: {len(left_out)}, and why", icon=":material/block:"):
            st.markdown("\n".join(f"- {line}" for line in left_out))
    with st.expander("All numbers", icon=":material/table:"):
        frame = pd.DataFrame(words.table_rows(numbers))
        show_table(frame, numbers=list(frame.select_dtypes("number").columns), key="compare_table")
    work.complete = results.complete
    show_progress(work)


def draw_same_error(setup: Setup, sensitivity: str) -> None:
    work = begin("compare_frontier", setup.scenario.to_json(), sensitivity)
    scenario = setup.scenario.changed(trials=min(40, setup.scenario.trials))
    posed = problem(setup, sensitivity=sensitivity, mechanisms=KEYS).with_scenario(scenario)
    here = work.resume([posed])[0]
    if here is None or not here.complete:
        st.caption("First, all mechanisms at this ε.")
        show_progress(work)
        return
    left, right = st.columns([1, 3], gap="medium", vertical_alignment="bottom")
    with left:
        shown = _choose_mechanisms(setup, here)
    with right:
        wanted = _choose_error(setup, here, sensitivity)
    if not shown or wanted is None:
        st.info("Choose at least one mechanism." if not shown else "Every error is 0 here: any ε will do.",
                icon=":material/info:")
        return
    found = work.resume([posed.with_scenario(scenario.changed(epsilon=epsilon), mechanisms=tuple(shown))
                         for epsilon in coarse_first(epsilon_grid(scenario.epsilon, wide=True), scenario.epsilon)])
    known = [results for results in found if results is not None]
    if curves := [curve for curve in frontier(known) if np.isfinite(curve.means).all()]:
        chart(words.frontier_picture(
            curves, error=wanted, scenario=scenario, title=here.metric,
            references={results.scenario.epsilon: results.references for results in known}), key="compare_frontier")
    work.slot = st.container()
    st.caption(f"{scenario.trials:,} trials for each point. {session.computed_on()}")
    work.complete = len(known) == len(found) and all(results.complete for results in known)
    show_progress(work)


def _choose_mechanisms(setup: Setup, here: Results) -> list[str]:
    """Choose some of those that apply; at first this design and the best others."""
    scenario, own = setup.scenario, own_key(setup.scenario)
    ranked = [outcome.mechanism.key for outcome in ranking(here).outcomes]
    first = [key for key in ranked if key != own][: CURVES - (own in ranked)]
    usual = [key for key in ranked if key == own or key in first]
    key = f"compare_shown {scenario.data} {scenario.query} {scenario.task} {own}"
    with st.popover(f"Mechanisms: {len(st.session_state.get(key, usual))} of {len(ranked)}", width="stretch"):
        return st.multiselect("Mechanisms drawn", ranked, default=usual, placeholder="choose some", key=key,
                              format_func=lambda key: MECHANISMS[key].label)


def _choose_error(setup: Setup, here: Results, sensitivity: str) -> float | None:
    """Choose the wanted error, at first this design's; None where every error is 0."""
    ranked = [outcome for outcome in here.ranked() if np.isfinite(outcome.mean) and outcome.mean > 0]
    if not ranked:
        return None
    own = [outcome for outcome in ranked if outcome.mechanism.key == own_key(setup.scenario)]
    usual = _rounded((own or ranked)[0].mean)
    low, high = max(ranked[0].mean / 10, here.references.non_private), max(here.references.trivial, usual)
    steps = np.geomspace(low, high, 41).tolist() if 0 < low < high else []
    options = sorted({_rounded(step) for step in steps} | {usual})
    if len(options) < 2:
        return usual
    return float(st.select_slider("Wanted error", options, value=usual, format_func=as_number,
                                  key=f"compare_error {sensitivity} {setup.scenario.to_json()}"))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def draw_levers(setup: Setup, sensitivity: str) -> None:
    """Draw a waterfall from the paper's printed noise to this design, and a table of the design without each lever."""
    work = begin("compare_levers", setup.scenario.to_json(), sensitivity)
    printed = sensitivity == "tight"  # theorems as printed
    posed = problem(setup, sensitivity="own" if printed else sensitivity)
    with work.turn(trial_cache()) as options:
        found = levers(setup.scenario, setup.dataset, problem=posed, **options)
    if found is None:
        show_progress(work)
        return
    title = setup.scenario.use.metric_in(found.references.unit)
    chart(advised.levers_picture(found, setup.dataset.features, title=title), key="compare_levers")
    work.slot = st.container()
    st.markdown(f"{advised.best_kept(found)} {others_sentence(setup)}")
    show_table(advised.table_rows(found), numbers=("mean error", "95 % from", "95 % to", "times this design's error"),
               key="compare_without")
    which = "The theorems use the printed sensitivity, the others the tight one. " * printed
    st.caption(f"{found.design.outcome.errors.size:,} trials each. {which}{session.computed_on()}")
    work.complete = found.complete
    show_progress(work)


def draw_advisor(setup: Setup, sensitivity: str) -> None:
    """Draw the designs tried for the task and budget, ranked."""
    names = setup.dataset.features
    st.caption(session.computed_on())
    gaussian_only = st.toggle("Gaussian noise only", key="compare_gaussian",
                              help="For many releases, or to limit the attacker's odds more than (ε, δ) does.")
    work = begin("compare_advisor", setup.scenario.to_json(), sensitivity, str(gaussian_only))
    advice = _advice(setup, work, sensitivity, gaussian_only)
    work.complete = advice.complete
    if not advice.rows:
        for line in advised.dropped_words(advice):
            st.info(in_markdown(capitalised(line)) + ".", icon=":material/block:")
        show_progress(work)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        chart(advised.advice_picture(advice, names, setup.scenario.use), key="compare_advice")
    with right:
        work.slot = st.container()
        st.markdown(advised.family_words(advice, setup))
        if advice.levers is not None:
            st.caption(advised.levers_sentence(advice.levers))
        session.draw_back_to_mine()
        _draw_loading(advice, names, session.origin_of_results(setup))
    st.caption(advised.tried_words(advice))
    with st.expander("All designs tried", icon=":material/table:"):
        show_table(advised.design_rows(advice, names), key="compare_designs",
                   numbers=("mean error", "95 % from", "95 % to", "epsilon really spent"))
    show_progress(work, what="trials" if advice.trials else "designs")


@cached(100, of_session, final=lambda advice: advice.complete,
        key=lambda setup, work, *asked: (session.version(), *asked, setup.scenario))
def _advice(setup: Setup, work: Slice, sensitivity: str, gaussian_only: bool) -> Advice:
    with work.turn(trial_cache()) as options:
        return advise(setup.scenario, setup.dataset, on_data=session.shows_data(), sensitivity=sensitivity,
                      uploaded=session.uploaded_directions(),
                      families=() if gaussian_only else ADVISED_FAMILIES, **options)


def _draw_loading(advice: Advice, names: tuple[str, ...], origin: Origin) -> None:
    """Draw a button for each of the best, and a list of the others; ``origin``: of a choice made here."""
    st.caption("Load a design into the sidebar:" if origin.is_covered else advised.LOADED_ON_DATA)
    rows = {f"{place}. {design_words(row.candidate, names)}: {as_number(row.outcome.mean)}": row
            for place, row in enumerate(advice.rows, start=1) if math.isfinite(row.outcome.mean)}
    if any(_loading_help(row) == advised.FORGETS_DIRECTIONS for row in advice.rows if not row.candidate.is_current):
        st.caption(advised.FORGETS_DIRECTIONS)
    best = [label for label, row in rows.items() if row in advice.kinds[:5]]
    with st.container(gap="xsmall"):
        for at, label in enumerate(best):
            own = " (this design)" * rows[label].candidate.is_current
            _draw_load(f"{in_markdown(label)}{own}", f"compare_load_{at}", rows[label], origin, width="stretch")
    others = {label: row for label, row in rows.items() if label not in best}
    if others:
        _draw_load("Load it", "compare_load_other", _any_other(list(others), list(others.values())), origin)


def _draw_load(label: str, key: str, row: Row, origin: Origin, **look: Any) -> None:
    st.button(label, key=key, on_click=_load, args=(row, origin), help=_loading_help(row),
              disabled=not row.candidate.is_whole or row.candidate.is_current, **look)


def _loading_help(row: Row) -> str | None:
    if not row.candidate.is_whole:
        return advised.ONLY_PRIORITY
    return advised.FORGETS_DIRECTIONS if forgets_directions(row.candidate, session.scenario()) else None


def _any_other(labels: list[str], others: list[Row]) -> Row:
    """Choose one of the others; the design chosen before stays chosen wherever it stands now."""
    state = st.session_state
    index = next((k for k, row in enumerate(others) if row.candidate.scenario == state.get("_compare_other")), 0)
    # A list with other entries is another control, or the browser would still show an entry of the old one.
    key = f"compare_other_{zlib.crc32(chr(10).join(labels).encode()):08x}"
    return others[st.selectbox("Another design", range(len(others)), index=index, key=key,
                               format_func=labels.__getitem__, on_change=lambda: state.update(
                                   _compare_other=others[state[key]].candidate.scenario))]


def _load(row: Row, origin: Origin) -> None:
    """Take over every field that the advisor searches: what it left as it was is its choice, too. Marks stay."""
    before, chosen = session.scenario(), {name: getattr(row.candidate.scenario, name) for name in SEARCHED}
    session.choose(origin, **chosen)
    session.choose(Origin.READ, **{name: chosen[name] for name in row.candidate.scenario.from_data if name in chosen})
    session.history().take(before, session.scenario())


setup = open_page(COMPARE)
left, right = st.columns([5, 2], vertical_alignment="bottom")
with left:
    draw_task(setup)
with right:
    sensitivity = choose_s2(setup.query, key="compare_s2")
draw_open_tab({"All mechanisms": draw_ranking, "Same error": draw_same_error, "Lever by lever": draw_levers,
               "Advisor": draw_advisor}, setup, sensitivity, key="compare_section",
              refused=partial(say_why_not, setup))
