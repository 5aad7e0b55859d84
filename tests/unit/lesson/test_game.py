"""The attacker's game: seeded rounds, the best guess by likelihood, and how often it is right."""

import math

import numpy as np
import pytest
from scipy import stats

from mvgviz import InputError
from mvgviz.data import sample
from mvgviz.lesson.game import EPSILONS, GUESSES, ROUNDS, SHAPES, game
from tests.oracles import mu_for

SEEDS = range(400)


def theory(epsilon, shape="circle"):
    return 1 - math.exp(-epsilon / 2) / 2 if shape == "box" else stats.norm.cdf(mu_for(epsilon, 1e-6) / 2)


def density(point, played, guess, shape):
    if shape == "box":
        moves = played.centres["most"] - played.centres["least"]
        return math.exp(-4 * np.max(np.abs(point - played.centres[guess]) / moves))
    return stats.multivariate_normal(played.centres[guess], played.covariance).pdf(point)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_best_guess_is_right_as_often_as_theory_says(shape, epsilon):
    played = [game(seed=seed, shape=shape, epsilon=epsilon) for seed in SEEDS]
    assert played[0].success == pytest.approx(theory(epsilon, shape), abs=1e-6)
    rate, games = np.mean([one.best_hits for one in played]) / ROUNDS, len(SEEDS) * ROUNDS
    assert rate == pytest.approx(theory(epsilon, shape), abs=4.5 * math.sqrt(0.25 / games))  # luck: below 1e-5


@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_guess_is_the_likelier_record(shape):
    for seed in range(30):
        played = game(seed=seed, shape=shape, epsilon=4)
        for each in played.rounds:
            chances = {guess: density(each.point, played, guess, shape) for guess in GUESSES}
            assert each.best == max(GUESSES, key=chances.__getitem__)


@pytest.mark.parametrize("shape", SHAPES)
def test_points_have_the_noise_of_the_shape(shape):
    played = [game(seed=seed, shape=shape, epsilon=4) for seed in SEEDS]
    noise = np.array([np.array(each.point) - one.centres[each.truth] for one in played for each in one.rounds])
    std = np.sqrt(np.diag(played[0].covariance))
    np.testing.assert_allclose(noise.std(axis=0), std, rtol=0.05)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.12  # 4.5 of the box's standard errors
    assert np.all(np.abs(noise.mean(axis=0)) < 4.5 * std / math.sqrt(len(noise)))


def test_both_shapes_meet_the_same_luck_with_other_truths():
    for seed in range(20):
        round_one, other = (game(seed=seed, shape=shape, epsilon=4) for shape in ("circle", "ellipse"))
        assert round_one.best_hits == other.best_hits
    truths = [[each.truth for each in game(seed=3, shape=shape, epsilon=4).rounds] for shape in SHAPES]
    assert truths[0] != truths[1]


def test_a_seed_is_a_game():
    one, again, other = (game(seed=seed, shape="circle", epsilon=1).rounds for seed in (5, 5, 6))
    assert one == again != other


def test_the_two_records_are_the_ends_of_the_ranges():
    played, data = game(seed=1, shape="ellipse", epsilon=1), sample("two_features")
    np.testing.assert_allclose(played.centres["most"] - played.centres["least"], data.widths / data.n_records)


def test_along_the_border_both_records_are_as_likely():
    played = game(seed=1, shape="ellipse", epsilon=4)
    middle = (played.centres["least"] + played.centres["most"]) / 2
    for step in (-2, 1, 3):
        here = middle + step * played.border
        one, other = (stats.multivariate_normal(played.centres[guess], played.covariance).pdf(here)
                      for guess in GUESSES)
        assert one == pytest.approx(other)


def test_other_shapes_are_refused():
    with pytest.raises(InputError, match="shape must be"):
        game(seed=1, shape="square", epsilon=1)


def test_the_box_holds_95_of_100_draws():
    played = [game(seed=seed, shape="box", epsilon=4) for seed in SEEDS]
    held = [np.all(np.abs(np.array(each.point) - one.centres[each.truth]) <= one.half_box)
            for one in played for each in one.rounds]
    assert np.mean(held) == pytest.approx(0.95, abs=4.5 * math.sqrt(0.0475 / len(held)))
