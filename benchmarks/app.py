"""How soon a person sees what was asked for, in a real browser: ``make bench``. Nothing here fails.

A moved slider and the first visit, against a page of one slider and one chart. Then, on a warm server, the first
picture of every page, of an uploaded file and of long work, against Home's, which is measured beside each.
"""

from __future__ import annotations

import logging
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from streamlit.testing.v1 import AppTest

from mvgviz.ui.menu import HOME, LESSON_NOTES, PAGES
from mvgviz.ui.server import ENTRY

ROOT = pathlib.Path(__file__).parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
PRESSES, MOVES = 25, 7
FAMILY_PAGES = ("Home", "Noise shape", "Precision budget", "Privacy spent", "Utility", "Several questions")
RECORDS, COLUMNS = 10_000, 30
PICTURES = ".js-plotly-plot, .rule svg"
AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]:not(:has(.st-key-next_slice))"
LONG_WORK = {"Compare: same error": ("compare?task=reconstruction", "compare_section", 1, "compare_frontier"),
             "Compare: lever by lever": ("compare?task=reconstruction", "compare_section", 2, "compare_levers"),
             "Compare: Advisor": ("compare?task=reconstruction", "compare_section", 3, "compare_advice"),
             "Utility: over epsilon": ("utility?task=reconstruction", "utility_section", 1, "utility_sweep"),
             "Precision budget: what gets through": ("budget?query=covariance", "budget_tab", 2, "budget_pnr")}
"""The page, its tabs, which of them, and the chart there."""
PLAIN_PAGE = """
import numpy as np, plotly.graph_objects as go, streamlit as st
value = st.slider("value", 1, 99, 50, key="w_share")
figure = go.Figure(go.Scatter(x=np.arange(200), y=np.sin(np.arange(200) * value / 50)))
figure.update_layout(title=f"value {value}")
st.plotly_chart(figure)
"""
# Time from the key press until the watched text is another.
WATCH = """selector => new Promise(resolve => {
    const find = () => { for (const root of [document, ...[...document.querySelectorAll('*')]
        .map(node => node.shadowRoot).filter(Boolean)]) { const found = root.querySelector(selector);
        if (found) return found.textContent; } return null; };
    const before = find();
    window.addEventListener('keydown', () => {
        const start = performance.now();
        const look = () => { const now = find();
            if (now !== null && now !== before) resolve(performance.now() - start); else requestAnimationFrame(look); };
        look();
    }, {once: true, capture: true});
})"""


def free_port() -> int:
    """A port of this machine that nobody serves on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(command: Sequence[str], *, cwd: str | pathlib.Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block."""
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def ready(port: int) -> None:
    """Wait until the server answers."""
    for _ in range(240):
        try:
            with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health"):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.25)


@contextmanager
def served(script: pathlib.Path) -> Iterator[str]:
    """A Streamlit server on a free port."""
    port = free_port()
    with started([sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port),
                  "--server.headless", "true", "--browser.gatherUsageStats", "false"], cwd=script.parent):
        ready(port)
        yield f"http://localhost:{port}"


def latency(page: Page, address: str, watched: str) -> float:
    """The median time in milliseconds from a key on the slider to a new text in the picture."""
    page.goto(address)
    page.locator(watched).first.wait_for()
    page.wait_for_timeout(2000)
    slider = page.locator(".st-key-w_share input[type=range]")
    slider.focus()
    times = []
    for press in range(PRESSES):
        waiting = page.evaluate_handle(f"() => ({{done: ({WATCH})({watched!r})}})")
        page.keyboard.press("ArrowLeft" if press % 2 else "ArrowRight")
        times.append(waiting.evaluate("promise => promise.done"))
        page.wait_for_timeout(250)
    return statistics.median(times[3:])


def first_visit(browser: Browser, command: Sequence[str], port: int, cwd: pathlib.Path, watched: str
                ) -> tuple[float, float]:
    """Seconds until a server that is started answers, and from then until its first visitor sees a picture."""
    start = time.perf_counter()
    with started([*command], cwd=cwd):
        ready(port)
        up = time.perf_counter() - start
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"http://localhost:{port}")
        page.locator(watched).first.wait_for(timeout=120_000)
        seen = time.perf_counter() - start - up
        page.close()
    return up, seen


