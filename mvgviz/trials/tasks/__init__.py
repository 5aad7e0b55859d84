"""The error of a released answer for each task; facts of tasks are in ``mvgviz.scenario.tasks``."""

from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise
from mvgviz.query.prior import Weighing
from mvgviz.trials.mechanisms.base import judged_part
from mvgviz.trials.problem import Problem, weighing_of
from mvgviz.trials.tasks import moments, tables
from mvgviz.trials.tasks.base import Measure, OwnTask, References, own_task, with_private_mean
from mvgviz.validation import FloatArray

__all__ = ["Measure", "References", "measure_for", "own_task", "prepared", "references_for"]

PREPARE = {"reconstruction": tables.reconstruction, "subspace": moments.subspace, "kernel-ridge": tables.kernel_ridge,
           "linear-ridge": moments.linear_ridge, "first-component": moments.first_component,
           "covariance-estimation": moments.covariance_estimation}

def prepared(problem: Problem) -> Measure:
    """The measure of the problem's task, on all of its answer."""
    task = problem.task
    return task.prepare(problem) if isinstance(task, OwnTask) else PREPARE[task.key](problem)


def measure_for(problem: Problem) -> Measure:
    """The measure of the problem's task on what is judged, prepared once for all problems of one question."""
    task, scenario, positions, weighing = problem.task, problem.scenario, problem.positions, weighing_of(problem)

    def judged() -> Measure:
        some = problem.chosen
        if some and problem.query.own_features(len(some)) < 2 and task.of_directions:
            raise InputError("components need at least 2 columns; choose more priority columns, or judge everything")
        measure = prepared(problem.judged)
        on_moments = weighing is not None and measure.level in ("moments", "component")
        if (positions is None and not on_moments) or measure.level == "square":
            return measure
        return OnPart(measure=measure, positions=list(range(problem.query.rows)) if positions is None else positions,
                      both=problem.query.symmetric or measure.level != "answer",
                      weighing=weighing if on_moments else None, level=measure.level, size=measure.size,
                      references=measure.references, aware=measure.aware)

    return problem.once((task.key, scenario.label, positions and tuple(positions), weighing and weighing.key,
                         *(step for step in task.post if step in scenario.post)), judged)


def references_for(problem: Problem) -> References:
    """The references for the problem's errors, at its own budget."""
    return with_private_mean(measure_for(problem).references, problem)


@dataclass(frozen=True, kw_only=True, eq=False)
class OnPart(Measure):
    """A task on some rows of a release (``both``: and columns). ``weighing``: of released moments alone."""

    measure: Measure = field(repr=False)
    positions: list[int]
    both: bool
    weighing: Weighing | None = None

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
