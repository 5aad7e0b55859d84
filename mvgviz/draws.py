"""The random numbers of repeated trials: each trial has a generator of its own.

Trial t of a seed draws the same numbers whatever is drawn beside it, in whatever order
and on whichever worker; two mechanisms given the same draws meet the same chance
(common random numbers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from mvgviz.validation import FloatArray

NOISE, DIRECTIONS = 0, 1
"""What a generator is for: the noise, or the release that chooses directions."""


@dataclass(frozen=True)
class Draws:
    """Trials ``first`` to ``first + count - 1`` of a seed."""

    seed: int
    first: int
    count: int

    def generators(self, purpose: int = NOISE) -> list[np.random.Generator]:
        """One for each trial."""
        return [np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(trial, purpose)))
                for trial in range(self.first, self.first + self.count)]

    def one_by_one(self) -> Iterator[Draws]:
        """The same trials, each alone."""
        for trial in range(self.first, self.first + self.count):
            yield Draws(self.seed, trial, 1)

    def fill(self, shape: tuple[int, ...], draw: Callable[[np.random.Generator, FloatArray], object]) -> FloatArray:
        """count × shape, ``draw(rng, out)`` called for each trial."""
        values = np.empty((self.count, *shape))
        for rng, out in zip(self.generators(), values, strict=True):
            draw(rng, out)
        return values

    def normals(self, shape: tuple[int, ...]) -> FloatArray:
        """Standard normals, count × shape."""
        return self.fill(shape, lambda rng, out: rng.standard_normal(out=out))

    def laplace(self, shape: tuple[int, ...]) -> FloatArray:
        """Standard Laplace numbers (scale 1), count × shape."""
        return self.fill(shape, lambda rng, out: np.copyto(out, rng.laplace(size=shape)))


_lock = Lock()
_inside = 0
_before: list[int] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Linear algebra on one thread: results do not depend on the cores, and small matrices are faster so.

    The limit is the whole process's and ends with the last to leave; with OpenMP each thread has its own.
    """
    global _inside
    libraries = _libraries()
    with _lock:
        own = [library.num_threads for library in libraries]
        if _inside == 0:
            _before[:] = own
        _inside += 1
        _set_threads([1] * len(own))
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            shared = [1] * len(own) if _inside else _before
            _set_threads([mine if getattr(library, "threading_layer", None) == "openmp" else all_
                          for library, mine, all_ in zip(libraries, own, shared, strict=True)])


def _set_threads(numbers: list[int]) -> None:
    """threadpoolctl 3.8 listens to one thread alone, the first that asked; the lock above does better."""
    for library, threads in zip(_libraries(), numbers, strict=True):
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)
        library.set_num_threads(threads)


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    import scipy.linalg.lapack  # noqa: F401  brings a BLAS of its own, which must be there to be limited
    from threadpoolctl import ThreadpoolController

    return [one for one in ThreadpoolController().lib_controllers if one.user_api == "blas"]
