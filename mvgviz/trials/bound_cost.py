"""What a record bound saves and what it costs: less noise, and a pull that no number of records makes smaller.

The noise is public. The pull is measured on a stand-in, made of public facts alone.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from mvgviz.design.needs import needs_of, noise_on
from mvgviz.query.dataset import Dataset
from mvgviz.query.prior import Weighing
from mvgviz.scenario.resolve import Setup, asked_of, with_bound
from mvgviz.trials.stand_in import SEED, stand_in
from mvgviz.validation import FloatArray

_ALIKE = 0.01


@dataclass(frozen=True, kw_only=True)
class BoundCost:
    """Root mean squares on what is needed, in units of what one record can move (see ``noise_on``).

    ``noise``: of the design with its bound, ``without``: of the same split without one. ``pull``: how far a
    stand-in's answer moves when its records are pulled in; ``data_pull``: how far the data's does, which is private.
    """

    noise: float
    without: float
    pull: float
    data_pull: float = field(repr=False)

    def together(self, pull: float) -> float:
        """Noise and pull, as a multiple of the noise without a bound."""
        return math.hypot(self.noise, pull) / self.without

    def pays(self, pull: float) -> bool:
        """Whether the noise that is saved is worth the pull."""
        return self.together(pull) <= 1 + _ALIKE


def bound_cost(setup: Setup) -> BoundCost:
    """Of a setup with a bound."""
    rows = setup.query.rows
    needed = {k: weight for k, weight in setup.scenario.need_weights.items() if k < rows}
    weights = needs_of(needed or range(rows), rows)
    simulated, bound = _simulated(setup), setup.query.bound
    assert bound is not None
    clipped, whole = (setup.query.answer(table.matrix) for table in (bound.pulled(simulated), simulated))
    plain = with_bound(setup, bound="none")
    noise, without = (noise_on(each.design, weights, directions=setup.need_directions) for each in (setup, plain))
    return BoundCost(noise=noise.needed, without=without.needed,
                     pull=_size(setup, clipped - whole, weights),
                     data_pull=_size(setup, setup.query.value - setup.box.value, weights))


def _size(setup: Setup, apart: FloatArray, weights: FloatArray) -> float:
    """The root mean square on what is needed, weighed as noise is."""
    directions, both = setup.need_directions, setup.design.mode == "both"
    unit = setup.design.neighbours.reach(directions)
    apart = Weighing(rows=directions.matrix.T / unit[:, None], both=both).of(apart)
    squares = apart**2 @ weights[:, None] / weights.sum() if both else apart**2
    return math.sqrt(float(np.mean(squares.T @ weights)) / float(weights.sum()))


def _simulated(setup: Setup) -> Dataset:
    """A stand-in in the query's units; for a mean all on one side of the middle, where pulls do not cancel."""
    table = asked_of(setup.scenario, stand_in(setup.dataset, rng=np.random.default_rng(SEED)))
    if not setup.query.is_mean:
        return table
    middle = ((table.lower + table.upper) / 2)[:, None]
    return replace(table, matrix=middle + np.abs(table.matrix - middle))


def radius_for_all(setup: Setup) -> float:
    """The length at which the ellipse holds every record that the ranges allow, rounded up to 4 digits."""
    bound = with_bound(setup, bound="own", radius=1.0).query.bound
    assert bound is not None
    ellipse = bound.ellipse(setup.table.n_features)
    longest = ellipse.longest(setup.table)
    if setup.query.has_constant:  # without the constant, last, whose length follows the radius
        longest = math.sqrt(longest**2 - float(ellipse.weights[-1]) ** 2)
    unit = 10.0 ** (math.floor(math.log10(longest)) - 3)
    return float(f"{math.ceil(longest / unit) * unit:.4g}")
