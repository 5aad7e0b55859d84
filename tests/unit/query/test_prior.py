"""What someone answers who has not seen the data: closed forms against simulated data and quadrature."""

import math

import numpy as np
import pytest
from scipy import integrate

from mvgviz import Dataset, InputError, Scenario
from mvgviz.data import sample, samples
from mvgviz.scenario.tasks import TASKS
from mvgviz.trials.problem import pose
from mvgviz.trials.tasks import prepared
from tests.unit.trials.problems import BOXES, graph, posed

TRIALS = 4000


def answers(query, lower, upper, n, rng, length=1.0):
    """Answers of simulated datasets, each record uniform in the box, by the definition of the query."""
    x = rng.uniform(np.asarray(lower)[:, None], np.asarray(upper)[:, None], (TRIALS, len(lower), n))
    if query == "identity":
        return x
    if query == "mean":
        return x.mean(axis=2, keepdims=True)
    if query == "covariance":
        return x @ x.transpose(0, 2, 1) / n
    apart = x[:, :, :, None] - x[:, :, None, :]
    return np.exp(-(apart**2).sum(axis=1) / (2 * length**2))


def graphs(query, size, rng):
    upper = np.triu(rng.integers(0, 2, (TRIALS, size, size)), 1)
    adjacent = (upper + upper.transpose(0, 2, 1)).astype(float)
    if query == "adjacency":
        return adjacent
    return np.array([np.diag(one.sum(axis=1)) - one for one in adjacent])


def agrees(guess, drawn, value):
    """The guess is the mean answer, its variance that of the answers, its errors those of drawing one."""
    mean, spread = drawn.mean(axis=0), drawn.std(axis=0)
    assert (np.abs(mean - guess.answer) <= 6 * spread / math.sqrt(TRIALS) + 1e-9).all()
    about = ((drawn - guess.answer) ** 2).sum(axis=(1, 2))
    assert abs(about.mean() - guess.spread(None)) <= 6 * about.std() / math.sqrt(TRIALS) + 1e-9
    square = ((drawn - value) ** 2).sum(axis=(1, 2))
    assert abs(square.mean() - guess.random_error(value) ** 2) <= 6 * square.std() / math.sqrt(TRIALS) + 1e-9
    assert guess.expected_error(value) == pytest.approx(math.sqrt(((guess.answer - value) ** 2).sum()))


@pytest.mark.parametrize("query", ["identity", "mean", "covariance", "kernel"])
@pytest.mark.parametrize("box", list(BOXES))
def test_guesses_for_tables_match_simulated_data(query, box, rng):
    lower, upper = (np.array(ends[:3]) for ends in BOXES[box])
    problem = posed(query, m=3, n=5, lower=lower, upper=upper, length=1.7)
    agrees(problem.guess, answers(query, lower, upper, 5, rng, length=1.7), problem.query.value)


@pytest.mark.parametrize("query", ["adjacency", "laplacian"])
@pytest.mark.parametrize("size", [2, 7])
def test_guesses_for_graphs_match_fair_coins(query, size, rng):
    problem = posed(query, graph(size))
    agrees(problem.guess, graphs(query, size, rng), problem.query.value)


@pytest.mark.parametrize("width", [1e-6, 0.9e-3, 1.1e-3, 0.1, 1.0, 30.0, 1e4])
def test_the_expected_similarity_of_two_records_matches_quadrature(width):
    # The difference of two uniform numbers has the triangular density 2 (a - t)/a² on [0, a].
    def moment(times):
        return integrate.quad(lambda t: 2 * (width - t) / width**2 * math.exp(-times * t * t / 2), 0, min(width, 60),
                              epsabs=0, epsrel=1e-12, limit=500)[0]

    guess = posed("kernel", m=1, n=3, lower=0, upper=width).guess
    assert guess.answer[0, 1] == pytest.approx(moment(1), rel=1e-11)
    assert (np.diag(guess.answer) == 1).all()
    assert guess.spread(None) == pytest.approx(6 * (moment(2) - moment(1) ** 2), rel=1e-7, abs=1e-12)


def test_the_widest_ranges_do_not_overflow():
    for query in ("identity", "mean", "covariance", "kernel"):
        problem = posed(query, m=1, n=4, lower=-1e50, upper=1e50)
        assert math.isfinite(problem.guess.random_error(problem.query.value))


@pytest.mark.parametrize("query", ["adjacency", "laplacian"])
def test_sparse_graphs_are_held_against_no_edge_and_full_ones_against_every_edge(query):
    size = 8
    one = np.zeros((size, size))
    one[0, 1] = one[1, 0] = 1.0
    full = np.ones((size, size)) - np.eye(size)
    for adjacent, best in ((one, "all zeros"), (full - one, "every edge there")):
        problem = posed(query, Dataset(matrix=adjacent, features=[str(k) for k in range(size)], lower=0, upper=1))
        references = prepared(problem).references
        truth = adjacent if query == "adjacency" else np.diag(adjacent.sum(axis=1)) - adjacent
        complete = full if query == "adjacency" else np.diag(full.sum(axis=1)) - full
        expected = min(np.linalg.norm(guess - truth) for guess in (0 * truth, complete, complete / 2))
        assert references.trivial == pytest.approx(expected / np.linalg.norm(truth))
        assert references.trivial_is == best


@pytest.mark.slow
@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("task", sorted(TASKS))
def test_no_answer_of_zeros_and_no_chance_beats_the_trivial_answer(name, task):
    graph_like = name == "karate"
    for query in ("adjacency", "laplacian") if graph_like else ("identity", "mean", "covariance"):
        for scale in ("declared",) if graph_like else ("declared", "symmetric", "unit"):
            scenario = Scenario.default_for(name).changed(query=query, scale=scale, task=task, post=(),
                                                          label=None if graph_like else 1)
            try:
                problem = pose(scenario, sample(name))
                measure = prepared(problem)
            except InputError:
                continue  # the task does not fit the query
            references = measure.references
            assert references.trivial <= references.random_guess * (1 + 1e-12)
            assert references.trivial_is
            if task == "reconstruction":
                assert references.trivial <= np.linalg.norm(problem.query.value) / measure.unit * (1 + 1e-12)
            if task in ("kernel-ridge", "linear-ridge"):
                zeros = float(measure.errors(np.zeros((1, *problem.query.value.shape)))[0]) if (
                    task == "kernel-ridge" or query == "covariance") else np.inf
                assert references.trivial <= zeros * (1 + 1e-9)
                low, high = measure.labels.lower[1], measure.labels.upper[1]
                for constant in (np.clip(0, low, high), (low + high) / 2):
                    error = np.sqrt(np.mean((measure.labels.test_labels - constant) ** 2))
                    assert references.trivial <= error * (1 + 1e-12)
