"""A release: OpenDP's claim against ours, the noise that leaves, what is refused, what the files say.

Noise here is fresh each time, so no seed makes these tests repeat: each tolerance states its chance.
"""

import csv
import importlib
import io
import json
import math
import random
import sys
import tracemalloc
import warnings
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import mvgviz as mv
from mvgviz.data import sample
from mvgviz.provenance import Origin, Range, receipt_for
from mvgviz.release.files import to_csv, to_metadata_json, to_npy
from mvgviz.release.ledger import Ledger
from mvgviz.release.release import NoLedgerWarning, Release, plan, release, release_setup, release_together
from mvgviz.release.secure_noise import (
    FRESH_DIRECTIONS,
    MARGIN,
    add_noise,
    computed_sensitivity,
    gaussian,
    hardening,
    private_directions,
    whiten,
)
from mvgviz.scenario.resolve import build
from tests.datasets import make_dataset

hardened_module, release_module = map(
    importlib.import_module, ("mvgviz.release.secure_noise", "mvgviz.release.release"))


def designs():
    """Queries with designs of every kind: name → (query, design, ranges)."""
    rng = np.random.default_rng(11)
    data, skewed = make_dataset(3, 40), make_dataset(3, 40, lower=[0, -5, 900], upper=[1e-3, 5, 1000])
    graph = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    theta, turn = mv.manual([1, 2, 7]), mv.random_rotation(3, rng=rng)
    budget = {"epsilon": 1, "delta": 1e-5}

    def made(query, data=None, **how):
        return query, mv.design_noise(query, **budget | how), None if data is None else data.ranges

    return {
        "rows": made(mv.identity(data), data, theta=theta),
        "rotated": made(mv.identity(data), data, theta=theta, directions=turn),
        "columns": made(mv.identity(data), data, mode="columns", theta=mv.manual(rng.uniform(0.1, 1, 40))),
        "columns, rotated": made(mv.identity(data), data, mode="columns", directions=mv.random_rotation(40, rng=rng)),
        "both": made(mv.covariance(data), data, theta=theta),
        "both, rotated": made(mv.covariance(skewed), skewed, theta=theta, directions=turn),
        "mean of skewed ranges": made(mv.mean(skewed), skewed, theta=theta),
        "mean, ranges unknown": made(mv.mean(data)),
        "theorem 1": made(mv.identity(data), data, guarantee="theorem1", theta=theta),
        "theorem 2": made(mv.covariance(data), data, guarantee="theorem2", theta=theta, directions=turn),
        "theorem 2, any query": made(mv.mean(data), data, guarantee="theorem2-any", tail="exact-chi"),
        "tiny epsilon": made(mv.identity(data), data, epsilon=1e-3, delta=1e-30),
        "large epsilon": made(mv.identity(data), data, epsilon=1000, theta=theta),
        "adjacency": made(mv.adjacency(graph), theta=mv.manual([1, 2, 3, 4])),
        "laplacian": made(mv.laplacian(graph), directions=mv.rotation(4, (0, 3), 0.4), theta=mv.manual([1, 2, 3, 4])),
        "kernel": made(mv.rbf_kernel(data, length=2.0), data),
        "kernel, very short": made(mv.rbf_kernel(data, length=1e-6), data),
        "kernel, very long": made(mv.rbf_kernel(data, length=1e6), data),
        "custom": made(mv.custom(np.arange(6.0).reshape(2, 3), sensitivity=0.5, gamma=10),
                       directions=mv.rotation(2, (0, 1), 0.3), theta=mv.manual([1, 3])),
        "one number": made(mv.custom([[3.0]], sensitivity=1, gamma=3)),
    }


CASES = designs()
anything = pytest.mark.parametrize("name", CASES)


def silent(values, plan, *, progress=None):
    return values.copy()


def refuses_to_draw(*_, **__):
    raise AssertionError("noise was drawn")


# OpenDP's claim


