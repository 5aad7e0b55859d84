"""The furthest pair against a brute search of corners and edges; the bounds are never below it."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from mvgviz.noise.directions import random_rotation, standard_basis
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.box_norms import (
    all_signs,
    bound_from_lengths,
    bound_from_products,
    furthest_pair,
    longest,
    middle_root,
    outer_distance,
    shortest_square,
)
from mvgviz.query.pair_search import search_records

CENTRES = {"around 0": 0.0, "0 inside": 0.5, "0 at the end": 1.0, "0 outside": 2.5, "far from 0": 40.0}


def random_box(seed, m, centre):
    """(whitener, centre, halves): a rotation, some directions much more precise than others."""
    rng = np.random.default_rng(seed)
    halves = rng.uniform(0.3, 3, m)
    middle = halves * CENTRES[centre] * (rng.choice([-1, 1], m) if seed % 2 else np.ones(m))
    side = NoiseSide.of(random_rotation(m, rng=rng) if m > 1 else standard_basis(1), 10 ** rng.uniform(-1.5, 1.5, m))
    return side, middle, halves


def brute_force(whitener, centre, halves):
    """By trying every corner against 201 points of every edge: not the quartic's root."""
    m, steps = halves.size, np.linspace(-1, 1, 201)
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=m)))
    best = 0.0
    for i in range(m):
        edges = np.repeat(corners[corners[:, i] == 1], steps.size, axis=0)
        edges[:, i] = np.tile(steps, len(edges) // steps.size)
        s = 2 * whitener @ centre + (corners[:, None] + edges) * halves @ whitener.T
        t = (corners[:, None] - edges) * halves @ whitener.T
        squares = (s**2).sum(axis=2) * (t**2).sum(axis=2) + (s * t).sum(axis=2) ** 2
        best = max(best, squares.max() / 2)
    return math.sqrt(best)


@pytest.mark.slow
@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_the_furthest_pair_is_that_of_a_brute_search(m, centre):
    for seed in range(6):
        side, middle, halves = random_box(seed, m, centre)
        larger, smaller = furthest_pair(side.whitener(), middle, halves, all_signs(m))
        found = outer_distance(side.whitener(), middle + halves * larger, middle + halves * smaller)
        tried = brute_force(side.whitener(), middle, halves)
        assert np.abs(np.concatenate([larger, smaller])).max() <= 1
        assert tried * (1 - 1e-9) <= found <= tried * (1 + 1e-3)  # the steps are 0.01 wide


@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("m", [6, 7, 8])
def test_no_search_finds_more_than_the_enumeration(m, centre):
    for seed in range(4):
        side, middle, halves = random_box(seed, m, centre)
        larger, smaller = furthest_pair(side.whitener(), middle, halves, all_signs(m))
        found = outer_distance(side.whitener(), middle + halves * larger, middle + halves * smaller)
        x, y = search_records(side, side, middle - halves, middle + halves)
        searched = outer_distance(side.whitener(), x, y)
        assert 0.97 * found <= searched <= found * (1 + 1e-9)


def bounds_of(side, middle, halves):
    whitener = side.whitener()
    longest_square = longest(whitener, middle, halves).square
    move = longest(whitener, np.zeros(halves.size), halves).square
    return (bound_from_lengths(longest_square, shortest_square(whitener, middle, halves), move),
            bound_from_products(whitener, middle, halves))


@pytest.mark.slow
@pytest.mark.parametrize("centre", CENTRES)
def test_bounds_are_never_below_the_exact_distance(centre):
    for seed in range(120):
        m = 1 + seed % 5
        side, middle, halves = random_box(seed, m, centre)
        larger, smaller = furthest_pair(side.whitener(), middle, halves, all_signs(m))
        exact = outer_distance(side.whitener(), middle + halves * larger, middle + halves * smaller)
        assert min(bounds_of(side, middle, halves)) >= exact * (1 - 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("m", [9, 13, 18, 25])
def test_bounds_are_never_below_what_a_search_finds_and_close_to_it(m, centre):
    ratios = []
    for seed in range(5):
        side, middle, halves = random_box(seed, m, centre)
        pair = np.concatenate(search_records(side, side, middle - halves, middle + halves))
        precision = side.precision()

        def negative_square(pair, precision=precision, m=m):
            x, y = pair[:m], pair[m:]
            return -(x @ precision @ x) ** 2 - (y @ precision @ y) ** 2 + 2 * (x @ precision @ y) ** 2

        ends = list(zip(np.tile(middle - halves, 2), np.tile(middle + halves, 2), strict=True))
        attained = math.sqrt(-minimize(negative_square, pair, bounds=ends, method="L-BFGS-B").fun)
        ratios.append(min(bounds_of(side, middle, halves)) / attained)
    assert min(ratios) >= 1 - 1e-9
    assert max(ratios) <= 1.5  # precisions a thousandfold apart; see test_worst_pairs for designs


def test_bounds_far_away_are_as_close_as_near_by():
    side, middle, halves = random_box(1, 10, "far from 0")
    for further in (1e2, 1e4, 1e6):
        x, y = search_records(side, side, middle * further - halves, middle * further + halves)
        assert 1 <= min(bounds_of(side, middle * further, halves)) / outer_distance(side.whitener(), x, y) <= 1.05


@pytest.mark.parametrize("size", [1e-60, 1.0, 1e60, 1e90])
def test_the_middle_root_of_three_at_every_size(size):
    roots = np.array([[-3.0, 1.0, 2.0], [-5.0, -1.0, 6.0], [-2.0, 0.0, 2.0]]) * size
    p = roots[:, 0] * roots[:, 1] + roots[:, 0] * roots[:, 2] + roots[:, 1] * roots[:, 2]
    r = -roots[:, 0] * roots[:, 1] * roots[:, 2]
    assert middle_root(p, r) / size == pytest.approx(roots[:, 1] / size, abs=1e-9)


def test_a_cubic_with_one_root_has_no_middle_one():
    assert middle_root(np.array([1.0, -1.0, 0.0]), np.array([0.5, 9.0, 1.0])) == pytest.approx(0)
