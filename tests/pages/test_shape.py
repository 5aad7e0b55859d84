"""The page Noise shape: every panel, every size, and what a drag does to the scenario."""

import base64
import re

import numpy as np
import pytest

from mvgviz import Scenario, build
from mvgviz.data import sample
from mvgviz.errors import InputError
from mvgviz.pictures.rule import averages_model, rule_model
from mvgviz.pictures.shape import ellipsoid_points, leading_components
from mvgviz.scenario.scenario import LEAST_SHARE, MOST_SHARE
from mvgviz.text import as_number
from mvgviz.ui import rule_picture as rule_scenario
from mvgviz.ui.menu import SHAPE
from mvgviz.ui.rule_picture import RuleChange, rule, taken_share
from tests.datasets import make_dataset
from tests.pages.app import clean, link, opened, spec, text

PANELS = {"Ellipse": "equal noise", "Three features": "on these three|at least three features",
          "Covariances": "Typical error from", "Possible outcomes": "30 releases"}


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("parameters", [
    {"data": "two_features"}, {"data": "liver"}, {"data": "liver", "query": "identity", "mode": "columns"},
    {"data": "liver", "query": "mean"}, {"data": "liver", "query": "kernel"}, {"data": "cardiotocography"},
    {"data": "cardiotocography", "query": "covariance", "directions": "random"}, {"data": "karate"},
    {"data": "movement_simulated", "guarantee": "theorem2", "directions": "eigenvectors"},
    {"data": "liver", "directions": "private", "guarantee": "theorem1", "allocation": "max-pnr"},
], ids=lambda parameters: "-".join(parameters.values()))
def test_every_panel_draws_every_kind_of_answer(panel, parameters):
    app = opened(SHAPE.path, **parameters)
    app.get("button_group")[0].set_value(panel)
    clean(app.run())
    assert re.search(PANELS[panel], text(app))


def test_the_sentence_says_how_much_more_and_how_much_less():
    app = clean(opened(SHAPE.path, query="identity"))
    assert "0.79× equal noise along the best axis, 1.6× along the worst" in text(app)
    assert "the data's own spread" in text(app)


def test_a_plane_of_directions_can_be_chosen():
    app = opened(SHAPE.path, data="liver", directions="random")
    assert "their shadow" in text(clean(app))
    app.get("button_group")[1].set_value("directions")
    assert "Pull a round handle to change the split" in text(clean(app.run()))


def test_the_same_feature_twice_is_mended():
    app = opened(SHAPE.path, data="liver")
    app.selectbox(key="shape_x_False").set_value(3).run()
    app.selectbox(key="shape_y_False").set_value(3).run()
    assert "Across and up are the same" in text(clean(app))


def test_toggles_redraw():
    app = opened(SHAPE.path, data="liver", query="identity")
    app.toggle(key="shape_data").set_value(True).run()
    app.selectbox(key="shape_useful").set_value("along the data (not private)").run()
    clean(app)
    assert link(app) == {"data": "liver", "query": "identity"}


def test_ellipsoid_holds_95_percent(rng):
    covariance = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 0.7]])
    surface = ellipsoid_points(covariance).reshape(3, -1)
    inverse = np.linalg.inv(covariance)
    level = np.einsum("ip,ij,jp->p", surface, inverse, surface)
    assert level == pytest.approx(level[0])
    draws = rng.multivariate_normal(np.zeros(3), covariance, 40_000)
    inside = np.einsum("pi,ij,pj->p", draws, inverse, draws) < level[0]
    assert inside.mean() == pytest.approx(0.95, abs=0.005)


def test_leading_components_are_unit_vectors_of_the_symmetric_part():
    matrices = np.array([[[2.0, 1.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 5.0]]])
    components = leading_components(matrices)
    assert np.linalg.norm(components, axis=1) == pytest.approx([1, 1])
    assert np.abs(components[1]) == pytest.approx([0, 1])


def test_defaults_put_what_matters_upright():
    assert Scenario.default_for("liver").favoured[0] == 2
    app = opened(SHAPE.path, data="liver")
    assert app.selectbox(key="shape_y_False").value == 2
    assert sample("liver").features[2] == "sgpt"


