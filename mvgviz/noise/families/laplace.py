"""Laplace noise: ``exp(-sum epsilon_i |z_i|)``, on each number alone."""

import math

import numpy as np

from mvgviz.noise.families.base import NUMBERS
from mvgviz.noise.families.box import Box
from mvgviz.noise.families.ellipse import ball_bits
from mvgviz.validation import FloatArray


class Laplace(Box):
    """A box of one number for each; on several numbers the privacy curve is an upper bound."""

    name, title, word = "laplace", "Laplace", "Laplace"
    joins = False

    def std(self, size: int, epsilon: float, delta: float) -> float:
        return math.sqrt(2) * size / epsilon

    def half_width(self, size: int, epsilon: float, delta: float, confidence: float = 0.95) -> float:
        return -math.log(1 - confidence) * size / epsilon

    def fill(self, rng: np.random.Generator, out: FloatArray) -> None:
        np.copyto(out, rng.laplace(scale=math.sqrt(0.5), size=out.shape))

    def is_bound(self, size: int) -> bool:
        return size > 1

    def bits(self, ratio: float) -> float:
        return NUMBERS * ball_bits(1, ratio)
