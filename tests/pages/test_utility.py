"""The page Utility: every dataset, task and tab, without a browser; its numbers are the engine's."""

import base64
import json
from collections import Counter
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.pictures.utility import quantile_dots
from mvgviz.scenario.scenario import TASKS
from mvgviz.study.source import DataSource
from mvgviz.trials.first_trial import first_trial
from mvgviz.trials.question import pose
from mvgviz.trials.run import run_trials
from mvgviz.ui import slices
from mvgviz.ui.menu import UTILITY
from mvgviz.ui.session import Upload
from tests.datasets import make_dataset
from tests.pages.app import clean, link, opened, text, uploaded

SWEEP, SETS, DRAW = "Over epsilon", "Choice of directions", "True against noisy"
TABS = (SWEEP, SETS, DRAW)


@pytest.fixture(autouse=True)
def _few_epsilons(monkeypatch):
    monkeypatch.setattr("mvgviz.trials.favoured_sets._EPSILONS", (0.1, 1.0, 10.0))


def on(tab=DRAW, **parameters):
    """The page with few trials; the last tab, which runs none, is open unless another is asked for."""
    return opened(UTILITY.path, state={"utility_section": tab}, **{"trials": "8"} | parameters)


def turn(app, tab):
    app.session_state["utility_section"] = tab
    return app.run()


def change(app, **changes):
    """As a control would."""
    app.session_state["_scenario"] = app.session_state["_scenario"].changed(**changes)
    app.session_state["_touched"] = True
    return app.run()


def figure(app, key):
    """The Plotly spec of one chart."""
    for element in app.get("plotly_chart"):
        if element.proto.id.endswith(f"-{key}"):
            return json.loads(element.proto.spec)
    raise AssertionError(f"no chart {key}")


def keys(app):
    return {element.proto.id.rsplit("-", 1)[-1] for element in app.get("plotly_chart")}


def numbers(values):
    """An array of a spec, which may be packed."""
    if isinstance(values, dict):
        flat = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
        return flat.reshape([int(n) for n in values["shape"].split(",")]) if "shape" in values else flat
    return np.array(values, dtype=float)


def traces(spec):
    return {trace["name"]: trace for trace in spec["data"]}


@pytest.mark.parametrize("parameters", [
    {"data": "liver", "epsilon": "2", "seed": "3"}, {"data": "movement_simulated", "trials": "200"},
    {"data": "liver", "query": "identity", "task": "kernel-ridge", "trials": "30", "post": "none"}])
def test_the_figure_shows_what_the_engine_computes_from_the_exported_scenario(parameters):
    app = clean(on(**parameters))
    scenario = Scenario.from_query(link(app))
    expected = run_trials(scenario, sample(scenario.data))
    drawn = traces(figure(app, "utility_dots"))
    for key, name in (("mvg", "directional"), ("iid", "equal noise")):
        outcome = expected[key]
        dots = numbers(drawn[name]["customdata"])
        assert dots == pytest.approx(quantile_dots(outcome.errors, len(dots)))
        assert numbers(drawn[f"{name}, mean"]["customdata"])[0] == pytest.approx([outcome.mean, outcome.half_width])
        assert drawn[f"{name}, mean"]["x"][0] == pytest.approx(outcome.mean)
    labels = " ".join(note["text"] for note in figure(app, "utility_dots")["layout"]["annotations"])
    assert all(name in labels for name in ("without privacy", "random guess", "answer without data"))


def test_the_sweep_shows_what_the_engine_computes():
    app = clean(on(SWEEP, data="liver", epsilon="0.7"))
    scenario = Scenario.from_query(link(app))
    curve = traces(figure(app, "utility_sweep"))["directional"]
    epsilons = numbers(curve["x"])
    assert epsilons.tolist() == [0.1, 0.7, 1.0, 10.0]
    for epsilon, mean in zip(epsilons, numbers(curve["y"]), strict=True):
        found = run_trials(scenario.changed(epsilon=float(epsilon)), sample("liver"), mechanisms=["mvg"])
        assert mean == pytest.approx(found["mvg"].mean)


