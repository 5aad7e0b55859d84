"""What the page Compare works on and keeps: the data or its stand-in, every trial, every finished point."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from mvgviz.query.dataset import Dataset
from mvgviz.scenario.resolve import Setup
from mvgviz.trials.question import Problem
from mvgviz.trials.resumable import sweep_in_steps
from mvgviz.trials.run import Memory, Results
from mvgviz.trials.stand_in import SEED, stand_in
from mvgviz.ui import session
from mvgviz.ui.trial_panel import SLICE, Slice, begin, memory, problem

_BENCHES = "_compare_benches"
_MOST = 2_000


@dataclass(frozen=True, eq=False)
class Bench:
    """What trials run on, with everything that was found there."""

    dataset: Dataset = field(repr=False)
    memory: Memory = field(repr=False)
    kept: dict[str, Results] = field(default_factory=dict, repr=False)
    advice: dict[str, Any] = field(default_factory=dict, repr=False)


def bench(setup: Setup, *, simulated: bool = False) -> Bench:
    """The data with the session's memory, or a stand-in with a memory of its own."""
    graph = setup.scenario.is_graph
    version = f"{session.version()} {graph and simulated}"
    benches = st.session_state.setdefault(_BENCHES, {})
    known = benches.get(simulated)
    if known is None or known[0] != version:
        dataset = stand_in(setup.dataset, rng=np.random.default_rng(SEED), graph=graph) if simulated else setup.dataset
        known = benches[simulated] = (version, Bench(dataset, {} if simulated else memory()))
    found: Bench = known[1]
    for kept in (found.kept, found.advice):
        while len(kept) > _MOST:
            del kept[next(iter(kept))]
    return found


def work_for(setup: Setup, name: str, *parts: object) -> Slice:
    """A slice of the work of one section; another choice starts a new one."""
    return begin(f"compare_{name}", setup.scenario.to_json(), *parts)


def patient(work: Slice) -> dict[str, Any]:
    """The slice's arguments; its time begins with the first trial, so that each slice gets somewhere."""
    arguments = work.arguments()
    late: Callable[[], bool] = arguments["cancelled"]
    begun: list[bool] = []

    def cancelled() -> bool:
        if not begun:
            begun.append(True)
            work.until = time.monotonic() + SLICE
        return late()

    return arguments | {"cancelled": cancelled}


def points(setup: Setup, work: Slice, grid: Sequence[dict[str, Any]], *, mechanisms: Sequence[str], posed: Problem,
           trials: int | None = None) -> list[Results | None]:
    """Results on the data at each change of the scenario; None for those this slice did not come to."""
    place = bench(setup)
    scenario = setup.scenario if trials is None else setup.scenario.changed(trials=trials)
    return sweep_in_steps(grid, scenario, setup.dataset, mechanisms=tuple(mechanisms), problems=[posed],
                          kept=place.kept, **patient(work) | {"memory": place.memory})


def posed_problem(setup: Setup, sensitivity: str) -> Problem:
    """The scenario's problem with one sensitivity for all."""
    return problem(setup, sensitivity=sensitivity)
