"""Noise on priority columns against noise on other columns, over all splits of one budget.

For ``k`` of ``m`` features with the share ``s`` the noise on a table or mean, in units of the ranges, lies on the curve
``k/N² + (m - k)/Q² = mu²``; its end ``N = sqrt(k)/mu`` is to release the priority columns alone. Equal noise times
``sqrt(k/(s m))`` is the noise on priority columns, times ``sqrt((m - k)/((1 - s) m))`` that on other columns. To be as
precise on one priority column, equal noise has to spend ``mu sqrt(s m)``. Nothing here is in the paper.

>>> from mvgviz.design.trade_off import gain_among
>>> gain = gain_among(21, share=0.8, epsilon=1, delta=1 / 2126)
>>> round(gain.priority, 2), round(gain.equal_epsilon, 1)
(0.24, 5.4)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mvgviz.design.allocation import binary, manual
from mvgviz.design.needs import NoiseOn, needs_of, noise_on
from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.errors import refuse
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu
from mvgviz.noise.directions import standard_basis
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray, fraction

_POINTS, _LEAST, _MOST = 20, 0.01, 0.99


@dataclass(frozen=True, kw_only=True)
class TradeOff:
    """``curve``: the noise at each of ``shares``; ``equal``: equal noise, that spends ``equal_mu``;
    ``only``: the noise on priority columns where these alone are released. ``delta`` is that of all of them.
    """

    shares: tuple[float, ...]
    curve: tuple[NoiseOn, ...]
    equal: NoiseOn
    equal_mu: float
    only: float
    delta: float

    def epsilon_saved(self, noise: NoiseOn) -> float:
        """Return the epsilon that equal noise would have to spend to be as precise on priority columns."""
        factor = self.equal.priority / noise.priority
        return float(gaussian_epsilon(self.delta, self.equal_mu * factor))


def usual_shares(priority: int, size: int) -> tuple[float, ...]:
    """Return shares from half an equal part to nearly all, evenly in log(share/(1 - share)), and the equal part."""
    part = priority / size
    first = max(part / 2, _LEAST)
    odds = np.geomspace(first / (1 - first), _MOST / (1 - _MOST), _POINTS)[1:-1]
    return tuple(sorted({first, *(odds / (1 + odds)).tolist(), _MOST, min(max(part, _LEAST), _MOST)}))


def frontier(query: Query, priority: Sequence[int | str] | Mapping[int | str, float], *, epsilon: float, delta: float,
             shares: tuple[float, ...] | None = None) -> TradeOff:
    """Return the trade-off, exactly calibrated, for priority features by name or position, each with its weight."""
    parts = priority if isinstance(priority, Mapping) else dict.fromkeys(priority, 1.0)
    needs = {query.position(feature): weight for feature, weight in parts.items()}
    size, some = query.rows, len(needs)
    refuse(not 0 < some < size, f"priority must be some of the {size} features, and not all")
    weights, directions = needs_of(needs, size), standard_basis(size)
    reach = query.neighbours.reach(directions)

    def design(theta: FloatArray) -> NoiseDesign:
        return design_noise(query, epsilon=epsilon, delta=delta, theta=theta, directions=directions)

    def split(share: float) -> NoiseOn:
        return noise_on(design(binary(size, priority=list(needs), share=share, importance=weights[list(needs)])),
                        weights)

    equal = design(manual((reach / reach.max()) ** 2))
    shares = usual_shares(some, size) if shares is None else shares
    return TradeOff(shares=shares, curve=tuple(map(split, shares)), equal=noise_on(equal, weights), equal_mu=equal.mu,
                    only=split(1 - 1e-9).priority, delta=delta)


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Noise on the priority column and on others over equal noise; ``equal_epsilon``: what that would spend instead."""

    columns: int
    priority: float
    other: float
    equal_epsilon: float


def gain_among(columns: int, *, share: float, epsilon: float, delta: float) -> Gain:
    """Return the gain where one of ``columns`` columns has priority and gets this share of the budget."""
    refuse(columns < 2, f"columns must be at least 2, got {columns}")
    part, mu = fraction("share", share), float(gaussian_mu(epsilon, delta))
    return Gain(columns=columns, priority=1 / math.sqrt(part * columns),
                other=math.sqrt((columns - 1) / ((1 - part) * columns)),
                equal_epsilon=float(gaussian_epsilon(delta, mu * math.sqrt(part * columns))))
