"""The three errors of a task, on what is needed, on the rest and on everything, beside those of equal noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from mvgviz.errors import InputError
from mvgviz.trials.outcomes import Outcome, Results
from mvgviz.trials.question import Problem
from mvgviz.trials.resumable import Point
from mvgviz.trials.tasks import measure_for

PARTS = ("needed", "rest", "everything")
TRIED = ("mvg", "iid", "reduced-gaussian")
"""This design, equal noise on the records as they are, and only the needed released."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PartErrors:
    """What was found on one part. ``only``: None where the needed cannot be released alone. ``unit``: of the errors."""

    part: str
    ours: Outcome = field(repr=False)
    equal: Outcome = field(repr=False)
    only: Outcome | None = field(repr=False)
    non_private: float
    unit: str

    def ratio(self, outcome: Outcome) -> float:
        """Its mean error as a multiple of that of equal noise; NaN where there is none."""
        return outcome.mean / self.equal.mean if self.equal.mean > 0 else math.nan


def part_points(problem: Problem) -> tuple[dict[str, Point], dict[str, str]]:
    """What is to be measured on each part, and why some parts cannot be judged."""
    points, reasons = {}, {}
    for part in PARTS:
        posed = problem.with_scenario(problem.scenario.changed(judged=part))
        try:
            if part != posed.judged_on:
                raise InputError(posed.unfit or "some features must be needed: not all, not none")
            measure_for(posed)
        except InputError as error:
            reasons[part] = str(error)
        else:
            points[part] = Point(posed, TRIED)
    return points, reasons


def part_errors(found: Sequence[Results]) -> list[PartErrors]:
    """In the order needed, rest, everything, as far as there are trials."""
    known = {results.scenario.judged: results for results in found if results["mvg"].errors.size}
    return [PartErrors(part=part, ours=results["mvg"], equal=results["iid"],
                       only=results["reduced-gaussian"] if results["reduced-gaussian"].errors.size else None,
                       non_private=results.references.non_private, unit=results.references.unit)
            for part in PARTS if (results := known.get(part)) is not None]