@anything
def test_opendp_never_claims_less_privacy_than_we_do(name):
    import opendp.prelude as dp

    query, design, ranges = CASES[name]
    given = release(query, design, ranges=ranges)
    how = given.hardening
    measurement = gaussian(query.rows * query.cols, how.noise_std, how.exponent)
    rho = measurement.map(d_in=how.sensitivity)
    ours = Fraction(design.mu) ** 2 / 2
    assert rho == how.rho
    assert Fraction(rho) <= ours
    assert rho > float(ours) * (1 - 1e-9)  # and hardly any noise is wasted
    assert how.sensitivity >= design.mu * (1 + MARGIN)
    # The very long kernel moves by 1e-11 while its entries round at 1e-16: that is paid for.
    assert 1 < how.noise_std < 1 + (0.01 if name == "kernel, very long" else 1e-6)
    # Without the enlargement OpenDP would claim less than we do.
    assert Fraction(gaussian(query.rows * query.cols, 1.0, how.exponent).map(d_in=how.sensitivity)) > ours
    converted = dp.c.make_zCDP_to_approxDP(measurement).map(how.sensitivity).epsilon(given.delta)
    assert given.epsilon <= converted * (1 + 1e-9)  # zCDP is the looser account of the same noise
    assert given.epsilon == pytest.approx(mv.gaussian_epsilon(given.delta, design.mu), rel=1e-12)


@pytest.mark.parametrize("mu", [1e-12, 3e-5, 0.3, 40.0])
@pytest.mark.parametrize("entries", [1, 45_000, 20_000_000])
def test_the_grid_costs_next_to_nothing_for_any_size(mu, entries):
    how = hardening(entries=entries, mu=mu, sensitivity=mu * (1 + MARGIN))
    assert how.exponent <= -60
    assert math.sqrt(entries) * 2.0**how.exponent <= 2e-12 * mu
    assert how.noise_std == pytest.approx(1 + MARGIN, abs=3e-12)
    assert Fraction(how.rho) <= Fraction(mu) ** 2 / 2


@pytest.mark.parametrize("away", [0.0, 1.0, 2.0**10, 2.0**11])
def test_discrete_and_rounded_gaussian_agree_within_the_factor_that_is_claimed(away):
    """On the coarsest grid, by 120 digits: |log ratio| of the probabilities of one outcome, at most 2^-100."""
    from mpmath import exp, log, mp, mpf, quad

    with mp.workdps(120):
        s = mpf(2) ** 60  # grid steps to a standard deviation
        x = mpf(round(away * 2**60))
        # Both have the factor exp(-x²/2s²); the sums of it over all whole numbers and over all numbers differ by a
        # factor 1 + 2 exp(-2 pi² s²) + … (Poisson's formula), which no digit here would show.
        ratio = quad(lambda t: exp(-(2 * x * t + t**2) / (2 * s**2)), [-0.5, 0, 0.5])
        assert abs(log(ratio)) <= mpf(2) ** -100
        assert away < 2**11 or log(ratio) > mpf(2) ** -103  # the bound is not idle


@pytest.mark.parametrize("delta", [1e-300, 1e-30, 1e-6, 0.5])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
def test_the_margin_pays_for_the_event_outside_which_the_claim_holds(epsilon, delta):
    """delta of (epsilon - 2 eta) at a mu smaller by most of the margin, the factor and the event added."""
    from mpmath import exp, mp, mpf, ncdf

    def at(eps, mu):
        return ncdf(mu / 2 - eps / mu) - exp(eps) * ncdf(-mu / 2 - eps / mu)

    with mp.workdps(400):
        entries, mu = 10**8, mpf(float(mv.gaussian_mu(epsilon, delta)))
        eta, event = entries * mpf(2) ** -100, 2 * entries * exp(-mpf(2) ** 19)
        spent = exp(eta) * at(epsilon - 2 * eta, mu * (1 - mpf("0.9e-9"))) + event
        assert spent <= at(mpf(epsilon), mu)
        assert event < entries * mpf(10) ** -227_000


def test_a_chunk_is_drawn_with_the_scale_of_the_whole(monkeypatch):
    asked, shares, real = [], [], hardened_module.gaussian
    how = hardening(entries=9000, mu=0.3, sensitivity=0.3 * (1 + MARGIN))
    monkeypatch.setattr(hardened_module, "gaussian", lambda *given: asked.append(given) or real(*given))
    assert add_noise(np.zeros(9000), how, progress=shares.append).shape == (9000,)
    assert [entries for entries, *_ in asked] == [4096, 4096, 808]
    assert {tuple(rest) for _, *rest in asked} == {(how.noise_std, how.exponent)}
    assert shares == sorted(shares)
    assert shares[-1] == 1


# Rounding


@pytest.mark.parametrize("name", ["rotated", "both", "both, rotated", "mean of skewed ranges", "columns, rotated",
                                  "theorem 2", "laplacian", "custom"])
