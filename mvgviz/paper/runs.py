"""Running an experiment: every row of its table, and every favoured set with every share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvgviz.paper.tables import SHARES, Experiment, Printed, Row, Way
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.threads import one_blas_thread
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.question import Problem, ask_once, pose, question
from mvgviz.trials.run import Memory, Outcome, Progress, Submits, sweep
from mvgviz.trials.tasks import TASKS, References


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """One measured entry: an outcome for each share tried, or a single one (``shares`` empty).

    The paper reports the best share. Choosing it looks at the data, so it is not private.
    """

    outcomes: tuple[Outcome, ...] = field(repr=False)
    shares: tuple[float, ...] = ()

    @property
    def reason(self) -> str | None:
        """Why it could not be run."""
        return self.outcomes[0].reason

    @property
    def position(self) -> int:
        """Of the best share (the first of equals); 0 before the first trial."""
        means = [one.mean for one in self.outcomes]
        known = [k for k, mean in enumerate(means) if not math.isnan(mean)]
        return min(known, key=lambda k: means[k]) if known else 0

    @property
    def best(self) -> Outcome:
        return self.outcomes[self.position]

    @property
    def share(self) -> float | None:
        """The best one, or None where none was chosen or all do alike."""
        if not self.shares or len({one.mean for one in self.outcomes}) == 1:
            return None
        return self.shares[self.position]

    @property
    def mean(self) -> float:
        return self.best.mean

    @property
    def half_width(self) -> float:
        return self.best.half_width


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredRow:
    """A row of the paper (``printed``) or beyond it, as printed and exact."""

    row: Row
    as_printed: Cell
    exact: Cell

    @property
    def key(self) -> str:
        return self.row.key

    @property
    def label(self) -> str:
        return self.row.label

    @property
    def printed(self) -> Printed | None:
        return self.row.printed


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredSet:
    """A favoured set of the paper's Figure 4 at the experiment's epsilon, all shares."""

    name: str
    as_printed: Cell
    exact: Cell


@dataclass(frozen=True, kw_only=True, eq=False)
class Report:
    """An experiment's results. ``references``: ours, the same for all rows."""

    experiment: Experiment
    trials: int
    seed: int
    delta: float
    references: References
    rows: tuple[MeasuredRow, ...]
    sets: tuple[MeasuredSet, ...]
    complete: bool

    def __getitem__(self, key: str) -> MeasuredRow:
        for row in self.rows:
            if row.key == key:
                return row
        raise KeyError(key)

    def way(self, error: float) -> float:
        """How far from no privacy (0) to a random guess (1) an error of ours is."""
        return _way(error, self.references.non_private, self.references.random_guess)

    def printed_way(self, error: float) -> float:
        """The same for an error of the paper, on the paper's own scale."""
        return _way(error, self.experiment.non_private.mean, self.experiment.random_guess.mean)


def _way(error: float, clean: float, random: float) -> float:
    return (error - clean) / (random - clean)


Kept = MutableMapping[str, list[Outcome]]
"""Finished parts of an experiment, so that a run that goes on prepares nothing twice."""


