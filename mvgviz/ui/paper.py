"""The page Paper: trials in slices (of public data, so all sessions share them), tables, Figure 4, notes."""

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from mvgviz.data import sample
from mvgviz.paper import EXPERIMENTS, Curve, Experiment, MeasuredRow, Report, direction_curves, run
from mvgviz.paper.words import ONCE, cell_text, figure_text, printed_text, sentence, setting, ways_text
from mvgviz.pictures.paper import PRINTED, directions_picture, row_dots, rows_picture
from mvgviz.trials.run import TrialCache
from mvgviz.trials.tasks import References
from mvgviz.ui import session
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import chart
from mvgviz.ui.slices import Slice, begin, workers

TRIALS, SEED = 100, 0
FIRST = "The first trials of the paper's experiment are run; the picture comes in a few seconds."
T = TypeVar("T")
SLIPS = (
    "Lemma 1 bounds the squared norm of the noise by ζ², where Laurent & Massart give ζ: more than needed.",
    "The last display of the proof of Theorem 2 lacks a square, and the proof never uses that the query is positive "
    "semi-definite: its constant holds for every query.",
    "“X₁X₂ᵀ is positive semi-definite” does not hold; only its trace is at least 0.",
    "The proof of Theorem 3 has the other root of its quadratic with a wrong sign.",
    "The inverse *squared* variance is called precision in one place and inverse variance in another.",
    "The level c of max-PNR is right only when no direction is dry (a positive part is missing); Q and Qᵀ are swapped "
    "there, the solution is in general no Kronecker product, and symmetric queries have no inverse covariance.",
    "Experiment II is a table of 4 × 2021 in one line and has 10 176 records in the next.",
    "Figure 4 compares “three choices”, labelled (a), (d) and (c).")
WHY_NOT = (
    "**The printed figures do not follow from the printed formulas.** With Theorem 1 as printed, Experiment I's "
    "noise has a typical error of hundreds of thousands on values between -1 and 1, and Experiment III's of more "
    "than a hundred million on values between 0 and 1. No task can survive that, yet the paper prints small errors.",
    "**The theorems are sufficient, and very loose.** Their designs really spend almost none of the ε that was asked "
    "for. Noise calibrated to the exact limit gives the same promise with far less.",
    "**Some of the setup is not in the paper:** which records are held out, the regression's kernel and ridge, how a "
    "random guess is made, how a sketch is used for regression, the ε and the shares of Figure 4.",
    "**The paper centres and scales by the data itself**, which is not private; here ranges are declared in advance. "
    "The recordings of Experiment II are not shipped: a simulated set has the same second moments.",
    "**The best of five shares** is chosen by looking at the errors, in the paper and here. That choice is not "
    "private.")


@cached(1, of_server)
def _shared() -> tuple[dict[str, TrialCache], dict[tuple[str, str, int], Any], threading.Lock]:
    """Trials by experiment, what is complete, and a lock: one session works at a time, the others see what is there."""
    return defaultdict(TrialCache), {}, threading.Lock()


def choose() -> Experiment:
    """Which of the three."""
    return EXPERIMENTS[st.segmented_control(
        "Experiment", list(EXPERIMENTS), default="I", key="paper_experiment", required=True,
        label_visibility="collapsed", format_func=lambda key: f"{key}: {EXPERIMENTS[key].title}") or "I"]


def rows_so_far(experiment: Experiment, work: Slice) -> Report:
    """The experiment's report after this run's share of the work."""
    return _worked("rows", experiment, work, run, lambda report: report.complete)


def curves_so_far(experiment: Experiment, work: Slice) -> tuple[list[Curve], References, bool]:
    """Figure 4 after this run's share of the work."""
    return _worked("curves", experiment, work, direction_curves, lambda result: result[2])


