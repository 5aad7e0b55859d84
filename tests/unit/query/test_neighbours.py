"""No pair of neighbours is ever further apart than mu says; where it says "exact", one pair is that far."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import mvgviz as mv
from mvgviz.noise.directions import standard_basis
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.neighbours import AnyChange, ReplacedColumn, ReplacedOuterProduct, move_widths, support
from mvgviz.query.pair_search import search_records
from tests.datasets import make_dataset
from tests.oracles import whitened

BOXES = {
    "symmetric": (-1.0, 1.0), "one-sided": (0.0, 1.0), "away from zero": (0.5, 2.0),
    "lopsided": (-0.3, 1.0), "negative": (-2.0, -0.5),
}


def random_shape(m, seed, *, rotated):
    rng = np.random.default_rng(seed)
    directions = mv.random_rotation(m, rng=rng) if rotated and m > 1 else None
    return {"theta": mv.manual(rng.uniform(0.05, 1, m)), "directions": directions}


def unequal_box(m, box, seed):
    low, high = BOXES[box]
    stretch = np.random.default_rng(seed).uniform(0.3, 3, m)
    return make_dataset(m, 20, lower=low * stretch, upper=high * stretch)


def largest_outer_distance(design, data, starts=40):
    """By a generic optimiser over both records, from random and corner starts."""
    m, n = data.n_features, data.n_records
    precision = np.linalg.inv(design.row_covariance())
    bounds = list(zip(np.tile(data.lower, 2), np.tile(data.upper, 2), strict=True))
    rng = np.random.default_rng(1)

    def negative_square(pair):
        x, y = pair[:m], pair[m:]
        xx, yy, xy = x @ precision @ x, y @ precision @ y, x @ precision @ y
        return -(xx * xx + yy * yy - 2 * xy * xy) / n**2

    best = 0.0
    for start in range(starts):
        share = rng.uniform(0, 1, 2 * m)
        if start % 2:
            share = np.round(share)
        begin = np.array([low + s * (high - low) for (low, high), s in zip(bounds, share, strict=True)])
        best = max(best, -minimize(negative_square, begin, bounds=bounds, method="L-BFGS-B").fun)
    return math.sqrt(best)


@pytest.mark.slow
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("rotated", [False, True])
def test_covariance_mu_is_the_largest_a_generic_optimiser_finds(m, box, rotated):
    data = unequal_box(m, box, seed=m)
    design = mv.design_noise(mv.covariance(data), epsilon=1, delta=1e-3, **random_shape(m, m, rotated=rotated))
    assert design.mu_is == "exact"
    assert largest_outer_distance(design, data) == pytest.approx(design.mu, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "box", "rotated", "exact"), [
    (7, "symmetric", False, True), (8, "away from zero", False, True), (8, "lopsided", False, True),
    (8, "symmetric", True, True), (7, "lopsided", True, True), (9, "lopsided", False, False),
    (9, "symmetric", True, False), (14, "symmetric", False, False), (14, "one-sided", False, True),
    (18, "symmetric", True, False), (18, "lopsided", True, False), (18, "away from zero", True, False),
])
def test_covariance_mu_of_many_features_is_never_too_small(m, box, rotated, exact):
    data = unequal_box(m, box, seed=m)
    design = mv.design_noise(mv.covariance(data), epsilon=1, delta=1e-3, **random_shape(m, m, rotated=rotated))
    assert design.mu_is == ("exact" if exact else "upper bound")
    found = largest_outer_distance(design, data, starts=20)
    assert found <= design.mu * (1 + 1e-9)
    assert found > (0.9 if exact else 0.7) * design.mu


def test_corner_pairs_alone_would_claim_too_little():
    # On [-1, 1] the outer products of the two corners are equal; the truth is 1 against 0.
    assert mv.covariance(make_dataset(1, 1)).sensitivity == pytest.approx(1, rel=1e-15)


@settings(max_examples=60, deadline=None)
@given(m=st.integers(1, 5), seed=st.integers(0, 10_000), rotated=st.booleans(), box=st.sampled_from(sorted(BOXES)),
       guarantee=st.sampled_from(["exact", "theorem1", "theorem2", "theorem2-any"]), mode=st.sampled_from(
           ["rows", "columns", "both"]))
def test_no_random_neighbours_of_a_covariance_beat_mu(m, seed, rotated, box, guarantee, mode):
    data = unequal_box(m, box, seed)
    mode = "both" if guarantee == "theorem2" else mode
    design = mv.design_noise(mv.covariance(data), epsilon=1, delta=1e-3, guarantee=guarantee, mode=mode,
                          **random_shape(m, seed, rotated=rotated))
    rng = np.random.default_rng(seed)
    share = rng.uniform(0, 1, (2, 60, m)).round(decimals=rng.integers(0, 3))
    for x, y in zip(*(data.lower + share * data.widths), strict=True):
        difference = (np.outer(x, x) - np.outer(y, y)) / data.n_records
        assert whitened(design, difference) <= design.mu * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(m=st.integers(1, 6), seed=st.integers(0, 10_000), rotated=st.booleans(), mode=st.sampled_from(
    ["rows", "columns", "both"]), guarantee=st.sampled_from(["exact", "theorem1"]), query=st.sampled_from(
    [mv.identity, mv.mean]))
def test_identity_and_mean_mu_is_the_worst_corner_in_the_worst_column(m, seed, rotated, mode, guarantee, query):
    data = unequal_box(m, "lopsided", seed)
    records = m if mode == "both" else 3
    data = make_dataset(m, records, lower=data.lower, upper=data.upper)
    asked = query(data)
    if mode == "both" and asked.rows != asked.cols:
        mode = "rows"
    size = asked.cols if mode == "columns" else asked.rows
    design = mv.design_noise(asked, epsilon=1, delta=1e-3, guarantee=guarantee, mode=mode,
                          **random_shape(size, seed, rotated=rotated))
    worst = 0.0
    for signs in itertools.product([-1, 1], repeat=m):
        for column in range(asked.cols):
            difference = np.zeros((asked.rows, asked.cols))
            difference[:, column] = np.array(signs) * data.widths / (1 if query is mv.identity else records)
            worst = max(worst, whitened(design, difference))
    assert design.mu_is == "exact"
    assert worst == pytest.approx(design.mu, rel=1e-9)


GRAPH = np.array([[0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 1, 0, 1, 1], [0, 0, 1, 0, 0], [1, 0, 1, 0, 0]])


@pytest.mark.parametrize("query", [mv.adjacency, mv.laplacian])
@pytest.mark.parametrize("mode", ["rows", "columns", "both"])
@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_graph_mu_is_the_worst_edge(query, mode, rotated, guarantee):
    design = mv.design_noise(query(GRAPH), epsilon=1, delta=1e-3, mode=mode, guarantee=guarantee,
                          **random_shape(5, 5, rotated=rotated))
    worst = 0.0
    for i, j in itertools.combinations(range(5), 2):
        flipped = GRAPH.copy()
        flipped[i, j] = flipped[j, i] = 1 - GRAPH[i, j]
        worst = max(worst, whitened(design, query(flipped).value - query(GRAPH).value))
    assert design.mu_is == "exact"
    assert worst == pytest.approx(design.mu, rel=1e-9)


def test_a_declared_ball_is_worst_along_the_most_precise_direction():
    query = mv.custom(np.zeros((3, 4)), sensitivity=0.7, gamma=5)
    design = mv.design_noise(query, epsilon=1, delta=1e-3, **random_shape(3, 8, rotated=True))
    k = int(np.argmin(design.row_variances))
    difference = np.outer(0.7 * design.row_directions.matrix[:, k], [0, 0, 1, 0])
    assert design.mu_is == "exact"
    assert whitened(design, difference) == pytest.approx(design.mu)


def test_kernel_mu_is_exact_for_isotropic_noise_and_a_bound_otherwise():
    query = mv.rbf_kernel(make_dataset(2, 4), length=1)
    assert mv.design_noise(query, epsilon=1, delta=1e-3).mu_is == "exact"
    assert mv.design_noise(query, epsilon=1, delta=1e-3, **random_shape(4, 1, rotated=False)).mu_is == "upper bound"


def test_isotropic_noise_does_not_care_about_directions():
    data = make_dataset(2, 30)
    turned = mv.design_noise(mv.covariance(data), epsilon=1, delta=1e-3, directions=mv.rotation(2, (0, 1), 0.4))
    straight = mv.design_noise(mv.covariance(data), epsilon=1, delta=1e-3)
    assert turned.noise_std() == pytest.approx(straight.noise_std())
    assert straight.noise_std()[0, 0] == pytest.approx(mv.covariance(data).sensitivity / mv.gaussian_mu(1, 1e-3))


def whitened_outer_distance(design, x, y, n):
    """The same as ``whitened`` for two records of a covariance query, with 60 digits."""
    with mpmath.workdps(60):
        w = mpmath.matrix(np.asarray(design.row_directions).tolist())
        scale = mpmath.diag([1 / mpmath.sqrt(mpmath.mpf(float(v))) for v in design.row_variances])
        u, v = (scale * w.T * mpmath.matrix([mpmath.mpf(float(a)) for a in record]) for record in (x, y))
        return float(mpmath.mnorm(u * u.T - v * v.T, "f") / n)


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("offset", [1e2, 1e4, 1e6, 1e8])
def test_boxes_far_from_zero_lose_no_digits(offset, rotated):
    data = make_dataset(2, 10, lower=offset, upper=offset + 1)
    directions = mv.rotation(2, (0, 1), 0.1345373971422473) if rotated else None
    design = mv.design_noise(mv.covariance(data), epsilon=1, delta=1e-5, directions=directions, theta=[0.2631, 0.7369])
    corners = np.array(list(itertools.product(*zip(data.lower, data.upper, strict=True))))
    worst = max(whitened_outer_distance(design, x, y, 10) for x, y in itertools.combinations(corners, 2))
    assert design.mu_is == "exact"
    assert worst == pytest.approx(design.mu, rel=1e-12)


def test_far_boxes_of_many_features_get_a_bound_of_the_right_size():
    data = make_dataset(9, 10, lower=1e6, upper=1e6 + 1)
    design = mv.design_noise(mv.covariance(data), epsilon=1, delta=1e-5, **random_shape(9, 9, rotated=True))
    x, y = search_records(design.row_side, design.row_side, data.lower, data.upper)
    found = whitened_outer_distance(design, x, y, 10)
    assert design.mu_is == "upper bound"
    assert 0.95 * design.mu < found <= design.mu


@pytest.mark.parametrize("box", ["symmetric", "lopsided"])
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("rotated", [False, True])
def test_the_largest_ranges_that_are_allowed_overflow_nowhere(m, box, rotated):
    low, high = BOXES[box]
    huge, small = (make_dataset(m, 10, lower=low * size, upper=high * size) for size in (1e60, 1.0))
    assert mv.covariance(huge).sensitivity == pytest.approx(1e120 * mv.covariance(small).sensitivity, rel=1e-9)
    designs = [mv.design_noise(mv.covariance(data), epsilon=1, delta=1e-5, **random_shape(m, m, rotated=rotated))
               for data in (huge, small)]
    assert designs[0].noise_std() / 1e120 == pytest.approx(designs[1].noise_std(), rel=1e-9)


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_precise_direction_that_no_edge_moves_does_not_drown_the_others(share):
    w = np.linalg.qr(np.column_stack([np.ones(3), np.random.default_rng(1).normal(size=(3, 2))]))[0]
    design = mv.design_noise(mv.laplacian(np.zeros((3, 3))), epsilon=1, delta=1e-5, directions=mv.from_matrix(w),
                          theta=[1 - share, share / 2, share / 2])
    with mpmath.workdps(60):
        turned = mpmath.matrix(np.asarray(design.row_directions).tolist())
        inverse = turned * mpmath.diag([1 / mpmath.mpf(float(v)) for v in design.row_variances]) * turned.T
        worst = max(float(inverse[i, i] + inverse[j, j] - 2 * inverse[i, j])
                    for i, j in itertools.combinations(range(3), 2))
    assert worst == pytest.approx(design.mu, rel=1e-9)


@pytest.mark.parametrize("query", [mv.covariance, mv.identity])
@pytest.mark.parametrize("rotated", [False, True])
def test_a_bound_is_the_same_in_all_units(query, rotated):
    # A release computes the worst case of the final noise anew and refuses a design that seems to be for other data.
    for m in (9, 12, 17, 25):
        for box in ("symmetric", "lopsided", "away from zero"):
            asked = query(unequal_box(m, box, seed=m))
            design = mv.design_noise(asked, epsilon=1, delta=1e-3, **random_shape(m, m, rotated=rotated))
            for factor in (0.37, 1e-7, 12345.678):
                side = NoiseSide.of(design.row_directions, design.row_variances * factor)
                other, power = (side, 1) if query is mv.covariance else (design.col_side, 0.5)
                assert asked.neighbours.worst(side, other).mu * factor**power == pytest.approx(design.mu, rel=1e-12)


@pytest.mark.parametrize("m", [4, 5])
@pytest.mark.parametrize("seed", range(6))
def test_a_turned_symmetric_box_hides_no_corner_from_the_enumeration(m, seed):
    rng = np.random.default_rng(seed)
    side = NoiseSide.of(mv.random_rotation(m, rng=rng), rng.uniform(0.05, 5, m))
    half = rng.uniform(0.5, 2, m)
    found = ReplacedOuterProduct(lower=-half, upper=half, n_records=1).worst(side, side)
    corners = half * np.array(list(itertools.product([-1, 1], repeat=m)))
    inside = np.concatenate([corners, corners * rng.uniform(-1, 1, corners.shape), np.zeros((1, m))])
    gram = inside @ np.linalg.inv(side.covariance()) @ inside.T
    squares = np.diag(gram) ** 2
    assert found.exact
    assert found.mu**2 >= (squares[:, None] + squares[None, :] - 2 * gram**2).max() * (1 - 1e-9)


@pytest.mark.parametrize("added", [False, True])
def test_the_longest_move_is_one_that_a_record_can_make(rng, added):
    """Two features and a category of three levels: every pair of records, or every record and an empty place."""
    lower, upper, levels = np.array([0.0, -1, 2, 0, 5]), np.array([1.0, 3, 3, 1, 6]), (2, 3, 4)
    corners = [np.array([*ends, *(upper[i] if i == level else lower[i] for i in levels)])
               for ends in itertools.product(*zip(lower[:2], upper[:2], strict=True)) for level in levels]
    empty = np.array([0.5, 1.0, *(lower[2:] + 1 / 3)])
    moves = [x - y for x in corners for y in ([empty] if added else corners)]
    widths = move_widths(upper - lower, (levels,), added=added)
    for _ in range(5):
        precisions = rng.uniform(0.1, 3, 5)
        found = ReplacedColumn(widths=widths, added=added, levels=(levels,)).widest(precisions)
        assert found**2 @ precisions == pytest.approx(max(move**2 @ precisions for move in moves))
        assert any(np.allclose(np.abs(found[:2]), np.abs(move[:2])) and np.allclose(found[2:], move[2:])
                   for move in moves)


def test_the_records_of_a_person_move_the_columns_that_are_hidden_least(rng):
    widths, cols = np.array([1.0, 3.0]), NoiseSide.of(NoiseSide.identity(5).directions, rng.uniform(0.2, 4, 5))
    rows = NoiseSide.of(NoiseSide.identity(2).directions, [0.5, 2.0])
    for records in (2, 3, 9):
        chosen = itertools.combinations(1 / cols.variances, min(records, 5))
        furthest = max(map(sum, chosen))
        assert ReplacedColumn(widths=widths, records=records).worst(rows, cols)[:2] == (
            pytest.approx(math.sqrt((1 / 0.5 + 9 / 2.0) * furthest)), True)
        turned = ReplacedColumn(widths=widths, records=records).worst(
            rows, NoiseSide.of(mv.random_rotation(5, rng=rng), cols.variances))
        assert not turned.exact


@pytest.mark.parametrize("m", [2, 4, 6])
def test_the_longest_record_through_turned_noise_is_a_corner(rng, m):
    data = make_dataset(m, 20, lower=-rng.uniform(0.2, 1, m), upper=rng.uniform(0.2, 3, m))
    side = NoiseSide.of(mv.random_rotation(m, rng=rng), rng.uniform(0.2, 4, m))
    corners = np.array(list(itertools.product(*zip(data.lower, data.upper, strict=True)))).T
    longest = (np.linalg.norm(side.whitener() @ corners, axis=0) ** 2).max()
    worst = mv.covariance(data, neighbours="add-remove").neighbours.worst(side, side)
    assert worst[:2] == (pytest.approx(longest / 20), True)
    assert any(np.array_equal(worst.at[1], corner) for corner in corners.T)


def test_an_added_record_is_exact_where_one_record_is_longest_through_both_sides():
    side = NoiseSide.of(NoiseSide.identity(2).directions, np.array([1.0, 4.0]))
    worst = ReplacedOuterProduct(lower=np.array([-1.0, 0.0]), upper=np.array([0.5, 2.0]), n_records=10,
                                 added=True).worst(side, side)
    assert worst[:2] == (pytest.approx((1 + 1) / 10), True)
    assert np.array(worst.at) == pytest.approx(np.array([[0, 0], [-1, 2]]))


@pytest.mark.parametrize(("size", "low"), [(3, 0.0), (6, 0.0), (3, -1.0), (6, -1.0)])
def test_second_moments_of_one_category_move_as_far_as_two_levels_do(size, low):
    levels = [np.where(np.arange(size) == i, 1.0, low) for i in range(size)]
    furthest = max(np.linalg.norm(np.outer(x, x) - np.outer(y, y)) for x in levels for y in levels)
    unit, ends = NoiseSide.identity(size), {"lower": np.full(size, low), "upper": np.ones(size)}
    body = ReplacedOuterProduct(**ends, n_records=1, levels=(tuple(range(size)),))
    assert body.worst(unit, unit)[:2] == (pytest.approx(furthest, rel=1e-9), False)


def test_spans_are_the_widths_of_the_ranges_of_all_products():
    lower, upper = np.array([-1.0, 0.0, 2.0, -3.0, -0.3]), np.array([1.0, 2.0, 5.0, -1.0, 2.0])
    values = [np.linspace(low, high, 41) for low, high in zip(lower, upper, strict=True)]
    values = [np.append(one, 0.0) if one[0] < 0 < one[-1] else one for one in values]
    expected = [[np.ptp(x * x) if i == j else np.ptp(np.outer(x, y)) for j, y in enumerate(values)]
                for i, x in enumerate(values)]
    assert ReplacedOuterProduct(lower=lower, upper=upper, n_records=1).spans() == pytest.approx(np.array(expected))


def test_a_record_without_any_level_may_be_the_longest():
    body = ReplacedOuterProduct(lower=np.array([-1.0, -1.0]), upper=np.array([0.5, 0.8]), n_records=1, added=True,
                                levels=((0, 1),))
    assert body.largest_record(np.ones(2)).tolist() == [-1.0, -1.0]
    assert body.worst(NoiseSide.identity(2), NoiseSide.identity(2)).mu == pytest.approx(2.0)


def test_the_longest_record_has_the_level_that_lengthens_it_most(rng):
    for _ in range(40):
        lower, precisions = rng.uniform(-2, 1, 4), rng.uniform(0.1, 2, 4)
        upper = lower + rng.uniform(0.3, 4, 4)
        body = ReplacedOuterProduct(lower=lower, upper=upper, n_records=1, levels=((0, 1, 2),))
        lengths = []
        for level, end in itertools.product(range(3), (lower[3], upper[3])):
            record = np.append(np.where(np.arange(3) == level, upper[:3], lower[:3]), end)
            lengths.append(record**2 @ precisions)
        assert body.largest_record(precisions) ** 2 @ precisions >= max(lengths) * (1 - 1e-12)


def side(*variances):
    return NoiseSide.of(standard_basis(len(variances)), np.array(variances, dtype=float))


@pytest.mark.parametrize(("rows", "cols", "mu", "exact"), [
    ((4, 4), (9, 9), 1 / 3, True), ((4, 4), (1, 9), 1.0, False), ((1, 9), (4, 4), 1.0, False),
    ((4, 1), (4, 9), 1.0, False)])
def test_a_change_of_which_only_the_size_is_known_is_exact_where_noise_is_equal_on_both_sides(rows, cols, mu, exact):
    for fills_ball in (False, True):
        worst = AnyChange(sensitivity=2.0, fills_ball=fills_ball).worst(side(*rows), side(*cols))
        assert worst.mu == pytest.approx(mu)
        assert worst.exact == (exact or fills_ball)


def test_a_move_is_told_where_it_is_the_worst_and_not_where_mu_is_a_bound():
    body, cols = ReplacedColumn(widths=np.array([1.0, 2.0]), records=2), side(1, 0.2, 0.5)
    moved = body.worst(side(1, 1), cols)
    assert moved.exact
    assert moved.at.tolist() == [1.0, 2.0]
    assert body.columns(cols)[0] == 1
    data = make_dataset(17, 3)
    design = mv.design_noise(mv.identity(data), epsilon=1, delta=1e-5,
                          directions=mv.random_rotation(17, rng=np.random.default_rng(1)),
                          theta=mv.manual(np.linspace(1, 2, 17)))
    bounded = ReplacedColumn(widths=data.widths).worst(design.row_side, design.col_side)
    assert (bounded.exact, bounded.at) == (False, None)


@pytest.mark.parametrize(("low", "high", "m"), [(0.0, 1.0, 20), (-1.0, 0.0, 20), (0.5, 2.0, 20), (-1.0, 1.0, 12)])
def test_second_moments_of_many_features_are_exact_where_no_range_crosses_zero_or_all_are_even(low, high, m):
    unit = NoiseSide.identity(m)
    worst = ReplacedOuterProduct(lower=np.full(m, low), upper=np.full(m, high), n_records=1).worst(unit, unit)
    assert worst.exact
    x, y = worst.at
    assert worst.mu == pytest.approx(np.linalg.norm(np.outer(x, x) - np.outer(y, y)))
    assert not ReplacedOuterProduct(lower=np.full(m, -0.3), upper=np.ones(m), n_records=1).worst(unit, unit).exact


def test_records_are_told_where_they_are_the_worst_and_not_where_mu_is_a_bound():
    body = ReplacedOuterProduct(lower=-np.ones(2), upper=np.ones(2), n_records=10)
    assert body.worst(side(4, 4), side(9, 9)).at is not None
    bounded = body.worst(side(4, 1), side(9, 9))
    assert (bounded.exact, bounded.at) == (False, None)


def test_what_is_remembered_of_one_noise_is_not_taken_for_another(rng):
    """The same precisions along other directions are another noise."""
    data = unequal_box(3, "lopsided", 4)
    body = mv.covariance(data).neighbours
    for _ in range(3):
        turned = NoiseSide.of(mv.random_rotation(3, rng=rng), np.array([0.2, 1.0, 5.0]))
        assert body.worst(turned, turned).mu == mv.covariance(data).neighbours.worst(turned, turned).mu
    for variances in ((0.2, 1.0, 5.0), (5.0, 1.0, 0.2), (0.2, 1.0, 5.0)):
        straight = side(*variances)
        assert body.worst(straight, straight).mu == mv.covariance(data).neighbours.worst(straight, straight).mu


def test_of_a_category_no_record_is_told_through_turned_noise(rng):
    ends = {"lower": np.zeros(3), "upper": np.ones(3), "n_records": 1, "added": True}
    turned = NoiseSide.of(mv.random_rotation(3, rng=rng), np.array([0.5, 1.0, 2.0]))
    assert ReplacedOuterProduct(**ends).longest_record(turned)[1] is not None
    assert ReplacedOuterProduct(**ends, levels=((0, 1, 2),)).longest_record(turned)[1] is None


@pytest.mark.parametrize("half", [0.05, 5.0, 50.0])
def test_the_bound_for_many_even_ranges_is_that_of_two_records_at_right_angles(half):
    """Thirteen signs cannot be at right angles, but nearly."""
    unit, ends = NoiseSide.identity(13), np.full(13, half)
    worst = ReplacedOuterProduct(lower=-ends, upper=ends, n_records=1).worst(unit, unit)
    assert worst[:2] == (pytest.approx(math.sqrt(2) * 13 * half**2), False)
    nearly = math.sqrt(2 * 13**2 - 2 * 1) * half**2
    assert nearly <= worst.mu <= 1.004 * nearly


def test_an_added_record_moves_each_entry_by_its_largest_product():
    body = ReplacedOuterProduct(lower=np.array([-3.0, 0.0]), upper=np.array([1.0, 2.0]), n_records=1, added=True)
    assert body.spans().tolist() == [[9.0, 6.0], [6.0, 4.0]]


def test_the_reach_of_a_box_along_a_turned_direction_is_the_sum_of_its_parts(rng):
    directions, reach = mv.random_rotation(3, rng=rng), np.array([1.0, 2.0, 5.0])
    corners = np.array(list(itertools.product((-1, 1), repeat=3))) * reach
    assert support(directions, reach) == pytest.approx((corners @ directions.matrix).max(axis=0))
    assert support(standard_basis(3), reach).tolist() == [1.0, 2.0, 5.0]
