"""The longest vector of a box is a corner's, and what is called a bound is never below it."""

import functools
import itertools

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from mvgviz.query.box_norms import certified, first_vectors, largest_form, longest, shortest_square

CENTRES = {"around 0": 0.0, "beside 0": 0.7, "away from 0": 3.0, "far away": 1e6}


def random_box(rng, m, centre):
    halves = rng.uniform(0.2, 3, m)
    scales = 10 ** rng.uniform(-1.5, 0.5, m)
    return scales[:, None] * rng.normal(size=(m, m)), halves * centre * rng.choice([-1, 1], m), halves


@functools.cache
def corners_of(m):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=m)))


def corner_squares(whitener, centre, halves):
    corners = corners_of(halves.size)
    return np.square((centre + corners * halves) @ whitener.T).sum(axis=1), corners


@pytest.mark.parametrize("centre", CENTRES)
def test_the_longest_vector_is_the_longest_corner(centre, rng):
    for m in (1, 2, 5, 9):
        box = random_box(rng, m, CENTRES[centre])
        squares, _ = corner_squares(*box)
        found = longest(*box)
        assert found.square == pytest.approx(squares.max(), rel=1e-12)
        assert np.square(box[0] @ (box[1] + found.signs * box[2])).sum() == pytest.approx(squares.max(), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 11))
def test_the_bound_on_a_form_is_never_below_its_corners_and_within_the_known_ratio(n, rng):
    for rank, _ in itertools.product(range(1, 11), range(20)):
        columns = 10 ** rng.uniform(-3, 1, (1, n)) * rng.normal(size=(rank, n)) * (rng.random(n) < 0.9)
        if not columns.any():
            continue
        squares, _ = corner_squares(columns, np.zeros(n), np.ones(n))
        bound = largest_form(columns.T @ columns)
        assert squares.max() <= bound * (1 + 1e-13)
        assert bound <= squares.max() * np.pi / 2 * 1.05


def test_any_vectors_prove_a_valid_bound(rng):
    columns = rng.normal(size=(6, 8))
    squares, _ = corner_squares(columns, np.zeros(8), np.ones(8))
    bounds = [certified(columns.T @ columns, first_vectors(8)[rng.permutation(8)]) for _ in range(50)]
    assert squares.max() <= min(bounds)
    assert max(bounds) > largest_form(columns.T @ columns)


@pytest.mark.parametrize("centre", CENTRES)
def test_above_16_features_the_bound_holds_and_is_near(centre, rng):
    whitener, middle, halves = random_box(rng, 19, CENTRES[centre])
    found = longest(whitener, middle, halves)
    corners = np.where(rng.random((40_000, 19)) < 0.5, -1.0, 1.0)
    best = np.square((middle + corners * halves) @ whitener.T).sum(axis=1).max()
    assert found.signs is None
    assert best <= found.square <= 1.5 * best


def test_the_bound_scales_with_the_form(rng):
    columns = rng.normal(size=(20, 20))
    form = columns.T @ columns
    for factor in (1e-200, 0.37, 1e200):
        assert largest_form(factor * form) == pytest.approx(factor * largest_form(form), rel=1e-12)


@pytest.mark.parametrize("centre", CENTRES)
def test_the_shortest_vector_is_bounded_from_below_and_closely(centre, rng):
    for m in (1, 3, 8, 20):
        whitener, middle, halves = random_box(rng, m, CENTRES[centre])
        least = 2 * lsq_linear(whitener, np.zeros(m), (middle - halves, middle + halves), tol=1e-14).cost
        found = shortest_square(whitener, middle, halves)
        assert found <= least * (1 + 1e-9)
        assert np.sqrt(found) >= 0.9 * np.sqrt(least) - 1e-9
