"""Every page, dataset, query and control, without a browser."""

import gc
import json

import numpy as np
import pytest

from mvgviz import Dataset, Scenario
from mvgviz.data import samples
from mvgviz.ui.lesson.scenes import SCENES, rule_picture
from mvgviz.ui.menu import DATA, HOME, PAGES, PRESENT
from tests.pages.app import CSV, clean, component, link, opened, spec, strip, text, uploaded

PATHS = [page.path for page in PAGES]


@pytest.mark.parametrize(("path", "data"), [(path, samples()[k % len(samples())]) for k, path in enumerate(PATHS)])
def test_pages_open_from_a_link_to_each_dataset(path, data):
    app = clean(opened(path, data=data))
    assert link(app) == {"data": data}


ASKED = [*(("liver", query) for query in ("identity", "covariance", "mean", "kernel")),
         *(("karate", query) for query in ("adjacency", "laplacian"))]
# Two questions a page, each question on several pages; the monkey asks the others.
PAIRS = [(path, *ASKED[(k + half) % len(ASKED)]) for k, path in enumerate(PATHS) for half in (0, 3)]


@pytest.mark.parametrize(("path", "data", "query"), PAIRS)
def test_pages_answer_each_query(path, data, query):
    app = clean(opened(path, data=data, query=query))
    assert Scenario.from_query(link(app)).query == query


CONTROLS = [
    ("select_slider", "w_epsilon", 0.1, {"epsilon": "0.1"}),
    ("select_slider", "w_delta", 1e-5, {"delta": "1e-05"}),
    ("selectbox", "w_query", "mean", {"query": "mean"}),
    ("selectbox", "w_scale", "unit", {"scale": "unit"}),
    ("selectbox", "w_mode", "rows", {"mode": "rows"}),
    ("selectbox", "w_directions", "rotation", {"directions": "rotation"}),
    ("selectbox", "w_directions", "eigenvectors", {"directions": "eigenvectors"}),
    ("selectbox", "w_directions", "private", {"directions": "private"}),
    ("selectbox", "w_directions", "random", {"directions": "random"}),
    ("selectbox", "w_allocation", "uniform", {"allocation": "uniform"}),
    ("selectbox", "w_allocation", "max-pnr", {"allocation": "max-pnr"}),
    ("selectbox", "w_allocation", "least-error", {"allocation": "least-error"}),
    ("multiselect", "w_favoured", [1, 3], {"favoured": "1-3"}),
    ("slider", "w_share", 55, {"share": "0.55"}),
    ("number_input", "w_trials", 25, {"trials": "25"}),
    ("number_input", "w_seed", 9, {"seed": "9"}),
    ("button", "w_guarantee_theorem1", None, {"guarantee": "theorem1"}),
    ("button", "w_guarantee_theorem2", None, {"guarantee": "theorem2"}),
    ("button", "w_guarantee_theorem2-any", None, {"guarantee": "theorem2-any"}),
    ("button", "w_draw", None, {"seed": "1"}),
]


def test_each_control_changes_the_scenario_and_the_address():
    app = opened(DATA.path, everything=True, data="liver")
    for kind, key, value, expected in CONTROLS:
        app.button(key="w_reset").click().run()
        widget = getattr(app, kind)(key=key)
        clean((widget.click() if kind == "button" else widget.set_value(value)).run())
        assert link(app) == {"data": "liver"} | expected
        if kind != "button":
            assert getattr(app, kind)(key=key).value == value


def test_the_tail_is_chosen_for_theorems_only():
    app = opened(everything=True, data="liver", guarantee="theorem1")
    app.selectbox(key="w_tail").set_value("exact-chi").run()
    assert link(clean(app)) == {"data": "liver", "guarantee": "theorem1", "tail": "exact-chi"}
    app.button(key="w_guarantee_exact").click().run()
    assert app.selectbox(key="w_tail").disabled


def test_controls_of_directions_follow_their_kind():
    app = opened(everything=True, data="liver", directions="rotation")
    app.slider(key="w_angle").set_value(60).run()
    app.number_input(key="w_plane_1").set_value(4).run()
    assert link(clean(app)) == {"data": "liver", "directions": "rotation", "angle": "60", "plane": "0-3"}
    app.number_input(key="w_plane_0").set_value(4).run()  # the same feature twice: the two swap
    assert link(clean(app))["plane"] == "3-0"
    app.selectbox(key="w_directions").set_value("private").run()
    app.slider(key="w_private_share").set_value(40).run()
    assert link(clean(app))["private_share"] == "0.4"


