"""The lesson in a browser: answers that follow the control, a wall, phones, and the attacker's game."""

import pytest
from playwright.sync_api import expect

from mvgviz.lesson.game import game
from tests.browser.chromium import assert_accessible, at_rest, box_of, dragged, eventually, shoot
from tests.browser.conftest import served


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
    expect(tab.get_by_role("heading", name="Many columns, one priority")).to_be_visible()
    at_rest(tab)
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_url("**step=4&value=75**")
    at_rest(tab)
    tab.keyboard.press("Escape")
    expect(tab.get_by_test_id("stSidebar")).to_be_visible()
    tab.wait_for_url(lambda url: "big" not in url)
    at_rest(tab)
    tab.get_by_role("button", name="Class link").click()
    expect(tab.get_by_text("To open the page on phones, start mvgviz --host 0.0.0.0")).to_be_visible()
    expect(tab.get_by_role("img", name="QR code of the link")).to_be_hidden()


@pytest.mark.slow
def test_the_class_link_opens_a_pupil_s_view_that_plays_on(browser):
    with served(MVGVIZ_PUBLIC_URL="https://class.example/mvgviz") as address:
        teacher, pupil = browser.new_page(), browser.new_page(viewport={"width": 390, "height": 844})
        teacher.goto(f"{address}/lesson?step=2&value=0.9")
        teacher.get_by_role("button", name="Class link").click()
        expect(teacher.get_by_role("img", name="QR code of the link")).to_be_visible()
        link = teacher.locator("code").inner_text()
        assert link == "https://class.example/mvgviz/lesson?step=2&value=0.9&pupil=1"
        pupil.goto(link.replace("https://class.example/mvgviz", address))
        for place in ("lesson", "attacker"):
            pupil.wait_for_url(f"**/{place}?**pupil=1**")
            pupil.wait_for_selector(".js-plotly-plot")
            at_rest(pupil)
            expect(pupil.get_by_test_id("stSidebar")).to_be_hidden()
            for name in ("Class link", "Big screen"):
                expect(pupil.get_by_role("button", name=name)).to_have_count(0)
            shoot(pupil, f"pupil-{place}")
            if place == "lesson":
                pupil.get_by_role("link", name="Play the attacker").click()
        pupil.get_by_role("link", name="Back to the lesson").click()
        pupil.wait_for_url("**/lesson?**step=2&value=0.9&pupil=1")


def assert_seen(tab, *parts):
    """Whoever has not scrolled sees all of each part."""
    for part in parts:
        box = box_of(part)
        assert box["y"] >= 0, part
        assert box["y"] + box["height"] <= tab.viewport_size["height"], part


@pytest.mark.parametrize("screen", ["phone", pytest.param("wide", marks=pytest.mark.look)])
def test_ten_rounds_can_be_played_by_keys(visit, screen):
    tab = visit("attacker?game=7", screen=screen)
    for number, each in enumerate(game(seed=7, shape="circle", epsilon=4).rounds, 1):
        expect(tab.get_by_text(f"Round {number} of 10")).to_be_visible()
        at_rest(tab)
        assert_seen(tab, tab.locator(".js-plotly-plot"), tab.get_by_role("button", name="Ann: 12 h, 100 points"))
        tab.keyboard.press("1" if each.truth == "least" else "2")
    expect(tab.get_by_text("You: 10 of 10 right")).to_be_visible()
    tab.get_by_role("button", name="Now with the ellipse").click()
    tab.wait_for_url("**shape=ellipse**")
    expect(tab.get_by_text("Round 1 of 10")).to_be_visible()
    shoot(tab, f"attacker-{screen}")


def ghost_path(tab):
    """Where the ghost is drawn, once the chart is there."""
    return tab.wait_for_function("""() => {
      const chart = document.querySelector(".js-plotly-plot");
      const ghost = chart?._fullData?.find(({ name }) => name === "your guess");
      return ghost && chart.querySelector(`.trace${ghost.uid} path.js-line`)?.getBoundingClientRect().toJSON();
    }""").json_value()


@pytest.mark.parametrize(("screen", "step", "right", "up"), [
    ("wide", 2, 0, 60), ("wide", 9, 60, 0), ("phone", 3, -30, 30)])
