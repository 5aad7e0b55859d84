"""Paper: the three experiments, as printed and as run here; all sessions share the trials, of public data."""

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from mvgviz.data import sample
from mvgviz.paper import EXPERIMENTS, Experiment, Report, direction_curves, run, runs, words
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
    said = st.empty()
    if not _shared()[0].get(experiment.key):
        said.info(FIRST, icon=":material/hourglass_top:")
    with WORKERS.awaited():
        result = _worked(function, experiment, work)
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
    lines = [[line[0].replace("*beyond:*", "Beyond the paper:"), *line[1:]] for line in words.table_lines(report)]
    wide = dict.fromkeys(words.COLUMNS[1:3], st.column_config.TextColumn(width=165))  # room for τ
    st.dataframe(pd.DataFrame(lines, columns=["", *words.COLUMNS]), hide_index=True, column_config=wide)
    said = [f"* **{name}.** {words.sentence(report, row)}"
            for (name, *_), row in zip(lines[-len(report.rows):], report.rows, strict=True)]
    st.caption(f"{words.setting(report)} {words.ONCE}")
    with st.expander("Why the figures differ, row by row"):
        st.markdown("\n".join(said))
    with st.expander("All five shares, for each priority set"):
        titles, *cells = words.sets_lines(report)
        st.dataframe(pd.DataFrame(cells, columns=titles), hide_index=True)


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
