"""Utility: the trials as dots, over epsilon, for other directions, and one draw to look at."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.errors import InputError
from mvgviz.pictures import utility as one_draw
from mvgviz.pictures.budget import Names, SignalNumbers, plot_signal_to_noise, short_label, signal_numbers
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.theme import DATA, DIRECTIONAL, IID, MOST_COLS
from mvgviz.pictures.trade_off import others_sentence
from mvgviz.pictures.utility import (
    SHOWN_TO_HOLDER,
    SetNames,
    SetRow,
    best_set_words,
    dot_numbers,
    dots_about,
    draw_words,
    error_curve,
    measured_words,
    metric_words,
    needed_names,
    own_units_words,
    parts_words,
    plot_dots,
    plot_parts,
    plot_sets,
    plot_sweep,
    ranked_sets,
    result_words,
    sets_words,
    sweep_words,
)
from mvgviz.scenario.names import names_of_coordinates
from mvgviz.scenario.own_units import own_units
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, capitalised, in_markdown
from mvgviz.trials import favoured_sets
from mvgviz.trials.favoured_sets import Favoured, epsilon_grid, set_change
from mvgviz.trials.first_trial import Components, FirstTrial, Predictions, first_trial
from mvgviz.trials.outcomes import Outcome, Results
from mvgviz.trials.parts import part_errors, part_points
from mvgviz.trials.question import Problem
from mvgviz.trials.resumable import Point, coarse_first
from mvgviz.trials.tasks import TASKS
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, open_page, show_table
from mvgviz.ui.menu import UTILITY
from mvgviz.ui.slices import Slice, begin, problem, show_progress, trial_cache
from mvgviz.ui.task_controls import draw_task, say_why_not

_RATES = "_utility_rates"
BOTH = ("mvg", "iid")
PATIENCE = 30.0
"""Seconds of work that a tab starts by itself."""


@dataclass(frozen=True)
class Pending:
    """Work that may go on, and where its progress stands."""

    work: Slice
    complete: bool
    slot: DeltaGenerator


def version(setup: Setup) -> str:
    """All that results depend on, in one line."""
    choices = " ".join(f"{name}={value}" for name, value in setup.scenario.to_query().items())
    return f"{session.version()} {choices}"


def work_in_tab(setup: Setup, name: str, points: Sequence[Point], *parts: object) -> tuple[list[Results], Pending]:
    """What is known of the points, which depend on ``parts`` too, after this slice; long work waits for a click."""
    missing = sum(point.trials - trial_cache().done(point) for point in points)
    seconds = missing * st.session_state.get(_RATES, {}).get(_kind(setup), 0.0)
    work = begin(f"utility_{name}", version(setup), *parts, waiting=seconds > PATIENCE)
    if work.stopped and seconds > PATIENCE:
        st.caption(f"About {max(round(seconds / 60), 1)} min of work for this chart: press Go on to start it.")
    found = _gather(setup, work, points)
    known = [results for results in found if results is not None]
    complete = len(known) == len(found) and all(results.complete for results in known)
    return known, Pending(work, complete, st.container())


def _gather(setup: Setup, work: Slice, points: Sequence[Point]) -> list[Results | None]:
    """The results of the points; a slice that went on where one had stopped tells how long a trial takes."""
    cache = trial_cache()
    before, began = sum(map(cache.done, points)), time.perf_counter()
    went_on = any(0 < cache.done(point) < point.trials for point in points)  # the first slice also prepares and imports
    found = work.resume(points)
    if went_on and work.done > before:
        rates = st.session_state.setdefault(_RATES, {})
        rates[_kind(setup)] = (time.perf_counter() - began - work.waited) / (work.done - before)
    return found


def go_on(pending: Sequence[Pending | None]) -> None:
    """Progress bars at their places; the browser asks again while there is work to do. Call it last."""
    for entry in pending:
        if entry is not None:
            with entry.slot:
                show_progress(entry.work, complete=entry.complete)


def draw_trials(setup: Setup) -> Pending | None:
    """The main chart; None where the scenario does not work out, which is said."""
    work = begin("utility", version(setup))
    try:
        posed = problem(setup)
        results = _gather(setup, work, [Point(posed, BOTH)])[0]
        if results is not None and results["mvg"].reason is not None:
            raise InputError(results["mvg"].reason)
    except InputError as error:
        say_why_not(setup, error)
        return None
    if results is not None:
        numbers = dot_numbers(results)
        said = f"{result_words(results, needed_names(setup))} {others_sentence(setup)}".rstrip()
        chart(Picture(
            plot_dots(numbers, title=metric_words(results)),
            said,
            about=dots_about(numbers)), key="utility_dots")
        st.caption(f"{session.computed_on()} {in_markdown(measured_words(posed, results))}")
    return Pending(work, results is not None and results.complete, st.container())


def draw_sweep(setup: Setup) -> Pending:
    """The error over epsilon."""
    posed, own = problem(setup), setup.scenario.epsilon
    grid = epsilon_grid(own)
    known, pending = work_in_tab(setup, "sweep", [
        Point(posed.with_scenario(setup.scenario.changed(epsilon=epsilon)), BOTH)
        for epsilon in coarse_first(grid, own)])
    if known:
        curves = [error_curve([(results.scenario.epsilon, results[key]) for results in known], name=name, colour=colour)
                  for key, name, colour in (("iid", "equal noise", IID), ("mvg", "directional", DIRECTIONAL))]
        references = {results.scenario.epsilon: results.references for results in known}
        chart(Picture(
            plot_sweep(curves, references, own=own, span=(grid[0], grid[-1]), title=known[0].metric),
            sweep_words(known)), key="utility_sweep")
    return pending


def _kind(setup: Setup) -> str:
    scenario = setup.scenario
    return f"{session.data_version()} {scenario.query} {scenario.task} {scenario.directions}"


def draw_parts(setup: Setup) -> Pending:
    """The three errors beside equal noise and "only the needed"."""
    points, reasons = part_points(problem(setup))
    if len(points) < 2:
        st.info("Say which features are needed (in the sidebar: what is favoured) to see who gains and who pays.",
                icon=":material/checklist:")
    known, pending = work_in_tab(setup, "parts", list(points.values()))
    found = part_errors(known)
    left, right = st.columns(2, gap="large")
    with left:
        if found:
            chart(Picture(
                plot_parts(found),
                parts_words(setup, found, on_data=not session.is_simulated())), key="utility_parts")
        for part, reason in reasons.items():
            if len(points) > 1:
                st.caption(in_markdown(f"{capitalised(part)}: {reason}."))
    with right:
        _draw_own_units(setup)
    return pending


def _draw_own_units(setup: Setup) -> None:
    rows = own_units(setup)
    if not rows:
        return
    st.markdown(own_units_words(setup, rows, on_data=not session.is_simulated()))
    show_table({"feature": [short_label(row.name) for row in rows], "needed": [row.needed for row in rows],
                "this design ±": [row.ours for row in rows], "equal noise ±": [row.equal for row in rows],
                "range": [f"{row.lower:g} to {row.upper:g}" for row in rows], "unit": [row.unit for row in rows]},
               numbers=("this design ±", "equal noise ±"))


_LISTED = 2_000
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "hexagon", "triangle-down", "pentagon")


def draw_sets(setup: Setup) -> Pending | None:
    """Which directions to favour: each set at the scenario's epsilon, and over all epsilons."""
    size = setup.design.theta.size
    names = SetNames(Names(setup), size)
    if size < 2:
        st.info("With one direction there is nothing to choose.", icon=":material/block:")
        return None
    sets = _draw_chooser(setup, names, size)
    posed, scenario = problem(setup), setup.scenario
    grid = favoured_sets.epsilon_grid(scenario.epsilon)
    tried = [*((scenario.changed(**set_change(scenario, favoured)), "mvg") for favoured in sets), (scenario, "iid")]
    known, pending = work_in_tab(setup, "sets", [
        Point(posed.with_scenario(changed.changed(epsilon=epsilon)), (key,))
        for epsilon in coarse_first(grid, scenario.epsilon) for changed, key in tried], sets)
    _draw_set_charts(setup, names, sets, grid, known)
    return pending


