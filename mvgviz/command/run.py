"""A study without the app: its trials and report, its slides; the paper's experiments and the lesson as a page."""

import argparse
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from mvgviz.command import STOPPED, needed, say, say_tenths, write_bytes
from mvgviz.command.opening import opened_study
from mvgviz.data import sample
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError
from mvgviz.labels import BOUNDS, JUDGED, REFERENCES
from mvgviz.report.script import notebook, python_script
from mvgviz.scenario.resolve import Setup, build
from mvgviz.text import at_most
from mvgviz.trials.problem import pose
from mvgviz.trials.results import Outcome, Results
from mvgviz.trials.run import run_trials
from mvgviz.trials.simulated import on_simulated_data
from mvgviz.validation import count


def run(chosen: argparse.Namespace) -> int:
    """Print the table of errors."""
    for name in ("report", "program", "notebook"):
        path: Path | None = getattr(chosen, name)
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise InputError(f"the {name} must be a file in an existing folder, got {path}")
    opened = opened_study(chosen)
    scenario, dataset, directions = opened.study.scenario, opened.dataset, opened.directions
    if chosen.trials is not None:
        scenario = scenario.changed(trials=chosen.trials)
    setup = build(scenario, dataset, uploaded=directions)
    with _stop_on_interrupt() as stopped, _workers(chosen.cluster) as workers:
        results = run_trials(scenario, dataset, problem=pose(scenario, dataset, uploaded=directions),
                             executor=workers, cancelled=stopped.is_set, progress=say_tenths("{:,} of {:,} trials"))
    sys.stdout.write(table(setup, results))
    sys.stdout.flush()
    if not results.complete:
        say("mvgviz run: stopped; the table shows the finished trials")
        return STOPPED
    if chosen.report is not None:
        report_html = needed("mvgviz.report.html", "a report needs").report_html
        simulated = chosen.report_on != "data"
        if simulated:
            setup = on_simulated_data(setup, uploaded=directions)
            results = run_trials(scenario, setup.dataset, problem=pose(scenario, setup.dataset, uploaded=directions))
        write_bytes(chosen.report, report_html(setup, results, simulated=simulated, study=opened.study))
        say(f"report on {'simulated data' if simulated else 'the data itself, not private'}: {chosen.report}")
    for name, made in (("program", python_script), ("notebook", notebook)):
        if getattr(chosen, name) is not None:
            write_bytes(getattr(chosen, name), made(scenario, source=opened.study.source))
            say(f"{name}: {getattr(chosen, name)}")
    return 0


def experiments(chosen: argparse.Namespace) -> int:
    """Print the paper's three experiments as Markdown tables (docs/experiments.md)."""
    from mvgviz.paper import EXPERIMENTS
    from mvgviz.paper import run as measured
    from mvgviz.paper.words import OPENING, report_markdown

    trials, seed = count("trials", chosen.trials), count("seed", chosen.seed, at_least=0)
    sys.stdout.write(f"{OPENING}\n")
    with _workers(None) as workers:
        for experiment in EXPERIMENTS.values():
            sys.stdout.flush()
            say(f"Experiment {experiment.key} …")
            report = measured(experiment, sample(experiment.scenario.data), trials=trials, seed=seed, executor=workers)
            sys.stdout.write(f"{report_markdown(report)}\n")
    return 0


def table(setup: Setup, results: Results) -> str:
    """Return the results as a Markdown table."""
    scenario = setup.scenario
    origins = "; ".join(f"{what}: {origin.words}" for what, origin in setup.origins.items())
    designs = {"mvg": setup.design, "iid": setup.iid}
    rows = [("answer", "mean error", "95 % interval", "trials", "epsilon spent")]
    for outcome in results.outcomes:
        low, high = outcome.interval
        rows.append((
            outcome.mechanism.label, f"{outcome.mean:.6g}" if outcome.errors.size else outcome.reason or "no trial yet",
            f"{low:.6g} to {high:.6g}" if math.isfinite(low) else "", str(outcome.errors.size),
            _spent(designs[outcome.mechanism.key], outcome, results.delta)))
    rows += [(label, f"{value:.6g}", "", "", "") for key, label in REFERENCES.items()
             if math.isfinite(value := getattr(results.references, key)) or key != "private_mean"]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) + " |"
             for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    records = "" if setup.query.bound is None else f"{BOUNDS[scenario.bound][1].format(radius=scenario.radius)}\n"
    judged = "" if results.judged_on == "everything" else f" on {JUDGED[results.judged_on]} alone"
    return ("Not private: measured on the data itself. Do not publish this table.\n\n"
            f"{scenario.query} of {scenario.data}: {results.task.label}, {results.metric}{judged}; smaller is "
            f"better\n{records}"
            f"asked: epsilon {scenario.epsilon:.6g} at delta {results.delta:.6g} ({setup.neighbour_rule}), "
            f"{setup.design.family.word} noise; {origins}\n\n"
            + "\n".join(lines) + "\n")


def _spent(design: NoiseDesign, outcome: Outcome, delta: float) -> str:
    """Return the epsilon that this noise really spends: with delta = 0 for box and Laplace noise."""
    if design.is_pure:
        return f"{design.pure_epsilon:.6g} with delta = 0"
    if outcome.reason is not None:
        return ""
    spent = design.epsilon_spent(delta) if outcome.epsilon_spent is None else outcome.epsilon_spent
    return f"{at_most(design.mu_is)}{spent:.6g}"


@contextmanager
def _workers(cluster: str | None) -> Iterator[Executor]:
    if cluster is None:
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as own:
            yield own
        return
    try:
        client = needed("distributed", "a cluster needs", "cluster").Client(cluster, timeout="10s")
    except (OSError, ValueError):
        raise InputError(f"no Dask scheduler answers at {cluster}; check the address") from None
    with client:
        yield client.get_executor()


@contextmanager
def _stop_on_interrupt() -> Iterator[threading.Event]:
    """Set the event on Ctrl-C; a second Ctrl-C acts as before. Ignored signals (nohup) stay ignored."""
    stopped, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, before)

    here = threading.current_thread() is threading.main_thread() and before not in (signal.SIG_IGN, None)
    try:
        if here:
            signal.signal(signal.SIGINT, stop)
        yield stopped
    finally:
        if here:
            signal.signal(signal.SIGINT, before)


BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe")
"""Browsers that can print without a window."""


def slides(chosen: argparse.Namespace) -> int:
    """Write the talk."""
    out: Path = chosen.out
    if out.suffix.lower() not in (".pdf", ".html") or out.is_dir() or not out.parent.is_dir():
        raise InputError(f"--out must be a .pdf or .html file in an existing folder, got {out}")
    opened = opened_study(chosen)
    talk_html = needed("mvgviz.report.talk", "slides need").talk_html
    setup = build(opened.study.scenario, opened.dataset, uploaded=opened.directions)
    simulated = opened.study.scenario.is_upload and chosen.on != "data"
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
    root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []  # root has no other way
    for browser in filter(None, map(shutil.which, BROWSERS)):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            file, made = Path(folder, "talk.html"), Path(folder, "talk.pdf")
            write_bytes(file, page)
            try:
                subprocess.run([browser, "--headless", "--disable-gpu", *root, f"--user-data-dir={folder}/profile",  # noqa: S603
                                "--no-first-run", "--no-pdf-header-footer", f"--print-to-pdf={made}", file.as_uri()],
                               check=False, capture_output=True, timeout=120)
            except (OSError, subprocess.TimeoutExpired):
                continue
            if made.is_file():
                write_bytes(out, made.read_bytes())
                return True
    return False