class Bench:
    """One experiment's data and settings: asks each question once, counts what is done.

    A run that is not cancelled from the start finishes at least one batch, however slow the machine.
    """

    def __init__(self, experiment: Experiment, dataset: Dataset, *, trials: int, seed: int,
                 executor: Submits | None, memory: Memory | None, kept: Kept | None, progress: Progress | None,
                 cancelled: Callable[[], bool] | None) -> None:
        self.dataset, self.executor = dataset, executor
        self.base = experiment.scenario.changed(trials=trials, seed=seed)
        self.memory: Memory = {} if memory is None else memory
        self.complete = True
        self._kept: Kept = {} if kept is None else kept
        self._progress, self._done, self._total = progress, 0, 0
        self._late = cancelled or (lambda: False)
        self._idle, self._moved = self._late(), False
        self._problems: dict[tuple[object, ...], Problem] = {}

    @property
    def references(self) -> References:
        """Of the experiment's own task."""
        return TASKS[self.base.task].prepare(self.problem(self.base)).references

    def expect(self, points: int) -> None:
        """How many points will be measured altogether, for the progress."""
        self._total = points * self.base.trials

    def problem(self, scenario: Scenario) -> Problem:
        """The scenario's question of the data, asked once."""
        key = question(scenario)
        if key not in self._problems:
            self._problems[key] = pose(scenario, self.dataset, asked=ask_once(scenario, self.dataset))
        return self._problems[key]

    def measure(self, way: Way, grid: list[dict[str, Any]], changes: Mapping[str, Any]) -> list[Outcome]:
        """One mechanism at each point of a grid; outcomes without trials where the time is over."""
        scenario = self.base.changed(**changes)
        key = json.dumps([way.mechanism, way.sensitivity, grid, scenario.to_json()])
        outcomes = self._kept.get(key)
        if outcomes is None and self._cancelled():
            self.complete = False
            nothing = Outcome(mechanism=mechanism(way.mechanism), errors=np.empty(0))
            return [nothing] * len(grid)
        if outcomes is None:
            with one_blas_thread():  # its own threads would spin beside the workers after every preparation
                results = sweep(grid, scenario, self.dataset, mechanisms=[way.mechanism], sensitivity=way.sensitivity,
                                problem=self.problem(scenario), executor=self.executor, memory=self.memory,
                                progress=self._report, cancelled=self._cancelled)
            outcomes = [one.outcomes[0] for one in results]
            if all(one.complete for one in results):
                self._kept[key] = outcomes
            else:
                self.complete = False
        self._done += sum(self.base.trials if one.reason is not None else one.errors.size for one in outcomes)
        if self._progress is not None:
            self._progress(self._done, self._total)
        return outcomes

    def cell(self, way: Way, changes: Mapping[str, Any], *, shares: bool) -> Cell:
        """One mechanism at all five shares, or as it is."""
        grid: list[dict[str, Any]] = [{"share": share} for share in SHARES] if shares else [{}]
        return Cell(outcomes=tuple(self.measure(way, grid, changes)), shares=SHARES if shares else ())

    def _cancelled(self) -> bool:
        return self._idle or (self._moved and self._late())

    def _report(self, done: int, total: int) -> None:
        self._moved = True
        if self._progress is not None:
            self._progress(self._done + done, self._total)


def theorem_of(experiment: Experiment) -> Way:
    """What the paper's Figure 4 uses: Theorem 1 in all three."""
    return experiment.rows[0].as_printed


def run(experiment: Experiment, dataset: Dataset, *, trials: int = 100, seed: int = 0,
        executor: Submits | None = None, memory: Memory | None = None, kept: Kept | None = None,
        progress: Progress | None = None, cancelled: Callable[[], bool] | None = None) -> Report:
    """All rows and sets of an experiment on its bundled dataset; arguments as in ``run_trials``.

    ``kept``: a mapping that keeps finished parts, for runs that go on where another stopped.
    """
    bench = Bench(experiment, dataset, trials=trials, seed=seed, executor=executor, memory=memory, kept=kept,
                  progress=progress, cancelled=cancelled)
    bench.expect(sum(2 * (len(SHARES) if row.shares else 1) for row in experiment.rows)
                 + sum(2 * (len(SHARES) if favoured else 1) for _, favoured in experiment.sets))
    rows = tuple(MeasuredRow(row=row, as_printed=bench.cell(row.as_printed, row.changes, shares=row.shares),
                             exact=bench.cell(row.exact, row.changes, shares=row.shares))
                 for row in experiment.rows)
    theorem, exact = theorem_of(experiment), experiment.rows[0].exact
    sets = tuple(MeasuredSet(name=name, as_printed=bench.cell(theorem, {"favoured": chosen}, shares=bool(chosen)),
                             exact=bench.cell(exact, {"favoured": chosen}, shares=bool(chosen)))
                 for name, chosen in experiment.sets)
    return Report(experiment=experiment, trials=trials, seed=seed, delta=bench.problem(bench.base).delta,
                  references=bench.references, rows=rows, sets=sets, complete=bench.complete)
