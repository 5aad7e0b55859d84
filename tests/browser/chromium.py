"""How the browser is started, and when it has come to rest."""

import os
import pathlib
import shutil
import subprocess
from contextlib import contextmanager, suppress

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError, sync_playwright

ROOT = pathlib.Path(__file__).parents[2]

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
PICTURES = ".js-plotly-plot, .rule svg"
SCREENS = {"wide": (1440, 900), "phone": (390, 844), "projector": (1920, 1080)}


def checkout(*within):
    """The checkout's files as git knows them, all or within folders."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("only git knows which files belong to the checkout")
    kept = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *within], cwd=ROOT, capture_output=True,
                          text=True, check=True).stdout.split()
    return [name for name in kept if (ROOT / name).is_file()]


@contextmanager
def launched():
    """The browser of this machine."""
    system = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=system, args=FLAGS)
        yield chromium
        chromium.close()


def shoot(page, name):
    """Keep a picture when a folder for them is named."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.wait_for_timeout(1000)
        page.screenshot(path=pathlib.Path(folder) / f"{name}.png")


def at_rest(tab):
    """Waits until no script runs, and none is about to: what is drawn anew is faded, and may be replaced."""
    tab.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]:not(:has(.st-key-next_slice))",
                          state="attached")


def eventually(tab, is_so):
    """Looks until it is so: how soon is the machine's affair."""
    for _ in range(2_000):
        if is_so():
            return
        tab.wait_for_timeout(50)
    raise AssertionError("it did not come to that")


def choose(tab, file, name="mine.csv", key="upload_file"):
    """Chooses a file, by its path or content; again while nothing is sent, for Streamlit drops its answer, where to
    send it, when a run starts at that moment."""
    if not isinstance(file, os.PathLike):
        content = file if isinstance(file, bytes) else file.encode()
        file = {"name": name, "mimeType": "text/plain", "buffer": content}
    for _ in range(20):
        with suppress(TimeoutError), tab.expect_request(lambda asked: asked.method == "PUT", timeout=9_000):
            tab.locator(f".st-key-{key} input[type=file]").set_input_files(file)
            return
    raise AssertionError("the file was not sent")


def bring(tab, file, name="mine.csv"):
    """Chooses a file on the page Data & query."""
    tab.get_by_text("Use your own file").click()
    choose(tab, file, name)


def go(tab, page):
    """By the menu."""
    tab.get_by_test_id("stSidebar").get_by_role("link", name=page.label, exact=True).click()


def arrived(tab, page):
    tab.get_by_role("heading", name=page.label, exact=True).wait_for()
    at_rest(tab)


def fetched(tab, button):
    """The bytes of a download, and the name of its file; by the key of its button, or the button itself."""
    if isinstance(button, str):  # with a help text Streamlit draws a second one, hidden
        button = tab.locator(f".st-key-{button} button:visible")
    with tab.expect_download() as download:
        button.click()
    return pathlib.Path(download.value.path()).read_bytes(), download.value.suggested_filename


@contextmanager
def dragged(tab, handle, right, down, *, steps=6):
    """What the picture shows while a handle is held elsewhere; it is let go at the end."""
    at_rest(tab)
    handle.scroll_into_view_if_needed()
    box = box_of(handle)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + right, y + down, steps=steps)
    yield
    tab.mouse.up()


def box_of(locator):
    """Where it stands; what is drawn anew between looking and measuring has no box for a moment."""
    boxes = []
    eventually(locator.page, lambda: boxes.append(locator.bounding_box()) or boxes[-1] is not None)
    return boxes[-1]


def assert_accessible(tab):
    """No serious finding of axe-core: names, roles, contrast (AA) and the rest."""
    assert serious_findings(tab) == []


def serious_findings(tab):
    """What is found while something is still drawn is looked at again, after a longer while each time."""
    serious = []
    for wait in (500, 2_000, 8_000, 30_000):
        at_rest(tab)
        tab.wait_for_timeout(wait)
        found = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
        serious = [(one["id"], node["html"][:200]) for one in found if one["impact"] in ("serious", "critical")
                   for node in one["nodes"]]
        if not serious:
            break
    return serious
