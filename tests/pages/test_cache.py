"""What is worked out once: for a session, and of bundled data for all."""

import threading
import time

import pytest
from streamlit.testing.v1 import AppTest

from mvgviz.ui import session
from mvgviz.ui.kept import OF_SAMPLES, Kept
from mvgviz.ui.menu import BUDGET, DATA, PRIVACY, SHAPE, UTILITY
from tests.pages.app import CSV, clean, opened


def test_the_last_asked_for_stay():
    kept, worked = Kept(), []

    def get(name):
        return kept.get("f", name, lambda: worked.append(name) or name, most=2)

    assert [get(name) for name in "abacaba"] == list("abacaba")
    assert worked == list("abcb")


def test_of_many_who_ask_at_once_one_works_it_out():
    kept, worked, got = Kept(), [], []

    def slow():
        time.sleep(0.05)
        worked.append(1)
        return len(worked)

    threads = [threading.Thread(target=lambda: got.append(kept.get("f", "a", slow, most=3))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [1] * 12
    assert worked == [1]


def test_what_does_not_work_out_is_tried_again():
    kept = Kept()
    with pytest.raises(ZeroDivisionError):
        kept.get("f", "a", lambda: 1 / 0, most=3)
    assert not kept._begun  # nor does it leave anything behind
    assert kept.get("f", "a", lambda: None, most=3) is None


def built(monkeypatch):
    calls = []
    build = session.build
    monkeypatch.setattr(session, "build", lambda *args, **given: calls.append(args[0].data) or build(*args, **given))
    return calls


def test_a_class_has_bundled_data_worked_out_once(monkeypatch):
    OF_SAMPLES.clear()
    calls = built(monkeypatch)
    for _ in range(3):
        clean(opened(SHAPE.path, data="liver"))
    assert calls == ["liver"]


def test_nothing_of_a_file_is_kept_for_others(monkeypatch):
    app = opened(DATA.path)
    calls, before = built(monkeypatch), names_kept()
    app.file_uploader(key="upload_file").set_value(("mine.csv", CSV.encode(), "text/csv"))
    for page in (DATA, SHAPE, PRIVACY, BUDGET, UTILITY):
        clean(app.switch_page(page.path).run())
    assert calls
    assert all(name.startswith("upload-") for name in calls)
    assert names_kept() == before


def a_scenario_before():
    import streamlit as st

    from mvgviz.ui import session
    from mvgviz.ui.privacy.panels import found_pair

    session.adopt_link()
    before = session.setup()
    session.update(epsilon=3.0)  # and the run is stopped before a part of the page learns of it
    found_pair(before)
    st.markdown(repr(found_pair(session.setup()).mu == session.setup().design.mu))


def test_nothing_of_the_scenario_before_is_kept_for_the_one_that_is():
    app = AppTest.from_function(a_scenario_before, default_timeout=60).run()
    assert [one.value for one in clean(app).markdown] == ["True"]


def names_kept():
    return {(function, name) for function, results in OF_SAMPLES._results.items() for name in results}
