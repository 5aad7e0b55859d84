"""Tasks against plain implementations; their three reference lines against simulation; degenerate data."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from mvgviz import Dataset, InputError, Scenario, gaussian_mu
from mvgviz.data import sample
from mvgviz.noise.ties import nearest_psd, spaces
from mvgviz.scenario.tasks import POST, TASKS
from mvgviz.trials.mechanisms import COMPARED, MECHANISMS
from mvgviz.trials.problem import pose, split_records
from mvgviz.trials.run import run_trials
from mvgviz.trials.tasks import PREPARE, measure_for, references_for
from mvgviz.trials.tasks.base import ENOUGH, components, psd_root
from mvgviz.trials.tasks.moments import trivial_moments
from tests.datasets import make_dataset
from tests.unit.trials.problems import BOXES, graph, posed, scenario


def measured(task, problem):
    return PREPARE[task](problem)


def plain_kernel_ridge(train, test, label, lower, upper, *, clip):
    """RMSE of kernel ridge as it is described: ranges onto [-1, 1], length sqrt(2p/3), ridge 1."""
    def unit(table):
        return [[2 * (value - lo) / (hi - lo) - 1 for value in row]
                for row, lo, hi in zip(table, lower, upper, strict=True)]

    learned, new = unit(train), unit(test)
    if clip:
        learned = [[min(max(value, -1.0), 1.0) for value in row] for row in learned]
    features = [k for k in range(len(lower)) if k != label]
    length2 = 2 * len(features) / 3

    def similarity(a, i, b, j):
        return math.exp(-sum((a[k][i] - b[k][j]) ** 2 for k in features) / (2 * length2))

    n, size = len(learned[0]), len(new[0])
    kernel = np.array([[similarity(learned, i, learned, j) + (i == j) for j in range(n)] for i in range(n)])
    weights = linalg.solve(kernel, np.array(learned[label]), assume_a="pos")
    errors = []
    for j in range(size):
        guess = sum(weights[i] * similarity(learned, i, new, j) for i in range(n))
        errors.append((lower[label] + (guess + 1) / 2 * (upper[label] - lower[label]) - test[label][j]) ** 2)
    return math.sqrt(sum(errors) / size)


@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0])
def test_kernel_ridge_is_the_plain_one(clip, spread, rng):
    lower, upper = np.array([-1.0, 0.0, 5.0]), np.array([1.0, 4.0, 9.0])
    data = make_dataset(3, 25, lower, upper)
    problem = posed("identity", data, task="kernel-ridge", label=2, post=("clip",) if clip else ())
    measure = measured("kernel-ridge", problem)
    released = problem.query.value + spread * rng.standard_normal((4, *problem.query.value.shape))
    learn, test = split_records(data)
    assert np.array_equal(learn.matrix, problem.query.value)
    expected = [plain_kernel_ridge(one, test.matrix, 2, lower, upper, clip=clip) for one in released]
    assert measure.errors(released) == pytest.approx(expected, rel=1e-9)
    if spread == 0:
        assert measure.references.non_private == pytest.approx(expected[0], rel=1e-12)


def plain_linear_ridge(moments, test, label, c, *, psd):
    s = (moments + moments.T) / 2 / np.outer(c, c)
    if psd:
        values, vectors = linalg.eigh(s)
        s = sum(max(value, 0) * np.outer(v, v) for value, v in zip(values, vectors.T, strict=True))
    features = [k for k in range(len(c)) if k != label]
    w = linalg.solve(s[np.ix_(features, features)] + 0.1 * np.eye(len(features)), s[features, label])
    guesses = [c[label] * sum(w[a] * test[k, j] / c[k] for a, k in enumerate(features)) for j in range(test.shape[1])]
    return math.sqrt(np.mean((np.array(guesses) - test[label]) ** 2))


@pytest.mark.parametrize("psd", [True, False])
@pytest.mark.parametrize("query", ["identity", "covariance"])
def test_linear_ridge_is_the_plain_one(psd, query, rng):
    lower, upper = np.array([-1.0, 0.0, 5.0]), np.array([1.0, 4.0, 9.0])
    problem = posed(query, make_dataset(3, 40, lower, upper), task="linear-ridge", label=1,
                    post=("psd",) if psd else ())
    measure = measured("linear-ridge", problem)
    x = problem.table.matrix
    truth = x @ x.T / x.shape[1]
    released = truth + np.array([0, 1, 5])[:, None, None] * rng.standard_normal((3, 3, 3))
    test = problem.held_out.matrix
    expected = [plain_linear_ridge(one, test, 1, upper, psd=psd) for one in released]
    assert measure.errors(released) == pytest.approx(expected, rel=1e-8)
    assert measure.references.non_private == pytest.approx(expected[0], rel=1e-9)


def test_linear_ridge_survives_noise_that_would_drown_the_ridge(rng):
    # 1e17 times the ridge of 0.1: against 80 digits.
    problem = posed("covariance", make_dataset(4, 30), task="linear-ridge", label=0, post=("psd",))
    noisy = 1e17 * rng.standard_normal((6, 4, 4))
    weights = measured("linear-ridge", problem).weights(noisy)
    with mpmath.workdps(80):
        for one, ours in zip(noisy, weights, strict=True):
            values, vectors = mpmath.eigsy(mpmath.matrix(((one + one.T) / 2).tolist()))
            s = vectors * mpmath.diag([max(value, 0) for value in values]) * vectors.T
            left = s[1:, 1:] + mpmath.mpf("0.1") * mpmath.eye(3)
            exact = [float(w) for w in mpmath.lu_solve(left, s[1:, 0])]
            assert ours == pytest.approx(exact, rel=1e-6, abs=1e-8)


def test_the_first_component_is_lambda_1_less_what_is_captured(rng):
    s = posed("covariance", m=4, n=50).query.value
    released = s + 0.1 * rng.standard_normal((20, 4, 4))
    for post in (("symmetrise",), ()):
        measure = measured("first-component", posed("covariance", m=4, n=50, post=post))
        for noisy, error in zip(released, measure.errors(released), strict=True):
            if post:
                values, vectors = np.linalg.eigh((noisy + noisy.T) / 2)
                v = vectors[:, np.argmax(values)]
            else:
                v = np.linalg.svd(noisy)[0][:, 0]
            assert error == pytest.approx(np.linalg.eigvalsh(s)[-1] - v @ s @ v, rel=1e-9, abs=1e-14)
    units = np.linalg.qr(rng.standard_normal((5, 4, 1)))[0][:, :, 0]
    assert measure.errors(units) == pytest.approx([np.linalg.eigvalsh(s)[-1] - v @ s @ v for v in units])


def test_the_strongest_direction_has_the_largest_eigenvalue_not_the_largest_size():
    # Noise can make a negative eigenvalue the largest in size: symmetrised, it is last.
    assert np.abs(components(np.diag([-5.0, 1.0, 3.0])[None], symmetrise=True)[1][0, :, 0]).tolist() == [0, 0, 1]
    assert np.abs(components(np.diag([-5.0, 1.0, 3.0])[None], symmetrise=False)[1][0, :, 0]).tolist() == [1, 0, 0]


def test_covariance_estimation_is_the_residual_sum_of_squares(rng):
    problem = posed("identity", m=4, n=50)
    x = problem.query.value
    s = x @ x.T / 50
    noisy = s + 0.1 * rng.standard_normal((10, 4, 4))
    expected = []
    for one in noisy:
        values, vectors = np.linalg.eigh((one + one.T) / 2)
        order = np.argsort(-values)
        lam = np.sort(np.linalg.eigvalsh(s))[::-1]
        expected.append(sum((lam[i] - vectors[:, k] @ s @ vectors[:, k]) ** 2 for i, k in enumerate(order)))
    measure = measured("covariance-estimation", problem)
    assert measure.errors(noisy) == pytest.approx(expected, rel=1e-9)
    assert measure.errors(s[None])[0] < 1e-25


@pytest.mark.parametrize("m", [2, 3, 6])
def test_the_subspace_angle_is_scipys(m, rng):
    problem = posed("covariance", m=m, n=50)
    k = min(2, m - 1)
    noisy = problem.query.value + np.array([1e-9, 0.01, 1.0])[:, None, None] * rng.standard_normal((3, m, m))
    true = np.linalg.eigh(problem.query.value)[1][:, -k:]
    expected = [np.degrees(linalg.subspace_angles(true, np.linalg.eigh((one + one.T) / 2)[1][:, -k:]).max())
                for one in noisy]
    assert measured("subspace", problem).errors(noisy) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("post", [steps for r in range(4) for steps in itertools.combinations(tuple(POST)[:3], r)])
def test_reconstruction_is_the_relative_error_after_what_was_chosen(post, rng):
    problem = posed("covariance", m=3, n=20, post=post)
    measure = measured("reconstruction", problem)
    value = problem.query.value
    released = value + rng.standard_normal((5, 3, 3))
    expected = []
    for one in released:
        if "symmetrise" in post:
            one = (one + one.T) / 2
            if "psd" in post:
                values, vectors = np.linalg.eigh(one)
                one = vectors @ np.diag(np.maximum(values, 0)) @ vectors.T
        expected.append(np.linalg.norm(one - value) / np.linalg.norm(value))
    if measure.level == "square":
        released = np.array([(np.linalg.norm(one - value)) ** 2 for one in released])
    assert ("symmetrise" in post) is (measure.level == "answer")
    assert measure.errors(released) == pytest.approx(expected, rel=1e-12)


def test_tables_are_clipped_to_their_ranges(rng):
    problem = posed("identity", lower=[0.0, -1.0, 3.0], upper=[1.0, 1.0, 8.0], post=("clip",))
    released = problem.query.value + 5 * rng.standard_normal((3, 3, 30))
    clipped = np.clip(released, [[0.0], [-1.0], [3.0]], [[1.0], [1.0], [8.0]])
    expected = np.linalg.norm(clipped - problem.query.value, axis=(1, 2)) / np.linalg.norm(problem.query.value)
    assert measured("reconstruction", problem).errors(released) == pytest.approx(expected)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-10, 10), min_size=9, max_size=9))
def test_the_nearest_psd_matrix_is_a_projection(values):
    a = np.array(values).reshape(3, 3)
    a = ((a + a.T) / 2)[None]
    p = nearest_psd(a)
    assert np.linalg.eigvalsh(p)[0, 0] >= -1e-9
    assert np.abs(nearest_psd((p + p.transpose(0, 2, 1)) / 2) - p).max() < 1e-8
    assert float(np.trace(p[0] @ (a - p)[0])) == pytest.approx(0, abs=1e-7)  # what is left is at right angles
    assert np.linalg.eigvalsh((a - p)[0])[-1] <= 1e-9
    root = psd_root(a)
    assert np.abs(root @ root.transpose(0, 2, 1) - p).max() < 1e-9


# The three lines


def test_a_random_guess_of_a_label_is_uniform_in_its_range(rng):
    problem = posed("covariance", make_dataset(3, 60, -1.0, 3.0), task="linear-ridge", label=1)
    truth = problem.held_out.matrix[1]
    squares = ((rng.uniform(-1, 3, (20_000, truth.size)) - truth) ** 2).mean(axis=1)
    for name, query in (("linear-ridge", "covariance"), ("kernel-ridge", "identity")):
        references = measured(name, posed(query, make_dataset(3, 60, -1.0, 3.0), task=name, label=1)).references
        assert abs(references.random_guess**2 - squares.mean()) < 6 * squares.std() / math.sqrt(20_000)
        middle = math.sqrt(((truth - 1) ** 2).mean())
        assert references.trivial <= middle * (1 + 1e-12)
        if name == "kernel-ridge":
            assert references.trivial == pytest.approx(middle)


@pytest.mark.parametrize(("epsilon", "neighbours"), [(1.0, "replace"), (3.0, "add-remove")])
def test_the_private_mean_is_what_a_release_of_it_alone_would_do(rng, epsilon, neighbours):
    """By drawing it; its budget is the problem's own, and a label that hardly varies needs more records."""
    problem = posed("covariance", make_dataset(3, 60, -1.0, 3.0), task="linear-ridge", label=1, epsilon=epsilon,
                    delta=1e-6, neighbours=neighbours)
    learned, truth = problem.table.matrix[1], problem.held_out.matrix[1]
    moves = 4 / learned.size * (0.5 if neighbours == "add-remove" else 1)
    means = learned.mean() + moves / float(gaussian_mu(epsilon, 1e-6)) * rng.standard_normal((100_000, 1))
    found = references_for(problem)
    assert found.private_mean == pytest.approx(math.sqrt(np.square(truth - means).mean()), rel=0.01)
    assert found.records_needed == math.ceil(ENOUGH * 4 / learned.std() / float(gaussian_mu(epsilon, 1e-6)))
    assert math.isnan(references_for(posed("covariance")).private_mean)
    assert ENOUGH / float(gaussian_mu(1, 1e-6)) == pytest.approx(70, rel=1e-3)


