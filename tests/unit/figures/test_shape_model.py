"""What the browser computes while an ellipse is dragged is what the engine computes afterwards."""

import math

import numpy as np
import pytest

from mvgviz import covariance, design_noise, identity, manual, mean, random_rotation, rotation
from mvgviz.figures.shape.model import iid_std, moved, shape_model
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
    model = shape_model(turned(asked, THETA, 0.2, guarantee=guarantee), (0, 1), of_directions=False)
    assert not model.rough
    new = THETA.copy()
    new[:2] = [0.55, 0.15]
    after = shape_model(turned(asked, new, angle, guarantee=guarantee), (0, 1), of_directions=False)
    assert moved(model, (0.55, 0.15), angle) == pytest.approx(after.std, rel=1e-9)
    assert after.angle == pytest.approx(angle)


@pytest.mark.parametrize("query", [identity, covariance])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_a_drag_that_moves_nothing_changes_nothing(query, guarantee):
    design = turned(query(DATA), THETA, 0.4, guarantee=guarantee)
    for of_directions in (False, True):
        model = shape_model(design, (0, 1), of_directions=of_directions)
        assert moved(model, model.theta, model.angle) == pytest.approx(model.std, rel=1e-9)


def test_a_covariance_s_drag_is_called_rough_under_the_exact_guarantee():
    assert shape_model(turned(covariance(DATA), THETA, 0), (0, 1), of_directions=False).rough


def test_axes_and_angle_rebuild_the_covariance(rng):
    design = design_noise(identity(DATA), epsilon=1, delta=1e-3, theta=manual([1, 2, 3, 4]),
                          directions=random_rotation(4, rng=rng))
    model = shape_model(design, (1, 3), of_directions=False)
    assert model.kind == "fixed"
    c, s = math.cos(model.angle), math.sin(model.angle)
    turn = np.array([[c, -s], [s, c]])
    rebuilt = turn @ np.diag(np.square(model.std)) @ turn.T
    assert rebuilt == pytest.approx(design.row_covariance()[np.ix_([1, 3], [1, 3])])


def test_with_both_sides_the_column_s_own_variance_enters():
    design = turned(covariance(DATA), THETA, 0)
    model = shape_model(design, (0, 2), of_directions=False)
    assert model.std == pytest.approx(design.noise_std()[[0, 2], 2])
    assert iid_std(design_noise(covariance(DATA), epsilon=1, delta=1e-3, guarantee="theorem1"), 0) > 0


def test_two_directions_are_shown_along_the_axes(rng):
    design = design_noise(identity(DATA), epsilon=1, delta=1e-3, theta=manual([1, 2, 3, 4]),
                          directions=random_rotation(4, rng=rng))
    model = shape_model(design, (2, 0), of_directions=True)
    assert (model.angle, model.can_turn) == (0, False)
    assert model.std == pytest.approx(np.sqrt(design.row_variances[[2, 0]]))
