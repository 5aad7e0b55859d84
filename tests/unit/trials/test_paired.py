"""What may be said from trials: paired differences, verdicts, sets and grids."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mvgviz import InputError, Scenario
from mvgviz.data import sample
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.results import BETTER, SAME, UNCLEAR, WORSE, Outcome, against, beaten_from, paired
from mvgviz.trials.run import run_trials
from mvgviz.trials.sweeps import MOST_SETS, coarse_first, epsilon_grid, set_change, starting_sets, with_set


def outcome(errors, key="mvg"):
    return Outcome(mechanism=mechanism(key), errors=np.asarray(errors, dtype=float))


def test_the_paired_interval_is_that_of_a_paired_t_test(rng):
    a, b = rng.normal(1.0, 0.3, 40), rng.normal(1.1, 0.3, 40)
    found = paired(outcome(a), outcome(b))
    low, high = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert (found.mean - found.half_width, found.mean + found.half_width) == pytest.approx((low, high))


def test_shared_chance_cancels(rng):
    chance = rng.normal(10, 5, 50)
    found = paired(outcome(chance), outcome(chance + 0.1 + 0.01 * rng.normal(size=50)))
    assert found.verdict == BETTER
    assert found.half_width < 0.01 < outcome(chance).half_width
    assert paired(outcome(chance + 1), outcome(chance + 0.01 * rng.normal(size=50))).verdict == WORSE


def test_a_difference_that_is_not_seen_is_not_claimed(rng):
    chance = rng.normal(10, 1, 50)
    noise = rng.normal(size=50)
    assert paired(outcome(chance), outcome(chance + noise - noise.mean())).verdict == UNCLEAR
    assert paired(outcome(chance), outcome(chance * (1 + 1e-14))).verdict == SAME


def test_one_trial_and_none_tell_nothing():
    found = paired(outcome([1.0]), outcome([2.0]))
    assert (found.verdict, found.trials) == (UNCLEAR, 1)
    assert math.isnan(found.half_width)
    assert paired(outcome([]), outcome([1.0])) is None
    assert against(outcome([1.0]), 2.0) == UNCLEAR
    assert against(outcome([]), 2.0) is None


def test_the_shorter_of_two_runs_counts():
    found = paired(outcome([1.0, 2.0, 3.0]), outcome([2.0, 3.5]))
    assert (found.mean, found.trials) == (-1.25, 2)


def test_overflow_is_unclear_not_better():
    assert against(outcome([math.inf, 1.0]), 2.0) == UNCLEAR
    assert paired(outcome([math.inf, 1.0]), outcome([1.0, 1.0])).verdict == UNCLEAR


def test_against_a_fixed_answer():
    errors = np.array([0.9, 1.0, 1.1])
    assert against(outcome(errors), 2.0) == BETTER
    assert against(outcome(errors), 0.5) == WORSE
    assert against(outcome(errors), 1.05) == UNCLEAR
    assert against(outcome(np.full(3, 0.741)), 0.741) == SAME


def test_the_trivial_answer_is_beaten_from_where_every_larger_epsilon_beats_it():
    base = run_trials(Scenario.default_for("liver").changed(trials=3), sample("liver"))
    trivial = base.references.trivial

    def at(epsilon, errors):
        return replace(base, scenario=base.scenario.changed(epsilon=epsilon), outcomes=(outcome(errors),))

    good, bad = trivial * np.array([0.50, 0.51]), trivial * np.array([2.0, 2.1])
    assert beaten_from([at(0.1, good), at(1, bad), at(5, good), at(2, good)], "mvg") == 2
    assert beaten_from([at(0.1, good), at(1, bad)], "mvg") is None
    assert beaten_from([], "mvg") is None


def test_the_grid_holds_the_scenario_s_own_epsilon_and_comes_coarse_first():
    assert epsilon_grid(1.0) == [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    assert epsilon_grid(0.7)[4] == 0.7
    order = coarse_first(epsilon_grid(0.7), 0.7)
    assert order[:3] == [0.7, 0.05, 20]
    assert sorted(order) == epsilon_grid(0.7)


def test_sets_start_from_the_scenario():
    assert starting_sets((0, 1), 2) == [(0,)]
    assert starting_sets((), 6) == [(0,), (1,)]
    assert starting_sets((1,), 3) == [(1,), (0, 2)]
    assert starting_sets((9,), 3) == [(0,), (1,)]
    assert len(starting_sets(range(8), 20)) == 6
    assert starting_sets((0,), 1_000_000) == [(0,)]


@pytest.mark.parametrize(("new", "message"), [
    ((), "at least one"), (range(3), "no choice"), ((1,), "there already")])
def test_a_set_that_is_no_choice_is_refused(new, message):
    with pytest.raises(InputError, match=message):
        with_set([(1,)], new, 3)


def test_sets_are_added_up_to_a_limit():
    assert with_set([(1,)], [2, 0], 4) == [(1,), (0, 2)]
    with pytest.raises(InputError, match="remove one first"):
        with_set([(k,) for k in range(MOST_SETS)], [8], 20)


def test_a_set_keeps_the_kind_of_split_where_it_has_favourites():
    one = Scenario()
    assert set_change(one.changed(allocation="least-error"), (1,))["allocation"] == "least-error"
    assert set_change(one.changed(allocation="max-pnr"), (1,))["allocation"] == "binary"
