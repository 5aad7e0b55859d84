"""The levers' part of the page Compare: what each took away from the error, and the design without each."""

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.figures.compare.waterfall import plot_waterfall
from mvgviz.figures.shared.error_axis import reference_items
from mvgviz.scenario.resolve import Setup
from mvgviz.trials.levers import levers
from mvgviz.trials.tasks import TASKS
from mvgviz.ui.frame import chart, show_table
from mvgviz.ui.slices import begin, problem, show_progress, trial_cache
from mvgviz.ui.task_controls import say_why_not
from mvgviz.words import levers as words


def draw_levers(setup: Setup, sensitivity: str, s2_words: str) -> None:
    """A waterfall from the paper's noise as printed down to this design, and a table of the design without each."""
    work = begin("compare_levers", setup.scenario.to_json(), sensitivity)
    own = "own" if sensitivity == "tight" else sensitivity  # theorems with the sensitivity that they are printed with
    try:
        posed = problem(setup, sensitivity=own)
        with work.turn(trial_cache()) as options:
            found = levers(setup.scenario, setup.dataset, problem=posed, **options)
    except InputError as error:
        say_why_not(setup, error)
        return
    if found is None:
        show_progress(work, complete=False)
        return
    references = [item for item in reference_items(found.references) if item[0] != "random_guess"]
    title = TASKS[setup.scenario.task].metric_in(found.references)
    chart(plot_waterfall(words.falls(found, setup.dataset.features), references, title=title), words.takeaway(found),
          key="compare_levers")
    slot = st.container()
    st.markdown(words.best_kept(found))
    show_table(words.table_rows(found), numbers=("mean error", "95 % from", "95 % to", "times this design's error"),
               key="compare_without")
    theorems = "the theorems with the sensitivity as printed, the rest with the tight one" if own == "own" else (
        f"all with {s2_words}")
    st.caption(f"{found.design.outcome.errors.size:,} trials each, with the same random numbers; {theorems}. "
               "Measured on the data itself: not private.")
    with slot:
        show_progress(work, complete=found.complete)
