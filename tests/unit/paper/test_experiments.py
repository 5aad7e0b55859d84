"""The paper's experiments: the printed figures, the measured ones, the command, the tables of the document."""

import itertools
import math
import os
import pathlib
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Dataset
from mvgviz.data import sample
from mvgviz.paper import EPSILONS, EXPERIMENTS, SHARES, direction_curves, run
from mvgviz.paper.tables import Method
from mvgviz.paper.words import compared, figure_text, main_table, report_markdown, sentence, verdict, way_text
from mvgviz.scenario.resolve import build
from mvgviz.trials.results import Outcome
from mvgviz.trials.run import TrialCache, sweep
from mvgviz.trials.tasks import References

ROOT = pathlib.Path(__file__).parents[3]
PRINTED = {  # typed in anew from the paper's tables and its discussion, in the units printed there
    "I": {"non-private": 1.226, "random": 3.989, "binary": (1.624, 0.026), "max-pnr": (1.611, 0.046),
          "gaussian": (1.913, 0.069), "jl": (1.682, 0.015), "laplace": (2.482, 0.189), "exponential": (2.202, 0.721),
          "reduced-gaussian": (2.538, 0.065), "reduced-jl": (2.863, 0.022)},
    "II": {"non-private": 0, "random": 4.370, "theorem1": (2.138, 0.192), "theorem2": (1.434, 0.192),
           "gaussian": (2.290, 0.185), "jl": (2.258, 0.186), "laplace": (2.432, 0.177), "exponential": (1.742, 0.188)},
    "III": {"non-private": 0, "random": 12.393, "mvg": (6.657, 0.193), "gaussian": (7.029, 0.216),
            "jl": (6.718, 0.229), "laplace": (7.109, 0.211), "exponential": (7.223, 0.211)},
}
UNITS = {"I": 1e-2, "II": 1e-1, "III": 1e-2}


def two(trials, **arguments):
    return run(EXPERIMENTS["II"], sample("movement_simulated"), trials=trials, **arguments)


@pytest.fixture(scope="module")
def report():
    return two(100)


@pytest.mark.parametrize("key", PRINTED)
def test_printed_figures_are_the_papers(key):
    one, figures, unit = EXPERIMENTS[key], PRINTED[key], UNITS[key]
    assert one.non_private.mean == pytest.approx(figures["non-private"] * unit)
    assert one.random_guess.mean == pytest.approx(figures["random"] * unit)
    rows = {row.key: row.printed for row in one.rows if row.printed is not None}
    assert set(rows) == set(figures) - {"non-private", "random"}
    for name, printed in rows.items():
        assert (printed.mean, printed.half_width) == pytest.approx([value * unit for value in figures[name]])


@pytest.mark.parametrize(("key", "rows", "cols", "sensitivity", "delta"), [
    ("I", 6, 248, 2 * math.sqrt(6), 1 / 248), ("II", 4, 4, 8 / 10_176, 1 / 10_176),
    ("III", 21, 2126, math.sqrt(21), 1 / 2126)])
def test_setups_have_the_papers_sizes_sensitivity_and_budget(key, rows, cols, sensitivity, delta):
    from mvgviz.trials.problem import pose

    one = EXPERIMENTS[key]
    problem = pose(one.scenario, sample(one.scenario.data))
    assert (problem.query.rows, problem.query.cols) == (rows, cols)
    assert problem.query.printed_sensitivity == pytest.approx(sensitivity)
    assert (problem.epsilon, problem.delta) == (1.0, pytest.approx(delta))
    assert (one.scenario.tail, one.scenario.trials, SHARES) == ("printed", 100, (0.55, 0.65, 0.75, 0.85, 0.95))


def test_favoured_sets_are_those_of_figure_4():
    names = {key: [{sample(one.scenario.data).features[k] for k in chosen} for _, chosen in one.sets]
             for key, one in EXPERIMENTS.items()}
    assert names["I"] == [{"sgpt", "drinks"}, {"sgpt"}, {"drinks"}, {"sgpt", "sgot", "drinks"}]
    assert names["II"] == [{"ANC0", "ANC3"}, {"ANC0"}, {"ANC3"}, {"ANC1", "ANC2"}]
    assert names["III"][0] == {"LB", "ASTV", "ALTV"}
    assert names["III"][1] == set(sample("cardiotocography").features) - names["III"][0]
    assert names["III"][2] == set()


