"""One draw to look at: the first of the trials, and what the task makes of it."""

import numpy as np
import pytest

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.trials.first_trial import PART, first_trial
from mvgviz.trials.problem import pose
from mvgviz.trials.run import run_trials
from mvgviz.trials.tasks.moments import true_moments
from tests.datasets import make_dataset

CASES = [("liver", "covariance", "linear-ridge"), ("liver", "identity", "linear-ridge"),
         ("liver", "identity", "kernel-ridge"), ("liver", "covariance", "reconstruction"),
         ("liver", "identity", "reconstruction"), ("liver", "mean", "reconstruction"),
         ("movement_simulated", "covariance", "first-component"), ("two_features", "identity", "first-component"),
         ("cardiotocography", "identity", "covariance-estimation"), ("liver", "covariance", "subspace"),
         ("karate", "laplacian", "covariance-estimation"), ("karate", "adjacency", "reconstruction")]


def posed(data, query, task, **changes):
    whole = {"judged": "everything"}
    scenario = Scenario.default_for(data).changed(query=query, task=task, label=0, seed=5, **whole | changes)
    return pose(scenario, sample(data))


@pytest.mark.slow
@pytest.mark.parametrize(("data", "query", "task"), CASES)
@pytest.mark.parametrize("directions", ["standard", "private"])
def test_it_is_the_first_of_the_trials(data, query, task, directions):
    if directions == "private" and data == "karate":
        directions = "eigenvectors"
    problem = posed(data, query, task, directions=directions, bound="none")
    found = first_trial(problem)
    trials = run_trials(problem.scenario, sample(data), problem=problem, mechanisms=["mvg"], trials=2)
    assert found.is_trial
    assert found.error == pytest.approx(trials["mvg"].errors[0], rel=1e-9)


def test_where_trials_draw_only_a_size_the_draw_is_said_to_be_another():
    found = first_trial(posed("movement_simulated", "identity", "reconstruction", post=()))
    assert not found.is_trial
    assert (found.true.shape, found.noisy.shape, found.shape) == ((4, PART), (4, PART), (4, 10_176))
    # 240 entries: a factor of 2 is more than 10 standard deviations.
    assert 0.5 < found.error / run_trials(
        posed("movement_simulated", "identity", "reconstruction", post=()).scenario,
        sample("movement_simulated"), mechanisms=["mvg"], trials=4)["mvg"].mean < 2


@pytest.mark.slow
def test_predictions_give_the_error_back():
    for query, task in (("covariance", "linear-ridge"), ("identity", "kernel-ridge")):
        problem = posed("liver", query, task)
        found = first_trial(problem)
        rmse = [np.sqrt(np.mean((values - found.predictions.labels) ** 2))
                for values in (found.predictions.noisy, found.predictions.clean)]
        results = run_trials(problem.scenario, sample("liver"), problem=problem, trials=1)
        assert rmse == pytest.approx([found.error, results.references.non_private])


def test_components_give_the_error_back():
    problem = posed("movement_simulated", "covariance", "first-component")
    parts = first_trial(problem).components
    assert first_trial(problem).error == pytest.approx(parts.eigenvalues[0] - parts.captured[0], abs=1e-15)
    assert parts.angle == pytest.approx(np.degrees(np.arccos(abs(parts.first @ parts.noisy_first))), rel=1e-6)
    assert parts.first @ parts.noisy_first > 0
    assert parts.first @ true_moments(problem) @ parts.first == pytest.approx(parts.eigenvalues[0])
    estimation = posed("liver", "covariance", "covariance-estimation")
    both = first_trial(estimation).components
    assert first_trial(estimation).error == pytest.approx(np.sum((both.eigenvalues - both.captured) ** 2))


@pytest.mark.slow
def test_what_is_shown_is_what_was_processed():
    found = first_trial(posed("liver", "covariance", "reconstruction"))
    assert found.noisy == pytest.approx(found.noisy.T)
    assert np.linalg.eigvalsh(found.noisy).min() > -1e-12
    table = first_trial(posed("liver", "identity", "kernel-ridge"))
    assert np.abs(table.noisy).max() <= 1
    assert table.noisy.shape == (6, PART)


def test_one_number_and_few_records_are_drawn():
    for m, n in ((1, 1), (3, 2), (40, 5)):
        data = make_dataset(m, n)
        for query in ("identity", "covariance", "mean"):
            found = first_trial(pose(Scenario(data="upload-0123456789ab", query=query, priority_directions=()), data))
            assert np.isfinite(found.error)
