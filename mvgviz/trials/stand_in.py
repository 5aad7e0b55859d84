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
from mvgviz.validation import generator

CORRELATION = 0.5
"""Between any two features, in size; its sign is drawn."""

SEED = 20180101
"""Of a stand-in that is to be the same one for the same sizes and ranges."""

_REACH = 3.0


def stand_in(dataset: Dataset, *, rng: np.random.Generator, graph: bool = False) -> Dataset:
    """Records with one common factor: correlation about ±½ between features, values inside the ranges.

    Each feature is normal about the middle of its range, three standard deviations to either end, and clipped; it rises
    or falls with the factor by the toss of a coin. A category has one of its levels.
    ``graph``: a random graph instead, each edge with probability
    1/sqrt(vertices). No value of ``dataset`` is used.
    """
    rng = generator(rng)
    m, n = dataset.n_features, dataset.n_records
    if graph:
        if m != n:
            raise InputError(f"a graph must have as many rows as columns, got {m} × {n}")
        upper = np.triu(rng.random((m, m)) < 1 / math.sqrt(m), 1)
        return replace(dataset, matrix=(upper | upper.T).astype(np.float64))
    signs = rng.choice([-1.0, 1.0], size=(m, 1))
    common, own = rng.standard_normal(n), rng.standard_normal((m, n))
    values = math.sqrt(CORRELATION) * signs * common + math.sqrt(1 - CORRELATION) * own
    middle, half = (dataset.lower + dataset.upper) / 2, dataset.widths / 2
    matrix = np.clip(middle[:, None] + half[:, None] * (values / _REACH), dataset.lower[:, None],
                     dataset.upper[:, None])
    for group in map(list, dataset.levels):  # one level each, all as likely
        chosen = values[group].argmax(axis=0)
        matrix[group] = np.where(np.arange(len(group))[:, None] == chosen, dataset.upper[group, None],
                                 dataset.lower[group, None])
    return replace(dataset, matrix=matrix)


def on_stand_in(setup: Setup, *, uploaded: Directions | None = None) -> Setup:
    """The same scenario on a stand-in: nothing in it was computed from the records, only from ranges and sizes."""
    dataset = stand_in(setup.dataset, rng=np.random.default_rng(SEED), graph=setup.query.is_graph)
    return build(setup.scenario, dataset, uploaded=uploaded)
