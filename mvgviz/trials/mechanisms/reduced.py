"""Dimension reduction: a random projection of the records, or a release of priority columns (or directions) alone.

*The Johnson–Lindenstrauss mechanism* projects the lifted table, divided by ``rho = sup ||x - x'||``: neighbours move a
record by at most 1. With every singular value lifted by ``w``, the sketch's second moments are
``Wishart(X Xᵀ/rho² + w² I, s)/s``, less the public ``w² I``; s is the number of features. Learners of records get the s
*pseudo-records* of the sketch. *Priority columns alone*: others are filled with the answer of evenly spread records.

References
  [1] Blocki, Blum, Datta & Sheffet, The Johnson–Lindenstrauss transform itself preserves
      differential privacy, FOCS 2012: the covariance, and the constants.
  [2] Upadhyay, Random projections, graph sparsification, and differential privacy, ASIACRYPT
      2013, and later: the sketch itself is released for a table.
"""

import math
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.directions import Directions
from mvgviz.noise.moment_noise import MomentNoise
from mvgviz.noise.sides import NoiseSide
from mvgviz.noise.ties import root
from mvgviz.query.neighbours import Neighbours
from mvgviz.query.prior import guessed_moments
from mvgviz.scenario.resolve import ask, scaled
from mvgviz.scenario.scenario import DIRECTION_FIELDS
from mvgviz.trials.mechanisms.base import BOTH, Draws, Mechanism, Moments, Sampler, at_level, need_one_replaced
from mvgviz.trials.mechanisms.gaussian import ANALYTIC, GaussianAnswer
from mvgviz.trials.problem import BY_FEATURES, Problem, rows_of
from mvgviz.validation import FloatArray


def _sketch_moments(draws: Draws, *, root: FloatArray, lift: float, unit: float) -> FloatArray:
    """``unit (Wishart(R Rᵀ, s)/s - w² I)``: ``root`` is R, ``unit`` undoes the division by rho² and n."""
    m = len(root)
    sketch = root @ draws.normals((m, m))
    moments = sketch @ sketch.transpose(0, 2, 1) / m
    moments[:, np.arange(m), np.arange(m)] -= lift**2
    return unit * moments


def _pseudo_records(draws: Draws, *, root: FloatArray, middle: FloatArray) -> FloatArray:
    """``middle + R N``, s columns: mixtures of the records about the middle of their ranges, on their scale."""
    return np.asarray(middle[:, None] + root @ draws.normals(root.shape))


def lift(epsilon: float, delta: float, sketch: int) -> float:
    """``w = 16 sqrt(s ln(2/delta)) ln(16 s/delta)/epsilon`` [1, Algorithm 3]."""
    log = math.log(delta)  # 1/delta may overflow
    return 16 * math.sqrt(sketch * (math.log(2) - log)) * (math.log(16 * sketch) - log) / epsilon


def _sketched(problem: Problem, level: str) -> Sampler:
    query, table = problem.query, problem.table
    if table is None or not query.has_moments or query.has_constant:
        raise InputError(f"a random projection needs the records of a table, got the {query.name} query")
    need_one_replaced(problem)
    if level in ("answer", "square") and query.is_table:
        refuse(level != "answer" or problem.scenario.task != "kernel-ridge", "it releases a sketch whose rows mix the "
               "records, not a noisy table; choose kernel ridge or a task on second moments")
        middle = (table.lower + table.upper) / 2  # public: kernels see distances of records, not where 0 is
        off, rho = table.matrix - middle[:, None], math.hypot(*table.widths.tolist())
        root = _lifted_root(off @ off.T / rho**2, lift(problem.epsilon, problem.delta, table.n_features))
        return Sampler(size=root.size, law=partial(_pseudo_records, root=rho / math.sqrt(table.n_records) * root,
                                                  middle=middle))
    factor = problem.gram.factor
    products = query.value * table.n_records if query.symmetric else factor @ factor.T
    rho2, w = float(table.widths @ table.widths), lift(problem.epsilon, problem.delta, query.rows)
    moments = Sampler(size=query.rows**2, level="answer" if query.symmetric else "moments", law=partial(
        _sketch_moments, root=_lifted_root(products / rho2, w), lift=w, unit=rho2 / table.n_records))
    return at_level(moments, problem, level) if query.symmetric else moments


def _lifted_root(products: FloatArray, w: float) -> FloatArray:
    """R with ``R Rᵀ`` the products plus ``w² I``."""
    return root(products + w**2 * np.eye(len(products)))


SKETCH = Mechanism(
    key="johnson-lindenstrauss", label="Johnson–Lindenstrauss", guarantee=BOTH, prepare=_sketched,
    applies="second moments of a table, kernel ridge on mixtures of its records",
    caution=lambda problem: None if problem.scenario.task != "kernel-ridge" else (
        "each pseudo-record mixes all records, and kernel ridge takes it for one; a random projection keeps second "
        "moments, not distances of records"),
    reference="Blocki, Blum, Datta & Sheffet 2012 (covariance); Upadhyay 2013 (tables)")


NAMED = {"features": "columns", "directions": "directions"}
_UNASKED = 1e-26  # the squared weight of a direction that is not released, beside 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Filled(Sampler):
    """A release along some directions (``kept``, in columns), filled up with that of evenly spread records."""

    source: Sampler
    frame: FloatArray = field(repr=False)
    kept: FloatArray = field(repr=False)
    both_sides: bool

    def draw(self, draws: Draws) -> FloatArray:
        w, released = self.kept, self.source.draw(draws)
        if self.both_sides:
            return np.asarray(self.frame + w @ (released - w.T @ self.frame @ w) @ w.T)
        frame = self.frame[:, : released.shape[2]]  # a sketch has fewer columns
        return np.asarray(frame + w @ (released - w.T @ frame))

    def moment_noise(self, released: FloatArray) -> MomentNoise | None:
        w = self.kept
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
    part, frame = mechanism.prepare(small, level), np.array(_frame(problem, level))
    both = level != "answer" or problem.query.symmetric
    frame[np.ix_(positions, positions) if both else positions] = 0.0  # what is released replaces it to the last bit
    return Filled(source=part, frame=frame, kept=np.eye(problem.query.rows)[:, positions], level=level, mu=part.mu,
                  size=part.size + frame.size, both_sides=both)


def _along(mechanism: Mechanism, problem: Problem, level: str) -> Sampler:
    """Equal noise on the answer along priority directions alone, ``WᵀA`` (or ``WᵀA W``)."""
    scenario, query = problem.scenario, problem.query
    refuse(mechanism is not ANALYTIC, "a sketch keeps columns; choose the columns themselves as directions")
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
    return Filled(source=part, frame=frame, kept=w, level=level, both_sides=level != "answer" or both, mu=mu,
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
    return problem.guess.answer


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
