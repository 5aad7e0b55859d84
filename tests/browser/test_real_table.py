"""With a ledger that lasts: a table as people have it, from the file to a downloaded answer, and what is typed."""

import csv
import html
import io
import json
import re
import subprocess
import sys
import zipfile
from datetime import date, timedelta

import numpy as np
import pytest
from playwright.sync_api import expect

from mvgviz.text import as_number
from tests.browser.chromium import assert_accessible, at_rest, bring, choose, eventually, fetched, shoot

RNG = np.random.default_rng(8)
REGIONS = ("Nord", "Süd", "Łódź")
RANGES = {"age": ("18", "100"), "pressure": ("80", "200"), "seen": ("2021-01-01", "2024-12-31")}
MOST_PRESSES = 14
EPOCH = date(1970, 1, 1)


def visits():
    """Up to three visits of each of 300 people."""
    lines = []
    for person in range(300):
        age, sex, region = RNG.integers(18, 95), "fm"[person % 2], REGIONS[person % 3]
        for visit in range(1 + person % 3):
            pressure = "" if RNG.random() < 0.1 else f"{RNG.normal(130, 15):.1f}"
            day = 1 + person % 28
            seen = f"{day:02}.{1 + visit:02}.2023" if person % 5 else f"2022-0{1 + visit}-{day:02}"
            lines.append(f"P-{person:03}x,{sex if RNG.random() < 0.8 else ''},{region},{seen},{age},{pressure},"
                         f"{str(person % 4 == 0).upper()}")
    return "\n".join(["patient,sex,region,seen,age,pressure,smokes", *lines]) + "\n"


@pytest.fixture
def address(address_with_ledger):
    return address_with_ledger


class Hand:
    """Counts what it presses: clicks, and Enter. Typing and Tab are free."""

    def __init__(self, tab):
        self.tab, self.presses = tab, 0

    def press(self, locator):
        locator.wait_for()
        self.tab.wait_for_timeout(500)  # what was typed is on its way
        at_rest(self.tab)
        locator.scroll_into_view_if_needed()
        self.tab.wait_for_timeout(300)  # a list that opens while the page still scrolls is closed by that
        locator.click()
        self.presses += 1

    def button(self, key):
        self.press(self.tab.locator(f".st-key-{key} button"))

    def choose(self, label, option):
        self.press(self.tab.get_by_role("combobox", name=label))
        self.press(self.tab.get_by_role("option", name=option, exact=True))

    def type(self, text):
        self.tab.keyboard.type(text, delay=10)

    def go_to(self, label):
        """By Tab."""
        cell = self.tab.get_by_label(label, exact=True)
        cell.wait_for()
        cell.focus()


def cells(tab):
    """The first table of the page: a dictionary for each row that is in sight."""
    grid = tab.locator("[data-testid=stDataFrame]").first
    grid.scroll_into_view_if_needed()
    rows = grid.locator("canvas tr")
    eventually(tab, lambda: rows.count() > 1)
    head, *lines = [row.locator("th, td").all_text_contents() for row in rows.all()]
    return [dict(zip(head, line, strict=True)) for line in lines]


