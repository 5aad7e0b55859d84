"""Dimension reduction: only priority columns (or directions) are released.

The others are filled with the answer of evenly spread records. For kernel ridge they no longer tell records apart, so a
prediction shrinks towards the middle of the label where a new record is far from their middle.
"""

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.directions import Directions
from mvgviz.noise.moment_noise import MomentNoise
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.neighbours import Neighbours
from mvgviz.query.prior import guessed_moments
from mvgviz.scenario.resolve import ask, scaled
from mvgviz.scenario.scenario import DIRECTION_FIELDS
from mvgviz.trials.mechanisms.base import BOTH, Draws, Mechanism, Moments, Sampler, at_level
from mvgviz.trials.mechanisms.gaussian import ANALYTIC, GaussianAnswer
from mvgviz.trials.mechanisms.sketch import SKETCH
from mvgviz.trials.problem import BY_FEATURES, Problem, rows_of
from mvgviz.validation import FloatArray

NAMED = {"features": "columns", "directions": "directions"}
_UNASKED = 1e-26  # the squared weight of a direction that is not released, beside 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Filled(Sampler):
    """A release of some features, filled up with the answer of evenly spread records."""

    source: Sampler
    frame: FloatArray = field(repr=False)
    positions: list[int]
    both_sides: bool

    def draw(self, draws: Draws) -> FloatArray:
        released = self.source.draw(draws)
        frame = self.frame if self.both_sides else self.frame[:, : released.shape[2]]  # a sketch has fewer columns
        whole = np.repeat(frame[None], draws.count, axis=0)
        if self.both_sides:
            whole[np.ix_(range(draws.count), self.positions, self.positions)] = released
        else:
            whole[:, self.positions] = released
        return whole

    def moment_noise(self, released: FloatArray) -> MomentNoise | None:
        kept = np.ix_(range(len(released)), self.positions, self.positions)
        part = self.source.moment_noise(released[kept])
        if part is None:
            return None
        root = np.zeros_like(released)
        root[kept] = part.root
        return MomentNoise(root=root)


@dataclass(frozen=True, kw_only=True, eq=False)
class FilledAlong(Sampler):
    """A release along some directions (``priority``, in columns), filled up with that of evenly spread records."""

    source: Sampler
    frame: FloatArray = field(repr=False)
    priority: FloatArray = field(repr=False)
    both_sides: bool

    def draw(self, draws: Draws) -> FloatArray:
        w, released = self.priority, self.source.draw(draws)
        if self.both_sides:
            return np.asarray(self.frame + w @ (released - w.T @ self.frame @ w) @ w.T)
        return np.asarray(self.frame + w @ (released - w.T @ self.frame))

    def moment_noise(self, released: FloatArray) -> MomentNoise | None:
        w = self.priority
        part = self.source.moment_noise(w.T @ released @ w)
        return None if part is None else MomentNoise(root=w @ part.root @ w.T)


def _reduced(mechanism: Mechanism, problem: Problem, level: str) -> Sampler:
    if problem.scenario.needs_along == "directions":
        return _along(mechanism, problem, level)
    positions = _priority_positions(problem)
    scenario = problem.scenario.changed(judged="everything", bound="none")
    if level == "square":
        return at_level(_reduced(mechanism, problem, "answer"), problem, level)
    dataset = rows_of(problem.dataset, positions)
    small = replace(problem, scenario=scenario, yardstick=None, dataset=dataset, held_out=None, shared={},
                    table=scaled(dataset, scenario.scale), asked=ask(scenario, dataset))
    part, frame = mechanism.prepare(small, level), _frame(problem, level)
    return Filled(source=part, frame=frame, positions=positions, level=level, size=part.size + frame.size, mu=part.mu,
                  both_sides=level != "answer" or problem.query.symmetric)


