"""Small problems, and what their noise is compared with."""

import itertools

import numpy as np

from mvgviz import Dataset, Scenario
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.problem import pose
from tests.datasets import make_dataset

LUCK = 1e-7
"""P-values below this fail; sums are compared at 6 standard errors (2e-9 each)."""

BOXES = {  # symmetric, from 0, general, away from 0 on either side
    "symmetric": ([-1.0, -0.5, -3.0, -1.0], [1.0, 0.5, 3.0, 1.0]),
    "from zero": ([0.0, 0.0, 0.0, 0.0], [1.0, 4.0, 0.2, 1.0]),
    "general": ([-1.0, -0.2, -3.0, 0.0], [0.5, 2.0, 1.0, 1.0]),
    "away": ([1.0, -4.0, 10.0, 0.5], [2.0, -1.0, 11.0, 0.6]),
}


class Stream(Draws):
    """One generator for all trials: fast, and the trials are as independent."""

    def generators(self, purpose=0):
        return [np.random.default_rng([self.seed, purpose])] * self.count


def many(sampler, trials, seed=1):
    """Draws of a sampler, trials × …."""
    return sampler.draw(Stream(seed, 0, trials))


def scenario(query="identity", **choices):
    return Scenario(**{"data": "upload-000000000000", "query": query, "scale": "declared", "delta": 1e-3,
                       "judged": "everything"} | choices)


def posed(query="identity", data=None, *, m=3, n=30, lower=-1.0, upper=1.0, sensitivity="own", uploaded=None,
          **choices):
    """A problem of uniform records, ranges as declared, delta 1e-3."""
    data = make_dataset(m, n, lower, upper) if data is None else data
    return pose(scenario(query, **choices), data, sensitivity=sensitivity, uploaded=uploaded)


def graph(size=6, seed=0):
    upper = np.triu(np.random.default_rng(seed).integers(0, 2, (size, size)), 1)
    return Dataset(matrix=upper + upper.T, features=[f"v{i}" for i in range(size)], lower=0, upper=1)


def flips(data):
    """With one edge more or less, each of them."""
    for i, j in itertools.combinations(range(data.n_features), 2):
        flipped = np.array(data.matrix)
        flipped[i, j] = flipped[j, i] = 1 - flipped[i, j]
        yield Dataset(matrix=flipped, features=data.features, lower=0, upper=1)


def record_pairs(lower, upper, seed=0, random=60):
    """Pairs of records of a box: corners, points on edges, its point nearest 0, random ones."""
    lower, upper = np.asarray(lower), np.asarray(upper)
    rng = np.random.default_rng(seed)
    corners = [np.array(ends) for ends in itertools.product(*zip(lower, upper, strict=True))]
    points = [np.clip(np.zeros(lower.size), lower, upper), *rng.uniform(lower, upper, (random, lower.size))]
    for corner, i in itertools.product(corners, range(lower.size)):
        for value in np.append(np.linspace(lower[i], upper[i], 7)[1:-1], np.clip(0, lower[i], upper[i])):
            point = corner.copy()
            point[i] = value
            points.append(point)
    first = np.array(corners + points[: random // 4])
    second = np.array(corners + points)
    return np.repeat(first, len(second), axis=0), np.tile(second, (len(first), 1))


def differences(lower, upper):
    """``x xᵀ - y yᵀ`` of many pairs of records."""
    x, y = record_pairs(lower, upper)
    return x[:, :, None] * x[:, None, :] - y[:, :, None] * y[:, None, :]


def prepared(name, problem, level="answer"):
    return mechanism(name).prepare(problem, level)


def noise(name, problem, trials, seed=1):
    return many(prepared(name, problem), trials, seed) - problem.query.value


def same(one, other):
    """References by their words: what is no number does not equal itself."""
    return all(a.mechanism is b.mechanism and np.array_equal(a.errors, b.errors) and a.reason == b.reason
               for a, b in zip(one.outcomes, other.outcomes, strict=True)
               ) and repr(one.references) == repr(other.references)
