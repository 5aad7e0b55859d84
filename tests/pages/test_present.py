"""The presenter's view, without a browser."""

import json

import pytest

from mvgviz.report.slides import headline
from mvgviz.ui.menu import HOME, PRESENT
from tests.pages.app import clean, link, opened, press, spec, to, uploaded


def presented(**parameters):
    return clean(opened(PRESENT.path, trials="5", **parameters))


@pytest.mark.parametrize("data", ["liver", "karate"])
def test_every_slide_has_one_picture_with_its_takeaway_for_a_title(data):
    app, slides = presented(data=data), 5 if data == "karate" else 6  # a graph has no features to trade
    for number in range(1, slides + 1):
        [picture] = app.get("plotly_chart")
        [title] = app.title
        assert len(title.value) > 10
        assert "**" not in title.value
        assert picture.proto.alt.replace("\\", "").startswith(title.value.replace("\\", "")[:20])
        assert json.loads(picture.proto.spec)["layout"]["font"]["size"] >= 16
        assert link(app)["slide"] == str(number)
        if number < slides:
            press(app, "present_next")
    assert app.button(key="present_next").disabled


def test_menus_are_away_the_scenario_stays_and_a_slide_looks_the_same_to_everyone():
    app = presented(data="liver", epsilon="0.3")
    assert not app.sidebar.children
    assert spec(app) == spec(clean(app.run())) == spec(presented(data="liver", epsilon="0.3"))
    press(app, "present_next")
    assert app.title[0].value == "Less noise on sgpt and drinks, more on the rest."
    assert link(app) == {"data": "liver", "epsilon": "0.3", "trials": "5", "slide": "2"}


def test_a_link_opens_at_its_slide_and_nonsense_at_the_nearest():
    for text, number in (("3", "3"), ("99", "6"), ("-1", "1"), ("x", "1")):
        app = opened(trials="5")
        app.query_params["slide"] = text
        to(app, PRESENT)
        assert link(app)["slide"] == number


def test_a_task_that_does_not_fit_gets_a_sentence_and_a_way_back():
    app = opened(PRESENT.path, data="liver", task="kernel-ridge", slide="6", trials="5")
    assert not app.exception
    assert "kernel ridge" in app.error[0].value.lower()
    app.button(key="present_back").click().run()
    assert not app.error


def test_a_long_takeaway_becomes_a_title_and_a_text():
    rest = "and then a good deal more of it " * 4
    assert headline(f"**Noise is needed:** {rest}") == ("Noise is needed", rest[:1].upper() + rest[1:])
    assert headline("**Gain:** sleep.") == ("Gain: sleep.", "")


def test_leaving_comes_back_to_the_page_and_the_scenario_that_one_came_from():
    app = opened(HOME.path, epsilon="0.7")
    app.query_params["data"] = "liver"  # as Home's door has it
    to(app, PRESENT)
    assert app.session_state["_scenario"].data == "liver"
    press(app, "present_next")
    app.button(key="present_leave").click().run()
    assert app.subheader[0].value == HOME.question
    assert link(app) == {"data": "two_features", "epsilon": "0.7"}
    assert link(to(app, PRESENT))["slide"] == "1"  # a second visit begins anew


def test_the_last_slide_of_a_file_is_on_simulated_data_and_tells_nothing_about_it():
    found = []
    for shift in (0, 3):  # the same ranges and size, other records
        rows = [f"{(7 * i + shift * i * i) % 10},{(3 * i + shift) % 10}" for i in range(30)]
        app = uploaded("\n".join(["a,b", "0,0", "9,9", *rows]).encode())
        app.switch_page(PRESENT.path).run()
        while not app.button(key="present_next").disabled:
            press(app, "present_next")
        found.append((app.title[0].value, spec(app)["data"]))
    assert found[0][0].startswith("On simulated data: ")
    assert found[0] == found[1]


def test_the_last_slide_on_the_data_of_a_file_says_that_it_is_not_private():
    app = to(uploaded("\n".join(["a,b", *(f"{i % 10},{3 * i % 10}" for i in range(30))])), PRESENT)
    app.toggle(key="w_my_data").set_value(True).run()
    while not app.button(key="present_next").disabled:
        press(app, "present_next")
    assert app.title[0].value.startswith("On this data (not private): ")
