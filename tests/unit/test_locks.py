"""What is installed: every package that pyproject.toml names, one version each, with hashes and no address."""

import importlib.util
import pathlib
import re
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def names(requirements):
    """The packages of a list of requirements, as a lock spells them; mvgviz's own extras left out."""
    found = {re.match(r"[\w.-]+", one).group().lower().replace("_", "-") for one in requirements}
    return found - {"mvgviz"}


def entries(file):
    return re.split(r"\n(?=\S)", (ROOT / "locks" / file).read_text(encoding="utf-8").strip())


def locked(file):
    return {entry.split("==")[0]: entry.split("==")[1].split()[0] for entry in entries(file)}


@pytest.mark.parametrize(("file", "extras"), [("app.txt", ("data", "release", "app")), ("develop.txt", None)])
def test_every_direct_dependency_is_locked(file, extras):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    optional = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"], "editables"]
    for extra in extras or optional:
        wanted += optional[extra]
    assert names(wanted) <= set(locked(file)), "run make locks (CONTRIBUTING.md)"


def test_the_app_is_tested_with_the_versions_that_it_runs_with():
    app, develop = locked("app.txt"), locked("develop.txt")
    assert app.items() <= develop.items()


@pytest.mark.parametrize("file", ["app.txt", "develop.txt"])
def test_every_entry_is_a_version_with_hashes_and_without_an_address(file):
    for entry in entries(file):
        assert re.fullmatch(r"[a-z0-9-]+==[^\s:]+( ; [^:\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+", entry), entry
    assert len(locked(file)) == len(entries(file))


@pytest.fixture
def audit():
    spec = importlib.util.spec_from_file_location("audit", ROOT / "tools" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_audit_asks_about_every_entry_and_names_what_is_known(audit, monkeypatch, capsys):
    def answer(pairs):
        assert dict(pairs) == locked("develop.txt")
        return {"results": [{"vulns": [{"id": "GHSA-1"}, {"id": "PYSEC-2"}]} if name == "numpy" else {}
                            for name, _ in pairs]}
    monkeypatch.setattr(audit, "ask", answer)
    monkeypatch.setitem(audit.ACCEPTED, "GHSA-1", "of no concern")
    assert audit.main() == 1
    assert capsys.readouterr().out == f"numpy {locked('develop.txt')['numpy']}: PYSEC-2\n"
    monkeypatch.setitem(audit.ACCEPTED, "PYSEC-2", "of no concern")
    assert audit.main() == 0


@pytest.mark.parametrize(("arguments", "code"), [([], 1), (["--if-reachable"], 0)])
def test_a_database_out_of_reach_fails_only_where_that_is_asked_for(audit, monkeypatch, capsys, arguments, code):
    monkeypatch.setattr(audit, "DATABASE", "http://127.0.0.1:9/")
    monkeypatch.setattr("sys.argv", ["audit.py", *arguments])
    assert audit.main() == code
    assert "could not be asked" in capsys.readouterr().out
