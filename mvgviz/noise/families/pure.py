"""Pure noise: private with delta = 0, and epsilon is divided. What box and Laplace noise have in common.

References
  [1] Kairouz, Oh & Viswanath, The composition theorem for differential privacy, ICML 2015.
  [2] Geng & Viswanath, The optimal mechanism in differential privacy, ISIT 2014.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy import special

from mvgviz.noise.accounting import gaussian_mu, root
from mvgviz.noise.families.base import SAFE, Block, Family, Law, Split, laplace_delta
from mvgviz.noise.families.gaussian import Gaussian
from mvgviz.validation import FloatArray, fraction, positive


class Pure(Law):
    """Noise ``exp(-epsilon N(z))`` whose worst pair is that of Laplace noise on one number."""

    is_pure = in_a_box = True

    def split(self, priority: int, other: int, share: float, epsilon: float, delta: float) -> Split:
        return Split(self.std(priority, share * epsilon, 0), self.std(other, (1 - share) * epsilon, 0))

    def pure_part(self, size: int, epsilon: float, delta: float) -> float:
        return epsilon

    def delta_at(self, at: float, size: int, epsilon: float, delta: float) -> float:
        return laplace_delta(at, epsilon)

    def blocks(self, theta: FloatArray, epsilon: float, delta: float, *, one_record: bool) -> Iterator[Block]:
        for group in _groups(theta) if self.joins else [[k] for k in range(theta.size)]:
            yield Block(tuple(group), self, epsilon * float(theta[group].sum()))


def _groups(theta: FloatArray) -> list[list[int]]:
    """Return the rows of each share, the largest first."""
    found: dict[float, list[int]] = {}
    for k in np.argsort(-theta, kind="stable").tolist():
        near = next((share for share in found if math.isclose(share, theta[k], rel_tol=1e-9)), float(theta[k]))
        found.setdefault(near, []).append(k)
    return list(found.values())


def _repeated_delta(releases: int, each: float, epsilon: float) -> float:
    """Return delta at ``epsilon`` of randomised response, the worst of all pure mechanisms, so many times [1]."""
    ups = np.arange(releases + 1)
    losses = (2 * ups - releases) * each
    log_chances = (ups * special.log_expit(each) + (releases - ups) * special.log_expit(-each)
                   - special.betaln(ups + 1, releases - ups + 1) - math.log(releases + 1))
    return float(np.exp(log_chances) @ -np.expm1(np.minimum(epsilon - losses, 0)))


def repeated_epsilon(releases: int, each: float, delta: float) -> float:
    """Return the epsilon of several releases that are pure ``each``: an upper bound, from the worst of all such."""
    most = releases * each
    if _repeated_delta(releases, each, 0.0) <= delta:
        return 0.0
    return min(root(lambda epsilon: _repeated_delta(releases, each, epsilon) - delta, 0.0, most) * SAFE, most)


def pure_epsilon(releases: int, epsilon: float, delta: float) -> float:
    """Return an epsilon that each of several pure releases may have when all together are (epsilon, delta)-private.

    By randomised response, the worst pure mechanism [1]: a lower bound, never less than an equal part of epsilon.
    """
    low, high = epsilon / releases, epsilon + 40.0
    if releases == 1:
        return low
    return max(root(lambda each: _repeated_delta(releases, each, epsilon) - delta, low, high, xtol=1e-13) / SAFE, low)


def same_attacker(family: Family, size: int, epsilon: float, delta: float) -> float:
    """Return a pure family's noise over Gaussian noise when both give the best attacker the same advantage."""
    missed = math.log(2) + float(special.log_ndtr(-gaussian_mu(epsilon, delta) / 2))  # log of 1 - advantage
    return family.std(size, -2 * missed, 0) / Gaussian().std(size, epsilon, delta)


def staircase_std(epsilon: float) -> float:
    """Return the lowest standard deviation of any pure epsilon noise on one number that changes by at most 1 [2]."""
    b = math.exp(-positive("epsilon", epsilon))
    return math.sqrt(2 ** (-2 / 3) * (b * (1 + b)) ** (2 / 3) + b) / -math.expm1(-epsilon)


def lowest_std(epsilon: float, delta: float) -> float | None:
    """Return a standard deviation that no noise on one number is below, whatever its family; None where none is known.

    Linear programmes over noise on fine grids: delta up to 1e-5 lowers the staircase's by less than 2 %.
    """
    known = 0.1 <= positive("epsilon", epsilon) <= 10 and fraction("delta", delta) <= 1e-5
    return 0.98 * staircase_std(epsilon) if known else None
