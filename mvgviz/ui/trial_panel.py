"""What the pages of trials share: the task's controls, the session's memory, work in slices with a stop button.

Each run of the page works for about a second, draws what there is and runs again: results
appear as they come, the stop button is an ordinary button, and nothing is computed twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import in_markdown
from mvgviz.trials.question import REGRESSIONS, Asked, Problem, ask_once, pose, question
from mvgviz.trials.run import Memory
from mvgviz.trials.tasks import TASKS
from mvgviz.trials.tasks.post import WORDS
from mvgviz.ui import session

_MEMORY, _STOPPED, _KNOWN = "_trial_memory", "_trials_stopped", "_trials_known"
SLICE = 1.0
"""Seconds of work before a page is drawn again."""
_BRIGHT = "<style>[data-stale=true] {opacity: 1 !important;}</style>"
"""While slices follow one another the page is not dimmed: what is there can be read."""


def draw_task(setup: Setup) -> None:
    """What the answer is used for, the label where it needs one, and free post-processing."""
    one = setup.scenario
    left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom")
    with left:
        st.selectbox("What the answer is used for", list(TASKS), format_func=lambda key: TASKS[key].label,
                     **session.bound("w_task", one.task, _task_change))
    with middle:
        if one.task in REGRESSIONS:
            names = dict(enumerate(setup.dataset.features))
            st.selectbox("Label: what is predicted", [None, *names],
                         format_func=lambda k: "choose a feature" if k is None else names[k],
                         **session.bound("w_label", one.label if one.label in names else None,
                                       lambda label: {"label": label}))
    with right, st.popover("Free post-processing", icon=":material/tune:"):
        st.caption("Done after the noise, so it costs no privacy.")
        for step in TASKS[one.task].post:
            st.checkbox(WORDS[step].capitalize(), **session.bound(f"w_post_{step}", step in one.post, _switch(step)))


def say_why_not(setup: Setup, error: InputError) -> None:
    """What does not fit together, and what would."""
    text, one = str(error), setup.scenario
    st.info(in_markdown(text[:1].upper() + text[1:]) + ("" if text.endswith(".") else "."), icon=":material/block:")
    with st.container(horizontal=True):
        if one.task != "reconstruction":
            _way_out("Measure the answer itself instead", task="reconstruction")
        if one.query in ("mean", "kernel"):
            _way_out("Ask for the covariance instead", query="covariance", mode="auto")
        elif one.task == "kernel-ridge" and one.query in ("identity", "covariance"):
            _way_out("Use linear ridge instead", task="linear-ridge")


def _way_out(label: str, **change: str) -> None:
    st.button(label, key=f"trials_fix_{'_'.join(change)}_{'_'.join(change.values())}", icon=":material/swap_horiz:",
              on_click=session.update, kwargs=change)


def _task_change(task: str) -> dict[str, Any]:
    """A task that the query cannot serve brings the query that can."""
    one = session.scenario()
    change: dict[str, Any] = {"task": task}
    graph = one.is_graph
    if task == "kernel-ridge" and not graph and one.query != "identity":
        change |= {"query": "identity", "mode": "auto"}
        if one.guarantee == "theorem2":
            change["guarantee"] = "theorem1"
    elif task in ("linear-ridge", "first-component", "covariance-estimation", "subspace") and one.query in (
            "mean", "kernel"):
        change |= {"query": "covariance", "mode": "auto"}
    return change


def _switch(step: str) -> Callable[[bool], dict[str, Any]]:
    def change(on: bool) -> dict[str, Any]:
        others = set(session.scenario().post) - {step}
        return {"post": tuple(others | {step} if on else others)}

    return change


@st.cache_resource(scope="session", max_entries=4, show_spinner=False)
def _ask(_scenario: Scenario, _dataset: Dataset, key: str) -> Asked:
    return ask_once(_scenario, _dataset)


def problem(setup: Setup, *, sensitivity: str = "own") -> Problem:
    """The scenario's problem; raises InputError where it does not work out."""
    asked = _ask(setup.scenario, setup.dataset, f"{session.data_version()} {question(setup.scenario)}")
    return pose(setup.scenario, setup.dataset, sensitivity=sensitivity, asked=asked,
                uploaded=session.uploaded_directions())


def memory() -> Memory:
    """Every trial of this session for the data as it is now (and for uploaded directions)."""
    version = f"{session.version()}"
    kept = st.session_state.get(_MEMORY)
    if kept is None or kept[0] != version:
        kept = st.session_state[_MEMORY] = (version, {})
    trials: Memory = kept[1]
    return trials


@st.cache_resource(show_spinner=False)
def workers() -> ThreadPoolExecutor:
    """Threads that share the trials of all sessions; the arithmetic runs outside Python's lock."""
    return ThreadPoolExecutor(max_workers=os.cpu_count() or 1, thread_name_prefix="trials")


@dataclass
class Slice:
    """One run's share of the work: arguments for ``run_trials``, and how far it came."""

    key: str
    done: int = 0
    total: int = 0
    until: float = 0.0

    def arguments(self) -> dict[str, Any]:
        """``executor``, ``memory``, ``progress`` and ``cancelled``.

        Preparing may take longer than a slice; then the slice lasts long enough to work as long as it prepared.
        """
        asked = time.monotonic()
        waited = False

        def cancelled() -> bool:
            nonlocal waited
            if not waited:
                waited, now = True, time.monotonic()
                self.until = max(self.until, now + (now - asked))
            return self.late()

        return {"executor": workers(), "memory": memory(), "progress": self._progress, "cancelled": cancelled}

    @property
    def stopped(self) -> bool:
        return self.key in st.session_state.get(_STOPPED, set())

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def late(self) -> bool:
        """Whether this run should work no longer."""
        return self.stopped or time.monotonic() > self.until


def begin(key: str, *parts: object, seconds: float = SLICE, waiting: bool = False) -> Slice:
    """A slice of the work named by ``key`` and what it depends on; another choice starts a new one.

    ``waiting``: work that takes long starts stopped, and goes on when asked to.
    """
    name = f"{key} {session.data_version()} {' '.join(map(str, parts))}"
    known = st.session_state.setdefault(_KNOWN, set())
    if waiting and name not in known:
        _stop(name)
    known.add(name)
    return Slice(key=name, until=time.monotonic() + seconds)


def finish(work: Slice, *, complete: bool, label: str = "trials") -> None:
    """The progress bar with its stop button, or a way to go on; call it where they should stand.

    Runs the page again for the next slice: call it after everything else was drawn.
    """
    if complete:
        return
    share = work.done / work.total if work.total else 0.0
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(share, text=f"{work.done:,} of {work.total:,} {label}")
        if work.stopped:
            st.button("Go on", key=f"go_on {work.key}", on_click=_go_on, args=(work.key,), icon=":material/play_arrow:")
        else:
            st.button("Stop", key=f"stop {work.key}", on_click=_stop, args=(work.key,), icon=":material/stop:")
    if not work.stopped:
        st.html(_BRIGHT)
        st.rerun()


def _stop(key: str) -> None:
    st.session_state.setdefault(_STOPPED, set()).add(key)


def _go_on(key: str) -> None:
    st.session_state.get(_STOPPED, set()).discard(key)

