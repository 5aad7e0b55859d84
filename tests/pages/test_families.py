"""Another family of noise, on every page."""

import pytest

from mvgviz.ui.menu import PRIVACY, RELEASE, SHAPE
from tests.pages.app import adjust, opened, walk
from tests.pages.desk import desk, released
from tests.pages.shown import assert_says, clean, link, said

INEXACT = "Ellipse noise cannot be drawn exactly, so it is only for trials; release box, Laplace or Gaussian noise"
SCENARIOS = [
    *({"data": "two_features", "family": family} for family in ("ellipse", "box", "laplace", "box-ellipse")),
    {"data": "liver", "query": "identity", "family": "box", "task": "reconstruction"},
    {"data": "liver", "family": "ellipse"}, {"data": "karate", "family": "ellipse"}]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: "-".join(scenario.values()))
def test_every_page_knows_every_family(scenario):
    app = opened(**{"trials": "2"} | scenario)
    for page in walk(app, turn=SCENARIOS.index(scenario), refusals={INEXACT}):
        assert page is RELEASE or not app.error, page


def test_the_attacker_of_box_noise_is_told_and_audited():
    app = opened(PRIVACY.path, data="two_features", family="box", state={"privacy_section": "Audit by simulation"})
    assert_says(app, ["the best guess is right at most 70 times in 100",
                     "**The audit found no violation:**", "With δ = 0."],
                ["μ ="])


def test_ellipse_noise_is_audited_as_trials_draw_it():
    app = opened(PRIVACY.path, data="two_features", family="ellipse", state={"privacy_section": "Audit by simulation"})
    assert "**The audit found no violation:**" in said(app)


def test_box_noise_is_released_once_with_a_pure_epsilon():
    app = released(opened(RELEASE.path, data="two_features", family="box"))
    assert_says(app, ["Released: 2 × 1", "(ε = 1.00) the total becomes ε = 2.00."])
    [made] = desk(app).releases
    assert (made.family, made.epsilon_pure, made.mu) == ("box", 1.0, 0.0)
    assert "epsilon 1 with delta = 0" in made.guarantee
    desk(app).ledger.set_cap((1.5, 1e-6))
    assert "would exceed the cap" in " ".join(one.value for one in app.run().error)


def test_a_family_is_chosen_in_the_sidebar_and_gives_way_where_it_does_not_fit():
    app = clean(opened(SHAPE.path, everything=True, data="liver", query="mean"))
    assert link(adjust(app, w_family="box"))["family"] == "box"
    assert "Box noise does not fit here, so the noise is Gaussian." in said(adjust(app, w_query="covariance"))
    assert app.selectbox(key="w_family").options == ["Gaussian", "Ellipse (l2)"]
