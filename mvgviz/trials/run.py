"""Repeated trials: how well each mechanism does on a task, with confidence intervals.

>>> from mvgviz import Scenario
>>> from mvgviz.data import sample
>>> from mvgviz.trials.run import run_trials
>>> scenario = Scenario.default_for("movement_simulated")
>>> results = run_trials(scenario, sample("movement_simulated"), mechanisms=["mvg-theorem1", "mvg"], trials=20)
>>> [outcome.mechanism.key for outcome in results.ranked()]
['mvg', 'mvg-theorem1']

A trial's numbers depend on the seed and its own number alone: batches, their order and the
workers change nothing, bit for bit. Utility is measured on the data itself, so what comes
out is for choosing and teaching; it is not private.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.threads import one_blas_thread
from mvgviz.trials.draws import Draws
from mvgviz.trials.mechanisms import Mechanism, Sampler, mechanism
from mvgviz.trials.question import Problem, pose, question
from mvgviz.trials.tasks import TASKS, Measure, References, Task
from mvgviz.validation import FloatArray, count

_BLOCK = 25  # trials at once, at most
_NUMBERS = 2_000_000  # at once, at most, where a trial is smaller
_IN_FLIGHT = 16

Progress = Callable[[int, int], None]
Memory = MutableMapping[str, FloatArray]


class Submits(Protocol):
    """What is used of a ``concurrent.futures.Executor``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """How one mechanism did. ``errors``: all trials, in order; none where ``reason`` says it does not apply.

    ``epsilon_spent``: by Gaussian noise, exactly, at the problem's delta; None for other mechanisms.
    """

    mechanism: Mechanism
    errors: FloatArray = field(repr=False)
    reason: str | None = None
    caution: str | None = None
    epsilon_spent: float | None = None

    @property
    def mean(self) -> float:
        """NaN before the first trial."""
        return float(self.errors.mean()) if self.errors.size else math.nan

    @property
    def half_width(self) -> float:
        """Of the 95 % confidence interval of the mean (Student's t); NaN for fewer than two trials."""
        n = self.errors.size
        if n < 2:
            return math.nan
        from scipy.special import stdtrit

        return float(stdtrit(n - 1, 0.975) * self.errors.std(ddof=1) / math.sqrt(n))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the mean."""
        return self.mean - self.half_width, self.mean + self.half_width


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """One scenario's trials: an outcome for each mechanism asked for, in that order."""

    scenario: Scenario
    task: Task
    delta: float
    sensitivity: str
    references: References
    outcomes: tuple[Outcome, ...]
    complete: bool

    def __getitem__(self, key: str) -> Outcome:
        for outcome in self.outcomes:
            if outcome.mechanism.key == key:
                return outcome
        raise KeyError(key)

    def ranked(self) -> list[Outcome]:
        """Those that apply and have trials, the smallest mean error first."""
        return sorted((one for one in self.outcomes if one.errors.size), key=lambda one: one.mean)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Job:
    """The trials of one mechanism on one problem."""

    key: str
    sampler: Sampler = field(repr=False)
    measure: Measure = field(repr=False)
    seed: int
    trials: int

    @property
    def block(self) -> int:
        return min(max(_NUMBERS // max(self.sampler.size, self.measure.size), 1), _BLOCK)


def run_trials(scenario: Scenario, dataset: Dataset, *, mechanisms: Iterable[str] = ("mvg", "iid"),
               task: str | None = None, trials: int | None = None, sensitivity: str | None = None,
               problem: Problem | None = None, executor: Submits | None = None, batch: int | None = None,
               memory: Memory | None = None, progress: Progress | None = None,
               cancelled: Callable[[], bool] | None = None) -> Results:
    """Repeated trials of mechanisms on the scenario's task.

    ``task`` and ``trials`` default to the scenario's, ``sensitivity`` ("own", "tight" or "printed",
    see ``mvgviz.trials.question``) to the problem's. ``executor``: anything with ``submit``, such as a
    process pool or Dask's ``client.get_executor()``. ``memory``: a mapping that keeps every trial;
    what is in it is not computed again. It belongs to one dataset with its ranges: it knows the
    scenario's name of the data, not the data. ``progress(done, total)`` is called after each batch;
    when ``cancelled()`` becomes true, what is finished so far comes back with ``complete`` False.
    """
    return sweep([{}], scenario, dataset, mechanisms=mechanisms, task=task, trials=trials, sensitivity=sensitivity,
                 problem=problem, executor=executor, batch=batch, memory=memory, progress=progress,
                 cancelled=cancelled)[0]


def sweep(grid: Sequence[Mapping[str, Any]], scenario: Scenario, dataset: Dataset, *,
          mechanisms: Iterable[str] = ("mvg", "iid"), task: str | None = None, trials: int | None = None,
          sensitivity: str | None = None, problem: Problem | None = None, executor: Submits | None = None,
          batch: int | None = None, memory: Memory | None = None, progress: Progress | None = None,
          cancelled: Callable[[], bool] | None = None) -> list[Results]:
    """Trials at every point of a grid: ``[{"epsilon": 0.5}, {"epsilon": 1.0, "share": 0.9}, …]``.

    The points share their random numbers. Arguments as in :func:`run_trials`.
    """
    if sensitivity is None:
        sensitivity = "own" if problem is None else problem.sensitivity
    base = scenario.changed(**{name: value for name, value in (("task", task), ("trials", trials))
                               if value is not None})
    batch = None if batch is None else count("batch", batch)
    memory = {} if memory is None else memory
    chosen = [mechanism(key) for key in mechanisms]
    points = []
    known = {} if problem is None else {question(problem.scenario): problem}
    for change in grid:
        point = base.changed(**change)
        found = known.get(question(point))
        posed = pose(point, dataset, sensitivity=sensitivity, asked=None if found is None else found.asked,
                     uploaded=None if problem is None else problem.uploaded)
        known.setdefault(question(point), posed)
        points.append(_prepare(posed, chosen))
    jobs: dict[str, _Job] = {}
    for job in (job for _, _, prepared in points for _, job, _ in prepared if job is not None):
        if job.key not in jobs or jobs[job.key].trials < job.trials:
            jobs[job.key] = job
    complete = _run(list(jobs.values()), executor=executor, batch=batch, memory=memory, progress=progress,
                    cancelled=cancelled)
    return [_results(posed, measure, prepared, memory, complete) for posed, measure, prepared in points]


_Prepared = list[tuple[Mechanism, "_Job | None", str | None]]


def _prepare(problem: Problem, mechanisms: list[Mechanism]) -> tuple[Problem, Measure, _Prepared]:
    measure = TASKS[problem.scenario.task].prepare(problem)
    prepared: _Prepared = []
    for one in mechanisms:
        try:
            sampler = one.prepare(problem, measure.level)
        except InputError as error:
            prepared.append((one, None, str(error)))
            continue
        job = _Job(key=memory_key(problem, one), sampler=sampler, measure=measure, seed=problem.scenario.seed,
                   trials=problem.scenario.trials)
        prepared.append((one, job, None))
    return problem, measure, prepared


def memory_key(problem: Problem, one: Mechanism) -> str:
    """What the trials of a mechanism depend on, and nothing more."""
    scenario = asdict(problem.scenario)
    post = [step for step in TASKS[problem.scenario.task].post if step in problem.scenario.post]
    return json.dumps([one.key, problem.sensitivity, question(problem.scenario), scenario["task"], scenario["label"],
                       post, scenario["seed"], problem.asked.dataset.n_records,
                       [scenario[name] for name in one.fields],
                       _directions_key(problem) if "directions" in one.fields else None])


def _directions_key(problem: Problem) -> str | None:
    """Of directions from a file, which the scenario does not hold."""
    if problem.scenario.directions != "upload" or problem.uploaded is None:
        return None
    return problem.uploaded.digest


def _errors(sampler: Sampler, measure: Measure, seed: int, first: int, trials: int) -> FloatArray:
    """One batch, wherever it runs."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return measure.errors(sampler.draw(Draws(seed, first, trials)))


def _run(jobs: list[_Job], *, executor: Submits | None, batch: int | None, memory: Memory,
         progress: Progress | None, cancelled: Callable[[], bool] | None) -> bool:
    """Compute what the memory lacks, all jobs in step; whether everything was finished."""
    have = {job.key: len(memory.get(job.key, ())) for job in jobs}
    blocks = [(job, first, min(size, job.trials - first)) for job in jobs for size in [batch or job.block]
              for first in range(have[job.key], job.trials, size)]
    blocks.sort(key=lambda block: block[1])  # so that every mechanism has some trials early
    total = sum(job.trials for job in jobs)
    waiting: deque[tuple[_Job, int, Any]] = deque()
    todo = deque(blocks)
    stopped = False
    while waiting or (todo and not stopped):
        stopped = stopped or (cancelled is not None and cancelled())
        while not stopped and todo and len(waiting) < (1 if executor is None else _IN_FLIGHT):
            job, first, trials = todo.popleft()
            work = (job.sampler, job.measure, job.seed, first, trials)
            waiting.append((job, first, _now(*work) if executor is None else executor.submit(_errors, *work)))
        if not waiting:
            break
        job, first, later = waiting.popleft()
        if stopped and later.cancel():  # not begun; what has begun is kept
            continue
        errors, before = later.result(), memory.get(job.key, np.empty(0))
        if first <= len(before) < first + len(errors):  # others may work with the same memory
            memory[job.key] = np.concatenate([before, errors[len(before) - first :]])
        if progress is not None:
            progress(_done(jobs, memory), total)
    return _done(jobs, memory) == total


def _done(jobs: list[_Job], memory: Memory) -> int:
    return sum(min(len(memory.get(job.key, ())), job.trials) for job in jobs)


def _now(*work: Any) -> Future[FloatArray]:
    """A batch computed here and at once."""
    future: Future[FloatArray] = Future()
    future.set_result(_errors(*work))
    return future


def _results(problem: Problem, measure: Measure, prepared: _Prepared, memory: Memory, complete: bool) -> Results:
    outcomes = []
    for one, job, reason in prepared:
        if job is None:
            outcomes.append(Outcome(mechanism=one, errors=np.empty(0), reason=reason))
            continue
        errors = memory.get(job.key, np.empty(0))[: job.trials]
        mu = job.sampler.mu
        outcomes.append(Outcome(
            mechanism=one, errors=errors, caution=one.caution(problem),
            epsilon_spent=None if mu is None else float(gaussian_epsilon(problem.delta, mu))))
    return Results(scenario=problem.scenario, task=TASKS[problem.scenario.task], delta=problem.delta,
                   sensitivity=problem.sensitivity, references=measure.references, outcomes=tuple(outcomes),
                   complete=complete)
