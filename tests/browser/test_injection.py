"""Names, notes, links and files that want to run something: nothing runs, nothing is loaded from elsewhere."""

import ast
import json
import urllib.parse
import xml.etree.ElementTree as ET

import pytest

from mvgviz import Scenario, Study
from mvgviz.ui.menu import BUDGET, COMPARE, PLAN, PRIVACY, RELEASE, SHAPE, UTILITY
from tests import hostile
from tests.browser.chromium import PICTURES, arrived, at_rest, bring, choose, eventually, fetched, go

_ACTIVE = """() => {
    const found = [];
    const look = (root) => {
        for (const one of root.querySelectorAll("*")) {
            if (one.shadowRoot) look(one.shadowRoot);
            for (const {name, value} of one.attributes)
                if ((/^on/.test(name) && value.includes("__ran"))
                    || (["href", "src", "action"].includes(name) && /javascript:|elsewhere/.test(value)))
                    found.push(one.outerHTML.slice(0, 200));
        }
    };
    look(document);
    return window.__ran === undefined ? found : [`ran ${window.__ran}`, ...found];
}"""


class Watched:
    """A tab of which everything is noted that should not happen."""

    def __init__(self, tab, *, home):
        self.tab, self.wrong = tab, []
        tab.on("dialog", lambda dialog: (self.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        tab.on("request", lambda request: self.wrong.append(request.url) if not request.url.startswith(
            (home, home.replace("http", "ws"), "data:", "blob:")) else None)

    def assert_harmless(self, where):
        assert self.wrong == [], where
        assert self.tab.evaluate(_ACTIVE) == [], where

    def fetched(self, key="", *, name=""):
        """The bytes of a download, by the key or the name of its button."""
        return fetched(self.tab, key or self.tab.get_by_role("button", name=name).first)[0]


@pytest.fixture
def watched(address, tab):
    return Watched(tab, home=address)


@pytest.mark.slow
def test_nothing_from_a_file_runs_on_a_page_or_in_what_is_taken_along(watched, address, browser, tmp_path):
    tab = watched.tab
    tab.goto(f"{address}/data")
    tab.wait_for_selector(PICTURES)
    bring(tab, hostile.table(hostile.NAMES[:17]), f"{hostile.NAMES[1]}{hostile.NAMES[4]}.csv")
    tab.get_by_text("17 features × 40 records").wait_for()
    tab.get_by_role("button", name="Study", exact=True).click()
    tab.get_by_label("Notes").fill("\n".join(hostile.NAMES[:-1]))
    tab.get_by_label("Notes").press("Control+Enter")
    saved = []
    eventually(tab, lambda: saved.append(Study.from_json(watched.fetched(name="Save the study"))) or saved[-1].notes)
    study = saved[-1]
    assert hostile.NAMES[0] in study.notes
    assert hostile.NAMES[0] in study.source.columns
    tab.keyboard.press("Escape")
    watched.assert_harmless("data")
    for page in (SHAPE, BUDGET, PRIVACY, UTILITY, COMPARE, PLAN):
        go(tab, page)
        arrived(tab, page)
        watched.assert_harmless(page.label)
        if page in (SHAPE, BUDGET):
            picture = watched.fetched(name="Save this chart as SVG").decode()
            for element in ET.fromstring(picture).iter():
                assert element.tag.rsplit("}")[-1] not in ("script", "iframe", "foreignObject", "a")
                assert not any(key.startswith("on") for key in element.attrib)
            assert watched.fetched(name="Save this chart as PNG").startswith(b"\x89PNG")
    go(tab, RELEASE)
    arrived(tab, RELEASE)
    tab.get_by_role("tab", name="Report, script, link").click()
    program = watched.fetched("release_program_py").decode()
    assert hostile.NAMES[0] in [node.value for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Constant)]
    assert "SystemExit" not in [node.id for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Name)]
    cells = json.loads(watched.fetched("release_notebook_ipynb"))["cells"]
    assert not any("__ran" in "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    report = tmp_path / "report.html"
    report.write_bytes(watched.fetched("release_report_html"))
    watched.assert_harmless("release")
    read = Watched(browser.new_page(), home=report.as_uri())
    read.tab.goto(report.as_uri())
    read.tab.locator(".js-plotly-plot .main-svg").first.wait_for()
    read.assert_harmless("report")
    assert "__ran=1" in read.tab.locator("main").inner_text()
    read.tab.close()


def test_nothing_in_a_link_or_a_study_runs(watched, address):
    tab = watched.tab
    wild = {"data": "liver", "query": hostile.NAMES[5], "task": hostile.NAMES[1], "epsilon": hostile.NAMES[4],
            hostile.NAMES[0]: hostile.NAMES[6], "priority_directions": hostile.NAMES[3], "step": hostile.NAMES[2]}
    tab.goto(f"{address}/budget?{urllib.parse.urlencode(wild)}")
    tab.get_by_text("A part of the link was ignored").first.wait_for()
    at_rest(tab)
    watched.assert_harmless("link")
    own = json.loads(Study.of_sample(Scenario.default_for("liver")).to_json())
    own["scenario"]["scenario"]["data"] = own["data"]["name"] = f"upload-{'0' * 12}"
    for name, changes in ((hostile.NAMES[5], {}), ("mine.csv", {"scenario": {hostile.NAMES[0]: hostile.NAMES[1]}}),
                          (hostile.NAMES[4], {"population": hostile.NAMES[2], "notes": hostile.NAMES[6]})):
        own["data"]["name"] = name
        tab.get_by_role("button", name="Study", exact=True).click()
        choose(tab, json.dumps(own | changes), f"{hostile.NAMES[1]}.json", "study_file")
        tab.get_by_text("The study was not opened" if "scenario" in changes else "The study is about").wait_for()
        watched.assert_harmless("study")
        tab.keyboard.press("Escape")
