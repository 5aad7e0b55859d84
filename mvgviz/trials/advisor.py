"""The advisor: tries designs for a task and a budget, ranks them, and finds what makes the first one first.

>>> from mvgviz import Scenario
>>> from mvgviz.trials.advisor import advise
>>> from mvgviz.data import sample
>>> advice = advise(Scenario.default_for("two_features").changed(trials=4), sample("two_features"))
>>> advice.best.candidate.scenario.guarantee
'exact'

All designs meet the same random numbers. Every one gets a first round of trials, the best few all
trials. What is chosen by looking at the data says something about the data: the choice is not
private unless the trials ran on a stand-in (``mvgviz.trials.stand_in``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.candidates import Candidate, candidates
from mvgviz.trials.paired import BETTER, Difference, paired
from mvgviz.trials.question import Problem, pose
from mvgviz.trials.resumable import Kept, sweep_in_steps
from mvgviz.trials.run import Memory, Outcome, Progress, Submits
from mvgviz.trials.tasks import TASKS, References

FIRST_ROUND = 40
FINALISTS = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """A design that was tried. ``rows``, ``cols``: of the answer; ``finalist``: one of the best, with all trials."""

    candidate: Candidate
    outcome: Outcome = field(repr=False)
    rows: int
    cols: int
    finalist: bool


@dataclass(frozen=True)
class Dropped:
    """Designs that do not work out, with the reason."""

    designs: tuple[Candidate, ...]
    reason: str


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """The first design against the best one that differs in ``aspect``: "query", "guarantee" or "split"."""

    aspect: str
    other: Row
    ratio: float
    difference: Difference | None

    @property
    def clear(self) -> bool:
        """Whether the first is better than chance explains: the trials of both share their random numbers."""
        return self.difference is not None and self.difference.verdict == BETTER


@dataclass(frozen=True, kw_only=True, eq=False)
class Advice:
    """``rows``: the best first (the finalists before the others). ``references``: None where nothing was tried."""

    rows: tuple[Row, ...]
    dropped: tuple[Dropped, ...]
    references: References | None
    trials: int
    complete: bool

    @property
    def best(self) -> Row | None:
        """The first design that reads nothing openly from the data."""
        return next((row for row in self.rows if row.candidate.private), None)

    @property
    def current(self) -> Row | None:
        """The design as it stands, where it was tried."""
        return next((row for row in self.rows if row.candidate.is_current), None)

    def against(self, other: Row) -> Contrast | None:
        """The best design against another one."""
        if self.best is None or other is self.best:
            return None
        return _contrast("design", self.best, other)

    def contrasts(self) -> list[Contrast]:
        """What the first design's query, guarantee and split (with directions) are worth, the most first."""
        if self.best is None:
            return []
        found = []
        for aspect, differs in _ASPECTS.items():
            others = [row for row in self.rows
                      if row.candidate.private and differs(row.candidate.scenario, self.best.candidate.scenario)]
            if others:
                other = min(others, key=lambda row: row.outcome.mean)
                found.append(_contrast(aspect, self.best, other))
        return sorted(found, key=lambda one: -one.ratio)


def _other_query(one: Scenario, best: Scenario) -> bool:
    return one.query != best.query


def _other_guarantee(one: Scenario, best: Scenario) -> bool:
    return one.query == best.query and one.guarantee != best.guarantee


def _other_split(one: Scenario, best: Scenario) -> bool:
    """Another way to share the budget out, the query and guarantee being the same: equal shares or not, or turned."""
    same = one.query == best.query and one.guarantee == best.guarantee
    return same and ((one.allocation == "uniform") != (best.allocation == "uniform")
                     or one.directions != best.directions)


_ASPECTS = {"query": _other_query, "guarantee": _other_guarantee, "split": _other_split}


def _contrast(aspect: str, best: Row, other: Row) -> Contrast:
    mean = best.outcome.mean
    return Contrast(aspect=aspect, other=other, ratio=other.outcome.mean / mean if mean > 0 else float("inf"),
                    difference=paired(best.outcome, other.outcome))