def _draw_set_charts(setup: Setup, names: SetNames, sets: list[Favoured], grid: list[float],
                     found: list[Results]) -> None:
    scenario = setup.scenario
    here = [results for results in found if results.scenario.epsilon == scenario.epsilon]
    if not here:
        return
    choices: list[Favoured | None] = [*sets, None]
    own = scenario.favoured if scenario.allocation in ("binary", "least-error") else None
    styles = {choice: (DIRECTIONAL if choice == own else DATA, symbol)
              for choice, symbol in zip(sets, cycle(_SYMBOLS), strict=False)} | {None: (IID, "circle")}
    rows = ranked_sets(SetRow(choice=choice, outcome=outcome, colour=styles[choice][0], symbol=styles[choice][1])
                       for choice in choices if (outcome := _outcome(here, choice)) is not None)
    left, right = st.columns(2, gap="large")
    with left:
        labels = [short_label(names(row.choice)) for row in rows]
        chart(Picture(
            plot_sets(rows, here[0].references, names=labels, title=here[0].metric),
            best_set_words(names, rows)), key="utility_sets")
        _draw_take_over(setup, names, rows)
    with right:
        curves = []
        for choice in choices:
            colour, symbol = styles[choice]
            outcomes = [(epsilon, outcome) for epsilon in grid if (outcome := _outcome(
                [results for results in found if results.scenario.epsilon == epsilon], choice)) is not None]
            curves.append(error_curve(outcomes, name=short_label(names(choice)), colour=colour, symbol=symbol,
                                      band=colour != DATA))
        references = {results.scenario.epsilon: results.references for results in found}
        chart(Picture(
            plot_sweep(curves, references, own=scenario.epsilon, span=(grid[0], grid[-1]),
                       title=here[0].metric, legend=False),
            sets_words(curves, own=scenario.epsilon)), key="utility_set_sweep")


