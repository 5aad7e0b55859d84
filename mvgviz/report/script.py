"""A scenario as a Python program or a notebook that needs no app: design, trials and, on demand, one release.

>>> from mvgviz import Scenario
>>> from mvgviz.report.script import DataSource, python_script
>>> program = python_script(Scenario.default_for("liver"), source=DataSource(name="liver"))
>>> "sample('liver')" in program
True

Names of files and columns are data: they stand in the program as quoted literals only. The
values of a file never do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from mvgviz.errors import InputError
from mvgviz.provenance import Origin, Range, Ranges
from mvgviz.query.dataset import MISSING
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import number, one_of
from mvgviz.version import VERSION

_WIDTH = 100


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """Where the data comes from. A bundled sample: its name. A file: its name and how it was read.

    ``columns``: the features, in order (None: all). ``ranges``: those that a person gave, with
    their origins (a pair is declared); the others are read from the file again, by the same rule,
    and count as not private. ``separator``, ``decimal``, ``header`` and ``member``: what was
    corrected by hand (None: as detected). ``directions``: the name of the file with the
    directions, where the scenario has such, and ``directions_origin`` where they come from.
    """

    name: str
    columns: tuple[str, ...] | None = None
    ranges: Ranges | None = None
    orientation: str = "rows"
    missing: str = "reject"
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    member: str | None = None
    directions: str = "directions.csv"
    directions_origin: Origin = Origin.DECLARED

    def __post_init__(self) -> None:
        texts = {name: getattr(self, name) for name in ("name", "separator", "decimal", "member", "directions")}
        for name, value in texts.items():
            if not (isinstance(value, str) or (value is None and name in ("separator", "decimal", "member"))):
                raise InputError(f"{name} of a data source must be text, got a {type(value).__name__}")
        if not (self.header is None or isinstance(self.header, bool)):
            raise InputError("header of a data source must be True, False or None")
        one_of("orientation", self.orientation, ("rows", "columns"))
        one_of("missing", self.missing, MISSING)
        if self.columns is not None:
            object.__setattr__(self, "columns", _names(self.columns))
        if self.ranges is not None:
            pairs = zip(_names(self.ranges), self.ranges.values(), strict=True)
            object.__setattr__(self, "ranges", {name: _range(ends) for name, ends in pairs})


def python_script(scenario: Scenario, *, source: DataSource) -> str:
    """A program: ``python program.py [data file] [--trials N] [--release out.csv]``."""
    own = scenario.is_upload
    usage = f"python program.py {'[data file] ' if own else ''}[--trials N] [--release out.csv]"
    top = "\n\n".join([
        f'"""Rebuilds a scenario of mvgviz: its noise, its trials and, if asked, one release.\n\n'
        f'    {usage}\n\nMade with mvgviz {VERSION}; needs: pip install "mvgviz[data,release]"\n"""',
        "import argparse\nimport sys\nfrom pathlib import Path", _imports(scenario, source),
        _constants(scenario, source)])
    parts = [top, _load(scenario, source), _DESIGN, _trials(scenario), _RELEASE, _main(scenario)]
    return "\n\n\n".join(parts) + "\n"