def test_delta_is_one_click_from_one_over_n_and_one_from_the_usual():
    app = opened(everything=True, data="liver")
    assert "δ = 1e-6" in strip(app)
    caution = "δ is 1/n: a mechanism could publish one record, chosen at random, as it is and still pass."
    assert app.button(key="w_one_over_n").help == caution
    assert caution not in text(app)
    app.button(key="w_one_over_n").click().run()
    assert float(link(clean(app))["delta"]) == 1 / 345
    assert "δ = 1/345" in strip(app)
    assert caution in text(app)
    assert app.button(key="w_one_over_n").disabled
    app.button(key="w_usual_delta").click().run()
    assert link(clean(app)) == {"data": "liver"}
    assert caution not in text(app)


def test_a_graphs_one_over_n_speaks_of_edges():
    assert "publish one edge, chosen" in text(opened(everything=True, data="karate", delta="0.1"))


def test_theorem_2_is_disabled_with_its_reason():
    app = opened(everything=True, data="liver", query="identity")
    assert app.button(key="w_guarantee_theorem2").disabled
    assert "Theorem 2 needs a positive semi-definite query; identity is not." in text(app)
    app.selectbox(key="w_query").set_value("covariance").run()
    assert not app.button(key="w_guarantee_theorem2").disabled


def test_theorem_2_gives_way_when_the_query_does():
    app = opened(everything=True, data="liver", guarantee="theorem2")
    app.selectbox(key="w_query").set_value("identity").run()
    assert link(clean(app)) == {"data": "liver", "query": "identity", "guarantee": "theorem1"}


def test_manual_parts_always_sum_and_locked_ones_stay():
    app = opened(everything=True, data="liver")
    app.selectbox(key="w_allocation").set_value("manual").run()
    app.checkbox(key="w_lock_1").check().run()
    before = app.slider(key="w_part_1").value
    app.slider(key="w_part_0").set_value(50.0).run()
    parts = [int(part) for part in link(clean(app))["weights"].split("-")]
    assert parts[0] / sum(parts) == pytest.approx(0.5, abs=1e-3)
    assert app.slider(key="w_part_1").value == before
    assert sum(app.slider(key=f"w_part_{k}").value for k in range(6)) == pytest.approx(100, abs=0.3)


def test_manual_split_of_many_directions_shows_those_searched_for():
    app = opened(everything=True, data="cardiotocography")
    app.selectbox(key="w_allocation").set_value("manual").run()
    assert len([s for s in app.slider if s.key.startswith("w_part_")]) == 3
    app.multiselect(key="w_shown").set_value([20, 7]).run()
    app.slider(key="w_part_20").set_value(30.0).run()
    assert "The other 19 share" in text(clean(app))


def test_simple_view_has_four_controls():
    app = opened(data="liver")
    keys = {widget.key for kind in ("selectbox", "select_slider", "multiselect", "slider") for widget in app.get(kind)}
    assert keys == {"w_data", "w_epsilon", "w_favoured", "w_share"}


def test_choosing_nothing_splits_equally():
    app = opened(data="liver")
    app.multiselect(key="w_favoured").set_value([]).run()
    assert link(clean(app)) == {"data": "liver", "allocation": "uniform", "favoured": "none"}
    app.multiselect(key="w_favoured").set_value([2]).run()
    assert Scenario.from_query(link(app)).allocation == "binary"


def test_some_of_the_needed_may_matter_more():
    app = opened(data="liver")
    app.number_input(key="w_importance_5").set_value(3).run()
    assert link(clean(app)) == {"data": "liver", "importance": "1-3"}
    app.number_input(key="w_importance_5").set_value(1).run()
    assert link(clean(app)) == {"data": "liver"}
    app.number_input(key="w_importance_2").set_value(2).run()
    app.multiselect(key="w_favoured").set_value([2]).run()
    assert "importance" not in link(clean(app))
    assert not [box for box in app.number_input if (box.key or "").startswith("w_importance")]


def test_changing_the_data_starts_from_its_defaults_and_keeps_epsilon():
    app = opened(data="liver", epsilon="0.1", query="mean")
    app.selectbox(key="w_data").set_value("karate").run()
    assert link(clean(app)) == {"data": "karate", "epsilon": "0.1"}