def _outcome(found: list[Results], choice: Favoured | None) -> Outcome | None:
    for results in found:
        keys = [outcome.mechanism.key for outcome in results.outcomes]
        if (choice is None and keys == ["iid"]) or (keys == ["mvg"] and results.scenario.favoured == choice):
            return results.outcomes[0]
    return None


def _draw_take_over(setup: Setup, names: SetNames, rows: list[SetRow]) -> None:
    scenario = setup.scenario
    best = rows[0].choice if rows else None
    if best is None:
        st.caption("No set of these beats equal noise here.")
        return
    change = set_change(scenario, best)
    if scenario.changed(**change) != scenario:
        st.button(f"Take over the best set: {in_markdown(names(best))}", key="utility_take",
                  icon=":material/check:", on_click=session.take_over, args=(setup,), kwargs=change)


def _draw_chooser(setup: Setup, names: SetNames, size: int) -> list[Favoured]:
    """The sets compared: the person's own, kept while data and directions stay."""
    scenario = setup.scenario
    key = f"_utility_sets {session.data_version()} {scenario.query} {setup.design.mode} {scenario.directions} {size}"
    own = scenario.favoured if scenario.allocation in ("binary", "least-error") else ()
    if key not in st.session_state:
        st.session_state[key] = favoured_sets.starting_sets(own, size)
    sets: list[Favoured] = st.session_state[key]
    usable = tuple(k for k in own if k < size)
    if 0 < len(usable) < size and usable not in sets and st.session_state.get(f"{key} own") != usable:
        sets = st.session_state[key] = [usable, *sets[: favoured_sets.MOST_SETS - 1]]
    st.session_state[f"{key} own"] = usable
    compared, new, add = st.columns([3, 2, 1], vertical_alignment="bottom", gap="medium")
    with compared:
        st.session_state["utility_compared"] = sets
        st.multiselect("Sets compared, besides equal noise", sets, key="utility_compared",
                       format_func=lambda choice: _told_apart(names, sets, choice),
                       on_change=lambda: st.session_state.update({key: list(st.session_state["utility_compared"])}))
    with new:
        chosen = st.multiselect("A new set", range(min(size, _LISTED)), key=f"utility_new {size}",
                                format_func=names.name)
    add.button("Add this set", key="utility_add", icon=":material/add:", on_click=_add, args=(key, size),
               disabled=not chosen)
    refused = st.session_state.pop("_utility_refused", None)
    if refused:
        st.info(in_markdown(refused), icon=":material/block:")
    if scenario.allocation not in ("binary", "least-error"):
        st.caption(f"Here each set gets {scenario.share:.0%} of the precision budget; the scenario divides it another "
                   "way.")
    return sets


