"""What a server keeps: of a session, of bundled data for all, and how much of all tables together."""

import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from mvgviz.data import read_table
from mvgviz.errors import InputError
from mvgviz.ui import files as room
from mvgviz.ui import session
from mvgviz.ui.cache import SERVER, Cache, cached
from mvgviz.ui.menu import BUDGET, DATA, PRIVACY, SHAPE, UTILITY
from tests.pages.app import CSV, choose, opened, to, uploaded
from tests.pages.shown import clean, text


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


TABLE = b"a,b\n" + b"1,2\n3,4\n" * 50


def test_a_table_counts_as_long_as_somebody_has_it(monkeypatch):
    gc.collect()
    before = room.held()
    table = room.keep_count(read_table(TABLE, name="own.csv"))
    assert room.held() == before + table.values.nbytes
    monkeypatch.setenv(room.ENVIRONMENT, str((room.held() + 10) / 1e6))
    room.check_room(10)
    with pytest.raises(InputError, match="no room for a file"):
        room.check_room(11)
    size = table.values.nbytes
    del table
    room.check_room(11 + size // 2)
    assert room.held() == before


def test_a_full_server_says_so_and_goes_on_with_the_data_it_had(monkeypatch):
    monkeypatch.setenv(room.ENVIRONMENT, "0")
    app = uploaded(TABLE)
    assert not app.exception
    assert "no room for a file" in app.error[0].value
    assert app.get("plotly_chart")


def test_another_file_takes_the_place_of_the_one_before(monkeypatch):
    """What the session read before makes room, whether or not both would fit."""
    gc.collect()
    monkeypatch.setenv(room.ENVIRONMENT, str((room.held() + 100_000) / 1e6))
    content = [f"a,b\n{chr(10).join(f'{i % 7},{i % 11}' for i in range(rows))}\n".encode() for rows in (4_000, 4_001)]
    app = uploaded(content[0], "first.csv")
    assert "2 features × 4,000 records" in text(clean(app))
    assert "2 features × 4,001 records" in text(clean(choose(app, content[1], "second.csv")))
