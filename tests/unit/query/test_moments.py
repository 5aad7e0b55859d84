"""One release gives mean, covariance and regression: in the right units, and within the claimed sensitivity."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import mvgviz as mv
from mvgviz.noise.directions import standard_basis
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.queries import joint_moments
from mvgviz.query.record_bound import regression_shape
from tests.datasets import make_dataset
from tests.oracles import whitened


class NoNoise:
    """A design whose noise is nothing: the way back is then exact."""

    def __init__(self, size):
        self.size = size

    def noise_std(self):
        return np.zeros((self.size, self.size))


def data_and_bound(rng, *, turned=False, radius=50.0):
    data = make_dataset(3, 400, [-1, 0, 10], [1, 4, 30])
    bound = mv.RecordBound(radius=radius, weights=[1.0, 0.5, 0.1], centre=[0.1, 2.0, 18.0],
                        directions=mv.random_rotation(3, rng=rng) if turned else None)
    return data, bound


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_without_noise_and_without_pulling_the_moments_are_those_of_the_data(rng, turned, whole):
    data, bound = data_and_bound(rng, turned=turned)
    asked = mv.moments(data, bound=bound, whole=whole)
    found = asked.read(asked.query.value, NoNoise(4))
    assert found.mean == pytest.approx(data.matrix.mean(axis=1), rel=1e-9)
    assert found.covariance == pytest.approx(np.cov(data.matrix, bias=True), rel=1e-9, abs=1e-9)


def test_regression_without_noise_is_ridge_on_scaled_features(rng):
    data, bound = data_and_bound(rng)
    asked = mv.moments(data, bound=bound)
    intercept, slopes = asked.read(asked.query.value, NoNoise(4)).regression("f1")
    scaled = (data.matrix - (data.lower + data.upper)[:, None] / 2) / (data.widths[:, None] / 2)
    x = np.vstack([np.ones(400), scaled[[0, 2]]])
    plain = np.linalg.solve(x @ x.T / 400 + np.diag([1e-3, 0.003, 0.003]), x @ scaled[1] / 400)
    expected = 2 + 2 * (plain @ x)
    assert intercept + slopes @ data.matrix[[0, 2]] == pytest.approx(expected, rel=1e-9)
    assert asked.read(asked.query.value, NoNoise(4)).regression(1)[1] == pytest.approx(slopes)


@pytest.mark.parametrize(("n", "spread", "signal", "middle", "x_spread", "most"), [
    (200, 0.25, 0.0, 0.3, 0.4, 1.05), (400, 0.15, 0.1, 0.3, 0.4, 1.05), (189, 0.05, 0.0, 0.3, 0.4, 1.2),
    (3_000, 0.3, 0.9, 0.3, 0.4, 0.6), (180, 0.04, 0.0, 0.5, 2.0, 1.2), (310, 0.04, 0.0, -0.5, 2.0, 1.2)])
def test_a_regression_is_not_worse_than_a_private_mean_of_the_label(n, spread, signal, middle, x_spread, most):
    """Expected errors over 400 releases; a strong signal in many records stays a gain. The last: most are clipped."""
    rng, mu = np.random.default_rng(5), float(mv.gaussian_mu(1, 1e-6))
    x = np.clip(x_spread * rng.standard_normal((8, n)), -1, 1)
    y = middle + spread * (math.sqrt(signal) * x[0] / x_spread + math.sqrt(1 - signal) * rng.standard_normal(n))
    data = mv.Dataset(matrix=np.vstack([x, np.clip(y, -1, 1)]), features=list("abcdefghy"), lower=-1, upper=1)
    split, radius, constant = regression_shape(mv.uniform(9), n, mu=mu, label=8)
    bound = mv.RecordBound.from_shares(data, split, centre=(data.lower + data.upper) / 2)
    asked = mv.moments(data, bound=replace(bound, radius=radius), constant=constant, whole=True)
    std = mv.design_noise(asked.query, epsilon=1, delta=1e-6).noise_std()
    released = asked.query.value + std * rng.standard_normal((400, 10, 10))
    intercepts, slopes = asked.regressions(released, std, "y")
    off = intercepts[:, None] + slopes @ data.matrix[:8] - data.matrix[8]
    private_mean = math.hypot(data.matrix[8].std(), 2 / (n * mu))
    assert np.sqrt(np.square(off).mean(axis=1)).mean() < most * private_mean


def records(radius, constant, m, whole, rng, size=300):
    z = rng.standard_normal((m, size))
    z *= radius / np.linalg.norm(z, axis=0)
    z[:, ::3] *= rng.random(len(z[0, ::3]))
    part = rng.uniform(0.05, 1, size) if whole else np.ones(size)  # a record far away brings a small constant
    return np.vstack([constant * part, z])


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("constant", [0.3, 0.7, 1.0, 2.5])
@pytest.mark.parametrize("m", [1, 2, 4])
@pytest.mark.parametrize("equal", [True, False])
def test_no_pair_of_records_moves_the_joined_moments_further_than_claimed(rng, m, constant, whole, equal):
    data = make_dataset(m, 10, -9, 9)
    asked = mv.moments(data, bound=mv.RecordBound(radius=1.0), constant=constant, whole=whole)
    variances = np.full(m + 1, 0.5) if equal else rng.uniform(0.2, 3, m + 1)
    side = NoiseSide.of(standard_basis(m + 1), variances)
    claimed, exact, _ = asked.query.neighbours.worst(side, side)
    y = side.whitener() @ records(1.0, constant, m, whole, rng)
    products = y.T @ y
    own = np.diag(products) ** 2
    assert math.sqrt(max((own[:, None] + own - 2 * products**2).max(), 0)) / 10 <= claimed * (1 + 1e-9)
    if exact:  # two records at right angles with their constants, or opposite ones
        angle = math.acos(-min(constant, 1.0) ** 2)
        ends = [np.zeros(m + 1), np.zeros(m + 1)]
        for end, turn in zip(ends, (0.0, angle), strict=True):
            end[:3] = constant, math.cos(turn), math.sin(turn)
        first, second = (side.whitener() @ end for end in ends)
        apart = np.outer(first, first) - np.outer(second, second)
        assert np.linalg.norm(apart) / 10 == pytest.approx(claimed, rel=1e-9)


@pytest.mark.parametrize("whole", [False, True])
def test_real_records_stay_within_the_claim(rng, whole):
    """Replaces one record of a dataset by another and compares the answers themselves."""
    data, bound = data_and_bound(rng, radius=1.0)
    asked = mv.moments(data, bound=bound, whole=whole)
    ends = list(itertools.product(*zip(data.lower, data.upper, strict=True)))
    answers = []
    for end in [*ends, data.matrix[:, 0], (data.lower + data.upper) / 2]:
        changed = data.matrix.copy()
        changed[:, 5] = end
        other = make_dataset(3, 400, data.lower, data.upper)
        object.__setattr__(other, "matrix", changed)
        answers.append(mv.moments(other, bound=bound, whole=whole).query.value)
    furthest = max(np.linalg.norm(a - b) for a, b in itertools.combinations(answers, 2))
    assert furthest <= asked.query.sensitivity * (1 + 1e-9)
    assert furthest > 0.3 * asked.query.sensitivity


def test_the_known_corner_gets_no_noise_and_the_rest_its_own(rng):
    data, bound = data_and_bound(rng)
    asked = mv.moments(data, bound=bound)
    design = mv.design_noise(asked.query, epsilon=1, delta=1e-6)
    assert design.mu_is == "exact"
    assert np.ptp(design.row_variances) == 0
    noisy = asked.query.value + mv.sample_noise(design, rng=rng)
    assert asked.read(noisy, design).joined[0, 0] == asked.constant**2
    assert np.linalg.eigvalsh(asked.read(noisy, design).covariance).min() > -1e-9


def test_one_release_beats_two_by_15_percent():
    """MATH: noise on the mean ``(R² + b0²)/(b0 n mu)``, on second moments ``sqrt2 (R² + b0²)/(n mu)``."""
    asked = mv.moments(make_dataset(2, 100, -9, 9), bound=mv.RecordBound(radius=1.0))
    design = mv.design_noise(asked.query, epsilon=1, delta=1e-6)
    on_mean = design.noise_std()[0, 1] / math.sqrt(2) / asked.constant  # the two halves are averaged
    on_moments = design.noise_std()[1, 1]
    assert on_mean == pytest.approx(1.5 / (asked.constant * 100 * design.mu), rel=1e-9)
    assert on_moments == pytest.approx(1.5 * math.sqrt(2) / (100 * design.mu), rel=1e-9)
    two_releases = math.sqrt((2 / (100 * on_mean)) ** 2 + (math.sqrt(2) / (100 * on_moments)) ** 2)
    assert two_releases / design.mu == pytest.approx(1.15, abs=0.01)


def test_nonsense_gets_a_sentence():
    data = make_dataset(2, 20)
    asked = mv.moments(data, bound=mv.RecordBound(radius=1))
    with pytest.raises(mv.InputError, match="3 × 3"):
        asked.read(np.eye(2), NoNoise(3))
    with pytest.raises(mv.InputError, match="label must be one of f0, f1"):
        asked.read(asked.query.value, NoNoise(3)).regression("age")
    with pytest.raises(mv.InputError, match="RecordBound"):
        mv.moments(data, bound=None)
    with pytest.raises(mv.InputError, match="constant"):
        mv.moments(data, bound=mv.RecordBound(radius=1), constant=-1)


# Beside each other, of a table


def test_it_holds_the_second_moments_the_mean_and_one():
    data = make_dataset(3, 40, -2.0, 1.0)
    asked = joint_moments(data)
    assert np.allclose(asked.value[:3, :3], data.matrix @ data.matrix.T / 40)
    assert np.allclose(asked.value[:3, 3], data.matrix.mean(axis=1))
    assert asked.value[3, 3] == pytest.approx(1)
    assert asked.row_names == ("f0", "f1", "f2", "constant")


def test_the_constant_has_a_name_of_its_own():
    named = replace(make_dataset(2, 5), features=("constant", "b"))
    assert joint_moments(named).row_names == ("constant", "b", "constant_")


@pytest.mark.parametrize("seed", range(6))
def test_no_pair_of_scaled_records_moves_it_further_than_claimed(seed):
    rng = np.random.default_rng(seed)
    m, n = 3, 25
    data = make_dataset(m, n, -rng.uniform(0.2, 2, m), rng.uniform(0.2, 2, m), seed=seed)
    bound = mv.RecordBound(radius=rng.uniform(0.3, 1.5), weights=rng.uniform(0.3, 3, m + 1))
    asked = joint_moments(data, bound=bound)
    design = mv.design_noise(asked, epsilon=1, delta=1e-6)
    draws = rng.uniform([*data.lower, 1], [*data.upper, 1], (4_000, m + 1)).T
    draws[:m, ::2] = np.where(rng.random((m, 2_000)) < 0.5, data.lower[:, None], data.upper[:, None])
    lengths = np.linalg.norm(bound.weights[:, None] * draws, axis=0)
    pulled = draws * np.minimum(1, bound.radius / lengths)
    assert np.linalg.norm(bound.weights[:, None] * pulled, axis=0).max() <= bound.radius * (1 + 1e-12)
    apart = [whitened(design, (np.outer(x, x) - np.outer(y, y)) / n)
             for x, y in zip(pulled.T[:2_000], pulled.T[2_000:], strict=True)]
    assert max(apart) <= design.mu * (1 + 1e-9)


def test_scaling_whole_records_leaves_an_exact_relation_as_it_is():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (2, 500))
    data = replace(make_dataset(3, 500), matrix=np.vstack([x, 0.3 + 0.4 * x[0] - 0.2 * x[1]]))
    for bound in (None, mv.RecordBound(radius=0.7, weights=(1.0, 2.0, 1.5, 0.4))):
        moments = joint_moments(data, bound=bound).value
        rows = [0, 1, 3]
        found = np.linalg.solve(moments[np.ix_(rows, rows)], moments[rows, 2])
        assert found == pytest.approx([0.4, -0.2, 0.3], abs=1e-9)