def _told_apart(names: SetNames, sets: list[Favoured], choice: Favoured) -> str:
    """A name that no other set has."""
    twins = [other for other in sets if names(other) == names(choice)]
    return names(choice) if len(twins) < 2 else f"{names(choice)} ({twins.index(choice) + 1})"


def _add(key: str, size: int) -> None:
    state, new = st.session_state, f"utility_new {size}"
    try:
        state[key] = favoured_sets.with_set(state[key], state[new], size)
        state[new] = []
    except InputError as error:
        state["_utility_refused"] = f"{capitalised(str(error))}."


_NAMED = 24
_first_trial = cached(8, session.here)(first_trial)


def draw_one_draw(setup: Setup) -> None:
    """True and noisy answer in the same colours, and what the task makes of them."""
    posed = problem(setup)
    trial = _first_trial(posed)
    st.caption(f":material/visibility_lock: {session.computed_on()} {SHOWN_TO_HOLDER}")
    if not np.isfinite(trial.noisy).all():
        st.info("The noise is too large to be drawn.", icon=":material/block:")
        return
    pair, labels = one_draw.matrix_pair(trial.true, trial.noisy), _labels(posed, trial)
    draw_use = _use(setup, posed, trial)
    columns = st.columns([8, 9] if draw_use is None else [8, 9, 9], gap="medium")
    with columns[0]:
        chart(Picture(
            _matrix(pair, labels, noisy=False),
            _true_words(trial, pair)), key="utility_true")
    with columns[1]:
        chart(Picture(
            _matrix(pair, labels, noisy=True),
            draw_words(trial, pair, TASKS[setup.scenario.task].symbol)), key="utility_noisy")
    if draw_use is not None:
        with columns[2]:
            draw_use()


def _use(setup: Setup, posed: Problem, trial: FirstTrial) -> Callable[[], None] | None:
    """The picture of what the task makes of the answer; None where there is none."""
    if trial.predictions is not None:
        return partial(_draw_predictions, setup, trial.predictions)
    if trial.components is not None:
        first = setup.scenario.task == "first-component"
        return partial(_draw_loadings, posed, trial.components) if first else partial(_draw_captured, trial.components)
    signal = signal_numbers(budget_table(setup, session.moments(setup)))
    return None if signal is None else partial(_draw_signal, setup, signal)


def _labels(posed: Problem, trial: FirstTrial) -> tuple[list[str], list[str], str, str]:
    """Names of rows and columns that are shown, and what they are called together."""
    query, (rows, cols) = posed.query, trial.true.shape
    row = "vertex" if query.is_graph else "record" if query.row_names is None else "feature"
    names = [short_label(name) for name in names_of_coordinates(query, "rows", trial.shape[0])[:MOST_COLS]]
    named = query.row_names is not None and len(names) <= _NAMED
    down = names if named else _thinned(len(names))
    if query.symmetric or trial.what == "moments":
        return down[:rows], down[:cols], row, row
    return down[:rows], ["mean"] if cols == 1 else _thinned(min(cols, MOST_COLS)), row, "" if cols == 1 else "record"