@pytest.mark.parametrize("task", ["first-component", "covariance-estimation", "subspace"])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_a_random_guess_of_directions_is_a_uniform_basis(task, m, rng):
    if task == "subspace" and m == 1:
        return
    measure = measured(task, posed("covariance", m=m, n=9, lower=-1.0, upper=2.0))
    basis, upper = np.linalg.qr(rng.standard_normal((6000, m, m)))
    basis = basis * np.sign(np.einsum("tii->ti", upper))[:, None, :]
    strengths = np.arange(m, 0, -1)  # a matrix with this basis, the strongest first
    errors = measure.errors((basis * strengths) @ basis.transpose(0, 2, 1))
    room = 6 * errors.std() * math.sqrt(1 / 6000 + (1 / 2000 if task == "subspace" else 0)) + 1e-12
    assert abs(errors.mean() - measure.references.random_guess) < room


def test_the_trivial_answer_knows_the_ranges_alone():
    data = make_dataset(3, 40, [0.0, 0.0, -1.0], [1.0, 5.0, 1.0])
    middle, squares = np.array([0.5, 2.5, 0.0]), np.array([1 / 3, 25 / 3, 1 / 3])
    expected = np.outer(middle, middle)
    np.fill_diagonal(expected, squares)
    for query in ("identity", "covariance"):
        problem = posed(query, data)
        assert np.abs(trivial_moments(problem) - expected).max() < 1e-7
        s = data.matrix @ data.matrix.T / 40
        v = np.linalg.eigh(expected)[1][:, -1]
        assert measured("first-component", problem).references.trivial == pytest.approx(
            np.linalg.eigvalsh(s)[-1] - v @ s @ v, rel=1e-4)


