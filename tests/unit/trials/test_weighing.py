"""Errors in units of the data, and of features that matter more than others."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Scenario, run_trials
from mvgviz.data import sample
from mvgviz.query.prior import Weighing
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.problem import OWN, PERCENT, pose
from mvgviz.trials.run import measure, part_errors, part_problems
from mvgviz.trials.tasks import measure_for
from tests.datasets import make_dataset
from tests.unit.trials.problems import many, posed

DATA = replace(make_dataset(3, 40, [0, -1, 100], [10, 1, 500]), units=("h", "h", "kg"))


@pytest.mark.parametrize(("priority", "unit"), [((0,), "h"), ((0, 1), "h"), ((0, 2), PERCENT)])
@pytest.mark.parametrize("query", ["identity", "mean"])
@pytest.mark.parametrize("scale", ["declared", "unit", "symmetric"])
def test_errors_are_in_the_unit_that_the_judged_features_share(query, scale, priority, unit):
    """The noise is known exactly: on each feature sigma times the width of its range over that of the table."""
    problem = posed(query, DATA, scale=scale, priority_directions=priority, judged="priority", post=(), epsilon=3.0)
    found, setup = measure_for(problem), problem.setup("exact")
    assert found.references.unit == unit
    sizes = (np.full(3, 100.0) if unit == PERCENT else DATA.widths) / setup.table.widths
    std = np.sqrt(setup.design.row_side.covariance_diagonal()) * sizes
    squares = found.errors(many(mechanism("mvg").prepare(problem, found.level), 4_000)) ** 2
    assert squares.mean() == pytest.approx((std[list(priority)] ** 2).mean(), abs=6 * squares.std() / math.sqrt(4_000))


def test_a_released_answer_errs_by_what_a_person_would_compute():
    for query in ("identity", "mean"):
        problem = posed(query, DATA, scale="unit", priority_directions=(2,), judged="priority", post=("clip",))
        released = mechanism("mvg").prepare(problem, "answer").draw(Draws(0, 0, 5))
        own = 100 + 400 * np.clip(released[:, 2], 0, 1)
        true = DATA.matrix[2] if query == "identity" else DATA.matrix[2].mean()
        assert measure_for(problem).errors(released) == pytest.approx(np.sqrt(((own - true) ** 2).mean(axis=1)))


def test_references_are_in_the_same_unit():
    references = measure_for(posed("mean", DATA, scale="symmetric", priority_directions=(0,),
                                   judged="priority")).references
    off = abs(float(DATA.matrix[0].mean()) - 5)
    assert references.non_private == 0
    assert references.trivial == pytest.approx(off)  # 0 is the middle of [-1, 1]
    assert references.random_guess == pytest.approx(math.hypot(off, 10 / math.sqrt(12 * 40)))


def test_one_feature_without_a_unit_is_in_its_own_and_several_are_in_percent():
    data = replace(DATA, units=("",) * 3)
    for priority, unit in (((0,), OWN), ((0, 1), PERCENT)):
        assert measure_for(posed("mean", data, priority_directions=priority, judged="priority")).references.unit == unit
    assert measure_for(posed("covariance", data, priority_directions=(0,), judged="priority")).references.unit == ""


def test_each_part_has_its_own_unit():
    scenario = Scenario.default_for("two_features").changed(trials=5)
    points, _ = part_problems(pose(scenario, sample("two_features")))
    found = part_errors(measure(list(points.values())))
    assert [part.references.unit for part in found] == ["h", "points", PERCENT]
    assert run_trials(scenario, sample("two_features")).metric == "mean error in h"


@pytest.mark.parametrize("task", ["reconstruction", "covariance-estimation", "first-component", "subspace"])
def test_an_entry_counts_as_much_as_both_its_features(task, rng):
    """The same as asking about features stretched by the roots of their weights, every one alike."""
    weighed = posed("covariance", DATA, priority_directions=(0, 1), importance=(1, 4), judged="priority", task=task)
    roots = np.array([0.5, 1.0])
    stretched = posed("covariance", make_dataset(2, 40, [0, -1], [10, 1]), task=task, priority_directions=())
    value = weighed.query.value[:2, :2] * np.outer(roots, roots)
    stretched = replace(stretched, asked=replace(stretched.query, value=value), shared={})
    released = weighed.query.value + 0.3 * rng.standard_normal((6, 3, 3))
    expected = measure_for(stretched).errors(released[:, :2, :2] * np.outer(roots, roots))
    if task == "reconstruction":  # what is done with the answer is done before it is weighed
        expected = measure_for(replace(weighed, scenario=weighed.scenario.changed(post=("symmetrise",))))
        part = released[:, :2, :2]
        off = ((part + part.transpose(0, 2, 1)) / 2 - weighed.query.value[:2, :2]) * np.outer(roots, roots)
        assert expected.errors(released) == pytest.approx(np.linalg.norm(off, axis=(1, 2)) / np.linalg.norm(value))
    else:
        assert measure_for(weighed).errors(released) == pytest.approx(expected)


@pytest.mark.parametrize("task", ["covariance-estimation", "first-component"])
def test_weights_enter_moments_of_a_table_as_they_enter_a_covariance(task):
    asked = {"priority_directions": (0, 1), "importance": (1, 4), "judged": "priority", "task": task}
    table, moments = (posed(query, DATA, **asked) for query in ("identity", "covariance"))
    released = mechanism("mvg").prepare(table, "moments").draw(Draws(0, 0, 4))
    assert measure_for(table).errors(released) == pytest.approx(measure_for(moments).errors(released))


def test_weights_do_not_enter_a_regression():
    plain, weighed = (posed("covariance", make_dataset(4, 60, -1, 1), priority_directions=(0, 1, 3), importance=parts,
                            label=3,
                            judged="priority", task="linear-ridge") for parts in ((), (5, 1, 1)))
    released = mechanism("mvg").prepare(plain, "moments").draw(Draws(0, 0, 4))
    assert (measure_for(plain).errors(released) == measure_for(weighed).errors(released)).all()


@pytest.mark.parametrize("rows", [[0.3, 2.0, 1.0], np.array([[0.6, 0.8, 0.0], [0.0, 1.0, 2.0]])])
def test_the_spread_of_a_weighed_guess_is_that_of_evenly_spread_records(rows, rng):
    for query in ("identity", "mean", "covariance"):
        problem = posed(query, make_dataset(3, 6, [0, -1, 2], [4, 1, 3]))
        guess, weighing = problem.guess, Weighing(rows=rows, both=query == "covariance")
        table = problem.table
        drawn = rng.uniform(table.lower[:, None], table.upper[:, None], (20_000, 3, 6))
        answers = {"identity": drawn, "mean": drawn.mean(axis=2, keepdims=True),
                   "covariance": drawn @ drawn.transpose(0, 2, 1) / 6}[query]
        squares = np.square(weighing.of(answers - guess.answer)).sum(axis=(1, 2))
        assert guess.spread(weighing) == pytest.approx(squares.mean(), abs=6 * squares.std() / math.sqrt(20_000))
        assert problem.query.guess(table).spread(None) == guess.spread(None)
