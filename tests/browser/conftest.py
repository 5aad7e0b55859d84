"""The app served on this machine, and a browser that visits it."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import PICTURES, ROOT, SCREENS, launched

PATIENCE = 180_000  # milliseconds: on a busy machine a reply takes its time
expect.set_options(timeout=PATIENCE)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def started(command=(sys.executable, "-m", "mvgviz", "--no-browser"), *, cwd=ROOT, port, ledger=None,
            log=subprocess.DEVNULL, preexec_fn=None, **environment):
    """The process of a server that answers on the port."""
    server = subprocess.Popen(
        [*command, *(["--ledger", ledger] if ledger else ["--no-ledger"]), "--port", str(port)],
        cwd=cwd, stdout=log, stderr=log, env=os.environ | environment, preexec_fn=preexec_fn)
    wait_until_healthy(port)
    return server


def wait_until_healthy(port):
    """Look whether the server on this port answers, for three minutes at most."""
    for _ in range(900):
        try:
            with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health"):
                return True
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    return False


@contextmanager
def served(command=(sys.executable, "-m", "mvgviz"), *, port=None, **options):
    """The app on a free port of this machine, as the command opens it."""
    port = port or free_port()
    server = started((*command, "--no-browser"), port=port, **options)
    try:
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="session")
def address():
    """The app, served once for all tests."""
    with served() as url:
        yield url


@pytest.fixture
def untouched_address():
    """The app on a server that nobody has visited."""
    with served() as url:
        yield url


@pytest.fixture(scope="module")
def address_with_ledger(tmp_path_factory):
    """The app with a ledger that lasts, served once for the tests of a file."""
    with served(ledger=str(tmp_path_factory.mktemp("ledger") / "ledger.sqlite")) as url:
        yield url


def patient(opens):
    """What it opens waits as long as a busy machine may need."""
    def opened(**options):
        one = opens(**options)
        one.set_default_timeout(PATIENCE)
        return one

    return opened


@pytest.fixture(scope="session")
def browser():
    with launched() as chromium:
        chromium.new_page, chromium.new_context = patient(chromium.new_page), patient(chromium.new_context)
        yield chromium


@pytest.fixture(scope="session")
def context(browser):
    """For visits, so that each page fetches and compiles only what no other has; each tab starts as a newcomer's."""
    shared = browser.new_context()
    shared.add_init_script("if (!window.name) { localStorage.clear(); window.name = 'visited'; }")
    return shared


@pytest.fixture
def visit(address, context):
    """Opens a path; at the end no error box, no console error, nothing wider than the screen."""
    opened = []

    def go(path="", *, screen="wide", scheme="light", waits_for=PICTURES):
        page, errors, (width, height) = context.new_page(), [], SCREENS[screen]
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        opened.append((page, errors))
        page.goto(f"{address}/{path}")
        page.wait_for_selector(waits_for)
        return page

    yield go
    for page, errors in opened:
        assert page.locator("[data-testid=stException]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert errors == []
        page.close()


@pytest.fixture
def empty_page(browser):
    """A browser's JavaScript without the app."""
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture
def tab(context):
    """For whom something may fail: nothing is asserted at the end."""
    page = context.new_page()
    page.set_viewport_size({"width": 1440, "height": 900})
    yield page
    page.close()
