"""A study saved and opened, on every page."""

import json
import threading
from dataclasses import replace

import pytest

from mvgviz import DataSource, Origin, QuestionPlan, Range, Scenario, Study
from mvgviz.ui import study as panel
from mvgviz.ui.menu import BUDGET, DATA, HOME, LESSON, PAGES, PLAN, RELEASE
from tests.pages.app import CSV, adjust, bring, change, choose, opened, put, uploaded
from tests.pages.desk import desk, released
from tests.pages.shown import clean, link, own, said, text

LIVER = Scenario.default_for("liver")


def saved(app):
    """What the button would save: the study that the session is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panel.st, "session_state", app.session_state.to_dict())
        return panel.current_study()


def open_study(app, study):
    return choose(app, study if isinstance(study, bytes) else study.to_json(), "study.json", key="study_file")


@pytest.mark.parametrize("page", [LESSON, *PAGES[::4]], ids=lambda page: page.label)
def test_a_study_can_be_saved_and_opened_on_pages(page):
    app, other = opened(page.path, data="liver"), Scenario.default_for("karate").changed(epsilon=0.5)
    assert "study_save" in [button.proto.id.split("-")[-1] for button in app.get("download_button")]
    assert saved(open_study(app, Study.of_sample(other))).scenario == other


def test_a_study_file_is_taken_once():
    app = open_study(opened(BUDGET.path, data="liver"), Study.of_sample(LIVER.changed(epsilon=3.0), notes="for Monday"))
    assert link(clean(app)) == {"data": "liver", "epsilon": "3"}
    assert app.text_area(key="w_notes").value == "for Monday"
    assert link(adjust(app, w_epsilon=2.0)) == {"data": "liver", "epsilon": "2"}


def test_scenario_plan_and_notes_come_back():
    plan = QuestionPlan.of(LIVER, LIVER.changed(query="identity"), LIVER.changed(query="mean")).moved(0, 0.9)
    study = Study.of_sample(LIVER.changed(seed=4), plan=plan, notes="ε first", population="patients of 2024")
    app = clean(open_study(opened(PLAN.path), study))
    assert [slider.value for slider in app.slider if slider.key.startswith("plan_share_")] == [90.0, 5.0, 5.0]
    assert saved(app) == study
    assert saved(adjust(app, plan_share_0=50.0)).plan.parts[0] == 5000


@pytest.mark.parametrize(("content", "message"), [
    (b"", "JSON"), (b"\xff\xfe", "JSON"), (b"[1]", "JSON"), (b"[" * 100_000, "JSON"),
    (json.dumps({"mvgviz": 9, "scenario": {}}).encode(), "version"),
    (json.dumps({"mvgviz_study": 9}).encode(), "version"),
    (json.dumps({"mvgviz": 1, "scenario": {"epsilon": -1}}).encode(), "epsilon must be positive"),
    (json.dumps({"mvgviz": 1, "scenario": {"data": "nosuch"}}).encode(), "not here"),
    (b" " * 4_000_001, "small")], ids=lambda value: str(value)[:20])
def test_a_bad_study_gets_a_sentence_and_nothing_is_lost(content, message):
    app = open_study(opened(RELEASE.path, data="liver", trials="2"), content)
    assert not app.exception
    assert message in " ".join(element.value for element in app.error)
    assert link(app) == {"data": "liver", "trials": "2"}


def test_a_scenario_of_another_session_s_upload_asks_for_the_file_and_keeps_the_ledger():
    app = open_study(released(opened(RELEASE.path, data="liver")),
                 Scenario.default_for("upload-0123456789ab").to_json().encode())
    assert not app.exception
    assert "Choose it again" in app.error[0].value
    assert "Ledger of this session" in text(app)
    assert len(desk(app).releases) == 1


OWN = Scenario.default_for("upload-0123456789ab").changed(query="mean", priority=(1,), judged="priority", label=0)
SOURCE = DataSource(name="mine.csv", title="mine", columns=("dose", "age"), missing="middle",
                    ranges={"age": Range(0, 120, Origin.DECLARED), "dose": Range(0, 9, Origin.READ)})


def test_a_study_of_a_file_asks_for_it_and_goes_on_as_it_was_saved():
    study = Study(scenario=OWN, source=SOURCE, notes="n", plan=QuestionPlan.of(OWN, OWN.changed(query="covariance")))
    app = open_study(opened(HOME.path), study)
    assert not app.exception
    assert r"The study is about **mine\.csv**" in app.info[0].value
    assert saved(app) == study  # nothing is lost while it waits
    assert saved(bring(app, CSV)) == study
    data = own(app).dataset
    assert data.features == ("dose", "age")
    assert (data.upper.tolist(), data.range_origins) == ([9, 120], (Origin.READ, Origin.DECLARED))
    clean(open_study(change(app, epsilon=7.0), study))  # the file is open: it is not asked for again
    assert saved(app) == study


def test_a_file_that_does_not_fit_is_refused_and_the_study_waits_on():
    app = open_study(opened(DATA.path), Study(scenario=OWN, source=replace(SOURCE, title="")))
    assert not choose(app, "age,size\n1,2\n3,4\n", "other.csv").exception
    assert any("it lacks dose" in error.value for error in app.error)
    assert "_upload" not in app.session_state
    assert saved(bring(app, CSV)).source == SOURCE  # which takes the name of its file for a title


@pytest.mark.parametrize("query", ["mean", "counts", "group_means", "cross_moments"])
def test_other_data_is_never_shown_in_the_place_of_a_lost_file(query):
    app = opened(BUDGET.path, data="upload-0123456789ab", query=query)
    assert not app.exception
    assert "This file is not here" in app.error[0].value
    assert app.get("plotly_chart") == []
    assert link(app)["data"] == "upload-0123456789ab"


def test_what_the_tab_kept_is_offered_and_opened():
    study = Study(scenario=OWN, source=SOURCE, notes="kept")
    for name, offered in ((OWN.data, True), ("upload-ba9876543210", False)):
        kept = json.dumps({"study": study.to_json(), "time": "10:32"})
        app = put(opened(BUDGET.path, data=name), study_kept={"kept": kept})
        assert ("study_restore" in [button.key for button in app.button]) is offered
        if offered:
            assert app.button(key="study_restore").label == "Open the study of 10:32"
            assert saved(app.button(key="study_restore").click().run()) == study


def test_ranges_go_out_and_come_in_as_a_file():
    app = choose(uploaded(CSV), "feature,lowest,highest,known\nage,0,130,yes\nsize,0,1,no\n", "ranges.csv",
                 key="upload_ranges_file")
    assert "1 of 2 ranges were taken from the file. No column has these names: size" in said(app)
    assert own(app).dataset.upper.tolist()[0] == 130
    assert own(app).source.ranges["age"] == (0, 130, Origin.DECLARED)
    choose(app, '{"age": [3]}', "r.json", key="upload_ranges_file")
    assert any("low, high" in error.value for error in app.error)
    assert own(app).source.ranges["age"] == (0, 130, Origin.DECLARED)


@pytest.fixture
def given(tmp_path, monkeypatch):
    """What the command was given: the file, and a study of it."""
    (tmp_path / "mine.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "study.json").write_text(Study(scenario=OWN, source=SOURCE).to_json(), encoding="utf-8")
    monkeypatch.setenv("MVGVIZ_DATA", str(tmp_path / "mine.csv"))
    return str(tmp_path / "study.json")


def test_a_file_and_a_study_given_to_the_command_are_there_at_once(given, monkeypatch):
    assert own(clean(opened(DATA.path))).name == "mine.csv"
    assert link(clean(opened(DATA.path, data="liver")))["data"] == "liver"  # a link says what to show
    monkeypatch.setenv("MVGVIZ_STUDY", given)
    study = saved(clean(opened(DATA.path)))
    assert (study.source, study.scenario.query) == (SOURCE, "mean")


def test_a_choice_of_the_session_before_that_is_no_longer_there_changes_nothing():
    app = opened(BUDGET.path, data="upload-0123456789ab", epsilon="2")
    box = app.selectbox(key="w_data")
    box.options.append("Your file: mine.csv")  # as the browser still has it
    app = box.select("Your file: mine.csv").run()
    assert not app.exception
    assert link(app) == {"data": "upload-0123456789ab", "epsilon": "2"}


def test_notes_that_were_typed_up_to_the_click_are_in_the_file():
    now = {"study": "before"}
    threading.Timer(0.1, lambda: now.update(study="with what was typed")).start()
    assert panel._settled(now) == "with what was typed"
