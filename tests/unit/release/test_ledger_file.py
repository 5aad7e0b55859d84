"""A ledger in a file: kept from one program to the next, by population, and refused where it cannot be trusted."""

import json
import math
import pathlib
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import InputError, Ledger, Scenario, build, gaussian_delta, gaussian_mu, release_setup, sample
from mvgviz.release import ledger_file
from mvgviz.release.ledger import CAVEATS, Spend, ledger_from_environment, usual_place
from tests.calls import calls_of

RECORD = "one record replaced"
WHOLE = float(gaussian_mu(1.0, 1e-5))


def spend(mu=0.3, *, data="upload-0123456789ab", caveats=(), query="mean"):
    return Spend(data=data, query=query, neighbour_rule=RECORD, design="exact", mu=mu, delta=1e-5, caveats=caveats)


def release(ledger, mu=0.3, population="patients of 2024", **given):
    with ledger.reserved(spend(mu, **given), population=population) as held:
        return held.entries[0]


def enter(ledger):
    ledger.enter(time="2026-01-02T03:04:05+00:00", data="a", query="mean", neighbour_rule=RECORD, design="exact",
                 mu=0.3, delta=1e-5)


def assert_known(ledger, text, **to):
    with pytest.raises(InputError, match="the ledger already holds everything in this file"):
        ledger.import_json(text, **to)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


def test_what_was_released_is_there_in_the_next_program(path):
    first = Ledger(path)
    release(first, caveats=("ranges",))
    release(first, 0.4)
    again = Ledger(path)
    assert again.entries == first.entries
    assert [entry.state for entry in again.entries] == ["released", "released"]
    assert again.total("patients of 2024", delta=1e-5).mu == pytest.approx(0.5)
    assert again.entries[1].total_not_covered == (CAVEATS["ranges"],)
    assert json.loads(again.to_json())["releases"] == json.loads(first.to_json())["releases"]
    assert again.populations == ("patients of 2024",)


def test_files_about_the_same_people_share_a_budget_and_others_do_not(path):
    ledger = Ledger(path)
    ledger.set_cap((1.0, 1e-5), "patients of 2024")
    release(ledger, WHOLE * 0.8, data="upload-a")
    again = Ledger(path)
    assert again.cap is None
    assert again.cap_of(" Patients  of 2024 ") == (1.0, 1e-5)  # capitals and spaces do not make other people
    with pytest.raises(InputError, match="the releases of patients of 2024 have spent"):
        release(again, WHOLE * 0.8, "PATIENTS OF 2024", data="upload-b")
    release(again, WHOLE * 0.8, "patients of 2025")
    assert release(again, WHOLE * 0.6, "PATIENTS OF 2024", data="upload-b").population == "patients of 2024"
    assert again.populations == ("patients of 2024", "patients of 2025")
    again.set_cap(None, "patients of 2024")
    assert Ledger(path).cap_of("patients of 2024") is None


def test_populations_that_are_joined_count_together_for_good_under_the_lower_cap(path):
    ledger = Ledger(path)
    ledger.set_cap((1.0, 1e-5), "a")
    ledger.set_cap((0.5, 1e-5), "b")
    release(ledger, 0.1, "a")
    release(ledger, 0.1, "b")
    release(ledger, 0.1, "c")
    ledger.join("a", "b")
    again = Ledger(path, cap=(3.0, 1e-6))
    assert again.same_people("b") == {"a", "b"}
    assert again.cap_of("a") == again.cap_of("b") == (0.5, 1e-5)
    assert len(again.entries_about("a")) == 2
    assert again.total("b", delta=1e-5).mu == pytest.approx(0.1 * 2**0.5)
    told = json.loads(again.to_json())
    assert told["cap"] == {"epsilon": 3.0, "delta": 1e-6}
    assert told["caps"] == {"a": {"epsilon": 1.0, "delta": 1e-5}, "b": {"epsilon": 0.5, "delta": 1e-5}}
    assert told["same_people"] == [["a", "b"]]


def test_of_this_object_s_cap_and_a_population_s_the_lower_holds(path):
    ledger = Ledger(path, cap=(2.0, 1e-5))
    ledger.set_cap((1.0, 1e-5), "a")
    assert ledger.cap_of("a") == (1.0, 1e-5)
    assert ledger.cap_of("b") == (2.0, 1e-5)
    ledger.set_cap((0.5, 1e-5))
    assert ledger.cap_of("a") == (0.5, 1e-5)


