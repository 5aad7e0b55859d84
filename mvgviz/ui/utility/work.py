"""Trials of the page Utility: point by point, kept when done, shared by its charts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.scenario.resolve import Setup
from mvgviz.trials.run import Results, run_trials
from mvgviz.ui import session
from mvgviz.ui.trial_panel import Slice, begin, finish, problem

_KEPT, _RATES = "_utility_results", "_utility_rates"
_MOST_KEPT = 1_000
PATIENCE = 30.0
"""Seconds of work that a tab starts by itself."""


@dataclass(frozen=True)
class Point:
    """A change of the scenario, and the mechanisms to try there."""

    change: dict[str, Any]
    mechanisms: tuple[str, ...]


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


def gather(setup: Setup, work: Slice, points: Sequence[Point]) -> list[Results | None]:
    """The results of each point: kept ones at once, others as far as this slice comes, None where it did not.

    Leaves in ``work`` how many trials are done; raises InputError where the scenario does not work out.
    """
    kept = _kept(setup)
    found: list[Results | None] = []
    fresh = True
    for point in points:
        scenario = setup.scenario.changed(**point.change)
        key = f"{scenario.to_json()} {point.mechanisms}"
        results = kept.get(key)
        if results is None or not results.complete:
            if not (work.stopped if fresh else work.late()):  # whatever the time, a slice gets on with one point
                fresh = False
                began, before = time.perf_counter(), _done(results)
                results = run_trials(scenario, setup.dataset, mechanisms=point.mechanisms, problem=problem(setup),
                                     **work.arguments())
                if before:  # the first slice also prepares and imports
                    _remember_rate(setup, time.perf_counter() - began, _done(results) - before)
            if results is not None:
                kept[key] = results
        found.append(results)
    work.total = sum(setup.scenario.trials * len(point.mechanisms) for point in points)
    work.done = sum(setup.scenario.trials * len(point.mechanisms) if one is not None and one.complete else _done(one)
                    for point, one in zip(points, found, strict=True))
    return found


def complete(found: Sequence[Results | None]) -> bool:
    """Whether nothing is left to do."""
    return all(one is not None and one.complete for one in found)


def begin_tab(setup: Setup, name: str, points: Sequence[Point], *parts: object) -> Slice:
    """Work for a tab; what would take long waits for a click, with a guess of how long."""
    kept = _kept(setup)
    missing = 0
    for point in points:
        results = kept.get(f"{setup.scenario.changed(**point.change).to_json()} {point.mechanisms}")
        missing += setup.scenario.trials * len(point.mechanisms) - _done(results)
    seconds = missing * st.session_state.get(_RATES, {}).get(_kind(setup), 0.0)
    work = begin(f"utility_{name}", version(setup), *parts, waiting=seconds > PATIENCE)
    if work.stopped and seconds > PATIENCE:
        st.caption(f"About {max(round(seconds / 60), 1)} min of work for this chart: press Go on to start it.")
    return work


def go_on(pending: Sequence[Pending | None]) -> None:
    """Progress bars at their places; runs the page again while there is work to do. Call it last."""
    for one in pending:
        if one is not None:
            with one.slot:
                finish(one.work, complete=one.complete)


def _done(results: Results | None) -> int:
    return 0 if results is None else sum(one.errors.size for one in results.outcomes)


def _kept(setup: Setup) -> dict[str, Results]:
    """The session's results for the data as it is now; the oldest go first."""
    name = f"{session.version()}"
    known = st.session_state.get(_KEPT)
    if known is None or known[0] != name:
        known = st.session_state[_KEPT] = (name, {})
    results: dict[str, Results] = known[1]
    while len(results) > _MOST_KEPT:
        del results[next(iter(results))]
    return results


def _kind(setup: Setup) -> str:
    one = setup.scenario
    return f"{session.data_version()} {one.query} {one.task} {one.directions}"


def _remember_rate(setup: Setup, seconds: float, trials: int) -> None:
    if trials > 0:
        st.session_state.setdefault(_RATES, {})[_kind(setup)] = seconds / trials
