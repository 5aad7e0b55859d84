"""What a bound saves and costs, against brute force on the same stand-in."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from mvgviz import Scenario
from mvgviz.scenario.resolve import ask, build
from mvgviz.trials.simulated import SEED, bound_cost, radius_for_all, simulated_data
from tests.datasets import make_dataset, setup_of

QUERIES = ("identity", "mean", "covariance", "moments", "kernel")


@pytest.mark.parametrize("query", QUERIES)
def test_the_pull_is_the_difference_of_the_two_answers(query):
    setup = setup_of("liver", query=query, bound="own", radius=0.4)
    simulated = simulated_data(setup.dataset, rng=np.random.default_rng(SEED))
    if query == "mean":  # on one side of the middle
        middle = ((simulated.lower + simulated.upper) / 2)[:, None]
        simulated = dataclasses.replace(simulated, matrix=middle + abs(simulated.matrix - middle))
    apart = (ask(setup.scenario, simulated, bound=setup.query.bound).value - ask(setup.scenario, simulated).value)
    priority = list(setup.scenario.needs)
    part = apart[np.ix_(priority, priority)] if setup.query.symmetric else apart[priority]
    # All ranges are [-1, 1]: a record moves a table or mean by 2, and second moments are in units of 1.
    unit = 2 if query in ("identity", "mean") else 1
    assert bound_cost(setup).bias == pytest.approx(np.sqrt(np.mean(part**2)) / unit, rel=1e-9)


def test_the_noise_is_that_of_the_two_designs():
    setup = setup_of("liver", query="identity", bound="even")
    plain = build(setup.scenario.changed(bound="none"), setup.dataset)
    cost = bound_cost(setup)
    assert cost.noise / cost.without == pytest.approx(
        setup.design.direction_std()[2] / plain.design.direction_std()[2])
    assert cost.noise / cost.without == pytest.approx(3**-0.5)  # lengths of 1 instead of sqrt 3


def test_more_records_make_the_noise_smaller_and_the_pull_not():
    scenario = Scenario(query="mean", bound="own", radius=0.6, delta=1e-8)
    few, many = (bound_cost(build(scenario, make_dataset(2, n))) for n in (40, 20_000))
    assert many.noise == pytest.approx(few.noise / 500)
    assert many.bias == pytest.approx(few.bias, rel=0.2)
    assert few.pays(few.bias)
    assert not many.pays(many.bias)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("scale", ["declared", "symmetric", "unit"])
@pytest.mark.parametrize("directions", ["standard", "rotation"])
def test_the_length_for_all_pulls_nobody_in(query, scale, directions):
    setup = setup_of("liver", query=query, scale=scale, directions=directions, bound="even")
    radius = radius_for_all(setup)
    low, high = setup.dataset.lower, setup.dataset.upper
    corners = np.random.default_rng(0).choice([0.0, 1.0], size=setup.dataset.matrix.shape)
    data = dataclasses.replace(setup.dataset, matrix=low[:, None] + corners * (high - low)[:, None])
    all_in = build(setup.scenario.changed(bound="own", radius=radius), data)
    assert all_in.query.bound.count_outside(all_in.table) == 0
    if directions == "standard":
        fewer = build(setup.scenario.changed(bound="own", radius=0.95 * radius), data)
        assert fewer.query.bound.count_outside(fewer.table) > 0
    assert bound_cost(all_in).bias == pytest.approx(0, abs=1e-12)


def test_simulated_columns_are_beta_distributed_in_their_ranges():
    table = make_dataset(2, 40_000, lower=[0, -1], upper=[1, 3])
    simulated = simulated_data(table, rng=np.random.default_rng(4)).normalised((0, 1)).matrix
    levels = np.linspace(0.001, 0.999, 41)
    for row in simulated:
        near = 0.25 if row.mean() < 0.5 else 0.75
        total = near * (1 - near) / 0.15**2 - 1
        expected = stats.beta.ppf(levels, near * total, (1 - near) * total)
        np.testing.assert_allclose(np.quantile(row, levels), expected, atol=0.02)
