"""Privacy spent: every control acts, the sentences say what the numbers say."""

import pytest

from mvgviz import InputError
from mvgviz.design import privacy_loss, sampling
from mvgviz.release import audit
from mvgviz.ui.menu import PRIVACY
from tests.pages.app import adjust, opened, press, put, to, uploaded
from tests.pages.shown import assert_says, charts, clean, said, text

NEIGHBOURS, AUDIT, RELEASES = "The worst neighbours", "Audit by simulation", "Several releases"
HARDENED = "The release's own sampler, fewer draws"
PAPER = repr(1 / 345)  # the paper's delta on the liver table
LIVER, KARATE = {"data": "liver"}, {"data": "karate"}
EXACT, NOISE_ONLY = ["this is exact"], "about the noise only"


def turned_to(tab, **parameters):
    return clean(opened(PRIVACY.path, state={"privacy_section": tab}, **parameters))


SAID = {
    "odds in whole numbers": (NEIGHBOURS, LIVER | {"delta": PAPER}, [
        "With 5 false alarms in 100 the best attack finds 11; guessing finds 5",
        "right 59 times in 100 instead of 50",
        "It reaches the whole μ: this is exact"], [NOISE_ONLY]),
    "an edge is called an edge": (NEIGHBOURS, KARATE, ["whether one edge is there"], []),
    "a loose theorem is blind guessing": (NEIGHBOURS, {"data": "cardiotocography", "guarantee": "theorem1"}, [
        "No better than guessing", "the curve is the diagonal", "No ε is spent"], []),
    "its loss stays near 0": ("The loss", {"data": "cardiotocography", "guarantee": "theorem1"}, ["Never near ε"], []),
    "a huge epsilon hides nothing": (NEIGHBOURS, KARATE | {"epsilon": "100"}, [
        "With 1 false alarm in 10,000 the best attack finds all 10,000", "practically always right"], []),
    "private directions are counted in": (RELEASES, LIVER | {"directions": "private", "private_share": "0.3"}, [
        "private directions, which spent 30 % of μ²", "which are learned once"], []),
    "directions of the data are left out": (NEIGHBOURS, LIVER | {"directions": "eigenvectors"}, [
        "Not covered: directions read", NOISE_ONLY], []),
    "a split of the data is left out": (NEIGHBOURS, LIVER | {"allocation": "max-pnr"}, [
        "shares of the", NOISE_ONLY], []),
    "both are left out": (NEIGHBOURS, LIVER | {"directions": "eigenvectors", "allocation": "max-pnr"}, [
        "directions read from the data and shares", NOISE_ONLY, *EXACT], ["upper bound", "at most ε"]),
    "choices after looking are left out": (NEIGHBOURS, LIVER | {"from_data": "epsilon"}, [
        "Not covered: choices made after looking at results on the data", NOISE_ONLY], []),
    "a pair below the bound": (NEIGHBOURS, LIVER | {"mode": "rows"}, ["of μ, which is an upper bound here"], []),
    **{f"an exact mu is no bound {k}": (NEIGHBOURS, parameters, EXACT, ["upper bound", "at most ε"])
       for k, parameters in enumerate((
           LIVER | {"directions": "random"}, LIVER | {"directions": "random", "scale": "declared"},
           LIVER | {"query": "identity", "directions": "random"}, {"data": "movement_simulated"}))},
    "large answers are drawn whole": (AUDIT, {"data": "cardiotocography", "query": "identity", "bound": "none"}, [
        "5 answers (21 × 2,126) for each neighbour, drawn by the app's simulator",
        "The audit found no violation"], []),
    "how the answers are drawn": (AUDIT, KARATE, [
        "10,000 answers (34 × 34) for each neighbour, drawn by the app's simulator",
        "fails in at most 1 of 1,000 audits"], ["The pair attacked reaches only"]),
    "an audit of a pair below the bound": (AUDIT, LIVER | {"mode": "rows"}, ["The pair attacked reaches only"], []),
}


@pytest.mark.parametrize(("tab", "parameters", "parts", "absent"), SAID.values(), ids=SAID)
def test_the_page_says(tab, parameters, parts, absent):
    assert_says(turned_to(tab, **parameters), parts, absent)


def test_ranges_from_the_data_are_said_to_be_left_out_and_one_by_one_answers_work():
    app = to(uploaded("age\n" + "".join(f"{20 + i % 50}\n" for i in range(60))), PRIVACY)
    assert "Not covered: ranges read from the data" in text(app)
    for tab in (AUDIT, RELEASES):
        clean(put(app, privacy_section=tab))


