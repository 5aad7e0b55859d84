"""What mechanisms are given and tasks are measured on: one question, one budget, one dataset.

Regression is trained on some records and measured on the others: those held out are never protected or released here,
they only tell how good the answer is. Which records are held out follows from their number alone, not from the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from mvgviz.design.sampling import Gram
from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.query.prior import Guess
from mvgviz.query.queries import Query
from mvgviz.query.weighing import Weighing
from mvgviz.scenario.resolve import Setup, ask, build, delta_of, scaled
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray, one_of

if TYPE_CHECKING:
    from mvgviz.trials.tasks.base import Measure, Task

REGRESSIONS = ("kernel-ridge", "linear-ridge")
OF_DIRECTIONS = ("first-component", "covariance-estimation", "subspace")
HELD_OUT = 0.28
"""The share of records that regression keeps for measuring: 97 of 345, as in the paper."""

BY_FEATURES = "regression learns from features, not along other directions: its error is on all features"
"""Why there is no other error where directions are needed."""

ONE_NEEDED = "components need at least 2 needed features: errors are on everything"
FOUND_ANEW = "private directions are found anew in every trial: errors are on everything"

PERCENT, OWN = "% of each range", "own units"
"""What errors are in where features have several units, and where one feature's unit has no name."""

SENSITIVITIES = ("own", "tight", "printed")


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """A query of a dataset, and everything derived from it once.

    ``dataset`` has the declared ranges, ``table`` the scenario's scale (None for graphs);
    ``held_out`` are the records kept for measuring, on the same scale.
    """

    dataset: Dataset = field(repr=False)
    table: Dataset | None = field(repr=False)
    held_out: Dataset | None = field(repr=False)
    query: Query
    part: Guess | None = field(default=None, repr=False)

    @cached_property
    def gram(self) -> Gram:
        """One pass over the records, for tasks that need no more."""
        return Gram.of(self.query.value)

    @cached_property
    def guess(self) -> Guess:
        """The answer of someone who has not seen the data."""
        return self.query.guess(self.table) if self.part is None else self.part

    @cached_property
    def measures(self) -> dict[tuple[object, ...], Measure]:
        """What tasks prepared for it (see ``mvgviz.trials.tasks.measure_for``)."""
        return {}

    def on(self, positions: list[int]) -> Question:
        """The same about some rows of the answer (and the same columns, where those are the same things)."""
        query, block = self.query, np.ix_(positions, positions)
        names = None if query.row_names is None else tuple(query.row_names[k] for k in positions)
        part = replace(query, value=query.value[block] if query.symmetric else query.value[positions], row_names=names)
        if self.table is None:
            return replace(self, query=part, part=self.guess.on(positions))
        if query.is_kernel:
            return replace(self, query=part, table=replace(self.table, matrix=self.table.matrix[:, positions]))
        table, held_out = (None if rows is None else rows_of(rows, positions) for rows in (self.table, self.held_out))
        return replace(self, query=part, table=table, held_out=held_out)


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """``sensitivity``: "own" (theorems the printed one, everything else the tight one), or one for all.

    ``worked_out``: a setup that is there already, used where it is that of the problem. ``weighing``: of a problem that
    is to be measured, how its rows count. ``yardstick``: the problem by whose needs it is judged instead of its own,
    where those are directions that its own noise does not have. ``own_task``: a person's own, in place of the
    scenario's.
    """

    scenario: Scenario
    question: Question = field(repr=False)
    delta: float
    sensitivity: str = "own"
    uploaded: Directions | None = field(default=None, repr=False)
    worked_out: Setup | None = field(default=None, repr=False)
    weighing: Weighing | None = field(default=None, repr=False)
    yardstick: Problem | None = field(default=None, repr=False)
    own_task: Task | None = field(default=None, repr=False)

    @property
    def query(self) -> Query:
        """What is asked of the records as they are, with the sensitivity that the theorems are to use."""
        query = self.question.query
        return replace(query, printed_sensitivity=query.sensitivity) if self.sensitivity == "tight" else query

    @property
    def positions(self) -> list[int] | None:
        """The rows of the answer that errors are measured on; None: all of them, as where nothing more is needed."""
        return None if self.along is not None else self.chosen

    @cached_property
    def along(self) -> Directions | None:
        """The directions that errors are measured along; None: the features, or everything."""
        if self.yardstick is not None:
            return self.yardstick.along
        scenario = self.scenario
        if scenario.needs_along == "features" or self.judged_on == "everything":
            return None
        return self.setup(scenario.guarantee).need_directions

    @property
    def judged_on(self) -> str:
        """What errors are on: everything, too, where nothing is needed, or what is needed is no fixed part."""
        if self.yardstick is not None:
            return self.yardstick.judged_on
        return self.scenario.judged if self.chosen is not None or self._weighed else "everything"

    @property
    def _weighed(self) -> bool:
        """Whether all are needed, some more than others."""
        scenario = self.scenario
        parts = {part for k, part in scenario.need_weights.items() if k < self.query.rows}
        return len(parts) > 1 and scenario.judged == "needed" and self.unfit is None and (
            scenario.task not in REGRESSIONS)

    @property
    def unfit(self) -> str | None:
        """Why errors cannot be on what is needed alone."""
        scenario = self.scenario
        if scenario.task in OF_DIRECTIONS and scenario.judged == "needed" and len(scenario.needs) == 1:
            return ONE_NEEDED
        if scenario.needs_along == "features":
            return None
        if scenario.task in REGRESSIONS:
            return BY_FEATURES
        return FOUND_ANEW if scenario.directions == "private" else None

    @property
    def chosen(self) -> list[int] | None:
        """The positions of the rows, or of the directions, that are judged; None: everything."""
        if self.yardstick is not None:
            return self.yardstick.chosen
        scenario, size = self.scenario, self.query.rows
        regression = scenario.task in REGRESSIONS
        if scenario.judged == "everything" or (regression and (scenario.label is None or scenario.label >= size)):
            return None
        if self.unfit is not None:
            if scenario.judged == "needed":
                return None
            raise InputError(f"{self.unfit}; judge by everything")
        features = self.query.features  # the constant is needed by all, and is no feature
        needed = {k for k in scenario.needs if k < features}
        if not 0 < len(needed) < features:
            if scenario.judged == "needed":
                return None
            raise InputError("to measure errors on the rest, some features must be needed: not all, not none")
        chosen = needed if scenario.judged == "needed" else set(range(features)) - needed
        if regression and scenario.label is not None:
            chosen |= {scenario.label}
        return sorted(chosen | set(range(features, size)))

    @property
    def whole(self) -> Problem:
        """The same problem, judged by everything."""
        return replace(self, scenario=self.scenario.changed(judged="everything"), yardstick=None)

    @property
    def judge(self) -> Problem | None:
        """The problem that others must have as yardstick to be judged as this one is; None: their own needs will do."""
        along = self.scenario.needs_along == "directions" and self.scenario.directions != "private"
        return self.yardstick or (self if along and self.along is not None else None)

    @cached_property
    def judged(self) -> Problem:
        """The problem on those rows alone, for measuring, each counted as much as it matters."""
        positions, weighing = self.positions, weighing_of(self)
        if positions is None:
            return self if weighing is None else replace(self, weighing=weighing)
        label = positions.index(self.scenario.label) if self.scenario.label in positions else self.scenario.label
        return replace(self, question=self.question.on(positions), worked_out=None, weighing=weighing,
                       scenario=self.scenario.changed(judged="everything", label=label))

    @property
    def epsilon(self) -> float:
        return self.scenario.epsilon

    @property
    def s2(self) -> float:
        """The L2 sensitivity that mechanisms with equal noise use."""
        query = self.question.query
        return query.printed_sensitivity if self.sensitivity == "printed" else query.sensitivity

    def enlargement(self, query: Query) -> float:
        """By how much noise calibrated exactly must grow to stand on the same sensitivity."""
        return query.printed_sensitivity / query.sensitivity if self.sensitivity == "printed" else 1.0

    def setup(self, guarantee: str) -> Setup:
        """The scenario worked out under a guarantee, once."""
        if guarantee not in self._setups:
            self._setups[guarantee] = self.redrawn_setup(guarantee, self.scenario.seed)
        return self._setups[guarantee]

    @cached_property
    def _setups(self) -> dict[str, Setup]:
        known = self.worked_out
        if known is None or known.scenario != self.scenario or known.dataset is not self.question.dataset:
            return {}
        return {known.scenario.guarantee: known} if self.sensitivity == "own" else {}

    def redrawn_setup(self, guarantee: str, seed: int) -> Setup:
        """The same with another seed, so that private directions come out anew."""
        scenario, question = self.scenario.changed(guarantee=guarantee, seed=seed), self.question
        asked = partial(build, query=question.query, uploaded=self.uploaded, tight=self.sensitivity == "tight")
        if question.table is None:
            return asked(scenario, question.dataset)
        # The table is scaled already: private directions would do it again in every trial.
        return asked(scenario.changed(scale="declared"), question.table)

    def with_scenario(self, scenario: Scenario) -> Problem:
        """Another choice on the same data; refuses one that asks another question."""
        if question_key(scenario) == question_key(self.scenario):
            return replace(self, scenario=scenario, delta=delta_of(scenario, self.question.dataset))
        raise InputError("the scenario asks another question of the data; pose the problem anew")


