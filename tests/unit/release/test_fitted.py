"""Regressions from a release, and intervals for the population: against predictions and formulas written out."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from mvgviz import Dataset, InputError, Ledger, Scenario, sample_noise
from mvgviz.data import sample
from mvgviz.noise.moment_noise import ridge_weights
from mvgviz.pictures.release import coefficient_columns, fit_picture
from mvgviz.release.fitted import fitted_coefficients, labels, population_coefficients, population_means, refusal
from mvgviz.release.release import release_setup
from mvgviz.scenario.resolve import build


def released(scenario, data="liver", **options):
    setup = build(Scenario.default_for(data).changed(**scenario), sample(data))
    return setup, release_setup(setup, **options)


@pytest.fixture
def unshrunk(monkeypatch):
    """Ridge as it stands, which can be solved for by hand."""
    monkeypatch.setattr("mvgviz.release.fitted.ridge_weights", partial(ridge_weights, shrink=False))


@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize("scale", ["symmetric", "unit", "declared"])
def test_it_is_ridge_in_the_data_s_units(scale):
    setup, given = released({"scale": scale})
    fit = fitted_coefficients(replace(given, noisy=setup.query.value), "drinks")
    size, table = setup.table.largest_values, setup.dataset
    x = setup.table.matrix / size[:, None]
    std = np.diag(setup.design.noise_std()) / size**2
    moments = x @ x.T / x.shape[1]
    slopes = np.linalg.solve(moments[:5, :5] + np.diag(0.003 + 0.5 * np.sqrt(6) * std[:5]), moments[:5, 5])
    for i in range(5):  # move a feature by one of its own units, and see the label move
        there = table.matrix[:, :1].copy()
        there[i] += 1
        moved = replace(table, matrix=np.hstack([table.matrix[:, :1], there]))
        asked = moved if scale == "declared" else moved.normalised(to=(-1, 1) if scale == "symmetric" else (0, 1))
        change = slopes @ np.diff(asked.matrix[:5] / size[:5, None], axis=1)[:, 0] * size[5]
        per_unit = (table.widths / setup.table.widths)[5]
        assert fit.values[i] == pytest.approx(change * per_unit, rel=1e-6)
    np.testing.assert_allclose(fit.whole, table.widths[:5] / table.widths[5])
    assert fit.features == table.features[:5]


def test_a_signal_that_does_not_carry_is_switched_off_and_not_made_certain():
    made = [released({"query": "moments", "epsilon": 0.1}) for _ in range(21)]
    fits = [fitted_coefficients(given, "drinks") for _, given in made]
    strong = fitted_coefficients(replace(made[0][1], noisy=made[0][0].query.value * 1e6), "drinks")
    largest = [np.abs(fit.values * fit.whole).max() for fit in fits]  # one in twenty passes 0.2
    assert np.median(largest) < 0.2 < np.abs(strong.values * strong.whole).max()
    assert all(((fit.upper - fit.lower) * fit.whole > 0.1).all() for fit in fits)


@pytest.mark.usefixtures("unshrunk")
def test_with_the_mean_released_too_it_has_an_intercept():
    setup, given = released({"query": "moments"})
    fit = fitted_coefficients(replace(given, noisy=setup.query.value), "drinks")
    x = np.vstack([setup.dataset.normalised().matrix, np.ones(setup.dataset.n_records)])
    moments, others = x @ x.T / x.shape[1], [0, 1, 2, 3, 4, 6]
    ridge = np.append(0.003 + 0.5 * np.sqrt(6) * np.diag(setup.design.noise_std())[:5], 1e-3)
    slopes = np.linalg.solve(moments[np.ix_(others, others)] + np.diag(ridge), moments[others, 5])[:5]
    widths = setup.dataset.widths
    np.testing.assert_allclose(fit.values, slopes * widths[5] / widths[:5], rtol=1e-6)
    assert labels(given) == list(setup.dataset.features)
    assert fit.features == setup.dataset.features[:5]
    for wrong in (setup.query.row_names[-1], "beer"):  # the constant is no label
        with pytest.raises(InputError, match="label must be one of"):
            fitted_coefficients(given, wrong)


@pytest.mark.slow
@pytest.mark.parametrize(("choice", "data"), [
    ({"epsilon": 1, "query": "covariance", "bound": "none"}, "liver"), ({"epsilon": 3, "query": "moments"}, "liver"),
    ({"epsilon": 0.3}, "movement_simulated")])
def test_intervals_hold_the_fit_without_noise(choice, data):
    setup, given = released(choice, data)
    label = setup.dataset.features[-1]
    draws = setup.query.value + sample_noise(setup.design, rng=np.random.default_rng(3), trials=60)
    truth = fitted_coefficients(replace(given, noisy=setup.query.value), label).values
    fits = [fitted_coefficients(replace(given, noisy=noisy), label) for noisy in draws]
    inside = np.mean([(fit.lower <= truth) & (truth <= fit.upper) for fit in fits])
    narrower = np.mean([np.abs(truth - fit.values) < (fit.upper - fit.values) / 3 for fit in fits])
    assert inside > 0.93
    assert narrower < 0.85  # a third of the width would not do


def test_it_uses_the_release_alone_and_says_the_same_twice():
    _, given = released({})
    first, again = fitted_coefficients(given, "drinks"), fitted_coefficients(given, "drinks")
    for name in ("values", "lower", "upper"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert (first.lower <= first.values).all()
    assert (first.values <= first.upper).all()
    told = coefficient_columns(first)
    assert told["lower"] == first.lower.tolist()
    dots = fit_picture(first).figure.data[0]
    np.testing.assert_allclose(dots.x, 100 * first.values * first.whole)
    np.testing.assert_allclose(dots.error_x.arrayminus + dots.error_x.array,
                               100 * (first.upper - first.lower) * first.whole)


def test_the_takeaway_names_what_is_clear_of_the_noise():
    _, given = released({"epsilon": 1000})
    fit = fitted_coefficients(given, "drinks")
    clear = replace(fit, lower=fit.values - 1, upper=fit.values + 1, values=fit.values)
    clear = replace(clear, lower=np.array([1.0, -1, -1, -1, -3]), upper=np.array([2.0, 1, 1, 1, -2]))
    assert clear.clear == ("mcv", "gammagt")
    assert fit_picture(clear).takeaway == "**Clear of the noise: 2 of 5 coefficients of drinks:** mcv and gammagt."
    none = replace(clear, lower=-np.ones(5), upper=np.ones(5))
    assert fit_picture(none).takeaway.startswith("**No coefficient of drinks is clear of the noise:**")


@pytest.mark.parametrize(("scenario", "accept", "reason"), [
    ({"query": "mean", "task": "reconstruction"}, (), "needs released second moments with their ranges, got mean"),
    ({"mode": "rows"}, (), "need noise over both sides"),
    ({"directions": "eigenvectors"}, ("directions",), "with its covariance in the certificate"),
])
def test_what_cannot_be_fitted_is_refused_with_a_sentence(scenario, accept, reason):
    _, given = released(scenario, accept=accept)
    assert reason in refusal(given)
    with pytest.raises(InputError, match=reason):
        fitted_coefficients(given, "drinks")


# The population

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
