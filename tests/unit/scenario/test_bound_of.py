"""One ellipse for records and noise, from a scenario."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Scenario
from mvgviz.provenance import Origin
from mvgviz.scenario.resolve import build
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
