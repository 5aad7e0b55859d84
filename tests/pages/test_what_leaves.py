"""Nothing that can leave a session is computed from the records, but for the noisy matrix itself.

A session is run twice, on two tables that differ in one record, with the same random name and
the same clock: every file, link and program must come out the same to the letter, and hold no
trace of a marked value.
"""

import hashlib
import json
import re

import numpy as np
import pytest
import streamlit

from mvgviz import run_trials
from mvgviz.data import read_table
from mvgviz.provenance import Range
from mvgviz.release.files import to_csv, to_intervals_csv, to_metadata_json, to_npy
from mvgviz.report.html import report_html
from mvgviz.report.script import notebook, python_script
from mvgviz.trials.simulated import on_simulated_data
from mvgviz.ui import files as open_files
from mvgviz.ui import session
from mvgviz.ui.menu import RELEASE
from tests.pages.app import CSV, change, put, to, uploaded
from tests.pages.desk import desk, on_exports, released
from tests.pages.shown import clean, link

MARKS = ("31.4159", "27.1828", "16.1803")


def table(*, marked, gap):
    """Sixty records; the last but one has marked values, or a gap, or neither."""
    rng = np.random.default_rng(8)
    rows = [",".join(f"{value:.2f}" for value in row) for row in rng.uniform(10, 90, (60, 3))]
    if marked:
        rows[-2] = ",".join(MARKS)
    if gap:
        rows[-2] = ",20.5,"
    return ("age,dose,score\n" + "\n".join(rows) + "\n").encode()


def declared(app):
    """Every range stated by the person, to the same numbers whatever the file holds."""
    ranges = app.session_state["_open_files"].current.said.ranges
    ranges.update(dict.fromkeys(("age", "dose", "score"), Range(0.0, 100.0)))
    return put(app, _range_round=1)  # draws the table of ranges anew


def outputs(content, monkeypatch):
    """Everything that a session on this file can give away, by name; without time, and without the noisy numbers."""
    streamlit.cache_resource.clear()  # a session of its own: the two tables have the same name here
    monkeypatch.setattr(open_files.secrets, "token_hex", lambda size: "0123456789ab")
    app = change(declared(uploaded(content)), query="mean", allocation="binary", priority_directions=(0,),
                 task="reconstruction", trials=4)
    clean(on_exports(released(to(app, RELEASE))))
    [made], own, scenario = desk(app).releases, app.session_state["_upload"], app.session_state["_scenario"]
    setup = session.build(scenario, own.dataset)
    simulated = on_simulated_data(setup)
    files = {
        "answer": re.sub(r"-?\d+\.\d+(e-?\d+)?", "#", to_csv(made)), "about": to_metadata_json(made),
        "intervals": re.sub(r"-?\d+\.\d+(e-?\d+)?", "#", to_intervals_csv(made)),
        "widths": repr(made.half_widths().tolist()),
        "ledger": desk(app).ledger.to_csv(), "ledger json": desk(app).ledger.to_json(),
        "scenario": scenario.to_json(), "program": python_script(scenario, source=own.source),
        "notebook": notebook(scenario, source=own.source), "link": json.dumps(link(app)), "address": app.code[0].value,
        "report": report_html(simulated, run_trials(scenario, simulated.dataset), simulated=True),
        "keys": " ".join(sorted(str(one.key) for kind in (app.button, app.checkbox) for one in kind
                                if "release_sure" not in str(one.key) and "release_accept" not in str(one.key))),
    }
    assert len(to_npy(made)) == 128 + 3 * 8
    return {name: re.sub(r"\d{4}-\d\d-\d\dT[\d:]+(\+00:00)?", "now", file) for name, file in files.items()}


def test_everything_but_the_noisy_matrix_is_the_same_for_neighbours_and_nothing_tells_a_value(
        monkeypatch, caplog, capfd):
    content = table(marked=True, gap=False)
    with caplog.at_level("DEBUG"):
        marked = outputs(content, monkeypatch)
    logged = "".join(capfd.readouterr()) + caplog.text
    assert not any(mark in logged for mark in MARKS)
    for other in (table(marked=False, gap=False), table(marked=False, gap=True)):
        found = outputs(other, monkeypatch)
        assert [name for name in marked if marked[name] != found[name]] == []
    assert "Nothing in this report was computed from the records." in marked["report"]
    assert "Measured on simulated data" in marked["report"]
    given = "\n".join(marked.values())
    assert not any(mark in given for mark in MARKS)
    for name in ("sha256", "sha1", "md5", "blake2b", "sha512"):
        for text in (content, content.rstrip(), read_table(content).values.tobytes()):
            assert hashlib.new(name, text).hexdigest()[:8] not in given


def test_the_name_of_a_table_is_random():
    assert len({link(clean(uploaded(CSV)))["data"] for _ in range(3)}) == 3


@pytest.mark.parametrize("content", [
    f"a,b\n{MARKS[0]},1\n{MARKS[1]},1\n", f"a,b\n{MARKS[0]},1\n{MARKS[1]}\n",
    f"a,b\n{MARKS[0]}x,1\n{MARKS[1]},2\n3,4\n5,6\n",
    f"a,b\n{MARKS[0]},inf\n{MARKS[1]},2\n", f"a,b\n{MARKS[0]},2\n{MARKS[0]},3\n", f"a;b\n{MARKS[0]};2\n3,5;4,5\n3;4\n",
    f"a,b\n{MARKS[0]}e99,2\n{MARKS[1]},3\n", f'a,b\n"{MARKS[0]},2\n{MARKS[1]},3\n'])
def test_a_sentence_about_a_bad_file_tells_no_value(content):
    app = uploaded(content)
    said = " ".join(element.value for element in app.error)
    assert not app.exception
    assert said
    assert not any(mark in said for mark in MARKS)
