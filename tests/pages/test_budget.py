"""The page Precision budget: every control and every sentence, without a browser."""

from types import SimpleNamespace

import pytest

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.scenario.own_units import feature_std, to_own
from mvgviz.scenario.resolve import build
from mvgviz.ui import frontier, session
from mvgviz.ui.menu import BUDGET
from tests.datasets import make_dataset
from tests.pages.app import adjust, opened, press, put, with_table
from tests.pages.shown import assert_says, clean, component, frame, keyed, link, said, spec, strip, text

NEEDED, DIRECTIONS, THROUGH, INVERSE = ("Priority and other", "Direction by direction", "What gets through",
                                        "From noise to epsilon")
TABS = (NEEDED, DIRECTIONS, THROUGH, INVERSE)


def on(tab=DIRECTIONS, **parameters):
    return opened(BUDGET.path, state={"budget_tab": tab}, **parameters)


LIVER_SCENARIO = Scenario.default_for("liver")
LIVER, KARATE = {"data": "liver"}, {"data": "karate", "priority_directions": "0-33", "share": "0.8"}
BOX = LIVER | {"query": "mean", "family": "box"}
SAID = {
    "who gains, who pays and what does not change": (DIRECTIONS, LIVER, [
        "**Gain:** sgpt and drinks, with 0.42× equal noise", "**Pay:** mcv, alkphos, sgot and gammagt, with 3.3×",
        "The guarantee stays the same with every split",
        "40 % each, goes to sgpt and drinks; an equal share is 16.7 %"], ["with the largest share, is mostly"]),
    "equal shares gain and pay nothing": (DIRECTIONS, {"data": "two_features", "allocation": "uniform"}, [
        "Nobody gains and nobody pays", "Equal shares:** 50 % each"], []),
    "why nobody gains": (DIRECTIONS, KARATE, ["Nobody gains.** **Pay:**", "so no direction gains"], []),
    "what is an upper bound": (DIRECTIONS, LIVER | {"mode": "rows", "directions": "rotation"}, ["upper bound"], []),
    "loadings where directions are not features": (DIRECTIONS, LIVER | {"directions": "eigenvectors"}, [
        "with the largest share, is mostly", "not what was read from the data"], []),
    "private directions bring their own spectrum": (THROUGH, LIVER | {"directions": "private"}, [
        "Spectrum from the private release"], []),
    "what pure noise divides, and its promise": (DIRECTIONS, BOX, [
        "ε = 1, δ = 0 for", "each direction's share of ε", "Theta divides ε",
        "equal Gaussian noise at the same ε and δ"], ["together μ²", "the sum of 1/v"]),
    "an ellipse divides precision, not μ²": (DIRECTIONS, BOX | {"family": "ellipse"}, [
        "δ = 10⁻⁶ for", "Theta divides the sum of 1/v"], ["together μ²"]),
    "what box noise is compared with": (NEEDED, BOX, [
        "equal Gaussian noise needs ε = ", "the lowest possible Gaussian noise"], []),
    **{f"no ratio and no way back with {family} noise": (tab, BOX | {"family": family}, [f"{family} noise."], [])
       for family, tab in (("box", THROUGH), ("ellipse", INVERSE))},
    "no ratio of graphs": (THROUGH, {"data": "karate"}, ["defined for the table, the mean and the covariance"], []),
    "no trade-off in a graph": (NEEDED, {"data": "karate"}, ["The trade-off is between columns of the data"], []),
    "no trade-off where all are needed": (NEEDED, LIVER | {"priority_directions": "0-1-2-3-4-5"}, [
        "Choose priority columns (or directions) in the sidebar"], [])}


@pytest.mark.parametrize(("tab", "parameters", "parts", "absent"), SAID.values(), ids=SAID)
def test_the_page_says(tab, parameters, parts, absent):
    assert_says(on(tab, **parameters), parts, absent)


def test_the_table_shows_the_design():
    app, setup = on(data="liver"), build(LIVER_SCENARIO, sample("liver"))
    table = frame(app, "theta")
    assert table["direction"].tolist() == list(sample("liver").features)
    assert table["typical error"].to_numpy() == pytest.approx(feature_std(setup, setup.design))
    assert table["unit"][0] == f"{setup.dataset.units[0]}²"
    assert {"precision 1/v", "signal / noise (not private)"} <= set(table.columns)
    assert "precision 1/v²" in frame(on(data="liver", guarantee="theorem1"), "theta").columns
    assert app.get("download_button")


