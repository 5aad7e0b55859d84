"""Every page with every bound on the records."""

import re

import pytest

from mvgviz import Scenario, build
from mvgviz.data import sample
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.report.html import report_html
from mvgviz.text import as_number
from mvgviz.ui.menu import DATA, HOME, PAGES, PRIVACY
from tests.pages.app import clean, link, opened, strip, text

EXPLORED = [page.path for page in PAGES if not {"attacker", "lesson", "paper"} & set(re.split(r"\W|_", page.path))]


@pytest.mark.parametrize("path", EXPLORED)
@pytest.mark.parametrize("bound", ["own", "private"])  # others open by default
def test_every_page_opens_with_every_bound(path, bound):
    clean(opened(path, data="liver", bound=bound, trials="4"))


@pytest.mark.parametrize("query", ["identity", "mean"])
def test_home_opens_with_a_length_found_privately(query):
    clean(opened(HOME.path, data="liver", query=query, bound="private"))


def test_what_finding_the_length_spends_is_in_every_total():
    setup = build(Scenario.default_for("liver").changed(bound="private", epsilon=5.0), sample("liver"))
    said = text(clean(opened(PRIVACY.path, data="liver", bound="private", epsilon="5")))
    assert f"together at most {as_number(setup.design.total_mu)}" in said
    assert "the best attack finds at most 27" in said
    assert float(gaussian_epsilon(setup.delta, setup.design.total_mu)) == pytest.approx(5.0)
    assert "found privately, together: at most ε = 5.00" in report_html(setup, None, simulated=False)


def test_asking_for_joint_moments_lets_go_of_a_length_found_privately():
    app = opened(DATA.path, everything=True, data="liver", bound="private")
    app.selectbox(key="w_query").set_value("moments").run()
    assert link(clean(app))["bound"] == "even"
    assert "private" not in app.selectbox(key="data_bound").options


def test_the_ellipse_of_joint_moments_is_not_called_what_it_is_not():
    said = text(clean(opened(DATA.path, data="liver", query="moments", bound="even")))
    assert "An evenly spread record has length 1" not in said
    assert "made for regressions" in said


def test_a_length_found_by_the_seed_is_said_to_be_looked_at():
    found, declared = (opened(PRIVACY.path, data="liver", bound=bound) for bound in ("private", "even"))
    for said, other in ((strip(found), strip(declared)), (text(found), text(declared))):
        assert "found by a known seed: not private" in said
        assert "known seed" not in other
