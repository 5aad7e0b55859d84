"""Every page, dataset, query and control, without a browser."""

import gc

import numpy as np
import pytest

from mvgviz import Dataset, Scenario
from mvgviz.data import samples
from mvgviz.pictures.sentences import WORDS
from mvgviz.text import as_html
from mvgviz.ui.menu import COMPARE, DATA, HOME, PAGES, PRESENT, PRIVACY
from tests.datasets import make_dataset
from tests.pages.app import CSV, adjust, choose, opened, press, put, to, uploaded, walk, with_table
from tests.pages.shown import assert_says, clean, component, keyed, link, said, strip, text

SCENARIOS = [
    {"data": "two_features"}, {"data": "two_features", "query": "mean", "epsilon": "1000"},
    {"data": "liver", "task": "linear-ridge"}, {"data": "liver", "query": "identity", "mode": "columns"},
    {"data": "liver", "query": "mean", "directions": "random", "bound": "own"}, {"data": "liver", "query": "kernel"},
    {"data": "liver", "query": "moments", "bound": "even"},
    {"data": "liver", "query": "identity", "bound": "even", "allocation": "least-error", "scale": "declared"},
    {"data": "liver", "guarantee": "theorem1", "directions": "private", "allocation": "max-pnr", "form": "unrelaxed"},
    {"data": "liver", "guarantee": "theorem2", "directions": "eigenvectors", "allocation": "max-pnr"},
    {"data": "liver", "guarantee": "theorem2-any", "tail": "exact-chi", "directions": "rotation"},
    {"data": "liver", "allocation": "manual", "weights": "1-2-3-4-5-6", "mode": "rows"},
    {"data": "liver", "allocation": "uniform", "mode": "columns", "priority_directions": "none"},
    {"data": "liver", "query": "mean", "bound": "private"},
    {"data": "liver", "epsilon": "0.002", "delta": "1e-30", "directions": "random"},
    {"data": "cardiotocography", "query": "identity", "bound": "none"},
    {"data": "movement_simulated", "guarantee": "theorem2"}, {"data": "movement_simulated", "query": "identity"},
    {"data": "karate", "query": "adjacency", "directions": "eigenvectors", "epsilon": "0.002"},
    {"data": "karate", "query": "laplacian", "guarantee": "theorem1"}]
CHARTS = {PRIVACY: 3, COMPARE: 1}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: "-".join(scenario.values()))
def test_every_page_answers_every_kind_of_scenario(scenario):
    """One session goes through all pages; which of a page's tabs is open differs from scenario to scenario."""
    app = opened(**{"task": "reconstruction", "trials": "2", "judged": "everything"} | scenario)
    for page in walk(app, turn=SCENARIOS.index(scenario)):
        assert len(app.get("plotly_chart")) == CHARTS.get(page, len(app.get("plotly_chart"))), page
    asked = Scenario.from_query(link(app))
    assert (asked.data, asked.query) == (scenario["data"], scenario.get("query", asked.query))


@pytest.mark.parametrize(("page", "data"), [(page, samples()[k % len(samples())]) for k, page in enumerate(PAGES)],
                         ids=lambda one: getattr(one, "label", one))
def test_a_page_opens_cold_from_a_link_with_a_chart_and_the_glossary(page, data):
    app = clean(opened(page.path, data=data))
    assert link(app) == {"data": data}
    assert app.get("plotly_chart") or app.get("bidi_component")
    explained = " ".join(block.proto.body for block in app.get("html"))
    assert all(as_html(word.sentence) in explained for word in WORDS)
    if page is PRIVACY:  # beside the title, and under the attacker's curve
        limit = next(word.sentence for word in WORDS if word.term == "promised limit")
        assert explained.count(as_html(limit)) == 2


CONTROLS = [
    ("select_slider", "w_epsilon", 0.1, {"epsilon": "0.1"}),
    ("select_slider", "w_delta", 1e-5, {"delta": "1e-05"}),
    ("selectbox", "w_query", "mean", {"query": "mean"}),
    ("selectbox", "w_scale", "unit", {"scale": "unit"}),
    ("selectbox", "w_mode", "rows", {"mode": "rows"}),
    *(("selectbox", "w_directions", kind, {"directions": kind}) for kind in (
        "rotation", "eigenvectors", "private", "random")),
    *(("selectbox", "w_allocation", kind, {"allocation": kind}) for kind in ("uniform", "max-pnr", "least-error")),
    ("multiselect", "w_priority", [1, 3], {"priority_directions": "1-3"}),
    ("slider", "w_share", 55, {"share": "0.55"}),
    ("number_input", "w_trials", 25, {"trials": "25"}),
    ("number_input", "w_seed", 9, {"seed": "9"}),
    *(("button", f"w_guarantee_{kind}", None, {"guarantee": kind}) for kind in (
        "theorem1", "theorem2", "theorem2-any")),
    ("button", "w_draw", None, {"seed": "1"}),
]


