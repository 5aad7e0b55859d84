"""The usual settings of a task, and when choosing a task brings them."""

import pytest

from mvgviz.scenario.scenario import TASKS, Scenario, for_task, usual_settings

UPLOAD = Scenario.default_for("upload-0123456789ab")
NEEDS = UPLOAD.changed(priority_directions=(1, 2), allocation="binary")


@pytest.mark.parametrize("task", ["reconstruction", "covariance-estimation", "linear-ridge"])
def test_a_mean_or_second_moments_are_never_bounded_unasked_but_directions_and_regression_are(task):
    bound = for_task(NEEDS.changed(task="subspace"), task)["bound"]
    assert bound == ("none" if task == "reconstruction" else "even")


def test_a_task_brings_its_usual_settings_to_a_table_nobody_has_set_up():
    assert UPLOAD.changed(**for_task(UPLOAD, "linear-ridge")) == UPLOAD.changed(
        task="linear-ridge", query="moments", bound="even", share=0.5)
    assert NEEDS.changed(**for_task(NEEDS, "linear-ridge")).allocation == "binary"


@pytest.mark.parametrize("task", TASKS)
def test_from_task_to_task_the_settings_follow(task):
    there = NEEDS.changed(**for_task(NEEDS, "linear-ridge"))
    back = there.changed(**for_task(there, task))
    if task == "kernel-ridge":  # has no usual settings: only the query gives way
        assert (back.query, back.bound) == ("identity", there.bound)
    else:
        assert back == there.changed(task=task, **usual_settings(there.changed(task=task)))


@pytest.mark.parametrize("change", [{"bound": "own", "radius": 2.0}, {"share": 0.6}, {"guarantee": "theorem1"},
                                    {"query": "identity"}, {"directions": "random"}, {"mode": "rows"}])
def test_what_a_person_chose_by_hand_stays(change):
    assert for_task(NEEDS.changed(**change), "linear-ridge") == {"task": "linear-ridge"}


def test_a_query_that_cannot_serve_the_task_gives_way():
    assert for_task(NEEDS.changed(query="mean", share=0.6), "first-component")["query"] == "covariance"
    assert for_task(NEEDS.changed(query="covariance", share=0.6, guarantee="theorem2"), "kernel-ridge") == {
        "task": "kernel-ridge", "query": "identity", "mode": "auto", "guarantee": "theorem1"}


@pytest.mark.parametrize("change", [{"share": 0.6}, {"guarantee": "theorem1"}, {"query": "mean"}])
def test_a_bound_that_a_task_brought_goes_with_it_whatever_else_was_chosen(change):
    there = NEEDS.changed(judged="priority").changed(**for_task(NEEDS.changed(judged="priority"), "subspace"))
    assert there.bound == "even"
    assert there.changed(**change).changed(**for_task(there.changed(**change), "reconstruction")).bound == "none"
    opened = Scenario.default_for("cardiotocography").changed(**change)
    assert opened.changed(**for_task(opened, "reconstruction")).bound == "none"


def test_no_way_through_the_tasks_bounds_the_answer_itself():
    for data in ("two_features", "liver", "cardiotocography", "movement_simulated", "upload-0123456789ab"):
        opened = Scenario.default_for(data)
        for task in TASKS:
            there = opened.changed(**for_task(opened, task))
            again = there.changed(**for_task(there, "kernel-ridge"))
            assert again.changed(**for_task(again, "reconstruction")).bound == "none"


def test_a_bound_chosen_by_hand_stays_with_the_answer_itself():
    assert for_task(NEEDS.changed(bound="own", share=0.6), "reconstruction") == {"task": "reconstruction"}


@pytest.mark.parametrize("change", [{"allocation": "least-error", "importance": (3, 1)}, {"allocation": "max-pnr"},
                                    {"allocation": "manual", "weights": (2, 1, 1)}])
def test_a_split_chosen_by_hand_stays(change):
    by_hand = NEEDS.changed(**change)
    assert all(by_hand.changed(**for_task(by_hand, task)).allocation == by_hand.allocation for task in TASKS)
    opened = Scenario.default_for("two_features").changed(allocation="uniform")
    assert opened.changed(**for_task(opened, "first-component")).allocation == "uniform"