def advise(scenario: Scenario, dataset: Dataset, *, sensitivity: str = "tight", uploaded: Directions | None = None,
           executor: Submits | None = None, memory: Memory | None = None, kept: Kept | None = None,
           progress: Progress | None = None, cancelled: Callable[[], bool] | None = None) -> Advice:
    """Try every candidate for the scenario's task on ``dataset``, which may be a stand-in.

    ``sensitivity``: one for all (see ``mvgviz.trials.question``). ``uploaded``: directions from a file.
    ``kept``: what an earlier call finished (see ``mvgviz.trials.resumable``). Other arguments as in
    :func:`mvgviz.trials.run.run_trials`; when it is cancelled, what there is comes back with ``complete`` False.
    """
    memory, kept = {} if memory is None else memory, {} if kept is None else kept
    listed, problems, dropped = _possible(scenario, dataset, sensitivity, uploaded)
    if not listed:
        return Advice(rows=(), dropped=dropped, references=None, trials=scenario.trials, complete=True)
    first = min(FIRST_ROUND, scenario.trials)
    more = min(FINALISTS, len(listed)) * (scenario.trials - first)

    def tried(some: list[Candidate], trials: int, report: Progress) -> list[tuple[Candidate, Outcome]]:
        grid = [asdict(one.scenario) | {"trials": trials} for one in some]
        results = sweep_in_steps(grid, scenario, dataset, mechanisms=("mvg",), problems=list(problems.values()),
                                 memory=memory, kept=kept, executor=executor, progress=report, cancelled=cancelled)
        return [(one, result.outcomes[0]) for one, result in zip(some, results, strict=True) if result is not None]

    def report(before: int, after: int) -> Progress:
        return lambda done, total: None if progress is None else progress(before + done, before + total + after)

    outcomes = tried(listed, first, report(0, more))
    complete = len(outcomes) == len(listed) and all(
        one.reason is not None or one.errors.size == first for _, one in outcomes)
    dropped += tuple(Dropped((one,), outcome.reason) for one, outcome in outcomes if outcome.reason is not None)
    known = dict(sorted(((one, outcome) for one, outcome in outcomes if outcome.errors.size),
                        key=lambda pair: pair[1].mean))
    best = [one for one in known if one.private][:FINALISTS] if complete else []
    if best and scenario.trials > first:
        longer = best + [one for one in known if one.is_current and one not in best]
        again = tried(longer, scenario.trials, report(first * (len(known) - len(longer)), 0))
        complete = len(again) == len(longer) and all(one.errors.size == scenario.trials for _, one in again)
        known |= {one: outcome for one, outcome in again if outcome.errors.size > first}
    rows = [Row(candidate=one, outcome=outcome, finalist=one in best, rows=problems[one.scenario.query].query.rows,
                cols=problems[one.scenario.query].query.cols) for one, outcome in known.items()]
    rows.sort(key=lambda row: (not row.finalist, row.outcome.mean))
    return Advice(rows=tuple(rows), dropped=dropped, trials=scenario.trials, complete=complete,
                  references=TASKS[scenario.task].prepare(next(iter(problems.values()))).references)


def _possible(scenario: Scenario, dataset: Dataset, sensitivity: str, uploaded: Directions | None
              ) -> tuple[list[Candidate], dict[str, Problem], tuple[Dropped, ...]]:
    """The candidates whose query serves the task, their problems by query, and what was dropped."""
    listed, problems, dropped = [], {}, []
    everyone = candidates(scenario, dataset)
    for query in dict.fromkeys(one.scenario.query for one in everyone):
        some = [one for one in everyone if one.scenario.query == query]
        try:
            posed = pose(some[0].scenario, dataset, sensitivity=sensitivity, uploaded=uploaded)
            TASKS[scenario.task].prepare(posed)
        except InputError as error:
            dropped.append(Dropped(tuple(some), str(error)))
            continue
        problems[query] = posed
        listed += some
    return listed, problems, tuple(dropped)
