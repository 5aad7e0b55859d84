"""What a design's noise does to second moments, and how sure a fitted coefficient is."""

import numpy as np
import pytest

from mvgviz import binary, covariance, design_noise, random_rotation, sample_noise
from mvgviz.noise.moment_noise import MomentNoise, coefficient_intervals, ridge_weights, table_noise, table_std
from tests.datasets import make_dataset


@pytest.mark.parametrize("turned", [False, True])
def test_the_noise_of_a_design_is_that_of_its_samples(rng, turned):
    query = covariance(make_dataset(4, 300))
    design = design_noise(query, epsilon=1, delta=1e-6, theta=binary(4, favoured=[1], share=0.7),
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
    assert table_std(moments[:5], sigma, n) == pytest.approx(np.broadcast_to(measured, (5, 3, 3)), rel=0.12)
    assert np.einsum("tii->ti", table_noise(moments[:5], sigma, n).std) == pytest.approx(
        np.einsum("tii->ti", table_std(moments[:5], sigma, n)))


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
