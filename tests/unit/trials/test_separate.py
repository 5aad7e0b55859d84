"""SeparateCov: both of its releases together spend the budget and no more, and a draw is what its definition says."""

import math

import numpy as np
import pytest

from tests.datasets import make_dataset
from tests.oracles import mu_for
from tests.unit.trials.problems import BOXES, Stream, differences, graph, posed, prepared, record_pairs


@pytest.mark.parametrize("box", list(BOXES))
def test_no_pair_of_neighbours_is_further_apart_than_the_budget(box):
    lower, upper = (np.array(ends[:3]) for ends in BOXES[box])
    n, data = 8, make_dataset(3, 8, lower, upper)
    sampler = prepared("separate", posed("covariance", data, epsilon=2.0))
    stds = sampler.law.keywords
    apart = differences(lower, upper) / n
    triangles = np.sqrt((apart[:, *np.triu_indices(3)] ** 2).sum(axis=1)) / stds["triangle_std"]
    others = data.matrix[:, 1:] @ data.matrix[:, 1:].T / n
    x, y = (points[:, :, None] * points[:, None, :] / n for points in record_pairs(lower, upper))
    for rest in (others, 0 * others):  # the other records may spread the eigenvalues, or leave them as they are
        moved = np.linalg.eigvalsh(rest + x) - np.linalg.eigvalsh(rest + y)
        strengths = np.linalg.norm(moved, axis=1) / stds["strength_std"]
        assert np.hypot(triangles, strengths).max() <= mu_for(2.0, 1e-3) * (1 + 1e-9)
    furthest = np.linalg.norm(apart, axis=(1, 2)).max() * math.sqrt(2) / stds["strength_std"]
    assert 0.97 * mu_for(2.0, 1e-3) < furthest <= mu_for(2.0, 1e-3) * (1 + 1e-9)  # it bounds what eigenvalues move
    assert sampler.mu == pytest.approx(mu_for(2.0, 1e-3), rel=1e-9)


def test_a_draw_joins_noisy_directions_and_noisy_strengths_in_their_order():
    problem = posed("covariance", make_dataset(3, 500, [-1, -2, -0.1], [1, 2, 0.1]), epsilon=1.0)
    sampler, draws = prepared("separate", problem), Stream(3, 0, 6)
    stds = sampler.law.keywords
    for released, normals in zip(sampler.draw(draws), draws.normals((4, 3)), strict=True):
        noise = np.triu(normals[:3]) + np.triu(normals[:3], 1).T
        order = np.argsort(np.linalg.eig(problem.query.value + stds["triangle_std"] * noise)[0])
        vectors = np.linalg.eig(problem.query.value + stds["triangle_std"] * noise)[1][:, order]
        values = np.sort(np.linalg.svd(problem.query.value)[1]) + stds["strength_std"] * normals[3]
        wanted = sum(min(max(value, 0.0), 5.01) * np.outer(v, v) for value, v in zip(values, vectors.T, strict=True))
        assert np.allclose(released, wanted, atol=1e-12)


def test_without_noise_it_is_the_answer_itself_and_it_beats_noise_that_hides_everything():
    data = make_dataset(30, 200, -0.3, 0.3)
    sampler, true = prepared("separate", posed("covariance", data)), posed("covariance", data).query.value
    assert np.allclose(sampler.law(Stream(0, 0, 3), triangle_std=0.0, strength_std=0.0), true)
    error = {name: np.linalg.norm(prepared(name, posed("covariance", data, epsilon=0.5)).draw(Stream(0, 0, 20)) - true)
             for name in ("separate", "gaussian-triangle")}
    assert error["separate"] < 0.5 * error["gaussian-triangle"]


def test_it_refuses_what_are_no_second_moments_of_records():
    for query, data in (("identity", None), ("mean", None), ("laplacian", graph())):
        with pytest.raises(Exception, match="second moments of records"):
            prepared("separate", posed(query, data))
