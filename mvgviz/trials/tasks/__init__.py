"""All tasks, by the scenario's name for them."""

from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise
from mvgviz.query.weighing import Weighing
from mvgviz.trials.mechanisms.base import judged_part
from mvgviz.trials.problem import OF_DIRECTIONS, Problem, weighing_of
from mvgviz.trials.tasks.base import Measure, References, Task, with_private_mean
from mvgviz.trials.tasks.moments import COVARIANCE_ESTIMATION, FIRST_COMPONENT, LINEAR_RIDGE, SUBSPACE_ANGLE
from mvgviz.trials.tasks.own import own_task
from mvgviz.trials.tasks.tables import KERNEL_RIDGE, RECONSTRUCTION
from mvgviz.validation import FloatArray

TASKS = {task.key: task for task in (RECONSTRUCTION, SUBSPACE_ANGLE, KERNEL_RIDGE, LINEAR_RIDGE, FIRST_COMPONENT,
                                     COVARIANCE_ESTIMATION)}

__all__ = ["OF_DIRECTIONS", "TASKS", "Measure", "References", "Task", "measure_for", "own_task", "references_for",
           "task_of"]


def task_of(problem: Problem) -> Task:
    """What the problem's answer is used for."""
    return TASKS[problem.scenario.task] if problem.own_task is None else problem.own_task


def measure_for(problem: Problem) -> Measure:
    """The measure of the problem's task, prepared once for its question."""
    task, scenario, positions = task_of(problem), problem.scenario, problem.positions
    weighing = weighing_of(problem)
    key = (task.key, scenario.label, positions and tuple(positions), weighing and weighing.key,
           *(step for step in task.post if step in scenario.post))
    known = problem.question.measures
    if key not in known:
        some = problem.chosen
        if some and problem.query.own_features(len(some)) < 2 and task.key in OF_DIRECTIONS:
            raise InputError("components need at least 2 features; say that more are needed, or judge by everything")
        measure = task.prepare(problem.judged)
        on_moments = weighing is not None and measure.level in ("moments", "component")
        known[key] = measure if (positions is None and not on_moments) or measure.level == "square" else OnPart(
            measure=measure, positions=list(range(problem.query.rows)) if positions is None else positions,
            both=problem.query.symmetric or measure.level != "answer", weighing=weighing if on_moments else None)
    return known[key]


def references_for(problem: Problem) -> References:
    """What the problem's errors are held against, at its own budget."""
    return with_private_mean(measure_for(problem).references, problem)


@dataclass(frozen=True, kw_only=True, eq=False)
class OnPart:
    """A task on some rows of what is released, and the same columns where they are the same things.

    ``weighing``: of released moments; an answer is weighed after what is done with it.
    """

    measure: Measure = field(repr=False)
    positions: list[int]
    both: bool
    weighing: Weighing | None = None

    @property
    def level(self) -> str:
        return self.measure.level

    @property
    def references(self) -> References:
        return self.measure.references

    @property
    def size(self) -> int:
        return self.measure.size

    @property
    def aware(self) -> bool:
        return self.measure.aware

    def errors(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        weighing = self.weighing
        if released.ndim == 2:  # a direction each: what is left of it, as a direction
            part = released[:, self.positions]
            part = part if weighing is None else part @ weighing.matrix.T
            return self.measure.errors(part / np.maximum(np.linalg.norm(part, axis=1), 1e-300)[:, None])
        part, known = judged_part(released, self.positions, both=self.both), noise and noise.on(self.positions)
        if weighing is None:
            return self.measure.errors(part, known)
        return self.measure.errors(weighing.of(part), known and known.turned(weighing.matrix))
