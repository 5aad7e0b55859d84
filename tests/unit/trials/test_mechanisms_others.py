"""Laplace, exponential, sketch and dimension reduction against their definitions; moments without bias."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mvgviz import Dataset
from mvgviz.trials.mechanisms import BOTH, COMPARED, EPSILON, MECHANISMS, mechanism
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.mechanisms.reduced import lift
from mvgviz.trials.problem import weighing_of
from mvgviz.trials.tasks import measure_for
from tests.datasets import make_dataset
from tests.oracles import mu_for
from tests.unit.trials.problems import BOXES, LUCK, differences, flips, graph, many, noise, posed, prepared


def absolute_sums(d):
    """Of all entries, and of the upper triangles."""
    sizes = np.abs(d)
    return float(sizes.sum(axis=(1, 2)).max()), float(sizes[:, *np.triu_indices(d.shape[1])].sum(axis=1).max())


@pytest.mark.parametrize("box", list(BOXES))
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_no_pair_of_records_exceeds_the_l1_sensitivities_of_a_covariance(box, m):
    lower, upper = (np.array(ends[:m]) for ends in BOXES[box])
    query = posed("covariance", m=m, n=10, lower=lower, upper=upper).query
    c = np.maximum(np.abs(lower), np.abs(upper))
    assert query.absolute_sum() <= c.sum() ** 2 / 10 * (1 + 1e-12)
    assert query.absolute_sum(triangle=True) <= (c.sum() ** 2 + c @ c) / 20 * (1 + 1e-12)
    everywhere, triangle = absolute_sums(differences(lower, upper))
    assert everywhere <= query.absolute_sum() * 10 * (1 + 1e-12)
    assert triangle <= query.absolute_sum(triangle=True) * 10 * (1 + 1e-12)
    diagonals = np.einsum("tii->ti", differences(lower, upper))
    assert float((diagonals**2).sum(axis=1).max()) <= query.diagonal_square() * 100 * (1 + 1e-12)
    if box != "away":  # 0 is a record: a corner against it attains both
        assert everywhere == pytest.approx(query.absolute_sum() * 10)
        assert triangle == pytest.approx(query.absolute_sum(triangle=True) * 10)
        assert float((diagonals**2).sum(axis=1).max()) == pytest.approx(query.diagonal_square() * 100)


@settings(deadline=None, max_examples=60)
@given(data=st.data(), m=st.integers(1, 5))
def test_in_random_boxes_l1_sensitivities_hold_and_are_no_more_than_entry_by_entry_or_by_the_largest_values(data, m):
    def numbers(low, high):
        return np.array(data.draw(st.lists(st.floats(low, high), min_size=m, max_size=m)))

    lower, width = numbers(-5, 5), numbers(0.1, 5)
    upper = lower + width
    query = posed("covariance", m=m, n=1, lower=lower, upper=upper).query
    everywhere, triangle = query.absolute_sum(), query.absolute_sum(triangle=True)
    x, y = (lower + width * numbers(0, 1) for _ in range(2))
    moved, within = absolute_sums((np.outer(x, x) - np.outer(y, y))[None])
    assert moved <= everywhere * (1 + 1e-9) + 1e-9
    assert within <= triangle * (1 + 1e-9) + 1e-9
    products = np.array([np.outer(a, b) for a in (lower, upper) for b in (lower, upper)])
    spans, c = products.max(axis=0) - products.min(axis=0), np.maximum(np.abs(lower), np.abs(upper))
    np.fill_diagonal(spans, c**2 - np.clip(0, lower, upper) ** 2)
    assert everywhere <= min(spans.sum(), c.sum() ** 2) * (1 + 1e-9)
    assert triangle <= min(np.triu(spans).sum(), (c.sum() ** 2 + c @ c) / 2) * (1 + 1e-9)


@pytest.mark.parametrize(("lower", "upper"), [
    ([100, 100], [101, 101]), ([100, -101], [101, -100]), ([0, 3, 2], [1, 4, 6]), ([-2], [-1])])
def test_where_no_range_changes_sign_one_pair_attains_the_l1_sensitivities(lower, upper):
    lower, upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
    query = posed("covariance", m=lower.size, n=1, lower=lower, upper=upper).query
    far, near = (np.where((np.abs(upper) > np.abs(lower)) == is_far, upper, lower) for is_far in (True, False))
    everywhere, triangle = absolute_sums((np.outer(far, far) - np.outer(near, near))[None])
    assert query.absolute_sum() == pytest.approx(everywhere)
    assert query.absolute_sum(triangle=True) == pytest.approx(triangle)


@pytest.mark.parametrize("query", ["adjacency", "laplacian"])
def test_every_edge_attains_the_l1_sensitivities_of_a_graph(query):
    one = posed(query, graph(5)).query
    for other in flips(graph(5)):
        moved = one.value - posed(query, other).query.value
        assert absolute_sums(moved[None]) == (one.absolute_sum(), one.absolute_sum(triangle=True))
        assert (np.diag(moved) ** 2).sum() == one.diagonal_square()


@pytest.mark.parametrize("n", [2, 3, 7])
def test_a_kernels_l1_sensitivity_is_attained_and_never_exceeded(n, rng):
    for attempt in range(40):
        x = rng.uniform(0, 1, (2, n))
        if attempt == 0:
            x[:] = 1.0
        y = x.copy()
        y[:, 0] = 0.0 if attempt == 0 else rng.uniform(0, 1, 2)
        one, other = (posed("kernel", Dataset(matrix=table, features=["a", "b"], lower=0, upper=1), length=0.5).query
                      for table in (x, y))
        everywhere, triangle = absolute_sums((one.value - other.value)[None])
        assert everywhere <= one.absolute_sum() * (1 + 1e-12)
        assert triangle <= one.absolute_sum(triangle=True) * (1 + 1e-12)
        if attempt == 0:
            assert everywhere == pytest.approx(one.absolute_sum())
            assert triangle == pytest.approx(one.absolute_sum(triangle=True))


@pytest.mark.parametrize(("query", "l1", "upper"), [
    ("identity", 6.0, 1.0), ("identity", 10.0, [1.0, 2.0, 4.0]), ("mean", 10 / 30, [1.0, 2.0, 4.0]),
    ("covariance", 9 / 30, 1.0)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_laplace_noise_has_the_l1_sensitivity_over_epsilon(query, l1, upper, epsilon):
    z = noise("laplace", posed(query, epsilon=epsilon, upper=upper), 900 if query != "mean" else 9000) / (l1 / epsilon)
    assert stats.kstest(z.ravel(), "laplace").pvalue > LUCK
    assert abs(np.abs(z).mean() - 1) < 6 / math.sqrt(z.size)  # |z| is exponential
    if query != "covariance":
        return
    z = noise("laplace-triangle", posed(query, epsilon=epsilon), 2000) / ((9 + 3) / 2 / 30 / epsilon)
    assert np.array_equal(z, z.transpose(0, 2, 1))
    assert abs(np.abs(z[:, *np.triu_indices(3)]).mean() - 1) < 6 / math.sqrt(2000 * 6)


@pytest.mark.parametrize(("query", "shape", "s2"), [("identity", (3, 4), 2 * math.sqrt(3)),
                                                    ("mean", (3, 1), math.sqrt(3) / 2)])
def test_exponential_noise_has_a_gamma_radius_and_a_uniform_direction(query, shape, s2):
    z = noise("exponential", posed(query, n=4, epsilon=2.0), 6000)
    assert z.shape == (6000, *shape)
    flat, k, scale = z.reshape(6000, -1), math.prod(shape), s2 / 2
    radius = np.linalg.norm(flat, axis=1)
    assert stats.kstest(radius, stats.gamma(k, scale=scale).cdf).pvalue > LUCK
    unit = flat / radius[:, None]
    for direction in (np.eye(k)[0], np.full(k, k**-0.5)):
        assert stats.kstest((unit @ direction) ** 2, stats.beta(0.5, (k - 1) / 2).cdf).pvalue > LUCK
    assert np.abs(unit.mean(axis=0)).max() < 6 / math.sqrt(6000 * k)
    assert abs(stats.spearmanr(radius, unit[:, 0]).statistic) < 6 / math.sqrt(6000)  # independent
    assert (flat**2).mean() == pytest.approx((k + 1) * scale**2, rel=0.08)


def test_exponential_noise_by_record_is_that_in_every_column_alone():
    scale, n = 2 * math.sqrt(3) / 2, 50
    columns = noise("exponential-columns", posed(n=n, epsilon=2.0), 200).transpose(0, 2, 1).reshape(-1, 3)
    radius = np.linalg.norm(columns, axis=1)
    assert stats.kstest(radius, stats.gamma(3, scale=scale).cdf).pvalue > LUCK
    assert stats.kstest(columns[:, 1] / radius, "uniform", args=(-1, 2)).pvalue > LUCK  # Archimedes
    per_table = radius.reshape(200, n)
    assert abs(stats.spearmanr(per_table[:, 0], per_table[:, 1]).statistic) < 6 / math.sqrt(200)


def test_the_lift_is_that_of_the_publication():
    expected = 16 * math.sqrt(4 * math.log(2 / 1e-5)) / 0.5 * math.log(16 * 4 / 1e-5)
    assert lift(0.5, 1e-5, 4) == pytest.approx(expected, rel=1e-12)
    assert math.isfinite(lift(1e-3, 5e-324, 400))


@pytest.mark.parametrize("query", ["identity", "covariance"])
@pytest.mark.parametrize("box", list(BOXES))
def test_a_sketch_has_the_mean_and_variance_of_its_wishart(query, box):
    lower, upper = (np.array(ends[:3]) for ends in BOXES[box])
    problem = posed(query, m=3, n=50, lower=lower, upper=upper, epsilon=900.0)
    x, rho2, n, s = problem.table.matrix, float(((upper - lower) ** 2).sum()), 50, 3
    w2 = lift(900.0, 1e-3, s) ** 2
    a = x @ x.T / rho2 + w2 * np.eye(3)
    drawn = many(prepared("johnson-lindenstrauss", problem, "moments"), 20_000)
    # Wishart(A, s)/s: mean A, variance (a_ij² + a_ii a_jj)/s; then less w², times rho²/n.
    spread = np.sqrt((a**2 + np.outer(np.diag(a), np.diag(a))) / s) * rho2 / n
    assert (np.abs(drawn.mean(axis=0) - x @ x.T / n) < 6 * spread / math.sqrt(20_000)).all()
    assert np.abs(drawn.std(axis=0) / spread - 1).max() < 0.08
    whitened = np.linalg.inv(np.linalg.cholesky(a))
    back = whitened @ (drawn * n / rho2 + w2 * np.eye(3)) @ whitened.T * s
    assert stats.kstest(back[:, 0, 0], stats.chi2(s).cdf).pvalue > LUCK
    assert stats.kstest(np.trace(back, axis1=1, axis2=2), stats.chi2(s * 3).cdf).pvalue > LUCK


@pytest.mark.parametrize("box", list(BOXES))
def test_pseudo_records_are_a_random_projection_of_the_lifted_table(box, rng):
    lower, upper = (np.array(ends[:3]) for ends in BOXES[box])
    problem = posed(m=3, n=50, lower=lower, upper=upper, epsilon=900.0, task="kernel-ridge", label=0)
    drawn = many(prepared("johnson-lindenstrauss", problem), 4000)
    assert drawn.shape == (4000, 3, 3)
    x, n, rho = problem.table.matrix, problem.table.n_records, math.hypot(*(upper - lower))
    middle = (lower + upper)[:, None] / 2
    u, values, vt = np.linalg.svd((x - middle) / rho, full_matrices=False)
    lifted = u * np.hypot(values, lift(900.0, 1e-3, 3)) @ vt  # every singular value, then a projection over records
    by_hand = middle + rho / math.sqrt(n) * lifted @ rng.standard_normal((4000, n, 3))
    for read in ([1.0, -2.0, 0.5], [0.0, 0.0, 1.0]):
        assert stats.ks_2samp((read @ drawn).ravel(), (read @ by_hand).ravel()).pvalue > LUCK
    assert np.allclose(np.cov(drawn.transpose(1, 0, 2).reshape(3, -1)) * n / rho**2, lifted @ lifted.T,
                       atol=0.08 * np.linalg.norm(lifted @ lifted.T))


def test_kernel_ridge_learns_from_pseudo_records_what_the_lift_leaves_and_is_warned():
    line = np.random.default_rng(0).uniform(-1, 1, 400)
    data = Dataset(matrix=np.stack([line, line]), features=["x", "y"], lower=-1, upper=1)
    problem = posed(data=data, task="kernel-ridge", label=1, priority_directions=(0, 1))
    measure, sampler = measure_for(problem), prepared("johnson-lindenstrauss", problem)
    assert many(sampler, 50).shape == (50, 2, 2)
    alone = replace(sampler, law=partial(sampler.law, root=np.full((2, 2), 0.5)))  # no lift: records on the line
    assert measure.errors(many(alone, 50)).mean() < 0.9 * measure.references.trivial
    assert measure.errors(many(sampler, 50)).mean() > 0.99 * measure.references.trivial
    assert "each pseudo-record mixes all records" in mechanism("johnson-lindenstrauss").caution(problem)
    assert mechanism("johnson-lindenstrauss").caution(posed()) is None


def test_a_reduced_sketch_fills_as_many_records_as_it_has():
    problem = posed(lower=[-1.0, 0.0, 2.0], upper=[1.0, 4.0, 3.0], task="kernel-ridge", label=2,
                    priority_directions=(0, 2))
    drawn = many(prepared("reduced-johnson-lindenstrauss", problem), 5)
    assert drawn.shape == (5, 3, 2)
    assert (drawn[:, 1] == 2.0).all()
    assert np.isfinite(measure_for(problem).errors(drawn)).all()


def test_a_sketch_gives_no_noisy_table_and_says_so():
    unsuitable = mechanism("johnson-lindenstrauss").unsuitable
    assert unsuitable(posed("covariance"), "answer") is None
    assert all("mix the records" in unsuitable(posed(), level) for level in ("answer", "square"))
    assert all("records of a table" in unsuitable(problem, "answer")
               for problem in (posed("mean"), posed("kernel"), posed("laplacian", graph())))


TABLES = ["mvg-exact", "iid", "gaussian-analytic", "gaussian-classic", "laplace", "exponential", "exponential-columns",
          "johnson-lindenstrauss"]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("shape", [(2, 30), (3, 4), (1, 1)])
def test_subtracting_the_known_noise_makes_moments_unbiased(name, shape):
    problem = posed(m=shape[0], n=shape[1], epsilon=20.0, post=("subtract",), directions="standard")
    truth = problem.query.value @ problem.query.value.T / shape[1]
    drawn = many(prepared(name, problem, "moments"), 6000)
    error = drawn.std(axis=0) / math.sqrt(6000)
    assert (np.abs(drawn.mean(axis=0) - truth) <= 7 * error).all()
    if name != "johnson-lindenstrauss" and shape == (2, 30):
        kept = many(prepared(name, posed(m=2, n=30, epsilon=20.0, post=()), "moments"), 6000)
        assert (np.diag(kept.mean(axis=0) - truth) > 7 * np.diag(error)).all()


@pytest.mark.parametrize("directions", ["standard", "random"])
def test_noise_over_records_is_subtracted_too(directions):
    problem = posed(m=2, n=6, mode="columns", directions=directions, priority_directions=(0, 1), epsilon=20.0,
                    post=("subtract",))
    drawn = many(prepared("mvg-exact", problem, "moments"), 20_000)
    truth = problem.query.value @ problem.query.value.T / 6
    assert (np.abs(drawn.mean(axis=0) - truth) <= 6 * drawn.std(axis=0) / math.sqrt(20_000)).all()


@pytest.mark.parametrize("name", ["laplace", "exponential", "exponential-columns"])
def test_squares_and_moments_are_those_of_the_answer_drawn(name):
    problem = posed(n=8)
    released = many(prepared(name, problem), 5)
    assert np.allclose(many(prepared(name, problem, "square"), 5),
                       (weighing_of(problem).of(released - problem.query.value) ** 2).sum(axis=(1, 2)), rtol=1e-13)
    raw = posed(n=8, post=())
    assert np.allclose(many(prepared(name, raw, "moments"), 5), released @ released.transpose(0, 2, 1) / 8, rtol=1e-13)


@pytest.mark.parametrize("query", ["covariance", "laplacian", "kernel"])
def test_a_symmetric_answer_is_its_own_moments_and_has_a_square(query):
    problem = posed(query, graph() if query == "laplacian" else make_dataset(3, 6))
    for name in ("mvg-exact", "gaussian-triangle", "laplace-triangle", "exponential"):
        released = many(prepared(name, problem), 4)
        assert np.array_equal(many(prepared(name, problem, "moments"), 4), released)
        if name != "mvg-exact":
            squares = ((released - problem.query.value) ** 2).sum(axis=(1, 2))
            assert np.allclose(many(prepared(name, problem, "square"), 4), squares, rtol=1e-12)


def test_reduction_protects_the_favoured_features_alone_and_fills_the_rest():
    lower, upper = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 4.0, 3.0])
    problem = posed(lower=lower, upper=upper, priority_directions=(0, 2))
    drawn = many(prepared("reduced-gaussian", problem), 400)
    assert (drawn[:, 1] == 2.0).all()  # the middle of its range
    z = (drawn - problem.query.value)[:, [0, 2]] * mu_for(1, 1e-3) / math.hypot(2, 1)
    assert stats.kstest(z.ravel(), "norm").pvalue > LUCK
    assert abs((z**2).mean() - 1) < 6 * math.sqrt(2 / z.size)
    squares = many(prepared("reduced-gaussian", problem, "square"), 4000)
    expected = (weighing_of(problem).of(drawn - problem.query.value) ** 2).sum(axis=(1, 2))
    assert stats.ks_2samp(squares, expected).pvalue > LUCK


@pytest.mark.parametrize("name", ["reduced-gaussian", "reduced-johnson-lindenstrauss"])
@pytest.mark.parametrize("query", ["identity", "covariance"])
def test_reduced_moments_are_unbiased_where_asked_and_trivial_elsewhere(name, query):
    lower, upper = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 4.0, 3.0])
    problem = posed(query, lower=lower, upper=upper, priority_directions=(0, 2), epsilon=900.0)
    drawn = many(prepared(name, problem, "moments"), 4000)
    x = problem.table.matrix[[0, 2]]
    part = drawn[np.ix_(range(4000), [0, 2], [0, 2])]
    assert (np.abs(part.mean(axis=0) - x @ x.T / 30) < 6 * part.std(axis=0) / math.sqrt(4000)).all()
    middle = (lower + upper) / 2
    expected = [middle[1] * middle[0], middle[1] ** 2 + 16 / 12, middle[1] * middle[2]]
    assert np.allclose(drawn[:, 1], expected)
    assert np.allclose(drawn[:, :, 1], expected)
    if query == "covariance":
        squares = many(prepared(name, problem, "square"), 4)
        answers = many(prepared(name, problem), 4)
        assert squares.shape == (4,)
        if name != "reduced-gaussian":  # the Gaussian square is a shortcut with other random numbers
            assert np.allclose(squares, ((answers - problem.query.value) ** 2).sum(axis=(1, 2)))


@pytest.mark.parametrize(("choices", "words"), [
    ({"priority_directions": ()}, "not all, not none"), ({"priority_directions": (0, 1, 2)}, "not all, not none"),
    ({"directions": "random", "allocation": "uniform"}, "keeps priority columns or directions"),
    ({"task": "linear-ridge", "label": 1, "priority_directions": (0, 2)}, "drop the label"),
    ({"query": "kernel"}, "some columns of a table"),
])
def test_where_features_cannot_be_dropped_the_reason_is_given(choices, words):
    assert words in mechanism("reduced-gaussian").unsuitable(posed(**choices), "moments")


def test_the_component_mechanism_needs_records_and_gives_unit_vectors():
    for query in ("identity", "covariance"):
        problem = posed(query, lower=-2.0, upper=1.0)
        sampler = prepared("exponential-component", problem, "component")
        x = problem.table.matrix
        assert np.allclose(sampler.law.keywords["matrix"], x @ x.T / (2 * 3 * 4))  # epsilon/(2 B²), B² = 3 · 2²
        assert np.allclose(np.linalg.norm(sampler.draw(Draws(0, 0, 5)), axis=1), 1)
        assert "one direction alone" in mechanism("exponential-component").unsuitable(problem, "moments")
    assert "records of a table" in mechanism("exponential-component").unsuitable(posed("kernel"), "component")


def test_every_mechanism_states_its_guarantee_reference_and_scope():
    alone = {"laplace", "laplace-triangle", "exponential", "exponential-columns", "exponential-component"}
    pure = alone | {"box-noise", "laplace-noise"}  # whose shares may depend on delta
    for key, one in MECHANISMS.items():
        assert one.key == key
        assert one.guarantee == (EPSILON if key in pure else BOTH)
        assert ("delta" in one.fields) is (key not in alone)
        assert "epsilon" in one.fields
        assert one.label
        assert one.reference
        assert one.applies
    assert len({one.label for one in MECHANISMS.values()}) == len(MECHANISMS)
    assert set(COMPARED) < set(MECHANISMS.values())
