"""The ellipse shows the numbers of the engine."""

import numpy as np
import pytest

from mvgviz import Dataset, binary, covariance, design_noise, identity, random_rotation, rotation, sample_noise
from mvgviz.pictures.shape import ellipse_numbers, ellipse_picture
from mvgviz.pictures.theme import ellipse_outline
from tests.datasets import make_dataset


@pytest.fixture
def numbers(rng):
    query = identity(make_dataset(2, 10))
    tilted = design_noise(query, epsilon=1, delta=1e-5, theta=binary(2, priority=[0], share=0.8),
                          directions=rotation(2, (0, 1), 0.3))
    return ellipse_numbers(tilted, design_noise(query, epsilon=1, delta=1e-5), plane=(0, 1), level=0.95,
                           normals=rng.standard_normal((2, 20_000)))


def test_outline_holds_its_share_of_the_draws(numbers):
    precision = np.linalg.inv(np.cov(numbers.ours.draws))
    outline, draws = (np.einsum("ip,ij,jp->p", points, precision, points)
                      for points in (numbers.ours.outline, numbers.ours.draws))
    assert np.mean(draws < outline.mean()) == pytest.approx(0.95, abs=0.01)


def test_outline_of_a_known_ellipse():
    outline = ellipse_outline(np.diag([4.0, 1.0]), 1 - np.exp(-0.5))  # radius of one standard deviation
    assert outline.max(axis=1) == pytest.approx([2, 1], rel=1e-3)


def test_both_designs_share_their_randomness(numbers):
    # Independent clouds of 20 000 would correlate by less than 0.04.
    assert np.corrcoef(numbers.ours.draws[0], numbers.iid.draws[0])[0, 1] > 0.8


def test_plot_has_two_outlines_two_clouds_and_axes_in_words(numbers):
    figure = ellipse_picture(numbers, ("dose", "age")).figure
    assert [trace.mode for trace in figure.data] == ["markers", "lines", "markers", "lines"]
    assert figure.layout.xaxis.title.text == "noise on dose"
    assert figure.layout.yaxis.scaleanchor == "x"


def test_noise_on_both_sides_is_that_of_two_entries_on_the_diagonal(rng):
    data = Dataset(matrix=rng.uniform(-1, 1, (3, 40)), features=list("abc"), lower=-1, upper=[1, 2, 3])
    design = design_noise(covariance(data), epsilon=1, delta=1e-5, directions=random_rotation(3, rng=rng),
                          theta=[0.6, 0.3, 0.1])
    drawn = np.array([sample_noise(design, rng=rng)[[2, 0], [2, 0]] for _ in range(20_000)])
    found = ellipse_numbers(design, design, plane=(2, 0), level=0.95, normals=rng.standard_normal((2, 20_000))).ours
    np.testing.assert_allclose(drawn.std(axis=0), found.std, rtol=0.03)
    apart = np.cov(drawn.T) - np.cov(found.draws)
    assert np.abs(apart).max() < 0.05 * found.std.max() ** 2
