"""Information against its definitions: other integrals, whole tables one by one, Fourier transforms, closed forms."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from mvgviz.errors import InputError
from mvgviz.noise.information import MOST_RATIO, QUERIES, bits_through, count_bits, lacking_bits, simulated_answers


def entropy(density, low, high):
    """In bits, of a density on a line."""
    return integrate.quad(lambda x: -special.xlogy(density(x), density(x)), low, high, limit=400,
                          epsabs=1e-11)[0] / math.log(2)


def laplace_bits(ratio):
    """Three times that of one number: normal plus Laplace has a closed density."""
    s, b = math.sqrt(ratio), math.sqrt(0.5)

    def density(y):
        return sum(math.exp(ratio / (2 * b * b) - sign * y / b + special.log_ndtr(sign * y / s - s / b))
                   for sign in (1, -1)) / (2 * b)

    return 3 * (2 * entropy(density, 0, 8 * s + 25) - math.log2(2 * math.e * b))


def ellipse_bits(ratio):
    """In three dimensions, from the sphere on which the noise ends."""
    scale = 0.5

    def density(y):
        def at(g):
            near, far = (np.exp(-(y - sign * g * scale) ** 2 / (2 * ratio)) for sign in (1, -1))
            return g * math.exp(-g) * (near - far) / (4 * y * scale)

        middle = y / scale
        return integrate.quad(at, 0, 60, points=[min(middle, 60)], limit=200)[0] * ratio / (2 * math.pi * ratio) ** 1.5

    nodes, weights = special.roots_legendre(200)
    at = (10 * math.sqrt(ratio) + 15) * (nodes + 1) / 2
    values = np.array([density(y) for y in at])
    summed = -(weights * at**2 * special.xlogy(values, values)).sum() * (10 * math.sqrt(ratio) + 15) / 2
    return (4 * math.pi * summed - math.log(8 * math.pi * scale**3) - 3) / math.log(2)


def box_bits(ratio):
    """On a grid of 128³ points: the density of the definition, and the normal's part by a Fourier transform."""
    size, reach, scale = 128, 5 * math.sqrt(ratio) + 7, math.sqrt(3 / 20)
    step = 2 * reach / size
    away = np.abs(np.arange(size) - size // 2) * step
    noise = np.exp(-np.maximum(np.maximum(away[:, None, None], away[:, None]), away) / scale)
    waves = np.exp(-ratio * (2 * math.pi * np.fft.fftfreq(size, step)) ** 2 / 2)
    blurred = np.fft.ifftn(np.fft.fftn(noise) * waves[:, None, None] * waves[:, None] * waves).real
    density = np.maximum(blurred, 0) / (blurred.sum() * step**3)
    own = 3 + math.log(math.factorial(3) * (2 * scale) ** 3)
    return (-special.xlogy(density, density).sum() * step**3 - own) / math.log(2)


@pytest.mark.parametrize(("family", "oracle", "ratios", "digits"), [
    ("gaussian", lambda ratio: 1.5 * math.log2(1 + ratio), (0.01, 1, 1e6), 1e-12),
    ("laplace", laplace_bits, (0.01, 0.1, 1, 30), 1e-6),
    ("ellipse", ellipse_bits, (0.1, 1, 30), 1e-6),
    ("box", box_bits, (1, 4), 3e-3)])
def test_what_noise_of_unit_covariance_lets_through(family, oracle, ratios, digits):
    assert [bits_through(family, ratio) for ratio in ratios] == pytest.approx(list(map(oracle, ratios)), rel=digits)


@pytest.mark.parametrize(("family", "volume", "scale"), [
    ("ellipse", 4 * math.pi / 3, 0.5), ("box", 8, math.sqrt(3 / 20)), ("laplace", 8 / 6, math.sqrt(1 / 2))])
def test_beside_a_large_answer_only_the_noise_s_own_entropy_counts(family, volume, scale):
    own = 3 + math.log(6 * volume * scale**3)  # of exp(-N(z)/scale)
    normal = 1.5 * math.log(2 * math.pi * math.e)
    more = bits_through(family, MOST_RATIO) - bits_through("gaussian", MOST_RATIO)
    assert more == pytest.approx((normal - own) / math.log(2), abs=1e-4)


def test_families_and_ratios_out_of_reach_are_refused():
    for family, ratio in (("cauchy", 1.0), ("box", 1e-3), ("box", 1e7)):
        with pytest.raises(InputError):
            bits_through(family, ratio)


GRID = np.linspace(-9, 12, 21 * 200 + 1)  # Simpson's parabolas end at whole numbers, where Laplace noise has its kinks


def divergence(of, other):
    """In bits, of two densities on the grid."""
    return integrate.simpson(of * (np.log2(of) - np.log2(other)), x=GRID)


@pytest.mark.parametrize("law", [stats.norm(scale=0.7), stats.laplace(scale=0.7 / math.sqrt(2))],
                         ids=["normal", "laplace"])
def test_a_count_tells_the_same_of_the_answer_and_of_the_whole_table(law):
    """By the definition: how far a release's density, given each of the eight tables, is from that of all."""
    tables = list(itertools.product((0, 1), repeat=3))

    def given(known):
        """The release's density when the first people are known."""
        sums = [sum(table) for table in tables if table[:len(known)] == known]
        return np.mean([law.pdf(GRID - total) for total in sums], axis=0)

    def told(known):
        """Bits on average, from the first people to one more."""
        return np.mean([divergence(given(first), given(first[:known]))
                        for first in itertools.product((0, 1), repeat=known + 1)])

    laplace = law.dist.name == "laplace"
    table = np.mean([divergence(given(one), given(())) for one in tables])
    answers = [(k, math.comb(3, k) / 8) for k in range(4)]
    answer = sum(chance * divergence(law.pdf(GRID - k), given(())) for k, chance in answers)
    bits = [count_bits(people, 0.7, laplace=laplace) for people in (1, 2, 3)]
    assert bits[2] == pytest.approx(table, rel=1e-5) == pytest.approx(answer, rel=1e-5)
    assert bits[2] - bits[1] == pytest.approx(told(0), rel=1e-4)  # of one, the others unknown
    assert bits[0] == pytest.approx(told(2), rel=1e-5)  # of one, the others known


def test_gaussian_noise_lets_least_through_where_the_answer_is_normal_and_not_always():
    for ratio in np.geomspace(0.01, 1e3, 6):
        least = bits_through("gaussian", ratio)
        assert all(bits_through(family, ratio) > least for family in ("ellipse", "box", "laplace"))
    assert count_bits(1, 1.0) < count_bits(1, 1.0, laplace=True)
    assert count_bits(1, 0.25) > 1.04 * count_bits(1, 0.25, laplace=True)


@pytest.mark.parametrize("shape", [0.5, 1, 3, 20])
def test_the_entropy_that_answers_lack_is_that_of_the_closed_form(shape):
    lacks = (math.log(2 * math.pi * math.e * shape) / 2 - stats.gamma(shape).entropy()) / math.log(2)
    found = [lacking_bits(np.random.default_rng(seed).gamma(shape, size=4_000)) for seed in range(20)]
    assert sum(abs(bits - lacks) <= error for bits, error in found) >= 16
    assert np.mean([bits for bits, _ in found]) == pytest.approx(lacks, abs=0.02)


def test_what_a_normal_answer_tells_more_is_at_most_what_another_lacks():
    lacks = math.log2(2 * math.pi * math.e) / 2 - math.log2(math.e)  # an exponential answer
    for std in (0.1, 0.5, 2.0):
        told = (stats.exponnorm(1 / std, scale=std).entropy() - stats.norm(scale=std).entropy()) / math.log(2)
        assert 0 < math.log2(1 + 1 / std**2) / 2 - told < lacks


def lack_of_mean(power, records):
    """Of evenly spread values to a power: their masses on a fine grid, added by Fourier transform."""
    cells = 2**13
    masses = np.diff((np.arange(cells + 1) / cells) ** (1 / power))
    total = np.fft.irfft(np.fft.rfft(masses, records * cells) ** records, records * cells).clip(0)
    at = np.arange(total.size)
    variance = total @ (at - total @ at) ** 2
    return (math.log(2 * math.pi * math.e * variance) / 2 + special.xlogy(total, total).sum()) / math.log(2)


def test_simulated_sums_become_normal_and_kernel_entries_do_not():
    for name, power, answers in zip(QUERIES, (3, 6), simulated_answers(5)[:2], strict=False):
        bits, error = lacking_bits(answers)
        assert abs(bits - lack_of_mean(power, 5)) <= error, name
        assert bits > error
    for answers in simulated_answers(5_000)[:2]:
        bits, error = lacking_bits(answers)
        assert bits < error
    few, many = (lacking_bits(simulated_answers(records)[2]) for records in (5, 5_000))
    assert few[0] - many[0] == pytest.approx(0, abs=few[1] + many[1])
    assert many[0] > 1
