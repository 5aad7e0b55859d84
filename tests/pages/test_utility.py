"""The page Utility: every task and tab, without a browser; its numbers are the engine's."""

from collections import Counter
from dataclasses import replace

import pytest

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.pictures.utility import quantile_dots
from mvgviz.scenario import resolve
from mvgviz.scenario.tasks import TASKS
from mvgviz.trials import problem, run
from mvgviz.trials.first_trial import first_trial
from mvgviz.trials.problem import pose
from mvgviz.trials.run import run_trials
from mvgviz.trials.tasks import PREPARE
from mvgviz.ui import session, slices
from mvgviz.ui.menu import UTILITY
from tests.datasets import make_dataset
from tests.pages.app import adjust, change, opened, press, put, with_table
from tests.pages.shown import assert_says, chart, clean, keyed, link, numbers, said

SWEEP, SETS, DRAW = "Over epsilon", "Choice of directions", "True against noisy"
TABS = (SWEEP, SETS, DRAW)


@pytest.fixture(autouse=True)
def _few_epsilons(monkeypatch):
    monkeypatch.setattr("mvgviz.trials.sweeps._USUAL", (0.1, 1.0, 10.0))


def on(tab=DRAW, **parameters):
    """The page with few trials; the last tab, which runs none, is open unless another is asked for."""
    return opened(UTILITY.path, state={"utility_section": tab}, **{"trials": "8"} | parameters)


def turn(app, tab):
    return clean(put(app, utility_section=tab))


def keys(app):
    return {element.proto.id.rsplit("-", 1)[-1] for element in app.get("plotly_chart")}


def traces(app, key):
    return {trace.get("name"): trace for trace in chart(clean(app), key)["data"]}


@pytest.mark.parametrize("parameters", [
    {"data": "liver", "epsilon": "2", "seed": "3"}, {"data": "movement_simulated", "trials": "200"},
    {"data": "liver", "query": "identity", "task": "kernel-ridge", "trials": "30", "post": "none"}])
def test_the_figure_shows_what_the_engine_computes_from_the_exported_scenario(parameters):
    app = on(**parameters)
    scenario, drawn = Scenario.from_query(link(app)), traces(app, "utility_dots")
    expected = run_trials(scenario, sample(scenario.data))
    for key, name in (("mvg", "directional"), ("iid", "equal noise")):
        outcome, mean = expected[key], drawn[f"{name}, mean"]
        dots = numbers(drawn[name]["customdata"])
        assert dots == pytest.approx(quantile_dots(outcome.errors, len(dots)))
        assert numbers(mean["customdata"])[0] == pytest.approx([outcome.mean, outcome.half_width])
        assert mean["x"][0] == pytest.approx(outcome.mean)
    labels = " ".join(note["text"] for note in chart(app, "utility_dots")["layout"]["annotations"])
    assert all(name in labels for name in ("no privacy", "random guess", "no-data baseline"))


def test_the_sweep_shows_what_the_engine_computes():
    app = clean(on(SWEEP, data="liver", epsilon="0.7"))
    scenario = Scenario.from_query(link(app))
    curve = traces(app, "utility_sweep")["directional"]
    epsilons = numbers(curve["x"])
    assert epsilons.tolist() == [0.1, 0.7, 1.0, 10.0]
    for epsilon, mean in zip(epsilons, numbers(curve["y"]), strict=True):
        found = run_trials(scenario.changed(epsilon=float(epsilon)), sample("liver"), mechanisms=["mvg"])
        assert mean == pytest.approx(found["mvg"].mean)


def test_the_sets_show_what_the_engine_computes():
    app = clean(on(SETS, data="liver"))
    rows = traces(app, "utility_sets")
    assert {"sgpt + drinks", "sgpt", "drinks", "all but sgpt + drinks", "equal noise"} <= set(rows)
    alone = run_trials(Scenario.from_query(link(app)).changed(priority_directions=(2,)), sample("liver"),
                       mechanisms=["mvg"])
    assert rows["sgpt"]["x"][0] == pytest.approx(alone["mvg"].mean)
    assert rows["sgpt + drinks"]["x"][0] == pytest.approx(
        traces(app, "utility_dots")["directional, mean"]["x"][0])


def test_the_draw_is_the_first_trial():
    app = on(data="liver")
    assert "One draw, for you alone: it is never released" in said(app)
    expected = first_trial(pose(Scenario.from_query(link(app)), sample("liver")))
    assert numbers(chart(app, "utility_noisy")["data"][0]["z"]).reshape(6, 6) == pytest.approx(expected.noisy)
    assert numbers(traces(app, "utility_predictions")["noisy"]["y"]) == pytest.approx(expected.predictions.noisy)


