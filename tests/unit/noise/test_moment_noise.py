"""Second moments with known noise: projected, regressed from and shrunk in the noise's own coordinates.

What a design's noise does to second moments, and how sure a fitted coefficient is.
"""

import math

import numpy as np
import pytest

from mvgviz import InputError, binary, covariance, design_noise, random_rotation, sample_noise
from mvgviz.noise.moment_noise import (
    MomentNoise,
    _shrunk_fits,
    coefficient_intervals,
    components,
    penalties,
    projected,
    ridge_weights,
    shrunk,
    table_noise,
)
from tests.datasets import make_dataset


def some_moments(rng, m=5):
    root = rng.standard_normal((m, m)) * np.linspace(1, 0.2, m)
    moments = root @ root.T
    return moments / moments.max()


def turned_noise(rng, m=5):
    return MomentNoise(root=np.linalg.qr(rng.standard_normal((m, m)))[0] * rng.uniform(0.1, 1, m))


def test_std_and_draws_are_those_of_a_matrix_averaged_with_its_transpose(rng):
    noise = turned_noise(rng)
    raw = noise.root @ rng.standard_normal((40_000, 5, 5)) @ noise.root.T
    own = (raw + raw.transpose(0, 2, 1)) / 2
    assert own.std(axis=0) == pytest.approx(noise.std, rel=0.03)
    assert noise.draws(40_000, rng=rng).std(axis=0) == pytest.approx(noise.std, rel=0.03)


def test_the_edge_is_where_the_eigenvalues_of_white_noise_end(rng):
    noise = MomentNoise(root=np.eye(60))
    largest = np.linalg.eigvalsh(noise.draws(50, rng=rng))[:, -1]
    assert largest.mean() == pytest.approx(noise.edge, rel=0.05)


def test_no_positive_matrix_is_nearer_where_the_noise_is_white(rng):
    noise = turned_noise(rng)
    noisy = some_moments(rng) + noise.draws(6, rng=rng)
    found, inverse = projected(noisy, noise), np.linalg.inv(noise.root)
    assert np.linalg.eigvalsh(found).min() > -1e-9

    def distance(matrices):
        return np.linalg.norm(inverse @ (matrices - noisy) @ inverse.T, axis=(1, 2))

    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            move = np.eye(5) + size * rng.standard_normal((5, 5))
            assert (distance(move @ found @ move.T) >= distance(found) - 1e-9).all()


def test_without_noise_the_projection_is_the_usual_one(rng):
    noisy = some_moments(rng) - 0.3 * np.eye(5)
    values, vectors = np.linalg.eigh(noisy)
    silent = MomentNoise.from_std(np.zeros((5, 5)))
    assert projected(noisy, silent) == pytest.approx((vectors * np.maximum(values, 0)) @ vectors.T, abs=1e-12)


@pytest.mark.parametrize("constant", [None, 0])
def test_ridge_solves_its_own_equations(rng, constant):
    noise, features = turned_noise(rng), [0, 2, 3]
    noisy = some_moments(rng) + noise.draws(4, rng=rng)
    known = projected(noisy, noise)
    ridge = [0.003 + 0.5 * noise.std[i, i] * math.sqrt(4 if constant is None else 3) for i in features]
    if constant is not None:
        ridge[0] = 1e-3
    assert penalties(noise, [i for i in features if i != constant]) == pytest.approx(ridge[constant is not None:])
    expected = [np.linalg.solve(each[np.ix_(features, features)] + np.diag(ridge), each[features, 4])
                for each in known]
    assert ridge_weights(noisy, noise, features=features, label=4, constant=constant, shrink=False) == pytest.approx(
        np.array(expected), rel=1e-8)
    silent = MomentNoise.from_std(np.zeros((5, 5)))  # nothing to shrink for
    found = [ridge_weights(known, silent, features=features, label=4, constant=constant, shrink=shrink)
             for shrink in (True, False)]
    assert found[0] == pytest.approx(found[1], rel=1e-8)


