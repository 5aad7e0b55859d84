"""Keep results for the next run of a page, for a session or for the whole server.

A function's arguments are its key: values by value, frozen objects by identity. Other arguments raise TypeError.
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
    """The last results of functions; of several calls with one key at once, one works and the others wait."""

    def __init__(self, room: int = 1) -> None:
        self._room = room  # so many times as many results
        self._results: dict[str, dict[Hashable, tuple[Any]]] = {}
        self._begun: dict[Hashable, threading.RLock] = {}
        self._lock = threading.Lock()

    def get(self, function: str, key: Hashable, work: Callable[[], T], *, most: int,
            final: Callable[[Any], bool] = lambda result: True) -> T:
        """Return the function's result for that key; keep the ``most`` latest that are ``final``."""
        with self._lock:
            results = self._results.setdefault(function, {})
            found = results.get(key)
            begun = self._begun.setdefault((function, key), threading.RLock())
        try:
            with begun if found is None else nullcontext():
                found = found or results.get(key) or (work(),)
                if final(found[0]):
                    self._put(results, key, found, most)
        finally:  # also after an error, or when the run was stopped
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
            results.pop(key, None)  # the latest stands last
            results[key] = found
            for oldest in list(results)[: -most * self._room]:
                del results[oldest]


SERVER = Cache(room=4)
"""For every session of the server; it holds nothing of a person's file."""


def of_session(*_: object) -> Cache:
    """For this session alone."""
    return st.session_state.setdefault(_SESSION, Cache())  # type: ignore[no-any-return]


def of_server(*_: object) -> Cache:
    """For every session."""
    return SERVER


def cached(most: int, where: Callable[..., Cache], *, key: Callable[..., tuple[object, ...]] | None = None,
           final: Callable[[Any], bool] = lambda result: True,
           spinner: str = "") -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function to work once for each key; keep its last ``most`` results ``where`` it says.

    ``key``: of the arguments, if not all matter. ``final``: whether to keep a result.
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
    """Return what identifies a value; raise TypeError for values that may change."""
    if isinstance(value, tuple):
        return tuple(map(key_of, value))
    if isinstance(value, _VALUES):
        return repr(value)  # 1, 1.0 and True are three
    parameters = getattr(value, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        raise TypeError(f"a {type(value).__name__} is no key: use words, numbers, tuples or frozen objects")
    if not parameters.eq:
        return cast(Hashable, value)  # no other is like it
    return type(value), *(key_of(getattr(value, name)) for name in value.__dataclass_fields__)
