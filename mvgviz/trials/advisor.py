"""The advisor: try designs for a task and a budget, rank them, and recommend one, or to keep what is there.

Answers themselves are judged by their expected error in closed form, on the worst of several simulated tables. Other
tasks run trials: every kind of design, then bounds, shares and uses for the queries that do well, then small steps
around the best; the best few get all trials. Only a choice on simulated data is private.

A recommended design clearly beats the current one on every table, clearly beats the no-data baseline, and clips few
records.
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.noise.ties import to_nine_digits
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.candidates import Candidate, candidates, closer, key_of, neighbours, size_of, some_of
from mvgviz.trials.expected_error import clipped_parts, expected_errors, has_expected_error
from mvgviz.trials.levers import Levers, levers
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.problem import Problem, pose
from mvgviz.trials.results import BETTER, Outcome, against, paired
from mvgviz.trials.run import Options, TrialCache, resume
from mvgviz.trials.simulated import FEW, SEED, simulated_data, simulated_tables
from mvgviz.trials.tasks import OnPart, References, measure_for, references_for
from mvgviz.trials.tasks.tables import Reconstruction
from mvgviz.validation import FloatArray

CLEARLY = 0.95  # an error below this part of another is clearly smaller
FIRST_ROUND = 40
FINALISTS = 6

_CLOSE = 1.1  # queries whose best design has at most so many times the least error are searched closely
_LEADERS, _MOST_STEPS = 2, 8
_AHEAD = 40  # designs expected after the first list, for progress


@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """A design that was tried. ``on_tables``: expected errors, where known; the outcome then has the worst of them.
    ``clips``: the largest part of a table's records that it clips.
    """

    candidate: Candidate
    outcome: Outcome = field(repr=False)
    finalist: bool
    on_tables: FloatArray | None = field(default=None, repr=False)
    clips: float = 0.0

    def clearly_beats(self, other: "Row") -> bool:
        """Whether it errs clearly less: on every table, or in paired trials."""
        if self.on_tables is not None and other.on_tables is not None:
            return bool((self.on_tables <= CLEARLY * other.on_tables).all())
        found = paired(self.outcome, other.outcome)
        return (found is not None and found.verdict == BETTER and self.outcome.mean <= CLEARLY * other.outcome.mean)

    def is_useful(self, trivial: float) -> bool:
        """Whether it clearly beats the no-data baseline, whose error this is."""
        if self.on_tables is not None:
            return bool(np.sqrt(np.mean(self.on_tables**2)) <= CLEARLY * trivial)
        return against(self.outcome, trivial) == BETTER


@dataclass(frozen=True, kw_only=True, eq=False)
class Advice:
    """``rows``: the recommended one first, then by error; ``dropped``: why others failed; ``trials``: 0 where errors
    are in closed form, on ``tables`` simulated tables or on the data alone (1).
    """

    rows: tuple[Row, ...]
    dropped: Mapping[Candidate, str]
    references: References | None
    trials: int
    complete: bool
    tables: int = 1
    levers: Levers | None = None

    @property
    def best(self) -> Row | None:
        """The recommended design: the current one unless another is clearly better."""
        return next((row for row in self.rows if row.candidate.can_be_best), None)

    @property
    def is_doubtful(self) -> bool:
        """Whether the best is the current design, though it fails the bars for a recommendation."""
        best = self.best
        return best is not None and best is self.current and not self._is_sound(best)

    @property
    def safer(self) -> Row | None:
        """In place of a doubtful design: clearly less error on the worst table, if not on every one."""
        kept = self.best if self.is_doubtful else None
        sound = [] if kept is None else [row for row in self.rows if row.candidate.can_be_best and self._is_sound(row)
                                         and row.outcome.mean <= CLEARLY * kept.outcome.mean]
        return min(sound, key=lambda row: to_nine_digits(row.outcome.mean), default=None)

    def _is_sound(self, row: Row) -> bool:
        """Whether it beats the no-data baseline, and clips few records of simulated tables."""
        assert self.references is not None
        return row.is_useful(self.references.to_beat[1]) and (row.clips <= FEW or self.tables == 1)

    @property
    def current(self) -> Row | None:
        return next((row for row in self.rows if row.candidate.is_current), None)

    @property
    def kinds(self) -> list[Row]:
        """The best design of every kind, ranked."""
        first: dict[tuple[object, ...], Row] = {}
        for row in self.rows:
            first.setdefault(row.candidate.kind, row)
        return list(first.values())


def advise(scenario: Scenario, dataset: Dataset, *, on_data: bool = False, sensitivity: str = "tight",
           uploaded: Directions | None = None, families: Sequence[str] = (), seconds: float = math.inf,
           **options: Unpack[Options]) -> Advice:
    """Try designs for the scenario's task, on simulated data with the ranges and sizes of ``dataset``.

    ``on_data``: on the dataset itself instead, which is not private. ``families`` of noise to try beside Gaussian noise
    and the scenario's own. Other arguments as in :func:`mvgviz.trials.run.resume`.
    """
    data = dataset if on_data else simulated_data(dataset, rng=np.random.default_rng(SEED), graph=scenario.is_graph)
    posed = pose(scenario, data, sensitivity=sensitivity, uploaded=uploaded)
    try:
        judge = posed.judge  # whose priority directions count for all
    except InputError:
        judge = None
    if judge is None:  # no candidate may choose what is judged
        some = some_of(scenario.needs, size_of(scenario.query, data))
        if scenario.needs_along != "features" or not (some or scenario.judged != "priority"):
            scenario = scenario.changed(judged="everything")
    search = _Search(scenario, data, sensitivity, uploaded, judge, seconds, options, families)
    if has_expected_error(scenario):
        return search.by_expected_error([data] if on_data or scenario.is_graph else simulated_tables(data))
    finalists: list[Candidate] = []
    complete = search.kinds() and search.closer() and search.climb()
    if complete and search.ranked():
        finalists = search.private()[:FINALISTS]
        current = [candidate for candidate in search.ranked() if candidate.is_current and candidate not in finalists]
        complete = search.run([*finalists, *current], scenario.trials, ahead=FINALISTS * scenario.trials)
    rows = [Row(candidate=candidate, outcome=search.outcomes[candidate], finalist=candidate in finalists)
            for candidate in search.ranked()]
    shown = next(iter((*search.private(), *search.problems)), None)
    references = None if shown is None else references_for(search.problems[shown])
    rows = _recommended_first(rows, math.inf if references is None else references.to_beat[1])
    advice = Advice(rows=tuple(rows), dropped=search.dropped, trials=scenario.trials, complete=complete,
                    references=references)
    if not complete or advice.best is None:
        return advice
    found = search.levers_of(advice.best.candidate)
    return replace(advice, levers=found, complete=found is not None and found.complete)


def _recommended_first(rows: list[Row], trivial: float) -> list[Row]:
    """By error, after the recommended one: the least error among those allowed, or the current design."""
    rows = sorted(rows, key=lambda row: (not row.finalist, to_nine_digits(row.outcome.mean)))
    current = next((row for row in rows if row.candidate.is_current), None)
    kept = current if current is not None and current.candidate.private else None
    few = max(FEW, 0.0 if current is None else current.clips)
    first = next((row for row in rows if row.candidate.can_be_best and row.clips <= few
                  and row.is_useful(trivial) and (kept is None or row.clearly_beats(kept))), kept)
    return rows if first is None else [first, *(row for row in rows if row is not first)]


def _over(problems: Iterable[Problem]) -> tuple[References, float]:
    """References and the unit of errors: root mean squares over the tables."""
    each = []
    for measure in map(measure_for, problems):
        whole = measure.measure if isinstance(measure, OnPart) else measure
        assert isinstance(whole, Reconstruction)
        each.append((whole.unit, measure.references))

    def root(values: Iterable[float]) -> float:
        return math.sqrt(sum(value**2 for value in values) / len(each))

    unit, named = root(one for one, _ in each), each[0][1]
    return replace(named, trivial=root(one * its.trivial for one, its in each) / unit,
                   random_guess=root(one * its.random_guess for one, its in each) / unit), unit


@dataclass
class _Search:
    """Candidates so far and what is known of them. Each round returns whether it finished."""

    scenario: Scenario
    dataset: Dataset
    sensitivity: str
    uploaded: Directions | None
    judge: Problem | None
    seconds: float
    options: Options
    families: Sequence[str]

    def __post_init__(self) -> None:
        self.problems: dict[Candidate, Problem] = {}
        self.outcomes: dict[Candidate, Outcome] = {}
        self.dropped: dict[Candidate, str] = {}
        self._keys: set[object] = set()
        self._posed: dict[str, Problem] = {}
        self._begun, self._done = math.nan, 0
        self._few = min(FIRST_ROUND, self.scenario.trials)
        if self.options.get("cache") is None:
            self.options["cache"] = TrialCache()  # all rounds share it

    def ranked(self) -> list[Candidate]:
        """Those with trials, the smallest mean error first; equals, up to rounding, in their order."""
        return sorted(self.outcomes, key=lambda candidate: to_nine_digits(self.outcomes[candidate].mean))

    def private(self) -> list[Candidate]:
        """Those of them that read nothing openly."""
        return [candidate for candidate in self.ranked() if candidate.private]

    def kinds(self) -> bool:
        return self.run(self._new(candidates(self.scenario, self.dataset, self.families)), self._few,
                        ahead=_AHEAD * self._few + 2 * FINALISTS * self.scenario.trials)

    def closer(self) -> bool:
        """More bounds, shares and uses for queries that do well."""
        errors = {candidate: self.outcomes[candidate].mean for candidate in self.private()}
        queries = dict.fromkeys(candidate.scenario.query for candidate, error in errors.items()
                                if error <= _CLOSE * next(iter(errors.values())))
        return self.run(self._new(candidate for query in queries
                                  for candidate in closer(self.scenario, self.dataset, query)), self._few,
                        ahead=2 * FINALISTS * self.scenario.trials)

    def climb(self) -> bool:
        for _ in range(_MOST_STEPS):
            new = self._new(candidate for leader in self.private()[:_LEADERS]
                            for candidate in neighbours(leader, self.scenario, self.dataset))
            if not new or not self.run(new, self._few, ahead=2 * FINALISTS * self.scenario.trials):
                return not new
        return True

    def by_expected_error(self, tables: list[Dataset]) -> Advice:
        """Every kind, bound and share, and small steps around the current design, on all tables."""
        here = Candidate(scenario=self.scenario)
        tried = self._new(one for one in (
            *candidates(self.scenario, self.dataset, self.families),
            *closer(self.scenario, self.dataset, self.scenario.query),
            *neighbours(here, self.scenario, self.dataset)) if has_expected_error(one.scenario))
        if not tried:
            return Advice(rows=(), dropped=self.dropped, references=None, trials=0, complete=True)
        references, unit = _over(self._pose(self.scenario, table) for table in tables)
        rows, progress, cancelled = list[Row](), self.options.get("progress"), self.options.get("cancelled")
        for at, candidate in enumerate(tried):
            if rows and (not self._seconds_left() or (cancelled is not None and cancelled())):
                break
            rows += self._expected(candidate, tables, unit)
            if progress is not None:
                progress(at + 1, len(tried))
        known = {row.candidate for row in rows} | set(self.dropped)
        return Advice(rows=tuple(_recommended_first(rows, references.trivial)), dropped=self.dropped, trials=0,
                      references=references, tables=len(tables), complete=known >= set(tried))

    def _expected(self, candidate: Candidate, tables: list[Dataset], unit: float) -> list[Row]:
        """The candidate with its expected errors; nothing where it fails."""
        problem, cache = self.problems[candidate], self.options["cache"]
        assert cache is not None
        key = f"expected {problem.key}"
        try:
            if key not in cache:
                found = expected_errors(problem, candidate.mechanism, tables)
                cache[key] = np.array([[each.total for each in found], clipped_parts(problem, tables)])
        except InputError as error:
            self.dropped[candidate] = str(error)
            return []
        errors, clips = cache[key]
        outcome = Outcome(mechanism=mechanism(candidate.mechanism), errors=errors.max(keepdims=True) / unit)
        return [Row(candidate=candidate, outcome=outcome, finalist=True, on_tables=errors / unit,
                    clips=float(clips.max()) if candidate.is_whole else 0.0)]

    def levers_of(self, best: Candidate) -> Levers | None:
        sensitivity = "own" if self.sensitivity == "tight" else self.sensitivity  # theorems as printed
        return levers(best.scenario, self.dataset, mechanism=best.mechanism, seconds=self._seconds_left(),
                      problem=replace(self.problems[best], sensitivity=sensitivity), **self._in_round(0))

    def _new(self, found: Iterable[Candidate]) -> list[Candidate]:
        """New candidates whose query serves the task; the others are dropped."""
        new = {key: candidate for candidate in found if (key := key_of(candidate, self.dataset)) not in self._keys}
        self._keys |= set(new)
        for candidate in new.values():
            scenario = candidate.scenario
            try:
                if scenario.query not in self._posed:
                    self._posed[scenario.query] = self._pose(scenario, self.dataset)
                posed = self._posed[scenario.query].with_scenario(scenario, mechanisms=(candidate.mechanism,))
                measure_for(posed)
            except InputError as error:
                self.dropped[candidate] = str(error)
            else:
                self.problems[candidate] = posed
        return [candidate for candidate in new.values() if candidate in self.problems]

    def _pose(self, scenario: Scenario, dataset: Dataset) -> Problem:
        posed = pose(scenario, dataset, sensitivity=self.sensitivity, uploaded=self.uploaded)
        return replace(posed, yardstick=self.judge)

    def run(self, some: Iterable[Candidate], trials: int, *, ahead: int) -> bool:
        """Run this many trials of some candidates, before so many ``ahead``; return whether all are done."""
        problems = {candidate: self.problems[candidate].with_scenario(candidate.scenario.changed(trials=trials))
                    for candidate in some}
        results = resume(list(problems.values()), seconds=self._seconds_left(), **self._in_round(ahead))
        for candidate, found in zip(problems, results, strict=True):
            outcome = None if found is None else found.outcomes[0]
            if outcome is not None and outcome.reason is not None:
                self.dropped[candidate] = outcome.reason
                del self.problems[candidate]
            elif outcome is not None and outcome.errors.size:
                known = self.outcomes.get(candidate)
                if known is None or known.errors.size < outcome.errors.size:
                    self.outcomes[candidate] = outcome
        self._done += sum(problem.trials for problem in problems.values())
        return all(found is not None and found.complete for found in results)

    def _seconds_left(self) -> float:
        if math.isnan(self._begun):
            self._begun = time.monotonic()
        return max(self.seconds - (time.monotonic() - self._begun), 0.0)

    def _in_round(self, ahead: int) -> Options:
        """The options with progress through all rounds."""
        progress, before = self.options.get("progress"), self._done
        report = None if progress is None else (lambda done, total: progress(before + done, before + total + ahead))
        return {**self.options, "progress": report}
