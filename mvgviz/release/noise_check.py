"""Is noise what it claims to be? Tested on draws, along every direction of both sides and between them.

Noise that is whitened with the design, ``A Z Bᵀ``, must be standard normal in every entry, each independent of the
others. An attack along one direction does not see a wrong shape that is too large there and too small elsewhere; so the
size along every direction of the rows and of the columns is tested too, with a few mixtures of all entries, where noise
that repeats itself inside a draw stands out. Noise that is drawn once and used again, whatever its sign, gives the
same score or the same entries again. What moves together is found by :mod:`mvgviz.release.noise_pairs`.

All tests together fail for sound noise in at most :data:`FALSE_ALARMS` of all checks (Bonferroni).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.noise.sides import NoiseSide
from mvgviz.release.noise_pairs import Finding, PairTally, moving_together, tally_pairs
from mvgviz.validation import FloatArray

FALSE_ALARMS = 1e-3
"""How often sound noise is said not to be as claimed."""

MIXTURES = 4
"""How many random mixtures of all entries are tested."""

_SAME = 1e-12
_ENTRIES = 2**18


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

    ``sums`` are those of the plain sums of all rows and of all columns, where noise that is balanced
    or shared stands out. ``pairs`` are of the products of rows, columns and entries, where they have
    pairs. ``entries`` are the first ones, looked through for repetitions; ``same``: how far two may be apart that were
    the same before rounding.
    """

    draws: int
    rows: FloatArray = field(repr=False)
    cols: FloatArray = field(repr=False)
    sums: FloatArray = field(repr=False)
    mixtures: FloatArray = field(repr=False)
    pairs: dict[str, PairTally] = field(repr=False)
    entries: FloatArray = field(repr=False)
    same: float

    @classmethod
    def of(cls, design: NoiseDesign, noise: FloatArray, *, rounding: float = 0.0) -> NoiseTally:
        """Of draws × rows × cols of noise, in the units of the design; ``rounding``: of an entry when whitened."""
        white = _whitened(design, noise)
        rng = np.random.default_rng(0)  # the same mixtures each time
        left, right = (np.where(rng.random((size, MIXTURES)) < 0.5, -1.0, 1.0) / math.sqrt(size)
                       for size in (design.rows, design.cols))
        mixed = np.einsum("trk,rk->tk", white @ right, left)
        squares = np.square(white)
        sums = [float(np.square(white.sum(axis=axis)).sum()) / white.shape[axis] for axis in (1, 2)]
        return cls(draws=len(noise), rows=squares.sum(axis=(0, 2)), cols=squares.sum(axis=(0, 1)), sums=np.array(sums),
                   mixtures=np.square(mixed).sum(axis=0), pairs=tally_pairs(white), entries=white.ravel()[:_ENTRIES],
                   same=_SAME + rounding)

    def plus(self, other: NoiseTally) -> NoiseTally:
        """Of the draws of both."""
        full = self.entries.size == _ENTRIES
        return NoiseTally(draws=self.draws + other.draws, rows=self.rows + other.rows, cols=self.cols + other.cols,
                          sums=self.sums + other.sums, mixtures=self.mixtures + other.mixtures,
                          entries=self.entries if full else np.append(self.entries, other.entries)[:_ENTRIES],
                          same=max(self.same, other.same),
                          pairs={name: pairs.plus(other.pairs[name]) for name, pairs in self.pairs.items()})


def check_noise(tally: NoiseTally, scores: FloatArray, *, noise_factor: float = 1.0) -> NoiseCheck:
    """All tests on a tally and the attack's scores, which must be standard normal.

    ``noise_factor`` multiplies the noise first: what the check would say of noise that much smaller.
    """
    if not np.abs(scores).max() > _SAME:
        return NoiseCheck(p_value=0.0, words="there is no noise")
    again = [_repeated(values, tally.same) for values in (scores, tally.entries)]
    scores, square = noise_factor * scores, noise_factor**2
    rows, cols = tally.rows.size, tally.cols.size
    findings = [_wrong_size(name, sums, terms) for name, sums, terms in (
        ("in the direction of the attack", np.array([np.sum(scores**2)]), scores.size),
        ("along row direction {}", square * tally.rows, tally.draws * cols),
        ("along column direction {}", square * tally.cols, tally.draws * rows),
        ("in the sum of all rows", square * tally.sums[:1], tally.draws * cols),
        ("in the sum of all columns", square * tally.sums[1:], tally.draws * rows),
        ("in mixture {} of all entries", square * tally.mixtures, tally.draws),
    )]
    for name, pairs in tally.pairs.items():
        findings += moving_together(name, pairs, cols)
    findings += [_not_normal(scores), _off_centre(scores), *again]
    worst = min(findings, key=lambda finding: finding.p_value)
    return NoiseCheck(p_value=min(len(findings) * worst.p_value, 1.0), words=worst.words)


def _wrong_size(name: str, sums: FloatArray, terms: int) -> Finding:
    """The oddest of several sums of ``terms`` squares: chi-square when the noise is as claimed."""
    p_values = 2 * np.minimum(special.chdtr(terms, sums), special.chdtrc(terms, sums))
    k = int(np.argmin(p_values))
    ratio = math.sqrt(float(sums[k]) / terms)
    return Finding(min(sums.size * float(p_values[k]), 1.0),
                   f"{name.format(k + 1)} the noise is {ratio:.2f} times what is claimed")


def _not_normal(scores: FloatArray) -> Finding:
    """Kolmogorov's distance of the scores from the normal distribution."""
    levels, n = special.ndtr(np.sort(scores)), scores.size
    steps = np.arange(n + 1) / n
    distance = max(float((steps[1:] - levels).max()), float((levels - steps[:-1]).max()))
    return Finding(float(special.kolmogorov(math.sqrt(n) * distance)),
                   "the scores of the attack are not normal as claimed")


def _off_centre(scores: FloatArray) -> Finding:
    mean = float(scores.mean())
    return Finding(2 * float(special.ndtr(-abs(mean) * math.sqrt(scores.size))),
                   f"the scores of the attack lie {mean:.2f} off where they should")


def _repeated(values: FloatArray, same: float) -> Finding:
    """Values that occur again, whatever their sign; by chance a Poisson number, of the mean ``n² same/sqrt(pi)``."""
    again = int(np.count_nonzero(np.diff(np.sort(np.abs(values))) <= same))
    expected = values.size**2 * same / math.sqrt(math.pi)
    return Finding(float(special.gammainc(again, expected)) if again else 1.0,
                   f"the same noise occurs again: {again:,} of {values.size:,} values are repeated")


def _whitened(design: NoiseDesign, noise: FloatArray) -> FloatArray:
    """``A Z Bᵀ`` for each draw."""
    return _divided(design.col_side, _divided(design.row_side, noise).transpose(0, 2, 1)).transpose(0, 2, 1)


def _divided(side: NoiseSide, noise: FloatArray) -> FloatArray:
    if side.is_identity:
        return noise
    if side.is_diagonal:
        return np.asarray(noise / np.sqrt(side.variances)[:, None])
    return np.asarray(side.whitener() @ noise)