@pytest.mark.parametrize(("query", "scale"), [
    ("identity", "declared"), ("mean", "symmetric"), ("mean", "unit"), ("covariance", "declared"),
    ("covariance", "unit")])
def test_the_worst_records_are_shown_in_the_data_s_units(query, scale):
    table = turned_to(NEIGHBOURS, data="liver", query=query, scale=scale).dataframe[0].value.set_index("Feature")
    assert list(table.columns) == ["Before", "After"]
    for name, (low, high) in {"mcv": (60, 120), "drinks": (0, 20)}.items():
        assert table.loc[name].between(low - 1e-9, high + 1e-9).all()
    assert query == "covariance" or set(table.loc["mcv"]) == {60, 120}


def test_a_query_without_records_says_so(monkeypatch):
    def none(*_):
        raise InputError("a custom query has no records or edges to show")

    monkeypatch.setattr(privacy_loss, "pair_loss", none)
    app = opened(PRIVACY.path, data="liver", share="0.61")  # of no other test, so in no cache
    assert "a custom query has no records or edges to show" in said(app)


def broken(app, yes=True):
    return said(adjust(app, privacy_broken=yes))


@pytest.mark.parametrize(("delta", "words"), [
    (PAPER, "claimed is 1.00"), ("1e-6", "0.50 times what is claimed")])
def test_the_audit_stands_by_the_claim_and_catches_the_break(delta, words):
    app = turned_to(AUDIT, data="liver", delta=delta)
    assert "The audit found no violation" in text(app)
    found = broken(app)
    assert "Caught" in found
    assert words in found
    assert "The audit found no violation" in broken(app, False)


def test_trials_are_chosen_and_the_seed_decides_the_draws():
    app = turned_to(AUDIT, data="liver")
    assert "of 5,000 without the record" in text(app)
    assert "of 1,000 without the" in said(adjust(app, privacy_trials=2_000))
    before = charts(app)[2]
    assert charts(app.run())[2] == before
    app.button(key="w_draw").click().run()
    assert charts(clean(app))[2] != before


@pytest.mark.parametrize("parameters", [
    {"data": "two_features", "query": "covariance"}, {"data": "liver", "query": "mean", "scale": "declared"}],
    ids=lambda parameters: parameters["query"])
def test_the_release_s_own_sampler_is_audited_when_asked(parameters):
    app = turned_to(AUDIT, **parameters)
    assert "drawn by the hardened sampler of a release" in said(adjust(app, privacy_sampler=HARDENED))
    if parameters["data"] == "two_features":
        assert "500 answers (2 × 2)" in text(app)
        found = broken(app)
        assert "times what is claimed" in found or "Caught" in found


def test_an_audit_that_takes_long_waits_for_a_click(monkeypatch):
    monkeypatch.setattr(audit, "seconds_to_draw", lambda design: 1.0)
    app = turned_to(AUDIT, data="liver", share="0.63")
    assert "Draw the releases (about 3 minutes)" in [button.label for button in app.button]
    assert "100 answers (6 × 6) for each neighbour" in said(press(app, "privacy_draw"))


def test_a_sabotaged_sampler_is_seen_on_the_page(monkeypatch):
    honest = sampling.sample_noise
    monkeypatch.setattr(sampling, "sample_noise", lambda design, **given: honest(design, **given) * 0.8)
    assert "The noise is not as claimed" in text(turned_to(AUDIT, data="liver", guarantee="theorem1"))


@pytest.mark.parametrize("choice", [
    {"guarantee": "theorem1"}, {"epsilon": "50"}])
def test_a_break_that_the_attack_cannot_show_is_seen_in_the_noise(choice):
    found = broken(turned_to(AUDIT, data="liver", **choice))
    assert "though not by the attack" in found
    assert "the noise is 0.50 times what is claimed" in found  # which the attack cannot show


def test_releases_are_chosen_and_added_up_for_contrast():
    app = turned_to(RELEASES, data="liver", delta=PAPER)
    assert_says(app, ["10 releases together spend ε = 4.28", "adding up would say ε = 10.0 at δ = 0.029",
                      "One release: μ = 0.442, ρ = 0.0975"])
    assert "adding up says nothing, as δ would pass 1" in said(adjust(app, privacy_k=1_000))
    assert_says(adjust(app, privacy_k=1), ["1 release spends ε = 1.00"], ["1 release together"])
