"""Scenarios survive a link and a file, broken ones are named, and choosing a task brings its usual settings."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvgviz import InputError, Scenario
from mvgviz.scenario import scenario as choices
from mvgviz.scenario.scenario import LEAST_SHARE, MARKED, MOST_SHARE, POST, TASKS, for_task, usual_settings

fractions = st.floats(1e-9, 1, exclude_min=True, exclude_max=True)
positions = st.lists(st.integers(0, 300), max_size=8, unique=True).map(tuple)
scenarios = st.builds(
    Scenario,
    data=st.one_of(st.sampled_from(["two_features", "liver", "cardiotocography", "movement_simulated", "karate"]),
                   st.text("0123456789abcdef", min_size=12, max_size=12).map("upload-{}".format)),
    query=st.sampled_from(list(choices.QUERIES)), scale=st.sampled_from(choices.SCALES), length=st.floats(1e-6, 1e6),
    label=st.one_of(st.none(), st.integers(0, 99)), epsilon=st.floats(1e-3, 1e3),
    delta=st.one_of(st.none(), st.floats(1e-300, 0.999)),
    guarantee=st.sampled_from(["theorem1", "theorem2", "theorem2-any", "exact"]),
    tail=st.sampled_from(["printed", "laurent-massart", "exact-chi"]),
    mode=st.sampled_from(["auto", "rows", "columns", "both"]), directions=st.sampled_from(choices.DIRECTIONS),
    angle=st.floats(-360, 360), plane=st.sampled_from([(0, 1), (5, 2)]), private_share=fractions,
    allocation=st.sampled_from(choices.ALLOCATIONS), priority_directions=positions,
    share=st.floats(LEAST_SHARE, MOST_SHARE),
    weights=st.lists(st.integers(1, 10_000), max_size=30).map(tuple), form=st.sampled_from(choices.FORMS),
    bound=st.sampled_from(choices.BOUNDS), radius=st.floats(1e-3, 1e3), priority=positions,
    judged=st.sampled_from(choices.JUDGED),
    task=st.sampled_from(list(TASKS)), trials=st.integers(1, 100_000), seed=st.integers(0, 10**9),
    group=positions, category=positions, neighbours=st.sampled_from(["replace", "add-remove"]),
    post=st.sets(st.sampled_from(list(POST))),
    from_data=st.sets(st.sampled_from(MARKED)),
).map(lambda one: one.changed(importance=tuple(range(1, len(one.priority) + 1))))


@given(scenarios)
def test_every_scenario_survives_a_link_and_a_file(scenario):
    for again in (Scenario.from_query(scenario.to_query()), Scenario.from_json(scenario.to_json())):
        assert again == scenario
        assert again.from_data == scenario.from_data


def test_links_are_short_and_readable():
    assert Scenario.default_for("two_features").to_query() == {"data": "two_features"}
    changed = Scenario.default_for("liver").changed(epsilon=0.1, priority_directions=(3, 1), delta=1e-6)
    assert changed.to_query() == {"data": "liver", "epsilon": "0.1", "priority_directions": "1-3", "delta": "1e-06"}


@given(parameters=st.dictionaries(st.one_of(st.text(max_size=8), st.sampled_from(
    ["data", "epsilon", "priority_directions", "weights", "plane", "seed", "query", "delta", "label"])),
                                  st.text(max_size=12),
    max_size=5))
def test_any_link_gives_a_scenario_and_says_what_it_ignored(parameters):
    scenario, ignored = Scenario.read_query(parameters)
    assert isinstance(scenario, Scenario)
    assert len(ignored) <= len(parameters)
    understood = {name for name in parameters if all(name not in sentence for sentence in ignored)}
    assert understood <= set(json.loads(scenario.to_json())["scenario"]) | {""}


def test_a_broken_link_keeps_what_can_be_understood():
    scenario, ignored = Scenario.read_query({"data": "liver", "epsilon": "ten", "query": "mean", "colour": "red"})
    assert (scenario.data, scenario.epsilon, scenario.query) == ("liver", 1.0, "mean")
    assert ignored == ("epsilon in the link must be a number", "a scenario has no field colour")


@pytest.mark.parametrize(("parameters", "message"), [
    ({"data": "../etc"}, "data must be the name of a sample"),
    ({"epsilon": "0"}, "epsilon must be positive, got 0"),
    ({"epsilon": "nan"}, "epsilon must be finite"),
    ({"epsilon": "1e9"}, "epsilon must lie between 0.001 and 1000"),
    ({"delta": "1.5"}, "delta must lie strictly between 0 and 1"),
    ({"priority_directions": "1,2"}, "priority_directions in the link must be numbers joined by -"),
    ({"priority_directions": "1-1"}, "priority_directions must be different positions"),
    ({"plane": "0"}, "plane must be a pair"),
    ({"query": "variance"}, "query must be one of"),
    ({"trials": "0"}, "trials must be a whole number of at least 1"),
    ({"trials": "1000000"}, "trials must be at most 100000"),
    ({"angle": "900"}, "angle must lie between -360 and 360"),
    ({"bound": "circle"}, "bound must be one of"),
    ({"radius": "1e9"}, "radius must lie between 0.001 and 1000"),
    ({"radius": "none"}, "radius must be a number"),
    ({"priority": "2-2"}, "priority must be different positions"),
    ({"judged": "me"}, "judged must be one of"),
])
def test_a_strict_reader_refuses_a_broken_link(parameters, message):
    with pytest.raises(InputError, match=message):
        Scenario.from_query(parameters)


@pytest.mark.parametrize(("text", "message"), [
    ("", "must be JSON"), ("[1]", 'must hold "mvgviz"'), ('{"mvgviz": 1, "scenario": []}', 'must hold "mvgviz"'),
    ('{"mvgviz": 2, "scenario": {}}', "must have version 1"),
    ('{"mvgviz": 1, "scenario": {"colour": "red"}}', "a scenario has no field colour"),
    ('{"mvgviz": 1, "scenario": {"epsilon": -1}}', "epsilon must be positive, got -1"),
    ('{"mvgviz": 1, "scenario": {"favoured": "ab"}}', "priority_directions must be a sequence"),
    ('{"mvgviz": 1, "scenario": {"favoured": [[1]]}}', "priority_directions must be a number"),
    ('{"mvgviz": 1, "scenario": {"query": ["mean"]}}', "query must be one of"),
    ('{"mvgviz": 1, "scenario": {"epsilon": "1"}}', "epsilon must be a number"),
    ("[" * 100_000, "must be JSON"),
])
def test_a_bad_file_is_refused_with_a_sentence(text, message):
    with pytest.raises(InputError, match=message):
        Scenario.from_json(text)


@pytest.mark.parametrize("share", [0.0, 0.009, 0.991, 0.998, 1.0, float("nan")])
def test_a_share_beyond_what_the_controls_show_is_refused(share):
    with pytest.raises(InputError, match=r"share must (lie between 0\.01 and 0\.99|be finite)"):
        Scenario(share=share)


@pytest.mark.parametrize("bound", ["even", "own"])
def test_a_mark_counts_where_its_field_matters(bound):
    marked = Scenario.default_for("liver").changed(bound=bound).chosen_on_data(radius=1.25)
    assert marked.from_data == ("radius",)
    assert marked.read_among(["radius"]) == (("radius",) if bound == "own" else ())


# The usual settings of a task

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
