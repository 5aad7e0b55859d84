"""Laplace noise, on all entries or (symmetric answers) on the upper triangle.

Reference: Dwork, McSherry, Nissim & Smith, Calibrating noise to sensitivity, TCC 2006.
"""

from dataclasses import dataclass

import numpy as np

from mvgviz.errors import InputError
from mvgviz.query.norms import largest_absolute_sum
from mvgviz.trials.draws import Draws
from mvgviz.trials.mechanisms.base import EPSILON, Mechanism, NoisyAnswer, Sampler, at_level
from mvgviz.trials.mechanisms.gaussian import mirrored
from mvgviz.trials.question import Problem
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class LaplaceAnswer(NoisyAnswer):
    """The answer with independent noise of density ``∝ exp(-|z|/scale)`` on every entry (or mirrored)."""

    scale: float
    triangle: bool = False
    mu: None = None

    def draw(self, draws: Draws) -> FloatArray:
        noise = draws.laplace(self.value.shape)
        return self.value + self.scale * (mirrored(noise) if self.triangle else noise)


def _prepare(problem: Problem, level: str, *, triangle: bool = False) -> Sampler:
    query = problem.query
    if triangle and not query.symmetric:
        raise InputError(f"noise on the upper triangle needs a symmetric answer, got the {query.name} query")
    scale = largest_absolute_sum(query, triangle=triangle) / problem.epsilon
    answer = LaplaceAnswer(value=query.value, scale=scale, triangle=triangle)
    return at_level(answer, problem, level, known=2 * scale**2 * np.eye(query.rows))


def _on_triangle(problem: Problem, level: str) -> Sampler:
    return _prepare(problem, level, triangle=True)


LAPLACE = Mechanism(
    key="laplace", label="Laplace", guarantee=EPSILON, fields=("epsilon",), prepare=_prepare,
    applies="any answer", reference="Dwork, McSherry, Nissim & Smith 2006")
LAPLACE_TRIANGLE = Mechanism(
    key="laplace-triangle", label="Laplace, upper triangle", guarantee=EPSILON, fields=("epsilon",),
    prepare=_on_triangle, applies="symmetric answers", reference="Dwork, McSherry, Nissim & Smith 2006")
