"""A problem: one question to one dataset with one budget. Mechanisms release an answer, tasks measure its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mvgviz.design.sampling import Gram
from mvgviz.errors import InputError, refuse
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.query.prior import Guess, Weighing
from mvgviz.query.queries import Query
from mvgviz.scenario.own_units import OWN, SHARES
from mvgviz.scenario.resolve import Setup, ask, build, delta_of, scaled
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.tasks import Task
from mvgviz.validation import FloatArray, one_of

if TYPE_CHECKING:
    from mvgviz.trials.mechanisms.base import Mechanism

T = TypeVar("T")
HELD_OUT = 0.28  # the part of the records that regression keeps for measuring: 97 of 345, as in the paper

BY_FEATURES = "regression learns from columns, not along other directions: its error counts all columns"
ONE_NEEDED = "components need at least 2 priority columns: errors count everything"
FOUND_ANEW = "every trial finds its own private directions: errors count everything"
PERCENT = SHARES[1]  # the unit of errors where columns have several
SENSITIVITIES = ("own", "tight", "printed")


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """``dataset`` has the declared ranges, ``table`` the scenario's scale (None for graphs), ``held_out`` the records
    kept for measuring. ``asked``: the query; ``shared``: what all problems of that query computed. ``sensitivity``:
    "own" (theorems the printed one, all else the tight one), or one for all. ``worked_out``: a setup to use where it
    fits. ``weighing``: how rows count. ``yardstick``: judge by this problem's priorities instead.
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
        """Compute something for all problems that share it; it may depend on the answer and the key alone."""
        if key not in self.shared:
            self.shared[key] = work()
        return self.shared[key]  # type: ignore[no-any-return]

    @property
    def gram(self) -> Gram:
        """One pass over the records, for tasks that need no more."""
        return self.once("gram", lambda: Gram.of(self.asked.value))

    @property
    def guess(self) -> Guess:
        """The no-data baseline."""
        return self.once("guess", lambda: self.asked.guess(self.table))

    @property
    def query(self) -> Query:
        """The query, with the sensitivity that the theorems use."""
        query = self.asked
        return replace(query, printed_sensitivity=query.sensitivity) if self.sensitivity == "tight" else query

    @property
    def task(self) -> Task:
        return self.own_task or self.scenario.use

    @cached_property
    def key(self) -> str:
        """All that the results of its trials depend on, for one dataset."""
        chosen = tuple(each if isinstance(each, str) else each.name for each in self.mechanisms)
        judge = "" if self.yardstick is None else weighing_of(self).key  # type: ignore[union-attr]
        return f"{self.sensitivity} {chosen} {self.uploaded_key} {judge} {self.task.key} {self.scenario.to_json()}"

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
        """The rows of the answer that errors count; None: all."""
        return None if self.along is not None else self.chosen

    @cached_property
    def along(self) -> Directions | None:
        """The directions that errors are measured along; None: the columns, or everything."""
        if self.yardstick is not None:
            return self.yardstick.along
        scenario = self.scenario
        if scenario.needs_along == "features" or self.judged_on == "everything":
            return None
        return self.setup(scenario.guarantee).need_directions

    @property
    def judged_on(self) -> str:
        """What errors count: everything, too, where priorities are missing or no fixed part of the answer."""
        if self.yardstick is not None:
            return self.yardstick.judged_on
        scenario = self.scenario
        weights = {part for k, part in scenario.need_weights.items() if k < self.query.rows}
        weighed = (len(weights) > 1 and scenario.judged == "priority" and self.unfit is None
                   and not scenario.use.predicts)  # all have priority, some more than others
        return scenario.judged if self.chosen is not None or weighed else "everything"

    @property
    def unfit(self) -> str | None:
        """Why errors cannot count priorities alone."""
        scenario, along = self.scenario, self.scenario.needs_along == "directions"
        if scenario.use.of_directions and scenario.judged == "priority" and len(scenario.needs) == 1:
            return ONE_NEEDED
        if along and scenario.use.predicts:
            return BY_FEATURES
        return FOUND_ANEW if along and scenario.directions == "private" else None

    @property
    def chosen(self) -> list[int] | None:
        """The positions of the rows, or of the directions, that are judged; None: everything."""
        if self.yardstick is not None:
            return self.yardstick.chosen
        scenario, size = self.scenario, self.query.rows
        label = scenario.label if scenario.use.predicts else None
        if scenario.judged == "everything" or (scenario.use.predicts and (label is None or label >= size)):
            return None
        features = self.query.features  # the constant always counts, and is no feature
        priority = {k for k in scenario.needs if k < features}
        if self.unfit is not None or not 0 < len(priority) < features:
            if scenario.judged == "priority":
                return None
            raise InputError("errors on other columns need some priority columns: not all, not none"
                             if self.unfit is None else f"{self.unfit}; judge everything")
        chosen = priority if scenario.judged == "priority" else set(range(features)) - priority
        return sorted(chosen | set(range(features, size)) | (set() if label is None else {label}))

    @property
    def whole(self) -> Problem:
        """The same problem, judged by everything."""
        return replace(self, scenario=self.scenario.changed(judged="everything"), yardstick=None)

    @property
    def judge(self) -> Problem | None:
        """The yardstick that others need to be judged like this one; None: their own priorities will do."""
        along = self.scenario.needs_along == "directions" and self.scenario.directions != "private"
        return self.yardstick or (self if along and self.along is not None else None)

    @cached_property
    def judged(self) -> Problem:
        """The problem on the judged rows alone (of a symmetric answer: and columns), each weighed by its importance."""
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
        """The factor by which exact noise grows for the same sensitivity."""
        return query.printed_sensitivity / query.sensitivity if self.sensitivity == "printed" else 1.0

    def setup(self, guarantee: str, family: str | None = None) -> Setup:
        """The scenario worked out under a guarantee, once; ``family``: of noise, instead of its own."""
        chosen, known, family = self.scenario, self.worked_out, family or self.scenario.family
        if (known is not None and known.scenario == chosen and known.dataset is self.dataset
                and self.sensitivity == "own" and (guarantee, family) == (chosen.guarantee, chosen.family)):
            return known
        if (guarantee, family) not in self._setups:
            self._setups[guarantee, family] = self.redrawn_setup(guarantee, chosen.seed, family=family)
        return self._setups[guarantee, family]

    @cached_property
    def _setups(self) -> dict[tuple[str, str], Setup]:
        return {}

    def redrawn_setup(self, guarantee: str, seed: int, family: str | None = None) -> Setup:
        """The same with another seed, so with other private directions."""
        scenario, dataset = self.scenario.changed(guarantee=guarantee, seed=seed,
                                                  family=family or self.scenario.family), self.dataset
        if self.table is not None:  # it is scaled already: private directions would do it again in every trial
            scenario, dataset = scenario.changed(scale="declared"), self.table
        return build(scenario, dataset, query=self.asked, uploaded=self.uploaded, tight=self.sensitivity == "tight")

    def with_scenario(self, scenario: Scenario, **changes: Any) -> Problem:
        """Another choice on the same data; refuses one that asks another question."""
        if question_key(scenario) == question_key(self.scenario):
            return replace(self, scenario=scenario, delta=delta_of(scenario, self.dataset), **changes)
        raise InputError("the scenario asks another question of the data; pose a new problem")