def test_thousands_of_records_are_not_drawn_one_by_one():
    app = on(data="movement_simulated", query="identity", bound="none", mode="columns")
    assert "the file has all" in said(app)
    labels = spec(app)["layout"]["yaxis"]["ticktext"]
    assert (len(labels), labels[0], labels[-1], len(frame(app, "theta"))) == (40, "record 1", "record 10176", 1_000)


def test_splits_are_compared_under_the_chosen_guarantee_and_under_both_behind_a_switch():
    app = on(THROUGH, data="liver")
    assert_says(app, ["**Most information survives with: paper's best split, exact.**"], ["Theorem 2, as printed: "])
    assert any("the highest PNR gives the most information" in one.proto.label for one in app.get("page_link"))
    assert_says(adjust(app, budget_both=True), ["Theorem 2, as printed: ", "For Gaussian answers only",
                                                "Computed on the data itself: not private."])
    table = frame(app, "split")
    assert table["split"].tolist() == ["equal shares", "a share for some", "least error", "paper's best split, relaxed",
                                       "paper's best split, unrelaxed", "paper's best split, exact"]
    assert (table["information that survives (log PNR), exact limit"] / 2).dropna().to_numpy() == pytest.approx(
        table["information (nats), exact limit"].dropna().to_numpy())


def test_each_form_of_max_pnr_has_its_water():
    app = on(THROUGH, data="cardiotocography", query="identity", bound="none", directions="eigenvectors")
    assert "20 of 21 dry" in text(app)
    for form, words in (("unrelaxed", "There is no common level"), ("relaxed", "Level:")):
        assert words in said(adjust(app, budget_form_exact=form))


@pytest.mark.parametrize("choices", [{"mode": "rows"}, {"mode": "columns"}, {"query": "identity", "mode": "columns"}])
def test_the_inverse_question_is_hidden_where_it_does_not_fit(choices):
    app = on(INVERSE, data="liver", **choices)
    assert "Epsilon cannot be found from noise here" in said(app)
    assert not keyed(app, "number_input", "budget_")


def wanted(app, k):
    return next(widget for widget in keyed(app, "number_input", "budget_want_") if widget.key.endswith(f"_{k}"))


@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_the_epsilon_for_the_wanted_noise_is_taken_over_with_one_click(guarantee):
    app = on(INVERSE, data="liver", guarantee=guarantee)
    own = to_own(build(LIVER_SCENARIO, sample("liver")))[[2, 5]] ** 2
    for k, value in zip((2, 5), own * [0.05, 0.02], strict=True):
        wanted(app, k).set_value(float(value)).run()
    assert "The smallest ε for this noise" in said(app)
    scenario = Scenario.from_query(link(press(app, "budget_take")))
    assert (scenario.guarantee, scenario.allocation) == ("exact", "manual")
    std = build(scenario, sample("liver")).design.direction_std()
    assert std[[2, 5]] == pytest.approx([0.05, 0.02], rel=2e-3)
    assert [wanted(app, k).value for k in (2, 5)] == pytest.approx(own * [0.05, 0.02])


def test_the_epsilon_for_wanted_box_noise_has_no_delta_and_keeps_the_family():
    app = on(INVERSE, **BOX)
    setup = build(Scenario.from_query(link(app)), sample("liver"))
    own = to_own(setup)[[2, 5]]
    for k, value in zip((2, 5), own * [0.05, 0.02], strict=True):
        wanted(app, k).set_value(float(value)).run()
    assert "at δ = 0, by the exact limit" in said(app)
    scenario = Scenario.from_query(link(press(app, "budget_take")))
    assert (scenario.family, scenario.allocation) == ("box", "manual")
    std = build(scenario, sample("liver")).design.direction_std()
    assert std[[2, 5]] == pytest.approx([0.05, 0.02], rel=2e-3)


def test_directions_are_chosen_for_the_inverse_question():
    app = on(INVERSE, data="liver")
    keyed(app, "multiselect", "budget_asked_")[0].set_value([0, 1, 3]).run()
    assert len(keyed(app, "number_input", "budget_want_")) == 3
    keyed(app, "multiselect", "budget_asked_")[0].set_value([]).run()
    assert "Choose at least one direction" in said(app)


@pytest.mark.parametrize(("noise", "sentence", "taken"), [
    (1e-9, "The app allows ε from 0.001 to 1000", "1000"), (1e9, "The app allows ε from 0.001", "0.001")])
def test_an_epsilon_outside_the_range_is_clamped_and_said(noise, sentence, taken):
    app = on(INVERSE, data="liver")
    for k in (2, 5):
        wanted(app, k).set_value(noise).run()
    assert sentence in said(app)
    assert link(press(app, "budget_take"))["epsilon"] == taken


