"""``mvgviz run``: a study or an exported scenario without the app."""

import json
import os
import re
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

from mvgviz import DataSource, Scenario, Study, run_trials
from mvgviz.command.main import main
from mvgviz.data import read_table, sample, samples, table_to_dataset
from mvgviz.design import sampling
from mvgviz.scenario.resolve import build

BLOCKED = """
import runpy, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "plotly", "streamlit"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
sys.argv = ["mvgviz", *sys.argv[1:]]
runpy.run_module("mvgviz", run_name="__main__")
"""


@pytest.fixture
def saved(tmp_path):
    """Writes a scenario and returns its path as text."""
    def save(scenario, name="scenario.json"):
        path = tmp_path / name
        path.write_text(scenario.to_json() if isinstance(scenario, Scenario) else scenario, encoding="utf-8")
        return str(path)

    return save


@pytest.fixture
def own_file(tmp_path):
    """A table with semicolons, and the ranges beside it, in another order and without the last column."""
    path, ranges = tmp_path / "own.csv", tmp_path / "ranges.json"
    rng = np.random.default_rng(1)
    rows = "\n".join(";".join(f"{x:.3f}".replace(".", ",") for x in row) for row in rng.uniform(0, 5, (60, 3)))
    path.write_text(f"a;b;c\n{rows}\n", encoding="utf-8")
    ranges.write_text(json.dumps({"b": [0, 5], "a": [0, 6]}), encoding="utf-8")
    return path, ranges


@pytest.fixture
def opened(monkeypatch, capsys):
    """Opens the app without serving it; returns what Streamlit would be told, and what was printed."""
    served = []
    monkeypatch.setattr("mvgviz.command.app._serve", lambda flags: served.append(flags) or 0)

    def open_app(*arguments, code=0):
        served.clear()
        assert main([*arguments]) == code, arguments
        assert len(served) == (code == 0)
        return served[0] if served else None, capsys.readouterr()

    return open_app


@pytest.fixture
def busy():
    """A port that somebody serves on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


HERE = ("--port", "18999", "--no-ledger")


def own_scenario(**choice):
    return Scenario.default_for("upload-0123456789ab").changed(allocation="binary", priority_directions=(0,), **choice)


def cells(output):
    """The table's rows by their first cell."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in output.splitlines()
            if line.startswith("|") and not line.startswith("|-")]
    return {row[0]: row[1:] for row in rows}


def assert_table(output, scenario, data, trials):
    results = run_trials(scenario, data, trials=trials)
    setup = build(scenario, data)
    found = cells(output)
    for one in results.outcomes:
        low, high = one.interval
        at_most = "" if {"mvg": setup.design, "iid": setup.iid}[one.mechanism.key].mu_is == "exact" else "at most "
        assert found[one.mechanism.label] == [f"{one.mean:.6g}", f"{low:.6g} to {high:.6g}", str(trials),
                                             f"{at_most}{one.epsilon_spent:.6g}"]
    references = results.references
    assert found["no privacy"][0] == f"{references.non_private:.6g}"
    assert found["no-data baseline"][0] == f"{references.trivial:.6g}"
    assert found["random guess"][0] == f"{references.random_guess:.6g}"


@pytest.mark.parametrize(("name", "mode"), [*((name, "auto") for name in samples()), ("liver", "rows")])
def test_every_sample_prints_the_numbers_of_the_app(name, mode, saved, capsys):
    scenario = Scenario.default_for(name).changed(mode=mode)
    assert main(["run", saved(scenario), "--trials", "10"]) == 0
    output = capsys.readouterr()
    assert_table(output.out, scenario, sample(name), 10)
    assert output.err.splitlines()[-1] == "20 of 20 trials"
    assert output.out.startswith("Not private: measured on the data itself.")
    assert mode == "auto" or "| at most 1 " in output.out  # both sides would be exact


