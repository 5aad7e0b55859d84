"""Gaussian noise has the size, shape and sensitivity of its definition; shortcuts have the long way's distribution."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from mvgviz import Dataset, InputError, design_noise, random_rotation
from mvgviz.provenance import Origin
from mvgviz.trials import problem as module
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.mechanisms.base import Draws, Moments
from mvgviz.trials.mechanisms.gaussian import GaussianAnswer, GaussianGram, GaussianSquare
from mvgviz.trials.problem import weighing_of
from tests.datasets import make_dataset
from tests.oracles import delta_at, mu_for
from tests.unit.trials.problems import BOXES, LUCK, differences, flips, graph, many, noise, posed, prepared

WIDE = 2 * math.sqrt(3)  # of the box [-1, 1]³


def standard_normal(values):
    """In shape (Kolmogorov-Smirnov) and in size (the mean square, 6 standard errors)."""
    flat = np.ravel(values)
    size = abs(float(flat @ flat) / flat.size - 1) < 6 * math.sqrt(2 / flat.size)
    return size and stats.kstest(flat, "norm").pvalue > LUCK


@pytest.mark.parametrize("epsilon", [0.2, 0.9, 3.0])
@pytest.mark.parametrize(("query", "s2"), [("identity", WIDE), ("mean", WIDE / 30)])
def test_classic_and_analytic_noise_is_normal_of_the_published_size(query, s2, epsilon):
    problem = posed(query, epsilon=epsilon)
    trials = 300 if query == "identity" else 9000
    classic = s2 * math.sqrt(2 * math.log(1.25 / 1e-3)) / epsilon
    assert standard_normal(noise("gaussian-classic", problem, trials) / classic)
    assert standard_normal(noise("gaussian-analytic", problem, trials) * mu_for(epsilon, 1e-3) / s2)


@pytest.mark.parametrize("name", ["gaussian-classic", "gaussian-analytic", "mvg-exact", "mvg-theorem1", "iid"])
def test_entries_are_independent_and_trials_too(name):
    z = noise(name, posed(m=2, n=2), 20_000).reshape(20_000, -1)
    scaled = z / z.std(axis=0)
    assert np.abs(scaled.T @ scaled / len(z) - np.eye(4)).max() < 6 * math.sqrt(2 / len(z))
    assert abs(float((scaled[1:, 0] * scaled[:-1, 0]).mean())) < 6 / math.sqrt(len(z))


def test_epsilon_spent_is_known_for_every_gaussian_noise():
    problem = posed("covariance", m=2)
    for name in ("gaussian-analytic", "mvg-exact", "iid", "gaussian-triangle"):
        assert delta_at(1, prepared(name, problem).mu) == pytest.approx(1e-3, rel=1e-9)
    for name in ("gaussian-classic", "mvg-theorem1", "mvg-theorem2", "mvg-theorem2-any"):
        assert delta_at(1, prepared(name, problem).mu) < 1e-3


def test_a_larger_sensitivity_for_all_spends_less_in_truth():
    tight, printed = (posed("covariance", m=2, sensitivity=which) for which in ("tight", "printed"))
    for name in ("gaussian-analytic", "gaussian-classic", "mvg-exact", "iid"):
        larger = printed.enlargement(printed.query)
        assert prepared(name, printed).mu == pytest.approx(prepared(name, tight).mu / larger)
    less = prepared("gaussian-triangle", printed)
    more = prepared("gaussian-triangle", tight)
    assert less.mu * less.std == pytest.approx(more.mu * more.std)  # the true sensitivity, either way
    assert less.std > more.std


def upper_norm(d):
    return np.sqrt((d[:, *np.triu_indices(d.shape[1])] ** 2).sum(axis=1))


@pytest.mark.parametrize("box", list(BOXES))
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_no_pair_of_records_moves_the_upper_triangle_further_than_its_sensitivity(box, m):
    lower, upper = (np.array(ends[:m]) for ends in BOXES[box])
    problem = posed("covariance", m=m, n=10, lower=lower, upper=upper)
    sensitivity = prepared("gaussian-triangle", problem).std * mu_for(1, 1e-3) * 10
    reached = float(upper_norm(differences(lower, upper)).max())
    assert reached <= sensitivity * (1 + 1e-9)
    assert sensitivity <= reached * 1.13  # and it is not much too large
    if m == 1:
        largest, least = max(abs(lower[0]), abs(upper[0])), abs(np.clip(0, lower[0], upper[0]))
        assert sensitivity == pytest.approx(largest**2 - least**2)


@pytest.mark.parametrize(("query", "expected"), [("adjacency", 1.0), ("laplacian", math.sqrt(3))])
def test_an_edge_moves_the_upper_triangle_of_a_graphs_answer_by_its_sensitivity(query, expected):
    problem = posed(query, graph(5))
    assert prepared("gaussian-triangle", problem).std * mu_for(1, 1e-3) == pytest.approx(expected)
    for other in flips(graph(5)):
        moved = posed(query, other).query.value - problem.query.value
        assert upper_norm(moved[None])[0] == pytest.approx(expected)


def test_a_record_moves_the_upper_triangle_of_a_kernel_by_at_most_its_sensitivity(rng):
    lower, upper, n = np.array([-1.0, 0.0]), np.array([1.0, 0.5]), 4
    span = float(((upper - lower) ** 2).sum())
    furthest = 0.0
    for _ in range(300):
        x = rng.uniform(lower[:, None], upper[:, None], (2, n))
        if rng.random() < 0.5:
            x[:] = upper[:, None]  # all in one corner, then one of them in the other: the worst
        y = x.copy()
        y[:, 0] = lower if rng.random() < 0.5 else rng.uniform(lower, upper)
        pair = [posed("kernel", Dataset(matrix=table, features=["a", "b"], lower=lower, upper=upper), length=0.8)
                for table in (x, y)]
        furthest = max(furthest, float(upper_norm((pair[0].query.value - pair[1].query.value)[None])[0]))
    sensitivity = prepared("gaussian-triangle", pair[0]).std * mu_for(1, 1e-3)
    assert furthest <= sensitivity * (1 + 1e-12)
    assert sensitivity == pytest.approx((1 - math.exp(-span / (2 * 0.64))) * math.sqrt(n - 1))
    assert furthest == pytest.approx(sensitivity)


def test_triangle_noise_is_symmetric_and_normal_on_the_triangle():
    problem = posed("covariance", m=3)
    sampler = prepared("gaussian-triangle", problem)
    z = noise("gaussian-triangle", problem, 10_000)
    assert np.array_equal(z, z.transpose(0, 2, 1))
    triangle = z[:, *np.triu_indices(3)] / sampler.std
    assert standard_normal(triangle)
    assert np.abs(triangle.T @ triangle / 10_000 - np.eye(6)).max() < 6 * math.sqrt(2 / 10_000)


@pytest.mark.parametrize("guarantee", ["exact", "theorem1", "theorem2-any", "theorem2"])
@pytest.mark.parametrize(("query", "mode"), [("identity", "rows"), ("identity", "columns"), ("covariance", "both"),
                                             ("covariance", "rows"), ("mean", "rows")])
@pytest.mark.parametrize("sensitivity", ["tight", "printed"])
def test_mvg_noise_has_the_designs_covariance(guarantee, query, mode, sensitivity):
    n, size = 4, 4 if mode == "columns" else 2
    data = make_dataset(2, n, -1.0, [1.0, 3.0])
    w = random_rotation(size, rng=np.random.default_rng(3))
    problem = posed(query, data, mode=mode, directions="upload", uploaded=w, guarantee=guarantee,
                    priority_directions=(1,),
                    share=0.7, sensitivity=sensitivity)
    if guarantee == "theorem2" and mode != "both":
        with pytest.raises(InputError, match="theorem2 needs"):
            prepared("mvg-theorem2", problem)
        return
    theta = np.full(size, 0.3 / (size - 1))
    theta[1] = 0.7
    design = design_noise(problem.query, epsilon=1, delta=1e-3, guarantee=guarantee, mode=mode, directions=w,
                          theta=theta)
    expected = np.kron(design.row_covariance(), design.col_covariance())  # entries row by row
    if guarantee == "exact":
        expected = expected * problem.enlargement(problem.query)**2
    for name in ("mvg", f"mvg-{guarantee}"):
        z = noise(name, problem, 8000).reshape(8000, -1)
        scale = np.sqrt(np.diag(expected))
        off = (z.T @ z / 8000 - expected) / np.outer(scale, scale)
        assert np.abs(off).max() < 6 * math.sqrt(2 / 8000)
        assert standard_normal(z[:, 0] / scale[0])


def same_law(one, other):
    """Two samples of moments: several numbers of each have one distribution."""
    numbers = [np.stack([x[:, 0, 0], x[:, -1, 0], np.trace(x, axis1=1, axis2=2), np.linalg.eigvalsh(x)[:, -1],
                         (x**2).sum(axis=(1, 2))]) for x in (one, other)]
    return all(stats.ks_2samp(*pair).pvalue > LUCK for pair in zip(*numbers, strict=True))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 5), (3, 2), (3, 5), (3, 6), (3, 40)])
@pytest.mark.parametrize("subtract", [True, False])
def test_gram_space_has_the_law_of_moments_of_noisy_tables(m, n, subtract):
    problem = posed(m=m, n=n, directions="standard" if m == 1 else "random", epsilon=5.0,
                    post=("subtract",) if subtract else ())
    short = prepared("mvg-exact", problem, "moments")
    assert isinstance(short, GaussianGram)
    table = prepared("mvg-exact", problem, "answer")
    assert isinstance(table, GaussianAnswer)
    sigma = table.rows.covariance()
    long = many(Moments(size=1, source=table, n_records=n, known=sigma if subtract else None), 6000, seed=2)
    assert same_law(many(short, 6000), long)
    if n == 40:
        assert not same_law(many(short, 6000) + 0.3 * sigma, long)


@pytest.mark.parametrize(("query", "mode"), [("identity", "rows"), ("identity", "columns"), ("covariance", "both"),
                                             ("covariance", "rows"), ("mean", "rows")])
def test_the_square_level_has_the_law_of_the_answers_squared_error(query, mode):
    size = 6 if mode == "columns" else 2
    problem = posed(query, m=2, n=6, mode=mode, directions="random", share=0.6)
    assert size == (problem.query.cols if mode == "columns" else problem.query.rows)
    short = prepared("mvg", problem, "square")
    assert isinstance(short, GaussianSquare) == (mode == "rows")
    drawn, weighing = noise("mvg", problem, 8000, seed=2), weighing_of(problem)
    squares = ((drawn if weighing is None else weighing.of(drawn)) ** 2).sum(axis=(1, 2))
    assert many(short, 8000).shape == (8000,)
    assert stats.ks_2samp(many(short, 8000), squares).pvalue > LUCK


@pytest.mark.parametrize("guarantee", ["exact", "theorem1", "theorem2-any"])
@pytest.mark.parametrize("allocation", ["binary", "max-pnr"])
@pytest.mark.parametrize("query", ["identity", "covariance"])
def test_private_directions_are_drawn_anew_in_each_trial_and_always_the_same(guarantee, allocation, query, monkeypatch):
    problem = posed(query, m=3, n=60, directions="private", guarantee=guarantee, allocation=allocation, epsilon=3.0)
    sampler = prepared("mvg", problem, "moments")
    used, build = [], module.build

    def watched(*args, **kwargs):
        setup = build(*args, **kwargs)
        used.append(setup.design)
        return setup

    monkeypatch.setattr(module, "build", watched)
    first = sampler.draw(Draws(0, 0, 6))
    assert first.shape == (6, 3, 3)
    bases = [design.row_directions.matrix for design in used]
    assert all(not np.allclose(a, b) for a, b in itertools.combinations(bases, 2))
    assert np.array_equal(first[4:], sampler.draw(Draws(0, 4, 2)))
    assert np.array_equal(bases[5], used[-1].row_directions.matrix)
    assert all(design.guarantee == guarantee and design.directions_origin is Origin.PAID for design in used)


def test_private_directions_and_their_noise_spend_the_budget_together():
    for share in (0.1, 0.5):
        exact = prepared("mvg-exact", posed(m=3, n=60, directions="private", private_share=share))
        assert delta_at(1, exact.mu) == pytest.approx(1e-3, rel=1e-9)
        printed = posed("covariance", m=3, n=60, directions="private", private_share=share, sensitivity="printed")
        whole = mu_for(1, 1e-3)
        noisy = math.sqrt(1 - share) * whole / printed.enlargement(printed.query)
        assert prepared("mvg-exact", printed).mu == pytest.approx(math.hypot(noisy, math.sqrt(share) * whole))


def test_what_does_not_apply_or_is_doubtful_says_why():
    for name, query, level, words in (("gaussian-triangle", "identity", "answer", "needs a symmetric answer"),
                                      ("mvg-theorem2", "identity", "answer", "positive semi-definite"),
                                      ("gaussian-analytic", "mean", "moments", "table or a symmetric answer")):
        assert words in mechanism(name).unsuitable(posed(query), level)
    assert mechanism("mvg-theorem2").unsuitable(posed("covariance"), "answer") is None
    assert mechanism("gaussian-classic").caution(posed(epsilon=0.99)) is None
    assert "below 1" in mechanism("gaussian-classic").caution(posed(epsilon=1.0))


def test_the_smallest_delta_still_has_finite_noise():
    assert np.isfinite(noise("gaussian-classic", posed(delta=5e-324), 3)).all()
