"""Exported programs and notebooks: run where only mvgviz is installed, they print the app's numbers."""

import ast
import csv
import json
import os
import pathlib
import runpy
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvgviz import Ledger, Scenario, from_matrix, random_rotation, run_trials
from mvgviz.data import read_table, sample, samples, table_to_dataset
from mvgviz.provenance import Origin
from mvgviz.release.release import NoLedgerWarning
from mvgviz.report import script
from mvgviz.report.script import notebook, python_script
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import build
from mvgviz.scenario.source import DataSource
from mvgviz.trials.problem import pose

pytestmark = pytest.mark.slow

ODD_NAMES = ('say "hi"', "it's", "line\nbreak", "=cmd|' /C calc'!A0", "größe 漢字 \\n {x} %s", "'''\"\"\"x")
TRIALS = 10


def clean(folder, program, *arguments):
    """Run a program as on another machine: no path but the installed packages, no folder of ours."""
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    return subprocess.run([sys.executable, "-I", "-W", "error", str(path), *map(str, arguments)], cwd=folder, env=kept,
                          capture_output=True, text=True, encoding="utf-8")


@pytest.fixture
def run_here(tmp_path, monkeypatch, capsys):
    """Run a program in this process, which is faster: its exit (None: well), its output and what it complained of."""
    def run(program, *arguments):
        path = tmp_path / "program.py"
        path.write_text(program, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(path), *map(str, arguments)])
        try:
            stopped = runpy.run_path(str(path), run_name="__main__") and None
        except SystemExit as stop:
            stopped = stop.code
        output = capsys.readouterr()
        return stopped, output.out, output.err

    return run


def expected(scenario, data, uploaded=None):
    """What a program prints of design and trials, from the engine's own numbers."""
    setup = build(scenario, data, uploaded=uploaded)
    results = run_trials(scenario, data, trials=TRIALS, problem=pose(scenario, data, uploaded=uploaded))
    at_most = "" if setup.design.mu_is == "exact" else "at most "
    table = budget_table(setup)  # in the units of the page Precision budget
    noise = list(zip(setup.direction_names, table.std * table.own, table.units, strict=True))[:20]
    return [
        f"epsilon spent by the noise: {at_most}{setup.epsilon_spent:.6g}",
        *(f"  {name!r}: {std:.6g} {unit}" for name, std, unit in noise),
        *(f"  {one.mechanism.label}: {one.mean:.6g}, 95 % interval {one.interval[0]:.6g} to {one.interval[1]:.6g}"
          for one in results.outcomes),
        f"  no privacy: {results.references.non_private:.6g}",
        f"  no-data baseline: {results.references.trivial:.6g}",
        f"  random guess: {results.references.random_guess:.6g}",
    ]


def assert_prints(output, lines):
    printed = output.splitlines()
    assert [line for line in lines if line not in printed] == []


def test_the_template_is_a_program_that_runs_as_it_stands(tmp_path):
    template = pathlib.Path(script.__file__).parent / "templates" / "program.py"
    done = clean(tmp_path, template.read_text(encoding="utf-8"), "--trials", TRIALS)
    assert (done.returncode, done.stderr) == (0, "")
    assert_prints(done.stdout, expected(Scenario(data="two_features"), sample("two_features")))


def odd_table(folder):
    """A file with semicolons, decimal commas and names that want to be code."""
    path = folder / "o'dd \"file\" {0} %d.csv"
    values = np.random.default_rng(5).uniform(0, 9, (80, len(ODD_NAMES))).round(3)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(ODD_NAMES)
        writer.writerows([[str(value).replace(".", ",") for value in row] for row in values])
    return path


def uploaded(path, **choice):
    table = read_table(path)
    scenario = Scenario.default_for("upload-0123456789ab").changed(
        allocation="binary", priority_directions=(1,), **choice)
    return table, scenario


@pytest.mark.parametrize("name", samples())
def test_the_program_of_every_sample_prints_the_numbers_of_the_app(name, tmp_path):
    scenario = Scenario.default_for(name)
    done = clean(tmp_path, python_script(scenario, source=DataSource(name=name)), "--trials", TRIALS)
    assert (done.returncode, done.stderr) == (0, "")
    assert_prints(done.stdout, expected(scenario, sample(name)))
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]  # nothing was released


