"""A scenario's trade-off: closed forms, ends, direct builds, and nothing below the least possible."""

import itertools
import math

import numpy as np
import pytest

from mvgviz import InputError, Scenario, binary, build, gaussian_mu, random_rotation
from mvgviz.design.needs import needs_of, noise_on
from mvgviz.design.trade_off import frontier
from mvgviz.query.queries import mean
from mvgviz.scenario.trade_off import against_least, curves_of, trade_off_of, trade_off_refusal
from tests.datasets import make_dataset

DATA = make_dataset(5, 40, [-1, 0, -2, 0, 1], [1, 3, 2, 5, 4])


def setup(**changes):
    chosen = {"data": "two_features", "query": "mean", "priority_directions": (1, 3), "share": 0.7} | changes
    return build(Scenario(**chosen), DATA)


@pytest.mark.parametrize("query", ["identity", "mean"])
@pytest.mark.parametrize("bound", ["none", "even"])
def test_tables_and_means_lie_on_the_closed_form(query, bound):
    """k/N² + (m - k)/Q² = mu² in the box; an evenly long ellipse has a third of the squares."""
    asked = setup(query=query, bound=bound)
    found = trade_off_of(asked)
    factor = (1 if query == "identity" else 40) ** 2
    for curve, part in ((found.curves.box, 1), (found.curves.bounded, 3)):
        for point in () if curve is None else (*curve.curve, *((found.design,) if curve is found.curves.own else ())):
            assert 2 / point.priority**2 + 3 / point.other**2 == pytest.approx(part * asked.design.mu**2 * factor)
        if curve is not None:
            assert 2 / curve.only**2 == pytest.approx(part * asked.design.mu**2 * factor)


@pytest.mark.parametrize("changes", [
    {}, {"bound": "even"}, {"query": "covariance"}, {"query": "covariance", "bound": "own", "radius": 1.5},
    {"query": "moments"}, {"query": "moments", "bound": "even"}, {"query": "covariance", "scale": "declared"}])
