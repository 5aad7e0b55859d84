"""Simulated data with the ranges and the size of a table, to choose on instead of the data itself.

Whatever is chosen by looking at private data says something about it. A stand-in is made of
public facts alone: how many features and records there are, and the declared range of each.
"""

import math
from dataclasses import replace

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.resolve import Setup, build
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