@pytest.mark.parametrize(("change", "expected"), [
    ({"theta": (0.05, 0.85)}, {"allocation": "manual", "weights": (500, 8500, 300, 200)}),
    ({"epsilon": 3.0}, {"epsilon": 3.0}), ({"angle": 0.5, "turned": True}, {"directions": "rotation", "angle": 28.6}),
    ({}, {})])
def test_what_is_let_go_becomes_part_of_the_scenario(change, expected, monkeypatch):
    setup = build(Scenario(scale="unit", allocation="manual", weights=(80, 15, 3, 2)), make_dataset(4, 30))
    model = rule_model(setup.design, (0, 1), of_directions=False)
    taken = {}
    monkeypatch.setattr(rule_scenario.session, "choose", lambda origin, **changes: taken.update(changes))
    monkeypatch.setattr(rule_scenario.session, "update", lambda **changes: taken.update(changes))
    same = {"theta": model.theta, "angle": 0.0, "turned": False, "epsilon": 1.0, "columns": 2}
    rule_scenario.take_change(setup, model, (0, 1), RuleChange(**same | change))
    assert taken | expected == taken
    assert bool(taken) is bool(change)


def test_a_control_that_is_none_is_refused():
    with pytest.raises(InputError, match="controls"):
        rule(averages_model((1, 1), epsilon=1, delta=1e-3, share=0.8), key="k", names=("a", "b"), alt="",
             controls=("size",))


@pytest.mark.parametrize("share", [0.001, 0.0101, 0.5004, 0.8666, 0.9896, 0.998])
def test_a_dragged_share_is_one_the_scenario_and_the_slider_take(share):
    taken = taken_share(share)
    assert Scenario(share=taken).share == taken
    assert abs(taken - min(max(share, LEAST_SHARE), MOST_SHARE)) <= 0.0005
    app = clean(opened(SHAPE.path, share=f"{taken:g}"))
    slider = app.slider(key="w_share")
    assert (slider.min, slider.max) == (100 * LEAST_SHARE, 100 * MOST_SHARE)
    assert slider.value == round(100 * taken)


def test_three_features_with_noise_on_both_sides_are_entries_of_one_column():
    app = clean(opened(SHAPE.path, data="liver", state={"shape_panel": "Three features"}))
    drawn = spec(app)["layout"]["scene"]
    assert [drawn[axis]["title"]["text"] for axis in ("xaxis", "yaxis", "zaxis")] == [
        "noise on mcv × sgpt", "noise on alkphos × sgpt", "noise on sgpt × sgpt"]
    design = build(Scenario.default_for("liver"), sample("liver")).design
    v = design.directional_side.variances
    std = np.sqrt(v[:3] * v[2])
    assert f"From {as_number(std.min())} to {as_number(std.max())}" in text(app)


def test_possible_components_are_those_about_the_mean_where_it_is_released_too():
    state = {"shape_panel": "Possible outcomes", "shape_outcome": "Its first principal component"}
    drawn = {query: opened(SHAPE.path, data="liver", query=query, scale="declared", state=state)
             for query in ("covariance", "moments")}
    assert "about 0, not about the mean" in text(clean(drawn["covariance"]))
    assert "about 0" not in text(clean(drawn["moments"]))
    records = sample("liver").matrix
    vector = np.linalg.svd(records - records.mean(axis=1, keepdims=True))[0][:, 0]
    loadings = spec(drawn["moments"])["data"][0]["y"]
    shown = np.frombuffer(base64.b64decode(loadings["bdata"]), dtype=loadings["dtype"])
    assert np.abs(shown) == pytest.approx(np.abs(vector), abs=1e-6)


def test_where_nothing_is_drawn_it_is_an_edge_that_can_change_a_graph():
    assert "What one edge can change has no simple outline" in text(clean(opened(SHAPE.path, data="karate")))
    assert "What one record can change has no simple outline" in text(clean(opened(SHAPE.path, query="kernel")))