def test_the_curves_are_direct_builds_and_trade_one_for_the_other(changes):
    asked = setup(**changes)
    curves = curves_of(asked)
    own = curves.own
    share = own.shares[len(own.shares) // 2]
    direct = build(asked.scenario.changed(share=share), DATA).design
    weights = needs_of((1, 3), direct.rows)
    assert own.curve[own.shares.index(share)] == noise_on(direct, weights, features=5)
    assert own.equal == noise_on(asked.iid, weights, features=5)
    assert 2 / 5 in own.shares
    after = [point for share, point in zip(own.shares, own.curve, strict=True) if share >= 2 / 5]
    assert all(a.priority > b.priority and a.other < b.other for a, b in itertools.pairwise(after))
    assert own.only < after[-1].priority < 1.03 * own.only
    assert (curves.bounded is None) == ("bound" not in changes)


CORNERS = np.array(list(itertools.product((-1, 1), repeat=5))).T * np.array([[1], [1.5], [2], [2.5], [1.5]])


@pytest.mark.parametrize(("query", "directions"), [("mean", "random"), ("identity", "rotation"), ("mean", "upload")])
def test_along_other_directions_the_curve_is_that_of_the_worst_corner(query, directions):
    """Noise v_k along w_k spends mu² = max over corners d of sum (w_k·d)²/v_k; half-widths count twice."""
    own = random_rotation(5, rng=np.random.default_rng(3))
    scenario = Scenario(query=query, scale="declared", directions=directions, priority_directions=(1, 3), share=0.7)
    asked = build(scenario, DATA, uploaded=own if directions == "upload" else None)
    found, n = trade_off_of(asked), 1 if query == "identity" else 40
    w, mu = asked.design.directional_side.directions.matrix, float(gaussian_mu(1, asked.delta))
    moves = (w.T @ (2 * CORNERS) / n) ** 2
    reach = moves.max(axis=1)
    unit = n**2 * reach  # squares of what one record can move itself along each
    wide = np.isin(range(5), (1, 3))
    for share, point in zip(found.curves.box.shares, found.curves.box.curve, strict=True):
        theta = np.where(wide, share / 2, (1 - share) / 3)
        variances = reach / theta * (moves / (reach / theta)[:, None]).sum(axis=0).max() / mu**2
        squares = variances / unit
        assert point.priority == pytest.approx(math.sqrt(squares[wide].mean()))
        assert point.other == pytest.approx(math.sqrt(squares[~wide].mean()))
    alone = (moves[wide] / unit[wide][:, None]).sum(axis=0).max() / mu**2
    assert found.curves.box.only == pytest.approx(math.sqrt(alone), rel=1e-5)
    assert found.curves.bounded is None
    assert found.least.ratio >= 1
    equal = moves.sum(axis=0).max() / mu**2
    assert found.curves.box.equal.priority == pytest.approx(math.sqrt(np.mean(equal / unit[wide])))


def test_along_other_directions_a_covariance_has_a_curve_that_ends_at_only_the_needed():
    own = curves_of(setup(query="covariance", directions="random", importance=(4, 1))).own
    assert own.only <= min(point.priority for point in own.curve) < 1.03 * own.only
    direct = setup(query="covariance", directions="random", importance=(4, 1), share=own.shares[5])
    weights = needs_of({1: 1.0, 3: 0.25}, 5)
    assert own.curve[5] == noise_on(direct.design, weights, directions=direct.need_directions)


def test_the_box_s_curve_is_the_engine_s_frontier():
    asked = setup(query="covariance", bound="even", scale="declared")
    box = curves_of(asked).box
    other = frontier(asked.box, (1, 3), epsilon=1, delta=asked.delta)
    assert box.shares == other.shares
    for name in ("priority", "other"):
        assert [getattr(point, name) for point in box.curve] == pytest.approx(
            [getattr(point, name) for point in other.curve])
        assert getattr(box.equal, name) == pytest.approx(getattr(other.equal, name))
    assert box.only == pytest.approx(other.only, rel=1e-6)
    assert box.equal_mu == pytest.approx(other.equal_mu)


def test_the_curves_do_not_depend_on_the_scenario_s_own_split_and_guarantee():
    first, second = curves_of(setup()), curves_of(setup(share=0.3, guarantee="theorem1"))
    assert first == second
    assert curves_of(setup(allocation="max-pnr")) == first


@pytest.mark.parametrize(("query", "theorems"), [("mean", ["theorem1"]), ("covariance", ["theorem1", "theorem2"])])
def test_the_theorems_are_far_away(query, theorems):
    found = trade_off_of(setup(query=query))
    assert list(found.theorems) == theorems
    for noise in found.theorems.values():
        assert noise.priority > 10 * found.design.priority
        assert noise.other > 10 * found.design.other
    theorem = trade_off_of(setup(query=query, guarantee="theorem1"))
    assert theorem.design == found.theorems["theorem1"]
    assert theorem.least.ratio > 10


def test_a_share_of_the_table_is_so_many_times_the_least_possible():
    assert against_least(setup()).ratio == pytest.approx(math.sqrt(1 / 0.7))  # the least is all for the needed
    assert against_least(setup(bound="even")).ratio == pytest.approx(1, rel=1e-9)  # the ellipse's own shape
    everything = against_least(setup(allocation="uniform", priority_directions=()))
    assert (everything.ratio, everything.named) == (pytest.approx(1), False)
    assert not against_least(setup(query="covariance")).least.exact
    assert against_least(setup(directions="random", priority=(0,))).ratio > 1


@pytest.mark.parametrize(("changes", "sentence"), [
    ({"query": "kernel"}, "between columns"), ({"mode": "columns", "query": "identity"}, "between columns"),
    ({"query": "covariance", "mode": "rows"}, "both sides"),
    ({"directions": "random", "priority": (0,)}, "columns themselves"), ({"directions": "private"}, "no private"),
    ({"directions": "random", "bound": "even"}, "no clipping"),
    ({"directions": "rotation", "query": "moments"}, "covariance"),
    ({"directions": "random", "allocation": "uniform"}, "some priority directions"),
    ({"priority_directions": ()}, "some but not all"), ({"priority_directions": (0, 1, 2, 3, 4)}, "some but not all"),
    ({"query": "moments", "priority_directions": (5,)}, "some but not all")])
def test_where_there_is_no_trade_off_one_sentence_says_why(changes, sentence):
    asked = setup(**changes)
    assert sentence in trade_off_refusal(asked)
    with pytest.raises(InputError, match=sentence):
        trade_off_of(asked)


def test_where_the_least_is_not_known_there_is_none():
    assert against_least(setup(query="kernel")) is None
    assert against_least(setup(query="covariance", mode="rows")) is None
    assert against_least(setup(query="covariance", scale="declared", bound="even", priority_directions=(4,))) is None
    assert np.isfinite(trade_off_of(setup(query="covariance", scale="declared", bound="even")).least.ratio)


@pytest.mark.parametrize(("family", "size"), [
    ("box", lambda size: math.sqrt((size + 1) * (size + 2) / 3)), ("laplace", lambda size: math.sqrt(2) * size)])
def test_the_curve_of_pure_noise_is_that_of_its_family(family, size):
    """MATH-3 §3: ``A(k)/N + A(m)/Q = epsilon``, in units of what one record can change."""
    data = make_dataset(5, 40)
    setup = build(Scenario(query="mean", epsilon=1.0, delta=1e-6, scale="declared", family=family,
                           priority_directions=(1, 3), share=0.5), data)
    move, curve = 1 / setup.query.neighbours.divisor, curves_of(setup).own
    for share, point in (*zip(curve.shares, curve.curve, strict=True), (0.5, trade_off_of(setup).design)):
        if share == 2 / 5 and family == "box":  # equal shares are one box
            assert point.priority == point.other == pytest.approx(size(5) * move)
        else:
            assert size(2) * move / point.priority + size(3) * move / point.other == pytest.approx(1.0)
    assert curve.only == pytest.approx(size(2) * move)


# How much each of the priority columns matters

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
