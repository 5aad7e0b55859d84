"""All that one record can change lies inside the ellipse of mu standard deviations, and touches it where it says.

What the browser computes while an ellipse is dragged is what the engine computes afterwards.
"""

import math

import numpy as np
import pytest

import mvgviz as mv
from mvgviz.design.least_possible import least_possible
from mvgviz.design.needs import needs_of
from mvgviz.pictures.rule import _spreads, _worst, iid_std, rule_model, theorem_plane
from mvgviz.scenario.resolve import build
from tests.datasets import make_dataset

DATA = make_dataset(4, 30, lower=[-1, 0, -2, 1], upper=[1, 3, 1, 4])
THETA = np.array([0.4, 0.3, 0.2, 0.1])
PLANE = (0, 1)


def design_of(query, *, directions=None, data=DATA, theta=THETA, guarantee="exact"):
    return mv.design_noise(query(data), epsilon=1, delta=1e-3, theta=theta, directions=directions, guarantee=guarantee)


def changes_of(design, pair=PLANE, *, of_directions=False):
    return rule_model(design, pair, of_directions=of_directions).changes


def lengths(design, points, *, of_directions=False, pair=PLANE):
    """How many standard deviations of the noise's shadow on the plane each point is away from 0."""
    side, shown = design.directional_side, list(pair)
    block = np.diag(side.variances[shown]) if of_directions else side.covariance()[np.ix_(shown, shown)]
    if design.mode == "both":
        block = block * design.col_side.covariance()[pair[1], pair[1]]
    return np.sqrt(np.einsum("ip,ij,jp->p", points, np.linalg.inv(block), points))


def random_changes(query, design, rng, *, of_directions=False, pair=PLANE):
    """What many replaced records really change, corners of the ranges among them, in the plane."""
    ends = np.where(rng.random((2, 4, 4000)) < 0.5, DATA.lower[:, None], DATA.upper[:, None])
    inner = rng.uniform(DATA.lower[:, None], DATA.upper[:, None], (2, 4, 4000))
    x, y = np.where(rng.random((2, 1, 4000)) < 0.5, ends, inner)
    if query is mv.covariance:
        return (x[list(pair)] * x[pair[1]] - y[list(pair)] * y[pair[1]]) / DATA.n_records
    moved = (x - y) / (DATA.n_records if query is mv.mean else 1)
    return design.directional_side.directions.matrix.T[list(pair)] @ moved if of_directions else moved[list(pair)]


@pytest.mark.parametrize(("i", "j"), [(0, 1), (2, 3), (3, 0)])
@pytest.mark.parametrize("query", [mv.identity, mv.mean])
def test_unrotated_the_corners_have_their_shares_of_mu_squared(query, i, j):
    design = design_of(query)
    changes = changes_of(design, (i, j))
    found = lengths(design, np.array(changes.corners).T, pair=(i, j))
    assert not changes.shadow
    assert found == pytest.approx(design.mu * math.sqrt(THETA[i] + THETA[j]), rel=1e-12)


@pytest.mark.parametrize("angle", [0.3, -1.1])
def test_turned_within_the_plane_of_two_features_two_corners_touch_at_mu(angle):
    data = make_dataset(2, 30, lower=[-1, 0], upper=[1, 3])
    design = design_of(mv.mean, data=data, theta=[0.8, 0.2], directions=mv.rotation(2, PLANE, angle))
    found = np.sort(lengths(design, np.array(changes_of(design).corners).T))
    assert found[2:] == pytest.approx(design.mu, rel=1e-12)
    assert (found[:2] < 0.999 * design.mu).all()


CASES = [(query, of_directions, turn) for query in (mv.identity, mv.mean, mv.covariance)
         for of_directions in (False, True) for turn in ("none", "plane", "all")
         if not (query is mv.covariance and of_directions and turn != "none")]


@pytest.mark.parametrize(("query", "of_directions", "turn"), CASES)
def test_what_records_change_is_in_the_outline_and_that_within_mu(query, of_directions, turn, rng):
    directions = {"none": None, "plane": mv.rotation(4, PLANE, 0.4), "all": mv.random_rotation(4, rng=rng)}[turn]
    design = design_of(query, directions=directions)
    changes = changes_of(design, of_directions=of_directions)
    corners, found = np.array(changes.corners).T, random_changes(query, design, rng, of_directions=of_directions)
    turns = np.linspace(0, 2 * np.pi, 72, endpoint=False) + 0.01
    ways = np.vstack([np.cos(turns), np.sin(turns)])
    outline, seen = (ways.T @ corners).max(axis=1), (ways.T @ found).max(axis=1)
    assert (seen <= outline * (1 + 1e-3)).all()  # the outline's own steps
    assert (seen > 0.85 * outline).all()  # and it is no larger than what is seen
    assert np.abs(corners).max(axis=1) == pytest.approx(changes.box)
    assert (lengths(design, corners, of_directions=of_directions) <= design.mu * (1 + 1e-9)).all()
    whole = query is not mv.covariance and (turn == "none" or (turn == "plane" and not of_directions))
    assert changes.shadow is not whole


