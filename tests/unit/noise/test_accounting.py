"""The Gaussian's exact privacy, against 60 digits, an independent accountant and itself."""

import math

import mpmath
import numpy as np
import pytest
from dp_accounting import get_epsilon_gaussian, get_sigma_gaussian
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

import mvgviz as mv
from mvgviz.noise import accounting

# Computed with 60 digits: (epsilon, delta, mu).
MU_TO_60_DIGITS = [
    (0.01, 0.01, 0.03609993297514671), (0.01, 1e-05, 0.0041019677366059834),
    (0.01, 1e-09, 0.002180984661044349), (0.01, 1e-12, 0.0017271220791801817),
    (0.1, 0.01, 0.10480177537254447), (0.1, 1e-05, 0.032520784056203914),
    (0.1, 1e-09, 0.019916423412681468), (0.1, 1e-12, 0.01624984304793286),
    (1, 0.01, 0.5325166485029508), (1, 1e-05, 0.2680511232112942),
    (1, 1e-09, 0.18197480729533227), (1, 1e-12, 0.1524896512459813),
    (5, 0.01, 1.7562982383795573), (5, 1e-05, 1.121241823818409),
    (5, 1e-09, 0.8252782965830533), (5, 1e-12, 0.709301491407749),
    (10, 0.01, 2.8563537996214032), (10, 1e-05, 2.0004456204306322),
    (10, 1e-09, 1.53787733681454), (10, 1e-12, 1.3429807286510385),
    (50, 0.01, 8.025609808781654), (50, 1e-05, 6.6773233381400265),
    (50, 1e-09, 5.7213597689549305), (50, 1e-12, 5.243551361855375),
]

epsilons = st.floats(-8, 3).map(lambda x: 10.0**x)
deltas = st.one_of(st.floats(-300, -1).map(lambda x: 10.0**x), st.floats(1e-3, 0.999))
mus = st.floats(-6, 2).map(lambda x: 10.0**x)


def delta_by_definition(epsilon, mu):
    """Balle & Wang 2018, Theorem 8, as printed, with digits to spare for its cancellation."""
    with mpmath.workdps(400):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize(("epsilon", "delta", "mu"), MU_TO_60_DIGITS)
def test_gaussian_mu_equals_the_60_digit_reference(epsilon, delta, mu):
    assert mv.gaussian_mu(epsilon, delta) == pytest.approx(mu, rel=1e-13)


@pytest.mark.slow
@given(epsilon=epsilons, delta=deltas)
def test_gaussian_delta_of_gaussian_mu_is_delta_at_high_precision(epsilon, delta):
    mu = mv.gaussian_mu(epsilon, delta)
    exact = delta_by_definition(epsilon, mu)
    assert float(mv.gaussian_delta(epsilon, mu) / exact) == pytest.approx(1, rel=1e-12)
    a = epsilon / mu - mu / 2
    with mpmath.workdps(50):  # the error in mu, from that in delta
        error_in_mu = abs(exact - mpmath.mpf(delta)) / (mpmath.npdf(a) * mu)
    assert error_in_mu <= 1e-13


@given(epsilon=st.floats(-8, 3).map(lambda x: 10.0**x), mu=mus)
def test_gaussian_delta_has_full_relative_accuracy_wherever_it_is_a_number(epsilon, mu):
    exact = delta_by_definition(epsilon, mu)
    if exact < 1e-300:
        assert mv.gaussian_delta(epsilon, mu) <= 1.0000001e-300
    else:
        assert float(mv.gaussian_delta(epsilon, mu) / exact) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("mu", [0.3, 1.0, 1.99, 2.0, 2.01, 2.5, 3.0, 5.0, 12.0, 40.0])
def test_delta_is_accurate_on_both_sides_of_every_change_of_method(mu):
    """The methods change at mu = 2 and where ``a = epsilon/mu - mu/2`` changes its sign."""
    found = []
    for a in (-6.0, -2.5, -1.0, -0.4, -1e-3, 0.0, 1e-3, 0.4, 0.9, 1.0, 1.1, 2.5, 6.0, 30.0):
        epsilon = mu * (a + mu / 2)
        if epsilon > 0:
            exact = delta_by_definition(epsilon, mu)
            found.append(mv.gaussian_delta(epsilon, mu))
            assert float(found[-1] / exact) == pytest.approx(1, rel=1e-12)
            if 1e-300 < found[-1] < 0.999:
                assert mv.gaussian_mu(epsilon, found[-1]) == pytest.approx(mu, rel=1e-9)
                assert mv.gaussian_epsilon(found[-1], mu) == pytest.approx(epsilon, rel=1e-9)
    assert found == sorted(found, reverse=True)


def test_delta_stays_accurate_where_the_printed_difference_cancels():
    assert mv.gaussian_delta(1e-8, 1e-9) == pytest.approx(float(delta_by_definition(1e-8, 1e-9)), rel=1e-13)
    assert mv.gaussian_delta(1e-100, 1e-12) == pytest.approx(1e-12 / math.sqrt(2 * math.pi), rel=1e-13)