def test_the_sensitivity_pays_for_the_rounding_of_the_whitening(name):
    query, design, _ = CASES[name]
    rows, cols = (side.whitener().astype(object) for side in (design.row_side, design.col_side))
    exactly = np.vectorize(Fraction)
    truth = exactly(rows) @ exactly(query.value.astype(object)) @ exactly(cols).T
    gap = exactly(whiten(design.row_side, design.col_side, query.value).astype(object)) - truth
    error = math.sqrt(float((gap**2).sum()))
    paid = computed_sensitivity(query, design.row_side, design.col_side, design.mu) - design.mu * (1 + MARGIN)
    assert 0 < 2 * error <= paid


@pytest.mark.slow
@pytest.mark.parametrize(("lower", "n"), [(-1.0, 5000), (0.0, 5000), (1e4, 300)])
@pytest.mark.parametrize("ask", [mv.mean, mv.covariance])
def test_the_sensitivity_pays_for_the_rounding_of_the_answer(ask, lower, n):
    data = make_dataset(2, n, lower=lower, upper=lower + 2)
    query = ask(data)
    design = mv.design_noise(query, epsilon=1, delta=1e-6, theta=mv.manual([1, 5]))
    x = np.vectorize(Fraction)(data.matrix.astype(object))
    truth = x.sum(axis=1, keepdims=True) / n if ask is mv.mean else x @ x.T / n
    gap = (np.vectorize(Fraction)(query.value.astype(object)) - truth).astype(float)
    error = float(np.linalg.norm(whiten(design.row_side, design.col_side, gap)))
    largest = data.largest_values
    paid = computed_sensitivity(query, design.row_side, design.col_side, design.mu, largest) - design.mu * (1 + MARGIN)
    assert 0 < 2 * error <= paid < 0.01 * design.mu
    # Sums in an unlucky order may be wrong by n roundings of their largest value, for either neighbour.
    white = whiten(design.row_side, design.col_side, np.outer(largest, largest if ask is mv.covariance else 1.0))
    assert paid > 2 * n * 2.0**-53 * np.linalg.norm(white)


def test_the_sensitivity_pays_for_the_rounding_of_a_kernel():
    data = make_dataset(3, 12, lower=-1e3, upper=1e3)
    query = mv.rbf_kernel(data, length=3000.0)
    design = mv.design_noise(query, epsilon=1, delta=1e-6)
    x = np.vectorize(Fraction)(data.matrix.astype(object))
    distances = ((x[:, :, None] - x[:, None, :]) ** 2).sum(axis=0) / Fraction(3000) ** 2 / 2
    error = float(np.linalg.norm(query.value - np.exp(-distances.astype(float)))) / math.sqrt(design.row_variances[0])
    paid = computed_sensitivity(query, design.row_side, design.col_side, design.mu, data.largest_values)
    paid -= design.mu * (1 + MARGIN)
    assert 0 < 2 * error <= paid < 1e-6 * design.mu
    # A distance of 4/3 is a difference of numbers up to four times that, each a sum of 3 products; 12 × 12 entries.
    assert paid > 2 * (2 * 4 / 3 * 3 * 2.0**-53) * 12 / math.sqrt(design.row_variances[0])


def test_an_answer_drowned_in_rounding_is_refused():
    data = make_dataset(2, 2000, lower=1e12, upper=1e12 + 1)
    query = mv.mean(data)
    with pytest.raises(mv.InputError, match="rounding errors could reach a tenth"):
        release(query, mv.design_noise(query, epsilon=1, delta=1e-5), ranges=data.ranges)


# The noise


@anything
def test_without_noise_the_answer_comes_back(name, monkeypatch):
    monkeypatch.setattr(hardened_module, "add_noise", silent)
    query, design, ranges = CASES[name]
    given = release(query, design, ranges=ranges)
    np.testing.assert_allclose(given.noisy, query.value, rtol=1e-10, atol=1e-10 * np.abs(query.value).max())


@pytest.mark.slow
def test_whitened_noise_is_standard_normal():
    noise = add_noise(np.zeros(20_000), hardening(entries=20_000, mu=0.3, sensitivity=0.3 * (1 + MARGIN)))
    assert stats.kstest(noise, "norm").pvalue > 1e-7  # the chance of failing by luck
    assert len(set(noise.tolist())) == 20_000


