"""Repeated trials: how well each mechanism does on a task, with confidence intervals.

>>> from mvgviz import Scenario
>>> from mvgviz.data import sample
>>> from mvgviz.trials.run import run_trials
>>> scenario = Scenario.default_for("movement_simulated")
>>> results = run_trials(scenario, sample("movement_simulated"), mechanisms=["mvg-theorem1", "mvg"], trials=20)
>>> [outcome.mechanism.key for outcome in results.ranked()]
['mvg', 'mvg-theorem1']

Utility is measured on the data itself, so what comes out is for choosing and teaching; it is not private.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.mechanisms import Mechanism, mechanisms_of
from mvgviz.trials.outcomes import Outcome, Results
from mvgviz.trials.question import Problem, pose_each
from mvgviz.trials.resumable import Options, Point, measure
from mvgviz.trials.tasks import Task, own_task
from mvgviz.validation import FloatArray

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
    see ``mvgviz.trials.question``) to the problem's. Options as in :class:`mvgviz.trials.resumable.Options`.
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