def test_reset_goes_back_to_the_defaults():
    app = opened(data="liver", epsilon="0.1", share="0.5", seed="4")
    app.button(key="w_reset").click().run()
    assert link(clean(app)) == {"data": "liver"}


def test_a_scenario_survives_the_way_through_the_pages():
    app = opened(data="liver", epsilon="0.3")
    app.switch_page(DATA.path).run()
    assert link(clean(app)) == {"data": "liver", "epsilon": "0.3"}
    app.select_slider(key="w_epsilon").set_value(2.0).run()
    app.switch_page(HOME.path).run()
    assert app.select_slider(key="w_epsilon").value == 2.0


def test_a_broken_link_says_what_was_ignored():
    app = clean(opened(data="liver", epsilon="lots", colour="red"))
    assert "epsilon in the link must be a number" in text(app)
    assert "a scenario has no field colour" in text(app)
    assert link(app) == {"data": "liver"}
    assert "not here" in text(clean(opened(data="nosuchdata")))


def test_a_link_to_an_upload_asks_for_the_file():
    app = opened(data="upload-0123456789ab")
    assert "choose it again" in app.error[0].value
    app.switch_page(DATA.path).run()
    assert not app.exception
    assert app.file_uploader


def test_home_s_sentence_follows_the_share():
    app = opened()
    assert "0.79× equal noise on sleep and 1.6× on score" in text(app)
    app.slider(key="w_share").set_value(50).run()
    assert "the same circle" in text(clean(app))


def test_home_draws_the_class_on_the_axes_of_the_lesson():
    app = clean(opened())
    drawn = component(app, "home_rule")
    assert drawn["names"] == list(rule_picture(SCENES[2].shape(0.8)).names)
    assert drawn["model"]["theta"] == pytest.approx([0.8, 0.2])
    assert "Private = every corner inside" in text(app)
    drawn, words = component(clean(opened(data="liver", query="mean")), "home_rule"), text(
        opened(data="liver", query="mean"))
    assert drawn["model"]["groups"] == [2, 4]  # it stands for all that are needed, and for all others
    assert "These two of 6 take 45 % of the budget" in words


def test_home_has_the_trade_off_where_there_is_one():
    app = clean(opened())
    assert component(app, "home_trade_off")["here"]["x"] == pytest.approx((0.5 / 0.8) ** 0.5)
    assert "is 1.12 times the least possible" in text(app)
    assert "1.12 times the least possible" in strip(app)
    graph = clean(opened(data="karate"))
    assert "trade_off" not in " ".join(one.proto.id for one in graph.get("bidi_component"))
    assert "least possible" not in strip(graph)


def test_printed_and_exact_stand_side_by_side_on_home():
    assert "Theorem 1, as printed, asks for" in text(opened())


def test_what_is_not_private_is_flagged():
    app = opened(data="liver", directions="eigenvectors", allocation="max-pnr")
    assert strip(app).count("not private") == 2


def test_an_uploaded_table_becomes_the_data():
    app = clean(uploaded(CSV.encode()))
    assert link(app)["data"].startswith("upload-")
    assert "2 features × 60 records" in text(app)
    assert "not private" in text(app)
    app.button(key="upload_know_all").click().run()
    assert "proposed from the data, accepted" in strip(app)
    app.switch_page(HOME.path).run()
    clean(app)


