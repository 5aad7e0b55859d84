"""The report: says what the screen says, warns, escapes, and opens anywhere without a network."""

import dataclasses
import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given
from hypothesis import strategies as st

import mvgviz
from mvgviz import Dataset, Ledger, Scenario, from_matrix, release_setup, run_trials, to_metadata_json
from mvgviz.data import sample, samples
from mvgviz.pictures.error_axis import reference_items
from mvgviz.pictures.release import accept_words, facts
from mvgviz.pictures.report import (
    asked_items,
    assumption_sentences,
    data_title,
    error_rows,
    limit_rows,
    promise_sentences,
    sharing_warnings,
    width_table,
)
from mvgviz.pictures.utility import mean_words
from mvgviz.provenance import Origin
from mvgviz.release.files import files_of
from mvgviz.release.release import plan
from mvgviz.report.html import design_slides, report_html, utility_slide
from mvgviz.scenario.resolve import build
from mvgviz.text import as_html, as_number, as_text, at_most, in_markdown, one_line
from tests.browser.chromium import launched
from tests.datasets import make_dataset
from tests.unit.report.setups import setup_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_library")]

NASTY = ("</script><script>alert(1)</script>", "**bold** \\ & \"'", "=cmd|' /C calc'!A0", "ü\u202e\n€")