def _print_first_visits(browser: Browser, plain_script: pathlib.Path) -> None:
    """The bare page, then Home as the command opens it; the better of two each, so that files are read already."""
    port = free_port()
    bare = [sys.executable, "-m", "streamlit", "run", str(plain_script), "--server.port", str(port),
            "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    own = [sys.executable, "-m", "mvgviz", "--no-ledger", "--no-browser", "--port", str(port)]
    plain = min(first_visit(browser, bare, port, plain_script.parent, ".gtitle")[1] for _ in range(2))
    visits = [first_visit(browser, own, port, ROOT, ".rule .numbers") for _ in range(2)]
    up, ours = (min(times) for times in zip(*visits, strict=True))
    print(f"{f'first visit: Home ({ours:.1f} s) / one-chart page ({plain:.1f} s)':62}{ours / plain:10.2f}   ≤ 1.3")
    print(f"{'mvgviz answers after (s)':62}{up:10.2f}   ≤ 4")


def seen(shown: Locator) -> None:
    """Wait until it is there, and look often: Playwright's own waits look every half second in the end."""
    while not shown.count():
        shown.page.wait_for_timeout(10)


def first_picture(tab: Page, address: str) -> float:
    """Seconds from a link to the first picture; the page then comes to rest."""
    start = time.perf_counter()
    tab.goto(address)
    seen(tab.locator(PICTURES).locator("visible=true"))
    seconds = time.perf_counter() - start
    tab.locator(AT_REST).wait_for(state="attached")
    return seconds


def against_home(tab: Page, address: str, measure: Callable[[], float]) -> tuple[float, float]:
    """Seconds, and their ratio to Home's first picture just before: medians of three, so other work touches both."""
    pairs = [(first_picture(tab, f"{address}/?data=liver"), measure()) for _ in range(3)]
    return statistics.median(own for _, own in pairs), statistics.median(own / home for home, own in pairs)


def upload(tab: Page, address: str, file: pathlib.Path) -> float:
    """Seconds from a file's choice to the first picture with its columns."""
    tab.goto(f"{address}/data?data=liver")
    tab.locator(".st-key-answer").first.wait_for(state="attached")
    tab.locator(AT_REST).wait_for(state="attached")
    tab.locator("[data-testid=stExpander] summary").first.click()
    chooser = tab.locator(".st-key-upload_file input[type=file]")
    chooser.wait_for(state="attached")
    start = time.perf_counter()
    chooser.set_input_files(file)
    seen(tab.locator(".js-plotly-plot", has_text="new"))
    seconds = time.perf_counter() - start
    tab.locator(AT_REST).wait_for(state="attached")
    return seconds


def typed(tab: Page) -> tuple[float, int]:
    """After an upload, ranges typed at 50 ms a cell: the longest wait of a key in ms, and how many values were lost."""
    tab.evaluate("""() => { window.waits = []; document.addEventListener('keydown',
        event => window.waits.push(performance.now() - event.timeStamp), true); }""")
    names = [f"new{k}" for k in range(6)]
    for name in names:
        for end, text in (("Lowest", "5"), ("Highest", "95")):
            tab.get_by_label(f"{end} value of {name}", exact=True).focus()
            tab.keyboard.type(text, delay=10)
            tab.wait_for_timeout(20)
    tab.keyboard.press("Tab")
    shown = [tab.get_by_label(f"{end} value of {name}", exact=True).input_value()
             for name in names for end in ("Lowest", "Highest")]
    return max(tab.evaluate("window.waits")), sum(map(str.__ne__, shown, ["5", "95"] * len(names)))


def long_work(tab: Page, address: str, name: str) -> float:
    """Seconds from a tab's choice to its first chart, for an epsilon that nobody asked about before."""
    page, tabs, which, shown = LONG_WORK[name]
    epsilon = np.random.default_rng().uniform(0.3, 3)
    tab.goto(f"{address}/{page}&data=liver&epsilon={epsilon:.4g}")
    chosen = tab.locator(f".st-key-{tabs} [role=tab]").nth(which)
    chosen.wait_for()
    tab.locator(AT_REST).wait_for(state="attached")
    start = time.perf_counter()
    chosen.click()
    seen(tab.locator(f".st-key-{shown} .js-plotly-plot").locator("visible=true"))
    return time.perf_counter() - start


def _print_warm(tab: Page, address: str, folder: pathlib.Path) -> None:
    """Each line: seconds, the ratio to Home's first picture, the aim."""
    tab.set_default_timeout(300_000)
    for page in PAGES:
        if page is not LESSON_NOTES:  # it has no picture
            first_picture(tab, f"{address}/{'' if page is HOME else page.name}?data=liver")
    print(f"{'on a warm server (seconds; ratio to the first picture of Home beside it)':62}"
          f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors")
    for page in PAGES:
        if page not in (HOME, LESSON_NOTES):
            _print_line(f"first picture: {page.label}", *against_home(
                tab, address, partial(first_picture, tab, f"{address}/{page.name}?data=liver")), "ratio ≤ 1.5")
    file = folder / "new.csv"
    np.savetxt(file, np.random.default_rng(0).normal(50, 10, (RECORDS, COLUMNS)), "%.2f", ",", comments="",
               header=",".join(f"new{k}" for k in range(COLUMNS)))
    _print_line(f"upload of {RECORDS:,} × {COLUMNS} to its first picture",
                *against_home(tab, address, partial(upload, tab, address, file)), "≤ 2 s")
    wait, lost = typed(tab)
    print(f"{f'12 ranges typed at 50 ms: longest wait of a key (ms), {lost} lost':62}{wait:10.0f}   none lost")
    for name in LONG_WORK:
        _print_line(f"first result: {name}",
                    *against_home(tab, address, partial(long_work, tab, address, name)), "≤ 1 s")


def _print_line(what: str, seconds: float, ratio: float, aim: str) -> None:
    print(f"{what:62}{seconds:10.2f} {ratio:10.2f}   {aim}", flush=True)


def server_time(path: str, family: str) -> float:
    """Return the processor time of a page on the server after epsilon was moved, in this process."""
    app, times = AppTest.from_file(str(ENTRY), default_timeout=600), []
    for name, value in {"data": "liver", "query": "mean", "task": "reconstruction", "family": family}.items():
        app.query_params[name] = value
    app = (app if path == HOME.path else app.switch_page(path)).run()
    for move in range(MOVES):
        app.session_state["_scenario"] = app.session_state["_scenario"].changed(epsilon=1 + 0.01 * (move + 1))
        start = time.process_time()
        app.run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def _print_families() -> None:
    # What Streamlit's own test says at every message: that there is no server.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True
    for page in (page for page in PAGES if page.label in FAMILY_PAGES):
        plain = server_time(page.path, "gaussian")
        found = {family: server_time(page.path, family) / plain for family in ("box", "laplace", "ellipse")}
        most = max(found, key=lambda family: found[family])
        print(f"{f'{page.label}: server time, {most} noise / Gaussian':62}{found[most]:10.2f}   ≤ 1.2", flush=True)


def main() -> None:
    """Print how long each takes."""
    system = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        plain_script = pathlib.Path(folder) / "plain.py"
        plain_script.write_text(PLAIN_PAGE)
        browser = playwright.chromium.launch(executable_path=system, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        with served(plain_script) as address:
            plain = latency(page, address, ".gtitle")
        port = free_port()
        with started([sys.executable, "-m", "mvgviz", "--no-ledger", "--no-browser", "--port", str(port)], cwd=ROOT):
            ready(port)
            ours = latency(page, f"http://localhost:{port}/shape", ".rule .numbers")
            what = f"slider to picture: Noise shape ({ours:.0f} ms) / one-chart page ({plain:.0f} ms)"
            print(f"{what:62}{ours / plain:10.2f}   ≤ 1.5")
            _print_warm(page, f"http://localhost:{port}", pathlib.Path(folder))
        page.close()
        _print_first_visits(browser, plain_script)
        browser.close()
    _print_families()


if __name__ == "__main__":
    main()
