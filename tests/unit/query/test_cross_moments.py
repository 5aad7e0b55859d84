"""Cross-moments: the worst neighbours by brute force, the bound for many columns, the guess by simulation."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import InputError, Scenario, build, cross_moments, random_rotation, rotation, run_trials
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin
from mvgviz.query import cross_moments as module
from mvgviz.query.prior import Weighing
from mvgviz.release.release import release_setup
from tests.datasets import make_dataset

LOWER, UPPER = [-1.0, 0.0, 2.0, -3.0], [1.0, 4.0, 2.5, 1.0]


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_worst_neighbours_are_those_of_a_search(seed, added):
    rng = np.random.default_rng(seed)
    data = make_dataset(4, 7, lower=LOWER, upper=UPPER)
    query = cross_moments(data, [0, 2], neighbours="add-remove" if added else "replace")
    rows, cols = (NoiseSide.of(random_rotation(2, rng=rng), rng.uniform(0.2, 3, 2)) for _ in range(2))
    corners = np.array(list(itertools.product(*zip(LOWER, UPPER, strict=True))))
    records = np.vstack([corners, rng.uniform(LOWER, UPPER, (200, 4))])
    products = np.array([rows.whitener() @ np.outer(x[[0, 2]], x[[1, 3]]) @ cols.whitener().T for x in records])
    apart = products if added else products[:, None] - products[None, : len(corners)]
    longest = np.sqrt(np.square(apart).sum(axis=(-1, -2))).max() / 7
    worst = query.neighbours.worst(rows, cols)
    assert worst.exact
    assert worst.mu == pytest.approx(longest)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_for_many_columns_is_never_below_the_truth(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    lower = rng.uniform(-2, 1, 5)
    query = cross_moments(make_dataset(5, 9, lower=lower, upper=lower + rng.uniform(0.1, 2, 5)), [1, 4])
    rows, cols = (NoiseSide.of(random_rotation(size, rng=rng), rng.uniform(0.2, 3, size)) for size in (2, 3))
    exact = query.neighbours.worst(rows, cols)
    monkeypatch.setattr(module, "_MOST_CORNERS", 0)
    bound = query.neighbours.worst(rows, cols)
    assert (exact.exact, bound.exact) == (True, False)
    assert exact.mu <= bound.mu * (1 + 1e-12)
    around = cross_moments(make_dataset(4, 9, lower=-2, upper=2), [0]).neighbours  # one group changes its sign
    assert around.worst(NoiseSide.identity(1), NoiseSide.identity(3)).mu == pytest.approx(2 * 2 * 2 * 3**0.5 / 9)


@pytest.mark.parametrize("angle", [np.pi / 4, 3 * np.pi / 4])
def test_the_bound_for_many_columns_counts_moves_in_opposite_directions(angle, monkeypatch):
    """The widest move of two columns that the noise hides least where one grows and the other falls, or both grow."""
    query = cross_moments(make_dataset(3, 9, lower=[-1, -1, 10], upper=[1, 1, 11]), [0, 1])
    rows = NoiseSide.of(rotation(2, (0, 1), angle), np.array([1.0, 1e4]))
    exact = query.neighbours.worst(rows, NoiseSide.identity(1)).mu
    monkeypatch.setattr(module, "_MOST_CORNERS", 0)
    assert exact <= query.neighbours.worst(rows, NoiseSide.identity(1)).mu * (1 + 1e-12)


def test_a_guess_is_that_of_evenly_spread_records():
    rng = np.random.default_rng(5)
    data = make_dataset(4, 3, lower=LOWER, upper=UPPER)
    query = cross_moments(data, [0, 2])
    drawn = rng.uniform(np.array(LOWER)[:, None], np.array(UPPER)[:, None], (40_000, 4, 3))
    answers = drawn[:, [0, 2]] @ drawn[:, [1, 3]].transpose(0, 2, 1) / 3
    guess, mixed = query.guess(data), np.array([[1.0, 0.5], [0.0, 2.0]])
    assert guess.answer == pytest.approx(answers.mean(axis=0), abs=0.05)
    assert guess.spread(None) == pytest.approx(answers.var(axis=0).sum(), rel=0.03)
    spread = guess.spread(Weighing(rows=mixed, both=False))
    assert spread == pytest.approx((mixed @ answers).var(axis=0).sum(), rel=0.03)


def test_trials_judge_the_rows_that_are_needed():
    data = make_dataset(4, 500, lower=LOWER, upper=UPPER)
    scenario = Scenario.for_dataset(data, query="cross", group=(1, 3), allocation="binary", priority_directions=(0,),
                                    share=0.9)
    results = run_trials(scenario, data, trials=200, mechanisms=["mvg", "iid", "laplace"])
    assert results.judged_on == "priority"
    assert results["mvg"].mean < results["iid"].mean


def test_rows_are_needed_by_their_names_and_ranges_of_the_columns_count_too():
    read = (Origin.DECLARED, Origin.READ, Origin.DECLARED, Origin.READ)
    data = replace(make_dataset(4, 500, lower=LOWER, upper=UPPER), range_origins=read)
    scenario = Scenario.for_dataset(data, query="cross", group=["f0", "f2"], priority=["f2"])
    assert scenario.priority == (1,)
    assert "ranges" in release_setup(build(scenario, data), ledger=None, accept=("ranges",)).caveats


def test_a_scenario_releases_them():
    data = make_dataset(4, 500, lower=LOWER, upper=UPPER)
    scenario = Scenario.for_dataset(data, query="cross", group=(1, 3), allocation="binary", priority_directions=(0,))
    setup = build(scenario, data)
    x = setup.table.matrix
    assert setup.query.row_names == ("f1", "f3")
    assert x.shape == (2, 500)
    release = release_setup(setup, ledger=None, accept=("ranges", "records"))
    assert release.names == (("f1", "f3"), ("f0", "f2"))
    assert np.abs(release.noisy - setup.query.value).max() < 20 * setup.design.noise_std().max()
    for group in ((0, 1, 2, 3), (7,)):
        with pytest.raises(InputError, match="group"):
            build(scenario.changed(group=group), data)
    with pytest.raises(InputError, match="choose no clipping bound"):
        build(scenario.changed(bound="even"), data)
