"""The page Compare: every section for every dataset, what cannot be compared, and loading an advice."""

import json
from itertools import cycle

import numpy as np
import pytest

from mvgviz import Scenario
from mvgviz.data import sample, samples
from mvgviz.pictures.advice import FORGETS_DIRECTIONS
from mvgviz.scenario.scenario import ALLOCATIONS, DIRECTIONS, TASKS
from mvgviz.trials.levers import levers
from mvgviz.trials.run import run_trials
from mvgviz.ui.menu import COMPARE
from tests.pages.app import clean, link, opened, text, turn, uploaded

RANKING, SAME, LEVERS, ADVISOR = "All mechanisms", "Same error", "Lever by lever", "Advisor"
FEW = {"trials": "6"}


def on(section=RANKING, **parameters):
    return opened(COMPARE.path, state={"compare_section": section}, **FEW | parameters)


def spec(app):
    return json.loads(app.get("plotly_chart")[0].proto.spec)


def table(app):
    return next(frame.value for frame in app.dataframe if "mechanism" in frame.value.columns)


@pytest.mark.parametrize(("data", "section"), [
    *zip(samples(), cycle([RANKING, SAME, LEVERS]), strict=False),
    *zip(samples(), cycle([SAME, LEVERS, RANKING]), strict=False), ("karate", ADVISOR), ("two_features", ADVISOR)])
def test_every_dataset_and_every_section(data, section):
    app = clean(on(section, data=data))
    assert len(app.get("plotly_chart")) == 1
    assert not app.get("progress")  # finished, by itself
    assert "not private" in text(app) or "not be private" in text(app)


def test_the_ranking_shows_the_engine_s_numbers():
    app = clean(on(data="liver"))
    scenario = Scenario.from_query(link(app))
    results = run_trials(scenario, sample("liver"), mechanisms=["mvg-exact", "laplace"], sensitivity="tight")
    shown = table(app).set_index("mechanism")
    for outcome in results.outcomes:
        row = shown.loc[outcome.mechanism.label]
        assert row["mean error"] == outcome.mean
        assert row["95 % to"] == outcome.interval[1]
    dot = next(one for one in spec(app)["data"] if one.get("name") == "Laplace (ε alone), trials only")
    assert dot["x"][0] == pytest.approx(results["laplace"].mean)
    assert dot["marker"]["symbol"] == "diamond"
    assert "times the least possible" in text(app)
    assert shown.loc["Gaussian, classic"]["epsilon really spent"] == pytest.approx(0.784, abs=1e-3)
    assert "the same random numbers, trial by trial" in text(app)


def test_what_does_not_apply_is_listed_with_its_reason():
    app = clean(on(data="two_features"))
    assert "Not in the chart: 8, and why" in [one.label for one in app.expander]
    assert "**Laplace, upper triangle**: noise on the upper triangle needs a symmetric answer" in text(app)
    assert "**Gaussian, classic**: its proof needs ε below 1" in text(app)
    assert "its proof needs" not in text(clean(on(data="two_features", epsilon="0.5")))


def test_one_sensitivity_for_all_and_it_is_said_which():
    app = clean(on(data="liver"))
    assert "All with the tight sensitivity s₂ = 0.0246" in text(app)
    before = table(app).set_index("mechanism")["mean error"]
    app.segmented_control(key="compare_s2").set_value("printed").run()
    assert "All with the sensitivity as the paper prints it, s₂ = 0.0348" in text(clean(app))
    after = table(app).set_index("mechanism")["mean error"]
    assert after["Gaussian, analytic"] > before["Gaussian, analytic"]
    assert "tight and as printed are the same" in text(clean(on(data="karate")))


def test_the_switch_leaves_only_those_that_beat_the_trivial_answer():
    assert not [one for one in on(data="karate").toggle if one.key == "compare_zoom"]  # nothing beats all zeros
    app = on(data="karate", epsilon="15")
    shown = table(app).set_index("mechanism")
    shown = shown[shown["beats the answer without data"] == "yes"]
    best = shown["mean error"].nunique()  # one that is the same as another is drawn once
    assert best > 1
    assert app.toggle(key="compare_zoom").label == f"Only the {best} that beat the answer without data"
    app.toggle(key="compare_zoom").set_value(True).run()
    assert len(spec(clean(app))["layout"]["yaxis"]["ticktext"]) == best


@pytest.mark.parametrize("section", [RANKING, SAME, LEVERS])
@pytest.mark.parametrize(("change", "sentence"), [
    ({"query": "mean"}, "Linear ridge needs the table or its covariance"),
    ({"label": "none"}, "Regression needs a label"),
    ({"task": "kernel-ridge"}, "Kernel ridge needs the records one by one")])
