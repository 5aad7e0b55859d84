"""Repeated trials and the paper's experiments: ratios measured in one run.

Run with ``make bench``. Nothing here fails: it prints what it measured beside the bar.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from engine import best_time
from scipy import stats

from mvgviz.data import sample
from mvgviz.paper import EXPERIMENTS, run
from mvgviz.scenario.resolve import build
from mvgviz.scenario.scenario import Scenario
from mvgviz.threads import one_blas_thread
from mvgviz.trials.mechanisms import Sampler, mechanism
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.problem import pose
from mvgviz.trials.run import TrialCache, run_trials
from mvgviz.trials.tasks import Measure, measure_for

TRIALS, DRAWS, SYSTEM = 100, 3, 248


def scipy_speedup() -> float:
    """100 trials of Experiment III's RSS against scipy's draws and the RSS of each, from a few of them."""
    scenario = EXPERIMENTS["III"].scenario
    dataset = sample(scenario.data)
    problem = pose(scenario, dataset)
    setup = build(scenario, dataset, query=problem.query)
    rows, cols = setup.design.row_covariance(), setup.design.col_covariance()
    x, n = problem.query.value, problem.query.cols
    moments = x @ x.T / n
    eigenvalues, rng = np.linalg.eigvalsh(moments)[::-1], np.random.default_rng(0)

    def theirs() -> None:
        released = x + stats.matrix_normal.rvs(rowcov=rows, colcov=cols, random_state=rng)
        vectors = np.linalg.svd(released @ released.T / n)[0]
        np.square(eigenvalues - np.einsum("ji,ji->i", vectors, moments @ vectors)).sum()

    ours = best_time(lambda: run_trials(scenario, dataset, mechanisms=["mvg"], trials=TRIALS, problem=problem),
                     repeats=20)
    return best_time(theirs, repeats=DRAWS) * TRIALS / ours


def experiment1_ratio() -> float:
    """All of Experiment I against np.linalg.solve on as many systems of that size, both on all cores."""
    one = EXPERIMENTS["I"]
    dataset = sample(one.scenario.data)
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (5, 5, SYSTEM))
    kernels = np.exp(-0.3 * np.square(points[:, :, :, None] - points[:, :, None, :]).sum(axis=1)) + np.eye(SYSTEM)
    labels = rng.uniform(-1, 1, (5, SYSTEM, 1))
    cache = TrialCache()
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        start = time.perf_counter()
        run(one, dataset, trials=TRIALS, executor=workers, cache=cache)
        ours = time.perf_counter() - start
        systems = sum(len(errors) for key, errors in cache.items() if "kernel-ridge" in key)
        with one_blas_thread():
            start = time.perf_counter()
            list(workers.map(lambda _: np.linalg.solve(kernels, labels), range(-(-systems // len(kernels)))))
            theirs = time.perf_counter() - start
    return ours / theirs


def bound_ratio(query: str, task: str) -> float:
    """What a trial costs with records inside a bound / without, everything prepared."""
    dataset = sample("cardiotocography")
    scenario = Scenario.default_for("cardiotocography").changed(query=query, task=task, trials=TRIALS)
    times = []
    for bound in ("even", "none"):
        problem = pose(scenario.changed(bound=bound), dataset)
        measure = measure_for(problem)
        sampler = mechanism("mvg").prepare(problem, measure.level)

        def trials(sampler: Sampler = sampler, measure: Measure = measure) -> None:
            with one_blas_thread():
                released = sampler.draw(Draws(0, 0, TRIALS))
                measure.errors(released, sampler.moment_noise(released) if measure.aware else None)

        times.append(best_time(trials, repeats=20))
    return times[0] / times[1]


def all_experiments() -> float:
    """Seconds for every row of the three tables."""
    start = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        for one in EXPERIMENTS.values():
            run(one, sample(one.scenario.data), trials=TRIALS, executor=workers)
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    rows = [
        (f"100 scipy.stats.matrix_normal draws and RSS (from {DRAWS}) / run_trials", scipy_speedup(), "≥ 1000"),
        ("Experiment I / its kernel solves alone in batched LAPACK", min(experiment1_ratio() for _ in range(2)), "≤ 3"),
        (f"all three experiments, seconds on {os.cpu_count()} cores", all_experiments(), "< 20 on 2 cores"),
        *((f"a trial with a clipping bound / without: {query}, {task}", bound_ratio(query, task), "≤ 1.1")
          for query, task in (("covariance", "covariance-estimation"), ("identity", "covariance-estimation"),
                              ("mean", "reconstruction"))),
    ]
    print(f"{'what':72}{'measured':>10}   bar")
    for what, measured, bar in rows:
        print(f"{what:72}{measured:10.2f}   {bar}")


if __name__ == "__main__":
    main()
