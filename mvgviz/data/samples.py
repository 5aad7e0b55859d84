"""The bundled datasets: their people, features and records, as ``sample_data/catalogue.json`` describes them."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from mvgviz.query.dataset import Dataset
from mvgviz.validation import one_of
from mvgviz.version import TOP

_FOLDER = TOP / "sample_data"


@dataclass(frozen=True, kw_only=True)
class FeatureInfo:
    """One feature: its meaning, its public range, and the source of that range (not the data)."""

    name: str
    meaning: str
    unit: str
    lower: float
    upper: float
    range_source: str


@dataclass(frozen=True, kw_only=True)
class SampleInfo:
    """What is public about a bundled dataset; ``not_person_level``: protecting a record does not protect a person."""

    name: str
    title: str
    summary: str
    story: str
    record: str
    not_person_level: bool
    source: str
    citation: str
    licence: str
    simulated: bool
    kind: Literal["table", "graph"]
    features: tuple[FeatureInfo, ...]
    label: str | None
    priority: tuple[str, ...]
    file: str


def samples() -> tuple[str, ...]:
    """Return the names of the bundled datasets, the simplest first."""
    return tuple(_catalogue())


def describe(name: str) -> SampleInfo:
    """Return what is public about the dataset ``name``."""
    return _catalogue()[one_of("sample", name, samples())]


def sample(name: str) -> Dataset:
    """Return the dataset ``name``, features × records, clipped to its public ranges."""
    return _load(describe(name).name)


@lru_cache(maxsize=16)  # more than there are
def _load(name: str) -> Dataset:
    info = describe(name)
    names, lower, upper, units = zip(*((each.name, each.lower, each.upper, each.unit) for each in info.features),
                                     strict=True)
    with (_FOLDER / info.file).open(encoding="utf-8") as file:
        header = file.readline().rstrip("\n").split(",")
        records = np.loadtxt(file, delimiter=",", usecols=[header.index(column) for column in names])
    return Dataset(matrix=records.T, features=names, lower=lower, upper=upper, units=units).clipped()


@lru_cache(maxsize=1)
def _catalogue() -> dict[str, SampleInfo]:
    catalogue = {}
    for entry in json.loads((_FOLDER / "catalogue.json").read_text(encoding="utf-8")):
        entry.pop("left_out", None)  # columns that are no features
        entry["features"] = tuple(FeatureInfo(**feature) for feature in entry["features"])
        entry["priority"] = tuple(entry["priority"])
        catalogue[entry["name"]] = SampleInfo(**entry)
    return catalogue
