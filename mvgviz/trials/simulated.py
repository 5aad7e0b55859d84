"""Simulated data from the ranges and size of a table: choose designs on it, and the choice reveals nothing."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from mvgviz.design.needs import needs_of, noise_on
from mvgviz.errors import refuse
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.query.prior import Weighing
from mvgviz.scenario.resolve import Setup, asked_of, build, with_bound
from mvgviz.validation import FloatArray, generator

CORRELATION = 0.5  # between any two features, with a random sign

SEED = 20180101
FEW = 0.05  # the largest part of a simulated table's records that a good bound may clip

_ALIKE = 0.01
_RECORDS, _NODES = 128, 1001
_PLACES = ((0.5, 0.02), (0.5, 0.15), (0.5, 0.29), (0.1, 0.05), (0.9, 0.05), (0.25, 0.15), (0.75, 0.15))
"""Means and standard deviations of features, in widths of their ranges; 0.29 is spread evenly over the range."""


def simulated_data(dataset: Dataset, *, rng: np.random.Generator, graph: bool = False) -> Dataset:
    """Records with correlation about ±½ between features, which uses no value of ``dataset``.

    A coin puts each mean a quarter of the range from one end, so that a bias towards the middle shows. ``graph``: a
    random graph, each edge with probability 1/sqrt(vertices).
    """
    rng = generator(rng)
    m, n = dataset.n_features, dataset.n_records
    if graph:
        refuse(m != n, f"a graph must have as many rows as columns, got {m} × {n}")
        upper = np.triu(rng.random((m, m)) < 1 / math.sqrt(m), 1)
        return replace(dataset, matrix=(upper | upper.T).astype(np.float64))
    return _table(dataset, n, rng.choice([0.25, 0.75], size=m), 0.15, rng)


def simulated_tables(dataset: Dataset) -> list[Dataset]:
    """Tables of 128 records, from ranges alone: in the middle of the ranges, near either end, each feature elsewhere;
    with small and large spreads."""
    rng, m = np.random.default_rng(SEED), dataset.n_features
    places = [(np.full(m, mean), spread) for mean, spread in _PLACES]
    places += [(rng.uniform(0.05, 0.95, m), spread) for spread in (0.05, 0.15)]
    return [_table(dataset, _RECORDS, means, spread, rng) for means, spread in places]


def _table(dataset: Dataset, records: int, means: FloatArray, spread: float, rng: np.random.Generator) -> Dataset:
    """Beta-distributed features with one common factor, in the ranges of ``dataset``; ``means`` as parts of them."""
    signs = rng.choice([-1.0, 1.0], size=(means.size, 1))
    common, own = rng.standard_normal(records), rng.standard_normal((means.size, records))
    values = math.sqrt(CORRELATION) * signs * common + math.sqrt(1 - CORRELATION) * own
    size = np.maximum(means * (1 - means) / spread**2 - 1, 0.5)  # of the beta distribution: alpha + beta
    parts = np.array([_beta(row, mean * total, (1 - mean) * total)
                      for row, mean, total in zip(values, means, size, strict=True)]).reshape(values.shape)
    matrix = dataset.lower[:, None] + dataset.widths[:, None] * parts
    for group in map(list, dataset.levels):  # one level each, all as likely
        chosen = values[group].argmax(axis=0)
        matrix[group] = np.where(np.arange(len(group))[:, None] == chosen, dataset.upper[group, None],
                                 dataset.lower[group, None])
    return replace(dataset, matrix=np.clip(matrix, dataset.lower[:, None], dataset.upper[:, None]))


def _beta(normal: FloatArray, alpha: float, beta: float) -> FloatArray:
    """Normal values as values of a beta distribution of the same ranks; many are interpolated, to 1e-5."""
    from scipy.special import betaincinv, ndtr

    if normal.size <= _NODES:
        return np.asarray(betaincinv(alpha, beta, ndtr(normal)))
    nodes = np.linspace(normal.min(), normal.max(), _NODES)
    return np.asarray(np.interp(normal, nodes, betaincinv(alpha, beta, ndtr(nodes))))


def on_simulated_data(setup: Setup, *, uploaded: Directions | None = None) -> Setup:
    """The same scenario on simulated data, from ranges and sizes alone."""
    dataset = simulated_data(setup.dataset, rng=np.random.default_rng(SEED), graph=setup.query.is_graph)
    return build(setup.scenario, dataset, uploaded=uploaded)


@dataclass(frozen=True, kw_only=True)
class BoundCost:
    """Root mean squares on priority columns: noise with the bound and ``without`` it, the bias of clipping simulated
    records, and ``data_bias`` of the data's, which is private.
    """

    noise: float
    without: float
    bias: float
    data_bias: float = field(repr=False)

    def together(self, bias: float) -> float:
        """Noise and bias, as a multiple of the noise without a bound."""
        return math.hypot(self.noise, bias) / self.without

    def pays(self, bias: float) -> bool:
        return self.together(bias) <= 1 + _ALIKE


def bound_cost(setup: Setup) -> BoundCost:
    """Of a setup with a bound."""
    rows = setup.query.rows
    priority = {k: weight for k, weight in setup.scenario.need_weights.items() if k < rows}
    weights = needs_of(priority or range(rows), rows)
    simulated, bound = _simulated(setup), setup.query.bound
    assert bound is not None
    clipped, whole = (setup.query.answer(table.matrix) for table in (bound.clipped(simulated), simulated))
    noise, without = (noise_on(each.design, weights, directions=setup.need_directions).priority
                      for each in (setup, with_bound(setup, bound="none")))
    return BoundCost(noise=noise, without=without, bias=_size(setup, clipped - whole, weights),
                     data_bias=_size(setup, setup.query.value - setup.box.value, weights))


def _size(setup: Setup, apart: FloatArray, weights: FloatArray) -> float:
    """The root mean square on priority columns, weighed like noise."""
    directions, both = setup.need_directions, setup.design.mode == "both"
    unit = setup.design.neighbours.reach(directions)
    apart = Weighing(rows=directions.matrix.T / unit[:, None], both=both).of(apart)
    squares = apart**2 @ weights[:, None] / weights.sum() if both else apart**2
    return math.sqrt(float(np.mean(squares.T @ weights)) / float(weights.sum()))


def _simulated(setup: Setup) -> Dataset:
    """Simulated data in the query's units; for a mean, on one side of the middle, so that biases do not cancel."""
    table = asked_of(setup.scenario, simulated_data(setup.dataset, rng=np.random.default_rng(SEED)))
    if not setup.query.is_mean:
        return table
    middle = ((table.lower + table.upper) / 2)[:, None]
    return replace(table, matrix=middle + np.abs(table.matrix - middle), levels=())


def radius_for_all(setup: Setup) -> float:
    """The radius at which the ellipse holds every record in the ranges, rounded up to 4 digits."""
    bound = with_bound(setup, bound="own", radius=1.0).query.bound
    assert bound is not None
    ellipse = bound.ellipse(setup.table.n_features)
    longest = ellipse.longest(setup.table.lower, setup.table.upper)
    if setup.query.has_constant:  # without the constant, last, whose length follows the radius
        longest = math.sqrt(longest**2 - float(ellipse.weights[-1]) ** 2)
    unit = 10.0 ** (math.floor(math.log10(longest)) - 3)
    return float(f"{math.ceil(longest / unit) * unit:.4g}")