def bases(problem, rng, trials):
    """Of the strongest spaces of the answer without data, drawn uniformly: trials × m × m."""
    strengths, vectors = (found[0] for found in components(trivial_moments(problem)[None], symmetrise=True))
    turned = []
    for space in spaces(strengths, vectors):
        turn, upper = np.linalg.qr(rng.standard_normal((trials, space.shape[1], space.shape[1])))
        turned.append(space @ (turn * np.sign(np.einsum("tii->ti", upper))[:, None, :]))
    assert max(part.shape[2] for part in turned) > 1
    return np.concatenate(turned, axis=2)


@pytest.mark.parametrize("lower", [0.0, -1.0])
@pytest.mark.parametrize("task", ["first-component", "covariance-estimation", "subspace"])
def test_evenly_spread_data_with_equal_strengths_is_judged_by_the_mean_over_all_its_directions(task, lower, rng):
    problem = posed("covariance", m=6, n=9, lower=lower, upper=1.0)
    measure, strengths = measured(task, problem), np.arange(6, 0, -1)
    found = measure.expected(spaces(*(each[0] for each in components(trivial_moments(problem)[None], symmetrise=True))))
    drawn = bases(problem, rng, 20_000)
    errors = measure.errors((drawn * strengths) @ drawn.transpose(0, 2, 1))
    room = 5 * errors.std() * math.sqrt(1 / 20_000 + (1 / 2_000 if task == "subspace" else 0)) + 1e-9
    assert abs(errors.mean() - found) < room
    assert measure.references.trivial == min(found, measure.references.random_guess)


