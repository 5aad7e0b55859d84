"""The app in a real browser: pages, keyboard, links, uploads; light and dark, wide and phone."""

import csv
import pathlib
import re

import pytest
from playwright.sync_api import expect

from mvgviz import Scenario, build
from mvgviz.data import sample
from mvgviz.design.needs import needs_of, noise_on
from mvgviz.pictures.trade_off import trade_off_numbers
from mvgviz.scenario.trade_off import trade_off_of
from mvgviz.ui.menu import ATTACKER, DATA, HOME, LESSON, LESSON_NOTES, PAGES, PRESENT, SHAPE
from tests.browser.chromium import PICTURES, ROOT, assert_accessible, at_rest, bring, dragged, fetched, go, shoot


def path_of(page):
    return "" if page is HOME else pathlib.Path(page.path).stem


def assert_open(tab, page):
    """The page says its name and what an attacker gains; nothing failed, nothing is wider than the screen."""
    expect(tab.get_by_role("heading", name=page.label, exact=True)).to_be_visible()
    if page.strip and page not in (LESSON, ATTACKER, LESSON_NOTES):
        expect(tab.get_by_text("best attacker:")).to_be_visible()
    if page is not LESSON_NOTES:
        tab.locator(PICTURES).first.wait_for()
    at_rest(tab)
    assert tab.locator("[data-testid=stAlert], [data-testid=stException]").count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize(("screen", "scheme"), [
    ("phone", "dark"), pytest.param("wide", "light", marks=pytest.mark.look)])
def test_every_page_opens_from_the_menu(visit, screen, scheme):
    tab = visit(screen=screen, scheme=scheme)
    for page in (*PAGES[1:], PAGES[0]):
        if not tab.get_by_test_id("stSidebar").is_visible():
            tab.get_by_test_id("stExpandSidebarButton").click()
        go(tab, page)
        assert_open(tab, page)
        shoot(tab, f"{page.label}-{screen}-{scheme}")
        if screen == "wide":
            assert_accessible(tab)


def test_the_presenters_view_goes_on_with_arrow_keys_and_comes_back(visit):
    tab = visit("shape?data=liver", scheme="dark", waits_for=".rule svg")
    tab.get_by_role("button", name=PRESENT.label).click()
    tab.wait_for_url("**/present?data=liver&slide=1")
    expect(tab.get_by_role("heading", level=1)).to_contain_text("We publish second moments of 345 records")
    expect(tab.get_by_test_id("stSidebar")).to_be_hidden()
    assert tab.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor") == "rgb(255, 255, 255)"
    assert_accessible(tab)
    for number in (2, 3, 4, 5):
        tab.keyboard.press("ArrowRight")
        tab.wait_for_url(f"**/present?data=liver&slide={number}")
        expect(tab.get_by_text(f"{number} / 5")).to_be_visible()
        shoot(tab, f"present-{number}")
        if number == 4:  # a picture inside the slide is let through
            assert tab.locator(".plane img").evaluate("image => image.naturalWidth") > 0
    tab.keyboard.press("n")
    expect(tab.locator(".slide .notes")).to_be_visible()
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_url("**/present?data=liver&slide=4")
    tab.keyboard.press("Escape")
    tab.wait_for_url(f"**/{path_of(SHAPE)}?data=liver")


def test_a_key_press_on_a_slider_moves_the_picture_and_the_address(visit):
    tab = visit(screen="phone")
    tab.get_by_test_id("stExpandSidebarButton").click()
    tab.locator(".st-key-w_share input[type=range]").press("ArrowLeft")
    tab.wait_for_url("**share=0.79**")
    expect(tab.get_by_text("0.80×").first).to_be_attached()


def test_a_deep_link_restores_the_screen_and_back_undoes(visit):
    tab = visit("data?data=liver&epsilon=0.1&query=mean")
    expect(tab.locator(".strip")).to_contain_text("ε = 0.1 at δ = 10⁻⁶")
    expect(tab.get_by_role("combobox", name="Data", exact=True)).to_have_value("Liver disorders")
    tab.locator(".st-key-w_epsilon input[type=range]").press("ArrowRight")
    expect(tab.locator(".strip")).to_contain_text("ε = 0.15 at δ = 10⁻⁶")
    tab.go_back()
    expect(tab.locator(".strip")).to_contain_text("ε = 0.1 at δ = 10⁻⁶")
    icon = tab.locator("link[rel~=icon]").get_attribute("href")  # a picture that comes with the page
    assert icon.startswith("data:image/svg+xml")
    assert tab.evaluate("async address => { const one = new Image(); one.src = address; await one.decode(); "
                        "return one.naturalWidth > 0 }", icon)


def test_the_scenario_follows_through_the_menu_and_survives_a_reload(visit):
    tab = visit("?data=liver&epsilon=0.3")
    tab.get_by_role("button", name="Study", exact=True).click()
    tab.locator(".st-key-w_notes textarea").fill("half a sentence")
    tab.get_by_role("link", name=DATA.label).click(delay=60)  # a hand takes as long
    tab.wait_for_url("**/data?**epsilon=0.3**")
    expect(tab.get_by_text("6 features × 345 records")).to_be_visible()
    tab.wait_for_timeout(1000)
    assert "/data?" in tab.url  # the open panel, with what was typed in it, does not call the page back
    tab.reload()
    expect(tab.locator(".strip")).to_contain_text("ε = 0.3 at δ = 10⁻⁶")