@given(epsilon=epsilons, delta=deltas)
def test_gaussian_epsilon_inverts_gaussian_mu(epsilon, delta):
    mu = mv.gaussian_mu(epsilon, delta)
    assert mv.gaussian_epsilon(delta, mu) == pytest.approx(epsilon, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@given(delta=deltas, mu=mus)
def test_gaussian_epsilon_is_zero_exactly_when_delta_covers_the_total_variation(delta, mu):
    epsilon = mv.gaussian_epsilon(delta, mu)
    assert (epsilon == 0) or delta < mv.total_variation(mu)
    if epsilon > 0:
        exact = delta_by_definition(epsilon, mu)
        with mpmath.workdps(50):
            slope = mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mpmath.mpf(mu))
            assert abs(exact - mpmath.mpf(delta)) / slope <= 1e-12 * max(1, epsilon)


@pytest.mark.parametrize("mu", [1e-3, 0.5, 1.0, 2.0, 4.0])
def test_epsilon_ends_where_delta_reaches_the_total_variation(mu):
    most = math.erf(mu / math.sqrt(8))
    assert mv.gaussian_epsilon(most * 1.0001, mu) == mv.gaussian_epsilon((most + 1) / 2, mu) == 0
    assert 0 < mv.gaussian_epsilon(most * 0.9999, mu) < 0.01 * max(mu, 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
def test_dp_accounting_agrees(epsilon, delta):
    assert 1 / mv.gaussian_mu(epsilon, delta) == pytest.approx(get_sigma_gaussian(epsilon, delta), rel=1e-9)
    assert mv.gaussian_epsilon(delta, 0.7) == pytest.approx(get_epsilon_gaussian(1 / 0.7, delta), rel=1e-9)


def test_steps_towards_mu_and_epsilon_go_one_way_and_are_few(monkeypatch):
    """What makes Newton's method safe here: a start on the right side, from which no step passes the root."""
    epsilon = np.logspace(-8, 3, 45)[:, None]
    delta = np.concatenate([np.logspace(-300, -1, 30), [0.3, 0.5, 0.7, 0.9, 0.999]])[None, :]
    tried, honest = [], accounting._delta_parts
    monkeypatch.setattr(accounting, "_delta_parts", lambda e, mu: tried.append((e, mu)) or honest(e, mu))
    mu = mv.gaussian_mu(epsilon, delta)
    starts, steps = tried[0][1], np.diff([each for _, each in tried], axis=0)
    assert (steps >= -1e-12 * starts).all()
    assert len(tried) <= 7
    tried.clear()
    mv.gaussian_epsilon(delta, mu)
    starts, steps = tried[0][0], np.diff([each for each, _ in tried], axis=0)
    assert (steps <= 1e-9 * starts).all()
    assert len(tried) <= 6


def test_arrays_broadcast_and_equal_scalars():
    epsilon, mu = np.array([[0.1], [3.0]]), np.array([0.5, 2.0, 7.0])
    table = mv.gaussian_delta(epsilon, mu)
    assert table.shape == (2, 3)
    assert table[1, 2] == mv.gaussian_delta(3.0, 7.0)
    assert isinstance(mv.gaussian_delta(1, 1), float)


@pytest.mark.parametrize("mu", [1e-300, 1e-12, 1e5, 1e100])
def test_no_mu_is_too_small_or_too_large(mu):
    assert mv.gaussian_delta(1, mu) == (0.0 if mu < 1 else 1.0)
    assert mv.gaussian_epsilon(0.5, mu) == pytest.approx(0 if mu < 1 else mu * mu / 2, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 50.0])
@pytest.mark.parametrize("rest", [1e-6, 1e-9, 1e-12, 1e-15])
def test_no_delta_is_too_near_to_one(epsilon, rest):
    mu = mv.gaussian_mu(epsilon, 1 - rest)
    assert 0.5 * rest <= 1 - mv.gaussian_delta(epsilon, mu) <= 2 * rest
    assert mv.gaussian_epsilon(1 - rest, 1.01 * mu) > epsilon


def test_where_the_integral_is_cut_is_not_seen():
    for mu in (0.01, 0.3, 1.0, 2.0):
        exact = delta_by_definition(mu * mu / 2, mu)  # where a = 0, and it falls most slowly
        assert float(mv.gaussian_delta(mu * mu / 2, mu) / exact) == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 0.5, 0.999])
@pytest.mark.parametrize("mu", [1e6, 0.99e9, 1.01e9, 1e15, 1e34, 1e49])
def test_far_out_one_term_is_all(mu, delta):
    with mpmath.workdps(150):
        a = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(delta)) if delta > 1e-100 else mpmath.mpf(-ndtri(delta))
        epsilon = float(mpmath.mpf(mu) * (a + mpmath.mpf(mu) / 2))
    assert mv.gaussian_epsilon(delta, mu) == pytest.approx(epsilon, rel=1e-11)
    assert mv.gaussian_mu(epsilon, delta) == pytest.approx(mu, rel=1e-11)


