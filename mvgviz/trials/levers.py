"""What each lever gains: the error step by step from the paper's noise as printed down to a design, and without each.

>>> from mvgviz import Scenario
>>> from mvgviz.data import sample
>>> from mvgviz.trials.levers import levers
>>> found = levers(Scenario.default_for("liver").changed(trials=20), sample("liver"))
>>> [step.lever for step in found.steps]
['', 'calibration', 'query', 'shape', 'use']

The order is fixed: calibration, query, bound, shape, use; what a lever gains depends on what was there before, so each
is also taken away from the whole design. All meet the same random numbers.
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
from mvgviz.trials.run import Options, Point, resume
from mvgviz.trials.tasks import TASKS, References, references_for

LEVERS = ("calibration", "query", "bound", "shape", "use")

_ROADS = {"linear-ridge": ("identity", "covariance", "moments")} | dict.fromkeys(
    ("first-component", "covariance-estimation", "subspace"), ("identity", "covariance"))
"""The queries that serve a task with the same truth, from the most to the least noise that they usually need."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A design on the way. ``lever``: what is new in it (or missing); none for the first."""

    lever: str
    scenario: Scenario
    mechanism: str = "mvg"


@dataclass(frozen=True, kw_only=True, eq=False)
class Step(Stage):
    """A stage that was tried. ``factor``: the error of ``other`` over this one's, and what the trials say of the two.

    ``other`` is the step before or, for a design without a lever, the whole design; None for the first step.
    """

    outcome: Outcome = field(repr=False)
    other: Outcome | None = field(default=None, repr=False)

    @property
    def factor(self) -> float:
        """1 for the first; above 1: this one errs less."""
        if self.other is None:
            return 1.0
        here, there = self.outcome.mean, self.other.mean
        return there / here if here > 0 else math.inf if there > 0 else 1.0

    @property
    def difference(self) -> Difference | None:
        """This one less the other, trial by trial."""
        return None if self.other is None else paired(self.outcome, self.other)


@dataclass(frozen=True, kw_only=True, eq=False)
class Levers:
    """``steps``: down to the design, which is the last. ``without``: the design without each lever that it has.

    ``references``: of the design's own query and use.
    """

    steps: tuple[Step, ...]
    without: tuple[Step, ...]
    references: References
    complete: bool

    @property
    def design(self) -> Step:
        return self.steps[-1]

    @property
    def total(self) -> float:
        """The error at the start over that at the end."""
        return math.prod(step.factor for step in self.steps)


def levers(scenario: Scenario, dataset: Dataset, *, mechanism: str = "mvg", sensitivity: str = "own",
           uploaded: Directions | None = None, problem: Problem | None = None, seconds: float = math.inf,
           **options: Unpack[Options]) -> Levers | None:
    """The way to a scenario's design, or to one that releases only the needed; None before there is a trial of it.

    ``problem``: the scenario's, where it was posed already (its sensitivity and directions then count). What does not
    work out on the way is left out. Where private directions are needed, found anew in each trial, or a regression's
    directions, all is judged by everything. Others as in :func:`mvgviz.trials.run.resume`.
    """
    if problem is None:
        problem = pose(scenario, dataset, sensitivity=sensitivity, uploaded=uploaded)
    judge = problem.judge
    if judge is None and problem.scenario.needs_along == "directions":
        problem = problem.whole
    way = way_to(problem, mechanism)
    stages = [*way, *without_each(way)]
    problems = [replace(posed, yardstick=judge)
                for posed in pose_each([stage.scenario for stage in stages], dataset, known=problem)]
    results = resume([Point(posed, (stage.mechanism,)) for stage, posed in zip(stages, problems, strict=True)],
                     seconds=seconds, at_once=len(stages), **options)
    outcomes = [None if found is None else found.outcomes[0] for found in results]
    design = outcomes[len(way) - 1]
    if design is not None and design.reason is not None:
        raise InputError(design.reason)
    if design is None or not design.errors.size:
        return None
    return Levers(steps=tuple(_held_against(way, outcomes[: len(way)])), references=references_for(problem),
                  complete=all(found is not None and found.complete for found in results),
                  without=tuple(Step(**vars(stage), outcome=outcome, other=design)
                                for stage, outcome in zip(stages[len(way) :], outcomes[len(way) :], strict=True)
                                if outcome is not None and outcome.errors.size))


