"""SeparateCov: second moments put together from noisy directions and noisy strengths, each half of the budget.

Directions are the eigenvectors of the answer with noise on its upper triangle. Strengths are the answer's own
eigenvalues with noise of their own: neighbours move them, sorted, by at most the distance of the answers [2]. They are
joined in their order. Strengths are cut to what records inside the ranges can have, which costs no privacy. So the
error follows the size of the answer, not only that of the noise: a gain where noise hides most directions.

Here each half is calibrated exactly, ``mu² = mu_directions² + mu_strengths²``, on this query's own sensitivity. Their
second algorithm, AdaptiveCov, also learns a clipping radius; it is not here.

References
  [1] Dong, Liang & Yi, Differentially private covariance revisited, NeurIPS 2022.
  [2] Hoffman & Wielandt, The variation of the spectrum of a normal matrix, Duke Math. J. 20, 1953.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.trials.mechanisms.base import BOTH, Draws, Mechanism, Sampler, at_level
from mvgviz.trials.mechanisms.gaussian import mirrored, triangle_move
from mvgviz.trials.problem import Problem
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class SeparateMoments(Sampler):
    """``P diag(lambda) Pᵀ``. ``largest``: no eigenvalue can be above it, for any records."""

    value: FloatArray = field(repr=False)
    triangle_std: float
    strength_std: float
    largest: float

    def draw(self, draws: Draws) -> FloatArray:
        m = len(self.value)
        normals = draws.normals((m + 1, m))  # the last row is for the strengths
        directions = np.linalg.eigh(self.value + self.triangle_std * mirrored(normals[:, :m]))[1]
        strengths = np.linalg.eigvalsh(self.value) + self.strength_std * normals[:, m]
        strengths = np.clip(strengths, 0.0, self.largest)
        return np.asarray(directions * strengths[:, None, :] @ directions.transpose(0, 2, 1))


def _prepare(problem: Problem, level: str) -> Sampler:
    query = problem.query
    if problem.table is None or not (query.symmetric and query.has_moments):
        raise InputError(f"it releases second moments of records, got the {query.name} query")
    half = float(gaussian_mu(problem.epsilon, problem.delta)) / math.sqrt(2)
    triangle, strength = triangle_move(query, problem.s2) / half, problem.s2 / half
    mu = math.hypot(triangle_move(query, query.sensitivity) / triangle, query.sensitivity / strength)
    return at_level(SeparateMoments(value=query.value, triangle_std=triangle, strength_std=strength, mu=mu,
                                    largest=query.gamma, size=query.value.size), problem, level)


SEPARATE = Mechanism(
    key="separate", label="Gaussian, separate eigenvalues", guarantee=BOTH, prepare=_prepare,
    applies="second moments of a table", reference="Dong, Liang & Yi 2022 (SeparateCov), calibrated exactly",
    caution=lambda problem: "its errors are not centred on 0, and its noise does not tell how far off it is")
