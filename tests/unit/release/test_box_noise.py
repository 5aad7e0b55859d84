"""Box and Laplace noise of whole numbers, against the probabilities of every point of small lattices."""

import functools
import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from mvgviz import Dataset, InputError, RecordBound, covariance, design_noise, identity, mean
from mvgviz.noise.families import FAMILIES, Block
from mvgviz.release import box_noise as module
from mvgviz.release.box_noise import STEPS, box_noise, noisy_values, pure_epsilon, whole_numbers


@pytest.fixture
def seeded(monkeypatch):
    """The operating system's numbers stand still."""
    monkeypatch.setattr(module.secrets, "randbelow", random.Random(26).randrange)


@functools.cache
def shell(k, size, epsilon, steps):
    """``q^k`` over the sum of ``q^max|z|`` on the whole lattice, from the number of points of each shell."""
    q = math.exp(-epsilon / steps)
    others = math.fsum(q**j * ((2 * j + 1) ** size - (2 * j - 1) ** size) for j in range(1, 2_000))
    return q**k / (1 + others)


def probability(z, epsilon, steps):
    return shell(max(map(abs, z)), len(z), epsilon, steps)


@pytest.mark.parametrize(("size", "epsilon", "steps"), [
    (1, Fraction(1), 1), (1, Fraction(3, 2), 4), (2, Fraction(1), 1), (2, Fraction(5, 3), 2), (3, Fraction(2), 1),
    (3, Fraction(1, 3), 1)])
def test_every_point_of_a_small_lattice_has_its_probability(seeded, size, epsilon, steps):
    draws = 40_000
    found = Counter(tuple(box_noise(size, epsilon, steps)) for _ in range(draws))
    reach = next(k for k in itertools.count(1) if draws * probability((k,) * size, epsilon, steps) < 8)
    points = list(itertools.product(range(1 - reach, reach), repeat=size))
    expected = np.array([draws * probability(z, epsilon, steps) for z in points])
    counts = np.array([found[z] for z in points])
    expected, counts = (np.append(part, draws - part.sum()) for part in (expected, counts))
    assert stats.chisquare(counts, expected).pvalue > 1e-3


def test_on_a_fine_lattice_it_is_the_continuous_noise(seeded):
    for size in (1, 4):
        drawn = np.array([box_noise(size, Fraction(1, 2), STEPS) for _ in range(4_000)]) / STEPS * 0.5
        assert stats.kstest(np.abs(drawn).max(axis=1), stats.gamma(size).cdf).pvalue > 1e-3
        block = Block(tuple(range(size)), FAMILIES["box"], 1.0)
        assert drawn.std() == pytest.approx(block.std, rel=0.05)
        for level in (0.5, 0.95):
            inside = np.abs(drawn) <= block.half_width(level) * block.std
            assert inside.mean() == pytest.approx(level, abs=0.015)


@pytest.mark.parametrize(("over", "under"), [(0, 5), (1, 3), (2, 3), (1, 1), (2**40 - 1, 2**40)])
def test_a_coin_has_the_probability_of_its_exponential(seeded, over, under):
    heads = sum(module._exp_coin(over, under) for _ in range(20_000))
    assert stats.binomtest(heads, 20_000, math.exp(-over / under)).pvalue > 1e-3


@pytest.mark.parametrize("size", [1, 2, 5, 21])
def test_the_number_of_steps_out_has_its_weight_in_whole_numbers(size):
    """A sum of geometric numbers that is accepted with this probability: ``(2K+1)^d``, up to one constant."""
    weights = [math.comb(k + size, size) * Fraction((2 * k + 1) ** size, math.prod(2 * k + 2 * i
               for i in range(1, size + 1))) / Fraction(2 * k + 1) ** size for k in range(60)]
    assert len(set(weights)) == 1


@pytest.mark.parametrize(("size", "steps"), [(1, 3), (2, 2), (3, 1)])
def test_pure_epsilon_holds_between_all_neighbours_of_a_small_lattice(size, steps):
    epsilon, span = Fraction(7, 10), range(-steps, steps + 1)
    most = math.exp(epsilon) * (1 + 1e-12)
    for z in itertools.product(range(-3 * steps, 3 * steps + 1), repeat=size):
        here = probability(z, epsilon, steps)
        for change in itertools.product(span, repeat=size):
            assert here <= most * probability(tuple(a + b for a, b in zip(z, change, strict=True)), epsilon, steps)


def table(matrix, **more):
    matrix = np.asarray(matrix, dtype=float)
    return Dataset(matrix=matrix, features=[f"f{i}" for i in range(len(matrix))],
                   **({"lower": -0.1, "upper": 0.2} | more))


def boxes(*parts, family="box"):
    return [Block(rows, FAMILIES[family], epsilon) for rows, epsilon in parts]


@pytest.mark.parametrize("kind", ["replace", "add-remove"])
def test_one_record_moves_each_sum_by_at_most_the_steps_whatever_the_floats(kind):
    rng, ends = np.random.default_rng(3), [-0.1, 0.2, np.nextafter(-0.1, 1), np.nextafter(0.2, -1), 0.05]
    for _ in range(200):
        data = rng.choice([*ends, *rng.uniform(-0.1, 0.2, 5)], (2, 7))
        other = data.copy()
        other[:, 3] = rng.choice(ends, 2) if kind == "replace" else 0.05  # the middle stands for an empty place
        body = mean(table(data), neighbours=kind).neighbours
        sums = [whole_numbers(table(one), body).sum(axis=1) for one in (data, other)]
        assert np.abs(sums[0] - sums[1]).max() <= STEPS


