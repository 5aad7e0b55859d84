"""A problem is one question of one dataset with one sensitivity for all."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvgviz import Dataset, InputError
from mvgviz.scenario.resolve import build
from mvgviz.trials.mechanisms import MECHANISMS, mechanism
from mvgviz.trials.problem import pose, question_key, split_records
from tests.datasets import make_dataset
from tests.unit.trials.problems import differences, graph, many, posed, scenario


def test_97_of_345_records_are_held_out_and_all_are_used_once():
    data = make_dataset(2, 345)
    learn, measure = split_records(data)
    assert (learn.n_records, measure.n_records) == (248, 97)
    both = np.concatenate([learn.matrix, measure.matrix], axis=1)
    assert np.array_equal(np.sort(both[0]), np.sort(data.matrix[0]))


@settings(deadline=None, max_examples=30)
@given(n=st.integers(4, 300), seed=st.integers(0, 1000))
def test_which_records_are_held_out_follows_from_their_number_alone(n, seed):
    positions = np.arange(n)
    held = []
    for other in (seed, seed + 1):
        values = np.vstack([positions, np.random.default_rng(other).uniform(0, n, n)])
        data = Dataset(matrix=values, features=["position", "value"], lower=-1, upper=n)
        learn, measure = split_records(data)
        assert learn.n_records + measure.n_records == n
        assert abs(measure.n_records - 0.28 * n) <= 0.5
        assert not set(learn.matrix[0]) & set(measure.matrix[0])
        held.append(measure.matrix[0])
    assert np.array_equal(*held)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_too_few_records_for_regression_get_a_sentence(n):
    with pytest.raises(InputError, match=f"at least 4 records.*got {n}"):
        posed(n=n, task="linear-ridge", label=0)


def test_four_records_are_enough_and_every_answer_is_finite():
    from mvgviz.trials.run import run_trials

    data = make_dataset(2, 4)
    for query, task in (("identity", "kernel-ridge"), ("identity", "linear-ridge"), ("covariance", "linear-ridge")):
        results = run_trials(scenario(query, task=task, label=1, trials=3), data, mechanisms=list(MECHANISMS))
        assert all(np.isfinite(one.errors).all() for one in results.outcomes)


def test_delta_defaults_to_a_hundredth_of_one_over_the_records_that_are_protected_or_less():
    assert posed(n=100, delta=None).delta == 1e-6
    assert posed(n=20_000, delta=None).delta == pytest.approx(1 / 2_000_000)
    assert posed(n=20_000, delta=None, task="linear-ridge", label=0).delta == pytest.approx(1 / 1_440_000)
    assert posed(n=1, delta=None).delta == 1e-6


@pytest.mark.parametrize(("scale", "low", "high"), [("declared", -5, 3), ("symmetric", -1, 1), ("unit", 0, 1)])
def test_the_answer_and_the_records_held_out_have_the_scenarios_scale(scale, low, high):
    data = make_dataset(2, 50, -5.0, 3.0)
    problem = posed(data=data, scale=scale, task="linear-ridge", label=0)
    assert (problem.table.lower == low).all()
    assert (problem.held_out.upper == high).all()
    learn, measure = split_records(data)
    for part, there in ((learn, problem.query.value), (measure, problem.held_out.matrix)):
        expected = low + (part.matrix + 5) / 8 * (high - low)
        assert np.abs(there - expected).max() < 1e-14
    assert problem.query.sensitivity == pytest.approx((high - low) * math.sqrt(2))


def test_graphs_are_never_divided():
    asked = pose(scenario("laplacian", task="linear-ridge", label=0), graph())
    assert asked.table is None
    assert asked.held_out is None
    assert asked.query.rows == 6


@pytest.mark.parametrize(("change", "same"), [
    ({"epsilon": 2.0}, True), ({"share": 0.6}, True), ({"seed": 9}, True), ({"label": 2}, True),
    ({"length": 3.0}, True), ({"task": "subspace"}, True),
    ({"query": "mean"}, False), ({"scale": "unit"}, False), ({"data": "liver"}, False),
    ({"task": "linear-ridge"}, False),
])
def test_a_question_is_what_decides_the_answer(change, same):
    one = scenario()
    assert (question_key(one) == question_key(one.changed(**change))) is same
    problem = pose(one, make_dataset(3, 20))
    if same:
        other = problem.with_scenario(one.changed(**change))
        assert other.asked is problem.asked
        assert other.shared is problem.shared
        assert other.scenario == one.changed(**change)
    else:
        with pytest.raises(InputError, match="another question"):
            problem.with_scenario(one.changed(**change))


def test_a_problem_uses_the_answer_that_is_there_where_it_is_the_same():
    data = make_dataset(2, 40, -5.0, 3.0)
    for scale in ("declared", "unit"):
        setup = build(scenario("covariance", scale=scale), data)
        assert pose(setup.scenario, data, worked_out=setup).asked is setup.box
        for other in ({"query": "mean"}, {"task": "linear-ridge", "label": 0}, {"neighbours": "add-remove"}):
            changed = setup.scenario.changed(**other)
            assert np.array_equal(pose(changed, data, worked_out=setup).query.value, pose(changed, data).query.value)


def test_a_kernels_length_is_part_of_the_question():
    assert question_key(scenario("kernel", length=1.0)) != question_key(scenario("kernel", length=2.0))


def test_another_scenario_on_the_same_data_has_its_own_delta():
    assert pose(scenario(), make_dataset(2, 20)).with_scenario(scenario(delta=None)).delta == 1e-6


def test_own_printed_and_tight_are_what_they_say():
    n, box = 40, (-1.0, 1.0)
    problems = {name: posed("covariance", m=3, n=n, lower=box[0], upper=box[1], sensitivity=name)
                for name in ("own", "tight", "printed")}
    printed = 2 * 3 / n
    reached = max(np.linalg.norm(d) for d in differences([-1] * 3, [1] * 3)) / n
    assert problems["printed"].s2 == pytest.approx(printed)
    for name in ("own", "tight"):
        assert reached <= problems[name].s2 * (1 + 1e-12)
        assert problems[name].s2 <= reached * 1.01
        assert problems[name].enlargement(problems[name].query) == 1
    assert problems["printed"].enlargement(problems["printed"].query) == pytest.approx(printed / problems["tight"].s2)
    # What the theorems see.
    assert problems["own"].query.printed_sensitivity == pytest.approx(printed)
    assert problems["printed"].query.printed_sensitivity == pytest.approx(printed)
    assert problems["tight"].query.printed_sensitivity == problems["tight"].s2


@pytest.mark.parametrize("name", ["mvg-exact", "iid", "gaussian-analytic", "gaussian-classic", "exponential"])
def test_one_sensitivity_for_all_enlarges_every_noise_by_the_same_factor(name):
    tight, printed = (posed("covariance", m=2, n=40, sensitivity=which) for which in ("tight", "printed"))
    spreads = [np.std(many(mechanism(name).prepare(problem, "answer"), 20, seed=3) - problem.query.value)
               for problem in (tight, printed)]
    larger = printed.enlargement(printed.query)
    assert spreads[1] / spreads[0] == pytest.approx(larger, rel=1e-9)  # the same random numbers
    assert larger > 1.4