@pytest.mark.slow
@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("mode", ["rows", "columns"])
def test_released_noise_has_the_covariance_of_the_design(mode, rotated):
    many, rng = 6000, np.random.default_rng(2)
    shape = (3, many) if mode == "rows" else (many, 3)
    query = mv.identity(make_dataset(*shape))
    design = mv.design_noise(query, epsilon=1, delta=1e-3, mode=mode, theta=mv.manual([1, 3, 9]),
                             directions=mv.random_rotation(3, rng=rng) if rotated else None)
    noise = release(query, design).noisy - query.value
    draws = noise if mode == "rows" else noise.T  # its columns are independent draws
    expected = design.directional_side.covariance()
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    gap = np.abs(draws @ draws.T / many - expected) / scale
    assert gap.max() < 7 * math.sqrt(2 / many)  # six entries, each beyond with a chance under 1e-9
    assert (np.abs(draws.mean(axis=1)) < 7 * np.sqrt(np.diag(expected) / many)).all()


@pytest.mark.slow
def test_noise_over_both_sides_has_the_kronecker_covariance():
    query = mv.covariance(make_dataset(2, 30))
    design = mv.design_noise(query, epsilon=1, delta=1e-3, theta=mv.manual([1, 4]),
                             directions=mv.rotation(2, (0, 1), 0.5))
    trials = 800
    draws = np.array([release(query, design).noisy - query.value for _ in range(trials)])
    stacked = draws.transpose(0, 2, 1).reshape(trials, 4)
    expected = np.kron(design.col_covariance(), design.row_covariance())
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    gap = np.abs(stacked.T @ stacked / trials - expected) / scale
    assert gap.max() < 7.5 * math.sqrt(2 / trials)  # ten entries, each beyond with a chance under 2e-9


def test_noise_is_fresh_whatever_is_seeded():
    query, design, ranges = CASES["rotated"]
    answers = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        random.seed(0)
        answers.append(release(query, design, ranges=ranges).noisy)
    assert not (answers[0] == answers[1]).any()


def test_a_symmetric_answer_can_be_symmetrised_and_no_other():
    query, design, ranges = CASES["both, rotated"]
    assert (release(query, design, ranges=ranges).noisy != release(query, design).noisy.T).any()
    given = release(query, design, ranges=ranges, symmetrise=True)
    assert (given.noisy == given.noisy.T).all()
    assert given.symmetrised
    query, design, _ = CASES["rows"]
    with pytest.raises(mv.InputError, match="symmetrise is for symmetric queries, got identity"):
        release(query, design, symmetrise=True)


def test_a_long_table_never_becomes_a_square_matrix(monkeypatch):
    monkeypatch.setattr(hardened_module, "add_noise", silent)
    query = mv.identity(make_dataset(3, 200_000))
    turn = mv.random_rotation(3, rng=np.random.default_rng(0))
    design = mv.design_noise(query, epsilon=1, delta=1e-6, directions=turn, theta=mv.manual([1, 2, 3]))
    tracemalloc.start()
    given = release(query, design)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert given.noisy.shape == (3, 200_000)
    assert peak < 12 * query.value.nbytes


# What is kept


def test_the_release_says_what_it_is_and_keeps_nothing_of_the_truth():
    data = make_dataset(3, 40, lower=0, upper=8)
    query = mv.identity(data)
    design = mv.design_noise(query, epsilon=2, delta=1e-4, theta=mv.manual([1, 2, 7]))
    given = release(query, design, ranges=data.ranges, scenario=mv.Scenario(epsilon=2), data="mine")
    assert (given.query, given.neighbour_rule, given.n_records) == ("identity", "one record replaced", 40)
    assert (given.mu, given.delta, given.epsilon_asked) == (design.mu, 1e-4, 2)
    assert given.epsilon == pytest.approx(2, rel=1e-9)
    assert given.sensitivity == query.sensitivity
    assert given.ranges == dict.fromkeys(("f0", "f1", "f2"), Range(0, 8))
    assert given.guarantee == "epsilon 2 at delta 0.0001 (one record replaced)"
    assert (given.version, given.caveats, given.row_noise) == (mv.__version__, (), design.row_side)
    assert not given.noisy.flags.writeable
    assert not np.shares_memory(given.noisy, query.value)
    truth = set(query.value.ravel().tolist())
    assert not truth & set(given.noisy.ravel().tolist())
    for attribute in fields(Release):
        value = getattr(given, attribute.name)
        assert value is not query
        assert not (isinstance(value, np.ndarray) and attribute.name != "noisy")
    texts = repr(given) + to_metadata_json(given) + to_csv(given)
    assert not any(repr(value) in texts for value in truth)
    assert "array" not in repr(given)
    assert repr(float(given.noisy[0, 0])) not in repr(given) + to_metadata_json(given)


