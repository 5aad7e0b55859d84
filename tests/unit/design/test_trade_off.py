"""Noise on the needed and on the rest: the closed forms, and no noise of any shape below the least possible."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from mvgviz import InputError, RecordBound, binary, covariance, design_noise, identity, mean, rotation
from mvgviz.design.least_possible import least_possible
from mvgviz.design.needs import needs_of, noise_on
from mvgviz.design.trade_off import frontier
from tests.datasets import make_dataset


@pytest.mark.parametrize("query", [identity, mean])
@pytest.mark.parametrize(("k", "m", "share"), [(1, 21, 0.8), (3, 7, 0.5), (2, 3, 0.95)])
def test_tables_and_means_follow_the_closed_form(query, k, m, share):
    asked = query(make_dataset(m, 50, 0, np.linspace(1, 9, m)))
    design = design_noise(asked, epsilon=1, delta=1 / 2126, theta=binary(m, favoured=range(k), share=share))
    equal = design_noise(asked, epsilon=1, delta=1 / 2126)
    found, even = (noise_on(one, needs_of(range(k), m)) for one in (design, equal))
    assert found.needed / even.needed == pytest.approx(math.sqrt(k / (share * m)), rel=1e-9)
    assert found.rest / even.rest == pytest.approx(math.sqrt((m - k) / ((1 - share) * m)), rel=1e-9)
    # the curve k/N² + (m - k)/Q² = mu², in units of what a record can move
    divisor = 50 if query is mean else 1
    assert (k / found.needed**2 + (m - k) / found.rest**2) / divisor**2 == pytest.approx(design.mu**2, rel=1e-9)


def test_covariances_from_zero_have_the_squares():
    k, m, share = 2, 6, 0.7
    asked = covariance(make_dataset(m, 50, 0, np.linspace(1, 9, m)))
    design = design_noise(asked, epsilon=1, delta=1e-6, theta=binary(m, favoured=range(k), share=share))
    found, even = (noise_on(one, needs_of(range(k), m)) for one in (design, design_noise(asked, epsilon=1, delta=1e-6)))
    assert found.needed / even.needed == pytest.approx(k / (share * m), rel=1e-9)


def test_the_example_of_21_features_and_one_needed():
    """0.24 of the noise; noise of one size would need epsilon 5.4 instead of 1."""
    trade = frontier(mean(make_dataset(21, 2126, 0, 1)), (0,), epsilon=1, delta=1 / 2126, shares=(0.8,))
    assert trade.curve[0].needed / trade.equal.needed == pytest.approx(0.244, abs=5e-4)
    assert trade.epsilon_saved(trade.curve[0]) == pytest.approx(5.4, abs=0.05)
    assert trade.epsilon_saved(trade.equal) == pytest.approx(1, rel=1e-9)


def test_the_end_of_the_curve_is_the_needed_alone():
    data = make_dataset(5, 80, -1, [1, 2, 3, 4, 5])
    trade = frontier(mean(data), (1, 3), epsilon=1, delta=1e-6)
    alone = design_noise(mean(make_dataset(2, 80, -1, [2, 4])), epsilon=1, delta=1e-6)
    assert trade.only == pytest.approx(noise_on(alone, [1, 1]).needed, rel=1e-6)
    needed, rest = ([getattr(point, name) for point in trade.curve] for name in ("needed", "rest"))
    assert all(a > b for a, b in itertools.pairwise(needed))
    assert all(a < b for a, b in itertools.pairwise(rest))
    assert all(point > trade.only for point in needed)


def test_what_is_needed_must_be_some_and_not_all():
    asked = mean(make_dataset(3, 10))
    for needed in ((), (0, 1, 2)):
        with pytest.raises(InputError, match="some of the 3 features"):
            frontier(asked, needed, epsilon=1, delta=1e-6)
    with pytest.raises(InputError, match="below 3"):
        needs_of([3], 3)
    with pytest.raises(InputError, match="needs must be 3 weights"):
        least_possible(asked, [1, 0], 1.0)


@pytest.mark.slow
def test_no_gaussian_noise_of_any_shape_is_below_the_least_possible(rng):
    """A generic optimiser over all covariances, privacy from all corners of the ranges."""
    upper, weights, mu = np.array([1.0, 3.0]), np.array([1.0, 0.3]), 0.8
    asked = identity(make_dataset(2, 1, 0, upper))
    corners = np.array(list(itertools.product([-1, 1], repeat=2))) * upper

    def loss(entries):
        root = np.array([[math.exp(entries[0]), 0], [entries[1], math.exp(entries[2])]])
        cov = root @ root.T
        cov = cov * (np.einsum("ki,ij,kj->k", corners, np.linalg.inv(cov), corners).max() / mu**2)
        return math.sqrt(float(weights @ (np.diag(cov) / upper**2)) / weights.sum())

    found = min(optimize.minimize(loss, rng.standard_normal(3), method="Nelder-Mead",
                                  options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}).fun for _ in range(8))
    least, exact = least_possible(asked, weights, mu)
    assert exact
    assert found == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("query", [mean, identity, covariance])
@pytest.mark.parametrize("bounded", [False, True])
def test_every_design_is_above_the_least_possible(rng, query, bounded):
    data = make_dataset(4, 30, [-1, 0, -2, 0], [1, 3, 2, 5])
    bound = RecordBound(radius=0.3, weights=[1, 2, 0.5, 1], centre=0.0 if query is covariance else [0, 1, 0, 2])
    if bounded and query is covariance:
        data = make_dataset(4, 30, -2, 2)
    asked = query(data, bound=bound) if bounded else query(data)
    for _ in range(25):
        theta, needs = rng.dirichlet(np.ones(4)), rng.random(4)
        directions = rotation(4, (0, 1), rng.uniform(0, 3)) if rng.random() < 0.5 else None
        design = design_noise(asked, epsilon=1, delta=1e-6, theta=theta, directions=directions)
        assert noise_on(design, needs).needed >= least_possible(asked, needs, design.mu).noise * (1 - 1e-9)
    if bounded and query is not covariance:  # the ellipse's own shape attains it whatever is needed
        own = design_noise(asked, epsilon=1, delta=1e-6)
        assert noise_on(own, needs).needed == pytest.approx(least_possible(asked, needs, own.mu).noise, rel=1e-9)


def test_the_best_split_of_a_table_attains_it():
    data, needs = make_dataset(3, 10, 0, [1, 2, 7]), np.array([1.0, 0.5, 0.1])
    theta = np.sqrt(needs)  # v ∝ r/sqrt w: the noise in units of the range is ∝ w^(-1/4)
    design = design_noise(mean(data), epsilon=1, delta=1e-6, theta=theta / theta.sum())
    assert noise_on(design, needs).needed == pytest.approx(least_possible(mean(data), needs, design.mu).noise, rel=1e-9)


def test_where_it_is_not_known_that_is_said():
    data = make_dataset(2, 10)
    with pytest.raises(InputError, match="beyond the ranges"):
        least_possible(mean(data, bound=RecordBound(radius=1.2)), [1, 1], 1.0)
