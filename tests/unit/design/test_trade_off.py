"""Noise on the needed and on the rest: the closed forms, and no noise of any shape below the least possible.

One needed column among more and more, against designs of the engine.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from mvgviz import InputError, RecordBound, binary, covariance, design_noise, identity, mean, rotation
from mvgviz.design.least_possible import least_possible
from mvgviz.design.needs import needs_of, noise_on
from mvgviz.design.trade_off import frontier, gain_among
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.directions import standard_basis
from mvgviz.query.queries import joint_moments
from tests.datasets import make_dataset


@pytest.mark.parametrize("query", [identity, mean])
@pytest.mark.parametrize(("k", "m", "share"), [(1, 21, 0.8), (3, 7, 0.5), (2, 3, 0.95)])
def test_tables_and_means_follow_the_closed_form(query, k, m, share):
    asked = query(make_dataset(m, 50, 0, np.linspace(1, 9, m)))
    design = design_noise(asked, epsilon=1, delta=1 / 2126, theta=binary(m, priority=range(k), share=share))
    equal = design_noise(asked, epsilon=1, delta=1 / 2126)
    found, even = (noise_on(one, needs_of(range(k), m)) for one in (design, equal))
    assert found.priority / even.priority == pytest.approx(math.sqrt(k / (share * m)), rel=1e-9)
    assert found.other / even.other == pytest.approx(math.sqrt((m - k) / ((1 - share) * m)), rel=1e-9)
    # the curve k/N² + (m - k)/Q² = mu², in units of what a record can move
    divisor = 50 if query is mean else 1
    assert (k / found.priority**2 + (m - k) / found.other**2) / divisor**2 == pytest.approx(design.mu**2, rel=1e-9)


def test_covariances_from_zero_have_the_squares():
    k, m, share = 2, 6, 0.7
    asked = covariance(make_dataset(m, 50, 0, np.linspace(1, 9, m)))
    design = design_noise(asked, epsilon=1, delta=1e-6, theta=binary(m, priority=range(k), share=share))
    found, even = (noise_on(one, needs_of(range(k), m)) for one in (design, design_noise(asked, epsilon=1, delta=1e-6)))
    assert found.priority / even.priority == pytest.approx(k / (share * m), rel=1e-9)


def test_the_example_of_21_features_and_one_needed():
    """0.24 of the noise; equal noise would need epsilon 5.4 instead of 1."""
    trade = frontier(mean(make_dataset(21, 2126, 0, 1)), (0,), epsilon=1, delta=1 / 2126, shares=(0.8,))
    assert trade.curve[0].priority / trade.equal.priority == pytest.approx(0.244, abs=5e-4)
    assert trade.epsilon_saved(trade.curve[0]) == pytest.approx(5.4, abs=0.05)
    assert trade.epsilon_saved(trade.equal) == pytest.approx(1, rel=1e-9)


def test_the_end_of_the_curve_is_the_needed_alone():
    data = make_dataset(5, 80, -1, [1, 2, 3, 4, 5])
    trade = frontier(mean(data), (1, 3), epsilon=1, delta=1e-6)
    alone = design_noise(mean(make_dataset(2, 80, -1, [2, 4])), epsilon=1, delta=1e-6)
    assert trade.only == pytest.approx(noise_on(alone, [1, 1]).priority, rel=1e-6)
    assert 2 / 5 in trade.shares
    priority, rest = ([getattr(point, name) for point in trade.curve] for name in ("priority", "other"))
    assert all(a > b for a, b in itertools.pairwise(priority))
    assert all(a < b for a, b in itertools.pairwise(rest))
    assert all(point > trade.only for point in priority)


def test_what_is_needed_must_be_some_and_not_all():
    asked = mean(make_dataset(3, 10))
    for priority in ((), (0, 1, 2)):
        with pytest.raises(InputError, match="some of the 3 features"):
            frontier(asked, priority, epsilon=1, delta=1e-6)
    with pytest.raises(InputError, match="needs must be 3 weights"):
        least_possible(asked, [1, 0], 1.0)


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
        assert noise_on(design, needs).priority >= least_possible(asked, needs, design.mu).noise * (1 - 1e-9)
    if bounded and query is not covariance:  # the ellipse's own shape attains it whatever is needed
        own = design_noise(asked, epsilon=1, delta=1e-6)
        assert noise_on(own, needs).priority == pytest.approx(least_possible(asked, needs, own.mu).noise, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("ask", [mean, identity])
def test_no_noise_of_any_family_is_below_the_lowest_of_all(rng, ask, epsilon):
    asked, promise = ask(make_dataset(4, 30, [-1, 0, -2, 0], [1, 3, 2, 5])), (epsilon, 1e-6)
    for _ in range(10):
        theta, needs = rng.dirichlet(np.ones(4)), rng.random(4)
        lowest = least_possible(asked, needs, among="any", promise=promise).noise
        for family in ("gaussian", "ellipse", "box", "laplace", "box-ellipse"):
            design = design_noise(asked, epsilon=epsilon, delta=1e-6, theta=theta, family=family)
            assert noise_on(design, needs).priority > lowest
        assert lowest < least_possible(asked, needs, gaussian_mu(*promise)).noise


# Equal box noise on all columns, over the bound with the staircase itself; computed elsewhere to three digits.
@pytest.mark.parametrize(("size", "over"), [(1, 1.02), (2, 1.02), (3, 1.08), (5, 1.21), (10, 1.5), (21, 2.05)])
def test_box_noise_over_the_lowest_of_any_family(size, over):
    asked = mean(make_dataset(size, 10))
    lowest, exact = least_possible(asked, np.ones(size), among="any", promise=(1.0, 1e-6))
    box = design_noise(asked, epsilon=1, delta=1e-6, family="box")
    assert not exact
    assert 0.98 * noise_on(box, np.ones(size)).priority / lowest == pytest.approx(over, abs=0.02)


def test_the_lowest_of_any_family_is_refused_where_it_is_not_known():
    asked = mean(make_dataset(2, 10))
    for promise in ((1.0, 1e-4), (0.05, 1e-6), (20.0, 1e-6)):
        with pytest.raises(InputError, match=r"known for epsilon from 0\.1 to 10"):
            least_possible(asked, [1, 1], among="any", promise=promise)
    with pytest.raises(InputError, match="needs promise"):
        least_possible(asked, [1, 1], 1.0, among="any")
    with pytest.raises(InputError, match="needs mu"):
        least_possible(asked, [1, 1], promise=(1.0, 1e-6))


def test_the_best_split_of_a_table_attains_it():
    data, needs = make_dataset(3, 10, 0, [1, 2, 7]), np.array([1.0, 0.5, 0.1])
    theta = np.sqrt(needs)  # v ∝ r/sqrt w: the noise in units of the range is ∝ w^(-1/4)
    design = design_noise(mean(data), epsilon=1, delta=1e-6, theta=theta / theta.sum())
    assert noise_on(design, needs).priority == pytest.approx(least_possible(mean(data), needs, design.mu).noise,
                                                             rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.6, 1.1, 1.6, 3.0, math.inf])
def test_inside_ranges_and_any_ellipse_no_shape_is_below_it_and_one_attains_it(rng, radius):
    """A generic optimiser over all covariances; privacy from points on the edge of what a record can be."""
    half, bend, weights, mu = np.array([1.0, 2.0]), np.array([1.0, 0.4]), np.array([1.0, 0.3]), 0.8
    corner = math.atan2(half[1], half[0])
    angles = np.append(np.linspace(1e-9, np.pi + 1e-9, 4001), [corner, np.pi - corner])
    rays = np.array([np.cos(angles), np.sin(angles)])
    ends = np.minimum(radius / np.linalg.norm(bend[:, None] * rays, axis=0), (half[:, None] / np.abs(rays)).min(axis=0))
    moves = 2 * rays * ends

    def loss(entries):
        root = np.array([[math.exp(entries[0]), 0], [entries[1], math.exp(entries[2])]])
        cov = root @ root.T
        cov = cov * (np.einsum("ik,ij,jk->k", moves, np.linalg.inv(cov), moves).max() / mu**2)
        return math.sqrt(float(weights @ (np.diag(cov) / (2 * half) ** 2)) / weights.sum())

    found = min(optimize.minimize(loss, rng.standard_normal(3), method="Nelder-Mead",
                                  options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}).fun for _ in range(8))
    bound = RecordBound(radius=radius, weights=bend) if radius < math.inf else None
    asked = identity(make_dataset(2, 1, -half, half), bound=bound)
    least, exact = least_possible(asked, weights, mu)
    assert exact
    assert found == pytest.approx(least, rel=2e-5)


@pytest.mark.parametrize("lower", [-1.0, [-1, 0, -0.3], [-0.2, -2, 0]])
def test_records_inside_a_bound_move_second_moments_as_far_as_is_said_and_no_further(rng, lower):
    upper, mu = np.array([1.0, 2.0, 0.7]), 0.8
    asked = covariance(make_dataset(3, 1, lower, upper), bound=RecordBound(radius=1.0, weights=[1, 0.8, 0.9]))
    box = np.broadcast_to(lower, 3)[:, None], upper[:, None]
    drawn = rng.uniform(*box, (3, 200_000)) * (rng.random((3, 200_000)) < 0.8)  # some entries are 0
    drawn = np.where(rng.random((3, 200_000)) < 0.3, np.where(rng.random((3, 200_000)) < 0.5, *box), drawn)
    pulled = drawn / np.maximum(np.linalg.norm(np.array([[1], [0.8], [0.9]]) * drawn, axis=0), 1)
    unit = np.maximum(np.abs(lower), upper)
    for i, j in itertools.combinations_with_replacement(range(3), 2):
        products = pulled[i] * pulled[j]
        found = float(np.ptp(products)) / unit[i] / unit[j]
        weights = np.isin(range(3), [i, j]).astype(float)
        said = least_possible(asked, weights, mu).noise * mu
        if i == j:
            assert found == pytest.approx(said, rel=1e-3)
            assert found <= said * (1 + 1e-9)
        else:  # the mean over two diagonal entries and twice the one between them
            alone = [least_possible(asked, np.eye(3)[k], mu).noise * mu for k in (i, j)]
            between = math.sqrt((4 * said**2 - alone[0] ** 2 - alone[1] ** 2) / 2)
            assert found == pytest.approx(between, rel=0.02)
            assert found <= between * (1 + 1e-9)


def test_the_constant_takes_a_part_of_the_radius(rng):
    """Joint moments: no record that is short enough beside its constant is changed; the least stays a lower bound."""
    data = make_dataset(3, 20, -1, 1)
    asked = joint_moments(data, bound=RecordBound(radius=1.0, weights=[1, 1, 2, 0.6]))
    for _ in range(20):
        design = design_noise(asked, epsilon=1, delta=1e-6, theta=rng.dirichlet(np.ones(4)))
        needs = np.append(rng.random(3), 0)
        least = least_possible(asked, needs, design.mu)
        assert noise_on(design, needs).priority >= least.noise
    one = least_possible(asked, [0, 0, 1, 0], 1.0)
    assert one.noise == pytest.approx((1 - 0.6**2) / 2**2 / 20)  # records along the third feature, z² up to 0.64


def test_where_it_is_not_known_that_is_said():
    data = make_dataset(2, 10)
    with pytest.raises(InputError, match="beyond the ranges"):
        least_possible(mean(data, bound=RecordBound(radius=1.2, directions=rotation(2, (0, 1), 0.3))), [1, 1], 1.0)
    with pytest.raises(InputError, match="centre is not inside"):
        least_possible(mean(data, bound=RecordBound(radius=0.1, centre=[2.0, 0.0])), [1, 1], 1.0)
    with pytest.raises(InputError, match="do not hold 0"):
        least_possible(covariance(make_dataset(2, 10, 0.5, 1), bound=RecordBound(radius=1.2)), [1, 1], 1.0)


def test_a_constant_is_neither_needed_nor_rest():
    design = design_noise(joint_moments(make_dataset(3, 20)), epsilon=1, delta=1e-6, theta=[0.4, 0.3, 0.2, 0.1])
    found, std = noise_on(design, needs_of([0], 4), features=3), design.noise_std()
    rest = [std[i, j] ** 2 / (1 if i == j else 2) for i in range(3) for j in range(3) if (i, j) != (0, 0)]
    assert found.priority == pytest.approx(std[0, 0])
    assert found.other == pytest.approx(math.sqrt(np.mean(rest)))


@pytest.mark.parametrize("priority", [{0: "x"}, {"a": 1.0}, [0.5], {0: math.nan}, [7], [-1], "ab"])
def test_needs_that_are_no_positions_or_weights_get_a_sentence(priority):
    with pytest.raises(InputError, match=r"priority|weight of a feature"):
        needs_of(priority, 3)


def test_needed_directions_must_be_as_many_as_the_rows():
    query = mean(make_dataset(3, 20))
    design = design_noise(query, epsilon=1, delta=1e-6)
    for directions in (standard_basis(2), rotation(5, (0, 1), 0.3)):
        for measure in (lambda turned: noise_on(design, np.ones(3), directions=turned),
                        lambda turned: least_possible(query, np.ones(3), 1.0, directions=turned)):
            with pytest.raises(InputError, match="directions must number 3"):
                measure(directions)


DELTA = 1 / 2126


@pytest.mark.parametrize("columns", [2, 3, 9, 21])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_gain_is_that_of_the_designed_noise(columns, share):
    query, rest = mean(make_dataset(columns, 50, 0, np.arange(1, columns + 1))), (1 - share) / (columns - 1)
    ours = design_noise(query, epsilon=1, delta=DELTA, theta=[share] + [rest] * (columns - 1))
    equal = design_noise(query, epsilon=1, delta=DELTA)
    gain = gain_among(columns, share=share, epsilon=1, delta=DELTA)
    factors = ours.noise_std()[:, 0] / equal.noise_std()[:, 0]
    assert gain.priority == pytest.approx(factors[0])
    np.testing.assert_allclose(factors[1:], gain.other)
    as_precise = design_noise(query, epsilon=gain.equal_epsilon, delta=DELTA)
    assert as_precise.noise_std()[0, 0] == pytest.approx(ours.noise_std()[0, 0], rel=1e-6)


def test_one_column_has_nothing_to_gain():
    with pytest.raises(InputError, match="columns must be at least 2"):
        gain_among(1, share=0.8, epsilon=1, delta=DELTA)
