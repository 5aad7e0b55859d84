"""The page Utility: its trials (long work in a tab waits for a click), the main chart and the sweep over epsilon."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.errors import InputError
from mvgviz.figures.shared.theme import DIRECTIONAL, IID
from mvgviz.figures.utility.dots import dot_numbers, plot_dots
from mvgviz.figures.utility.errors import error_curve, plot_sweep
from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_markdown
from mvgviz.trials.favoured_sets import epsilon_grid
from mvgviz.trials.outcomes import Results
from mvgviz.trials.resumable import Point, coarse_first
from mvgviz.ui import session
from mvgviz.ui.frame import chart
from mvgviz.ui.slices import Slice, begin, problem, show_progress, trial_cache
from mvgviz.ui.task_controls import say_why_not
from mvgviz.words.utility import dots_about, measured_words, metric_words, needed_names, result_words, sweep_words

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
        chart(plot_dots(numbers, title=metric_words(results)), result_words(results, needed_names(setup)),
              key="utility_dots", about=dots_about(numbers))
        st.caption(in_markdown(measured_words(posed, results)))
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
        chart(plot_sweep(curves, known[0].references, own=own, span=(grid[0], grid[-1]), title=known[0].metric),
              sweep_words(known), key="utility_sweep")
    return pending


def _kind(setup: Setup) -> str:
    scenario = setup.scenario
    return f"{session.data_version()} {scenario.query} {scenario.task} {scenario.directions}"
