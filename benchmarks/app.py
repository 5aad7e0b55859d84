"""How soon a moved slider shows on Noise shape, and how soon the first visitor of a server sees Home.

Both against a page of one slider and one chart.
Run with ``make bench``, in a real browser. Nothing here fails.
"""

from __future__ import annotations

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = pathlib.Path(__file__).parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
PRESSES = 25
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


def main() -> None:
    """Print three lines."""
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
        page.close()
        _print_first_visits(browser, plain_script)
        browser.close()
    what = f"slider to picture: Noise shape ({ours:.0f} ms) / one-chart page ({plain:.0f} ms)"
    print(f"{what:62}{ours / plain:10.2f}   ≤ 1.5")


if __name__ == "__main__":
    main()
