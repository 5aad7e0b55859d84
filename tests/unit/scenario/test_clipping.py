"""What clipping records to a bound can do to an answer: never more than is said, and as much for some records."""

import itertools

import numpy as np
import pytest

from mvgviz import Dataset, RecordBound, Scenario, build
from mvgviz.noise.directions import random_rotation
from mvgviz.query.queries import QUERIES
from mvgviz.scenario.bound import clipping_of, most_clipped

ASKED = ("identity", "mean", "covariance", "moments", "kernel")


def answer(query, x, length=1.0):
    if query == "identity":
        return x
    if query == "mean":
        return x.mean(axis=1, keepdims=True)
    return x @ x.T / x.shape[1]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_no_record_of_the_ranges_is_moved_further_and_a_corner_is_moved_as_far(query, turned, seed):
    rng = np.random.default_rng(seed)
    lower = rng.uniform(-3, 0, 3)
    upper = lower + rng.uniform(0.1, 5, 3)
    centre = np.zeros(3) if query == "covariance" else rng.uniform(lower, upper)
    bound = RecordBound(radius=float(rng.uniform(0.2, 2)), weights=rng.uniform(0.3, 2, 3), centre=centre,
                        directions=random_rotation(3, rng=rng) if turned else None)
    grid = [np.linspace(low, high, 9) for low, high in zip(lower, upper, strict=True)]
    records = np.array(list(itertools.product(*grid))).T
    clipped = bound.clipped(Dataset(matrix=records, features=list("abc"), lower=lower, upper=upper)).matrix
    each = np.array([np.abs(answer(query, one[:, None]) - answer(query, other[:, None]))
                     for one, other in zip(records.T, clipped.T, strict=True)]).max(axis=0)
    most = most_clipped(QUERIES[query], bound, lower, upper)
    if most is None:
        assert each.max() == 0
        return
    assert (each <= most * (1 + 1e-9)).all()
    if not turned:
        assert each == pytest.approx(most)  # the corners are on the grid


@pytest.mark.parametrize("query", ASKED)
@pytest.mark.parametrize("bound", [{"bound": "even"}, {"bound": "own", "radius": 0.3}, {"bound": "own", "radius": 9.0},
                                   {}])
def test_of_a_scenario_the_data_is_moved_by_no_more_than_the_most(query, bound):
    rng = np.random.default_rng(2)
    data = Dataset(matrix=rng.uniform([[3.0], [5.0], [0.0]], [[4.0], [9.0], [0.1]], (3, 50)), features=list("abc"),
                   lower=0, upper=[4, 10, 1])
    setup = build(Scenario(query=query, priority_directions=(0,), **bound), data)
    clipping = clipping_of(setup)
    apart = np.abs(setup.query.value - setup.box.value)
    if clipping is None:
        assert apart.max() == 0
        assert bound in ({}, {"bound": "own", "radius": 9.0})
    else:
        assert (apart <= clipping.most * (1 + 1e-9)).all()
        assert np.max(clipping.here) == pytest.approx(apart.max())
        assert apart.max() > 0
