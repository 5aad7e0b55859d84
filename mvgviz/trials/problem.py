"""A problem: what is asked of one dataset with one budget. Mechanisms release an answer, tasks measure its error.

Regression is trained on some records and measured on the others: those held out are never protected or released here,
they only tell how good the answer is. Which records are held out follows from their number alone, not from the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mvgviz.design.sampling import Gram
from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.query.prior import Guess, Weighing
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup, ask, build, delta_of, scaled
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.tasks import Task
from mvgviz.validation import FloatArray, one_of

if TYPE_CHECKING:
    from mvgviz.trials.mechanisms.base import Mechanism

T = TypeVar("T")
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
class Problem:
    """``dataset`` has the declared ranges, ``table`` the scenario's scale (None for graphs); ``held_out``: the records
    kept for measuring, on the same scale. ``asked``: the query of these records; ``shared``: what was worked out of it
    once, for every problem that asks the same.

    ``sensitivity``: "own" (theorems the printed one, everything else the tight one), or one for all. ``mechanisms``:
    to be tried. ``worked_out``: a setup that is there already, used where it is that of the problem. ``weighing``: of a
    problem that is to be measured, how its rows count. ``yardstick``: the problem by whose needs it is judged instead
    of its own, where those are directions that its own noise does not have. ``own_task``: a person's own, in place of
    the scenario's.
    """

    scenario: Scenario
    dataset: Dataset = field(repr=False)
    table: Dataset | None = field(repr=False)
    held_out: Dataset | None = field(repr=False)
    asked: Query = field(repr=False)
    delta: float
    sensitivity: str = "own"
    mechanisms: tuple[str | Mechanism, ...] = ("mvg", "iid")
    uploaded: Directions | None = field(default=None, repr=False)
    worked_out: Setup | None = field(default=None, repr=False)
    weighing: Weighing | None = field(default=None, repr=False)
    yardstick: Problem | None = field(default=None, repr=False)
    own_task: Task | None = field(default=None, repr=False)
    shared: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def once(self, key: Hashable, work: Callable[[], T]) -> T:
        """Work something out for all problems that share it; it may depend on the answer and the key alone."""
        if key not in self.shared:
            self.shared[key] = work()
        return self.shared[key]  # type: ignore[no-any-return]

    @property
    def gram(self) -> Gram:
        """One pass over the records, for tasks that need no more."""
        return self.once("gram", lambda: Gram.of(self.asked.value))

    @property
    def guess(self) -> Guess:
        """The answer of someone who has not seen the data."""
        return self.once("guess", lambda: self.asked.guess(self.table))

    @property
    def query(self) -> Query:
        """What is asked of the records as they are, with the sensitivity that the theorems are to use."""
        query = self.asked
        return replace(query, printed_sensitivity=query.sensitivity) if self.sensitivity == "tight" else query

    @property
    def task(self) -> Task:
        """What the answer is used for."""
        return self.own_task or self.scenario.use

    @cached_property
    def key(self) -> str:
        """What the results of all its trials depend on, for one dataset."""
        chosen = tuple(each if isinstance(each, str) else each.name for each in self.mechanisms)
        judge = "" if self.yardstick is None else weighing_of(self).key  # type: ignore[union-attr]
        return (f"{self.sensitivity} {chosen} {self.uploaded_key} {judge} {self.task.key} {self.scenario.to_json()}")

    @property
    def uploaded_key(self) -> str | None:
        """Of directions from a file, which the scenario does not hold."""
        uploaded = self.uploaded if self.scenario.directions == "upload" else None
        return None if uploaded is None else uploaded.digest

    @property
    def trials(self) -> int:
        """Of all its mechanisms."""
        return self.scenario.trials * len(self.mechanisms)

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
        scenario = self.scenario
        weights = {part for k, part in scenario.need_weights.items() if k < self.query.rows}
        weighed = (len(weights) > 1 and scenario.judged == "needed" and self.unfit is None
                   and not scenario.use.predicts)  # all are needed, some more than others
        return scenario.judged if self.chosen is not None or weighed else "everything"

    @property
    def unfit(self) -> str | None:
        """Why errors cannot be on what is needed alone."""
        scenario = self.scenario
        if scenario.use.of_directions and scenario.judged == "needed" and len(scenario.needs) == 1:
            return ONE_NEEDED
        if scenario.needs_along == "features":
            return None
        if scenario.use.predicts:
            return BY_FEATURES
        return FOUND_ANEW if scenario.directions == "private" else None

    @property
    def chosen(self) -> list[int] | None:
        """The positions of the rows, or of the directions, that are judged; None: everything."""
        if self.yardstick is not None:
            return self.yardstick.chosen
        scenario, size = self.scenario, self.query.rows
        label = scenario.label if scenario.use.predicts else None
        if scenario.judged == "everything" or (scenario.use.predicts and (label is None or label >= size)):
            return None
        features = self.query.features  # the constant is needed by all, and is no feature
        needed = {k for k in scenario.needs if k < features}
        if self.unfit is not None or not 0 < len(needed) < features:
            if scenario.judged == "needed":
                return None
            raise InputError("to measure errors on the rest, some features must be needed: not all, not none"
                             if self.unfit is None else f"{self.unfit}; judge by everything")
        chosen = needed if scenario.judged == "needed" else set(range(features)) - needed
        return sorted(chosen | set(range(features, size)) | (set() if label is None else {label}))

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
        """The problem on those rows alone (and the same columns, where those are the same things), for measuring; each
        row is counted as much as it matters."""
        positions, weighing, query, table = self.positions, weighing_of(self), self.asked, self.table
        if positions is None:
            return self if weighing is None else replace(self, weighing=weighing)
        names = None if query.row_names is None else tuple(query.row_names[k] for k in positions)
        value = query.value[np.ix_(positions, positions)] if query.symmetric else query.value[positions]
        label = positions.index(self.scenario.label) if self.scenario.label in positions else self.scenario.label
        part = replace(self, asked=replace(query, value=value, row_names=names), worked_out=None, weighing=weighing,
                       scenario=self.scenario.changed(judged="everything", label=label), shared={})
        if table is None:
            part.shared["guess"] = self.guess.on(positions)
            return part
        if query.is_kernel:
            return replace(part, table=replace(table, matrix=table.matrix[:, positions]))
        if not (query.of_all_features or query.has_constant):  # positions are not those of the table
            return part
        return replace(part, table=rows_of(table, positions),
                       held_out=None if self.held_out is None else rows_of(self.held_out, positions))

    @property
    def epsilon(self) -> float:
        return self.scenario.epsilon

    @property
    def s2(self) -> float:
        """The L2 sensitivity that mechanisms with equal noise use."""
        return self.asked.printed_sensitivity if self.sensitivity == "printed" else self.asked.sensitivity

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
        if (known is not None and known.scenario == self.scenario and known.dataset is self.dataset
                and self.sensitivity == "own"):
            return {known.scenario.guarantee: known}
        return {}

    def redrawn_setup(self, guarantee: str, seed: int) -> Setup:
        """The same with another seed, so that private directions come out anew."""
        scenario, dataset = self.scenario.changed(guarantee=guarantee, seed=seed), self.dataset
        if self.table is not None:  # it is scaled already: private directions would do it again in every trial
            scenario, dataset = scenario.changed(scale="declared"), self.table
        return build(scenario, dataset, query=self.asked, uploaded=self.uploaded, tight=self.sensitivity == "tight")

    def with_scenario(self, scenario: Scenario, **changes: Any) -> Problem:
        """Another choice on the same data; refuses one that asks another question."""
        if question_key(scenario) == question_key(self.scenario):
            return replace(self, scenario=scenario, delta=delta_of(scenario, self.dataset), **changes)
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
    if problem.judged_on == "needed" and not scenario.use.predicts:
        weights = np.array([scenario.need_weights.get(k, 1.0) for k in kept])
    factors, both = np.sqrt(weights), query.symmetric or scenario.task != "reconstruction"  # others use moments
    if scenario.task == "reconstruction" and query.degree == 1:
        unit, sizes = _own_unit(problem, kept, along)
        factors *= sizes / math.sqrt(weights.sum() * query.cols)
    if along is not None:
        return Weighing(rows=factors[:, None] * along.matrix[:, kept].T, both=both, unit=unit)
    return Weighing(rows=factors, both=both, unit=unit) if unit or (weights < 1).any() else None


def _own_unit(problem: Problem, kept: list[int], along: Directions | None) -> tuple[str, FloatArray]:
    """The unit of these features (or directions) together, and what a difference of 1 in each is in it."""
    data, table = problem.dataset, problem.table
    assert table is not None  # tables and means are asked of one
    if along is not None:
        return PERCENT, np.asarray(100 / (table.widths @ np.abs(along.matrix[:, kept])))
    units = {data.units[k] for k in kept}
    alike = len(kept) == 1 or (len(units) == 1 and units != {""})
    whole = data.widths[kept] if alike else np.full(len(kept), 100.0)
    return (units.pop() or OWN) if alike else PERCENT, np.asarray(whole / table.widths[kept])


def question_key(scenario: Scenario) -> tuple[object, ...]:
    """What of a scenario decides the answer to a query and which records are held out."""
    return (scenario.data, scenario.query, scenario.scale, *scenario.parameters.values(), scenario.use.predicts,
            scenario.neighbours)


def pose(scenario: Scenario, dataset: Dataset, *, sensitivity: str = "own", uploaded: Directions | None = None,
         worked_out: Setup | None = None) -> Problem:
    """The problem of a scenario, asked of the training records where its task is regression.

    ``uploaded``: directions from a file. ``worked_out``: a setup whose answer and noise serve where they are the same.
    """
    kept, rest = split_records(dataset) if scenario.use.predicts and not scenario.is_graph else (dataset, None)
    table = None if scenario.is_graph else scaled(kept, scenario.scale)
    if worked_out is not None and worked_out.dataset is kept and (
            question_key(worked_out.scenario) == question_key(scenario)):
        query = worked_out.box
    else:
        query = ask(scenario, kept) if table is None else ask(scenario.changed(scale="declared"), table)
    return Problem(scenario=scenario, dataset=kept, table=table, asked=query, delta=delta_of(scenario, kept),
                   held_out=None if rest is None else scaled(rest, scenario.scale), uploaded=uploaded,
                   sensitivity=one_of("sensitivity", sensitivity, SENSITIVITIES), worked_out=worked_out)


def pose_each(scenarios: Iterable[Scenario], dataset: Dataset, *, sensitivity: str | None = None,
              known: Problem | None = None) -> list[Problem]:
    """The problem of each scenario; what several ask alike is asked once, and not what a ``known`` one has asked.

    Sensitivity (unless it is given) and directions from a file are those of the known one.
    """
    if sensitivity is None:
        sensitivity = "own" if known is None else known.sensitivity
    one_of("sensitivity", sensitivity, SENSITIVITIES)
    posed = {} if known is None else {
        question_key(known.scenario): replace(known, sensitivity=sensitivity, yardstick=None, own_task=None)}
    problems = []
    for scenario in scenarios:
        if question_key(scenario) not in posed:
            posed[question_key(scenario)] = pose(
                scenario, dataset, sensitivity=sensitivity, uploaded=None if known is None else known.uploaded,
                worked_out=None if known is None else known.worked_out)
        problems.append(posed[question_key(scenario)].with_scenario(scenario))
    return problems


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
