"""The options of the command line, and one sentence for each error."""

import argparse
import io
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from mvgviz.command import BAD_INPUT, STOPPED, say
from mvgviz.errors import InputError
from mvgviz.query.dataset import MISSING
from mvgviz.version import VERSION

_BESIDE = {"audit": "releases", "experiments": "run", "lesson": "run", "slides": "run"}  # in whose module


class _Parser(argparse.ArgumentParser):
    """Print an error as one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return the exit code."""
    chosen = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # some terminals have no ε
    name = f"mvgviz {chosen.command}" if chosen.command else "mvgviz"
    command = chosen.command or "app"
    module = _BESIDE.get(command, command)  # each command imports only what it needs
    try:
        return int(getattr(import_module(f"mvgviz.command.{module}"), command)(chosen))
    except InputError as error:
        say(f"{name}: {error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        say(f"{name}: stopped")
        return STOPPED


def _served() -> _Parser:
    """The options of the app and of ``serve``; what is left out of ``serve`` is as it was said before it."""
    shared = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument("--port", type=int, help="port of the app (8501, or the next free one)")
    shared.add_argument("--host", help="address to listen on; any other than this computer gives a warning (localhost)")
    shared.add_argument("--allow-host", action="append", metavar="NAME",
                        help="allow another name to open the app; repeatable")
    kept = shared.add_mutually_exclusive_group()
    kept.add_argument("--ledger", type=Path, metavar="FILE", help="file that counts releases (in your data folder)")
    kept.add_argument("--no-ledger", action="store_true",
                      help="keep no ledger file: what was spent is forgotten when the page closes")
    shared.add_argument("--login", action="store_true", help="ask people to log in (docs/deployment.md)")
    shared.add_argument("--demo", action="store_true", help="public demo: bundled data, no uploads, no releases")
    return shared


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="mvgviz", parents=[_served()], description="Directional noise for private matrices, made "
                     "visible. Without a command: opens the app in the browser.")
    parser.set_defaults(port=None, host="localhost", allow_host=[], ledger=None, no_ledger=False, login=False,
                        demo=False)
    parser.add_argument("--version", action="version", version=f"mvgviz {VERSION}")
    parser.add_argument("--data", type=Path, metavar="FILE", help="table to open")
    parser.add_argument("--study", type=Path, metavar="FILE", help="saved study to open")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser, title="commands")

    serve = commands.add_parser("serve", help="serve many people: several servers behind one address",
                                parents=[_served()],
                                description="Serve the app with several servers behind one address (nginx).")
    serve.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N",
                       help="number of servers (%(default)s, one per processor)")

    run = commands.add_parser("run", help="run a study's trials and write a report",
                              description="Run the trials of a study or scenario without the app.")
    _add_study(run)
    run.add_argument("--trials", type=int, metavar="N", help="number of trials (the study's)")
    run.add_argument("--cluster", metavar="ADDRESS",
                     help="Dask scheduler that runs the trials, such as tcp://host:8786")
    run.add_argument("--report", type=Path, metavar="out.html", help="also write a report")
    run.add_argument("--program", type=Path, metavar="out.py", help="also write the study as a Python program")
    run.add_argument("--notebook", type=Path, metavar="out.ipynb", help="also write the study as a notebook")
    _add_measured_on(run, "--report-on")

    lesson = commands.add_parser("lesson", help="write the lesson and its game as one HTML page")
    lesson.add_argument("--out", type=Path, default=Path("mvgviz-lesson.html"), metavar="FILE",
                        help="file to write (%(default)s)")

    slides = commands.add_parser("slides", help="write a talk of five slides as PDF or HTML",
                                 description="Write a talk of five slides. A PDF needs Chromium, Chrome or Edge.")
    _add_study(slides)
    slides.add_argument("--out", type=Path, default=Path("talk.pdf"), metavar="talk.pdf",
                        help="PDF or HTML file to write (%(default)s)")
    _add_measured_on(slides, "--on")

    experiments = commands.add_parser("experiments", help="print the paper's three experiments as tables")
    experiments.add_argument("--trials", type=int, default=100, help="trials for each figure (%(default)s)")
    experiments.add_argument("--seed", type=int, default=0, help="seed of the random numbers (%(default)s)")

    releases = commands.add_parser("releases", help="list the answers that a ledger keeps, or write them as files",
                                   description="List the released answers that a ledger keeps. They are public.")
    releases.add_argument("ledger", type=Path, nargs="?", metavar="LEDGER", help="ledger file (in your data folder)")
    releases.add_argument("--population", metavar="NAME", help="only releases about this population")
    releases.add_argument("--out", type=Path, metavar="FOLDER", help="also write numbers and certificates here")

    audit = commands.add_parser("audit", help="attack a study's noise and compare with its claim",
                                description="Attack simulated releases of a study with the best attack.")
    _add_study(audit)
    audit.add_argument("--attacks", type=int, default=20_000, metavar="N",
                       help="attacks on each neighbour (%(default)s)")
    audit.add_argument("--released", action="store_true", help="attack the hardened noise of real releases (slower)")
    audit.add_argument("--seed", type=int, default=0, help="seed of the simulated noise (%(default)s)")
    return parser


def _add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", type=Path, help="study or scenario that the app saved (JSON)")
    parser.add_argument("--data", type=Path, metavar="FILE",
                        help="your table (the one that the study names, in its folder)")
    parser.add_argument("--ranges", type=Path, metavar="FILE",
                        help='for a scenario: the columns to use, in order, as JSON like {"column": [low, high], ...}; '
                             "null reads a range from the data, which is not private")
    parser.add_argument("--decimal", choices=(".", ","), metavar="MARK", help='for a scenario: "." or "," (detected)')
    parser.add_argument("--header", choices=("yes", "no"), help="for a scenario: does the first row hold names?")
    parser.add_argument("--missing", choices=MISSING, default=None,
                        help="for a scenario: refuse missing values, fill in the middle of the range, or drop the "
                             "records, which makes their number not private (default: reject)")
    parser.add_argument("--directions", type=Path, metavar="FILE", help="file with your directions")
    parser.add_argument("--know-directions", action="store_true",
                        help="declare that you chose these directions without looking at the data; a wrong declaration "
                             "breaks the guarantee")


def _add_measured_on(parser: argparse.ArgumentParser, option: str) -> None:
    """Add the choice of simulated data (formerly ``stand-in``) or the data itself."""
    parser.add_argument(option, choices=("simulated", "data", "stand-in"), default="simulated",
                        metavar="{simulated,data}",
                        help="for your own file: show simulated data, or the data itself, which is not private "
                             "(%(default)s)")