def weighing_of(problem: Problem) -> Weighing | None:
    """Return how the judged rows count, by importance (except in regression); None: all alike, as they are.

    Errors of a table or mean are in the columns' unit, or in percent of each range.
    """
    scenario, query, along = (problem.yardstick or problem).scenario, problem.query, problem.along
    kept = list(range(query.rows)) if problem.chosen is None else problem.chosen
    weights, unit = np.ones(len(kept)), ""
    if problem.judged_on == "priority" and not scenario.use.predicts:
        weights = np.array([scenario.need_weights.get(k, 1.0) for k in kept])
    factors, both = np.sqrt(weights), query.symmetric or scenario.task != "reconstruction"  # others use moments
    if scenario.task == "reconstruction" and query.degree == 1:
        unit, sizes = _own_unit(problem, kept, along)
        factors *= sizes / math.sqrt(weights.sum() * query.cols)
    if along is not None:
        return Weighing(rows=factors[:, None] * along.matrix[:, kept].T, both=both, unit=unit)
    return Weighing(rows=factors, both=both, unit=unit) if unit or (weights < 1).any() else None


def _own_unit(problem: Problem, kept: list[int], along: Directions | None) -> tuple[str, FloatArray]:
    """The common unit of these columns (or directions), and what a difference of 1 in each is in that unit."""
    data, table = problem.dataset, problem.table
    assert table is not None  # tables and means are asked of one
    if along is not None:
        return PERCENT, np.asarray(100 / (table.widths @ np.abs(along.matrix[:, kept])))
    units = {data.units[k] for k in kept}
    alike = len(kept) == 1 or (len(units) == 1 and units != {""})
    whole = data.widths[kept] if alike else np.full(len(kept), 100.0)
    return (units.pop() or OWN) if alike else PERCENT, np.asarray(whole / table.widths[kept])


def question_key(scenario: Scenario) -> tuple[object, ...]:
    """What of a scenario decides the answer and which records are held out."""
    return (scenario.data, scenario.query, scenario.scale, *scenario.parameters.values(), scenario.use.predicts,
            scenario.neighbours)


def pose(scenario: Scenario, dataset: Dataset, *, sensitivity: str = "own", uploaded: Directions | None = None,
         worked_out: Setup | None = None) -> Problem:
    """The problem of a scenario, whose regression sees training records alone; ``worked_out``: a setup to reuse."""
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
    """The problem of each scenario; the same question is asked once, and not again after a ``known`` problem."""
    if sensitivity is None:
        sensitivity = "own" if known is None else known.sensitivity
    one_of("sensitivity", sensitivity, SENSITIVITIES)
    posed, files = dict[tuple[object, ...], Problem](), dict[str, Any]()
    if known is not None:
        files = {"uploaded": known.uploaded, "worked_out": known.worked_out}
        posed = {question_key(known.scenario): replace(known, sensitivity=sensitivity, yardstick=None, own_task=None)}
    problems = []
    for scenario in scenarios:
        key = question_key(scenario)
        if key not in posed:
            posed[key] = pose(scenario, dataset, sensitivity=sensitivity, **files)
        problems.append(posed[key].with_scenario(scenario))
    return problems


def rows_of(dataset: Dataset, positions: list[int]) -> Dataset:
    """Some of the features; positions beyond them stand for the constant of joint moments, which no table holds."""
    return dataset.only(k for k in positions if k < dataset.n_features)


def split_records(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """Records to learn from and records (28 %) to measure on, shuffled by their number alone."""
    n = dataset.n_records
    refuse(n < 4, f"regression needs at least 4 records: some to learn from, others to measure on; got {n}")
    order = np.random.default_rng(n).permutation(n)
    held_out = math.floor(HELD_OUT * n + 0.5)
    parts = order[held_out:], order[:held_out]
    learn, measure = (replace(dataset, matrix=dataset.matrix[:, np.sort(part)]) for part in parts)
    return learn, measure
