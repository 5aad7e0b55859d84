"""Gaussian noise: the paper's, with the least information about a normal answer at a given covariance."""

import math

import numpy as np
from scipy import special

from mvgviz.noise.accounting import gaussian_delta, gaussian_mu
from mvgviz.noise.families.base import NUMBERS, Law
from mvgviz.validation import FloatArray


class Gaussian(Law):
    """Normal noise."""

    name, title, word = "gaussian", "Gaussian", "Gaussian"
    spends_mu = True

    def std(self, size: int, epsilon: float, delta: float) -> float:
        return math.sqrt(size) / float(gaussian_mu(epsilon, delta))

    def half_width(self, size: int, epsilon: float, delta: float, confidence: float = 0.95) -> float:
        return float(special.ndtri((1 + confidence) / 2)) * self.std(size, epsilon, delta)

    def fill(self, rng: np.random.Generator, out: FloatArray) -> None:
        rng.standard_normal(out=out)

    def pure_part(self, size: int, epsilon: float, delta: float) -> float:
        return math.inf

    def delta_at(self, at: float, size: int, epsilon: float, delta: float) -> float:
        return float(gaussian_delta(at, gaussian_mu(epsilon, delta)))

    def bits(self, ratio: float) -> float:
        return NUMBERS / 2 * math.log2(1 + ratio)
