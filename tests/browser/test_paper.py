"""The page Paper while its first trials run."""

from playwright.sync_api import expect

FIRST = "The first trials of the paper's experiment are run; the picture comes in a few seconds."


def test_it_says_at_once_what_is_being_done(untouched_address, browser):
    tab = browser.new_page()
    tab.goto(f"{untouched_address}/paper")
    tab.wait_for_function("""first => document.body.innerText.includes(first)
        && !document.querySelector(".js-plotly-plot")""", arg=FIRST)
    tab.wait_for_selector(".js-plotly-plot")
    expect(tab.get_by_text(FIRST)).to_have_count(0)
    tab.close()