@pytest.mark.parametrize(("size", "choices"), [
    *(((1, 1), {"query": query}) for query in ("identity", "mean", "covariance")),
    ((60, 20), {"directions": "eigenvectors"})])
def test_one_number_and_more_features_than_records_are_answered(size, choices):
    app = with_table(BUDGET, make_dataset(*size), **choices)
    for tab in TABS:
        assert "nan" not in said(put(app, budget_tab=tab))


@pytest.mark.parametrize("parameters", [
    {"data": "liver"}, {"data": "liver", "query": "mean", "share": "0.55"},
    {"data": "cardiotocography", "query": "identity", "bound": "none"},
    {"data": "liver", "guarantee": "theorem1"}, {"data": "two_features", "query": "mean", "epsilon": "3"}])
def test_the_trade_off_shows_this_design_among_all_splits(parameters):
    app = on(NEEDED, **parameters)
    scenario = Scenario.from_query(link(app))
    setup = build(scenario, sample(scenario.data))
    unit, first = setup.design.reach, scenario.priority_directions
    equal = build(scenario.changed(allocation="uniform", guarantee="exact", bound="none"), sample(scenario.data)).design

    def noise(design):
        std = design.noise_std()
        if design.mode == "both":  # entries between two of the needed, the two halves averaged
            within = [std[i, j] / unit[i] / unit[j] / (1 if i == j else 2**0.5) for i in first for j in first]
        else:
            within = [std[i, 0] / unit[i] for i in first]
        return (sum(value**2 for value in within) / len(within)) ** 0.5

    drawn, gain = component(app, "budget_trade_off"), noise(setup.design) / noise(equal)
    assert drawn["here"]["x"] == pytest.approx(gain)
    assert [(mark["x"], mark["y"]) for mark in drawn["marks"] if mark["kind"] == "equal"] == [(1, 1)]
    walls = {wall["name"]: wall["x"] for wall in drawn["walls"]}
    assert walls["only priority columns"] < 1
    bounded = scenario.bound != "none"
    assert [line["own"] for line in drawn["lines"]] == ([True, False] if bounded else [True])
    least = walls.get("lowest possible Gaussian noise")
    assert least is None if bounded else least <= min(gain, walls["only priority columns"]) * (1 + 1e-6)
    assert ("This is noise alone" in said(app)) == bounded
    assert "times the lowest possible Gaussian noise" in text(app)
    assert "times the lowest possible Gaussian noise" in strip(app)
    exact = scenario.guarantee == "exact"
    assert drawn["movable"] == exact == ("equal noise needs ε = " in text(app))
    assert gain < 1 if exact else gain > 50
    assert drawn["here"]["share"] == scenario.share if exact else "this design" in [
        mark["name"] for mark in drawn["far"]]
    assert {mark["kind"] for mark in drawn["far"]} >= {"theorem1"}


def test_the_trade_off_along_other_directions_follows_their_seed():
    first, other = (component(clean(on(NEEDED, data="liver", query="mean", directions="random", seed=seed)),
                              "budget_trade_off") for seed in ("0", "5"))
    assert (first["movable"], first["here"]["share"]) == (True, 0.8)
    near = min(range(len(first["curve"]["shares"])), key=lambda k: abs(first["curve"]["shares"][k] - 0.8))
    assert first["here"]["x"] == pytest.approx(first["curve"]["xs"][near], rel=0.02)
    assert other["curve"]["xs"] != first["curve"]["xs"]


def test_curves_are_drawn_anew_where_their_directions_or_needs_change(monkeypatch):
    turned = Scenario(query="mean", directions="random", priority_directions=(0, 1), importance=(2, 1))

    def known(scenario):
        return frontier._same_curves(SimpleNamespace(scenario=scenario, dataset=None))

    monkeypatch.setattr(session, "uploaded_directions", lambda: None)
    assert known(turned) == known(turned.changed(share=0.3))
    for changes in ({"seed": 1}, {"importance": (1, 2)}, {"priority_directions": (0, 2)}):
        assert known(turned) != known(turned.changed(**changes))
    standard = turned.changed(directions="standard")
    assert known(standard) == known(standard.changed(seed=1))


def test_a_design_off_the_curve_can_still_be_moved_to_it():
    drawn = component(clean(on(NEEDED, data="liver", query="mean", allocation="least-error")), "budget_trade_off")
    assert (drawn["movable"], drawn["here"]["share"]) == (True, None)
    shares = drawn["curve"]["shares"]
    assert shares == sorted(shares)
    assert len(shares) == len(drawn["curve"]["xs"]) == len(drawn["curve"]["ys"])
