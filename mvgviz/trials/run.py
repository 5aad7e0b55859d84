"""Trials that stop and go on: points to measure, a cache of what was found, and work in slices of some seconds.

A trial's numbers depend on the seed and its own number alone: batches, their order, the
slices and the workers change nothing, bit for bit.

Repeated trials: how well each mechanism does on a task, with confidence intervals.

>>> from mvgviz import Scenario
>>> from mvgviz.data import sample
>>> from mvgviz.trials.run import run_trials
>>> scenario = Scenario.default_for("movement_simulated")
>>> results = run_trials(scenario, sample("movement_simulated"), mechanisms=["mvg-theorem1", "mvg"], trials=20)
>>> [outcome.mechanism.key for outcome in results.ranked()]
['mvg', 'mvg-theorem1']

Utility is measured on the data itself, so what comes out is for choosing and teaching; it is not private.
"""

import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypedDict, Unpack

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.threads import one_blas_thread
from mvgviz.trials.mechanisms import Mechanism, Sampler, mechanism, mechanisms_of
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.problem import Problem, pose_each, question_key, weighing_of
from mvgviz.trials.results import Outcome, Results
from mvgviz.trials.tasks import Measure, Task, measure_for, own_task, references_for, task_of
from mvgviz.validation import FloatArray, count

_BLOCK = 25  # trials at once, at most
_NUMBERS = 2_000_000  # at once, at most, where a trial is smaller
_IN_FLIGHT = 16
_POINTS_AT_ONCE = 4
_MOST_RESULTS = 2_000

Progress = Callable[[int, int], None]


class Submits(Protocol):
    """What is used of a ``concurrent.futures.Executor``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class Point:
    """A problem and the mechanisms to try on it, each for as many trials as the problem's scenario says."""

    problem: Problem
    mechanisms: tuple[str | Mechanism, ...]

    @cached_property
    def key(self) -> str:
        """What its results depend on, for one dataset."""
        problem, chosen = self.problem, tuple(map(_name_of, map(mechanism, self.mechanisms)))
        judge = "" if problem.yardstick is None else weighing_of(problem).key  # type: ignore[union-attr]
        return (f"{problem.sensitivity} {chosen} {_directions_key(problem)} {judge} {task_of(problem).key} "
                f"{problem.scenario.to_json()}")

    @property
    def trials(self) -> int:
        """Of all its mechanisms."""
        return self.problem.scenario.trials * len(self.mechanisms)


class TrialCache(dict[str, FloatArray]):
    """What trials found on one dataset with its ranges: nothing in it is computed or prepared again.

    Errors by what they depend on (:func:`trial_key`); ``results``: of points that were begun, the oldest
    first. It knows the scenario's name of the data, not the data.
    """

    def __init__(self) -> None:
        super().__init__()
        self.results: dict[str, Results] = {}

    def finished(self, point: Point) -> Results | None:
        """The results of a point with all its trials."""
        results = self.results.get(point.key)
        return results if results is not None and results.complete else None

    def done(self, point: Point) -> int:
        """How many trials of a point that was begun are done; all of them where nothing is left to do."""
        results = self.results.get(point.key)
        if results is None:
            return 0
        return point.trials if results.complete else sum(outcome.errors.size for outcome in results.outcomes)

    def keep(self, point: Point, results: Results) -> Results:
        """Keep what there is of a point; the oldest go where there are too many."""
        self.results[point.key] = results
        while len(self.results) > _MOST_RESULTS:
            del self.results[next(iter(self.results))]
        return results

    def add(self, key: str, first: int, errors: FloatArray) -> None:
        """The errors of trial ``first`` and those after it; others may work with the same cache meanwhile."""
        before = self.get(key, np.empty(0))
        if first <= len(before) < first + len(errors):
            self[key] = np.concatenate([before, errors[len(before) - first :]])


class Options(TypedDict, total=False):
    """How trials are run, the same wherever they are.

    ``cache``: goes on from what is in it. ``executor``: anything with ``submit``, such as a process
    pool or Dask's ``client.get_executor()``. ``progress(done, total)`` is called after each batch; when
    ``cancelled()`` becomes true, what is finished so far comes back with ``complete`` False.
    """

    cache: TrialCache | None
    executor: Submits | None
    progress: Progress | None
    cancelled: Callable[[], bool] | None


def coarse_first(values: Sequence[float], own: float) -> list[float]:
    """The same, the scenario's own first, then the ends, then ever finer: a curve shows early."""
    order, step = [own, values[0], values[-1]], len(values)
    while step > 1:
        step = (step + 1) // 2
        order += values[::step]
    return list(dict.fromkeys([*order, *values]))


