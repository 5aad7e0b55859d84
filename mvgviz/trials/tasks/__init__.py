"""All tasks, by the scenario's name for them."""

from mvgviz.trials.tasks.base import Measure, References, Task
from mvgviz.trials.tasks.moments import COVARIANCE_ESTIMATION, FIRST_COMPONENT, LINEAR_RIDGE, SUBSPACE_ANGLE
from mvgviz.trials.tasks.tables import KERNEL_RIDGE, RECONSTRUCTION

TASKS = {one.key: one for one in (RECONSTRUCTION, SUBSPACE_ANGLE, KERNEL_RIDGE, LINEAR_RIDGE, FIRST_COMPONENT,
                                  COVARIANCE_ESTIMATION)}

__all__ = ["TASKS", "Measure", "References", "Task"]