def _held_against(way: Sequence[Stage], outcomes: Sequence[Outcome | None]) -> list[Step]:
    """Each stage with trials against the one before it."""
    steps: list[Step] = []
    for stage, outcome in zip(way, outcomes, strict=True):
        if outcome is not None and outcome.errors.size:
            steps.append(Step(**vars(stage), outcome=outcome, other=steps[-1].outcome if steps else None))
    return steps


def way_to(problem: Problem, mechanism: str = "mvg") -> list[Stage]:
    """From the theorem as printed, on the first query that serves the task, down to the design itself."""
    *before, last = _stages(problem, mechanism)
    return [*before, Stage(lever=last.lever, scenario=problem.scenario, mechanism=mechanism)]


def _stages(problem: Problem, mechanism: str) -> Iterator[Stage]:
    design = problem.scenario
    aware = "aware" in TASKS[design.task].post
    needed = design.needed or (design.needed_features if design.judged != "everything" else ())
    now = design.changed(bound="none", allocation="uniform", directions="standard", needed=needed,
                         post=tuple(step for step in design.post if not (aware and step == "aware")))
    road = [now.changed(query=query, mode=design.mode if query == design.query else "auto") for query in _road(design)]
    if design.guarantee == "exact":
        yield Stage(lever="", scenario=printed(road[0]), mechanism="iid")
    yield Stage(lever="calibration" if design.guarantee == "exact" else "", scenario=road[0], mechanism="iid")
    for asked in road[1:]:
        yield Stage(lever="query", scenario=asked, mechanism="iid")
    if mechanism == "mvg" and design.bound != "none" and not design.is_graph:
        now = now.changed(bound=design.bound, radius=design.radius)
        yield Stage(lever="bound", scenario=now)
    plain = design.changed(post=now.post)
    if mechanism != "mvg" or _has_shape(problem, now):
        yield Stage(lever="shape", scenario=plain, mechanism=mechanism)
    if plain != design:
        yield Stage(lever="use", scenario=design, mechanism=mechanism)


def without_each(way: Sequence[Stage]) -> Iterator[Stage]:
    """The design at the end of a way without each lever that it has."""
    design, mechanism = way[-1].scenario, way[-1].mechanism
    used = {stage.lever: before for before, stage in pairwise(way)}
    for lever in LEVERS:
        if lever not in used or (mechanism == REDUCED and lever == "calibration"):
            continue
        before = used[lever].scenario
        if lever == "calibration":
            yield Stage(lever=lever, scenario=printed(design), mechanism=mechanism)
        elif lever == "query":
            yield Stage(lever=lever, scenario=design.changed(query=before.query, mode=before.mode), mechanism=mechanism)
        elif lever == "bound":
            yield Stage(lever=lever, scenario=design.changed(bound="none"))
        elif lever == "shape":
            yield Stage(lever=lever, scenario=before.changed(post=design.post), mechanism=used[lever].mechanism)
        else:
            yield Stage(lever=lever, scenario=before, mechanism=mechanism)


def printed(scenario: Scenario) -> Scenario:
    """The same calibrated by the paper: Theorem 2 where it applies, else Theorem 1."""
    second = scenario.kind.psd and not scenario.kind.has_constant and scenario.mode in ("auto", "both")
    return scenario.changed(guarantee="theorem2" if second else "theorem1")


def _road(design: Scenario) -> tuple[str, ...]:
    """The queries from the table to the design's own."""
    road = _ROADS.get(design.task, ())
    return road[: road.index(design.query) + 1] if design.query in road else (design.query,)


def _has_shape(problem: Problem, equal: Scenario) -> bool:
    """Whether the design's noise (and bound) is not the same along every feature."""
    design, setup = problem.scenario, problem.setup(problem.scenario.guarantee)
    if equal.bound != "none":
        dataset = problem.question.dataset
        return key_of(Candidate(scenario=design.changed(post=equal.post)), dataset) != key_of(
            Candidate(scenario=equal), dataset)
    mine, same = (noise.direction_std() for noise in (setup.design, setup.iid))
    return design.directions != "standard" or not np.allclose(mine, same, rtol=1e-9)
