"""The claims about records in an ellipse, against eigenvalues, a linear programme and many pairs of records."""

import math

import numpy as np
import pytest
from scipy import optimize

from mvgviz import Dataset, RecordBound, covariance, identity, mean, random_rotation
from mvgviz.noise.sides import NoiseSide
from mvgviz.query import bounded_neighbours
from tests.datasets import make_dataset
from tests.oracles import some_side

RULES = {"replace": 2, "add-remove": 1}
N = 8


def precisions_within(bound, side):
    """The eigenvalues of the noise's precision where the ellipse is the unit ball, largest first."""
    turn = np.eye(side.size) if bound.directions is None else bound.directions.matrix
    to_record = turn @ np.diag(bound.radius / np.broadcast_to(bound.weights, side.size))
    a = side.whitener() @ to_record
    return np.linalg.eigvalsh(a.T @ a)[::-1]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_in_wide_ranges_the_ellipse_alone_says_how_far_a_record_moves(rng, m, turned, rule):
    data = make_dataset(m, N, -40, 60)
    for centre in (0.0, 10.0, np.arange(m) - 3.0):
        bound = RecordBound(radius=1.7, weights=rng.uniform(0.3, 3, m), centre=centre,
                            directions=random_rotation(m, rng=rng) if turned[0] and m > 1 else None)
        side = some_side(m, rng, turned=turned[1])
        longest = math.sqrt(precisions_within(bound, side)[0])
        for query, divisor in ((mean, N), (identity, 1)):
            body = query(data, bound=bound, neighbours=rule).neighbours
            assert body.worst(side, NoiseSide.identity(N // divisor))[:2] == (
                pytest.approx(RULES[rule] * longest / divisor, rel=1e-9), True)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_in_wide_ranges_the_two_longest_axes_say_how_far_second_moments_move(rng, m, turned, rule):
    bound = RecordBound(radius=1.7, weights=rng.uniform(0.3, 3, m),
                        directions=random_rotation(m, rng=rng) if turned[0] and m > 1 else None)
    side = some_side(m, rng, turned=turned[1])
    body = covariance(make_dataset(m, N, -40, 60), bound=bound, neighbours=rule).neighbours
    q = precisions_within(bound, side)[:RULES[rule]]
    assert body.worst(side, side)[:2] == (pytest.approx(math.sqrt((q**2).sum()) / N, rel=1e-9), True)
    if bound.directions is None and np.ndim(bound.weights):  # noise on one side, where a record's length is its own
        ball = RecordBound(radius=1.7)
        body = covariance(make_dataset(m, N, -40, 60), bound=ball, neighbours=rule).neighbours
        q = precisions_within(ball, side)[:RULES[rule]]
        claimed = pytest.approx(1.7 * math.sqrt(q.sum()) / N, rel=1e-9)
        assert body.worst(side, NoiseSide.identity(m))[:2] == (claimed, True)


def longest_by_programme(precisions, weights, total, caps):
    """The largest weighted length of a move with ``||weights * move||² <= total`` and ``move² <= caps``."""
    found = optimize.linprog(-precisions, A_ub=[weights**2], b_ub=[total], bounds=[(0, cap) for cap in caps])
    return math.sqrt(-found.fun)


@pytest.mark.parametrize("rule", RULES)
def test_unrotated_ranges_and_ellipse_hold_together(rng, rule):
    """About the middle of the ranges the furthest move is a linear programme's, in the squares of the values."""
    half = np.array([1.0, 2.0, 0.5, 3.0])
    for radius in (0.5, 2.0, 3.0):
        centre, side, weights = rng.uniform(-5, 5, 4), some_side(4, rng, turned=False), rng.uniform(0.5, 2, 4)
        data = make_dataset(4, N, centre - half, centre + half)
        body = mean(data, bound=RecordBound(radius=radius, weights=weights, centre=centre), neighbours=rule).neighbours
        longest = longest_by_programme(side.precisions, weights, radius**2, half**2)
        assert body.worst(side, NoiseSide.identity(1))[:2] == (pytest.approx(RULES[rule] * longest / N, rel=1e-6), True)


@pytest.mark.parametrize("rule", RULES)
def test_second_moments_in_unrotated_ranges_are_at_most_those_of_the_longest_record(rng, rule):
    half, better = np.array([1.0, 2.0, 0.5, 3.0]), 0
    for radius in (1.0, 2.0, 3.0, 4.0):
        side, weights = some_side(4, rng, turned=False), rng.uniform(0.5, 2, 4)
        bound, data = RecordBound(radius=radius, weights=weights), make_dataset(4, N, -half, half)
        mu = covariance(data, bound=bound, neighbours=rule).neighbours.worst(side, side).mu
        longest = longest_by_programme(side.precisions, weights, radius**2, half**2)
        q = precisions_within(bound, side)[:RULES[rule]]
        box = covariance(data, neighbours=rule).neighbours.worst(side, side).mu
        limits = [math.sqrt(RULES[rule]) * longest**2 / N, math.sqrt((q**2).sum()) / N, box]
        assert mu == pytest.approx(min(limits), rel=1e-6)
        better += min(limits) < 0.99 * min(limits[1:])
    assert better


def records_of(body, rng, size=3000):
    """Corners and points of the ranges, pulled by the definition: in the ranges first, then towards the centre."""
    low, high = body.declared
    ends = rng.random((low.size, size))
    points = np.where(rng.random((low.size, size)) < 0.7, np.round(ends), ends)
    record = low[:, None] + (high - low)[:, None] * points - body.ellipse.centre[:, None]
    turned = body.ellipse.weights[:, None] * (body.ellipse.directions.matrix.T @ record)
    return body.ellipse.centre[:, None] + record * np.minimum(
        1, body.ellipse.radius / np.maximum(np.linalg.norm(turned, axis=0), 1e-300))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_the_pair_that_is_shown_is_nearly_as_far_apart_as_any_that_chance_finds(rng, rule, turned):
    """The centre is at an end of the ranges or off their middle, so that no formula says where the pair is."""
    for centre in ([3.0, 1.0, -2.0], [2.0, 0.0, -1.0], [2.5, 1.0, 0.0]):
        data = make_dataset(3, N, [2.0, 0.0, -2.0], [3.0, 4.0, 1.0])
        bound = RecordBound(radius=1.2, centre=np.array(centre), weights=[1.0, 0.7, 0.5],
                            directions=random_rotation(3, rng=rng) if turned else None)
        side = some_side(3, rng, turned=turned)
        body = mean(data, bound=bound, neighbours=rule).neighbours
        white = side.whitener() @ records_of(body, rng)
        others = (side.whitener() @ bound.centre)[:, None] if rule == "add-remove" else white[:, :400]
        found = max(np.linalg.norm(white - other[:, None], axis=0).max() for other in others.T)
        x, y = body.furthest_pair(side)
        shown = np.linalg.norm(side.whitener() @ (x - y))
        assert found <= body.worst(side, NoiseSide.identity(1)).mu * N * (1 + 1e-9)
        assert 0.8 * found <= shown
        ellipse = bound.ellipse(3)
        assert ellipse.lengths(np.stack([x, y], axis=1)).max() <= 1.2 * (1 + 1e-12)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("ask", [identity, mean, covariance])
def test_a_bound_around_all_ranges_leaves_what_is_exact_exact(rng, ask, turned):
    """Its centre is not the middle of the ranges, and the furthest corners agree in some features."""
    data = make_dataset(5, N, [-1, -2, 0, -3, -1], [3, 2, 1, 1, 2])
    for _ in range(6):
        side = some_side(5, rng, turned=turned)
        cols = side if ask is covariance else NoiseSide.identity(N if ask is identity else 1)
        centre = 0.0 if ask is covariance else np.array([2.0, -1.0, 0.3, 0.0, 1.5])
        alone = ask(data).neighbours.worst(side, cols)
        wide = ask(data, bound=RecordBound(radius=1e4, centre=centre)).neighbours.worst(side, cols)
        assert alone.exact
        assert wide[:2] == (pytest.approx(alone.mu, rel=1e-9), True)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_corner_furthest_from_an_empty_place_is_found(rng, sign):
    low, high = sorted([-1.0 * sign, 3.0 * sign])
    side, data = some_side(4, rng, turned=False), make_dataset(4, N, low, high)
    for ask, power in ((mean, 1), (covariance, 2)):
        body = ask(data, bound=RecordBound(radius=1e4), neighbours="add-remove").neighbours
        furthest = 3.0 * math.sqrt(side.precisions.sum())
        assert body.worst(side, side if ask is covariance else NoiseSide.identity(1))[:2] == (
            pytest.approx(furthest**power / N, rel=1e-9), True)


def test_levels_of_a_category_leave_nothing_exact():
    data = Dataset(matrix=np.tile([[1.0], [0.0]], N), features=["a", "b"], lower=0, upper=1, levels=((0, 1),))
    free = Dataset(matrix=data.matrix, features=["a", "b"], lower=0, upper=1)
    side, bound = NoiseSide.identity(2), RecordBound(radius=0.5)
    for query, cols in ((mean, NoiseSide.identity(1)), (covariance, side)):
        assert query(free, bound=bound).neighbours.worst(side, cols).exact
        assert not query(data, bound=bound).neighbours.worst(side, cols).exact


@pytest.mark.parametrize("centre", [0.0, 2.0, [1.0, -2.0]])
def test_a_record_is_pulled_straight_towards_the_centre(centre):
    bound = RecordBound(radius=1.0, weights=[1.0, 0.5], centre=centre)
    body, middle = mean(make_dataset(2, N, -6, 5), bound=bound).neighbours, np.broadcast_to(centre, 2)
    for record in ([5.0, 3.0], [-4.0, 0.5], [9.0, -9.0]):
        (pulled, _), = bounded_neighbours._clipped(body, [(np.array(record), np.array(record))])
        part = (pulled - middle) / (np.clip(record, -6, 5) - middle)
        assert part == pytest.approx(part[0])
        assert 0 < part[0] < 1
        assert math.hypot(*((pulled - middle) * [1.0, 0.5])) == pytest.approx(1.0)