def notebook(scenario: Scenario, *, source: DataSource) -> str:
    """The same as a notebook (JSON text, nbformat 4): a few cells with a sentence each."""
    uploaded = ", directions=directions()" if scenario.directions == "upload" else ""
    more = ", uploaded=directions()" if scenario.directions == "upload" else ""
    load = "load(FILE)" if scenario.is_upload else "load()"
    cells = [
        ("markdown", "# A scenario of mvgviz\n\nThe noise of one private answer, how good the answer will be, and, "
                     f"if you want it, the answer itself. Made with mvgviz {VERSION}; needs "
                     '`pip install "mvgviz[data,release]"`.'),
        ("code", "import sys\nfrom pathlib import Path\n\n" + _imports(scenario, source)),
        ("markdown", "## What was chosen"),
        ("code", _constants(scenario, source)),
        ("markdown", "## The data" + ("\n\nChange `FILE` if yours lies elsewhere." if scenario.is_upload else "")),
        ("code", f"{_load(scenario, source)}\n\n\ndata = {load}"),
        ("markdown", "## The noise\n\nAlong which direction there is how much, and what that spends."),
        ("code", f"{_DESIGN}\n\n\nsetup = build(SCENARIO, data{more})\nshow_design(setup, data)"),
        ("markdown", "## How good the answer will be\n\nRepeated trials, measured on the data itself: **not private**, "
                     "for choosing only."),
        ("code", f"{_trials(scenario)}\n\n\nshow_trials(data, trials=SCENARIO.trials{uploaded})"),
        ("markdown", "## One release\n\nFresh noise, from the operating system: **every run of this cell with a file "
                     "name spends the budget again**. What was read from the data must be accepted by name."),
        ("code", f"{_RELEASE}\n\n\nrelease_to = None  # for example \"release.csv\"\naccept = []\nif release_to:\n"
                 "    make_release(setup, data, Path(release_to), accept)"),
    ]
    content = {
        "cells": [_cell(position, kind, text) for position, (kind, text) in enumerate(cells)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                     "language_info": {"name": "python"}},
        "nbformat": 4, "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


_DESIGN = '''def show_design(setup, data):
    """What is asked and spent, and the noise along each direction (the first 20)."""
    design = setup.design
    at_most = "" if design.mu_is == "exact" else "at most "
    print(f"query: {setup.query.name}, {design.rows} x {design.cols}; neighbours: {design.neighbour_rule}")
    print(f"epsilon asked: {SCENARIO.epsilon:.6g} at delta {setup.delta:.6g}")
    print(f"epsilon spent by the noise: {at_most}{setup.epsilon_spent:.6g}")
    print("; ".join(f"{what}: {origin.words}" for what, origin in setup.origins.items()))
    print("noise along each direction (standard deviation):")
    for name, std in list(zip(setup.direction_names, design.direction_std()))[:20]:
        print(f"  {name!r}: {std:.6g}")'''

_TRIALS = '''def show_trials(data, trials{argument}):
    """Mean error of directional noise and of noise of one size, against three references."""
    results = run_trials(SCENARIO, data, trials=trials{problem})
    print(f"{{results.task.metric}} in {{trials}} trials, measured on the data (not private):")
    for one in results.outcomes:
        low, high = one.interval
        print(f"  {{one.mechanism.label}}: {{one.mean:.6g}}, 95 % interval {{low:.6g}} to {{high:.6g}}")
    print(f"  without privacy: {{results.references.non_private:.6g}}")
    print(f"  trivial answer: {{results.references.trivial:.6g}}")
    print(f"  random guess: {{results.references.random_guess:.6g}}")'''

_RELEASE = '''def make_release(setup, data, out, accept=()):
    """One answer with fresh noise. Every call spends the budget again."""
    about = out.with_suffix(".json")
    if out == about or out.exists() or about.exists() or not out.parent.is_dir():
        raise InputError(f"{out} must be a new .csv file in a folder that is there, with no .json beside it")
    planned = plan(setup)
    print(f"a release spends epsilon {planned.epsilon:.6g} at delta {planned.delta:.6g}")
    symmetrise = setup.query.symmetric and "symmetrise" in SCENARIO.post
    given = release_setup(setup, accept=accept, symmetrise=symmetrise)
    out.write_text(to_csv(given), encoding="utf-8", newline="")
    about.write_text(to_metadata_json(given), encoding="utf-8")
    print(f"released: {given.guarantee}")'''

_MAIN = '''def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
{arguments}
    parser.add_argument("--trials", type=int, default=SCENARIO.trials, help="how often to try (%(default)s; 0: never)")
    parser.add_argument("--release", type=Path, metavar="out.csv", help="draw a real release: spends the budget")
    parser.add_argument("--accept", nargs="*", default=[], metavar="PART",
                        help="ranges, records, directions, split, choices: what no guarantee covers")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
{work}
    show_design(setup, data)
    if options.trials:
        show_trials(data, options.trials{directions})
    if options.release:
        make_release(setup, data, options.release, options.accept)


if __name__ == "__main__":
    try:
        main()
    except (InputError, OSError) as error:
        sys.exit(str(error))'''


def _imports(scenario: Scenario, source: DataSource) -> str:
    constants = _constants(scenario, source)
    used = [name for name, sign in (("Origin", "Origin."), ("Range", "Range(")) if sign in constants]
    given = scenario.directions == "upload"
    names = {"InputError", "Scenario", "build", "plan", "release_setup", "run_trials", "to_csv", "to_metadata_json",
             *used, *(("read_table", "table_to_dataset") if scenario.is_upload else ("sample",)),
             *(("from_matrix", "pose", "read_table") if given else ())}
    ordered = sorted(names, key=lambda name: (not name[0].isupper(), name))
    return f"from mvgviz import (\n{''.join(f'    {name},{chr(10)}' for name in ordered)})"


def _constants(scenario: Scenario, source: DataSource) -> str:
    chosen = "\n".join(f"    {field.name}={getattr(scenario, field.name)!r}," for field in fields(scenario))
    parts = [f"SCENARIO = Scenario(\n{chosen}\n)"]
    if scenario.is_upload:
        parts.append(f"FILE = {source.name!r}")
        parts.append(f"COLUMNS = {_listing(map(repr, source.columns), '[]') if source.columns is not None else None}")
        ranges = None if source.ranges is None else _listing(
            (f"{name!r}: {_range_text(_range(ends))}" for name, ends in source.ranges.items()), "{}")
        parts.append(f"RANGES = {ranges}  # what is not here is read from the file, which is not private")
    if scenario.directions == "upload":
        parts.append(f"DIRECTIONS = {source.directions!r}  # an orthonormal matrix, one direction a column")
        parts.append(f"DIRECTIONS_ORIGIN = {_origin_text(source.directions_origin)}")
    return "\n".join(parts)


def _load(scenario: Scenario, source: DataSource) -> str:
    if not scenario.is_upload:
        text = f'def load():\n    """A sample that comes with mvgviz."""\n    return sample({scenario.data!r})'
    else:
        reading = {name: getattr(source, name) for name in ("separator", "decimal", "header", "member")
                   if getattr(source, name) is not None}
        use = {name: value for name, value, usual in (("orientation", source.orientation, "rows"),
                                                      ("missing", source.missing, "reject")) if value != usual}
        text = "\n".join([
            "def load(file):",
            '    """The table as it was used: its columns, its ranges; values outside are clipped."""',
            f"    table = read_table(file{_keywords(reading)})",
            f"    return table_to_dataset(table, columns=COLUMNS, ranges=RANGES{_keywords(use)})",
        ])
    if scenario.directions != "upload":
        return text
    return (f'{text}\n\n\ndef directions(file=DIRECTIONS):\n    """The directions that were uploaded."""\n'
            "    return from_matrix(read_table(file).values, origin=DIRECTIONS_ORIGIN)")


def _trials(scenario: Scenario) -> str:
    given = scenario.directions == "upload"
    return _TRIALS.format(argument=", directions" if given else "",
                          problem=", problem=pose(SCENARIO, data, uploaded=directions)" if given else "")


def _main(scenario: Scenario) -> str:
    arguments, load, given = [], "load()", scenario.directions == "upload"
    if scenario.is_upload:
        arguments.append('    parser.add_argument("file", nargs="?", default=FILE, help="the table (%(default)r)")')
        load = "load(options.file)"
    if given:
        arguments.append('    parser.add_argument("--directions", default=DIRECTIONS, help="a file of directions")')
    work = [f"    data = {load}"]
    if given:
        work.append("    along = directions(options.directions)")
    work.append(f"    setup = build(SCENARIO, data{', uploaded=along' * given})")
    return _MAIN.format(arguments="\n".join(arguments), work="\n".join(work), directions=", along" * given).replace(
        "RawDescriptionHelpFormatter)\n\n", "RawDescriptionHelpFormatter)\n")


def _keywords(arguments: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in arguments.items())


def _listing(items: Iterable[str], brackets: str) -> str:
    """On one line if it fits, else one item a line."""
    texts = list(items)
    line = f"{brackets[0]}{', '.join(texts)}{brackets[1]}"
    if len(line) <= _WIDTH:
        return line
    lines = "".join(f"    {text},\n" for text in texts)
    return f"{brackets[0]}\n{lines}{brackets[1]}"


def _cell(position: int, kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{position}", "metadata": {},
                            "source": text.splitlines(keepends=True)}
    return cell | {"execution_count": None, "outputs": []} if kind == "code" else cell


def _names(names: Iterable[Any]) -> tuple[str, ...]:
    found = tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise InputError("columns and ranges of a data source must be named by text")
    return found


def _range(ends: Any) -> Range:
    try:
        low, high, *origin = ends
        one = Range(number("the low end of a range", low), number("the high end of a range", high), *origin)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("the range of a column must be a pair (low, high)") from None
    if not isinstance(one.origin, Origin):
        raise InputError("the range of a column must be a pair (low, high), or a Range with its Origin")
    return one


def _range_text(one: Range) -> str:
    """A pair where it is declared."""
    ends = f"{one.low!r}, {one.high!r}"
    return f"({ends})" if one.origin is Origin.DECLARED else f"Range({ends}, {_origin_text(one.origin)})"


def _origin_text(origin: Origin) -> str:
    return f"Origin.{origin.name}"