def resume(points: Sequence[Point], *, cache: TrialCache | None = None, seconds: float = math.inf,
           executor: Submits | None = None, progress: Progress | None = None,
           cancelled: Callable[[], bool] | None = None, at_once: int = _POINTS_AT_ONCE) -> list[Results | None]:
    """Go on with the points, ``at_once`` in step, in their order: put first what should show first.

    Finished points come from the cache, others get as far as a slice of ``seconds`` does; None for those
    never begun. Unless it is cancelled from the start, a slice finishes at least one batch, however slow the
    machine: its time begins with its first trial.
    """
    cache = TrialCache() if cache is None else cache
    total = sum(point.trials for point in points)

    def report(done: int) -> None:
        if progress is not None:
            progress(min(done, total), total)

    missing = list({point.key: point for point in points if cache.finished(point) is None}.values())
    if cancelled is not None and cancelled():
        missing = []
    over = _end_of_slice(seconds, cancelled)
    for start in range(0, len(missing), at_once):
        if start and over():
            break
        before = sum(point.trials for point in points if cache.finished(point) is not None)
        results = measure(missing[start : start + at_once], cache=cache, executor=executor, cancelled=over,
                          progress=lambda done, _, before=before: report(before + done))  # type: ignore[misc]
        if not all(result.complete for result in results):
            break
    report(sum(cache.done(point) for point in points))
    return [cache.results.get(point.key) for point in points]


def _end_of_slice(seconds: float, cancelled: Callable[[], bool] | None) -> Callable[[], bool]:
    """Whether a slice is over; asked for the first time when its first batch is about to begin."""
    end: float | None = None

    def over() -> bool:
        nonlocal end
        if end is None:
            end = time.monotonic() + seconds
            return False
        return time.monotonic() > end or (cancelled is not None and cancelled())

    return over


