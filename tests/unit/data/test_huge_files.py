"""Files whose size is the attack get a sentence, in a gigabyte of memory."""

import json
import subprocess
import sys

import pytest

ACCEPTED = {"table: xlsx of strings"}


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