def test_directions_of_the_data_are_not_told_beside_the_answer():
    query = mv.covariance(make_dataset(3, 50))
    design = mv.design_noise(query, epsilon=1, delta=1e-4, directions=mv.eigenvectors(query))
    given = release(query, design, accept=["directions"])
    assert given.row_noise is None
    assert given.col_noise is None
    assert (given.mu, given.caveats) == (design.mu, ("directions",))
    assert given.guarantee.endswith("not covered: directions read from the data")
    assert given.guarantee.startswith("the noise alone gives epsilon 1 at")
    text = to_metadata_json(given)
    assert not any(repr(value) in text for value in design.row_directions.matrix.ravel().tolist())
    assert not any(repr(value) in text for value in design.row_variances.tolist())


# Refusals

RANGES_READ = replace(CASES["rows"][0], ranges_origin=Origin.READ)
RECORDS_READ = replace(CASES["rows"][0], records_origin=Origin.READ)
SPLIT_READ = replace(CASES["rows"][1], theta_origin=Origin.READ)


@pytest.mark.parametrize(("change", "message"), [
    ({"query": 3}, "query must be a Query, got a int"),
    ({"design": 3}, "design must be a NoiseDesign, got a int"),
    ({"design": CASES["columns"][1].__class__}, "design must be a NoiseDesign"),
    ({"design": CASES["mean of skewed ranges"][1]}, "the design must be 3 × 40 like the answer, got 3 × 1"),
    ({"design": replace(CASES["rows"][1], mu=CASES["rows"][1].mu / 2)}, "made for another query or other ranges"),
    ({"query": RANGES_READ, "ranges": None},
     "would not cover ranges read from the data; to release anyway, accept: ranges"),
    ({"query": RECORDS_READ}, "a record count that depends on the data; .* accept: records"),
    ({"design": SPLIT_READ}, "shares of the budget read from the data; .* accept: split"),
    ({"query": RANGES_READ, "ranges": None, "design": SPLIT_READ, "accept": "split"}, "accept: ranges$"),
    ({"scenario": mv.Scenario(from_data=("epsilon",))},
     "choices made after looking at results on the data; .* accept: choices"),
    ({"scenario": mv.Scenario(from_data=("share",))}, "shares of the budget read from the data; .* accept: split"),
    ({"query": RANGES_READ}, "the ranges and the query come from different data"),
    ({"accept": ["everything"]},
     "accept must be one of ranges, bound, records, directions, split, choices, got 'everything'"),
    ({"delta": 2}, "delta must lie strictly between 0 and 1, got 2"),
    ({"ledger": Ledger()}, "a ledger needs a name for the data"),
    ({"ranges": {"f0": (0, 1)}}, "ranges must be those of the query's features"),
    ({"ranges": {"f0": (-2, 1), "f1": (-1, 1), "f2": (-1, 1)}}, "ranges must be those of the query's features"),
])
def test_a_bad_release_is_refused_before_any_noise(change, message, monkeypatch):
    monkeypatch.setattr(hardened_module, "add_noise", refuses_to_draw)
    query, design, ranges = CASES["rows"]
    with pytest.raises(mv.InputError, match=message):
        release(**{"query": query, "design": design, "ranges": ranges} | change)


def test_a_design_for_another_query_is_refused():
    data = make_dataset(3, 40)
    query = mv.covariance(data)
    for other, message in [
        (mv.custom(np.eye(3), sensitivity=1, gamma=2, psd=True), "its name is custom, this one's is covariance"),
        (mv.covariance(make_dataset(3, 41)), "its n records is 41, this one's is 40"),
        (mv.covariance(make_dataset(3, 40, lower=-0.5, upper=0.5)), "made for another query or other ranges"),
    ]:
        with pytest.raises(mv.InputError, match=message):
            release(query, mv.design_noise(other, epsilon=1, delta=1e-5))
    edges = mv.custom(np.eye(3), sensitivity=1, gamma=2)
    other = replace(edges, neighbour_rule="something else")
    with pytest.raises(mv.InputError, match="its neighbour rule is something else"):
        release(edges, mv.design_noise(other, epsilon=1, delta=1e-5))


