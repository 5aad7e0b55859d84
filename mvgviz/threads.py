"""Linear algebra on one thread, where results must not depend on the cores."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

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
