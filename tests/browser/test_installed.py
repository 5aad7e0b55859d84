"""The wheel in an empty environment, outside the repository: the command opens the app."""

import subprocess
import sys
import venv
import zipfile

import pytest

from tests.browser.chromium import PICTURES, ROOT, checkout
from tests.browser.conftest import served


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT], check=True,
                   capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_file_of_the_app(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    there = checkout("mvgviz", "app.py", "pages", "sample_data", ".streamlit")
    assert {name if name.startswith("mvgviz/") else f"mvgviz/served/{name}" for name in there} <= names
    assert not any("test" in name or ".venv" in name for name in names)


@pytest.mark.dist
def test_the_wheel_opens_the_app_in_an_empty_environment(wheel, tmp_path, browser):
    venv.create(tmp_path / "empty", with_pip=True)
    python, elsewhere = tmp_path / "empty" / "bin" / "python", tmp_path / "elsewhere"
    elsewhere.mkdir()
    for what in (["--require-hashes", "-r", ROOT / "locks" / "app.txt"], ["--no-index", f"{wheel}[app]"]):
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check",
                        *what], check=True, cwd=elsewhere)
    command = python.with_name("mvgviz")
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True, cwd=elsewhere)
    assert version.stdout.startswith("mvgviz ")
    with served([command], cwd=elsewhere, PYTHONPATH="") as address:
        page = browser.new_page()
        page.goto(f"{address}/bounds?data=liver")
        page.wait_for_selector(PICTURES)
        assert page.locator("[data-testid=stAlert], [data-testid=stException]").count() == 0
        page.close()
