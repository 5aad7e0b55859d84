"""A bound, joint moments and what is judged are stated in words wherever a scenario goes, and come out the same."""

import json
import runpy

import numpy as np
import pytest

from mvgviz import Scenario, run_trials
from mvgviz.__main__ import table
from mvgviz.data import sample
from mvgviz.provenance import Origin
from mvgviz.report.script import DataSource, notebook, python_script
from mvgviz.report.slides import design_slides
from mvgviz.scenario.resolve import build
from mvgviz.words.provenance import origin_items
from mvgviz.words.report import asked_items, assumption_sentences, measured_sentences
from tests.datasets import make_dataset

SCENARIOS = [
    {"query": "covariance", "bound": "even"}, {"query": "moments", "bound": "own", "radius": 1.25},
    {"query": "mean", "bound": "even", "task": "reconstruction", "directions": "rotation"},
    {"query": "identity", "bound": "own", "radius": 0.7, "guarantee": "theorem1"}, {"query": "moments"},
    {"query": "covariance", "bound": "even", "judged": "needed", "needed": (1,), "trials": 3}]


@pytest.mark.parametrize("changes", SCENARIOS)
def test_the_exported_program_designs_the_very_same_noise(changes, tmp_path, capsys):
    scenario = Scenario.default_for("liver").changed(**changes)
    path = tmp_path / "program.py"
    path.write_text(python_script(scenario, source=DataSource(name="liver")), encoding="utf-8")
    program = runpy.run_path(str(path))
    assert program["SCENARIO"] == scenario
    theirs, ours = program["mv"].build(program["SCENARIO"], program["load"]()), build(scenario, sample("liver"))
    assert np.array_equal(theirs.design.noise_std(), ours.design.noise_std())
    assert np.array_equal(theirs.query.value, ours.query.value)
    program["show_design"](theirs)
    printed = capsys.readouterr().out
    if scenario.bound != "none":
        assert f"pulled into an ellipse of radius {ours.query.bound.radius:g}, declared" in printed
    cells = json.loads(notebook(scenario, source=DataSource(name="liver")))["cells"]
    assert f"bound={scenario.bound!r}" in "".join(line for cell in cells for line in cell["source"])


def test_the_report_states_bound_split_and_what_is_judged():
    scenario = Scenario.default_for("liver").changed(
        query="moments", bound="own", radius=1.25, judged="needed", trials=2)
    setup = build(scenario, sample("liver"))
    assert "1.25 times as long" in dict(asked_items(setup))["Records asked about"]
    said = " ".join(assumption_sentences(setup))
    assert "**Records:** pulled into an ellipse 1.25 times as long as an evenly spread record, declared." in said
    assert "20% for the constant; of the rest, 80% of the budget for sgpt and drinks" in said
    results = run_trials(scenario, setup.dataset)
    measured = " ".join(measured_sentences(setup, results, simulated=False))
    assert "Measured on what is needed alone (needed: sgpt, drinks" in measured.replace(" and ", ", ")
    assert "Held against the records as they are" in measured
    printed = table(setup, results)
    assert "records pulled into an ellipse 1.25 times as long" in printed
    assert "on what is needed alone" in printed
    assert "pulled into an ellipse first" in design_slides(setup)[0].about


def test_without_a_bound_nothing_is_said_of_one():
    setup = build(Scenario.default_for("liver"), sample("liver"))
    assert "ellipse" not in " ".join([*assumption_sentences(setup), *(text for _, text in asked_items(setup))])
    assert "ellipse" not in str(origin_items(setup))


def test_a_bound_on_ranges_read_from_the_data_is_marked():
    data = make_dataset(3, 50)
    read = type(data)(matrix=data.matrix, features=data.features, lower=-1, upper=1,
                      range_origins=(Origin.DECLARED, Origin.READ, Origin.DECLARED))
    setup = build(Scenario(query="mean", bound="even"), read)
    assert setup.origins["bound"] is Origin.READ
    assert [care for name, _, care in origin_items(setup) if name == "records"] == [True]
    assert "read from the data: not private" in " ".join(assumption_sentences(setup)).replace(", not", ": not")
