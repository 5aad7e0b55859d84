"""The advisor: tries designs for a task and a budget, ranks them, and tells which lever gained what.

>>> from mvgviz import Scenario
>>> from mvgviz.trials.advisor import advise
>>> from mvgviz.data import sample
>>> advice = advise(Scenario.default_for("two_features").changed(trials=4), sample("two_features"))
>>> advice.best.candidate.scenario.guarantee
'exact'

All designs meet the same random numbers. First every kind of design is tried, then bounds, shares and uses for the
queries that do well, then small steps around the best until none is better; the best few get all trials. What is
chosen by looking at the data says something about the data: the choice is not private unless the trials ran on a
stand-in (``mvgviz.trials.stand_in``).
"""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Unpack

from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.candidates import Candidate, candidates, closer, key_of, neighbours
from mvgviz.trials.levers import Levers, levers
from mvgviz.trials.outcomes import Outcome
from mvgviz.trials.paired import BETTER, Difference, paired
from mvgviz.trials.question import Problem, pose
from mvgviz.trials.resumable import Options, Point, TrialCache, resume
from mvgviz.trials.tasks import References, measure_for

FIRST_ROUND = 40
FINALISTS = 6

_CLOSE = 1.1
"""A query whose best design has at most so many times the least error is looked at closely."""
_LEADERS, _MOST_STEPS = 2, 8
_AHEAD = 40  # designs that are expected to be tried after the first list


@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """A design that was tried. ``finalist``: one of the best, with all trials."""

    candidate: Candidate
    outcome: Outcome = field(repr=False)
    finalist: bool


@dataclass(frozen=True)
class Dropped:
    """Designs that do not work out, with the reason."""

    designs: tuple[Candidate, ...]
    reason: str


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """The first design against another one."""

    other: Row
    difference: Difference | None

    @property
    def clear(self) -> bool:
        """Whether the first is better than chance explains: the trials of both share their random numbers."""
        return self.difference is not None and self.difference.verdict == BETTER


@dataclass(frozen=True, kw_only=True, eq=False)
class Advice:
    """``rows``: the best first (the finalists before the others). ``levers``: what each gains in the best design.

    ``references``: of the best design's query and use; None where nothing was tried.
    """

    rows: tuple[Row, ...]
    dropped: tuple[Dropped, ...]
    references: References | None
    trials: int
    complete: bool
    levers: Levers | None = None

    @property
    def best(self) -> Row | None:
        """The first design that reads nothing openly from the data."""
        return next((row for row in self.rows if row.candidate.private), None)

    @property
    def current(self) -> Row | None:
        """The design as it stands, where it was tried."""
        return next((row for row in self.rows if row.candidate.is_current), None)

    @property
    def kinds(self) -> list[Row]:
        """The best design of every kind, ranked."""
        first: dict[tuple[object, ...], Row] = {}
        for row in self.rows:
            first.setdefault(row.candidate.kind, row)
        return list(first.values())

    def against(self, other: Row) -> Contrast | None:
        """The best design against another one."""
        if self.best is None or other is self.best:
            return None
        return Contrast(other=other, difference=paired(self.best.outcome, other.outcome))


def advise(scenario: Scenario, dataset: Dataset, *, sensitivity: str = "tight", uploaded: Directions | None = None,
           seconds: float = math.inf, **options: Unpack[Options]) -> Advice:
    """Try designs for the scenario's task on ``dataset``, which may be a stand-in.

    ``sensitivity``: one for all (see ``mvgviz.trials.question``). ``uploaded``: directions from a file. Other
    arguments as in :func:`mvgviz.trials.resumable.resume`; what there is after a slice has ``complete`` False.
    """
    judge = _judge(pose(scenario, dataset, sensitivity=sensitivity, uploaded=uploaded))
    search = _Search(scenario if judge else _judging(scenario, dataset), dataset, sensitivity, uploaded, judge, seconds,
                     options)
    finalists: list[Candidate] = []
    found: Levers | None = None
    complete = search.kinds() and search.closer() and search.climb()
    if complete and search.ranked():
        finalists = [candidate for candidate in search.ranked() if candidate.private][:FINALISTS]
        complete = search.finals(finalists)
    rows = [Row(candidate=candidate, outcome=search.outcomes[candidate], finalist=candidate in finalists)
            for candidate in search.ranked()]
    rows.sort(key=lambda row: (not row.finalist, float(f"{row.outcome.mean:.9g}")))
    best = next((row.candidate for row in rows if row.candidate.private), None)
    if complete and best is not None:
        found = search.levers_of(best)
        complete = found is not None and found.complete
    shown = best or next(iter(search.problems), None)
    return Advice(rows=tuple(rows), dropped=tuple(search.dropped), trials=scenario.trials, complete=complete,
                  levers=found, references=None if shown is None else measure_for(search.problems[shown]).references)


def _judge(problem: Problem) -> Problem | None:
    """Whose needs count for all, where they are directions; None too where those cannot be had."""
    try:
        return problem.judge
    except InputError:
        return None


def _judging(scenario: Scenario, dataset: Dataset) -> Scenario:
    """The scenario, judged by everything where it does not say which features are needed: no candidate may say it."""
    size = dataset.n_records if scenario.query == "kernel" else dataset.n_features
    some = 0 < len([k for k in scenario.needs if k < size]) < size
    kept = scenario.needs_along == "features" and (some or scenario.judged != "needed")
    return scenario if kept else scenario.changed(judged="everything")


