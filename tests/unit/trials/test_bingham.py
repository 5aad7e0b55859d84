"""Bingham draws have the integrated density; a draw depends on its generator alone; the mechanism is private.

Draws are compared with quadrature that shares nothing with the sampler. A comparison fails by
luck with a chance below 1e-7 (p-value, or 6 standard errors and up).
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from mvgviz import InputError, random_rotation
from mvgviz.trials.mechanisms.epsilon_alone import sample_bingham

pytestmark = pytest.mark.slow

LUCK = 1e-7
TRIALS = 20_000


class Counting(np.random.Generator):
    """A generator that counts its uniforms: one for each proposal."""

    proposals = 0

    def random(self, *args, **kwargs):
        self.proposals += 1
        return super().random(*args, **kwargs)


def generators(seeds):
    return [np.random.default_rng(seed) for seed in seeds]


def rotated(values, seed=3):
    """A symmetric matrix with these eigenvalues, and its eigenvectors as columns."""
    q = random_rotation(len(values), rng=np.random.default_rng(seed)).matrix
    a = q @ np.diag(values) @ q.T
    return (a + a.T) / 2, q


def draw(matrix, rng, trials=TRIALS):
    """Many draws from one generator."""
    return sample_bingham(matrix, [rng] * trials)


def log_circle(matrix, cells):
    """Angles of cells' middles and log probabilities of the cells, by the middle rule."""
    angle = (np.arange(cells) + 0.5) * 2 * math.pi / cells
    x = np.array([np.cos(angle), np.sin(angle)])
    logs = (x * (matrix @ x)).sum(axis=0)
    return angle, logs - logsumexp(logs)


def sphere_rule(heights=400, turns=400):
    """Points on the sphere and log weights: Gauss-Legendre in height, evenly spaced around."""
    height, weight = np.polynomial.legendre.leggauss(heights)
    turn = (np.arange(turns) + 0.5) * 2 * math.pi / turns
    z, phi = np.meshgrid(height, turn, indexing="ij")
    radius = np.sqrt(1 - z**2)
    return np.stack([radius * np.cos(phi), radius * np.sin(phi), z], axis=-1), np.log(weight)[:, None]


def moments_agree(draws, expected):
    """Each entry of E xxᵀ within 6 of its standard errors."""
    products = draws[:, :, None] * draws[:, None, :]
    error = products.std(axis=0) / math.sqrt(len(draws)) + 1e-12
    return bool((np.abs(products.mean(axis=0) - expected) <= 6 * error).all())


def circle_p_value(x, values, q):
    """The lesser p-value of the angle all around and of the angle folded onto a quarter.

    ``values`` and ``q``: eigenvalues and eigenvectors the draws should have.
    """
    cells = 200_000
    edges, probabilities = np.linspace(0, 2 * math.pi, cells + 1), np.exp(log_circle(np.diag(values), cells)[1])
    law = np.concatenate([[0.0], np.cumsum(probabilities)])
    y = x @ q
    around = stats.kstest(np.arctan2(y[:, 1], y[:, 0]) % (2 * math.pi), lambda a: np.interp(a, edges, law))
    folded = stats.kstest(np.arctan2(*np.abs(y.T[::-1])), lambda a: 4 * np.interp(a, edges, law))
    return min(around.pvalue, folded.pvalue)


@pytest.mark.parametrize("values", [(0.0, 0.0), (1.0, 0.0), (-5.0, 3.0), (1000.0, 1030.0), (-4e3, -1e3)])
def test_on_the_circle_the_angle_has_the_integrated_density(values, rng):
    matrix, q = rotated(values)
    assert circle_p_value(draw(matrix, rng, 50_000), values, q) > LUCK


@pytest.mark.parametrize("values", [(5.0, 2.0, -3.0), (0.0, 0.7, 30.0), (101.0, 100.0, 90.0), (4.0, 4.0, 0.0),
                                    (-6.0, -6.0, 6.0), (2.0, 2.0, 2.0)])
