"""Paper: the three experiments, as printed and as run here; all sessions share the trials, of public data."""

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from mvgviz.data import sample
from mvgviz.paper import EXPERIMENTS, Experiment, MeasuredRow, Report, direction_curves, run, runs, words
from mvgviz.pictures.paper import PRINTED, directions_picture, row_dots, rows_picture
from mvgviz.trials.run import TrialCache
from mvgviz.ui import session
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import chart, try_open_page
from mvgviz.ui.menu import PAPER
from mvgviz.ui.slices import WORKERS, Slice, begin, show_progress

FIGURE = "Effect of the directions (Figure 4)"
FIRST = "Running the first trials. The picture comes in a few seconds."


def so_far(function: Callable[..., Any], experiment: Experiment, work: Slice) -> Any:
    said = None if _shared()[0].get(experiment.key) else st.info(FIRST, icon=":material/hourglass_top:")
    with WORKERS.awaited():
        result = _worked(function, experiment, work)
    if said is not None:
        said.empty()
    return result


@cached(6, of_server, key=lambda function, experiment, work: (function.__name__, experiment.key, runs.TRIALS),
        final=lambda result: result.complete if isinstance(result, Report) else result[2])
def _worked(function: Callable[..., Any], experiment: Experiment, work: Slice) -> Any:
    caches, turn = _shared()
    with turn:
        return function(experiment, sample(experiment.scenario.data), trials=runs.TRIALS, seed=0,
                        **work.options(caches[experiment.key]))


@cached(1, of_server)
def _shared() -> tuple[dict[str, TrialCache], threading.Lock]:
    """Return trials by experiment, and a lock: one session works at a time, the others see what is there."""
    return defaultdict(TrialCache), threading.Lock()


def draw_table(report: Report) -> None:
    experiment, ours = report.experiment, report.references
    lines = [(label, printed, words.figure_text(value), words.figure_text(value), "") for label, printed, value in (
        ("No privacy", words.printed_text(experiment, experiment.non_private), ours.non_private),
        ("Random guess", words.printed_text(experiment, experiment.random_guess), ours.random_guess),
        ("No-data baseline", "–", ours.trivial))]
    lines += [(_beyond(row), words.printed_text(experiment, row.printed), words.cell_text(row.as_printed),
               words.cell_text(row.exact), words.ways_text(report, row)) for row in report.rows]
    names = ["", "in the paper", "ours, as printed", "ours, exact",
             "error, from 0 % (no privacy) to 100 % (random guess): paper / our run of the printed bound / exact"]
    st.dataframe(pd.DataFrame(lines, columns=names), hide_index=True)
    st.markdown("\n".join(f"* **{_beyond(row)}.** {words.sentence(report, row)}" for row in report.rows))
    st.caption(f"{words.setting(report)} {words.ONCE}")
    with st.expander("All five shares, for each priority set"):
        titles, *cells = words.sets_lines(report)
        st.dataframe(pd.DataFrame(cells, columns=titles), hide_index=True)


def _beyond(row: MeasuredRow) -> str:
    return row.label if row.printed else f"Beyond the paper: {row.label}"


def take_over(experiment: Experiment) -> None:
    before = session.scenario()
    session.put(experiment.scenario)
    session.history().take(before, experiment.scenario)
    st.toast(f"The sidebar now holds Experiment {experiment.key}. Utility and Compare start from it.")


try_open_page(PAPER)  # the page does not need the sidebar's scenario
with st.container(horizontal=True, vertical_alignment="center"):
    experiment = EXPERIMENTS[st.segmented_control(
        "Experiment", list(EXPERIMENTS), default="I", key="paper_experiment", required=True,
        label_visibility="collapsed", format_func=lambda key: f"{key}: {EXPERIMENTS[key].title}") or "I"]
    st.button("Open this experiment in the app", key="paper_open", icon=":material/open_in_new:", on_click=take_over,
              args=(experiment,))
    session.draw_back_to_mine()
work = begin("paper rows", experiment.key)
report = so_far(run, experiment, work)
dots = row_dots(report)
if all(dot.series == PRINTED for dot in dots):
    st.caption("The paper's figures are drawn. Ours follow with the first trials.")
chart(rows_picture(report, dots), key="paper_rows")
rows, figure = st.tabs(("The table, row by row", FIGURE), key="paper_tab", on_change="rerun")
work.complete = report.complete
if rows.open:
    with rows:
        draw_table(report)
if figure.open:
    with figure:
        if report.complete:
            work = begin("paper figure", experiment.key)
            curves, references, work.complete = so_far(direction_curves, experiment, work)
            chart(directions_picture(curves, references, symbol=experiment.symbol), key="paper_directions")
        else:
            st.caption("This starts after the rows above.")
for title, lines in (("What differs from the paper", [f"* {note}" for note in experiment.notes]),
                     ("What cannot be reproduced, and why", [f"* {note}" for note in words.WHY_NOT]),
                     ("Slips in the paper", [f"{k}. {slip}" for k, slip in enumerate(words.SLIPS, start=1)])):
    with st.expander(title):
        st.markdown("\n".join(lines))
show_progress(work)