def test_experiment_2_gives_the_figures_measured_independently():
    """Means of 8 000 trials, given with two or three digits; ours of 3 000: 6 standard errors and half a last digit."""
    one, data = EXPERIMENTS["II"], sample("movement_simulated")
    known = {("printed", "mvg-theorem1", 0.55): (0.267, 5e-4), ("printed", "mvg-theorem2", 0.55): (0.222, 5e-4),
             ("printed", "gaussian-analytic", 0.55): (2.7e-5, 5e-7),
             ("tight", "gaussian-analytic", 0.55): (1.3e-5, 5e-7),
             ("printed", "mvg-exact", 0.55): (2.7e-5, 5e-7), ("tight", "mvg-exact", 0.55): (1.4e-5, 5e-7),
             ("printed", "mvg-exact", 0.95): (9.7e-4, 5e-6), ("tight", "mvg-exact", 0.95): (4.8e-4, 5e-6)}
    for sensitivity in ("printed", "tight"):
        keys = sorted({name for about, name, _ in known if about == sensitivity})
        results = sweep([{"share": share} for share in (0.55, 0.95)], one.scenario, data, mechanisms=keys, trials=3_000,
                        sensitivity=sensitivity)
        assert results[0].references.random_guess == pytest.approx(0.2685, abs=5e-5)
        for result in results:
            for outcome in result.outcomes:
                expected = known.get((sensitivity, outcome.mechanism.key, result.scenario.share))
                if expected is not None:
                    value, digit = expected
                    error = outcome.errors.std() * math.sqrt(1 / 3_000 + 1 / 8_000)
                    assert abs(outcome.mean - value) <= digit + 6 * error, (sensitivity, outcome.mechanism.key)


def test_experiment_2_does_not_depend_on_the_scale():
    unit = sample("movement_simulated")
    wide = Dataset(matrix=100 * unit.matrix, features=unit.features, lower=-100, upper=100)
    one = EXPERIMENTS["II"]
    keys = ["mvg-theorem1", "mvg-theorem2", "mvg-exact", "gaussian-classic", "laplace"]
    for sensitivity in ("printed", "tight"):
        small, large = (sweep([{"scale": "declared"}], one.scenario, data, mechanisms=keys, trials=20,
                              sensitivity=sensitivity)[0] for data in (unit, wide))
        assert large.references.random_guess == pytest.approx(1e4 * small.references.random_guess)
        for a, b in zip(small.outcomes, large.outcomes, strict=True):
            np.testing.assert_allclose(b.errors, 1e4 * a.errors, rtol=1e-6, atol=1e-10)


def test_each_row_is_the_best_of_all_five_shares_and_says_which(report):
    for name in ("theorem1", "theorem2"):
        for cell in (report[name].as_printed, report[name].exact):
            means = [outcome.mean for outcome in cell.outcomes]
            assert len(means) == 5
            assert cell.mean == min(means)
            assert cell.share == SHARES[means.index(min(means))]
    assert report["gaussian"].exact.share is None


def test_ways_place_the_references_at_0_and_1(report):
    assert (report.way(report.references.non_private), report.way(report.references.random_guess)) == (0, 1)
    assert report.printed_way(0.4370) == 1
    assert report.printed_way(report["theorem2"].printed.mean) == pytest.approx(0.1434 / 0.4370)


def test_reports_do_not_depend_on_slices_or_workers(report):
    from concurrent.futures import ThreadPoolExecutor

    cache, runs, left = TrialCache(), 0, 0

    def late():
        nonlocal left
        left -= 1
        return left < 0

    with ThreadPoolExecutor(2) as workers:
        while True:
            runs, left = runs + 1, 40
            other = two(100, cache=cache, cancelled=late, executor=workers)
            if other.complete:
                break
            assert runs < 100
    assert runs > 1
    assert report_markdown(other) == report_markdown(report)


