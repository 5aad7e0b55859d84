"""Box noise: ``exp(-epsilon max |z_i|)``, shaped like the box of everything that one record can change."""

import math
from collections.abc import Iterator

import numpy as np
from scipy import special

from mvgviz.noise.accounting import gaussian_mu, root
from mvgviz.noise.families.base import (
    NUMBERS,
    Block,
    Law,
    Split,
    gamma_nodes,
    laplace_delta,
    nodes_to,
    norm_entropy,
)
from mvgviz.noise.families.gaussian import Gaussian
from mvgviz.validation import FloatArray


class Box(Law):
    """Pure noise: its worst pair is that of Laplace noise on one number."""

    name, title, word = "box", "Box", "box"
    is_pure = in_a_box = True

    def std(self, size: int, epsilon: float, delta: float) -> float:
        return math.sqrt((size + 1) * (size + 2) / 3) / epsilon

    def split(self, priority: int, other: int, share: float, epsilon: float, delta: float) -> Split:
        return Split(self.std(priority, share * epsilon, 0), self.std(other, (1 - share) * epsilon, 0))

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

    def pure_part(self, size: int, epsilon: float, delta: float) -> float:
        return epsilon

    def delta_at(self, at: float, size: int, epsilon: float, delta: float) -> float:
        return laplace_delta(at, epsilon)

    def blocks(self, theta: FloatArray, epsilon: float, delta: float, *, one_record: bool) -> Iterator[Block]:
        for group in _groups(theta) if self.joins else [[k] for k in range(theta.size)]:
            yield Block(tuple(group), self, epsilon * float(theta[group].sum()))

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


def _groups(theta: FloatArray) -> list[list[int]]:
    """Return the rows of each share, the largest first."""
    found: dict[float, list[int]] = {}
    for k in np.argsort(-theta, kind="stable").tolist():
        near = next((share for share in found if math.isclose(share, theta[k], rel_tol=1e-9)), float(theta[k]))
        found.setdefault(near, []).append(k)
    return list(found.values())


def same_attacker(family: Law, size: int, epsilon: float, delta: float) -> float:
    """Return a pure family's noise over Gaussian noise when both give the best attacker the same advantage."""
    missed = math.log(2) + float(special.log_ndtr(-gaussian_mu(epsilon, delta) / 2))  # log of 1 - advantage
    return family.std(size, -2 * missed, 0) / Gaussian().std(size, epsilon, delta)