def test_a_lasting_ledger_asks_who_the_records_are_about(path):
    with pytest.raises(InputError, match="name the population, such as 'patients of 2024'"):
        release(Ledger(path), population=None)
    for name in (" ", "a\x00b", "a\u200bb", "x" * 201):
        with pytest.raises(InputError, match="name of a population must be a line of at most 200 characters"):
            release(Ledger(path), population=name)
    assert Ledger(path).entries == ()
    assert release(Ledger(path), population="x" * 200).population == "x" * 200


def test_what_was_never_finished_counts_and_what_was_stopped_does_not(path):
    ledger = Ledger(path)

    def fails(share):
        raise KeyboardInterrupt

    def seen(share):
        assert [entry.state for entry in Ledger(path).entries] == ["reserved"]  # others see it while it is drawn

    with pytest.raises(ZeroDivisionError), ledger.reserved(spend(0.3), population="a") as held:
        raise ZeroDivisionError(held.watch(seen)(0.5))
    with pytest.raises(KeyboardInterrupt), ledger.reserved(spend(0.4), population="a") as held:
        held.watch(fails)(0.5)
    release(ledger, 0.4, "a")
    assert [(entry.number, entry.state) for entry in Ledger(path).entries] == [(1, "reserved"), (3, "released")]
    assert ledger.total("a", delta=1e-5).mu == pytest.approx(0.5)


def test_several_are_reserved_together_or_not_at_all(path):
    ledger = Ledger(path, cap=(1.0, 1e-5))
    with pytest.raises(InputError, match="would exceed the cap"), ledger.reserved(
            spend(WHOLE * 0.8), spend(WHOLE * 0.8), population="a"):
        raise AssertionError("granted")
    assert ledger.entries == ()


@pytest.mark.parametrize("own", [True, False])
def test_threads_cannot_pass_the_cap_with_ledgers_of_their_own_or_one_in_memory(path, own, monkeypatch):
    monkeypatch.setattr(ledger_file, "PATIENCE", 600.0)  # however busy the machine
    refused, shared = [], None if own else Ledger(cap=(1.0, 1e-5))

    def work():
        ledger = Ledger(path, cap=(1.0, 1e-5)) if own else shared
        try:
            for _ in range(9):
                release(ledger, WHOLE / 3, "a")
        except InputError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    totals = [entry.total_mu for entry in (Ledger(path) if own else shared).entries]
    assert len(totals) == 9
    assert totals == sorted(totals)
    assert len(refused) >= 3
    assert all("would exceed the cap" in words for words in refused)


# What cannot be trusted


def refused(path, message):
    """Every way to use it ends in this one sentence, and the file stays as it is."""
    before = path.read_bytes() if path.is_file() else None
    ledger = Ledger(path)
    for use in (lambda: ledger.entries, lambda: release(ledger), lambda: ledger.check("a", 0.1),
                lambda: ledger.set_cap((1.0, 1e-5), "a"), lambda: ledger.join("a", "b"), ledger.to_json):
        with pytest.raises(InputError, match=message) as raised:
            use()
        assert "\n" not in str(raised.value)
        assert str(path.parent) not in str(raised.value)
    assert (path.read_bytes() if path.is_file() else None) == before


