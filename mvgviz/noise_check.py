"""Is noise what it claims to be? Tested on draws, along every direction of both sides.

Noise that is whitened with the design, ``A Z Bᵀ``, must be standard normal in every entry. An
attack along one direction does not see a wrong shape that is too large there and too small
elsewhere; so the size along every direction of the rows and of the columns is tested too, with a
few mixtures of all entries, where noise that repeats itself inside a draw stands out. Noise that is
drawn once and used again gives the same score again.

All tests together fail for sound noise in at most :data:`FALSE_ALARMS` of all checks (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import special

from mvgviz.design import NoiseDesign
from mvgviz.sides import NoiseSide
from mvgviz.validation import FloatArray

FALSE_ALARMS = 1e-3
"""How often sound noise is said not to be as claimed."""

MIXTURES = 4
"""How many random mixtures of all entries are tested."""

_SAME = 1e-12
_REPEATS = 3  # of many draws; by chance 200 000 have three in less than one of a million checks
_ENTRIES = 50_000


@dataclass(frozen=True, kw_only=True)
class NoiseCheck:
    """``p_value``: how likely sound noise looks at least as odd; ``words``: what is oddest about it."""

    p_value: float
    words: str

    @property
    def as_claimed(self) -> bool:
        return self.p_value >= FALSE_ALARMS


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseTally:
    """Sums over whitened draws: of squares along each row and column direction, and of each mixture.

    ``entries`` are some of the first draw's, looked through for repetitions.
    """

    draws: int
    rows: FloatArray = field(repr=False)
    cols: FloatArray = field(repr=False)
    mixtures: FloatArray = field(repr=False)
    entries: FloatArray = field(repr=False)

    @classmethod
    def of(cls, design: NoiseDesign, noise: FloatArray) -> NoiseTally:
        """Of draws × rows × cols of noise, in the units of the design."""
        white = _whitened(design, noise)
        rng = np.random.default_rng(0)  # the same mixtures each time
        left, right = (np.where(rng.random((size, MIXTURES)) < 0.5, -1.0, 1.0) / math.sqrt(size)
                       for size in (design.rows, design.cols))
        mixed = np.einsum("trk,rk->tk", white @ right, left)
        squares = np.square(white)
        return cls(draws=len(noise), rows=squares.sum(axis=(0, 2)), cols=squares.sum(axis=(0, 1)),
                   mixtures=np.square(mixed).sum(axis=0), entries=white[0].ravel()[:_ENTRIES])

    @classmethod
    def total(cls, parts: Sequence[NoiseTally]) -> NoiseTally:
        return cls(draws=sum(part.draws for part in parts), entries=parts[0].entries,
                   **{name: np.sum([getattr(part, name) for part in parts], axis=0)
                      for name in ("rows", "cols", "mixtures")})


class _Finding(NamedTuple):
    p_value: float
    words: str


def check_noise(tally: NoiseTally, scores: FloatArray, *, noise_factor: float = 1.0) -> NoiseCheck:
    """All tests on a tally and the attack's scores, which must be standard normal.

    ``noise_factor`` multiplies the noise first: what the check would say of noise that much smaller.
    """
    scores, square = noise_factor * scores, noise_factor**2
    repeated = _repeats(scores) or _repeats(tally.entries)
    if repeated:
        return NoiseCheck(p_value=0.0, words=repeated)
    findings = [_not_normal(scores), _off_centre(scores)]
    tests = len(findings)
    for name, sums, terms in (
        ("in the direction of the attack", np.array([np.sum(scores**2)]), scores.size),
        ("along row direction {}", square * tally.rows, tally.draws * tally.cols.size),
        ("along column direction {}", square * tally.cols, tally.draws * tally.rows.size),
        ("in mixture {} of all entries", square * tally.mixtures, tally.draws),
    ):
        findings.append(_wrong_size(name, sums, terms))
        tests += sums.size
    worst = min(findings)
    return NoiseCheck(p_value=min(tests * worst.p_value, 1.0), words=worst.words)


def _wrong_size(name: str, sums: FloatArray, terms: int) -> _Finding:
    """The oddest of several sums of ``terms`` squares: chi-square when the noise is as claimed."""
    p_values = 2 * np.minimum(special.chdtr(terms, sums), special.chdtrc(terms, sums))
    k = int(np.argmin(p_values))
    ratio = math.sqrt(float(sums[k]) / terms)
    return _Finding(float(p_values[k]), f"{name.format(k + 1)} the noise is {ratio:.2f} times what is claimed")


def _not_normal(scores: FloatArray) -> _Finding:
    """Kolmogorov's distance of the scores from the normal distribution."""
    levels, n = special.ndtr(np.sort(scores)), scores.size
    steps = np.arange(n + 1) / n
    distance = max(float((steps[1:] - levels).max()), float((levels - steps[:-1]).max()))
    return _Finding(float(special.kolmogorov(math.sqrt(n) * distance)),
                    "the scores of the attack are not normal as claimed")


def _off_centre(scores: FloatArray) -> _Finding:
    mean = float(scores.mean())
    return _Finding(2 * float(special.ndtr(-abs(mean) * math.sqrt(scores.size))),
                    f"the scores of the attack lie {mean:.2f} off where they should")


def _repeats(values: FloatArray) -> str:
    """A sentence where values occur again, which continuous noise never does."""
    if not np.abs(values).max() > _SAME:
        return "there is no noise"
    again = int(np.count_nonzero(np.diff(np.sort(values)) <= _SAME))
    if again < max(min(_REPEATS, values.size // 2), 1):
        return ""
    return f"the same noise occurs again: {again:,} of {values.size:,} values are repeated"


def _whitened(design: NoiseDesign, noise: FloatArray) -> FloatArray:
    """``A Z Bᵀ`` for each draw."""
    return _divided(design.col_side, _divided(design.row_side, noise).transpose(0, 2, 1)).transpose(0, 2, 1)


def _divided(side: NoiseSide, noise: FloatArray) -> FloatArray:
    if side.is_identity:
        return noise
    if side.is_diagonal:
        return np.asarray(noise / np.sqrt(side.variances)[:, None])
    return np.asarray(side.whitener() @ noise)
