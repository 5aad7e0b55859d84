"""The page Compare: every section, what cannot be compared, and loading an advice."""

import pytest

from mvgviz.data import sample
from mvgviz.pictures.advice import FORGETS_DIRECTIONS
from mvgviz.scenario.scenario import TASKS
from mvgviz.trials.levers import levers
from mvgviz.trials.run import run_trials
from mvgviz.ui.menu import COMPARE, UTILITY
from tests.pages.app import adjust, change, opened, press, put, to, uploaded
from tests.pages.shown import assert_says, clean, frame, keyed, link, said, scenario, spec

RANKING, SAME, LEVERS, ADVISOR = "All mechanisms", "Same error", "Lever by lever", "Advisor"
FEW = {"trials": "6"}


def on(section=RANKING, **parameters):
    return opened(COMPARE.path, state={"compare_section": section}, **FEW | parameters)


def turn(app, section):
    return clean(put(app, compare_section=section))


@pytest.mark.parametrize(("data", "section"), [("two_features", SAME), ("karate", LEVERS), ("karate", ADVISOR)])
def test_every_section_finishes_by_itself_with_one_chart(data, section):
    app = on(section, data=data)
    assert "not private" in said(app) or "not be private" in said(app)
    assert len(app.get("plotly_chart")) == 1
    assert not app.get("progress")


def ranked(app):
    return frame(clean(app), "mechanism").set_index("mechanism")


def test_the_ranking_shows_the_engine_s_numbers_with_one_sensitivity_for_all():
    app = on(data="liver")
    assert_says(app, ["times the lowest possible Gaussian noise"])
    shown = ranked(app)
    results = run_trials(scenario(app), sample("liver"), mechanisms=["mvg-exact", "laplace"], sensitivity="tight")
    for outcome in results.outcomes:
        row = shown.loc[outcome.mechanism.label]
        assert (row["mean error"], row["95 % to"]) == (outcome.mean, outcome.interval[1])
    dot = next(one for one in spec(app)["data"] if one.get("name") == "Laplace (ε alone), trials only")
    assert (dot["x"][0], dot["marker"]["symbol"]) == (pytest.approx(results["laplace"].mean), "diamond")
    assert shown.loc["Gaussian, classic"]["epsilon really spent"] == pytest.approx(0.784, abs=1e-3)
    adjust(app, compare_s2="printed")
    assert ranked(app)["mean error"]["Gaussian, analytic"] > shown["mean error"]["Gaussian, analytic"]
    assert "tight and as printed are the same" in said(on(data="karate"))


def test_what_does_not_apply_is_listed_with_its_reason():
    app = clean(on(data="two_features"))
    assert "Not in the chart: 10, and why" in [one.label for one in app.expander]
    assert_says(app, ["**Laplace, upper triangle**: noise on the upper triangle needs a symmetric answer",
                      "**Gaussian, classic**: its proof needs ε below 1"])
    assert "its proof needs" not in said(on(data="two_features", epsilon="0.5"))


def test_the_switch_leaves_only_those_that_beat_the_trivial_answer():
    assert not keyed(on(data="karate"), "toggle", "compare_zoom")  # nothing beats all zeros
    app = on(data="karate", epsilon="15")
    shown = ranked(app)
    best = shown[shown["beats the no-data baseline"] == "yes"]["mean error"].nunique()  # twins are drawn once
    assert best > 1
    assert app.toggle(key="compare_zoom").label == f"Only the {best} that beat the no-data baseline"
    assert len(spec(adjust(app, compare_zoom=True))["layout"]["yaxis"]["ticktext"]) == best


@pytest.mark.parametrize(("section", "changes", "sentence"), [
    (RANKING, {"query": "mean"}, "Linear ridge cannot use the mean query"),
    (SAME, {"label": "none"}, "Regression needs a label"),
    (LEVERS, {"task": "kernel-ridge"}, "Kernel ridge needs the records one by one")])
def test_what_cannot_be_measured_is_said_with_a_way_out(section, changes, sentence):
    app = on(section, data="liver", **changes)
    for other in (RANKING, SAME, LEVERS, section):
        assert any(sentence in one.value for one in turn(app, other).info)
    assert link(press(app, "trials_fix_task_reconstruction"))["task"] == "reconstruction"
    assert app.get("plotly_chart")


def test_the_advisor_finds_a_query_where_the_scenario_s_does_not_serve():
    words = said(on(ADVISOR, data="liver", query="mean"))
    assert any(f"**Recommended:** {query}, exact" in words for query in ("covariance", "mean and second moments"))
    assert "designs dropped: regression needs a label" in said(on(ADVISOR, data="liver", label="none"))


def test_one_trial_has_no_interval_and_no_verdict():
    app = on(data="liver", trials="1")
    assert_says(app, ["1 trial, so no interval", "**no clear difference**"])
    turn(app, SAME)


def test_the_same_error_starts_at_this_design_and_is_read_across():
    def drawn():
        return next(one for one in app.multiselect if one.label == "Mechanisms drawn")

    app = on(SAME, data="liver")
    assert "needs the lowest ε: " in said(app)
    slider = next(one for one in app.select_slider if one.label == "Wanted error")
    design = run_trials(scenario(app), sample("liver"), mechanisms=["mvg-exact"], sensitivity="tight")["mvg-exact"]
    assert slider.value == pytest.approx(design.mean, rel=5e-3)
    assert [one["x"][0] for one in spec(app)["data"] if one.get("yaxis") == "y2" and one["mode"] == "markers"]
    assert len(drawn().value) == 6
    assert "Laplace needs the lowest" in said(drawn().set_value(["laplace"]).run())
    assert any("Choose at least one mechanism" in one.value for one in clean(drawn().set_value([]).run()).info)


