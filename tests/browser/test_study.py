"""A study on a bad day: the page loaded anew, the server restarted; the study saved and opened."""

import json

import pytest

from tests.browser.chromium import PICTURES, bring, choose, eventually, fetched
from tests.browser.conftest import served

ACCEPTED = "proposed from the data, accepted"
CSV = "age,dose\n" + "".join(f"{20 + i % 50},{i % 7}.5\n" for i in range(60))


@pytest.mark.slow
@pytest.mark.faults
def test_a_study_is_saved_lost_offered_and_opened_again(browser):
    page = browser.new_page()
    with served() as address:
        page.goto(f"{address}/data")
        page.wait_for_selector(PICTURES)
        bring(page, CSV)
        page.get_by_text("2 features × 60 records").wait_for()
        page.get_by_role("button", name="Use all proposals").click()
        page.get_by_role("button", name="Use them").click()
        page.get_by_text(ACCEPTED).first.wait_for()
        page.get_by_role("button", name="Ranges as a file").click()
        for kind, content in (("CSV", b"feature,lowest,highest,known"), ("JSON", b"{")):
            button = page.get_by_test_id("stPopoverBody").get_by_role("button", name=f"As {kind}")
            assert fetched(page, button)[0].startswith(content)
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Study", exact=True).click()
        page.get_by_label("Notes").fill("for Monday")
        page.get_by_label("Notes").press("Control+Enter")
        save, kept = page.get_by_role("button", name="Save the study"), []
        eventually(page, lambda: kept.append(fetched(page, save)[0]) or json.loads(kept[-1])["notes"])
        study = json.loads(kept[-1])
        assert study["data"]["name"] == "mine.csv"
        assert study["data"]["ranges"] == {  # untouched proposals stay what they are, whoever says to know them
            "age": [20.0, 70.0, ACCEPTED], "dose": [0.0, 7.0, ACCEPTED]}
        assert study["notes"] == "for Monday"
    port = int(address.rsplit(":", 1)[1])
    with served(port=port):  # the browser finds the new server by itself, and says so at the next click
        for _ in range(30):  # a click before the browser has found it is lost
            page.get_by_role("button", name="New draw").click()
            page.wait_for_timeout(2_000)
            if page.get_by_text("This tab still has the study").count():
                break
        page.get_by_text("This tab still has the study").wait_for()
        assert page.locator(PICTURES).count() == 0  # no other data in its place
        page.get_by_role("button", name="Open the study of").click()
        page.get_by_text("The study is about mine.csv").wait_for()
        choose(page, CSV)
        page.get_by_text("2 features × 60 records").wait_for()
        page.get_by_text(ACCEPTED).first.wait_for()
        page.close()

        other = browser.new_page()  # another tab knows nothing of it
        other.goto(f"{address}/budget?data={study['scenario']['scenario']['data']}")
        other.get_by_text("this file is not here").wait_for()
        assert other.get_by_text("This tab still has").count() == 0
        other.get_by_role("button", name="Study", exact=True).click()
        choose(other, kept[-1], "study.json", key="study_file")
        other.get_by_text("The study is about mine.csv").wait_for()
        other.close()
