"""Directions are orthonormal, know where they come from, and refuse what is not."""

import math

import numpy as np
import pytest

import mvgviz as mv
from mvgviz.provenance import Origin
from tests.datasets import make_dataset


def test_standard_basis_stores_nothing_of_its_size():
    assert mv.standard_basis(10**9).size == 10**9
    assert np.asarray(mv.standard_basis(3)).tolist() == np.eye(3).tolist()


def test_rotation_turns_the_first_feature_towards_the_second():
    w = mv.rotation(3, (0, 2), math.pi / 6).matrix
    assert w[:, 0] == pytest.approx([math.cos(math.pi / 6), 0, 0.5])
    assert w[:, 2] == pytest.approx([-0.5, 0, math.cos(math.pi / 6)])
    assert w[:, 1].tolist() == [0, 1, 0]


def test_random_rotations_are_rotations_and_have_no_preferred_direction(rng):
    many = np.array([mv.random_rotation(3, rng=rng).matrix for _ in range(4000)])
    assert np.linalg.det(many) == pytest.approx(np.ones(4000))
    # Entries of a uniform rotation have mean 0 and variance 1/3: 5 standard errors.
    assert np.abs(many.mean(axis=0)).max() < 5 * math.sqrt(1 / 3 / 4000)
    assert np.abs((many**2).mean(axis=0) - 1 / 3).max() < 5 * math.sqrt(4 / 45 / 4000)


def test_eigenvectors_diagonalise_the_second_moments_largest_first_and_are_not_private():
    data = make_dataset(4, 50)
    for query in (mv.identity(data), mv.covariance(data)):
        found = mv.eigenvectors(query)
        moments = data.matrix @ data.matrix.T / 50
        turned = found.matrix.T @ moments @ found.matrix
        assert turned == pytest.approx(np.diag(found.eigenvalues), abs=1e-12)
        assert (np.diff(found.eigenvalues) <= 0).all()
        assert (found.origin, found.mu) == (Origin.READ, math.inf)


def test_eigenvectors_of_a_graph_are_those_of_its_matrix():
    path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert mv.eigenvectors(mv.adjacency(path)).eigenvalues == pytest.approx([math.sqrt(2), 0, -math.sqrt(2)], abs=1e-12)


def test_private_eigenvectors_spend_what_they_say(rng):
    found = mv.private_eigenvectors(make_dataset(3, 400), epsilon=0.2, delta=1e-5, rng=rng)
    assert found.origin is Origin.PAID
    assert found.mu == mv.gaussian_mu(0.2, 1e-5)
    assert (found.eigenvalues >= 0).all()


@pytest.mark.slow
def test_private_eigenvectors_add_the_analytic_gaussian_s_noise(rng):
    # With data at 0 the release is pure noise: its trace has variance 3 (s2/mu)².
    data = mv.Dataset(
        matrix=np.zeros((3, 40)), features=("a", "b", "c"), lower=-1, upper=1)
    sigma = mv.covariance(data).sensitivity / mv.gaussian_mu(1, 1e-3)
    tops = [mv.private_eigenvectors(data, epsilon=1, delta=1e-3, rng=rng).eigenvalues[0] for _ in range(4000)]
    direct = rng.standard_normal((4000, 3, 3)) * sigma
    expected = np.linalg.eigvalsh((direct + direct.transpose(0, 2, 1)) / 2)[:, -1]
    expected = np.maximum(expected, 0)
    spread = math.sqrt((np.var(tops) + np.var(expected)) / 4000)
    assert abs(np.mean(tops) - expected.mean()) < 5 * spread


def test_with_a_huge_budget_private_eigenvectors_are_the_eigenvectors(rng):
    data = make_dataset(3, 5000, upper=[1.0, 3.0, 9.0], lower=[-1.0, -3.0, -9.0])
    private = mv.private_eigenvectors(data, epsilon=1000, delta=0.1, rng=rng)
    assert np.abs(private.matrix.T @ mv.eigenvectors(mv.covariance(data)).matrix) == pytest.approx(np.eye(3), abs=0.02)


def test_almost_orthonormal_directions_are_made_orthonormal():
    rounded = np.round(mv.rotation(3, (0, 1), 0.4).matrix, 9)
    mended = mv.from_matrix(rounded).matrix
    assert np.abs(mended.T @ mended - np.eye(3)).max() < 1e-15
    assert mended == pytest.approx(rounded, abs=1e-8)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: mv.from_matrix([[1, 0], [0, 1.001]]), "orthonormal .* to 1e-08, .* off by 0.002; save all"),
    (lambda: mv.from_matrix([[1, 0, 0], [0, 1, 0]]), "a square table with one direction a column, got 2 × 3"),
    (lambda: mv.from_matrix([[math.nan]]), "directions must be finite"),
    (lambda: mv.from_matrix([[1e200, 0], [0, 1]]), "orthonormal"),
    (lambda: mv.rotation(2, (0, 0), 1), "plane must be two different positions below 2"),
    (lambda: mv.rotation(2, (0, 2), 1), "plane must be two different positions below 2"),
    (lambda: mv.rotation(2, (0, 1, 1), 1), "plane must be a pair"),
    (lambda: mv.rotation(2, 3, 1), "plane must be a pair"),
    (lambda: mv.rotation(2, (0, -1), 1), "plane must be a whole number of at least 0"),
    (lambda: mv.rotation(2, (0, 1), math.inf), "angle must be finite"),
    (lambda: mv.rotation(1, (0, 1), 1), "k must be a whole number of at least 2"),
    (lambda: mv.standard_basis(0), "k must be a whole number of at least 1"),
    (lambda: mv.eigenvectors("x"), "query must be a Query"),
    (lambda: mv.random_rotation(2, rng=7), r"rng must be a numpy.random.Generator, got 7"),
    (lambda: mv.private_eigenvectors(make_dataset(2, 5), epsilon=1, delta=0.1, rng=None), "rng must be a numpy"),
    (lambda: mv.private_eigenvectors(make_dataset(2, 5), epsilon=1, delta=0.1, mu=1, rng=np.random.default_rng(0)),
     "as epsilon and delta or as mu, not both"),
    (lambda: mv.standard_basis(10**30), "k must be at most 1000000000"),
    (lambda: mv.private_eigenvectors(make_dataset(2, 5), epsilon=0, delta=0.1, rng=np.random.default_rng(0)),
     "epsilon must be positive"),
])
def test_bad_directions_are_refused(make, message):
    with pytest.raises(mv.InputError, match=message):
        make()
