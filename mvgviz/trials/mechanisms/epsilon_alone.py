"""Mechanisms that need epsilon alone: the exponential mechanism and Laplace noise.

Laplace noise [4] is on all entries or (symmetric answers) on the upper triangle; the exponential mechanism has a
norm for its quality, or what a first principal component captures.

References
  [1] McSherry & Talwar, Mechanism design via differential privacy, FOCS 2007.
  [2] Blum, Ligett & Roth, A learning theory approach to noninteractive database privacy, STOC 2008.
  [3] Chaudhuri, Sarwate & Sinha, A near-optimal algorithm for differentially private principal components, JMLR 2013.
  [4] Dwork, McSherry, Nissim & Smith, Calibrating noise to sensitivity, TCC 2006.
"""

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise
from mvgviz.trials.draws import Draws
from mvgviz.trials.mechanisms.base import EPSILON, Mechanism, NoisyAnswer, Sampler, Untold, at_level, need_one_replaced
from mvgviz.trials.mechanisms.bingham import sample_bingham
from mvgviz.trials.mechanisms.gaussian import mirrored, need_symmetric
from mvgviz.trials.question import Problem
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class LaplaceAnswer(NoisyAnswer):
    """The answer with independent noise of density ``∝ exp(-|z|/scale)`` on every entry (or mirrored)."""

    scale: float
    triangle: bool
    mu: None = None

    def draw(self, draws: Draws) -> FloatArray:
        noise = draws.laplace(self.value.shape)
        return self.value + self.scale * (mirrored(noise) if self.triangle else noise)

    def moment_noise(self, released: FloatArray) -> MomentNoise | None:
        return MomentNoise.from_std(np.full(self.value.shape, math.sqrt(2) * self.scale))


def _laplace(problem: Problem, level: str, *, triangle: bool) -> Sampler:
    query = problem.query
    if triangle:
        need_symmetric(query)
    scale = query.absolute_sum(triangle=triangle) / problem.epsilon
    answer = LaplaceAnswer(value=query.value, scale=scale, triangle=triangle)
    return at_level(answer, problem, level, known=2 * scale**2 * np.eye(query.rows))


@dataclass(frozen=True, kw_only=True, eq=False)
class NormNoise(NoisyAnswer):
    """Noise of density ``∝ exp(-||z||_F/scale)``; ``by_column``: ``∝ exp(-sum_j ||z_j||/scale)``.

    A uniform direction and a radius that is Gamma(size, scale). As the density is a norm's and
    its normaliser does not depend on the data, no factor 2 is needed.
    """

    scale: float
    by_column: bool
    mu: None = None

    def draw(self, draws: Draws) -> FloatArray:
        rows, cols = self.value.shape

        def noise(rng: np.random.Generator, out: FloatArray) -> None:
            rng.standard_normal(out=out)
            if self.by_column:
                radius = rng.standard_gamma(rows, size=cols)
                out *= self.scale * radius / np.sqrt(np.einsum("ij,ij->j", out, out))
            else:
                out *= self.scale * rng.standard_gamma(rows * cols) / np.linalg.norm(out)

        return self.value + draws.fill(self.value.shape, noise)


@dataclass(frozen=True, kw_only=True, eq=False)
class BinghamComponent(Untold):
    """A unit vector of density ``∝ exp(vᵀ A v)``."""

    matrix: FloatArray = field(repr=False)
    size: int
    mu: None = None
    level: str = "component"

    def draw(self, draws: Draws) -> FloatArray:
        return sample_bingham(self.matrix, draws.generators())


def _of_norm(problem: Problem, level: str, *, by_column: bool) -> Sampler:
    query, scale = problem.query, problem.s2 / problem.epsilon
    if by_column and not query.is_table:
        raise InputError("column-wise noise is for tables, where a neighbour changes one column; "
                         f"got the {query.name} query")
    if by_column:
        need_one_replaced(problem)
    answer = NormNoise(value=query.value, scale=scale, by_column=by_column)
    parts = query.rows if by_column else query.value.size  # a radius has second moment k(k + 1) scale²
    return at_level(answer, problem, level, known=(parts + 1) * scale**2 * np.eye(query.rows))


def _component(problem: Problem, level: str) -> Sampler:
    query, table = problem.query, problem.question.table
    if level != "component":
        raise InputError("it releases a direction and nothing else; choose the task first component")
    if table is None or not query.has_moments or query.has_constant:
        raise InputError(f"it needs the records of a table, got the {query.name} query")
    need_one_replaced(problem)
    products = query.value * table.n_records if query.symmetric else query.value @ query.value.T
    largest = float(table.largest_values @ table.largest_values)  # B²: how far one record moves vᵀ X Xᵀ v
    return BinghamComponent(matrix=problem.epsilon / (2 * largest) * products, size=query.rows)


_mechanism = partial(Mechanism, guarantee=EPSILON, fields=("epsilon",))

LAPLACE = _mechanism(
    key="laplace", label="Laplace", prepare=partial(_laplace, triangle=False), applies="any answer",
    reference="Dwork, McSherry, Nissim & Smith 2006")
LAPLACE_TRIANGLE = _mechanism(
    key="laplace-triangle", label="Laplace, upper triangle", prepare=partial(_laplace, triangle=True),
    applies="symmetric answers", reference="Dwork, McSherry, Nissim & Smith 2006")
WHOLE = _mechanism(
    key="exponential", label="Exponential, Frobenius norm", prepare=partial(_of_norm, by_column=False),
    applies="any answer", reference="McSherry & Talwar 2007; Blum, Ligett & Roth 2008")
COLUMNS = _mechanism(
    key="exponential-columns", label="Exponential, by record", prepare=partial(_of_norm, by_column=True),
    applies="tables", reference="McSherry & Talwar 2007, with the sum of the records' norms")
COMPONENT = _mechanism(
    key="exponential-component", label="Exponential, first component", prepare=_component,
    applies="first principal component of a table",
    reference="Chaudhuri, Sarwate & Sinha 2013; exact Bingham sampler (Kent, Ganeiber & Mardia 2018)")
