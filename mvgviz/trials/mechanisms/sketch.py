"""The Johnson–Lindenstrauss mechanism: a random projection of the lifted table.

The table is divided by ``rho = sup ||x - x'||``, because their neighbours move a record by at most 1. With every
singular value lifted by ``w``, the sketch's second moments are ``Wishart(X Xᵀ/rho² + w² I, s)/s``; the public ``w² I``
is subtracted. The sketch size s is the number of features, the least of full rank: noise grows with it.

Learners of records get the s *pseudo-records* of the sketch: random mixtures of all records and the lift, with the
second moments of the lifted table.

References
  [1] Blocki, Blum, Datta & Sheffet, The Johnson–Lindenstrauss transform itself preserves
      differential privacy, FOCS 2012: the covariance, and the constants.
  [2] Upadhyay, Random projections, graph sparsification, and differential privacy, ASIACRYPT
      2013, and later: the sketch itself is released for a table.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.ties import root
from mvgviz.query.dataset import Dataset
from mvgviz.trials.mechanisms.base import BOTH, Draws, Mechanism, Sampler, at_level, need_one_replaced
from mvgviz.trials.problem import Problem
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class SketchMoments(Sampler):
    """``unit (Wishart(R Rᵀ, s)/s - w² I)``: ``root`` is R, ``unit`` undoes the division by rho² and n."""

    root: FloatArray = field(repr=False)
    sketch: int
    lift: float
    unit: float

    def draw(self, draws: Draws) -> FloatArray:
        m = len(self.root)
        sketch = self.root @ draws.normals((m, self.sketch))
        moments = sketch @ sketch.transpose(0, 2, 1) / self.sketch
        moments[:, np.arange(m), np.arange(m)] -= self.lift**2
        return self.unit * moments


@dataclass(frozen=True, kw_only=True, eq=False)
class PseudoRecords(Sampler):
    """``middle + R N``, s columns: mixtures of the records about the middle of their ranges, on their scale."""

    root: FloatArray = field(repr=False)
    middle: FloatArray = field(repr=False)

    def draw(self, draws: Draws) -> FloatArray:
        return np.asarray(self.middle[:, None] + self.root @ draws.normals(self.root.shape))


def lift(epsilon: float, delta: float, sketch: int) -> float:
    """``w = 16 sqrt(s ln(2/delta)) ln(16 s/delta)/epsilon`` [1, Algorithm 3]."""
    log = math.log(delta)  # 1/delta may overflow
    return 16 * math.sqrt(sketch * (math.log(2) - log)) * (math.log(16 * sketch) - log) / epsilon


def _prepare(problem: Problem, level: str) -> Sampler:
    query, table = problem.query, problem.table
    if table is None or not query.has_moments or query.has_constant:
        raise InputError(f"a random projection needs the records of a table, got the {query.name} query")
    need_one_replaced(problem)
    if level in ("answer", "square") and query.is_table:
        if level == "answer" and problem.scenario.task == "kernel-ridge":
            return _pseudo_records(problem, table)
        raise InputError("it releases a sketch whose rows mix the records, not a noisy table; choose kernel ridge or a "
                         "task on second moments")
    factor = problem.gram.factor
    products = query.value * table.n_records if query.symmetric else factor @ factor.T
    rho2, w = float(table.widths @ table.widths), lift(problem.epsilon, problem.delta, query.rows)
    moments = SketchMoments(root=_lifted_root(products / rho2, w), sketch=query.rows, lift=w, size=query.rows**2,
                            unit=rho2 / table.n_records, level="answer" if query.symmetric else "moments")
    return at_level(moments, problem, level) if query.symmetric else moments


def _pseudo_records(problem: Problem, table: Dataset) -> PseudoRecords:
    """About the public middle: kernels see distances of records, not where 0 is."""
    middle = (table.lower + table.upper) / 2
    off, rho = table.matrix - middle[:, None], math.hypot(*table.widths.tolist())
    root = _lifted_root(off @ off.T / rho**2, lift(problem.epsilon, problem.delta, table.n_features))
    return PseudoRecords(root=rho / math.sqrt(table.n_records) * root, middle=middle, size=root.size)


def _lifted_root(products: FloatArray, w: float) -> FloatArray:
    """R with ``R Rᵀ`` the products plus ``w² I``."""
    return root(products + w**2 * np.eye(len(products)))


def _caution(problem: Problem) -> str | None:
    if problem.scenario.task != "kernel-ridge":
        return None
    return ("each pseudo-record mixes all records, and kernel ridge takes it for one; a random projection keeps second "
            "moments, not distances of records")


SKETCH = Mechanism(
    key="johnson-lindenstrauss", label="Johnson–Lindenstrauss", guarantee=BOTH, prepare=_prepare,
    applies="second moments of a table, kernel ridge on mixtures of its records", caution=_caution,
    reference="Blocki, Blum, Datta & Sheffet 2012 (covariance); Upadhyay 2013 (tables)")