def test_what_cannot_be_measured_is_said_with_a_way_out(section, change, sentence):
    app = clean(on(section, data="liver", **change))
    assert any(sentence in one.value for one in app.info)
    app.button(key="trials_fix_task_reconstruction").click().run()
    assert app.get("plotly_chart")
    assert link(clean(app))["task"] == "reconstruction"


def test_the_advisor_finds_a_query_where_the_scenario_s_does_not_serve():
    app = clean(on(ADVISOR, data="liver", query="mean"))
    said = text(app).replace("\\", "")
    assert any(f"Recommended: {query}, exact" in said for query in ("covariance", "mean and second moments"))
    lost = clean(on(ADVISOR, data="liver", label="none"))
    assert any("designs dropped: regression needs a label" in one.value.replace("\\", "") for one in lost.info)


def test_one_trial_has_no_interval_and_no_verdict():
    app = clean(on(data="liver", trials="1"))
    assert "1 trial, so no interval" in text(app)
    assert "one trial cannot tell them apart" in text(app)
    clean(turn(app, SAME))
    clean(turn(app, ADVISOR))


def test_the_same_error_starts_at_this_design_and_is_read_across():
    app = clean(on(SAME, data="liver"))
    slider = next(one for one in app.select_slider if one.label == "Wanted error")
    design = run_trials(Scenario.from_query(link(app)), sample("liver"), mechanisms=["mvg-exact"],
                        sensitivity="tight")["mvg-exact"].mean
    assert slider.value == pytest.approx(design, rel=5e-3)
    assert "needs the least: ε" in text(app)
    figure = spec(app)
    assert [one["x"][0] for one in figure["data"] if one.get("yaxis") == "y2" and one["mode"] == "markers"]
    chosen = next(one for one in app.multiselect if one.label == "Mechanisms drawn")
    assert len(chosen.value) == 6
    chosen.set_value(["laplace"]).run()
    assert "Laplace needs the least" in text(clean(app))
    next(one for one in app.multiselect if one.label == "Mechanisms drawn").set_value([]).run()
    assert any("Choose at least one mechanism" in one.value for one in clean(app).info)


class Stopped(set):
    """Whatever is asked for was stopped, until it is let go."""

    released = False

    def __contains__(self, key):
        return not self.released

    def discard(self, key):
        self.released = True


@pytest.mark.parametrize("section", [RANKING, SAME, LEVERS, ADVISOR])
def test_stopped_work_waits_and_goes_on_when_asked(section):
    app = opened(COMPARE.path, data="liver", **FEW)
    app.session_state["_trials_stopped"] = Stopped()
    app.select_slider(key="w_epsilon").set_value(0.5)  # nothing is known yet
    clean(turn(app, section))
    button = next(one for one in app.button if one.label == "Go on")
    assert app.get("progress")
    clean(button.click().run())
    assert not app.get("progress")
    assert app.get("plotly_chart")


def test_an_advice_is_loaded_with_one_click_and_stays_first():
    app = clean(on(ADVISOR, data="two_features"))
    words = text(app).replace("\\", "")
    assert "Recommended: mean, exact, ellipse, 99 % to sleep. Its error is " in words
    assert "; the design as it stands (mean, exact, 80 % to sleep) has 92 % more error" in words
    assert "expected error: noise and the bias of clipping" in words
    app.button(key="compare_load_0").click().run()
    loaded = link(clean(app))
    assert loaded == {"data": "two_features", "trials": "6", "share": "0.99", "bound": "even"}
    assert "Keep your design: mean, exact, ellipse, 99 % to sleep" in text(app).replace("\\", "")
    assert app.button(key="compare_load_0").disabled
    any_other(app).set_value(3).run()
    app.button(key="compare_load_other").click().run()
    assert link(clean(app)) != loaded


def test_an_advice_by_trials_says_what_each_lever_gained():
    words = text(clean(on(ADVISOR, data="cardiotocography"))).replace("\\", "")
    assert "covariance, exact, ellipse" in words
    assert "From an error of" in words


def test_it_is_said_which_designs_forget_the_directions_that_are_needed():
    app = clean(on(ADVISOR, data="two_features", query="mean", task="reconstruction", judged="needed",
                   directions="random", allocation="binary", favoured="1"))
    assert FORGETS_DIRECTIONS in text(app)
    helped = {one.label: one.help for one in app.button if str(one.key).startswith("compare_load_")}
    equal = next(label for label in helped if "equal shares" in label)
    assert helped[equal] == FORGETS_DIRECTIONS
    assert FORGETS_DIRECTIONS not in text(clean(on(ADVISOR, data="two_features", judged="needed", query="mean")))


def test_only_the_needed_cannot_be_loaded_and_it_is_said_what_to_do():
    app = clean(on(ADVISOR, data="two_features", query="identity", judged="everything", epsilon="0.5"))
    kept = [one for one in app.button if ", only " in one.label]
    assert kept
    assert all(one.disabled for one in kept)
    assert "leave the others out on the page Data" in kept[0].help