def test_the_error_does_not_depend_on_the_basis_of_a_release_with_equal_strengths(rng):
    """Fewer records than features: the rest of the directions is anybody's choice."""
    problem = posed("identity", make_dataset(6, 4))
    table = rng.standard_normal((6, 4))
    released = np.stack([table @ table.T / 4] * 2)
    released[1] += 1e-17 * np.add(*[rng.standard_normal((6, 6))] * 2)
    for post in ((), ("symmetrise",)):
        measure = measured("covariance-estimation", posed("identity", make_dataset(6, 4), post=post))
        errors = measure.errors(released)
        assert errors[0] == pytest.approx(errors[1], rel=1e-9)
    left, s, _ = np.linalg.svd(table)
    strengths = np.append(s**2 / 4, [1e-3, 0.0]) * [1, 1, 1, 1, 1e-3, 1]  # the last two told apart, turned anyhow
    turns = np.stack([linalg.block_diag(np.eye(4), [[c, -d], [d, c]])
                      for c, d in ((math.cos(a), math.sin(a)) for a in np.linspace(0, math.pi, 101)[:-1])])
    vectors = left @ turns
    mean = measured("covariance-estimation", problem).errors((vectors * strengths) @ vectors.transpose(0, 2, 1)).mean()
    assert errors[0] == pytest.approx(mean, rel=1e-9)


