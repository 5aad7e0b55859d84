"""``python -m mvgviz scenario.json``: an exported scenario without the app.

Results on stdout, progress on stderr. Exit code 0; 2 where something has to be mended, with one
sentence on stderr; 130 when stopped with Ctrl-C, after what was finished is printed.
"""

import argparse
import io
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from mvgviz.data import read_table, sample, table_to_dataset
from mvgviz.errors import InputError
from mvgviz.labels import BOUNDS, JUDGED, REFERENCES
from mvgviz.noise.directions import Directions, from_matrix
from mvgviz.provenance import Origin
from mvgviz.query.dataset import MISSING, Dataset
from mvgviz.scenario.resolve import Setup, build
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.question import pose
from mvgviz.trials.run import Results, run_trials
from mvgviz.trials.stand_in import on_stand_in

_NAME = "python -m mvgviz"
_BAD_INPUT, _STOPPED = 2, 130


class _Parser(argparse.ArgumentParser):
    """An error is one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(_BAD_INPUT, f"{self.prog}: {message}\n")


def main(arguments: list[str] | None = None) -> int:
    """Run a scenario; returns the exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        return _run(chosen)
    except InputError as error:
        _say(f"{_NAME}: {error}")
        return _BAD_INPUT
    except KeyboardInterrupt:
        _say(f"{_NAME}: stopped before the first trial")
        return _STOPPED


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=_NAME, description="Run an exported scenario without the app.")
    parser.add_argument("scenario", type=Path, help="a scenario as downloaded from mvgviz (JSON)")
    parser.add_argument("--data", type=Path, metavar="FILE", help="the file of a scenario with an uploaded table")
    parser.add_argument("--ranges", type=Path, metavar="FILE",
                        help='JSON for that table: {"column": [low, high], ...}, the columns to use in this order with '
                             "their declared ranges; null for a range to be read from the data, which is not private")
    parser.add_argument("--decimal", choices=(".", ","), help="the decimal mark of a text file; detected by default")
    parser.add_argument("--missing", choices=MISSING, default="reject",
                        help="gaps: refuse them, fill them with the middle of their range, or leave those records out, "
                             "which makes the number of records not private (default: %(default)s)")
    parser.add_argument("--directions", type=Path, metavar="FILE", help="the file of a scenario with given directions")
    parser.add_argument("--know-directions", action="store_true",
                        help="state that those directions are known without looking at the data")
    parser.add_argument("--trials", type=int, metavar="N", help="how often to try; the scenario's number by default")
    parser.add_argument("--report", type=Path, metavar="out.html", help="write a report, too")
    parser.add_argument("--report-on", choices=("stand-in", "data"), default="stand-in",
                        help="what the report's pictures and errors are measured on: simulated records with the same "
                             "ranges and number, or the data itself, which is not private (default: %(default)s)")
    return parser


def _run(chosen: argparse.Namespace) -> int:
    scenario = Scenario.from_json(_read(chosen.scenario))
    if chosen.trials is not None:
        scenario = scenario.changed(trials=chosen.trials)
    if chosen.report is not None and (chosen.report.is_dir() or not chosen.report.parent.is_dir()):
        raise InputError(f"the report must be a file in a folder that is there, got {chosen.report}")
    dataset = _dataset(scenario, chosen)
    directions = _directions(scenario, chosen)
    setup = build(scenario, dataset, uploaded=directions)
    with _stop_on_interrupt() as stopped, ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as workers:
        results = run_trials(scenario, dataset, problem=pose(scenario, dataset, uploaded=directions),
                             executor=workers, cancelled=stopped.is_set, progress=_Progress())
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # where the terminal has no ε
    sys.stdout.write(table(setup, results))
    sys.stdout.flush()
    if not results.complete:
        _say(f"{_NAME}: stopped; the table has the trials that were finished")
        return _STOPPED
    if chosen.report is not None:
        if chosen.report_on == "stand-in":
            setup = on_stand_in(setup, uploaded=directions)
            results = run_trials(scenario, setup.dataset, problem=pose(scenario, setup.dataset, uploaded=directions))
        _write_report(chosen.report, setup, results, simulated=chosen.report_on == "stand-in")
    return 0


