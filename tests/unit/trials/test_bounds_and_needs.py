"""Trials with records inside a bound, judged by what is needed."""

import numpy as np
import pytest
from scipy import stats

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise, ridge_weights
from mvgviz.pictures.utility import parts_words
from mvgviz.scenario.resolve import build
from mvgviz.scenario.tasks import TASKS
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.mechanisms.gaussian import GaussianSquare
from mvgviz.trials.problem import ONE_NEEDED, pose, split_records
from mvgviz.trials.run import part_errors, part_problems, run_trials
from mvgviz.trials.tasks import measure_for
from tests.datasets import make_dataset
from tests.unit.trials.problems import graph, many, posed


def test_the_square_of_noise_about_an_offset_is_distributed_as_it_should():
    variances, offsets, cols = np.array([0.5, 2.0]), np.array([1.5, 0.3]), 3
    found = many(GaussianSquare(variances=variances, offsets=offsets, cols=cols, mu=1.0, size=2), 4_000)
    spread = np.zeros((2, cols))
    spread[:, 1] = offsets
    noise = np.random.default_rng(5).standard_normal((4_000, 2, cols)) * np.sqrt(variances)[:, None]
    assert stats.ks_2samp(found, ((noise + spread) ** 2).sum(axis=(1, 2))).pvalue > 1e-4


@pytest.mark.parametrize("query", ["identity", "mean"])
@pytest.mark.parametrize("judged", ["everything", "priority", "other"])
def test_errors_are_those_of_noise_and_pull_on_the_part_that_is_judged(query, judged):
    data = make_dataset(3, 30, -1.0, 2.0)
    problem = posed(query, data, bound="even", priority_directions=(1,), share=0.7, judged=judged, post=(),
                    epsilon=50.0)
    assert measure_for(problem).level == "square"
    setup = problem.setup("exact")
    rows = {"everything": [0, 1, 2], "priority": [1], "other": [0, 2]}[judged]
    off = (setup.query.value - problem.query.value)[rows]
    assert np.abs(off).max() > 0.005  # something was pulled
    mean = (1 if len(rows) == 1 else (100 / 3) ** 2) / (len(rows) * problem.query.cols)  # several: percent of 3
    variance = setup.design.row_side.covariance_diagonal()[rows].sum() * problem.query.cols
    found = many(mechanism("mvg").prepare(problem, "square"), 6_000)
    expected = mean * float((off**2).sum() + variance)
    assert found.mean() == pytest.approx(expected, abs=6 * found.std() / np.sqrt(6_000))
    baseline = many(mechanism("iid").prepare(problem, "square"), 2_000)  # on the box: nothing is pulled
    equal = setup.iid.row_side.covariance_diagonal()[rows].sum() * problem.query.cols
    assert baseline.mean() == pytest.approx(mean * float(equal), abs=6 * baseline.std() / np.sqrt(2_000))


@pytest.mark.parametrize("key", ["mvg", "iid", "laplace", "reduced-gaussian"])
@pytest.mark.parametrize("judged", ["priority", "other"])
@pytest.mark.parametrize("query", ["identity", "covariance", "mean"])
def test_a_part_is_the_part_of_the_whole_release(query, judged, key):
    problem = posed(query, priority_directions=(0, 2), judged=judged, post=("symmetrise",))
    rows = problem.positions
    whole = mechanism(key).prepare(problem, "answer").draw(Draws(0, 0, 4))
    off = whole - problem.query.value
    symmetric = ((off + off.transpose(0, 2, 1)) / 2)[:, rows][:, :, rows] if query == "covariance" else off
    off = symmetric if query == "covariance" else off[:, rows]
    truth = problem.judged.query.value
    measure = measure_for(problem)
    if measure.level == "answer":
        errors = measure.errors(whole)
        assert errors == pytest.approx(np.sqrt((off**2).sum(axis=(1, 2))) / np.linalg.norm(truth))
    else:
        assert measure.level == "square"


def test_positions_hold_the_label_and_the_constant():
    problem = posed("moments", m=5, n=60, priority_directions=(1,), judged="priority", task="linear-ridge", label=3)
    assert problem.positions == [1, 3, 5]
    assert problem.judged.scenario.label == 1
    assert posed("moments", m=5, n=60, priority_directions=(1,), judged="other", task="linear-ridge", label=3
                 ).positions == [0, 2, 3, 4, 5]


