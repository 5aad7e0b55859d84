"""Box noise: ``exp(-epsilon max |z_i|)``, shaped like the box of everything that one record can change."""

import math

import numpy as np
from scipy import special

from mvgviz.noise.accounting import root
from mvgviz.noise.families.base import NUMBERS, gamma_nodes, nodes_to, norm_entropy
from mvgviz.noise.families.pure import Pure
from mvgviz.validation import FloatArray


class Box(Pure):
    """The K-norm mechanism of a box."""

    name, title, word = "box", "Box", "box"

    def std(self, size: int, epsilon: float, delta: float) -> float:
        return math.sqrt((size + 1) * (size + 2) / 3) / epsilon

    def half_width(self, size: int, epsilon: float, delta: float, confidence: float = 0.95) -> float:
        """Solve ``P(|z| > x/epsilon) = Q(size + 1, x) - (x/size) Q(size, x)``, Q the regularised upper gamma."""
        return root(lambda x: float(special.gammaincc(size + 1, x) - x / size * special.gammaincc(size, x))
                    - (1 - confidence), 0.0, size + 40.0 * math.sqrt(size) + 80) / epsilon

    def fill(self, rng: np.random.Generator, out: FloatArray) -> None:
        """Draw a uniform point of the box, and a length that is Gamma(size + 1)."""
        size, cols = out.shape
        rng.random(out=out)
        out -= 0.5
        out *= rng.standard_gamma(size + 1, size=cols) * (2 / self.std(size, 1.0, 0.0))

    def bits(self, ratio: float) -> float:
        """Integrate over the length: given it the noise is spread evenly, so that the three sums are independent."""
        scale = math.sqrt(3 / ((NUMBERS + 1) * (NUMBERS + 2)))
        lengths, weights = gamma_nodes(NUMBERS + 1.0)
        reach, spread = scale * lengths, math.sqrt(ratio)
        at, width = nodes_to(12 * spread + 40 * scale, 64 if ratio >= 0.1 else 128)  # of one octant
        one = (special.ndtr((at[:, None] + reach) / spread)
               - special.ndtr((at[:, None] - reach) / spread)) / (2 * reach)
        entropy = 0.0
        for densities, part in zip(one * weights, width, strict=True):
            layer = (densities * one) @ one.T
            entropy -= 2**NUMBERS * part * float(width @ special.xlogy(layer, layer) @ width)
        return (float(entropy) - norm_entropy(NUMBERS, 2.0**NUMBERS, scale)) / math.log(2)
