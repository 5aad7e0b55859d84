"""PNR against its definition as a determinant, and the two limits everybody knows.

max-PNR under the exact guarantee: the largest of the measure that is shown, against other searches.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import differential_evolution, minimize

import mvgviz as mv
from mvgviz import Dataset, Scenario, binary, covariance, design_noise, identity, log_pnr, mean
from mvgviz.data import sample
from mvgviz.design.allocation import FLOOR, least_error
from mvgviz.design.power_to_noise import fill_correlated, is_proved, measure_and_slope, most_informative
from mvgviz.noise.directions import random_rotation, rotation, standard_basis
from mvgviz.scenario.resolve import build, second_moments
from tests.datasets import make_dataset


def definition(answer_covariance, design):
    """``log det(I + K_f (Psi ⊗ Sigma)^-1)`` from dense matrices."""
    noise = np.kron(design.col_covariance(), design.row_covariance())
    return np.linalg.slogdet(np.eye(len(noise)) + answer_covariance @ np.linalg.inv(noise))[1]


@pytest.mark.parametrize("mode", ["rows", "columns", "both"])
def test_table_s_pnr_is_the_determinant(mode):
    data = make_dataset(3, 3 if mode == "both" else 5)
    query = mv.identity(data)
    moments = query.value @ query.value.T / query.cols
    size = query.cols if mode == "columns" else 3
    design = mv.design_noise(query, epsilon=5, delta=0.1, mode=mode, theta=mv.manual(np.arange(1.0, size + 1)),
                             directions=mv.random_rotation(size, rng=np.random.default_rng(1)))
    assert mv.log_pnr(moments, design) == pytest.approx(definition(np.kron(np.eye(query.cols), moments), design))


def test_along_eigenvectors_the_eigenvalues_are_enough():
    query = mv.identity(make_dataset(3, 5))
    own = mv.eigenvectors(query)
    design = mv.design_noise(query, epsilon=5, delta=0.1, directions=own, theta=[0.6, 0.3, 0.1])
    moments = query.value @ query.value.T / 5
    assert mv.log_pnr(own.eigenvalues, design) == pytest.approx(mv.log_pnr(moments, design))
    by_hand = 5 * np.sum(np.log1p(own.eigenvalues / design.row_variances))
    assert mv.log_pnr(own.eigenvalues, design) == pytest.approx(by_hand)
    assert mv.mutual_information(own.eigenvalues, design) == pytest.approx(by_hand / 2)
    assert mv.pnr(own.eigenvalues, design) == pytest.approx(math.exp(by_hand))


def test_mean_s_pnr_is_that_of_an_average():
    query = mv.mean(make_dataset(3, 7))
    design = mv.design_noise(query, epsilon=5, delta=0.1, theta=[0.6, 0.3, 0.1])
    moments = np.diag([3.0, 2.0, 1.0])
    assert mv.log_pnr(moments, design) == pytest.approx(definition(moments / 7, design))


def test_covariance_s_pnr_is_the_determinant_for_gaussian_records():
    n, lam = 11, np.array([3.0, 2.0, 0.5])
    query = mv.covariance(make_dataset(3, n))
    design = mv.design_noise(query, epsilon=5, delta=0.1, theta=[0.6, 0.3, 0.1])
    # S = X Xᵀ/n of Gaussian records: cov(S_ij, S_kl) = (K_ik K_jl + K_il K_jk)/n, K = diag(lam).
    k = np.diag(lam)
    entries = [(i, j) for j in range(3) for i in range(3)]
    answer = np.array([[(k[i, a] * k[j, b] + k[i, b] * k[j, a]) / n for a, b in entries] for i, j in entries])
    assert mv.log_pnr(lam, design) == pytest.approx(definition(answer, design))
    assert mv.log_pnr(k, design) == pytest.approx(mv.log_pnr(lam, design))


def test_more_budget_gives_more_information_and_no_signal_none():
    query = mv.identity(make_dataset(2, 6))
    gains = [mv.mutual_information([1.0, 0.1], mv.design_noise(query, epsilon=e, delta=1e-3)) for e in (0.1, 1, 10)]
    assert gains == sorted(gains)
    assert mv.mutual_information([0.0, 0.0], mv.design_noise(query, epsilon=1, delta=1e-3)) == 0


def test_a_pnr_beyond_all_numbers_is_infinite_but_its_logarithm_is_not():
    design = mv.design_noise(mv.identity(make_dataset(2, 2000)), epsilon=1000, delta=0.1)
    assert mv.pnr([1e6, 1e6], design) == math.inf
    assert 709 < mv.log_pnr([1e6, 1e6], design) < math.inf


@pytest.mark.parametrize(("eigenvalues", "query", "mode", "message"), [
    ([1.0], mv.identity(make_dataset(2, 3)), "rows", "eigenvalues must number 2, got 1"),
    ([1.0, -1.0], mv.identity(make_dataset(2, 3)), "rows", "eigenvalues must not be negative"),
    ([1.0, math.nan], mv.identity(make_dataset(2, 3)), "rows", "eigenvalues must be finite"),
    (np.eye(3), mv.identity(make_dataset(2, 3)), "rows", "eigenvalues as a matrix must be 2 × 2"),
    ([[1.0, 2.0], [3.0, 4.0]], mv.identity(make_dataset(2, 3)), "rows", "symmetric positive semi-definite"),
    (-np.eye(2), mv.identity(make_dataset(2, 3)), "rows", "symmetric positive semi-definite"),
    ([[1, 2], [3]], mv.identity(make_dataset(2, 3)), "rows", "eigenvalues must hold numbers only"),
    ([1.0, 1.0], mv.covariance(make_dataset(2, 3)), "rows", "needs mode both, got rows"),
    ([1.0, 1.0], mv.adjacency([[0, 1], [1, 0]]), "both", "identity, mean and covariance queries, got adjacency"),
])
def test_bad_arguments_are_refused(eigenvalues, query, mode, message):
    with pytest.raises(mv.InputError, match=message):
        mv.pnr(eigenvalues, mv.design_noise(query, epsilon=1, delta=0.1, mode=mode))


QUERIES = {"identity": identity, "mean": mean, "covariance": covariance}


def correlated(m, n=60, seed=0, lower=-1.0, upper=1.0):
    """Records with spreads and correlations of their own."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, m)) @ rng.normal(size=(m, n)) * rng.uniform(0.05, 0.6, (m, 1))
    low, high = np.broadcast_to(lower, m).astype(float), np.broadcast_to(upper, m).astype(float)
    matrix = np.clip((low + high)[:, None] / 2 + x * (high - low)[:, None] / 4, low[:, None], high[:, None])
    return Dataset(matrix=matrix, features=[f"f{i}" for i in range(m)], lower=low, upper=high)


