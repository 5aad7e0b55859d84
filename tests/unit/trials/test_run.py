"""Trials are the same bit for bit however they are run, nothing is computed twice, and intervals are Student's."""

import math
import pickle
import tracemalloc
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import stats

from mvgviz import InputError, Scenario, random_rotation
from mvgviz.trials import run as module
from mvgviz.trials.mechanisms import MECHANISMS, mechanism
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.problem import pose
from mvgviz.trials.run import TrialCache, run_trials, sweep, trial_key
from mvgviz.trials.tasks import prepared
from tests.datasets import make_dataset
from tests.unit.trials.cases import CASES, DATA, EVERY
from tests.unit.trials.problems import same, scenario


class Counting:
    """Counts the trials that are really computed."""

    def __init__(self, monkeypatch):
        self.trials, self.calls, errors = 0, 0, module._errors

        def watched(sampler, measure, seed, first, trials):
            self.trials, self.calls = self.trials + trials, self.calls + 1
            return errors(sampler, measure, seed, first, trials)

        monkeypatch.setattr(module, "_errors", watched)


class Backwards:
    """An executor that begins with what was asked last."""

    def __init__(self):
        self.pending = []

    def submit(self, fn, /, *args):
        class Later(Future):
            def result(inner, timeout=None):  # noqa: N805
                while self.pending:
                    future, work = self.pending.pop()
                    future.set_result(work())
                return super().result(timeout)

        future = Later()
        self.pending.append((future, lambda: fn(*args)))
        return future


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES))
def test_batches_their_order_and_threads_change_nothing(case):
    one = CASES[case]
    usual = run_trials(one, DATA, mechanisms=EVERY)
    assert usual.complete
    assert len(usual.ranked()) >= 6
    for batch in (1, 3, 7, 50) if one.directions != "private" else (1, 3):
        assert same(usual, run_trials(one, DATA, mechanisms=EVERY, batch=batch))
    assert same(usual, run_trials(one, DATA, mechanisms=EVERY, batch=2, executor=Backwards()))
    with ThreadPoolExecutor(3) as pool:
        assert same(usual, run_trials(one, DATA, mechanisms=EVERY, batch=3, executor=pool))


@pytest.mark.parametrize("case", list(CASES))
def test_more_trials_keep_the_first_ones_and_mechanisms_do_not_mind_each_other(case):
    one = CASES[case]
    few, more = (run_trials(one, DATA, mechanisms=EVERY, trials=trials) for trials in (3, 5))
    for a, b in zip(few.outcomes, more.outcomes, strict=True):
        assert np.array_equal(a.errors, b.errors[:3])
    alone = run_trials(one, DATA, mechanisms=["mvg"], trials=5)["mvg"]
    assert np.array_equal(alone.errors, more["mvg"].errors)
    assert len(set(alone.errors)) == 5
    other = run_trials(one.changed(seed=1), DATA, mechanisms=["mvg"], trials=5)["mvg"]
    assert not np.array_equal(alone.errors, other.errors)


@pytest.mark.parametrize("case", list(CASES))
def test_samplers_and_measures_travel(case):
    problem = pose(CASES[case], DATA)
    measure = prepared(problem)
    for one in MECHANISMS.values():
        if one.unsuitable(problem, measure.level) is None:
            sampler = one.prepare(problem, measure.level)
            other, ruler = pickle.loads(pickle.dumps((sampler, measure)))
            errors = measure.errors(sampler.draw(Draws(0, 2, 3)))
            assert np.array_equal(errors, ruler.errors(other.draw(Draws(0, 2, 3))))
            assert errors.shape == (3,)
            assert sampler.size >= 1


def test_means_and_intervals_are_students_and_fewer_than_two_trials_have_no_interval():
    results = run_trials(CASES["linear-ridge"], DATA, mechanisms=["mvg", "laplace", "mvg-theorem1"], trials=12)
    outcome = results["laplace"]
    expected = stats.t.interval(0.95, 11, loc=np.mean(outcome.errors), scale=stats.sem(outcome.errors))
    assert outcome.interval == pytest.approx(expected, rel=1e-12)
    one, none = (replace(outcome, errors=outcome.errors[:trials]) for trials in (1, 0))
    assert (one.mean, math.isnan(none.mean)) == (outcome.errors[0], True)
    assert all(math.isnan(end) for end in (*one.interval, *none.interval))
    assert results["mvg"].epsilon_spent == pytest.approx(1)  # known for Gaussian noise alone
    assert results["mvg-theorem1"].epsilon_spent < 0.5
    assert outcome.epsilon_spent is None


