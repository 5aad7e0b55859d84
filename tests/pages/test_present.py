"""The presenter's view, without a browser."""

import re

import pytest

from mvgviz.report.talk import SLIDES
from mvgviz.ui.menu import HOME, PRESENT
from tests.pages.app import adjust, opened, press, to, uploaded
from tests.pages.shown import clean, link, scenario


def presented(**parameters):
    return clean(opened(PRESENT.path, **parameters))


def slide(app):
    return next(block.proto.body for block in app.get("html") if "<section" in block.proto.body)


def title(app):
    return re.search("<h1[^>]*>(.*?)</h1>", slide(app), re.DOTALL)[1]


@pytest.mark.parametrize("data", ["liver", "karate"])
def test_five_slides_each_with_its_title_and_its_place_in_the_link(data):
    app, titles = presented(data=data), set()
    for number in range(1, len(SLIDES) + 1):
        assert f"{number} / 5" in slide(app)
        assert link(app)["slide"] == str(number)
        titles.add(title(app))
        if number < len(SLIDES):
            press(app, "present_next")
    assert len(titles) == 5
    assert app.button(key="present_next").disabled


def test_menus_are_away_notes_come_and_go_and_a_slide_looks_the_same_to_everyone():
    def noted():
        return any('<div class="noted">' in block.proto.body for block in app.get("html"))

    app = presented(data="liver", epsilon="0.3")
    assert not app.sidebar.children
    assert slide(app) == slide(clean(app.run())) == slide(presented(data="liver", epsilon="0.3"))
    assert not noted()
    press(press(app, "present_notes"), "present_next")
    assert noted()
    press(press(press(app, "present_notes"), "present_next"), "present_next")
    assert not noted()
    assert title(app).startswith("Less noise on sgpt and drinks is paid for by more on ")
    assert link(app) == {"data": "liver", "epsilon": "0.3", "slide": "4"}


def test_a_link_opens_at_its_slide_and_nonsense_at_the_nearest():
    app = opened()
    for text, number in (("3", "3"), ("99", "5"), ("-1", "1"), ("x", "1")):
        to(app, HOME)
        app.query_params["slide"] = text
        assert link(to(app, PRESENT))["slide"] == number


def test_leaving_comes_back_to_the_page_and_the_scenario_that_one_came_from():
    app = opened(HOME.path, epsilon="0.7")
    app.query_params["data"] = "liver"  # as Home's door has it
    assert scenario(to(app, PRESENT)).data == "liver"
    press(press(app, "present_next"), "present_leave")
    assert app.subheader[0].value == HOME.label
    assert link(app) == {"data": "two_features", "epsilon": "0.7"}
    assert link(to(app, PRESENT))["slide"] == "1"  # a second visit begins anew


def test_a_files_slides_are_of_simulated_data_until_its_holder_asks():
    app = to(uploaded("\n".join(["a,b", *(f"{i % 10},{3 * i % 10}" for i in range(30))])), PRESENT)
    assert "simulated data, no record of the file" in slide(press(press(app, "present_next"), "present_next"))
    assert "not private: computed on the data itself" in slide(adjust(app, w_my_data=True))