def test_regression_from_the_needed_alone_is_regression_on_a_table_of_them():
    data = make_dataset(4, 200)
    few = posed("covariance", data, priority_directions=(1,), judged="priority", task="linear-ridge", label=3)
    alone = type(data)(matrix=data.matrix[[1, 3]], features=("b", "d"), lower=-1, upper=1)
    own = posed("covariance", alone, priority_directions=(0,), task="linear-ridge", label=1)
    assert measure_for(few).references.non_private == pytest.approx(measure_for(own).references.non_private)


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(TASKS))
def test_every_task_has_its_three_errors(task):
    data = sample("liver")
    query = "identity" if task == "kernel-ridge" else "covariance"
    base = Scenario.default_for("liver").changed(query=query, task=task, label=5, priority_directions=(1, 2, 5),
                                                 trials=2)
    for judged in ("priority", "other", "everything"):
        results = run_trials(base.changed(judged=judged), data, mechanisms=["mvg", "iid", "reduced-gaussian"])
        assert all(np.isfinite(outcome.errors).all() and outcome.errors.size == 2 for outcome in results.outcomes)


def test_without_noise_released_joint_moments_predict_as_least_squares_does():
    x = np.random.default_rng(0).uniform(-1, 1, (3, 400))
    matrix = np.vstack([x, np.clip(0.5 + x.T @ [0.3, 0.1, 0.0], -1, 1)])
    data = type(make_dataset(2, 5))(matrix=matrix, features=list("abcd"), lower=-1, upper=1)
    problem = posed("moments", data, task="linear-ridge", label=3, priority_directions=(0,))
    measure = measure_for(problem)
    kept, held = problem.table.matrix, problem.held_out.matrix
    fitted = np.linalg.lstsq(np.vstack([kept[:3], np.ones(kept.shape[1])]).T, kept[3], rcond=None)[0]
    rmse = np.sqrt(np.mean((np.vstack([held[:3], np.ones(held.shape[1])]).T @ fitted - held[3]) ** 2))
    assert measure.references.non_private == pytest.approx(rmse, abs=5e-3)


def test_components_from_joint_moments_are_about_the_mean():
    data = make_dataset(3, 300, -1.0, 2.0)
    measure = measure_for(posed("moments", data, task="covariance-estimation"))
    x = np.vstack([data.matrix, np.ones(300)])
    assert measure.errors((x @ x.T / 300)[None])[0] == pytest.approx(0, abs=1e-15)
    assert measure.moments((x @ x.T / 300)[None])[0] == pytest.approx(np.cov(data.matrix, bias=True))


@pytest.mark.parametrize("query", ["laplacian", "adjacency"])
def test_the_guess_for_part_of_a_graph_varies_as_graphs_do(query):
    problem = posed(query, graph(6), priority_directions=(0, 1, 2), judged="priority")
    block = np.ix_([0, 1, 2], [0, 1, 2])
    upper = np.triu(np.random.default_rng(0).random((20_000, 6, 6)) < 0.5, 1)
    edges = upper | upper.transpose(0, 2, 1)
    answers = edges.astype(float)
    if query == "laplacian":
        answers = np.einsum("tij,ik->tik", edges.sum(axis=2, keepdims=True), np.eye(6)) - answers
    part = answers[:, block[0], block[1]]
    guess = problem.judged.guess
    assert guess.answer == pytest.approx(part.mean(axis=0), abs=0.03)
    assert guess.spread(None) == pytest.approx(part.var(axis=0).sum(), rel=0.03)


def test_noise_aware_use_ignores_what_is_mostly_noise():
    base = Scenario.default_for("cardiotocography").changed(
        query="covariance", scale="symmetric", bound="none", share=0.95, trials=30, judged="everything", label=0,
        task="linear-ridge")
    data = sample("cardiotocography")
    aware, plain = (run_trials(base.changed(post=post), data, mechanisms=["mvg"])["mvg"].mean
                    for post in (("psd", "aware"), ("psd",)))
    assert aware < 0.95 * plain


@pytest.mark.parametrize("priorities", [(), (0, 1, 2)])
def test_needed_and_rest_are_told_apart_only_where_there_are_both(priorities):
    assert posed("covariance", priority_directions=priorities, judged="priority").positions is None  # everything
    with pytest.raises(InputError, match="errors on other columns need some priority columns"):
        measure_for(posed("covariance", priority_directions=priorities, judged="other"))


def test_one_needed_feature_has_no_components_so_errors_are_on_everything():
    problem = posed("covariance", priority_directions=(0,), judged="priority", task="first-component")
    assert (problem.judged_on, problem.unfit) == ("everything", ONE_NEEDED)
    assert measure_for(problem) is measure_for(problem.whole)
    with pytest.raises(InputError, match="at least 2 columns"):
        measure_for(posed("covariance", priority_directions=(0, 1), judged="other", task="first-component"))


