"""Each query's answer, sensitivities and largest norm, by brute force over its neighbours."""

import itertools
import math

import numpy as np
import pytest

from mvgviz import Dataset, InputError, adjacency, covariance, custom, identity, laplacian, mean, rbf_kernel
from tests.datasets import make_dataset

PATH = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])


def test_table_of_the_paper_for_ranges_worked_by_hand():
    # Two features, [0, 3] and [-4, 0]: r = (3, 4), c = (3, 4), 10 records.
    data = make_dataset(2, 10, lower=[0, -4], upper=[3, 0])
    facts = {q.name: (q.rows, q.cols, q.printed_sensitivity, q.sensitivity, q.gamma, q.psd)
             for q in (identity(data), mean(data), covariance(data))}
    assert facts["identity"] == (2, 10, 5, 5, pytest.approx(math.sqrt(250)), False)
    assert facts["mean"] == (2, 1, 0.5, 0.5, 5, False)
    # No range changes sign, so the worst pair is (3, -4) and (0, 0): 25/10.
    assert facts["covariance"] == (2, 2, 5, pytest.approx(2.5), 25, True)


def test_answers_are_what_their_names_say():
    data = make_dataset(3, 7)
    x = data.matrix
    assert identity(data).value is data.matrix
    assert mean(data).value[:, 0] == pytest.approx(x.mean(axis=1))
    assert covariance(data).value == pytest.approx(np.cov(x, bias=True) + np.outer(x.mean(1), x.mean(1)))
    kernel = rbf_kernel(data, length=0.7).value
    assert kernel[2, 5] == pytest.approx(math.exp(-np.sum((x[:, 2] - x[:, 5]) ** 2) / (2 * 0.49)))
    assert np.diag(kernel).tolist() == [1] * 7


def test_the_kernel_does_not_care_where_the_origin_is():
    near, far = make_dataset(1, 6, lower=0, upper=3), make_dataset(1, 6, lower=2**27, upper=2**27 + 3)
    x = far.matrix[0]
    direct = np.exp(-((x[:, None] - x[None, :]) ** 2) / 2)
    assert rbf_kernel(far, length=1).value == pytest.approx(direct, abs=1e-12)
    assert rbf_kernel(far, length=1).sensitivity == rbf_kernel(near, length=1).sensitivity


def test_no_neighbours_of_the_kernel_are_further_apart_than_its_tight_sensitivity(rng):
    query = rbf_kernel(make_dataset(2, 5), length=1.3)
    worst = 0.0
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=2))).T
    for _ in range(300):
        x = rng.choice([rng.uniform(-1, 1, (2, 5)), np.repeat(corners[:, [0]], 5, axis=1)])
        for corner in corners.T:
            other = x.copy()
            other[:, 2] = corner
            difference = _kernel(x) - _kernel(other)
            worst = max(worst, float(np.linalg.norm(difference)))
    assert worst == pytest.approx(query.sensitivity, rel=1e-12)
    assert query.sensitivity < query.printed_sensitivity == pytest.approx(math.sqrt(36))


def _kernel(x):
    data = Dataset(matrix=x, features=("a", "b"), lower=-1, upper=1)
    return rbf_kernel(data, length=1.3).value


def test_every_edge_moves_a_graph_query_by_its_sensitivity():
    for make, expected in ((adjacency, math.sqrt(2)), (laplacian, 2.0)):
        before = make(PATH)
        for i, j in itertools.combinations(range(4), 2):
            flipped = PATH.copy()
            flipped[i, j] = flipped[j, i] = 1 - PATH[i, j]
            assert np.linalg.norm(make(flipped).value - before.value) == pytest.approx(expected)
        assert before.sensitivity == before.printed_sensitivity == expected


def test_complete_graphs_attain_gamma():
    complete = 1 - np.eye(5)
    assert np.linalg.norm(adjacency(complete).value) == pytest.approx(adjacency(complete).gamma)
    assert np.linalg.norm(laplacian(complete).value) == pytest.approx(laplacian(complete).gamma)


def test_laplacian_is_psd_with_zero_row_sums_and_adjacency_is_not():
    assert laplacian(PATH).value.sum(axis=1).tolist() == [0] * 4
    assert laplacian(PATH).psd
    assert not adjacency(PATH).psd


@pytest.mark.parametrize("make", [identity, mean, covariance, lambda d: rbf_kernel(d, length=1)])
def test_the_data_at_its_largest_stays_within_gamma(make):
    corner = Dataset(matrix=np.array([[3.0] * 6, [-4.0] * 6]), features=("a", "b"), lower=[0, -4], upper=[3, 1])
    query = make(corner)
    assert np.linalg.norm(query.value) == pytest.approx(query.gamma)


def test_custom_keeps_what_was_declared():
    query = custom([[2.0, 1.0], [1.0, 2.0]], sensitivity=0.5, gamma=9, psd=True)
    assert (query.sensitivity, query.printed_sensitivity, query.gamma, query.psd) == (0.5, 0.5, 9, True)
    assert not custom([[1.0, 2.0, 3.0]], sensitivity=1, gamma=9).symmetric


@pytest.mark.parametrize(("make", "message"), [
    (lambda: identity([[1.0]]), "dataset must be a Dataset, got a list"),
    (lambda: rbf_kernel(make_dataset(1, 5), length=0), "length must be positive, got 0"),
    (lambda: rbf_kernel(make_dataset(1, 1), length=1), "needs 2 to 5000 records, got 1"),
    (lambda: rbf_kernel(make_dataset(1, 2), length=1e200), "length must lie between"),
    (lambda: adjacency([[0]]), "at least 2 vertices"),
    (lambda: adjacency([[0, 2], [2, 0]]), r"only 0 and 1, which fails first at \(0, 1\)"),
    (lambda: adjacency([[0, 1], [0, 0]]), r"symmetric, which fails first at \(0, 1\)"),
    (lambda: laplacian([[0, 1], [1, 1]]), "zero diagonal, got a loop at 1"),
    (lambda: laplacian([[0, 1, 0], [1, 0, 0]]), "must be square"),
    (lambda: custom([[1.0]], sensitivity=0, gamma=1), "sensitivity must be positive, got 0"),
    (lambda: custom([[5.0]], sensitivity=1, gamma=1), "gamma must be at least the Frobenius norm of the matrix, got 1"),
    (lambda: custom([[1.0, 2.0]], sensitivity=1, gamma=9, psd=True), "must be square"),
    (lambda: custom([[1.0, 2.0], [0.0, 1.0]], sensitivity=1, gamma=9, psd=True), "must be symmetric when psd"),
    (lambda: custom([[1.0, 2.0], [2.0, 1.0]], sensitivity=1, gamma=9, psd=True), "positive semi-definite when psd"),
    (lambda: custom([[1.0]], sensitivity=1, gamma=9, psd="yes"), "psd must be True or False"),
    (lambda: custom([[math.inf]], sensitivity=1, gamma=9), "matrix must be finite"),
])
def test_bad_queries_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