def test_on_the_sphere_second_moments_and_heights_match_quadrature(values, rng):
    matrix, _ = rotated(values)
    x = draw(matrix, rng)
    points, log_weights = sphere_rule()
    logs = np.einsum("abi,ij,abj->ab", points, matrix, points) + log_weights
    assert moments_agree(x, np.einsum("ab,abi,abj->ij", np.exp(logs - logsumexp(logs)), points, points))

    # The height: integrated around at each edge of a fine grid, then summed up (trapezoids).
    heights = np.linspace(-1, 1, 4001)
    turn = np.arange(128) * 2 * math.pi / 128
    radius = np.sqrt(1 - heights**2)[:, None]
    ring = np.stack([radius * np.cos(turn), radius * np.sin(turn), np.repeat(heights[:, None], 128, axis=1)], axis=-1)
    density = np.exp(np.einsum("abi,ij,abj->ab", ring, matrix, ring) - max(values)).sum(axis=1)
    cumulative = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    law = cumulative / cumulative[-1]
    assert stats.kstest(x[:, 2], lambda z: np.interp(z, heights, law)).pvalue > LUCK


def test_in_one_dimension_the_draws_are_fair_signs(rng):
    x = draw([[7.0]], rng)
    assert x.shape == (TRIALS, 1)
    assert (np.abs(x) == 1).all()
    assert stats.binomtest(int((x > 0).sum()), TRIALS).pvalue > LUCK


@pytest.mark.parametrize("scale", [0.0, -3.0, 1e6])
@pytest.mark.parametrize("m", [2, 5, 200])
def test_equal_eigenvalues_give_the_uniform_distribution_at_the_first_proposal(m, scale):
    rng = Counting(np.random.PCG64(8))
    x = draw(scale * np.eye(m), rng, 4000)
    assert rng.proposals == 4000
    assert np.abs(np.linalg.norm(x, axis=1) - 1).max() < 1e-12
    square = stats.beta(0.5, (m - 1) / 2)  # of any coordinate of a uniform unit vector
    for direction in (np.eye(m)[0], np.full(m, m**-0.5)):
        assert stats.kstest((x @ direction) ** 2, square.cdf).pvalue > LUCK
    assert stats.binomtest(int((x[:, 0] > 0).sum()), 4000).pvalue > LUCK


@pytest.mark.parametrize("largest", [1e6, 1e9])
def test_great_concentration_is_normal_around_the_top_eigenvector(largest, rng):
    gaps = np.array([1.0, 0.3, 0.3, 0.01]) * largest
    matrix, q = rotated(np.append(largest - gaps, largest))
    y = draw(matrix, rng) @ q
    assert stats.binomtest(int((y[:, -1] > 0).sum()), TRIALS).pvalue > LUCK
    assert (np.abs(y[:, -1]) > 0.99).all()
    for coordinate, gap in zip(y.T, gaps, strict=False):
        assert stats.kstest(coordinate * math.sqrt(2 * gap), "norm").pvalue > LUCK
    standard = y[:, :-1] * np.sqrt(2 * gaps)
    assert np.abs(standard.T @ standard / TRIALS - np.eye(4)).max() < 6 * math.sqrt(2 / TRIALS)


@pytest.mark.parametrize("m", [1, 2, 3, 8, 21, 200])
def test_a_draw_is_the_same_bit_for_bit_whatever_the_batch(m):
    matrix, _ = rotated(np.geomspace(1e-3, 300.0, m)) if m > 1 else (np.eye(1), None)
    seeds = range(40)
    sources = generators(seeds)
    whole = sample_bingham(matrix, sources)
    alone = generators(seeds)
    assert (whole == np.concatenate([sample_bingham(matrix, [one]) for one in alone])).all()
    parts = [sample_bingham(matrix, generators(part)) for part in (range(7), range(7, 10), range(10, 40))]
    assert (whole == np.concatenate(parts)).all()
    order = np.random.default_rng(1).permutation(40)
    assert (whole[order] == sample_bingham(matrix, generators(order))).all()
    assert [one.random() for one in sources] == [one.random() for one in alone]  # left in the same state


