"""What Gaussian and pure noise cost together, against 40 digits, an independent accountant and a choice that adapts."""

import math
import sys

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from mvgviz import InputError, gaussian_delta, gaussian_epsilon, gaussian_mu
from mvgviz.noise import mixtures
from mvgviz.noise.mixtures import near_scale, plan_delta, plan_epsilon, plan_scale, running_epsilon


def gaussian_by_definition(epsilon, mu):
    """Balle & Wang 2018, Theorem 8, as printed."""
    if not mu:
        return max(-mpmath.expm1(epsilon), mpmath.mpf(0))
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def laplace_and(rest, epsilon, pure, kinks=()):
    """``delta`` from the densities: ``rest(epsilon - loss)`` averaged over Laplace noise on one number."""
    def within(z):
        return mpmath.exp(-pure * abs(z)) * pure / 2 * rest(epsilon - pure * (abs(z - 1) - abs(z)))

    ends = [mpmath.mpf(k) / 16 for k in range(17)] + [(1 - (epsilon - x) / pure) / 2 for x in kinks]
    ends = sorted(end for end in ends if 0 <= end <= 1)  # outside, the loss does not change
    outside = rest(epsilon - pure) / 2 + mpmath.exp(-pure) / 2 * rest(epsilon + pure)
    return outside + mpmath.quad(within, ends)


@pytest.mark.parametrize(("epsilon", "pure", "mu"), [
    (1, 0.5, 0.13), (0.9805, 0.5, 0.1232), (0.2, 1, 0.5), (3, 1, 0.4), (0, 0.3, 1), (2, 2, 3), (5, 0.01, 1.1),
    (1, 0.5, 1e-3), (0.3, 0.5, 0.01), (-0.4, 0.7, 0.5), (30, 8, 4)])
def test_one_pure_release_beside_gaussian_ones_has_all_its_digits(epsilon, pure, mu):
    with mpmath.workdps(60):
        e, p, m = (mpmath.mpf(value) for value in (epsilon, pure, mu))
        exact = laplace_and(lambda x: gaussian_by_definition(x, m), e, p)
    if exact > 1e-290:
        assert plan_delta(epsilon, pure, mu) == pytest.approx(float(exact), rel=1e-11)
    else:
        assert plan_delta(epsilon, pure, mu) < 1e-280