def test_a_file_stays_in_its_session_and_a_typed_range_is_kept_and_stated_by_the_person_alone(visit):
    tab = visit("data")
    bring(tab, "\n".join(["height,weight,name", *(f"{150 + i % 40},{50 + i % 35},p{i}" for i in range(300))]))
    tab.wait_for_url("**data=upload-**")
    expect(tab.get_by_text("2 features × 300 records")).to_be_visible()
    stranger = visit("data")
    stranger.goto(tab.url)
    expect(stranger.get_by_text("Choose it again on Data")).to_be_visible()
    assert "mine.csv" not in stranger.content()
    for end, value in (("Lowest", "150"), ("Highest", "260")):
        tab.get_by_label(f"{end} value of height").fill(value)
    tab.get_by_role("link", name=SHAPE.label).dblclick()  # at once: what was typed arrives before the page is left
    tab.wait_for_url("**/shape?**")
    go(tab, DATA)
    tab.wait_for_url("**/data?**")
    expect(tab.get_by_text("read from the data: not private").first).to_be_visible()
    expect(tab.get_by_label("Highest value of height")).to_have_value("260")
    tab.get_by_role("button", name="Use all proposals").click()
    tab.get_by_role("button", name="Use them").click()
    expect(tab.get_by_text("read from the data: not private")).to_have_count(0)
    shoot(tab, "ranges")


def noise_of(text):
    """The share and the two factors that the trade-off shows."""
    return [float(number) for number in re.search(
        r"share ([\d.]+) %: ([\d.]+) times .* priority columns, ([\d.]+) times", text).groups()]


@pytest.mark.parametrize("screen", ["wide", pytest.param("phone", marks=pytest.mark.look)])
def test_the_trade_off_s_point_moves_along_its_curve_and_the_address_follows(visit, screen):
    tab = visit("budget?data=liver&query=mean", screen=screen, waits_for=".frontier svg")
    handle, numbers = tab.get_by_role("slider", name="Share of the budget for priority columns"), tab.locator(
        ".frontier .numbers")
    expect(handle).to_have_attribute("aria-valuenow", "80")
    with dragged(tab, handle, -12, -60):
        during = noise_of(numbers.inner_text())
        assert during[0] > 85
        assert "share" not in tab.url  # the browser alone so far
        shoot(tab, f"frontier-during-drag-{screen}")
    tab.wait_for_url(f"**share={during[0] / 100:g}**")
    at_rest(tab)
    assert numbers.inner_text() == ""
    assert noise_of(handle.get_attribute("aria-valuetext")) == pytest.approx(during, rel=0.02)
    handle.press("ArrowLeft")
    handle.press("ArrowLeft")
    tab.wait_for_url(f"**share={(during[0] - 2) / 100:g}**")
    at_rest(tab)
    expect(handle).to_be_focused()
    expect(handle).to_have_attribute("aria-valuenow", f"{during[0] - 2:g}")
    if screen == "wide":
        assert_accessible(tab)


def test_the_browser_reads_the_trade_off_s_curve_as_the_engine_computes_it(empty_page):
    setup = build(Scenario.default_for("liver"), sample("liver"))
    line = trade_off_numbers(trade_off_of(setup)).own
    shares = [0.17, 0.33, 0.5, 0.61, 0.87, 0.95, 0.99]
    exact = [noise_on(build(setup.scenario.changed(share=share), setup.dataset).design, needs_of((2, 5), 6))
             for share in shares]
    equal = noise_on(setup.iid, needs_of((2, 5), 6))
    code = (ROOT / "mvgviz" / "ui" / "assets" / "frontier.js").read_text()
    found, back, steps = empty_page.evaluate(
        """async ([code, curve, shares]) => {
            const module = await import(URL.createObjectURL(new Blob([code], {type: "text/javascript"})));
            const found = shares.map((share) => module.noiseAt(curve, share));
            const log = (value) => 100 * Math.log(value);
            return [found, found.map((noise) => module.nearestShare(curve, noise.map(log), log, log)),
                    [0, 0.123, 0.8049, 1].map((share) => module.taken(curve, 0.01, share))];
        }""", [code, line._asdict(), shares])
    for noise, (priority, rest) in zip(exact, found, strict=True):
        assert (priority, rest) == pytest.approx((noise.priority / equal.priority, noise.other / equal.other), rel=0.01)
    assert back == pytest.approx(shares, abs=1e-6)
    assert steps == [0.17, 0.17, 0.8, 0.99]


def test_possible_outcomes_play_without_the_server(visit):
    tab = visit("shape?data=liver", waits_for=".rule svg")
    tab.get_by_text("Possible outcomes").click()
    tab.locator(".updatemenu-button").first.wait_for()
    assert tab.evaluate("document.querySelector('.js-plotly-plot')._transitionData._frames.length") == 30
    tab.locator(".updatemenu-button").first.click()
    tab.wait_for_function("document.querySelector('.js-plotly-plot')._fullLayout._currentFrame")


def test_the_budget_s_table_downloads_as_csv(visit):
    tab = visit("budget?data=liver")
    tab.get_by_role("tab", name="Direction by direction").click()
    rows = list(csv.DictReader(fetched(tab, "budget_csv")[0].decode("utf-8-sig").splitlines()))
    assert [row["direction"] for row in rows] == ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"]
    assert sum(float(row["share of the budget (theta)"]) for row in rows) == pytest.approx(1)


def test_the_opened_words_can_be_read_in_the_dark(visit):
    tab = visit(scheme="dark")
    tab.get_by_role("button", name="Words").click()
    tab.get_by_role("group", name="What the words mean").wait_for()
    assert_accessible(tab)