def test_what_is_remembered_is_bounded():
    for kept in (accounting._mu_of_numbers, accounting._epsilon_of_numbers):
        assert kept.cache_info().maxsize == 4096


def test_no_shift_spends_nothing():
    assert mv.gaussian_delta(1, 0) == 0
    assert mv.gaussian_epsilon(1e-9, 0) == 0
    assert mv.tradeoff(0.05, 0) == pytest.approx(0.95)


@pytest.mark.parametrize("mu", [0, 1e-9, 0.01, 0.5, 1.99, 2.01, 8, 40])
@pytest.mark.parametrize("epsilon", [-1e-9, -1e-3, -0.4, -1, -5, -30, -700])
def test_delta_at_a_negative_epsilon_has_all_its_digits(epsilon, mu):
    with mpmath.workdps(40):
        exact = delta_by_definition(epsilon, mu) if mu else -mpmath.expm1(epsilon)
        assert abs(mv.gaussian_delta(epsilon, mu) / exact - 1) <= 1e-13


def test_delta_passes_through_zero_without_a_jump():
    assert mv.gaussian_delta(0, 1.3) == pytest.approx(mv.total_variation(1.3), rel=1e-14)
    assert mv.gaussian_delta(1e-12, 1.3) == pytest.approx(mv.total_variation(1.3), rel=1e-11)
    assert mv.total_variation(1.3) == pytest.approx(math.erf(1.3 / math.sqrt(8)), rel=1e-15)
    assert mv.gaussian_delta(0, 0) == 0
    near = mv.gaussian_delta([-1, -1e-9, 0, 1e-9, 1], 0.7)
    assert (np.diff(near) < 0).all()


def test_composition_is_pythagorean_and_never_below_its_largest_part():
    assert mv.compose_mu([3, 4]) == mv.compose_mu([0, 3, 4]) == 5
    assert mv.compose_mu([1e100, 1e100]) == pytest.approx(math.sqrt(2) * 1e100)
    assert mv.compose_mu([]) == 0


def test_tradeoff_curve_is_symmetric_and_gives_back_delta():
    mu, alpha = 1.1, np.linspace(0.001, 0.999, 50)
    miss = mv.tradeoff(alpha, mu)
    assert mv.tradeoff(miss, mu) == pytest.approx(alpha, rel=1e-9)
    # delta(epsilon) is the largest 1 - e^epsilon alpha - miss over the curve (Dong, Roth & Su 2022).
    fine = np.linspace(1e-6, 1 - 1e-6, 200_001)
    by_curve = np.max(1 - math.exp(0.5) * fine - mv.tradeoff(fine, mu))
    assert by_curve == pytest.approx(mv.gaussian_delta(0.5, mu), rel=1e-6)
    assert (mv.tradeoff(0, mu), mv.tradeoff(1, mu)) == (1, 0)


@pytest.mark.parametrize(("function", "given", "message"), [
    *((function, (epsilon, 1e-5), "epsilon") for epsilon in (math.nan, math.inf, 1e101, "x", None)
      for function in (mv.gaussian_delta, mv.gaussian_mu)),
    *((mv.gaussian_mu, (epsilon, 1e-5), "epsilon") for epsilon in (0, -1, [1, -1])),
    (mv.gaussian_delta, (-1e101, 1), "epsilon must be at most"),
    *((mv.gaussian_mu, (1, delta), "delta") for delta in (0, 1, -0.1, 1.5, math.nan, math.inf)),
    *((mv.gaussian_epsilon, (delta, 1), "delta") for delta in (0, 1, -0.1, 1.5, math.nan, math.inf)),
    (mv.gaussian_delta, (1, -1), "mu must not be negative, got -1"),
    (mv.compose_mu, ([1, math.nan],), "mus must be finite, got nan"),
    (mv.tradeoff, (1.5, 1), r"alpha must lie between 0 and 1, got 1\.5"),
    (mv.gaussian_mu, (1, 1.5), r"delta must lie strictly between 0 and 1, got 1\.5"),
    (mv.gaussian_epsilon, (0.1, 1e200), r"mu must be at most 1e\+100, got 1e\+200"),
    (mv.gaussian_mu, (1e-200, 0.1), r"epsilon must be at least 1e-100, got 1e-200"),
    (mv.gaussian_delta, ([1, 2], [1, 2, 3]), r"shapes must fit each other, got epsilon \(2,\) and mu \(3,\)"),
])
def test_bad_arguments_are_refused_with_rule_and_value(function, given, message):
    with pytest.raises(mv.InputError, match=message):
        function(*given)


@pytest.mark.parametrize("function", [mv.gaussian_epsilon, mv.gaussian_mu])
def test_a_list_and_a_number_may_be_mixed(function):
    low, high, other = (1e-5, 0.2, 1.0) if function is mv.gaussian_epsilon else (1.0, 2.0, 1e-5)
    both = pytest.approx([function(low, other), function(high, other)])
    assert function([low, high], other) == both
    assert function([low, high], [other, other]) == both
    assert function(np.array([low, high]), np.array([other, other])) == both
    assert function(low, [other, other / 2]) == pytest.approx([function(low, other), function(low, other / 2)])