def test_accepted_caveats_are_kept_and_only_those_that_apply():
    _, design, _ = CASES["rows"]
    given = release(RANGES_READ, design, accept=("split", "ranges"))
    assert given.caveats == ("ranges",)
    assert given.not_covered == ("ranges read from the data",)


def test_a_graph_does_not_rest_on_ranges():
    data = replace(sample("karate"), range_origins=(Origin.READ,) * 34)
    assert plan(build(mv.Scenario.default_for("karate"), data)).caveats == ()


def test_a_missing_library_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    query, design, _ = CASES["rows"]
    with pytest.raises(mv.InputError, match=r'OpenDP: pip install "\.\[release\]" in a checkout'):
        release(query, design)


# Private directions


def test_fresh_directions_spend_mu_and_differ_each_time():
    data = make_dataset(3, 50)
    one, other = private_directions(data, mu=0.2), private_directions(data, mu=0.2)
    assert (one.origin, one.mu, one.label) == (Origin.PAID, 0.2, FRESH_DIRECTIONS)
    assert np.abs(one.matrix - other.matrix).max() > 0
    assert (one.eigenvalues >= 0).all()
    query = mv.covariance(data)
    design = mv.design_noise(query, epsilon=1, delta=1e-4, directions=one, cover_directions=True)
    given = release(query, design)
    assert given.mu == pytest.approx(mv.gaussian_mu(1, 1e-4), rel=1e-12)
    assert mv.compose_mu([design.mu, 0.2]) == given.mu


@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
@pytest.mark.parametrize("allocation", ["uniform", "max-pnr"])
@pytest.mark.parametrize("query", ["identity", "mean", "covariance"])
def test_a_scenario_with_private_directions_draws_them_anew(query, allocation, guarantee, monkeypatch):
    data = make_dataset(3, 50)
    scenario = mv.Scenario(directions="private", guarantee=guarantee, query=query, allocation=allocation, epsilon=2)
    setup = build(scenario, data)
    given, again = release_setup(setup), release_setup(setup)
    assert given.origins["directions"] is Origin.PAID
    assert given.row_noise.directions.label == FRESH_DIRECTIONS
    seeded = setup.design.row_directions.matrix
    drawn = [seeded, given.row_noise.directions.matrix, again.row_noise.directions.matrix]
    assert all(np.abs(drawn[i] - drawn[j]).max() > 0 for i in range(3) for j in range(i))
    assert given.mu == pytest.approx(plan(setup).mu, rel=1e-12)  # known before any direction was drawn
    if guarantee == "exact":
        assert given.epsilon == pytest.approx(2, rel=1e-9)
    # Along the same directions it is the very design that was looked at.
    receipt = receipt_for(hardened_module.noisy_answer, **vars(setup.design.row_directions.receipts[0]))
    monkeypatch.setattr(release_module, "private_directions", lambda table, *, mu: replace(
        setup.design.row_directions, label=FRESH_DIRECTIONS, receipts=(receipt,)))
    looked_at = release_setup(setup)
    np.testing.assert_allclose(looked_at.row_noise.variances, setup.design.row_variances, rtol=1e-9)
    assert looked_at.mu >= setup.design.total_mu * (1 - 1e-9)
    assert (looked_at.mu_is == "exact") == (guarantee == "exact")


def test_too_little_left_beside_private_directions_is_said_before_they_are_drawn(monkeypatch):
    data = make_dataset(3, 50)
    setup = build(mv.Scenario(directions="private", query="mean", epsilon=0.002, delta=1e-3, private_share=0.9), data)
    monkeypatch.setattr(hardened_module, "add_noise", refuses_to_draw)
    with pytest.raises(mv.InputError, match="leave too little budget for the noise"):
        release_setup(setup)


# Scenarios and files


@pytest.mark.parametrize("data", ["two_features", "liver", "movement_simulated", "karate"])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_every_bundled_scenario_can_be_released(data, guarantee):
    dataset = sample(data)
    setup = build(mv.Scenario.default_for(data).changed(guarantee=guarantee), dataset)
    planned, given = plan(setup), release_setup(setup)
    assert (planned.mu, planned.epsilon, planned.delta) == (given.mu, given.epsilon, given.delta)
    assert planned.entries == given.noisy.size
    assert planned.caveats == given.caveats == ()
    assert given.mu == setup.design.mu
    if guarantee == "exact":
        assert given.epsilon == pytest.approx(1, rel=1e-9)
    else:
        assert given.epsilon < 0.1  # what the theorem's noise really spends


