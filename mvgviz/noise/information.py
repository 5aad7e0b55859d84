"""How much of an answer noise lets through, in bits: the mutual information of the paper's last section, computed.

For noise Z that does not depend on the records, ``I(X; f(X)+Z) = I(f(X); f(X)+Z) = h(f(X)+Z) - h(Z)``: what a release
tells about the table is what it tells about the answer. It is an average over tables and noise, not a promise.

>>> from mvgviz.noise.information import bits_through
>>> {name: round(bits_through(name, 1.0), 3) for name in ("gaussian", "ellipse", "laplace", "box")}
{'gaussian': 1.5, 'ellipse': 1.647, 'laplace': 1.785, 'box': 1.807}

References
  [1] Chanyaswad et al. 2018, Section "Information Theoretic Perspective on the MVG Mechanism".
  [2] Cuff & Yu, Differential privacy as a mutual information constraint, CCS 2016.
  [3] Vasicek, A test for normality based on sample entropy, JRSS-B 1976.
"""

import math
from functools import lru_cache

import numpy as np
from scipy import special

from mvgviz.noise.families import FAMILIES
from mvgviz.validation import FloatArray, array, count, one_of, positive

LEAST_RATIO, MOST_RATIO = 0.01, 1e6  # of signal to noise variance, for which the integrals are good to five digits

TABLES = 4_000
QUERIES = ("mean", "second moment", "kernel entry")
_SPACING = 20  # neighbours on either side of an answer, that give its density


def bits_through(family: str, ratio: float) -> float:
    """Return what noise with unit covariance lets through about three independent normal numbers of variance ``ratio``.

    By integration over the noise's length; Gaussian noise has ``3/2 log2(1 + ratio)``.
    """
    positive("ratio", ratio, least=LEAST_RATIO, most=MOST_RATIO)
    return FAMILIES[one_of("family", family, FAMILIES)].bits(ratio)


def count_bits(people: int, std: float, *, laplace: bool = False) -> float:
    """Return what a count with noise tells about who said yes: each of ``people`` does so with chance one half.

    What it tells about one of them is ``count_bits(1, std)`` to whoever knows all others [2], and ``count_bits(people,
    std) - count_bits(people - 1, std)`` to whoever knows none.
    """
    people, std = count("people", people), positive("std", std)
    yes = np.arange(people + 1)
    chances = np.exp(special.gammaln(people + 1) - special.gammaln(yes + 1) - special.gammaln(people - yes + 1)
                     - people * math.log(2))
    step = 1 / math.ceil(1 / min(std / 8, 1 / 8) * (60 if laplace else 1))  # kinks of Laplace noise are on the grid
    beyond = math.ceil((40 if laplace else 12) * std)
    at = np.arange(-beyond, people + beyond + step / 2, step)
    total = np.zeros(at.size)
    for value, chance in zip(yes, chances, strict=True):
        away = np.abs(at - value) / std
        total += chance * (np.exp(-math.sqrt(2) * away) / math.sqrt(2) if laplace else
                           np.exp(-away * away / 2) / math.sqrt(2 * math.pi)) / std
    own = 1 + math.log(math.sqrt(2) * std) if laplace else math.log(2 * math.pi * math.e * std**2) / 2
    return max((-float(special.xlogy(total, total).sum()) * step - own) / math.log(2), 0.0)


@lru_cache(maxsize=16)
def simulated_answers(records: int) -> FloatArray:
    """Return the answers of :data:`QUERIES` on 4 000 simulated tables of one column, a row each, from a fixed seed.

    Values are cubes of even ones: most are near 0. The kernel entry is that of the first two records, with length 1.
    """
    rng, most = np.random.default_rng(count("records", records, at_least=2)), max(1, 1_000_000 // records)
    parts = []
    for start in range(0, TABLES, most):
        values = rng.random((min(most, TABLES - start), records)) ** 3
        parts.append((values.mean(axis=1), np.square(values).mean(axis=1),
                      np.exp(-np.square(values[:, 0] - values[:, 1]) / 2)))
    return np.concatenate(parts, axis=1)


def lacking_bits(answers: FloatArray) -> tuple[float, float]:
    """Return by how many bits a number's entropy falls short of a normal number's of its variance, and the error.

    From spacings of the sorted answers [3], less what the same estimate gives for normal numbers. The error is twice
    the estimate's standard error. By so many bits at most does Gaussian noise let less through about this number.
    """
    bits, error = _spacing_bits(array("answers", answers, ndim=1))
    return bits - _normal_bits(len(answers)), error


def _spacing_bits(answers: FloatArray) -> tuple[float, float]:
    z = np.sort((answers - answers.mean()) / answers.std())
    places = np.arange(z.size)
    low, high = np.maximum(places - _SPACING, 0), np.minimum(places + _SPACING, z.size - 1)
    each = (z * z + math.log(2 * math.pi)) / 2 - np.log((z[high] - z[low]) * z.size / (high - low))
    return float(each.mean()) / math.log(2), 2 * float(each.std()) / math.sqrt(z.size) / math.log(2)


@lru_cache(maxsize=4)
def _normal_bits(size: int) -> float:
    rng = np.random.default_rng(size)
    return float(np.mean([_spacing_bits(rng.standard_normal(size))[0] for _ in range(40)]))