@pytest.mark.parametrize("concentration", [1.0, 10.0, 1e2, 1e3, 1e4, 1e6, 1e12])
@pytest.mark.parametrize("spectrum", ["one above", "evenly", "one below"])
def test_proposals_are_accepted_often_enough_in_21_dimensions(concentration, spectrum):
    m, trials = 21, 2000
    values = {"one above": np.append(np.zeros(m - 1), 1.0), "evenly": np.linspace(0, 1, m),
              "one below": np.append(0.0, np.ones(m - 1))}[spectrum]
    rng = Counting(np.random.PCG64(5))
    draw(concentration * np.diag(values), rng, trials)
    rate = trials / rng.proposals
    # In the limit of one sharp peak b = 1 and both normalising constants are known.
    limit = math.exp(math.lgamma(m / 2) + (m - 1) / 2 * (1 + math.log(2)) - m / 2 * math.log(m)) / math.sqrt(math.pi)
    error = math.sqrt(limit * (1 - limit) / rng.proposals)
    assert rate > limit - 6 * error
    if spectrum == "one above" and concentration >= 1e4:
        assert abs(rate - limit) < 6 * error
    if spectrum == "one below":
        assert rate > 0.9


@pytest.mark.parametrize("m", [2, 200])
@pytest.mark.parametrize("size", [1e-100, 1e20, 1e150])
def test_extreme_sizes_are_drawn(m, size, rng):
    matrix = np.zeros((m, m))
    matrix[0, 0] = size
    x = draw(matrix, rng, 20)
    assert np.abs(np.linalg.norm(x, axis=1) - 1).max() < 1e-12
    assert (np.abs(x[:, 0]) > 0.999).all() or size < 1


@pytest.mark.parametrize(("matrix", "sources", "message"), [
    ([[1.0, 2.0]], [], "square"),
    ([[1.0, 2.0], [0.0, 1.0]], [], "symmetric"),
    ([[math.nan]], [], "finite"),
    ([[1e200]], [], "at most 1e\\+150"),
    ([[1.0]], [7], "Generator"),
    ([[1.0]], np.random.default_rng(0), "sequence"),
])
def test_bad_arguments_get_a_sentence(matrix, sources, message):
    with pytest.raises(InputError, match=message):
        sample_bingham(matrix, sources)


def privacy_loss(table, position, record, epsilon, longest, *, halved=True):
    """The greatest log ratio of a cell's probabilities, for a table with one record replaced."""
    other = np.array(table)
    other[:, position] = record
    factor = epsilon / (2 if halved else 1) / longest**2
    logs = [log_circle(factor * x @ x.T, 2048)[1] for x in (table, other)]
    return float(np.abs(logs[0] - logs[1]).max())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(("lower", "upper"), [((-1, -1), (1, 1)), ((-1, -0.3), (1, 0.3)), ((0, 0), (1, 1)),
                                              ((-2, 1), (0.5, 3))])
def test_the_mechanism_loses_at_most_epsilon(lower, upper, epsilon, rng):
    lower, upper = np.array(lower, float), np.array(upper, float)
    longest = float(np.linalg.norm(np.maximum(np.abs(lower), np.abs(upper))))
    ends = list(itertools.product(*zip(lower, upper, strict=True)))
    ends += [tuple(rng.uniform(lower, upper)) for _ in range(2)]
    for common, before, after in itertools.product(ends, repeat=3):
        for records in (1, 2, 30):
            table = np.tile(np.array([common]).T, records)
            table[:, 0] = before
            assert privacy_loss(table, 0, after, epsilon, longest) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_loss_comes_close_to_epsilon_and_the_half_is_needed(epsilon):
    # All records in one corner, one of them moved to the corner at right angles: the peak falls
    # by epsilon/2 and the normalising constant with it, so the loss there tends to epsilon.
    table = np.tile([[1.0], [1.0]], math.ceil(50 / epsilon))
    assert 0.97 * epsilon < privacy_loss(table, 0, (1.0, -1.0), epsilon, math.sqrt(2)) <= epsilon
    assert privacy_loss(table, 0, (1.0, -1.0), epsilon, math.sqrt(2), halved=False) > 1.9 * epsilon
