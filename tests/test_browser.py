"""The app in a real browser: it starts, draws, answers a key press, and logs no error."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
SCREENS = {"wide": (1440, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def address():
    """The app, served on a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true"],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://localhost:{port}"
    for _ in range(120):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health"):
                break
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.5)
    yield url
    server.terminate()
    server.wait()


@pytest.fixture(scope="module")
def browser():
    system = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=system, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_home_draws_and_answers_the_keyboard(address, browser, screen, scheme):
    width, height = SCREENS[screen]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(address)
    page.wait_for_selector(".js-plotly-plot", timeout=60_000)
    page.get_by_text("0.79×").wait_for()
    page.locator(".st-key-share input[type=range]").press("ArrowLeft")
    page.get_by_text("0.82×").wait_for()
    assert page.locator("[data-testid=stException], [data-testid=stAlert]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        page.wait_for_timeout(1000)
        page.screenshot(path=pathlib.Path(folder) / f"home-{screen}-{scheme}.png", full_page=True)
    page.close()
    assert errors == []
