"""Long work, seen from the browser: what each slice draws arrives and can be read, and the button to stop works."""

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.chromium import at_rest

SLICES = 4
FAINTEST = """() => Math.min(...[...document.querySelectorAll("[data-testid=stMain] :is(p, summary, button, svg)")]
    .filter(one => one.checkVisibility() && !one.closest("button:disabled"))
    .map(one => {
        let seen = 1;
        for (; one; one = one.parentElement) seen *= getComputedStyle(one).opacity;
        return seen;
    }))"""


@pytest.fixture
def heard():
    return []


@pytest.fixture
def tab(address, tab, heard):
    """The ranking of all mechanisms, with trials for minutes."""
    tab.set_viewport_size({"width": 1440, "height": 1800})
    tab.on("websocket", lambda socket: socket.on("framereceived", lambda raw: heard.append(ForwardMsg.FromString(raw))))
    tab.goto(f"{address}/compare?data=liver&trials=100000")
    tab.get_by_role("button", name="Stop").wait_for()
    return tab


def test_every_slice_arrives_whole_and_stop_and_go_on_work_at_the_first_click(tab, heard):
    most, faintest, runs = 0, 1.0, []
    for _ in range(5_000):  # looks
        if len(runs := runs_of(heard)) >= SLICES:
            break
        most, faintest = max(most, tab.locator(".js-plotly-plot").count()), min(faintest, tab.evaluate(FAINTEST))
        tab.wait_for_timeout(50)
    assert [stops(run) for run in runs] == [1] * max(len(runs), SLICES)
    assert most <= 2  # while one takes the other's place
    assert faintest > 0.5  # what is stale would be at a third
    stop, go_on = (tab.get_by_role("button", name=name) for name in ("Stop", "Go on"))
    for again in (True, True, False):
        stop.click(delay=90)
        expect(go_on).to_be_visible()
        expect(stop).to_have_count(0)
        if again:
            go_on.click(delay=90)
            expect(stop).to_be_visible()
            expect(go_on).to_have_count(0)
    at_rest(tab)
    made = len(runs_of(heard))
    tab.wait_for_timeout(1_500)
    assert len(runs_of(heard)) == made  # nobody asks any more


def runs_of(heard):
    """What was drawn in each run that ended."""
    runs, drawn = [], []
    for message in list(heard):
        kind = message.WhichOneof("type")
        if kind == "new_session":
            drawn = []
        elif kind == "delta":
            drawn.append(message.delta)
        elif kind == "script_finished":
            runs.append(drawn)
    return runs


def stops(run):
    return sum(delta.new_element.button.label == "Stop" for delta in run)


FIRST = "Running the first trials. The picture comes in a few seconds."


def test_the_page_paper_says_at_once_what_is_being_done(untouched_address, context):
    """By what the server sends: how long a browser shows it is the machine's affair."""
    tab, heard = context.new_page(), []
    tab.on("websocket", lambda socket: socket.on("framereceived", lambda raw: heard.append(ForwardMsg.FromString(raw))))
    tab.goto(f"{untouched_address}/paper")
    tab.wait_for_selector(".js-plotly-plot")
    drawn = [message.delta.new_element for message in heard]
    said = next(place for place, element in enumerate(drawn) if element.alert.body == FIRST)
    assert said < next(place for place, element in enumerate(drawn) if element.WhichOneof("type") == "plotly_chart")
    expect(tab.get_by_text(FIRST)).to_have_count(0)
    tab.close()