@pytest.mark.parametrize("levels", [2, 3, 7])
@pytest.mark.parametrize("kind", ["replace", "add-remove"])
def test_categories_move_by_at_most_the_steps(levels, kind):
    low, high = 0.1, 0.7
    records = [low + (high - low) * np.eye(levels)[k] for k in range(levels)]
    empty = np.full(levels, low + (high - low) / levels)

    def units(record):
        data = table(np.array([record, records[0]]).T, lower=low, upper=high, levels=[tuple(range(levels))])
        return whole_numbers(data, mean(data, neighbours=kind).neighbours)[:, 0]

    for one in records:
        for other in records if kind == "replace" else [empty]:
            assert np.abs(units(one) - units(other)).max() <= STEPS
    assert np.abs(units(records[0]) - units(records[1] if kind == "replace" else empty)).max() >= STEPS - 1


def test_a_noisy_mean_has_the_probabilities_of_its_lattice_on_both_neighbours(seeded, monkeypatch):
    monkeypatch.setattr(module, "STEPS", 2)
    draws = 20_000
    for records in ([[-0.1, 0.2], [0.05, 0.2]], [[-0.1, -0.1], [0.05, 0.05]]):
        data = table(records)
        sums = whole_numbers(data, mean(data).neighbours).sum(axis=1)
        found = Counter(tuple(np.round(noisy_values(data, mean(data), boxes(((0,), 1.0), ((1,), 2.0))).ravel(), 9))
                        for _ in range(draws))
        expected, counts = [], []
        for z in itertools.product(range(-3, 4), range(-2, 3)):
            chance = probability(z[:1], Fraction(1), 2) * probability(z[1:], Fraction(2), 2)
            expected.append(draws * chance)
            counts.append(found[tuple(np.round(-0.1 + 0.3 * (sums + z) / 4, 9))])
        expected.append(draws - sum(expected))
        counts.append(draws - sum(counts))
        assert stats.chisquare(counts, expected).pvalue > 1e-3


@pytest.mark.parametrize("ask", [mean, identity])
@pytest.mark.parametrize("kind", ["replace", "add-remove"])
@pytest.mark.parametrize("per_person", [1, 2])
def test_noise_is_centred_and_as_large_as_the_design_says(seeded, ask, kind, per_person):
    data = table(np.random.default_rng(0).uniform(-0.1, 0.2, (3, 40)), per_person=per_person)
    query = ask(data, neighbours=kind)
    design = design_noise(query, epsilon=1, delta=1e-6, theta=[0.125, 0.75, 0.125], family="box")
    errors = np.array([noisy_values(data, query, design.blocks) - query.value for _ in range(4_000 // query.cols)])
    stds = np.sqrt(np.square(errors).mean(axis=(0, 2)))
    assert stds == pytest.approx(np.sqrt(design.row_side.variances), rel=0.1)
    unit = 0.3 * (0.5 if kind == "add-remove" else 1) / (40 if query.is_mean else 1) * per_person
    assert stds == pytest.approx(unit * np.array([2 / 0.25, math.sqrt(2) / 0.75, 2 / 0.25]), rel=0.1)
    assert np.abs(errors.mean(axis=(0, 2)) / stds).max() < 0.1


def test_each_draw_is_fresh_and_each_record_has_noise_of_its_own():
    data = table(np.zeros((2, 50)))
    noise = boxes(((0,), 1.0), ((1,), 1.0), family="laplace")
    first, second = (noisy_values(data, identity(data), noise) for _ in "ab")
    assert np.unique(np.concatenate([first, second])).size == 200


def test_epsilons_add_up_and_are_never_rounded_down():
    assert pure_epsilon(boxes(((0, 1), 0.25), ((2,), 0.5))) == 0.75
    parts = [0.1, 0.7, 1e-17, 1 / 3]
    found = pure_epsilon(boxes(*(((k,), part) for k, part in enumerate(parts))))
    assert 0 <= Fraction(found) - sum(map(Fraction, parts)) <= Fraction(found) / 2**52


def test_what_box_noise_does_not_fit_is_refused():
    data, noise = table(np.zeros((2, 8))), boxes(((0, 1), 1.0))
    for query in (covariance(data), mean(data, bound=RecordBound(radius=0.1))):
        with pytest.raises(InputError, match="choose Gaussian noise"):
            noisy_values(data, query, noise)
    several = table(np.zeros((2, 8)), per_person=2)
    for other in (table(np.zeros((2, 9))), table(np.zeros((3, 8))), table(np.zeros((2, 8)), upper=0.3), several):
        with pytest.raises(InputError, match="same features, ranges, records and people"):
            noisy_values(other, mean(data), noise)
    for ask in (mean, identity):  # the promise would be about two records and the noise for one
        with pytest.raises(InputError, match="same features, ranges, records and people"):
            noisy_values(data, ask(several), noise)
    for wrong in (boxes(((0,), 1.0)), boxes(((0, 1), 1.0), ((1,), 1.0))):
        with pytest.raises(InputError, match="same features, ranges, records and people"):
            noisy_values(data, mean(data), wrong)
    with pytest.raises(InputError, match="one feature in each block"):
        noisy_values(data, mean(data), boxes(((0, 1), 1.0), family="laplace"))
    with pytest.raises(InputError, match="cannot be drawn exactly"):
        noisy_values(data, mean(data), [Block((0, 1), FAMILIES["ellipse"], 1.0, 1e-6)])
