"""What two neighbouring datasets release is as alike as promised: outputs cut into cells, probabilities summed.

For a promise of epsilon and delta the sum of ``max(P - e^epsilon Q, 0)`` over the cells is at most
delta, for epsilon alone no cell's odds differ by more. Noise sizes come from the prepared
mechanisms of both datasets; that draws have these laws is tested beside the mechanisms.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from mvgviz import Dataset
from mvgviz.trials.mechanisms import MECHANISMS
from tests.oracles import delta_at
from tests.unit.trials.problems import BOXES, differences, posed, prepared

pytestmark = pytest.mark.slow

BOX = {"symmetric": (-1.0, 1.0), "from zero": (0.0, 3.0), "away": (10.0, 11.0)}


def pair(name, query, before, after, lower, upper, level="answer", **choices):
    """The mechanism prepared for two tables, and the two true answers."""
    problems = [posed(query, Dataset(matrix=np.atleast_2d(table), features=[f"f{i}" for i in range(len(table))],
                                     lower=lower, upper=upper), **choices) for table in (before, after)]
    return [prepared(name, one, level) for one in problems], [one.query.value for one in problems]


def cells(distribution, edges):
    """Probabilities of all cells, the two unbounded ones too; upper ones through the survival function."""
    below, above = distribution.cdf(edges), distribution.sf(edges)
    inner = np.where(edges[:-1] > distribution.median(), above[:-1] - above[1:], below[1:] - below[:-1])
    return np.concatenate([below[:1], inner, above[-1:]])


def hockey_stick(p, q, epsilon):
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def worst_odds(p, q):
    seen = (p > 0) & (q > 0)
    return float(np.abs(np.log(p[seen] / q[seen])).max())


def scale_of(sampler):
    """The scale of the noise that it draws."""
    return sampler.noise.keywords["scale"]


@pytest.mark.parametrize("name", ["laplace", "exponential", "exponential-columns"])
@pytest.mark.parametrize("box", list(BOX))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_one_number_with_epsilon_alone(name, box, epsilon):
    low, high = BOX[box]
    (one, other), values = pair(name, "identity", [[low]], [[high]], low, high, epsilon=epsilon)
    assert scale_of(one) == scale_of(other)  # does not depend on the data
    edges = np.linspace(low - 30 * scale_of(one), high + 30 * scale_of(one), 4001)
    p, q = (cells(stats.laplace(float(value[0, 0]), scale_of(one)), edges) for value in values)
    assert worst_odds(p, q) <= epsilon * (1 + 1e-6)
    assert worst_odds(p, q) == pytest.approx(epsilon, rel=1e-6)  # and all of it is used


@pytest.mark.parametrize(("name", "used"), [("laplace", 1.0), ("exponential", 1.0)])
def test_two_numbers_with_epsilon_alone(name, used):
    # The mean of two features: the density on a fine grid, cell by cell.
    reached = 0.0
    for end in itertools.product((-1.0, 2.0), (0.0, 1.0)):
        (one, other), values = pair(name, "mean", [[-1.0], [0.0]], [[end[0]], [end[1]]], [-1, 0], [2, 1])
        assert scale_of(one) == scale_of(other)
        axis = np.linspace(-25, 25, 301) * scale_of(one)
        points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
        logs = [-np.linalg.norm(points - value[:, 0], ord=1 if name == "laplace" else 2, axis=-1) / scale_of(one)
                for value in values]
        reached = max(reached, float(np.abs(logs[0] - logs[1]).max()))
    assert reached == pytest.approx(used, rel=1e-3)
    assert reached <= 1 + 1e-12


def test_a_record_of_two_numbers_among_others_with_noise_by_record():
    (one, other), values = pair("exponential-columns", "identity", [[-1.0, 0.3], [-1.0, 0.2]], [[1.0, 0.3], [1.0, 0.2]],
                                -1, 1, epsilon=0.5)
    assert scale_of(one) == scale_of(other)
    released = values[0] + np.random.default_rng(0).normal(0, 10, (5000, 2, 2))
    released[:2] = values  # where the loss is greatest
    logs = [-np.linalg.norm(released - value, axis=1).sum(axis=1) / scale_of(one) for value in values]
    loss = np.abs(logs[0] - logs[1])
    assert loss.max() == pytest.approx(0.5)
    assert loss.max() <= 0.5 * (1 + 1e-12)


@pytest.mark.parametrize("name", ["gaussian-analytic", "mvg-exact", "iid", "gaussian-triangle"])
@pytest.mark.parametrize("query", ["identity", "mean", "covariance"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-3), (1.0, 1e-5), (5.0, 1e-2)])
def test_one_number_uses_all_of_delta_and_no_more(name, query, epsilon, delta):
    if name == "gaussian-triangle" and query != "covariance":
        assert "symmetric" in MECHANISMS[name].unsuitable(posed(query, m=1, n=1), "answer")
        return
    (one, other), values = pair(name, query, [[0.0]], [[1.0]], -1, 1, epsilon=epsilon, delta=delta,
                                allocation="uniform")
    if query != "covariance":
        values[0] = values[0] - 1  # from one end of the range to the other
    std = [sampler.std if name == "gaussian-triangle"
           else math.sqrt(float(sampler.rows.variances[0] * sampler.cols.variances[0])) for sampler in (one, other)]
    assert std[0] == std[1]
    edges = np.linspace(-12, 12, 40_001) * std[0]
    p, q = (cells(stats.norm(float(value[0, 0]), std[0]), edges) for value in values)
    for there, back in ((p, q), (q, p)):
        assert hockey_stick(there, back, epsilon) <= delta * (1 + 1e-9)
        assert hockey_stick(there, back, epsilon) == pytest.approx(delta, rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.05])
def test_classic_noise_keeps_its_promise_below_epsilon_one(epsilon, delta):
    sampler = prepared("gaussian-classic", posed(m=1, n=1, epsilon=epsilon, delta=delta))
    std = math.sqrt(float(sampler.rows.variances[0]))
    edges = np.linspace(-12, 12, 20_001) * std
    p, q = (cells(stats.norm(end, std), edges) for end in (-1, 1))
    assert 0 < hockey_stick(p, q, epsilon) <= delta


def test_classic_noise_can_break_its_promise_at_a_large_epsilon():
    sampler = prepared("gaussian-classic", posed(m=1, n=1, epsilon=10.0, delta=1e-5))
    assert delta_at(10, 2 / math.sqrt(float(sampler.rows.variances[0]))) > 1.5e-5


@pytest.mark.parametrize("angle", [0.0, 30.0])
def test_directional_noise_on_two_numbers_uses_all_of_delta_and_no_more(angle):
    # The mean of two features with noise along two directions: a sum over the cells of a plane.
    worst = 0.0
    corners = list(itertools.product((-1.0, 1.0), (-1.0, 3.0)))
    for before, after in itertools.combinations(corners, 2):
        tables = ([[x] for x in record] for record in (before, after))
        (one, other), values = pair("mvg-exact", "mean", *tables, -1, [1, 3], epsilon=1.0, delta=1e-2,
                                    directions="rotation", angle=angle, share=0.9)
        sigma = one.rows.covariance()
        assert np.array_equal(sigma, other.rows.covariance())
        axes = [np.linspace(-8, 8, 501) * math.sqrt(v) + middle
                for v, middle in zip(np.diag(sigma), sum(values)[:, 0] / 2, strict=True)]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        area = (axes[0][1] - axes[0][0]) * (axes[1][1] - axes[1][0])
        p, q = (stats.multivariate_normal(value[:, 0], sigma).pdf(points) * area for value in values)
        worst = max(worst, hockey_stick(p, q, 1.0), hockey_stick(q, p, 1.0))
    assert worst == pytest.approx(1e-2, rel=1e-3)


@pytest.mark.parametrize("angle", [0.0, 30.0, 75.0])
@pytest.mark.parametrize("mechanism", ["mvg-exact", "mvg-theorem1", "mvg-theorem2"])
def test_directional_noise_on_a_covariance_keeps_delta_for_every_pair(mechanism, angle):
    lower, upper = np.array([-1.0, -0.2]), np.array([0.5, 2.0])
    problem = posed("covariance", m=2, n=5, lower=lower, upper=upper, directions="rotation", angle=angle, share=0.9)
    sampler = prepared(mechanism, problem)
    assert sampler.cols is sampler.rows
    a = np.linalg.inv(np.linalg.cholesky(sampler.rows.covariance()))
    apart = np.linalg.norm(a @ (differences(lower, upper) / 5) @ a.T, axis=(1, 2))
    worst = delta_at(1.0, max(float(apart.max()), 1e-2))
    assert worst <= 1e-3 * (1 + 1e-9)
    if mechanism == "mvg-exact":
        assert worst > 0.9e-3


def scaled_chi2(variance):
    return stats.gamma(0.5, scale=2 * variance)


@pytest.mark.parametrize("box", list(BOX))
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-2), (1.0, 1e-4), (50.0, 1e-2)])
@pytest.mark.parametrize("n", [1, 20])
def test_a_sketch_of_one_feature_keeps_delta(box, epsilon, delta, n):
    # One number: variance times a chi-square with one degree of freedom.
    low, high = BOX[box]
    for start in (low, high):
        rest = [start] * (n - 1)
        (one, other), _ = pair("johnson-lindenstrauss", "identity", [[low, *rest]], [[high, *rest]], low, high,
                               level="moments", epsilon=epsilon, delta=delta)
        assert all(one.law.keywords[name] == other.law.keywords[name] for name in ("lift", "unit"))
        variances = [float(sampler.law.keywords["root"][0, 0] ** 2) for sampler in (one, other)]
        edges = np.geomspace(1e-12, 1e3, 20_001) * max(variances)
        p, q = (cells(scaled_chi2(variance), edges) for variance in variances)
        assert hockey_stick(p, q, epsilon) <= delta
        assert hockey_stick(q, p, epsilon) <= delta


def test_a_sketch_of_two_features_loses_less_than_epsilon(rng):
    for box in BOXES.values():
        lower, upper = (np.array(ends[:2]) for ends in box)
        tables = [np.tile(upper[:, None], (1, 5)), np.tile(upper[:, None], (1, 5))]
        tables[1][:, 0] = lower
        (one, other), _ = pair("johnson-lindenstrauss", "identity", *tables, lower, upper, level="moments")
        a, b = (sampler.law.keywords["root"] @ sampler.law.keywords["root"].T for sampler in (one, other))
        y = one.law.keywords["root"] @ rng.standard_normal((2, 2 * 20_000))  # two rows of a sketch a release
        loss = 0.5 * (np.linalg.slogdet(b)[1] - np.linalg.slogdet(a)[1]) + 0.5 * np.einsum(
            "ij,ij->j", y, (np.linalg.inv(b) - np.linalg.inv(a)) @ y)
        assert (np.abs(loss.reshape(-1, 2).sum(axis=1)) > 1.0).mean() <= 1e-3
