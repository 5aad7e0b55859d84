"""Sessions take turns: never more than allowed at once, in the order of coming, and nobody who left is waited for."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit.testing.v1 import AppTest

from mvgviz.ui import slices
from mvgviz.ui.menu import UTILITY
from mvgviz.ui.slices import Polite, Turns, replying
from tests.pages.app import opened
from tests.pages.shown import clean


def test_first_come_first_served_so_that_all_get_the_same_share():
    def session(name):
        turns.take(300, lambda: None)
        order.append(name)
        turns.give_back()

    turns, order = Turns(1), []
    turns.take(0, lambda: None)
    with ThreadPoolExecutor(6) as pool:
        for name in range(6):
            pool.submit(session, name)
            while len(turns._waiting) <= name:
                time.sleep(0.001)
        turns.give_back()
    assert order == list(range(6))


def test_never_more_work_than_may():
    def session(_):
        for _ in range(5):
            assert turns.take(300, lambda: None) == 0
            working.append(1)
            most.append(len(working))
            time.sleep(0.001)
            working.pop()
            turns.give_back()

    turns, working, most = Turns(2), [], []
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(session, range(6)))
    assert len(most) == 30
    assert max(most) <= 2


def test_without_a_turn_the_number_of_those_before_is_told_and_who_leaves_is_not_waited_for():
    def gone() -> None:
        raise KeyboardInterrupt

    turns = Turns(1)
    assert [turns.take(0, lambda: None), turns.take(0, lambda: None)] == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        turns.take(5, gone)
    turns.give_back()
    assert turns.take(0, lambda: None) == 0


def page(work):
    """A thread that runs a page."""
    def run():
        with replying():
            work()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_work_makes_way_for_a_page_but_not_for_one_that_waits_for_work(monkeypatch):
    monkeypatch.setattr(slices, "_REPLY_PATIENCE", 600)
    workers, drawn, waits, order = Polite(1), threading.Event(), threading.Event(), []

    def waiting():
        with workers.awaited():
            waits.wait()

    sleeper = page(waiting)
    while not workers._waiting:
        time.sleep(0.001)
    assert sys.getswitchinterval() == pytest.approx(0.0005)
    assert workers.submit(order.append, "work").result(timeout=300) is None  # before patience ends
    drawing = page(lambda: (drawn.wait(0.05), order.append("reply")))
    workers.submit(order.append, "more work").result(timeout=300)
    assert order == ["work", "reply", "more work"]
    waits.set()
    sleeper.join()
    drawing.join()
    assert sys.getswitchinterval() == pytest.approx(0.005)


def test_work_goes_on_where_pages_are_always_drawn():
    workers, over = Polite(1), threading.Event()
    drawing = page(over.wait)
    assert workers.submit(lambda: 7).result(timeout=300) == 7
    over.set()
    drawing.join()


def test_a_page_says_how_many_are_before_and_goes_on_when_its_turn_comes(monkeypatch):
    turns, said = Turns(1), []
    turns.take(0, lambda: None)

    def say(share, text):
        said.append(text)
        if len(said) == 2:
            turns.give_back()

    monkeypatch.setattr(slices, "_TURNS", turns)
    monkeypatch.setattr(slices, "_PATIENCE", 0.2)
    monkeypatch.setattr(slices.st, "progress", say)
    app = clean(opened(UTILITY.path, data="liver", trials="4"))
    assert all(one.endswith("trials; queued, 1 ahead of you") for one in said[:2])
    assert len(said) >= 2
    assert app.get("plotly_chart")
    assert "many work" not in "".join(said[2:])


def other_directions():
    import numpy as np
    import streamlit as st

    from mvgviz.noise.directions import from_matrix
    from mvgviz.provenance import Origin
    from mvgviz.trials.run import TrialCache
    from mvgviz.ui import session
    from mvgviz.ui.slices import WORKERS, begin, show_progress

    session.adopt_link()
    for matrix in (np.eye(2), np.eye(2)[::-1]):
        session.set_uploaded_directions(from_matrix(matrix, origin=Origin.READ))
        work = begin("advice")
        with work.turn(TrialCache()):
            st.markdown(repr(bool(WORKERS._waiting)))
        work.complete = True
        show_progress(work)


def test_what_was_finished_for_other_directions_is_work_to_wait_for():
    app = clean(AppTest.from_function(other_directions, default_timeout=600).run())
    assert [one.value for one in app.markdown] == ["True", "True"]


def a_first_slice():
    from mvgviz.ui import session
    from mvgviz.ui.slices import begin, show_progress

    session.adopt_link()
    show_progress(begin("advice"))


def test_the_page_is_bright_before_the_second_slice_begins(monkeypatch):
    monkeypatch.setattr(slices.st, "button", lambda *said, **options: None)  # nobody asks for the next slice here
    app = clean(AppTest.from_function(a_first_slice, default_timeout=600).run())
    assert [one.proto.body for one in app.get("html")] == [slices._USUAL, slices._BRIGHT]
