"""Averages of releases and means by group: against weights by hand and the records themselves, and their coverage."""

import json
from dataclasses import replace

import numpy as np
import pytest

import mvgviz as mv
from mvgviz import Dataset, InputError, Ledger, Scenario, build, combine, release_setup, sample
from mvgviz.pictures.release import average_words
from mvgviz.pictures.sentences import released_clipping
from mvgviz.provenance import Origin
from mvgviz.release.combine import same_question
from mvgviz.release.release import release

DATA = sample("liver")


def setup_of(**changes):
    return build(Scenario.default_for("liver").changed(**{"query": "mean", **changes}), DATA)


def test_the_more_precise_release_counts_more():
    rough, fine = (release_setup(setup_of(epsilon=epsilon), ledger=Ledger()) for epsilon in (0.5, 2.0))
    both = combine(rough, fine)
    for i in range(6):
        stds = np.array([one.known_noise.std[i, 0] for one in (rough, fine)])
        weights = stds**-2 / (stds**-2).sum()
        assert both.values[i, 0] == pytest.approx(weights @ [rough.noisy[i, 0], fine.noisy[i, 0]], rel=1e-12)
        assert both.std[i, 0] == pytest.approx((stds**-2).sum() ** -0.5)
    assert (both.half_widths() < fine.half_widths()).all()
    frame = both.columns()
    assert frame["row"] == list(DATA.features)
    middle = fine.data_units.of(both.values)[:, 0]
    np.testing.assert_allclose(frame["value"], middle)
    assert both.to_csv().splitlines()[0] == "row,column,value,lower,upper"
    assert both.epsilon > 2


def test_intervals_of_an_average_hold_as_often_as_they_say():
    setup, ledger = setup_of(), Ledger()
    held = [np.abs(both.values - setup.query.value) <= both.half_widths(0.8) for both in (
        combine(*(release_setup(setup, ledger=ledger) for _ in range(3))) for _ in range(60))]
    assert 0.73 < np.mean(held) < 0.87  # 360 numbers at 0.8: three standard deviations


def test_different_questions_are_refused():
    mean = release_setup(setup_of(), ledger=Ledger())
    for other in (release_setup(setup_of(query="covariance"), ledger=Ledger()),
                  release_setup(setup_of(scale="declared"), ledger=Ledger()),
                  release_setup(setup_of(neighbours="add-remove"), ledger=Ledger()), replace(mean, n_records=344),
                  replace(mean, title="Another file"), replace(mean, data="other"), replace(mean, gaps="middle")):
        with pytest.raises(InputError, match="these releases asked different questions"):
            combine(mean, other)
    with pytest.raises(InputError, match="at least two"):
        combine(mean)
    with pytest.raises(InputError, match="given twice"):
        combine(mean, mean)


def test_kernels_of_different_length_are_different_questions():
    few = replace(DATA, matrix=DATA.matrix[:, :20])
    kernels = [release_setup(build(Scenario.default_for("liver").changed(query="kernel", length=length), few),
                             ledger=Ledger()) for length in (1.0, 2.0)]
    with pytest.raises(InputError, match="different questions"):
        combine(*kernels)
    assert same_question(kernels[0], tuple(kernels)) == (kernels[0],)


@pytest.mark.parametrize("query", ["counts", "group_means"])
def test_counts_of_another_category_are_another_question(query):
    """Both have the levels true and false, in the same places."""
    given = [release_setup(build(Scenario.for_dataset(data, query=query), data), ledger=Ledger()) for data in (
        Dataset(matrix=np.vstack([np.eye(2), [30, 50]]), features=(f"{name}=false", f"{name}=true", "age"), lower=0,
                upper=[1, 1, 100], levels=[(0, 1)], title="survey") for name in ("smokes", "drinks"))]
    assert "smokes=true" in given[0].names[query == "group_means"]
    with pytest.raises(InputError, match="different questions"):
        combine(*given)