@pytest.mark.parametrize(("query", "exact"), [(mv.mean, True), (mv.covariance, False)])
def test_along_a_feature_the_outline_is_what_the_least_possible_noise_rests_on(query, exact):
    design = design_of(query)
    unit = design.neighbours.reach(design.directional_side.directions)[1]
    least = least_possible(query(DATA), needs_of((1,), 4), design.mu)
    assert least.exact is exact
    assert changes_of(design).box[1] / design.mu == pytest.approx(least.noise * unit ** (1 if exact else 2), rel=1e-9)


@pytest.mark.parametrize("query", ["identity", "mean"])
def test_records_inside_an_ellipse_change_as_far_as_the_noise_allows(query):
    design = build(mv.Scenario(query=query, scale="declared", bound="own", radius=0.5, allocation="manual",
                            weights=(4, 3, 2, 1)), DATA).design
    changes = changes_of(design)
    assert changes.axes == pytest.approx(design.mu, rel=1e-9)
    assert changes.corners == ()


@pytest.mark.parametrize("parameters", [
    {"query": "moments", "bound": "even"}, {"query": "kernel"}, {"query": "identity", "mode": "columns"}])
def test_where_no_outline_is_known_none_is_drawn(parameters):
    assert changes_of(build(mv.Scenario(scale="unit", **parameters), DATA).design) is None


def test_epsilon_can_be_moved_where_all_of_it_is_the_noise_s():
    assert rule_model(design_of(mv.mean), PLANE, of_directions=False).epsilon == 1
    theorem = rule_model(design_of(mv.mean, guarantee="theorem1"), PLANE, of_directions=False)
    assert theorem.epsilon is None
    assert theorem.mu == pytest.approx(float(mv.gaussian_mu(1, 1e-3)))
    private = build(mv.Scenario.default_for("liver").changed(query="mean", directions="private", bound="none"), DATA)
    assert rule_model(private.design, PLANE, of_directions=False).epsilon is None


def rebuilt(model):
    """The covariance from axes and angle."""
    turn = np.array([[math.cos(model.angle), -math.sin(model.angle)], [math.sin(model.angle), math.cos(model.angle)]])
    return turn @ np.diag(np.square(model.std)) @ turn.T


@pytest.mark.parametrize("query", [mv.mean, mv.covariance])
def test_a_theorem_s_axes_rebuild_its_noise(query, rng):
    directions = mv.random_rotation(4, rng=rng)
    exact, asked = (design_of(query, directions=directions, guarantee=one) for one in ("exact", "theorem1"))
    found = theorem_plane(asked, exact, PLANE, of_directions=False, name="Theorem 1")
    block = asked.row_covariance()[:2, :2] * (asked.col_covariance()[1, 1] if query is mv.covariance else 1)
    assert rebuilt(found) == pytest.approx(block, rel=1e-9)


@pytest.mark.parametrize(("pair", "low", "high"), [
    ((0, 1), (-1e3, 1e-3), (2e3, 3e-3)), ((0, 1), (1e-3, -1e3), (2e-3, 9)), ((1, 0), (-1e3, 1e-3), (2e3, 3e-3))])
def test_the_outline_of_second_moments_is_whole_in_any_units(pair, low, high, rng):
    data = make_dataset(2, 30, lower=low, upper=high)
    corners = np.array(changes_of(design_of(mv.covariance, data=data, theta=[0.8, 0.2]), pair).corners)
    x, y = data.lower[:, None] + data.widths[:, None] * rng.beta(0.2, 0.2, (2, 2, 4000))
    real = ((x[list(pair)] * x[pair[1]] - y[list(pair)] * y[pair[1]]) / 30).T
    ways = rng.standard_normal((2, 50)) / np.abs(real).max(axis=0)[:, None]
    assert ((real @ ways).max(axis=0) <= (corners @ ways).max(axis=0) * (1 + 1e-3)).all()


def test_the_shadow_of_a_box_is_whole_in_any_units():
    data = make_dataset(3, 30, lower=0, upper=[1e4, 1.0, 1.0])
    directions = mv.rotation(3, (1, 2), 0.4)
    design = design_of(mv.mean, data=data, theta=[0.5, 0.3, 0.2], directions=directions)
    corners = np.array(changes_of(design, of_directions=True).corners)
    assert corners.max(axis=0) * 30 == pytest.approx(design.neighbours.reach(directions)[:2], rel=1e-9)


@pytest.mark.parametrize(("choices", "pair"), [
    ({}, (0, 1)), ({"radius": 0.5}, (1, 0)), ({"radius": 1.6}, (2, 1)),
    ({"directions": "rotation", "angle": 25.0}, (0, 1)),
    ({"directions": "rotation", "angle": -50.0, "radius": 0.6}, (1, 0)),
    ({"allocation": "manual", "weights": (1, 3998, 1), "radius": 0.2}, (0, 1))])  # an ellipse far longer than a range
