"""Every download of the app, fetched with a real browser and opened; a release counts once, however it is clicked."""

import csv
import io
import json
import re
import zipfile

import numpy as np
import pytest
from playwright.sync_api import expect

from mvgviz import QuestionPlan, Scenario, run_trials
from mvgviz.data import sample
from mvgviz.report.html import report_html
from mvgviz.scenario.resolve import build
from tests.browser.chromium import ROOT, choose, fetched, shoot


def table(content):
    return list(csv.reader(io.StringIO(content.decode())))


def tick(tab):
    tab.get_by_text("I understand that this spends").click()
    expect(tab.locator(".st-key-release_go button")).to_be_enabled()


def test_two_fast_clicks_make_one_release_and_its_files_agree(visit):
    tab = visit("release?data=liver")
    tick(tab)
    tab.locator(".st-key-release_go button").dblclick()
    expect(tab.get_by_text("Released: 6 × 6 numbers, with noise.")).to_be_visible()
    expect(tab.locator(".st-key-release_go button")).to_be_disabled()

    ledger, _ = fetched(tab, "release_ledger_csv")
    [entry] = csv.DictReader(io.StringIO(ledger.decode()))
    assert (entry["data"], entry["query"], entry["caveats"]) == ("liver", "covariance", "")
    assert float(entry["epsilon"]) == pytest.approx(1, rel=1e-6)
    whole = json.loads(fetched(tab, "release_ledger_json")[0])
    assert [one["mu"] for one in whole["releases"]] == [float(entry["mu"])]

    noisy = np.load(io.BytesIO(fetched(tab, "release_npy")[0]), allow_pickle=False)
    text, name = fetched(tab, "release_csv")
    assert name == "release_1_liver_covariance.csv"
    rows = table(text)
    assert rows[0] == ["", *sample("liver").features]
    half = sample("liver").widths / 2
    np.testing.assert_allclose([[float(cell) for cell in row[1:]] for row in rows[1:]], noisy * np.outer(half, half))
    intervals, name = fetched(tab, "release_intervals")
    assert name == "release_1_liver_covariance_intervals.csv"
    assert [row[2] for row in table(intervals)[1:]] == [cell for row in rows[1:] for cell in row[1:]]
    assert all(float(row[3]) < float(row[2]) < float(row[4]) for row in table(intervals)[1:])
    certificate, _ = fetched(tab, "release_json")
    everything = zipfile.ZipFile(io.BytesIO(fetched(tab, "release_everything")[0]))
    assert {name: everything.read(name) for name in everything.namelist() if not name.endswith(".npy")} == {
        f"release_1_liver_covariance{end}": content
        for end, content in ((".csv", text), ("_intervals.csv", intervals), (".json", certificate))}
    about = json.loads(certificate)
    assert Scenario.from_json(json.dumps(about["scenario"])) == Scenario.default_for("liver")
    assert about["origins"]["ranges"] == "declared"
    assert about["guarantee"]["epsilon"] == pytest.approx(1, rel=1e-6)
    true = build(Scenario.default_for("liver"), sample("liver")).query.value
    assert not set(map(repr, true.ravel().tolist())) & {cell for row in rows for cell in row}

    tab.get_by_role("link", name="Home", exact=True).click()
    tab.get_by_text("Where should the noise go?").wait_for()
    tab.get_by_role("link", name="Release & report").click()
    expect(tab.get_by_text("Released: 6 × 6 numbers, with noise.")).to_be_visible()
    again = np.load(io.BytesIO(fetched(tab, "release_npy")[0]), allow_pickle=False)
    assert np.array_equal(again, noisy)
    assert len(table(fetched(tab, "release_ledger_csv")[0])) == 2
    shoot(tab, "released")
    tab.reload()
    expect(tab.get_by_text("Nothing was released yet.")).to_be_visible()


def test_clicks_while_a_long_release_is_drawn_make_one(visit):
    tab = visit("release?data=cardiotocography&query=identity&bound=none")
    tick(tab)
    tab.locator(".st-key-release_go button").dblclick(delay=30)
    tab.locator(".st-key-release_go button").click(force=True)
    expect(tab.get_by_text("Released: 21 × 2,126 numbers, with noise.")).to_be_visible()
    assert len(table(fetched(tab, "release_ledger_csv")[0])) == 2
    rows = table(fetched(tab, "release_csv")[0])
    assert (len(rows), len(rows[0])) == (2127, 22)  # records in rows


def test_report_program_notebook_and_scenario_open(visit):
    asked = Scenario.default_for("liver").changed(epsilon=2.0, trials=5)
    tab = visit("release?data=liver&epsilon=2&trials=5")
    tab.get_by_role("tab", name="Report, script, link").click()
    expect(tab.locator(".st-key-release_report_html button")).to_be_enabled()

    assert Scenario.from_json(fetched(tab, "release_scenario_json")[0]) == asked
    notebook = json.loads(fetched(tab, "release_notebook_ipynb")[0])
    assert notebook["nbformat"] == 4
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    compile("\n".join(code), "notebook", "exec")
    program = fetched(tab, "release_program_py")[0].decode()  # test_real_table runs one
    compile(program, "program", "exec")
    assert re.search(r"epsilon\W+2\b", program)
    report = fetched(tab, "release_report_html")[0].decode()  # tests/unit/report opens one
    assert report.lstrip().startswith("<!DOCTYPE html>")
    assert report.count('class="chart"') >= 3

    other = Scenario.default_for("karate").changed(epsilon=0.5)
    tab.get_by_role("button", name="Study", exact=True).click()
    choose(tab, other.to_json(), "scenario.json", "study_file")
    tab.wait_for_url("**data=karate&epsilon=0.5**")
    expect(tab.locator(".strip")).to_contain_text("ε = 0.5 at δ = 10⁻⁶")


