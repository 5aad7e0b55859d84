"""One file for a study: where the data comes from, the scenario, the plan of questions, notes. No data is in it."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from mvgviz.data import sample, samples
from mvgviz.data.readers import File
from mvgviz.errors import InputError, refuse
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.codec import VERSION, Saved, check_fields, check_parts, held, text
from mvgviz.scenario.plan import QuestionPlan
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.validation import MOST_POPULATION, instance
from mvgviz.version import VERSION as MADE_WITH

MOST_NOTES = 20_000  # characters of a study's notes


@dataclass(frozen=True, kw_only=True)
class Study(Saved):
    """``population``: whose data it is, as the person calls them; releases about them share one budget."""

    called: ClassVar = "a study"

    scenario: Scenario
    source: DataSource = field(repr=False)
    plan: QuestionPlan | None = None
    population: str = held("", text("a study", most=MOST_POPULATION))
    notes: str = held("", text("a study", most=MOST_NOTES))

    def __post_init__(self) -> None:
        instance("the scenario of a study", self.scenario, Scenario)
        instance("the source of a study", self.source, DataSource)
        check_fields(self)
        refuse(not self.scenario.is_upload and self.source.name != self.scenario.data, "the study's data is called "
               f"{self.source.name!r} and its scenario is about {self.scenario.data!r}; both must be the same sample")
        refuse(self.plan is not None and self.plan.data != self.scenario.data,
               "the plan of a study must be about the data of its scenario")

    @classmethod
    def of_sample(cls, scenario: Scenario, **held: Any) -> Self:
        return cls(scenario=scenario, source=DataSource(name=scenario.data), **held)

    def data(self, file: File | None = None) -> Dataset:
        """Return the data: the sample, or ``file`` read and used as the study says."""
        if not self.scenario.is_upload:
            return sample(self.scenario.data)
        if file is None:
            raise InputError(f"the study is about the file {self.source.name}, which is not in it: name that file")
        return self.source.dataset(self.source.read(file))

    def to_dict(self) -> dict[str, Any]:
        return {"mvgviz_study": VERSION, "made_with": MADE_WITH, "data": self.source.to_dict(),
                "scenario": self.scenario.to_dict(), "plan": None if self.plan is None else self.plan.to_dict(),
                "population": self.population, "notes": self.notes}

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """Return the study, or one of the sample that a scenario is about; refuse other versions and unknown parts."""
        if not isinstance(content, dict):
            raise InputError(f"{cls.called} must be JSON, as downloaded from mvgviz, and small")
        if "mvgviz_study" not in content:
            scenario = Scenario.from_dict(content)
            if scenario.is_upload:
                raise InputError("this is a scenario, which does not know how its file was read; save a study instead")
            study = cls.of_sample(scenario)
        else:
            parts = dict.fromkeys(("data", "scenario", "plan", "population", "notes"), object)
            check_parts({"made_with": "", **content}, cls.called, "mvgviz_study", made_with=object, **parts)
            plan = None if content["plan"] is None else QuestionPlan.from_dict(content["plan"])
            study = cls(scenario=Scenario.from_dict(content["scenario"]), plan=plan, notes=content["notes"],
                        source=DataSource.from_dict(content["data"]), population=content["population"])
        refuse(not (study.scenario.is_upload or study.scenario.data in samples()),
               f"the study names data that is not here: {study.scenario.data}")
        return study
