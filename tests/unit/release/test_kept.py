"""Kept answers: what comes back from a ledger is what was released, by everything that is public about it."""

import csv
import io
import json
import math
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Dataset, Ledger, Scenario, build, release_setup, sample, to_csv, to_intervals_csv, to_metadata_json
from mvgviz.command.main import main
from mvgviz.pictures.budget import promise
from mvgviz.pictures.sentences import released_clipping
from mvgviz.provenance import Origin
from mvgviz.release import kept
from mvgviz.release.entries import Sum
from mvgviz.release.fitted import fitted_coefficients

SCENARIOS = {
    "mean": {"query": "mean"}, "table": {"query": "identity"}, "turned": {"directions": "rotation", "angle": 20},
    "moments": {"query": "moments"}, "declared units": {"query": "mean", "scale": "declared"},
    "bound": {"query": "mean", "bound": "even"}, "private bound": {"query": "covariance", "bound": "private"}}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_kept_release_is_the_one_that_was_made(tmp_path, name):
    setup = build(Scenario.default_for("liver").changed(**SCENARIOS[name]), replace(sample("liver"), title="Liver"))
    given = release_setup(setup, ledger=Ledger(tmp_path / "l.sqlite"), population="a",
                          symmetrise=setup.query.symmetric)
    [again] = Ledger(tmp_path / "l.sqlite").releases("A")
    assert np.array_equal(again.noisy, given.noisy)
    for made in (to_csv, to_intervals_csv, to_metadata_json):
        assert made(again) == made(given)
    assert (again.names, again.title, again.guarantee) == (given.names, "Liver", given.guarantee)
    assert again.scenario == given.scenario
    assert (again.ranges, again.declared_ranges) == (given.ranges, given.declared_ranges)
    assert released_clipping(again) == released_clipping(given)
    np.testing.assert_allclose(again.half_widths(0.5), given.half_widths(0.5), rtol=1e-12)
    if name == "moments":
        ours, theirs = (fitted_coefficients(one, "drinks").values for one in (again, given))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_only_noisy_numbers_are_kept_and_other_people_s_stay_theirs(tmp_path):
    setup = build(Scenario.default_for("liver").changed(query="mean", scale="declared"), sample("liver"))
    ledger = Ledger(tmp_path / "l.sqlite")
    release_setup(setup, ledger=ledger, population="a")
    assert ledger.releases("b") == ()
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as connection:
        [(_, certificate, numbers, _)] = connection.execute("SELECT * FROM answer").fetchall()
    for value in setup.query.value.ravel().tolist():
        assert np.float64(value).tobytes() not in numbers
        assert repr(value) not in certificate


def test_a_very_large_answer_is_not_kept_and_still_released(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "MOST_KEPT", 3)
    ledger = Ledger(tmp_path / "l.sqlite")
    given = release_setup(build(Scenario.default_for("liver").changed(query="mean"), sample("liver")), ledger=ledger,
                          population="a")
    assert (given.number, ledger.releases("a"), ledger.entries[0].state) == (None, (), "released")


def test_the_command_lists_kept_releases_and_writes_their_files(tmp_path, capsys):
    path, out = tmp_path / "l.sqlite", tmp_path / "out"
    data, scenario = replace(sample("liver"), title="Liver 2024"), Scenario.default_for("liver").changed(query="mean")
    given = [release_setup(build(scenario.changed(family=family), data), ledger=Ledger(path), population=name)
             for name, family in (("a", "box"), ("b", "gaussian"))]
    assert main(["releases", str(path)]) == 0
    assert [line.split("\t")[2:] for line in capsys.readouterr().out.splitlines()] == [
        [name, "Liver 2024", "mean", "6 x 1", f"epsilon 1 {delta} (one record replaced)"]
        for name, delta in (("a", "with delta = 0"), ("b", "at delta 1e-06"))]
    assert main(["releases", str(path), "--population", "B", "--out", str(out)]) == 0
    assert {file.name for file in out.iterdir()} == {
        f"release_2_Liver_2024_mean{end}" for end in (".csv", "_intervals.csv", ".npy", ".json")}
    rows = list(csv.reader(io.StringIO((out / "release_2_Liver_2024_mean.csv").read_text(encoding="utf-8"))))
    np.testing.assert_allclose([float(row[1]) for row in rows[1:]],
                               given[1].data_units.of(given[1].noisy)[:, 0])  # the data's own units
    assert main(["releases", str(tmp_path / "none.sqlite")]) == 2
    assert f"{tmp_path / 'none.sqlite'} does not exist" in capsys.readouterr().err
    assert main(["releases", str(path), "--population", "nobody"]) == 0
    assert "keeps no released answers about nobody" in capsys.readouterr().err


