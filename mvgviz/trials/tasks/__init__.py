"""All tasks, by the scenario's name for them."""

from mvgviz.trials.question import Problem
from mvgviz.trials.tasks.base import Measure, References, Task
from mvgviz.trials.tasks.moments import COVARIANCE_ESTIMATION, FIRST_COMPONENT, LINEAR_RIDGE, SUBSPACE_ANGLE
from mvgviz.trials.tasks.tables import KERNEL_RIDGE, RECONSTRUCTION

TASKS = {task.key: task for task in (RECONSTRUCTION, SUBSPACE_ANGLE, KERNEL_RIDGE, LINEAR_RIDGE, FIRST_COMPONENT,
                                     COVARIANCE_ESTIMATION)}

__all__ = ["TASKS", "Measure", "References", "Task", "measure_for"]


def measure_for(problem: Problem) -> Measure:
    """The measure of the problem's task, prepared once for its question."""
    task, scenario = TASKS[problem.scenario.task], problem.scenario
    key = (task.key, scenario.label, *(step for step in task.post if step in scenario.post))
    known = problem.question.measures
    if key not in known:
        known[key] = task.prepare(problem)
    return known[key]