def test_a_subspace_that_is_not_defined_is_refused():
    with pytest.raises(InputError, match="the next one is as strong"):
        measured("subspace", posed("covariance", constant(3, 12, 0.0)))


def test_without_knowledge_of_a_direction_all_features_weigh_the_same():
    vector = components(trivial_moments(posed("covariance"))[None], symmetrise=True)[1][0, :, 0]
    assert np.abs(vector) == pytest.approx(np.full(3, 3**-0.5))


# Degenerate data


def constant(m, n, value, lower=-1.0, upper=1.0):
    return Dataset(matrix=np.full((m, n), value), features=[f"f{i}" for i in range(m)], lower=lower, upper=upper)


DEGENERATE = {
    "zeros": constant(3, 12, 0.0), "constant": constant(3, 12, 1.5, 0.0, 3.0), "corner": constant(2, 9, 1.0),
    "one number": constant(1, 1, 0.0), "one feature": make_dataset(1, 12), "one record": make_dataset(3, 1),
    "fewer than features": make_dataset(6, 4), "fewer than twice": make_dataset(4, 7),
    "away from zero": make_dataset(3, 15, 10.0, 11.0), "below zero": make_dataset(3, 15, -5.0, -1.0),
    "tiny": make_dataset(2, 8, 0.0, 1e-50), "wide": make_dataset(2, 8, -1e40, 1e45),
    "rank one": Dataset(matrix=np.outer([1, -0.5, 0.2], np.linspace(-1, 1, 12)), features=["a", "b", "c"], lower=-1,
                        upper=1),
}


@pytest.mark.slow
@pytest.mark.parametrize("data", list(DEGENERATE))
@pytest.mark.parametrize("query", ["identity", "covariance", "mean", "kernel"])
def test_degenerate_data_gives_numbers_or_a_sentence(data, query):
    plain = [(task, (), 1.0) for task in ("reconstruction", "linear-ridge", "first-component")]
    for task, post, epsilon in [(task, tuple(POST), 1e-3) for task in TASKS] + plain:
        one = scenario(query, task=task, label=0, post=post, epsilon=epsilon, trials=2)
        try:
            results = run_trials(one, DEGENERATE[data], mechanisms=["iid", *(other.key for other in COMPARED)])
        except InputError:
            continue
        lines = results.references
        assert np.isfinite([lines.non_private, lines.random_guess, lines.trivial]).all()
        for outcome in results.outcomes:
            assert (outcome.reason is None) is (outcome.errors.size == 2)
            assert np.isfinite(outcome.errors).all()
            assert (outcome.errors >= 0).all()


@pytest.mark.parametrize("query", ["adjacency", "laplacian"])
@pytest.mark.parametrize("edges", ["none", "all", "two vertices"])
def test_degenerate_graphs_give_numbers_or_a_sentence(query, edges):
    size = 2 if edges == "two vertices" else 5
    matrix = np.zeros((size, size)) if edges == "none" else np.ones((size, size)) - np.eye(size)
    data = Dataset(matrix=matrix, features=[f"v{i}" for i in range(size)], lower=0, upper=1)
    for task in ("reconstruction", "subspace", "first-component", "covariance-estimation"):
        if task == "subspace" and size > 2:
            with pytest.raises(InputError, match="as strong"):
                run_trials(scenario(query, task=task, trials=2), data, mechanisms=list(MECHANISMS))
            continue
        results = run_trials(scenario(query, task=task, trials=2), data, mechanisms=list(MECHANISMS))
        assert all(np.isfinite(outcome.errors).all() for outcome in results.outcomes)
        assert math.isfinite(results.references.random_guess)


