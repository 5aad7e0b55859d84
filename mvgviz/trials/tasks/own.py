"""Your own task: any function of a released matrix.

>>> import mvgviz as mv
>>> data = mv.sample("liver")
>>> scenario = mv.Scenario.default_for("liver")
>>> def total_variance(moments):
...     return moments.trace()
>>> results = mv.run_trials(scenario, data, task=total_variance, trials=10)
>>> results.task.label, results.metric
('total_variance', 'root mean square of the difference')
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.moment_noise import MomentNoise
from mvgviz.scenario.tasks import Task
from mvgviz.trials.problem import Problem
from mvgviz.trials.tasks.base import Measure, References
from mvgviz.validation import FloatArray

METRIC = "root mean square of the difference"
_serials = count(1)


@dataclass(frozen=True, kw_only=True)
class OwnTask(Task):
    """``function``: of a matrix; ``judge``: its own error ``(found, true)``, or None."""

    function: Callable[[FloatArray], Any] = field(repr=False)
    judge: Callable[[Any, Any], Any] | None = field(repr=False)

    def prepare(self, problem: Problem) -> Measure:
        answer, guess = problem.query.value, problem.guess
        measure = OwnMeasure(task=self, true=_value(self.function, answer, self.label), level="answer",
                             size=answer.size)
        try:
            trivial = measure.error(np.array(guess.answer))
        except InputError:  # the function may not take the baseline
            trivial = math.nan
        return replace(measure, references=References(measure.error(answer), math.nan, trivial, guess.name))


def own_task(function: Callable[[FloatArray], Any], *, name: str | None = None) -> OwnTask:
    """Return the task ``function(matrix)``: a number or an array of a fixed shape.

    The matrix is the raw release: rows × columns of the answer (a table has a record in each column). The error is the
    root mean square of the difference to the function of the true answer. A function with a method
    ``error(found, true)`` gives its own error, smaller being better, and may name it in ``metric``.
    """
    if not callable(function):
        raise InputError(f"task must be a key or a function of a released matrix, got a {type(function).__name__}")
    label = name or str(getattr(function, "__name__", type(function).__name__))[:60]
    judge = getattr(function, "error", None)
    metric = METRIC if judge is None else str(getattr(function, "metric", "its own error"))
    return OwnTask(key=f"own {next(_serials)} {label}",  # two functions may have one name
                   label=label, metric=metric, symbol="error", function=function, judge=judge,
                   rule="a function of the released matrix, against the same function of the true answer")


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnMeasure(Measure):
    """``true``: the task's function of the true answer."""

    task: OwnTask
    true: FloatArray = field(repr=False)

    def errors(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        return np.array([self.error(matrix) for matrix in released])

    def error(self, matrix: FloatArray) -> float:
        label, judge = self.task.label, self.task.judge
        found = _value(self.task.function, matrix, label)
        refuse(found.shape != self.true.shape, f"task {label!r} must give a released matrix the shape it gives the "
               f"true answer, {self.true.shape}, got {found.shape}")
        if judge is None:
            return math.sqrt(float(np.mean(np.square(found - self.true))))
        error = _value(lambda _: judge(found, self.true), matrix, f"{label}.error")
        refuse(error.shape != (), f"task '{label}.error' must give one number, got shape {error.shape}")
        return float(error)


def _value(function: Callable[[FloatArray], Any], matrix: FloatArray, label: str) -> FloatArray:
    """The function of a copy of the matrix, in finite numbers; no message repeats its words, which may hold data."""
    try:
        found = np.asarray(function(np.array(matrix)), dtype=np.float64)
    except Exception as error:  # noqa: BLE001 of a caller's function, which may raise anything
        raise InputError(f"task {label!r} failed on a matrix of {matrix.shape[0]} × {matrix.shape[1]} with "
                         f"{type(error).__name__}") from None
    if not found.size or not np.isfinite(found).all():
        raise InputError(f"task {label!r} must give finite numbers, got none, NaN or infinity for a matrix of "
                         f"{matrix.shape[0]} × {matrix.shape[1]}")
    return found