def to_released(hand, file):
    """From the page Data & query to the answer; what was typed stays typed."""
    tab = hand.tab
    hand.press(tab.get_by_text("Use your own file"))
    hand.presses += 2  # the button of the box, and the one of the dialog
    choose(tab, file)
    hand.button("upload_use_person")
    hand.go_to("At most this many rows each")
    tab.keyboard.press("ControlOrMeta+a")
    hand.type("2")
    tab.keyboard.press("Tab")
    hand.button("path_on_Who-is-a-person")
    for name, (low, high) in RANGES.items():
        for label, text in (("Lowest value", low), ("Highest value", high)):
            hand.go_to(f"{label} of {name}")
            hand.type(text)
    tab.wait_for_timeout(600)  # what was typed is on its way; a column more is in use now
    at_rest(tab)
    assert tab.evaluate("document.activeElement.shadowRoot?.activeElement?.ariaLabel") == "Highest value of seen"
    hand.go_to("Unit of pressure")
    hand.type("mmHg")
    for name, levels in (("sex", "f, m"), ("region", ", ".join(REGIONS))):
        hand.go_to(f"Levels of {name}")
        hand.type(levels)
    tab.keyboard.press("Tab")
    eventually(tab, lambda: "10 features" in tab.locator(".st-key-path_Columns-and-ranges").inner_text())
    for name, typed in RANGES.items():
        shown = [tab.get_by_label(f"{end} value of {name}").input_value() for end in ("Lowest", "Highest")]
        assert shown == list(typed)
    hand.button("path_on_Columns-and-ranges")
    hand.choose("What do you ask of the data?", "The mean record")
    hand.press(tab.get_by_text("Go on to the release"))
    hand.go_to("Who are the records about?")
    hand.type("patients of 2024")
    tab.keyboard.press("Enter")
    hand.presses += 1
    for words in ("I accept that the published record count", "I understand that this spends"):
        hand.press(tab.get_by_text(words))
    hand.button("release_go")
    tab.get_by_text("Released: 10 × 1 numbers, with noise.").wait_for()


def test_from_the_file_to_a_downloaded_answer_whose_numbers_agree_everywhere(visit, tmp_path):
    (tmp_path / "visits.csv").write_text(visits(), encoding="utf-8")
    tab = visit("data")
    hand = Hand(tab)
    to_released(hand, tmp_path / "visits.csv")
    packed = zipfile.ZipFile(io.BytesIO(fetched(tab, "release_everything")[0]))
    hand.presses += 1
    assert hand.presses <= MOST_PRESSES
    shoot(tab, "real_table_released")
    files = {re.sub(r"^release_1_visits_mean", "", name): packed.read(name) for name in packed.namelist()}
    assert set(files) == {".csv", "_intervals.csv", ".npy", ".json"}

    released = {row[0]: float(row[1]) for row in list(csv.reader(io.StringIO(files[".csv"].decode())))[1:]}
    assert list(released) == ["age", "pressure", "smokes=false", "smokes=true", "sex=f", "sex=m",
                              *(f"region={one}" for one in REGIONS), "seen"]
    assert (18 <= released["age"] <= 100, 80 <= released["pressure"] <= 200) == (True, True)
    intervals = {row["feature"]: row for row in csv.DictReader(io.StringIO(files["_intervals.csv"].decode()))}
    for row in cells(tab):
        told = intervals[row["feature"]]
        assert float(told["value"]) == released[row["feature"]]
        numbers = [float(told[name]) for name in ("value", "lower 0.95", "upper 0.95")]
        assert [row[name] for name in ("released", "lower", "upper")] == [
            str(EPOCH + timedelta(days=round(one))) if row["unit"] == "date" else as_number(one, 4) for one in numbers]
    about = json.loads(files[".json"])
    assert about["title"] == "visits"
    assert about["prepared"]["gaps"] == "middle"
    assert about["prepared"]["records_per_person"] == 2
    assert about["ranges"]["origins"]["seen"] == "declared"

    half = (float(intervals["pressure"]["upper 0.95"]) - float(intervals["pressure"]["lower 0.95"])) / 2
    told = f"± {as_number(half)} on pressure"
    assert told in tab.locator("dl.facts").inner_text()
    tab.get_by_role("tab", name="Report, script, link").click()
    tab.locator(".st-key-release_report_html button:enabled").wait_for()
    report = html.unescape(re.sub(r"<[^>]+>", "", fetched(tab, "release_report_html")[0].decode()))
    assert told in report
    assert "filled with the middle of the range" in report
    assert "one person" in report

    (tmp_path / "program.py").write_bytes(fetched(tab, "release_program_py")[0])  # tests/unit/report runs notebooks
    printed = subprocess.run([sys.executable, "program.py", "--trials", "3"], cwd=tmp_path, capture_output=True,
                             check=True, encoding="utf-8").stdout
    std = float(re.search(r"'pressure': (\S+) mmHg", printed)[1])
    assert as_number(1.959964 * std) == as_number(half)
    assert "epsilon spent by the noise: 1\n" in printed