def test_the_sets_show_what_the_engine_computes():
    app = clean(on(SETS, data="liver"))
    rows = traces(figure(app, "utility_sets"))
    assert {"sgpt + drinks", "sgpt", "drinks", "all but sgpt + drinks", "equal noise (none)"} <= set(rows)
    alone = run_trials(Scenario.from_query(link(app)).changed(favoured=(2,)), sample("liver"), mechanisms=["mvg"])
    assert rows["sgpt"]["x"][0] == pytest.approx(alone["mvg"].mean)
    assert rows["sgpt + drinks"]["x"][0] == pytest.approx(
        traces(figure(app, "utility_dots"))["directional, mean"]["x"][0])


def test_the_draw_is_the_first_trial():
    app = clean(on(data="liver"))
    scenario = Scenario.from_query(link(app))
    expected = first_trial(pose(scenario, sample("liver")))
    assert numbers(figure(app, "utility_noisy")["data"][0]["z"]).reshape(6, 6) == pytest.approx(expected.noisy)
    assert numbers(traces(figure(app, "utility_predictions"))["noisy"]["y"]) == pytest.approx(
        expected.predictions.noisy)
    assert "One draw, for you alone: no part of any release" in text(app)


RIDGES = {"kernel-ridge", "linear-ridge"}
FITTING = [
    ("two_features", "identity", TASKS), ("two_features", "covariance", set(TASKS) - {"kernel-ridge"}),
    ("two_features", "mean", ["reconstruction"]), ("two_features", "kernel", set(TASKS) - RIDGES),
    ("liver", "identity", TASKS), ("liver", "covariance", set(TASKS) - {"kernel-ridge"}),
    ("liver", "mean", ["reconstruction"]), ("cardiotocography", "identity", set(TASKS) - {"kernel-ridge"}),
    ("cardiotocography", "covariance", set(TASKS) - {"kernel-ridge"}), ("cardiotocography", "mean", ["reconstruction"]),
    ("movement_simulated", "identity", set(TASKS) - {"kernel-ridge"}),
    ("movement_simulated", "covariance", set(TASKS) - {"kernel-ridge"}),
    ("karate", "adjacency", set(TASKS) - RIDGES), ("karate", "laplacian", set(TASKS) - RIDGES)]
EXTRA = {"first-component": "utility_loadings", "covariance-estimation": "utility_captured",
         "subspace": "utility_captured", "kernel-ridge": "utility_predictions", "linear-ridge": "utility_predictions"}


@pytest.mark.parametrize(("data", "query", "tasks"), FITTING, ids=[f"{data}-{query}" for data, query, _ in FITTING])
def test_every_dataset_and_task_that_fit_are_measured_and_drawn(data, query, tasks):
    app = on(data=data, query=query, task="reconstruction", label="0", trials="4", judged="everything")
    for task in sorted(tasks):
        clean(change(app, task=task))
        assert {"utility_dots", "utility_true", "utility_noisy", EXTRA.get(task, "utility_dots")} <= keys(app)
        said = text(app).replace("\\", "")
        assert ("Typical error" if task == "reconstruction" and query in ("identity", "mean") else "Mean error") in said
        assert "Computed on the data itself: not private." in said
        assert ("Private mean: predicting for everyone" if task in RIDGES else "answer without data") in said
        assert " nan" not in said


@pytest.mark.parametrize(("parameters", "sentence"), [
    ({"data": "liver", "query": "mean", "task": "first-component"}, "needs a table or a symmetric answer"),
    ({"data": "liver", "query": "mean"}, "needs the table or its covariance"),
    ({"data": "liver", "label": "none"}, "needs a label"),
    ({"data": "liver", "label": "77"}, "must be one of the 6 features"),
    ({"data": "liver", "task": "kernel-ridge"}, "needs the records one by one"),
    ({"data": "karate", "task": "linear-ridge"}, "needs the table or its covariance"),
    ({"data": "movement_simulated", "query": "identity", "task": "kernel-ridge", "label": "0"}, "choose linear ridge"),
    ({"data": "cardiotocography", "query": "kernel", "task": "subspace", "judged": "everything"}, "at most 400 rows")])
