"""Parts of the page Utility: the trials, and the sweep over epsilon."""

from __future__ import annotations

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.figures.shared.theme import DIRECTIONAL, IID
from mvgviz.figures.utility.dots import dot_numbers, plot_dots
from mvgviz.figures.utility.sweep import error_curve, plot_sweep
from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_markdown
from mvgviz.trials.favoured_sets import coarse_first, epsilon_grid
from mvgviz.trials.run import Results
from mvgviz.ui.frame import chart
from mvgviz.ui.trial_panel import begin, problem, say_why_not
from mvgviz.ui.utility.work import Pending, Point, begin_tab, complete, gather, version
from mvgviz.words.utility import dots_about, measured_words, metric_words, result_words, sweep_words

BOTH = ("mvg", "iid")


def draw_trials(setup: Setup) -> tuple[Results | None, Pending | None]:
    """The main chart; None where the scenario does not work out, which is said."""
    work = begin("utility", version(setup))
    try:
        results = gather(setup, work, [Point({}, BOTH)])[0]
        posed = problem(setup)
    except InputError as error:
        say_why_not(setup, error)
        return None, None
    if results is not None:
        reason = results["mvg"].reason
        if reason is not None:
            say_why_not(setup, InputError(reason))
            return None, None
        numbers = dot_numbers(results)
        chart(plot_dots(numbers, title=metric_words(results)), result_words(results), key="utility_dots",
              about=dots_about(numbers))
        st.caption(in_markdown(measured_words(posed, results)))
    done = results is not None and results.complete
    return results, Pending(work, done, st.container())


def draw_sweep(setup: Setup) -> Pending:
    """The error over epsilon."""
    own = setup.scenario.epsilon
    grid = epsilon_grid(own)
    points = [Point({"epsilon": epsilon}, BOTH) for epsilon in coarse_first(grid, own)]
    work = begin_tab(setup, "sweep", points)
    found = gather(setup, work, points)
    known = [one for one in found if one is not None]
    slot = st.container()
    if known:
        curves = [error_curve([(one.scenario.epsilon, one[key]) for one in known], name=name, colour=colour)
                  for key, name, colour in (("iid", "noise of one size", IID), ("mvg", "directional", DIRECTIONAL))]
        chart(plot_sweep(curves, known[0].references, own=own, span=(grid[0], grid[-1]), title=known[0].task.metric),
              sweep_words(known), key="utility_sweep",
              about="The same trials at other budgets, with the same random numbers. Bands: the 95 % interval of the "
                    "mean. Everything but ε stays as in the scenario.")
    return Pending(work, complete(found), slot)
