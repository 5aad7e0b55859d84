"""Privacy spent: every scenario draws, every control acts, the sentences say what the numbers say."""

import json
from itertools import cycle

import pytest

from mvgviz import InputError, tradeoff
from mvgviz.design import privacy_loss, sampling
from mvgviz.release import audit
from mvgviz.ui.menu import PRIVACY
from tests.pages.app import clean, opened, text, uploaded

NEIGHBOURS, AUDIT, RELEASES = "The worst neighbours", "Audit by simulation", "Several releases"
HARDENED = "The release's own sampler, fewer draws"
TABS = (NEIGHBOURS, AUDIT, RELEASES)
SCENARIOS = [
    {"data": "two_features"}, {"data": "two_features", "query": "mean", "epsilon": "100"},
    {"data": "liver", "query": "identity"}, {"data": "liver", "guarantee": "theorem1"},
    {"data": "liver", "guarantee": "theorem2"}, {"data": "liver", "guarantee": "theorem2-any", "tail": "exact-chi"},
    {"data": "liver", "query": "kernel"}, {"data": "liver", "query": "kernel", "mode": "rows"},
    {"data": "liver", "mode": "rows"}, {"data": "liver", "query": "identity", "mode": "columns"},
    {"data": "liver", "directions": "eigenvectors", "allocation": "max-pnr"}, {"data": "liver", "directions": "random"},
    {"data": "liver", "directions": "private", "guarantee": "theorem1"}, {"data": "liver", "directions": "rotation"},
    {"data": "liver", "allocation": "least-error", "scale": "declared"}, {"data": "liver", "delta": "1e-30"},
    {"data": "cardiotocography"}, {"data": "cardiotocography", "guarantee": "theorem1"},
    {"data": "cardiotocography", "bound": "none", "directions": "private"},
    {"data": "cardiotocography", "query": "identity", "bound": "none", "mode": "columns"},
    {"data": "movement_simulated"},
    {"data": "movement_simulated", "query": "identity"}, {"data": "karate"},
    {"data": "karate", "query": "adjacency", "directions": "eigenvectors"}, {"data": "karate", "epsilon": "0.001"},
]


PAPER = repr(1 / 345)  # the paper's delta on the liver table


def turned_to(tab, **parameters):
    return clean(opened(PRIVACY.path, state={"privacy_section": tab}, **parameters))


def charts(app):
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


@pytest.mark.parametrize(("scenario", "tab"), list(zip(SCENARIOS, cycle([AUDIT, *[RELEASES] * 4]), strict=False)))
def test_every_scenario_draws_its_sections(scenario, tab):
    app = clean(opened(PRIVACY.path, **scenario))
    assert len(app.get("plotly_chart")) == 4
    app.session_state["privacy_section"] = tab
    clean(app.run())
    assert len(app.get("plotly_chart")) == 4
    assert "NaN" not in text(app)
    assert "nan" not in text(app).split()


def test_odds_are_said_in_whole_numbers_that_follow_mu():
    app = turned_to(NEIGHBOURS, data="liver", delta=PAPER)
    assert "With 5 false alarms in 100 the best attack finds 11; guessing finds 5" in text(app)
    assert round(100 * (1 - tradeoff(0.05, 0.442))) == 11
    assert "right 59 times in 100 instead of 50" in text(app)


def test_an_edge_is_called_an_edge():
    assert "whether one edge is there" in text(turned_to(NEIGHBOURS, data="karate"))


def test_a_loose_theorem_is_blind_guessing_and_says_so():
    said = text(turned_to(NEIGHBOURS, data="cardiotocography", guarantee="theorem1"))
    assert "No better than guessing" in said
    assert "the curve is the diagonal" in said
    assert "Never near ε" in said
    assert "No ε is spent" in said


def test_a_huge_epsilon_hides_nothing_and_says_so():
    said = text(turned_to(NEIGHBOURS, data="karate", epsilon="100"))
    assert "With 1 false alarm in 10,000 the best attack finds all 10,000" in said
    assert "practically always right" in said


def test_private_directions_are_counted_in():
    said = text(turned_to(RELEASES, data="liver", directions="private", private_share="0.3"))
    assert "private directions, which spent 30% of μ²" in said
    assert "learned once and used in all" in said


