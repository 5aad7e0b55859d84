"""The inverse question undoes the design it describes."""

import math

import numpy as np
import pytest

from mvgviz import (
    InputError,
    covariance,
    custom,
    design_noise,
    gaussian_epsilon,
    identity,
    laplacian,
    manual,
    mean,
    random_rotation,
    smallest_epsilon,
)
from tests.datasets import make_dataset

DATA = make_dataset(3, 20, lower=[-1, 0, -2], upper=[1, 3, 1])


@pytest.mark.parametrize("query", [
    identity(DATA), mean(DATA), covariance(DATA), laplacian([[0, 1, 1], [1, 0, 0], [1, 0, 0]]),
    custom(np.zeros((3, 4)), sensitivity=1, gamma=2)])
@pytest.mark.parametrize("rotated", [False, True])
def test_it_gives_back_the_epsilon_of_an_exact_design(query, rotated, rng):
    directions = random_rotation(3, rng=rng) if rotated else None
    design = design_noise(query, epsilon=2.5, delta=1e-4, directions=directions, theta=manual([1, 2, 5]))
    found = smallest_epsilon(query, delta=1e-4, target_std=design.direction_std(), directions=directions)
    assert found == pytest.approx(2.5, rel=1e-9)


def test_identity_by_hand():
    mu = math.sqrt(4 / 9 + 9 / 16 + 9 / 25)  # sum r²/t²
    assert smallest_epsilon(identity(DATA), delta=1e-3, target_std=[3, 4, 5]) == pytest.approx(
        gaussian_epsilon(1e-3, mu))
    assert smallest_epsilon(mean(DATA), delta=1e-3, target_std=[0.3, 0.4, 0.5]) == pytest.approx(
        gaussian_epsilon(1e-3, math.sqrt(4 / 0.09 + 9 / 0.16 + 9 / 0.25) / 20))


def test_directions_without_a_target_cost_almost_nothing():
    alone = smallest_epsilon(identity(DATA), delta=1e-3, target_std=[3, None, None])
    assert alone == smallest_epsilon(identity(DATA), delta=1e-3, target_std={0: 3})
    assert alone == pytest.approx(gaussian_epsilon(1e-3, 2 / 3), rel=1e-3)
    assert alone > gaussian_epsilon(1e-3, 2 / 3)


def test_tighter_targets_cost_more_and_loose_ones_nothing():
    costs = [smallest_epsilon(identity(DATA), delta=1e-3, target_std=[t] * 3) for t in (0.1, 1, 10)]
    assert costs == sorted(costs, reverse=True)
    assert smallest_epsilon(identity(DATA), delta=1e-3, target_std=[1e9] * 3) == 0


@pytest.mark.parametrize(("target", "message"), [
    ([1, 2], "one entry for each of the 3 directions, got 2"),
    ([1, 2, 0], "target_std must be positive, got 0"),
    ([1, 2, math.nan], "target_std must be finite, got nan"),
    ([None, None, None], "target_std must hold at least one target"),
    ({5: 1.0}, "target_std must name directions below 3"),
    (3.0, "target_std must be a sequence or a mapping"),
])
def test_bad_targets_are_refused(target, message):
    with pytest.raises(InputError, match=message):
        smallest_epsilon(identity(DATA), delta=1e-3, target_std=target)