RIDGES = {"kernel-ridge", "linear-ridge"}
FITTING = [
    ("liver", "identity", TASKS), ("liver", "covariance", set(TASKS) - {"kernel-ridge"}),
    ("liver", "mean", ["reconstruction"]), ("two_features", "kernel", set(TASKS) - RIDGES),
    ("movement_simulated", "covariance", RIDGES - {"kernel-ridge"}), ("karate", "laplacian", set(TASKS) - RIDGES)]
EXTRA = {"first-component": "utility_loadings", "covariance-estimation": "utility_captured",
         "subspace": "utility_captured", "kernel-ridge": "utility_predictions", "linear-ridge": "utility_predictions"}


@pytest.mark.parametrize(("data", "query", "tasks"), FITTING, ids=[f"{data}-{query}" for data, query, _ in FITTING])
def test_every_query_and_task_that_fit_are_measured_and_drawn(data, query, tasks):
    app = on(data=data, query=query, task="reconstruction", label="0", trials="4", judged="everything")
    for task in sorted(tasks):
        assert_says(change(app, task=task), [
            "Mean error", "Computed on the data itself: not private.",
            "private mean of the label" if task in RIDGES else "no-data baseline"], [" nan"])
        assert {"utility_dots", "utility_true", "utility_noisy", EXTRA.get(task, "utility_dots")} <= keys(app)


@pytest.mark.parametrize(("parameters", "sentence"), [
    ({"data": "liver", "query": "mean", "task": "first-component"}, "needs a table or a symmetric answer"),
    ({"data": "liver", "label": "77"}, "must be one of the 6 columns"),
    ({"data": "karate", "task": "linear-ridge"}, "ask for the table or its covariance"),
    ({"data": "movement_simulated", "query": "identity", "task": "kernel-ridge", "label": "0"}, "choose linear ridge"),
    ({"data": "cardiotocography", "query": "kernel", "task": "subspace", "judged": "everything"}, "at most 400 rows")])
def test_a_bad_combination_gets_a_sentence_and_a_way_out(parameters, sentence):
    app = on(**parameters)
    for tab in TABS:
        turn(app, tab)
        assert sentence in said(app)
        assert not app.get("plotly_chart")
    assert keyed(app, "button", "trials_fix") or "label" in sentence


def test_the_way_out_leads_to_a_chart():
    app = on(data="liver", query="mean")
    assert Scenario.from_query(link(press(app, "trials_fix_query_mode_covariance_auto"))).query == "covariance"
    assert "utility_dots" in keys(app)
    assert "utility_dots" in keys(press(change(app, task="kernel-ridge"), "trials_fix_task_linear-ridge"))
    assert "utility_dots" in keys(press(change(app, query="mean"), "trials_fix_task_reconstruction"))


def test_theorem_2_for_a_table_gets_a_sentence():
    app = on(data="liver", query="identity", guarantee="theorem2")
    assert not app.exception
    assert "needs a positive semi" in " ".join(element.value for element in app.error)


def test_one_trial_works_on_every_tab():
    app = on(data="liver", trials="1")
    for tab in TABS:
        assert_says(put(app, utility_section=tab), ["one trial, so no interval", "One trial cannot tell"])


NEEDED = {"data": "liver", "query": "mean", "task": "reconstruction"}
SAID = {
    "regression says which records and which delta": ({"data": "liver"}, [
        "Trials learn from 248 records and test on 97 others (δ = 10⁻⁶).", "more on noisier features",
        "one private mean of the label"], []),
    "other tasks hold nothing out": ({"data": "movement_simulated"}, [], ["held out"]),
    "the headline is in the unit of one that is needed": ({"data": "two_features"}, [" h on sleep"], []),
    "the headline is in percent of several": (NEEDED, ["% of the range on sgpt and drinks"], []),
    "every trial finds private directions": (NEEDED | {"directions": "private"}, [
        "very trial finds its own private directions", "% of the range ("], [])}


@pytest.mark.parametrize(("parameters", "parts", "absent"), SAID.values(), ids=SAID)
def test_the_page_says(parameters, parts, absent):
    assert_says(on(**parameters), parts, absent)


def test_sets_are_added_refused_and_removed_and_the_scenario_s_new_one_joins():
    app = on(SETS, data="liver")
    for chosen in ([0, 2], [2, 0]):
        press(adjust(app, **{"utility_new 6": chosen}), "utility_add")
        assert "mcv + sgpt" in traces(app, "utility_sets")
        assert ("This set is there already" in said(app)) == (chosen == [2, 0])
    assert "alkphos" in traces(adjust(app, w_priority=[1]), "utility_sets")
    sets = app.multiselect(key="utility_compared").value
    assert "sgpt" not in traces(adjust(app, utility_compared=[one for one in sets if one != (2,)]), "utility_sets")
    assert "equal noise" in traces(adjust(app, utility_compared=[]), "utility_sets")
    assert "mcv + sgpt" not in traces(turn(turn(app, SWEEP), SETS), "utility_sets")


