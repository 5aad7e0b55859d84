"""The ellipse shows the numbers of the engine."""

import numpy as np
import pytest

from mvgviz import binary, design_noise, identity, rotation
from mvgviz.figures.shared.noise_ellipse import ellipse_numbers, ellipse_outline, plot_noise_ellipse
from tests.datasets import make_dataset


@pytest.fixture
def numbers(rng):
    query = identity(make_dataset(2, 10))
    tilted = design_noise(query, epsilon=1, delta=1e-5, theta=binary(2, favoured=[0], share=0.8),
                          directions=rotation(2, (0, 1), 0.3))
    return ellipse_numbers(tilted, design_noise(query, epsilon=1, delta=1e-5), plane=(0, 1), level=0.95,
                           normals=rng.standard_normal((2, 20_000)))


def test_outline_holds_its_share_of_the_draws(numbers):
    outline, draws = numbers.ours.outline, numbers.ours.draws
    covariance = np.cov(draws)
    outline_distance = np.einsum("ip,ij,jp->p", outline, np.linalg.inv(covariance), outline)
    inside = np.einsum("ip,ij,jp->p", draws, np.linalg.inv(covariance), draws) < outline_distance.mean()
    assert inside.mean() == pytest.approx(0.95, abs=0.01)


def test_outline_of_a_known_ellipse():
    outline = ellipse_outline(np.diag([4.0, 1.0]), 1 - np.exp(-0.5))  # radius of one standard deviation
    assert outline.max(axis=1) == pytest.approx([2, 1], rel=1e-3)


def test_both_designs_share_their_randomness(numbers):
    # Independent clouds of 20 000 would correlate by less than 0.04.
    assert np.corrcoef(numbers.ours.draws[0], numbers.iid.draws[0])[0, 1] > 0.8


def test_plot_has_two_outlines_two_clouds_and_axes_in_words(numbers):
    figure = plot_noise_ellipse(numbers, names=("dose", "age"))
    assert [trace.mode for trace in figure.data] == ["markers", "lines", "markers", "lines"]
    assert figure.layout.xaxis.title.text == "noise on dose"
    assert figure.layout.yaxis.scaleanchor == "x"
