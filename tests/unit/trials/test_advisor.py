"""The advisor: its candidates, its ranking against direct trials, its reasons, and the stand-in that sees no data."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Dataset, InputError, Scenario
from mvgviz.data import sample, samples
from mvgviz.pictures.advice import advice_marks, dropped_words, levers_sentence, why
from mvgviz.pictures.sentences import design_words
from mvgviz.scenario.resolve import build
from mvgviz.trials import candidates as designs
from mvgviz.trials.advisor import FINALISTS, FIRST_ROUND, advise
from mvgviz.trials.expected_error import expected_error
from mvgviz.trials.problem import PERCENT, pose, pose_each
from mvgviz.trials.run import TrialCache, run_trials
from mvgviz.trials.simulated import simulated_data, simulated_tables
from mvgviz.trials.tasks import measure_for
from tests.datasets import make_dataset

LIVER = Scenario.default_for("liver").changed(judged="everything")


@pytest.fixture(scope="module")
def advice():
    return advise(LIVER.changed(trials=45), sample("liver"), on_data=True)


# candidates

def test_the_candidates_are_different_and_have_every_kind():
    every = designs.candidates(LIVER, sample("liver"))
    assert len({designs.key_of(one, sample("liver")) for one in every}) == len(every) == len(set(every))
    assert {one.mechanism for one in every} == {"mvg", designs.REDUCED}
    listed = [one.scenario for one in every]
    assert {one.query for one in listed} == {"covariance", "identity", "moments"}
    assert {(one.bound, "aware" in one.post) for one in listed} == {
        (bound, aware) for bound in ("none", "even", "private") for aware in (True, False)}
    assert {one.guarantee for one in listed} == {"exact", "theorem1", "theorem2"}
    assert {one.directions for one in listed} == {"standard", "private"}
    assert {one.allocation for one in listed} == {"uniform", "binary", "least-error", "max-pnr"}
    shares = {one.share for one in listed if one.allocation == "binary" and one.directions == "standard"}
    assert shares == {*designs.FEW_SHARES, 0.75, LIVER.share}  # those of the theorems, and the scenario's own
    assert all(one.private_share == 0.2 for one in listed if one.directions == "private")
    assert not any(one.guarantee == "theorem2" for one in listed if one.query == "identity")


@pytest.mark.parametrize("data", samples())
def test_each_dataset_has_its_own_design_once_among_the_candidates(data):
    scenario = Scenario.default_for(data)
    mine = [one for one in designs.candidates(scenario, sample(data)) if one.is_current]
    assert [one.scenario for one in mine] == [scenario]
    assert all(one.private for one in designs.candidates(scenario, sample(data)))


@pytest.mark.slow
@pytest.mark.parametrize("change", [
    {"allocation": "uniform", "priority_directions": ()}, {"allocation": "uniform", "priority_directions": (1,)},
    {"allocation": "binary", "priority_directions": ()}, {"allocation": "binary",
                                                          "priority_directions": (0, 1, 2, 3, 4, 5)},
    {"allocation": "binary", "priority_directions": (77,)}, {"allocation": "least-error", "priority_directions": ()},
    {"allocation": "manual", "weights": (7,) * 6}, {"allocation": "binary", "priority_directions": (2, 77)},
    {"allocation": "binary", "priority_directions": (), "guarantee": "theorem2"}])
def test_equal_shares_are_listed_once_however_they_are_said(change):
    data, scenario = sample("liver"), LIVER.changed(**change)
    listed = designs.candidates(scenario, data)
    noises = [(one.mechanism, one.scenario.query, one.scenario.guarantee, one.scenario.directions, one.scenario.bound,
               "aware" in one.scenario.post, tuple(build(one.scenario, data).design.theta.round(12))) for one in listed]
    assert len(set(noises)) == len(noises)
    names = [str(design_words(one, data.features)) for one in listed]
    assert len(set(names)) == len(names)
    assert [one.scenario for one in listed if one.is_current] == [scenario]


def test_loading_a_candidate_leaves_the_list_as_it_was():
    data = sample("liver")
    before = {designs.key_of(one, data) for one in designs.candidates(LIVER, data) if not one.is_current}
    loadable = [one for one in (*designs.candidates(LIVER, data)[::5], *designs.closer(LIVER, data, "covariance")[::11])
                if one.is_whole]
    for one in loadable:
        after = designs.candidates(one.scenario, data)
        assert before <= {designs.key_of(other, data) for other in after}
        assert len([other for other in after if other.is_current]) == 1


def test_a_rotation_is_kept_and_open_eigenvectors_are_not_advised():
    turned = designs.candidates(LIVER.changed(directions="rotation", angle=20.0), sample("liver"))
    assert {one.scenario.angle for one in turned if one.scenario.directions == "rotation"} == {20.0}
    assert all(one.private for one in turned)
    openly = designs.candidates(LIVER.changed(directions="eigenvectors"), sample("liver"))
    assert [one.is_current for one in openly if not one.private] == [True]
    assert not any(one.scenario.directions == "eigenvectors" for one in openly if not one.is_current)
    for bound in ("none", "even"):
        read = designs.candidates(LIVER.changed(allocation="max-pnr", bound=bound), sample("liver"))
        assert [one.is_current for one in read if not one.private] == [True]


@pytest.mark.parametrize(("change", "queries"), [
    ({"task": "reconstruction"}, ("covariance",)), ({"task": "reconstruction", "query": "mean"}, ("mean",)),
    ({"task": "kernel-ridge"}, ("identity",)), ({"query": "mean"}, ("covariance", "moments", "identity")),
    ({"query": "mean", "task": "subspace"}, ("covariance", "identity")),
    ({"query": "moments", "task": "subspace"}, ("moments",)),  # about the mean: other directions
    ({"task": "subspace", "query": "kernel"}, ("kernel",)), ({"query": "laplacian"}, ("laplacian",))])
def test_only_queries_with_the_same_truth_are_compared(change, queries):
    assert designs.serving_queries(LIVER.changed(**change)) == queries


def test_what_is_favoured_is_the_scenario_s_or_the_label():
    assert designs.priority_features_of(LIVER, 6) == (2, 5)
    assert designs.priority_features_of(LIVER.changed(priority_directions=()), 6) == (5,)
    assert designs.priority_features_of(LIVER.changed(priority_directions=(), task="subspace"), 6) == ()
    assert designs.priority_features_of(LIVER.changed(priority_directions=tuple(range(6)), label=None), 6) == ()
    # Favoured eigenvectors are no features: the data's defaults stand in.
    assert designs.priority_features_of(LIVER.changed(priority_directions=(0,), directions="private"), 6) == (2, 5)


def test_a_closer_look_has_every_bound_share_and_use_of_one_query():
    found = designs.closer(LIVER, sample("liver"), "covariance")
    assert len(found) == len(designs.RADII) * (1 + len(designs.SHARES)) * 2  # used with the noise known and without
    assert {one.scenario.query for one in found} == {"covariance"}
    assert len({designs.key_of(one, sample("liver")) for one in found}) == len(found)


def test_neighbours_are_a_step_away_and_never_favour_with_less_than_equal_shares():
    data = sample("liver")
    here = designs.Candidate(scenario=LIVER.changed(bound="even", share=0.4))
    around = [one.scenario for one in designs.neighbours(here, LIVER, data)]
    assert {one.share for one in around if one.radius == 1} == {0.35, 0.4, 0.45, 0.5}
    assert {one.radius for one in around} == {0.7, 0.85, 1.0, 1.2, 1.4}
    assert {one.priority_directions for one in around} == {(2, 5), (5,)}
    assert [one.priority for one in around if one.priority_directions == (5,)] == [(2, 5)]  # still judged by the same
    small = designs.neighbours(designs.Candidate(scenario=LIVER.changed(bound="own", radius=0.3)), LIVER, data)
    assert min(one.scenario.radius for one in small) >= 0.25


@pytest.mark.parametrize("judged", ["priority", "other"])
def test_all_candidates_are_judged_by_the_same_features(judged):
    data, scenario = sample("cardiotocography"), Scenario.default_for("cardiotocography").changed(judged=judged)
    every = [one.scenario for one in designs.candidates(scenario, data)]
    assert {one.directions for one in every} == {"standard", "private"}
    assert len({tuple(posed.positions) for posed in pose_each(every, data)}) == 1
    ridge = LIVER.changed(judged=judged, priority_directions=(2, 3))
    problems = pose_each([one.scenario for one in designs.candidates(ridge, sample("liver"))], sample("liver"))
    assert len({tuple(k for k in posed.positions if k < 6) for posed in problems}) == 1
    assert len({measure_for(posed).references.random_guess for posed in problems}) == 1


@pytest.mark.slow
def test_where_nothing_is_said_to_be_needed_all_are_judged_by_everything():
    found = advise(LIVER.changed(directions="rotation", judged="priority", trials=2), sample("liver"))
    assert {row.candidate.scenario.judged for row in found.rows} == {"everything"}
    assert found.current is not None


def test_the_usual_length_of_joint_moments_is_not_that_of_an_even_record():
    data, own = sample("liver"), LIVER.changed(bound="own", radius=1.0)
    for query, same in (("covariance", True), ("moments", False)):
        even, given = (designs.Candidate(scenario=one.changed(query=query))
                       for one in (LIVER.changed(bound="even"), own))
        assert (designs.key_of(even, data) == designs.key_of(given, data)) is same
        weights = [build(one.scenario, data).query.bound.ellipse(6 + (not same)) for one in (even, given)]
        assert np.allclose(weights[0].weights / weights[0].radius, weights[1].weights / weights[1].radius) is same


# ranking

@pytest.mark.slow
def test_the_first_design_is_as_good_as_the_best_of_all_combinations():
    data = make_dataset(3, 60, lower=[-1, 0, -1], upper=[1, 1, 1])
    scenario = Scenario(data="two_features", query="covariance", task="covariance-estimation",
                        priority_directions=(1,), trials=40)
    best = advise(scenario, data, on_data=True).best.outcome.mean
    least = math.inf
    for query in ("covariance", "identity"):
        for radius in (None, 0.3, 0.5, 0.8, 1.0, 1.3, 1.6):
            for share in (1 / 3, 0.5, 0.6, 0.7, 0.8, 0.9):
                for post in (scenario.post, scenario.post[:-1]):
                    bound = {} if radius is None else {"bound": "own", "radius": radius}
                    tried = scenario.changed(query=query, allocation="binary", share=share, post=post, **bound)
                    least = min(least, run_trials(tried, data, mechanisms=["mvg"], sensitivity="tight")["mvg"].mean)
    assert best <= 1.03 * least


@pytest.mark.slow
def test_the_ranking_is_that_of_direct_trials_all_for_the_best_and_a_first_round_for_the_others(advice):
    assert advice.complete
    means = [row.outcome.mean for row in advice.rows[1:] if row.finalist]
    assert means == sorted(means)
    assert len(means) == FINALISTS - advice.rows[0].finalist
    for row in (advice.rows[0], advice.rows[-1]):
        key = row.candidate.mechanism
        direct = run_trials(row.candidate.scenario.changed(trials=row.outcome.errors.size), sample("liver"),
                            mechanisms=[key], sensitivity="tight")[key]
        assert np.array_equal(direct.errors, row.outcome.errors)
    assert {row.outcome.errors.size for row in advice.rows if row.finalist} == {45}
    rest = {row.outcome.errors.size for row in advice.rows if not (row.finalist or row.candidate.is_current)}
    assert rest == {FIRST_ROUND}
    assert advice.current.outcome.errors.size == 45


@pytest.mark.slow
def test_for_ridge_the_covariance_beats_the_table_and_exact_beats_the_theorems(advice):
    # Means near 0.42 against 0.70 for the table or a theorem, with standard errors below 0.02.
    best = advice.best.candidate.scenario
    assert (best.query, best.guarantee) == ("covariance", "exact")
    assert advice.best.clearly_beats(advice.current) or advice.best is advice.current
    others = {one.lever: one for one in advice.levers.without}
    for lever in ("query", "calibration"):
        assert others[lever].factor < 0.75
        assert others[lever].difference.verdict == "worse"


@pytest.mark.slow
def test_two_sentences_say_why_and_by_how_much(advice):
    first, second = why(advice, sample("liver").features), levers_sentence(advice.levers)
    assert first.startswith(("Recommended: covariance, exact", "Keep your design: covariance, exact"))
    assert ("Your design (covariance, exact, 80 % to sgpt and drinks)" in first) != first.startswith("Keep")
    assert second.startswith("From an error of ")
    assert "(Theorem 1, table, equal noise) down to" in second


@pytest.mark.slow
def test_the_chart_has_the_first_the_present_and_one_of_each_kind(advice):
    marks = advice_marks(advice, sample("liver").features)
    assert [mark.ring for mark in marks].count(True) == 1
    assert marks[0].mean == advice.rows[0].outcome.mean
    for kind in ("table, exact", "covariance, Theorem 1", "covariance, Theorem 2", "table, Theorem 1"):
        assert any(mark.label.startswith(kind) for mark in marks)


def test_one_trial_recommends_nothing():
    data = sample("two_features")
    found = advise(Scenario(trials=1, query="covariance", task="first-component"), data)
    assert found.complete
    assert math.isnan(found.best.outcome.half_width)
    assert found.best is found.current
    assert why(found, data.features).startswith("No recommendation. Yours: ")


@pytest.mark.slow
def test_cancelled_work_comes_back_as_far_as_it_is_and_goes_on():
    scenario, data, cache = Scenario(trials=42, task="subspace"), sample("two_features"), TrialCache()
    calls, seen = iter(range(10**9)), []
    part = advise(scenario, data, cache=cache, cancelled=lambda: next(calls) > 12)
    assert not part.complete
    assert part.rows
    whole = advise(scenario, data, cache=cache, progress=lambda *now: seen.append(now))
    assert whole.complete
    assert len(whole.rows) > len(part.rows)
    assert seen[-1][0] == seen[-1][1]
    alone = advise(scenario, data)
    assert [row.outcome.mean for row in whole.rows] == [row.outcome.mean for row in alone.rows]


@pytest.mark.slow
def test_designs_that_do_not_work_out_are_dropped_with_a_count_and_the_reason():
    lost = advise(LIVER.changed(label=None, trials=2), sample("liver"))
    assert lost.rows == ()
    assert lost.best is None
    assert lost.complete
    assert why(lost, ()) is None
    assert any("designs dropped: regression needs a label" in line for line in dropped_words(lost))
    uploaded = advise(LIVER.changed(directions="upload", trials=2), sample("liver"))
    assert uploaded.rows
    assert len(uploaded.dropped) == len(
        [one for one in designs.candidates(LIVER.changed(directions="upload"), sample("liver"))
         if one.scenario.directions == "upload"])
    assert all("upload them again" in reason for reason in uploaded.dropped.values())


def test_a_task_with_one_query_and_one_feature_has_advice():
    data = make_dataset(1, 20)
    found = advise(Scenario(data="two_features", query="mean", priority_directions=(), allocation="uniform"), data)
    assert {row.candidate.scenario.query for row in found.rows} == {"mean"}
    assert found.best is found.current
    assert found.levers is None


@pytest.mark.slow
@pytest.mark.parametrize("data", samples())
def test_advice_on_the_simulated_data_of_each_dataset(data):
    found = advise(Scenario.default_for(data).changed(trials=2), sample(data))
    assert found.complete
    assert found.best is not None
    assert not found.dropped


def test_designs_are_named_with_what_they_favour():
    names = [str(design_words(one, sample("liver").features)) for one in designs.candidates(LIVER, sample("liver"))]
    assert "table, exact, 50 % to sgpt and drinks" in names
    assert "covariance, exact, ellipse, 50 % to sgpt and drinks, without noise correction" in names
    assert "mean and second moments, exact, round bound, equal shares" in names
    assert "covariance, exact, only sgpt and drinks" in names
    assert "covariance, exact, private eigenvectors, 65 % to the 2 strongest" in names
    assert "covariance, exact, private eigenvectors, paper's best split" in names
    assert "covariance, Theorem 2, equal shares" in names
    assert len(set(names)) == len(names)
    openly = designs.candidates(LIVER.changed(directions="eigenvectors"), sample("liver"))[0]
    assert str(design_words(openly, ())).endswith("(not private)")


# the stand-in

def test_the_simulated_data_is_the_same_whatever_the_data():
    ranges = {"lower": [-3.0, 0.0, 10.0], "upper": [1.0, 5.0, 11.0]}
    one, other = (Dataset(matrix=np.random.default_rng(seed).uniform(0, 1, (3, 50)), features=("a", "b", "c"),
                          **ranges) for seed in (1, 2))
    first, second = (simulated_data(data, rng=np.random.default_rng(7)) for data in (one, other))
    assert np.array_equal(first.matrix, second.matrix)
    assert not np.array_equal(one.matrix, other.matrix)
    assert first.features == one.features


def test_the_simulated_data_stays_in_its_ranges_and_has_one_factor():
    data = make_dataset(5, 40_000, lower=[-1, 0, 2, -5, 0], upper=[1, 10, 3, 5, 0.1])
    made = simulated_data(data, rng=np.random.default_rng(3))
    assert made.count_outside() == 0
    correlations = np.corrcoef(made.matrix)[np.triu_indices(5, 1)]
    # Skewed features are less than normal ones would be; 40 000 records: sd 0.004.
    assert np.abs(correlations) == pytest.approx(np.full(10, 0.5), abs=0.05)
    parts = (made.matrix.mean(axis=1) - data.lower) / data.widths
    assert np.abs(parts - 0.5) == pytest.approx(np.full(5, 0.25), abs=0.01)  # none in the middle of its range


def test_simulated_tables_lie_all_over_the_ranges_and_hold_nothing_of_the_data():
    data = make_dataset(4, 30, lower=[-1, 0, 2, -5], upper=[1, 10, 3, 5])
    tables = simulated_tables(data)
    again = simulated_tables(replace(data, matrix=np.repeat(data.lower[:, None], 30, axis=1)))
    assert all(np.array_equal(one.matrix, other.matrix) for one, other in zip(tables, again, strict=True))
    assert all(table.count_outside() == 0 for table in tables)
    parts = np.array([(table.matrix.mean(axis=1) - data.lower) / data.widths for table in tables])
    assert (parts.min(axis=0) < 0.15).all()
    assert (parts.max(axis=0) > 0.85).all()
    spreads = np.array([table.matrix.std(axis=1) / data.widths for table in tables])
    assert (spreads.min(axis=0) < 0.03).all()
    assert (spreads.max(axis=0) > 0.25).all()


def test_a_simulated_graph_is_a_graph_of_public_density():
    graph = sample("karate")
    made = simulated_data(graph, rng=np.random.default_rng(0), graph=True)
    assert np.isin(made.matrix, (0, 1)).all()
    assert (made.matrix == made.matrix.T).all()
    assert not np.diag(made.matrix).any()
    empty = replace(graph, matrix=np.zeros_like(graph.matrix))
    assert np.array_equal(simulated_data(empty, rng=np.random.default_rng(0), graph=True).matrix, made.matrix)
    edges, pairs = made.matrix.sum() / 2, 34 * 33 / 2
    # Binomial: 5 standard deviations.
    assert edges / pairs == pytest.approx(34**-0.5, abs=5 * math.sqrt(34**-0.5 / pairs))
    with pytest.raises(InputError, match="as many rows as columns"):
        simulated_data(make_dataset(2, 5), rng=np.random.default_rng(0), graph=True)


def test_where_a_direction_is_needed_all_designs_are_judged_along_it():
    data = sample("two_features")
    scenario = Scenario.default_for("two_features").changed(directions="rotation", angle=45.0,
                                                            priority_directions=(0,), trials=20)
    found = advise(scenario, data)
    assert {row.candidate.scenario.judged for row in found.rows} == {"priority"}
    assert any(row.candidate.mechanism == designs.REDUCED and row.candidate.scenario.directions == "rotation"
               for row in found.rows)
    assert found.references is not None
    assert found.references.unit == PERCENT
    assert found.current is not None  # without a bound the noise is all, whatever the table
    assert found.current.outcome.mean == pytest.approx(expected_error(pose(scenario, data)).total)


# what may be recommended

def skewed(seed, records=439):
    """Visits: six columns whose means lie anywhere in their ranges."""
    rng = np.random.default_rng([439, seed])
    widths, lower = 10 ** rng.uniform(0, 2, 6), rng.uniform(-5, 5, 6)
    parts = np.clip(rng.uniform(0.05, 0.95, (6, 1)) + rng.uniform(0.03, 0.2, (6, 1)) * rng.standard_normal(
        (6, records)), 0, 1)
    return Dataset(matrix=lower[:, None] + widths[:, None] * parts, features=list("abcdef"), lower=lower,
                   upper=lower + widths)


def entry_by_entry(scenario, data):
    """Noise and bias on the needed, written out: a formula that the advisor does not use."""
    setup = build(scenario, data)
    off, rows = setup.query.value - setup.box.value, setup.design.row_covariance()
    total, count = 0.0, 0
    for i in scenario.needs:
        for j in scenario.needs if setup.query.symmetric else range(off.shape[1]):
            noise = (rows[i, i] * rows[j, j] + rows[i, j] ** 2) / 2 if setup.query.symmetric else rows[i, i]
            total, count = total + off[i, j] ** 2 + noise, count + 1
    return math.sqrt(total / count)


@pytest.mark.slow
@pytest.mark.parametrize("query", ["mean", "identity", "covariance", "moments"])
def test_what_is_recommended_does_not_ruin_an_answer(query):
    # Once a mean's error grew 12 times: simulated records lay in the middle of the ranges, where clipping is free.
    ratios = []
    for seed, priority, before in ((0, (0, 5), {"allocation": "uniform"}), (1, (1,), {"allocation": "uniform"}),
                                 (2, (2,), {"allocation": "binary", "share": 0.8, "bound": "even"})):
        data = skewed(seed)
        scenario = Scenario.for_dataset(data, query=query, priority=priority, priority_directions=priority,
                                        judged="priority", **before)
        best = advise(scenario, data).best
        assert best.candidate.is_whole
        ratios.append(entry_by_entry(best.candidate.scenario, data) / entry_by_entry(scenario, data))
    assert max(ratios) <= 1.1
    assert query == "identity" or min(ratios) < 0.8


def test_what_clips_many_records_or_does_not_beat_an_answer_without_data_is_not_recommended():
    data = skewed(7)
    mean = Scenario.for_dataset(data, query="mean", priority=(1,), judged="priority")
    found = advise(mean, data)
    assert found.best is not found.current
    assert found.best.clips <= 0.05
    assert max(row.clips for row in found.rows) > 0.5
    table = advise(mean.changed(query="identity"), data)
    assert table.best is table.current
    assert "does not clearly beat the no-data baseline" in why(table, data.features)
    clipped = advise(mean.changed(bound="own", radius=0.3), data)  # suits records that lie in the middle
    assert clipped.best is clipped.current
    assert "Its bound clips up to 100 % of a table. Consider mean, exact, " in why(clipped, data.features)
    for doubtful in (table, clipped):  # to keep a design is a recommendation, too
        assert why(doubtful, data.features).startswith("No recommendation. Yours: ")
    assert table.safer is None
    assert clipped.safer.clips <= 0.05
    assert clipped.safer.outcome.mean < 0.1 * clipped.best.outcome.mean
    assert found.safer is None
    kept = advise(found.best.candidate.scenario, data)
    assert "No other design is clearly better on all of them" in why(kept, data.features)


def test_marks_of_what_was_chosen_on_the_data_stay_on_candidates_that_take_it_over():
    data = skewed(1)
    scenario = Scenario.for_dataset(data, query="mean", allocation="binary", priority_directions=(0,)).chosen_on_data(
        priority_directions=(2,))
    for one in (*designs.candidates(scenario, data), *designs.closer(scenario, data, "mean"),
                *designs.neighbours(designs.Candidate(scenario=scenario), scenario, data)):
        if one.scenario.priority_directions == (2,):
            assert "priority_directions" in one.scenario.from_data
