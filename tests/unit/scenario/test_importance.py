"""How much each of the needed matters: carried everywhere, and the split that is best for it."""

import math

import numpy as np
import pytest

from mvgviz import InputError, Scenario, binary, build
from mvgviz.design.needs import needs_of, noise_on
from mvgviz.design.trade_off import frontier
from mvgviz.query.queries import mean
from mvgviz.scenario.trade_off import against_least, curves_of
from tests.datasets import make_dataset

DATA = make_dataset(5, 40, [-1, 0, -2, 0, 1], [1, 3, 2, 5, 4])
WEIGHED = Scenario(query="mean", priority_directions=(1, 3), importance=(9, 1))


def test_the_most_important_has_weight_1_and_parts_that_do_not_fit_are_ignored():
    assert WEIGHED.need_weights == {1: 1.0, 3: 1 / 9}
    assert Scenario(priority_directions=(1, 3), importance=(2, 1, 5)).need_weights == {1: 1.0, 3: 1.0}
    with pytest.raises(InputError, match="one part for each of the 3 priority columns, or none, got 2"):
        Scenario(priority=(0, 1, 2), importance=(1, 2))
    with pytest.raises(InputError, match="importance"):
        Scenario(importance=(0, 1))
    _, ignored = Scenario.read_query({"priority": "0-1-2", "importance": "4-1"})
    assert "importance" in ignored[0]


def test_the_parts_go_with_what_is_needed():
    assert WEIGHED.changed(priority_directions=(2, 4)).importance == ()
    assert WEIGHED.changed(priority_directions=(2, 4), priority=(1, 3)).importance == (9, 1)
    assert WEIGHED.changed(epsilon=2.0).importance == (9, 1)


@pytest.mark.parametrize("query", ["identity", "mean"])
def test_the_least_error_split_is_the_best_of_all_for_the_weights(query):
    """Nothing drawn at random does better, and it comes near the least possible of any shape."""
    asked = WEIGHED.changed(query=query, allocation="least-error", share=0.99)
    setup = build(asked, DATA)
    weights = np.array([0.01 / 3, 0.99 * 0.9, 0.01 / 3, 0.99 * 0.1, 0.01 / 3])
    ours = noise_on(setup.design, weights).priority
    rng = np.random.default_rng(1)
    for theta in rng.dirichlet(np.ones(5), size=40):
        parts = tuple(int(part) for part in np.maximum(1e6 * theta, 1))
        other = build(asked.changed(allocation="manual", weights=parts), DATA)
        assert noise_on(other.design, weights).priority >= ours * (1 - 1e-9)
    theta = setup.design.theta
    assert theta[1] / theta[3] == pytest.approx(3.0)  # sqrt(9): in units of the ranges


def test_the_noise_on_the_needed_is_the_weighted_mean_and_the_least_is_below():
    setup = build(WEIGHED, DATA)
    squares = setup.design.row_side.covariance_diagonal() / setup.table.widths**2
    found = against_least(setup)
    assert found.noise == pytest.approx(math.sqrt((squares[1] + squares[3] / 9) / (1 + 1 / 9)))
    assert 1 < against_least(build(WEIGHED.changed(allocation="least-error", share=0.99), DATA)).ratio < 1.15
    assert found.ratio == pytest.approx(1 / math.sqrt(0.8))  # only that the rest has its share, too
    rest = noise_on(setup.design, needs_of(setup.scenario.need_weights, 5)).other
    assert rest == pytest.approx(math.sqrt(squares[[0, 2, 4]].mean()))  # what has a little weight is no part of it


def test_the_needed_alone_are_weighed_too():
    curve = curves_of(build(WEIGHED.changed(scale="declared"), DATA)).box
    alone = frontier(mean(DATA), {1: 1.0, 3: 1 / 9}, epsilon=1, delta=curve.delta)
    assert curve.only == pytest.approx(alone.only, rel=1e-6)
    assert curve.equal == alone.equal


@pytest.mark.parametrize("query", ["mean", "covariance", "moments"])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_a_share_for_some_is_divided_among_them_by_what_matters(query, guarantee):
    """At the same share for both, no other division among them has less weighed noise."""
    if query == "moments" and guarantee != "exact":
        return
    asked = WEIGHED.changed(query=query, share=0.7, guarantee=guarantee)
    setup, size = build(asked, DATA), 5
    theta = setup.split[:size] / setup.split[:size].sum()
    assert theta[[1, 3]].sum() == pytest.approx(0.7)
    assert theta[[0, 2, 4]] == pytest.approx(0.1)
    assert theta[1] / theta[3] == pytest.approx(3.0 if guarantee == "exact" else 9 ** (2 / 3))
    plain = build(asked.changed(importance=()), DATA).split[:size]
    assert plain[1] == plain[3]
    if query != "mean":
        return
    weights = needs_of(asked.need_weights, size)
    ours = noise_on(setup.design, weights).priority
    for part in np.linspace(0.05, 0.65, 25):
        parts = tuple(round(1e6 * share) for share in (0.1, part, 0.1, 0.7 - part, 0.1))
        other = build(asked.changed(allocation="manual", weights=parts, priority=(1, 3), importance=(9, 1)), DATA)
        assert noise_on(other.design, weights).priority >= ours * (1 - 1e-6)


def test_the_parts_of_a_share_are_one_for_each():
    with pytest.raises(InputError, match="one weight for each of the 2 directions"):
        binary(4, priority=[0, 1], share=0.5, importance=[1, 2, 3])