NAMES = ("age", "dose", "pressure", "weight", "height", "pulse")
ROWS = "".join(f"{20 + i % 60},{i % 7}.5,{100 + i % 70},{50 + i % 40},{150 + i % 45},{60 + i % 50}\n"
               for i in range(80))
VALUES = (("18", "95"), ("1", "9"), ("80", "200"), ("30", "150"), ("120", "220"), ("40", "190"))


def test_twelve_values_typed_at_fifty_milliseconds_a_cell_arrive(visit):
    tab = visit("data")
    bring(tab, f"{','.join(NAMES)}\n{ROWS}")
    first = tab.get_by_label("Lowest value of age")
    first.click()
    for low, high in VALUES:
        for text, stops in ((low, 1), (high, 4)):  # to the next row: unit, Use, kind, lowest
            tab.keyboard.type(text, delay=10)
            for _ in range(stops):
                tab.keyboard.press("Tab")
            tab.wait_for_timeout(20)
    for name, (low, high) in zip(NAMES, VALUES, strict=True):
        assert tab.get_by_label(f"Lowest value of {name}").input_value() == low
        assert tab.get_by_label(f"Highest value of {name}").input_value() == high
    eventually(tab, lambda: tab.get_by_text("Ranges from the data:").count() == 0)  # the server has all
    at_rest(tab)
    assert tab.get_by_text("read from the data: not private").count() == 0


def test_a_range_typed_as_it_was_proposed_or_accepted_is_the_persons(visit):
    tab = visit("data")
    bring(tab, f"{','.join(NAMES)}\n{ROWS}")
    low, high = (tab.get_by_label(f"{end} value of age") for end in ("Lowest", "Highest"))
    proposed = [cell.get_attribute("placeholder") for cell in (low, high)]
    tab.get_by_role("row").filter(has=low).get_by_role("button", name="Use").click()
    eventually(tab, lambda: [cell.input_value() for cell in (low, high)] == proposed)
    accepted = tab.get_by_text("Proposed from the data, accepted")
    eventually(tab, lambda: accepted.count() == 1)
    for cell, text in zip((low, high), proposed, strict=True):
        assert accepted.count() == 1  # also where one end is typed
        cell.fill("")
        cell.press_sequentially(text)
        cell.press("Tab")
        at_rest(tab)
    eventually(tab, lambda: accepted.count() == 0)
    assert tab.get_by_text("Ranges from the data: 5 of 6").count() == 1


def test_a_name_is_typed_once_and_the_next_session_knows_what_was_spent(visit):
    tab = visit("release?data=liver")
    expect(tab.get_by_text("Name the people above to continue.")).to_be_visible()
    field = tab.locator(".st-key-population_liver input")
    field.fill("volunteers of 2025")
    field.press("Enter")
    expect(tab.get_by_text("It is the first about these people in this ledger.")).to_be_visible()
    tab.get_by_text("I understand that this spends").click()
    button = tab.locator(".st-key-release_go button")
    expect(button).to_be_enabled()
    button.dblclick()  # counts once
    expect(tab.get_by_text("Counts for volunteers of 2025.")).to_be_visible()
    expect(tab.get_by_text("Released, and kept in the ledger")).to_be_visible()
    at_rest(tab)
    again = visit("release?data=liver", screen="phone", scheme="dark")
    expect(again.get_by_text("With earlier releases about these people (ε = 1.00)")).to_be_visible()
    assert again.locator(".st-key-population_liver input").input_value() == "volunteers of 2025"
    again.get_by_role("button", name="Show past releases of volunteers of 2025").click()
    expect(again.get_by_text("Released: 6 × 6 numbers, with noise.")).to_be_visible()  # after a reload
    assert_accessible(again)
