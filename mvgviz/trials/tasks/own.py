"""A task of one's own: any function of a released matrix.

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
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise
from mvgviz.trials.problem import Problem
from mvgviz.trials.tasks.base import References, Task
from mvgviz.validation import FloatArray

METRIC = "root mean square of the difference"
_serials = count(1)


def own_task(function: Callable[[FloatArray], Any], *, name: str | None = None) -> Task:
    """A task that is ``function(matrix)``: a number or an array, the same of the released as of the true answer.

    The matrix is as it was released: rows × columns of the answer (a table has a record in each column), nothing done
    to it. The error is the root mean square of the difference to the function of the true answer (for a number, how far
    it is off), unless the function has a method ``error(found, true)`` that returns a number, smaller being better,
    and perhaps a text ``metric`` that says what it is.
    """
    if not callable(function):
        raise InputError(f"task must be a word or a function of a released matrix, got a {type(function).__name__}")
    label = name or str(getattr(function, "__name__", type(function).__name__))[:60]
    judge = getattr(function, "error", None)
    metric = METRIC if judge is None else str(getattr(function, "metric", "its own error"))
    serial = next(_serials)  # two functions may have one name

    def prepare(problem: Problem) -> OwnMeasure:
        return _prepared(problem, function, label, judge)

    return Task(key=f"own {serial} {label}", label=label, metric=metric, symbol="error", post=(), prepare=prepare,
                rule="a function of the released matrix, against the same function of the true answer")


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnMeasure:
    """``true``: the function of the true answer."""

    function: Callable[[FloatArray], Any] = field(repr=False)
    label: str
    judge: Callable[[Any, Any], Any] | None = field(repr=False)
    true: FloatArray = field(repr=False)
    size: int
    references: References
    level: str = "answer"
    aware: bool = False

    def errors(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        return np.array([self.error(matrix) for matrix in released])

    def error(self, matrix: FloatArray) -> float:
        """Of one released matrix."""
        found = _value(self.function, matrix, self.label)
        if found.shape != self.true.shape:
            raise InputError(f"task {self.label!r} must give a released matrix the shape it gives the true answer, "
                             f"{self.true.shape}, got {found.shape}")
        if self.judge is None:
            return math.sqrt(float(np.mean(np.square(found - self.true))))
        error = _value(lambda _: self.judge(found, self.true), matrix, f"{self.label}.error")  # type: ignore[misc]
        if error.shape != ():
            raise InputError(f"task '{self.label}.error' must give one number, got shape {error.shape}")
        return float(error)


def _prepared(problem: Problem, function: Callable[[FloatArray], Any], label: str,
              judge: Callable[[Any, Any], Any] | None) -> OwnMeasure:
    answer, guess = problem.query.value, problem.question.guess.answer
    measure = OwnMeasure(function=function, label=label, judge=judge, true=_value(function, answer, label),
                         size=answer.size, references=References(math.nan, math.nan, math.nan))
    try:
        trivial = measure.error(np.array(guess))
    except InputError:  # what nobody would see in real data may be beyond the function
        trivial = math.nan
    references = References(measure.error(answer), math.nan, trivial, problem.question.guess.name)
    object.__setattr__(measure, "references", references)
    return measure


def _value(function: Callable[[FloatArray], Any], matrix: FloatArray, label: str) -> FloatArray:
    """What the function makes of a copy of the matrix, as finite numbers; its own words may hold private values."""
    try:
        found = np.asarray(function(np.array(matrix)), dtype=np.float64)
    except Exception as error:  # noqa: BLE001 of a caller's function, which may raise anything
        raise InputError(f"task {label!r} failed on a matrix of {matrix.shape[0]} × {matrix.shape[1]} with "
                         f"{type(error).__name__}") from None
    if not found.size or not np.isfinite(found).all():
        raise InputError(f"task {label!r} must give finite numbers, and gave none, NaN or infinity for a matrix of "
                         f"{matrix.shape[0]} × {matrix.shape[1]}")
    return found
