"""What may be said from trials: paired differences, verdicts, sets and grids.

The error–epsilon frontier: isotonic fit, reading across, and a law that can be inverted by hand.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import chi

from mvgviz import InputError, Scenario, gaussian_epsilon, gaussian_mu
from mvgviz.data import sample
from mvgviz.trials import sweeps
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.problem import pose
from mvgviz.trials.results import BETTER, SAME, UNCLEAR, WORSE, Outcome, against, beaten_from, paired
from mvgviz.trials.run import TrialCache, resume, run_trials, sweep
from tests.datasets import make_dataset


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


def test_one_trial_none_and_one_beyond_all_numbers_tell_nothing():
    assert paired(outcome([math.inf, 1.0]), outcome([1.0, 1.0])).verdict == UNCLEAR
    found = paired(outcome([1.0]), outcome([2.0]))
    assert (found.verdict, found.trials) == (UNCLEAR, 1)
    assert math.isnan(found.half_width)
    assert paired(outcome([]), outcome([1.0])) is None


def test_the_shorter_of_two_runs_counts():
    found = paired(outcome([1.0, 2.0, 3.0]), outcome([2.0, 3.5]))
    assert (found.mean, found.trials) == (-1.25, 2)


@pytest.mark.parametrize(("errors", "fixed", "verdict"), [
    ([0.9, 1.0, 1.1], 2.0, BETTER), ([0.9, 1.0, 1.1], 0.5, WORSE), ([0.9, 1.0, 1.1], 1.05, UNCLEAR),
    ([0.741] * 3, 0.741, SAME), ([1.0], 2.0, UNCLEAR), ([], 2.0, None), ([math.inf, 1.0], 2.0, UNCLEAR)])
def test_against_a_fixed_answer(errors, fixed, verdict):
    assert against(outcome(errors), fixed) == verdict


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
    assert sweeps.epsilon_grid(1.0) == [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    assert sweeps.epsilon_grid(0.7)[4] == 0.7
    order = sweeps.coarse_first(sweeps.epsilon_grid(0.7), 0.7)
    assert order[:3] == [0.7, 0.05, 20]
    assert sorted(order) == sweeps.epsilon_grid(0.7)
    assert sweeps.epsilon_grid(0.3, wide=True) == sorted({*sweeps.EPSILONS, 0.3})
    assert sweeps.epsilon_grid(1.0, wide=True) == list(sweeps.EPSILONS)
    assert (sweeps.EPSILONS[0], sweeps.EPSILONS[-1]) == (0.01, 100)


def test_sets_start_from_the_scenario():
    assert sweeps.starting_sets((0, 1), 2) == [(0,)]
    assert sweeps.starting_sets((), 6) == [(0,), (1,)]
    assert sweeps.starting_sets((1,), 3) == [(1,), (0, 2)]
    assert sweeps.starting_sets((9,), 3) == [(0,), (1,)]
    assert len(sweeps.starting_sets(range(8), 20)) == 6
    assert sweeps.starting_sets((0,), 1_000_000) == [(0,)]


@pytest.mark.parametrize(("sets", "new", "message"), [
    ([(1,)], (), "at least one"), ([(1,)], range(3), "one direction out"), ([(1,)], (1,), "there already"),
    ([(k,) for k in range(sweeps.MOST_SETS)], [2, 0], "remove one first")])
def test_a_set_is_added_where_it_is_a_choice_and_there_is_room(sets, new, message):
    assert sweeps.with_set([(1,)], [2, 0], 4) == [(1,), (0, 2)]
    with pytest.raises(InputError, match=message):
        sweeps.with_set(sets, new, 3)


def test_a_set_keeps_the_kind_of_split_where_it_has_favourites():
    one = Scenario()
    assert sweeps.set_change(one.changed(allocation="least-error"), (1,))["allocation"] == "least-error"
    assert sweeps.set_change(one.changed(allocation="max-pnr"), (1,))["allocation"] == "binary"


def curve(epsilons, means, half=0.0):
    means = np.array(means, dtype=float)
    return sweeps.Curve(mechanism=mechanism("laplace"), epsilons=np.array(epsilons, dtype=float), means=means,
                 lows=means - half, highs=means + half)


def test_a_falling_sequence_stays_and_a_rise_is_pooled():
    assert sweeps.falling(np.array([5.0, 3.0, 1.0])).tolist() == [5, 3, 1]
    assert sweeps.falling(np.array([5.0, 1.0, 3.0, 0.5])).tolist() == [5, 2, 2, 0.5]
    assert sweeps.falling(np.array([1.0, 2.0, 6.0])).tolist() == [3, 3, 3]


@settings(deadline=None)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_the_fit_is_that_of_the_min_max_formula(values):
    # Barlow et al. 1972: the k-th fitted value is the least, over starts, of the largest, over ends, block mean.
    n = len(values)
    oracle = [min(max(np.mean(values[a : b + 1]) for b in range(k, n)) for a in range(k + 1)) for k in range(n)]
    assert sweeps.falling(np.array(values)) == pytest.approx(np.array(oracle), abs=1e-9)


def test_between_two_points_the_curve_is_a_straight_line_in_logarithms():
    epsilons, means = np.array([0.1, 10.0]), np.array([8.0, 0.5])
    # error = c epsilon^-slope with slope log(16)/log(100)
    slope = math.log(16) / math.log(100)
    for error in (8.0, 3.0, 1.0, 0.5):
        expected = 0.1 * (8.0 / error) ** (1 / slope)
        assert sweeps.epsilon_for(epsilons, means, error) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("means", "error", "epsilon", "reached", "at_most"), [
    ([3, 2, 1], 0.9, math.inf, False, False), ([3, 2, 1], 3.5, 0.1, True, True), ([3, 2, 1], 2.0, 1, True, False),
    ([4, 2, 2], 2.0, 1, True, False),  # the least epsilon of a flat stretch
    ([2, 1, 0], 1e-6, 10 ** (6 / 300), True, False)])  # what is 0 is drawn at 1e-300
def test_a_curve_is_read_across_as_far_as_it_goes(means, error, epsilon, reached, at_most):
    reading = curve([0.1, 1, 10], means).read(error)
    assert (reading.reached, reading.at_most) == (reached, at_most)
    assert reading.epsilon == pytest.approx(epsilon)


def test_the_interval_of_the_reading_comes_from_the_band():
    reading = curve([0.1, 1, 10], [30, 3, 0.3], half=0.1).read(3.0)
    assert reading.low < reading.epsilon < reading.high
    alone = sweeps.Curve(mechanism=mechanism("laplace"), epsilons=np.array([1.0, 2.0]), means=np.array([2.0, 1.0]),
                  lows=np.full(2, math.nan), highs=np.full(2, math.nan)).read(1.5)
    assert math.isnan(alone.low)
    assert alone.reached


def test_the_wanted_error_must_be_positive():
    for wrong in (0, -1, math.nan, math.inf):
        with pytest.raises(InputError, match="error"):
            curve([1, 2], [2, 1]).read(wrong)


@pytest.fixture(scope="module")
def swept():
    # Without post-processing the error of the answer itself is that of the noise, s2/mu ||N||_F: invertible by hand.
    data = make_dataset(4, 60)
    scenario = Scenario(data="two_features", post=(), trials=30, scale="declared", delta=1e-9, judged="everything")
    grid = [{"epsilon": epsilon} for epsilon in sweeps.EPSILONS]
    return data, scenario, sweep(grid, scenario, data, mechanisms=["gaussian-analytic", "laplace", "gaussian-triangle"])


def test_the_gaussian_curve_is_inverted_as_the_exact_law_says(swept):
    data, _, results = swept
    found = {one.mechanism.key: one for one in sweeps.frontier(results)}
    typical = chi(240).mean() / math.sqrt(240) * np.linalg.norm(data.widths) * 100 / data.widths[0]  # in percent
    # The norm of 240 normals varies by 4.6 %, so the mean of 30 stays within 5 x 0.84 % of its expectation but
    # for 1e-6 by chance, and epsilon with it; that the law bends between the points makes 1 % more.
    for epsilon in (0.03, 0.3, 3.0, 30.0):
        error = typical / float(gaussian_mu(epsilon, 1e-9))
        assert float(gaussian_epsilon(1e-9, typical / error)) == pytest.approx(epsilon, rel=1e-6)
        assert found["gaussian-analytic"].read(error).epsilon == pytest.approx(epsilon, rel=0.06)


def test_pure_noise_scales_with_epsilon_alone(swept):
    _, _, results = swept
    laplace = next(one for one in sweeps.frontier(results) if one.mechanism.key == "laplace")
    at_one = float(laplace.means[list(sweeps.EPSILONS).index(1.0)])
    # Common random numbers: the same draws at each epsilon, so error x epsilon is one number.
    assert laplace.means * laplace.epsilons == pytest.approx(np.full(len(sweeps.EPSILONS), at_one), rel=1e-9)
    assert laplace.read(at_one / 7).epsilon == pytest.approx(7, rel=1e-6)


def test_a_mechanism_that_does_not_apply_has_no_curve(swept):
    assert {one.mechanism.key for one in sweeps.frontier(swept[2])} == {"gaussian-analytic", "laplace"}


def test_a_resumed_sweep_gives_the_sweep_and_prepares_nothing_twice(swept, monkeypatch):
    data, scenario, results = swept
    posed, cache, seen = pose(scenario, data), TrialCache(), []
    points = [posed.with_scenario(scenario.changed(epsilon=epsilon), mechanisms=(
        "gaussian-analytic", "laplace", "gaussian-triangle")) for epsilon in sweeps.EPSILONS]

    def stepped(**more):
        return resume(points, cache=cache, **more)

    calls = iter(range(10**9))
    assert None in stepped(cancelled=lambda: next(calls) > 30, progress=lambda *now: seen.append(now))
    assert 0 < sum(cache.finished(point) is not None for point in points) < len(points)
    again = stepped(progress=lambda *now: seen.append(now))
    assert all(np.array_equal(a[key].errors, b[key].errors) for a, b in zip(again, results, strict=True)
               for key in ("gaussian-analytic", "laplace"))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert max(done for done, _ in seen) <= seen[-1][1]
    monkeypatch.setattr("mvgviz.trials.run.measure", None)  # everything is kept: calling it would fail
    assert all(a is b for a, b in zip(stepped(), again, strict=True))


@pytest.mark.parametrize("level", [0.682, 0.1, 0.3, 0.7])
def test_a_plateau_is_read_at_its_beginning_whatever_the_rounding(level):
    assert np.array_equal(sweeps.falling(np.full(13, level)), np.full(13, level))
    epsilons = np.array(sweeps.EPSILONS)
    assert sweeps.epsilon_for(epsilons, np.full(len(epsilons), level), level) == epsilons[0]
