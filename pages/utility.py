"""Utility: the trials as dots, over epsilon, for other directions, and one draw."""

import time
from collections.abc import Sequence

import numpy as np
import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures import utility as words
from mvgviz.pictures.budget import Names, short_label, signal_picture
from mvgviz.pictures.trade_off import others_sentence
from mvgviz.scenario.own_units import own_units
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import Setup
from mvgviz.text import capitalised, in_markdown
from mvgviz.trials.first_trial import first_trial
from mvgviz.trials.problem import Problem
from mvgviz.trials.results import Results
from mvgviz.trials.run import part_errors, part_problems
from mvgviz.trials.sweeps import MOST_SETS, Directions, coarse_first, epsilon_grid, set_change, starting_sets, with_set
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, draw_charts, open_page, show_table
from mvgviz.ui.menu import UTILITY
from mvgviz.ui.slices import Slice, begin, problem, show_progress, trial_cache
from mvgviz.ui.task_controls import draw_task, say_why_not

PATIENCE = 30.0  # seconds of work that a tab starts by itself
_first_trial = cached(8, session.here)(first_trial)


def work_in_tab(setup: Setup, name: str, problems: Sequence[Problem], *parts: object) -> tuple[list[Results], Slice]:
    """Return the results after this slice, and the slice; long work waits for a click. Problems depend on ``parts``."""
    missing = sum(each.trials - trial_cache().done(each) for each in problems)
    seconds = missing * _rates().get(_kind(setup), 0.0)
    work = begin(f"utility_{name}", setup.scenario.to_json(), *parts, waiting=seconds > PATIENCE)
    if work.stopped and seconds > PATIENCE:
        st.caption(f"This chart takes about {max(round(seconds / 60), 1)} min. Press Go on to start it.")
    known = _gather(setup, work, problems)
    work.slot = st.container()
    return known, work


def _gather(setup: Setup, work: Slice, problems: Sequence[Problem]) -> list[Results]:
    """Return what is known; a slice that continues earlier work measures how long a trial takes."""
    cache = trial_cache()
    before, began = sum(map(cache.done, problems)), time.perf_counter()
    went_on = any(0 < cache.done(each) < each.trials for each in problems)  # the first slice also prepares and imports
    known = [results for results in work.resume(problems) if results is not None]
    if went_on and work.done > before:
        _rates()[_kind(setup)] = (time.perf_counter() - began - work.waited) / (work.done - before)
    work.complete = len(known) == len(problems) and all(results.complete for results in known)
    return known


def _rates() -> dict[str, float]:
    """Return the seconds that a trial took, by kind of work."""
    return st.session_state.setdefault("_utility_rates", {})  # type: ignore[no-any-return]


def draw_trials(setup: Setup) -> Slice | None:
    """Draw the main chart; None, after a sentence, where the scenario does not work out."""
    work = begin("utility", setup.scenario.to_json())
    try:
        posed = problem(setup)
        known = _gather(setup, work, [posed])
        if known and known[0]["mvg"].reason is not None:
            raise InputError(known[0]["mvg"].reason)
    except InputError as error:
        say_why_not(setup, error)
        return None
    for results in known:
        chart(words.dots_picture(results, words.priority_names(setup)).adding(others_sentence(setup)),
              key="utility_dots")
        st.caption(f"{session.computed_on()} {in_markdown(words.measured_words(posed, results))}")
    work.slot = st.container()
    return work


def draw_sweep(setup: Setup) -> Slice:
    posed, own = problem(setup), setup.scenario.epsilon
    grid = epsilon_grid(own)
    known, work = work_in_tab(setup, "sweep", [
        posed.with_scenario(setup.scenario.changed(epsilon=epsilon)) for epsilon in coarse_first(grid, own)])
    if known:
        chart(words.sweep_picture(known, own=own, span=(grid[0], grid[-1])), key="utility_sweep")
    return work


def _kind(setup: Setup) -> str:
    scenario = setup.scenario
    return f"{session.data_version()} {scenario.query} {scenario.task} {scenario.directions}"


def draw_parts(setup: Setup) -> Slice:
    problems, reasons = part_problems(problem(setup))
    if len(problems) < 2:
        st.info("Choose priority columns in the sidebar to see who gains and who pays.", icon=":material/checklist:")
    known, work = work_in_tab(setup, "parts", list(problems.values()))
    left, right = st.columns(2, gap="large")
    with left:
        if found := part_errors(known):
            chart(words.parts_picture(setup, found, on_data=not session.is_simulated()), key="utility_parts")
        for part, reason in reasons.items() if len(problems) > 1 else ():
            st.caption(in_markdown(f"{capitalised(part)}: {reason}."))
    with right:
        if rows := own_units(setup):
            st.markdown(words.own_units_words(setup, rows, on_data=not session.is_simulated()))
            show_table({"feature": [short_label(row.name) for row in rows], "priority": [row.priority for row in rows],
                        "this design ±": [row.ours for row in rows], "equal noise ±": [row.equal for row in rows],
                        "range": [f"{row.lower:g} to {row.upper:g}" for row in rows],
                        "unit": [row.unit for row in rows]}, numbers=("this design ±", "equal noise ±"))
    return work


