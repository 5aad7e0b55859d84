"""The app away from its checkout: as a wheel in an empty environment, and as a container engine would build it."""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import venv
import zipfile
from pathlib import Path

import pytest

from tests.browser.chromium import PICTURES, ROOT, checkout
from tests.browser.conftest import free_port, served
from tests.browser.test_deployment import NGINX
from tests.doors import answer

PLACES = re.compile(r"(?<![\w.])/(?=(opt|build|home|ledger)\b)")
"""Where the Dockerfile works, which is under the test's own folder here."""


def steps():
    """The Dockerfile's instructions and what each is given."""
    lines = re.sub(r"(?m)^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8")).replace("\\\n", " ")
    return [line.split(maxsplit=1) for line in lines.splitlines() if line.strip()]


def ignored(path):
    """Whether .dockerignore keeps a file out: the last pattern that fits it, or a folder above it, decides."""
    out = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split():
        pattern = line.removeprefix("!").removeprefix("**/")
        if any(fnmatch.fnmatch(name, pattern) for place in (Path(path), *Path(path).parents)
               for name in (str(place), *([place.name] if "**/" in line else []))):
            out = not line.startswith("!")
    return out


def context(folder):
    """What the engine is sent of the checkout, as git knows it."""
    for name in checkout():
        if not ignored(name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


class Build:
    """Carries out what a build consists of, a stage at a time; ``place`` is the root of the stage."""

    def __init__(self, folder):
        self.place, self.sent, self.stages = folder / "root", context(folder / "context"), folder / "stages"
        self.variables, self.start = {}, {}

    def carry_out(self):
        for word, given in steps():
            getattr(self, word.lower())(given)
        return self

    def here(self, text):
        return PLACES.sub(f"{self.place}/", text)

    def run_with(self):
        own = os.path.dirname(sys.executable)
        usual = {name: text for name, text in os.environ.items()
                 if not name.startswith(("MVGVIZ", "PYTHON", "COVERAGE"))}
        return usual | {"PATH": f"{own}:{os.environ['PATH']}"} | self.variables

    def from_(self, given):
        assert re.fullmatch(r"python:3\.\d+-slim( AS (\w+))?", given)
        if self.place.exists():
            self.place.rename(self.stages)  # only what is copied from it comes along
        self.place.mkdir(parents=True)
        self.folder = self.place

    def workdir(self, given):
        self.folder = Path(self.here(given))
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, given):
        subprocess.run(["sh", "-ec", self.here(given)], cwd=self.folder, env=self.run_with(), check=True)

    def copy(self, given):
        options = [word for word in given.split() if word.startswith("--")]
        *sources, target = [word for word in given.split() if not word.startswith("--")]
        earlier = "--from=build" in options
        to = Path(self.here(target)) if target.startswith("/") else self.folder / target
        for source in sources:
            found = self.stages / source.lstrip("/") if earlier else self.sent / source
            if found.is_dir():
                shutil.copytree(found, to, symlinks=True, dirs_exist_ok=True)
            else:
                final = to / found.name if target.endswith("/") else to
                final.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(found, final)

    def env(self, given):
        self.variables |= dict(pair.split("=", 1) for pair in shlex.split(self.here(given)))

    def user(self, given):
        assert int(given.split(":")[0]) > 0, "the app runs as root"

    def volume(self, given):
        assert Path(self.here(given)).is_dir()

    def expose(self, given):
        self.port = given

    def healthcheck(self, given):
        self.health = json.loads(self.here(given[given.index("["):]))

    def entrypoint(self, given):
        self.start["entry"] = json.loads(self.here(given))

    def cmd(self, given):
        self.start["command"] = json.loads(given)


setattr(Build, "from", Build.from_)  # a word of Python's own


def test_the_build_is_sent_what_it_copies_and_no_secret(tmp_path):
    sent = context(tmp_path)
    for word, given in steps():
        if word == "COPY" and "--from" not in given:
            for source in given.split()[:-1]:
                assert (sent / source).exists(), source
    assert (sent / "mvgviz" / "ui" / "assets" / "frame.css").is_file()
    for name in (".streamlit/secrets.toml", ".git/config", "mvgviz/__pycache__/x.pyc", ".venv/bin/pip", "tests/x.py"):
        assert ignored(name), name


@pytest.mark.dist
def test_the_steps_of_the_dockerfile_make_an_app_that_is_healthy(tmp_path):
    made = Build(tmp_path).carry_out()
    shutil.rmtree(made.stages)
    port = str(free_port())
    assert made.port in made.start["entry"]
    command = [word.replace(made.port, port) for word in (*made.start["entry"], *made.start["command"])]
    with (tmp_path / "said.txt").open("w", encoding="utf-8") as out:
        app = subprocess.Popen(command, cwd=made.folder, env=made.run_with(), stdout=out, stderr=out)
    try:
        check = [word.replace(made.port, port) for word in made.health]
        end = time.monotonic() + 120
        while subprocess.run(check, capture_output=True).returncode:
            assert app.poll() is None, (tmp_path / "said.txt").read_text(encoding="utf-8")
            assert time.monotonic() < end
            time.sleep(0.5)
        assert answer(int(port), "/", host="localhost")[0] == 200
    finally:
        app.terminate()
        app.wait()
    assert "warning: everyone who reaches 0.0.0.0" in (tmp_path / "said.txt").read_text(encoding="utf-8")
    assert (made.place / "ledger" / "ledger.sqlite").parent.is_dir()
    assert subprocess.run(check, capture_output=True).returncode, "a server that ended is healthy"


@pytest.mark.dist
def test_the_requirements_install_this_checkout_with_its_app(tmp_path):
    words = [line for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    assert words == [".[app]"]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-",
               "-r", "requirements.txt"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {one["metadata"]["name"].lower() for one in json.loads(said)["install"]}
    assert {"mvgviz", "streamlit", "opendp", "plotly", "pandas"} <= names


@pytest.mark.skipif(not (NGINX and shutil.which("openssl")), reason="nginx and openssl make compose's front")
def test_the_front_of_compose_is_the_tested_example_under_a_name(tmp_path):
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    front, app = services["front"], services["app"]
    assert front["network_mode"] == "service:app"
    assert app["command"] == ["--host", "127.0.0.1"]
    assert app["ports"] == ["443:8443"]
    made = front["command"][-1].replace("$$", "$").partition(" && exec ")[0]
    places = {"/deploy/": f"{ROOT}/deploy/", "/tmp/": f"{tmp_path}/", "/certificate/": f"{tmp_path}/"}
    made = re.sub("|".join(places), lambda found: places[found[0]], made)
    subprocess.run(["sh", "-ec", made], check=True, env=os.environ | {"MVGVIZ_HOST": "noise.example"})
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                    "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"], check=True, capture_output=True)
    tried = subprocess.run([NGINX, "-t", "-p", tmp_path, "-c", tmp_path / "nginx.conf"], capture_output=True, text=True)
    assert tried.returncode == 0, tried.stderr
    text = (tmp_path / "nginx.conf").read_text(encoding="utf-8")
    assert "server_name noise.example;" in text


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
