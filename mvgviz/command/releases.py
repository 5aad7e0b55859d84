"""``mvgviz releases``: the answers that a ledger keeps, as a list or as files."""

import argparse
import sys
from pathlib import Path

from mvgviz.command import say, write_bytes
from mvgviz.errors import InputError
from mvgviz.release.files import files_of
from mvgviz.release.ledger import Ledger, ledger_from_environment
from mvgviz.release.ledger_file import usual_place


def releases(chosen: argparse.Namespace) -> int:
    """Print a line for each kept answer; with ``--out`` write its files."""
    ledger = _ledger(chosen.ledger)
    names = ledger.populations if chosen.population is None else (chosen.population,)
    kept = sorted({one.number: (name, one) for name in names for one in ledger.releases(name)}.items())
    if not kept:
        say("mvgviz releases: this ledger keeps no released answers")
    for number, (name, one) in kept:
        rows, cols = one.noisy.shape
        sys.stdout.write(f"{number}\t{one.time}\t{name}\t{one.title or one.data}\t{one.query}\t{rows} x {cols}\t"
                         f"{one.guarantee}\n")
        if chosen.out is not None:
            for _, _, file, _, content in files_of(number or 0, one):
                write_bytes(chosen.out / file, content())
    return 0


def _ledger(path: Path | None) -> Ledger:
    found = Ledger(path) if path is not None else ledger_from_environment()
    found = found if found.lasts else Ledger(usual_place())
    if found.path is None or not found.path.is_file():
        raise InputError("no ledger found; name its file: mvgviz releases FILE")
    return found