def weighing_of(problem: Problem) -> Weighing | None:
    """How the rows that are judged count; None: all alike, as they are.

    The needed count as much as they matter, but not in regression, where a feature is in or out; where other directions
    are needed they are looked at as mixtures of rows. The error of a table or mean is a root mean square in the
    features' own unit, or in percent of each range where they have several.
    """
    scenario, query, along = (problem.yardstick or problem).scenario, problem.query, problem.along
    kept = list(range(query.rows)) if problem.chosen is None else problem.chosen
    weights, unit = np.ones(len(kept)), ""
    if problem.judged_on == "needed" and scenario.task not in REGRESSIONS:
        weights = np.array([scenario.need_weights.get(k, 1.0) for k in kept])
    factors, both = np.sqrt(weights), query.symmetric or scenario.task != "reconstruction"  # others use moments
    if scenario.task == "reconstruction" and query.degree == 1:
        unit, sizes = _own_unit(problem.question, kept, along)
        factors *= sizes / math.sqrt(weights.sum() * query.cols)
    if along is not None:
        return Weighing(rows=factors[:, None] * along.matrix[:, kept].T, both=both, unit=unit)
    return Weighing(rows=factors, both=both, unit=unit) if unit or (weights < 1).any() else None


def _own_unit(question: Question, kept: list[int], along: Directions | None) -> tuple[str, FloatArray]:
    """The unit of these features (or directions) together, and what a difference of 1 in each is in it."""
    data, table = question.dataset, question.table
    assert table is not None  # tables and means are asked of one
    if along is not None:
        return PERCENT, np.asarray(100 / (table.widths @ np.abs(along.matrix[:, kept])))
    units = {data.units[k] for k in kept}
    alike = len(kept) == 1 or (len(units) == 1 and units != {""})
    whole = data.widths[kept] if alike else np.full(len(kept), 100.0)
    return (units.pop() or OWN) if alike else PERCENT, np.asarray(whole / table.widths[kept])


