"""Release & report and the plan with a ledger that lasts: whom it counts for, what it remembers, where it fails."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from mvgviz import Ledger, gaussian_mu
from mvgviz.release.ledger import Spend
from mvgviz.ui.menu import DATA, PLAN, RELEASE
from tests.pages.app import CSV, adjust, bring, choose, opened, press, to
from tests.pages.desk import box, desk, go, released
from tests.pages.shown import assert_says, clean, facts, keyed, said, text

PATIENTS = "patients of 2024"


@pytest.fixture
def path(tmp_path, monkeypatch):
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("MVGVIZ_LEDGER", str(path))
    return path


def page(**parameters):
    return opened(RELEASE.path, **{"data": "liver"} | parameters)


def named(app, name=PATIENTS, key="population_"):
    """Type a name; the test's own selectbox takes only what it offers."""
    field = keyed(app, "selectbox", key)[0]
    field.options = [*field.options, name]
    field.set_value(name).run()
    return app


def enter(ledger, data="elsewhere", **more):
    return ledger.enter(time="2026-01-02T03:04:05+00:00", data=data, query="mean", design="exact",
                        neighbour_rule="one record replaced", mu=0.3, delta=1e-6, **more)


def test_nothing_is_released_before_it_is_said_who_the_records_are_about(path):
    app = clean(page())
    assert "name the population to see this" in facts(app)
    assert "on top of earlier releases about the same people" in text(app)
    box(app, "release_sure_").check().run()
    assert go(app).disabled
    assert "Name the people above to continue" in text(app)
    released(named(app))
    [entry] = Ledger(path).entries
    assert (entry.population, entry.data, entry.state) == (PATIENTS, "liver", "released")
    assert_says(app, ["Counts for **patients of 2024**", "This ledger is a file on this computer"],
                     ["Reloading or closing"])
    assert str(path.parent) not in said(app) + facts(app)


def test_the_next_session_goes_on_where_the_last_one_stopped(path):
    released(named(page()))
    app = clean(page())
    assert desk(app).releases == []
    assert desk(app).population("liver") == PATIENTS  # proposed, as it was entered before
    assert "ε = 1.00 before, 1.4" in facts(app)
    assert "total for these people" in facts(app)
    assert "With earlier releases about these people (ε = 1.00)" in text(app)
    other = clean(named(page(), "volunteers of 2025"))
    assert "ε = 0 before, 1.00 after" in facts(other)
    assert "It is the first about these people in this ledger" in text(other)


def test_a_cap_is_the_population_s_and_holds_in_every_session(path):
    adjust(named(page()), release_capped=True, release_cap_epsilon=1.2)
    assert Ledger(path).cap_of(PATIENTS) == (1.2, pytest.approx(1e-6))
    first, second = named(page()), named(page())  # two tabs, both before either releases
    for tab in (first, second):
        box(tab, "release_sure_").check().run()
        assert not go(tab).disabled
    go(first).click().run()
    go(second).click().run()
    assert len(Ledger(path).entries) == 1
    [refusal] = [one.value for one in second.error]
    assert "the releases of patients of 2024 have spent epsilon 1 " in refusal
    assert go(second).disabled
    assert not clean(named(page(), "others")).toggle(key="release_capped").value


def test_what_was_never_finished_is_told_and_counted(path):
    with pytest.raises(ZeroDivisionError), Ledger(path).reserved(Spend(
            data="liver", query="mean", neighbour_rule="one record replaced", design="exact", mu=0.2, delta=1e-6),
            population=PATIENTS):
        raise ZeroDivisionError
    app = clean(page())
    assert_says(app, ["Reserved and never finished: 1", "each counts as spent"])
    assert list(app.dataframe[-1].value["state"]) == ["never finished"]
    assert "nothing →" not in facts(app)


def test_a_ledger_that_cannot_be_read_is_one_sentence_and_no_release(path):
    app = released(named(page()))
    path.write_bytes(b"x" * 9000)
    assert "Released: 6 × 6" in text(app.run())  # what this session released can still be fetched
    for where in (app, page(), opened(PLAN.path, data="liver")):
        assert not where.exception
        [error] = where.error
        assert "is damaged; put a backup" in error.value
        assert not keyed(where, "button", "release_go") + keyed(where, "button", "plan_go")
    assert path.read_bytes() == b"x" * 9000
    clean(opened(DATA.path, data="liver"))  # elsewhere it does not matter


