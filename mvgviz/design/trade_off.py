"""Noise on what is needed against noise on the rest, over all splits of one and the same budget.

For ``k`` of ``m`` features and a share ``s`` on them the noise on a table or mean, in units of the
ranges, lies on the curve ``k/N² + (m - k)/Q² = mu²``; its end ``N = sqrt(k)/mu`` is to release the
needed alone. Against equal noise, as large for every feature in units of its range, that is
``sqrt(k/(s m))`` times on the needed and ``sqrt((m - k)/((1 - s) m))`` times on the rest; to be as precise on one
needed feature, equal noise has to spend ``mu sqrt(s m)``. Nothing here is in the paper.

>>> from mvgviz.design.trade_off import gain_among
>>> gain = gain_among(21, share=0.8, epsilon=1, delta=1 / 2126)
>>> round(gain.needed, 2), round(gain.equal_epsilon, 1)
(0.24, 5.4)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mvgviz.design.allocation import binary, manual
from mvgviz.design.needs import NoiseOn, needs_of, noise_on
from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu
from mvgviz.noise.directions import standard_basis
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray, fraction

_POINTS, _LEAST, _MOST = 20, 0.01, 0.99


@dataclass(frozen=True, kw_only=True)
class TradeOff:
    """``curve``: the noise at each of ``shares``; ``equal``: equal noise, that spends ``equal_mu``;
    ``only``: the noise on the needed where it alone is released. ``delta`` is that of all of them.
    """

    shares: tuple[float, ...]
    curve: tuple[NoiseOn, ...]
    equal: NoiseOn
    equal_mu: float
    only: float
    delta: float

    def epsilon_saved(self, noise: NoiseOn) -> float:
        """The epsilon that equal noise would have to spend to be as precise on the needed."""
        factor = self.equal.needed / noise.needed
        return float(gaussian_epsilon(self.delta, self.equal_mu * factor))


def usual_shares(needed: int, size: int) -> tuple[float, ...]:
    """Shares from half an equal part to nearly all, evenly in the logarithm of share : rest, and an equal part."""
    part = needed / size
    first = max(part / 2, _LEAST)
    odds = np.geomspace(first / (1 - first), _MOST / (1 - _MOST), _POINTS)[1:-1]
    return tuple(sorted({first, *(odds / (1 + odds)).tolist(), _MOST, min(max(part, _LEAST), _MOST)}))


def frontier(query: Query, needed: Sequence[int | str] | Mapping[int | str, float], *, epsilon: float, delta: float,
             shares: tuple[float, ...] | None = None) -> TradeOff:
    """The trade-off for these features (each with its weight), exactly calibrated, along the features themselves.

    Features by name or by position; ``shares`` go from half an equal part to nearly all by default.
    """
    parts = needed if isinstance(needed, Mapping) else dict.fromkeys(needed, 1.0)
    needs = {query.position(feature): weight for feature, weight in parts.items()}
    size, some = query.rows, len(needs)
    if not 0 < some < size:
        raise InputError(f"some of the {size} features must be needed, and not all")
    weights, directions = needs_of(needs, size), standard_basis(size)
    reach = query.neighbours.reach(directions)

    def design(theta: FloatArray) -> NoiseDesign:
        return design_noise(query, epsilon=epsilon, delta=delta, theta=theta, directions=directions)

    def split(share: float) -> NoiseOn:
        return noise_on(design(binary(size, favoured=list(needs), share=share, importance=weights[list(needs)])),
                        weights)

    equal = design(manual((reach / reach.max()) ** 2))
    shares = usual_shares(some, size) if shares is None else shares
    return TradeOff(shares=shares, curve=tuple(map(split, shares)), equal=noise_on(equal, weights), equal_mu=equal.mu,
                    only=split(1 - 1e-9).needed, delta=delta)


@dataclass(frozen=True, kw_only=True)
class Gain:
    """The noise on the needed column and on the ``rest`` as multiples of equal noise at the same privacy.

    ``equal_epsilon``: what equal noise would spend to be as precise on the needed.
    """

    columns: int
    needed: float
    rest: float
    equal_epsilon: float


def gain_among(columns: int, *, share: float, epsilon: float, delta: float) -> Gain:
    """The gain where one of ``columns`` columns is needed and gets this share of the budget."""
    if columns < 2:
        raise InputError(f"columns must be at least 2, got {columns}")
    part, mu = fraction("share", share), float(gaussian_mu(epsilon, delta))
    return Gain(columns=columns, needed=1 / math.sqrt(part * columns),
                rest=math.sqrt((columns - 1) / ((1 - part) * columns)),
                equal_epsilon=float(gaussian_epsilon(delta, mu * math.sqrt(part * columns))))