def test_a_run_that_is_slow_from_the_start_still_gets_on_and_a_stopped_one_does_nothing():
    cache, calls = TrialCache(), []

    def late():
        calls.append(1)
        return len(calls) > 1  # not stopped, but at once too late

    first = two(50, cache=cache, cancelled=late)
    assert not first.complete
    assert sum(map(len, cache.values())) > 0
    assert not math.isnan(first["theorem1"].as_printed.mean)
    nothing = TrialCache()
    stopped = two(50, cache=nothing, cancelled=lambda: True)
    assert not nothing
    assert math.isnan(stopped["theorem1"].exact.mean)
    assert sentence(stopped, stopped["theorem1"]) == "Not measured yet."
    assert "nan" not in report_markdown(stopped)


def test_what_cannot_be_run_has_its_reason_in_its_place():
    one, wrong = EXPERIMENTS["I"], Method("exponential-component", "tight")
    few = replace(one, rows=tuple(replace(row, as_printed=wrong, exact=wrong) if row.key == "laplace" else row
                                  for row in one.rows if row.key in ("binary", "laplace", "gaussian")))
    small = run(few, sample("liver"), trials=2)
    assert "releases one direction alone" in sentence(small, small["laplace"])
    assert math.isnan(small["laplace"].exact.mean)
    assert "| not run | not run |" in main_table(small)
    assert small["binary"].as_printed.mean == pytest.approx(small.references.trivial, rel=1e-12)
    assert "the no-data baseline" in sentence(small, small["binary"])


def test_a_sketch_is_read_by_its_pseudo_records_and_by_its_gram_matrix():
    one = EXPERIMENTS["I"]
    few = replace(one, rows=tuple(row for row in one.rows if "jl" in row.key), sets=())
    small = run(few, sample("liver"), trials=20)
    assert {row.key: row.printed is None for row in small.rows} == {
        "jl": False, "reduced-jl": False, "jl-gram": True, "reduced-jl-gram": True}
    for row in small.rows:
        assert "does not say how it read the sketch" in sentence(small, row)
        assert ("pseudo-records" if row.printed else "Gram matrix") in sentence(small, row)
    assert small["jl"].exact.mean == pytest.approx(small.references.trivial, rel=1e-9)  # nothing is near
    assert all(row.exact.mean >= 0.99 * small.references.trivial for row in small.rows)


@pytest.mark.parametrize(("key", "against", "outside", "ratio"), [
    ("II", "gaussian", 691, 1 / 3), ("III", "covariance-gaussian", 0, math.sqrt(2) / 3)])
def test_records_inside_a_round_bound_need_less_noise_and_what_is_said_of_them_is_so(key, against, outside, ratio):
    one, data = EXPERIMENTS[key], sample(EXPERIMENTS[key].scenario.data)
    row = next(row for row in one.rows if row.key == "bounded")
    setup = build(one.scenario.changed(**row.changes), data)
    assert setup.query.bound.count_outside(setup.table) == outside
    assert np.ptp(setup.query.bound.weights) == 0  # round
    assert setup.query.sensitivity / setup.box.sensitivity == pytest.approx(ratio)
    few = replace(one, rows=tuple(row for row in one.rows if row.key in ("bounded", against)), sets=())
    small = run(few, data, trials=30)
    assert small["bounded"].exact.mean < 0.5 * small[against].exact.mean
    assert sentence(small, small["bounded"]).endswith("Exact, it is better than the same without a bound.")


def test_sentences_follow_the_numbers(report):
    assert verdict(report["theorem1"].as_printed, report.references) == "a random guess"
    assert verdict(report["theorem1"].exact, report.references) == "nearly as good as no privacy"
    said = sentence(report, report["theorem1"])
    factor = report["theorem1"].as_printed.mean / report["theorem1"].exact.mean
    assert f"{float(f'{factor:.1e}'):,.0f} times smaller" in said
    assert "really spends ε = 0 of 1" in said
    middle = References(non_private=0.0, random_guess=1.0, trivial=0.5)
    for value, words in ((0.01, "nearly as good as no privacy"), (0.3, "better than the no-data baseline"),
                         (0.5, "the no-data baseline"), (0.7, "better than a random guess but worse than the "),
                         (1.0, "a random guess"), (1.5, "worse than a random guess")):
        cell = replace(report["gaussian"].exact, outcomes=(_outcome(report, [value, value]),))
        assert verdict(cell, middle).startswith(words)
    assert compared(_outcome(report, [1, 2, 3]), _outcome(report, [2, 3, 4.1])) == "better than"
    assert compared(_outcome(report, [2, 3, 4.1]), _outcome(report, [1, 2, 3])) == "worse than"
    assert compared(_outcome(report, [1, 2, 3]), _outcome(report, [3, 2, 1])) == "no different from"