def test_a_scenario_that_reads_the_data_needs_its_caveats_named():
    data = make_dataset(3, 50)
    data = mv.Dataset(matrix=data.matrix, features=data.features, lower=-1, upper=1, range_origins=Origin.READ)
    setup = build(mv.Scenario(directions="eigenvectors", allocation="max-pnr"), data)
    assert plan(setup).caveats == ("ranges", "directions", "split")
    with pytest.raises(mv.InputError, match="accept: ranges, directions, split"):
        release_setup(setup)
    ledger = Ledger()
    given = release_setup(setup, accept=["ranges", "directions", "split"], ledger=ledger)
    assert given.caveats == ledger.entries[0].caveats == ("ranges", "directions", "split")
    assert math.isfinite(given.mu)


def test_a_full_ledger_refuses_before_any_noise_is_drawn(monkeypatch):
    data = make_dataset(3, 50)
    plain = build(mv.Scenario(query="mean"), data)
    private = build(mv.Scenario(query="mean", directions="private"), data)
    theorem = build(mv.Scenario(query="mean", directions="private", guarantee="theorem1"), data)
    ledger = Ledger(cap=(1.0, plain.delta))
    release_setup(private, ledger=ledger)  # exactly fits
    monkeypatch.setattr(hardened_module, "add_noise", refuses_to_draw)
    for setup in (plain, private, theorem):
        with pytest.raises(mv.InputError, match="this release would exceed the cap"):
            release_setup(setup, ledger=ledger)
    with pytest.raises(mv.InputError, match="this release would exceed the cap"):
        release(plain.query, plain.design, ledger=ledger, data="two_features")
    assert len(ledger.entries) == 1


def test_a_release_that_is_stopped_from_outside_is_withdrawn():
    query, design, _ = CASES["rows"]
    ledger = Ledger()

    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(query, design, ledger=ledger, data="mine", progress=stop)
    assert ledger.entries == ()
    given = release(query, design, ledger=ledger, data="mine")
    (entry,) = ledger.entries
    assert (entry.time, entry.mu, entry.epsilon, entry.query) == (given.time, given.mu, given.epsilon, "identity")
    assert entry.design == given.design == "exact, noise over rows, standard basis"


def test_a_release_that_fails_while_it_is_drawn_counts_as_spent(monkeypatch):
    query, design, _ = CASES["rows"]
    ledger, drawn = Ledger(), hardened_module.add_noise

    def fails(*arguments, **options):
        [entry] = ledger.entries  # written before any noise
        assert not entry.is_finished
        drawn(*arguments, **options)
        raise mv.InputError("the noise was not to somebody's liking")

    monkeypatch.setattr(hardened_module, "add_noise", fails)
    with pytest.raises(mv.InputError, match="liking"):
        release(query, design, ledger=ledger, data="mine", progress=lambda share: None)
    [entry] = ledger.entries
    assert (entry.state, entry.mu) == ("reserved", design.mu)
    assert ledger.total("mine", delta=1e-5).mu == design.mu


@pytest.mark.parametrize("learned", [{"directions": "private"}, {"bound": "private"}])
def test_what_is_learned_privately_is_paid_for_before_it_is_learned(learned, monkeypatch):
    setup, ledger = build(mv.Scenario(query="mean", **learned), make_dataset(3, 50)), Ledger()
    states, drawn = [], hardened_module.add_noise

    def watched(*arguments, **options):
        states.append([entry.state for entry in ledger.entries])
        return drawn(*arguments, **options)

    monkeypatch.setattr(hardened_module, "add_noise", watched)
    given = release_setup(setup, ledger=ledger)
    assert len(states) > 1
    assert states == [["reserved"]] * len(states)
    [entry] = ledger.entries
    assert (entry.design, entry.mu, entry.time, entry.state) == (given.design, given.mu, given.time, "released")


def test_what_private_directions_come_to_never_exceeds_what_was_reserved(monkeypatch):
    setup, ledger = build(mv.Scenario(query="mean", directions="private"), make_dataset(3, 50)), Ledger()
    fresh = release_module._redrawn(setup)
    dearer = replace(fresh, design=mv.design_noise(fresh.query, epsilon=2, delta=setup.delta))
    monkeypatch.setattr(release_module, "_redrawn", lambda _: dearer)
    with pytest.raises(mv.InputError, match="costs more than announced"):
        release_setup(setup, ledger=ledger)
    assert [entry.state for entry in ledger.entries] == ["reserved"]


