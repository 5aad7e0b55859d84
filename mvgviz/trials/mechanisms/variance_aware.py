"""PLAN: the mean of records inside an ellipse whose shape and size are themselves learned privately.

With ``s_i`` the spread of feature i about the middle of its range, records are measured with feature i divided by
``sqrt(s_i)`` and clipped to length R; the noise on feature i has a variance ``∝ s_i``. Spreads and radius are Gaussian
releases from the same budget: ``mu² = mu_spreads² + mu_radius² + mu_noise²``. The radius leaves about
``2 sqrt(m)/mu_noise`` records outside, where noise saved and bias weigh alike.

References
  [1] Aumüller, Lebeda, Nelson & Pagh, PLAN: variance-aware private mean estimation, PoPETs 2024. Theirs finds a
      private centre too; here it is the middle of the ranges.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.query.dataset import Dataset
from mvgviz.query.record_bound import RecordBound, private_radius, private_spreads
from mvgviz.trials.mechanisms.base import BOTH, DIRECTIONS, Draws, Mechanism, Sampler, at_level, need_one_replaced
from mvgviz.trials.problem import Problem
from mvgviz.validation import FloatArray

SPREADS, RADIUS = 0.1, 0.1  # the shares of mu² for spreads and radius; the noise gets what is left

_HALVINGS = 8  # of a hundredfold interval: to 2 %


@dataclass(frozen=True, kw_only=True, eq=False)
class VarianceAwareMean(Sampler):
    """The mean of clipped records with noise of their ellipse's shape; each trial learns its own ellipse."""

    table: Dataset = field(repr=False)
    mu: float

    @property
    def noise_mu(self) -> float:
        return self.mu * math.sqrt(1 - SPREADS - RADIUS)

    def draw(self, draws: Draws) -> FloatArray:
        bounds = [self.bound(rng) for rng in draws.generators(DIRECTIONS)]
        means = np.stack([bound.clipped(self.table).matrix.mean(axis=1) for bound in bounds])
        noise = np.stack([self.std(bound) for bound in bounds]) * draws.normals((self.table.n_features,))
        return np.asarray((means + noise)[:, :, None])

    def bound(self, rng: np.random.Generator) -> RecordBound:
        """The ellipse of one trial: private spreads, then a private quantile of the lengths they give."""
        middle = (self.table.lower + self.table.upper) / 2
        found = private_spreads(self.table, mu=self.mu * math.sqrt(SPREADS), rng=rng, centre=middle)
        shape = RecordBound(radius=1.0, weights=self.believed(found) ** -0.5, centre=middle)
        return private_radius(self.table, 1 - self.left_outside(), mu=self.mu * math.sqrt(RADIUS), rng=rng,
                              bound=shape, halvings=_HALVINGS)

    def believed(self, spreads: FloatArray) -> FloatArray:
        """Spreads of at least their own noise, and at most half the range."""
        ends = self.table.widths / 2
        noise = math.sqrt(self.table.n_features) / (self.mu * math.sqrt(SPREADS) * self.table.n_records)
        return np.clip(spreads, ends * min(math.sqrt(noise), 1.0), ends)

    def left_outside(self) -> float:
        """The part of the records to clip: at most half, at least half a record."""
        noise = 2 * math.sqrt(self.table.n_features) / self.noise_mu
        counts = math.sqrt(_HALVINGS / RADIUS) / self.mu
        return min(max(noise + counts, 0.5) / self.table.n_records, 0.5)

    def std(self, bound: RecordBound) -> FloatArray:
        """Two records of the ellipse are at most 2R apart, measured as their lengths are."""
        return np.asarray(2 * bound.radius / (self.table.n_records * self.noise_mu * np.asarray(bound.weights)))


def _prepare(problem: Problem, level: str) -> Sampler:
    query, table = problem.query, problem.table
    if table is None or not query.is_mean:
        raise InputError(f"it learns spreads and a radius for the mean of a table, got the {query.name} query")
    need_one_replaced(problem)
    mean = VarianceAwareMean(table=table, size=table.matrix.size, mu=float(gaussian_mu(problem.epsilon, problem.delta)))
    return at_level(mean, problem, level)


PLAN = Mechanism(
    key="plan", label="Gaussian, learned spreads (PLAN)", guarantee=BOTH, prepare=_prepare, applies="means",
    reference="after Aumüller, Lebeda, Nelson & Pagh 2024, with the middle of the ranges as centre",
    caution=lambda problem: "clipping records adds a bias that its noise does not show")
