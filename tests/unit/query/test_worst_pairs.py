"""The pair shown is as far apart as the worst case says, wherever that is exact."""

import numpy as np
import pytest

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
from mvgviz.query.worst_pairs import worst_pair
from tests.datasets import make_dataset

GRAPH = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
BOXES = {"symmetric": (-1, 1), "one-sided": (0, 3), "away": (2, 3), "lopsided": (-0.3, 1)}


def seen_through(design, pair):
    """``||Sigma^-1/2 D Psi^-1/2||_F`` of the whole difference, from dense inverses: the definition."""
    difference = pair.left @ pair.right.T
    inverse_sigma, inverse_psi = np.linalg.inv(design.row_covariance()), np.linalg.inv(design.col_covariance())
    return np.sqrt(np.trace(inverse_sigma @ difference @ inverse_psi @ difference.T))


def random_design(asked, seed, mode):
    rng = np.random.default_rng(seed)
    size = asked.cols if mode == "columns" else asked.rows
    directions = random_rotation(size, rng=rng) if seed % 3 and size > 1 else None
    theta = None if seed % 5 == 4 else manual(rng.uniform(0.05, 1, size))
    return design_noise(asked, epsilon=1, delta=1e-4, mode=mode, theta=theta, directions=directions,
                        guarantee="theorem2-any" if seed % 4 == 3 else "exact")


def asked_of(name, seed, mode):
    rng = np.random.default_rng(seed)
    if name in ("adjacency", "laplacian"):
        return {"adjacency": adjacency, "laplacian": laplacian}[name](GRAPH)
    low, high = BOXES[list(BOXES)[seed % len(BOXES)]]
    m, stretch = int(rng.integers(1, 9)), rng.uniform(0.3, 3, 8)
    data = make_dataset(m, m if mode == "both" else 6, lower=low * stretch[:m], upper=high * stretch[:m])
    if name == "kernel":
        return rbf_kernel(make_dataset(2, 6), length=1)
    return {"identity": identity, "mean": mean, "covariance": covariance}[name](data)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["rows", "columns", "both"])
@pytest.mark.parametrize("name", ["identity", "mean", "covariance", "adjacency", "laplacian", "kernel"])
def test_the_pair_attains_mu_wherever_that_is_exact_and_says_how_much_elsewhere(name, mode):
    exact = 0
    for seed in range(40):
        asked = asked_of(name, seed, mode)
        if mode == "both" and asked.rows != asked.cols:
            continue
        design = random_design(asked, seed, mode)
        pair = worst_pair(asked, design.row_side, design.col_side)
        seen = seen_through(design, pair)
        assert pair.attained == pytest.approx(seen / design.mu, rel=1e-9)
        if design.mu_is == "exact":
            exact += 1
            assert seen == pytest.approx(design.mu, rel=1e-9)
            assert pair.attained == pytest.approx(1, rel=1e-9)
    assert exact >= (1 if (name, mode) == ("mean", "both") else 5)


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("m", [6, 7, 8, 12, 16])
@pytest.mark.parametrize("query", [identity, covariance])
def test_the_pair_of_many_rotated_features_attains_what_is_exact(box, m, query, rng):
    low, high = BOXES[box]
    stretch = rng.uniform(0.3, 3, m)
    asked = query(make_dataset(m, 20, lower=low * stretch, upper=high * stretch))
    design = design_noise(asked, epsilon=1, delta=1e-4, theta=manual(rng.uniform(0.05, 1, m)),
                          directions=random_rotation(m, rng=rng))
    pair = worst_pair(asked, design.row_side, design.col_side)
    assert (design.mu_is == "exact") == (query is identity or m <= 8)
    assert seen_through(design, pair) <= design.mu * (1 + 1e-9)
    if design.mu_is == "exact":
        assert seen_through(design, pair) == pytest.approx(design.mu, rel=1e-9)


def test_the_records_of_a_pair_lie_in_their_ranges_and_make_the_difference(rng):
    for m in (2, 5, 8, 11):
        lower = rng.uniform(-2, 1, m)
        data = make_dataset(m, 7, lower=lower, upper=lower + rng.uniform(0.5, 2, m))
        asked = covariance(data)
        design = design_noise(asked, epsilon=1, delta=1e-4, directions=random_rotation(m, rng=rng),
                              theta=manual(rng.uniform(0.05, 1, m)))
        pair = worst_pair(asked, design.row_side, design.col_side)
        for record in (pair.before, pair.after):
            assert ((data.lower <= record) & (record <= data.upper)).all()
        expected = (np.outer(pair.after, pair.after) - np.outer(pair.before, pair.before)) / 7
        assert pair.difference == pytest.approx(expected, abs=1e-12)
        assert pair.left @ pair.right.T == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_claims_of_many_rotated_features_are_close_to_the_worst_pair_found():
    ratios = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        m, query = int(rng.integers(9, 26)), identity if seed % 4 == 3 else covariance
        halves = rng.uniform(0.3, 3, m)
        centre = halves * (0, 1, rng.uniform(-3, 3, m))[seed % 3]
        asked = query(make_dataset(m, 10, lower=centre - halves, upper=centre + halves))
        design = design_noise(asked, epsilon=1, delta=1e-4, directions=random_rotation(m, rng=rng),
                              theta=manual(rng.uniform(0.05, 1, m)))
        ratios.append(design.mu / seen_through(design, worst_pair(asked, design.row_side, design.col_side)))
    assert min(ratios) >= 1 - 1e-9
    assert np.median(ratios) <= 1.2
    assert max(ratios) <= 2


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("m", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("query", [identity, mean, covariance])
def test_without_noise_the_pair_differs_by_the_sensitivity(box, m, query):
    low, high = BOXES[box]
    asked = query(make_dataset(m, 30, lower=low, upper=high))
    pair = worst_pair(asked)
    assert np.linalg.norm(pair.difference) == pytest.approx(asked.sensitivity, rel=1e-9)
    assert pair.attained == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(("asked", "words"), [
    (adjacency(GRAPH), "edge between vertex"), (laplacian(GRAPH), "edge between vertex"),
    (rbf_kernel(make_dataset(2, 10), length=1), "one record leaves the others")])
def test_the_pair_of_a_graph_or_a_kernel_is_named_and_has_the_sensitivity(asked, words):
    pair = worst_pair(asked)
    assert np.linalg.norm(pair.difference) == pytest.approx(asked.sensitivity)
    assert words in pair.words


def test_a_declared_query_has_nothing_to_show():
    with pytest.raises(InputError, match="custom query has no records"):
        worst_pair(custom([[1.0]], sensitivity=1, gamma=2))
