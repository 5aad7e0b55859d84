"""Share a server's work: a few sessions at once, first come first served, replies before work."""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_LOOK = 0.1
_USUAL, _BRISK = sys.getswitchinterval(), 0.0005
"""Seconds after which a working thread lets others in; a reply passes between threads many times."""
_GLANCE, _PATIENCE = 0.003, 0.2  # seconds between two looks, and of waiting for replies at most
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
        """Return 0 with a turn, to be given back, or the place in the queue after ``patience`` seconds.

        ``look`` is called in between; it raises when nobody waits any more.
        """
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
                    self._changed.wait(min(left, _LOOK))
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
                sys.setswitchinterval(_USUAL)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit work as to an executor."""
        return self._pool.submit(self._after_replies, fn, *args, **kwargs)

    def _after_replies(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and _replying - self._waiting:
            time.sleep(_GLANCE)
        return fn(*args, **kwargs)