def test_nothing_is_computed_twice(monkeypatch):
    counting, cache, one = Counting(monkeypatch), TrialCache(), CASES["linear-ridge"]
    first = run_trials(one, DATA, mechanisms=EVERY, cache=cache)
    assert counting.trials == 8 * len(first.ranked())
    assert same(first, run_trials(one, DATA, mechanisms=EVERY, cache=cache))
    assert counting.trials == 8 * len(first.ranked())
    run_trials(one, DATA, mechanisms=["mvg", "laplace"], cache=cache, trials=10)
    assert counting.trials == 8 * len(first.ranked()) + 4
    run_trials(one, DATA, mechanisms=["mvg", "laplace"], cache=cache, trials=5)
    assert counting.trials == 8 * len(first.ranked()) + 4


@pytest.mark.parametrize(("change", "again"), [
    ({"share": 0.6}, {"mvg", "mvg-exact"}), ({"priority_directions": (1,)}, {"mvg", "mvg-exact", "reduced-gaussian"}),
    ({"delta": 1e-4}, {"mvg", "mvg-exact", "iid", "gaussian-analytic", "reduced-gaussian"}),
    ({"guarantee": "theorem1"}, {"mvg", "iid"}), ({"trials": 3}, set()), ({"length": 9.0}, set()),
    ({"post": ("clip", "symmetrise", "psd")}, set()),  # subtract means nothing to this task
])
def test_a_changed_choice_recomputes_what_depends_on_it_and_nothing_else(change, again):
    keys = ["mvg", "mvg-exact", "iid", "gaussian-analytic", "laplace", "exponential", "reduced-gaussian"]
    one, cache = scenario("identity", task="reconstruction", trials=3), TrialCache()
    run_trials(one, DATA, mechanisms=keys, cache=cache)
    before = set(cache)
    run_trials(one.changed(**change), DATA, mechanisms=keys, cache=cache)
    assert {key.split('"')[1] for key in set(cache) - before} == again


@pytest.mark.parametrize("change", [
    {"epsilon": 2.0}, {"seed": 1}, {"label": 1}, {"scale": "unit"}, {"query": "identity"}, {"task": "subspace"},
    {"data": "liver"}, {"private_share": 0.3}, {"directions": "random"}, {"mode": "rows"}, {"tail": "exact-chi"},
    {"allocation": "max-pnr"}, {"angle": 10.0}, {"plane": (1, 2)}, {"form": "unrelaxed"}, {"weights": (1, 2, 3, 4)},
    {"post": ("psd",)}, {"family": "ellipse"},
])
def test_whatever_can_change_a_trial_is_in_its_key(change):
    one = scenario("covariance", task="linear-ridge", label=0)
    keys = [trial_key(pose(other, DATA), mechanism("mvg")) for other in (one, one.changed(**change))]
    assert keys[0] != keys[1]


def test_kernels_of_another_length_other_sensitivities_and_numbers_of_records_have_other_keys():
    def key(data=DATA, sensitivity="own", **choices):
        return trial_key(pose(scenario("kernel", **choices), data, sensitivity=sensitivity), mechanism("laplace"))

    assert len({key(), key(length=2.0), key(make_dataset(3, 41)), key(sensitivity="tight")}) == 4


def test_other_directions_from_a_file_are_other_trials():
    one = scenario("covariance", task="first-component", directions="upload", trials=3)
    cache, errors = TrialCache(), []
    for seed in (1, 2, 1):
        problem = pose(one, DATA, uploaded=random_rotation(3, rng=np.random.default_rng(seed)))
        results = run_trials(one, DATA, mechanisms=["mvg", "laplace"], problem=problem, cache=cache)
        errors.append(results["mvg"].errors)
    assert not np.array_equal(errors[0], errors[1])
    assert np.array_equal(errors[0], errors[2])
    assert len(cache) == 3  # Laplace once


