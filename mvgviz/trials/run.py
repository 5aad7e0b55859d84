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

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.outcomes import Outcome, Results
from mvgviz.trials.question import Problem, pose_each
from mvgviz.trials.resumable import Options, Point, measure

__all__ = ["Outcome", "Results", "run_trials", "sweep"]


def run_trials(scenario: Scenario, dataset: Dataset, *, mechanisms: Iterable[str] = ("mvg", "iid"),
               task: str | None = None, trials: int | None = None, sensitivity: str | None = None,
               problem: Problem | None = None, batch: int | None = None, **options: Unpack[Options]) -> Results:
    """Repeated trials of mechanisms on the scenario's task.

    ``task`` and ``trials`` default to the scenario's, ``sensitivity`` ("own", "tight" or "printed",
    see ``mvgviz.trials.question``) to the problem's. Options as in :class:`mvgviz.trials.resumable.Options`.
    """
    return sweep([{}], scenario, dataset, mechanisms=mechanisms, task=task, trials=trials, sensitivity=sensitivity,
                 problem=problem, batch=batch, **options)[0]


def sweep(grid: Sequence[Mapping[str, Any]], scenario: Scenario, dataset: Dataset, *,
          mechanisms: Iterable[str] = ("mvg", "iid"), task: str | None = None, trials: int | None = None,
          sensitivity: str | None = None, problem: Problem | None = None, batch: int | None = None,
          **options: Unpack[Options]) -> list[Results]:
    """Trials at every point of a grid: ``[{"epsilon": 0.5}, {"epsilon": 1.0, "share": 0.9}, …]``.

    The points share their random numbers. Arguments as in :func:`run_trials`.
    """
    own = {name: value for name, value in (("task", task), ("trials", trials)) if value is not None}
    keys = tuple(mechanisms)
    problems = pose_each([scenario.changed(**own | dict(change)) for change in grid], dataset,
                         sensitivity=sensitivity, known=problem)
    return measure([Point(posed, keys) for posed in problems], batch=batch, **options)