@pytest.mark.parametrize(("content", "message"), [
    (b"", "empty"), (b"a,b\n", "record"), (b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG"),
    (b"a,a\n1,2\n3,4\n", "a"), (b"a,b\n1,2\n3\n", "row")])
def test_a_bad_file_gets_a_sentence_and_nothing_is_lost(content, message):
    app = opened(DATA.path, data="liver")
    app.file_uploader(key="upload_file").set_value(("bad.csv", content, "text/csv"))
    app.run()
    assert not app.exception
    assert message in " ".join(element.value for element in app.error)
    assert link(app) == {"data": "liver"}
    assert "6 features × 345 records" in text(app)


def test_column_names_cannot_act():
    wild = "<script>alert(1)</script>"
    content = f'"{wild}",":red[*x*]"\n' + "".join(f"{i},{i * i % 17}\n" for i in range(40))
    app = clean(uploaded(content.encode()))
    blocks = [element.value for kind in ("markdown", "caption") for element in app.get(kind)]
    assert not any(wild in block for block in blocks)
    assert not any("<script" in block.proto.body for block in app.get("html"))
    for position in range(len(app.get("plotly_chart"))):
        assert "<script" not in json.dumps(spec(app, position))


def test_an_uploaded_graph_gets_graph_queries():
    graph = np.zeros((6, 6), dtype=int)
    for i in range(5):
        graph[i, i + 1] = graph[i + 1, i] = 1
    lines = [",".join(f"v{i}" for i in range(6))] + [",".join(map(str, row)) for row in graph]
    app = clean(uploaded("\n".join(lines).encode()))
    assert link(app)["query"] == "laplacian"
    app.session_state["_all"] = True
    app.run()
    assert set(app.selectbox(key="w_query").options) >= {"Adjacency matrix of the graph", "Laplacian of the graph"}


@pytest.mark.soak
def test_two_hundred_features_stay_usable():
    rng = np.random.default_rng(0)
    lines = [",".join(f"x{i}" for i in range(200)), *(",".join(f"{v:.3f}" for v in row) for row in rng.normal(
        size=(30, 200)))]
    app = clean(uploaded("\n".join(lines).encode()))
    assert "200 features × 30 records" in text(app)
    app.session_state["_all"] = True
    app.run()
    app.selectbox(key="w_allocation").set_value("manual").run()
    app.multiselect(key="w_shown").set_value([150]).run()
    app.slider(key="w_part_150").set_value(60.0).run()
    assert "The other 199 share 40.0 %" in text(clean(app))
    app.selectbox(key="w_directions").set_value("random").run()
    for path in PATHS:
        clean(app.switch_page(path).run())


def test_a_single_number_is_an_answer_too():
    app = clean(uploaded(b"age\n" + b"".join(b"%d\n" % (20 + i) for i in range(30))))
    app.session_state["_all"] = True
    app.run()
    app.selectbox(key="w_query").set_value("mean").run()
    for path in PATHS:
        clean(app.switch_page(path).run())


def test_directions_come_from_a_file_and_a_bad_one_is_refused():
    app = opened(everything=True, data="two_features", directions="upload")
    assert "upload them again" in app.error[0].value
    bad = b"1,0\n0,2\n"
    app.file_uploader(key="w_direction_file").set_value(("w.csv", bad, "text/csv")).run()
    assert any("orthonormal" in element.value for element in app.error)
    good = b"0.6,-0.8\n0.8,0.6\n"
    app.file_uploader(key="w_direction_file").set_value(("w.csv", good, "text/csv")).run()
    clean(app)


def test_a_label_can_be_chosen_for_an_uploaded_table():
    app = clean(uploaded(CSV.encode()))
    app.selectbox(key="upload_label").set_value("dose").run()
    assert link(clean(app))["label"] == "1"


def test_records_in_columns_can_be_chosen_with_ranges():
    rows = ["f,r1,r2,r3", "height,150,160,170", "weight,50,60,70"]
    app = uploaded("\n".join(rows).encode())
    app.radio(key="upload_orientation").set_value("columns").run()
    assert "2 features × 3 records" in text(clean(app))
    app.button(key="upload_know_all").click().run()
    assert "proposed from the data, accepted" in strip(clean(app))


def test_a_table_that_was_replaced_is_let_go():
    app = uploaded(CSV.encode())
    for number in range(8):
        app.multiselect(key="upload_columns").set_value(["age"] if number % 2 == 0 else ["age", "dose"]).run()
        clean(app.switch_page(HOME.path).run())
        clean(app.switch_page(DATA.path).run())
    gc.collect()
    alive = [found for found in gc.get_objects() if isinstance(found, Dataset) and "age" in found.features]
    assert len({id(found.matrix) for found in alive}) <= 4


@pytest.mark.parametrize("path", [*PATHS, PRESENT.path])
def test_nothing_is_shown_before_a_login(path, monkeypatch):
    monkeypatch.setenv("MVGVIZ_LOGIN", "yes")
    app = clean(opened(path, data="liver"))
    assert [one.label for one in app.button] == ["Log in"]
    assert not app.get("plotly_chart")
    assert not app.get("bidi_component")
    assert not app.sidebar.children