@pytest.mark.slow
def test_without_a_report_neither_pandas_nor_plotly_is_needed(saved, tmp_path):
    done = subprocess.run([sys.executable, "-c", BLOCKED, "run", saved(Scenario()), "--trials", "3", "--report",
                           "r.html"], cwd=tmp_path, capture_output=True, text=True)
    assert_table(done.stdout, Scenario(), sample("two_features"), 3)
    assert done.returncode == 2
    assert "a report needs plotly" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("known", "origin"), [
    ({"b": [0, 5], "a": [0, 6]}, "chosen without looking at the data"),
    ({"b": None, "a": [0, 6]}, "read from the data: not private")])
def test_an_uploaded_table_needs_its_file_and_its_ranges(known, origin, saved, own_file, capsys):
    path, ranges = own_file
    ranges.write_text(json.dumps(known), encoding="utf-8")
    command = ["run", saved(own_scenario()), "--data", str(path), "--ranges", str(ranges), "--trials", "8"]
    assert main(command) == 0
    output = capsys.readouterr().out
    data = table_to_dataset(read_table(path), columns=["b", "a"],
                            ranges={name: pair for name, pair in known.items() if pair})
    assert_table(output, own_scenario(), data, 8)
    assert f"ranges: {origin}" in output


def test_a_graph_needs_no_ranges_and_gaps_can_be_dropped(saved, tmp_path, capsys):
    graph = tmp_path / "graph.csv"
    graph.write_text("p,q,r\n0,1,0\n1,0,1\n0,1,0\n", encoding="utf-8")
    scenario = own_scenario(query="laplacian")
    assert main(["run", saved(scenario), "--data", str(graph), "--trials", "4"]) == 0
    assert_table(capsys.readouterr().out, scenario, table_to_dataset(read_table(graph)), 4)
    gaps, ranges = tmp_path / "gaps.csv", tmp_path / "ranges.json"
    gaps.write_text("a,b\n1,2\n,3\n4,5\n2,2\n", encoding="utf-8")
    ranges.write_text('{"a": [0, 9], "b": [0, 9]}', encoding="utf-8")
    command = ["run", saved(own_scenario()), "--data", str(gaps), "--ranges", str(ranges), "--trials", "2"]
    for more, code, words in (([], 2, "missing values"), (["drop"], 0, "records: read from the data: not private"),
                              (["middle"], 0, "records: chosen without looking at the data")):
        assert main([*command, *(["--missing", *more] if more else [])]) == code
        assert words in "".join(capsys.readouterr())


def test_given_directions_come_from_their_file(saved, tmp_path, capsys):
    scenario = Scenario(directions="upload", trials=3)
    np.savetxt(tmp_path / "w.csv", np.eye(2)[::-1], delimiter=",")
    given = ["--directions", str(tmp_path / "w.csv")]
    for more, code, words in (([], 2, "--directions"), (given, 0, "directions: read from the data: not private"),
                              ([*given, "--know-directions"], 0, "directions: chosen without looking at the data")):
        assert main(["run", saved(scenario), *more]) == code
        assert words in "".join(capsys.readouterr())


