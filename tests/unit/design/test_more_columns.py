"""One needed column among more and more, against designs of the engine."""

from itertools import pairwise

import numpy as np
import pytest

from mvgviz import InputError
from mvgviz.design.noise_design import design_noise
from mvgviz.design.trade_off import gain_among
from mvgviz.query import queries
from mvgviz.query.dataset import Dataset

DELTA = 1 / 2126


def mean_of(columns):
    """The mean of 50 records whose ranges differ from column to column."""
    upper = np.arange(1, columns + 1)
    names = tuple(map(str, range(columns)))
    return queries.mean(Dataset(matrix=np.zeros((columns, 50)), features=names, lower=0, upper=upper))


@pytest.mark.parametrize("columns", [2, 3, 9, 21])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_gain_is_that_of_the_designed_noise(columns, share):
    query, rest = mean_of(columns), (1 - share) / (columns - 1)
    ours = design_noise(query, epsilon=1, delta=DELTA, theta=[share] + [rest] * (columns - 1))
    equal = design_noise(query, epsilon=1, delta=DELTA)
    gain = gain_among(columns, share=share, epsilon=1, delta=DELTA)
    factors = ours.noise_std()[:, 0] / equal.noise_std()[:, 0]
    assert gain.needed == pytest.approx(factors[0])
    np.testing.assert_allclose(factors[1:], gain.rest)
    as_precise = design_noise(query, epsilon=gain.equal_epsilon, delta=DELTA)
    assert as_precise.noise_std()[0, 0] == pytest.approx(ours.noise_std()[0, 0], rel=1e-6)


def test_more_columns_gain_more():
    gains = [gain_among(columns, share=0.8, epsilon=1, delta=DELTA) for columns in range(2, 22)]
    assert all(later.needed < before.needed for before, later in pairwise(gains))
    assert all(later.equal_epsilon > before.equal_epsilon for before, later in pairwise(gains))


def test_one_column_has_nothing_to_gain():
    with pytest.raises(InputError, match="columns must be at least 2"):
        gain_among(1, share=0.8, epsilon=1, delta=DELTA)
