"""One file for a study: where the data comes from, the scenario, the plan of questions, notes. No data is in it.

>>> from mvgviz import Scenario, Study
>>> study = Study.of_sample(Scenario.default_for("liver"), notes="for the lecture")
>>> Study.from_json(study.to_json()) == study, study.data().n_records
(True, 345)
"""

import json
from dataclasses import dataclass, field
from typing import Any, Self

from mvgviz.data import sample, samples
from mvgviz.data.readers import File
from mvgviz.errors import InputError
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.plan import QuestionPlan
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.validation import MOST_POPULATION, instance, parsed_json
from mvgviz.version import VERSION as MADE_WITH

VERSION = 1
MOST_NOTES = 20_000
"""Characters of a study's notes."""
_PARTS = {"data", "scenario", "plan", "population", "notes"}


@dataclass(frozen=True, kw_only=True)
class Study:
    """``population``: whose data it is, as the person calls them; releases about them share one budget."""

    scenario: Scenario
    source: DataSource = field(repr=False)
    plan: QuestionPlan | None = None
    population: str = ""
    notes: str = ""

    def __post_init__(self) -> None:
        instance("the scenario of a study", self.scenario, Scenario)
        instance("the source of a study", self.source, DataSource)
        for name, most in (("population", MOST_POPULATION), ("notes", MOST_NOTES)):
            text = getattr(self, name)
            if not (isinstance(text, str) and len(text) <= most):
                raise InputError(f"{name} of a study must be text of at most {most} characters")
        if not self.scenario.is_upload and self.source.name != self.scenario.data:
            raise InputError(f"the study's data is called {self.source.name!r} and its scenario is about "
                             f"{self.scenario.data!r}; both must be the same sample")
        if self.plan is not None and self.plan.data != self.scenario.data:
            raise InputError("the plan of a study must be about the data of its scenario")

    @classmethod
    def of_sample(cls, scenario: Scenario, **held: Any) -> Self:
        """A study of data that comes with the package."""
        return cls(scenario=scenario, source=DataSource(name=scenario.data), **held)

    @property
    def needs_file(self) -> bool:
        """Whether the data is a person's own file, which has to be brought along."""
        return self.scenario.is_upload

    def data(self, file: File | None = None) -> Dataset:
        """The data: the sample, or ``file`` read and used as the study says."""
        if not self.needs_file:
            return sample(self.scenario.data)
        if file is None:
            raise InputError(f"the study is about the file {self.source.name}, which is not in it: name that file")
        return self.source.dataset(self.source.read(file))

    def to_json(self) -> str:
        """Everything; only what was said of the data, never its values."""
        return json.dumps({
            "mvgviz_study": VERSION, "made_with": MADE_WITH, "data": self.source.to_dict(),
            "scenario": json.loads(self.scenario.to_json()),
            "plan": None if self.plan is None else json.loads(self.plan.to_json()),
            "population": self.population, "notes": self.notes}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The study of a JSON text; a scenario of a sample is one, too. Refuses other versions and unknown parts."""
        held = _object(text)
        if "mvgviz_study" not in held:
            scenario = Scenario.from_json(text)
            if scenario.is_upload:
                raise InputError("this is a scenario, which does not know how its file was read; save a study instead")
            return cls._checked(scenario=scenario, source=DataSource(name=scenario.data))
        if held["mvgviz_study"] != VERSION:
            raise InputError(f"a study must have version {VERSION}, got another; open it with the mvgviz that saved it")
        if set(held) - {"mvgviz_study", "made_with"} != _PARTS:
            raise InputError(f"a study must hold {', '.join(sorted(_PARTS))}, and nothing else")
        plan = None if held["plan"] is None else QuestionPlan.from_json(json.dumps(held["plan"]))
        return cls._checked(scenario=Scenario.from_json(json.dumps(held["scenario"])), plan=plan,
                            source=DataSource.from_dict(held["data"]), population=held["population"],
                            notes=held["notes"])

    @classmethod
    def _checked(cls, *, scenario: Scenario, **held: Any) -> Self:
        if not scenario.is_upload and scenario.data not in samples():
            raise InputError(f"the study names data that is not here: {scenario.data}")
        return cls(scenario=scenario, **held)


def _object(text: str | bytes) -> dict[str, Any]:
    refusal = "a study must be a small JSON file, as saved by mvgviz"
    held = parsed_json(text, refusal)
    if not isinstance(held, dict):
        raise InputError(refusal)
    return held
