"""Trials of the page Utility: the main chart's and those of its tabs, where long work waits for a click."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.scenario.resolve import Setup
from mvgviz.trials.outcomes import Results
from mvgviz.trials.resumable import Point
from mvgviz.ui import session
from mvgviz.ui.slices import Slice, begin, show_progress_and_rerun, trial_cache

_RATES = "_utility_rates"
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
    """What is known of the points after this slice; what would take long waits for a click, with a guess of how long.

    ``parts``: what the points depend on besides the scenario. The progress will stand here.
    """
    missing = sum(point.trials - trial_cache().done(point) for point in points)
    seconds = missing * st.session_state.get(_RATES, {}).get(_kind(setup), 0.0)
    work = begin(f"utility_{name}", version(setup), *parts, waiting=seconds > PATIENCE)
    if work.stopped and seconds > PATIENCE:
        st.caption(f"About {max(round(seconds / 60), 1)} min of work for this chart: press Go on to start it.")
    found = gather(setup, work, points)
    known = [results for results in found if results is not None]
    complete = len(known) == len(found) and all(results.complete for results in known)
    return known, Pending(work, complete, st.container())


def gather(setup: Setup, work: Slice, points: Sequence[Point]) -> list[Results | None]:
    """The results of the points; a slice that went on where one had stopped tells how long a trial takes."""
    cache = trial_cache()
    before, began = sum(map(cache.done, points)), time.perf_counter()
    went_on = any(0 < cache.done(point) < point.trials for point in points)  # the first slice also prepares and imports
    found = work.resume(points)
    if went_on and work.done > before:
        rates = st.session_state.setdefault(_RATES, {})
        rates[_kind(setup)] = (time.perf_counter() - began) / (work.done - before)
    return found


def go_on(pending: Sequence[Pending | None]) -> None:
    """Progress bars at their places; runs the page again while there is work to do. Call it last."""
    for entry in pending:
        if entry is not None:
            with entry.slot:
                show_progress_and_rerun(entry.work, complete=entry.complete)


def _kind(setup: Setup) -> str:
    scenario = setup.scenario
    return f"{session.data_version()} {scenario.query} {scenario.task} {scenario.directions}"