def test_a_bad_combination_gets_a_sentence_and_a_way_out(parameters, sentence):
    app = on(**parameters)
    for tab in TABS:
        clean(turn(app, tab))
        assert sentence in text(app).replace("\\", "")
        assert not app.get("plotly_chart")
    assert [button for button in app.button if (button.key or "").startswith("trials_fix")] or "label" in sentence


def test_the_way_out_leads_to_a_chart():
    app = on(data="liver", query="mean")
    app.button(key="trials_fix_query_mode_covariance_auto").click().run()
    assert Scenario.from_query(link(clean(app))).query == "covariance"
    assert "utility_dots" in keys(app)
    change(app, task="kernel-ridge")
    app.button(key="trials_fix_task_linear-ridge").click().run()
    assert "utility_dots" in keys(clean(app))
    change(app, query="mean")
    app.button(key="trials_fix_task_reconstruction").click().run()
    assert "utility_dots" in keys(clean(app))


def test_theorem_2_for_a_table_gets_a_sentence():
    app = on(data="liver", query="identity", guarantee="theorem2")
    assert not app.exception
    assert "needs a positive semi" in " ".join(element.value for element in app.error)


def test_one_trial_works_on_every_tab():
    app = on(data="liver", trials="1")
    for tab in TABS:
        clean(turn(app, tab))
        assert "one trial, so no interval" in text(app)
        assert "one trial cannot tell" in text(app)


@pytest.mark.parametrize(("choices", "tab"), list(zip([
    *({"guarantee": guarantee} for guarantee in ("theorem1", "theorem2", "theorem2-any")),
    *({"directions": kind} for kind in ("rotation", "eigenvectors", "private", "random")),
    *({"allocation": split} for split in ("uniform", "max-pnr", "least-error")),
    {"mode": "rows"}, {"query": "identity", "mode": "columns", "task": "reconstruction"}, {"favoured": "none"},
    {"epsilon": "1000"}, {"epsilon": "0.001", "delta": "1e-12"}], cycle(TABS), strict=False)))
def test_every_choice_is_answered(choices, tab):
    chart = dict(zip(TABS, ("utility_sweep", "utility_sets", "utility_noisy"), strict=True))[tab]
    assert {"utility_dots", chart} <= keys(clean(on(tab, data="liver", trials="2", **choices)))


def test_regression_says_which_records_and_which_delta():
    said = text(on(data="liver")).replace("\\", "")
    assert ("Learned from 248 records, measured on 97 held out, so the noise differs a little from the line above; "
            "δ = 1e-6.") in said
    assert "more on noisier features" in said
    assert "a private mean of the label" in said
    assert "held out" not in text(on(data="movement_simulated"))


def test_sets_are_added_refused_and_removed():
    app = on(SETS, data="liver")
    app.multiselect(key="utility_new 6").set_value([0, 2]).run()
    app.button(key="utility_add").click().run()
    assert "mcv + sgpt" in traces(figure(clean(app), "utility_sets"))
    assert app.multiselect(key="utility_new 6").value == []
    app.multiselect(key="utility_new 6").set_value([2, 0]).run()
    app.button(key="utility_add").click().run()
    assert "This set is there already" in text(clean(app)).replace("\\", "")
    sets = app.multiselect(key="utility_compared").value
    app.multiselect(key="utility_compared").set_value([one for one in sets if one != (2,)]).run()
    assert "sgpt" not in traces(figure(clean(app), "utility_sets"))
    app.multiselect(key="utility_compared").set_value([]).run()
    assert "equal noise (none)" in traces(figure(clean(app), "utility_sets"))
    turn(app, SWEEP)
    assert "mcv + sgpt" not in traces(figure(clean(turn(app, SETS)), "utility_sets"))


def test_the_best_set_is_taken_over_with_one_click():
    app = on(SETS, data="liver", query="covariance", task="linear-ridge", label="5", favoured="0", share="0.95",
             trials="100")
    assert "all but mcv" in figure(app, "utility_sets")["layout"]["yaxis"]["ticktext"][0]
    assert app.button(key="utility_take").label == "Take over the best set: all but mcv"
    app.button(key="utility_take").click().run()
    assert Scenario.from_query(link(clean(app))).favoured == (1, 2, 3, 4, 5)
    assert "utility_take" not in {button.key for button in app.button}


