"""The page Precision budget: every control and every sentence, without a browser."""

import json
from itertools import cycle
from types import SimpleNamespace

import pytest

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.scenario.resolve import build
from mvgviz.study.source import DataSource
from mvgviz.ui import frontier, session
from mvgviz.ui.menu import BUDGET
from mvgviz.ui.session import Upload
from tests.datasets import make_dataset
from tests.pages.app import clean, component, link, opened, spec, strip, text, uploaded

NEEDED, DIRECTIONS, THROUGH, INVERSE = ("Needed and rest", "Direction by direction", "What gets through",
                                        "From noise to epsilon")
TABS = (NEEDED, DIRECTIONS, THROUGH, INVERSE)


def on(tab=DIRECTIONS, **parameters):
    return opened(BUDGET.path, state={"budget_tab": tab}, **parameters)


def drawings(app):
    return [spec(app, position) for position in range(len(app.get("plotly_chart")))]


def turn(app, tab):
    app.session_state["budget_tab"] = tab
    return app.run()


def table(app):
    return next(frame.value for frame in app.dataframe if "theta" in frame.value.columns)


def test_it_says_who_gains_who_pays_and_what_does_not_change():
    app = clean(on(data="liver"))
    assert "**Gain:** sgpt and drinks, with 0.42× equal noise" in text(app)
    assert "**Pay:** mcv, alkphos, sgot and gammagt, with 3.3×" in text(app)
    assert "What does not change is the guarantee" in text(app)
    assert "not less privacy for a feature" in text(app)
    assert "40 % each, goes to sgpt and drinks; an equal share is 16.7 %" in text(app)


def test_the_table_shows_the_design():
    app = on(data="liver")
    setup = build(Scenario.default_for("liver"), sample("liver"))
    frame = table(app)
    assert frame["direction"].tolist() == list(sample("liver").features)
    assert frame["typical error"].to_numpy() == pytest.approx(setup.design.direction_std())
    assert "precision 1/v" in frame.columns
    assert "signal / noise (not private)" in frame.columns
    assert "precision 1/v²" in table(on(data="liver", guarantee="theorem1")).columns
    assert app.get("download_button")


def test_equal_shares_gain_and_pay_nothing():
    app = clean(on(data="two_features", allocation="uniform"))
    assert "Nobody gains and nobody pays" in text(app)
    assert "Equal shares:** 50 % each" in text(app)


def test_nobody_gains_has_a_reason():
    assert "Nobody gains.** **Pay:**" in text(on(data="karate", favoured="0-33", share="0.8"))
    assert "favoured for free" in text(on(data="karate", favoured="0-33", share="0.8"))
    assert "upper bound" in text(on(data="liver", query="covariance", mode="rows", directions="rotation"))


def test_loadings_appear_when_directions_are_not_features():
    assert "with the largest share, is mostly" not in text(on(data="liver"))
    app = clean(on(data="liver", directions="eigenvectors"))
    assert "with the largest share, is mostly" in text(app)
    assert "no guarantee covers" in text(app)


@pytest.mark.parametrize(("data", "query"), [
    *(("liver", query) for query in ("identity", "covariance", "mean", "kernel")),
    ("cardiotocography", "identity"), ("cardiotocography", "kernel"), ("two_features", "covariance"),
    ("movement_simulated", "covariance"), ("karate", "adjacency"), ("karate", "laplacian")])
def test_every_tab_answers_every_query(data, query):
    app = clean(on(TABS[0], data=data, query=query))
    for tab in TABS[1:]:
        clean(turn(app, tab))


@pytest.mark.parametrize(("choices", "tab"), list(zip([
    *({"guarantee": guarantee} for guarantee in ("theorem1", "theorem2", "theorem2-any")),
    *({"directions": kind} for kind in ("rotation", "eigenvectors", "private", "random")),
    *({"allocation": split} for split in ("uniform", "max-pnr", "least-error")),
    {"guarantee": "theorem1", "directions": "private", "allocation": "max-pnr", "form": "unrelaxed"},
    {"mode": "rows"}, {"mode": "columns"}, {"query": "identity", "mode": "columns"}, {"favoured": "none"},
    {"epsilon": "1000", "query": "mean"}, {"epsilon": "0.001", "delta": "1e-12"}], cycle(TABS), strict=False)))
