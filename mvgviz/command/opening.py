"""Open what a command is about: a study, or a scenario with the options that say how to read its file."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from mvgviz.command import read_bytes, say
from mvgviz.data import read_table, sample, table_to_dataset
from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions, from_matrix
from mvgviz.provenance import Origin
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.scenario.study import Study
from mvgviz.validation import parsed_json


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A scenario with its data, its study, and directions from a file."""

    scenario: Scenario
    dataset: Dataset
    directions: Directions | None
    study: Study | None = None

    @property
    def source(self) -> DataSource:
        """Return how the data is read, for a program."""
        if self.study is not None:
            return self.study.source
        if self.scenario.is_upload:
            raise InputError("a program needs a study, which says how to read its file; save a study in the app")
        return DataSource(name=self.scenario.data)


def opened_study(chosen: argparse.Namespace) -> Opened:
    """Read what the command line names."""
    text = read_bytes(chosen.study)
    try:
        held = parsed_json(text, "")
    except InputError:  # from_json says what is wrong
        held = None
    if not (isinstance(held, dict) and "mvgviz_study" in held):
        scenario = Scenario.from_json(text)
        return Opened(scenario=scenario, dataset=_dataset(scenario, chosen),
                      directions=_directions(scenario, chosen, Origin.READ))
    study = Study.from_json(text)
    for name in ("ranges", "decimal", "header", "missing"):
        if getattr(chosen, name) is not None:
            raise InputError(f"--{name} is for scenarios; a study says how to read its file")
    return Opened(scenario=study.scenario, dataset=_study_data(study, chosen), study=study,
                  directions=_directions(study.scenario, chosen, study.source.directions_origin))


def _study_data(study: Study, chosen: argparse.Namespace) -> Dataset:
    if not study.scenario.is_upload:
        if chosen.data is not None:
            raise InputError(f"--data is for studies of a file; this one uses the sample {study.scenario.data}")
        return study.data()
    file = chosen.data or file_beside(study, chosen.study)
    if file is None:
        raise InputError(f"the file {study.source.name} of this study is not beside it; name it with --data")
    return study.data(file)


def file_beside(study: Study, path: Path) -> Path | None:
    """Return the study's file from the folder of ``path`` and print its name; None if it is not there."""
    beside = path.parent / Path(study.source.name).name
    if not beside.is_file():
        return None
    say(f"data: {beside}")
    return beside


def _dataset(scenario: Scenario, chosen: argparse.Namespace) -> Dataset:
    if not scenario.is_upload:
        for name in ("data", "ranges"):
            if getattr(chosen, name) is not None:
                raise InputError(f"--{name} is for scenarios of a file; this one uses the sample {scenario.data}")
        return sample(scenario.data)
    if chosen.data is None:
        raise InputError("the scenario is about an uploaded table; name the file with --data")
    header, missing = {"yes": True, "no": False}.get(chosen.header), chosen.missing or "reject"
    table = read_table(chosen.data, decimal=chosen.decimal, header=header)
    if scenario.is_graph and chosen.ranges is None:
        return table_to_dataset(table, missing=missing)
    if chosen.ranges is None:
        raise InputError("the scenario does not hold the columns and their ranges; name a JSON file like "
                         '{"column": [low, high]} with --ranges, or run the exported program')
    ranges = _ranges(chosen.ranges)
    return table_to_dataset(table, columns=list(ranges), missing=missing,
                            ranges={name: pair for name, pair in ranges.items() if pair is not None})


def _ranges(path: Path) -> dict[str, tuple[float, float] | None]:
    """Return columns in order; None stands for a range to read from the data."""
    refusal = f'{path} must be JSON like {{"column": [low, high], ...}}'
    content = parsed_json(read_bytes(path), refusal)
    if not (isinstance(content, dict) and content and all(
            pair is None or (isinstance(pair, list) and len(pair) == 2) for pair in content.values())):
        raise InputError(refusal)
    return {name: None if pair is None else (pair[0], pair[1]) for name, pair in content.items()}


def _directions(scenario: Scenario, chosen: argparse.Namespace, origin: Origin) -> Directions | None:
    if scenario.directions != "upload":
        return None
    if chosen.directions is None:
        raise InputError("the scenario takes directions from a file; name it with --directions")
    return from_matrix(read_table(chosen.directions).values,
                       origin=Origin.DECLARED if chosen.know_directions else origin)
