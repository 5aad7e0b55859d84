"""A bound whose length is found privately: what it spends, and that a release finds it afresh."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from mvgviz import Ledger, RecordBound, Scenario, design_noise, from_matrix, moments
from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.provenance import Origin
from mvgviz.release.files import to_metadata_json
from mvgviz.release.release import plan, release, release_setup
from mvgviz.release.secure_noise import noisy_count
from mvgviz.scenario.resolve import build
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.problem import pose
from tests.datasets import make_dataset

DATA = make_dataset(3, 400)


def scenario(query="covariance", **choices):
    return Scenario(**{"data": "upload-000000000000", "query": query, "scale": "declared", "bound": "private",
                       "delta": 1e-6} | choices)


@pytest.mark.parametrize("query", ["identity", "mean", "covariance", "kernel"])
def test_length_and_noise_spend_the_budget_together(query):
    setup = build(scenario(query, allocation="uniform"), DATA)
    whole = float(gaussian_mu(1.0, 1e-6))
    assert setup.design.bound_mu == pytest.approx(whole * math.sqrt(0.1))
    assert math.hypot(setup.design.mu, setup.design.bound_mu) == pytest.approx(whole)
    assert plan(setup).mu == pytest.approx(whole)
    assert setup.origins["bound"] is Origin.PAID


def test_a_release_finds_the_length_anew_and_tells_it():
    setup, ledger = build(scenario(), DATA), Ledger(cap=(1.0, 1e-6))
    given = release_setup(setup, ledger=ledger)
    assert given.mu == pytest.approx(float(gaussian_mu(1.0, 1e-6)))
    assert [receipt.is_fresh for receipt in (*given.bound.receipts, *setup.query.bound.receipts)] == [True, False]
    told = json.loads(to_metadata_json(given))["record_bound"]
    assert told["radius"] == given.bound.radius
    assert told["mu_spent_on_its_radius"] == pytest.approx(setup.design.bound_mu)
    others = {release_setup(setup).bound.radius for _ in range(5)}
    assert len(others) > 1  # no seed
    with pytest.raises(InputError, match="cap"):
        release_setup(setup, ledger=ledger)


def test_a_declared_bound_is_told_and_spends_nothing():
    given = release_setup(build(scenario(bound="even"), DATA))
    told = json.loads(to_metadata_json(given))["record_bound"]
    assert (told["radius"], told["mu_spent_on_its_radius"], told["origin"]) == (1.0, 0.0, "declared")
    assert len(told["weights"]) == 3


def test_a_bound_on_ranges_that_were_read_keeps_its_numbers_to_itself():
    read = type(DATA)(matrix=DATA.matrix, features=DATA.features, lower=-1, upper=1, range_origins=Origin.READ)
    setup = build(scenario(bound="even"), read)
    assert {"ranges", "bound"} <= set(plan(setup).caveats)
    told = json.loads(to_metadata_json(release_setup(setup, accept=plan(setup).caveats)))["record_bound"]
    assert told["radius"] is told["weights"] is told["centre"] is None


@pytest.mark.slow
def test_hardened_counts_have_the_noise_they_are_said_to_have():
    drawn = np.array([noisy_count(100, 7.0) for _ in range(1_500)])
    assert stats.kstest((drawn - 100) / 7.0, "norm").pvalue > 1e-6
    assert 0.9 < drawn.std() / 7.0 < 1.1


def test_every_trial_finds_its_own_length_and_counts_what_it_spends():
    problem = pose(scenario(trials=3), DATA)
    sampler = mechanism("mvg").prepare(problem, "answer")
    assert sampler.mu == pytest.approx(float(gaussian_mu(1.0, 1e-6)))
    radii = {problem.redrawn_setup("exact", seed).query.bound.radius for seed in range(6)}
    assert len(radii) > 1


@pytest.mark.parametrize(("choices", "said"), [({"guarantee": "theorem1"}, "exact guarantee"),
                                               ({"query": "moments"}, "does not support")])
def test_where_it_does_not_go_together_a_sentence_says_so(choices, said):
    with pytest.raises(InputError, match=said):
        build(scenario(**choices), DATA)


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_directions_from_a_file_go_with_it_and_together_it_is_called_an_upper_bound(query):
    turned = from_matrix(np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0])
    setup = build(scenario(query, directions="upload"), DATA, uploaded=turned)
    given = release_setup(setup, accept=plan(setup).caveats)
    assert all(receipt.is_fresh for receipt in given.bound.receipts)
    assert given.mu_is == "upper bound"


def test_rounding_is_covered_for_moments_in_large_coordinates():
    data = make_dataset(2, 20_000, -1e3, 1e3)
    query = moments(data, bound=RecordBound(radius=1e3)).query
    given = release(query, design_noise(query, epsilon=1, delta=1e-6))
    assert given.hardening.sensitivity > given.mu * (1 + 1e-8)