def test_the_headline_is_in_the_unit_of_what_is_needed():
    assert " h on sleep" in text(clean(on(data="two_features")))
    assert "% of each range on sgpt and drinks" in text(clean(on(data="liver", query="mean", task="reconstruction")))
    app = on(data="liver", query="mean", task="reconstruction", directions="private")
    assert "found anew in every trial" in text(clean(app))
    assert "% of each range (" in text(app)


def test_the_scenario_s_new_set_joins_those_compared():
    app = on(SETS, data="liver")
    app.multiselect(key="w_favoured").set_value([1]).run()
    assert "alkphos" in traces(figure(clean(app), "utility_sets"))


def test_work_gets_on_however_short_a_slice_is(monkeypatch):
    monkeypatch.setitem(slices.begin.__kwdefaults__, "seconds", -1.0)
    app = clean(on(data="liver", trials="200"))
    assert "200 trials" in text(app)
    assert not [button for button in app.button if (button.key or "").startswith(("go_on", "stop"))]


def test_work_can_be_stopped_and_goes_on():
    app = opened(data="liver", trials="100000")
    app.session_state["utility_section"] = DRAW
    app.session_state["_trials_stopped"] = _Everything()
    app.switch_page(UTILITY.path).run()
    assert not app.exception
    go_on = [button for button in app.button if (button.key or "").startswith("go_on utility liver")]
    assert [button.label for button in go_on] == ["Go on"]
    app.session_state["_trials_stopped"] = set()
    change(app, trials=20)
    assert "20 trials" in text(clean(app))
    assert not [button for button in app.button if (button.key or "").startswith(("go_on", "stop"))]


class _Everything(set):
    """A set that holds whatever is asked for: all work is stopped."""

    def __contains__(self, item):
        return True


def test_nothing_is_computed_again(monkeypatch):
    app = on(SWEEP, data="liver")
    calls = []
    from mvgviz.trials import resumable

    measure = resumable.measure
    monkeypatch.setattr(resumable, "measure", lambda points, **k: calls.extend(points) or measure(points, **k))
    app.run()
    turn(app, SETS)
    computed = len(calls)
    turn(app, SWEEP)
    clean(turn(app, SETS))
    assert len(calls) == computed
    assert computed
    assert all(point.mechanisms != ("mvg", "iid") for point in calls)


@pytest.mark.parametrize(("parameters", "tab", "builds"), [
    ({"data": "movement_simulated"}, DRAW, 1),  # the page's own setup is that of the trials
    ({"data": "liver"}, DRAW, 2),  # regression learns from some records only: one setup for them, one for all
    ({"data": "karate"}, SWEEP, 1)])  # the other epsilons are known
def test_a_moved_slider_derives_everything_once(parameters, tab, builds, monkeypatch):
    from mvgviz.scenario import resolve
    from mvgviz.trials import question
    from mvgviz.trials.tasks import TASKS as MEASURED
    from mvgviz.ui import session

    app = on(tab, **parameters)
    calls = Counter()

    def counted(name, function):
        return lambda *args, **more: calls.update([name]) or function(*args, **more)

    for module in (session, question):
        monkeypatch.setattr(module, "build", counted("build", resolve.build))
    monkeypatch.setattr(resolve, "design_noise", counted("design_noise", resolve.design_noise))
    for key, task in MEASURED.items():
        monkeypatch.setitem(MEASURED, key, replace(task, prepare=counted("prepare", task.prepare)))
    app.select_slider(key="w_epsilon").set_value(0.5)
    clean(app.run())
    assert "utility_dots" in keys(app)
    assert calls["build"] == builds
    assert calls["design_noise"] <= 3 * builds  # equal shares, the design, and equal noise
    assert calls["prepare"] <= 1


def test_long_work_in_a_tab_waits_for_a_click():
    app = on(DRAW, data="liver")
    app.session_state["_utility_rates"] = _Slow()
    clean(turn(app, SWEEP))
    assert "min of work for this chart" in text(app)
    button = next(button for button in app.button if (button.key or "").startswith("go_on utility_sweep"))
    button.click().run()
    assert "utility_sweep" in keys(clean(app))