def found(name, data, directions=None, epsilon=1.0):
    """The query, its moments, the design found, and a function from shares to their log PNR."""
    query = QUERIES[name](data)
    moments = data.matrix @ data.matrix.T / data.n_records
    directions = standard_basis(data.n_features) if directions is None else directions

    def design(theta=None):
        return design_noise(query, epsilon=epsilon, delta=1e-5, directions=directions, theta=theta)

    filled = most_informative(query, design(), directions.matrix.T @ moments @ directions.matrix)
    return query, moments, design(filled.theta), lambda theta: log_pnr(moments, design(theta))


@pytest.mark.parametrize("name", QUERIES)
def test_the_measure_is_the_one_that_is_shown_and_the_slope_is_its_derivative(name, rng):
    data = correlated(4)
    directions = random_rotation(4, rng=rng)
    _, moments, design, _ = found(name, data, directions)
    signal = directions.matrix.T @ moments @ directions.matrix / (data.n_records if name == "mean" else 1)
    records = data.n_records if name == "covariance" else None
    rho = design.row_side.precisions
    value, slope = measure_and_slope(rho, signal, covariance_of=records)
    shown = log_pnr(moments, design) / (design.cols if name == "identity" else 1)
    assert value == pytest.approx(shown, rel=1e-9)
    for k in range(4):
        up, down = (measure_and_slope(rho * np.exp(step * (np.arange(4) == k)), signal, covariance_of=records)[0]
                    for step in (1e-5, -1e-5))
        assert slope[k] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("budget", [1e-3, 1.0, 1e3])
def test_correlated_water_filling_meets_the_conditions_of_an_optimum(seed, budget):
    """Concave: slopes per price all equal where there is water, none larger where it is dry."""
    rng = np.random.default_rng(seed)
    m = 5
    root = rng.normal(size=(m, m)) * rng.uniform(0.01, 1, (m, 1))
    signal, h = root @ root.T, rng.uniform(0.5, 3, m)
    filled = fill_correlated(signal, budget=budget, half_widths=h)
    value, slope = measure_and_slope(filled.rho, signal)
    price = slope / filled.rho / h**2
    assert h**2 @ filled.rho == pytest.approx(budget)
    assert price[~filled.dry] == pytest.approx(price.max(), rel=1e-3)
    assert (price <= price.max() * (1 + 1e-12)).all()
    least = FLOOR * budget / m
    gap = least * price.sum() + (budget - m * least) * price.max() - slope.sum()
    assert gap <= 1e-6 * value  # no split has more, as the measure is concave


@pytest.mark.parametrize("name", ["identity", "mean"])
@pytest.mark.parametrize("seed", range(4))
def test_turned_tables_and_means_reach_the_largest_by_all_corners_at_once(name, seed):
    """Oracle: the same concave problem with every corner's constraint, from another start."""
    data = correlated(4, seed=seed, lower=[-1, 0, -3, 2], upper=[1, 1, 3, 4])
    directions = random_rotation(4, rng=np.random.default_rng(seed))
    query, moments, design, _ = found(name, data, directions, epsilon=30)
    n, w = data.n_records, directions.matrix
    signal = w.T @ moments @ w / (n if name == "mean" else 1)
    corners = np.array(list(itertools.product((-1, 1), repeat=4))) * data.widths
    terms = (corners @ w) ** 2 / (n * n if name == "mean" else 1) / design.mu**2
    start = 0.5 / (4 * terms.max(axis=0))
    best = minimize(lambda t: -np.linalg.slogdet(np.eye(4) + signal * (t * start)[None, :])[1], np.ones(4),
                    method="SLSQP", bounds=[(1e-6, None)] * 4, options={"ftol": 1e-13, "maxiter": 500},
                    constraints={"type": "ineq", "fun": lambda t: 1 - terms @ (t * start)})
    reached = log_pnr(moments, design) / (design.cols if name == "identity" else 1)
    assert reached == pytest.approx(-best.fun, rel=2e-4)
    assert query.neighbours.worst(design.row_side, design.col_side).mu == pytest.approx(design.mu)


