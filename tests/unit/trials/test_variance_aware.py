"""PLAN: its three releases spend the budget and no more, and what it learns pays where spreads are uneven."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mvgviz import Dataset, private_spreads
from mvgviz.trials.mechanisms import mechanism, variance_aware
from mvgviz.trials.mechanisms.base import DIRECTIONS, Draws
from mvgviz.trials.problem import weighing_of
from mvgviz.trials.run import run_trials
from tests.datasets import make_dataset
from tests.oracles import mu_for
from tests.unit.trials.problems import LUCK, graph, many, posed, prepared, record_pairs, scenario

LOWER, UPPER = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 6.0, 3.0])


def uneven(n=4000, m=8, seed=0):
    """Ranges alike, spreads from 0.3 down to 0.003, some records far out."""
    matrix = np.geomspace(0.3, 0.003, m)[:, None] * np.random.default_rng(seed).standard_normal((m, n)) + 0.1
    matrix[:, :5] = 1.0
    return Dataset(matrix=np.clip(matrix, -1, 1), features=[f"f{i}" for i in range(m)], lower=-1, upper=1)


def plan(data, **choices):
    return prepared("plan", posed("mean", data, **choices))


def pulled_by_hand(matrix, bound):
    """Each record drawn to the centre until its weighted length is the radius."""
    off = matrix - bound.centre[:, None]
    lengths = np.sqrt(np.sum((bound.weights[:, None] * off) ** 2, axis=0))
    return bound.centre[:, None] + off * np.where(lengths > bound.radius, bound.radius / np.maximum(lengths, 1e-9), 1.0)


def test_a_draw_is_the_mean_of_the_pulled_records_and_noise_of_the_ellipse_s_shape():
    sampler, draws = plan(uneven(300), epsilon=3.0), Draws(5, 0, 300)
    drawn = sampler.draw(draws)
    assert drawn.shape == (300, 8, 1)
    bounds = [sampler.bound(rng) for rng in draws.generators(DIRECTIONS)]
    z = np.stack([(answer[:, 0] - pulled_by_hand(sampler.table.matrix, bound).mean(axis=1)) * np.asarray(bound.weights)
                  * 300 * sampler.noise_mu / (2 * bound.radius) for answer, bound in zip(drawn, bounds, strict=True)])
    assert stats.kstest(z.ravel(), "norm").pvalue > LUCK
    assert np.abs((z**2).mean(axis=0) - 1).max() < 6 * math.sqrt(2 / 300)  # on every feature alike
    assert all(bound.count_outside(sampler.table) for bound in bounds)


def test_without_a_limit_to_the_budget_it_is_the_mean_itself():
    data = make_dataset(3, 50, LOWER, UPPER)
    drawn = variance_aware.VarianceAwareMean(size=1, table=data, mu=1e6).draw(Draws(0, 0, 5))
    assert np.allclose(drawn, data.matrix.mean(axis=1)[:, None], atol=1e-5)


def test_its_three_releases_spend_the_budget_and_no_more(monkeypatch):
    spent = []
    for name in ("private_spreads", "private_radius"):
        original = getattr(variance_aware, name)
        monkeypatch.setattr(variance_aware, name, lambda *args, original=original, **more: (
            spent.append(more["mu"]), original(*args, **more))[1])
    sampler, n = plan(make_dataset(3, 20, LOWER, UPPER), epsilon=2.0), 20
    x, y = record_pairs(LOWER, UPPER)
    for seed in range(10):
        bound = sampler.bound(np.random.default_rng(seed))
        apart = (pulled_by_hand(x.T, bound) - pulled_by_hand(y.T, bound)) / n
        noise_mu = float(np.linalg.norm(apart / sampler.std(bound)[:, None], axis=0).max())
        spreads_mu, radius_mu = spent[-2:]
        assert math.hypot(noise_mu, spreads_mu, radius_mu) == pytest.approx(mu_for(2.0, 1e-3), rel=1e-9)
        assert sampler.mu == pytest.approx(mu_for(2.0, 1e-3), rel=1e-9)


def test_spreads_have_noise_for_the_furthest_pair_of_records():
    data, centre = make_dataset(3, 5000, LOWER, UPPER), (LOWER + UPPER) / 2
    ends = (UPPER - LOWER) / 2
    squares = np.array([(private_spreads(data, mu=0.5, rng=np.random.default_rng(seed), centre=centre) / ends) ** 2
                        for seed in range(3000)])
    x, y = record_pairs(LOWER, UPPER)
    moves = (((x - centre) / ends) ** 2 - ((y - centre) / ends) ** 2) / 5000
    furthest = float(np.linalg.norm(moves, axis=1).max())
    assert squares.std(axis=0) * 0.5 == pytest.approx(np.full(3, furthest), rel=6 / math.sqrt(2 * 3000))


def test_uneven_spreads_are_worth_learning_and_the_pull_is_part_of_it(monkeypatch):
    data, one = uneven(), scenario("mean", epsilon=1.0, trials=30, post=())
    results = run_trials(one, data, mechanisms=["plan", "gaussian-analytic"])
    assert results["plan"].mean < 0.4 * results["gaussian-analytic"].mean
    usual, original = results["plan"].mean, variance_aware.private_radius
    monkeypatch.setattr(variance_aware, "private_radius", lambda table, *args, bound, **more: replace(
        original(table, *args, bound=bound, **more), radius=bound.ellipse(8).longest(table.lower, table.upper)))
    assert run_trials(one, data, mechanisms=["plan"])["plan"].mean > 2 * usual


def test_errors_are_measured_against_the_mean_of_the_records_as_they_are():
    problem = posed("mean", uneven(400), epsilon=2.0)
    drawn, squares = many(prepared("plan", problem), 20), many(prepared("plan", problem, "square"), 20)
    weighed = weighing_of(problem).of(drawn - problem.table.matrix.mean(axis=1)[:, None])
    assert np.allclose(squares, (weighed**2).sum(axis=(1, 2)), rtol=1e-12)


def test_each_trial_learns_its_own_ellipse_whatever_is_drawn_beside_it():
    sampler = plan(uneven(400))
    together, alone = sampler.draw(Draws(3, 0, 6)), sampler.draw(Draws(3, 4, 1))
    assert np.array_equal(together[4:5], alone)
    assert len({sampler.bound(rng).radius for rng in Draws(3, 0, 6).generators(DIRECTIONS)}) > 1


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
def test_no_spread_is_believed_below_its_noise_and_no_more_than_half_the_records_are_left_outside(epsilon):
    sampler = plan(make_dataset(3, 12, LOWER, UPPER), epsilon=epsilon)
    assert 0.5 / 12 <= sampler.left_outside() <= 0.5
    believed = sampler.believed(np.array([1e-9, 1e9, 0.5]))
    ends = (UPPER - LOWER) / 2
    assert believed[1] == ends[1]
    assert believed[0] == pytest.approx(min(1, (3**0.5 / (12 * sampler.mu * 0.1**0.5)) ** 0.5))


def test_it_is_for_means_of_tables_and_says_so():
    for query in ("identity", "covariance", "kernel"):
        assert "the mean of a table" in mechanism("plan").unsuitable(posed(query), "answer")
    assert "the mean of a table" in mechanism("plan").unsuitable(posed("laplacian", graph()), "answer")
    assert "second moments" in mechanism("plan").unsuitable(posed("mean"), "moments")
    assert "adds a bias" in mechanism("plan").caution(posed("mean"))