def test_a_name_that_the_terminal_cannot_write_is_written_otherwise(tmp_path, monkeypatch):
    setup = build(Scenario.default_for("liver").changed(query="mean"), sample("liver"))
    release_setup(setup, ledger=Ledger(tmp_path / "l.sqlite"), population="Łódź 2024")
    seen = io.BytesIO()
    out = io.TextIOWrapper(seen, encoding="cp1252")  # a file, on Windows
    monkeypatch.setattr("sys.stdout", out)
    assert main(["releases", str(tmp_path / "l.sqlite")]) == 0
    out.flush()
    assert b"\\u0141\xf3d\\u017a 2024" in seen.getvalue()


def test_a_range_comes_back_with_its_origin(tmp_path):
    data = Dataset(matrix=np.vstack([np.eye(2)[:, [0, 0, 1]], [30, 50, 90]]), features=("sex=f", "sex=m", "salary"),
                   lower=0, upper=[1, 1, 90], levels=[(0, 1)], range_origins=[Origin.READ] * 2 + [Origin.DECLARED])
    ledger = Ledger(tmp_path / "l.sqlite")
    given = release_setup(build(Scenario.for_dataset(data, query="group_means"), data), ledger=ledger, population="a",
                          accept=["ranges"])
    [again] = ledger.releases("a")
    assert again.declared_ranges == given.declared_ranges == data.ranges
    with ledger._file.transaction() as book:
        answer = book.answer(1)
    old = json.loads(answer.certificate)
    del old["ranges"]["origins_of_the_data"]
    known = kept.restored(ledger.entries[0], answer._replace(certificate=json.dumps(old))).declared_ranges
    assert {one.origin for one in known.values()} == {Origin.READ}


def test_every_file_about_people_says_person(tmp_path, capsys):
    path, data = tmp_path / "l.sqlite", replace(sample("liver"), by_person=True)
    setup = build(Scenario.default_for("liver").changed(query="mean"), data)
    ledger = Ledger(path, cap=(2.0, 1e-6))
    ledger.enter(time="2026-01-01", data="liver", query="mean", neighbour_rule="one record replaced", design="exact",
                 mu=setup.design.mu, delta=1e-6, population="a")  # as a version before entered it
    given = release_setup(setup, ledger=ledger, population="a")
    assert main(["releases", str(path)]) == 0
    again, entry = ledger.releases("a")[0], ledger.entries[-1]
    assert json.loads(to_metadata_json(given))["query"]["neighbours"] == "one person replaced"
    assert (given.neighbour_rule, again.neighbour_rule, entry.neighbour_rule) == ("one person replaced",) * 3
    assert "one record" not in to_metadata_json(given) + capsys.readouterr().out + promise(setup)
    assert ledger.total("a", delta=1e-6).mu == pytest.approx(math.sqrt(2) * setup.design.mu)
    assert ledger.total("a", delta=1e-6).not_covered == ()
    old = replace(again, neighbour_rule="one record replaced")
    assert Sum([old]).rules == Sum([again]).rules


def test_an_answer_about_people_that_an_older_version_kept_says_person():
    setup = build(Scenario.default_for("liver").changed(query="mean"), replace(sample("liver"), by_person=True))
    answer = kept.keep(release_setup(setup, ledger=Ledger()), 1)[1]
    ledger = Ledger()
    ledger.enter(time="t", data="liver", query="mean", neighbour_rule="one record replaced", design="d", mu=0.2,
                 delta=1e-6)
    older = answer._replace(certificate=answer.certificate.replace("one person replaced", "one record replaced"))
    assert kept.restored(ledger.entries[0], older).neighbour_rule == "one person replaced"