def test_every_field_of_a_scenario_is_in_the_key_of_its_own_noise_or_in_the_rest_of_the_key():
    elsewhere = {"data", "query", "scale", "length", "group", "category", "neighbours", "task", "label", "post",
                 "judged", "priority"}  # the question, the task, and the rows that are judged
    assert {one.name for one in fields(Scenario)} - {*MECHANISMS["mvg"].fields} - elsewhere == {"trials", "from_data"}


@pytest.mark.parametrize("family", ["box", "box-ellipse", "laplace", "ellipse"])
def test_trials_of_another_family_of_noise_are_not_taken_from_the_cache(family):
    one, cache = scenario("mean", task="reconstruction", trials=3), TrialCache()
    run_trials(one, DATA, cache=cache)
    other = one.changed(family=family)
    cached, fresh = run_trials(other, DATA, cache=cache), run_trials(other, DATA)
    assert np.array_equal(cached["mvg"].errors, fresh["mvg"].errors)


def test_progress_rises_to_the_total():
    seen, cache = [], TrialCache()
    for mechanisms, batch in ((["mvg", "laplace"], 3), (["mvg", "iid"], None)):
        run_trials(CASES["linear-ridge"], DATA, mechanisms=mechanisms, batch=batch, cache=cache,
                   progress=lambda *now: seen.append(now))
    assert len(seen) == 7
    assert seen == sorted(seen)
    assert seen[-2:] == [(16, 16)] * 2  # what was remembered is done from the start


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("after", [0, 1, 4])
def test_what_is_finished_when_cancelled_is_kept_and_going_on_ends_the_same(threads, after):
    # 120 batches, of which at most 16 are under way at a time.
    calls, cache = iter(range(10**9)), TrialCache()

    def run(**more):
        return run_trials(CASES["reconstruction"].changed(trials=40), DATA,
                          mechanisms=["mvg", "laplace", "exponential"], **more)

    whole = run()
    with ThreadPoolExecutor(threads) if threads else nullcontext() as pool:
        part = run(batch=1, cache=cache, executor=pool, cancelled=lambda: next(calls) >= after)
        rest = run(batch=3, cache=cache, executor=pool)
    assert not part.complete
    assert after > 0 or not part.ranked()
    for some, every in zip(part.outcomes, whole.outcomes, strict=True):
        assert np.array_equal(some.errors, every.errors[: some.errors.size])
    assert rest.complete
    assert same(rest, whole)


def test_two_runs_can_share_a_memory_whatever_their_batches():
    one, cache = CASES["reconstruction"].changed(trials=40), TrialCache()
    usual = run_trials(one, DATA, mechanisms=["mvg", "laplace"])
    with ThreadPoolExecutor(3) as pool:
        for run in [pool.submit(run_trials, one, DATA, mechanisms=["mvg", "laplace"], batch=batch, cache=cache)
                    for batch in (3, 7, 1)]:
            assert same(usual, run.result())
    assert all(len(errors) >= 40 for errors in cache.values())


def test_a_memory_that_others_fill_meanwhile_still_ends_complete():
    # Between two batches of 2 someone else puts in a third trial: nothing is lost, doubled or called complete early.
    one, cache = CASES["reconstruction"].changed(trials=7), TrialCache()
    usual = run_trials(one, DATA, mechanisms=["mvg"])["mvg"].errors
    seen = []

    def meddle(done, total):
        seen.append(done)
        if done == 2:
            cache[next(iter(cache))] = usual[:3]

    results = run_trials(one, DATA, mechanisms=["mvg"], batch=2, cache=cache, progress=meddle)
    assert results.complete
    assert np.array_equal(results["mvg"].errors, usual)
    assert seen == [2, 4, 6, 7]