class _Search:
    """Candidates found so far and what is known of them. Its rounds tell whether they are finished."""

    def __init__(self, scenario: Scenario, dataset: Dataset, sensitivity: str, uploaded: Directions | None,
                 judge: Problem | None, seconds: float, options: Options) -> None:
        self.scenario, self.dataset, self.sensitivity, self.uploaded = scenario, dataset, sensitivity, uploaded
        self.problems: dict[Candidate, Problem] = {}
        self.outcomes: dict[Candidate, Outcome] = {}
        self.dropped: list[Dropped] = []
        self._keys: set[object] = set()
        self._posed: dict[str, Problem] = {}
        self._judge = judge
        self._seconds, self._begun = seconds, math.nan
        self._done, self._ahead = 0, 0
        if options.get("cache") is None:
            options["cache"] = TrialCache()  # all rounds share it
        self._options = options

    @property
    def first_round(self) -> int:
        return min(FIRST_ROUND, self.scenario.trials)

    def ranked(self) -> list[Candidate]:
        """Those with trials, the smallest mean error first; of equals, up to rounding, the one that was found first."""
        return sorted(self.outcomes, key=lambda candidate: float(f"{self.outcomes[candidate].mean:.9g}"))

    def kinds(self) -> bool:
        """Every kind of design."""
        self._ahead = _AHEAD * self.first_round + (2 * FINALISTS) * self.scenario.trials
        return self._try(self._new(candidates(self.scenario, self.dataset)), self.first_round)

    def closer(self) -> bool:
        """More bounds, shares and uses, where the query does well."""
        ranked = [candidate for candidate in self.ranked() if candidate.private]
        if not ranked:
            return True
        most = _CLOSE * self.outcomes[ranked[0]].mean
        queries = dict.fromkeys(candidate.scenario.query for candidate in ranked
                                if self.outcomes[candidate].mean <= most)
        self._ahead = (2 * FINALISTS) * self.scenario.trials
        return self._try(self._new(candidate for query in queries
                                   for candidate in closer(self.scenario, self.dataset, query)), self.first_round)

    def climb(self) -> bool:
        """Small steps around the best, until they are the best of all around them."""
        for _ in range(_MOST_STEPS):
            leaders = [candidate for candidate in self.ranked() if candidate.private][:_LEADERS]
            new = self._new(candidate for leader in leaders
                            for candidate in neighbours(leader, self.scenario, self.dataset))
            if not new:
                break
            if not self._try(new, self.first_round):
                return False
        return True

    def finals(self, finalists: list[Candidate]) -> bool:
        """All trials for the best, and for the design as it stands."""
        self._ahead = FINALISTS * self.scenario.trials
        current = [candidate for candidate in self.ranked() if candidate.is_current and candidate not in finalists]
        return self._try([*finalists, *current], self.scenario.trials)

    def levers_of(self, best: Candidate) -> Levers | None:
        """The way to the best design, with all trials."""
        self._ahead = 0
        sensitivity = "own" if self.sensitivity == "tight" else self.sensitivity  # theorems as they are printed
        problem = replace(pose(best.scenario, self.dataset, sensitivity=sensitivity, uploaded=self.uploaded,
                               question=self.problems[best].question), yardstick=self._judge)
        return levers(best.scenario, self.dataset, mechanism=best.mechanism, problem=problem,
                      seconds=self._seconds_left(), **self._in_round())

    def _new(self, found: Iterable[Candidate]) -> list[Candidate]:
        """Those that were not there before and whose query serves the task; the others are dropped."""
        new = {key: candidate for candidate in found if (key := key_of(candidate, self.dataset)) not in self._keys}
        self._keys |= set(new)
        refused: dict[str, list[Candidate]] = {}
        for candidate in new.values():
            try:
                posed = self._pose(candidate.scenario)
                measure_for(posed)
            except InputError as error:
                refused.setdefault(str(error), []).append(candidate)
            else:
                self.problems[candidate] = posed
        self.dropped += [Dropped(tuple(some), reason) for reason, some in refused.items()]
        return [candidate for candidate in new.values() if candidate in self.problems]

    def _pose(self, scenario: Scenario) -> Problem:
        """The problem of a scenario; each query is asked once."""
        query = scenario.query
        if query not in self._posed:
            self._posed[query] = replace(pose(scenario, self.dataset, sensitivity=self.sensitivity,
                                              uploaded=self.uploaded), yardstick=self._judge)
        return self._posed[query].with_scenario(scenario)

    def _try(self, some: Iterable[Candidate], trials: int) -> bool:
        """So many trials of some candidates; whether all of them have theirs."""
        points = {candidate: Point(problem.with_scenario(candidate.scenario.changed(trials=trials)),
                                   (candidate.mechanism,))
                  for candidate, problem in ((candidate, self.problems[candidate]) for candidate in some)}
        results = resume(list(points.values()), seconds=self._seconds_left(), **self._in_round())
        for candidate, found in zip(points, results, strict=True):
            outcome = None if found is None else found.outcomes[0]
            if outcome is not None and outcome.reason is not None:
                self.dropped.append(Dropped((candidate,), outcome.reason))
                del self.problems[candidate]
            elif outcome is not None and outcome.errors.size:
                known = self.outcomes.get(candidate)
                if known is None or known.errors.size < outcome.errors.size:
                    self.outcomes[candidate] = outcome
        self._done += sum(point.trials for point in points.values())
        return all(found is not None and found.complete for found in results)

    def _seconds_left(self) -> float:
        """Of the slice, which begins with its first round."""
        if math.isnan(self._begun):
            self._begun = time.monotonic()
        return max(self._seconds - (time.monotonic() - self._begun), 0.0)

    def _in_round(self) -> Options:
        """The options with progress through all rounds."""
        progress, before, ahead = self._options.get("progress"), self._done, self._ahead
        told = None if progress is None else (lambda done, total: progress(before + done, before + total + ahead))
        return {**self._options, "progress": told}
