"""Run trials in slices: a page works for about a second and draws what there is; then the browser asks for more.

Results appear as they come, Stop is an ordinary button, and nobody works for a closed page. Sessions take turns.
"""

import os
import secrets
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.scenario.resolve import Setup
from mvgviz.trials.problem import Problem, pose, question_key
from mvgviz.trials.results import Results
from mvgviz.trials.run import TrialCache, resume
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached, of_session

P = ParamSpec("P")
T = TypeVar("T")

# Seconds after which a working thread lets others in; a reply passes between threads many times.
_SWITCH, _BRISK = sys.getswitchinterval(), 0.0005
_REPLY_PATIENCE = 0.2  # seconds of waiting for replies at most
_replying = set[int]()


@contextmanager
def replying() -> Iterator[None]:
    """Mark this thread as one that runs a page for somebody."""
    own = threading.get_ident()
    _replying.add(own)
    try:
        yield
    finally:
        _replying.discard(own)


class Turns:
    """Let at most ``at_once`` work; a session that comes back goes to the end of the queue."""

    def __init__(self, at_once: int) -> None:
        self._free, self._waiting, self._changed = at_once, deque[object](), threading.Condition()

    def take(self, patience: float, look: Callable[[], object]) -> int:
        """Return 0 with a turn, or the place in the queue after ``patience``; ``look`` raises when nobody waits."""
        place, end = object(), time.monotonic() + patience
        with self._changed:
            self._waiting.append(place)
        try:
            while True:
                with self._changed:
                    if self._free and self._waiting[0] is place:
                        self._free -= 1
                        return 0
                    left = end - time.monotonic()
                    if left <= 0:
                        return self._waiting.index(place) + 1
                    self._changed.wait(min(left, 0.1))
                look()
        finally:
            with self._changed:
                self._waiting.remove(place)
                self._changed.notify_all()

    def give_back(self) -> None:
        """Let the next one work."""
        with self._changed:
            self._free += 1
            self._changed.notify_all()


class Polite:
    """Threads for batches of work; each waits a while until no page runs but those that wait for work."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="trials")
        self._waiting = set[int]()

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Mark this thread's page as waiting for work, so nobody makes way for it."""
        own = threading.get_ident()
        self._waiting.add(own)
        sys.setswitchinterval(_BRISK)
        try:
            yield
        finally:
            self._waiting.discard(own)
            if not self._waiting:
                sys.setswitchinterval(_SWITCH)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit work as to an executor."""
        return self._pool.submit(self._after_replies, fn, *args, **kwargs)

    def _after_replies(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        end = time.monotonic() + _REPLY_PATIENCE
        while time.monotonic() < end and _replying - self._waiting:
            time.sleep(0.003)
        return fn(*args, **kwargs)


_KNOWN, _FINISHED, _ON_SCREEN = "_trials_known", "_trials_finished", "_trials_on_screen"
_SLICE, _FIRST = 1.0, 0.3  # seconds of work before a page is drawn again; fewer for its first results
_PATIENCE = 20.0  # seconds to wait for one's turn, after something is drawn
_TURNS = Turns(max((os.cpu_count() or 1) - 1, 1))  # of all sessions; one core stays free for those who only look
WORKERS = Polite(os.cpu_count() or 1)  # of all sessions; the arithmetic runs outside Python's lock
# Do not dim the page between slices, so that people can read it; do so at another question, without a picture yet.
_BRIGHT = """<style>[data-stale=true], [data-testid=stTabs] [role=tablist], [data-testid=stExpander] summary
    {opacity: 1 !important;}</style>"""
_USUAL = "<style>[data-stale=true] {}</style>"
_ask_for_more = st.components.v2.component("mvgviz_next_slice", html="<span></span>", js=asset("next_slice.js"))


@cached(4, session.here, key=lambda setup: (setup.dataset, question_key(setup.scenario)))
def _asked(setup: Setup) -> Problem:
    return pose(setup.scenario, setup.dataset, worked_out=setup)


@cached(4, session.here)
def problem(setup: Setup, *, sensitivity: str = "own", mechanisms: tuple[str, ...] = ("mvg", "iid")) -> Problem:
    """Return the scenario's problem; raise `InputError` where it does not work out."""
    return _asked(setup).with_scenario(setup.scenario, sensitivity=sensitivity, mechanisms=mechanisms,
                                       uploaded=session.uploaded_directions(), worked_out=setup)


