import math
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import integrate

from mvgviz.design.least_possible import staircase_std
from mvgviz.noise.accounting import gaussian_mu, total_variation
from mvgviz.noise.families import FAMILIES
from mvgviz.noise.families.box import same_attacker
from mvgviz.noise.families.ellipse import l2_delta, l2_scale
from mvgviz.noise.mixtures import pure_epsilon

PROMISE = (1.0, 1e-6)


def in_three_dimensions(epsilon, scale):
    """To 30 digits, by the distances r, s from the two answers: the volume is 2 pi r s dr ds where their distance is 1.

    With u = s - r and v = r + s the density ratio exceeds e^epsilon where u > epsilon * scale.
    """
    with mpmath.workdps(30):
        a, t = mpmath.mpf(scale), mpmath.mpf(epsilon) * mpmath.mpf(scale)

        def along(u):
            def at(v):
                r, s = (v - u) / 2, (v + u) / 2
                return r * s * (mpmath.e ** (-r / a) - mpmath.e ** (epsilon - s / a))

            return mpmath.quad(at, [1, 1 + 10 * a, 1 + 100 * a])

        return mpmath.quad(along, [t, 1]) / (8 * a**3)


def around_the_line(epsilon, scale, size):
    """By two-dimensional quadrature: along the change, and the distance from that line."""
    log_constant = (math.log(2) + (size - 1) / 2 * math.log(math.pi) - math.lgamma((size - 1) / 2)
                    - math.log(2) - size / 2 * math.log(math.pi) + math.lgamma(size / 2)
                    - math.lgamma(size) - size * math.log(scale))

    def gain(rho, x):
        near, far = math.hypot(x, rho) / scale, math.hypot(x - 1, rho) / scale
        if far - near <= epsilon:
            return 0.0
        return math.exp(log_constant + (size - 2) * math.log(max(rho, 1e-300)) - near) * -math.expm1(
            epsilon + near - far)

    reach = 40 * scale * size**0.5
    found, _ = integrate.dblquad(gain, -reach, 0.5, 0, reach, epsabs=1e-10, epsrel=1e-6)
    return found


def about_the_answer(epsilon, scale, size):
    """To 30 digits, by the distance g from either answer: the share of a sphere where the loss exceeds epsilon."""
    with mpmath.workdps(30):
        epsilon, scale = mpmath.mpf(epsilon), mpmath.mpf(scale)
        t = epsilon * scale

        def share(x):
            tail = mpmath.betainc(mpmath.mpf(size - 1) / 2, 0.5, 0, 1 - min(abs(x), 1) ** 2, regularized=True) / 2
            return 1 - tail if x > 0 else tail

        def gain(g):
            r = g * scale
            density = mpmath.e ** ((size - 1) * mpmath.log(g) - g - mpmath.loggamma(size))
            return density * (share((1 - t * t) / (2 * r) - t) - mpmath.e**epsilon * share((t * t - 1) / (2 * r) - t))

        root = math.sqrt(size)
        ends = {mpmath.mpf(10) ** -25, (1 - t) / 2 / scale, (1 + t) / 2 / scale, mpmath.mpf(size + 80 + 60 * root)}
        return mpmath.quad(gain, sorted(ends | {mpmath.mpf(size + k * root) for k in range(-8, 41, 4)
                                                if size + k * root > 0}))


# A small change of the scale changes delta much where the noise is nearly that of delta = 0: size 2.
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (1.0, 1e-9), (10.0, 1e-5), (0.1, 1e-6)])
@pytest.mark.parametrize("size", [2, 3, 21, 99, 100, 231])
def test_delta_of_a_calibrated_scale_has_its_digits_and_keeps_the_promise(size, epsilon, delta):
    scale = l2_scale(size, epsilon, delta)
    exact = float(about_the_answer(epsilon, scale, size))
    assert l2_delta(epsilon, scale, size) == pytest.approx(exact, rel=1e-9)
    assert delta * (1 - 1e-3) < exact <= delta


