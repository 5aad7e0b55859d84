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

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Unpack

from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.candidates import Candidate, candidates
from mvgviz.trials.outcomes import Outcome, Results
from mvgviz.trials.paired import BETTER, Difference, paired
from mvgviz.trials.question import Problem, pose
from mvgviz.trials.resumable import Options, Point, TrialCache, resume
from mvgviz.trials.tasks import References, measure_for

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
        return None if self.best is None or other is self.best else _contrast("design", self.best, other)

    def contrasts(self) -> list[Contrast]:
        """What the first design's query, guarantee and split (with directions) are worth, the most first."""
        if self.best is None:
            return []
        found = []
        for aspect, differs in _ASPECTS.items():
            others = [row for row in self.rows
                      if row.candidate.private and differs(row.candidate.scenario, self.best.candidate.scenario)]
            if others:
                found.append(_contrast(aspect, self.best, min(others, key=lambda row: row.outcome.mean)))
        return sorted(found, key=lambda contrast: -contrast.ratio)


def _other_split(scenario: Scenario, best: Scenario) -> bool:
    """Another way to share the budget out, the query and guarantee being the same: equal shares or not, or turned."""
    same = scenario.query == best.query and scenario.guarantee == best.guarantee
    return same and ((scenario.allocation == "uniform") != (best.allocation == "uniform")
                     or scenario.directions != best.directions)


_ASPECTS: dict[str, Callable[[Scenario, Scenario], bool]] = {
    "query": lambda scenario, best: scenario.query != best.query,
    "guarantee": lambda scenario, best: scenario.query == best.query and scenario.guarantee != best.guarantee,
    "split": _other_split,
}


def _contrast(aspect: str, best: Row, other: Row) -> Contrast:
    mean = best.outcome.mean
    return Contrast(aspect=aspect, other=other, ratio=other.outcome.mean / mean if mean > 0 else float("inf"),
                    difference=paired(best.outcome, other.outcome))


def advise(scenario: Scenario, dataset: Dataset, *, sensitivity: str = "tight", uploaded: Directions | None = None,
           seconds: float = math.inf, **options: Unpack[Options]) -> Advice:
    """Try every candidate for the scenario's task on ``dataset``, which may be a stand-in.

    ``sensitivity``: one for all (see ``mvgviz.trials.question``). ``uploaded``: directions from a file. Other
    arguments as in :func:`mvgviz.trials.resumable.resume`; what there is after a slice has ``complete`` False.
    """
    problems, dropped = _possible(scenario, dataset, sensitivity, uploaded)
    if not problems:
        return Advice(rows=(), dropped=dropped, references=None, trials=scenario.trials, complete=True)
    if options.get("cache") is None:
        options["cache"] = TrialCache()  # both rounds share it
    progress = options.get("progress")

    def tried(some: Sequence[Candidate], trials: int, before: int, after: int) -> dict[Candidate, Results]:
        """What is known of some candidates; ``before`` and ``after``: trials of other rounds, for the progress."""
        points = [Point(problem.with_scenario(problem.scenario.changed(trials=trials)), ("mvg",))
                  for problem in map(problems.__getitem__, some)]
        in_round = Options(progress=progress and (lambda done, total: progress(before + done, before + total + after)))
        results = resume(points, seconds=seconds, **options | in_round)
        return {candidate: found for candidate, found in zip(some, results, strict=True) if found is not None}

    first = min(FIRST_ROUND, scenario.trials)
    more = min(FINALISTS, len(problems)) * (scenario.trials - first)
    results = tried(list(problems), first, 0, more)
    complete = len(results) == len(problems) and all(found.complete for found in results.values())
    outcomes = {candidate: found.outcomes[0] for candidate, found in results.items()}
    dropped += tuple(Dropped((candidate,), outcome.reason) for candidate, outcome in outcomes.items()
                     if outcome.reason is not None)
    ranked = sorted((candidate for candidate in outcomes if outcomes[candidate].errors.size),
                    key=lambda candidate: outcomes[candidate].mean)
    finalists = [candidate for candidate in ranked if candidate.private][:FINALISTS] if complete else []
    if finalists and scenario.trials > first:
        longer = finalists + [candidate for candidate in ranked if candidate.is_current and candidate not in finalists]
        again = tried(longer, scenario.trials, first * (len(ranked) - len(longer)), 0)
        complete = len(again) == len(longer) and all(found.complete for found in again.values())
        outcomes |= {candidate: found.outcomes[0] for candidate, found in again.items()
                     if found.outcomes[0].errors.size > first}
    rows = [Row(candidate=candidate, outcome=outcomes[candidate], finalist=candidate in finalists,
                rows=problems[candidate].query.rows, cols=problems[candidate].query.cols) for candidate in ranked]
    rows.sort(key=lambda row: (not row.finalist, row.outcome.mean))
    return Advice(rows=tuple(rows), dropped=dropped, trials=scenario.trials, complete=complete,
                  references=measure_for(next(iter(problems.values()))).references)


def _possible(scenario: Scenario, dataset: Dataset, sensitivity: str, uploaded: Directions | None
              ) -> tuple[dict[Candidate, Problem], tuple[Dropped, ...]]:
    """The problem of each candidate whose query serves the task, and what was dropped."""
    problems: dict[Candidate, Problem] = {}
    dropped = []
    everyone = candidates(scenario, dataset)
    for query in dict.fromkeys(candidate.scenario.query for candidate in everyone):
        some = [candidate for candidate in everyone if candidate.scenario.query == query]
        try:
            posed = pose(some[0].scenario, dataset, sensitivity=sensitivity, uploaded=uploaded)
            measure_for(posed)
        except InputError as error:
            dropped.append(Dropped(tuple(some), str(error)))
            continue
        problems |= {candidate: posed.with_scenario(candidate.scenario) for candidate in some}
    return problems, tuple(dropped)
