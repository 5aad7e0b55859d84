"""What each lever gains: the error from the paper's noise as printed, step by step, to a design; and without each.

A gain depends on the levers before, so each is also taken away from the whole design. All trials share random numbers.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Unpack

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.candidates import REDUCED, Candidate, key_of
from mvgviz.trials.problem import Problem, pose, pose_each
from mvgviz.trials.results import Difference, Outcome, paired
from mvgviz.trials.run import Options, resume
from mvgviz.trials.tasks import References, references_for

LEVERS = ("calibration", "query", "bound", "shape", "family", "use")


@dataclass(frozen=True)
class Stage:
    """A design on the way. ``lever``: new in it, or missing from it; "" for the first."""

    lever: str
    scenario: Scenario
    mechanism: str = "mvg"


@dataclass(frozen=True, kw_only=True, eq=False)
class Step(Stage):
    """A stage that was tried. ``other``: the step before or, without a lever, the whole design; None for the first."""

    outcome: Outcome = field(repr=False)
    other: Outcome | None = field(default=None, repr=False)

    @property
    def factor(self) -> float:
        """The error of ``other`` over this one's; 1 for the first."""
        if self.other is None:
            return 1.0
        here, there = self.outcome.mean, self.other.mean
        return there / here if here > 0 else math.inf if there > 0 else 1.0

    @property
    def difference(self) -> Difference | None:
        return None if self.other is None else paired(self.outcome, self.other)


@dataclass(frozen=True, kw_only=True, eq=False)
class Levers:
    """``steps``: to the design, which is the last. ``without``: the design without each of its levers."""

    steps: tuple[Step, ...]
    without: tuple[Step, ...]
    references: References
    complete: bool

    @property
    def design(self) -> Step:
        return self.steps[-1]

    @property
    def total(self) -> float:
        return math.prod(step.factor for step in self.steps)


def levers(scenario: Scenario, dataset: Dataset, *, mechanism: str = "mvg", sensitivity: str = "own",
           uploaded: Directions | None = None, problem: Problem | None = None, seconds: float = math.inf,
           **options: Unpack[Options]) -> Levers | None:
    """Return the way to a scenario's design without the stages that fail; None before a trial of it.

    ``problem``: the scenario's, whose sensitivity and directions then count.
    """
    if problem is None:
        problem = pose(scenario, dataset, sensitivity=sensitivity, uploaded=uploaded)
    judge = problem.judge
    if judge is None and problem.scenario.needs_along == "directions":
        problem = problem.whole
    way = way_to(problem, mechanism)
    stages = [*way, *without_each(way)]
    posed = pose_each([stage.scenario for stage in stages], dataset, known=problem)
    results = resume([replace(one, yardstick=judge, mechanisms=(stage.mechanism,))
                      for stage, one in zip(stages, posed, strict=True)],
                     seconds=seconds, at_once=len(stages), **options)
    outcomes = [None if found is None else found.outcomes[0] for found in results]
    design = outcomes[len(way) - 1]
    if design is not None and design.reason is not None:
        raise InputError(design.reason)
    if design is None or not design.errors.size:
        return None
    steps, without = list[Step](), list[Step]()
    for k, (stage, outcome) in enumerate(zip(stages, outcomes, strict=True)):
        if outcome is not None and outcome.errors.size:
            there, other = (without, design) if k >= len(way) else (steps, steps[-1].outcome if steps else None)
            there.append(Step(**vars(stage), outcome=outcome, other=other))
    return Levers(steps=tuple(steps), without=tuple(without), references=references_for(problem),
                  complete=all(found is not None and found.complete for found in results))


def way_to(problem: Problem, mechanism: str = "mvg") -> list[Stage]:
    """From the theorem as printed, on the first query that serves the task, to the design itself."""
    *before, last = _stages(problem, mechanism)
    return [*before, Stage(last.lever, problem.scenario, mechanism)]


def _stages(problem: Problem, mechanism: str) -> Iterator[Stage]:
    design, queries = problem.scenario, problem.scenario.use.queries
    queries = queries[: queries.index(design.query) + 1] if design.query in queries else (design.query,)
    aware = "aware" in design.use.post
    priority = design.priority or (design.priority_features if design.judged != "everything" else ())
    now = design.changed(bound="none", allocation="uniform", directions="standard", priority=priority,
                         family="gaussian",
                         post=tuple(step for step in design.post if not (aware and step == "aware")))
    road = [now.changed(query=query, mode=design.mode if query == design.query else "auto") for query in queries]
    if design.guarantee == "exact":
        yield Stage("", printed(road[0]), "iid")
    yield Stage("calibration" if design.guarantee == "exact" else "", road[0], "iid")
    for asked in road[1:]:
        yield Stage("query", asked, "iid")
    if mechanism == "mvg" and design.bound != "none" and not design.is_graph:
        now = now.changed(bound=design.bound, radius=design.radius)
        yield Stage("bound", now)
    plain = design.changed(post=now.post)
    if mechanism != "mvg" or _has_shape(problem, now):
        yield Stage("shape", plain.changed(family="gaussian"), mechanism)
    if plain.noise_family != now.noise_family:
        yield Stage("family", plain)
    if plain != design:
        yield Stage("use", design, mechanism)


def without_each(way: Sequence[Stage]) -> Iterator[Stage]:
    """The design at the end of a way without each of its levers."""
    design, mechanism = way[-1].scenario, way[-1].mechanism
    used = {stage.lever: before for before, stage in pairwise(way)}
    fields = {"bound": {"bound": "none"}, "family": {"family": "gaussian"}}
    if "family" in used:
        fields["shape"] = {"allocation": "uniform", "directions": "standard"}
    for lever in LEVERS:
        if lever not in used or (mechanism == REDUCED and lever == "calibration"):
            continue
        before = used[lever]
        if lever in fields:
            yield Stage(lever, design.changed(**fields[lever]))
        elif lever == "calibration":
            yield Stage(lever, printed(design), mechanism)
        elif lever == "query":
            yield Stage(lever, design.changed(query=before.scenario.query, mode=before.scenario.mode), mechanism)
        elif lever == "shape":
            yield Stage(lever, before.scenario.changed(post=design.post), before.mechanism)
        else:
            yield Stage(lever, before.scenario, mechanism)


def printed(scenario: Scenario) -> Scenario:
    """The same with the paper's calibration: Theorem 2 where it applies, else Theorem 1."""
    second = scenario.kind.psd and not scenario.kind.has_constant and scenario.mode in ("auto", "both")
    return scenario.changed(guarantee="theorem2" if second else "theorem1")


def _has_shape(problem: Problem, equal: Scenario) -> bool:
    """Whether the design's noise or bound differs between columns."""
    design, setup = problem.scenario, problem.setup(problem.scenario.guarantee, "gaussian")
    if equal.bound != "none":
        dataset = problem.dataset
        return key_of(Candidate(scenario=design.changed(post=equal.post)), dataset) != key_of(
            Candidate(scenario=equal), dataset)
    mine, same = (noise.direction_std() for noise in (setup.design, setup.iid))
    return design.directions != "standard" or not np.allclose(mine, same, rtol=1e-9)
