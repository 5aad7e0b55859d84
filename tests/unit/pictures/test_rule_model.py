"""What the browser computes while an ellipse is dragged is what the engine computes afterwards."""

import math

import numpy as np
import pytest

from mvgviz import Scenario, covariance, design_noise, identity, manual, mean, random_rotation, rotation
from mvgviz.pictures.rule import iid_std, moved, rule_model
from mvgviz.scenario.resolve import build
from tests.datasets import make_dataset

DATA = make_dataset(4, 30, lower=[-1, 0, -2, 1], upper=[1, 3, 1, 4])
THETA = np.array([0.4, 0.3, 0.2, 0.1])


def turned(query, theta, angle, **choices):
    directions = rotation(4, (0, 1), angle) if angle else None
    return design_noise(query, epsilon=1, delta=1e-3, theta=theta, directions=directions, **choices)


@pytest.mark.parametrize("query", [identity, mean])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
@pytest.mark.parametrize("angle", [0.0, 0.3, -1.1])
def test_a_drag_of_a_table_s_noise_is_predicted_exactly(query, guarantee, angle):
    asked = query(DATA)
    model = rule_model(turned(asked, THETA, 0.2, guarantee=guarantee), (0, 1), of_directions=False)
    assert not model.rough
    new = THETA.copy()
    new[:2] = [0.55, 0.15]
    after = rule_model(turned(asked, new, angle, guarantee=guarantee), (0, 1), of_directions=False)
    assert moved(model, (0.55, 0.15), angle) == pytest.approx(after.std, rel=1e-9)
    assert after.angle == pytest.approx(angle)


@pytest.mark.parametrize("query", [identity, covariance])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_a_drag_that_moves_nothing_changes_nothing(query, guarantee):
    design = turned(query(DATA), THETA, 0.4, guarantee=guarantee)
    for of_directions in (False, True):
        model = rule_model(design, (0, 1), of_directions=of_directions)
        assert moved(model, model.theta, model.angle) == pytest.approx(model.std, rel=1e-9)


def test_a_covariance_s_drag_is_called_rough_under_the_exact_guarantee():
    assert rule_model(turned(covariance(DATA), THETA, 0), (0, 1), of_directions=False).rough


def test_axes_and_angle_rebuild_the_covariance(rng):
    design = design_noise(identity(DATA), epsilon=1, delta=1e-3, theta=manual([1, 2, 3, 4]),
                          directions=random_rotation(4, rng=rng))
    model = rule_model(design, (1, 3), of_directions=False)
    assert model.kind == "fixed"
    c, s = math.cos(model.angle), math.sin(model.angle)
    turn = np.array([[c, -s], [s, c]])
    rebuilt = turn @ np.diag(np.square(model.std)) @ turn.T
    assert rebuilt == pytest.approx(design.row_covariance()[np.ix_([1, 3], [1, 3])])


def test_with_both_sides_the_column_s_own_variance_enters():
    design = turned(covariance(DATA), THETA, 0)
    model = rule_model(design, (0, 2), of_directions=False)
    assert model.std == pytest.approx(design.noise_std()[[0, 2], 2])
    assert iid_std(design_noise(covariance(DATA), epsilon=1, delta=1e-3, guarantee="theorem1"), 0) > 0


def test_two_directions_are_shown_along_the_axes(rng):
    design = design_noise(identity(DATA), epsilon=1, delta=1e-3, theta=manual([1, 2, 3, 4]),
                          directions=random_rotation(4, rng=rng))
    model = rule_model(design, (2, 0), of_directions=True)
    assert (model.angle, model.can_turn) == (0, False)
    assert model.std == pytest.approx(np.sqrt(design.row_variances[[2, 0]]))


def bounded(query, parts, **choices):
    scenario = Scenario(data="two_features", query=query, scale="declared", bound="even", allocation="manual",
                        weights=parts, **choices)
    return build(scenario, DATA)


def model_of(setup, **choices):
    return rule_model(setup.design, (0, 1), of_directions=False, split=setup.split, **choices)


@pytest.mark.parametrize("query", ["identity", "mean"])
@pytest.mark.parametrize("angle", [0.0, 20.0, -65.0])
def test_a_drag_of_the_one_shape_of_records_and_noise_is_predicted_exactly(query, angle):
    model = model_of(bounded(query, (40, 30, 20, 10), directions="rotation", angle=10.0))
    assert (model.kind, model.rough) == ("bounded", False)
    after = bounded(query, (55, 15, 20, 10), **({"directions": "rotation", "angle": angle} if angle else {}))
    predicted = moved(model, (0.55, 0.15), math.radians(angle))
    assert predicted == pytest.approx(model_of(after).std, rel=1e-9)
    ellipse = after.query.bound.ellipse(4)
    axes = ellipse.radius / ellipse.weights[:2]
    assert [model.records * std for std in predicted] == pytest.approx(axes.tolist(), rel=1e-9)


@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
@pytest.mark.parametrize("query", ["identity", "mean", "covariance"])
@pytest.mark.parametrize("directions", ["standard", "rotation", "random"])
def test_noise_has_the_very_shape_of_the_ellipse_of_records(query, directions, guarantee):
    setup = bounded(query, (4, 3, 2, 1), directions=directions, guarantee=guarantee)
    model, ellipse = model_of(setup), setup.query.bound.ellipse(4)
    noise = model.across * setup.design.row_covariance()
    assert ellipse.inverse @ ellipse.inverse.T == pytest.approx(model.records**2 * noise, rel=1e-9)


def test_a_plane_of_directions_has_the_ellipse_too():
    setup = bounded("identity", (4, 3, 2, 1), directions="random")
    model, ellipse = rule_model(setup.design, (2, 0), of_directions=True, split=setup.split), setup.query.bound
    assert moved(model, model.theta, 0.0) == pytest.approx(model.std, rel=1e-9)
    axes = ellipse.radius / ellipse.weights[[2, 0]]
    assert [model.records * std for std in model.std] == pytest.approx(axes.tolist())
