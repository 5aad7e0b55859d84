"""Work of all sessions of the server, in turns: a few at once, first come first served."""

import threading
import time
from collections import deque
from collections.abc import Callable

_LOOK = 0.1


class Turns:
    """At most ``at_once`` work; whoever comes back for more goes to the end, so that all get the same share."""

    def __init__(self, at_once: int) -> None:
        self._free, self._waiting, self._changed = at_once, deque[object](), threading.Condition()

    def take(self, patience: float, look: Callable[[], object]) -> int:
        """0 with a turn, to be given back; after ``patience`` seconds without one, how many were before.

        ``look`` is called in between: it raises where nobody waits any more.
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
        """The next may work."""
        with self._changed:
            self._free += 1
            self._changed.notify_all()