def changed(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_ledger_of_another_version_is_refused(path):
    release(Ledger(path))
    changed(path, "PRAGMA user_version = 5")
    refused(path, r'the ledger "ledger.sqlite" was written by another version of mvgviz \(ledger version 5, this one')


@pytest.mark.parametrize("content", ["sqlite", b"", b"a,b\n1,2\n" * 500])
def test_a_file_of_another_program_is_refused(path, content):
    if content == "sqlite":
        changed(path, "CREATE TABLE dogs (name TEXT)")
    else:
        path.write_bytes(content)
    refused(path, "is another kind of file|is damaged; put a backup")


@pytest.mark.parametrize("page", range(4))
def test_a_damaged_page_is_seen(path, page):
    ledger = Ledger(path)
    for _ in range(20):
        release(ledger)
    size, content = 4096, bytearray(path.read_bytes())
    assert len(content) > 4 * size
    content[page * size : (page + 1) * size] = bytes(size) if page else b"x" * size
    path.write_bytes(content)
    refused(path, "is damaged; put a backup|is another kind of file")


@pytest.mark.parametrize("damage", [
    "UPDATE release SET content = replace(content, '\"mu\": 0.3', '\"mu\": 0.1') WHERE number = 2",
    "DELETE FROM release WHERE number = 1", "DELETE FROM release WHERE number = 3",
    "UPDATE release SET key = 'somebody else' WHERE number = 2",
    *(f"UPDATE release SET content = '{content}' WHERE number = 2" for content in ("x", "{}", "null", "[1]", "7")),
    "DELETE FROM population"])
def test_an_entry_that_was_changed_or_lost_is_seen(path, damage):
    for _ in range(3):
        release(Ledger(path))
    changed(path, damage)
    refused(path, "is damaged; put a backup")


def test_a_ledger_that_is_gone_is_not_begun_anew(path):
    ledger = Ledger(path)
    release(ledger)
    path.unlink()
    with pytest.raises(InputError, match="is gone; put it or a backup in"):
        release(ledger)
    assert not path.exists()
    path.with_name("ledger.sqlite-wal").write_bytes(b"what was written last")
    refused(path, "is gone; put it or a backup in")


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    refused(tmp_path / "no" / "ledger.sqlite", "cannot be created: its folder does not exist")
    (tmp_path / "folder").mkdir()
    refused(tmp_path / "folder", 'the ledger "folder" cannot be opened')


def test_whoever_waits_too_long_for_a_turn_is_told(path, monkeypatch):
    ledger = Ledger(path)
    release(ledger)
    monkeypatch.setattr(ledger_file, "PATIENCE", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="in use by another program for more than 10 seconds; try again"):
        release(ledger)
    assert len(ledger.entries) == 1  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    release(ledger)


def test_it_is_written_through_to_the_disk_and_says_in_its_header_what_it_is(path):
    """Bytes 60 and 68 of a SQLite file: ledgers that were written stay readable as long as these stay."""
    release(Ledger(path))
    assert (path.read_bytes()[60:64], path.read_bytes()[68:72]) == ((4).to_bytes(4, "big"), b"mvgl")
    with ledger_file.LedgerFile(path).transaction() as book:
        assert book._rows.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert book._rows.execute("PRAGMA synchronous").fetchone() == (2,)
    assert [file.name for file in path.parent.iterdir()] == ["ledger.sqlite"]  # nothing is left beside it


WRITTEN_BEFORE = """
CREATE TABLE population (key TEXT PRIMARY KEY, name TEXT NOT NULL, people INTEGER NOT NULL,
                         cap_epsilon REAL, cap_delta REAL) STRICT;
CREATE TABLE release (number INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL
                      CHECK (state IN ('reserved', 'released', 'withdrawn')),
                      key TEXT NOT NULL, content TEXT NOT NULL, seal TEXT NOT NULL) STRICT;
INSERT INTO population VALUES ('patients of 2024', 'Patients of 2024', 1, NULL, NULL);
INSERT INTO release VALUES (1, 'released', 'patients of 2024',
'{"data": "upload-a", "query": "mean", "neighbour_rule": "one record replaced", "design": "exact", "mu": 0.3, '
|| '"delta": 1e-05, "caveats": ["ranges"], "time": "2026-11-17T13:05:02+00:00", "population": "Patients of 2024", '
|| '"epsilon": 1.1317748966408947, "total_mu": 0.3, "total_epsilon": 1.1317748966408947, '
|| '"total_not_covered": ["ranges read from the data"]}', '7c78ef58d2e75de3fd5f20062ec3ddeb');
INSERT INTO release VALUES (2, 'released', 'patients of 2024',
'{"data": "upload-a", "query": "mean", "neighbour_rule": "one record replaced", "design": "exact", "mu": 0.4, '
|| '"delta": 1e-05, "caveats": ["ranges"], "time": "2026-11-17T13:05:02+00:00", "population": "Patients of 2024", '
|| '"epsilon": 1.554981691532204, "total_mu": 0.5, "total_epsilon": 1.9930914044151193, '
|| '"total_not_covered": ["ranges read from the data"]}', '26685d3e26e5c929bcbd5d95aa855cbb');
PRAGMA application_id = 1836476268;
PRAGMA user_version = 1;
"""
"""A ledger as it was written when this version began, seals included."""


def test_a_ledger_that_was_written_before_is_read_knows_its_own_download_and_goes_on(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(WRITTEN_BEFORE)
        rows = connection.execute("SELECT number, state, content FROM release").fetchall()
    download = {"releases": [json.loads(content) | {"number": number, "state": state}
                             for number, state, content in rows]}
    ledger = Ledger(path)
    assert [(entry.number, entry.mu, entry.total_mu, entry.caveats) for entry in ledger.entries] == [
        (1, 0.3, 0.3, ("ranges",)), (2, 0.4, 0.5, ("ranges",))]
    assert len({entry.id for entry in ledger.entries}) == 2
    assert_known(ledger, json.dumps(download))
    assert release(ledger, 1.2, "Patients of 2024").total_mu == pytest.approx(1.3)
    assert Ledger(path).entries[-1].number == 3
    assert path.read_bytes()[60:64] == (4).to_bytes(4, "big")  # the version, in the header


def test_a_ledger_from_before_answers_were_kept_is_read_and_keeps_answers_from_now_on(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(WRITTEN_BEFORE.replace("user_version = 1", "user_version = 2"))
    ledger = Ledger(path)
    assert ledger.releases("patients of 2024") == ()
    assert [(entry.family, entry.epsilon_pure, entry.title) for entry in ledger.entries] == [("gaussian", 0.0, "")] * 2
    assert path.read_bytes()[60:64] == (2).to_bytes(4, "big")  # reading changes nothing
    given = release_setup(MEAN, ledger=ledger, population="patients of 2024")
    [kept] = Ledger(path).releases("patients of 2024")
    assert (kept.number, kept.title) == (3, "Liver, 2024")
    assert np.array_equal(kept.noisy, given.noisy)
    assert ledger.entries[2].total_mu == pytest.approx(math.hypot(0.5, given.mu))


MEAN = build(Scenario.default_for("liver").changed(query="mean"), replace(sample("liver"), title="Liver, 2024"))


def test_a_damaged_answer_is_seen_when_it_is_read(path):
    release_setup(MEAN, ledger=Ledger(path), population="a")
    changed(path, "UPDATE answer SET numbers = zeroblob(length(numbers))")
    with pytest.raises(InputError, match="is damaged; put a backup"):
        Ledger(path).releases("a")


def test_an_answer_that_cannot_be_kept_is_not_handed_out_and_counts_as_spent(path):
    release_setup(MEAN, ledger=Ledger(path), population="a")
    changed(path, "CREATE TRIGGER full BEFORE INSERT ON answer BEGIN SELECT RAISE(ABORT, 'no room'); END")
    with pytest.raises(InputError, match="the reserved budget counts as spent"):
        release_setup(MEAN, ledger=Ledger(path), population="a")
    assert [entry.state for entry in Ledger(path).entries] == ["released", "reserved"]
    assert len(Ledger(path).releases("a")) == 1


def pure(epsilon):
    return Spend(data="a", query="mean", neighbour_rule=RECORD, design="box", mu=0.0, delta=1e-5, family="box",
                 epsilon_pure=epsilon, parameters=(epsilon,))


def granted(ledger, *spends):
    with ledger.reserved(*spends, population="a"):
        pass


def test_pure_noise_beside_gaussian_noise_has_a_part_of_the_cap_that_is_fixed_in_advance(path):
    ledger = Ledger(path)
    ledger.set_cap((1.0, 1e-5), "a", pure=0.4)
    ledger = Ledger(path)  # the part lasts
    first = release(ledger, 0.3 * WHOLE, "a")
    with pytest.raises(InputError, match=r"box and Laplace noise: .* would reach epsilon 0\.41 of 0\.4;"):
        granted(ledger, pure(0.41))
    for _ in range(4):  # four tenths fit into 0.4
        granted(ledger, pure(0.1))
    assert ledger.would_exceed("a", 0.0, epsilon_pure=1e-6)
    rest = math.sqrt(gaussian_mu(0.6, 1e-5) ** 2 - first.mu**2)
    assert ledger.would_exceed("a", rest * (1 + 1e-6))
    release(ledger, rest * (1 - 1e-12), "a")
    total = Ledger(path).total("a", delta=1e-5)
    assert (total.epsilon, total.epsilon_pure) == (pytest.approx(1, abs=1e-9), pytest.approx(0.4, rel=1e-15))
    assert gaussian_delta(1 - 0.4, total.mu) <= 1e-5
    entry = Ledger(path).entries[1]
    assert (entry.family, entry.parameters, entry.epsilon) == ("box", (0.1,), 0.1)
    other = Ledger()
    assert other.import_json(ledger.to_json(), population="a") == 6
    assert other.total("a", delta=1e-5) == total
    assert json.loads(ledger.to_json())["caps"] == {"a": {"epsilon": 1.0, "delta": 1e-5, "pure": 0.4}}


def test_a_cap_without_a_pure_part_holds_for_gaussian_noise_alone_or_pure_noise_alone():
    """After a Gaussian answer, a choice by that answer between both families would exceed the cap's delta by half."""
    first_gaussian, first_pure = Ledger(cap=(1.0, 1e-5)), Ledger(cap=(1.0, 1e-5))
    release(first_gaussian, 0.3 * WHOLE, "a")
    with pytest.raises(InputError, match=r"box and Laplace noise: .* would reach epsilon 0\.01 of 0;"):
        granted(first_gaussian, pure(0.01))
    release(first_gaussian, math.sqrt(1 - 0.09) * WHOLE, "a")
    for _ in range(10):
        granted(first_pure, pure(0.1))
    assert first_pure.would_exceed("a", 0.0, epsilon_pure=1e-9)
    assert first_pure.would_exceed("a", 1e-9)
    with pytest.raises(InputError, match=r"spent epsilon 1 of 1 at delta 10⁻⁵ and would reach 1\.1;"):
        granted(first_pure, pure(0.1))


@pytest.mark.parametrize("people", ["a", None])
def test_a_gaussian_answer_fixes_the_pure_part_of_the_cap(people):
    """Otherwise its owner could choose between both families by that answer, and exceed delta."""
    ledger = Ledger()
    ledger.set_cap((1.0, 1e-5), people, pure=0.2)
    granted(ledger, pure(0.1))
    ledger.set_cap((1.0, 1e-5), people, pure=0.3)  # pure answers do not fix it
    release(ledger, 0.3 * WHOLE, "a")
    for part in (0.0, 0.2, 0.6):
        with pytest.raises(InputError, match=r"box and Laplace noise stays 0\.3 after a release with Gaussian noise"):
            ledger.set_cap((1.0, 1e-5), people, pure=part)
    ledger.set_cap(None, people)
    assert ledger.cap_of("a") is None
    with pytest.raises(InputError, match=r"stays 0\.3"):
        ledger.set_cap((1.0, 1e-5), people)
    assert ledger.pure_part(people) == 0.3
    ledger.set_cap((2.0, 1e-5), people, pure=0.3)
    assert ledger.would_exceed("a", 0.0, epsilon_pure=0.25)
    assert not ledger.would_exceed("a", 0.0, epsilon_pure=0.15)


def test_joined_people_keep_the_pure_part_of_the_cap_that_binds_them():
    ledger = Ledger()
    ledger.set_cap((1.0, 1e-5), "a", pure=0.3)
    release(ledger, 0.3 * WHOLE, "b")
    ledger.join("b", "a")
    with pytest.raises(InputError, match=r"stays 0\.3"):
        ledger.set_cap((1.0, 1e-5), "b")
    ledger.set_cap(None, "a")
    ledger.set_cap((1.5, 1e-5), "b", pure=0.3)
    assert ledger.pure_part("a") == ledger.pure_part("b") == 0.3


@pytest.mark.parametrize("part", [-0.1, 1.0, 2.0, math.nan, "x"])
def test_the_pure_part_is_less_than_the_cap(part):
    with pytest.raises(InputError, match="pure"):
        Ledger(cap=(1.0, 1e-5), pure=part)
    with pytest.raises(InputError, match="pure"):
        Ledger().set_cap((1.0, 1e-5), "a", pure=part)


def test_the_cap_of_a_ledger_from_before_caps_had_parts_stays(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(WRITTEN_BEFORE.replace("user_version = 1", "user_version = 3").replace(
            "1, NULL, NULL", "1, 2.5, 1e-5"))
    ledger = Ledger(path)
    assert ledger.cap_of("patients of 2024") == (2.5, 1e-5)
    assert ledger.would_exceed("patients of 2024", 0.4)
    release(ledger, 0.1, "patients of 2024")
    ledger.set_cap((3.0, 1e-5), "patients of 2025", pure=0.5)
    release(ledger, 0.1, "patients of 2025")
    assert not Ledger(path).would_exceed("patients of 2025", 0.0, epsilon_pure=0.5)
    assert Ledger(path).would_exceed("patients of 2025", 0.0, epsilon_pure=0.6)


# Where it is, and what comes from elsewhere


def test_the_environment_says_where_the_ledger_is(path, monkeypatch):
    for value in ("none", "None", " ", None):
        monkeypatch.delenv("MVGVIZ_LEDGER", raising=False)
        if value is not None:
            monkeypatch.setenv("MVGVIZ_LEDGER", value)
        assert not ledger_from_environment().lasts
    monkeypatch.setenv("MVGVIZ_LEDGER", str(path))
    assert ledger_from_environment().path == path
    assert not path.exists()  # until it is used


@pytest.mark.parametrize(("system", "variable", "place"), [
    ("Linux", "XDG_DATA_HOME", "."), ("Linux", None, "home/.local/share"), ("Windows", "LOCALAPPDATA", "."),
    ("Darwin", None, "home/Library/Application Support")])
def test_the_usual_place_is_where_the_system_keeps_data_and_is_made_when_needed(tmp_path, monkeypatch, system, variable,
                                                                               place):
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(ledger_file.platform, "system", lambda: system)
    monkeypatch.setattr(pathlib.Path, "home", lambda: tmp_path / "home")
    assert usual_place() == tmp_path / place / "mvgviz" / "ledger.sqlite"
    release(Ledger(usual_place()))
    assert len(Ledger(usual_place()).entries) == 1
    usual_place().unlink()
    release(Ledger(usual_place()))  # in a folder that is there already


def test_the_usual_place_is_made_behind_a_link_too(tmp_path, monkeypatch):
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    monkeypatch.setattr(ledger_file.platform, "system", lambda: "Linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    release(Ledger(usual_place().resolve()))
    assert (tmp_path / "disk" / "mvgviz" / "ledger.sqlite").is_file()


OLD = json.dumps({"cap": None, "same_people": [], "releases": [
    {"time": "2026-01-02T03:04:05+00:00", "data": data, "query": "mean", "neighbour_rule": RECORD, "design": "exact",
     "mu": mu, "epsilon": 9.0, "delta": 1e-5, "caveats": ["ranges"], "total_mu": 9.0, "total_epsilon": 9.0,
     "total_not_covered": [], "not_covered": [CAVEATS["ranges"]]}
    for data, mu in (("a", 0.3), ("a", 0.3), ("b", 0.4))]})
"""As sessions before the lasting ledger wrote it; totals that are wrong."""


def test_a_session_s_json_is_taken_in_once_and_adds_up(path):
    ledger = Ledger(path, cap=(0.1, 1e-5))
    assert ledger.import_json(OLD, population="patients") == 3  # history, whatever the cap
    assert [(entry.data, entry.mu, entry.state) for entry in ledger.entries] == [
        ("a", 0.3, "released"), ("a", 0.3, "released"), ("b", 0.4, "released")]
    assert {entry.population for entry in ledger.entries} == {"patients"}
    assert ledger.entries[-1].total_mu == pytest.approx((2 * 0.09 + 0.16) ** 0.5)
    assert ledger.entries[-1].epsilon < 9
    assert ledger.total("patients", delta=1e-5).not_covered == (CAVEATS["ranges"],)
    for again in (OLD, ledger.to_json()):
        assert_known(ledger, again, population=" Patients ")
    assert len(ledger.entries) == 3
    assert ledger.would_exceed("patients", 1e-6)


def test_a_later_download_of_the_same_session_brings_only_what_is_new(path):
    session, ledger = Ledger(), Ledger(path)
    for expected in (1, 2):
        enter(session)  # twice the same within a second: two releases all the same
        assert ledger.import_json(session.to_json(), population="patients") == 1
        assert len(ledger.entries) == expected


def test_the_same_release_of_two_ledgers_within_a_second_counts_twice(path):
    ledger, both = Ledger(path), [Ledger(), Ledger()]
    for one in both:
        enter(one)
        assert ledger.import_json(one.to_json(), population="patients") == 1
    assert ledger.total("patients", delta=1e-5).mu == pytest.approx(0.3 * 2**0.5)
    for one in (*both, ledger):
        assert_known(ledger, one.to_json(), population="patients")


def test_a_release_that_is_about_others_too_counts_for_them(path):
    ledger = Ledger(path)
    ledger.import_json(OLD, population="patients")
    assert ledger.import_json(OLD, population="clients") == 3
    assert ledger.total("clients", delta=1e-5).mu == ledger.total("patients", delta=1e-5).mu
    ledger.join("clients", "insured")
    assert_known(ledger, OLD, population="insured")


def test_entries_without_an_id_are_known_by_all_before_them(path):
    first, other = json.loads(OLD), json.loads(OLD)
    other["releases"][0]["mu"] = 0.2  # another ledger; its second and third entries read the same as in the first
    ledger = Ledger(path)
    assert ledger.import_json(json.dumps(first), population="patients") == 3
    assert ledger.import_json(json.dumps(other), population="patients") == 3
    first["releases"].append(first["releases"][-1])  # a later download of the first
    assert ledger.import_json(json.dumps(first), population="patients") == 1


@pytest.mark.slow
def test_thousands_of_releases_are_taken_in_at_once():
    one = json.loads(OLD)["releases"][0]

    def taken_in(size):
        told = {"releases": [one | {"population": f"patients {i}"} for i in range(size)]}
        assert Ledger().import_json(json.dumps(told)) == size

    few, many = (calls_of(lambda: taken_in(size)) for size in (500, 2000))  # noqa: B023
    assert many < 10 * few  # added up anew each time: 16


def test_a_lasting_ledger_moves_with_its_populations_their_names_and_what_was_unfinished(path, tmp_path):
    ledger, other = Ledger(path), Ledger(tmp_path / "other.sqlite")
    release(ledger, 0.3, "a")
    ledger.join("a", "patients")
    with pytest.raises(ZeroDivisionError), ledger.reserved(spend(0.4), population="b"):
        raise ZeroDivisionError
    assert other.import_json(ledger.to_json()) == 2
    assert [(entry.population, entry.state) for entry in other.entries] == [("a", "released"), ("b", "reserved")]
    assert other.same_people("patients") == {"a", "patients"}
    assert len(other.entries_about("patients")) == 1


@pytest.mark.parametrize("text", [
    "not json", "[]", "{}", '{"releases": 3}', OLD.replace("0.4", "NaN"), OLD.replace("0.4", "-1"),
    OLD.replace("0.4", '"x"'), OLD.replace("1e-05", "2"), OLD.replace('"caveats": ["ranges"]', '"caveats": ["other"]'),
    OLD.replace("2026-01-02T", "yesterday "), OLD.replace('"time"', '"id": 7, "time"'),
    OLD.replace('"design": "exact"', '"design": 1'),
    OLD.replace('"query": "mean", ', "")])
def test_what_is_no_ledger_is_not_taken_in(path, text):
    assert text != OLD
    ledger = Ledger(path)
    with pytest.raises(InputError, match="this is not a ledger of mvgviz"):
        ledger.import_json(text, population="patients")
    assert ledger.entries == ()


def test_names_that_were_joined_after_their_releases_were_brought_are_joined(path):
    ledger, other = Ledger(), Ledger(path)
    for name in ("clinic", "patients"):
        release(ledger, 0.3, name)
    assert other.import_json(ledger.to_json()) == 2
    ledger.join("clinic", "patients")
    assert other.import_json(ledger.to_json()) == 0
    assert other.total("clinic", delta=1e-5).mu == ledger.total("clinic", delta=1e-5).mu > 0.4
    assert_known(other, ledger.to_json())
