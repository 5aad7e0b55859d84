"""The pictures of utility show the numbers of the trials."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Scenario, mean
from mvgviz.pictures import utility
from mvgviz.pictures.error_axis import ErrorAxis, error_axis, mean_words
from mvgviz.scenario.tasks import TASKS
from mvgviz.trials.first_trial import Components, FirstTrial, Predictions
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.results import Outcome, Results
from mvgviz.trials.tasks import References
from tests.datasets import make_dataset

REFERENCES = References(0.0, 2.0, 1.0)


def outcome(errors, key="mvg"):
    return Outcome(mechanism=mechanism(key), errors=np.asarray(errors, dtype=float))


def results(ours, iid, references=REFERENCES, **changes):
    scenario = Scenario.default_for("liver").changed(**changes)
    return Results(scenario=scenario, task=TASKS[scenario.task], delta=1e-3, sensitivity="own", references=references,
                   outcomes=(outcome(ours), outcome(iid, "iid")), complete=True, judged_on=scenario.judged)


def dots_of(rng, trials=20, low=0.3, high=1.0, references=REFERENCES):
    return utility.dot_numbers(results(*rng.uniform(low, high, (2, trials)), references))


def drawn_dots(found):
    return utility.plot_dots(utility.dot_numbers(found), title="error")


def test_each_dot_stands_for_its_share_of_the_trials(rng):
    errors = rng.exponential(1.0, 1_000)
    dots = utility.quantile_dots(errors, 50)
    assert [np.mean(errors <= dot) for dot in dots] == pytest.approx((np.arange(50) + 0.5) / 50, abs=2e-3)
    assert utility.quantile_dots(np.array([3.0, 1.0, 2.0, 9.0]), 4).tolist() == [1, 2, 3, 9]


@pytest.mark.parametrize(("trials", "expected"), [(1, 1), (8, 8), (30, 30), (100, 100), (5_000, 100)])
def test_the_number_of_dots_follows_the_trials_where_they_do_not_tower(trials, expected, rng):
    numbers = dots_of(rng, trials, 0, 2)
    assert numbers.dots == expected
    assert [lane.outcome.errors.size for lane in numbers.lanes] == [trials, trials]
    assert dots_of(rng, 100, 1, 1 + 1e-6).dots == 20


def test_dots_stack_without_touching_and_keep_within_a_bin(rng):
    numbers = utility.dot_numbers(results(rng.uniform(0, 2, 100), rng.exponential(0.3, 100)))
    width = (numbers.axis.high - numbers.axis.low) / 64
    for lane in numbers.lanes:
        places = list(zip(lane.places.tolist(), lane.levels.tolist(), strict=True))
        assert len(set(places)) == numbers.dots
        assert np.abs(numbers.axis.place(lane.dots) - lane.places).max() <= width / 2 * (1 + 1e-9)
        for place in set(lane.places.tolist()):
            assert sorted(level for x, level in places if x == place) == list(range(
                sum(x == place for x, _ in places)))


def test_the_axis_is_logarithmic_where_errors_span_decades():
    axis = error_axis([0.0, 1e-5, 1.0])
    assert axis.log
    assert axis.low < -5 < 0 < axis.high
    assert not axis.holds(0.0)
    assert axis.place(0.0) == axis.low
    assert error_axis([0.0, 0.5, 1.0]) == ErrorAxis(False, -0.02, 1.05)
    assert error_axis([]) == ErrorAxis(False, 0.0, 1.0)
    assert error_axis([math.nan, math.inf, 2.0]).high > 2
    assert axis.value(axis.place([1e-3])) == pytest.approx([1e-3])
    assert not error_axis([1e-5, 0.5, 1.0], typical=[0.5, 1.0]).log  # one small error does not decide


def test_the_dot_plot_draws_means_intervals_and_three_lines(rng):
    numbers = dots_of(rng, 100, 0.5, 0.9)
    figure = utility.plot_dots(numbers, title="error")
    dots, mean = figure.data[:2]
    assert dots.customdata == pytest.approx(numbers.lanes[0].dots)
    assert mean.x[0] == pytest.approx(numbers.lanes[0].outcome.mean)
    assert mean.error_x.array[0] == pytest.approx(numbers.lanes[0].outcome.half_width)
    assert {note.text for note in figure.layout.annotations} == {
        "random guess: 2.00", "no-data baseline: 1.00", "no privacy: 0"}
    assert {shape.x0 for shape in figure.layout.shapes} == {0.0, 1.0, 2.0}


@pytest.mark.parametrize("values", [(0, 0.3, 0.36), (0.01, 1, 1.001), (0.9, 0.95, 1), (0, 0.01, 0.5), (1, 1, 1)])
def test_no_line_crosses_a_label(values, rng):
    numbers = dots_of(rng, references=References(*values))
    label = 0.16  # of the axis, on a desk
    stacked = [((numbers.axis.place(value) - numbers.axis.low) / (numbers.axis.high - numbers.axis.low), left, level)
               for level, (_, value, left) in enumerate(utility._stacked(numbers))]
    for at, left, level in stacked:
        start, end = (at, at + label) if left else (at - label, at)
        assert -0.05 < start < end < 1.2
        assert [other for other, _, height in stacked if height > level and start < other < end] == []


def test_labels_of_lines_have_their_place_in_the_margin_however_high_the_picture(rng):
    figure = utility.plot_dots(dots_of(rng), title="error")
    for note in figure.layout.annotations:
        assert note.y == 1
        assert 0 < note.yshift < figure.layout.margin.t - 15
    assert {shape.y1 for shape in figure.layout.shapes if shape.ysizemode == "pixel"} == {
        note.yshift for note in figure.layout.annotations}


def test_before_the_first_trial_there_are_lines_only():
    numbers = utility.dot_numbers(results([], []))
    assert (numbers.lanes, numbers.dots) == ([], 0)
    assert {shape.x0 for shape in drawn_dots(results([], [])).layout.shapes} == {0.0, 1.0, 2.0}


def test_one_trial_has_no_interval():
    one = results([0.4], [0.5])
    assert drawn_dots(one).data[1].error_x.array is None
    assert "one trial, so no interval" in utility.result_words(one)
    assert mean_words(one["mvg"]) == "0.400"


def test_a_regression_has_to_beat_the_private_mean():
    harder = replace(REFERENCES, private_mean=0.3, records_needed=4_321)
    said = utility.result_words(results([0.50, 0.52], [0.60, 0.62], harder))
    assert said.startswith("**Predicting the private mean is better here.** Mean error 0.510")
    assert "worse than predicting the private mean (0.300). " in said
    assert said.endswith("**This table is too small:** a regression on this label needs 4,321 records to learn from.")
    notes = drawn_dots(results([0.5], [0.6], harder)).layout.annotations
    assert "private mean: 0.300" in [note.text for note in notes]
    said = utility.result_words(results([0.50, 0.52], [0.60, 0.62], replace(REFERENCES, private_mean=0.7)))
    assert "better than predicting the private mean (0.700)" in said


@pytest.mark.parametrize(("ours", "iid", "sentence"), [
    ([0.50, 0.52], [0.60, 0.62], "better than the no-data baseline (1.00). Against equal noise (0.610): 16 %"),
    ([1.50, 1.52], [0.60, 0.62], "**The no-data baseline is better here.** Mean error 1.51"),
    ([1.50, 1.52], [0.60, 0.62], "Against equal noise (0.610): 2.5 times the error."),
    ([0.50, 1.70], [0.60, 0.62], "**Not clearly better than the no-data baseline.**"),
    ([0.50, 0.70], [0.60, 0.62], "Against equal noise (0.610): no clear difference."),
    ([1.0, 1.0], [1.0, 1.0], "**The noise hides the data completely.**"),
    ([0.60, 0.62], [0.50, 0.52], "**Equal noise is better here.** Mean error 0.610"),
    ([0.50, 0.52], [0.60, 0.62], "**Directional noise is better here.** Mean error 0.510"),
    ([0.5, 0.6], [0.5, 0.6], "Against equal noise (0.550): the same error in every trial."),
    ([math.inf, 1.0], [0.5, 0.6], "too large to show"),
])
def test_the_takeaway_says_what_the_trials_allow(ours, iid, sentence):
    assert sentence in utility.result_words(results(ours, iid))


def test_the_verdict_names_the_records_and_the_error_the_columns():
    judged = replace(results([0.5, 0.52], [0.6, 0.62], replace(REFERENCES, unit="h")), judged_on="priority")
    here, told = (utility.result_words(judged, ["sleep"], **on) for on in ({}, {"on": "this data"}))
    assert here.startswith("**Directional noise is better here.** Mean error 0.510")
    assert "h on sleep (" in here
    assert told.startswith("**On this data: directional noise is better")


def test_the_sweep_says_from_which_epsilon_on():
    good, bad = [0.5, 0.51], [1.5, 1.51]
    curve = [results(bad, bad, epsilon=0.1), results(good, bad, epsilon=1.0), results(good, good, epsilon=10.0)]
    assert utility.sweep_words(curve) == (
        "**This design beats the no-data baseline from ε = 1 on**, of those tried. "
        "Equal noise: from ε = 10 on.")
    assert "At no ε tried is this design clearly better" in utility.sweep_words(curve[:1])
    assert "One trial at each ε cannot tell" in utility.sweep_words([results([0.5], [0.5])])
    assert "no noise can beat it" in utility.sweep_words([results(good, good, References(0.0, 1.0, 0.0))])


def swept(references):
    points = {1.0: outcome([0.4, 0.6]), 0.1: outcome([0.8, 0.9]), 5.0: outcome([])}
    curve = utility.error_curve("a", "#2B8CD6", points)
    return utility.plot_sweep([curve], references, own=1.0, span=(0.05, 20), title="error")


def test_curves_are_sorted_and_a_ring_marks_the_scenario():
    figure = swept({1.0: REFERENCES})
    line = next(trace for trace in figure.data if trace.name == "a" and trace.mode == "lines+markers")
    assert (list(line.x), list(line.y)) == ([0.1, 1.0], pytest.approx([0.85, 0.5]))
    ring = next(trace for trace in figure.data if trace.marker.symbol == "circle-open")
    assert (ring.x[0], ring.y[0]) == (1.0, 0.5)
    assert sum("no-data baseline: 1.00" in (trace.name or "") for trace in figure.data) == 1


def test_the_private_mean_is_a_curve_over_epsilon():
    figure = swept({1.0: replace(REFERENCES, private_mean=0.7), 0.1: replace(REFERENCES, private_mean=0.9)})
    line = next(trace for trace in figure.data if trace.name == "private mean")
    assert (list(line.x), list(line.y)) == ([0.1, 1.0], [0.9, 0.7])


def test_sets_are_ranked_and_the_best_is_named():
    curves = [utility.error_curve(name, "#7F7F7F", {1.0: outcome(errors)}) for name, errors in (
        ("a", [0.9, 0.8]), ("equal noise", [0.4, 0.41]), ("b + c", []))]
    picture = utility.sets_picture(curves, REFERENCES, own=1.0, title="error")
    assert picture.takeaway.startswith("**Best here: equal noise.** Error 0.405")
    assert list(picture.figure.layout.yaxis.ticktext) == ["equal noise", "a"]
    assert utility.sets_picture([], REFERENCES, own=1.0, title="error").takeaway == "**No trial yet.**"


def test_sets_are_called_by_their_members_or_by_who_is_left_out():
    names = utility.SetNames("abcdef".__getitem__, 6)
    assert names((2, 5)) == "c + f"
    assert names((0, 1, 3, 4)) == "all but c + f"
    assert names(None) == "equal noise"
    assert utility.SetNames(str, 20)((1, 2, 3, 4, 5)) == "1 + 2 + 3 + 2 more"
    assert utility.SetNames(str, 2)((1,)) == "1"


def test_the_best_set_over_epsilon():
    better, worse = (utility.error_curve(name, "#2B8CD6", {1.0: outcome([here]), 2.0: outcome([there])})
                     for name, here, there in (("a_b", 0.1, 0.3), ("b", 0.2, 0.2)))
    assert "has the lowest mean error at 1 of the 2" in utility.sets_words([better, worse])
    assert r"a\_b has the lowest mean error at 2 of the 2" in utility.sets_words([better])
    assert "no trial yet" in utility.sets_words([])


def test_how_much_more_error():
    assert [utility.more_words(error, least) for error, least in ((1.1, 1), (0.7, 1), (3, 1), (1, 1), (0, 0))] == [
        "10 % more error", "30 % less error", "3.0 times the error", "the same error", "the same error"]
    assert utility.more_words(math.inf, 1.0) == utility.more_words(1.0, 0.0) == "more error"


def test_true_and_noisy_have_one_colour_scale():
    def drawn(true, noisy):
        trial = FirstTrial(what="answer", true=true, noisy=noisy, shape=true.shape, error=1.0, is_trial=True)
        return utility.true_and_noisy(trial, mean(make_dataset(true.shape[0], 10)), "RMSE")

    pair = drawn(np.array([[1.0], [-2.0]]), np.array([[5.0], [2.5]]))
    assert {(picture.figure.data[0].zmin, picture.figure.data[0].zmax) for picture in pair} == {(-2.0, 2.0)}
    assert "noisy entries may lie beyond" in pair[1].about
    many = drawn(np.zeros((50, 70)), np.zeros((50, 70)))[0]
    assert many.figure.data[0].z.shape == (40, 60)
    assert many.takeaway == "**True answer.** The first 40 × 60 of 50 × 70 are drawn."


def components(m):
    first, second = np.eye(m)[:2]
    return Components(first=first, noisy_first=math.sqrt(0.5) * (first + second), eigenvalues=np.geomspace(1, 1e-3, m),
                      captured=np.geomspace(0.9, 2e-3, m))


def test_loadings_and_captured_parts_are_drawn_as_given():
    assert components(30).angle == pytest.approx(45)
    picture = utility.component_loadings_picture(components(30), mean(make_dataset(30, 10)))
    assert [len(bar.x) for bar in picture.figure.data] == [20, 20]
    assert [bar.x[0] for bar in picture.figure.data] == pytest.approx([1, math.sqrt(0.5)])
    assert picture.takeaway.endswith("The 20 largest of 30 loadings are drawn.")
    captured = utility.captured_picture(components(5))
    assert captured.figure.layout.yaxis.type == "log"
    assert captured.figure.data[1].y == pytest.approx(components(5).captured)
    many = utility.captured_picture(components(60))
    assert len(many.figure.data[1].y) == 40
    assert many.takeaway.endswith("The first 40 of 60.")


def test_wild_predictions_leave_the_picture_and_are_counted():
    labels = np.linspace(-1, 1, 500)
    noisy = labels.copy()
    noisy[:3] = [50.0, -50.0, 1.5]
    picture = utility.predictions_picture(
        Predictions(labels=labels, clean=labels, noisy=noisy, lower=-1.0, upper=1.0, label=0), "y")
    assert picture.figure.layout.yaxis.range == pytest.approx((-1.06, 1.56))
    assert picture.figure.data[2].y == pytest.approx(noisy[:400])
    assert "2 noisy predictions leave the picture. The first 400 of 500 are drawn." in picture.takeaway