@pytest.mark.parametrize("truth", [(2.0, 0.0, 0.1), (0.1, 0.0, 0.1)])
def test_the_estimated_risk_is_the_risk(rng, truth):
    """Mallows' Cp against the true error, where features are known and only the products have noise."""
    squares, noise, coefficients = np.array([5.0, 1.0, 0.2]), np.array([0.3, 0.2, 0.1]), np.array(truth)
    products = coefficients * squares + np.sqrt(noise) * rng.standard_normal((200_000, 3))
    fits = 1 / (squares + 1 + noise / squares)
    estimated = ((squares * fits - 2) * fits * products**2 + 2 * noise * fits).sum(axis=1).mean()
    error = (squares * (fits * products - coefficients) ** 2 - squares * coefficients**2).sum(axis=1).mean()
    assert estimated == pytest.approx(error, rel=0.01, abs=2e-3)
    explained = products[:1_000] ** 2 / squares
    fits = _shrunk_fits(np.broadcast_to(squares, explained.shape), explained, np.broadcast_to(noise, explained.shape))
    shrunk, plain = ((squares * (each * products[:1_000] - coefficients) ** 2).sum(axis=1).mean()
                     for each in (fits, 1 / (squares + 1)))
    assert shrunk < 1.05 * plain


@pytest.mark.parametrize("constant", [None, 0])
def test_without_signal_the_mean_is_left(rng, constant):
    """Its predictions vary a quarter as much as those of a fit that does not shrink."""
    moments = np.diag([1.0, 0.3, 0.3, 0.3, 0.05])
    noise = MomentNoise.from_std(0.1 * np.eye(5))
    noisy = moments + noise.draws(400, rng=rng)
    varies = [np.square(ridge_weights(noisy, noise, features=range(4), label=4, constant=constant, shrink=shrink)[:, 1:]
                        ).mean() for shrink in (True, False)]
    assert varies[0] < 0.25 * varies[1]


def test_plain_ridge_does_not_look_at_the_noise(rng):
    moments = some_moments(rng)
    expected = np.linalg.solve(moments[:4, :4] + 0.1 * np.eye(4), moments[:4, 4])
    for noise in (turned_noise(rng), MomentNoise.from_std(1e6 * np.eye(5))):
        found = ridge_weights(moments, noise, features=range(4), label=4, aware=False)
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", [0.0, 1e-12, 1e6, 1e12])
def test_any_noise_gives_small_coefficients(rng, level):
    noise = MomentNoise.from_std(np.diag([level, level, 1e-3 * level, level, level]))
    noisy = some_moments(rng) + noise.draws(200, rng=rng)
    found = ridge_weights(noisy, noise, features=range(4), label=4)
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 60


def test_a_feature_that_is_mostly_noise_switches_itself_off(rng):
    moments = some_moments(rng)
    noise = MomentNoise.from_std(np.diag([1e-4, 1e-4, 1e3, 1e-4, 1e-4]))
    found = ridge_weights(moments + noise.draws(300, rng=rng), noise, features=range(4), label=4)
    without = ridge_weights(moments, MomentNoise.from_std(np.zeros((5, 5))), features=[0, 1, 3], label=4)
    assert np.abs(found[:, 2]).max() < 0.05
    assert np.abs(found[:, [0, 1, 3]].mean(axis=0) - without).max() < 0.15


def test_each_release_may_have_noise_of_its_own(rng):
    noises = [MomentNoise.from_std(np.diag(rng.uniform(0.01, 1, 5))) for _ in range(3)]
    together = MomentNoise(root=np.stack([noise.root for noise in noises]))
    noisy = some_moments(rng) + together.draws(3, rng=rng)
    for function in (projected, shrunk, lambda *one: components(*one)[1]):
        found = function(noisy, together)
        assert found == pytest.approx(np.stack([function(noisy[k], noises[k]) for k in range(3)]), abs=1e-9)
    found = ridge_weights(noisy, together, features=[0, 1], label=4)
    assert found[2] == pytest.approx(ridge_weights(noisy[2], noises[2], features=[0, 1], label=4))


def test_components_under_equal_noise_are_the_released_ones(rng):
    noise = MomentNoise.from_std(0.2 * np.eye(5))
    noisy = some_moments(rng) + noise.draws(20, rng=rng)
    plain = np.linalg.eigh(noisy)[1][:, :, ::-1]
    assert np.abs(np.einsum("tji,tji->ti", plain, components(noisy, noise)[1])) == pytest.approx(np.ones((20, 5)))


def captured(vectors, moments):
    return np.einsum("tji,tji->ti", vectors, moments @ vectors)