def draw_sets(setup: Setup) -> Slice | None:
    size = setup.design.theta.size
    names = words.SetNames(Names(setup), size)
    if size < 2:
        st.info("This answer has one direction, so there is nothing to choose.", icon=":material/block:")
        return None
    sets = _draw_chooser(setup, names, size)
    posed, scenario = problem(setup), setup.scenario
    grid = epsilon_grid(scenario.epsilon)
    tried = [*((scenario.changed(**set_change(scenario, priorities)), "mvg") for priorities in sets), (scenario, "iid")]
    known, work = work_in_tab(setup, "sets", [
        posed.with_scenario(changed.changed(epsilon=epsilon), mechanisms=(key,))
        for epsilon in coarse_first(grid, scenario.epsilon) for changed, key in tried], sets)
    found = words.compared_sets(scenario, names, sets, grid, known)
    if found is not None:
        pictures, best = found
        draw_charts(pictures)
        if best is None:
            st.caption("No set of these beats equal noise here.")
            return work
        session.draw_back_to_mine()
        change = set_change(scenario, best)
        if scenario.changed(**change) != scenario:
            st.button(f"Use the best set: {in_markdown(names(best))}", key="utility_take",
                      icon=":material/check:", on_click=session.take_over, args=(setup,), kwargs=change)
    return work


def _draw_chooser(setup: Setup, names: words.SetNames, size: int) -> list[Directions]:
    """Draw and return the sets to compare: the person's own, kept while data and directions stay."""
    scenario, state = setup.scenario, st.session_state
    key = f"_utility_sets {session.data_version()} {scenario.query} {setup.design.mode} {scenario.directions} {size}"
    has_set = scenario.allocation in ("binary", "least-error")
    own = scenario.priority_directions if has_set else ()
    sets: list[Directions] = state.setdefault(key, starting_sets(own, size))
    usable = tuple(k for k in own if k < size)
    if 0 < len(usable) < size and usable not in sets and state.get(f"{key} own") != usable:
        sets = state[key] = [usable, *sets[: MOST_SETS - 1]]
    state[f"{key} own"] = usable
    compared, new, add = st.columns([3, 2, 1], vertical_alignment="bottom", gap="medium")
    compared.multiselect("Compared with equal noise", sets, format_func=lambda choice: _told_apart(names, sets, choice),
                         **session.control("utility_compared", sets, lambda new: state.update({key: list(new)})))
    chosen = new.multiselect("A new set", range(min(size, 2_000)), key=f"utility_new {size}", format_func=names.name)
    add.button("Add this set", key="utility_add", icon=":material/add:", on_click=_add, args=(key, size),
               disabled=not chosen)
    if refused := state.pop("_utility_refused", None):
        st.info(in_markdown(refused), icon=":material/block:")
    if not has_set:
        st.caption(f"Here each set gets {100 * scenario.share:.0f} % of the precision budget, unlike in your scenario.")
    return sets


def _told_apart(names: words.SetNames, sets: list[Directions], choice: Directions) -> str:
    twins = [other for other in sets if names(other) == names(choice)]
    return names(choice) if len(twins) < 2 else f"{names(choice)} ({twins.index(choice) + 1})"


def _add(key: str, size: int) -> None:
    state, new = st.session_state, f"utility_new {size}"
    try:
        state[key] = with_set(state[key], state[new], size)
        state[new] = []
    except InputError as error:
        state["_utility_refused"] = f"{capitalised(str(error))}."


def draw_one_draw(setup: Setup) -> None:
    posed = problem(setup)
    trial = _first_trial(posed)
    st.caption(f":material/visibility_lock: {session.computed_on()} {words.SHOWN_TO_HOLDER}")
    if not np.isfinite(trial.noisy).all():
        st.info("The noise is too large to be drawn.", icon=":material/block:")
        return
    true, noisy = words.true_and_noisy(trial, posed.query, setup.scenario.use.symbol)
    pictures = {"utility_true": true, "utility_noisy": noisy}
    if trial.predictions is not None:
        name = setup.dataset.features[trial.predictions.label]
        pictures["utility_predictions"] = words.predictions_picture(trial.predictions, name)
    elif trial.components is None:
        signal = signal_picture(setup, budget_table(setup, session.moments(setup)))
        pictures |= {} if signal is None else {"utility_signal": signal}
    elif setup.scenario.task == "first-component":
        pictures["utility_loadings"] = words.component_loadings_picture(trial.components, posed.query)
    else:
        pictures["utility_captured"] = words.captured_picture(trial.components)
    draw_charts(pictures, widths=[8, 9, 9][: len(pictures)])


SECTIONS = {"Priority and other": draw_parts, "Over epsilon": draw_sweep, "Choice of directions": draw_sets,
            "True against noisy": draw_one_draw}

setup = open_page(UTILITY)
draw_task(setup)
main = draw_trials(setup)
begun = [main]
if main is not None:
    tabs = st.tabs(list(SECTIONS), key="utility_section", on_change="rerun")
    for tab, draw in zip(tabs, SECTIONS.values(), strict=True):
        if tab.open:  # only the visible one works
            with tab:
                if not (main.complete or main.stopped):
                    st.caption("This starts after the trials above.")
                    continue
                try:
                    begun.append(draw(setup))
                except InputError as error:
                    say_why_not(setup, error)
for work in begun:  # last: the browser asks again while there is work to do
    if work is not None:
        show_progress(work)
