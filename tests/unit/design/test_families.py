"""Designs of other families: their noise by its definition, their promise by brute force."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from mvgviz import Dataset, RecordBound, binary, covariance, design_noise, identity, mean, sample_gram, sample_noise
from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_delta
from mvgviz.noise.directions import rotation

PROMISE = {"epsilon": 1.0, "delta": 1e-6}
WIDTHS = np.array([1.0, 2.0, 0.5, 4.0, 1.0, 3.0])
RNG = np.random.default_rng(5)
DATA = Dataset(matrix=WIDTHS[:, None] * RNG.random((6, 40)), features=list("abcdef"), lower=0, upper=WIDTHS)
SPLIT = binary(6, priority=[1, 4], share=0.8)


def norm_of(z, design):
    """sum_b epsilon_b max |z_i|/reach_i, from the ranges and the shares alone."""
    reach = WIDTHS / 40
    return sum(share * np.max(np.abs(z[rows]) / reach[rows].reshape(-1, *[1] * (z.ndim - 1)), axis=0)
               for rows, share in (([1, 4], 0.8), ([0, 2, 3, 5], 0.2)))


def test_no_neighbour_moves_the_log_density_of_a_split_box_by_more_than_epsilon():
    design = design_noise(mean(DATA), **PROMISE, theta=SPLIT, family="box")
    points = sample_noise(design, rng=np.random.default_rng(0), trials=400)[:, :, 0].T
    changes = np.array(list(product((-1, 0, 1), repeat=6))).T * (WIDTHS / 40)[:, None]
    apart = norm_of(points[:, :, None] - changes[:, None, :], design) - norm_of(points, design)[:, None]
    assert np.abs(apart).max() <= 1 + 1e-12
    assert np.abs(apart).max() > 1 - 1e-9  # and a corner attains it


@pytest.mark.parametrize(("family", "blocks"), [("box", [[1, 4], [0, 2, 3, 5]]), ("laplace", [[k] for k in range(6)])])
@pytest.mark.parametrize("ask", [mean, identity])
def test_the_norm_of_a_block_is_gamma_distributed(family, blocks, ask):
    design = design_noise(ask(DATA), **PROMISE, theta=SPLIT, family=family)
    noise = sample_noise(design, rng=np.random.default_rng(1), trials=2_000)
    reach = WIDTHS / (40 if ask is mean else 1)
    for rows in blocks:
        epsilon = float(SPLIT[rows].sum())
        norms = epsilon * np.max(np.abs(noise[:, rows, 0]) / reach[rows], axis=1)
        assert stats.kstest(norms, stats.gamma(len(rows)).cdf).pvalue > 1e-4
        inside = noise[:, rows, 0] / reach[rows] / (norms / epsilon)[:, None]  # on the surface of the box
        assert abs(inside.mean()) < 5 / math.sqrt(inside.size)


def test_an_ellipse_has_gamma_distributed_lengths_whatever_the_directions():
    turned = rotation(6, (0, 1), 0.5)
    design = design_noise(mean(DATA), **PROMISE, theta=SPLIT, directions=turned, family="ellipse")
    gaussian = design_noise(mean(DATA), **PROMISE, theta=SPLIT, directions=turned)
    noise = sample_noise(design, rng=np.random.default_rng(2), trials=4_000)[:, :, 0]
    white = (noise @ turned.matrix) / np.sqrt(gaussian.row_variances)
    lengths = np.linalg.norm(white, axis=1)  # a Gaussian design whitens every change to at most mu
    scale = 0.6114 * math.sqrt(1 / 7)  # l2 noise over Gaussian noise of 6 numbers at (1, 1e-6), over its sqrt(d + 1)
    assert stats.kstest(lengths / scale, stats.gamma(6).cdf).pvalue > 1e-4
    assert design.epsilon_spent(1e-6) == pytest.approx(1, abs=1e-7)
    assert design.delta_spent(1.0) == pytest.approx(1e-6, rel=1e-5)


def test_symmetric_noise_of_an_ellipse_has_gamma_distributed_lengths_and_the_entries_it_says():
    design = design_noise(covariance(DATA), **PROMISE, theta=SPLIT, family="ellipse")
    gaussian = design_noise(covariance(DATA), **PROMISE, theta=SPLIT)
    noise = sample_noise(design, rng=np.random.default_rng(4), trials=6_000)
    np.testing.assert_allclose(noise, noise.transpose(0, 2, 1), rtol=1e-12)
    np.testing.assert_allclose(noise.std(axis=0), design.noise_std(), rtol=0.06)
    white = noise / np.sqrt(np.outer(gaussian.row_variances, gaussian.row_variances))  # changes are at most mu long
    scale = 0.8447 * math.sqrt(1 / 22)  # 21 numbers: l2 over Gaussian noise at (1, 1e-6), over its sqrt(d + 1)
    assert stats.kstest(np.linalg.norm(white, axis=(1, 2)) / scale, stats.gamma(21).cdf).pvalue > 1e-4


def test_several_records_of_a_person_change_a_table_more():
    several = Dataset(matrix=DATA.matrix, features=DATA.features, lower=0, upper=WIDTHS, per_person=3)
    one, three = (design_noise(identity(data), **PROMISE, family="box") for data in (DATA, several))
    np.testing.assert_allclose(three.noise_std() / one.noise_std(), 3)


# Priority noise at the same noise on the others as a Gaussian split with share 0.8, computed elsewhere to three digits.
@pytest.mark.parametrize(("first", "size", "family", "expected"), [
    (1, 2, "box", 1.66), (2, 6, "box", 2.40), (1, 21, "box", 2.00), (3, 21, "box", 3.59), (4, 31, "box", 4.76),
    (2, 6, "ellipse", 3.80), (1, 21, "laplace", 4.28), (1, 100, "box-ellipse", 2.39)])
def test_priority_noise_at_the_same_noise_on_the_others(first, size, family, expected):
    data = Dataset(matrix=np.zeros((size, 5)), features=[f"f{k}" for k in range(size)], lower=-0.5, upper=0.5)

    def noise(share, family):
        theta = binary(size, priority=range(first), share=share)
        return design_noise(mean(data), **PROMISE, theta=theta, family=family).noise_std()[[0, -1], 0] * 5

    other = noise(0.8, "gaussian")[1]
    low, high = 1e-3, 1 - 1e-3
    while high - low > 1e-7:
        share = (low + high) / 2
        low, high = (share, high) if noise(share, family)[1] < other else (low, share)
    assert noise(low, family)[0] == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("family", ["ellipse", "box", "laplace", "box-ellipse"])
def test_half_widths_hold_what_they_say(family):
    design = design_noise(mean(DATA), **PROMISE, theta=SPLIT, family=family)
    draws = sample_noise(design, rng=np.random.default_rng(3), trials=20_000)
    noise = np.abs(draws / design.noise_std())[:, :, 0]
    for block in design.blocks:
        for confidence in (0.5, 0.95, 0.99):
            rows = [0] if family == "ellipse" else list(block.rows)
            held = np.mean(noise[:, rows] <= block.half_width(confidence), axis=0)
            assert held == pytest.approx(confidence, abs=5 * math.sqrt(0.25 / 20_000))


def test_mu_is_an_upper_bound_at_every_epsilon():
    design = design_noise(mean(DATA), **PROMISE, theta=SPLIT, family="box")
    assert design.mu_is == "upper bound"
    for epsilon in (0.01, 0.1, 0.5, 0.9):
        assert design.delta_spent(epsilon) <= gaussian_delta(epsilon, design.mu) * (1 + 1e-9)


def test_a_design_is_called_after_all_its_blocks():
    data = Dataset(matrix=np.zeros((100, 2)), features=[f"f{k}" for k in range(100)], lower=0, upper=1)
    split = binary(100, priority=[0], share=0.5)
    words = {name: design_noise(mean(data), **PROMISE, theta=split, family=name).family.word
             for name in ("gaussian", "ellipse", "box", "laplace", "box-ellipse")}
    assert words == {"gaussian": "Gaussian", "ellipse": "ellipse", "box": "box", "laplace": "Laplace",
                     "box-ellipse": "box and ellipse"}


def test_what_a_family_cannot_cover_is_refused_with_what_to_do():
    for query, more in ((covariance(DATA), {}), (mean(DATA, bound=RecordBound(radius=1.0)), {}),
                        (mean(DATA), {"directions": rotation(6, (0, 1), 0.5)})):
        with pytest.raises(InputError, match="choose gaussian or ellipse"):
            design_noise(query, **PROMISE, family="box", **more)
    with pytest.raises(InputError, match="needs guarantee exact"):
        design_noise(mean(DATA), **PROMISE, guarantee="theorem1", family="ellipse")
    with pytest.raises(InputError, match="family must be one of"):
        design_noise(mean(DATA), **PROMISE, family="l2")
    box = design_noise(identity(DATA), **PROMISE, family="box")
    with pytest.raises(InputError, match="Gaussian noise alone"):
        sample_gram(DATA.matrix, box, rng=np.random.default_rng(0), trials=2)
