"""Whatever happens to a program or its disk: one sentence at most, and a ledger that never tells too little."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no program can be forked here, to be killed")


@pytest.fixture
def folder():
    """Readable by nobody, unlike those of pytest."""
    made = pathlib.Path(tempfile.mkdtemp())
    yield made
    shutil.rmtree(made)


def left(what, folder):
    done = subprocess.run([sys.executable, "-m", "tests.unit.release.crash", what, str(folder)], cwd=ROOT,
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_killed_at_any_step_what_was_drawn_is_counted_and_the_budget_is_not_exceeded(folder):
    results = left("kill", folder)
    assert len(results) > 20
    for step, result in enumerate(results):
        told, states = result["told"], result["states"]
        assert states in ([], ["reserved"], ["released"]), step
        if "noise begins" in told:
            assert states, f"step {step}: noise that nobody counts"
        if states:
            assert result["again"].startswith("CapError: this release would exceed the cap"), step
        else:
            assert result["again"] == "mean", step
        assert result["total"] == pytest.approx(1.0, rel=1e-9), step
    assert {len(result["states"]) for result in results} == {0, 1}
    assert results[-1]["states"] == ["released"]
    begun = next(result for result in results if result["told"][-1] == "noise begins")
    assert begun["states"] == ["reserved"]


@pytest.mark.slow
def test_programs_that_race_for_the_last_of_the_budget_get_it_once(folder):
    result = left("race", folder)
    assert sum(said.count("released") for said in result["told"]) == 7
    assert all("would exceed the cap" in said[-1] for said in result["told"])
    assert result["states"] == ["released"] * 7


def test_a_full_disk_is_one_sentence_before_the_noise_and_budget_at_worst_after(folder):
    before, after = left("full", folder)
    sentence = "could not be written: the disk is full or failing; free some space and try again; nothing was released"
    [refused] = before["told"]
    assert refused.endswith(sentence)
    assert before["states"] == []
    assert after["told"][0] == "noise"
    assert after["told"][1].endswith(f"{sentence}, and the reserved budget counts as spent")
    assert after["states"] == ["reserved"]


def test_without_the_right_to_write_there_is_one_sentence_and_the_ledger_stays(folder):
    result = left("read_only", folder)
    [[kept], [new]] = result["told"]
    assert kept.startswith('InputError: the ledger "kept.sqlite" ')
    assert kept.endswith("; nothing was released")
    assert new.startswith('InputError: the ledger "new.sqlite" cannot be read and written there (Permission denied)')
    assert result["states"] == ["released"]
