"""The public demo: bundled data alone, nothing released, fewer trials, a limit on visitors."""

import pytest

from mvgviz.scenario.scenario import UPLOAD, Scenario
from mvgviz.ui import visitors
from mvgviz.ui.menu import DATA, HOME, PLAN, RELEASE
from tests.pages.app import opened
from tests.pages.desk import box, desk
from tests.pages.shown import clean, keyed, said, scenario, text


@pytest.fixture
def public(monkeypatch):
    monkeypatch.setenv("MVGVIZ_DEMO", "1")


@pytest.mark.parametrize(("page", "key"), [(RELEASE, "release"), (PLAN, "plan")])
def test_nothing_is_released_however_the_click_comes(page, key, monkeypatch):
    app = opened(page.path)
    box(app, f"{key}_sure_").check().run()
    monkeypatch.setenv("MVGVIZ_DEMO", "1")  # the button that was drawn before is clicked
    app.button(key=f"{key}_go").click().run()
    assert desk(app).releases == []
    assert desk(app).ledger.entries == ()
    app = opened(page.path)
    assert app.button(key=f"{key}_go").disabled
    assert "demo releases nothing" in text(app)


def test_no_page_offers_a_box_for_a_file(public):
    for page in (DATA, RELEASE, PLAN):
        app = opened(page.path, everything=True, data="liver")
        assert not app.get("file_uploader")
        assert "This public demo takes no files" in text(app)
        assert "Public demo" in str([badge.value for badge in app.get("markdown")])


def test_a_link_gets_no_file_and_no_more_trials_than_there_are(public):
    assert scenario(clean(opened(data="liver", trials="5000"))).trials == visitors.MOST_TRIALS
    app = opened(data=f"{UPLOAD}{0:012x}")
    assert "data that is not here" in said(app)
    assert not scenario(app).is_upload
    app = opened(data="liver", directions="upload", everything=True)
    assert "its directions are in a file" in said(app)
    assert scenario(app).directions == "standard"
    assert "From a file" not in keyed(app, "selectbox", "w_directions")[0].options


def test_what_the_command_was_given_is_left_alone(public, monkeypatch, tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    monkeypatch.setenv("MVGVIZ_DATA", str(tmp_path / "mine.csv"))
    monkeypatch.setenv("MVGVIZ_LEDGER", str(tmp_path / "ledger.sqlite"))
    assert not scenario(clean(opened(HOME.path))).is_upload
    assert not desk(opened(RELEASE.path)).ledger.lasts


def test_whoever_comes_too_late_waits_and_whoever_is_in_stays(public, monkeypatch):
    app = clean(opened())
    monkeypatch.setattr(visitors, "visitors", lambda: visitors.MOST_VISITORS + 1)
    assert keyed(clean(app.run()), "select_slider", "w_epsilon")
    late = clean(opened())
    assert "The demo is full" in [one.value for one in late.subheader]
    assert not keyed(late, "select_slider", "w_epsilon")


def test_a_link_to_data_that_is_not_here_opens_the_first_example_as_it_is_without_a_link():
    app = opened(HOME.path, data="nonsense", epsilon="-3")
    assert scenario(app) == scenario(opened(HOME.path)) == Scenario.default_for(Scenario.data)
    assert "you see the first example" in said(app)