def test_the_program_of_an_odd_file_prints_the_numbers_of_the_app_and_releases(tmp_path, run_here):
    path = odd_table(tmp_path)
    table, scenario = uploaded(path)
    columns = table.columns[:5][::-1]
    ranges = dict.fromkeys(columns, (0.0, 10.0))
    program = python_script(scenario, source=DataSource(name=path.name, columns=columns, ranges=ranges))
    done = clean(tmp_path, program, "--trials", TRIALS, "--release", "out.csv", "--ledger", "ledger.sqlite",
                 "--population", "patients of 2024")
    assert (done.returncode, done.stderr) == (0, "")
    [entry] = Ledger(tmp_path / "ledger.sqlite").entries
    assert (entry.population, entry.state) == ("patients of 2024", "released")
    data = table_to_dataset(table, columns=columns, ranges=ranges)
    assert data.ranges_origin is Origin.DECLARED
    assert_prints(done.stdout, expected(scenario, data))
    about = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert about["guarantee"]["epsilon"] == pytest.approx(1)
    assert Scenario.from_json(json.dumps(about["scenario"])) == scenario
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.reader(file))
    noisy = np.array([row[1:] for row in cells[1:]], dtype=float)
    assert noisy.shape == (5, 5)
    assert np.array_equal(noisy, noisy.T)
    assert not any(row[0].startswith("=") for row in cells)
    stopped, output, _ = run_here(program, "--trials", 0, "--release", "out.csv")
    assert "must be a new .csv file" in stopped
    assert "interval" not in output  # no trials were asked for


def test_a_program_reads_what_was_not_declared_from_the_file_and_then_refuses_to_release(tmp_path, run_here):
    path = odd_table(tmp_path)
    table, scenario = uploaded(path, query="mean")
    ranges = {table.columns[0]: (0.0, 10.0)}
    program = python_script(scenario, source=DataSource(name="lost.csv", ranges=ranges, separator=";", decimal=","))
    stopped, output, _ = run_here(program, path, "--trials", TRIALS, "--release", "out.csv")
    assert_prints(output, expected(scenario, table_to_dataset(table, ranges=ranges)))
    assert "ranges: read from the data: not private" in output
    assert "accept: ranges" in stopped
    assert not (tmp_path / "out.csv").exists()
    other = tmp_path / "other.csv"
    other.write_bytes(path.read_bytes() + b"1;2;3;4;5;6\n")
    stopped, _, complaint = run_here(program, other, "--trials", 0, "--release", "out.csv", "--accept", "ranges")
    assert (stopped, complaint) == (None, "")
    assert (tmp_path / "out.json").exists()
    intervals = (tmp_path / "out_intervals.csv").read_text(encoding="utf-8").splitlines()
    assert len(intervals) == 1 + len(table.columns)  # of a mean, a line for each feature
    assert intervals[0].startswith("feature,column,value,lower 0.95,upper 0.95")
    stopped, _, _ = run_here(program)
    assert "lost.csv" in stopped


def test_a_program_reads_records_in_columns_and_leaves_gaps_out(tmp_path, run_here):
    path = tmp_path / "wide.csv"
    path.write_text("x,1,2,3,4\ny,5,,7,9\n", encoding="utf-8")
    table = read_table(path, header=False)
    data = table_to_dataset(table, orientation="columns", missing="drop", ranges={"x": (0, 9), "y": (0, 9)})
    scenario = Scenario.default_for("upload-0123456789ab")
    source = DataSource(name="wide.csv", columns=data.features, ranges={"x": (0, 9), "y": (0, 9)}, missing="drop",
                        orientation="columns", header=False)
    stopped, output, complaint = run_here(python_script(scenario, source=source), "--trials", TRIALS)
    assert (stopped, complaint) == (None, "")
    assert_prints(output, expected(scenario, data))


def test_a_program_speaks_of_a_person_where_that_is_the_promise(tmp_path, run_here):
    visits = "".join(f"p{k // 2},{k % 9}\n" for k in range(40))
    (tmp_path / "visits.csv").write_text(f"id,x\n{visits}", encoding="utf-8")
    source = DataSource(name="visits.csv", columns=("x",), ranges={"x": (0, 9)}, person="id", at_most=1)
    program = python_script(Scenario.default_for("upload-0123456789ab").changed(query="mean"), source=source)
    stopped, output, complaint = run_here(program, "--trials", TRIALS)
    assert (stopped, complaint) == (None, "")
    assert "neighbours: one person replaced\n" in output


