"""Where a slider draws only a part of the page again: all that depends on it follows, and no move is lost."""

import re

import pytest
from playwright.sync_api import expect

from mvgviz.ui.menu import HOME, SHAPE
from tests.browser.chromium import arrived, at_rest, box_of, go


def slider(tab, name):
    return tab.locator(f".st-key-w_{name} input[type=range]")


def value(tab, name):
    return tab.locator(f".st-key-w_{name} [data-testid=stSliderThumbValue]")


def address(tab):
    """What the panel of the link shows."""
    tab.get_by_role("button", name="Copy link").click()
    text = tab.get_by_test_id("stCode").inner_text()
    tab.keyboard.press("Escape")
    return text


@pytest.mark.parametrize("path", ["shape", ""])
def test_the_address_the_facts_the_picture_and_undo_follow_every_move(visit, path):
    tab = visit(path, waits_for=".rule svg")
    at_rest(tab)
    takeaway = tab.locator("[data-testid=stMain] p").filter(has_text="× equal noise").first
    facts, sentence = tab.locator(".strip").inner_text(), takeaway.inner_text()
    words = tab.get_by_role("button", name="Words", exact=True)
    before = box_of(words)
    for _ in range(6):  # quicker than replies
        slider(tab, "share").press("ArrowLeft")
    tab.wait_for_url("**share=0.74**")
    at_rest(tab)
    expect(value(tab, "share")).to_have_text("74%")
    expect(tab.locator(".strip")).not_to_have_text(facts)
    expect(takeaway).not_to_have_text(sentence)
    expect(tab.get_by_role("slider", name="Share of the budget along sleep")).to_have_attribute("aria-valuenow", "74")
    assert "share=0.74" in address(tab)
    slider(tab, "epsilon").press("End")
    tab.wait_for_url("**epsilon=100**")
    expect(tab.get_by_test_id("stSidebar").get_by_text("Almost no privacy")).to_be_visible()
    at_rest(tab)
    assert "epsilon=100" in address(tab)
    expect(tab.get_by_role("button", name="Redo", exact=True)).to_be_disabled()
    tab.get_by_role("button", name="Undo", exact=True).click()
    expect(value(tab, "epsilon")).to_have_text("1")
    tab.get_by_role("button", name="Undo", exact=True).click()
    expect(value(tab, "share")).to_have_text("80%")
    tab.wait_for_url(re.compile(r"data=two_features$"))
    expect(tab.get_by_role("button", name="Undo", exact=True)).to_be_disabled()
    expect(takeaway).to_have_text(sentence)
    tab.get_by_role("button", name="Redo", exact=True).click()
    expect(value(tab, "share")).to_have_text("74%")
    assert abs(box_of(words)["y"] - before["y"]) < 1


def test_no_move_is_lost_and_no_reply_missing_however_quickly_the_slider_goes_to_and_fro(visit):
    """What a waiting reply refers to, the browser may have dropped; what it brings, the hand may have left."""
    tab = visit("shape", waits_for=".rule svg")
    at_rest(tab)
    slider(tab, "share").focus()
    for turn in range(12):
        for _ in range(6):
            tab.keyboard.press("ArrowRight" if turn % 2 else "ArrowLeft")
            tab.wait_for_timeout((0, 20, 60, 120)[turn % 4])
        expect(value(tab, "share")).to_have_text("80%" if turn % 2 else "74%")
        expect(tab.get_by_role("slider", name="Share of the budget along sleep")).to_have_attribute(
            "aria-valuenow", "80" if turn % 2 else "74")
        at_rest(tab)


def test_a_move_stays_after_another_choice_and_on_other_pages(visit):
    tab = visit("shape?data=liver", waits_for=".rule svg")
    at_rest(tab)
    tab.get_by_text("Covariances").click()
    expect(tab.locator(".st-key-shape_std .js-plotly-plot")).to_be_visible()
    at_rest(tab)
    slider(tab, "share").press("ArrowLeft")
    slider(tab, "share").press("ArrowLeft")
    tab.wait_for_url("**share=0.78**")
    slider(tab, "share").press("ArrowLeft")
    tab.wait_for_url("**share=0.77**")
    go(tab, HOME)
    arrived(tab, HOME)
    at_rest(tab)
    expect(value(tab, "share")).to_have_text("77%")
    slider(tab, "share").press("ArrowLeft")
    tab.wait_for_url("**share=0.76**")
    go(tab, SHAPE)
    arrived(tab, SHAPE)
    expect(value(tab, "share")).to_have_text("76%")


def test_what_concerns_the_whole_page_draws_all_of_it(visit):
    """Undo and the picture stand in the part that is drawn alone."""
    tab = visit("shape?query=mean", waits_for=".rule svg")
    at_rest(tab)
    tab.get_by_role("slider", name="Share of the budget along sleep").press("ArrowDown")
    tab.wait_for_url("**share=0.79**")
    expect(value(tab, "share")).to_have_text("79%")
    tab.get_by_role("slider", name="Angle of the ellipse").press("ArrowRight")
    tab.wait_for_url("**directions=rotation**")
    expect(tab.get_by_test_id("stSidebar").get_by_text("Priority directions")).to_be_visible()
    expect(tab.get_by_text("Plane of")).to_be_visible()
    tab.get_by_role("button", name="Undo", exact=True).click()
    expect(tab.get_by_test_id("stSidebar").get_by_text("Priority columns")).to_be_visible()
    expect(tab.get_by_text("Plane of")).to_have_count(0)
    slider(tab, "share").press("ArrowLeft")
    tab.wait_for_url(re.compile("share=0.78"))
    assert "rotation" not in tab.url


def test_what_was_said_once_is_gone_after_a_move(visit):
    tab = visit("shape?data=liver&nonsense=1", waits_for=".rule svg")
    expect(tab.get_by_text("A part of the link was ignored")).to_be_visible()
    at_rest(tab)
    slider(tab, "share").press("ArrowLeft")
    tab.wait_for_url("**share=0.79**")
    expect(tab.get_by_text("A part of the link was ignored")).to_have_count(0)
