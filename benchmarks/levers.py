"""What bound, shape and noise-aware use gain over equal noise on the box of the ranges, at the same privacy.

Run with ``make bench``. Epsilon 1 and delta 1e-6, but for the paper's experiment. Everything is decided from the
ranges, the number of records and the priority columns; these are chosen on the training part. The rule of the
radius was found on other simulated tables than these. Nothing here fails: it prints what it measured beside the bar.
``python benchmarks/levers.py 1200`` tries the regressions on as many tables that come after those of the table of bars.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

import mvgviz as mv
from mvgviz.noise.moment_noise import MomentNoise, components, ridge_weights
from mvgviz.query.record_bound import RecordBound, rank_radius, regression_shape
from mvgviz.threads import one_blas_thread

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
MU = float(mv.gaussian_mu(**BUDGET))
TABLES, TRIALS, NEEDED, TRAINING = 200, 40, 3, 0.72
RIGHT, WRONG, PLAIN_SPLIT = "right needs", "wrong needs", "right needs, share 0.5 as it stands"
BARS = {RIGHT: (0.65, 1.05), WRONG: (0.9, 1.1), PLAIN_SPLIT: (math.nan, math.nan)}


def regression_bound(data: mv.Dataset, theta: np.ndarray, *, label: int | None) -> tuple[RecordBound, float]:
    """The default bound for regressions, about the middle of the ranges, and the constant to join to its records."""
    split, radius, constant = regression_shape(np.asarray(theta), data.n_records, mu=MU, label=label)
    even = RecordBound.from_shares(data, split, centre=(data.lower + data.upper) / 2)
    return replace(even, radius=radius), constant


def topped_up(k: int, *, priority_directions: Iterable[int]) -> np.ndarray:
    """Half of the budget to priority directions, and the other half to all alike."""
    chosen = list(priority_directions)
    return mv.binary(k, priority=chosen, share=0.5 + 0.5 * len(chosen) / k)


def simulated(seed: int) -> np.ndarray:
    """Features and a label, the last row, on [-1, 1]: all kinds mixed, weak and strong signals; one in four is bent."""
    rng = np.random.default_rng([2026, seed])
    m, n = int(rng.integers(4, 31)), int(10 ** rng.uniform(math.log10(200), math.log10(50_000)) / TRAINING)
    return features_and_label(m, n, None, rng, bent=seed % 4 == 3)


def features_and_label(m: int, n: int, strength: float | None, rng: np.random.Generator, *, bent: bool,
                       label: tuple[float, float] | None = None) -> np.ndarray:
    """m features and a label with its middle and spread; ``strength``: the part of its variance that they explain."""
    shared = rng.standard_normal((m, int(rng.integers(1, 5))))
    part = rng.uniform(0, 0.9)
    shared *= math.sqrt(part) / np.linalg.norm(shared, axis=1, keepdims=True)
    x = shared @ rng.standard_normal((shared.shape[1], n)) + math.sqrt(1 - part) * rng.standard_normal((m, n))
    u = np.stack([_feature(row, int(kind), rng) for row, kind in zip(x, rng.integers(0, 5, m), strict=True)])
    beta = rng.standard_normal(m) * (rng.random(m) < rng.choice([0.15, 0.4, 1.0]))
    signal = _standard((beta if beta.any() else np.eye(m)[0]) @ _standard(u))
    if bent:
        signal = _standard(signal + 0.3 * signal**2)
    known = rng.uniform(0.1, 0.95) if strength is None else strength
    mixed = math.sqrt(known) * signal + math.sqrt(1 - known) * rng.standard_normal(n)
    middle, spread = (rng.uniform(-0.4, 0.4), rng.uniform(0.1, 0.4)) if label is None else label
    return np.vstack([u, np.clip(middle + spread * mixed, -1, 1)])


def _feature(x: np.ndarray, kind: int, rng: np.random.Generator) -> np.ndarray:
    """Even-tailed, skewed, binary, heavy-tailed, or of a tiny spread in its range."""
    if kind == 2:
        return np.where(x > rng.normal(0, 0.7), 1.0, -1.0)
    value = {1: lambda: _standard(np.exp(0.8 * x)), 3: lambda: x / np.sqrt(rng.chisquare(3, x.size) / 3)}.get(
        kind, lambda: x)()
    spread = rng.uniform(0.02, 0.08) if kind == 4 else rng.uniform(0.15, 0.5)
    return np.clip(rng.uniform(-0.4, 0.4) + spread * value, -1, 1)


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=-1, keepdims=True)) / (values.std(axis=-1, keepdims=True) + 1e-12)


def real(name: str, label: str) -> np.ndarray:
    """A bundled table on [-1, 1], its records shuffled, the label last."""
    data = mv.sample(name).normalised(to=(-1, 1))
    rows = sorted(range(data.n_features), key=lambda k: data.features[k] == label)
    return np.random.default_rng(0).permutation(data.matrix[rows], axis=1)


def dataset(matrix: np.ndarray) -> mv.Dataset:
    """These records with ranges [-1, 1]."""
    return mv.Dataset(matrix=matrix, features=[f"f{k}" for k in range(len(matrix))], lower=-1, upper=1)


@dataclass(frozen=True, eq=False)
class Regression:
    """A training part, and the moments of the held-out one: all that its error needs."""

    train: np.ndarray
    test: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray) -> Regression:
        n = int(TRAINING * table.shape[1])
        return cls(table[:, :n], as_joined(table[:, n:]))

    @property
    def size(self) -> int:
        return len(self.train)

    def needs(self, *, right: bool) -> list[int]:
        """The features most (or least) correlated with the label, and the label."""
        order = np.argsort(-np.abs(np.nan_to_num(np.corrcoef(self.train)[-1, :-1])))
        return [*(order[:NEEDED] if right else order[-NEEDED:]).tolist(), self.size - 1]

    def errors(self, weights: np.ndarray) -> np.ndarray:
        """Held-out root-mean-square errors of intercepts and coefficients, a row a trial."""
        residual = np.column_stack([weights, -np.ones(len(weights))])
        return np.sqrt(np.einsum("ti,ij,tj->t", residual, self.test, residual))

    def without_privacy(self) -> float:
        moments = as_joined(self.train)
        found = np.linalg.solve(moments[:-1, :-1] + 1e-9 * np.eye(self.size), moments[:-1, -1])
        return float(self.errors(found[None])[0])

    def equal(self, normal: np.ndarray) -> np.ndarray:
        """Equal noise on the box, with the better of plain and noise-aware ridge, without shrinking to the mean."""
        std = box_sensitivity(self.size) / (self.train.shape[1] * MU)
        noise = MomentNoise.from_std(std * np.eye(self.size + 1))
        released = as_joined(self.train) + std * (normal + normal.transpose(0, 2, 1)) / 2
        released[:, 0, 0] = 1.0  # known
        fits = [self.errors(ridge_weights(released, noise, features=range(self.size), label=self.size, constant=0,
                                          aware=aware, shrink=False)) for aware in (True, False)]
        return min(fits, key=np.mean)

    def shaped(self, normal: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """The defaults: one ellipse for records and noise, the whole record scaled, noise-aware ridge."""
        data = dataset(self.train)
        bound, constant = regression_bound(data, theta, label=self.size - 1)
        asked = mv.moments(data, bound=bound, constant=constant, whole=True)
        std = mv.design_noise(asked.query, **BUDGET).noise_std()
        intercepts, slopes = asked.regressions(asked.query.value + std * normal, std, self.size - 1)
        return self.errors(np.column_stack([intercepts, slopes]))


def as_joined(matrix: np.ndarray) -> np.ndarray:
    """Second moments of ``[1, x]``."""
    x = np.vstack([np.ones(matrix.shape[1]), matrix])
    return x @ x.T / x.shape[1]


def box_sensitivity(m: int) -> float:
    """How far one of n records in [-1, 1]^m moves n times the second moments of ``[1, x]``: two corners at right
    angles, or as nearly as their number of entries allows."""
    return math.sqrt(2 * ((m + 1) ** 2 - (m % 2 == 0)))


def check_box_sensitivity() -> None:
    """By brute force over a grid that holds the corners."""
    for m in (1, 2, 3, 4):
        x = np.array([(1.0, *point) for point in itertools.product(np.linspace(-1, 1, 3 if m > 2 else 9), repeat=m)])
        lengths, products = (x * x).sum(axis=1), x @ x.T
        furthest = math.sqrt((lengths[:, None] ** 2 + lengths**2 - 2 * products**2).max())
        assert abs(furthest - box_sensitivity(m)) < 1e-9, m


def regressions(seeds: range) -> None:
    """Held-out error in excess of no privacy, beside equal noise on the box."""
    ratios: dict[str, list[float]] = {name: [] for name in BARS}
    beyond = dict.fromkeys(BARS, 0)
    tables: Iterator[tuple[str, np.ndarray]] = itertools.chain(
        (("Liver", real("liver", "drinks")), ("Cardiotocography", real("cardiotocography", "LB"))),
        (("", simulated(seed)) for seed in seeds))
    for position, (name, table) in enumerate(tables):
        task = Regression.of(table)
        normal = np.random.default_rng(position).standard_normal((TRIALS, task.size + 1, task.size + 1))
        clean, equal = task.without_privacy(), task.equal(normal)
        right, wrong = task.needs(right=True), task.needs(right=False)
        thetas = {RIGHT: topped_up(task.size, priority_directions=right),
                  WRONG: topped_up(task.size, priority_directions=wrong),
                  PLAIN_SPLIT: mv.binary(task.size, priority=right, share=0.5)}
        for row, theta in thetas.items():
            found = task.shaped(normal, theta)
            excess, base = found.mean() - clean, equal.mean() - clean
            chance = 2 * (found - BARS[row][1] * equal).std() / math.sqrt(TRIALS)
            beyond[row] += excess - BARS[row][1] * base > chance
            ratios[row].append(excess / base)
        if name:
            print("  " + f"{name}: ".ljust(20) + ", ".join(f"{row} {found[-1]:.2f}" for row, found in ratios.items()))
    for row, found in ratios.items():
        median, most = BARS[row]
        _line(f"ridge with intercept, {row}", found, f"median ≤ {median}, none > {most}; beyond chance: {beyond[row]}"
              if median == median else "for comparison")


def second_moments() -> None:
    """Needed second moments with the rank rule: noise and bias, beside equal noise on the box."""
    found, priority = [], list(range(NEEDED))
    rng = np.random.default_rng(7)
    for n, kind, _ in itertools.product((500, 5_000, 50_000), ("skewed", "binary", "tiny", "even"), range(4)):
        m = int(rng.integers(6, 25))
        data = dataset(_records(kind, m, n, rng))
        plain = mv.covariance(data)
        base = _needed_square(plain, 1.0, plain.value, priority)
        shape = RecordBound.from_shares(data, mv.binary(m, priority=priority, share=0.8))
        squares = []
        for _ in range(3):
            bound = rank_radius(data, mu=MU, rng=rng, bound=shape)
            left = float(mv.gaussian_epsilon(BUDGET["delta"], math.sqrt(MU**2 - bound.mu**2)))
            squares.append(_needed_square(mv.covariance(data, bound=bound), left, plain.value, priority))
        found.append(math.sqrt(np.mean(squares) / base))
    _line("priority second moments, rank rule", found, "median ≤ 0.5, worst ≤ 0.7")


def _records(kind: str, m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    x = 0.6 * (rng.standard_normal((m, m)) @ rng.standard_normal((m, n)) / math.sqrt(m) + rng.standard_normal((m, n)))
    if kind == "even":
        return rng.uniform(-1, 1, (m, n))
    return np.clip({"skewed": lambda: np.exp(x) / 8 - 0.8, "binary": lambda: np.sign(x - rng.normal(0, 0.7, (m, 1))),
                    "tiny": lambda: rng.uniform(-0.3, 0.3, (m, 1)) + 0.03 * x}[kind](), -1, 1)


def _needed_square(asked: mv.Query, epsilon: float, truth: np.ndarray, priority: list[int]) -> float:
    """The expected squared error on priority entries, halves averaged."""
    std = MomentNoise(root=mv.design_noise(asked, epsilon=epsilon, delta=BUDGET["delta"]).row_side.root()).std
    return float((np.square(asked.value - truth) + std**2)[np.ix_(priority, priority)].mean())


def experiment_three() -> None:
    """All components of Cardiotocography from its covariance: a round bound, beside the exact covariance."""
    data = mv.sample("cardiotocography").normalised(to=(0, 1))
    truth = mv.covariance(data).value
    best = np.linalg.eigvalsh(truth)[::-1]
    errors = []
    for bound in (None, RecordBound.from_shares(data, mv.uniform(data.n_features))):
        asked = mv.covariance(data, bound=bound)
        noise = MomentNoise(root=mv.design_noise(asked, epsilon=1, delta=1 / data.n_records).row_side.root())
        _, vectors = components(asked.value + noise.draws(100, rng=np.random.default_rng(0)), noise)
        errors.append(np.square(best - np.einsum("tji,tji->ti", vectors, truth @ vectors)).sum(axis=1).mean())
    _line("Experiment III, RSS, round bound", [errors[1] / errors[0]], f"≤ 0.3 ({errors[1]:.5f} of {errors[0]:.5f})")


def _line(name: str, ratios: list[float], bar: str) -> None:
    print(name.ljust(60) + f"{np.median(ratios):8.3f}{max(ratios):8.3f}   {bar}")


def main() -> None:
    """Print the table."""
    start = time.perf_counter()
    check_box_sensitivity()
    print("error / equal noise on the box".ljust(60) + f"{'median':>8}{'worst':>8}   bar")
    more = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with one_blas_thread():
        regressions(range(TABLES, TABLES + more) if more else range(TABLES))
        if not more:
            second_moments()
            experiment_three()
    print(f"took {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
