"""Open what a command is about: a study, or a scenario with the options that say how to read its file."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from mvgviz.command import read_bytes, say
from mvgviz.data import read_table
from mvgviz.errors import InputError, refuse
from mvgviz.noise.directions import Directions, from_matrix
from mvgviz.provenance import Origin
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.scenario.study import Study
from mvgviz.validation import parsed_json

_OF_SCENARIOS = ("ranges", "decimal", "header", "missing")  # options


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A study with its data, and directions from a file."""

    study: Study
    dataset: Dataset
    directions: Directions | None


def opened_study(chosen: argparse.Namespace) -> Opened:
    """Read what the command line names."""
    held = parsed_json(read_bytes(chosen.study), f"{chosen.study} is no study or scenario: give the "
                       "JSON file that the app saved")
    if isinstance(held, dict) and "mvgviz_study" in held:
        study = Study.from_dict(held)
        for name in _OF_SCENARIOS:
            refuse(getattr(chosen, name) is not None,
                   f"--{name} is for scenarios; a study says how to read its file")
        file = chosen.data or (file_beside(study, chosen.study) if study.scenario.is_upload else None)
    else:
        study, file = _study_of_options(Scenario.from_dict(held), chosen), chosen.data
    if study.scenario.is_upload:
        refuse(file is None, f"the file {study.source.name} of this study is not beside it; name it with --data")
    else:
        for name in ("data", "ranges"):
            refuse(getattr(chosen, name) is not None,
                   f"--{name} is for studies of a file; this one uses the sample {study.scenario.data}")
    return Opened(study=study, dataset=study.data(file), directions=_directions(study, chosen))


def file_beside(study: Study, path: Path) -> Path | None:
    """Return the study's file from the folder of ``path`` and print its name; None if it is not there."""
    beside = path.parent / Path(study.source.name).name
    if not beside.is_file():
        return None
    say(f"data: {beside}")
    return beside


def _study_of_options(scenario: Scenario, chosen: argparse.Namespace) -> Study:
    if not scenario.is_upload:
        return Study.of_sample(scenario)
    refuse(chosen.data is None, "the scenario is about an uploaded table; name the file with --data")
    refuse(chosen.ranges is None and not scenario.is_graph, "the scenario does not hold the columns and their ranges; "
           'name a JSON file like {"column": [low, high]} with --ranges, or run the exported program')
    ranges = {} if chosen.ranges is None else _ranges(chosen.ranges)
    return Study(scenario=scenario, source=DataSource(
        name=chosen.data.name, decimal=chosen.decimal, header={"yes": True, "no": False}.get(chosen.header),
        missing=chosen.missing or "reject", columns=tuple(ranges) or None,
        ranges={name: pair for name, pair in ranges.items() if pair is not None} or None))


def _ranges(path: Path) -> dict[str, tuple[float, float] | None]:
    """Return columns in order; None stands for a range to read from the data."""
    refusal = f'{path} must be JSON like {{"column": [low, high], ...}}'
    content = parsed_json(read_bytes(path), refusal)
    if not (isinstance(content, dict) and content and all(
            pair is None or (isinstance(pair, list) and len(pair) == 2) for pair in content.values())):
        raise InputError(refusal)
    return {name: None if pair is None else (pair[0], pair[1]) for name, pair in content.items()}


def _directions(study: Study, chosen: argparse.Namespace) -> Directions | None:
    if study.scenario.directions != "upload":
        return None
    refuse(chosen.directions is None, "the scenario takes directions from a file; name it with --directions")
    return from_matrix(read_table(chosen.directions).values,
                       origin=Origin.DECLARED if chosen.know_directions else study.source.directions_origin)