def table(setup: Setup, results: Results) -> str:
    """The results as a Markdown table."""
    scenario = setup.scenario
    origins = "; ".join(f"{what}: {origin.words}" for what, origin in setup.origins.items())
    mu_is = {"mvg": setup.design.mu_is, "iid": setup.iid.mu_is}
    rows = [("answer", "mean error", "95 % interval", "trials", "epsilon spent")]
    for outcome in results.outcomes:
        low, high = outcome.interval
        spent = "" if outcome.epsilon_spent is None else f"{outcome.epsilon_spent:.6g}"
        rows.append((
            outcome.mechanism.label, f"{outcome.mean:.6g}" if outcome.errors.size else outcome.reason or "no trial yet",
            f"{low:.6g} to {high:.6g}" if math.isfinite(low) else "", str(outcome.errors.size),
            spent if mu_is[outcome.mechanism.key] == "exact" else f"at most {spent}"))
    rows += [(label, f"{getattr(results.references, key):.6g}", "", "", "") for key, label in REFERENCES.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) + " |"
             for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    records = "" if setup.query.bound is None else f"{BOUNDS[scenario.bound][1].format(radius=scenario.radius)}\n"
    judged = "" if scenario.judged == "everything" else f" on {JUDGED[scenario.judged]} alone"
    return (f"{scenario.query} of {scenario.data}: {results.task.label}, {results.metric}{judged}; smaller is "
            f"better\n{records}"
            f"asked: epsilon {scenario.epsilon:.6g} at delta {results.delta:.6g} ({setup.design.neighbour_rule}); "
            f"{origins}\n\n"
            + "\n".join(lines) + "\n\nMeasured on the data itself: for choosing, not private.\n")


class _Progress:
    """A line on stderr for every tenth of the work."""

    def __init__(self) -> None:
        self._tenths = 0

    def __call__(self, done: int, total: int) -> None:
        tenths = 10 * done // max(total, 1)
        if tenths > self._tenths:
            self._tenths = tenths
            _say(f"{done:,} of {total:,} trials")


@contextmanager
def _stop_on_interrupt() -> Iterator[threading.Event]:
    """Ctrl-C sets the event; a second one interrupts as usual."""
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, stop) if here else None
    try:
        yield stopped
    finally:
        if here:
            signal.signal(signal.SIGINT, before)


def _dataset(scenario: Scenario, chosen: argparse.Namespace) -> Dataset:
    """The sample, or the table of the scenario's own file with columns and ranges."""
    if not scenario.is_upload:
        for name in ("data", "ranges"):
            if getattr(chosen, name) is not None:
                raise InputError(f"--{name} is for scenarios of an uploaded table, and this one has the sample "
                                 f"{scenario.data}")
        return sample(scenario.data)
    if chosen.data is None:
        raise InputError("the scenario was made with an uploaded table, which is not in it; name the file with --data")
    table, missing = read_table(chosen.data, decimal=chosen.decimal), chosen.missing
    if scenario.is_graph and chosen.ranges is None:
        return table_to_dataset(table, missing=missing)
    if chosen.ranges is None:
        raise InputError("the columns of the table and their ranges are not in the scenario; name a file with "
                         '--ranges, JSON as {"column": [low, high]}, or run the exported program, which has them')
    ranges = _ranges(chosen.ranges)
    return table_to_dataset(table, columns=list(ranges), missing=missing,
                            ranges={name: pair for name, pair in ranges.items() if pair is not None})


def _ranges(path: Path) -> dict[str, tuple[float, float] | None]:
    """Columns in their order; None where the range is to be read from the data."""
    text = _read(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if not (isinstance(content, dict) and content and all(
            pair is None or (isinstance(pair, list) and len(pair) == 2) for pair in content.values())):
        raise InputError(f'{path} must be JSON as {{"column": [low, high], ...}}')
    return {name: None if pair is None else (pair[0], pair[1]) for name, pair in content.items()}


def _directions(scenario: Scenario, chosen: argparse.Namespace) -> Directions | None:
    if scenario.directions != "upload":
        return None
    if chosen.directions is None:
        raise InputError("the scenario has directions from a file, which are not in it; name it with --directions")
    return from_matrix(read_table(chosen.directions).values,
                       origin=Origin.DECLARED if chosen.know_directions else Origin.READ)


def _write_report(path: Path, setup: Setup, results: Results, *, simulated: bool) -> None:
    try:
        from mvgviz.report.html import report_html
    except ModuleNotFoundError as error:
        raise InputError(f'a report needs {error.name}; install it with pip install "mvgviz[app]"') from None
    try:
        path.write_text(report_html(setup, results, simulated=simulated), encoding="utf-8")
    except OSError as error:
        raise InputError(f"the report cannot be written to {path}: {error.strerror}") from None
    _say(f"report: {path}")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