@pytest.mark.parametrize(("epsilon", "scale"), [(1.0, 0.8), (1.0, 0.5), (0.1, 3.0), (3.0, 0.2), (1.0, 0.99)])
def test_delta_in_three_dimensions(epsilon, scale):
    assert l2_delta(epsilon, scale, 3) == pytest.approx(float(in_three_dimensions(epsilon, scale)), rel=1e-6)


@pytest.mark.parametrize("size", [2, 6])
def test_delta_by_quadrature(size):
    assert l2_delta(1.0, 0.4, size) == pytest.approx(around_the_line(1.0, 0.4, size), rel=2e-4)


def test_delta_of_one_number_is_laplace():
    # P(loss > 1) - e P'(loss > 1) of Laplace noise of scale 1/2 and a change of 1
    assert l2_delta(1.0, 0.5, 1) == pytest.approx(1 - math.exp(-0.5))
    assert l2_delta(1.0, 1.0, 7) == 0


# Standard deviations over exact Gaussian noise at (1, 1e-6), computed elsewhere to three digits.
@pytest.mark.parametrize(("size", "ratio"), [(1, 0.335), (2, 0.410), (6, 0.611), (21, 0.845), (100, 0.964),
                                             (231, 0.984), (1000, 0.996)])
def test_ellipse_over_gaussian(size, ratio):
    assert FAMILIES["ellipse"].std(size, *PROMISE) / FAMILIES["gaussian"].std(size, *PROMISE) == pytest.approx(
        ratio, abs=1e-3)


@pytest.mark.parametrize("size", [1, 2, 5, 11, 12, 50])
@pytest.mark.parametrize("promise", [(0.1, 1e-5), (1.0, 1e-9), (10.0, 1e-6)])
def test_a_calibrated_scale_keeps_its_promise(size, promise):
    epsilon, delta = promise
    assert l2_delta(epsilon, l2_scale(size, *promise), size) <= delta * (1 + 1e-9)
    assert l2_delta(epsilon, l2_scale(size, *promise) * (1 - 1e-6), size) > 0


@pytest.mark.parametrize("promise", [(0.002, 1e-30), (1000.0, 1e-6), (0.001, 0.3), (5.0, 0.9), (1e-90, 1e-6)])
@pytest.mark.parametrize("size", [1, 2, 99, 300, 2000])
def test_the_whole_domain_has_an_answer(size, promise):
    for family in FAMILIES.values():
        assert 0 < family.std(size, *promise) < math.inf
        assert 0 <= family.advantage(size, *promise) <= 1
        assert 0 < family.half_width(size, *promise) < math.inf
    assert FAMILIES["ellipse"].std(size, *promise) <= math.sqrt(size * (size + 1)) / promise[0] * (1 + 1e-12)


def test_box_and_gaussian_change_places_where_the_closed_form_says():
    gaussian, box = FAMILIES["gaussian"], FAMILIES["box"]
    wins = [size for size in range(1, 90) if box.std(size, *PROMISE) <= gaussian.std(size, *PROMISE)]
    assert wins == list(range(1, 51))


@pytest.mark.parametrize(("name", "size"), [("gaussian", 3), ("ellipse", 1), ("ellipse", 4), ("box", 1), ("box", 7),
                                            ("laplace", 3)])
def test_draws_have_the_standard_deviation_and_the_half_width(name, size):
    rng, draws = np.random.default_rng(5), 200_000
    sphere = rng.standard_normal((draws, size))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    drawn = {
        "gaussian": lambda: math.sqrt(size) / gaussian_mu(*PROMISE) * rng.standard_normal(draws),
        "ellipse": lambda: math.sqrt(size) * l2_scale(size, *PROMISE) * rng.gamma(size, size=draws) * sphere[:, 0],
        "box": lambda: rng.gamma(size + 1, size=draws) * rng.uniform(-1, 1, draws),
        "laplace": lambda: size * rng.laplace(size=draws)}[name]()
    family = FAMILIES[name]
    assert drawn.std() == pytest.approx(family.std(size, *PROMISE), rel=0.02)
    assert (np.abs(drawn) > family.half_width(size, *PROMISE)).mean() == pytest.approx(0.05, abs=0.003)


