"""The page Paper while its first trials run."""

from mvgviz.ui.paper.panels import FIRST
from tests.browser.chromium import at_rest


def test_it_says_at_once_what_is_being_done(untouched_address, browser):
    tab = browser.new_page()
    tab.goto(f"{untouched_address}/paper")
    tab.wait_for_selector(f"text={FIRST}", timeout=60_000)
    assert tab.locator(".js-plotly-plot").count() == 0
    tab.wait_for_selector(".js-plotly-plot", timeout=60_000)
    at_rest(tab)
    assert tab.get_by_text(FIRST).count() == 0
    tab.close()