@pytest.mark.parametrize("lower", [[-1, -1, -1], [-1, 0, -0.5], [0, 0, 0]])
def test_the_outline_of_bounded_second_moments_holds_every_pair_and_is_reached(choices, pair, lower, rng):
    data = make_dataset(3, 30, lower=lower, upper=[1, 2, 1])
    asked = mv.Scenario(query="covariance", scale="declared", bound="own", priority_directions=(0,), share=0.6,
                        **choices)
    setup = build(asked, data)
    changes = changes_of(setup.design, pair)
    assert (changes.still, changes.shadow) == (True, True)
    corners, body = np.array(changes.corners), setup.design.neighbours
    records = data.lower[:, None] + data.widths[:, None] * rng.beta(0.4, 0.4, (3, 60_000))
    records[:, 20_000:] *= np.where(np.isin(np.arange(3), pair), 1.0, 0.0)[:, None]  # those that have all in the plane
    records = records * body.ellipse.parts(records)
    moments = records[list(pair)] * records[pair[1]] / 30
    ways = rng.standard_normal((60, 2))
    real = (ways @ moments).max(axis=1) - (ways @ moments).min(axis=1)
    drawn = (corners @ ways.T).max(axis=0)
    assert (real <= drawn * (1 + 1e-3)).all()  # no pair of records is outside
    assert (real >= drawn * 0.97).all()  # and some come near
    assert (lengths(setup.design, corners.T, pair=pair) <= setup.design.mu * (1 + 1e-9)).all()


@pytest.mark.parametrize("choices", [{"query": "moments"}, {"directions": "random"}, {"scale": "declared"}])
def test_where_bounded_second_moments_have_no_simple_outline_none_is_drawn(choices):
    chosen = {"query": "covariance", "bound": "even", "priority_directions": (0,)} | choices
    assert changes_of(build(mv.Scenario(**chosen), DATA).design) is None


# while it is dragged

def moved(model, theta, angle):
    """The standard deviations after a drag, by the browser's formulas (formulas.js)."""
    if model.kind == "theorem":
        return [math.sqrt(model.across / (math.sqrt(t) * model.root_budget)) for t in theta]
    if model.kind == "bounded":
        return [model.scale * s / math.sqrt(t) for s, t in zip(_spreads(model.spread, angle), theta, strict=True)]
    h, total = _worst(model.reach, model.rest, theta, angle)
    kappa = model.factor * model.total / total
    return [math.sqrt(model.across * h_k**2 / (kappa * t)) for h_k, t in zip(h, theta, strict=True)]


def turned(query, angle, **choices):
    return design_of(query, directions=mv.rotation(4, PLANE, angle) if angle else None, **choices)


@pytest.mark.parametrize("query", [mv.identity, mv.mean])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
@pytest.mark.parametrize("angle", [0.0, 0.3, -1.1])
def test_a_drag_of_a_table_s_noise_is_predicted_exactly(query, guarantee, angle):
    model = rule_model(turned(query, 0.2, guarantee=guarantee), PLANE, of_directions=False)
    assert not model.rough
    after = rule_model(turned(query, angle, theta=[0.55, 0.15, *THETA[2:]], guarantee=guarantee), PLANE,
                       of_directions=False)
    assert moved(model, (0.55, 0.15), angle) == pytest.approx(after.std, rel=1e-9)
    assert after.angle == pytest.approx(angle)


@pytest.mark.parametrize("query", [mv.identity, mv.covariance])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_a_drag_that_moves_nothing_changes_nothing(query, guarantee):
    design = turned(query, 0.4, guarantee=guarantee)
    for of_directions in (False, True):
        model = rule_model(design, (0, 1), of_directions=of_directions)
        assert moved(model, model.theta, model.angle) == pytest.approx(model.std, rel=1e-9)


def test_axes_and_angle_rebuild_the_covariance(rng):
    design = design_of(mv.identity, directions=mv.random_rotation(4, rng=rng))
    model = rule_model(design, (1, 3), of_directions=False)
    assert model.kind == "fixed"
    assert rebuilt(model) == pytest.approx(design.row_covariance()[np.ix_([1, 3], [1, 3])])


def test_with_both_sides_the_column_s_own_variance_enters():
    design = design_of(mv.covariance)
    model = rule_model(design, (0, 2), of_directions=False)
    assert model.std == pytest.approx(design.noise_std()[[0, 2], 2])
    assert model.rough  # while it is dragged
    assert iid_std(design_of(mv.covariance, guarantee="theorem1"), 0) > 0


def test_two_directions_are_shown_along_the_axes(rng):
    design = design_of(mv.identity, directions=mv.random_rotation(4, rng=rng))
    model = rule_model(design, (2, 0), of_directions=True)
    assert (model.angle, model.can_turn) == (0, False)
    assert model.std == pytest.approx(np.sqrt(design.row_variances[[2, 0]]))


def bounded(query, parts, **choices):
    scenario = mv.Scenario(data="two_features", query=query, scale="declared", bound="even", allocation="manual",
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