@pytest.mark.parametrize(("family", "promise"), [("box", "with delta = 0"), ("gaussian", "at delta 1e-06")])
def test_a_program_says_which_delta_the_noise_of_a_release_needs(family, promise, run_here):
    program = python_script(Scenario(data="liver", query="mean", family=family), source=DataSource(name="liver"))
    with pytest.warns(NoLedgerWarning):
        stopped, output, _ = run_here(program, "--trials", 0, "--release", "out.csv")
    assert stopped is None
    assert f"a release spends epsilon 1 {promise}" in output.splitlines()


def test_a_program_takes_given_directions_from_their_file(tmp_path, run_here):
    turned = random_rotation(2, rng=np.random.default_rng(3)).matrix
    np.savetxt(tmp_path / "w.csv", turned, delimiter=",", fmt="%.17g")
    scenario = Scenario(directions="upload")
    program = python_script(scenario, source=DataSource(name="two_features", directions="w.csv"))
    stopped, output, complaint = run_here(program, "--trials", TRIALS)
    assert (stopped, complaint) == (None, "")
    assert_prints(output, expected(scenario, sample("two_features"), from_matrix(turned)))


def cells_of(text):
    content = json.loads(text)
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    for cell in content["cells"]:
        extra = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | extra
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def test_a_notebook_prints_the_same_and_releases_nothing_by_itself(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = odd_table(tmp_path)
    table, upload = uploaded(path, trials=TRIALS)
    liver = Scenario.default_for("liver").changed(trials=TRIALS)
    np.savetxt(tmp_path / "directions.csv", np.eye(2)[::-1], delimiter=",")
    turned = Scenario(directions="upload", trials=TRIALS)
    cases = [(liver, DataSource(name="liver"), sample("liver"), None),
             (upload, DataSource(name=path.name, columns=table.columns), table_to_dataset(table), None),
             (turned, DataSource(name="two_features"), sample("two_features"), from_matrix(np.eye(2)[::-1]))]
    before = {file.name for file in tmp_path.iterdir()}
    for scenario, source, data, given_directions in cases:
        names = {}
        for cell in cells_of(notebook(scenario, source=source)):
            exec(compile(cell, "cell", "exec"), names)
        assert_prints(capsys.readouterr().out, expected(scenario, data, given_directions))
    assert {file.name for file in tmp_path.iterdir()} == before


@given(names=st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True), file=st.text(), member=st.text())
@settings(max_examples=15)
def test_any_name_stands_in_a_program_as_a_literal_and_nothing_else(names, file, member):
    source = DataSource(name=file, columns=tuple(names), ranges=dict.fromkeys(names, (0, 1)), member=member)
    plain = DataSource(name="f", columns=("a",) * len(names), ranges={"a": (0, 1)}, member="m")
    scenario = Scenario.default_for("upload-0123456789ab")
    tree = ast.parse(python_script(scenario, source=source))
    values = {node.targets[0].id: ast.literal_eval(node.value) for node in tree.body
              if isinstance(node, ast.Assign) and node.targets[0].id != "SCENARIO"}
    assert values == {"FILE": file, "COLUMNS": names, "RANGES": dict.fromkeys(names, (0.0, 1.0))}
    usual = ast.parse(python_script(scenario, source=plain))
    assert [type(node) for node in tree.body] == [type(node) for node in usual.body]
    for cell in cells_of(notebook(scenario, source=source)):
        ast.parse(cell)


def test_a_program_holds_no_value_of_the_file(tmp_path):
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n" + "\n".join(f"{i + 0.73519},{i * 31 + 0.91827}" for i in range(20)), encoding="utf-8")
    table, scenario = uploaded(path)
    source = DataSource(name=path.name, columns=table.columns)
    for text in (python_script(scenario, source=source), notebook(scenario, source=source)):
        assert not any(repr(value) in text for value in table.values.ravel().tolist())
        assert "73519" not in text


def test_a_program_stays_short_and_tidy(tmp_path):
    table, scenario = uploaded(odd_table(tmp_path))
    program = python_script(scenario, source=DataSource(name="f.csv", columns=table.columns,
                                                        ranges=dict.fromkeys(table.columns, (0, 10))))
    assert len(program.splitlines()) < 150
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--isolated", "--line-length", "120",
                           "--select", "E,F,W,I", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
