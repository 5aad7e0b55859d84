"""Simulated data with the ranges and the size of a table, to choose on instead of the data itself.

Whatever is chosen by looking at private data says something about it. A stand-in is made of
public facts alone: how many features and records there are, and the declared range of each. What clipping records
costs is measured on it, too: less noise, and a pull that no number of records makes smaller.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from mvgviz.design.needs import needs_of, noise_on
from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.query.prior import Weighing
from mvgviz.scenario.resolve import Setup, asked_of, build, with_bound
from mvgviz.validation import FloatArray, generator

CORRELATION = 0.5
"""Between any two features, in size; its sign is drawn."""

SEED = 20180101
"""Of simulated data that is to be the same for the same sizes and ranges."""

FEW = 0.05
"""Of the records of a simulated table: a bound that clips more of them does not suit it."""

_RECORDS = 128
_PLACES = ((0.5, 0.02), (0.5, 0.15), (0.5, 0.29), (0.1, 0.05), (0.9, 0.05), (0.25, 0.15), (0.75, 0.15))
"""Means and standard deviations of features, in widths of their ranges; 0.29 is spread evenly over the range."""


def stand_in(dataset: Dataset, *, rng: np.random.Generator, graph: bool = False) -> Dataset:
    """Records with one common factor: correlation about ±½ between features, values inside the ranges.

    The mean of each feature is a quarter of its range from one of the ends, by the toss of a coin: whatever draws
    records towards the middle of the ranges shows. It rises or falls with the factor by another toss. A category has
    one of its levels. ``graph``: a random graph instead, each edge with probability 1/sqrt(vertices). No value of
    ``dataset`` is used.
    """
    rng = generator(rng)
    m, n = dataset.n_features, dataset.n_records
    if graph:
        if m != n:
            raise InputError(f"a graph must have as many rows as columns, got {m} × {n}")
        upper = np.triu(rng.random((m, m)) < 1 / math.sqrt(m), 1)
        return replace(dataset, matrix=(upper | upper.T).astype(np.float64))
    return _table(dataset, n, rng.choice([0.25, 0.75], size=m), 0.15, rng)


def simulated_tables(dataset: Dataset) -> list[Dataset]:
    """Tables of 128 records that differ in where records lie: in the middle of the ranges, towards either end and each
    feature towards its own, with small and large spreads, skewed where an end is near. From ranges alone."""
    rng, m = np.random.default_rng(SEED), dataset.n_features
    places = [(np.full(m, mean), spread) for mean, spread in _PLACES]
    places += [(rng.uniform(0.05, 0.95, m), spread) for spread in (0.05, 0.15)]
    return [_table(dataset, _RECORDS, means, spread, rng) for means, spread in places]


def _table(dataset: Dataset, records: int, means: FloatArray, spread: float, rng: np.random.Generator) -> Dataset:
    """Beta-distributed features with one common factor, in the ranges of ``dataset``; ``means`` as parts of them."""
    from scipy.special import betaincinv, ndtr

    signs = rng.choice([-1.0, 1.0], size=(means.size, 1))
    common, own = rng.standard_normal(records), rng.standard_normal((means.size, records))
    values = math.sqrt(CORRELATION) * signs * common + math.sqrt(1 - CORRELATION) * own
    size = np.maximum(means * (1 - means) / spread**2 - 1, 0.5)[:, None]  # of the beta distribution: alpha + beta
    parts = betaincinv(means[:, None] * size, (1 - means[:, None]) * size, ndtr(values))
    matrix = dataset.lower[:, None] + dataset.widths[:, None] * parts
    for group in map(list, dataset.levels):  # one level each, all as likely
        chosen = values[group].argmax(axis=0)
        matrix[group] = np.where(np.arange(len(group))[:, None] == chosen, dataset.upper[group, None],
                                 dataset.lower[group, None])
    return replace(dataset, matrix=np.clip(matrix, dataset.lower[:, None], dataset.upper[:, None]))


def on_stand_in(setup: Setup, *, uploaded: Directions | None = None) -> Setup:
    """The same scenario on a stand-in: nothing in it was computed from the records, only from ranges and sizes."""
    dataset = stand_in(setup.dataset, rng=np.random.default_rng(SEED), graph=setup.query.is_graph)
    return build(setup.scenario, dataset, uploaded=uploaded)


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
    noise, without = (noise_on(each.design, weights, directions=setup.need_directions).needed
                      for each in (setup, with_bound(setup, bound="none")))
    return BoundCost(noise=noise, without=without, pull=_size(setup, clipped - whole, weights),
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
