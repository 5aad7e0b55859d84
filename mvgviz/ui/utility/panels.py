"""Parts of the page Utility: the trials, and the sweep over epsilon."""

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.figures.shared.theme import DIRECTIONAL, IID
from mvgviz.figures.utility.dots import dot_numbers, plot_dots
from mvgviz.figures.utility.sweep import error_curve, plot_sweep
from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_markdown
from mvgviz.trials.favoured_sets import epsilon_grid
from mvgviz.trials.resumable import Point, coarse_first
from mvgviz.ui.frame import chart
from mvgviz.ui.slices import begin, problem
from mvgviz.ui.task_controls import say_why_not
from mvgviz.ui.utility.work import Pending, gather, version, work_in_tab
from mvgviz.words.utility import dots_about, measured_words, metric_words, result_words, sweep_words

BOTH = ("mvg", "iid")


def draw_trials(setup: Setup) -> Pending | None:
    """The main chart; None where the scenario does not work out, which is said."""
    work = begin("utility", version(setup))
    try:
        posed = problem(setup)
        results = gather(setup, work, [Point(posed, BOTH)])[0]
        if results is not None and results["mvg"].reason is not None:
            raise InputError(results["mvg"].reason)
    except InputError as error:
        say_why_not(setup, error)
        return None
    if results is not None:
        numbers = dot_numbers(results)
        chart(plot_dots(numbers, title=metric_words(results)), result_words(results), key="utility_dots",
              about=dots_about(numbers))
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
                  for key, name, colour in (("iid", "noise of one size", IID), ("mvg", "directional", DIRECTIONAL))]
        chart(plot_sweep(curves, known[0].references, own=own, span=(grid[0], grid[-1]), title=known[0].task.metric),
              sweep_words(known), key="utility_sweep")
    return pending
