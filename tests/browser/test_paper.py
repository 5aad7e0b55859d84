"""The page Paper while its first trials run."""

from playwright.sync_api import expect

from mvgviz.ui.paper.panels import FIRST


def test_it_says_at_once_what_is_being_done(untouched_address, browser):
    tab = browser.new_page()
    tab.goto(f"{untouched_address}/paper")
    tab.wait_for_selector(f"text={FIRST}", timeout=60_000)
    assert tab.locator(".js-plotly-plot").count() == 0
    tab.wait_for_selector(".js-plotly-plot", timeout=60_000)
    expect(tab.get_by_text(FIRST)).to_have_count(0)
    tab.close()
