"""The lesson in a browser: answers that follow the control, a wall, phones, and the attacker's game."""

import re

import pytest
from playwright.sync_api import expect

from mvgviz.lesson.game import game
from tests.browser.chromium import assert_accessible, at_rest, box_of, shoot


def test_on_the_wall_arrow_keys_go_on_and_the_class_link_holds_step_and_value(visit):
    tab = visit("lesson?step=4&value=75&big=1")
    tab.set_viewport_size({"width": 1920, "height": 1080})
    at_rest(tab)
    expect(tab.get_by_test_id("stSidebar")).to_be_hidden()
    tab.wait_for_function("document.querySelector('.js-plotly-plot').getBoundingClientRect().height > 850")
    expect(tab.get_by_text("75°").first).to_be_visible()
    assert_accessible(tab)
    shoot(tab, "lesson-wall")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_url("**step=5**")
    expect(tab.get_by_text("step 5 of 7")).to_be_visible()
    at_rest(tab)
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_url("**step=4&value=75**")
    at_rest(tab)
    tab.keyboard.press("Escape")
    expect(tab.get_by_test_id("stSidebar")).to_be_visible()
    tab.wait_for_url(lambda url: "big" not in url)
    at_rest(tab)
    tab.get_by_role("button", name="Class link").click()
    expect(tab.get_by_role("img", name="QR code of the link")).to_be_visible()
    expect(tab.locator("code")).to_contain_text("/lesson?step=4&value=75")


@pytest.mark.parametrize("screen", ["wide", pytest.param("phone", marks=pytest.mark.look)])
def test_ten_rounds_can_be_played_by_keys(visit, screen):
    tab = visit("attacker?game=7", screen=screen)
    rounds = game(seed=7, shape="circle", epsilon=4).rounds
    for number, each in enumerate(rounds, 1):
        expect(tab.get_by_text(f"Round {number} of 10")).to_be_visible()
        at_rest(tab)
        tab.keyboard.press("1" if each.truth == "least" else "2")
    expect(tab.get_by_text("You: 10 of 10 right")).to_be_visible()
    tab.get_by_role("button", name="Now with the ellipse").click()
    tab.wait_for_url("**shape=ellipse**")
    expect(tab.get_by_text("Round 1 of 10")).to_be_visible()
    shoot(tab, f"attacker-{screen}")


def test_more_columns_shrink_the_needed_bar(visit):
    tab = visit("lesson?step=7", waits_for=".columns input")
    slider = tab.locator(".columns input")
    expect(tab.locator(".columns p")).to_contain_text("0.24 of the noise")
    slider.focus()
    for _ in range(19):
        slider.press("ArrowLeft")
    expect(tab.locator(".columns p")).to_contain_text("2 columns, one needed: 0.79 of the noise")
    assert "step=7" in tab.url


def assert_fills_the_wall(tab, step, picture):
    at_rest(tab)
    box = box_of(tab.locator(picture).first)
    assert box["y"] > 0, step
    assert box["y"] + box["height"] <= 1080, step
    assert box["height"] > 800, step
    shoot(tab, f"wall-{step}-{picture.strip('.')}")


@pytest.mark.look
def test_on_the_wall_every_picture_stands_at_full_height_without_scrolling(visit, address):
    views = {3: ("Why it is private", ".rule"), 4: ("Why it is private", ".rule"),
             7: ("One needed column among many", ".columns")}
    tab = visit("lesson?big=1", screen="projector")
    for step in range(1, 8):
        tab.goto(f"{address}/lesson?step={step}&big=1")
        tab.wait_for_selector(".js-plotly-plot")
        assert_fills_the_wall(tab, step, ".js-plotly-plot")
        if step in views:
            view, picture = views[step]
            if step < 7:
                tab.get_by_test_id("stButton").get_by_role("button", name=re.compile("Reveal|Show me")).click()
            tab.get_by_role("radio", name=view).or_(tab.get_by_role("button", name=view)).click()
            tab.wait_for_selector(f"{picture} [role=img]")
            assert_fills_the_wall(tab, step, picture)
