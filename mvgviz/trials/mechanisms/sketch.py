"""The Johnson–Lindenstrauss mechanism: a random projection of the lifted table.

With ``rho = sup ||x - x'||`` (their neighbours move a record by at most 1, so the table is divided by it) and every
singular value lifted by ``w``, the sketch's second moments are ``Wishart(X Xᵀ/rho² + w² I, s)/s``; ``w² I`` is public
and is subtracted. The sketch size s is the number of features, the least that has full rank: noise grows with it.

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
from mvgviz.trials.draws import Draws
from mvgviz.trials.mechanisms.base import BOTH, Mechanism, Sampler, Untold, at_level
from mvgviz.trials.question import Problem
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class SketchMoments(Untold):
    """``unit (Wishart(R Rᵀ, s)/s - w² I)``: ``root`` is R, ``unit`` undoes the division by rho² and n."""

    root: FloatArray = field(repr=False)
    sketch: int
    lift: float
    unit: float
    level: str
    size: int
    mu: None = None

    def draw(self, draws: Draws) -> FloatArray:
        m = len(self.root)
        sketch = self.root @ draws.normals((m, self.sketch))
        moments = sketch @ sketch.transpose(0, 2, 1) / self.sketch
        moments[:, np.arange(m), np.arange(m)] -= self.lift**2
        return self.unit * moments


def lift(epsilon: float, delta: float, sketch: int) -> float:
    """``w = 16 sqrt(s ln(2/delta)) ln(16 s/delta)/epsilon`` [1, Algorithm 3]."""
    log = math.log(delta)  # by itself: 1/delta may be too large for a number
    return 16 * math.sqrt(sketch * (math.log(2) - log)) * (math.log(16 * sketch) - log) / epsilon


def _prepare(problem: Problem, level: str) -> Sampler:
    query, table = problem.query, problem.question.table
    if table is None or query.name not in ("identity", "covariance"):
        raise InputError(f"a random projection needs the records of a table, got the {query.name} query")
    if level in ("answer", "square") and query.name == "identity":
        raise InputError("it releases a sketch whose rows mix the records: there is no noisy table to use; "
                         "tasks that need second moments alone can use it")
    if query.symmetric:
        products = query.value * table.n_records
    else:
        products = problem.question.gram.factor @ problem.question.gram.factor.T
    rho2, sketch = float(table.widths @ table.widths), query.rows
    w = lift(problem.epsilon, problem.delta, sketch)
    values, vectors = np.linalg.eigh(products / rho2)
    root = vectors * np.sqrt(np.maximum(values, 0.0) + w**2)
    moments = SketchMoments(root=root, sketch=sketch, lift=w, unit=rho2 / table.n_records, size=sketch**2,
                            level="answer" if query.symmetric else "moments")
    return at_level(moments, problem, level, known=None) if query.symmetric else moments


SKETCH = Mechanism(
    key="johnson-lindenstrauss", label="Johnson–Lindenstrauss", guarantee=BOTH, prepare=_prepare,
    applies="second moments of a table",
    reference="Blocki, Blum, Datta & Sheffet 2012 (covariance); Upadhyay 2013 (tables)")
