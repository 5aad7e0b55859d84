"""Run an experiment: every row of its table, every priority set with every share, and the paper's Figure 4."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Unpack

import numpy as np

from mvgviz.noise.ties import to_nine_digits
from mvgviz.paper.tables import EXACT, THEOREM1, Experiment, Method, Printed, Row
from mvgviz.query.dataset import Dataset
from mvgviz.threads import one_blas_thread
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.problem import Problem, pose_each
from mvgviz.trials.results import Outcome
from mvgviz.trials.run import Options, resume
from mvgviz.trials.tasks import References, measure_for

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SHARES = (0.55, 0.65, 0.75, 0.85, 0.95)  # of priority columns (the paper's tau)

TRIALS = 100
FIGURE4_SHARE = SHARES[2]  # of every point in Figure 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """One measured entry: an outcome for each share (the best is the paper's choice, not private), or a single one."""

    outcomes: tuple[Outcome, ...] = field(repr=False)
    shares: tuple[float, ...] = ()

    @property
    def reason(self) -> str | None:
        return self.outcomes[0].reason

    @property
    def best(self) -> Outcome:
        """The outcome of the lowest mean error, the first of equals; before the first trial the first."""
        known = [outcome for outcome in self.outcomes if not math.isnan(outcome.mean)]
        return min(known or self.outcomes[:1], key=lambda outcome: to_nine_digits(outcome.mean))

    @property
    def share(self) -> float | None:
        """Return the best share; None if there is only one or all have the same error."""
        if not self.shares or len({to_nine_digits(outcome.mean) for outcome in self.outcomes}) == 1:
            return None
        return self.shares[self.outcomes.index(self.best)]

    @property
    def mean(self) -> float:
        return self.best.mean

    @property
    def half_width(self) -> float:
        return self.best.half_width


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredRow:
    """A row of the paper (``printed``) or beyond it, or a priority set of its Figure 4, as printed and exact."""

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
class Report:
    """An experiment's results. ``references``: ours, for all rows; ``sets``: of Figure 4, with all shares."""

    experiment: Experiment
    trials: int
    seed: int
    delta: float
    references: References
    rows: tuple[MeasuredRow, ...]
    sets: tuple[MeasuredRow, ...]
    complete: bool

    def __getitem__(self, key: str) -> MeasuredRow:
        return {row.key: row for row in self.rows}[key]

    def way(self, error: float) -> float:
        """An error of ours, from no privacy (0) to a random guess (1)."""
        ours = self.references
        return (error - ours.non_private) / (ours.random_guess - ours.non_private)

    def printed_way(self, error: float) -> float:
        """The same for an error of the paper, on the paper's own scale."""
        clean, random = self.experiment.non_private.mean, self.experiment.random_guess.mean
        return (error - clean) / (random - clean)


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """A line of the paper's Figure 4: one priority set under one guarantee, an outcome at each of EPSILONS."""

    name: str
    exact: bool
    outcomes: tuple[Outcome, ...] = field(repr=False)


def run(experiment: Experiment, dataset: Dataset, *, trials: int = TRIALS, seed: int = 0, seconds: float = math.inf,
        **options: Unpack[Options]) -> Report:
    """Run all rows and sets of an experiment on its bundled dataset; ``seconds`` and options as in ``resume``."""
    asked = [*experiment.rows, *(Row(
        key=name, label=name, printed=None, as_printed=THEOREM1, exact=EXACT, why="",
        changes={"priority_directions": chosen}, shares=bool(chosen)) for name, chosen in experiment.sets)]
    parts = [(method, [{**row.changes, "share": share} for share in SHARES] if row.shares else [row.changes])
             for row in asked for method in (row.as_printed, row.exact)]
    outcomes, problem, complete = _measured(experiment, dataset, trials, seed, parts, seconds, options)
    cells = [Cell(outcomes=found, shares=SHARES if len(found) > 1 else ()) for found in outcomes]
    measured = tuple(MeasuredRow(row=row, as_printed=first, exact=second)
                     for row, first, second in zip(asked, cells[::2], cells[1::2], strict=True))
    own = len(experiment.rows)
    return Report(experiment=experiment, trials=trials, seed=seed, delta=problem.delta, rows=measured[:own],
                  sets=measured[own:], references=measure_for(problem).references, complete=complete)


def direction_curves(experiment: Experiment, dataset: Dataset, *, trials: int = TRIALS, seed: int = 0,
                     seconds: float = math.inf, **options: Unpack[Options]) -> tuple[list[Curve], References, bool]:
    """Return the curves of Figure 4, the references, and whether every trial was finished."""
    lines = [(name, method, chosen) for method in (EXACT, THEOREM1) for name, chosen in experiment.sets]
    parts = [(method, [{"priority_directions": chosen, "share": FIGURE4_SHARE, "epsilon": epsilon}
                       for epsilon in EPSILONS]) for _, method, chosen in lines]
    outcomes, problem, complete = _measured(experiment, dataset, trials, seed, parts, seconds, options)
    return [Curve(name=name, exact=method is EXACT, outcomes=found) for (name, method, _), found in
            zip(lines, outcomes, strict=True)], measure_for(problem).references, complete


def _measured(experiment: Experiment, dataset: Dataset, trials: int, seed: int,
              parts: Sequence[tuple[Method, Sequence[Mapping[str, Any]]]], seconds: float, options: Options
              ) -> tuple[list[tuple[Outcome, ...]], Problem, bool]:
    """Return an outcome for each method and change of the scenario, its own problem, and whether all is done."""
    base = experiment.scenario.changed(trials=trials, seed=seed)
    methods = [method for method, changes in parts for _ in changes]
    with one_blas_thread():  # BLAS threads would spin beside the workers
        own, *problems = pose_each([base, *(base.changed(**change) for _, changes in parts for change in changes)],
                                   dataset)
        results = resume([replace(problem, sensitivity=method.sensitivity, mechanisms=(method.mechanism,))
                          for problem, method in zip(problems, methods, strict=True)], seconds=seconds, **options)
        measure_for(own)
    outcomes = iter([Outcome(mechanism=mechanism(method.mechanism), errors=np.empty(0)) if found is None
                     else found.outcomes[0] for found, method in zip(results, methods, strict=True)])
    complete = all(found is not None and found.complete for found in results)
    return [tuple(islice(outcomes, len(changes))) for _, changes in parts], own, complete
