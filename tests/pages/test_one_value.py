"""One value a scenario on every page: the no-data baseline, what other columns pay, what Theorem 1 asks."""

import json
import re

import pytest

from mvgviz.labels import REFERENCES
from mvgviz.ui.menu import BOUNDS, BUDGET, COMPARE, HOME, UTILITY
from tests.pages.app import opened, put, to
from tests.pages.shown import charts, said


@pytest.mark.parametrize("parameters", [{"data": "liver", "task": "linear-ridge"}, {"data": "karate"},
                                        {"data": "two_features"}])
def test_the_no_data_baseline_is_the_same_on_utility_and_compare(parameters):
    named, found = re.compile(rf"{REFERENCES['trivial']}(?:: | \()([\d.]+(?:e-?\d+)?)"), []
    app = opened(UTILITY.path, trials="6", **parameters)
    for page, state in ((UTILITY, {}), (UTILITY, {"utility_section": "Choice of directions"}),
                        *((COMPARE, {"compare_section": tab}) for tab in ("All mechanisms", "Lever by lever"))):
        to(put(app, **state), page)
        found.append(set(named.findall(json.dumps(charts(app), ensure_ascii=False) + said(app))))
    assert all(found)
    assert len(set.union(*found)) == 1


@pytest.mark.parametrize("parameters", [
    {"data": "liver", "query": "mean"}, {"data": "liver", "query": "mean", "guarantee": "theorem1"},
    {"data": "cardiotocography", "bound": "none"}, {"data": "two_features"}])
def test_the_other_columns_pay_the_same_on_every_page(parameters):
    app = opened(judged="priority", task="reconstruction", trials="2", **parameters)
    paid = [set(re.findall(r"(?:[Oo]ther columns): ([\d.]+)×", said(to(app, page))))
            for page in (HOME, BUDGET, UTILITY, COMPARE)]
    assert all(paid)
    assert len(set.union(*paid)) == 1


@pytest.mark.parametrize("parameters", [{"query": "mean"}, {"query": "covariance", "bound": "none"},
                                        {"query": "mean", "tail": "laurent-massart"}])
def test_theorem_1_asks_the_same_on_home_and_bounds(parameters):
    home, bounds = (said(opened(page.path, data="liver", **parameters)) for page in (HOME, BOUNDS))
    asked = re.search(r"uses \*\*(.*? times)\*\* this noise\. It then spends only ε = (\S+) of", home)
    there = re.search(r"Theorem 1\*\* asks for \*\*(.*? times) this noise\*\*.*?spends ε = ([\d.]*\d)", bounds)
    assert asked.groups() == there.groups()
