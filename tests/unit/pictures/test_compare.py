"""The pictures and sentences of the page Compare: they show the engine's numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.errors import InputError
from mvgviz.pictures import compare
from mvgviz.pictures.error_axis import Mark, plot_ranked, reference_items
from mvgviz.pictures.theme import DIRECTIONAL, EXACT, IID, THEOREM1, THEOREM2
from mvgviz.release.release import release_setup
from mvgviz.scenario.resolve import build
from mvgviz.text import as_number
from mvgviz.trials.mechanisms import COMPARED, MECHANISMS, mechanism
from mvgviz.trials.run import run_trials, sweep
from mvgviz.trials.sweeps import EPSILONS, frontier
from mvgviz.trials.tasks import References

KEYS = [*(one.key for one in COMPARED), "iid"]


@pytest.fixture(scope="module")
def results():
    scenario = Scenario.default_for("movement_simulated").changed(
        trials=30, delta=1 / 10_176, bound="none", share=0.8, judged="everything", post=("symmetrise", "subtract"))
    return run_trials(scenario, sample("movement_simulated"), mechanisms=KEYS, sensitivity="tight")


@pytest.fixture(scope="module")
def numbers(results):
    return compare.ranking(results)


def against(results, **references):
    return compare.ranking(replace(results, references=replace(results.references, **references)))


def test_one_colour_means_one_thing():
    for key, colour in (("exact", EXACT), ("theorem1", THEOREM1), ("theorem2", THEOREM2), ("theorem2-any", THEOREM2)):
        assert compare.colour(MECHANISMS[f"mvg-{key}"]) == colour
    assert compare.colour(MECHANISMS["mvg"], "theorem1") == THEOREM1
    assert {compare.colour(MECHANISMS[key]) for key in ("iid", "gaussian-analytic", "gaussian-classic")} == {IID}
    assert compare.colour(MECHANISMS["plan"]) == DIRECTIONAL
    pure = {compare.colour(one) for one in COMPARED if one.guarantee == "ε alone"}
    assert len(pure) == 1
    assert pure.isdisjoint({EXACT, THEOREM1, THEOREM2, IID})


def test_the_stronger_promise_has_a_symbol_and_words():
    assert compare.label(mechanism("laplace")) == "Laplace (ε alone)"
    assert [compare.symbol(mechanism(key)) for key in ("laplace", "gaussian-analytic", "reduced-gaussian")] == [
        "diamond", "circle", "circle-open"]


def test_the_ranking_is_by_mean_and_names_twins_and_the_unsuitable(numbers, results):
    means = [one.mean for one in numbers.outcomes]
    assert means == sorted(means)
    assert numbers.twins == {"iid": "gaussian-analytic", "mvg-theorem2-any": "mvg-theorem2"}
    assert [one.mechanism.key for one in numbers.unsuitable] == [
        "box-noise", "box-ellipse-noise", "laplace-noise", "plan", "exponential-columns"]
    everyone = {one.mechanism.key for one in (*numbers.outcomes, *numbers.unsuitable)} | set(numbers.twins)
    assert everyone == set(KEYS)  # nobody is skipped silently


def test_the_chart_has_the_means_the_intervals_and_the_lines(numbers, results):
    marks = compare.ranking_marks(numbers)
    figure = plot_ranked(marks, reference_items(results.references), title="error")
    dots = {trace.name: trace for trace in figure.data if trace.error_x.array is not None}
    best, dot = numbers.outcomes[0], dots["Gaussian, upper triangle, trials only"]
    assert (dot.x[0], dot.error_x.array[0], dot.error_x.arrayminus[0]) == pytest.approx(
        (best.mean, best.half_width, best.half_width))
    assert figure.layout.xaxis.type == "log"
    assert len(dots) == len(numbers.outcomes)
    assert [mark.ring for mark in marks].count(True) == 1
    names = [trace.name for trace in figure.data if trace.mode == "lines"]
    assert names == ["no privacy: 0 (off the scale)", "no-data baseline: 0.268", "random guess: 0.268"]


def test_the_private_mean_is_drawn_ranked_and_in_the_headline(numbers, results):
    between = math.sqrt(numbers.outcomes[0].mean * results.references.trivial)
    known = against(results, private_mean=between)
    marks = compare.ranking_marks(known)
    better = sum(one.mean < between for one in numbers.outcomes)
    assert [mark.label for mark in marks].index("private mean of the label") == better
    figure = plot_ranked(marks, reference_items(known.results.references), title="error")
    assert any((trace.name or "").startswith("private mean: ") for trace in figure.data)
    assert "No clear gain over predicting the private mean (" in compare.ranking_words(known)
    assert compare.table_rows(known)[0]["beats predicting the private mean"] in ("yes", "not clearly")
    said = compare.ranking_words(against(results, private_mean=1e-9))
    assert said.startswith("**None clearly beats predicting the private mean;")


@pytest.mark.parametrize(("family", "able", "twin"), [
    ("laplace", True, ""), ("box", True, ""), ("box-ellipse", True, "box"), ("ellipse", False, "")])
def test_a_family_is_for_trials_only_where_no_release_can_draw_it(family, able, twin):
    scenario = Scenario(query="mean", family=family, trials=20)
    numbers = compare.ranking(run_trials(scenario, sample(scenario.data), mechanisms=KEYS))
    own = f"{twin or family}-noise"
    mark, = [mark for mark in compare.ranking_marks(numbers) if mark.ring]
    assert ("trials only" not in mark.label) == able
    assert numbers.twins.get(f"{family}-noise", f"{family}-noise") == own
    released, first = {}, next(one for one in numbers.outcomes if compare.released(one.mechanism, scenario))
    for key, design in (("box-noise", "box"), ("laplace-noise", "laplace"), ("ellipse-noise", "ellipse")):
        try:
            release_setup(build(scenario.changed(family=design), sample(scenario.data)))
            released[key] = True
        except InputError:
            released[key] = False
        assert compare.released(MECHANISMS[key], scenario) == released[key]
    assert f"**Best mechanism here: {first.mechanism.label}" in compare.ranking_words(numbers)
    assert first.mechanism.key in ("box-noise", "laplace-noise")
    assert not compare.released(MECHANISMS["box-noise"], scenario.changed(directions="rotation"))


def test_one_trial_and_a_wide_interval_can_be_drawn():
    marks = [Mark(label, mean, half, EXACT, "circle")
             for label, mean, half in (("a", 1.0, math.nan), ("b", 50.0, 60.0))]
    wide = next(trace for trace in plot_ranked(marks, [], title="error").data if trace.name == "b")
    assert wide.error_x.arrayminus[0] < 50  # a log axis has no 0
    assert plot_ranked([], [], title="error").data is not None


def test_the_sentence_has_the_first_the_paired_difference_and_who_is_at_chance(numbers):
    text = compare.ranking_words(numbers)
    assert numbers.outcomes[0].mechanism.key == "gaussian-triangle"
    assert f"upper triangle has no more error ({as_number(numbers.outcomes[0].mean)}), but is for trials only" in text
    first, second = [one for one in numbers.outcomes if one.mechanism.released][:2]
    difference = first.errors - second.errors
    half = 2.045229642132703 * difference.std(ddof=1) / math.sqrt(30)
    assert text.startswith(f"**Best mechanism here: {first.mechanism.label}")
    assert ("no clear difference" in text) == (abs(difference.mean()) <= half)
    assert "**No clear gain over the no-data baseline (0.268):** MVG, Theorem 1; Johnson" in text


def test_who_fails_the_trivial_answer_is_named(numbers, results):
    harder, hopeless = (against(results, trivial=trivial) for trivial in (0.01, 1e-9))
    assert "**No clear gain over the no-data baseline (0.0100):**" in compare.ranking_words(harder)
    assert "**None clearly beats the no-data baseline" in compare.ranking_words(hopeless)
    assert compare.worth_zooming(harder) == sum(one.mean < 0.01 for one in numbers.outcomes)
    assert compare.worth_zooming(hopeless) == 0


def test_reasons_cautions_and_the_table_have_everyone(numbers):
    lines = compare.unsuitable_words(numbers)
    assert len(lines) == 7
    assert any(line.startswith("**Exponential, by record**: column") for line in lines)
    assert "**MVG, equal noise**: the same noise here as Gaussian, analytic." in lines
    assert "its proof needs ε below 1" in compare.caution_words(numbers)
    rows = {row["mechanism"]: row for row in compare.table_rows(numbers)}
    assert len(rows) == len(KEYS)
    assert rows["Gaussian, classic"]["epsilon really spent"] == pytest.approx(0.705, abs=1e-3)
    assert rows["Laplace"]["epsilon really spent"] is None
    assert rows["Exponential, by record"]["mean error"] is None
    assert rows["Gaussian, analytic"]["beats the no-data baseline"] == "yes"


@pytest.fixture(scope="module")
def curves():
    scenario = Scenario.default_for("karate").changed(
        trials=4, delta=1 / 34, priority_directions=(0, 33), share=0.8, judged="everything")
    return frontier(sweep([{"epsilon": epsilon} for epsilon in EPSILONS], scenario, sample("karate"),
                          mechanisms=["gaussian-analytic", "mvg-exact", "gaussian-triangle", "laplace"]))


def drawn(curves, error):
    return compare.frontier_picture(curves, error=error, scenario=Scenario(), title="error",
                            references={1.0: References(0.0, 3.0, 2.02)})


def test_the_frontier_is_read_across_and_down(curves):
    lines, figure = compare.needed(curves, 2.0, guarantee="exact"), drawn(curves, 2.0).figure
    epsilons = [one.reading.epsilon for one in lines]
    assert epsilons == sorted(epsilons)
    assert (lines[-1].curve.mechanism.key, lines[-1].reading.reached) == ("mvg-exact", False)
    below = [trace for trace in figure.data if trace.yaxis == "y2" and trace.mode == "markers"]
    assert [trace.x[0] for trace in below] == epsilons[:-1]
    across = [trace for trace in figure.data if trace.yaxis == "y" and trace.mode == "markers"]
    assert {trace.y[0] for trace in across} == {2.0}
    assert any("not below" in str(trace.text) for trace in figure.data if trace.mode == "text")
    same_colour = [one.dash for one in lines if one.colour == IID]
    assert len(set(same_colour)) == len(same_colour) == 2


def test_the_sentence_of_the_frontier(curves):
    text = drawn(curves, 2.0).takeaway
    assert text.startswith("**For an error of 2.00, Gaussian, analytic needs the lowest ε: ")
    text = drawn(curves, 5e3).takeaway
    for part in ("This design needs", "ε: at most 0.0100", "**The no-data baseline (2.02) does as well**"):
        assert part in text
    assert drawn(curves, 1e-9).takeaway.startswith("**No mechanism reaches")
    assert np.isfinite([one.curve.least for one in compare.needed(curves, 1e-9, guarantee="exact")]).all()
