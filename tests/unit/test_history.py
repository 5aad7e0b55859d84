"""The last scenarios of a session: what is one step, what a step is called, and which marks come back."""

import pytest

from mvgviz import Scenario
from mvgviz.ui import history as module
from mvgviz.ui.history import MOST, History, change_words

NAMES = ("age", "dose", "height")
MINE = Scenario.default_for("upload-0123456789ab")


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def noted(clock, *scenarios, looked=(), pause=10.0, history=None):
    history = history or History()
    for one in scenarios:
        clock[0] += pause
        history.record(one, lambda data: data in looked)
    return history


def test_undo_and_redo_go_one_choice_back_and_forth(clock):
    one, two, three = (MINE.changed(epsilon=epsilon) for epsilon in (1.0, 2.0, 3.0))
    history = noted(clock, one, two, three, three)
    assert [history.go(1), history.go(0), history.go(2)] == [two, one, three]
    history.go(1)
    noted(clock, two, MINE.changed(epsilon=5.0), history=history)  # what was undone is forgotten
    assert [entry.epsilon for entry in history.entries] == [1.0, 2.0, 5.0]


def test_a_slider_on_its_way_is_one_choice(clock):
    history = noted(clock, *(MINE.changed(epsilon=1.0 + step / 10) for step in range(50)), pause=0.1)
    assert [entry.epsilon for entry in history.entries] == [1.0, 5.9]
    noted(clock, MINE.changed(epsilon=5.9, share=0.3), MINE.changed(epsilon=5.9, share=0.8), pause=0.1, history=history)
    assert [entry.epsilon for entry in history.entries] == [1.0, 5.9]  # there and back again is no choice
    noted(clock, MINE.changed(epsilon=7.0), history=history)
    assert [entry.epsilon for entry in history.entries] == [1.0, 5.9, 7.0]


    history = noted(clock, *(MINE.changed(epsilon=epsilon) for epsilon in (1.0, 2.0, 1.0, 3.0)), pause=0.1)
    assert [entry.epsilon for entry in history.entries] == [1.0, 3.0]  # one that came back moves on


def test_so_many_are_kept(clock):
    history = noted(clock, *(MINE.changed(seed=seed) for seed in range(MOST + 7)))
    assert len(history.entries) == MOST
    assert history.entries[0].seed == 7
    assert history.at == MOST - 1


@pytest.mark.parametrize(("change", "words"), [
    ({"epsilon": 2.0}, "epsilon 1 → 2"), ({"query": "mean"}, "query covariance → mean"),
    ({"priority_directions": (0, 2)}, "priority directions nothing → age and height"),
    ({"delta": 1e-7}, "delta usual → 1e-07"), ({"label": 1}, "label nothing → dose"), ({"data": "liver"}, "other data"),
    ({"from_data": ("epsilon",)}, "a mark"), ({"epsilon": 2.0, "query": "mean"}, "query and epsilon")])
def test_a_choice_is_told_in_words(change, words):
    before = MINE.changed(query="covariance", priority_directions=())
    assert change_words(before, before.changed(**change), NAMES) == words


def test_undo_brings_back_the_marks_of_that_moment(clock):
    marked = MINE.chosen_on_data(epsilon=2.0)
    history = noted(clock, MINE, looked=())
    noted(clock, MINE, marked, marked.changed(share=0.5), looked={MINE.data}, history=history)
    assert [entry.from_data for entry in history.entries] == [(), ("epsilon",), ("epsilon",)]


def test_to_go_back_behind_the_look_at_the_data_is_a_choice_after_looking(clock):
    old, stood = MINE.changed(epsilon=3.0), MINE.changed(epsilon=2.0)
    history = noted(clock, MINE, old, stood)
    noted(clock, stood, stood.chosen_on_data(share=0.5), looked={MINE.data}, history=history)
    assert [entry.from_data for entry in history.entries] == [(), ("epsilon",), (), ("share",)]  # the first: defaults


def test_back_to_mine_is_what_stood_before_the_first_design_that_was_taken_over():
    history, one, two = History(), MINE.changed(epsilon=2.0), MINE.changed(epsilon=3.0)
    history.take(MINE, one)
    history.take(one, two)
    assert (history.mine, history.taken) == (MINE, two)
    history.take(MINE.changed(epsilon=9.0), one)  # a choice of the person's own stood in between
    assert history.mine == MINE.changed(epsilon=9.0)


def test_positions_follow_the_features():
    history = History(entries=[MINE, Scenario.default_for("liver")], at=0, mine=MINE)
    history.carry(MINE.data, lambda one: one.changed(priority_directions=(5,)))
    assert [one.priority_directions for one in history.entries] == [(5,),
                                                                    Scenario.default_for("liver").priority_directions]
    assert history.mine is None
