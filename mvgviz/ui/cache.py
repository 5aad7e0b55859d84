"""What was worked out is kept for the next run of a page, for a session or for all of the server.

A function's arguments are its key: values by what they are, frozen objects by which one they are. Anything else is
refused, for two calls could not be told apart.
"""

import threading
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import streamlit as st

P = ParamSpec("P")
T = TypeVar("T")
_SESSION = "_cache"
_VALUES = (str, bytes, int, float, bool, type(None))


class Cache:
    """The last results of functions; of several who ask for the same at once, one works it out and the others wait."""

    def __init__(self, room: int = 1) -> None:
        self._room = room  # so many times as many results
        self._results: dict[str, dict[Hashable, tuple[Any]]] = {}
        self._begun: dict[Hashable, threading.RLock] = {}
        self._lock = threading.Lock()

    def get(self, function: str, key: Hashable, work: Callable[[], T], *, most: int,
            final: Callable[[Any], bool] = lambda result: True) -> T:
        """The function's result for that key; the ``most`` that were asked for last stay, once they are ``final``."""
        with self._lock:
            results = self._results.setdefault(function, {})
            found = results.get(key)
            begun = self._begun.setdefault((function, key), threading.RLock())
        try:
            with begun if found is None else nullcontext():
                found = found or results.get(key) or (work(),)
                if final(found[0]):
                    self._put(results, key, found, most)
        finally:  # also where it did not work out, or the run was stopped
            with self._lock:
                self._begun.pop((function, key), None)
        return found[0]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            for results in self._results.values():
                results.clear()

    def _put(self, results: dict[Hashable, tuple[Any]], key: Hashable, found: tuple[Any], most: int) -> None:
        with self._lock:
            results.pop(key, None)  # what was asked for last stands last
            results[key] = found
            for oldest in list(results)[: -most * self._room]:
                del results[oldest]


SERVER = Cache(room=4)
"""For every session of the server: nothing of a person's own file."""


def of_session(*_: object) -> Cache:
    """For this session alone."""
    return st.session_state.setdefault(_SESSION, Cache())  # type: ignore[no-any-return]


def of_server(*_: object) -> Cache:
    """For every session."""
    return SERVER


def cached(most: int, where: Callable[..., Cache], *, key: Callable[..., tuple[object, ...]] | None = None,
           final: Callable[[Any], bool] = lambda result: True,
           spinner: str = "") -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function: worked out once for each key, the last ``most`` results kept ``where`` it says.

    ``key``: of the arguments, where not all of them tell results apart. ``final``: whether a result may be kept.
    """
    def decorate(work: Callable[P, T]) -> Callable[P, T]:
        name = f"{work.__code__.co_filename} {work.__qualname__}"

        @wraps(work)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            def worked_out() -> T:
                with st.spinner(spinner) if spinner else nullcontext():
                    return work(*args, **kwargs)

            told_apart = key_of(key(*args, **kwargs) if key else (*args, *sorted(kwargs.items())))
            return where(*args).get(name, told_apart, worked_out, most=most, final=final)

        return call

    return decorate


def key_of(value: Any) -> Hashable:
    """What tells a value from every other; a TypeError for what may change or cannot be told apart."""
    if isinstance(value, tuple):
        return tuple(map(key_of, value))
    if isinstance(value, _VALUES):
        return repr(value)  # 1, 1.0 and True are three
    parameters = getattr(value, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        raise TypeError(f"a {type(value).__name__} is no key: give words, numbers, tuples or frozen objects")
    if not parameters.eq:
        return cast(Hashable, value)  # no other is like it
    return type(value), *(key_of(getattr(value, name)) for name in value.__dataclass_fields__)
