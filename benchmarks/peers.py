"""mvgviz's defaults beside diffprivlib, AdaSSP and PLAN, on public tables that come with scikit-learn and statsmodels.

Run with ``make peers``, in an environment of its own. All get the same records, the same ranges (those of each table,
taken as public), the same 72 % to learn from, and epsilon 1. delta is 1e-6, but 0 for diffprivlib: a stronger promise.
One replaced record is hidden. Errors are medians of trials: some of diffprivlib's regressions have no limit.
"""

from __future__ import annotations

import math
import time
import warnings

import numpy as np
import statsmodels.api as sm
from diffprivlib import tools
from diffprivlib.models import PCA, LinearRegression
from levers import BUDGET, MU, TRAINING, Regression, dataset
from regression import adassp, ours, private_mean
from sklearn import datasets

import mvgviz as mv
from mvgviz.noise.moment_noise import MomentNoise, components
from mvgviz.query.record_bound import RecordBound
from mvgviz.threads import one_blas_thread
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.mechanisms.variance_aware import VarianceAwareMean

TRIALS, OF_COMPONENT = 20, 5
LARGEST = 15_000
"""Numbers of a table from which diffprivlib's first component takes minutes, and is left out."""


def tables() -> dict[str, np.ndarray]:
    """Tables about people, wines and cells on [-1, 1], the label last, records shuffled."""
    found = {}
    for name, label in (("fair", "affairs"), ("randhie", "mdvis"), ("anes96", "PID")):
        frame = getattr(sm.datasets, name).load_pandas().data
        found[f"{name}: {label}"] = np.column_stack([frame.drop(columns=label), frame[label]])
    diabetes, cells, wine = datasets.load_diabetes(), datasets.load_breast_cancer(), datasets.load_wine()
    found["diabetes: progression"] = np.column_stack([diabetes.data, diabetes.target])
    found["breast_cancer: diagnosis"] = np.column_stack([cells.data, cells.target])
    found["wine: alcohol"] = np.roll(wine.data, -1, axis=1)
    return {name: np.random.default_rng(0).permutation(_on_ranges(table.astype(float)).T, axis=1)
            for name, table in found.items()}


def _on_ranges(table: np.ndarray) -> np.ndarray:
    low, high = table.min(axis=0), table.max(axis=0)
    return 2 * (table - low) / (high - low) - 1


def regression(table: np.ndarray) -> tuple[float, ...]:
    """Held-out root mean square errors, as parts of that of the held-out mean."""
    task, rng = Regression.of(table), np.random.default_rng(1)
    x, y = task.train[:-1].T, task.train[-1]
    theirs = []
    for seed in range(TRIALS):
        fit = LinearRegression(epsilon=1.0, bounds_X=(-1, 1), bounds_y=(-1, 1), random_state=seed).fit(x, y)
        theirs.append([np.ravel(fit.intercept_)[0], *np.ravel(fit.coef_)])
    normal = rng.standard_normal((TRIALS, task.size + 1, task.size + 1))
    mine = ours(task, mv.uniform(task.size), normal, shrinks=True)
    spread = table[-1, int(TRAINING * table.shape[1]):].std()
    errors = (task.without_privacy(), np.median(mine), np.median(adassp(task, rng)),
              np.median(task.errors(np.array(theirs))), private_mean(task))
    return tuple(float(error / spread) for error in errors)


def component(table: np.ndarray) -> tuple[float, float]:
    """The part of the variation along the first direction, about the middle of the ranges, that is lost."""
    data, m = dataset(table), len(table)
    truth = mv.covariance(data).value
    asked = mv.covariance(data, bound=RecordBound.from_shares(data, mv.uniform(m)))
    noise = MomentNoise(root=mv.design_noise(asked, **BUDGET).row_side.root())
    _, vectors = components(asked.value + noise.draws(TRIALS, rng=np.random.default_rng(2)), noise)
    theirs = [PCA(1, epsilon=1.0, centered=True, data_norm=math.sqrt(m), random_state=seed).fit(table.T).components_[0]
              for seed in range(OF_COMPONENT if table.size <= LARGEST else 0)]
    best = np.linalg.eigvalsh(truth)[-1]
    lost = [1 - float(np.median(np.einsum("ti,ij,tj->t", found, truth, found))) / best if len(found) else math.nan
            for found in (vectors[:, :, 0], np.reshape(theirs, (-1, m)))]
    return lost[0], lost[1]


def mean(table: np.ndarray) -> tuple[float, float, float]:
    """Root mean square errors of all means, in per cent of the ranges."""
    data, truth = dataset(table), table.mean(axis=1)
    std = mv.design_noise(mv.mean(data), **BUDGET).noise_std()
    plan = VarianceAwareMean(table=data, size=data.matrix.size, mu=MU).draw(Draws(3, 0, TRIALS))[:, :, 0]
    bounds = (np.full(len(table), -1.0), np.full(len(table), 1.0))
    theirs = np.stack([tools.mean(table.T, epsilon=1.0, bounds=bounds, axis=0, random_state=np.random.RandomState(seed))
                       for seed in range(TRIALS)])
    errors = math.sqrt(np.square(std).mean()), *(
        math.sqrt(np.square(found - truth).mean()) for found in (plan, theirs))
    return 50 * errors[0], 50 * errors[1], 50 * errors[2]


def main() -> None:
    """Print three tables as Markdown."""
    warnings.filterwarnings("ignore", module="diffprivlib")
    start, all_tables = time.perf_counter(), tables()
    for title, ask, names in (
            ("Regression: held-out error, 1 = the mean of the label", regression,
             ("no privacy", "mvgviz", "AdaSSP", "diffprivlib", "private mean")),
            ("First component: part of its variation that is lost", component, ("mvgviz", "diffprivlib")),
            ("Means: typical error in % of the range", mean, ("mvgviz", "PLAN", "diffprivlib"))):
        print(f"\n| {title} | records | columns | " + " | ".join(names) + " |")
        print("|---|---|---|" + "---|" * len(names))
        for name, table in all_tables.items():
            with one_blas_thread():
                found = ask(table)
            cells = ["–" if math.isnan(one) else "> 1000" if one > 1000 else f"{one:.3g}" for one in found]
            print(f"| {name} | {table.shape[1]:,} | {len(table)} | {' | '.join(cells)} |", flush=True)
    print(f"\ntook {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