def refusals(saved, own_file, tmp_path):
    """Arguments that must be refused, and what the sentence says."""
    path, ranges = map(str, own_file)
    liver, own = saved(Scenario.default_for("liver"), "liver.json"), saved(own_scenario(), "own.json")
    other = tmp_path / "other.csv"
    other.write_text("a,d\n1,2\n3,4\n", encoding="utf-8")
    bad = saved("[1, 2", "bad.json")
    return {
        "no file": ([str(tmp_path / "none.json")], "cannot be read"),
        "a folder": ([str(tmp_path)], "cannot be read"),
        "not JSON": ([bad], "is no study or scenario"),
        "another JSON": ([saved("{}", "empty.json")], "must hold"),
        "unknown sample": ([saved(Scenario(data="nobody"), "s.json")], "sample must be one of"),
        "no data": ([own], "--data"),
        "data not there": ([own, "--data", str(tmp_path / "gone.csv"), "--ranges", ranges], "gone.csv"),
        "a file of other columns": ([own, "--data", str(other), "--ranges", ranges], "it lacks b"),
        "no ranges": ([own, "--data", path], "--ranges"),
        "ranges not there": ([own, "--data", path, "--ranges", str(tmp_path / "gone.json")], "cannot be read"),
        "ranges not JSON": ([own, "--data", path, "--ranges", bad], "must be JSON"),
        "ranges of another shape": ([own, "--data", path, "--ranges", saved('{"a": [1]}', "r.json")], "must be JSON"),
        "ranges of no column": ([own, "--data", path, "--ranges", saved('{"zz": [0, 1]}', "r4.json")], "it lacks zz"),
        "data for a sample": ([liver, "--data", path], "--data is for"),
        "a task that does not fit": ([saved(Scenario(task="linear-ridge"), "t.json")], "label"),
        "a design that does not work": ([saved(Scenario(guarantee="theorem2"), "g.json")], "semi-definite"),
        "no trials": ([liver, "--trials", "0"], "trials"),
        "trials in words": ([liver, "--trials", "many"], "--trials"),
        "report in no folder": ([liver, "--trials", "2", "--report", str(tmp_path / "no" / "r.html")], "the report"),
        "report is a folder": ([liver, "--trials", "2", "--report", str(tmp_path)], "the report"),
        "report on a full device": ([liver, "--trials", "2", "--report", "/dev/full"], "cannot be written"),
        "no argument": ([], "study"),
        "an unknown option": ([liver, "--quick"], "--quick"),
    }


def test_what_has_to_be_mended_is_one_sentence_and_exit_code_2(saved, own_file, tmp_path, capsys):
    for what, (arguments, words) in refusals(saved, own_file, tmp_path).items():
        try:
            code = main(["run", *arguments])
        except SystemExit as stop:
            code = stop.code
        said = [line for line in capsys.readouterr().err.splitlines() if not line.endswith(" trials")]
        assert code == 2, what
        assert len(said) == 1, what
        assert said[0].startswith("mvgviz"), what
        assert words in said[0], (what, said)