def test_components_under_uneven_noise_capture_more(rng):
    """First component, all of them and the squared error of the moments, over many truths."""
    lost = np.zeros((2, 2))
    errors = np.zeros(2)
    for m in (4, 8, 12, 20) * 5:
        factor = rng.standard_normal((m, 2))
        truth = factor @ factor.T / m + np.diag(rng.uniform(0.01, 0.1, m))
        best = np.linalg.eigvalsh(truth)[::-1]
        share = np.where(np.arange(m) < m // 4, 0.7 / (m // 4), 0.3 / (m - m // 4))
        noise = MomentNoise.from_std(np.diag(0.3 / m / share))
        noisy = truth + noise.draws(50, rng=rng)
        for k, found in enumerate((np.linalg.eigh(noisy)[1][:, :, ::-1], components(noisy, noise)[1])):
            kept = captured(found, truth)
            lost[k] += (best[0] - kept[:, 0]).mean(), np.square(best - kept).sum(axis=1).mean()
        inverse = np.linalg.inv(noise.root)
        for k, matrix in enumerate((projected(noisy, noise), shrunk(noisy, noise))):
            errors[k] += np.square(inverse @ (matrix - truth) @ inverse.T).sum(axis=(1, 2)).mean()
    assert (lost[1] < 0.9 * lost[0]).all()
    assert errors[1] < 0.9 * errors[0]


def test_a_label_among_its_features_gets_a_sentence(rng):
    for features in ([], [0, 4]):
        with pytest.raises(InputError, match="at least one feature"):
            ridge_weights(some_moments(rng), turned_noise(rng), features=features, label=4)


@pytest.mark.parametrize("turned", [False, True])
def test_the_noise_of_a_design_is_that_of_its_samples(rng, turned):
    query = covariance(make_dataset(4, 300))
    design = design_noise(query, epsilon=1, delta=1e-6, theta=binary(4, priority=[1], share=0.7),
                          directions=random_rotation(4, rng=rng) if turned else None)
    samples = np.stack([sample_noise(design, rng=rng) for _ in range(4_000)])
    found = ((samples + samples.transpose(0, 2, 1)) / 2).std(axis=0)
    assert MomentNoise(root=design.row_side.root()).std == pytest.approx(found, rel=0.07)


@pytest.mark.slow
def test_the_noise_on_moments_of_a_noisy_table(rng):
    """Repeated noise on one table is the oracle; the noise is read from a single release of many records."""
    n, sides = 3_000, np.array([0.3, 1.0, 2.0])
    x = rng.uniform(-1, 1, (3, n)) + np.array([[0.5], [0.0], [0.2]])
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    sigma = (turn * sides**2) @ turn.T
    tables = x + (turn * sides) @ rng.standard_normal((2_000, 3, n))
    moments = tables @ tables.transpose(0, 2, 1) / n
    measured = (moments - sigma).std(axis=0)
    found = np.einsum("tii->ti", table_noise(moments[:5], sigma, n).std)
    assert found == pytest.approx(np.broadcast_to(np.diag(measured), (5, 3)), rel=0.12)


@pytest.mark.parametrize(("level", "least"), [(1e-3, 0.9), (0.03, 0.9), (1.0, 0.95)])
def test_intervals_hold_the_coefficient_without_noise(level, least):
    rng = np.random.default_rng(4)
    hits, widths = [], []
    for _ in range(30):
        root = rng.standard_normal((6, 6)) + rng.standard_normal((6, 1))
        truth = root @ root.T / (root @ root.T).max()
        noise = MomentNoise.from_std(np.diag(level * rng.uniform(0.3, 3, 6)))
        asked = {"features": range(5), "label": 5}
        exact = ridge_weights(truth, noise, **asked)
        found = coefficient_intervals(truth + noise.draws(1, rng=rng)[0], noise, rng=rng, draws=200, **asked)
        assert (found[:, 0] <= found[:, 1]).all()
        hits.append((found[:, 0] <= exact) & (exact <= found[:, 1]))
        widths.append(found[:, 1] - found[:, 0])
    assert least <= np.mean(hits)
    assert np.mean(widths) < 1.5


def test_without_noise_an_interval_is_a_point(rng):
    truth = np.eye(3) + 0.2
    found = coefficient_intervals(truth, MomentNoise.from_std(np.zeros((3, 3))), features=[0, 1], label=2, rng=rng)
    assert found[:, 0] == pytest.approx(found[:, 1], abs=1e-9)