def question_key(scenario: Scenario) -> tuple[object, ...]:
    """What of a scenario decides the answer to a query and which records are held out."""
    return (scenario.data, scenario.query, scenario.scale, 0.0 if scenario.is_idle("length") else scenario.length,
            scenario.task in REGRESSIONS, scenario.neighbours)


def pose(scenario: Scenario, dataset: Dataset, *, sensitivity: str = "own", question: Question | None = None,
         uploaded: Directions | None = None, worked_out: Setup | None = None) -> Problem:
    """The problem of a scenario; ``question`` saves asking again, ``uploaded`` are directions from a file."""
    one_of("sensitivity", sensitivity, SENSITIVITIES)
    question = ask_once(scenario, dataset) if question is None else question
    return Problem(scenario=scenario, question=question, delta=delta_of(scenario, question.dataset),
                   sensitivity=sensitivity, uploaded=uploaded, worked_out=worked_out)


def pose_each(scenarios: Iterable[Scenario], dataset: Dataset, *, sensitivity: str | None = None,
              known: Problem | None = None) -> list[Problem]:
    """The problem of each scenario; what several ask alike is asked once, and not what a ``known`` one has asked.

    Sensitivity (unless it is given) and directions from a file are those of the known one.
    """
    if sensitivity is None:
        sensitivity = "own" if known is None else known.sensitivity
    questions = {} if known is None else {question_key(known.scenario): known.question}
    problems = []
    for scenario in scenarios:
        posed = pose(scenario, dataset, sensitivity=sensitivity, question=questions.get(question_key(scenario)),
                     uploaded=None if known is None else known.uploaded,
                     worked_out=None if known is None else known.worked_out)
        questions[question_key(scenario)] = posed.question
        problems.append(posed)
    return problems


def ask_once(scenario: Scenario, dataset: Dataset) -> Question:
    """The scenario's question, of the training records where its task is regression."""
    if scenario.is_graph:
        return Question(dataset=dataset, table=None, held_out=None, query=ask(scenario, dataset))
    kept, rest = split_records(dataset) if scenario.task in REGRESSIONS else (dataset, None)
    table = scaled(kept, scenario.scale)
    return Question(dataset=kept, table=table, held_out=None if rest is None else scaled(rest, scenario.scale),
                    query=ask(scenario.changed(scale="declared"), table))


def rows_of(dataset: Dataset, positions: list[int]) -> Dataset:
    """Some of the features; a position beyond them is the constant of joint moments, which a table does not hold."""
    return dataset.only(k for k in positions if k < dataset.n_features)


def split_records(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """Records to learn from and records to measure on (28 %), shuffled by their number alone."""
    n = dataset.n_records
    if n < 4:
        raise InputError(f"regression must have at least 4 records, to learn from some and measure on others, got {n}")
    order = np.random.default_rng(n).permutation(n)
    held_out = math.floor(HELD_OUT * n + 0.5)
    parts = order[held_out:], order[:held_out]
    learn, measure = (replace(dataset, matrix=dataset.matrix[:, np.sort(part)]) for part in parts)
    return learn, measure
