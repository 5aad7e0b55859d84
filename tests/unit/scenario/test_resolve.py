"""From scenario to design: each choice does what its name says, and budgets add up."""

import gc
import math
import weakref
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Dataset, InputError, Scenario, from_matrix, gaussian_mu
from mvgviz.provenance import Origin
from mvgviz.scenario.resolve import build, delta_of, paper_delta, scaled, usual_delta, with_bound
from mvgviz.scenario.scenario import ALLOCATIONS, QUERIES
from tests.datasets import make_dataset

DATA = make_dataset(4, 60, lower=[-1, 0, -2, 5], upper=[1, 3, 1, 9])
CATEGORIES = Dataset(matrix=np.vstack([np.tile(np.eye(2), 30), np.tile(np.eye(4), 15), DATA.matrix[:3]]),
                     features=[*"abcdefghi"], lower=[0] * 6 + [-1, 0, -2], upper=[1] * 6 + [1, 3, 1],
                     levels=[(2, 3, 4, 5), (0, 1)])
GRAPH = replace(make_dataset(4, 4), matrix=np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]))


def scenario(**changes):
    return Scenario(data="upload-0123456789ab", priority_directions=(1,), share=0.7).changed(**changes)


@pytest.mark.slow
@pytest.mark.parametrize("query", [query for query in QUERIES if query != "moments"])  # refuses some: see below
@pytest.mark.parametrize("allocation", ALLOCATIONS)
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
@pytest.mark.parametrize("directions", ["standard", "rotation", "eigenvectors", "random"])
def test_every_combination_spends_no_more_than_asked(query, allocation, guarantee, directions):
    size = {"kernel": 60, "cross": 2}.get(query, 4)
    one = scenario(query=query, allocation=allocation, guarantee=guarantee, directions=directions,
                   weights=tuple(range(1, size + 1)))
    setup = build(one, GRAPH if QUERIES[query].is_graph else DATA if QUERIES[query].fits(DATA) else CATEGORIES)
    assert setup.design.theta.sum() == pytest.approx(1)
    if guarantee == "exact":
        assert setup.epsilon_spent == pytest.approx(1, abs=1e-9)
        assert setup.iid.epsilon_spent(setup.delta) == pytest.approx(1, abs=1e-9)
    else:
        assert setup.epsilon_spent <= 1
    assert len(setup.direction_names) == size


@pytest.mark.parametrize("allocation", ["uniform", "binary", "manual", "least-error"])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1", "theorem2"])
@pytest.mark.parametrize("directions", ["standard", "rotation"])
@pytest.mark.parametrize("bound", ["none", "even"])
def test_joint_moments_spend_no_more_than_asked(allocation, guarantee, directions, bound):
    setup = build(scenario(query="moments", allocation=allocation, guarantee=guarantee, directions=directions,
                           bound=bound, weights=(1, 2, 3, 4)), DATA)
    assert setup.design.theta.sum() == pytest.approx(1)
    assert setup.epsilon_spent <= 1 + 1e-9
    assert len(setup.direction_names) == 5  # with the constant


@pytest.mark.parametrize("scale", ["declared", "symmetric", "unit"])
def test_scales_map_the_declared_ranges(scale):
    setup = build(scenario(query="identity", scale=scale), DATA)
    widths = {"declared": DATA.widths, "symmetric": np.full(4, 2.0), "unit": np.ones(4)}[scale]
    assert setup.query.sensitivity == pytest.approx(np.linalg.norm(widths))


def test_the_iid_design_has_the_same_noise_everywhere():
    for query in ("identity", "covariance", "mean"):
        std = build(scenario(query=query), DATA).iid.noise_std()
        assert std == pytest.approx(np.full(std.shape, std[0, 0]))


def test_delta_defaults_to_the_smaller_of_a_millionth_and_a_hundredth_of_one_over_n():
    assert delta_of(scenario(), DATA) == 1e-6
    assert delta_of(scenario(delta=1e-7), DATA) == 1e-7
    assert [usual_delta(n) for n in (1, 10_000, 20_000)] == pytest.approx([1e-6, 1e-6, 5e-7])
    assert [paper_delta(n) for n in (1, 2, 345)] == [0.5, 0.5, 1 / 345]


def test_private_directions_share_the_budget_by_composition():
    setup = build(scenario(directions="private", private_share=0.2), DATA)
    whole = gaussian_mu(1, 1e-6)
    assert setup.design.row_directions.mu == pytest.approx(whole * math.sqrt(0.2))
    assert setup.design.total_mu == pytest.approx(whole)
    by_theorem = build(scenario(directions="private", private_share=0.2, guarantee="theorem1"), DATA)
    assert by_theorem.design.row_directions.mu == pytest.approx(gaussian_mu(0.2, 0.2e-6))
    assert (by_theorem.design.epsilon, by_theorem.design.delta) == pytest.approx((0.8, 0.8e-6))


@pytest.mark.parametrize(("directions", "allocation", "origin"), [
    ("standard", "binary", Origin.DECLARED), ("standard", "max-pnr", Origin.READ), ("private", "max-pnr", Origin.PAID),
    ("eigenvectors", "max-pnr", Origin.READ), ("eigenvectors", "uniform", Origin.DECLARED)])