def test_each_control_changes_the_scenario_and_the_address_and_reset_goes_back():
    app = opened(everything=True, data="liver", epsilon="0.3", share="0.5", seed="4")
    for kind, key, value, expected in CONTROLS:
        assert link(press(app, "w_reset")) == {"data": "liver"}
        widget = getattr(app, kind)(key=key)
        clean((widget.click() if kind == "button" else widget.set_value(value)).run())
        assert link(app) == {"data": "liver"} | expected
        if kind != "button":
            assert getattr(app, kind)(key=key).value == value


def test_theorems_have_a_tail_and_theorem_2_needs_a_psd_query():
    app = opened(everything=True, data="liver", guarantee="theorem1")
    assert link(adjust(app, w_tail="exact-chi")) == {"data": "liver", "guarantee": "theorem1", "tail": "exact-chi"}
    assert press(app, "w_guarantee_exact").selectbox(key="w_tail").disabled
    press(app, "w_guarantee_theorem2").selectbox(key="w_query").set_value("identity").run()  # it gives way
    assert link(clean(app)) == {"data": "liver", "query": "identity", "guarantee": "theorem1", "tail": "exact-chi"}
    assert app.button(key="w_guarantee_theorem2").disabled
    assert app.button(key="w_guarantee_theorem2").help == "Needs a positive semi-definite query; identity is not."


def test_controls_of_directions_follow_their_kind():
    app = adjust(opened(everything=True, data="liver", directions="rotation"), w_angle=60, w_plane_1=4)
    assert link(clean(app)) == {"data": "liver", "directions": "rotation", "angle": "60", "plane": "0-3"}
    app.number_input(key="w_plane_0").set_value(4).run()  # the same feature twice: the two swap
    assert link(clean(app))["plane"] == "3-0"
    assert link(adjust(app, w_directions="private", w_private_share=40))["private_share"] == "0.4"


def test_delta_is_one_click_from_one_over_n_and_one_from_the_usual():
    app = opened(everything=True, data="liver")
    assert "δ = 10⁻⁶" in strip(app)
    caution = "δ is 1/n: a mechanism could publish one record, chosen at random, as it is and still pass."
    assert app.button(key="w_one_over_n").help == caution
    assert caution not in text(app)
    assert float(link(press(app, "w_one_over_n"))["delta"]) == 1 / 345
    assert "δ = 0.0029" in strip(app)
    assert caution in text(app)
    assert app.button(key="w_one_over_n").disabled
    assert link(press(app, "w_usual_delta")) == {"data": "liver"}
    assert caution not in text(app)
    assert "publish one edge, chosen" in text(opened(everything=True, data="karate", delta="0.1"))


def test_manual_parts_always_sum_and_locked_ones_stay():
    app = opened(everything=True, data="liver")
    before = adjust(app, w_allocation="manual", w_lock_1=True).slider(key="w_part_1").value
    parts = [int(part) for part in link(adjust(app, w_part_0=50.0))["weights"].split("-")]
    assert parts[0] / sum(parts) == pytest.approx(0.5, abs=1e-3)
    assert app.slider(key="w_part_1").value == before
    assert sum(app.slider(key=f"w_part_{k}").value for k in range(6)) == pytest.approx(100, abs=0.3)


def test_manual_split_of_many_directions_shows_those_searched_for():
    app = adjust(opened(everything=True, data="cardiotocography"), w_allocation="manual")
    assert len([s for s in app.slider if s.key.startswith("w_part_")]) == 3
    assert "The other 19 share" in text(adjust(app, w_shown=[20, 7], w_part_20=30.0))


def test_the_simple_view_has_five_controls_and_needs_can_be_none_or_matter_more():
    app = opened(data="liver")
    keys = sorted(widget.key for kind in ("selectbox", "select_slider", "multiselect", "slider")
                  for widget in app.sidebar.get(kind))
    assert keys == ["w_data", "w_epsilon", "w_priority", "w_query", "w_share"]
    for importance, said_of_it in ((3, {"importance": "1-3"}), (1, {})):
        assert link(adjust(app, w_importance_5=importance)) == {"data": "liver"} | said_of_it
    assert "importance" not in link(adjust(app, w_importance_2=2, w_priority=[2]))
    assert not keyed(app, "number_input", "w_importance")
    assert link(adjust(app, w_priority=[])) == {"data": "liver", "allocation": "uniform", "priority_directions": "none"}
    assert Scenario.from_query(link(adjust(app, w_priority=[2]))).allocation == "binary"


def test_a_scenario_survives_the_way_through_the_pages_and_other_data_keeps_epsilon_alone():
    app = to(opened(data="liver", epsilon="0.3", query="mean"), DATA)
    assert link(app) == {"data": "liver", "epsilon": "0.3", "query": "mean"}
    assert to(adjust(app, w_epsilon=2.0), HOME).select_slider(key="w_epsilon").value == 2.0
    assert link(adjust(app, w_data="karate")) == {"data": "karate", "epsilon": "2"}