def test_the_ghost_is_dragged_in_the_picture_and_the_guess_follows(visit, screen, step, right, up):
    tab = visit(f"lesson?step={step}", screen=screen)
    guess, handle = tab.get_by_role("slider"), tab.locator(".lesson-ghost")
    expect(handle).to_be_visible()
    at_rest(tab)
    before, was = float(guess.input_value()), ghost_path(tab)
    with dragged(tab, handle, right, -up, steps=2):
        pass
    eventually(tab, lambda: float(guess.input_value()) > before)
    at_rest(tab)
    now = ghost_path(tab)
    if step == 9:
        assert now["x"] - was["x"] == pytest.approx(right, abs=8)  # a track goes in steps of one
    else:
        assert was["y"] - now["y"] == pytest.approx(up, abs=8)
    after = float(guess.input_value())
    guess.press("ArrowLeft")  # by keys too
    eventually(tab, lambda: float(guess.input_value()) < after)
    eventually(tab, lambda: ghost_path(tab) != now)
    tab.get_by_role("button", name="Reveal").click()
    expect(handle).to_be_hidden()
    expect(tab.get_by_role("button", name="Guess again")).to_be_visible()
    assert ghost_path(tab)["height"] > 0  # it stays
    assert_accessible(tab)


@pytest.mark.parametrize(("size", "view"), [((1366, 768), "big=0"), ((390, 844), "big=0"), ((390, 844), "pupil=1")],
                         ids=["laptop", "phone", "pupil"])
def test_picture_and_question_then_guess_and_answer_are_never_below_the_fold(visit, address, size, view):
    tab = visit(f"lesson?{view}")
    tab.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    for step in range(1, 10):
        if step == 6:  # of the second hour
            tab.goto(f"{address}/lesson?step=6&{view}")
        elif step > 1:
            tab.locator(".st-key-lesson_next button").click()
            tab.wait_for_url(f"**step={step}**")
        reveal, picture = tab.get_by_role("button", name="Reveal"), tab.locator(".js-plotly-plot")
        expect(reveal).to_be_visible()
        tab.wait_for_selector(".js-plotly-plot .main-svg")
        at_rest(tab)
        tab.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
        assert_seen(tab, picture, reveal)
        if size[0] > 1000:  # the text stands beside the picture
            assert box_of(picture)["x"] > box_of(reveal)["x"] + 300, step
        if step == 8:
            expect(picture.locator(".heatmap-label", has_text="?")).to_be_visible()
        shoot(tab, f"lesson-{step}-{size[0]}")
        reveal.click()
        expect(tab.get_by_role("button", name="Guess again")).to_be_visible()
        at_rest(tab)
        assert_seen(tab, picture, tab.get_by_test_id("stAlert").locator("strong").first)
        if size[0] > 1000 or "pupil" in view:
            again = tab.get_by_role("button", name="Guess again")
            assert_seen(tab, tab.locator(f".st-key-lesson_control_{step}"), again)
    tab.goto(f"{address}/attacker?{view}")
    tab.wait_for_selector(".js-plotly-plot .main-svg")
    at_rest(tab)
    assert_seen(tab, picture, tab.get_by_role("button", name="Ann: 12 h, 100 points"))


def assert_fills_the_wall(tab, step):
    at_rest(tab)
    box = box_of(tab.locator(".js-plotly-plot"))
    assert box["y"] > 0, step
    assert box["y"] + box["height"] <= 1080, step
    assert box["height"] > 800, step
    for value in tab.get_by_test_id("stSliderThumbValue").all():  # its number stands above the line, not on it
        assert box_of(value)["y"] + box_of(value)["height"] <= box_of(value.locator(".."))["y"] + 6, step
    for label in tab.locator(".heatmap-label text").all():
        assert label.evaluate("node => parseFloat(getComputedStyle(node).fontSize)") >= 22
    shoot(tab, f"wall-{step}")


@pytest.mark.look
def test_on_the_wall_every_picture_stands_at_full_height_without_scrolling(visit, address):
    tab = visit("lesson?big=1", screen="projector")
    for step in range(1, 10):
        tab.goto(f"{address}/lesson?step={step}&big=1")
        tab.wait_for_selector(".js-plotly-plot")
        assert_fills_the_wall(tab, step)
        tab.get_by_role("button", name="Reveal").click()
        expect(tab.get_by_role("button", name="Guess again")).to_be_visible()
        assert_fills_the_wall(tab, step)
