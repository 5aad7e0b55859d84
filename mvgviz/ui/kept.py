"""Results that are kept for the next run of a page: a session's own, or everybody's."""

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Kept:
    """The last results of functions; of several who ask for the same at once, one works it out and the others wait."""

    def __init__(self) -> None:
        self._results: dict[str, dict[str, tuple[Any]]] = {}
        self._begun: dict[Hashable, threading.RLock] = {}
        self._lock = threading.Lock()

    def get(self, function: str, name: str, work: Callable[[], T], *, most: int) -> T:
        """The function's result of that name; the ``most`` that were asked for last stay."""
        with self._lock:
            results = self._results.setdefault(function, {})
            found = results.get(name)
            begun = self._begun.setdefault((function, name), threading.RLock())
        try:
            if found is None:
                with begun:
                    found = results.get(name) or (work(),)
                    self._put(results, name, found, most)
            else:
                self._put(results, name, found, most)
        finally:  # also where it did not work out, or the run was stopped
            with self._lock:
                self._begun.pop((function, name), None)
        return found[0]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._results.clear()

    def _put(self, results: dict[str, tuple[Any]], name: str, found: tuple[Any], most: int) -> None:
        with self._lock:
            results.pop(name, None)  # what was asked for last stands last
            results[name] = found
            for oldest in list(results)[:-most]:
                del results[oldest]


OF_SAMPLES = Kept()
"""What was worked out of the bundled datasets alone, for every session of the server: a class asks for the same."""