@pytest.mark.slow
def test_ctrl_c_prints_what_is_finished_and_ends_with_130(saved, tmp_path):
    scenario = Scenario.default_for("liver").changed(query="identity", task="kernel-ridge", trials=100_000)
    with subprocess.Popen([sys.executable, "-c", "import mvgviz.command.run as r, signal, sys\n"
                           "from mvgviz.command.main import main\n"
                           "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background\n"
                           "r.say_tenths = lambda words: lambda done, total: r.say(f'{done} done')\n"
                           "sys.exit(main(sys.argv[1:]))", "run", saved(scenario)], cwd=tmp_path,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not process.stderr.readline().endswith(" done\n"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        output, said = process.communicate(timeout=300)
    assert process.returncode == 130
    done = [int(cells(output)[name][2]) for name in ("Directional (MVG)", "MVG, equal noise")]
    assert 0 < max(done) < 100_000
    assert "stopped; the table shows the finished trials" in said


@pytest.mark.parametrize("before", [signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL])
def test_ctrl_c_before_the_first_trial_is_130_too(saved, monkeypatch, capsys, before):
    def interrupted(*arguments, **choices):
        assert (signal.getsignal(signal.SIGINT) is before) == (before is signal.SIG_IGN)  # in the background it stays
        raise KeyboardInterrupt

    monkeypatch.setattr("mvgviz.command.run.pose", interrupted)
    outside = signal.signal(signal.SIGINT, before)
    try:
        assert main(["run", saved(Scenario())]) == 130
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        signal.signal(signal.SIGINT, outside)
    assert "stopped" in capsys.readouterr().err


def test_a_study_brings_the_reading_of_its_file(own_file, tmp_path, capsys):
    path, _ = own_file
    source = DataSource(name="own.csv", columns=("b", "a"), ranges={"b": (0, 5), "a": (0, 6)}, separator=";",
                        decimal=",")
    study = Study(scenario=own_scenario(), source=source, notes="as agreed")
    (tmp_path / "study.json").write_text(study.to_json(), encoding="utf-8")
    assert main(["run", str(tmp_path / "study.json"), "--trials", "8", "--report", str(tmp_path / "r.html")]) == 0
    data = table_to_dataset(read_table(path), columns=["b", "a"], ranges={"b": (0, 5), "a": (0, 6)})
    assert_table(capsys.readouterr().out, own_scenario(), data, 8)
    report = (tmp_path / "r.html").read_text(encoding="utf-8").strip()
    assert (report[:15], "as agreed" in report, report[-7:]) == ("<!DOCTYPE html>", True, "</html>")
    path.rename(tmp_path / "moved.csv")
    assert main(["run", str(tmp_path / "study.json")]) == 2
    assert "--data" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "study.json"), "--data", str(tmp_path / "moved.csv"), "--trials", "2"]) == 0
    other = tmp_path / "other.csv"
    other.write_text("a;c\n1;2\n3;4\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["run", str(tmp_path / "study.json"), "--data", str(other)]) == 2
    assert "it lacks b" in capsys.readouterr().err


def weaken(monkeypatch):
    """Let every sampler draw too little noise."""
    honest = sampling.sample_noise
    monkeypatch.setattr(sampling, "sample_noise", lambda *given, **choice: 0.3 * honest(*given, **choice))


def test_an_audit_says_what_it_shows_and_ends_with_1_where_the_noise_is_broken(saved, capsys, monkeypatch):
    command = ["audit", saved(Study.of_sample(Scenario()).to_json()), "--attacks", "2000"]
    assert main(command) == 0
    output = capsys.readouterr().out
    assert "No violation found" in output
    assert float(re.search(r"epsilon is at least ([\d.e-]+)", output)[1]) <= 1
    weaken(monkeypatch)
    assert main(command) == 1
    assert "CLAIM" in capsys.readouterr().out


@pytest.mark.parametrize(("family", "name", "spent"), [
    ("box", "Box, divided", "1 with delta = 0"), ("laplace", "Laplace, divided", "1 with delta = 0"),
    ("ellipse", "Ellipse (l2)", "at most 1")])
def test_every_family_of_noise_is_run_and_audited_under_its_own_name(family, name, spent, saved, capsys, monkeypatch):
    scenario = saved(Scenario.default_for("liver").changed(query="mean", task="reconstruction", family=family))
    assert main(["run", scenario, "--trials", "3"]) == 0
    output = capsys.readouterr().out
    assert (cells(output)[name][3], "Directional (MVG)" in output) == (spent, False)
    code = main(["audit", scenario, "--attacks", "2000"])
    said = capsys.readouterr()
    if family == "ellipse":
        assert (code, "No violation found" in said.out) == (0, True)
        assert main(["audit", scenario, "--attacks", "2000", "--released"]) == 2
        assert "choose another family" in capsys.readouterr().err
        weaken(monkeypatch)
        assert main(["audit", scenario, "--attacks", "2000"]) == 1
        return
    assert (code, "claimed: epsilon 1 at delta 0" in said.out) == (0, True)
    weaken(monkeypatch)
    assert main(["audit", scenario, "--attacks", "2000"]) == 1
    monkeypatch.setattr("mvgviz.release.box_noise.box_noise", lambda size, epsilon, steps: [7] * size)
    assert main(["audit", scenario, "--attacks", "100", "--released"]) == 1


def test_the_help_fits_a_screen(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_the_app_is_not_begun_with_nonsense(saved, opened, busy):
    for arguments, words in {("--data", "nowhere.csv"): "not a file", ("--study", saved("{}")): "must hold",
                             ("--port", "70000"): "port", ("--host", "999.1.1.1"): "no address",
                             ("--port", str(busy)): "in use",
                             **{("--allow-host", name, "--no-ledger"): "--allow-host" for name in (
                                 "https://a.example", "a.example:80", "a b", "", "a;}", "*")}}.items():
        assert words in opened(*arguments, code=2)[1].err, arguments


def test_without_a_port_the_next_free_one_is_taken_and_said(opened, busy, monkeypatch):
    monkeypatch.setattr("mvgviz.command.app._PORT", busy)
    (_, port, *_), said = opened("--no-ledger")
    assert busy < int(port)
    assert said.err == f"mvgviz: port {busy} is in use, so this app is on port {port}\n"
    assert f"http://localhost:{port} " in said.out


@pytest.mark.parametrize(("variable", "value"), [
    ("MVGVIZ_PUBLIC_URL", "https://"), ("MVGVIZ_PUBLIC_URL", "https://a b"),
    ("MVGVIZ_PUBLIC_URL", "https://münch.example"),
    ("MVGVIZ_ALLOW_HOSTS", "a.example:80")])
def test_a_variable_without_a_name_is_refused_by_its_own_name(variable, value, opened, monkeypatch):
    monkeypatch.setenv(variable, value)
    said = opened("--no-ledger", code=2)[1].err
    assert said.startswith(f"mvgviz: {variable}: ")
    assert "--allow-host" not in said


def test_a_public_address_may_be_a_name_or_in_numbers(opened, monkeypatch):
    for url in ("http://[::1]:8501/x", "http://10.1.2.3", "https://a.example"):
        monkeypatch.setenv("MVGVIZ_PUBLIC_URL", url)
        opened(*HERE)


@pytest.mark.parametrize(("given", "names", "browser"), [
    ([], "", "http://localhost:18999"), (["--no-browser"], "", None),
    (["--allow-host", "a.example", "--allow-host", "b"], "a.example b", "http://localhost:18999"),
    (["--host", "127.0.0.1"], "", "http://127.0.0.1:18999")])
def test_the_app_is_told_its_names_and_opens_a_browser_unless_one_says_otherwise(given, names, browser, opened,
                                                                                 monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    opened(*given, *HERE)
    assert (os.environ["MVGVIZ_ALLOW_HOSTS"], os.environ.get("MVGVIZ_BROWSER")) == (names, browser)


def test_a_login_needs_to_know_whom_to_ask(tmp_path, opened, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    secrets = tmp_path / ".streamlit" / "secrets.toml"
    secrets.parent.mkdir()
    for text, words in ((None, "under [auth]"), ("[other]\na = 1", "under [auth]"), ("[auth", "cannot be read")):
        if text:
            secrets.write_text(text, encoding="utf-8")
        assert words in opened("--login", *HERE, code=2)[1].err
    assert "MVGVIZ_LOGIN" not in os.environ
    secrets.write_text('[auth]\nclient_id = "a"', encoding="utf-8")
    opened("--login", *HERE)
    assert os.environ["MVGVIZ_LOGIN"] == "yes"


@pytest.mark.parametrize(("host", "here"), [("localhost", "localhost"), ("0.0.0.0", "localhost"), ("::1", "[::1]")])
def test_the_command_says_where_the_app_is_warns_beyond_this_computer_and_streamlit_says_nothing(host, here, opened):
    flags, said = opened("--host", host, *HERE)
    assert said.out == f"mvgviz: http://{here}:18999 (Ctrl-C ends it)\n"
    assert ("warning" in said.err) == (host == "0.0.0.0")
    assert bool(said.err) == (host == "0.0.0.0")
    assert " ".join(flags).endswith("--logger.hideWelcomeMessage true")  # it would advertise over the page


def test_the_command_says_where_releases_are_counted(tmp_path, opened, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("MVGVIZ_LEDGER", "")
    monkeypatch.delenv("MVGVIZ_LEDGER")
    assert str(tmp_path) in opened("--port", "18999")[1].err
    broken = tmp_path / "broken.sqlite"
    broken.write_text("not a ledger, " * 500, encoding="utf-8")
    assert "broken.sqlite" in opened("--port", "18999", "--ledger", str(broken), code=2)[1].err
    with pytest.raises(SystemExit):
        main(["--ledger", "a", "--no-ledger"])


def test_a_demo_keeps_no_ledger_and_takes_no_file(opened, tmp_path, monkeypatch):
    monkeypatch.delenv("MVGVIZ_LEDGER", raising=False)
    table = tmp_path / "mine.csv"
    table.write_text("a\n1\n", encoding="utf-8")
    for option in ("--data", "--study", "--ledger"):
        assert f"leave out {option}" in opened("--demo", option, str(table), "--port", "18999", code=2)[1].err
    opened("--demo", "--port", "18999")
    assert (os.environ["MVGVIZ_DEMO"], os.environ["MVGVIZ_LEDGER"]) == ("1", "none")


def test_a_study_of_people_runs_and_its_program_reads_the_same(tmp_path, capsys):
    lines = [f"p{k % 20},{'fm'[k % 2]},2024-{k % 12 + 1:02d}-05,{20 + k}" for k in range(60)]
    (tmp_path / "p.csv").write_text("\n".join(["id,sex,when,age", *lines]), encoding="utf-8")
    source = DataSource(name="p.csv", ranges={"age": (0, 120), "when": ("2024-01-01", "2024-12-31")}, person="id",
                        at_most=2, levels={"sex": ["f", "m"]})
    scenario = Scenario.default_for("upload-0123456789ab").changed(query="mean", task="reconstruction")
    study = Study(scenario=scenario, source=source)
    (tmp_path / "study.json").write_text(study.to_json(), encoding="utf-8")
    program = tmp_path / "program.py"
    assert main(["run", str(tmp_path / "study.json"), "--trials", "8", "--program", str(program)]) == 0
    data = study.data(tmp_path / "p.csv")
    assert (data.n_records, data.per_person, data.n_features) == (40, 2, 4)
    assert_table(capsys.readouterr().out, scenario, data, 8)
    made = {"__name__": "program"}
    exec(program.read_text(encoding="utf-8"), made)
    again = made["load"](tmp_path / "p.csv")
    assert (again.features, again.per_person, again.levels) == (data.features, 2, data.levels)
    assert (again.matrix == data.matrix).all()


@pytest.mark.slow
def test_trials_run_on_a_cluster_with_the_same_numbers(saved, capsys):
    distributed = pytest.importorskip("distributed")
    local = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None,
             "protocol": "tcp", "host": "127.0.0.1"}
    with distributed.LocalCluster(**local) as cluster:
        assert main(["run", saved(Scenario()), "--trials", "6", "--cluster", cluster.scheduler_address]) == 0
    assert_table(capsys.readouterr().out, Scenario(), sample("two_features"), 6)


def test_a_cluster_that_is_not_there_is_one_sentence(saved, capsys, monkeypatch):
    distributed = pytest.importorskip("distributed")

    def nobody(*given, **choice):
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", nobody)
    assert main(["run", saved(Scenario()), "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "no Dask scheduler" in capsys.readouterr().err


def test_a_study_reaches_no_file_but_the_one_beside_it(tmp_path, capsys):
    """Whatever path a study's file is called by, only its last part counts, in the study's own folder."""
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n3,4\n5,7\n", encoding="utf-8")
    inside = tmp_path / "inside"
    inside.mkdir()
    study = inside / "study.json"
    for name in ("../secret.csv", str(tmp_path / "secret.csv"), "..", ".", "", "a\0b", "x/../../secret.csv"):
        study.write_text(Study(scenario=own_scenario(), source=DataSource(name=name)).to_json(), encoding="utf-8")
        assert main(["run", str(study)]) == 2
        assert "not beside it" in capsys.readouterr().err
