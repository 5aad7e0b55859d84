"""Repeated trials: how well each mechanism does on a task, with confidence intervals.

Errors are measured on the data itself, so results are not private. A trial's numbers depend on the seed and its own
number alone: batches, slices and workers change nothing, bit for bit.
"""

import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from typing import Any, NamedTuple, Protocol, TypeAlias, TypedDict, Unpack

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.noise.families import CHOICES
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.tasks import Task
from mvgviz.threads import one_blas_thread
from mvgviz.trials.mechanisms import MECHANISMS, Mechanism, Sampler, mechanism, mechanisms_of, own_key
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.problem import Problem, pose_each, question_key, weighing_of
from mvgviz.trials.results import Outcome, Results
from mvgviz.trials.tasks import Measure, measure_for, own_task, references_for
from mvgviz.validation import FloatArray, count

_BLOCK = 25  # trials at once, at most
_NUMBERS = 2_000_000  # at once, at most, where a trial is smaller
_IN_FLIGHT = 16
_PROBLEMS_AT_ONCE = 4
_MOST_RESULTS = 2_000

Progress = Callable[[int, int], None]
Chosen: TypeAlias = str | Mechanism | Callable[..., Any]
Use: TypeAlias = str | Task | Callable[[FloatArray], Any]


class Submits(Protocol):
    """The part of a ``concurrent.futures.Executor`` that trials use."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any: ...


class TrialCache(dict[str, FloatArray]):
    """Errors of trials on one dataset, by :func:`trial_key`; ``results``: of problems begun, the oldest first."""

    def __init__(self) -> None:
        super().__init__()
        self.results: dict[str, Results] = {}

    def finished(self, problem: Problem) -> Results | None:
        results = self.results.get(problem.key)
        return results if results is not None and results.complete else None

    def done(self, problem: Problem) -> int:
        """How many trials of a problem are done; all of them where nothing is left to do."""
        results = self.results.get(problem.key)
        if results is None:
            return 0
        return problem.trials if results.complete else sum(outcome.errors.size for outcome in results.outcomes)

    def keep(self, problem: Problem, results: Results) -> Results:
        """Keep the results of a problem, and drop the oldest beyond 2 000."""
        self.results[problem.key] = results
        while len(self.results) > _MOST_RESULTS:
            del self.results[next(iter(self.results))]
        return results

    def add(self, key: str, first: int, errors: FloatArray) -> None:
        """Add the errors from trial ``first`` on; other threads may use the cache meanwhile."""
        before = self.get(key, np.empty(0))
        if first <= len(before) < first + len(errors):
            self[key] = np.concatenate([before, errors[len(before) - first :]])


class Options(TypedDict, total=False):
    """How to run trials. ``cache``: go on from its contents. ``executor``: anything with ``submit``.

    ``progress(done, total)`` is called after each batch; once ``cancelled()``, the finished trials come back.
    """

    cache: TrialCache | None
    executor: Submits | None
    progress: Progress | None
    cancelled: Callable[[], bool] | None


def run_trials(scenario: Scenario, dataset: Dataset, *, mechanisms: Iterable[Chosen] = ("mvg", "iid"),
               task: Use | None = None, trials: int | None = None, sensitivity: str | None = None,
               problem: Problem | None = None, batch: int | None = None, **options: Unpack[Options]) -> Results:
    """Run trials of mechanisms on the scenario's task.

    ``mechanisms``: keys, or your functions ``(rng, query)`` (see :func:`mvgviz.own_mechanism`). ``task``: a key, or
    your function of a released matrix (see :func:`mvgviz.own_task`), which judges everything.
    """
    return sweep([{}], scenario, dataset, mechanisms=mechanisms, task=task, trials=trials, sensitivity=sensitivity,
                 problem=problem, batch=batch, **options)[0]


def sweep(grid: Sequence[Mapping[str, Any]], scenario: Scenario, dataset: Dataset, *,
          mechanisms: Iterable[Chosen] = ("mvg", "iid"), task: Use | None = None, trials: int | None = None,
          sensitivity: str | None = None, problem: Problem | None = None, batch: int | None = None,
          **options: Unpack[Options]) -> list[Results]:
    """Run trials at every point of a grid, ``[{"epsilon": 0.5}, {"epsilon": 1.0, "share": 0.9}, …]``, all with the same
    random numbers. Arguments as in :func:`run_trials`."""
    own = None if task is None or isinstance(task, str) else task if isinstance(task, Task) else own_task(task)
    said = {"task": task, "trials": trials} if own is None else {
        "task": "reconstruction", "judged": "everything", "trials": trials}
    fixed = {name: value for name, value in said.items() if value is not None}
    keys = mechanisms_of(mechanisms)
    problems = pose_each([scenario.changed(**fixed | dict(change)) for change in grid], dataset,
                         sensitivity=sensitivity, known=problem)
    return measure([replace(posed, own_task=own, mechanisms=keys) for posed in problems], batch=batch, **options)


def resume(problems: Sequence[Problem], *, seconds: float = math.inf, at_once: int = _PROBLEMS_AT_ONCE,
           cache: TrialCache | None = None, executor: Submits | None = None, progress: Progress | None = None,
           cancelled: Callable[[], bool] | None = None) -> list[Results | None]:
    """Go on with the problems in their order, ``at_once`` in step, for ``seconds``; None for those never begun.

    A slice finishes a batch, unless it is cancelled from the start: its time begins with its first trial.
    """
    cache = TrialCache() if cache is None else cache
    total = sum(problem.trials for problem in problems)
    end: float | None = None

    def report(done: int) -> None:
        if progress is not None:
            progress(min(done, total), total)

    def over() -> bool:  # asked for the first time when the first batch is about to begin
        nonlocal end
        if end is None:
            end = time.monotonic() + seconds
            return False
        return time.monotonic() > end or (cancelled is not None and cancelled())

    missing = list({problem.key: problem for problem in problems if cache.finished(problem) is None}.values())
    if cancelled is not None and cancelled():
        missing = []
    for start in range(0, len(missing), at_once):
        if start and over():
            break
        before = sum(problem.trials for problem in problems if cache.finished(problem) is not None)
        results = measure(missing[start : start + at_once], cache=cache, executor=executor, cancelled=over,
                          progress=lambda done, _, before=before: report(before + done))  # type: ignore[misc]
        if not all(result.complete for result in results):
            break
    report(sum(map(cache.done, problems)))
    return [cache.results.get(problem.key) for problem in problems]


def measure(problems: Sequence[Problem], *, cache: TrialCache | None = None, batch: int | None = None,
            executor: Submits | None = None, progress: Progress | None = None,
            cancelled: Callable[[], bool] | None = None) -> list[Results]:
    """Prepare all problems, then run them in step; return the results of each, as far as they came."""
    batch = None if batch is None else count("batch", batch)
    cache = TrialCache() if cache is None else cache
    prepared = [_prepare(problem) for problem in problems]
    jobs: dict[str, _Job] = {}
    for job in (entry for entries in prepared for entry in entries if isinstance(entry, _Job)):
        if job.key not in jobs or jobs[job.key].trials < job.trials:
            jobs[job.key] = job
    _run(list(jobs.values()), cache, batch=batch, executor=executor, progress=progress,
         cancelled=cancelled or (lambda: False))
    return [cache.keep(problem, _results(problem, entries, cache))
            for problem, entries in zip(problems, prepared, strict=True)]


class _Job(NamedTuple):
    """The trials of one mechanism on one problem."""

    key: str
    mechanism: Mechanism
    sampler: Sampler
    measure: Measure
    seed: int
    trials: int

    @property
    def block(self) -> int:
        return min(max(_NUMBERS // max(self.sampler.size, self.measure.size), 1), _BLOCK)

    def done(self, cache: TrialCache) -> int:
        return min(len(cache.get(self.key, ())), self.trials)


def _prepare(problem: Problem) -> list[_Job | Outcome]:
    """A job for each mechanism, or the outcome of one that does not apply."""
    measure, prepared = measure_for(problem), list[_Job | Outcome]()
    for chosen in map(mechanism, problem.mechanisms):
        try:
            sampler = chosen.prepare(problem, measure.level)
        except InputError as error:
            prepared.append(Outcome(mechanism=chosen, errors=np.empty(0), reason=str(error)))
        else:
            prepared.append(_Job(trial_key(problem, chosen), chosen, sampler, measure, problem.scenario.seed,
                                 problem.scenario.trials))
    return prepared


def trial_key(problem: Problem, chosen: Mechanism) -> str:
    """All that the trials of a mechanism depend on, and nothing more."""
    scenario = asdict(problem.scenario)
    post = [step for step in problem.task.post if step in problem.scenario.post]
    return json.dumps([chosen.name, problem.sensitivity, question_key(problem.scenario), problem.task.key,
                       scenario["label"], post, scenario["seed"], problem.dataset.n_records, problem.positions,
                       None if (weighing := weighing_of(problem)) is None else weighing.key,
                       [scenario[name] for name in chosen.fields],
                       problem.uploaded_key if "directions" in chosen.fields else None])


def _run(jobs: list[_Job], cache: TrialCache, *, batch: int | None, executor: Submits | None,
         progress: Progress | None, cancelled: Callable[[], bool]) -> None:
    """Compute what the cache lacks, until it is cancelled; in step, so that every mechanism has some trials early."""
    total = sum(job.trials for job in jobs)
    batches = [(job, first, min(size, job.trials - first)) for job in jobs for size in (batch or job.block,)
               for first in range(job.done(cache), job.trials, size)]
    waiting = deque(sorted(batches, key=lambda entry: entry[1]))
    begun: deque[tuple[_Job, int, Any]] = deque()
    stopped, submit = False, (executor or _AtOnce()).submit
    while begun or (waiting and not stopped):
        stopped = stopped or cancelled()
        while waiting and not stopped and len(begun) < (1 if executor is None else _IN_FLIGHT):
            job, first, trials = waiting.popleft()
            begun.append((job, first, submit(_errors, job.sampler, job.measure, job.seed, first, trials)))
        if not begun:
            break
        job, first, errors = begun.popleft()
        if stopped and errors.cancel():  # waiting at the executor; what is under way is kept
            continue
        cache.add(job.key, first, errors.result())
        if progress is not None:
            progress(sum(job.done(cache) for job in jobs), total)


class _AtOnce:
    """The executor where there is no other."""

    def submit(self, work: Callable[..., FloatArray], /, *args: Any) -> Future[FloatArray]:
        future: Future[FloatArray] = Future()
        future.set_result(work(*args))
        return future


def _errors(sampler: Sampler, measure: Measure, seed: int, first: int, trials: int) -> FloatArray:
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        draws = Draws(seed, first, trials)
        if not measure.aware:
            return measure.errors(sampler.draw(draws))
        drawn = ((part, part.draw(its)) for part, its in sampler.parts(draws))
        return np.concatenate([measure.errors(released, part.moment_noise(released)) for part, released in drawn])


def _results(problem: Problem, prepared: list[_Job | Outcome], cache: TrialCache) -> Results:
    def outcome(job: _Job) -> Outcome:
        mu, named = job.sampler.mu, job.mechanism
        if named.key == "mvg" and not CHOICES[problem.scenario.noise_family].spends_mu:
            named = replace(named, label=MECHANISMS[own_key(problem.scenario)].label)
        return Outcome(mechanism=named,
                       errors=cache.get(job.key, np.empty(0))[: job.trials],
                       caution=job.mechanism.caution(problem),
                       epsilon_spent=None if mu is None else float(gaussian_epsilon(problem.delta, mu)))

    return Results(scenario=problem.scenario, task=problem.task, delta=problem.delta,
                   sensitivity=problem.sensitivity, references=references_for(problem), judged_on=problem.judged_on,
                   complete=all(entry.done(cache) == entry.trials for entry in prepared if isinstance(entry, _Job)),
                   outcomes=tuple(entry if isinstance(entry, Outcome) else outcome(entry) for entry in prepared))


PARTS = ("priority", "other", "everything")
TRIED = ("mvg", "iid", "reduced-gaussian")
"""This design, equal noise on unclipped records, and the release of priority columns alone."""


def part_problems(problem: Problem) -> tuple[dict[str, Problem], dict[str, str]]:
    """The problem judged on each part, and for other parts the reason why not."""
    problems, reasons = {}, {}
    for part in PARTS:
        posed = problem.with_scenario(problem.scenario.changed(judged=part), mechanisms=TRIED)
        try:
            if part != posed.judged_on:
                raise InputError(posed.unfit or "choose some priority columns: not all, not none")
            measure_for(posed)
        except InputError as error:
            reasons[part] = str(error)
        else:
            problems[part] = posed
    return problems, reasons


def part_errors(found: Iterable[Results | None]) -> list[Results]:
    """Return the errors of the parts in the order of ``PARTS``, for all trials so far."""
    known = {results.scenario.judged: results for results in found if results and results["mvg"].errors.size}
    return [known[part] for part in PARTS if part in known]
