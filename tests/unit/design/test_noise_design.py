"""Designs: the paper's algorithms, exact calibration, what is really spent, refusals.

The inverse question undoes the design it describes.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mvgviz as mv
from mvgviz.provenance import Origin
from tests.datasets import make_dataset

GRAPH = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
EIGHT = make_dataset(3, 8, lower=[-1, 0, -2], upper=[1, 3, 1])
QUERIES = {
    "identity": lambda: mv.identity(EIGHT), "mean": lambda: mv.mean(EIGHT), "covariance": lambda: mv.covariance(EIGHT),
    "kernel": lambda: mv.rbf_kernel(make_dataset(2, 3), length=0.8),
    "adjacency": lambda: mv.adjacency(GRAPH),
    "laplacian": lambda: mv.laplacian(GRAPH),
    "custom": lambda: mv.custom(np.ones((3, 5)), sensitivity=0.3, gamma=9),
}


SQUARE = ("covariance", "kernel", "adjacency", "laplacian")


@pytest.mark.parametrize(("query", "mode"), [
    *((q, mode) for q in QUERIES for mode in ("rows", "columns")), *((q, "both") for q in SQUARE)])
@pytest.mark.parametrize("rotated", [False, True])
def test_exact_guarantee_spends_what_was_asked(query, mode, rotated, rng):
    asked = QUERIES[query]()
    size = asked.cols if mode == "columns" else asked.rows
    directions = mv.random_rotation(size, rng=rng) if rotated else None
    for epsilon, delta in ((0.01, 1e-9), (1, 1e-5), (30, 0.01)):
        design = mv.design_noise(asked, epsilon=epsilon, delta=delta, mode=mode, directions=directions,
                                 theta=mv.manual(rng.uniform(0.1, 1, size)))
        assert design.epsilon_spent(delta) == pytest.approx(epsilon, abs=1e-9)
        assert design.delta_spent(epsilon) == pytest.approx(delta, rel=1e-9)
        worst, *_ = asked.neighbours.worst(design.row_side, design.col_side)
        assert worst == pytest.approx(mv.gaussian_mu(epsilon, delta), rel=1e-12)


@settings(max_examples=50)
@given(m=st.integers(1, 30), n=st.integers(1, 50), epsilon=st.floats(1e-3, 100), delta=st.floats(1e-12, 0.5))
def test_identity_with_equal_ranges_and_shares_is_the_analytic_gaussian(m, n, epsilon, delta):
    query = mv.identity(make_dataset(m, n))
    design = mv.design_noise(query, epsilon=epsilon, delta=delta)
    analytic = query.sensitivity / mv.gaussian_mu(epsilon, delta)
    assert design.noise_std() == pytest.approx(np.full((m, n), analytic), rel=1e-12)


@pytest.mark.parametrize(("ask", "m", "n", "lower", "upper", "guarantee", "std", "spent"), [
    (mv.covariance, 4, 10_176, -100, 100, "theorem1", 126_758, 0),
    (mv.covariance, 4, 10_176, -100, 100, "theorem2", 4_916, 0.0011),
    (mv.covariance, 4, 10_176, -100, 100, "exact", 17.73, 1),
    (mv.identity, 6, 248, -1, 1, "exact", 10.60, 1), (mv.identity, 6, 248, -1, 1, "theorem1", 777_909, 0),
    (mv.identity, 21, 2126, 0, 1, "exact", 12.75, 1), (mv.identity, 21, 2126, 0, 1, "theorem1", 1.6177e8, 0)])
def test_the_experiments_come_out_as_measured(ask, m, n, lower, upper, guarantee, std, spent):
    """MATH: epsilon 1, delta 1/n."""
    query = ask(make_dataset(m, n, lower=lower, upper=upper))
    design = mv.design_noise(query, epsilon=1, delta=1 / n, guarantee=guarantee)
    assert design.noise_std()[0, 0] == pytest.approx(std, rel=5e-4)
    assert design.epsilon_spent(1 / n) == pytest.approx(spent, abs=5e-5)


@pytest.mark.parametrize(("mode", "theta", "other"), [("rows", [0.5, 0.3, 0.2], 8), ("columns", [1 / 8] * 8, 3)])
def test_algorithm_1_splits_the_budget_of_its_side_as_printed(mode, theta, other):
    query = mv.identity(make_dataset(3, 8))
    design = mv.design_noise(query, epsilon=2, delta=1e-4, guarantee="theorem1", mode=mode, theta=theta)
    bound = mv.theorem1(3, 8, epsilon=2, delta=1e-4, gamma=query.gamma, sensitivity=query.printed_sensitivity)
    plain = design.row_variances if mode == "columns" else design.col_variances
    assert design.precision_budget == pytest.approx(bound.phi**4 / other)
    assert design.directional_side.variances == pytest.approx(1 / np.sqrt(np.array(theta) * bound.phi**4 / other))
    assert plain.tolist() == [1] * other
    norms = np.linalg.norm(1 / design.row_variances) * np.linalg.norm(1 / design.col_variances)
    assert norms == pytest.approx(bound.limit)


@pytest.mark.parametrize("guarantee", ["theorem1", "theorem2", "theorem2-any"])
def test_algorithm_2_uses_one_covariance_for_both_sides(guarantee):
    query = mv.covariance(make_dataset(3, 8))
    design = mv.design_noise(query, epsilon=2, delta=1e-4, guarantee=guarantee, theta=[0.5, 0.3, 0.2])
    facts = {"epsilon": 2, "delta": 1e-4, "gamma": query.gamma, "sensitivity": query.printed_sensitivity}
    bound = mv.theorem1(3, 3, **facts) if guarantee == "theorem1" else mv.theorem2(3, **facts)
    assert design.row_side is design.col_side
    assert np.sum(1 / design.row_variances**2) == pytest.approx(bound.limit)
    assert design.noise_std()[0, 2] == pytest.approx(math.sqrt(design.row_variances[0] * design.row_variances[2]))


@pytest.mark.parametrize("guarantee", ["theorem1", "theorem2-any"])
@pytest.mark.parametrize("tail", ["printed", "laurent-massart", "exact-chi"])
def test_theorems_never_spend_more_than_asked(guarantee, tail):
    for make in QUERIES.values():
        for epsilon, delta in ((0.1, 1e-6), (1, 1e-2), (100, 0.3), (1000, 0.9)):
            design = mv.design_noise(make(), epsilon=epsilon, delta=delta, guarantee=guarantee, tail=tail)
            assert design.epsilon_spent(delta) <= epsilon


def test_per_entry_noise_is_the_diagonal_of_both_covariances(rng):
    query = mv.identity(make_dataset(3, 4))
    design = mv.design_noise(query, epsilon=1, delta=1e-5, theta=[0.7, 0.2, 0.1],
                             directions=mv.random_rotation(3, rng=rng))
    dense = np.sqrt(np.diag(np.kron(design.col_covariance(), design.row_covariance()))).reshape(4, 3).T
    assert design.noise_std() == pytest.approx(dense)


def test_a_million_records_cost_nothing_on_their_side():
    query = mv.identity(make_dataset(2, 1_000_000))
    design = mv.design_noise(query, epsilon=1, delta=1e-6)
    assert design.col_variances.strides == (0,)
    assert design.cols == 1_000_000


def test_designs_say_where_their_directions_come_from(rng):
    data = make_dataset(2, 50)
    query = mv.identity(data)
    plain = mv.design_noise(query, epsilon=1, delta=1e-5)
    assert (plain.directions_origin, plain.total_mu) == (Origin.DECLARED, plain.mu)
    assert plain.rho == pytest.approx(plain.mu**2 / 2)
    private = mv.private_eigenvectors(data, epsilon=0.2, delta=1e-6, rng=rng)
    spent = mv.design_noise(query, epsilon=0.8, delta=9e-6, directions=private)
    assert spent.directions_origin is Origin.PAID
    assert spent.total_mu == pytest.approx(math.hypot(spent.mu, private.mu))
    leaked = mv.design_noise(query, epsilon=1, delta=1e-5, directions=mv.eigenvectors(query))
    assert (leaked.directions_origin, leaked.total_mu) == (Origin.READ, math.inf)


def test_default_mode_follows_the_query_s_symmetry():
    assert mv.design_noise(QUERIES["identity"](), epsilon=1, delta=1e-5).mode == "rows"
    assert mv.design_noise(QUERIES["laplacian"](), epsilon=1, delta=1e-5).mode == "both"


@pytest.mark.parametrize(("query", "change", "message"), [
    ("identity", {"epsilon": 0}, "epsilon must be positive, got 0"),
    ("identity", {"epsilon": math.inf}, "epsilon must be finite, got inf"),
    ("identity", {"delta": 1}, "delta must lie strictly between 0 and 1, got 1"),
    ("identity", {"guarantee": "theorem3"}, "guarantee must be one of theorem1, theorem2, theorem2-any, exact"),
    ("identity", {"mode": "diagonal"}, "mode must be one of rows, columns, both"),
    ("identity", {"tail": "none"}, "tail must be one of"),
    ("identity", {"guarantee": "theorem2"}, "theorem2 needs a positive semi-definite query, got identity"),
    ("adjacency", {"guarantee": "theorem2"}, "theorem2 needs a positive semi-definite query, got adjacency"),
    ("covariance", {"guarantee": "theorem2", "mode": "rows"}, r"needs mode both \(Psi = Sigma\), got mode rows"),
    ("identity", {"mode": "both"}, "mode both needs a square answer, got 3 × 8"),
    ("identity", {"theta": [0.5, 0.5]}, "theta must have one entry for each of the 3 directions, got 2"),
    ("identity", {"theta": [0.5, 0.6, 0.1]}, r"theta must sum to 1, got 1\.2"),
    ("identity", {"theta": [0.5, 0.5 + 2e-9, 2e-12]}, "theta must sum to 1"),
    ("identity", {"theta": [-0.5, 0.5, 1.0]}, "theta must be positive everywhere.*got -0.5 at position 0"),
    ("identity", {"theta": [0.5, 0.5, 0.0]}, "theta must be positive everywhere.*got 0 at position 2"),
    ("identity", {"theta": [0.5, 0.5, 1e-300]}, "theta must be at least 1e-100 everywhere"),
    ("identity", {"tail": np.array(["printed", "exact-chi"])}, "tail must be one of"),
    ("identity", {"theta": []}, "theta must not be empty"),
    ("identity", {"theta": [0.5, math.nan, 0.5]}, "theta must be finite"),
    ("identity", {"directions": mv.standard_basis(4)}, "directions must number 3, one for each row .*, got 4; make"),
    ("identity", {"directions": np.eye(3)}, r"directions must be Directions; make them with from_matrix\(w\)"),
])
def test_bad_designs_are_refused(query, change, message):
    with pytest.raises(mv.InputError, match=message):
        mv.design_noise(QUERIES[query](), **{"epsilon": 1, "delta": 1e-5} | change)


def test_what_is_spent_is_asked_with_one_number():
    design = mv.design_noise(QUERIES["identity"](), epsilon=1, delta=1e-5)
    with pytest.raises(mv.InputError, match="delta must be a number"):
        design.epsilon_spent([0.1, 0.2])
    with pytest.raises(mv.InputError, match="epsilon must be positive, got 0"):
        design.delta_spent(0)


def test_a_dataset_is_not_a_query():
    with pytest.raises(mv.InputError, match="query must be a Query, got a Dataset"):
        mv.design_noise(make_dataset(2, 3), epsilon=1, delta=1e-5)


def test_theta_within_1e9_of_one_is_taken_and_rescaled():
    design = mv.design_noise(QUERIES["identity"](), epsilon=1, delta=1e-5, theta=[0.5, 0.25, 0.25 + 5e-10])
    assert design.theta.sum() == pytest.approx(1, abs=1e-15)


def test_a_budget_can_cover_the_directions_too(rng):
    data = make_dataset(3, 200)
    whole = mv.gaussian_mu(1, 1e-5)
    private = mv.private_eigenvectors(data, mu=whole * math.sqrt(0.2), rng=rng)
    design = mv.design_noise(mv.identity(data), epsilon=1, delta=1e-5, directions=private, cover_directions=True)
    assert design.mu == pytest.approx(whole * math.sqrt(0.8))
    assert design.total_mu == pytest.approx(whole)


def test_the_exact_budget_is_what_the_corner_of_the_box_spends():
    data = make_dataset(3, 8, lower=[-1, 0, -2], upper=[1, 3, 1])
    design = mv.design_noise(mv.identity(data), epsilon=1, delta=1e-5, theta=[0.5, 0.3, 0.2])
    parts = data.widths**2 / design.row_variances
    assert parts == pytest.approx(design.mu**2 * np.array([0.5, 0.3, 0.2]))
    assert design.precision_budget == pytest.approx(parts.sum())


@pytest.mark.parametrize("mode", ["rows", "columns", "both"])
def test_noise_along_a_direction_is_that_of_the_turned_covariance(mode, rng):
    query = QUERIES["covariance"]()
    turn = mv.random_rotation(3, rng=rng)
    design = mv.design_noise(query, epsilon=1, delta=1e-5, mode=mode, directions=turn, theta=mv.manual([1, 2, 3]))
    rows, cols = (np.diag(turn.matrix.T @ side @ turn.matrix)
                  for side in (design.row_covariance(), design.col_covariance()))
    assert design.direction_std() == pytest.approx(np.sqrt(rows * cols))
    assert design.reach == pytest.approx(
        np.ones(3) if mode == "columns" else np.abs(turn.matrix.T) @ [1.0, 3.0, 2.0])


@pytest.mark.parametrize("mu", [1e-3, 0.3, 2.0])
def test_private_directions_are_for_replaced_records(mu, rng):
    data = make_dataset(3, 200)
    private = mv.private_eigenvectors(data, mu=mu, rng=rng)
    assert mv.design_noise(mv.identity(data), epsilon=1, delta=1e-5, directions=private).row_directions is private
    with pytest.raises(mv.InputError, match="private directions and bounds support only replaced records"):
        mv.design_noise(mv.identity(data, neighbours="add-remove"), epsilon=1, delta=1e-5, directions=private)
    free = mv.design_noise(mv.identity(data, neighbours="add-remove"), epsilon=1, delta=1e-5,
                           directions=mv.standard_basis(3))
    assert free.mu == pytest.approx(mv.gaussian_mu(1, 1e-5))


@pytest.mark.parametrize(("change", "message"), [
    ({"guarantee": "theorem1"}, "cover_directions and cover_bound need guarantee exact, got theorem1"),
    ({"epsilon": 0.01}, "directions and bound must spend less than the whole budget"),
])
def test_directions_cannot_be_covered_by_less_than_they_spent(change, message, rng):
    data = make_dataset(3, 200)
    private = mv.private_eigenvectors(data, epsilon=0.5, delta=1e-5, rng=rng)
    with pytest.raises(mv.InputError, match=message):
        mv.design_noise(mv.identity(data), **{"epsilon": 1, "delta": 1e-5, "directions": private,
                                        "cover_directions": True} | change)


@pytest.mark.parametrize("guarantee", ["exact", "theorem1", "theorem2-any"])
@pytest.mark.parametrize("query", [mv.identity, mv.covariance])
def test_noise_on_bounded_records_has_the_shape_of_the_bound_under_every_guarantee(query, guarantee):
    data = make_dataset(3, 30, [-1, -4, -2], [1, 4, 2])
    bound = mv.RecordBound(radius=1.0, weights=[3.0, 0.5, 1.0])
    design = mv.design_noise(query(data, bound=bound), epsilon=1, delta=1e-5, guarantee=guarantee)
    shape = design.row_variances * np.square([3.0, 0.5, 1.0])
    assert shape == pytest.approx(np.full(3, shape[0]), rel=1e-9)
    assert design.epsilon_spent(1e-5) <= 1 + 1e-6


def test_mu_is_called_exact_only_where_it_is():
    """Neither where more features are turned than can be searched, nor where a bound was learned from the data."""
    data = make_dataset(2, 20)
    plain, learned = (mv.mean(data, bound=bound) for bound in (
        mv.RecordBound(radius=1.0), mv.private_radius(data, 0.5, mu=0.1, rng=np.random.default_rng(0))))
    assert mv.design_noise(plain, epsilon=1, delta=1e-5).mu_is == "exact"
    assert mv.design_noise(learned, epsilon=1, delta=1e-5).mu_is == "upper bound"
    turned = mv.random_rotation(17, rng=np.random.default_rng(1))
    many = mv.design_noise(mv.identity(make_dataset(17, 20)), epsilon=1, delta=1e-5, directions=turned,
                           theta=mv.manual(np.arange(1, 18)))
    assert many.mu_is == "upper bound"


DATA = make_dataset(3, 20, lower=[-1, 0, -2], upper=[1, 3, 1])


@pytest.mark.parametrize("query", [
    mv.identity(DATA), mv.mean(DATA), mv.covariance(DATA), mv.laplacian([[0, 1, 1], [1, 0, 0], [1, 0, 0]]),
    mv.custom(np.zeros((3, 4)), sensitivity=1, gamma=2)])
@pytest.mark.parametrize("rotated", [False, True])
def test_it_gives_back_the_epsilon_of_an_exact_design(query, rotated, rng):
    directions = mv.random_rotation(3, rng=rng) if rotated else None
    design = mv.design_noise(query, epsilon=2.5, delta=1e-4, directions=directions, theta=mv.manual([1, 2, 5]))
    found = mv.smallest_epsilon(query, delta=1e-4, target_std=design.direction_std(), directions=directions)
    assert found == pytest.approx(2.5, rel=1e-9)


def test_identity_by_hand():
    mu = math.sqrt(4 / 9 + 9 / 16 + 9 / 25)  # sum r²/t²
    assert mv.smallest_epsilon(mv.identity(DATA), delta=1e-3, target_std=[3, 4, 5]) == pytest.approx(
        mv.gaussian_epsilon(1e-3, mu))
    assert mv.smallest_epsilon(mv.mean(DATA), delta=1e-3, target_std=[0.3, 0.4, 0.5]) == pytest.approx(
        mv.gaussian_epsilon(1e-3, math.sqrt(4 / 0.09 + 9 / 0.16 + 9 / 0.25) / 20))


def test_directions_without_a_target_cost_almost_nothing():
    alone = mv.smallest_epsilon(mv.identity(DATA), delta=1e-3, target_std=[3, None, None])
    assert alone == mv.smallest_epsilon(mv.identity(DATA), delta=1e-3, target_std={0: 3})
    assert alone == pytest.approx(mv.gaussian_epsilon(1e-3, 2 / 3), rel=1e-3)
    assert alone > mv.gaussian_epsilon(1e-3, 2 / 3)


def test_tighter_targets_cost_more_and_loose_ones_nothing():
    costs = [mv.smallest_epsilon(mv.identity(DATA), delta=1e-3, target_std=[t] * 3) for t in (0.1, 1, 10)]
    assert costs == sorted(costs, reverse=True)
    assert mv.smallest_epsilon(mv.identity(DATA), delta=1e-3, target_std=[1e9] * 3) == 0


@pytest.mark.parametrize(("target", "message"), [
    ([1, 2], "one entry for each of the 3 directions, got 2"),
    ([1, 2, 0], "target_std must be positive, got 0"),
    ([1, 2, math.nan], "target_std must be finite, got nan"),
    ([None, None, None], "target_std must hold at least one target"),
    ({5: 1.0}, "target_std must name directions below 3"),
    (3.0, "target_std must be a sequence or a mapping"),
])
def test_bad_targets_are_refused(target, message):
    with pytest.raises(mv.InputError, match=message):
        mv.smallest_epsilon(mv.identity(DATA), delta=1e-3, target_std=target)