def _worked(kind: str, experiment: Experiment, work: Slice, function: Callable[..., T],
            complete: Callable[[T], bool]) -> T:
    caches, finished, turn = _shared()
    known: T | None = finished.get((kind, experiment.key, TRIALS))
    if known is not None:
        return known
    said = st.empty()
    if not caches.get(experiment.key):  # later there is something to see
        said.info(FIRST, icon=":material/hourglass_top:")
    with workers().awaited(), turn:
        result = function(experiment, sample(experiment.scenario.data), trials=TRIALS, seed=SEED,
                          **work.options(caches[experiment.key]))
    said.empty()
    if complete(result):
        finished[kind, experiment.key, TRIALS] = result
    return result


def start(kind: str, experiment: Experiment) -> Slice:
    """This run's share of the work."""
    return begin(f"paper {kind}", experiment.key)


def draw_rows(report: Report) -> None:
    """The chart of printed, as printed and exact."""
    dots = row_dots(report)
    if all(dot.series == PRINTED for dot in dots):
        st.caption("The first trials are on their way; the paper's figures are drawn already.")
    chart(rows_picture(report, dots), key="paper_rows")


def draw_table(report: Report) -> None:
    """Every row with its figures and its sentence."""
    experiment, ours = report.experiment, report.references
    lines = [(label, printed, figure_text(value), figure_text(value), "") for label, printed, value in (
        ("Without privacy", printed_text(experiment, experiment.non_private), ours.non_private),
        ("Random guess", printed_text(experiment, experiment.random_guess), ours.random_guess),
        ("Answer without data", "–", ours.trivial))]
    lines += [(_beyond(row), printed_text(experiment, row.printed), cell_text(row.as_printed), cell_text(row.exact),
               ways_text(report, row)) for row in report.rows]
    names = ["", "in the paper", "ours, as printed", "ours, exact", "way to a random guess: paper / as printed / exact"]
    st.dataframe(pd.DataFrame(lines, columns=names), hide_index=True)
    st.markdown("\n".join(f"* **{_beyond(row)}.** {sentence(report, row)}" for row in report.rows))
    st.caption(f"{setting(report)} {ONCE}")
    with st.expander("All five shares, for each favoured set"):
        draw_shares(report)


def _beyond(row: MeasuredRow) -> str:
    return row.label if row.printed else f"Beyond the paper: {row.label}"


def draw_shares(report: Report) -> None:
    """The five shares of every set, as printed and exact."""
    shares = [f"τ {share:.0%}" for share in report.rows[0].exact.shares]
    lines = []
    for favoured in report.sets:
        for label, cell in (("as printed", favoured.as_printed), ("exact", favoured.exact)):
            texts = [figure_text(outcome.mean, outcome.half_width) for outcome in cell.outcomes]
            lines.append([favoured.name, label, *(texts if cell.shares else texts * len(shares))])
    st.dataframe(pd.DataFrame(lines, columns=["more for", "noise", *shares]), hide_index=True)


def draw_directions(experiment: Experiment, curves: list[Curve], references: References) -> None:
    """Figure 4."""
    chart(directions_picture(curves, references, symbol=experiment.symbol), key="paper_directions")


def draw_notes(experiment: Experiment) -> None:
    """What is not as in the paper, what cannot be reproduced, and the paper's slips."""
    with st.expander("What is not as in the paper"):
        st.markdown("\n".join(f"* {note}" for note in experiment.notes))
    with st.expander("What cannot be reproduced, and why"):
        st.markdown("\n".join(f"* {note}" for note in WHY_NOT))
    with st.expander("Slips in the paper"):
        st.markdown("\n".join(f"{k}. {slip}" for k, slip in enumerate(SLIPS, start=1)))


def draw_open(experiment: Experiment) -> None:
    """Put the experiment's scenario into the app."""
    st.button("Open this experiment in the app", key="paper_open", icon=":material/open_in_new:", on_click=_open,
              args=(experiment,))


def _open(experiment: Experiment) -> None:
    session.put(experiment.scenario)
    st.toast(f"The sidebar now holds Experiment {experiment.key}. Utility and Compare start from it.")