def test_every_choice_is_answered(choices, tab):
    clean(on(tab, data="liver", **choices))


def test_thousands_of_records_are_not_drawn_one_by_one():
    app = clean(on(data="movement_simulated", query="identity", bound="none", mode="columns"))
    labels = spec(app)["layout"]["yaxis"]["ticktext"]
    assert (len(labels), labels[0], labels[-1]) == (40, "record 1", "record 10176")
    assert len(table(app)) == 1_000
    assert "the file has all" in text(app)


def test_splits_are_compared_under_the_chosen_guarantee_and_under_both_behind_a_switch():
    app = clean(on(THROUGH, data="liver"))
    assert "**Most information survives with: paper's best split, exact.**" in text(app)
    assert "Theorem 2, as printed: " not in text(app)
    assert any(len(drawn["data"]) == 1 and drawn["data"][0]["type"] == "bar" for drawn in drawings(app))
    app.toggle(key="budget_both").set_value(True).run()
    assert "Theorem 2, as printed: " in text(clean(app))
    assert "for Gaussian answers only" in text(app)
    assert "Computed on the data itself: not private." in text(app)
    frame = next(frame.value for frame in app.dataframe if "split" in frame.value.columns)
    assert frame["split"].tolist() == ["equal shares", "a share for some", "least error", "paper's best split, relaxed",
                                       "paper's best split, unrelaxed", "paper's best split, exact"]
    log_pnr = frame["information that survives (log PNR), exact limit"]
    information = frame["information (nats), exact limit"]
    assert (log_pnr / 2).dropna().to_numpy() == pytest.approx(information.dropna().to_numpy())


def test_each_form_of_max_pnr_has_its_water():
    app = on(THROUGH, data="cardiotocography", query="identity", bound="none", directions="eigenvectors")
    assert "20 of 21 dry" in text(app)
    control = app.segmented_control(key="budget_form_exact")
    control.set_value("unrelaxed").run()
    assert "Here is no common level" in text(clean(app))
    app.segmented_control(key="budget_form_exact").set_value("relaxed").run()
    assert "Level:" in text(clean(app))


def test_private_directions_bring_their_own_spectrum():
    assert "Spectrum from the private release" in text(clean(on(THROUGH, data="liver", directions="private")))


@pytest.mark.parametrize(("choices", "sentence"), [
    ({"data": "karate"}, "defined for the table, the mean and the covariance"),
    ({"data": "liver", "mode": "rows"}, "defined with noise on both sides"),
    ({"data": "liver", "query": "identity", "mode": "columns"}, "divides the budget over features")])
def test_where_the_ratio_is_not_defined_the_page_says_so(choices, sentence):
    assert sentence in text(clean(on(THROUGH, **choices)))


@pytest.mark.parametrize("choices", [{"mode": "rows"}, {"mode": "columns"}, {"query": "identity", "mode": "columns"}])
def test_the_inverse_question_is_hidden_where_it_does_not_fit(choices):
    app = clean(on(INVERSE, data="liver", **choices))
    assert "The inverse question is not asked here" in text(app)
    assert not [widget for widget in app.number_input if (widget.key or "").startswith("budget_")]


def wanted(app, k):
    return next(widget for widget in app.number_input if (widget.key or "").startswith("budget_want_")
                and widget.key.endswith(f"_{k}"))


@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_the_epsilon_for_the_wanted_noise_is_taken_over_with_one_click(guarantee):
    app = on(INVERSE, data="liver", guarantee=guarantee)
    wanted(app, 2).set_value(0.05).run()
    wanted(app, 5).set_value(0.02).run()
    assert "The smallest ε for this noise" in text(clean(app))
    app.button(key="budget_take").click().run()
    scenario = Scenario.from_query(link(clean(app)))
    assert (scenario.guarantee, scenario.allocation) == ("exact", "manual")
    std = build(scenario, sample("liver")).design.direction_std()
    assert std[[2, 5]] == pytest.approx([0.05, 0.02], rel=2e-3)
    assert (wanted(app, 2).value, wanted(app, 5).value) == (0.05, 0.02)