def test_a_question_that_the_certificate_does_not_tell_is_refused(tmp_path):
    turned = setup_of(bound="own", radius=0.5, directions="rotation", angle=20)
    ledger = Ledger(tmp_path / "l.sqlite")
    fresh = [release_setup(turned, ledger=ledger, population="a") for _ in range(2)]
    table = Dataset(matrix=np.eye(2), features=("sex=f", "sex=m"), lower=0, upper=1, levels=[(0, 1)])
    counted, elsewhere, named = ([made(query) for _ in range(2)] for query in (
        mv.counts(table), mv.custom(np.eye(2), sensitivity=1, gamma=2), mv.mean(DATA)))
    assert combine(*named).epsilon > 1
    nameless = [replace(one, data=None) for one in named]
    for pair, words in ((fresh, "does not show the clipping bound"),
                        (ledger.releases("a"), "does not show the clipping bound"),
                        (counted, "it has no scenario"), (elsewhere, "computed elsewhere"), (nameless, "no name")):
        with pytest.raises(InputError, match=words):
            combine(*pair)
        assert same_question(pair[0], tuple(pair)) == ()


def made(query):
    return release(query, mv.design_noise(query, epsilon=1, delta=1e-6), data="a", ledger=Ledger())


def test_what_a_ledger_kept_is_averaged_with_what_is_new(tmp_path):
    ledger = Ledger(tmp_path / "l.sqlite")
    for changes in ({}, {"bound": "even"}, {"query": "kernel"}):
        table = replace(DATA, matrix=DATA.matrix[:, :20])
        setup = build(Scenario.default_for("liver").changed(**{"query": "mean", **changes}), table)
        new = [release_setup(setup, ledger=ledger, population=str(changes)) for _ in range(2)]
        assert combine(ledger.releases(str(changes))[0], new[1]).epsilon == pytest.approx(
            ledger.total(str(changes), delta=new[0].delta).epsilon)


def test_an_average_of_clipped_records_says_how_far_clipping_moved_it():
    both = combine(*(release_setup(setup_of(bound="even"), ledger=Ledger()) for _ in range(2)))
    one = both.releases[0]
    assert both.columns()["clipping adds at most"] == list(one.to_frame()["clipping adds at most"])
    assert both.to_csv().splitlines()[0] == "row,column,value,lower,upper,clipping adds at most"
    assert average_words(both, one).endswith(released_clipping(one))
    assert "clipping adds" in released_clipping(one)


# Means by group, and counts

RNG = np.random.default_rng(4)
SIZES = {"north": 900, "south": 80, "west": 12}
GROUP = np.repeat(np.arange(3), list(SIZES.values()))
AGES = np.clip(RNG.normal([60, 40, 30], 8, (GROUP.size, 3))[np.arange(GROUP.size), GROUP], 20, 80)
GROUPED = Dataset(matrix=np.vstack([np.eye(3)[GROUP].T, AGES, RNG.uniform(0, 5, GROUP.size)]),
               features=("region=north", "region=south", "region=west", "age", "dose"), lower=[0, 0, 0, 20, 0],
               upper=[1, 1, 1, 80, 5], levels=[(0, 1, 2)])
TRUE = np.array([[row[g == GROUP].mean() for g in range(3)] for row in GROUPED.matrix[3:]])


def by_group(**changes):
    return mv.release_setup(mv.build(Scenario.for_dataset(GROUPED, **changes), GROUPED), ledger=None)


@pytest.mark.parametrize("scale", ["declared", "symmetric", "unit"])
def test_means_are_those_of_the_groups_in_the_units_of_the_data(scale):
    found = mv.means_by_group(by_group(query="group_means", scale=scale, epsilon=900), 0.999999)
    assert (found.features, found.groups) == (("age", "dose"), ("region=north", "region=south", "region=west"))
    assert found.values == pytest.approx(TRUE, abs=1.5)
    assert found.values[:, 0] == pytest.approx(TRUE[:, 0], abs=0.05)
    assert ((found.lower <= TRUE) & (found.upper >= TRUE)).all()


def test_a_line_for_each_mean():
    frame = mv.means_by_group(by_group(query="group_means", group=["dose"], epsilon=10)).to_frame()
    assert list(frame.columns) == ["feature", "group", "mean", "lower", "upper", "population lower", "population upper"]
    assert list(frame["group"]) == [f"region={name}" for name in SIZES]
    assert ((frame["lower"] >= 0) & (frame["upper"] <= 5)).all()


