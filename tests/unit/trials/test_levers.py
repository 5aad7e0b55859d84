"""Levers: the order of the steps, the errors against direct trials, and factors that multiply to the whole way."""

import math

import numpy as np
import pytest

from mvgviz import InputError, Scenario, build
from mvgviz.data import sample
from mvgviz.pictures.advice import best_kept, falls, levers_picture, levers_sentence, plot_waterfall, table_rows
from mvgviz.pictures.error_axis import reference_items
from mvgviz.trials.candidates import REDUCED
from mvgviz.trials.levers import levers, way_to
from mvgviz.trials.problem import pose
from mvgviz.trials.run import TrialCache, run_trials

LIVER = Scenario.default_for("liver").changed(bound="even", judged="everything", trials=30)
MOVEMENT = Scenario.default_for("movement_simulated").changed(bound="none", judged="everything", share=0.8, trials=30)


@pytest.fixture(scope="module")
def found():
    return levers(LIVER, sample("liver"))


def way(mechanism="mvg", data="liver", **changes):
    scenario = Scenario.default_for(data).changed(judged="everything", **changes)
    return [stage.lever for stage in way_to(pose(scenario, sample(data)), mechanism)]


def test_the_steps_are_in_order_and_end_at_the_design(found):
    assert [step.lever for step in found.steps] == ["", "calibration", "query", "bound", "shape", "use"]
    assert [step.scenario.query for step in found.steps] == ["identity"] * 2 + ["covariance"] * 4
    assert found.steps[0].scenario.guarantee == "theorem1"
    assert found.design.scenario == LIVER
    assert found.complete


def test_the_factors_multiply_to_the_whole_way(found):
    assert found.total == pytest.approx(found.steps[0].outcome.mean / found.design.outcome.mean, rel=1e-12)
    for before, step in zip(found.steps, found.steps[1:], strict=False):
        assert step.factor == before.outcome.mean / step.outcome.mean
        assert step.difference.mean == pytest.approx(step.outcome.mean - before.outcome.mean)


def test_the_design_without_a_lever_is_that_of_direct_trials(found):
    changes = {"calibration": {"guarantee": "theorem2"}, "query": {"query": "identity"}, "bound": {"bound": "none"},
               "shape": {"allocation": "uniform"}, "use": {"post": LIVER.post[:-1]}}
    assert [step.lever for step in found.without] == list(changes)
    for step in found.without:
        direct = run_trials(LIVER.changed(**changes[step.lever]), sample("liver"), mechanisms=["mvg"])["mvg"]
        assert np.array_equal(step.outcome.errors, direct.errors)
    plain = {"bound": "none", "query": "identity", "post": LIVER.post[:-1]}
    for step, changes, key in ((found.design, {}, "mvg"), (found.steps[1], plain, "iid")):  # where calibration ends
        direct = run_trials(LIVER.changed(**changes), sample("liver"), mechanisms=[key])[key]
        assert np.array_equal(step.outcome.errors, direct.errors)


@pytest.mark.parametrize(("change", "steps"), [
    ({}, ["", "calibration", "query", "shape", "use"]),
    ({"query": "moments", "bound": "own", "radius": 0.6},
     ["", "calibration", "query", "query", "bound", "shape", "use"]),
    ({"allocation": "uniform"}, ["", "calibration", "query", "use"]),  # equal ranges: equal shares are equal noise
    ({"allocation": "uniform", "scale": "declared"}, ["", "calibration", "query", "shape", "use"]),
    ({"allocation": "uniform", "bound": "even"}, ["", "calibration", "query", "bound", "use"]),
    ({"guarantee": "theorem2"}, ["", "query", "shape", "use"]),
    ({"post": ("psd",)}, ["", "calibration", "query", "shape"]),
    ({"task": "reconstruction"}, ["", "calibration", "shape"]),
    ({"task": "subspace", "query": "moments"}, ["", "calibration", "shape", "use"]),  # about the mean: no other query
    ({"query": "identity"}, ["", "calibration", "shape", "use"]),
    ({"directions": "private"}, ["", "calibration", "query", "shape", "use"]),
    ({"data": "karate"}, ["", "calibration", "shape"]),
    ({"data": "karate", "bound": "even"}, ["", "calibration", "shape"]),  # a graph has no records to pull in
    ({"query": "kernel", "task": "reconstruction", "bound": "even"}, ["", "calibration", "bound", "shape"])])
def test_only_levers_that_the_design_has_are_on_the_way(change, steps):
    assert way(**change) == steps


def test_only_the_needed_is_a_shape_and_needs_no_bound():
    assert way(REDUCED, bound="even") == ["", "calibration", "query", "shape", "use"]
    kept = levers(LIVER, sample("liver"), mechanism=REDUCED)
    direct = run_trials(LIVER, sample("liver"), mechanisms=[REDUCED])[REDUCED]
    assert np.array_equal(kept.design.outcome.errors, direct.errors)
    assert {step.lever for step in kept.without} == {"query", "shape", "use"}
    assert any("only sgpt and drinks" in bar.label for bar in falls(kept, sample("liver").features))


def test_every_step_is_judged_by_the_needed():
    part = levers(LIVER.changed(judged="priority", priority_directions=(2, 3), trials=4), sample("liver"))
    assert {step.scenario.needs for step in part.steps} == {(2, 3)}
    assert {step.scenario.judged for step in part.steps} == {"priority"}