class _Slow(dict):
    """Every trial takes a minute."""

    def get(self, *_):
        return 60.0


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 30), (2, 3), (40, 5)])
def test_odd_sizes_are_answered_on_every_tab(m, n):
    own = Upload(data_name="upload-000000000000", version="0", dataset=make_dataset(m, n),
                 source=DataSource(name="odd.csv"))
    app = opened()
    app.session_state["_upload"] = own
    for task in ("reconstruction", "linear-ridge"):
        app.session_state["_scenario"] = Scenario.default_for(own.data_name).changed(task=task, label=0, trials=2)
        app.session_state["_touched"] = True
        app.switch_page(UTILITY.path)
        for tab in TABS:
            clean(turn(app, tab))
    if n == 1:
        assert "at least 4 records" in text(app)


def test_wild_column_names_cannot_act_here():
    wild = "<script>alert(1)</script>"
    content = f'"{wild}",":red[*x*]","=1+1"\n' + "".join(f"{i},{i * i % 17},{i % 5}\n" for i in range(40))
    app = uploaded(content.encode())
    app.session_state["_scenario"] = app.session_state["_scenario"].changed(
        trials=4, task="linear-ridge", label=1, allocation="binary", favoured=(0, 1))
    app.session_state["_touched"] = True
    app.switch_page(UTILITY.path)
    for tab in TABS:
        clean(turn(app, tab))
        blocks = [element.value for kind in ("markdown", "caption") for element in app.get(kind)]
        assert not any(wild in block or ":red[" in block for block in blocks)
        assert not any(wild in button.label for button in app.button)
        for element in app.get("plotly_chart"):
            assert "<script" not in element.proto.spec


def test_a_task_is_chosen_on_the_page():
    app = on(data="liver")
    app.selectbox(key="w_task").set_value("first-component").run()
    assert "utility_loadings" in keys(clean(app))
    app.selectbox(key="w_task").set_value("kernel-ridge").run()
    scenario = Scenario.from_query(link(clean(app)))
    assert (scenario.task, scenario.query) == ("kernel-ridge", "identity")
    app.selectbox(key="w_label").set_value(2).run()
    assert Scenario.from_query(link(clean(app))).label == 2
    app.checkbox(key="w_post_clip").uncheck().run()
    assert "clip" not in Scenario.from_query(link(clean(app))).post


def test_huge_values_are_answered_on_every_tab():
    data = make_dataset(2, 50)
    huge = replace(data, matrix=data.matrix * 1e59, lower=-1e59, upper=1e59)
    own = Upload(data_name="upload-111111111111", version="1", dataset=huge, source=DataSource(name="huge.csv"))
    app = opened()
    app.session_state["_upload"] = own
    app.session_state["_scenario"] = Scenario.default_for(own.data_name).changed(scale="declared", trials=2,
                                                                                 query="identity")
    app.session_state["_touched"] = True
    app.switch_page(UTILITY.path)
    for tab in TABS:
        assert not turn(app, tab).exception


@pytest.mark.parametrize("task", ["first-component", "covariance-estimation", "subspace"])
def test_components_about_0_are_called_so_and_those_about_the_mean_are_offered(task):
    app = clean(opened(UTILITY.path, data="liver", task=task, trials="2"))
    assert "about 0, not about the mean" in text(app)
    app.button(key="task_about_mean").click().run()
    assert link(clean(app))["query"] == "moments"
    assert "about the mean" in text(app)
    assert "about 0" not in text(app).replace("else about 0", "")
    assert not [button for button in app.button if button.key == "task_about_mean"]
    assert "about the mean" not in text(clean(opened(UTILITY.path, data="karate", task=task, trials="2"))).replace(
        "about the mean where", "")


def test_equal_shares_have_the_same_error_not_0_percent_more():
    said = text(clean(opened(UTILITY.path, data="two_features", allocation="uniform", trials="5")))
    assert "0 % more error" not in said
    assert "the same error" in said
