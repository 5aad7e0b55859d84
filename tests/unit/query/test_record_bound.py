"""Records inside an ellipse: they are, and no two of them are further apart than is claimed."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

import mvgviz as mv
from mvgviz.noise.accounting import compose_mu
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin
from mvgviz.query.record_bound import even_moments, even_spreads, rank_radius, regression_shape, way_to_box
from mvgviz.query.worst_pairs import worst_pair
from mvgviz.release.release import release
from tests.datasets import make_dataset
from tests.oracles import some_side

BOXES = {"symmetric": (-1.0, 1.0), "from zero": (0.0, 2.0), "general": (-0.3, 2.0), "away": (1.0, 2.0)}


def some_bound(m, rng, *, turned=False, centre=0.0, radius=1.0):
    return mv.RecordBound(radius=radius, weights=rng.uniform(0.3, 3, m), centre=centre,
                       directions=mv.random_rotation(m, rng=rng) if turned else None)


def pulled_records(bound, data, rng, size=400):
    """Corners, faces and random points of the box, pulled as the bound says."""
    m = data.n_features
    corners = np.sign(rng.standard_normal((m, size)))
    points = np.where(rng.random((m, size)) < 0.5, corners, rng.uniform(-1, 1, (m, size)))
    middle, half = (data.lower + data.upper) / 2, data.widths / 2
    matrix = np.clip(middle[:, None] + half[:, None] * points, data.lower[:, None], data.upper[:, None])
    many = mv.Dataset(matrix=matrix, features=data.features, lower=data.lower, upper=data.upper)
    return bound.clipped(many).matrix


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("centred", [False, True])
def test_pulled_records_lie_in_the_ellipse_and_in_the_new_ranges(rng, box, turned, centred):
    data = make_dataset(4, 300, *BOXES[box])
    bound = some_bound(4, rng, turned=turned, centre=sum(BOXES[box]) / 2 if centred else 0.0, radius=0.5)
    pulled = bound.clipped(data)
    b = np.asarray(bound.weights)[:, None] * (np.eye(4) if bound.directions is None else bound.directions.matrix.T)
    lengths = np.linalg.norm(b @ (pulled.matrix - bound.centre), axis=0)
    assert lengths.max() <= bound.radius
    assert pulled.count_outside() == 0
    before = np.linalg.norm(b @ (data.matrix - bound.centre), axis=0)
    inside = before <= bound.radius
    assert np.array_equal(pulled.matrix[:, inside], data.matrix[:, inside])
    assert lengths[~inside] == pytest.approx(bound.radius, rel=1e-11)
    assert bound.count_outside(data) == int((~inside).sum())
    ratio = (pulled.matrix - bound.centre) / (data.matrix - bound.centre)
    assert np.ptp(ratio, axis=0).max() < 1e-9  # on the line to the centre


def test_a_record_that_is_inside_stays_as_it_is_to_the_last_bit():
    data = make_dataset(3, 500)
    for centre in (1 / 3, 0.1):
        assert np.array_equal(mv.RecordBound(radius=9.0, centre=centre).clipped(data).matrix, data.matrix)
        assert not np.array_equal(centre + (data.matrix - centre), data.matrix)


@pytest.mark.parametrize("per_person", [2, 3])
def test_nothing_is_learned_privately_of_people_with_several_records(rng, per_person):
    data = replace(make_dataset(3, 60), per_person=per_person)
    for learn in (functools.partial(mv.private_radius, quantile=0.5), mv.private_spreads, rank_radius):
        with pytest.raises(mv.InputError, match="one record a person"):
            learn(data, mu=1.0, rng=rng)


def test_a_record_at_the_centre_stays_there():
    data = mv.Dataset(matrix=np.zeros((2, 1)), features=["a", "b"], lower=-1, upper=1)
    assert np.array_equal(mv.RecordBound(radius=0.1).clipped(data).matrix, data.matrix)


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_no_pair_of_bounded_records_moves_a_mean_further_than_claimed(rng, m, box, turned):
    low, high = BOXES[box]
    for radius, centre in ((0.4, 0.0), (1.5, (low + high) / 2), (30.0, 0.0)):
        data = make_dataset(m, 20, low, high)
        bound = some_bound(m, rng, turned=turned[0], centre=centre, radius=radius)
        side = some_side(m, rng, turned=turned[1])
        claimed = mv.mean(data, bound=bound).neighbours.worst(side, NoiseSide.identity(1)).mu
        x = side.whitener() @ pulled_records(bound, data, rng)
        squares = (x**2).sum(axis=0)
        most = math.sqrt(max((squares[:, None] + squares - 2 * x.T @ x).max(), 0)) / 20
        assert most <= claimed * (1 + 1e-9)


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("both", [True, False])
def test_no_pair_of_bounded_records_moves_second_moments_further_than_claimed(rng, m, box, turned, both):
    data = make_dataset(m, 20, *BOXES[box])
    for radius in (0.4, 1.5, 30.0):
        bound = some_bound(m, rng, turned=turned[0], radius=radius)
        side = some_side(m, rng, turned=turned[1])
        other = side if both else NoiseSide.identity(m)
        claimed = mv.covariance(data, bound=bound).neighbours.worst(side, other).mu
        records = pulled_records(bound, data, rng, 120)
        left, right = side.whitener() @ records, other.whitener() @ records
        # ||u uᵀ - w wᵀ||² for left and right factors
        ll, rr = left.T @ left, right.T @ right
        own = np.diag(ll) * np.diag(rr)
        most = math.sqrt(max((own[:, None] + own - 2 * ll * rr).max(), 0)) / 20
        assert most <= claimed * (1 + 1e-9)


def furthest_by_search(a, inverse, rng, tries=40):
    """The largest ``||A(xxᵀ - yyᵀ)Aᵀ||_F`` over an ellipse alone, by a generic optimiser."""
    m = inverse.shape[0]

    def distance(v):
        z = v.reshape(2, m)
        x, y = (a @ inverse @ (part / max(1.0, float(np.linalg.norm(part)))) for part in z)
        return -float(np.linalg.norm(np.outer(x, x) - np.outer(y, y)))

    return max(-optimize.minimize(distance, rng.standard_normal(2 * m), method="Powell").fun for _ in range(tries))


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_an_optimiser_finds_the_claimed_second_moments_and_no_more(rng, turned):
    m, data = 3, make_dataset(3, 1, -50, 50)
    bound, side = some_bound(m, rng, turned=turned), some_side(m, rng, turned=True)
    claimed, exact, _ = mv.covariance(data, bound=bound).neighbours.worst(side, side)
    assert exact
    found = furthest_by_search(side.whitener(), bound.ellipse(m).inverse, rng)
    assert found == pytest.approx(claimed, rel=1e-5)
    assert found <= claimed * (1 + 1e-9)


@pytest.mark.parametrize("query", [mv.identity, mv.mean, mv.covariance])
def test_the_printed_formulas_of_the_ball(query):
    """A ball inside its ranges: 2R, 2R/n and sqrt2 R²/n; equal noise is the default, as is its shape."""
    data, radius = make_dataset(5, 50, -1, 1), 0.7
    asked = query(data, bound=mv.RecordBound(radius=radius))
    expected = {"identity": 2 * radius, "mean": 2 * radius / 50, "covariance": math.sqrt(2) * radius**2 / 50}
    assert asked.sensitivity == pytest.approx(expected[asked.name], rel=1e-12)
    design = mv.design_noise(asked, epsilon=1, delta=1e-6)
    assert design.mu_is == "exact"
    assert design.row_side.is_isotropic or np.ptp(design.row_variances) < 1e-12 * design.row_variances[0]
    assert asked.gamma == pytest.approx({"identity": radius * math.sqrt(50), "mean": radius,
                                         "covariance": radius**2}[asked.name])
    assert asked.printed_sensitivity <= query(data).printed_sensitivity


def test_the_longest_record_is_that_of_a_linear_programme(rng):
    """Squares of the values: each at most its range's, and weighted together at most the radius'."""
    data = make_dataset(5, 50, -2, [1, 2, 3, 0.5, 4])
    bound = some_bound(5, rng, radius=3.0)
    largest = optimize.linprog(-np.ones(5), A_ub=np.asarray(bound.weights)[None] ** 2, b_ub=[9.0],
                               bounds=[(0, a * a) for a in data.largest_values])
    asked = mv.covariance(data, bound=bound)
    assert asked.gamma < mv.covariance(data).gamma
    assert asked.gamma == pytest.approx(-largest.fun, rel=1e-6)  # pulled ranges are a hair smaller
    assert np.linalg.norm(pulled_records(bound, data, rng), axis=0).max() ** 2 <= asked.gamma * (1 + 1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_the_default_noise_has_the_shape_of_the_ellipse(rng, turned):
    data = make_dataset(4, 30, -9, 9)
    bound = some_bound(4, rng, turned=turned)
    b = np.asarray(bound.weights)[:, None] * (np.eye(4) if not turned else bound.directions.matrix.T)
    for query in (mv.mean, mv.identity, mv.covariance):
        design = mv.design_noise(query(data, bound=bound), epsilon=1, delta=1e-6)
        shape = design.row_covariance() @ (b.T @ b)
        assert shape == pytest.approx(shape[0, 0] * np.eye(4), abs=1e-9 * shape[0, 0])
        assert design.mu_is == "exact"
        # every direction attains the least that any Gaussian noise can have: h(u)/mu, h(u) = 2R||B^-T u||
        if query is mv.mean:
            u = rng.standard_normal(4)
            least = 2 * np.linalg.norm(np.linalg.solve(b.T, u)) / 30 / design.mu
            assert math.sqrt(u @ design.row_covariance() @ u) == pytest.approx(least, rel=1e-9)


def test_shares_are_the_parts_of_an_evenly_spread_record(rng):
    theta = np.array([0.5, 0.3, 0.2])
    data = make_dataset(3, 200_000, [-1, 0, -2], [1, 4, 6])
    for centre in (0.0, (data.lower + data.upper) / 2):
        bound = mv.RecordBound.from_shares(data, theta, centre=centre)
        along = np.asarray(bound.weights)[:, None] * (data.matrix - np.broadcast_to(centre, 3)[:, None])
        assert (along**2).mean(axis=1) == pytest.approx(theta, rel=0.01)
    # about the middle the split of the noise is the split of the bound
    asked = mv.mean(data, bound=bound)
    assert mv.design_noise(asked, epsilon=1, delta=1e-6).theta == pytest.approx(theta, rel=1e-12)


def test_the_kernel_moves_less_when_records_are_bounded():
    data = make_dataset(2, 20, -1, 1)
    bounded = mv.rbf_kernel(data, length=1.0, bound=mv.RecordBound(radius=0.5))
    assert bounded.sensitivity == pytest.approx((1 - math.exp(-0.5)) * math.sqrt(38), rel=1e-12)


def test_second_moments_want_their_centre_at_zero():
    data = make_dataset(2, 20, 1, 2)
    with pytest.raises(mv.InputError, match="about 0"):
        mv.covariance(data, bound=mv.RecordBound(radius=1, centre=1.5))


@pytest.mark.parametrize(("arguments", "word"), [
    ({"radius": 0}, "radius"), ({"radius": math.nan}, "radius"), ({"radius": 1, "weights": [1, 0]}, "weights"),
    ({"radius": 1, "weights": [1, math.inf]}, "weights"), ({"radius": 1, "directions": np.eye(2)}, "directions"),
    ({"radius": 1, "centre": "x"}, "centre"), ({"radius": 1, "origin": "declared!"}, "origin")])
def test_nonsense_gets_a_sentence(arguments, word):
    with pytest.raises(mv.InputError, match=word):
        mv.RecordBound(**arguments)


def test_a_bound_of_another_size_gets_a_sentence():
    data = make_dataset(3, 10)
    for bound in (mv.RecordBound(radius=1, weights=[1, 2]), mv.RecordBound(radius=1, centre=[0, 0])):
        with pytest.raises(mv.InputError, match="must number 3"):
            mv.mean(data, bound=bound)
    with pytest.raises(mv.InputError, match="RecordBound"):
        mv.mean(data, bound=1.0)
    with pytest.raises(mv.InputError, match="spreads"):
        mv.RecordBound.from_shares(data, [0.2, 0.3, 0.5], spreads=[1, 2])


def test_a_private_radius_is_near_the_quantile_and_says_what_it_spent(rng):
    data = make_dataset(4, 20_000)
    shape = mv.RecordBound.from_shares(data, np.full(4, 0.25))
    lengths = shape.ellipse(4).lengths(data.matrix)
    for quantile in (0.1, 0.5, 0.95):
        found = mv.private_radius(data, quantile, mu=1.0, rng=rng)
        assert found.radius == pytest.approx(np.quantile(lengths, quantile), rel=0.02)
        assert (found.mu, found.origin) == (1.0, Origin.PAID)
    noisy = [mv.private_radius(data, 0.5, mu=1e-4, rng=rng).radius for _ in range(20)]
    assert np.std(noisy) > 0.05  # little budget, little knowledge


def test_a_private_radius_counts_with_noise_of_its_budget():
    """Twenty counts of sensitivity 1 with noise sqrt(20)/mu each compose to mu."""
    asked = []

    def noisy(value, std):
        asked.append((value, std))
        return value

    data = make_dataset(2, 100)
    mv.private_radius(data, 0.5, mu=2.0, rng=noisy)
    assert compose_mu([1 / std for _, std in asked]) == pytest.approx(2.0)
    assert all(isinstance(value, int) and 0 <= value <= 100 for value, _ in asked)


def test_private_spreads_are_near_the_true_ones(rng):
    data = make_dataset(3, 50_000, [-1, 0, -3], [1, 2, 5])
    true = np.sqrt((data.matrix**2).mean(axis=1))
    assert mv.private_spreads(data, mu=1.0, rng=rng) == pytest.approx(true, rel=0.01)
    assert (mv.private_spreads(data, mu=1e-6, rng=rng) > 0).all()
    centre = np.array([0.9, -0.5, 4.0])
    true = np.sqrt(((data.matrix - centre[:, None]) ** 2).mean(axis=1))
    assert mv.private_spreads(data, mu=1.0, rng=rng, centre=centre) == pytest.approx(true, rel=0.01)
    tight = make_dataset(2, 50_000, [1.0, -3.0], [2.0, -2.0])  # the ends further from the centre scale the noise
    noise = [mv.private_spreads(tight, mu=0.01, rng=rng, centre=[2.0, -3.0]) ** 2 for _ in range(400)]
    assert np.std(noise, axis=0) == pytest.approx([math.sqrt(2) / 0.01 / 50_000] * 2, rel=0.2)


@pytest.mark.parametrize("turned", [(False, False), (True, True)])
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("query", [mv.identity, mv.mean, mv.covariance])
def test_the_worst_pair_lies_inside_and_never_passes_the_claim(rng, query, box, turned):
    data = make_dataset(4, 12, *BOXES[box])
    for radius in (0.4, 1.5, 30.0):
        bound, side = some_bound(4, rng, turned=turned[0], radius=radius), some_side(4, rng, turned=turned[1])
        asked = query(data, bound=bound)
        pair = worst_pair(asked, side)
        cols = side if query is mv.covariance else NoiseSide.identity(asked.cols)
        mu, exact, _ = asked.neighbours.worst(side, cols)
        whole = side.whitener() @ pair.left @ pair.right.T @ cols.whitener().T
        assert np.linalg.norm(whole) <= mu * (1 + 1e-9)
        assert pair.attained == pytest.approx(np.linalg.norm(whole) / mu, rel=1e-9)
        assert not exact or pair.attained == pytest.approx(1, rel=1e-9)
        assert pair.attained > (0.02 if box == "away" else 0.3)  # the centre, 0, is outside these ranges
        low = 0 if query is mv.covariance else asked.neighbours.declared[0]
        records = np.stack([pair.before + low, pair.after + low], axis=1)
        assert bound.ellipse(4).lengths(records).max() <= radius * (1 + 1e-12)


def test_a_bound_read_from_the_data_is_no_private_one(rng):
    data = make_dataset(3, 40)
    read = mv.mean(data, bound=mv.RecordBound(radius=0.8, origin=Origin.READ))
    with pytest.raises(mv.InputError, match="a clipping bound read from the data"):
        release(read, mv.design_noise(read, epsilon=1, delta=1e-6))
    given = release(read, mv.design_noise(read, epsilon=1, delta=1e-6), accept=["bound"])
    assert given.caveats == ("bound",)
    assert given.origins["bound"] is Origin.READ
    paid = mv.mean(data, bound=mv.private_radius(data, 0.5, mu=1.0, rng=rng))
    with pytest.raises(mv.InputError, match="only for trials"):
        release(paid, mv.design_noise(paid, epsilon=1, delta=1e-6))


@pytest.mark.parametrize("turned", [False, True])
def test_a_centre_outside_the_ranges_costs_only_what_records_can_be_drawn(rng, turned):
    data = make_dataset(3, 200, [5, 6, 7], [6, 7, 8])
    wide = some_bound(3, rng, turned=turned, radius=1e3)
    assert np.array_equal(wide.clipped(data).lower, data.lower)
    assert np.array_equal(wide.clipped(data).upper, data.upper)
    for query in (mv.identity, mv.mean, mv.covariance):
        assert query(data, bound=wide).sensitivity <= query(data).sensitivity * (1 + 1e-12)
    tight = mv.RecordBound(radius=9.0)  # corners are up to 12.2 long
    corners = mv.Dataset(matrix=np.array([[5, 6], [6, 7], [7, 8.0]]), features=data.features, lower=data.lower,
                      upper=data.upper)
    pulled = tight.clipped(corners)
    assert pulled.count_outside() == 0
    assert pulled.lower == pytest.approx(9 / math.sqrt(6**2 + 7**2 + 8**2) * data.lower)


@pytest.mark.parametrize("centre", [-3.0, 3.0])
def test_ranges_hold_records_that_are_drawn_towards_a_centre_outside_them(centre):
    data = make_dataset(3, 200)
    pulled = mv.RecordBound(radius=2.5, centre=centre).clipped(data)
    straight = centre + (data.matrix - centre) * np.minimum(1, 2.5 / np.linalg.norm(data.matrix - centre, axis=0))
    assert pulled.matrix == pytest.approx(straight, abs=1e-9)
    assert ((pulled.lower <= pulled.matrix.T) & (pulled.upper >= pulled.matrix.T)).all()
    # the furthest corner is drawn in to this part of its distance; an end at distance 2 may move as far
    part = 2.5 / (4 * math.sqrt(3))
    ends = sorted([centre - np.sign(centre) * 2 * part, centre - np.sign(centre) * 2.5])
    assert (pulled.lower[0], pulled.upper[0]) == pytest.approx(ends)


def test_moments_of_a_record_spread_evenly_over_its_ranges_about_any_centre(rng):
    data, centre = make_dataset(2, 5, lower=[0.0, -1.0], upper=[2.0, 3.0]), np.array([0.5, -2.0])
    points = rng.uniform(data.lower, data.upper, (400_000, 2)) - centre
    assert even_moments(data, centre) == pytest.approx(points.T @ points / 400_000, rel=0.01)
    assert even_spreads(data, centre) == pytest.approx(np.sqrt(np.diag(even_moments(data, centre))))


def test_spreads_that_are_given_weigh_the_bound():
    bound = mv.RecordBound.from_shares(make_dataset(3, 5), [0.2, 0.3, 0.5], spreads=[1, 2, 4])
    assert bound.weights == pytest.approx(np.sqrt([0.2, 0.3, 0.5]) / [1, 2, 4])


def test_a_bound_for_regressions_goes_from_the_ellipse_to_the_box():
    assert way_to_box(900, 4, 4.0) == pytest.approx(0.5)  # 900 records times mu for each feature
    assert way_to_box(900, 4, 12.0) == pytest.approx(0.9)
    assert way_to_box(300, 4, 4.0) == pytest.approx(0.1)
    for n, mu, radius in ((900, 4.0, 3**0.25), (10, 0.01, 1), (10**9, 1.0, math.sqrt(3))):
        assert regression_shape(np.full(4, 0.25), n, mu=mu)[1] == pytest.approx(radius)


def test_the_bound_for_regressions_worked_by_hand():
    split, radius, constant = regression_shape(np.array([0.7, 0.1, 0.1, 0.1]), 900, mu=4.0)
    assert split == pytest.approx([0.475, 0.175, 0.175, 0.175])
    assert radius == pytest.approx(3**0.25)
    assert constant == pytest.approx(3**0.25 * 0.5**0.5 * 4**-0.25)


@pytest.mark.parametrize(("n", "mu", "share", "constant"), [
    (75, 1.0, 0.55, 0.75), (1, 1e-6, 0.8, 1.0), (10**7, 1e-2, 0.3, 0.5)])
def test_the_label_gets_its_part_the_more_the_fewer_the_records(n, mu, share, constant):
    split, radius, joined = regression_shape(np.full(10, 0.1), n, mu=mu, label=3, radius=2.0)
    assert split[3] == pytest.approx(share, rel=1e-3)
    assert np.delete(split, 3) == pytest.approx((1 - share) / 9, rel=1e-3)
    assert (radius, joined) == pytest.approx((2, 2 * constant), rel=1e-3)
    kept, _, _ = regression_shape(np.array([0.1, 0.8, 0.1]), n, mu=mu, label=1, radius=2.0)
    assert kept == pytest.approx([0.1, 0.8, 0.1])


@pytest.mark.parametrize(("n", "radius"), [(1, 1.2), (75, 1.1), (10**4, 1.0)])
def test_the_default_radius_grows_by_a_fifth_where_the_label_has_few_records(n, radius):
    assert regression_shape(np.full(1_000, 1e-3), n, mu=1.0, label=3)[1] == pytest.approx(radius, rel=1e-3)
    assert regression_shape(np.full(1_000, 1e-3), n, mu=1.0)[1] == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize(("mu", "quantile"), [(0.1, 0.9), (1.0, 0.99), (0.01, 0.5)])
def test_the_rank_rule_leaves_features_over_records_times_mu_outside(mu, quantile):
    data = make_dataset(4, 400)
    asked = []

    def exact(value, std):
        asked.append(std)
        return value

    bound = rank_radius(data, mu=mu, rng=exact, bound=mv.RecordBound(radius=1.0))
    lengths = np.linalg.norm(data.matrix, axis=0)
    assert bound.radius == pytest.approx(np.quantile(lengths, quantile), rel=0.01)
    assert bound.mu == pytest.approx(math.sqrt(0.1) * mu)
    assert compose_mu([1 / std for std in asked]) == pytest.approx(bound.mu)


def test_an_ellipse_from_shares_is_about_nothing_and_of_length_one_unless_more_is_said():
    data = make_dataset(2, 20)
    bound = mv.RecordBound.from_shares(data, [0.5, 0.5])
    assert (bound.radius, np.asarray(bound.centre).tolist()) == (1.0, [0.0, 0.0])
    for spreads in ([0.0, 1.0], [1.0, -0.5]):
        with pytest.raises(mv.InputError, match="spreads must be 2 positive numbers"):
            mv.RecordBound.from_shares(data, [0.5, 0.5], spreads=spreads)


def test_a_record_on_the_edge_is_not_outside():
    data = make_dataset(2, 3, lower=-2.0, upper=2.0)
    data = replace(data, matrix=np.array([[1.0, 0.0, 1.0], [0.0, -1.0, 1.0]]))
    assert mv.RecordBound(radius=1.0).count_outside(data) == 1


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_the_split_of_an_ellipse_is_the_same_in_all_units(unit):
    ellipse = mv.RecordBound(radius=1.0, weights=unit * np.array([1.0, 2.0])).ellipse(2)
    assert ellipse.shape_shares(np.array([unit, unit])) == pytest.approx([0.2, 0.8])


def test_a_private_radius_is_at_least_a_hundredth_of_the_longest():
    data = replace(make_dataset(2, 30, lower=-3.0, upper=3.0), matrix=np.zeros((2, 30)))
    found = mv.private_radius(data, 0.5, mu=1.0, rng=lambda value, std: value)
    longest = replace(found, radius=1.0).ellipse(2).longest(data.lower, data.upper)
    assert longest > 1.1
    assert found.radius == pytest.approx(0.01 * longest, rel=1e-4)


def test_a_seeded_count_has_the_noise_of_its_seed():
    data, draws = make_dataset(2, 30, lower=-3.0, upper=3.0), np.random.default_rng(3)
    found = mv.private_radius(data, 0.5, mu=0.3, rng=np.random.default_rng(3))
    same = mv.private_radius(data, 0.5, mu=0.3, rng=lambda value, std: value + std * draws.standard_normal())
    assert found.radius == same.radius