def test_directions_are_chosen_for_the_inverse_question():
    app = on(INVERSE, data="liver")
    chooser = next(widget for widget in app.multiselect if (widget.key or "").startswith("budget_asked_"))
    chooser.set_value([0, 1, 3]).run()
    assert len([w for w in app.number_input if (w.key or "").startswith("budget_want_")]) == 3
    chooser = next(widget for widget in app.multiselect if (widget.key or "").startswith("budget_asked_"))
    chooser.set_value([]).run()
    assert "Choose at least one direction" in text(clean(app))


def test_an_epsilon_outside_the_range_is_clamped_and_said():
    app = on(INVERSE, data="liver")
    wanted(app, 2).set_value(1e-9).run()
    assert "outside what this app holds" in text(clean(app))
    app.button(key="budget_take").click().run()
    assert link(clean(app))["epsilon"] == "1000"
    wanted(app, 2).set_value(1e9).run()
    wanted(app, 5).set_value(1e9).run()
    assert "below 0.001" in text(clean(app))
    app.button(key="budget_take").click().run()
    assert link(clean(app))["epsilon"] == "0.001"


def test_one_number_and_one_record_are_answered():
    for query in ("identity", "mean", "covariance"):
        app = uploaded(b"a\n3\n")
        app.session_state["_scenario"] = app.session_state["_scenario"].changed(query=query)
        app.switch_page(BUDGET.path)
        for tab in TABS:
            assert not turn(app, tab).exception
            assert [element.value for element in app.error] == []


def test_more_features_than_records_are_answered():
    data = make_dataset(200, 60)
    own = Upload(data_name="upload-000000000000", version="0", dataset=data, source=DataSource(name="wide.csv"))
    app = opened(BUDGET.path)
    app.session_state["_upload"] = own
    app.session_state["_scenario"] = Scenario.default_for(own.data_name).changed(directions="eigenvectors")
    app.session_state["_touched"] = True
    for tab in TABS:
        clean(turn(app, tab))
        assert link(app)["data"] == own.data_name
        assert "nan" not in text(app)


def test_wild_column_names_cannot_act_here():
    wild = "<script>alert(1)</script>"
    content = f'"{wild}",":red[*x*]","=A1+1"\n' + "".join(f"{i},{i * i % 17},{i % 5}\n" for i in range(40))
    app = uploaded(content.encode())
    app.switch_page(BUDGET.path)
    assert table(turn(app, DIRECTIONS))["direction"].tolist()[2] == "'=A1+1"  # the table has a download of its own
    for tab in TABS:
        clean(turn(app, tab))
        blocks = [element.value for kind in ("markdown", "caption") for element in app.get(kind)]
        assert not any(wild in block or ":red[" in block for block in blocks)
        for position in range(len(app.get("plotly_chart"))):
            assert "<script" not in json.dumps(spec(app, position))


@pytest.mark.parametrize("parameters", [
    {"data": "liver"}, {"data": "liver", "query": "mean", "share": "0.55"},
    {"data": "cardiotocography", "query": "identity", "bound": "none"},
    {"data": "liver", "guarantee": "theorem1"}, {"data": "two_features", "query": "mean", "epsilon": "3"}])
