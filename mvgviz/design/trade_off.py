"""Noise on what is needed against noise on the rest, over all splits of one and the same budget.

For ``k`` of ``m`` features and a share ``s`` on them the noise on a table or mean, in units of the
ranges, lies on the curve ``k/N² + (m - k)/Q² = mu²``; its end ``N = sqrt(k)/mu`` is to release the
needed alone. Nothing here is in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mvgviz.design.allocation import binary
from mvgviz.design.needs import NoiseOn, needs_of, noise_on
from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.noise.directions import standard_basis
from mvgviz.query.queries import Query

_POINTS = 24
_MOST = 0.99


@dataclass(frozen=True, kw_only=True)
class TradeOff:
    """``curve``: the noise at each of ``shares``; ``equal``: noise of one size, that spends ``equal_mu``;
    ``only``: the noise on the needed where it alone is released. ``delta`` is that of all of them.
    """

    shares: tuple[float, ...]
    curve: tuple[NoiseOn, ...]
    equal: NoiseOn
    equal_mu: float
    only: float
    delta: float

    def epsilon_saved(self, noise: NoiseOn) -> float:
        """The epsilon that noise of one size would have to spend to be as precise on the needed."""
        factor = self.equal.needed / noise.needed
        return float(gaussian_epsilon(self.delta, self.equal_mu * factor))


def frontier(query: Query, needed: tuple[int, ...], *, epsilon: float, delta: float,
             shares: tuple[float, ...] | None = None) -> TradeOff:
    """The trade-off for these features, exactly calibrated, along the features themselves.

    ``shares`` go from an equal part to nearly all by default.
    """
    size = query.rows
    if not 0 < len(set(needed)) < size:
        raise InputError(f"some of the {size} features must be needed, and not all")
    weights = needs_of(needed, size)
    if shares is None:
        part = len(set(needed)) / size
        shares = tuple(np.unique(np.append(np.linspace(part, max(_MOST, part), _POINTS), 0.98)).tolist())

    def design(theta: np.ndarray) -> NoiseDesign:
        return design_noise(query, epsilon=epsilon, delta=delta, theta=theta, directions=standard_basis(size))

    equal = design(np.full(size, 1 / size))
    curve = tuple(noise_on(design(binary(size, favoured=list(needed), share=share)), weights) for share in shares)
    most = noise_on(design(binary(size, favoured=list(needed), share=1 - 1e-9)), weights)
    return TradeOff(shares=shares, curve=curve, equal=noise_on(equal, weights), equal_mu=equal.mu, only=most.needed,
                    delta=delta)