def test_what_is_the_same_for_all_data_cannot_be_judged():
    with pytest.raises(InputError, match="same for all data"):
        measure_for(posed("adjacency", graph(), priority_directions=(0,), judged="priority"))


@pytest.mark.parametrize("data", ["two_features", "liver", "cardiotocography", "movement_simulated", "karate"])
def test_every_bundled_dataset_opens_where_directional_noise_wins_on_what_is_needed(data):
    scenario = Scenario.default_for(data).changed(trials=40)
    results = run_trials(scenario, sample(data), mechanisms=["mvg", "iid"])
    floor = results.references.non_private
    assert results["mvg"].mean - floor < 0.85 * (results["iid"].mean - floor)


def test_a_trial_with_a_private_length_uses_the_noise_of_its_own_length():
    data, seed = make_dataset(3, 120, -1.0, 1.0), 5
    scenario = Scenario(data="upload-000000000000", query="covariance", task="linear-ridge", label=2, scale="declared",
                        bound="private", allocation="binary", priority_directions=(0, 2), share=0.7,
                        judged="everything",
                        epsilon=30.0, seed=seed, trials=4, post=("psd", "aware"))
    found = run_trials(scenario, data, mechanisms=["mvg"])["mvg"].errors
    learn, held_out = split_records(data)
    radii, expected = set(), []
    for trial in range(4):
        noise, length = (np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial, purpose)))
                         for purpose in (0, 1))
        setup = build(scenario.changed(seed=int(length.integers(2**29))), learn)
        radii.add(setup.query.bound.radius)
        std = np.sqrt(setup.design.row_variances)  # ranges to 1, features themselves: no units, nothing turned
        released = setup.query.value + np.outer(std, std) * noise.standard_normal((3, 3))
        known = MomentNoise.from_std(np.outer(std, std))
        weights = ridge_weights((released + released.T) / 2, known, features=[0, 1], label=2)
        predicted = weights @ held_out.matrix[:2]
        expected.append(np.sqrt(np.mean((predicted - held_out.matrix[2]) ** 2)))
    assert len(radii) > 1
    assert found == pytest.approx(expected, rel=1e-9)


def test_with_a_private_length_noise_aware_use_is_the_same_in_any_batch():
    data = make_dataset(4, 200, -1.0, 1.0)
    scenario = Scenario(data="upload-000000000000", query="covariance", task="covariance-estimation", scale="declared",
                        bound="private", allocation="binary", priority_directions=(0, 1), share=0.8, trials=5,
                        judged="everything")
    aware, alone, plain = (run_trials(scenario.changed(post=post), data, mechanisms=["mvg"], batch=batch)["mvg"].errors
                           for post, batch in ((scenario.post, 5), (scenario.post, 1), (("symmetrise",), 5)))
    assert np.array_equal(aware, alone)
    assert not np.allclose(aware, plain)


def test_the_constant_of_joint_moments_is_neither_needed_nor_the_rest():
    data = make_dataset(3, 30)
    with pytest.raises(InputError, match="errors on other columns need some priority columns: not all, not none"):
        measure_for(posed("moments", data, priority_directions=(0, 1, 2), judged="other"))
    for priorities in ((0, 1, 2), (3,)):
        assert posed("moments", data, priority_directions=priorities, judged="priority").chosen is None
    assert posed("moments", data, priority_directions=(0, 3), judged="priority").chosen == [0, 3]
    assert posed("moments", data, priority_directions=(0, 3), judged="other").chosen == [1, 2, 3]


def test_errors_are_on_what_is_needed_by_default_and_on_everything_where_nothing_is():
    assert Scenario().judged == "priority"
    assert Scenario.from_query({"data": "upload-000000000000", "priority": "1"}).judged == "priority"
    data = make_dataset(3, 30, -1.0, 1.0)
    some, none = (Scenario(query="mean", allocation="uniform", priority_directions=priorities,
                           trials=3) for priorities in ((1,), ()))
    assert run_trials(some, data).judged_on == "priority"
    assert run_trials(none, data).judged_on == "everything"
    points, reasons = part_problems(pose(none, data))
    assert list(points) == ["everything"]  # no error on the needed where nothing is
    assert set(reasons) == {"priority", "other"}
    found = part_errors([run_trials(none.changed(judged="everything"), data,
                                    mechanisms=["mvg", "iid", "reduced-gaussian"])])
    assert parts_words(build(none, data), found, on_data=True).startswith("**On everything together ")