def test_the_best_set_is_taken_over_with_one_click():
    app = on(SETS, data="liver", query="covariance", task="linear-ridge", label="5", priority_directions="0",
             share="0.95", trials="100")
    assert "all but mcv" in chart(app, "utility_sets")["layout"]["yaxis"]["ticktext"][0]
    assert app.button(key="utility_take").label == "Use the best set: all but mcv"
    assert Scenario.from_query(link(press(app, "utility_take"))).priority_directions == (1, 2, 3, 4, 5)
    assert not keyed(app, "button", "utility_take")


def test_work_gets_on_however_short_a_slice_is(monkeypatch):
    monkeypatch.setitem(slices.begin.__kwdefaults__, "seconds", -1.0)
    app = clean(on(data="liver", trials="200"))
    assert "200 trials" in said(app)
    assert not keyed(app, "button", ("go_on", "stop"))


def test_nothing_is_computed_again(monkeypatch):
    app, calls, measure = on(SWEEP, data="liver"), [], run.measure
    monkeypatch.setattr(run, "measure", lambda problems, **k: calls.extend(problems) or measure(problems, **k))
    app.run()
    turn(app, SETS)
    computed = len(calls)
    turn(turn(app, SWEEP), SETS)
    assert len(calls) == computed > 0
    assert all(point.mechanisms != ("mvg", "iid") for point in calls)


@pytest.mark.parametrize(("parameters", "tab", "builds"), [
    ({"data": "movement_simulated"}, DRAW, 1),  # the page's own setup is that of the trials
    ({"data": "liver"}, DRAW, 2),  # regression learns from some records only: one setup for them, one for all
    ({"data": "karate"}, SWEEP, 1)])  # the other epsilons are known
def test_a_moved_slider_derives_everything_once(parameters, tab, builds, monkeypatch):
    def counted(name, function):
        return lambda *args, **more: calls.update([name]) or function(*args, **more)

    app, calls = on(tab, **parameters), Counter()
    for module in (session, problem):
        monkeypatch.setattr(module, "build", counted("build", resolve.build))
    monkeypatch.setattr(resolve, "design_noise", counted("design_noise", resolve.design_noise))
    for key, prepare in PREPARE.items():
        monkeypatch.setitem(PREPARE, key, counted("prepare", prepare))
    assert "utility_dots" in keys(adjust(app, w_epsilon=0.5))
    assert calls["build"] == builds
    assert calls["design_noise"] <= 3 * builds  # equal shares, the design, and equal noise
    assert calls["prepare"] <= 1


class _Slow(dict):
    """Every trial takes a minute."""

    def get(self, *_):
        return 60.0


def test_long_work_in_a_tab_waits_for_a_click():
    app = put(on(DRAW, data="liver"), _utility_rates=_Slow())
    assert "This chart takes about" in said(turn(app, SWEEP))
    assert "utility_sweep" in keys(clean(keyed(app, "button", "go_on utility_sweep")[0].click().run()))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 30), (2, 3), (40, 5)])
def test_odd_sizes_are_answered_on_every_tab(m, n):
    app = with_table(UTILITY, make_dataset(m, n), label=0, trials=2)
    for task in ("reconstruction", "linear-ridge"):
        change(app, task=task)
        for tab in TABS:
            turn(app, tab)
    if n == 1:
        assert "at least 4 records" in said(app)


def test_huge_values_are_answered_on_every_tab():
    huge = replace(make_dataset(2, 50), matrix=make_dataset(2, 50).matrix * 1e59, lower=-1e59, upper=1e59)
    app = with_table(UTILITY, huge, scale="declared", trials=2, query="identity")
    for tab in TABS:
        assert not put(app, utility_section=tab).exception


def test_a_task_is_chosen_on_the_page():
    app = on(data="liver")
    assert "utility_loadings" in keys(adjust(app, w_task="first-component"))
    scenario = Scenario.from_query(link(adjust(app, w_task="kernel-ridge")))
    assert (scenario.task, scenario.query) == ("kernel-ridge", "identity")
    assert Scenario.from_query(link(adjust(app, w_label=2))).label == 2
    assert "clip" not in Scenario.from_query(link(adjust(app, w_post_clip=False))).post


@pytest.mark.parametrize("task", ["first-component", "covariance-estimation", "subspace"])
def test_components_about_0_are_called_so_and_those_about_the_mean_are_offered(task):
    app = on(data="liver", task=task, trials="2")
    assert "about 0, not about the mean" in said(app)
    assert link(press(app, "task_about_mean"))["query"] == "moments"
    assert "about the mean" in said(app)
    assert "about 0" not in said(app).replace("else about 0", "")
    assert not keyed(app, "button", "task_about_mean")
    assert "about the mean" not in said(on(data="karate", task=task, trials="2")).replace("about the mean where", "")


def test_equal_shares_have_the_same_error_not_0_percent_more():
    app = on("Priority and other", data="two_features", allocation="uniform")
    assert_says(app, ["the same error"], ["0 % more error"])