def test_a_link_says_what_was_ignored_and_one_to_an_upload_asks_for_the_file():
    app = opened(data="liver", epsilon="lots", colour="red")
    assert_says(app, ["epsilon in the link must be a number", "a scenario has no field colour"])
    assert link(app) == {"data": "liver"}
    assert "not here" in said(opened(data="nosuchdata"))
    app = opened(data="upload-0123456789ab")
    assert "Choose it again" in app.error[0].value
    app.switch_page(DATA.path).run()
    assert not app.exception
    assert app.file_uploader


def test_home_s_sentence_and_pictures_follow_the_scenario():
    app = opened()
    assert_says(app, ["0.79× equal noise on sleep and 1.6× on score", "The paper's Theorem 1 uses",
                      "Private = the whole grey area inside", "is 1.12 times the lowest possible Gaussian noise"])
    assert "1.12 times the lowest possible Gaussian noise" in strip(app)
    assert component(app, "home_trade_off")["here"]["x"] == pytest.approx((0.5 / 0.8) ** 0.5)
    drawn = component(app, "home_rule")
    assert drawn["names"] == ["sleep", "score"]
    assert drawn["model"]["theta"] == pytest.approx([0.8, 0.2])
    adjust(app, w_share=50)
    assert_says(app, ["the same circle"])
    many = opened(data="liver", query="mean")
    assert_says(many, ["These two of 6 take 45 % of the budget"])
    assert component(many, "home_rule")["model"]["groups"] == [2, 4]  # all that are needed, and all others
    graph = clean(opened(data="karate"))
    assert "trade_off" not in " ".join(one.proto.id for one in graph.get("bidi_component"))
    assert "lowest possible" not in strip(graph)


def test_what_is_not_private_is_flagged():
    assert strip(opened(data="liver", directions="eigenvectors", allocation="max-pnr")).count("data: not private") == 2


def test_an_uploaded_table_becomes_the_data_and_has_a_label():
    app = uploaded(CSV)
    assert_says(app, ["2 features × 60 records", "not private"])
    assert link(app)["data"].startswith("upload-")
    assert "proposed from the data, accepted" in strip(press(app, "upload_know_all"))
    assert link(adjust(app, upload_label="dose"))["label"] == "1"


@pytest.mark.parametrize(("content", "message"), [
    (b"", "empty"), (b"a,b\n", "record"), (b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG"),
    (b"a,a\n1,2\n3,4\n", "a"), (b"a,b\n1,2\n3\n", "row")])
def test_a_bad_file_gets_a_sentence_and_nothing_is_lost(content, message):
    app = choose(opened(DATA.path, data="liver"), content, "bad.csv")
    assert not app.exception
    assert message in " ".join(element.value for element in app.error)
    assert link(app) == {"data": "liver"}
    assert "6 features × 345 records" in text(app)


def test_an_uploaded_graph_gets_graph_queries():
    graph = np.eye(6, k=1, dtype=int) + np.eye(6, k=-1, dtype=int)
    lines = [",".join(f"v{i}" for i in range(6))] + [",".join(map(str, row)) for row in graph]
    app = clean(uploaded("\n".join(lines)))
    assert link(app)["query"] == "laplacian"
    put(app, _all=True)
    assert set(app.selectbox(key="w_query").options) >= {"Adjacency matrix of the graph", "Laplacian of the graph"}


@pytest.mark.soak
def test_two_hundred_features_stay_usable():
    app = put(clean(with_table(HOME, make_dataset(200, 30))), _all=True)
    assert "The other 199 share 40.0 %" in text(adjust(app, w_allocation="manual", w_shown=[150], w_part_150=60.0))
    adjust(app, w_directions="random")
    for page in PAGES:
        to(app, page)


def test_a_single_number_is_an_answer_too():
    app = with_table(HOME, make_dataset(1, 30), query="mean")
    for page in PAGES:
        to(app, page)


def test_directions_come_from_a_file_and_a_bad_one_is_refused():
    app = opened(everything=True, data="two_features", directions="upload")
    assert "upload them again" in app.error[0].value
    choose(app, b"1,0\n0,2\n", key="w_direction_file")
    assert any("orthonormal" in element.value for element in app.error)
    clean(choose(app, b"0.6,-0.8\n0.8,0.6\n", key="w_direction_file"))


def test_a_table_that_was_replaced_is_let_go():
    def alive():
        gc.collect()
        return [found for found in gc.get_objects() if isinstance(found, Dataset) and "age" in found.features]

    others = alive()  # held, so that no identity of theirs comes again
    app = uploaded(CSV)
    for columns in (["age"], ["age", "dose"]) * 3:
        adjust(app, upload_columns=columns)
        to(to(app, HOME), DATA)
    assert len({id(found.matrix) for found in alive()} - {id(found.matrix) for found in others}) <= 4


@pytest.mark.parametrize("page", [*PAGES, PRESENT], ids=lambda page: page.label)
def test_nothing_is_shown_before_a_login(page, monkeypatch):
    monkeypatch.setenv("MVGVIZ_LOGIN", "yes")
    app = clean(opened(page.path, data="liver"))
    assert [one.label for one in app.button] == ["Log in"]
    assert not app.get("plotly_chart")
    assert not app.get("bidi_component")
    assert not app.sidebar.children