def test_what_does_not_apply_has_a_reason_and_no_errors():
    results = run_trials(CASES["kernel-ridge"], DATA, mechanisms=EVERY)
    for outcome in results.outcomes:
        assert (outcome.reason is None) is (outcome.errors.size > 0)
    assert "first component" in results["exponential-component"].reason
    assert "positive semi-definite" in results["mvg-theorem2"].reason
    assert results["gaussian-classic"].caution is not None
    assert [one.mean for one in results.ranked()] == sorted(one.mean for one in results.ranked())
    with pytest.raises(KeyError):
        results["magic"]


def test_a_sweep_asks_each_question_once_and_shares_random_numbers(monkeypatch):
    asked, ask = [], pose.__globals__["ask"]
    monkeypatch.setitem(pose.__globals__, "ask", lambda *args: (asked.append(args), ask(*args))[1])
    counting = Counting(monkeypatch)
    grid = [{"epsilon": 0.5}, {"epsilon": 1.0, "share": 0.6}, {"epsilon": 1.0, "share": 0.9}, {"query": "covariance"}]
    points = sweep(grid, scenario("identity", task="subspace", trials=4), DATA, mechanisms=["mvg", "laplace"])
    assert len(asked) == 2
    assert counting.trials == 4 * (4 + 3)  # Laplace knows no share
    for change, point in zip(grid, points, strict=True):
        alone = run_trials(scenario("identity", task="subspace", trials=4).changed(**change), DATA,
                           mechanisms=["mvg", "laplace"])
        assert same(point, alone)


@pytest.mark.parametrize("trials", [(5, 2), (2, 5), (1, 5, 2)])
def test_points_of_a_sweep_may_have_different_numbers_of_trials(trials):
    points = sweep([{"trials": n} for n in trials], CASES["reconstruction"], DATA, mechanisms=["laplace"])
    assert [point["laplace"].errors.size for point in points] == list(trials)


def test_a_problems_own_sensitivity_is_used_unless_another_is_given():
    one = CASES["first-component"].changed(directions="standard")
    problem = pose(one, DATA, sensitivity="printed")
    given = run_trials(one, DATA, mechanisms=["gaussian-analytic"], problem=problem)
    assert given.sensitivity == "printed"
    assert same(given, run_trials(one, DATA, mechanisms=["gaussian-analytic"], sensitivity="printed"))
    assert run_trials(one, DATA, mechanisms=["iid"], problem=problem, sensitivity="tight").sensitivity == "tight"
    assert run_trials(one, DATA, mechanisms=["iid"]).sensitivity == "own"


def test_bad_arguments_get_a_sentence():
    for arguments, words in (({"mechanisms": ["magic"]}, "mechanism must be one of"), ({"trials": 0}, "trials"),
                             ({"batch": 0}, "batch"), ({"task": "magic"}, "task"),
                             ({"sensitivity": "x"}, "sensitivity must be one of own, tight, printed")):
        with pytest.raises(InputError, match=words):
            run_trials(CASES["reconstruction"], DATA, **arguments)


def test_a_failure_on_a_worker_comes_back():
    class Broken:
        def submit(self, fn, /, *args):
            future = Future()
            future.set_exception(OSError("worker lost"))
            return future

    with pytest.raises(OSError, match="worker lost"):
        run_trials(CASES["reconstruction"], DATA, executor=Broken())


@pytest.mark.slow
def test_a_trial_of_a_million_records_costs_no_more_than_one_of_a_thousand():
    one = scenario("identity", task="covariance-estimation", trials=200)
    problem = pose(one, make_dataset(5, 1_000_000))
    keys = ["mvg", "gaussian-analytic", "mvg-theorem1", "johnson-lindenstrauss"]
    run_trials(one, problem.dataset, problem=problem, mechanisms=keys, trials=1)
    measure = prepared(problem)
    samplers = [mechanism(key).prepare(problem, measure.level) for key in keys]
    assert len(pickle.dumps((samplers, measure))) < 20_000  # what a worker is sent
    tracemalloc.start()
    for sampler in samplers:
        module._errors(sampler, measure, 0, 0, 200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000  # one number for each record would be 8 million


def test_predictions_for_many_records_are_made_a_few_trials_at_a_time():
    problem = pose(scenario("covariance", task="linear-ridge", label=0), make_dataset(2, 400_000))
    assert prepared(problem).size >= 112_000
