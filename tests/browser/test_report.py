"""The report on paper."""

import re

import pytest

from mvgviz import Scenario, run_trials
from mvgviz.data import sample
from mvgviz.report.html import report_html
from mvgviz.scenario.resolve import build

A4 = 1017  # pixels of a page between its margins, at 96 to the inch


@pytest.mark.parametrize("name", ["two_features", "liver"])
def test_printed_pages_are_full(name, empty_page):
    scenario, table = Scenario.default_for(name), sample(name)
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
    content = empty_page.evaluate("document.querySelector('main').scrollHeight")
    assert pages <= content / A4 + 1.5