def test_theta_has_an_origin_of_its_own(directions, allocation, origin):
    assert build(scenario(directions=directions, allocation=allocation), DATA).origins["split"] is origin


def test_max_pnr_favours_the_direction_with_the_strongest_signal():
    matrix = np.random.default_rng(0).uniform(-1, 1, (4, 60)) * np.array([0.1, 0.2, 1.0, 0.3])[:, None]
    weak = Dataset(matrix=matrix, features=DATA.features, lower=-1, upper=1)
    for query in ("identity", "mean", "covariance"):
        assert np.argmax(build(scenario(allocation="max-pnr", query=query), weak).design.theta) == 2


def test_the_same_seed_gives_the_same_directions_and_those_of_a_file_are_used():
    one, two, other = (build(scenario(directions="random", seed=seed), DATA).design.row_directions.matrix
                       for seed in (1, 1, 2))
    assert (one == two).all()
    assert (one != other).any()
    turned = from_matrix(np.eye(4)[::-1])
    assert build(scenario(directions="upload"), DATA, uploaded=turned).design.row_directions is turned


def test_favoured_positions_beyond_the_data_are_left_out():
    assert build(scenario(priority_directions=(1, 77)), DATA).design.theta == pytest.approx([0.1, 0.7, 0.1, 0.1])
    assert build(scenario(priority_directions=(77,)), DATA).design.theta == pytest.approx([0.25] * 4)


def test_directions_are_called_by_feature_record_vertex_or_number():
    assert build(scenario(), DATA).direction_names == ("f0", "f1", "f2", "f3")
    turned = scenario(directions="rotation", angle=25, plane=(1, 3))
    assert build(turned, DATA).direction_names == ("1: f0", "2: 0.9 f1 + 0.4 f3", "3: f2", "4: 0.9 f3 - 0.4 f1")
    every = build(scenario(directions="random"), DATA)
    first = every.design.row_directions.matrix[:, 0]
    assert every.direction_names[0].startswith(f"1: {np.abs(first).max():.1f} f{np.abs(first).argmax()} ")
    assert any(name.endswith("…") for name in every.direction_names)
    assert build(scenario(mode="columns"), DATA).direction_names[59] == "record 60"
    assert build(scenario(query="laplacian"), GRAPH).direction_names[0] == "vertex 1"


@pytest.mark.parametrize(("changes", "message"), [
    ({"guarantee": "theorem2"}, "theorem2 needs a positive semi-definite query, got identity"),
    ({"allocation": "manual", "weights": (1, 2)}, "the manual split must have 4 parts, got 2"),
    ({"directions": "upload"}, "upload them again"),
    ({"directions": "private", "query": "kernel"}, "private directions need a table, mean or covariance query"),
    ({"directions": "eigenvectors", "mode": "columns"}, "eigenvectors directions belong to rows"),
    ({"allocation": "max-pnr", "mode": "columns"}, "needs noise over rows"),
    ({"query": "adjacency"}, "adjacency matrix must be square"),
    ({"directions": "rotation", "plane": (0, 9)}, "plane must be two different positions below 4"),
    ({"mode": "both"}, "mode both needs a square answer"),
    ({"query": "moments", "directions": "random"}, "standard or rotated directions"),
    ({"query": "moments", "allocation": "max-pnr"}, "another split"),
    ({"bound": "even", "mode": "columns"}, "rows or both"),
    ({"bound": "even", "directions": "private"}, "known before"),
])
def test_bad_combinations_get_a_sentence(changes, message):
    with pytest.raises(InputError, match=message):
        build(scenario(**changes), DATA)


@pytest.mark.parametrize("query", ["identity", "mean", "covariance", "moments", "kernel"])
@pytest.mark.parametrize("choices", [
    {}, {"directions": "rotation"}, {"guarantee": "theorem1"}, {"allocation": "least-error", "scale": "declared"}])
def test_another_bound_on_the_same_split_is_that_of_the_scenario(query, choices):
    plain = build(scenario(query=query, **choices), DATA)
    for changes in ({"bound": "even"}, {"bound": "own", "radius": 0.6}):
        bounded, built = with_bound(plain, **changes), build(scenario(query=query, **choices, **changes), DATA)
        assert bounded.scenario == built.scenario
        assert np.array_equal(bounded.design.noise_std(), built.design.noise_std())
        assert np.array_equal(bounded.query.value, built.query.value)
        assert np.array_equal(with_bound(bounded, bound="none").design.noise_std(), plain.design.noise_std())


# A reply must not take longer the more records there are


def test_a_table_is_put_on_its_scale_once_and_what_was_kept_goes_with_it():
    data = make_dataset(3, 20)
    assert scaled(data, "unit") is scaled(data, "unit")
    assert scaled(data, "symmetric").lower.tolist() == [-1, -1, -1]
    assert scaled(data, "unit").lower.tolist() == [0, 0, 0]
    assert scaled(data, "declared") is data
    kept = weakref.ref(scaled(data, "unit"))
    del data
    gc.collect()
    assert kept() is None