class Stopped(set):
    """Whatever is asked for was stopped, until it is let go."""

    released = False

    def __contains__(self, key):
        return not self.released

    def discard(self, key):
        self.released = True


@pytest.mark.parametrize(("page", "section"), [
    *((COMPARE, section) for section in (RANKING, SAME, LEVERS, ADVISOR)), (UTILITY, "True against noisy")])
def test_stopped_work_waits_and_goes_on_when_asked(page, section):
    app = opened(page.path, data="liver", **FEW)
    app.session_state["_trials_stopped"] = Stopped()
    app.select_slider(key="w_epsilon").set_value(0.5)  # nothing is known yet
    clean(put(app, compare_section=section, utility_section=section))
    button = next(one for one in app.button if one.label == "Go on")
    assert app.get("progress")
    clean(button.click().run())
    assert not app.get("progress")
    assert app.get("plotly_chart")


def test_an_advice_is_loaded_with_one_click_and_stays_first():
    app = on(ADVISOR, data="two_features")
    assert_says(app, ["**Recommended:** mean, box noise, ", "Box noise is lower for up to ",
                      "the best attacker is right 70 times in 100, against 55 with Gaussian noise. Other columns get "])
    assert_says(put(app, compare_gaussian=True), [
        "**Recommended:** mean, exact, ellipse, 99 % to sleep. Its error is ",
        "expected error (noise and clipping bias)",
        ". Your design (mean, exact, 80 % to sleep) has 92 % more error"])
    loaded = link(press(app, "compare_load_0"))
    assert loaded == {"data": "two_features", "trials": "6", "share": "0.99", "bound": "even"}
    assert "**Keep your design:** mean, exact, ellipse, 99 % to sleep" in said(app)
    assert app.button(key="compare_load_0").disabled
    any_other(app).set_value(3).run()
    assert link(press(app, "compare_load_other")) != loaded


def test_it_is_said_which_designs_forget_the_directions_that_are_needed():
    app = clean(on(ADVISOR, data="two_features", query="mean", task="reconstruction", judged="priority",
                   directions="random", allocation="binary", priority_directions="1"))
    assert FORGETS_DIRECTIONS in said(app)
    helped = {one.label: one.help for one in keyed(app, "button", "compare_load_")}
    equal = next(label for label in helped if "equal shares" in label)
    assert helped[equal] == FORGETS_DIRECTIONS
    assert FORGETS_DIRECTIONS not in said(on(ADVISOR, data="two_features", judged="priority", query="mean"))


def test_only_the_needed_cannot_be_loaded_and_it_is_said_what_to_do():
    app = clean(on(ADVISOR, data="two_features", query="identity", judged="everything", epsilon="0.5"))
    kept = [one for one in app.button if ", only " in one.label]
    assert {one.disabled for one in kept} == {True}
    assert "leave the others out on Data & query" in kept[0].help


def test_the_levers_show_the_engine_s_numbers_with_and_without_each():
    app = on(LEVERS, data="liver", bound="even")
    assert_says(app, ["From an error of", "is missed most"])
    found, shown = levers(scenario(app), sample("liver")), frame(app, "does the lever help?")
    assert len(next(one for one in spec(app)["data"] if one["type"] == "bar")["base"]) == len(found.steps) + 1
    rows = dict(zip(shown["design"], shown["mean error"], strict=True))
    assert rows["this design, with all levers"] == found.design.outcome.mean
    assert rows["without the bound"] == next(one for one in found.without if one.lever == "bound").outcome.mean
    assert list(shown["mean error"]) == sorted(shown["mean error"])


def any_other(app):
    return keyed(app, "selectbox", "compare_other")[0]


def test_the_other_designs_are_those_of_the_sensitivity_chosen_and_the_one_chosen_stays():
    app = on(ADVISOR, data="liver")
    assert_says(app, ["Computed on the data itself: not private.", "From an error of"])  # a bundled table is public
    first = any_other(app)
    at = next(k for k, option in enumerate(first.options) if "covariance, Theorem 1, 75 %" in option)  # tried on both
    first.set_value(at).run()
    design = any_other(app).options[at].split(". ", 1)[1].rsplit(": ", 1)[0]
    second = any_other(adjust(app, compare_s2="printed"))
    assert second.options != first.options
    assert second.key != first.key  # or the browser would go on showing an entry of the other list
    assert second.options[second.value].split(". ", 1)[1].rsplit(": ", 1)[0] == design
    shown = frame(app, "split")
    for option in second.options:
        place, name = option.rsplit(": ", 1)[0].split(". ", 1)
        row = shown[shown["place"] == int(place)].iloc[0]
        assert name == ", ".join(filter(None, row[["query", "guarantee", "bound", "split", "use"]]))


def test_the_simulated_data_of_an_upload_says_where_its_ranges_are_from():
    app = uploaded("a,b,c\n" + "".join(f"{i},{i * i % 17},{i % 5}\n" for i in range(40)))
    change(app, trials=4, allocation="binary", priority_directions=(1, 2))
    assert "read from the data" in said(turn(to(app, COMPARE), ADVISOR))


@pytest.mark.parametrize("task", TASKS)
def test_each_task(task):
    app = clean(on(data="liver", task=task, trials="3"))
    assert bool(app.get("plotly_chart")) == (task != "kernel-ridge")  # which needs the table
    if task in ("kernel-ridge", "first-component"):
        turn(app, ADVISOR)
        assert app.get("plotly_chart")