def test_a_plan_counts_for_the_population_too(path):
    app = opened(PLAN.path, data="liver")
    box(app, "plan_sure_").check().run()
    assert app.button(key="plan_go").disabled
    assert_says(app, ["Name the people above to continue",
                      "Earlier releases about the same people count too"])
    assert "Spent about these people: nothing yet" in text(named(app))
    assert len(desk(press(app, "plan_go")).releases) == len(Ledger(path).entries) == 2
    assert {(entry.population, entry.state) for entry in Ledger(path).entries} == {(PATIENTS, "released")}


def test_files_with_the_same_records_have_one_name_in_a_session(path):
    app = named(to(bring(opened(), CSV), RELEASE))
    to(to(bring(app, CSV + "\n", "again.csv"), RELEASE), DATA)
    held = desk(app)
    first, second = sorted(held._people)
    assert held.same_people(first) == held.same_people(second) == {first, second}
    assert held.population(first) == held.population(second) == PATIENTS
    assert "Counts together with" in text(app)
    held.name(first, "another name")
    assert held.population(second) == "another name"


def test_two_names_that_turn_out_to_be_the_same_people_are_joined_for_good(path):
    enter(Ledger(path), population="the cohort")
    app = press(released(named(page())), "population_join")
    assert Ledger(path).same_people(PATIENTS) == {PATIENTS, "the cohort"}
    assert "Counts for **patients of 2024** and **the cohort**" in said(app)


def test_a_downloaded_ledger_is_counted_once(path):
    app, session = clean(page()), Ledger()
    enter(session, "upload-1")
    for _ in range(2):
        choose(app, session.to_json(), "ledger.json", key="release_ledger_file")
        press(named(app, key="release_ledger_about"), "release_ledger_import")
    assert [(entry.population, entry.mu) for entry in Ledger(path).entries] == [(PATIENTS, 0.3)]
    assert [one.value for one in app.toast] == ["The ledger already holds everything in this file; nothing was added"]


def test_no_value_of_a_table_is_in_the_ledger_s_file(path):
    rows = "".join(f"{1000 + i}.8317,{i % 7}.9931\n" for i in range(60))
    app = choose(opened(DATA.path), f"age,dose\n{rows}", "secret-file.csv")
    assert "under the name **Doses**" in box(to(adjust(app, upload_title="Doses"), RELEASE), "release_sure_").label
    box(app, "release_accept_ranges").check().run()
    released(named(app))
    with closing(sqlite3.connect(path)) as connection:
        rows = [row for name in ("population", "release", "answer")
                for row in connection.execute(f"SELECT * FROM {name}")]
    kept, [made] = repr(rows), desk(app).releases
    assert PATIENTS in kept
    assert rows[-1][1] == made.certificate  # what was published: names and ranges, which were accepted
    assert np.array_equal(np.frombuffer(rows[-1][2]), made.noisy.ravel())
    for trace in ("1001.8317", "1058.8317", "1.9931", "secret"):
        assert trace not in kept


def test_a_release_comes_back_in_another_session_that_names_the_same_people(path):
    first = released(named(page(query="mean")))
    assert_says(first, ["**Released**, and kept in the ledger", "no cap is set"])
    [made] = desk(first).releases
    app = clean(page(query="mean"))
    assert desk(app).shown("liver") == ()  # the ledger proposes a name; this session has not said it
    assert not keyed(app, "download_button", "release_zip")
    app.button(key="release_past").click().run()
    [again] = desk(clean(app)).shown("liver")
    assert np.array_equal(again.noisy, made.noisy)
    assert [one.key for one in app.get("download_button")][:5] == [
        "release_zip", "release_csv", "release_intervals", "release_npy", "release_json"]
    assert "Released: 6 × 1 numbers, with noise" in text(app)
    assert desk(clean(named(page(query="mean"), "others"))).shown("liver") == ()
    released(app)
    assert [one.number for one in desk(app).shown("liver")] == [1, 2]
    assert "2 releases asked this. Their average has intervals 29 % narrower" in text(app)
    adjust(app, release_capped=True)
    more = int((gaussian_mu(3.0, 1e-6) / made.mu) ** 2 - 2)
    assert f"the cap allows {more} more like it" in text(clean(app))