@pytest.mark.parametrize(("name", "frontier"), [
    ("gaussian", lambda k, m, n, q: (k / n**2 + m / q**2) * 4.224679**2 - 1),
    ("laplace", lambda k, m, n, q: math.sqrt(2) * (k / n + m / q) - 1),
    ("box", lambda k, m, n, q: (math.sqrt((k + 1) * (k + 2) / 3) / n + math.sqrt((m + 1) * (m + 2) / 3) / q) - 1)])
def test_splits_lie_on_their_frontier(name, frontier):
    for k, m, share in product((1, 3), (1, 18), (0.3, 0.8)):
        assert frontier(k, m, *FAMILIES[name].split(k, m, share, *PROMISE)) == pytest.approx(0, abs=1e-5)


def test_what_an_attacker_gains():
    assert FAMILIES["gaussian"].advantage(6, *PROMISE) == pytest.approx(float(total_variation(1 / 4.224679)), rel=1e-5)
    assert FAMILIES["box"].advantage(6, *PROMISE) == pytest.approx(0.3935, abs=1e-4)
    assert FAMILIES["ellipse"].advantage(6, *PROMISE) == pytest.approx(0.172, abs=1e-3)
    assert same_attacker(FAMILIES["box"], 21, *PROMISE) == pytest.approx(3.39, abs=0.01)


def test_box_noise_at_its_corner():
    """The likelihood ratio of a box at a corner of the change box, by draws: its delta does not depend on the size."""
    rng, size, draws = np.random.default_rng(3), 5, 400_000
    z = rng.gamma(size + 1, size=(draws, 1)) * rng.uniform(-1, 1, (draws, size))
    loss = np.abs(z - 1).max(axis=1) - np.abs(z).max(axis=1)
    for at in (0.0, 0.4, 0.8):
        measured = np.maximum(-np.expm1(at - loss), 0).mean()
        assert measured == pytest.approx(FAMILIES["box"].delta_at(at, size, 1.0, 0), abs=3e-3)


def test_several_pure_releases_by_listing_all_outcomes():
    each = pure_epsilon(3, 1.0, 1e-3)
    yes = math.exp(each) / (1 + math.exp(each))
    delta = 0.0
    for answers in product((True, False), repeat=3):
        p = math.prod(yes if a else 1 - yes for a in answers)
        q = math.prod(1 - yes if a else yes for a in answers)
        delta += max(p - math.e * q, 0)
    assert delta == pytest.approx(1e-3, rel=1e-6)
    assert pure_epsilon(1, 1.0, 1e-3) == 1
    assert pure_epsilon(1000, 1.0, 1e-6) > 7e-3


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
def test_the_staircase_has_the_least_variance_of_all_its_steps(epsilon):
    """The density falls by e^-epsilon at g, 1 + g, 2 + g, … on either side: the best g, by search."""
    def std(g):
        b = math.exp(-epsilon)
        edges = np.array([0.0, *(k + end for k in range(400) for end in (g, 1.0))])
        height = np.repeat(b ** np.arange(401), 2)[1:-1][:len(edges) - 1]
        mass = float(height @ np.diff(edges))
        return math.sqrt(float(height @ np.diff(edges**3)) / 3 / mass)

    least = min(std(g) for g in np.linspace(0.001, 0.999, 999))
    assert staircase_std(epsilon) == pytest.approx(least, rel=2e-4)
    assert staircase_std(epsilon) < FAMILIES["laplace"].std(1, epsilon, 0)