@pytest.mark.parametrize(("path", "scheme", "charts"), [
    ("?data=liver", "light", 2), ("privacy?data=liver", "dark", 3)])
def test_every_chart_of_a_page_is_saved_as_png_and_svg(visit, path, scheme, charts):
    tab = visit(path, scheme=scheme)
    plotly = 0 if path.startswith("?") else charts  # both pictures of Home are drawn by us
    expect(tab.locator(".js-plotly-plot .main-svg:first-child")).to_have_count(plotly)
    for kind in ("PNG", "SVG"):
        expect(tab.get_by_role("button", name=f"Save this chart as {kind}")).to_have_count(charts)
    content, name = fetched(tab, tab.get_by_role("button", name="Save this chart as PNG").first)
    assert content.startswith(b"\x89PNG")
    assert name.startswith("mvgviz-")
    page = tab.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    saved = [fetched(tab, button) for button in tab.get_by_role("button", name="Save this chart as SVG").all()]
    for content, name in saved:
        assert name.startswith("mvgviz-")
        assert content.startswith(b"<svg")
        assert f"{'fill' if plotly else 'background'}: {page}".encode() in content[:3000]  # the page's own background
    if not plotly:  # the rule, with the styles of the page
        content, name = saved[0]
        assert name == "mvgviz-home_rule.svg"
        assert content.count(b"<ellipse") == 2  # directional and equal noise
        assert content.count(b"<polygon") == 1  # what one record can change
        assert b"stroke: rgb" in content
    assert tab.locator(".modebar:visible").count() == 0


def test_every_download_button_is_fetched_by_a_test():
    found = {str(path.relative_to(ROOT)) for folder in ("mvgviz", "pages") for path in (ROOT / folder).rglob("*.py")
             if re.search(r"(download_button|(?<!def )offer_file)\(", path.read_text(encoding="utf-8"))}
    assert found == {"pages/budget.py", "mvgviz/ui/frame.py", "pages/release.py", "mvgviz/ui/study.py",
                     "pages/plan.py", "mvgviz/ui/screen.py",
                     "mvgviz/ui/columns_form.py", "mvgviz/ui/release_controls.py", "pages/present.py"}


def test_handout_and_lesson_come_from_the_notes_and_the_handout_from_the_lesson_s_start(visit):
    for place, files in (("lesson", ("handout",)), ("lesson_notes", ("handout", "lesson"))):
        tab = visit(place, waits_for="h3")
        for file in files:
            content, name = fetched(tab, "lesson_file" if file == "lesson" else "lesson_handout")
            assert name == f"mvgviz-{file}.html"
            assert (b'id="app"' in content) == (file == "lesson")
            assert b"What you take along" in content


def test_a_plan_is_released_once_however_it_is_clicked_and_its_file_opens(visit):
    tab = visit("plan?data=liver")
    tab.locator(".st-key-plan_share_0 input[type=range]").press("ArrowRight")
    expect(tab.get_by_text("49.9%")).to_be_visible()  # the other share: the server has answered
    tab.get_by_text("Plan as a file").click()
    plan = QuestionPlan.from_json(fetched(tab, "plan_json")[0])
    assert plan.shares == (0.501, 0.499)
    tab.keyboard.press("Escape")
    tab.get_by_text("I understand that this spends").click()
    expect(tab.locator(".st-key-plan_go button")).to_be_enabled()
    tab.locator(".st-key-plan_go button").dblclick()
    tab.get_by_text("The noisy answers and the ledger").click()
    ledger = json.loads(fetched(tab, "release_ledger_json")[0])
    assert [one["query"] for one in ledger["releases"]] == ["covariance", "mean"]
    assert ledger["releases"][1]["total_epsilon"] == pytest.approx(1, rel=1e-9)


A4 = 1017  # pixels of a page between its margins, at 96 to the inch


def test_printed_pages_of_a_report_are_full(empty_page):
    scenario, table = Scenario.default_for("liver"), sample("liver")
    results = run_trials(scenario, table, trials=10, mechanisms=("mvg", "iid"))
    empty_page.set_viewport_size({"width": 703, "height": A4})
    empty_page.set_content(report_html(build(scenario, table), results, simulated=False))
    heights = "[...document.querySelectorAll('.chart')].map(chart => chart.getBoundingClientRect().height)"
    before = empty_page.evaluate(heights)
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", empty_page.pdf(format="A4", prefer_css_page_size=True)))
    assert empty_page.evaluate(heights) == before
    empty_page.emulate_media(media="print")
    empty_page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert max(empty_page.evaluate(heights)) <= 300
    assert pages <= empty_page.evaluate("document.querySelector('main').scrollHeight") / A4 + 1.5
