"""Intervals for the population: against formulas written out, and refused where they would not hold."""

import numpy as np
import pytest

from mvgviz import Dataset, InputError, Ledger, Scenario, build, release_setup
from mvgviz.release.fitted import population_coefficients, population_means

N = 4_000
RNG = np.random.default_rng(3)
X = RNG.uniform(0, 10, N)
DATA = Dataset(matrix=np.vstack([X, np.clip(3 + 2 * X + RNG.standard_normal(N), 0, 40)]), features=("x", "y"),
               lower=[0, 0], upper=[10, 40])


def given(**changes):
    return release_setup(build(Scenario(**{"query": "mean", "epsilon": 1.0, "delta": 1e-6} | changes), DATA),
                         ledger=Ledger())


@pytest.mark.parametrize("scale", ["declared", "symmetric", "unit"])
def test_from_a_mean_alone_the_ranges_bound_the_sampling_error(scale):
    made = given(scale=scale)
    found = population_means(made)
    assert found.is_conservative
    np.testing.assert_allclose(found.sampling, 1.959964 * np.array([5, 20]) / np.sqrt(N), rtol=1e-6)
    np.testing.assert_allclose(found.half, np.hypot(found.noise, found.sampling), rtol=1e-6)
    np.testing.assert_allclose(found.values, DATA.matrix.mean(axis=1), atol=4 * found.noise.max())


def test_with_released_second_moments_the_sampling_error_is_the_usual_one():
    usual = 1.959964 * DATA.matrix.std(axis=1, ddof=1) / np.sqrt(N)
    made = given(query="moments", epsilon=1_000.0)
    for found in (population_means(made), population_means(given(epsilon=1_000.0), [made])):
        assert not found.is_conservative
        np.testing.assert_allclose(found.sampling, usual, rtol=0.03)


def test_coefficients_have_the_standard_error_of_least_squares():
    found = population_coefficients(given(query="moments", epsilon=1_000.0), "y")
    design = np.vstack([X, np.ones(N)])
    slope, rest, *_ = np.linalg.lstsq(design.T, DATA.matrix[1])
    error = np.sqrt(rest[0] / (N - 2) * np.linalg.inv(design @ design.T)[0, 0])
    assert found.values[0] == pytest.approx(slope[0], abs=2 * found.noise[0])
    assert found.sampling[0] == pytest.approx(1.959964 * error, rel=0.1)


def test_the_noise_of_coefficients_is_that_of_many_releases():
    found = [population_coefficients(given(query="moments", epsilon=20.0), "y") for _ in range(60)]
    spread = np.std([one.values[0] for one in found])
    assert spread == pytest.approx(np.mean([one.noise[0] for one in found]) / 1.96, rel=0.35)


def test_what_cannot_be_said_is_refused():
    for made, message in ((given(query="covariance"), "need a released mean"),
                          (given(bound="own", radius=0.2), "without a clipping bound"),
                          (given(query="moments", bound="even"), "without a clipping bound")):
        with pytest.raises(InputError, match=message):
            population_means(made)
    with pytest.raises(InputError, match="mean and second moments released together"):
        population_coefficients(given(), "y")
    with pytest.raises(InputError, match="noise is too large"):
        population_coefficients(given(query="moments", epsilon=0.01), "y")
