"""Mean and second moments in one answer: what it holds, and that no pair of records moves it further than claimed."""

from dataclasses import replace

import numpy as np
import pytest

from mvgviz import RecordBound, design_noise
from mvgviz.query.queries import joint_moments
from tests.datasets import make_dataset
from tests.oracles import whitened


def moved(design, x, y, n):
    return whitened(design, (np.outer(x, x) - np.outer(y, y)) / n)


def joined(records):
    return np.vstack([records, np.ones(records.shape[1])])


def test_it_holds_the_second_moments_the_mean_and_one():
    data = make_dataset(3, 40, -2.0, 1.0)
    asked = joint_moments(data)
    assert np.allclose(asked.value[:3, :3], data.matrix @ data.matrix.T / 40)
    assert np.allclose(asked.value[:3, 3], data.matrix.mean(axis=1))
    assert asked.value[3, 3] == pytest.approx(1)
    assert asked.row_names == ("f0", "f1", "f2", "constant")


def test_the_constant_has_a_name_of_its_own():
    named = replace(make_dataset(2, 5), features=("constant", "b"))
    assert joint_moments(named).row_names == ("constant", "b", "constant_")


@pytest.mark.parametrize("seed", range(6))
def test_no_pair_of_scaled_records_moves_it_further_than_claimed(seed):
    rng = np.random.default_rng(seed)
    m, n = 3, 25
    data = make_dataset(m, n, -rng.uniform(0.2, 2, m), rng.uniform(0.2, 2, m), seed=seed)
    bound = RecordBound(radius=rng.uniform(0.3, 1.5), weights=rng.uniform(0.3, 3, m + 1))
    asked = joint_moments(data, bound=bound)
    design = design_noise(asked, epsilon=1, delta=1e-6)
    draws = joined(rng.uniform(data.lower[:, None], data.upper[:, None], (m, 4_000)))
    draws[:m, ::2] = np.where(rng.random((m, 2_000)) < 0.5, data.lower[:, None], data.upper[:, None])
    lengths = np.linalg.norm(bound.weights[:, None] * draws, axis=0)
    pulled = draws * np.minimum(1, bound.radius / lengths)
    assert np.linalg.norm(bound.weights[:, None] * pulled, axis=0).max() <= bound.radius * (1 + 1e-12)
    apart = [moved(design, x, y, n) for x, y in zip(pulled.T[:2_000], pulled.T[2_000:], strict=True)]
    assert max(apart) <= design.mu * (1 + 1e-9)


def test_scaling_whole_records_leaves_an_exact_relation_as_it_is():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (2, 500))
    data = replace(make_dataset(3, 500), matrix=np.vstack([x, 0.3 + 0.4 * x[0] - 0.2 * x[1]]))
    for bound in (None, RecordBound(radius=0.7, weights=(1.0, 2.0, 1.5, 0.4))):
        moments = joint_moments(data, bound=bound).value
        rows = [0, 1, 3]
        found = np.linalg.solve(moments[np.ix_(rows, rows)], moments[rows, 2])
        assert found == pytest.approx([0.4, -0.2, 0.3], abs=1e-9)