def _thinned(count: int) -> list[str]:
    """Numbers from 1, about eight of them, blanks between."""
    every = -(-count // 8)
    return [str(k + 1) if k % every == 0 else "" for k in range(count)]


def _matrix(pair: one_draw.MatrixPair, labels: tuple[list[str], list[str], str, str], *, noisy: bool) -> go.Figure:
    shown = pair.noisy if noisy else pair.true
    rows, cols = shown.shape
    return one_draw.plot_one_of_pair(pair, shown, row_labels=labels[0][:rows], col_labels=labels[1][:cols],
                            row_title=labels[2], col_title=labels[3], scale=noisy)


def _true_words(trial: FirstTrial, pair: one_draw.MatrixPair) -> str:
    what = "second moments of the table, which is all this task uses" if trial.what == "moments" else "answer"
    rows, cols = pair.true.shape
    part = f" The first {rows} × {cols} of {trial.shape[0]:,} × {trial.shape[1]:,} are drawn." if (
        (rows, cols) != trial.shape) else ""
    return f"**True {what}.**{part}"


def _draw_predictions(setup: Setup, found: Predictions) -> None:
    numbers = one_draw.prediction_numbers(found)
    name = setup.dataset.features[found.label]
    rmse = [float(np.sqrt(np.square(values - found.labels).mean())) for values in (found.clean, found.noisy)]
    outside = f" {numbers.outside} noisy predictions leave the picture." if numbers.outside else ""
    part = f" The first {len(numbers.labels)} of {found.labels.size:,} are drawn." if len(
        numbers.labels) < found.labels.size else ""
    chart(Picture(
        one_draw.plot_predictions(numbers, name=short_label(name)),
        f"**Predictions** of {in_markdown(name)} on records held out: off by {as_number(rmse[1])} (RMSE), without "
        f"privacy {as_number(rmse[0])}.{outside}{part}"), key="utility_predictions")


def _draw_loadings(posed: Problem, parts: Components) -> None:
    shown, total = one_draw.largest_loadings(parts), parts.first.size
    names = names_of_coordinates(posed.query, "rows", total)
    part = f" The {len(shown)} largest of {total} loadings are drawn." if len(shown) < total else ""
    chart(Picture(
        one_draw.plot_loadings(parts, shown, names=[short_label(names[k]) for k in shown]),
        f"**First component:** {as_number(parts.angle, 2)}° from the true one.{part}"), key="utility_loadings")


def _draw_captured(parts: Components) -> None:
    figure = one_draw.plot_captured(parts)
    drawn, every = len(figure.data[0].x), parts.captured.size
    part = f" The first {drawn} of {every}." if drawn < every else ""
    total = float(parts.eigenvalues[0])
    share = f", {as_number(100 * float(parts.captured[0]) / total, 2)} % of what the true one does" if total > 0 else ""
    chart(Picture(
        figure,
        f"**The first noisy component** captures {as_number(float(parts.captured[0]))}{share}.{part}"),
          key="utility_captured")


def _draw_signal(setup: Setup, numbers: SignalNumbers) -> None:
    """Signal-to-noise along each direction."""
    part = f" {len(numbers.shown)} of {numbers.total} are drawn." if len(numbers.shown) < numbers.total else ""
    chart(Picture(
        plot_signal_to_noise(numbers, names=Names(setup).labels(numbers.shown)),
        f"**Signal above noise** in {numbers.above} of {numbers.total} directions (equal noise: "
        f"{numbers.iid_above}).{part}"), key="utility_signal")


SECTIONS = {"Needed and rest": draw_parts, "Over epsilon": draw_sweep, "Choice of directions": draw_sets,
            "True against noisy": draw_one_draw}

setup = open_page(UTILITY)
draw_task(setup)
main = draw_trials(setup)
pending = [main]
if main is not None:
    tabs = st.tabs(list(SECTIONS), key="utility_section", on_change="rerun")
    for tab, draw in zip(tabs, SECTIONS.values(), strict=True):
        if tab.open:  # only the visible one is worked out
            with tab:
                if not (main.complete or main.work.stopped):
                    st.caption("After the trials above.")
                    continue
                try:
                    pending.append(draw(setup))
                except InputError as error:
                    say_why_not(setup, error)
go_on(pending)
