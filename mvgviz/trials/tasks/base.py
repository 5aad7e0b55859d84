"""What measures of tasks share: they turn releases into errors, all trials at once. Smaller is better everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.moment_noise import MomentNoise, symmetrised
from mvgviz.scenario.tasks import Task
from mvgviz.trials.problem import Problem
from mvgviz.validation import FloatArray

MOST_ROWS = 400  # of a matrix whose eigenvectors every trial computes

ENOUGH = 16.57
"""The least mu × records × label's standard deviation / range for a regression: 70 records for a label that fills its
range, at ε = 1 and δ = 10⁻⁶."""

_LEAST = 0.05  # of the weight of scaled records, which is at most 1: less can only be noise


@dataclass(frozen=True)
class References:
    """The errors to compare a mechanism with. ``trivial``: the no-data baseline, the best of a few, ``trivial_is``.

    ``private_mean``, for regressions: a mean of the label with the whole budget predicts every label.
    ``records_needed``: by a regression with this label, where the table has fewer.
    """

    non_private: float
    random_guess: float
    trivial: float
    trivial_is: str = ""
    unit: str = ""
    private_mean: float = math.nan
    records_needed: int | None = None

    @property
    def to_beat(self) -> tuple[str, float]:
        """The baseline that a useful release beats, in words, and its error."""
        if self.private_mean < self.trivial:
            return "predicting the private mean", self.private_mean
        return "the no-data baseline", self.trivial

    @classmethod
    def against(cls, *, non_private: float, random_guess: float, blind: Mapping[str, float],
                unit: str = "") -> References:
        """With the least of the errors of ``blind`` answers, by name: a mechanism must beat every one of them."""
        least = min(blind.values())
        name = next(name for name, error in blind.items() if error <= least * (1 + 1e-9))
        return cls(non_private, random_guess, blind[name], name, unit)


UNMEASURED = References(math.nan, math.nan, math.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """A task for one problem, of releases at a ``level``; ``size``: numbers in a trial; ``aware``: of the noise."""

    level: str
    size: int
    references: References = UNMEASURED
    aware: bool = False

    def errors(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True, eq=False)
class Labelled:
    """Features, a label (one of the rows of the table), and the records on which predictions are measured."""

    features: list[int]
    label: int
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    test_features: FloatArray = field(repr=False)
    test_labels: FloatArray = field(repr=False)

    @property
    def scale(self) -> FloatArray:
        """The largest declared value of each feature."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @property
    def range(self) -> tuple[float, float]:
        return float(self.lower[self.label]), float(self.upper[self.label])

    @property
    def blind_rmse(self) -> dict[str, float]:
        """Of predictions that ignore the data, by name."""
        guesses = {"the middle of the label's range": sum(self.range) / 2,
                   "in the label's range the value nearest 0": float(np.clip(0.0, *self.range))}
        return {name: float(self.rmse(np.full((1, self.test_labels.size), guess))[0])
                for name, guess in guesses.items()}

    @property
    def random_rmse(self) -> float:
        lower, upper = self.range
        return math.hypot(self.blind_rmse["the middle of the label's range"], (upper - lower) / math.sqrt(12))

    def rmse(self, predictions: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(np.square(predictions - self.test_labels).mean(axis=1)))


def with_private_mean(references: References, problem: Problem) -> References:
    """Add what a private mean of the label would do at the problem's budget."""
    table, held_out, label = problem.table, problem.held_out, problem.scenario.label
    if table is None or held_out is None or label is None or label >= table.n_features:
        return references
    width, labels = float(table.widths[label]), table.matrix[label]
    move = table.per_person * width / (2 if problem.scenario.neighbours == "add-remove" else 1)
    mu = float(gaussian_mu(problem.epsilon, problem.delta))
    noise = move / (labels.size * mu)
    off = float(np.sqrt(np.square(held_out.matrix[label] - labels.mean()).mean()))
    priority = ENOUGH / mu * width / max(float(labels.std()), 1e-6 * width)
    return replace(references, private_mean=math.hypot(off, noise),
                   records_needed=math.ceil(priority) if labels.size < priority else None)


def labelled(problem: Problem) -> Labelled:
    """Return the labelled problem. Raise `InputError` without a label or without features."""
    table, held_out, label = problem.table, problem.held_out, problem.scenario.label
    if table is None or held_out is None:
        raise InputError("regression needs a table of records")
    if label is None:
        raise InputError("regression needs a label: choose the column to predict")
    refuse(label >= table.n_features, f"the label must be one of the {table.n_features} columns, got position {label}")
    features = [k for k in range(table.n_features) if k != label]
    refuse(not features, "regression needs at least one column besides the label")
    return Labelled(features=features, label=label, lower=table.lower, upper=table.upper,
                    test_features=held_out.matrix[features], test_labels=held_out.matrix[label])


def psd_root(matrices: FloatArray) -> FloatArray:
    """G with ``G Gᵀ`` the nearest positive semi-definite matrix to each symmetric one."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def centred(joined: FloatArray) -> FloatArray:
    """The covariance about the mean from moments with a constant, last: ``S - s sᵀ/w``."""
    moments, sums, weight = joined[:, :-1, :-1], symmetrised(joined)[:, :-1, -1], joined[:, -1, -1]
    return np.asarray(moments - sums[:, :, None] * (sums / np.maximum(weight, _LEAST)[:, None])[:, None, :])


def components(matrices: FloatArray, *, symmetrise: bool) -> tuple[FloatArray, FloatArray]:
    """Strengths and directions (columns): eigenvectors of the symmetrised matrices, else left singular vectors."""
    if symmetrise:
        values, vectors = np.linalg.eigh(symmetrised(matrices))
        return values[:, ::-1], vectors[:, :, ::-1]
    vectors, values, _ = np.linalg.svd(matrices)
    return values, vectors


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

    The matrix is the raw release; a table has a record in each column. The error is the root mean square difference to
    the function of the true answer, or ``function.error(found, true)``, which may be named in ``function.metric``.

    >>> import mvgviz as mv
    >>> def total_variance(moments):
    ...     return moments.trace()
    >>> results = mv.run_trials(mv.Scenario.default_for("liver"), mv.sample("liver"), task=total_variance, trials=10)
    >>> results.task.label, results.metric
    ('total_variance', 'root mean square of the difference')
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