def measure(points: Sequence[Point], *, cache: TrialCache | None = None, batch: int | None = None,
            executor: Submits | None = None, progress: Progress | None = None,
            cancelled: Callable[[], bool] | None = None) -> list[Results]:
    """All points in step, every one prepared first: results for each, with as many trials as it came to."""
    batch = None if batch is None else count("batch", batch)
    cache = TrialCache() if cache is None else cache
    prepared = [_prepare(point) for point in points]
    jobs: dict[str, _Job] = {}
    for job in (entry for entries in prepared for entry in entries if isinstance(entry, _Job)):
        if job.key not in jobs or jobs[job.key].trials < job.trials:
            jobs[job.key] = job
    _run(list(jobs.values()), cache, batch=batch, executor=executor, progress=progress,
         cancelled=cancelled or (lambda: False))
    return [cache.keep(point, _results(point.problem, entries, cache))
            for point, entries in zip(points, prepared, strict=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Job:
    """The trials of one mechanism on one problem."""

    key: str
    mechanism: Mechanism = field(repr=False)
    sampler: Sampler = field(repr=False)
    measure: Measure = field(repr=False)
    seed: int
    trials: int

    @property
    def block(self) -> int:
        return min(max(_NUMBERS // max(self.sampler.size, self.measure.size), 1), _BLOCK)

    def done(self, cache: TrialCache) -> int:
        return min(len(cache.get(self.key, ())), self.trials)


def _prepare(point: Point) -> list[_Job | Outcome]:
    """A job for each mechanism, or the outcome of one that does not apply."""
    problem, measure, prepared = point.problem, measure_for(point.problem), list[_Job | Outcome]()
    for chosen in map(mechanism, point.mechanisms):
        try:
            sampler = chosen.prepare(problem, measure.level)
        except InputError as error:
            prepared.append(Outcome(mechanism=chosen, errors=np.empty(0), reason=str(error)))
        else:
            prepared.append(_Job(key=trial_key(problem, chosen), mechanism=chosen, sampler=sampler, measure=measure,
                                 seed=problem.scenario.seed, trials=problem.scenario.trials))
    return prepared


def trial_key(problem: Problem, chosen: Mechanism) -> str:
    """What the trials of a mechanism depend on, and nothing more."""
    scenario = asdict(problem.scenario)
    task = task_of(problem)
    post = [step for step in task.post if step in problem.scenario.post]
    return json.dumps([_name_of(chosen), problem.sensitivity, question_key(problem.scenario), task.key,
                       scenario["label"], post, scenario["seed"], problem.question.dataset.n_records, problem.positions,
                       None if (weighing := weighing_of(problem)) is None else weighing.key,
                       [scenario[name] for name in chosen.fields],
                       _directions_key(problem) if "directions" in chosen.fields else None])


def _name_of(chosen: Mechanism) -> str:
    """Unlike any other's."""
    return f"own {chosen.serial} {chosen.key}" if chosen.serial else chosen.key


def _directions_key(problem: Problem) -> str | None:
    """Of directions from a file, which the scenario does not hold."""
    uploaded = problem.uploaded if problem.scenario.directions == "upload" else None
    return None if uploaded is None else uploaded.digest


def _run(jobs: list[_Job], cache: TrialCache, *, batch: int | None, executor: Submits | None,
         progress: Progress | None, cancelled: Callable[[], bool]) -> None:
    """Compute what the cache lacks, until it is cancelled; all jobs in step: every mechanism has some trials early."""
    total = sum(job.trials for job in jobs)
    batches = [(job, first, min(size, job.trials - first)) for job in jobs for size in (batch or job.block,)
               for first in range(job.done(cache), job.trials, size)]
    waiting = deque(sorted(batches, key=lambda entry: entry[1]))
    begun: deque[tuple[_Job, int, Any]] = deque()
    stopped = False
    while begun or (waiting and not stopped):
        stopped = stopped or cancelled()
        while waiting and not stopped and len(begun) < (1 if executor is None else _IN_FLIGHT):
            job, first, trials = waiting.popleft()
            begun.append((job, first, _submit(executor, job.sampler, job.measure, job.seed, first, trials)))
        if not begun:
            break
        job, first, errors = begun.popleft()
        if stopped and errors.cancel():  # waiting at the executor; what is under way is kept
            continue
        cache.add(job.key, first, errors.result())
        if progress is not None:
            progress(sum(job.done(cache) for job in jobs), total)


def _submit(executor: Submits | None, *work: Any) -> Any:
    """The errors of a batch, later; at once where there is no executor."""
    if executor is not None:
        return executor.submit(_errors, *work)
    future: Future[FloatArray] = Future()
    future.set_result(_errors(*work))
    return future


def _errors(sampler: Sampler, measure: Measure, seed: int, first: int, trials: int) -> FloatArray:
    """One batch, wherever it runs."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        draws = Draws(seed, first, trials)
        if not measure.aware:
            return measure.errors(sampler.draw(draws))
        drawn = ((part, part.draw(its)) for part, its in sampler.parts(draws))
        return np.concatenate([measure.errors(released, part.moment_noise(released)) for part, released in drawn])


def _results(problem: Problem, prepared: list[_Job | Outcome], cache: TrialCache) -> Results:
    def outcome(job: _Job) -> Outcome:
        mu = job.sampler.mu
        return Outcome(mechanism=job.mechanism, errors=cache.get(job.key, np.empty(0))[: job.trials],
                       caution=job.mechanism.caution(problem),
                       epsilon_spent=None if mu is None else float(gaussian_epsilon(problem.delta, mu)))

    complete = all(entry.done(cache) == entry.trials for entry in prepared if isinstance(entry, _Job))
    return Results(scenario=problem.scenario, task=task_of(problem), delta=problem.delta,
                   sensitivity=problem.sensitivity, references=references_for(problem), complete=complete,
                   judged_on=problem.judged_on,
                   outcomes=tuple(entry if isinstance(entry, Outcome) else outcome(entry) for entry in prepared))


Chosen: TypeAlias = str | Mechanism | Callable[..., Any]
Use: TypeAlias = str | Task | Callable[[FloatArray], Any]

__all__ = ["Outcome", "Results", "run_trials", "sweep"]


def run_trials(scenario: Scenario, dataset: Dataset, *, mechanisms: Iterable[Chosen] = ("mvg", "iid"),
               task: Use | None = None, trials: int | None = None, sensitivity: str | None = None,
               problem: Problem | None = None, batch: int | None = None, **options: Unpack[Options]) -> Results:
    """Repeated trials of mechanisms on the scenario's task.

    ``mechanisms``: keys, or functions of one's own ``(rng, query)`` (see ``mvgviz.trials.mechanisms.own``). ``task``: a
    word, or any function of a released matrix (see ``mvgviz.trials.tasks.own``), which is judged by everything;
    ``task`` and ``trials`` default to the scenario's, ``sensitivity`` ("own", "tight" or "printed",
    see ``mvgviz.trials.problem``) to the problem's. Options as in :class:`mvgviz.trials.run.Options`.
    """
    return sweep([{}], scenario, dataset, mechanisms=mechanisms, task=task, trials=trials, sensitivity=sensitivity,
                 problem=problem, batch=batch, **options)[0]


def sweep(grid: Sequence[Mapping[str, Any]], scenario: Scenario, dataset: Dataset, *,
          mechanisms: Iterable[Chosen] = ("mvg", "iid"), task: Use | None = None, trials: int | None = None,
          sensitivity: str | None = None, problem: Problem | None = None, batch: int | None = None,
          **options: Unpack[Options]) -> list[Results]:
    """Trials at every point of a grid: ``[{"epsilon": 0.5}, {"epsilon": 1.0, "share": 0.9}, …]``.

    The points share their random numbers. Arguments as in :func:`run_trials`.
    """
    own = None if task is None or isinstance(task, str) else task if isinstance(task, Task) else own_task(task)
    said = {"task": task, "trials": trials} if own is None else {
        "task": "reconstruction", "judged": "everything", "trials": trials}
    fixed = {name: value for name, value in said.items() if value is not None}
    keys = mechanisms_of(mechanisms)
    problems = pose_each([scenario.changed(**fixed | dict(change)) for change in grid], dataset,
                         sensitivity=sensitivity, known=problem)
    return measure([Point(replace(posed, own_task=own), keys) for posed in problems], batch=batch, **options)


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
