"""Dimension reduction: only the favoured features are released, the others are not asked at all.

What is missing is filled with the answer of evenly spread records: for kernel ridge those features no longer
tell the records learned from apart, and a prediction shrinks towards the middle of the label
where a new record is far from the middle of them.
"""

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise
from mvgviz.query.prior import guessed_moments
from mvgviz.scenario.resolve import ask, scaled
from mvgviz.trials.draws import Draws
from mvgviz.trials.mechanisms.base import BOTH, Derived, Mechanism, Sampler, at_level
from mvgviz.trials.mechanisms.gaussian import ANALYTIC
from mvgviz.trials.mechanisms.sketch import SKETCH
from mvgviz.trials.question import REGRESSIONS, Problem, Question, rows_of
from mvgviz.validation import FloatArray

_TABLES = ("identity", "mean", "covariance", "moments")


@dataclass(frozen=True, kw_only=True, eq=False)
class Filled(Derived):
    """A release of some features inside the answer of evenly spread records for all."""

    frame: FloatArray = field(repr=False)
    positions: list[int]
    level: str
    both_sides: bool

    @property
    def size(self) -> int:
        return self.source.size + int(self.frame.size)

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


def _reduced(mechanism: Mechanism, problem: Problem, level: str) -> Sampler:
    positions = _favoured(problem)
    question, scenario = problem.question, problem.scenario.changed(judged="everything", bound="none")
    if level == "square":
        return at_level(_reduced(mechanism, problem, "answer"), problem, level, known=None)
    dataset = rows_of(question.dataset, positions)
    small = replace(problem, scenario=scenario, question=Question(
        dataset=dataset, table=scaled(dataset, scenario.scale), held_out=None, query=ask(scenario, dataset)))
    part = mechanism.prepare(small, level)
    frame = question.guess.answer
    if level in ("moments", "component") and question.query.name == "identity":
        assert question.table is not None
        frame = guessed_moments(question.table).answer
    return Filled(source=part, frame=np.array(frame), positions=positions, level=level,
                  both_sides=level != "answer" or question.query.symmetric)


def _favoured(problem: Problem) -> list[int]:
    scenario, query = problem.scenario, problem.query
    if query.name not in _TABLES:
        raise InputError(f"dimension reduction keeps some features of a table, got the {query.name} query")
    if scenario.directions != "standard":
        raise InputError("dimension reduction keeps features; choose the features themselves as directions")
    size = query.rows - (query.name == "moments")
    positions = [k for k in scenario.needs if k < size]
    if not 0 < len(positions) < size:
        raise InputError("dimension reduction needs some features favoured, not all and not none")
    if scenario.task in REGRESSIONS and scenario.label not in positions:
        raise InputError("dimension reduction would drop the label; favour it too")
    return positions if size == query.rows else [*positions, size]


REDUCED_GAUSSIAN = Mechanism(
    key="reduced-gaussian", label="Gaussian, favoured features only", guarantee=BOTH,
    prepare=partial(_reduced, ANALYTIC), fields=("epsilon", "delta", "favoured", "needed"),
    applies="tables, means and covariances with some features favoured",
    reference="Balle & Wang 2018, on fewer features; the paper's discussion")
REDUCED_SKETCH = Mechanism(
    key="reduced-johnson-lindenstrauss", label="Johnson–Lindenstrauss, favoured features only", guarantee=BOTH,
    prepare=partial(_reduced, SKETCH), fields=("epsilon", "delta", "favoured", "needed"),
    applies="second moments of a table with some features favoured, kernel ridge on mixtures of its records",
    caution=SKETCH.caution,
    reference="Blocki et al. 2012, on fewer features; the paper's discussion")
