"""Process pools and a Dask cluster run the same trials: identical results, for every task."""

import multiprocessing
import sys
import types
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from mvgviz.trials.run import TrialCache, run_trials
from tests.unit.trials.cases import CASES, DATA, EVERY
from tests.unit.trials.problems import same

pytestmark = pytest.mark.slow


def expected(case):
    return run_trials(CASES[case], DATA, mechanisms=EVERY)


@pytest.fixture(scope="module", autouse=True)
def plain_main():
    """New processes import what ``__main__`` was; after a page was tested that is the page."""
    before = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def cluster():
    """Two processes, no dashboard; what Dask and its event loop warn of while opening and closing is their own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"distributed|tornado|dask|asyncio")
        from distributed import Client, LocalCluster

        with (LocalCluster(processes=True, n_workers=2, threads_per_worker=1, dashboard_address=None,
                           silence_logs=50) as local, Client(local) as client):
            yield client.get_executor()


@pytest.mark.parametrize("executor", ["processes", "cluster"])
@pytest.mark.parametrize("case", list(CASES))
def test_processes_and_a_dask_cluster_give_identical_results(case, executor, request):
    results = run_trials(CASES[case], DATA, mechanisms=EVERY, executor=request.getfixturevalue(executor), batch=4)
    assert results.complete
    assert same(expected(case), results)


def test_work_on_a_cluster_can_be_stopped_and_gone_on_with(cluster):
    cache, calls, one = TrialCache(), [], CASES["covariance-estimation"]

    def cancelled():
        calls.append(None)
        return len(calls) > 3

    part = run_trials(one, DATA, mechanisms=EVERY, executor=cluster, batch=1, cache=cache, cancelled=cancelled)
    assert not part.complete
    whole = expected("covariance-estimation")
    for some, every in zip(part.outcomes, whole.outcomes, strict=True):
        assert np.array_equal(some.errors, every.errors[: some.errors.size])
    assert same(whole, run_trials(one, DATA, mechanisms=EVERY, executor=cluster, cache=cache))