@pytest.mark.parametrize("make", [
    lambda **given: release(*CASES["rows"][:2], data="mine", **given),
    lambda **given: release_setup(build(mv.Scenario(query="mean"), make_dataset(3, 50)), **given),
    lambda **given: release_together([build(mv.Scenario(query="mean"), make_dataset(3, 50))] * 2, **given)])
def test_a_release_that_nobody_counts_warns_once(make):
    with pytest.warns(NoLedgerWarning, match="no ledger counts this release") as warned:
        make()
    assert [warning.filename for warning in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(ledger=Ledger())


def parsed(text):
    return list(csv.reader(io.StringIO(text)))


def test_a_table_is_written_with_records_in_rows_and_no_formulas():
    names = ("=HYPERLINK(1)", "+1", "-1", "@x", "\t=x", "a\r=x", "plain, \"quoted\"")
    data = mv.Dataset(matrix=np.zeros((7, 3)), features=names, lower=-1, upper=1)
    query = mv.identity(data)
    given = release(query, mv.design_noise(query, epsilon=1, delta=1e-3))
    lines = parsed(to_csv(given))
    assert lines[0] == ["", *(f"'{name}" for name in names[:4]), "'=x", "a =x", names[6]]
    assert [line[0] for line in lines[1:]] == ["record 1", "record 2", "record 3"]
    numbers = np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])
    assert (given.noisy == numbers.T).all()
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for line in lines for cell in line)
    own = parsed(to_csv(given, row_names=list("abcdefg"), col_names=["=1", "ok", "r"]))
    assert ([line[0] for line in own], own[0][1:]) == (["", "'=1", "ok", "r"], list("abcdefg"))
    with pytest.raises(mv.InputError, match="7 names of rows and 3 of columns, got 7 and 1"):
        to_csv(given, col_names=["x"])


@pytest.mark.parametrize(("name", "corner"), [
    ("both", ("f0", "f0")), ("mean of skewed ranges", ("f0", "mean")), ("laplacian", ("vertex 1", "vertex 1")),
    ("kernel", ("record 1", "record 1")), ("custom", ("row 1", "column 1")),
])
def test_csv_and_npy_hold_the_answer_with_names(name, corner):
    query, design, ranges = CASES[name]
    given = release(query, design, ranges=ranges)
    lines = parsed(to_csv(given))
    assert (lines[1][0], lines[0][1]) == corner
    assert ([[float(cell) for cell in line[1:]] for line in lines[1:]] == given.noisy).all()
    loaded = np.load(io.BytesIO(to_npy(given)), allow_pickle=False)
    assert loaded.dtype == np.float64
    assert (loaded == given.noisy).all()


def test_the_metadata_restores_scenario_guarantee_and_noise():
    data = sample("liver")
    scenario = mv.Scenario.default_for("liver").changed(directions="rotation", angle=20)
    setup = build(scenario, data)
    given = release_setup(setup, symmetrise=True)
    content = json.loads(to_metadata_json(given))
    assert mv.Scenario.from_json(json.dumps(content["scenario"])) == scenario
    assert content["guarantee"]["mu"] == setup.design.mu
    assert content["guarantee"]["rho"] == pytest.approx(setup.design.rho)
    assert content["guarantee"]["words"] == given.guarantee
    assert content["query"]["neighbours"] == "one record replaced"
    assert content["query"]["sensitivity"] == setup.query.sensitivity
    assert content["origins"]["ranges"] == content["ranges"]["origins"]["mcv"] == "declared"
    assert content["ranges"]["of_the_numbers_asked"]["mcv"] == [-1, 1]
    assert content["ranges"]["of_the_data"]["mcv"] == [data.lower[0], data.upper[0]]
    assert content["versions"] == {"mvgviz": mv.__version__, "opendp": given.opendp_version}
    assert content["noise"]["symmetrised"]
    w, v = (np.array(content["noise"]["rows"][key]) for key in ("directions", "variances"))
    np.testing.assert_allclose((w * v) @ w.T, setup.design.row_covariance(), rtol=1e-12, atol=1e-15)
    text = to_metadata_json(given)
    assert not any(repr(value) in text for value in setup.query.value.ravel().tolist())