def test_theorem_noise_of_ten_digits_answers_the_trivial_answer():
    results = run_trials(scenario("identity", scale="symmetric", task="kernel-ridge", label=0, post=(), epsilon=0.01,
                                  trials=3), make_dataset(3, 60, 0.0, 9.0), mechanisms=["mvg-theorem1"])
    assert results["mvg-theorem1"].errors == pytest.approx(np.full(3, results.references.trivial), rel=1e-6)


@pytest.mark.parametrize(("choices", "words"), [
    ({"task": "linear-ridge", "query": "covariance"}, "needs a label"),
    ({"task": "kernel-ridge"}, "needs a label"),
    ({"task": "kernel-ridge", "label": 3}, "one of the 3 columns, got position 3"),
    ({"task": "kernel-ridge", "query": "covariance", "label": 0}, "linear ridge, which works from a covariance"),
    ({"task": "linear-ridge", "query": "mean", "label": 0}, "table or its covariance"),
    ({"task": "first-component", "query": "mean"}, "ask for the table or the covariance"),
    ({"task": "subspace", "m": 1}, "at least 2 columns"),
    ({"task": "linear-ridge", "query": "covariance", "m": 1, "label": 0}, "one column besides"),
    ({"task": "kernel-ridge", "n": 3000, "label": 0}, "choose linear ridge"),
    ({"task": "covariance-estimation", "query": "kernel", "n": 401}, "at most 400 rows"),
    ({"task": "linear-ridge", "query": "laplacian", "data": graph(), "label": 0}, "table or its covariance"),
])
def test_what_a_task_cannot_use_gets_a_sentence(choices, words):
    with pytest.raises(InputError, match=words):
        measured(choices["task"], posed(**choices))


def test_tasks_and_their_steps_are_those_of_a_scenario():
    assert set(TASKS) == set(PREPARE)
    for key, task in TASKS.items():
        assert task.key == key
        assert set(task.post) <= set(POST)
        assert task.rule


def test_boxes_on_the_unit_scale_hide_where_the_ranges_were():
    lower, upper = (np.array(ends) for ends in BOXES["away"])
    data = make_dataset(4, 40, lower, upper)
    shifted = Dataset(matrix=data.matrix - lower[:, None], features=data.features, lower=0, upper=upper - lower)
    errors = [measured("covariance-estimation", posed(data=one, scale="unit")).references.trivial
              for one in (data, shifted)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)


def test_a_sum_that_should_be_zero_is_no_unit_of_error():
    half = np.random.default_rng(0).uniform(-1, 1, (2, 50))
    data = Dataset(matrix=np.concatenate([half, -half], axis=1), features=("a", "b"), lower=-1, upper=1)
    results = run_trials(Scenario(data="two_features", query="mean", scale="declared"), data, trials=20)
    assert 0 < results["mvg"].mean < 100


def test_a_large_kernel_is_measured_without_the_projection():
    data = Dataset(matrix=np.random.default_rng(0).uniform(-1, 1, (2, 410)), features=("a", "b"), lower=-1, upper=1)
    large = Scenario(data="two_features", query="kernel", task="reconstruction", allocation="uniform")
    assert np.isfinite(run_trials(large, data, trials=2)["mvg"].mean)


@pytest.mark.parametrize(("query", "centre"), [("covariance", False), ("identity", False), ("moments", True)])
def test_the_first_component_is_about_the_mean_where_that_is_released_too(query, centre):
    table = sample("liver")
    problem = pose(Scenario(data="liver", query=query, scale="declared", task="first-component",
                            judged="everything"), table)
    off = table.matrix.mean(axis=1, keepdims=True)
    by_hand = {about_mean: linalg.svd(table.matrix - about_mean * off)[0][:, 0] for about_mean in (False, True)}
    errors = {key: measure_for(problem).errors(vector[None])[0] for key, vector in by_hand.items()}
    assert errors[centre] == pytest.approx(0, abs=1e-6)
    assert errors[not centre] > 1