def test_without_the_other_half_it_is_one_family():
    assert plan_delta(0.4, 1.0, 0.0) == pytest.approx(-math.expm1(-0.3), rel=1e-14)
    assert plan_delta(1.5, 1.0, 0.0) == 0
    assert plan_delta(0.4, 1e-300, 0.6) == pytest.approx(gaussian_delta(0.4, 0.6), rel=1e-13)
    assert plan_epsilon(1e-6, [], 0.3) == gaussian_epsilon(1e-6, 0.3)
    assert plan_epsilon(1e-6, [1.0], 0.0) == pytest.approx(1 + 2 * math.log1p(-1e-6), abs=1e-10)
    assert plan_epsilon(0.5, [0.1], 0.1) == 0


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("pure", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("mu", [0.05, 0.3, 2.0])
def test_epsilon_of_a_plan_is_the_inverse_of_its_delta_and_never_optimistic(delta, pure, mu):
    epsilon = plan_epsilon(delta, [pure], mu)
    with mpmath.workdps(60):
        exact = laplace_and(lambda x: gaussian_by_definition(x, mpmath.mpf(mu)), mpmath.mpf(epsilon), mpmath.mpf(pure))
    assert exact <= delta
    assert plan_delta(epsilon - 1e-9, pure, mu) > delta
    assert epsilon <= running_epsilon(delta, pure, mu)


@pytest.mark.parametrize(("pure", "mu"), [(0.5, 0.1232), (0.1, 0.3), (1.0, 0.05), (3.0, 1.0)])
def test_loss_distributions_are_never_below_the_closed_form_and_within_1e_5(pure, mu):
    above = mixtures._of_many(1e-6, [pure], mu) - plan_epsilon(1e-6, [pure], mu)
    assert -2 * mixtures._ROOT <= above <= 1e-5


def test_two_pure_releases_lie_just_above_the_exact_integral():
    a, b = mpmath.mpf("0.7"), mpmath.mpf("0.4")
    epsilon = plan_epsilon(1e-3, [0.7, 0.4], 0.0)
    with mpmath.workdps(40):
        def other(x):
            return max(-mpmath.expm1((x - b) / 2), 0) if x >= -b else -mpmath.expm1(x)

        exact = [laplace_and(other, mpmath.mpf(epsilon + shift), a, (b, -b)) for shift in (0, -1e-4)]
    assert exact[0] <= 1e-3
    assert exact[1] > 1e-3


def test_many_gaussian_releases_as_losses_are_never_below_their_exact_sum():
    for delta in (1e-4, 1e-6, 1e-9):
        found = mixtures._of_many(delta, [1e-9, 1e-9], 0.3)
        assert 0 <= found - gaussian_epsilon(delta, 0.3) <= 1e-5


def test_a_plan_never_costs_more_than_the_pots_and_less_for_many():
    pure = np.linspace(0.001, 0.02, 40).tolist()
    assert plan_epsilon(1e-6, pure, 0.1) < 0.85 * running_epsilon(1e-6, sum(pure), 0.1)
    assert plan_epsilon(1e-14, pure, 0.1) == pytest.approx(plan_epsilon(1e-14, [sum(pure)], 0.1), rel=1e-12)
    assert plan_epsilon(1e-6, [0.5, 0.5], 0.0) <= 1 + 1e-12


def adaptive_delta(epsilon, mu_first, rest):
    """The true delta where the owner sees a Gaussian release, then takes the worse of what may follow."""
    def integrand(z):
        left = epsilon - (mu_first * mu_first / 2 + mu_first * z)
        return stats.norm.pdf(z) * max(follow(left) for follow in rest)

    return integrate.quad(integrand, -9, 9, limit=2000, epsabs=1e-14, points=[0, 3, 4, 4.5, 5, 6])[0]


def pure_delta(pure):
    """Of a box or Laplace release at any epsilon."""
    return lambda x: -math.expm1(max(x, -pure) / 2 - pure / 2) if -pure < x < pure else max(-math.expm1(x), 0.0)


def test_a_plan_is_false_as_a_running_budget():
    whole = gaussian_mu(1.0, 1e-6)
    first = 0.3 * whole
    second = math.sqrt(whole**2 - first**2)
    low, high = 0.5, 1.0
    for _ in range(60):  # the box with which the plan reaches exactly (1, 1e-6)
        middle = (low + high) / 2
        low, high = (middle, high) if plan_delta(1.0, middle, first) < 1e-6 else (low, middle)
    assert low == pytest.approx(0.7363, abs=1e-4)

    def gaussian(x):
        return float(gaussian_delta(x, second))

    for one in (gaussian, pure_delta(low)):  # each alone keeps the promise
        assert adaptive_delta(1.0, first, [one]) == pytest.approx(1e-6, rel=1e-4)
    assert adaptive_delta(1.0, first, [gaussian, pure_delta(low)]) == pytest.approx(1.99e-6, rel=0.01)


@pytest.mark.parametrize("pure", [0.1, 0.5, 0.65, 0.9])
def test_two_pots_hold_for_whoever_chooses_the_noise_after_an_output(pure):
    whole = gaussian_mu(1.0 - pure, 1e-6)
    assert running_epsilon(1e-6, pure, whole) == pytest.approx(1, rel=1e-12)
    first = 0.3 * whole
    second = math.sqrt(whole**2 - first**2)
    rest = [lambda x: float(gaussian_delta(x, second)), pure_delta(pure), lambda x: plan_delta(x, pure, second)]
    assert adaptive_delta(1.0, first, rest) <= 1e-6


def test_one_end_for_both_pots_together_is_false():
    whole = gaussian_mu(1.0, 1e-6)
    first = 0.3 * whole
    second = math.sqrt(whole**2 - first**2)
    left = 1.0 - float(gaussian_epsilon(1e-6, first))  # with which (1, 1e-6) is reached from here, as with the second
    assert running_epsilon(1e-6, left, first) == pytest.approx(running_epsilon(1e-6, 0.0, whole))
    both = [lambda x: float(gaussian_delta(x, second)), pure_delta(left)]
    assert adaptive_delta(1.0, first, both) == pytest.approx(1.5e-6, rel=0.01)


def test_without_the_library_one_sentence_says_how_to_get_it(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("dp_accounting")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    assert plan_epsilon(1e-6, [0.5], 0.1) > 0.5
    with pytest.raises(InputError, match="this needs dp_accounting, which is not installed: pip install dp_acc"):
        plan_epsilon(1e-6, [0.5, 0.2], 0.1)


@pytest.mark.parametrize("pure", [[0.0], [-1.0], [math.nan], ["x"]])
def test_nonsense_is_refused(pure):
    with pytest.raises(InputError, match="pure"):
        plan_epsilon(1e-6, pure, 0.1)


@pytest.mark.parametrize(("epsilon", "delta", "share"), [
    (0.01, 1e-3, 0.9), (1.0, 1e-6, 0.001), (1.0, 1e-6, 0.5), (1.0, 1e-9, 0.9), (8.0, 1e-6, 0.3)])
def test_shares_of_one_pure_and_one_gaussian_question_use_up_the_plan_by_the_closed_form(epsilon, delta, share):
    factor, mu = plan_scale(epsilon, delta, (share,), 1 - share), gaussian_mu(epsilon, delta)
    pure, beside = factor * share * epsilon, mu * math.sqrt(factor * (1 - share))
    with mpmath.workdps(60):
        exact = laplace_and(lambda x: gaussian_by_definition(x, mpmath.mpf(beside)), mpmath.mpf(epsilon),
                            mpmath.mpf(pure))
    assert exact <= delta
    assert exact == pytest.approx(delta, rel=1e-5)
    assert running_epsilon(delta, pure, beside) > epsilon  # two pots would allow less


@pytest.mark.parametrize("pure", [(0.25, 0.25), (0.3, 0.2, 0.4), (0.05,) * 10, (1e-4, 1e-4)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (3.0, 1e-4), (1.0, 1e-11), (1e-3, 1e-3)])
def test_shares_of_many_questions_never_cost_more_than_the_plan_and_no_less_than_one_pure_release(pure, epsilon, delta):
    rest = 1 - sum(pure)
    factor, bound = plan_scale(epsilon, delta, pure, rest), plan_scale(epsilon, delta, (sum(pure),), rest)
    cost = plan_epsilon(delta, [factor * share * epsilon for share in pure],
                        gaussian_mu(epsilon, delta) * math.sqrt(factor * rest))
    assert epsilon * (1 - 5e-4) * (delta > 1e-10) * (pure[0] > 1e-3) <= cost <= epsilon
    assert bound <= factor * (1 + 1e-12)
    assert near_scale(epsilon, delta, sum(pure)) == pytest.approx(bound, rel=3e-3)


def test_one_kind_of_noise_has_all_its_shares():
    assert plan_scale(1.0, 1e-6, (), 1.0) == 1.0
    assert 1 - 1e-13 < plan_scale(1.0, 1e-6, (0.9, 0.1), 0.0) < 1.0
