"""The page Noise shape: every panel, every size, and what a drag does to the scenario."""

import re

import numpy as np
import pytest

from mvgviz import Scenario, build
from mvgviz.data import sample
from mvgviz.pictures.rule import rule_model
from mvgviz.pictures.shape import ellipsoid_points, leading_components
from mvgviz.scenario.scenario import LEAST_SHARE, MOST_SHARE
from mvgviz.text import as_number
from mvgviz.ui import rule_picture as rule_scenario
from mvgviz.ui.menu import SHAPE
from mvgviz.ui.rule_picture import taken_share
from tests.datasets import make_dataset
from tests.pages.app import adjust, change, opened, put
from tests.pages.shown import assert_says, clean, link, numbers, said, spec, text

PANELS = {"Ellipse": "equal noise", "Three features": "Typical error.* on |at least three features",
          "Covariances": "Typical error from", "Possible outcomes": "30 possible releases"}


@pytest.mark.parametrize("parameters", [
    {"data": "two_features"}, {"data": "liver", "query": "kernel"}, {"data": "karate"}, {"data": "cardiotocography"}],
    ids=lambda parameters: "-".join(parameters.values()))
def test_every_panel_says_what_it_draws(parameters):
    app = opened(SHAPE.path, **parameters)
    for panel, words in PANELS.items():
        assert re.search(words, said(put(app, shape_panel=panel)))


@pytest.mark.parametrize(("parameters", "parts"), [
    ({"query": "identity"}, ["0.79× equal noise along the best axis, 1.6× along the worst", "the data's own spread"]),
    ({"data": "liver", "directions": "random"}, ["their shadow"]),
    ({"data": "karate"}, ["What one edge can change has no simple outline"]),
    ({"query": "kernel"}, ["What one record can change has no simple outline"])])
def test_the_page_says(parameters, parts):
    assert_says(opened(SHAPE.path, **parameters), parts)


def test_controls_of_the_picture_leave_the_scenario_alone():
    app = opened(SHAPE.path, data="liver", query="identity")
    assert app.selectbox(key="shape_y_False").value == 2 in Scenario.default_for("liver").priority_directions  # upright
    assert "Both axes are the same" in said(adjust(app, shape_x_False=3, shape_y_False=3))
    adjust(app, shape_data=True, shape_useful="along the data (not private)")
    assert link(app) == {"data": "liver", "query": "identity"}
    turned = opened(SHAPE.path, data="liver", directions="random")
    assert "Drag a round handle to change the share" in said(
        turned.get("button_group")[1].set_value("directions").run())


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
    same = {"theta": model.theta, "angle": 0.0, "turned": False, "epsilon": 1.0}
    rule_scenario.take_change(setup, model, (0, 1), **same | change)
    assert taken | expected == taken
    assert bool(taken) is bool(change)


def test_a_dragged_share_is_one_the_scenario_and_the_slider_take():
    app = opened(SHAPE.path)
    for share in (0.001, 0.0101, 0.5004, 0.8666, 0.9896, 0.998):
        taken = taken_share(share)
        assert Scenario(share=taken).share == taken
        assert abs(taken - min(max(share, LEAST_SHARE), MOST_SHARE)) <= 0.0005
        slider = change(app, share=taken).slider(key="w_share")
        assert (slider.min, slider.max) == (100 * LEAST_SHARE, 100 * MOST_SHARE)
        assert slider.value == round(100 * taken)


def test_three_features_with_noise_on_both_sides_are_entries_of_one_column():
    app = clean(opened(SHAPE.path, data="liver", state={"shape_panel": "Three features"}))
    drawn = spec(app)["layout"]["scene"]
    assert [drawn[axis]["title"]["text"] for axis in ("xaxis", "yaxis", "zaxis")] == [
        "noise on mcv × sgpt (fL·(U/L))", "noise on alkphos × sgpt ((U/L)²)", "noise on sgpt × sgpt ((U/L)²)"]
    setup = build(Scenario.default_for("liver"), sample("liver"))
    v, width = setup.design.directional_side.variances, setup.dataset.widths / setup.table.widths
    std = np.sqrt(v[:3] * v[2]) * width[:3] * width[2]
    assert all(as_number(float(size)) in text(app) for size in std)


def test_possible_components_are_those_about_the_mean_where_it_is_released_too():
    state = {"shape_panel": "Possible outcomes", "shape_outcome": "First principal component"}
    about_0, about_mean = (clean(opened(SHAPE.path, data="liver", query=query, scale="declared", state=state))
                           for query in ("covariance", "moments"))
    assert "about 0, not about the mean" in text(about_0)
    assert "about 0" not in text(about_mean)
    records = sample("liver").matrix
    vector = np.linalg.svd(records - records.mean(axis=1, keepdims=True))[0][:, 0]
    assert np.abs(numbers(spec(about_mean)["data"][0]["y"])) == pytest.approx(np.abs(vector), abs=1e-6)
