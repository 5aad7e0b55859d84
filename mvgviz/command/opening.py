"""What a command is about: a study, or a scenario with what it does not know of its file."""

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
    """A study's scenario with its data, and directions from a file where it has such."""

    scenario: Scenario
    dataset: Dataset
    directions: Directions | None
    study: Study | None = None

    @property
    def source(self) -> DataSource:
        """Where the data comes from, for a program."""
        if self.study is not None:
            return self.study.source
        if self.scenario.is_upload:
            raise InputError("a program needs a study, which knows how its file is read; this is a scenario")
        return DataSource(name=self.scenario.data)


def opened_study(chosen: argparse.Namespace) -> Opened:
    """What the command line names, read."""
    text = read_bytes(chosen.study)
    try:
        held = parsed_json(text, "")
    except InputError:  # what is wrong with it is said where it is read
        held = None
    if not (isinstance(held, dict) and "mvgviz_study" in held):
        scenario = Scenario.from_json(text)
        return Opened(scenario=scenario, dataset=_dataset(scenario, chosen),
                      directions=_directions(scenario, chosen, Origin.READ))
    study = Study.from_json(text)
    for name in ("ranges", "decimal", "header", "missing"):
        if getattr(chosen, name) is not None:
            raise InputError(f"--{name} is for scenarios; a study knows how its file is read")
    return Opened(scenario=study.scenario, dataset=_study_data(study, chosen), study=study,
                  directions=_directions(study.scenario, chosen, study.source.directions_origin))


def _study_data(study: Study, chosen: argparse.Namespace) -> Dataset:
    if not study.needs_file:
        if chosen.data is not None:
            raise InputError(f"--data is for studies of a file, and this one has the sample {study.scenario.data}")
        return study.data()
    file = chosen.data or file_beside(study, chosen.study)
    if file is None:
        raise InputError(f"the study is about the file {study.source.name}, which is not in it and not beside it; name "
                         "it with --data")
    return study.data(file)


def file_beside(study: Study, path: Path) -> Path | None:
    """The file of the study at ``path`` in the study's own folder, said; None where it is not there."""
    beside = path.parent / Path(study.source.name).name
    if not beside.is_file():
        return None
    say(f"data: {beside}")
    return beside


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
    header, missing = {"yes": True, "no": False}.get(chosen.header), chosen.missing or "reject"
    table = read_table(chosen.data, decimal=chosen.decimal, header=header)
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
    refusal = f'{path} must be JSON as {{"column": [low, high], ...}}'
    content = parsed_json(read_bytes(path), refusal)
    if not (isinstance(content, dict) and content and all(
            pair is None or (isinstance(pair, list) and len(pair) == 2) for pair in content.values())):
        raise InputError(refusal)
    return {name: None if pair is None else (pair[0], pair[1]) for name, pair in content.items()}


def _directions(scenario: Scenario, chosen: argparse.Namespace, origin: Origin) -> Directions | None:
    if scenario.directions != "upload":
        return None
    if chosen.directions is None:
        raise InputError("the scenario has directions from a file, which are not in it; name it with --directions")
    return from_matrix(read_table(chosen.directions).values,
                       origin=Origin.DECLARED if chosen.know_directions else origin)