@pytest.mark.parametrize(("choice", "parts"), [
    ({"directions": "eigenvectors"}, "Not covered: directions read"), ({"allocation": "max-pnr"}, "a split of the"),
    ({"directions": "eigenvectors", "allocation": "max-pnr"}, "directions read from the data and a split"),
    ({"from_data": "epsilon"}, "Not covered: choices made after looking at results on the data")])
def test_what_is_not_private_is_said_to_be_left_out(choice, parts):
    said = text(turned_to(NEIGHBOURS, data="liver", **choice))
    assert parts in said
    assert "about the noise only" in said
    assert "about the noise only" not in text(turned_to(NEIGHBOURS, data="liver"))


def test_ranges_from_the_data_are_said_to_be_left_out_and_one_by_one_answers_work():
    app = clean(uploaded(("age\n" + "".join(f"{20 + i % 50}\n" for i in range(60))).encode()))
    app.switch_page(PRIVACY.path).run()
    assert "Not covered: ranges read from the data" in text(clean(app))
    for tab in TABS[1:]:
        app.session_state["privacy_section"] = tab
        clean(app.run())


@pytest.mark.parametrize("query", ["identity", "mean", "covariance"])
@pytest.mark.parametrize("scale", ["declared", "symmetric", "unit"])
def test_the_worst_records_are_shown_in_the_data_s_units(query, scale):
    app = turned_to(NEIGHBOURS, data="liver", query=query, scale=scale)
    table = app.dataframe[0].value.set_index("Feature")
    assert list(table.columns) == ["Before", "After"]
    ranges = {"mcv": (60, 120), "drinks": (0, 20)}
    for name, (low, high) in ranges.items():
        assert table.loc[name].between(low - 1e-9, high + 1e-9).all()
    if query != "covariance":
        assert set(table.loc["mcv"]) == {60, 120}


def test_a_pair_below_the_bound_says_so():
    assert "of μ, which is an upper bound here" in text(turned_to(NEIGHBOURS, data="liver", mode="rows"))
    assert "They reach the whole μ of the design, which is exact" in text(turned_to(NEIGHBOURS, data="liver"))


@pytest.mark.parametrize("scenario", [
    {"data": "liver", "directions": "random"}, {"data": "liver", "directions": "random", "scale": "declared"},
    {"data": "liver", "query": "identity", "directions": "random"}, {"data": "movement_simulated"},
    {"data": "liver", "directions": "eigenvectors", "allocation": "max-pnr"}], ids=lambda s: " ".join(s.values()))
def test_an_exact_mu_is_never_called_a_bound(scenario):
    said = text(turned_to(NEIGHBOURS, **scenario))
    assert "which is exact" in said
    assert "upper bound" not in said
    assert "at most ε" not in said


def test_a_query_without_records_says_so(monkeypatch):
    def none(*_):
        raise InputError("a custom query has no records or edges to show")

    monkeypatch.setattr(privacy_loss, "pair_loss", none)
    app = opened(PRIVACY.path, data="liver", share="0.61")  # of no other test, so in no cache
    assert "a custom query has no records or edges to show" in text(clean(app))


@pytest.mark.parametrize(("delta", "words"), [
    (PAPER, "above the 1.00 claimed"), ("1e-6", "0.50 times what is claimed")])
def test_the_audit_stands_by_the_claim_and_catches_the_break(delta, words):
    app = turned_to(AUDIT, data="liver", delta=delta)
    assert "The claim stands" in text(app)
    app.toggle(key="privacy_broken").set_value(True).run()
    assert "Caught" in text(clean(app))
    assert words in text(app)
    app.toggle(key="privacy_broken").set_value(False).run()
    assert "The claim stands" in text(clean(app))


def test_trials_are_chosen_and_the_seed_decides_the_draws():
    app = turned_to(AUDIT, data="liver")
    assert "of 5,000 without the record (another in its place)" in text(app)
    app.select_slider(key="privacy_trials").set_value(2_000).run()
    assert "of 1,000 without the" in text(clean(app))
    before = charts(app)[3]
    assert charts(app.run())[3] == before
    app.button(key="w_draw").click().run()
    assert charts(clean(app))[3] != before


