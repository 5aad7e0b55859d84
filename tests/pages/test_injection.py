"""Names from a file and words from a study, on every page: escaped wherever Markdown, HTML or a label could act."""

import json

import pytest

from mvgviz import Scenario, Study
from mvgviz.ui.menu import BUDGET, DATA
from tests import hostile
from tests.pages.app import TABS, choose, opened, uploaded
from tests.pages.shown import clean, frame, link, text

PLAIN = {"options", "raw_values", "raw_value", "value", "json", "id", "data"}
"""Fields that the browser shows as they are, or hands to a script as data."""
TAGS = ("<script", "<img", "<svg", "<a ", "<iframe", "<style>*", "</script")


def shown(node):
    """Every text of the page that may be taken for Markdown or HTML, with the kind of its element and its field."""
    if (proto := getattr(node, "proto", None)) is not None:
        yield from ((type(proto).__name__, *found) for found in texts(proto))
    for child in getattr(node, "children", {}).values():
        yield from shown(child)


def texts(message):
    for field, value in message.ListFields():
        for one in value if field.is_repeated else [value]:
            if field.type == field.TYPE_STRING and field.name not in PLAIN:
                yield field.name, one
            elif field.type == field.TYPE_MESSAGE and not field.message_type.GetOptions().map_entry:
                yield from texts(one)


def assert_escaped(app, where):
    for kind, field, found in shown(app._tree):
        if field in ("spec", "body") and kind in ("PlotlyChart", "Html"):
            assert not any(tag in found for tag in TAGS), (where, kind, found)
        elif field != "alt":
            assert not any(name in found for name in hostile.NAMES), (where, kind, field, found)


def test_names_of_columns_and_files_are_escaped_on_every_tab_of_every_page():
    app = choose(opened(DATA.path, everything=True), hostile.table(), f"{hostile.NAMES[1]}.csv")
    asked = app.session_state["_scenario"]
    app.session_state["_scenario"] = asked.changed(query="mean", allocation="binary", priority_directions=(0, 4, 5),
                                                   trials=2)
    app.session_state["_notes"] = "\n".join(hostile.NAMES)
    assert_escaped(clean(app.run()), "data")
    for page, (key, tabs) in TABS.items():
        for tab in tabs:
            if key:
                app.session_state[key] = tab
            assert_escaped(clean(app.switch_page(page.path).run()), (page.label, tab))
            if page is BUDGET and tab == tabs[1]:  # its table has a download of its own
                assert not any(name.startswith(("=", "@")) for name in frame(app, "theta")["direction"])


def test_what_nobody_sees_is_no_part_of_a_name():
    content = hostile.table(["\u202egnp.exe", "bell\x07 escape\x1b[31m", "plain"])
    own = clean(uploaded(content, "\u202ecod.csv")).session_state["_upload"]
    assert own.dataset.features == ("gnp.exe", "bell escape[31m", "plain")
    assert own.name == "cod.csv"


@pytest.mark.parametrize("part", [
    {"notes": "\ud800"}, {"population": "two\x07"}, {"notes": 3}, {"data": {"name": "liver", "columns": ["\udfff"]}},
    {"plan": {"mvgviz_plan": [[]]}}, {"scenario": "![x](//elsewhere.example)"}])
def test_a_study_that_cannot_be_is_refused_in_a_sentence(part):
    held = json.loads(Study.of_sample(Scenario.default_for("liver")).to_json()) | part
    app = choose(opened(data="karate"), json.dumps(held), "study.json", key="study_file")
    assert not app.exception
    assert "The study was not opened" in text(app)
    assert_escaped(app, "study")
    assert link(app) == {"data": "karate"}


def test_what_a_link_held_is_told_without_acting():
    app = opened(data="liver", query=hostile.NAMES[5], task=hostile.NAMES[4], **{hostile.NAMES[0]: "1"})
    assert not app.exception
    assert "A part of the link was ignored" in text(app)
    assert_escaped(app, "link")
