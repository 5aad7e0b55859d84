"""Shares are positive and sum to 1; each optimum beats what a generic optimiser finds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from mvgviz import InputError, binary, least_error, manual, max_pnr, uniform, water_filling
from mvgviz.design.allocation import rebalanced, with_floor

SPECTRUM = np.array([9.0, 4.0, 1.0, 0.25, 0.01])
WIDTHS = np.array([1.0, 2.0, 0.5, 1.5, 1.0])
spectra = st.lists(st.floats(-6, 6).map(lambda x: 10.0**x), min_size=1, max_size=8)
budgets = st.floats(-9, 9).map(lambda x: 10.0**x)


def test_uniform_binary_and_manual_are_what_they_say():
    assert uniform(4).tolist() == [0.25] * 4
    assert binary(4, priority=[1, 2], share=0.9) == pytest.approx([0.05, 0.45, 0.45, 0.05])
    assert manual([1, 3]).tolist() == [0.25, 0.75]


@pytest.mark.parametrize("form", ["relaxed", "unrelaxed", "exact"])
@given(values=spectra, budget=budgets, data=st.data())
def test_each_form_satisfies_its_optimality_conditions(form, values, budget, data):
    h = np.array(data.draw(st.lists(st.floats(0.1, 10), min_size=len(values), max_size=len(values))))
    filled = water_filling(values, budget=budget, form=form, half_widths=h if form == "exact" else None)
    rho, wet = filled.rho, ~filled.dry
    spent, price = {"relaxed": (rho, 1.0), "unrelaxed": (rho**2, rho), "exact": (h**2 * rho, h**2)}[form]
    assert spent.sum() == pytest.approx(budget, rel=1e-9)
    slope = 1 / (rho + 1 / np.array(values)) / price  # of log(1 + lambda rho), over that of what is spent
    assert slope[wet] == pytest.approx(slope[wet].max(), rel=1e-6)
    assert (slope[filled.dry] <= slope[wet].max() * (1 + 1e-6)).all()
    shares = rho**2 if form == "relaxed" else spent
    assert filled.theta == pytest.approx(shares / shares.sum(), rel=1e-9)


def test_water_filling_worked_by_hand():
    # Depths 1, 2 and 4 and 3 units of water: the third stays dry but for its floor of 0.001.
    filled = water_filling([1, 0.5, 0.25], budget=3, floor=1e-3)
    assert filled.level == pytest.approx((3 - 0.001 + 1 + 2) / 2)
    assert filled.dry.tolist() == [False, False, True]
    assert filled.rho == pytest.approx([filled.level - 1, filled.level - 2, 0.001])


def test_a_dry_direction_gets_the_stated_part_of_an_equal_share_in_every_form():
    lam = np.array([1.0, 0.5, 0.0, 0.0])
    for form, power in (("relaxed", 1), ("unrelaxed", 2), ("exact", 1)):
        filled = water_filling(lam, budget=3, form=form, floor=1e-3)
        assert filled.rho[2:] == pytest.approx(1e-3 * (3 / 4) ** (1 / power) * np.ones(2), rel=1e-4)
        assert filled.depth == pytest.approx([1, 2, np.inf, np.inf])
        assert filled.dry.tolist() == [False, False, True, True]


@given(parts=st.lists(st.floats(-9, 0).map(lambda x: 10.0**x), min_size=2, max_size=8), floor=st.floats(1e-6, 0.5))
def test_a_floor_lifts_the_low_and_keeps_the_proportions_of_the_others(parts, floor):
    least = floor / len(parts)
    shares = np.array(parts) / sum(parts)
    theta = with_floor(shares, least)
    assert theta.sum() == pytest.approx(1)
    assert (theta >= least).all()
    lifted = theta == least
    factor = (theta / shares)[~lifted]
    assert factor == pytest.approx(factor[0])
    assert (shares[lifted] * factor[0] <= least * (1 + 1e-9)).all()


def test_water_filling_is_not_scale_free():
    small, large = max_pnr(SPECTRUM, budget=1), max_pnr(1000 * SPECTRUM, budget=1)
    assert np.abs(small - large).max() > 0.1


@pytest.mark.parametrize("guarantee", ["theorem1", "exact"])
@pytest.mark.parametrize("entries", ["all", "diagonal"])
def test_least_error_beats_a_generic_optimiser(guarantee, entries):
    w = np.array([5.0, 1.0, 0.2, 3.0, 1.0])
    h = WIDTHS if guarantee == "exact" else np.ones(5)

    def error(theta):
        # Variances of a budget of 1: theorem sum 1/v² = 1; exact sum h²/v = 1.
        v = theta**-0.5 if guarantee == "theorem1" else h**2 / theta
        return float(np.sum(w * v)) if entries == "all" else float(np.sum(w * v**2))

    ours = least_error(w, guarantee=guarantee, entries=entries, half_widths=h if guarantee == "exact" else None)

    def error_of_logits(x):
        return math.log(error(np.exp(x - x.max()) / np.exp(x - x.max()).sum()))

    found = minimize(error_of_logits, np.zeros(5), method="BFGS", options={"gtol": 1e-10})
    assert math.log(error(ours)) == pytest.approx(found.fun, abs=1e-8)
    assert error(ours) <= error(uniform(5))


@pytest.mark.parametrize(("make", "message"), [
    (lambda: uniform(0), "k must be a whole number of at least 1"),
    (lambda: binary(3, priority=[0], share=1), "share must lie strictly between 0 and 1, got 1"),
    (lambda: binary(3, priority=[0, 1, 2], share=0.5), "some but not all of the 3 directions, got 3"),
    (lambda: binary(3, priority=[], share=0.5), "some but not all of the 3 directions, got 0"),
    (lambda: binary(3, priority=[3], share=0.5), r"different positions below 3, got \[3\]"),
    (lambda: binary(3, priority=[1, 1], share=0.5), "different positions below 3"),
    (lambda: binary(3, priority=1, share=0.5), "priority must be a list"),
    (lambda: manual([]), "weights must not be empty"),
    (lambda: manual([1, 0]), "weights must be positive, got 0 at position 1"),
    (lambda: manual([1, math.nan]), "weights must be finite"),
    (lambda: max_pnr([], budget=1), "eigenvalues must not be empty"),
    (lambda: max_pnr([1, -1], budget=1), "eigenvalues must not be negative"),
    (lambda: max_pnr([0, 0], budget=1), "eigenvalues must not all be zero"),
    (lambda: water_filling([1], budget=1, floor=0.6), "floor must"),
    (lambda: least_error([1], floor=0.6), "floor must"),
    (lambda: max_pnr([1], budget=0), "budget must be positive, got 0"),
    (lambda: max_pnr([1], budget=1, form="best"), "form must be one of relaxed, unrelaxed, exact"),
    (lambda: max_pnr([1], budget=1, half_widths=[1]), "half_widths belong to the exact form"),
    (lambda: max_pnr([1, 1], budget=1, form="exact", half_widths=[1, 0]), "half_widths must be 2 positive numbers"),
    (lambda: least_error([-1, 2]), "weights must not be negative, got -1 at position 0"),
    (lambda: least_error([0, 0]), "weights must not all be zero"),
    (lambda: least_error([1], guarantee="none"), "guarantee must be one of"),
    (lambda: least_error([1], entries="some"), "entries must be one of all, diagonal"),
])
def test_bad_allocations_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


@given(parts=st.lists(st.integers(1, 5000), min_size=2, max_size=21), data=st.data())
def test_rebalancing_keeps_the_sum_the_locked_parts_and_every_part_positive(parts, data):
    position = data.draw(st.integers(0, len(parts) - 1))
    locked = data.draw(st.sets(st.integers(0, len(parts) - 1)))
    value = data.draw(st.integers(0, sum(parts) + 10))
    new = rebalanced(parts, position=position, value=value, locked=locked)
    assert sum(new) == sum(parts)
    assert min(new) >= 1
    assert all(new[i] == parts[i] for i in locked - {position})
    free = len(parts) - 1 - len(locked - {position})
    room = sum(parts) - sum(parts[i] for i in locked - {position})
    if free and 1 <= value <= room - free:
        assert new[position] == value


def test_rebalancing_scales_the_others_in_proportion_and_sets_no_part_below_one():
    assert rebalanced([5, 5], position=0, value=0) == rebalanced([5, 5], position=0, value=1) == (1, 9)
    assert rebalanced([5000, 3000, 2000], position=0, value=7500) == (7500, 1500, 1000)
    assert rebalanced([5000, 3000, 2000], position=0, value=6000, locked=[1]) == (6000, 3000, 1000)


def test_the_favoured_get_parts_by_their_importance():
    assert binary(4, priority=[0, 2], share=0.6, importance=[1, 0.25]) == pytest.approx([0.4, 0.2, 0.2, 0.2])
    by_theorem = binary(4, priority=[0, 2], share=0.6, importance=[1, 0.125], guarantee="theorem1")
    assert by_theorem == pytest.approx([0.48, 0.2, 0.12, 0.2])
    assert binary(4, priority=[0, 2], share=0.6, importance=[3, 3]) == pytest.approx([0.3, 0.2, 0.3, 0.2])


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_weights_are_proportions_in_any_unit(unit):
    assert manual([unit, 3 * unit]) == pytest.approx([0.25, 0.75])
    assert least_error([unit, 4 * unit]) == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize("form", ["relaxed", "exact"])
def test_a_budget_may_be_as_small_as_is_allowed(form):
    assert max_pnr([1.0, 0.5], budget=1e-150, form=form).sum() == pytest.approx(1)


def test_what_nobody_needs_gets_a_ten_thousandth_of_an_equal_share():
    assert least_error([1.0, 0.0])[1] == max_pnr([1.0, 0.0], budget=1e-9, form="exact")[1] == pytest.approx(5e-5)


@pytest.mark.parametrize(("allowed", "refused", "make", "message"), [
    (1e100, 1.5e100, lambda x: max_pnr([x, 1.0], budget=1.0), "eigenvalues must lie"),
    (1e-100, 0.9e-100, lambda x: max_pnr([x, 0.0], budget=1.0), "eigenvalues must lie"),
    (1e60, 1.5e60, lambda x: least_error([1.0, 1.0], half_widths=[x, 1.0]), "half_widths must be 2"),
    (1e-60, 0.9e-60, lambda x: least_error([1.0, 1.0], half_widths=[x, 1.0]), "half_widths must be 2"),
    (1e-12, 0.9e-12, lambda x: least_error([1.0, 1.0], floor=x), "floor"),
    (1e-12, 0.9e-12, lambda x: max_pnr([1.0, 1.0], budget=1.0, floor=x), "floor"),
    (0, -1, lambda x: binary(3, priority=[x], share=0.5), "priority"),
    (0, -1, lambda x: rebalanced([2, 3], position=0, value=x), "value"),
])
def test_limits_are_where_they_are_said_to_be(allowed, refused, make, message):
    make(allowed)
    with pytest.raises(InputError, match=message):
        make(refused)