class Elements(HTMLParser):
    """Which elements there are, and the text outside scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self._inside = [], [], ""
        self.feed(text)
        self.text = " ".join(" ".join(self.text).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self._inside = tag
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in ("src", "href", "srcset")
            self.text.append(value if name == "aria-label" else "")

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.text.append(data)


def text_of(setup, results=None):
    return Elements(report_html(setup, results, simulated=False)).text


@pytest.fixture
def without_library(monkeypatch):
    """Reports without the 5 MB that draw the pictures, but for the one that a browser opens, made before."""
    monkeypatch.setattr("mvgviz.report.html.get_plotlyjs", lambda: "")


@pytest.mark.parametrize("name", samples())
def test_the_numbers_are_those_on_screen(name):
    scenario = Scenario.default_for(name)
    setup = setup_of(scenario)
    results = run_trials(scenario, setup.dataset, trials=20)
    text = text_of(setup, results)
    slides = [*design_slides(setup).values(), utility_slide(setup, results, simulated=False)]
    assert all(" ".join(as_text(slide.takeaway).split()) in text for slide in slides)
    most = at_most(setup.design.mu_is)
    for part in [f"Really spent by the noise: {most}ε = {as_number(setup.epsilon_spent)}.",
                 *(f"{one.mechanism.label} {mean_words(one)}" for one in results.outcomes),
                 *(as_number(value) for _, value in reference_items(results.references)),
                 f"No-data baseline: {results.references.trivial_is}."]:
        assert part in text
    told = width_table(setup)
    lines = [*map(" ".join, limit_rows(setup)), *map(as_text, told.said), *map(as_text, map(" ".join, told.rows))]
    assert [line for line in lines if line not in text] == []


def test_a_report_can_be_done_again():
    scenario = Scenario.default_for("liver").changed(epsilon=0.5, guarantee="theorem2", tail="exact-chi")
    text = report_html(setup_of(scenario), None, simulated=False)
    content, link = (html.unescape(part) for part in re.findall(r"<pre[^>]*>(.*?)</pre>", text, re.DOTALL))
    assert Scenario.from_json(content) == scenario
    assert Scenario.from_query(dict(pair.split("=") for pair in link.removeprefix("?").split("&"))) == scenario
    assert f"mvgviz {mvgviz.__version__}" in text
    assert "Theorem 2 (positive semi-definite answers), as printed, with the exact chi quantile as tail" in text


def test_what_is_not_private_is_said_first():
    liver, data = Scenario.default_for("liver"), sample("liver")
    results = run_trials(liver, data, trials=5)
    guessed = dataclasses.replace(data, range_origins=(Origin.READ,) * data.n_features)
    cases = {
        "measured on the records": (liver, data, results),
        "directions read from the data": (liver.changed(directions="eigenvectors"), data, None),
        "directions shown come from a known seed": (liver.changed(directions="private"), data, None),
        "clipping radius comes from a known seed": (liver.changed(bound="private"), data, None),
        "shares of the budget read from the data": (liver.changed(allocation="max-pnr"), data, None),
        "ranges read from the data": (liver, guessed, None),
        "a record count that depends on the data": (
            liver, dataclasses.replace(data, records_origin=Origin.READ), None),
        "choices made after looking at results on the data": (liver.chosen_on_data(epsilon=2.0), data, None),
    }
    for words, (scenario, dataset, found) in cases.items():
        setup = setup_of(scenario, dataset)
        text = text_of(setup, found)
        assert text.index("Before you give this to others") < text.index(words) < text.index("What was asked")
        assert "Nothing in this report" not in text
        assert len(sharing_warnings(setup, found, simulated=False)) == 1
        assert ("cover the noise only" in text) == (
            found is None and "private" not in (scenario.directions, scenario.bound))
    assert "Chosen after looking at results on the data, not private: epsilon" in text


def test_a_public_design_without_trials_may_be_given_away():
    text = text_of(setup_of(Scenario.default_for("cardiotocography")))
    assert "Nothing in this report was computed from the records." in text
    assert "not private" not in text[:text.index("What the words mean")]
    assert "does not protect the person" in text  # several records of one pregnancy
    assert "No trials were run" in text


def test_delta_is_explained_and_one_over_n_gets_its_caution():
    caution = "a mechanism could publish one {}, chosen at random, as it is and still pass"
    liver, karate = Scenario.default_for("liver"), Scenario.default_for("karate")
    for scenario, words in (
            (liver, "Delta: 10⁻⁶, the smaller of 10⁻⁶ and 1/(100 n), n the number of records."),
            (liver.changed(delta=1e-8), "Delta: 10⁻⁸, as chosen."),
            (liver.changed(delta=1 / 345), "Delta: 0.0029, one over the number of records, as in the paper. δ is 1/n"),
            (karate.changed(delta=0.1), "Delta: 0.1, as chosen. δ is more than 1/n")):
        text = text_of(setup_of(scenario))
        assert words in text
        assert (caution.format("edge" if scenario.data == "karate" else "record") in text) == ("1/n" in words)


def test_an_upper_bound_is_called_so():
    scenario = Scenario.default_for("liver").changed(mode="rows")  # six features are exact with noise on both sides
    setup = setup_of(scenario)
    assert setup.design.mu_is == "upper bound"
    results = run_trials(scenario, setup.dataset, trials=5)
    text = text_of(setup, results)
    assert f"Really spent by the noise: at most ε = {as_number(setup.epsilon_spent)}" in text
    assert "their distance is an upper bound" in text
    assert f"at most {as_number(results['mvg'].epsilon_spent)}" in text


def test_names_from_files_are_only_ever_text():
    data = Dataset(matrix=np.random.default_rng(0).uniform(-1, 1, (4, 60)), features=NASTY, lower=-1, upper=1)
    scenario = Scenario(data="upload-0123456789ab", query="covariance", priority_directions=(0, 3))
    report = report_html(setup_of(scenario, data), run_trials(scenario, data, trials=5), simulated=False)
    page = Elements(report)
    assert page.tags.count("script") == 3
    assert page.tags.count("figure") == 6
    for name in NASTY:
        assert one_line(name) in page.text
    charts = json.loads(re.search(r'type="application/json">(.*?)</script>', report, re.DOTALL)[1])
    assert list(charts) == ["shape", "gains", "trade_off", "privacy", "bounds", "utility"]


@given(st.text(max_size=60))
def test_escaped_names_come_out_as_they_went_in(name):
    on_one_line = one_line(name)
    assert as_html(f"**{in_markdown(name)}**") == f"<strong>{html.escape(on_one_line)}</strong>"
    assert as_text(f"**{in_markdown(name)}**") == on_one_line


@given(st.text(alphabet="*\\<>&ab \n", max_size=40))
def test_any_text_becomes_balanced_html_with_no_tag_but_bold(text):
    tags = re.findall(r"<[^>]*>?", as_html(text))
    assert tags == ["<strong>", "</strong>"] * (len(tags) // 2)


EDGES = {
    "one feature, one number": (Scenario(query="mean", allocation="uniform"), make_dataset(1, 2)),
    "epsilon 1000": (Scenario.default_for("liver").changed(epsilon=1000.0), None),
    "columns": (Scenario.default_for("liver").changed(query="identity", mode="columns", task="reconstruction"), None),
    "kernel": (Scenario.default_for("liver").changed(query="kernel", task="reconstruction"), None),
    "theorem 1, both": (Scenario.default_for("movement_simulated").changed(guarantee="theorem1"), None),
    "adjacency": (Scenario.default_for("karate").changed(query="adjacency", judged="everything"), None),
    "200 features": (Scenario(priority_directions=(3,)), make_dataset(200, 300)),
    "a million records": (Scenario(query="covariance"), make_dataset(2, 1_000_000)),
    "manual": (Scenario(allocation="manual", weights=(2, 1)), None),
}


@pytest.mark.parametrize("edge", EDGES)
def test_every_kind_of_scenario_has_a_report(edge):
    scenario, dataset = EDGES[edge]
    setup = setup_of(scenario, dataset)
    text = text_of(setup, run_trials(scenario, setup.dataset, trials=2))
    assert "What is promised" in text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)


def test_given_directions_and_a_task_that_fails_are_told_in_a_sentence():
    scenario = Scenario(directions="upload")
    data = sample("two_features")
    setup = build(scenario, data, uploaded=from_matrix(np.eye(2)[::-1]))
    results = run_trials(Scenario(), data, trials=2, cancelled=lambda: True)
    none = tuple(dataclasses.replace(one, reason="it <cannot>") for one in results.outcomes)
    text = text_of(setup, dataclasses.replace(results, outcomes=none))
    assert "Errors on the data itself: not private it <cannot>" in text
    assert "Directions: given, chosen without looking at the data." in text


@pytest.fixture(scope="module")
def browser():
    with launched() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def report_file(tmp_path_factory):
    scenario = Scenario.default_for("liver")
    setup = setup_of(scenario)
    path = tmp_path_factory.mktemp("report") / "report.html"
    results = run_trials(scenario, setup.dataset, trials=20)
    path.write_text(report_html(setup, results, simulated=False), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1440, 390])
def test_the_file_opens_offline_draws_every_chart_and_prints(browser, report_file, width, tmp_path):
    page = browser.new_page(viewport={"width": width, "height": 844})
    errors, asked = [], []
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report_file.as_uri())
    page.wait_for_function("document.querySelectorAll('.chart .main-svg').length >= 5")
    for key in ("shape", "gains", "privacy", "bounds", "utility"):
        box = page.locator(f"#chart-{key} svg.main-svg").first.bounding_box()
        assert 250 < box["width"] <= 700
        assert box["height"] > 150
        assert page.locator(f"#chart-{key} .scatterlayer .trace").count() > 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert [one["id"] for one in found.response["violations"] if one["impact"] in ("serious", "critical")] == []
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<svg")):
        with page.expect_download() as download:
            page.locator(f"button[data-chart=gains][data-format={kind}]").press("Enter")
        saved = tmp_path / download.value.suggested_filename
        download.value.save_as(saved)
        assert saved.name == f"mvgviz-gains.{kind}"
        assert saved.read_bytes().startswith(start)
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 4
    assert errors == []
    assert {url.split(":")[0] for url in asked} <= {"file", "blob", "data"}
    assert sum(url.startswith("file") for url in asked) == 1
    page.close()


@pytest.mark.parametrize(("data", "people", "said"), [
    ("liver", {}, ("one record replaced", "A person with several records is protected less.")),
    ("liver", {"by_person": True}, ("one person replaced", "At most 1 record per person can be used, so the whole")),
    ("liver", {"per_person": 3}, ("At most 3 records per person can be used, so the whole person is protected.",)),
    ("karate", {}, ("A person with several ties is protected less.",))])
def test_a_report_says_whether_all_records_of_a_person_are_covered(data, people, said):
    setup = setup_of(Scenario.default_for(data).changed(bound="none"), dataclasses.replace(sample(data), **people))
    sentences = assumption_sentences(setup)
    assert [part for part in said if part not in sentences[0]] == []
    assert ("any one person" in promise_sentences(setup)[0]) == bool(people)


def test_report_and_certificate_name_gaps_and_what_was_done_with_them():
    frame = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 20, "who": [f"p{i}" for i in range(80)]})
    data = Dataset.from_frame(frame, ranges={"dose": (0, 5)}, missing="middle", person="who", at_most=1, title="Doses")
    setup = build(Scenario(data="upload-000000000000", query="mean"), data)
    assert "**Gaps:** filled with the middle of the range" in " ".join(assumption_sentences(setup))
    assert data_title(setup) == "Doses"
    given = release_setup(setup, ledger=Ledger(), accept=["records"])
    certificate = json.loads(to_metadata_json(given))
    assert certificate["prepared"]["words"].startswith("filled with the middle of the range")
    assert (certificate["prepared"]["records_per_person"], certificate["title"]) == (1, "Doses")
    assert certificate["prepared"]["protects"] == "a whole person: 1 record at most"
    told = " ".join([*assumption_sentences(setup), *(text for _, text in asked_items(setup))])
    assert "public" not in told + certificate["taken_as_public"].split("the names")[0]
    assert "**Number of records: not private.** It depends on the data: at most 1 record per person can" in told
    assert dict(asked_items(setup))["Number of records"] == "80, **not private**"
    fact = dict(facts(setup, plan(setup), None, 1.0, "", lasts=False))
    assert (fact["treated as public"], fact["not private"]) == (
        "the column names", "a record count that depends on the data")
    assert accept_words("records", data, []).endswith(": at most 1 record per person can be used. No guarantee covers "
                                                      "that.")
    assert "(one person " in certificate["guarantee"]["words"]
    assert all("Doses" in name for _, _, name, _, _ in files_of(1, given))


@pytest.mark.parametrize(("family", "said", "absent"), [
    ("box", ["e^ε = 2.72 times, δ is 0.", "Asked and spent: ε = 1 with δ = 0.", "Delta: 0 for this noise", "their "
             "distance is exact", "the ε of box and Laplace noise add up"], ["only for trials"]),
    ("laplace", ["Asked and spent: ε = 1 with δ = 0.", "Family of noise: Laplace noise."], ["only for trials"]),
    ("ellipse", ["plus δ = 10⁻⁶", "Really spent by the noise: at most ε = 1.00", "so it is only for trials"],
     ["Asked and spent", "the ε of box"])])
def test_a_report_on_other_families_says_what_they_promise(family, said, absent, without_library):
    scenario = Scenario.default_for("liver").changed(query="mean", task="reconstruction", family=family)
    setup = setup_of(scenario)
    results = run_trials(scenario, setup.dataset, trials=3, mechanisms=("mvg", "iid"))
    text = text_of(setup, results)
    assert all(words in text for words in said)
    assert not any(words in text for words in absent)
    assert "less Gaussian noise than the exact limit would break the promise" in text
    [own, _, *_] = error_rows(setup, results)
    assert own[2] == "at most 1.00"
