"""Hostile files, from a grammar or of a size that is the attack: each is read or refused with a sentence."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import product

import pytest

from mvgviz import InputError
from mvgviz.data import propose_ranges, read_table, table_to_dataset
from tests.unit.data.bad_files import SECRET_DIGITS
from tests.unit.data.grammar import hostile_file

ACCEPTED = {"table: xlsx of strings"}


@contextmanager
def refusal(said):
    """Notes the sentence of one."""
    try:
        yield
    except InputError as error:
        said.append(str(error) if error.__cause__ is None else "! a cause, which may hold data")


def tried(seed):
    """All that is said of a file and of ways to use it, at the end "used"; anything else is raised with the seed."""
    content, said = hostile_file(seed), []
    try:
        with refusal(said):
            table = read_table(content, name="mine.csv")
            said += table.notes
            for orientation, missing in product(("rows", "columns"), ("reject", "drop")):
                with refusal(said):
                    table_to_dataset(table, orientation=orientation, missing=missing)
            table_to_dataset(table, ranges=propose_ranges(table), missing="middle")
            said.append("used")
    except (Exception, RecursionError) as error:
        raise AssertionError(f"hostile_file({seed}): {type(error).__name__}: {error}") from error
    return said


def assert_sane(outcomes):
    used = sum("used" in said for said in outcomes)
    assert len(outcomes) / 20 < used < len(outcomes) * 0.9  # a grammar that is always refused tries nothing
    for said in (sentence for outcome in outcomes for sentence in outcome):
        assert said[0].isalpha()
        assert "\n" not in said
        assert len(said) < 700
        assert SECRET_DIGITS not in said.replace(",", "").replace(".", "")


@pytest.mark.slow
def test_hostile_files_are_read_or_refused():
    assert_sane([tried(seed) for seed in range(1_000)])


@pytest.mark.soak
def test_ten_thousand_hostile_files_are_read_or_refused():
    outcomes, slowest = [], (0.0, 0)
    for seed in range(10_000):
        start = time.process_time()
        outcomes.append(tried(seed))
        slowest = max(slowest, (time.process_time() - start, seed))
    print(f"used {sum('used' in said for said in outcomes):,} of {len(outcomes):,}; slowest {slowest[0]:.2f} s of the "
          f"processor, seed {slowest[1]}")
    assert_sane(outcomes)


def told(part):
    """What was said of each file; in a process with a gigabyte to be had."""
    ran = subprocess.run([sys.executable, "-m", "tests.unit.data.huge_files", "1024", str(part)], capture_output=True,
                         text=True, check=True)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def assert_refused(cases):
    assert len(cases) > 90
    assert [one for one in cases if one["name"] not in ACCEPTED and (not one["said"] or one["said"][0] == "!")] == []


@pytest.mark.slow
def test_hostile_sizes_get_a_sentence():
    assert_refused(told(0.1))


@pytest.mark.soak
def test_hostile_sizes_get_a_sentence_at_their_full_size():
    cases = told(1)
    for one in sorted(cases, key=lambda one: -one["seconds"])[:5]:
        print(f"{one['name']}: {one['seconds']} s, {one['megabytes']} MB")
    assert_refused(cases)
