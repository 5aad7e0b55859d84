"""One ellipse for records and noise, from a scenario, and what clipping to it can do to an answer."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Dataset, RecordBound, Scenario, build
from mvgviz.noise.directions import random_rotation
from mvgviz.provenance import Origin
from mvgviz.query.queries import QUERIES
from mvgviz.scenario.bound import clipping_of, most_clipped
from tests.datasets import make_dataset


def scenario(query, **choices):
    return Scenario(**{"data": "upload-000000000000", "query": query, "scale": "declared", "bound": "even"} | choices)


@pytest.mark.parametrize("query", ["identity", "mean", "covariance"])
@pytest.mark.parametrize("rotated", [False, True])
def test_an_evenly_spread_record_has_length_one_and_each_direction_its_share(query, rotated):
    data = make_dataset(3, 50, -np.array([1.0, 2.0, 0.5]), np.array([3.0, 2.0, 1.0]))
    turned = {"directions": "rotation", "angle": 25.0} if rotated else {}
    ellipse = build(scenario(query, priority_directions=(1,), share=0.6, **turned), data).query.bound.ellipse(3)
    even = np.random.default_rng(0).uniform(data.lower[:, None], data.upper[:, None], (3, 400_000))
    assert (ellipse.coordinates(even) ** 2).mean(axis=1) == pytest.approx([0.2, 0.6, 0.2], rel=0.02)
    assert ellipse.radius == 1


@pytest.mark.parametrize("query", ["identity", "mean", "covariance", "moments"])
def test_the_noise_has_the_shape_of_the_records_ellipse(query):
    setup = build(scenario(query, priority_directions=(0,), share=0.7), make_dataset(3, 50, -2.0, 2.0))
    weights = setup.query.bound.ellipse(setup.query.rows).weights
    shape = setup.design.row_side.covariance_diagonal() * weights**2
    assert shape == pytest.approx(np.full(weights.size, shape[0]))


@pytest.mark.parametrize("query", ["identity", "mean", "covariance"])
def test_an_ellipse_around_the_whole_box_changes_nothing(query):
    data = make_dataset(3, 50)
    free, held = (build(scenario(query, priority_directions=(0,), share=0.7, bound=bound,
                                 radius=math.sqrt(3) * (1 + 1e-9)), data)
                  for bound in ("none", "own"))
    assert np.array_equal(held.query.value, free.query.value)
    assert held.design.row_side.covariance_diagonal() == pytest.approx(
        free.design.row_side.covariance_diagonal(), rel=1e-6)


@pytest.mark.parametrize("radius", [0.4, 1.0, 2.0])
def test_the_constant_is_half_as_long_as_the_radius(radius):
    setup = build(scenario("moments", allocation="uniform", bound="own", radius=radius), make_dataset(2, 50))
    bound = setup.query.bound
    edge = bound.radius**2 - bound.weights[-1] ** 2  # what is left for the features
    spread = 1 / math.sqrt(3)
    longest = math.sqrt(edge) / bound.weights[0] / spread * math.sqrt(1 / 2)
    assert longest == pytest.approx(radius)
    ratio = bound.weights[-1] / (bound.weights[0] * spread * math.sqrt(2))
    assert ratio == pytest.approx(radius / 2)


def test_equal_noise_stays_that_of_the_box():
    data = make_dataset(3, 50)
    free, held = (build(scenario("covariance", bound=bound), data) for bound in ("none", "even"))
    assert held.box.sensitivity == free.query.sensitivity > held.query.sensitivity
    assert np.array_equal(held.iid.row_side.variances, free.iid.row_side.variances)


def test_a_bound_has_the_origin_of_the_ranges_and_of_the_split():
    data = make_dataset(3, 50)
    assert build(scenario("covariance"), data).origins["bound"] is Origin.DECLARED
    read = (Origin.READ,) * 3
    assert build(scenario("covariance"), replace(data, range_origins=read)).origins["bound"] is Origin.READ
    assert build(scenario("covariance", allocation="max-pnr"), data).origins["bound"] is Origin.READ
    assert "bound" not in build(scenario("covariance", bound="none"), data).origins


def test_graphs_have_no_bound():
    data, chosen = replace(make_dataset(4, 4), matrix=np.ones((4, 4)) - np.eye(4)), scenario("laplacian")
    assert build(chosen, data).query.bound is None
    assert chosen.is_idle("bound")


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
    answer = (lambda x: x[:, None]) if query == "mean" else (lambda x: np.outer(x, x))
    each = np.max([np.abs(answer(one) - answer(other))
                   for one, other in zip(records.T, clipped.T, strict=True)], axis=0)
    most = most_clipped(QUERIES[query], bound, lower, upper)
    if most is None:
        assert each.max() == 0
        return
    assert (each <= most * (1 + 1e-9)).all()
    if not turned:
        assert each == pytest.approx(most)  # the corners are on the grid


@pytest.mark.parametrize("query", ["identity", "mean", "covariance", "moments", "kernel"])
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