def _along(mechanism: Mechanism, problem: Problem, level: str) -> Sampler:
    """Equal noise on the answer along priority directions alone, ``WᵀA`` (or ``WᵀA W``)."""
    scenario, query = problem.scenario, problem.query
    if mechanism is not ANALYTIC:
        raise InputError("a sketch keeps columns; choose the columns themselves as directions")
    if scenario.directions == "private":
        raise InputError("to find private directions it would release the whole answer, so it would leave nothing out")
    refuse(scenario.use.predicts, BY_FEATURES)
    positions, directions = _priority_positions(problem), problem.setup(scenario.guarantee).need_directions
    if level == "square":
        return at_level(_along(mechanism, problem, "answer"), problem, level)
    w, both = directions.matrix[:, positions], query.symmetric
    s2 = sensitivity_along(query.neighbours, directions, positions, symmetric=both) * problem.enlargement(query)
    std = s2 / float(gaussian_mu(problem.epsilon, problem.delta))
    unit = NoiseSide.identity(len(positions))
    rows = NoiseSide.of(unit.directions, np.full(len(positions), std if both else std * std))
    value = w.T @ query.value @ w if both else w.T @ query.value
    frame, mu = _frame(problem, level), s2 / problem.enlargement(query) / std
    part: Sampler = GaussianAnswer(value=value, rows=rows, cols=rows if both else NoiseSide.identity(query.cols), mu=mu,
                                   size=value.size)
    if level in ("moments", "component") and not both:
        known = rows.covariance() if "subtract" in scenario.post else None
        part = Moments(source=part, n_records=query.cols, known=known, size=part.size, mu=mu)
    return FilledAlong(source=part, frame=frame, priority=w, level=level, both_sides=level != "answer" or both, mu=mu,
                       size=part.size + frame.size)


def sensitivity_along(neighbours: Neighbours, directions: Directions, positions: list[int], *, symmetric: bool
                      ) -> float:
    """The most that a record moves an answer along these directions, never too small: the others weigh near 0."""
    variances = np.full(directions.size, 1 / _UNASKED)
    variances[positions] = 1.0
    side = NoiseSide.of(directions, variances)
    return neighbours.worst(side, side if symmetric else NoiseSide.identity(1)).mu


def _frame(problem: Problem, level: str) -> FloatArray:
    """The filling: the answer, or the second moments, of evenly spread records."""
    if level in ("moments", "component") and problem.query.is_table:
        assert problem.table is not None
        return guessed_moments(problem.table).answer
    return np.array(problem.guess.answer)


def _priority_positions(problem: Problem) -> list[int]:
    scenario, query = problem.scenario, problem.query
    refuse(not query.degree, f"dimension reduction keeps some columns of a table, got the {query.name} query")
    if scenario.directions != "standard" and scenario.needs_along == "features" and not scenario.priority:
        raise InputError("dimension reduction keeps priority columns or directions: choose some")
    size = query.features
    positions = [k for k in scenario.needs if k < size]
    if not 0 < len(positions) < size:
        raise InputError(f"dimension reduction needs some priority {NAMED[scenario.needs_along]}: not all, not none")
    if scenario.use.predicts and scenario.label not in positions:
        raise InputError("dimension reduction would drop the label; give it priority too")
    return positions if size == query.rows else [*positions, size]


REDUCED_GAUSSIAN = Mechanism(
    key="reduced-gaussian", label="Gaussian, priority columns only", guarantee=BOTH, released=True,
    prepare=partial(_reduced, ANALYTIC),
    fields=("epsilon", "delta", "priority_directions", "priority", "allocation", "mode", *DIRECTION_FIELDS),
    applies="tables, means and covariances with priority columns or directions",
    reference="Balle & Wang 2018, on fewer columns; the paper's discussion")
REDUCED_SKETCH = Mechanism(
    key="reduced-johnson-lindenstrauss", label="Johnson–Lindenstrauss, priority columns only", guarantee=BOTH,
    prepare=partial(_reduced, SKETCH), fields=("epsilon", "delta", "priority_directions", "priority"),
    applies="second moments of a table with priority columns, kernel ridge on mixtures of its records",
    caution=SKETCH.caution,
    reference="Blocki et al. 2012, on fewer columns; the paper's discussion")
