"""PNR against its definition as a determinant, and the two limits everybody knows."""

import math

import numpy as np
import pytest

from mvgviz import (
    InputError,
    adjacency,
    covariance,
    design_noise,
    eigenvectors,
    identity,
    log_pnr,
    manual,
    mean,
    mutual_information,
    pnr,
    random_rotation,
)
from tests.datasets import make_dataset


def definition(answer_covariance, design):
    """``log det(I + K_f (Psi ⊗ Sigma)^-1)`` from dense matrices."""
    noise = np.kron(design.col_covariance(), design.row_covariance())
    return np.linalg.slogdet(np.eye(len(noise)) + answer_covariance @ np.linalg.inv(noise))[1]


@pytest.mark.parametrize("mode", ["rows", "columns", "both"])
def test_table_s_pnr_is_the_determinant(mode):
    data = make_dataset(3, 3 if mode == "both" else 5)
    query = identity(data)
    moments = query.value @ query.value.T / query.cols
    size = query.cols if mode == "columns" else 3
    design = design_noise(query, epsilon=5, delta=0.1, mode=mode, theta=manual(np.arange(1.0, size + 1)),
                          directions=random_rotation(size, rng=np.random.default_rng(1)))
    assert log_pnr(moments, design) == pytest.approx(definition(np.kron(np.eye(query.cols), moments), design))


def test_along_eigenvectors_the_eigenvalues_are_enough():
    query = identity(make_dataset(3, 5))
    own = eigenvectors(query)
    design = design_noise(query, epsilon=5, delta=0.1, directions=own, theta=[0.6, 0.3, 0.1])
    moments = query.value @ query.value.T / 5
    assert log_pnr(own.eigenvalues, design) == pytest.approx(log_pnr(moments, design))
    by_hand = 5 * np.sum(np.log1p(own.eigenvalues / design.row_variances))
    assert log_pnr(own.eigenvalues, design) == pytest.approx(by_hand)
    assert mutual_information(own.eigenvalues, design) == pytest.approx(by_hand / 2)
    assert pnr(own.eigenvalues, design) == pytest.approx(math.exp(by_hand))


def test_mean_s_pnr_is_that_of_an_average():
    query = mean(make_dataset(3, 7))
    design = design_noise(query, epsilon=5, delta=0.1, theta=[0.6, 0.3, 0.1])
    moments = np.diag([3.0, 2.0, 1.0])
    assert log_pnr(moments, design) == pytest.approx(definition(moments / 7, design))


def test_covariance_s_pnr_is_the_determinant_for_gaussian_records():
    n, lam = 11, np.array([3.0, 2.0, 0.5])
    query = covariance(make_dataset(3, n))
    design = design_noise(query, epsilon=5, delta=0.1, theta=[0.6, 0.3, 0.1])
    # S = X Xᵀ/n of Gaussian records: cov(S_ij, S_kl) = (K_ik K_jl + K_il K_jk)/n, K = diag(lam).
    k = np.diag(lam)
    entries = [(i, j) for j in range(3) for i in range(3)]
    answer = np.array([[(k[i, a] * k[j, b] + k[i, b] * k[j, a]) / n for a, b in entries] for i, j in entries])
    assert log_pnr(lam, design) == pytest.approx(definition(answer, design))
    assert log_pnr(k, design) == pytest.approx(log_pnr(lam, design))


def test_more_budget_gives_more_information_and_no_signal_none():
    query = identity(make_dataset(2, 6))
    gains = [mutual_information([1.0, 0.1], design_noise(query, epsilon=e, delta=1e-3)) for e in (0.1, 1, 10)]
    assert gains == sorted(gains)
    assert mutual_information([0.0, 0.0], design_noise(query, epsilon=1, delta=1e-3)) == 0


def test_a_pnr_beyond_all_numbers_is_infinite_but_its_logarithm_is_not():
    design = design_noise(identity(make_dataset(2, 2000)), epsilon=1000, delta=0.1)
    assert pnr([1e6, 1e6], design) == math.inf
    assert 709 < log_pnr([1e6, 1e6], design) < math.inf


@pytest.mark.parametrize(("eigenvalues", "query", "mode", "message"), [
    ([1.0], identity(make_dataset(2, 3)), "rows", "eigenvalues must number 2, got 1"),
    ([1.0, -1.0], identity(make_dataset(2, 3)), "rows", "eigenvalues must not be negative"),
    ([1.0, math.nan], identity(make_dataset(2, 3)), "rows", "eigenvalues must be finite"),
    (np.eye(3), identity(make_dataset(2, 3)), "rows", "eigenvalues as a matrix must be 2 × 2"),
    ([[1.0, 2.0], [3.0, 4.0]], identity(make_dataset(2, 3)), "rows", "symmetric positive semi-definite"),
    (-np.eye(2), identity(make_dataset(2, 3)), "rows", "symmetric positive semi-definite"),
    ([[1, 2], [3]], identity(make_dataset(2, 3)), "rows", "eigenvalues must hold numbers only"),
    ([1.0, 1.0], covariance(make_dataset(2, 3)), "rows", "needs mode both, got rows"),
    ([1.0, 1.0], adjacency([[0, 1], [1, 0]]), "both", "identity, mean and covariance queries, got adjacency"),
])
def test_bad_arguments_are_refused(eigenvalues, query, mode, message):
    with pytest.raises(InputError, match=message):
        pnr(eigenvalues, design_noise(query, epsilon=1, delta=0.1, mode=mode))
