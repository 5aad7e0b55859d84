"""What is worked out once: for a session, and of bundled data for all."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from mvgviz.ui import session
from mvgviz.ui.cache import SERVER, Cache, cached
from mvgviz.ui.menu import BUDGET, DATA, PRIVACY, SHAPE, UTILITY
from tests.pages.app import CSV, choose, opened, to
from tests.pages.shown import clean


def test_the_last_asked_for_stay():
    kept, worked = Cache(), []

    def get(name):
        return kept.get("f", name, lambda: worked.append(name) or name, most=2)

    assert [get(name) for name in "abacaba"] == list("abacaba")
    assert worked == list("abcb")


def test_of_many_who_ask_at_once_one_works_it_out():
    kept, worked, all_ask = Cache(), [], threading.Barrier(12)

    def slow():
        time.sleep(0.05)  # the others come to wait
        worked.append(1)
        return len(worked)

    def ask(_):
        all_ask.wait()
        return kept.get("f", "a", slow, most=3)

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(ask, range(12))) == [1] * 12
    assert worked == [1]


def test_what_does_not_work_out_is_tried_again_and_what_is_not_final_worked_out_again():
    kept, worked = Cache(), []
    with pytest.raises(ZeroDivisionError):
        kept.get("f", "a", lambda: 1 / 0, most=3)
    assert not kept._begun  # nor does it leave anything behind
    assert kept.get("f", "a", lambda: None, most=3) is None
    assert [kept.get("f", "b", lambda: worked.append(1) or len(worked), most=3, final=lambda count: count == 2)
            for _ in range(4)] == [1, 2, 2, 2]


@dataclass(frozen=True, eq=False)
class Thing:
    name: str


@dataclass(frozen=True)
class Choice:
    name: str
    mark: str = field(compare=False)


@pytest.mark.parametrize("value", [[1], {"a": 1}, np.zeros(2), object(), len, (1, [2])])
def test_what_cannot_be_told_apart_is_no_key(value):
    with pytest.raises(TypeError, match="is no key"):
        cached(3, lambda *_: Cache())(lambda given: given)(value)


def test_arguments_are_the_key_values_as_they_are_and_frozen_objects_each_its_own():
    cache, calls = Cache(), []
    work = cached(9, lambda *_: cache)(lambda *args, **kwargs: calls.append(args) or len(calls))
    first, second = Thing("a"), Thing("a")
    assert [work(first, 1), work(first, 1), work(second, 1), work(first, 1.5), work(first, (1, "b")),
            work(first, 1, more=2), work(first, 1, more=2)] == [1, 1, 2, 3, 4, 5, 5]
    assert [work(Choice("a", "read")), work(Choice("a", "read")), work(Choice("a", "told")), work(1), work(True),
            work(1.0)] == [6, 6, 7, 8, 9, 10]
    part = cached(9, lambda *_: cache, key=lambda thing, rows: (thing,))(lambda thing, rows: calls.append(rows))
    part(first, [1])
    part(first, [2])
    assert calls[-1] == [1]


def built(monkeypatch):
    calls = []
    build = session.build
    monkeypatch.setattr(session, "build", lambda *args, **given: calls.append(args[0].data) or build(*args, **given))
    return calls


def test_a_class_has_bundled_data_worked_out_once(monkeypatch):
    SERVER.clear()
    calls = built(monkeypatch)
    for _ in range(3):
        clean(opened(SHAPE.path, data="liver"))
    assert calls == ["liver"]


def test_nothing_of_a_file_is_kept_for_others(monkeypatch):
    def names_kept():
        return {(function, name) for function, results in SERVER._results.items() for name in results}

    app = opened(DATA.path)
    calls, before = built(monkeypatch), names_kept()
    choose(app, CSV)
    for page in (DATA, SHAPE, PRIVACY, BUDGET, UTILITY):
        to(app, page)
    assert calls
    assert all(name.startswith("upload-") for name in calls)
    assert names_kept() == before


def a_scenario_before():
    import streamlit as st

    from mvgviz.ui import session
    from mvgviz.ui.rule_picture import rivals

    session.adopt_link()
    before = session.setup()
    session.update(epsilon=3.0)  # and the run is stopped before a part of the page learns of it
    old = rivals(before)
    st.markdown(repr(rivals(session.setup()) is not old is rivals(before)))


def test_nothing_of_the_scenario_before_is_kept_for_the_one_that_is():
    app = AppTest.from_function(a_scenario_before, default_timeout=600).run()
    assert [one.value for one in clean(app).markdown] == ["True"]
