"""Hostile files, from a grammar or of a size that is the attack: each is read or refused with a sentence."""

import json
import subprocess
import sys
import time

import pytest

from mvgviz import InputError
from mvgviz.data import propose_ranges, read_table, table_to_dataset
from tests.unit.data.grammar import hostile_file

ACCEPTED = {"table: xlsx of strings"}


def tried(seed):
    """What became of a file: "used", or the sentence; anything else is raised with the seed."""
    content = hostile_file(seed)
    try:
        table = read_table(content, name="mine.csv")
        table_to_dataset(table, ranges=propose_ranges(table), missing="middle")
        return "used"
    except InputError as error:
        return str(error)
    except (Exception, RecursionError) as error:
        raise AssertionError(f"hostile_file({seed}): {type(error).__name__}: {error}") from error


def assert_sane(outcomes):
    used = outcomes.count("used")
    assert len(outcomes) / 20 < used < len(outcomes) * 0.9  # a grammar that is always refused tries nothing
    assert all(said[0].isalpha() and "\n" not in said and len(said) < 700 for said in outcomes)


@pytest.mark.slow
def test_hostile_files_are_read_or_refused():
    assert_sane([tried(seed) for seed in range(300)])


@pytest.mark.soak
def test_ten_thousand_hostile_files_are_read_or_refused():
    outcomes, slowest = [], (0.0, 0)
    for seed in range(10_000):
        start = time.process_time()
        outcomes.append(tried(seed))
        slowest = max(slowest, (time.process_time() - start, seed))
    print(f"used {outcomes.count('used'):,} of {len(outcomes):,}; slowest {slowest[0]:.2f} s of the processor, "
          f"seed {slowest[1]}")
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