def test_the_levers_show_the_engine_s_numbers_with_and_without_each():
    app = clean(on(LEVERS, data="liver", bound="even"))
    found = levers(Scenario.from_query(link(app)), sample("liver"))
    bars = next(one for one in spec(app)["data"] if one["type"] == "bar")
    assert len(bars["base"]) == len(found.steps) + 1
    shown = next(frame.value for frame in app.dataframe if "does the lever help?" in frame.value.columns)
    rows = dict(zip(shown["design"], shown["mean error"], strict=True))
    assert rows["this design, with all levers"] == found.design.outcome.mean
    assert rows["without the bound"] == next(one for one in found.without if one.lever == "bound").outcome.mean
    assert list(shown["mean error"]) == sorted(shown["mean error"])
    assert "From an error of" in text(app)
    assert "missed most" in text(app)


def any_other(app):
    return next(one for one in app.selectbox if one.key.startswith("compare_other"))


def test_the_other_designs_are_those_of_the_sensitivity_chosen_and_the_one_chosen_stays():
    app = clean(on(ADVISOR, data="liver"))
    first = any_other(app)
    at = next(k for k, option in enumerate(first.options) if "covariance, Theorem 1, 75 %" in option)  # tried on both
    first.set_value(at).run()
    design = any_other(app).options[at].split(". ", 1)[1].rsplit(": ", 1)[0]
    app.segmented_control(key="compare_s2").set_value("printed").run()
    second = any_other(clean(app))
    assert second.options != first.options
    assert second.key != first.key  # or the browser would go on showing an entry of the other list
    assert second.options[second.value].split(". ", 1)[1].rsplit(": ", 1)[0] == design
    shown = next(frame.value for frame in app.dataframe if "split" in frame.value.columns)
    for option in second.options:
        place, name = option.rsplit(": ", 1)[0].split(". ", 1)
        row = shown[shown["place"] == int(place)].iloc[0]
        assert name == ", ".join(filter(None, row[["query", "guarantee", "bound", "split", "use"]]))


def test_a_bundled_table_is_public_so_advice_is_about_the_data():
    assert "Computed on the data itself: not private." in text(clean(on(ADVISOR, data="liver")))


def test_the_stand_in_of_an_upload_says_where_its_ranges_are_from():
    rng = np.random.default_rng(0)
    lines = ["age,<b>dose</b>,*x*", *(f"{a:.2f},{b:.2f},{c:.2f}" for a, b, c in rng.normal(size=(80, 3)))]
    app = clean(uploaded("\n".join(lines).encode()))
    app.session_state["_all"] = True
    app.run()
    app.number_input(key="w_trials").set_value(4).run()
    app.selectbox(key="w_allocation").set_value("binary").run()
    app.multiselect(key="w_favoured").set_value([1, 2]).run()
    app.switch_page(COMPARE.path).run()
    clean(turn(app, ADVISOR))
    assert "The ranges, however, are" in text(app)
    assert "<b>dose" not in json.dumps(spec(app))
    clean(turn(app, RANKING))


@pytest.mark.parametrize(("data", "query"), [
    *(("liver", query) for query in ("identity", "covariance", "mean", "kernel")),
    *(("karate", query) for query in ("adjacency", "laplacian"))])
def test_each_query_can_be_compared_for_the_answer_itself(data, query):
    app = clean(on(data=data, query=query, task="reconstruction", judged="everything", trials="2"))
    assert app.get("plotly_chart")


@pytest.mark.parametrize("task", TASKS)
def test_each_task(task):
    app = clean(on(data="liver", task=task, trials="3"))
    assert bool(app.get("plotly_chart")) == (task != "kernel-ridge")  # which needs the table
    if task in ("kernel-ridge", "first-component"):
        clean(turn(app, ADVISOR))
        assert app.get("plotly_chart")


@pytest.mark.parametrize(("turn_to", "change"), list(zip(cycle([SAME, None, None, None, LEVERS, None, ADVISOR]), [
    *({"directions": kind} for kind in DIRECTIONS if kind not in ("standard", "upload")),
    *({"allocation": kind} for kind in ALLOCATIONS if kind not in ("binary", "manual")),
    {"allocation": "manual", "weights": "1-2-3-4-5-6"}, {"guarantee": "theorem1"}, {"guarantee": "theorem2"},
    {"guarantee": "theorem2-any"}, {"mode": "rows"}, {"epsilon": "0.001"}, {"epsilon": "1000"}], strict=False)))
def test_each_kind_of_design(turn_to, change):
    app = clean(on(data="liver", judged="everything", **FEW | {"trials": "2"} | change))
    assert "this design" in json.dumps(spec(app)["layout"]["yaxis"]["ticktext"])
    if turn_to:
        clean(turn(app, turn_to))
