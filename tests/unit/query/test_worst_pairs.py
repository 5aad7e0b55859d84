"""The pair shown is as far apart as the worst case says, wherever that is exact."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import mvgviz as mv
from mvgviz.pictures.data import change_picture
from mvgviz.query.worst_pairs import worst_pair
from mvgviz.text import as_number
from tests.datasets import make_dataset
from tests.oracles import whitened

GRAPH = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
BOXES = {"symmetric": (-1, 1), "one-sided": (0, 3), "away": (2, 3), "lopsided": (-0.3, 1)}


def seen_through(design, pair):
    return whitened(design, pair.left @ pair.right.T)


def random_design(asked, seed, mode):
    rng = np.random.default_rng(seed)
    size = asked.cols if mode == "columns" else asked.rows
    directions = mv.random_rotation(size, rng=rng) if seed % 3 and size > 1 else None
    theta = None if seed % 5 == 4 else mv.manual(rng.uniform(0.05, 1, size))
    return mv.design_noise(asked, epsilon=1, delta=1e-4, mode=mode, theta=theta, directions=directions,
                        guarantee="theorem2-any" if seed % 4 == 3 else "exact")


def asked_of(name, seed, mode):
    rng = np.random.default_rng(seed)
    if name in ("adjacency", "laplacian"):
        return {"adjacency": mv.adjacency, "laplacian": mv.laplacian}[name](GRAPH)
    low, high = BOXES[list(BOXES)[seed % len(BOXES)]]
    m, stretch = int(rng.integers(1, 9)), rng.uniform(0.3, 3, 8)
    data = make_dataset(m, m if mode == "both" else 6, lower=low * stretch[:m], upper=high * stretch[:m])
    if name == "kernel":
        return mv.rbf_kernel(make_dataset(2, 6), length=1)
    return {"identity": mv.identity, "mean": mv.mean, "covariance": mv.covariance}[name](data)


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
@pytest.mark.parametrize("query", [mv.identity, mv.covariance])
def test_the_pair_of_many_rotated_features_attains_what_is_exact(box, m, query, rng):
    low, high = BOXES[box]
    stretch = rng.uniform(0.3, 3, m)
    asked = query(make_dataset(m, 20, lower=low * stretch, upper=high * stretch))
    design = mv.design_noise(asked, epsilon=1, delta=1e-4, theta=mv.manual(rng.uniform(0.05, 1, m)),
                          directions=mv.random_rotation(m, rng=rng))
    pair = worst_pair(asked, design.row_side, design.col_side)
    assert (design.mu_is == "exact") == (query is mv.identity or m <= 8)
    assert seen_through(design, pair) <= design.mu * (1 + 1e-9)
    if design.mu_is == "exact":
        assert seen_through(design, pair) == pytest.approx(design.mu, rel=1e-9)


def test_the_records_of_a_pair_lie_in_their_ranges_and_make_the_difference(rng):
    for m in (2, 5, 8, 11):
        lower = rng.uniform(-2, 1, m)
        data = make_dataset(m, 7, lower=lower, upper=lower + rng.uniform(0.5, 2, m))
        asked = mv.covariance(data)
        design = mv.design_noise(asked, epsilon=1, delta=1e-4, directions=mv.random_rotation(m, rng=rng),
                              theta=mv.manual(rng.uniform(0.05, 1, m)))
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
        m, query = int(rng.integers(9, 26)), mv.identity if seed % 4 == 3 else mv.covariance
        halves = rng.uniform(0.3, 3, m)
        centre = halves * (0, 1, rng.uniform(-3, 3, m))[seed % 3]
        asked = query(make_dataset(m, 10, lower=centre - halves, upper=centre + halves))
        design = mv.design_noise(asked, epsilon=1, delta=1e-4, directions=mv.random_rotation(m, rng=rng),
                              theta=mv.manual(rng.uniform(0.05, 1, m)))
        ratios.append(design.mu / seen_through(design, worst_pair(asked, design.row_side, design.col_side)))
    assert min(ratios) >= 1 - 1e-9
    assert np.median(ratios) <= 1.2
    assert max(ratios) <= 2


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("m", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("query", [mv.identity, mv.mean, mv.covariance])
def test_without_noise_the_pair_differs_by_the_sensitivity(box, m, query):
    low, high = BOXES[box]
    asked = query(make_dataset(m, 30, lower=low, upper=high))
    pair = worst_pair(asked)
    assert np.linalg.norm(pair.difference) == pytest.approx(asked.sensitivity, rel=1e-9)
    assert pair.attained == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(("asked", "words"), [
    (mv.adjacency(GRAPH), "edge between vertex"), (mv.laplacian(GRAPH), "edge between vertex"),
    (mv.rbf_kernel(make_dataset(2, 10), length=1), "one record leaves the others")])
def test_the_pair_of_a_graph_or_a_kernel_is_named_and_has_the_sensitivity(asked, words):
    pair = worst_pair(asked)
    assert np.linalg.norm(pair.difference) == pytest.approx(asked.sensitivity)
    assert words in pair.words


@pytest.mark.parametrize("sizes", [(2,), (2, 2), (3,), (2, 2, 3), (4, 2)])
@pytest.mark.parametrize("scale", [(0, 1), (-1, 1)])
def test_the_pair_of_categories_is_the_worst_of_all_records_and_gaps(sizes, scale):
    """Of one yes/no category on (-1, 1) both levels have the same second moments: only a gap differs."""
    frame = pd.DataFrame({f"c{k}": np.arange(30) % size for k, size in enumerate(sizes)})
    data = mv.Dataset.from_frame(frame, levels={name: sorted(set(frame[name])) for name in frame})
    asked = mv.covariance(data.scaled(scale))
    choices = [np.vstack([np.eye(size), np.full(size, 1 / size)]) for size in sizes]
    records = [scale[0] + (scale[1] - scale[0]) * np.concatenate(parts) for parts in product(*choices)]
    furthest = max(np.linalg.norm(np.outer(x, x) - np.outer(y, y)) for x in records for y in records)
    pair = worst_pair(asked)
    assert np.linalg.norm(pair.difference) == pytest.approx(furthest / data.n_records)
    assert pair.attained > 0.7
    assert as_number(asked.sensitivity * pair.attained) in change_picture(asked, pair).takeaway


def test_a_declared_query_has_nothing_to_show():
    with pytest.raises(mv.InputError, match="custom query has no records"):
        worst_pair(mv.custom([[1.0]], sensitivity=1, gamma=2))