def test_large_answers_are_drawn_whole():
    app = turned_to(AUDIT, data="cardiotocography", query="identity", bound="none")
    assert "5 whole 21 × 2,126 answers on each neighbour, each attacked at every one of its 2,126 records" in text(app)
    assert "The claim stands" in text(app)
    app = turned_to(AUDIT, data="karate")
    assert "10,000 whole 34 × 34 answers on each neighbour, drawn by the app's simulator" in text(app)
    assert "fails these tests in at most 1 of 1,000 audits" in text(app)


def test_the_release_s_own_sampler_is_audited_when_asked():
    app = turned_to(AUDIT, data="two_features", query="covariance")
    app.radio(key="privacy_sampler").set_value(HARDENED).run()
    assert "drawn by the hardened sampler of a release, fresh each time" in text(clean(app))
    assert "500 whole 2 × 2 answers" in text(app)
    app.toggle(key="privacy_broken").set_value(True).run()
    assert "times what is claimed" in text(clean(app)) or "Caught" in text(app)


@pytest.mark.parametrize("scenario", [{"data": "karate"}, {"data": "liver", "query": "mean", "scale": "declared"}],
                         ids=lambda s: s["data"])
def test_every_kind_of_answer_can_be_drawn_by_the_release_s_own_sampler(scenario):
    app = turned_to(AUDIT, **scenario)
    app.radio(key="privacy_sampler").set_value(HARDENED).run()
    assert "hardened sampler of a release" in text(clean(app))


def test_an_audit_that_takes_long_waits_for_a_click(monkeypatch):
    monkeypatch.setattr(audit, "seconds_to_draw", lambda design: 1.0)
    app = turned_to(AUDIT, data="liver", share="0.63")
    assert "Draw the releases (about 3 minutes)" in [button.label for button in app.button]
    app.button(key="privacy_draw").click().run()
    assert "100 whole 6 × 6 answers on each neighbour" in text(clean(app))


def test_a_sabotaged_sampler_is_seen_on_the_page(monkeypatch):
    honest = sampling.sample_noise
    monkeypatch.setattr(sampling, "sample_noise", lambda design, **given: honest(design, **given) * 0.8)
    assert "The noise is not as claimed" in text(turned_to(AUDIT, data="liver", guarantee="theorem1"))


@pytest.mark.parametrize(("scenario", "reason"), [
    ({"data": "liver", "guarantee": "theorem1"}, "still within the ε = 1 asked"),
    ({"data": "liver", "epsilon": "50"}, "a smaller ε can be audited")])
def test_a_break_that_cannot_be_seen_says_why(scenario, reason):
    app = turned_to(AUDIT, **scenario)
    app.toggle(key="privacy_broken").set_value(True).run()
    assert "though not by the attack" in text(clean(app))
    assert reason in text(app)
    assert "the noise is 0.50 times what is claimed" in text(app)  # which the attack cannot show


def test_an_audit_of_a_pair_below_the_bound_says_so():
    assert "The pair attacked reaches only" in text(turned_to(AUDIT, data="liver", query="kernel"))
    assert "The pair attacked reaches only" not in text(turned_to(AUDIT, data="liver"))


def test_releases_are_chosen_and_added_up_for_contrast():
    app = turned_to(RELEASES, data="liver", delta=PAPER)
    assert "10 releases together spend ε = 4.28" in text(app)
    assert "adding up would say ε = 10.0 at δ = 0.029" in text(app)
    app.select_slider(key="privacy_k").set_value(1_000).run()
    assert "adding up says nothing, as δ would pass 1" in text(clean(app))
    app.select_slider(key="privacy_k").set_value(1).run()
    assert "1 release together" not in text(app)
    assert "1 release spends ε = 1.00" in text(app)


def test_feature_names_cannot_act():
    content = '"<b>x</b>",":red[y]"\n' + "".join(f"{i},{i * i % 17}\n" for i in range(40))
    app = clean(uploaded(content.encode()))
    app.switch_page(PRIVACY.path).run()
    assert "<b>x" not in text(clean(app))
    assert all("<b>x" not in json.dumps(chart) for chart in charts(app))
