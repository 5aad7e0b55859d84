"""``mvgviz slides study.json``, a talk of five slides as a page or PDF, and ``mvgviz lesson``, the lesson as a page."""

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from mvgviz.command import say, write_bytes
from mvgviz.command.opening import opened_study
from mvgviz.errors import InputError
from mvgviz.scenario.resolve import build
from mvgviz.trials.simulated import on_simulated_data
from mvgviz.version import install_words

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe")
"""Browsers that can print without a window."""
_PATIENCE = 120  # seconds


def slides(chosen: argparse.Namespace) -> int:
    """Write the talk."""
    out: Path = chosen.out
    if out.suffix.lower() not in (".pdf", ".html") or out.is_dir() or not out.parent.is_dir():
        raise InputError(f"--out must be a .pdf or .html file in an existing folder, got {out}")
    opened = opened_study(chosen)
    try:
        from mvgviz.report.talk import talk_html
    except ModuleNotFoundError as error:
        raise InputError(f"slides need {error.name}: {install_words('app')}") from None
    setup = build(opened.scenario, opened.dataset, uploaded=opened.directions)
    simulated = opened.scenario.is_upload and chosen.on != "data"
    page = talk_html(on_simulated_data(setup, uploaded=opened.directions) if simulated else setup, simulated=simulated)
    if out.suffix.lower() == ".pdf":
        if _printed(page, out):
            say(f"slides: {out}")
            return 0
        out = out.with_suffix(".html")
        say("mvgviz slides: no Chromium, Chrome or Edge could print a PDF; open the page in a browser and print it")
    write_bytes(out, page)
    say(f"slides: {out}")
    return 0


def lesson(chosen: argparse.Namespace) -> int:
    """Write the lesson and its game as one HTML page that needs no server."""
    from mvgviz.report.lesson import lesson_html

    write_bytes(chosen.out, lesson_html())
    say(f"lesson: {chosen.out}; open it in a browser or put it on any web space")
    return 0


def _printed(page: str, out: Path) -> bool:
    """Print the page with a browser of this computer; return whether one did."""
    root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []  # root has no other way
    for browser in filter(None, map(shutil.which, BROWSERS)):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            file, made = Path(folder, "talk.html"), Path(folder, "talk.pdf")
            write_bytes(file, page)
            try:
                subprocess.run([browser, "--headless", "--disable-gpu", *root, f"--user-data-dir={folder}/profile",  # noqa: S603
                                "--no-first-run", "--no-pdf-header-footer", f"--print-to-pdf={made}", file.as_uri()],
                               check=False, capture_output=True, timeout=_PATIENCE)
            except (OSError, subprocess.TimeoutExpired):
                continue
            if made.is_file():
                write_bytes(out, made.read_bytes())
                return True
    return False
