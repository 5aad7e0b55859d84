"""The paper's theorems, against 60 digits, a case worked by hand, and their limits."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvgviz import InputError, theorem1, theorem2, theorem2_any, theorem2_wins

EXPERIMENT_1 = {"rows": 6, "cols": 248, "delta": 0.004032258064516129, "gamma": 38.57460304397182,
                "sensitivity": 4.898979485566356}
EXPERIMENT_2 = {"rows": 4, "cols": 4, "delta": 9.827044025157233e-05, "gamma": 40000.0,
                "sensitivity": 7.861635220125786}
EXPERIMENT_3 = {"rows": 21, "cols": 2126, "delta": 0.00047036688617121356, "gamma": 211.29600090867788,
                "sensitivity": 4.58257569495584}
# Computed with 60 digits: experiment, theorem, tail, phi.
TO_60_DIGITS = [
    (EXPERIMENT_1, 1, "printed", 7.98402693283762e-06),
    (EXPERIMENT_1, 1, "laurent-massart", 0.0003270903615649004),
    (EXPERIMENT_2, 1, "printed", 1.5778145349904103e-05),
    (EXPERIMENT_2, 1, "laurent-massart", 1.599112028866663e-05),
    (EXPERIMENT_2, 2, "printed", 0.00040686618399608657),
    (EXPERIMENT_2, 2, "laurent-massart", 0.0007830352887272349),
    (EXPERIMENT_3, 1, "printed", 8.985545109147518e-08),
    (EXPERIMENT_3, 1, "laurent-massart", 1.923458266512796e-05),
]
decades = st.floats(-12, 12).map(lambda x: 10.0**x)
sizes = st.one_of(st.integers(1, 30), st.integers(1, 10_000))


@pytest.mark.parametrize(("setup", "theorem", "tail", "phi"), TO_60_DIGITS)
def test_the_paper_s_experiments_equal_the_60_digit_reference(setup, theorem, tail, phi):
    facts = {name: setup[name] for name in ("delta", "gamma", "sensitivity")} | {"epsilon": 1, "tail": tail}
    bound = theorem1(setup["rows"], setup["cols"], **facts) if theorem == 1 else theorem2(setup["rows"], **facts)
    assert bound.constant == (bound.alpha if theorem == 1 else bound.omega)
    assert bound.phi == pytest.approx(phi, rel=1e-13)


def test_one_by_one_worked_by_hand():
    # k = r = 1, H = H_half = 1, delta = 1/e: zeta = 2 + 2 + 1 = 5.
    # gamma = s2 = 1: alpha = 2 + 2 = 4, omega = 4, beta = 2 * 5 = 10; phi = (-10 + sqrt(100 + 32 eps))/8.
    for bound in (theorem1(1, 1, epsilon=11, delta=math.exp(-1), gamma=1, sensitivity=1),
                  theorem2(1, epsilon=11, delta=math.exp(-1), gamma=1, sensitivity=1)):
        assert (bound.alpha, bound.omega) == (4, 4)
        assert bound.zeta == pytest.approx(5, rel=1e-15)
        assert bound.phi == pytest.approx((-10 + math.sqrt(452)) / 8, rel=1e-14)
        assert bound.limit == bound.phi**2


@settings(max_examples=150)
@given(rows=sizes, cols=sizes, epsilon=st.floats(-8, 3).map(lambda x: 10.0**x), delta=st.one_of(
    st.floats(-300, -1).map(lambda x: 10.0**x), st.floats(0.1, 0.999)), gamma=decades, s2=decades,
    tail=st.sampled_from(["printed", "laurent-massart"]), which=st.sampled_from([theorem1, theorem2_any]))
def test_the_printed_formula_at_60_digits_over_the_whole_domain(rows, cols, epsilon, delta, gamma, s2, tail, which):
    bound = which(rows, cols, epsilon=epsilon, delta=delta, gamma=gamma, sensitivity=s2, tail=tail)
    with mpmath.workdps(60):
        k, r, g, s, e = mpmath.mpf(rows * cols), min(rows, cols), mpmath.mpf(gamma), mpmath.mpf(s2), mpmath.mpf(epsilon)
        h, h_half = mpmath.harmonic(r), mpmath.zeta(0.5) - mpmath.zeta(0.5, r + 1)
        surprise = -mpmath.log(mpmath.mpf(delta))
        zeta = 2 * mpmath.sqrt(k * surprise) + 2 * surprise + k
        alpha, omega = (h + h_half) * g**2 + 2 * h * g * s, 4 * h * g * s
        beta = 2 * k**0.25 * (zeta if tail == "printed" else mpmath.sqrt(zeta)) * h * s
        a = alpha if which is theorem1 else omega
        phi = (-beta + mpmath.sqrt(beta**2 + 8 * a * e)) / (2 * a)
        assert phi > mpmath.mpf(10) ** -300
    measured = [bound.alpha, bound.omega, bound.beta, bound.zeta, bound.phi, bound.limit]
    assert measured == pytest.approx([float(x) for x in (alpha, omega, beta, zeta, phi, phi**2)], rel=1e-13)


@pytest.mark.parametrize("size", [1, 2, 30, 1000])
@pytest.mark.parametrize("delta", [1e-300, 1e-30, 1e-5, 0.5, 0.999])
def test_exact_chi_tail_is_the_quantile_of_the_norm(size, delta):
    bound = theorem1(size, size, epsilon=1, delta=delta, gamma=1, sensitivity=1, tail="exact-chi")
    with mpmath.workdps(40):
        survival = mpmath.gammainc(mpmath.mpf(size**2) / 2, mpmath.mpf(bound.tail_value) ** 2 / 2, regularized=True)
        assert float(survival / mpmath.mpf(delta)) == pytest.approx(1, rel=1e-9)
    assert bound.tail_value <= math.sqrt(bound.zeta) <= bound.zeta


@given(rank=st.integers(1, 10_000), ratio=st.floats(1e-3, 10), delta=st.floats(0.001, 0.9))
def test_theorem2_allows_at_least_theorem1_exactly_when_theorem3_says(rank, ratio, delta):
    facts = {"epsilon": 1.0, "delta": delta, "gamma": 1.0, "sensitivity": ratio}
    first, second = theorem1(rank, rank, **facts), theorem2(rank, **facts)
    if abs(second.omega / second.alpha - 1) > 1e-9:
        assert theorem2_wins(rank, ratio) == (second.alpha > second.omega)
        smaller, larger = (first, second) if theorem2_wins(rank, ratio) else (second, first)
        assert smaller.phi <= larger.phi * (1 + 1e-14)


def test_the_paper_s_two_sufficient_conditions_for_theorem2_hold():
    ranks = np.arange(1, 300)
    assert theorem2_wins(ranks, 1.0).all()
    assert theorem2_wins(ranks[ranks > 12], math.sqrt(2)).all()
    assert not theorem2_wins(12, math.sqrt(2))


def test_largest_size_takes_no_matrix():
    bound = theorem1(10_000, 10_000, epsilon=1e-8, delta=1e-300, gamma=1e12, sensitivity=1e12, tail="exact-chi")
    assert bound.limit > 0


@pytest.mark.parametrize(("change", "message"), [
    ({"epsilon": 0}, "epsilon must be positive, got 0"),
    ({"epsilon": math.nan}, "epsilon must be finite, got nan"),
    ({"delta": 1.5}, "delta must lie strictly between 0 and 1, got 1.5"),
    ({"delta": 0}, "delta must lie strictly between 0 and 1, got 0"),
    ({"gamma": -2}, "gamma must be positive, got -2"),
    ({"gamma": 1e200}, r"gamma must lie between 1e-150 and 1e\+150, got 1e\+200"),
    ({"gamma": 1e150, "sensitivity": 1e150, "epsilon": 1e-150}, "within the range of a double"),
    ({"sensitivity": 0}, "sensitivity must be positive, got 0"),
    ({"sensitivity": "a"}, "sensitivity must be a number, got 'a'"),
    ({"tail": "fat"}, "tail must be one of printed, laurent-massart, exact-chi, got 'fat'"),
    ({"size": 0}, "rows must be a whole number of at least 1, got 0"),
    ({"size": 2.5}, "rows must be a whole number of at least 1, got 2.5"),
    ({"size": 10**8}, "at most 10000000"),
])
def test_bad_arguments_are_refused(change, message):
    facts = {"size": 2, "epsilon": 1, "delta": 0.1, "gamma": 1, "sensitivity": 1} | change
    with pytest.raises(InputError, match=message):
        theorem2(facts.pop("size"), **facts)


def test_theorem2_wins_refuses_nonsense():
    with pytest.raises(InputError, match="ratio must be positive"):
        theorem2_wins(3, 0)
    with pytest.raises(InputError, match="rank must be a whole number"):
        theorem2_wins(2.5, 1)
