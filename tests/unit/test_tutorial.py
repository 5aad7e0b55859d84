"""The tutorial's notebook is its page, and both say what the code prints."""

import contextlib
import io
import json

import pytest

from tools.make_tutorial import NOTEBOOK, PAGE, notebook


def test_the_notebook_is_made_from_the_page():
    assert NOTEBOOK.read_text(encoding="utf-8") == notebook(PAGE.read_text(encoding="utf-8")), \
        "run python tools/make_tutorial.py"


@pytest.mark.filterwarnings("error::UserWarning")  # a tutorial releases with a ledger
def test_every_cell_prints_what_stands_below_it(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path))
    names, printed = {}, 0
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec("".join(cell["source"]), names)
            assert out.getvalue() == "".join(text for each in cell["outputs"] for text in each["text"])
            printed += bool(out.getvalue())
    assert printed > 5
    assert {file.name for file in tmp_path.iterdir()} >= {"ledger.sqlite", "patients.csv", "study.json"}
    assert "patients.csv" in (tmp_path / "study.json").read_text(encoding="utf-8")