def _outcome(report, errors):
    return Outcome(mechanism=report["gaussian"].exact.best.mechanism, errors=np.array(errors, dtype=float))


@pytest.mark.parametrize(("mean", "half", "text"), [
    (0.6818, 0.0214, "0.682 ± 0.021"), (1.2854e-5, 1.946e-6, "(1.29 ± 0.19) · 10⁻⁵"), (4.926, 0.1135, "4.93 ± 0.11"),
    (0.0, None, "0"), (0.9996, 0.01, "1.00 ± 0.01"), (0.5, math.nan, "0.500"), (math.nan, math.nan, ""),
    (2685.0, 12.0, "2685 ± 12")])
def test_figures_have_three_digits_and_their_interval(mean, half, text):
    assert figure_text(mean, half) == text


def test_ways_are_percentages():
    assert [way_text(way) for way in (0.1441, 4.8e-5, 0.0, 1.004, None, math.nan)] == [
        "14 %", "0.005 %", "0 %", "100 %", "–", "–"]


def test_a_random_guess_on_centred_data_is_what_the_note_says():
    x = sample("cardiotocography").matrix
    unit = (x - x.min(axis=1, keepdims=True)) / np.ptp(x, axis=1, keepdims=True)
    centred = unit - unit.mean(axis=1, keepdims=True)
    values, m = np.linalg.eigvalsh(centred @ centred.T / x.shape[1])[::-1], 21
    bases = np.linalg.qr(np.random.default_rng(0).standard_normal((4_000, m, m)))[0]
    captured = np.einsum("tji,j,tji->ti", bases, values, bases)
    assert ((values - captured) ** 2).sum(axis=1).mean() == pytest.approx(0.054, abs=1e-3)
    assert any("0.054" in note for note in EXPERIMENTS["III"].notes)


def test_figure_4_has_a_curve_for_each_set_and_guarantee():
    one = EXPERIMENTS["II"]
    curves, references, complete = direction_curves(one, sample("movement_simulated"), trials=30)
    assert complete
    assert {(curve.name, curve.exact) for curve in curves} == {(name, exact) for name, _ in one.sets
                                                               for exact in (True, False)}
    for curve in curves:
        assert len(curve.outcomes) == len(EPSILONS)
        if curve.exact:
            assert all(a.mean > b.mean for a, b in itertools.pairwise(curve.outcomes))
        else:  # nothing but chance: 30 trials of a spread of 0.1 stay within 6 standard errors
            assert all(abs(outcome.mean - references.random_guess) < 0.11 for outcome in curve.outcomes)


@pytest.mark.slow
def test_the_command_prints_three_tables():
    done = subprocess.run([sys.executable, "-m", "mvgviz", "experiments", "--trials", "3", "--seed", "5"], cwd=ROOT,
                          capture_output=True, text=True, check=True)
    assert re.findall(r"^## Experiment (\w+):", done.stdout, re.MULTILINE) == ["I", "II", "III"]
    for words in ("| mechanism | in the paper |", "| more for | noise |", "3 trials, seed 5"):
        assert done.stdout.count(words) == 3
    assert "Experiment II" in done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert all(line.count("|") in (7, 8) and "nan" not in line for line in lines)


def test_the_command_refuses_no_trials():
    done = subprocess.run([sys.executable, "-m", "mvgviz", "experiments", "--trials", "0"], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "trials" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["this", "Prescott"])
def test_the_document_is_what_the_command_prints(processor):
    """Also with the routines of an old processor, whose rounding is another one."""
    chosen = {} if processor == "this" else {"OPENBLAS_CORETYPE": processor, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "mvgviz", "experiments"], cwd=ROOT, capture_output=True, text=True,
                          check=True, env=os.environ | chosen)
    assert done.stdout == (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
