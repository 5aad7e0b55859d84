"""The command line: what is asked for, and one sentence where that does not work."""

import argparse
import os
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from mvgviz.command import BAD_INPUT, STOPPED, say
from mvgviz.errors import InputError
from mvgviz.query.dataset import MISSING
from mvgviz.version import VERSION

_ABOUT = "Directional noise for private matrices, made visible. Without a command: opens the app in the browser."


class _Parser(argparse.ArgumentParser):
    """An error is one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for; returns the exit code."""
    chosen = _parser().parse_args(arguments)
    name = f"mvgviz {chosen.command}" if chosen.command else "mvgviz"
    module = chosen.command or "app"  # each command brings in what it needs and no more
    try:
        return int(getattr(import_module(f"mvgviz.command.{module}"), module)(chosen))
    except InputError as error:
        say(f"{name}: {error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        say(f"{name}: stopped")
        return STOPPED


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="mvgviz", description=_ABOUT)
    parser.add_argument("--version", action="version", version=f"mvgviz {VERSION}")
    parser.add_argument("--port", type=int, help="of the app (8501, or the next free one)")
    parser.add_argument("--host", default="localhost",
                        help="whom the app listens to; others than this computer, with a warning (%(default)s)")
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME",
                        help="another name by which the app may be opened; can be repeated")
    parser.add_argument("--data", type=Path, metavar="FILE", help="a table to begin with")
    parser.add_argument("--study", type=Path, metavar="FILE", help="a saved study to begin with")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--ledger", type=Path, metavar="FILE", help="where releases are counted (your data folder)")
    kept.add_argument("--no-ledger", action="store_true", help="count them for each visit alone: for a class")
    parser.add_argument("--login", action="store_true", help="ask people who they are (docs/deployment.md)")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser, title="commands")

    serve = commands.add_parser("serve", help="the app for many people: several servers behind one address",
                                description="Several servers of the app behind one address, with nginx.")
    serve.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N",
                       help="servers, one for each processor (%(default)s)")
    as_before: dict[str, Any] = {"default": argparse.SUPPRESS, "help": "as without a command"}
    for name, kind in (("port", int), ("host", str), ("ledger", Path)):
        serve.add_argument(f"--{name}", type=kind, **as_before)
    serve.add_argument("--allow-host", action="append", metavar="NAME", **as_before)
    for name in ("no-ledger", "login"):
        serve.add_argument(f"--{name}", action="store_true", **as_before)

    run = commands.add_parser("run", help="a study's trials, and a report",
                              description="The trials of a study, or of a scenario, without the app.")
    _add_study(run)
    run.add_argument("--trials", type=int, metavar="N", help="how often to try; the study's number by default")
    run.add_argument("--cluster", metavar="ADDRESS",
                     help="run the trials on a Dask cluster: its scheduler, as tcp://host:8786")
    run.add_argument("--report", type=Path, metavar="out.html", help="write a report, too")
    run.add_argument("--program", type=Path, metavar="out.py", help="write the study as a program of its own, too")
    run.add_argument("--notebook", type=Path, metavar="out.ipynb", help="and as a notebook")
    run.add_argument("--report-on", choices=("stand-in", "data"), default="stand-in",
                     help="what the report's pictures and errors are measured on: simulated records with the same "
                          "ranges and number, or the data itself, which is not private (%(default)s)")

    experiments = commands.add_parser("experiments", help="the paper's three experiments as tables")
    experiments.add_argument("--trials", type=int, default=100, help="for each figure (%(default)s)")
    experiments.add_argument("--seed", type=int, default=0, help="of the random numbers (%(default)s)")

    audit = commands.add_parser("audit", help="attack a study's noise, and compare with what it claims",
                                description="Attack simulated releases of a study with the best attack.")
    _add_study(audit)
    audit.add_argument("--attacks", type=int, default=20_000, metavar="N", help="on each neighbour (%(default)s)")
    audit.add_argument("--released", action="store_true", help="attack the hardened noise of real releases: slower")
    audit.add_argument("--seed", type=int, default=0, help="of the simulated noise (%(default)s)")
    return parser


def _add_study(parser: argparse.ArgumentParser) -> None:
    """What a study needs beside its file."""
    parser.add_argument("study", type=Path, help="a study or a scenario, as saved by the app (JSON)")
    parser.add_argument("--data", type=Path, metavar="FILE",
                        help="the table of a study with a file of one's own (by default the file of that name beside "
                             "the study)")
    parser.add_argument("--ranges", type=Path, metavar="FILE",
                        help='for a scenario: JSON as {"column": [low, high], ...}, the columns to use in this order '
                             "with their declared ranges; null for one to be read from the data, which is not private")
    parser.add_argument("--decimal", choices=(".", ","), help="for a scenario: the decimal mark (detected)")
    parser.add_argument("--header", choices=("yes", "no"), help="for a scenario: whether the first row holds names")
    parser.add_argument("--missing", choices=MISSING, default=None,
                        help="for a scenario: refuse gaps, fill them with the middle of their range, or leave those "
                             "records out, which makes the number of records not private (reject)")
    parser.add_argument("--directions", type=Path, metavar="FILE", help="the file of given directions")
    parser.add_argument("--know-directions", action="store_true",
                        help="state that those directions are known without looking at the data")