def test_the_trade_off_shows_this_design_among_all_splits(parameters):
    app = clean(on(NEEDED, **parameters))
    scenario = Scenario.from_query(link(app))
    setup = build(scenario, sample(scenario.data))
    unit = setup.design.reach
    size = setup.query.rows
    equal = build(scenario.changed(allocation="uniform", guarantee="exact", bound="none"), sample(scenario.data)).design

    def noise(design):
        std = design.noise_std()
        if design.mode == "both":  # entries between two of the needed, the two halves averaged
            within = [std[i, j] / unit[i] / unit[j] / (1 if i == j else 2**0.5)
                      for i in scenario.favoured for j in scenario.favoured]
            return (sum(value**2 for value in within) / len(within)) ** 0.5
        return (sum((std[i, 0] / unit[i]) ** 2 for i in scenario.favoured) / len(scenario.favoured)) ** 0.5

    drawn = component(app, "budget_trade_off")
    gain = noise(setup.design) / noise(equal)
    assert drawn["here"]["x"] == pytest.approx(gain)
    assert [(mark["x"], mark["y"]) for mark in drawn["marks"] if mark["kind"] == "equal"] == [(1, 1)]
    walls = {wall["name"]: wall["x"] for wall in drawn["walls"]}
    assert walls["only the needed"] < 1
    bounded = scenario.bound != "none"
    assert [line["own"] for line in drawn["lines"]] == ([True, False] if bounded else [True])
    assert ("least possible, any shape" in walls) != bounded
    assert ("This is noise alone" in text(app)) == bounded
    if not bounded:
        assert walls["least possible, any shape"] <= min(gain, walls["only the needed"]) * (1 + 1e-6)
    assert 0 < len(scenario.favoured) < size
    assert "times the least possible" in text(app)
    assert "times the least possible" in strip(app)
    assert drawn["movable"] == (scenario.guarantee == "exact")
    if scenario.guarantee == "exact":
        assert gain < 1
        assert drawn["here"]["share"] == scenario.share
        assert "Equal noise would have to spend ε = " in text(app)
    else:
        assert gain > 50
        assert "this design" in [mark["name"] for mark in drawn["far"]]
        assert "would have to spend" not in text(app)
    assert {mark["kind"] for mark in drawn["far"]} >= {"theorem1"}


def test_the_trade_off_along_other_directions_follows_their_seed():
    app = clean(on(NEEDED, data="liver", query="mean", directions="random"))
    first = component(app, "budget_trade_off")
    assert (first["movable"], first["here"]["share"]) == (True, 0.8)
    near = min(range(len(first["curve"]["shares"])), key=lambda k: abs(first["curve"]["shares"][k] - 0.8))
    assert first["here"]["x"] == pytest.approx(first["curve"]["xs"][near], rel=0.02)
    other = component(clean(on(NEEDED, data="liver", query="mean", directions="random", seed="5")), "budget_trade_off")
    assert other["curve"]["xs"] != first["curve"]["xs"]


def test_curves_are_drawn_anew_where_their_directions_or_needs_change(monkeypatch):
    turned = Scenario(query="mean", directions="random", favoured=(0, 1), importance=(2, 1))

    def known(scenario):
        return frontier._same_curves(SimpleNamespace(scenario=scenario, dataset=None))

    monkeypatch.setattr(session, "uploaded_directions", lambda: None)
    assert known(turned) == known(turned.changed(share=0.3))
    for changes in ({"seed": 1}, {"importance": (1, 2)}, {"favoured": (0, 2)}):
        assert known(turned) != known(turned.changed(**changes))
    standard = turned.changed(directions="standard")
    assert known(standard) == known(standard.changed(seed=1))


def test_a_design_off_the_curve_can_still_be_moved_to_it():
    drawn = component(clean(on(NEEDED, data="liver", query="mean", allocation="least-error")), "budget_trade_off")
    assert (drawn["movable"], drawn["here"]["share"]) == (True, None)
    shares = drawn["curve"]["shares"]
    assert shares == sorted(shares)
    assert len(shares) == len(drawn["curve"]["xs"]) == len(drawn["curve"]["ys"])


@pytest.mark.parametrize(("parameters", "sentence"), [
    ({"data": "karate"}, "The trade-off is between features"),
    ({"data": "liver", "query": "kernel"}, "between features"),
    ({"data": "liver", "directions": "random", "needed": "1"}, "choose the features themselves as directions"),
    ({"data": "cardiotocography", "query": "identity", "bound": "none", "mode": "columns"}, "between features"),
    ({"data": "liver", "favoured": "none"}, "Say in the sidebar which features (or directions) are needed"),
    ({"data": "liver", "favoured": "0-1-2-3-4-5"}, "Say in the sidebar which features (or directions) are needed")])
def test_where_there_is_no_trade_off_a_sentence_says_why(parameters, sentence):
    app = clean(on(NEEDED, **parameters))
    assert sentence in text(app)
