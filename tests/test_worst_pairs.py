"""The pair shown is as far apart as the worst case says, wherever that is exact."""

import numpy as np
import pytest
from conftest import make_dataset

from mvgviz import (
    InputError,
    adjacency,
    covariance,
    custom,
    design_noise,
    identity,
    laplacian,
    manual,
    mean,
    random_rotation,
    rbf_kernel,
)
from mvgviz.worst_pairs import worst_pair

GRAPH = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
BOXES = {"symmetric": (-1, 1), "one-sided": (0, 3), "away": (2, 3), "lopsided": (-0.3, 1)}


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("m", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("query", [identity, mean, covariance])
def test_without_noise_the_pair_differs_by_the_sensitivity(box, m, query):
    low, high = BOXES[box]
    asked = query(make_dataset(m, 30, lower=low, upper=high))
    pair = worst_pair(asked)
    assert np.linalg.norm(pair.difference) == pytest.approx(asked.sensitivity * pair.attained, rel=1e-9)
    assert pair.attained <= 1 + 1e-12
    assert pair.attained >= (0.99 if m <= 5 or box != "lopsided" else 0.8)


@pytest.mark.parametrize("query", [identity, covariance])
@pytest.mark.parametrize("m", [2, 4])
def test_through_directional_noise_the_pair_attains_mu(query, m, rng):
    asked = query(make_dataset(m, 30, lower=-2, upper=1))
    design = design_noise(asked, epsilon=1, delta=1e-4, theta=manual(rng.uniform(0.1, 1, m)),
                          directions=random_rotation(m, rng=rng))
    pair = worst_pair(asked, design.row_side, design.col_side)
    assert pair.attained == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("query", [adjacency, laplacian])
def test_an_edge_is_named_and_moves_the_answer_by_the_sensitivity(query):
    pair = worst_pair(query(GRAPH))
    assert np.linalg.norm(pair.difference) == pytest.approx(query(GRAPH).sensitivity)
    assert "edge between vertex" in pair.words


def test_kernel_pair_has_the_tight_sensitivity():
    asked = rbf_kernel(make_dataset(2, 10), length=1)
    assert np.linalg.norm(worst_pair(asked).difference) == pytest.approx(asked.sensitivity)


def test_a_declared_query_has_nothing_to_show():
    with pytest.raises(InputError, match="custom query has no records"):
        worst_pair(custom([[1.0]], sensitivity=1, gamma=2))
