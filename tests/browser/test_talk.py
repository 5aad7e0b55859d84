"""The talk in a browser: five printed pages, letters that can be read and do not collide, no network."""

import json
import re
import shutil
import sys

import pytest

from mvgviz import Dataset, Scenario
from mvgviz.command import run as command
from mvgviz.command.main import main
from mvgviz.data import sample
from mvgviz.report.talk import talk_html
from mvgviz.scenario.resolve import build
from tests.browser.chromium import ROOT

MEASURE = (ROOT / "tests" / "browser" / "letters.js").read_text()
PAGE = re.compile(rb"/Type\s*/Page\b")
LONG = Dataset(
    matrix=[[i % 7 for i in range(60)], [(3 * i) % 11 * 1e9 for i in range(60)], [i % 5 * 1e-6 for i in range(60)]],
    features=("Systolic blood pressure at rest, sitting, mean of three readings",
              "Nombre_de_visites_chez_le_médecin_par_année_civile", "x"),
    lower=0, upper=[7, 1e10, 5e-6], title="Survey of the regional health office, second wave, cleaned",
    units=("millimetres of mercury column", "visits per calendar year", ""))
OF_FILE = Scenario.default_for("upload-0123456789ab").changed(query="mean", priority=(0,), priority_directions=(0,))
SETUPS = {
    "long names": (OF_FILE, LONG), "table": (OF_FILE.changed(query="identity", allocation="binary"), LONG),
    "pairs": (OF_FILE.changed(query="covariance"), LONG),
    "kernel": (Scenario.default_for("liver").changed(query="kernel"), sample("liver")),
    **{name: (Scenario.default_for(name), sample(name))
       for name in ("two_features", "liver", "cardiotocography", "karate")}}


@pytest.fixture
def opened(browser, tmp_path):
    """A talk as a file, in a browser that notes whatever is asked for."""
    def open_talk(setup):
        file = tmp_path / "talk.html"
        file.write_text(talk_html(setup, simulated=False), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.on("request", lambda request: page.asked.append(request.url))
        page.asked = []
        page.goto(file.as_uri())
        return page

    return open_talk


@pytest.mark.parametrize("name", SETUPS)
def test_letters_are_large_inside_and_apart_and_a_long_name_leaves_room_for_the_unit(name, opened):
    page = opened(build(*SETUPS[name]))
    for width, height in ((1920, 1080), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        page.reload()
        for _ in range(5):
            assert page.evaluate(MEASURE, 28 * width / 1920) == []
            page.keyboard.press("ArrowRight")
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    cut = page.locator(".across:visible, .upwards:visible").evaluate_all("""nodes => nodes.filter(node => {
      const unit = document.createRange(), text = node.firstChild;
      unit.setStart(text, text.data.indexOf("("));
      unit.setEnd(text, text.data.lastIndexOf(")", text.data.indexOf(") on ") + 1) + 1);
      const [letters, box] = [unit.getBoundingClientRect(), node.getBoundingClientRect()];
      return letters.bottom > box.bottom + 1 || letters.right > box.right + 1;
    }).map(node => node.innerText)""")
    assert cut == []
    page.keyboard.press("ArrowRight")
    rows = page.locator(".card:visible").nth(1).locator("strong")
    assert rows.count() > 0
    for row in rows.all():  # a number has its unit, and nothing of it is cut off
        assert row.evaluate("node => !node.closest('.clip1, .clip2') && /± [^ ]+\\s\\S/.test(node.innerText)"), name
    page.close()


def test_five_pages_are_printed_and_nothing_is_asked_of_the_network(opened):
    page = opened(build(Scenario.default_for("liver"), sample("liver")))
    assert len(PAGE.findall(page.pdf(prefer_css_page_size=True, print_background=True))) == 5
    page.keyboard.press("n")
    assert len(PAGE.findall(page.pdf(prefer_css_page_size=True, print_background=True))) == 5
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []
    assert not re.search(r"(src|href)=.?(http|//)", page.content())
    page.close()


def test_keys_go_on_and_show_notes_and_a_button_prints(opened):
    page = opened(build(Scenario.default_for("karate"), sample("karate")))
    page.evaluate("() => { window.printed = 0; window.print = () => { window.printed += 1; }; }")
    seen = page.locator(".slide:visible")
    assert seen.count() == 1
    for key, number in (("ArrowRight", 2), ("End", 5), ("ArrowRight", 5), ("ArrowLeft", 4), ("Home", 1), (" ", 2)):
        page.keyboard.press(key)
        assert f"{number} / 5" in seen.inner_text()
    notes = seen.locator(".notes")
    assert not notes.is_visible()
    page.keyboard.press("n")
    assert notes.is_visible()
    page.set_viewport_size({"width": 390, "height": 844})  # there they stand below, and cover nothing
    footer = seen.locator("footer").bounding_box()
    assert footer["y"] + footer["height"] <= notes.bounding_box()["y"] + 1
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.get_by_role("button", name="Notes").click()
    assert not notes.is_visible()
    page.get_by_role("button", name="Print").click()
    assert page.evaluate("window.printed") == 1
    page.close()


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.json"
    path.write_text(Scenario.default_for("liver").to_json(), encoding="utf-8")
    return str(path)


def test_the_command_prints_where_there_is_a_browser(study, tmp_path, capsys):
    out = tmp_path / "talk.pdf"
    assert main(["slides", study, "--out", str(out)]) == 0
    assert len(PAGE.findall(out.read_bytes())) == 5
    assert str(out) in capsys.readouterr().err
    assert not out.with_suffix(".html").exists()


@pytest.mark.parametrize("browsers", [(), ("no-such-browser",), (shutil.which("false") or sys.executable,)])
def test_without_a_browser_that_prints_the_command_writes_the_page_and_says_so(
        study, tmp_path, capsys, monkeypatch, browsers):
    monkeypatch.setattr(command, "BROWSERS", browsers)
    out = tmp_path / "talk.pdf"
    assert main(["slides", study, "--out", str(out)]) == 0
    said = capsys.readouterr().err
    assert "no Chromium, Chrome or Edge" in said
    assert str(out.with_suffix(".html")) in said
    assert not out.exists()
    assert out.with_suffix(".html").read_text(encoding="utf-8").count("<section") == 5


def test_a_file_of_ones_own_is_simulated_unless_its_data_is_asked_for(tmp_path, capsys):
    table, ranges, study, out = (tmp_path / name for name in ("own.csv", "ranges.json", "study.json", "talk.html"))
    table.write_text("a,b\n" + "\n".join(f"{i % 9},{i % 5}" for i in range(40)), encoding="utf-8")
    ranges.write_text(json.dumps({"a": [0, 9], "b": [0, 5]}), encoding="utf-8")
    study.write_text(Scenario.default_for("upload-0123456789ab").changed(query="mean").to_json(), encoding="utf-8")
    asked = ["slides", str(study), "--data", str(table), "--ranges", str(ranges), "--out", str(out)]
    for more, words in (([], "simulated data, no record"), (["--on", "data"], "not private: computed on the data")):
        assert main([*asked, *more]) == 0
        assert words in out.read_text(encoding="utf-8")
    assert main([*asked[:-1], str(tmp_path / "talk.pptx")]) == 2
    assert "--out must be a .pdf or .html file" in capsys.readouterr().err