@cached(2, of_session, key=lambda simulated=False: (session.version(), simulated or session.is_simulated()))
def trial_cache(simulated: bool = False) -> TrialCache:
    """Return this session's trials of the data as it is now, or of simulated data in its place."""
    return TrialCache()


@dataclass
class Slice:
    """One run's share of the work, and its progress."""

    key: str
    seconds: float
    fresh: bool = False  # the screen shows nothing of it yet
    done: int = 0
    total: int = 0
    before: int = 0  # others ahead, while it waits for its turn
    waited: float = 0.0
    complete: bool = False
    slot: DeltaGenerator | None = None  # for a progress bar that stands elsewhere

    @property
    def stopped(self) -> bool:
        return self.key in _stopped()

    def options(self, cache: TrialCache) -> dict[str, Any]:
        """Return the arguments of :func:`mvgviz.trials.run.resume` besides the problems."""
        return {"cache": cache, "seconds": self.seconds, "executor": WORKERS, "cancelled": lambda: self.stopped,
                "progress": lambda done, total: vars(self).update(done=done, total=total)}

    @contextmanager
    def turn(self, cache: TrialCache, problems: Sequence[Problem] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the options in one's turn: after a long wait for cached results alone, at once where all is done."""
        options, began = self.options(cache), time.monotonic()
        finished = self.key in st.session_state.get(_FINISHED, set()) if problems is None else all(
            map(cache.finished, problems))
        if self.stopped or finished:
            yield options
            return
        with WORKERS.awaited():
            self.before = _TURNS.take(0.4 if self.fresh else _PATIENCE, lambda: self.stopped)
            self.waited = time.monotonic() - began
            if self.before:
                yield options | {"cancelled": lambda: True}
                return
            try:
                yield options
            finally:
                _TURNS.give_back()

    def resume(self, problems: Sequence[Problem], *, simulated: bool = False) -> list[Results | None]:
        """Return the problems' results after this slice; None for those that no slice has reached."""
        with self.turn(trial_cache(simulated), problems) as options:
            return resume(problems, **options)


def begin(key: str, *parts: object, waiting: bool = False) -> Slice:
    """Begin a slice of the work named by ``key`` and ``parts``; ``waiting``: it starts stopped."""
    name = f"{key} {session.version()} {' '.join(map(str, parts))}"
    known = st.session_state.setdefault(_KNOWN, set())
    if waiting and name not in known:
        _stopped().add(name)
    known.add(name)
    fresh = name != st.session_state.get(_ON_SCREEN)
    work = Slice(key=name, seconds=_FIRST if fresh else _SLICE, fresh=fresh)
    st.html(_USUAL if work.fresh or work.stopped else _BRIGHT)
    return work


def show_progress(work: Slice, *, what: str = "trials") -> None:
    """Draw the progress with a button to stop or go on; the browser then asks for the next slice."""
    if work.complete:
        st.session_state.setdefault(_FINISHED, set()).add(work.key)
        return
    st.session_state[_ON_SCREEN] = work.key
    with work.slot or nullcontext(), st.container(horizontal=True, vertical_alignment="center"):
        queue = f"; queued, {work.before} ahead of you" if work.before else ""
        st.progress(work.done / max(work.total, 1), text=f"{work.done:,} of {work.total:,} {what}{queue}")
        if work.stopped:
            st.button("Go on", key=f"go_on {work.key}", on_click=_stopped().discard, args=(work.key,),
                      icon=":material/play_arrow:")
        else:
            st.button("Stop", key=f"stop {work.key}", on_click=_stopped().add, args=(work.key,), icon=":material/stop:")
    if not work.stopped:
        with work.slot or nullcontext():
            st.html(_BRIGHT)  # the next slice may take long to begin
            _ask_for_more(key="next_slice", data={"slice": secrets.token_hex(8)}, on_next_change=lambda: None)


def _stopped() -> set[str]:
    return st.session_state.setdefault("_trials_stopped", set())  # type: ignore[no-any-return]


def moving_bar(bar: DeltaGenerator, text: str) -> Callable[[float], None]:
    """Return a function that moves a bar as work goes on, in visible steps."""
    shown = 0.0

    def show(done: float) -> None:
        nonlocal shown
        if done >= shown + 0.02:
            shown = done
            bar.progress(min(done, 1.0), text)

    return show