def test_slices_come_to_the_same_and_a_stopped_one_has_what_there_is():
    cache, whole = TrialCache(), levers(LIVER, sample("liver"))
    assert levers(LIVER, sample("liver"), cache=cache, cancelled=lambda: True) is None
    again, slices = None, 0
    while again is None or not again.complete:
        again, slices = levers(LIVER, sample("liver"), cache=cache, seconds=0), slices + 1
    assert slices > 2
    assert [step.outcome.mean for step in again.steps] == [step.outcome.mean for step in whole.steps]
    assert [step.outcome.mean for step in again.without] == [step.outcome.mean for step in whole.without]


def test_all_of_them_are_seen_long_before_all_trials_are_made():
    cache, found, made = TrialCache(), None, []
    while found is None or len(found.steps) < 5:
        found = levers(LIVER.changed(trials=4_000), sample("liver"), cache=cache, seconds=0,
                       progress=lambda done, total: made.append(done / total))
    assert made[-1] < 0.2


def test_a_design_that_does_not_work_out_says_why():
    with pytest.raises(InputError, match="label"):
        levers(LIVER.changed(label=None), sample("liver"))


# words and picture

def test_the_sentence_says_what_each_lever_gained_and_what_one_costs(found):
    sentence = levers_sentence(found)
    assert sentence.startswith("From an error of ")
    costly = levers(MOVEMENT.changed(share=0.95), sample("movement_simulated"))
    assert next(step for step in costly.steps if step.lever == "shape").factor < 0.5
    assert "the shape" in best_kept(costly).split("The design is better without ")[1]
    assert not any(bar.gains for bar in falls(costly, ()) if bar.label.startswith("The shape"))


def test_a_lever_that_is_not_used_is_not_named():
    small = levers(MOVEMENT.changed(trials=3, allocation="uniform", post=("subtract",)), sample("movement_simulated"))
    said = levers_picture(small, sample("movement_simulated").features, title="error").takeaway
    assert "the use" not in said
    assert "the shape" not in said


def test_the_table_ranks_the_design_with_and_without_each_lever(found):
    rows = table_rows(found)
    assert len(rows) == 1 + len(found.without)
    assert [row["mean error"] for row in rows] == sorted(row["mean error"] for row in rows)
    own = next(row for row in rows if row["design"].startswith("this design"))
    assert own["times this design's error"] == 1
    for row in rows:
        assert row["times this design's error"] == pytest.approx(row["mean error"] / own["mean error"])


def test_the_waterfall_goes_from_bar_to_bar(found):
    bars = falls(found, sample("liver").features)
    assert [bar.before for bar in bars[1:-1]] == [step.outcome.mean for step in found.steps[:-1]]
    assert bars[0].before is None
    assert bars[-1].before is None
    assert bars[-1].after == found.design.outcome.mean
    figure = plot_waterfall(bars, reference_items(found.references), title="error")
    drawn = next(trace for trace in figure.data if trace.type == "bar")
    for low, length, bar in list(zip(drawn.base, drawn.x, bars, strict=True))[1:-1]:
        assert [low, low + length] == pytest.approx(sorted([bar.before, bar.after]))
    assert figure.layout.xaxis.type == "linear"
    assert any("no privacy" in (trace.name or "") for trace in figure.data)


def test_errors_far_apart_stand_on_a_log_axis():
    far = levers(MOVEMENT.changed(trials=5), sample("movement_simulated"))
    assert far.total > 100
    figure = plot_waterfall(falls(far, ("a", "b", "c", "<d>")), [], title="error")
    assert figure.layout.xaxis.type == "log"
    assert all(math.isfinite(low) and low > 0 for low in next(t for t in figure.data if t.type == "bar").base)
    assert "<d>" not in str(figure.to_dict())


TURNED = Scenario.default_for("two_features").changed(directions="rotation", angle=45.0, priority_directions=(0,),
                                                      trials=30)


def test_where_a_direction_is_needed_every_step_is_judged_along_it():
    data, turned = sample("two_features"), TURNED.changed(post=())
    assert [step.lever for step in levers(turned, data).steps] == ["", "calibration", "shape"]
    w = build(turned, data).need_directions.matrix[:, 0]
    equal = build(turned.changed(allocation="uniform", directions="standard"), data).iid
    across = 100 * math.sqrt(w @ equal.row_side.covariance() @ w) / float(2 * np.abs(w).sum())
    errors = levers(turned.changed(trials=4_000), data).steps[1].outcome.errors
    assert math.sqrt((errors**2).mean()) == pytest.approx(across, rel=0.04)


def test_one_cache_keeps_apart_what_is_judged_along_different_directions():
    cache, data = TrialCache(), sample("two_features")
    for angle in (30.0, 45.0):
        turned = TURNED.changed(angle=angle)
        fresh, kept = levers(turned, data), levers(turned, data, cache=cache)
        assert [step.outcome.mean for step in kept.steps] == [step.outcome.mean for step in fresh.steps]


def test_the_levers_of_releasing_only_the_needed_direction():
    found = levers(TURNED, sample("two_features"), mechanism=REDUCED)
    assert found.design.outcome.mechanism.key == REDUCED
    assert found.design.outcome.mean < found.steps[1].outcome.mean