@pytest.mark.slow
@pytest.mark.parametrize(("lower", "upper"), [(-1, 1), (0, 1), ([-1, 0, 2], [1, 3, 3])])
@pytest.mark.parametrize("turned", [False, True])
def test_covariances_reach_what_a_long_search_finds(lower, upper, turned):
    data = correlated(3, lower=lower, upper=upper, seed=3)
    directions = random_rotation(3, rng=np.random.default_rng(1)) if turned else None
    _, moments, design, score = found("covariance", data, directions, epsilon=5)

    def down(logs):
        theta = np.maximum(np.exp([*logs, 0.0]), FLOOR)
        return -score(theta / theta.sum())

    long = differential_evolution(down, [(-8, 8)] * 2, seed=1, maxiter=25, popsize=10, tol=1e-8)
    assert log_pnr(moments, design) >= -long.fun * 0.99


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("data", ["liver", "cardiotocography", "movement_simulated"])
@pytest.mark.parametrize("kind", ["standard", "eigenvectors", "random"])
def test_no_other_split_that_is_shown_lets_more_through(name, data, kind):
    table = sample(data)
    one = Scenario.default_for(data).changed(query=name, directions=kind, allocation="max-pnr")
    setup = build(one, table)
    moments, directions = second_moments(setup), setup.design.row_directions
    best = log_pnr(moments, setup.design)
    h = setup.query.neighbours.reach(directions)
    for share in (0.55, 0.8, 0.95):
        some = binary(table.n_features, priority=one.priority_directions, share=share)
        for theta in (None, some, least_error(some, half_widths=h)):
            other = design_noise(setup.query, epsilon=1, delta=setup.delta, directions=directions, theta=theta)
            assert log_pnr(moments, other) <= best * (1 + 1e-6)


@pytest.mark.parametrize(("query", "least"), [("mean", 1.43), ("covariance", 2.32)])
def test_the_liver_table_gets_more_through_than_a_filling_in_other_units(query, least):
    """½ log PNR in nats at epsilon 1, delta 1/n; with the table's signal in place of the answer's 1.254 and 1.811."""
    table = sample("liver")
    setup = build(Scenario.default_for("liver").changed(query=query, allocation="max-pnr", delta=1 / 345), table)
    assert log_pnr(second_moments(setup), setup.design) / 2 >= least


def test_only_concave_problems_are_called_proved(rng):
    data, turned = make_dataset(4, 30), random_rotation(4, rng=rng)
    for query, directions, expected in ((identity, None, True), (mean, None, True), (mean, turned, True),
                                        (covariance, None, False)):
        assert is_proved(design_noise(query(data), epsilon=1, delta=1e-5, directions=directions)) is expected
    many = design_noise(mean(make_dataset(13, 30)), epsilon=1, delta=1e-5, directions=random_rotation(13, rng=rng))
    assert not is_proved(many)


@pytest.mark.parametrize("name", QUERIES)
def test_a_released_spectrum_is_all_that_a_private_split_reads(name):
    one, two = correlated(4, seed=1), correlated(4, seed=2)
    spectrum = np.array([0.4, 0.2, 0.1, 0.0])
    shares = []
    for data in (one, two):
        query = QUERIES[name](data)
        equal = design_noise(query, epsilon=1, delta=1e-5)
        shares.append(most_informative(query, equal, spectrum).theta)
    assert (shares[0] == shares[1]).all()
    assert np.argmax(shares[0]) == 0


@pytest.mark.parametrize("angle", [10, 45])
@pytest.mark.parametrize("name", ["identity", "mean"])
def test_the_best_split_along_turned_directions_is_never_below_equal_shares(name, angle):
    """In a square box both directions reach equally far, so equal shares give round noise; other shares do not."""
    data, turned = correlated(2, seed=3), rotation(2, (0, 1), math.radians(angle))
    query, moments = QUERIES[name](data), data.matrix @ data.matrix.T / data.n_records
    equal = design_noise(query, epsilon=1, delta=1e-5, directions=turned)
    assert equal.row_side.is_isotropic
    theta = most_informative(query, equal, turned.matrix.T @ moments @ turned.matrix).theta
    best = design_noise(query, epsilon=1, delta=1e-5, directions=turned, theta=theta)
    assert log_pnr(moments, best) >= log_pnr(moments, equal) * (1 - 1e-9)
