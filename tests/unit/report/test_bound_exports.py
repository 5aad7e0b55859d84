"""A bound, joint moments and what is judged are stated in words wherever a scenario goes, and come out the same."""

import json
import runpy

import numpy as np
import pytest

from mvgviz import Scenario, run_trials
from mvgviz.command.run import table
from mvgviz.data import sample
from mvgviz.pictures.report import asked_items, assumption_sentences, measured_sentences, sharing_warnings
from mvgviz.pictures.sentences import noise_care, origin_items
from mvgviz.provenance import Origin
from mvgviz.report.html import design_slides
from mvgviz.report.script import notebook, python_script
from mvgviz.scenario.resolve import build
from mvgviz.scenario.source import DataSource
from mvgviz.text import as_probability
from tests.datasets import make_dataset, setup_of

SCENARIOS = [
    {"query": "covariance", "bound": "even"}, {"query": "moments", "bound": "own", "radius": 1.25},
    {"query": "mean", "bound": "even", "task": "reconstruction", "directions": "rotation"},
    {"query": "identity", "bound": "own", "radius": 0.7, "guarantee": "theorem1"}, {"query": "moments"},
    {"query": "covariance", "bound": "even", "judged": "priority", "priority": (1,), "trials": 3}]


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
        assert f"clipped to an ellipse of radius {ours.query.bound.radius:g}, chosen without" in printed
    cells = json.loads(notebook(scenario, source=DataSource(name="liver")))["cells"]
    assert f"bound={scenario.bound!r}" in "".join(line for cell in cells for line in cell["source"])


def test_the_report_states_bound_split_and_what_is_judged():
    setup = setup_of("liver", query="moments", bound="own", radius=1.25, judged="priority", trials=2)
    assert "1.25 times the typical size" in dict(asked_items(setup))["Clipping"]
    said = " ".join(assumption_sentences(setup))
    assert "**Clipping:** clipped to an ellipse 1.25 times the typical size, chosen without" in said
    assert "20 % for the constant; of what is left, 80 % of the budget for sgpt and drinks" in said
    results = run_trials(setup.scenario, setup.dataset)
    measured = " ".join(measured_sentences(setup, results, simulated=False))
    assert "Measured on priority columns alone (priority: sgpt, drinks" in measured.replace(" and ", ", ")
    assert "Measured against the unclipped records" in measured
    printed = table(setup, results)
    assert "records clipped to an ellipse 1.25 times the typical size" in printed
    assert "on priority columns alone" in printed
    assert "clipped to an ellipse first" in design_slides(setup)["shape"].about


def test_the_report_says_with_which_weights_and_at_which_delta_errors_were_measured():
    weighed = setup_of("liver", query="mean", task="reconstruction", judged="priority", importance=(3, 1), trials=2)
    measured = measured_sentences(weighed, run_trials(weighed.scenario, weighed.dataset), simulated=False)
    assert "(priority: sgpt (weight 3) and drinks (weight 1))" in measured[1]
    learned = setup_of("liver", trials=2, delta=None)
    results = run_trials(learned.scenario, learned.dataset)
    assert f"held out, at δ = {as_probability(results.delta)}." in measured_sentences(
        learned, results, simulated=False)[-1]


def test_without_a_bound_nothing_is_said_of_one():
    setup = setup_of("liver")
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


def test_a_length_found_by_the_scenario_s_seed_is_called_looked_at_wherever_it_shows(tmp_path, capsys):
    setup = setup_of("liver", bound="private")
    assert (setup.origins["bound"], setup.looked_at["bound"]) == (Origin.PAID, Origin.READ)
    path = tmp_path / "program.py"
    path.write_text(python_script(setup.scenario, source=DataSource(name="liver")), encoding="utf-8")
    runpy.run_path(str(path))["show_design"](setup)
    printed = capsys.readouterr().out
    assert f"clipped to an ellipse of radius {setup.query.bound.radius:g}, {Origin.READ.words}\n" in printed
    assert f"bound: {Origin.READ.words};" in printed
    assert "paid for" not in printed
    seen = "paid for (here drawn from a known seed: not private)"
    assert dict(entry[:2] for entry in origin_items(setup))["records"].endswith(seen)
    assert seen in " ".join(assumption_sentences(setup))
    assert noise_care(setup).endswith("from a known seed: not private)")
    assert ["clipping radius comes from a known seed" in line
            for line in sharing_warnings(setup, None, simulated=False)] == [True]
    assert sharing_warnings(setup, None, simulated=True) == []  # the length of a stand-in's records


def test_a_length_that_was_declared_is_not_called_looked_at():
    setup = setup_of("liver", bound="even")
    assert setup.looked_at == setup.origins
    assert "seed" not in " ".join([*assumption_sentences(setup), str(origin_items(setup)), noise_care(setup),
                                   *sharing_warnings(setup, None, simulated=False)])
