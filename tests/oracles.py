"""What several tests hold the engine against: formulas as they are printed, and the definition by dense matrices."""

import math

import numpy as np
from scipy import optimize, stats

from mvgviz.noise.directions import random_rotation, standard_basis
from mvgviz.noise.sides import NoiseSide


def delta_at(epsilon, mu):
    """The least delta of Gaussian noise (Balle & Wang 2018, Theorem 8), as it is printed."""
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def mu_for(epsilon, delta):
    return optimize.brentq(lambda mu: delta_at(epsilon, mu) - delta, 1e-3, 50, xtol=1e-13)


def whitened(design, difference):
    """``||Sigma^-1/2 D Psi^-1/2||_F`` from dense matrices: the definition."""
    inverse_sigma, inverse_psi = np.linalg.inv(design.row_covariance()), np.linalg.inv(design.col_covariance())
    return math.sqrt(max(np.trace(inverse_sigma @ difference @ inverse_psi @ difference.T), 0.0))


def some_side(size, rng, *, turned=False):
    """Noise that favours some directions."""
    directions = random_rotation(size, rng=rng) if turned and size > 1 else standard_basis(size)
    return NoiseSide.of(directions, rng.uniform(0.2, 4, size))