@pytest.mark.parametrize(("directions", "most"), [("standard", 0.965), ("rotation", 1.0)])
def test_intervals_cover_at_least_as_often_as_they_say_and_not_much_more(directions, most):
    release = by_group(query="group_means", epsilon=1.5, directions=directions, plane=("age", "count"), angle=30)
    setup = mv.build(release.scenario, GROUPED)
    noise = mv.sample_noise(setup.design, rng=np.random.default_rng(0), trials=2_000)
    held = np.zeros(TRUE.shape)
    for drawn in noise:
        found = mv.means_by_group(replace(release, noisy=setup.query.value + drawn))
        held += (found.lower <= TRUE) & (found.upper >= TRUE)
    assert held.min() / 2_000 >= 0.935  # four standard errors below
    assert held[:, 0].max() / 2_000 <= most  # of the large group, whose interval is not cut


def test_intervals_for_the_population_cover_where_values_are_at_the_ends_which_spreads_most():
    release = by_group(query="group_means", epsilon=1.5, scale="declared")
    noise = mv.sample_noise(mv.build(release.scenario, GROUPED).design, rng=np.random.default_rng(1), trials=2_000)
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
    release = by_group(query="group_means", epsilon=0.01)
    found = mv.means_by_group(replace(release, noisy=np.zeros_like(release.noisy)))
    assert found.lower.tolist() == [[20.0] * 3, [0.0] * 3]
    assert found.upper.tolist() == [[80.0] * 3, [5.0] * 3]
    assert found.values.tolist() == [[50.0] * 3, [2.5] * 3]


def test_another_release_has_no_means_by_group():
    with pytest.raises(InputError, match="release the query group_means"):
        mv.means_by_group(by_group(query="counts"))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_counts_have_intervals_in_records_and_a_certificate(neighbours):
    release = by_group(query="counts", neighbours=neighbours, epsilon=5)
    frame = release.to_frame(0.999999)
    assert list(frame["feature"]) == [f"region={name}" for name in SIZES]
    assert ((frame["lower"] <= list(SIZES.values())) & (frame["upper"] >= list(SIZES.values()))).all()
    assert release.data_units is None
    assert '"query": "counts"' in mv.to_metadata_json(release)
    assert mv.to_csv(release).splitlines()[0] == ",count"


@pytest.mark.parametrize("query", ["counts", "cross_table", "group_means"])
def test_trials_run_and_priority_rows_are_judged(query):
    data = replace(GROUPED, matrix=np.vstack([GROUPED.matrix, np.eye(2)[GROUP % 2].T]), lower=[*GROUPED.lower, 0, 0],
                   upper=[*GROUPED.upper, 1, 1], features=(*GROUPED.features, "sex=f", "sex=m"), units=(),
                   levels=[(0, 1, 2), (5, 6)], range_origins=GROUPED.range_origins + GROUPED.range_origins[:2])
    scenario = Scenario.for_dataset(data, query=query, allocation="binary", priority_directions=(0,), share=0.7)
    results = mv.run_trials(scenario, data, trials=100, mechanisms=["mvg", "iid", "laplace"])
    assert results.judged_on == "priority"
    gains = results["mvg"].mean / results["iid"].mean
    assert gains < 0.95 if query != "cross_table" else gains == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("asked", "told"), [
    ({"query": "counts"}, set(GROUPED.features[:3])),
    ({"query": "group_means", "group": ["age"]}, set(GROUPED.features[:4]))])
def test_nothing_is_published_of_columns_that_were_not_asked_about(asked, told):
    read = replace(GROUPED, range_origins=[Origin.DECLARED] * 4 + [Origin.READ], units=("", "", "", "years", "mg"))
    setup = mv.build(Scenario.for_dataset(read, **asked), read)
    made = mv.release_setup(setup, ledger=mv.Ledger())
    certificate = json.loads(mv.to_metadata_json(made))
    assert set(certificate["ranges"]["of_the_data"]) == set(certificate["units"]) == told
