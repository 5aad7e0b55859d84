"""A trial's random numbers depend on the seed, its own number and nothing else."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from mvgviz.threads import one_blas_thread
from mvgviz.trials.mechanisms.base import DIRECTIONS, Draws


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**9), first=st.integers(0, 10**6),
       parts=st.lists(st.integers(1, 5), min_size=1, max_size=5),
       shape=st.lists(st.integers(1, 4), min_size=1, max_size=3), kind=st.sampled_from(["normals", "laplace"]))
def test_trials_are_the_same_however_they_are_divided(seed, first, parts, shape, kind):
    whole = getattr(Draws(seed, first, sum(parts)), kind)(tuple(shape))
    assert whole.shape == (sum(parts), *shape)
    starts = first + np.cumsum([0, *parts[:-1]])
    pieces = [getattr(Draws(seed, int(start), part), kind)(tuple(shape))
              for start, part in zip(starts, parts, strict=True)]
    assert np.array_equal(whole, np.concatenate(pieces))


def test_trials_seeds_and_purposes_draw_different_numbers():
    sources = [rng for seed in range(10) for purpose in (0, DIRECTIONS)
               for rng in Draws(seed, 0, 10).generators(purpose)]
    firsts = [rng.standard_normal() for rng in sources]
    assert len(set(firsts)) == len(firsts) == 200


def blas_threads():
    """Numpy's and scipy's."""
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_inside_and_its_own_number_afterwards():
    before = blas_threads()
    with one_blas_thread():
        assert set(blas_threads()) == {1}
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_the_last_thread_to_leave_restores_blas():
    before, entered, leave = blas_threads(), threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with one_blas_thread():
        thread.start()
        assert entered.wait(10)
    assert set(blas_threads()) == {1}  # the other one is still inside
    leave.set()
    thread.join()
    assert blas_threads() == before


def test_any_thread_can_limit_blas_after_another_did():
    seen = []

    def other():
        with one_blas_thread():
            seen.extend(blas_threads())

    for _ in range(2):
        with one_blas_thread():
            pass
        before = blas_threads()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert set(seen) == {1}
        assert blas_threads() == before


def test_an_error_inside_restores_blas_too():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        _ = 1 / 0
    assert blas_threads() == before
