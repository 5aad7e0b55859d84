"""Means by group from released sums and counts, and counts with their intervals: against the records themselves."""

import json
from dataclasses import replace

import numpy as np
import pytest

import mvgviz as mv
from mvgviz import Dataset, InputError, Scenario
from mvgviz.provenance import Origin

RNG = np.random.default_rng(4)
SIZES = {"north": 900, "south": 80, "west": 12}
GROUP = np.repeat(np.arange(3), list(SIZES.values()))
AGES = np.clip(RNG.normal([60, 40, 30], 8, (GROUP.size, 3))[np.arange(GROUP.size), GROUP], 20, 80)
DATA = Dataset(matrix=np.vstack([np.eye(3)[GROUP].T, AGES, RNG.uniform(0, 5, GROUP.size)]),
               features=("region=north", "region=south", "region=west", "age", "dose"), lower=[0, 0, 0, 20, 0],
               upper=[1, 1, 1, 80, 5], levels=[(0, 1, 2)])
TRUE = np.array([[row[g == GROUP].mean() for g in range(3)] for row in DATA.matrix[3:]])


def released(**changes):
    return mv.release_setup(mv.build(Scenario.for_dataset(DATA, **changes), DATA), ledger=None)


@pytest.mark.parametrize("scale", ["declared", "symmetric", "unit"])
def test_means_are_those_of_the_groups_in_the_units_of_the_data(scale):
    found = mv.means_by_group(released(query="group_means", scale=scale, epsilon=900), 0.999999)
    assert (found.features, found.groups) == (("age", "dose"), ("region=north", "region=south", "region=west"))
    assert found.values == pytest.approx(TRUE, abs=1.5)
    assert found.values[:, 0] == pytest.approx(TRUE[:, 0], abs=0.05)
    assert ((found.lower <= TRUE) & (found.upper >= TRUE)).all()


def test_a_line_for_each_mean():
    frame = mv.means_by_group(released(query="group_means", group=["dose"], epsilon=10)).to_frame()
    assert list(frame.columns) == ["feature", "group", "mean", "lower", "upper", "population lower", "population upper"]
    assert list(frame["group"]) == [f"region={name}" for name in SIZES]
    assert ((frame["lower"] >= 0) & (frame["upper"] <= 5)).all()


@pytest.mark.parametrize(("directions", "most"), [("standard", 0.965), ("rotation", 1.0)])
def test_intervals_cover_at_least_as_often_as_they_say_and_not_much_more(directions, most):
    release = released(query="group_means", epsilon=1.5, directions=directions, plane=("age", "count"), angle=30)
    setup = mv.build(release.scenario, DATA)
    noise = mv.sample_noise(setup.design, rng=np.random.default_rng(0), trials=2_000)
    held = np.zeros(TRUE.shape)
    for drawn in noise:
        found = mv.means_by_group(replace(release, noisy=setup.query.value + drawn))
        held += (found.lower <= TRUE) & (found.upper >= TRUE)
    assert held.min() / 2_000 >= 0.935  # four standard errors below
    assert held[:, 0].max() / 2_000 <= most  # of the large group, whose interval is not cut


def test_intervals_for_the_population_cover_where_values_are_at_the_ends_which_spreads_most():
    release = released(query="group_means", epsilon=1.5, scale="declared")
    noise = mv.sample_noise(mv.build(release.scenario, DATA).design, rng=np.random.default_rng(1), trials=2_000)
    rng, high, halves = np.random.default_rng(2), np.array([[0.8, 0.5, 0.3], [0.97, 0.6, 0.5]]), [[30.0], [2.5]]
    true, held = np.array([[20.0], [0.0]]) + 2 * np.array(halves) * high, np.zeros(high.shape)
    for drawn in noise:
        counts = rng.multinomial(GROUP.size, [0.8, 0.15, 0.05])
        answer = np.vstack([halves * (2 * rng.binomial(counts, high) - counts), counts])
        low, up = mv.means_by_group(replace(release, noisy=answer + drawn)).population
        held += (low <= true) & (up >= true)
    assert held.min() / 2_000 >= 0.935
    assert held[:, 0].max() / 2_000 <= 0.975
    several = replace(release, neighbour_rule="up to 2 records of one person replaced")
    assert mv.means_by_group(several).population is None


def test_a_group_that_may_be_empty_gets_the_whole_range():
    release = released(query="group_means", epsilon=0.01)
    found = mv.means_by_group(replace(release, noisy=np.zeros_like(release.noisy)))
    assert found.lower.tolist() == [[20.0] * 3, [0.0] * 3]
    assert found.upper.tolist() == [[80.0] * 3, [5.0] * 3]
    assert found.values.tolist() == [[50.0] * 3, [2.5] * 3]


def test_another_release_has_no_means_by_group():
    with pytest.raises(InputError, match="release the query group_means"):
        mv.means_by_group(released(query="counts"))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_counts_have_intervals_in_records_and_a_certificate(neighbours):
    release = released(query="counts", neighbours=neighbours, epsilon=5)
    frame = release.to_frame(0.999999)
    assert list(frame["feature"]) == [f"region={name}" for name in SIZES]
    assert ((frame["lower"] <= list(SIZES.values())) & (frame["upper"] >= list(SIZES.values()))).all()
    assert release.data_units is None
    assert '"query": "counts"' in mv.to_metadata_json(release)
    assert mv.to_csv(release).splitlines()[0] == ",count"


@pytest.mark.parametrize("query", ["counts", "cross_table", "group_means"])
def test_trials_run_and_priority_rows_are_judged(query):
    data = replace(DATA, matrix=np.vstack([DATA.matrix, np.eye(2)[GROUP % 2].T]), lower=[*DATA.lower, 0, 0],
                   upper=[*DATA.upper, 1, 1], features=(*DATA.features, "sex=f", "sex=m"), levels=[(0, 1, 2), (5, 6)],
                   range_origins=DATA.range_origins + DATA.range_origins[:2], units=())
    scenario = Scenario.for_dataset(data, query=query, allocation="binary", priority_directions=(0,), share=0.7)
    results = mv.run_trials(scenario, data, trials=100, mechanisms=["mvg", "iid", "laplace"])
    assert results.judged_on == "priority"
    gains = results["mvg"].mean / results["iid"].mean
    assert gains < 0.95 if query != "cross_table" else gains == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("asked", "told"), [
    ({"query": "counts"}, set(DATA.features[:3])),
    ({"query": "group_means", "group": ["age"]}, set(DATA.features[:4]))])
def test_nothing_is_published_of_columns_that_were_not_asked_about(asked, told):
    read = replace(DATA, range_origins=[Origin.DECLARED] * 4 + [Origin.READ], units=("", "", "", "years", "mg"))
    setup = mv.build(Scenario.for_dataset(read, **asked), read)
    made = mv.release_setup(setup, ledger=mv.Ledger())
    certificate = json.loads(mv.to_metadata_json(made))
    assert set(certificate["ranges"]["of_the_data"]) == set(certificate["units"]) == told
