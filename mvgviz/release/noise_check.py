"""Is noise what it claims to be? Tests on draws, along every direction of both sides and between them.

Noise whitened with the design, ``A Z Bᵀ``, must be independent and standard normal. The tests look at its size along
every direction of rows and columns and in a few mixtures of all entries (which show repetition inside a draw), at
repeated scores or entries of either sign, at correlations with the draw before, and at correlations between rows,
columns and entries: the largest and all together. With too many pairs: within groups of neighbours and random groups
over all draws, and any pair in a few samples. All tests together fail for sound noise in at most :data:`FALSE_ALARMS`
of all checks (Bonferroni).
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.sampling import whiten
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray

FALSE_ALARMS = 1e-3  # how often sound noise fails
MIXTURES = 4  # number of random mixtures of all entries
_SAME = 1e-12
_ENTRIES = 2**18
_PAIRS = 2**18  # products of one side: more would cost more than the draws
_SEARCHED, _SAMPLES = 4_096, 64  # parts whose pairs are all searched, and in how many samples
_MOST_ENTRIES = 2_048  # beyond, their pairs have too few samples to tell
_AT_ONCE = 256  # parts
_FEWEST = 3  # samples; two give correlations anywhere between -1 and 1


class Finding(NamedTuple):
    """The oddest of several tests; ``p_value``: how likely sound noise looks at least as odd in one of them."""

    p_value: float
    words: str

    @property
    def as_claimed(self) -> bool:
        return self.p_value >= FALSE_ALARMS


def oddest(findings: list[Finding]) -> Finding:
    """Return the oddest of them, as one of so many."""
    worst = min(findings, key=lambda finding: finding.p_value)
    return worst._replace(p_value=min(len(findings) * worst.p_value, 1.0))


class _Pair(NamedTuple):
    """The largest correlation among ``pairs``, and its two parts."""

    correlation: float
    first: int
    second: int
    pairs: int


class PairTally:
    """Sums of products between parts of whitened noise (rows, columns or entries): first add all samples, then ask.

    ``products``: arrangements × groups × width × width, see :func:`_arranged`. ``kept``: the first samples of the parts
    to search for any pair; none if one group has all pairs.
    """

    def __init__(self, size: int) -> None:
        orders = _arranged(size)
        self.size, self.samples = size, 0
        self.products: FloatArray = np.zeros((len(orders), *orders[0].shape, orders[0].shape[1]))
        self.kept = np.empty((0, len(_searched(size))))

    def add(self, values: FloatArray) -> PairTally:
        self.samples += len(values)
        orders = _arranged(self.size)
        if len(orders) == 1:
            self.products[0, 0] += values.T @ values
            return self
        for order, sums in zip(orders, self.products, strict=True):
            sums += _products(np.take(values, order.ravel(), axis=1).reshape(len(values), *order.shape))
        self.kept = np.concatenate([self.kept, values[: _SAMPLES - len(self.kept), _searched(self.size)]])
        return self

    @cached_property
    def squares(self) -> FloatArray:
        """Return the squared correlation of each pair, twice; 0 for a part with itself or without noise."""
        width = self.products.shape[-1]
        powers = np.diagonal(self.products, axis1=-2, axis2=-1)
        scale = powers[..., :, None] * powers[..., None, :]
        squares = np.divide(np.square(self.products), scale, out=np.zeros_like(scale), where=scale > 0)
        squares[..., np.arange(width), np.arange(width)] = 0
        return squares

    @cached_property
    def largest(self) -> _Pair:
        place = np.unravel_index(int(np.argmax(self.squares)), self.squares.shape)
        arrangement, group, i, j = (int(k) for k in place)
        order = _arranged(self.size)[arrangement]
        correlation = math.copysign(math.sqrt(self.squares[place]), self.products[place])
        arrangements, groups, width, _ = self.products.shape
        return _Pair(correlation, int(order[group, i]), int(order[group, j]),
                     arrangements * groups * width * (width - 1) // 2)

    @cached_property
    @one_blas_thread()
    def largest_found(self) -> _Pair:
        """Return the largest correlation among the searched parts, in the samples kept."""
        lengths = np.linalg.norm(self.kept, axis=0)
        units = np.divide(self.kept, lengths, out=np.zeros_like(self.kept), where=lengths > 0)
        parts, size = _searched(self.size), units.shape[1]
        best = _Pair(0.0, 0, 0, 0)
        for start in range(0, size, _AT_ONCE):
            found = np.triu(units[:, start : start + _AT_ONCE].T @ units[:, start:], 1)
            i, j = np.unravel_index(int(np.argmax(np.abs(found))), found.shape)
            best = max(best, _Pair(float(found[i, j]), int(parts[start + i]), int(parts[start + j]), 0),
                       key=lambda pair: abs(pair.correlation))
        return best._replace(pairs=size * (size - 1) // 2)


def _products(groups: FloatArray) -> FloatArray:
    """Sum products over samples × groups × width to groups × width × width."""
    _, number, width = groups.shape
    if width > 3:
        return np.asarray(groups.transpose(1, 2, 0) @ groups.transpose(1, 0, 2))
    sums = np.empty((number, width, width))
    for i, j in itertools.combinations_with_replacement(range(width), 2):  # so many tiny matrices are slow
        sums[:, i, j] = sums[:, j, i] = np.einsum("sg,sg->g", groups[:, :, i], groups[:, :, j])
    return sums


@lru_cache(maxsize=4)
def _arranged(size: int) -> tuple[npt.NDArray[np.intp], ...]:
    """Return which parts form groups (groups × width): all in one, or neighbours, shifted and random ones."""
    parts = np.arange(size)
    if size**2 <= _PAIRS:
        return (parts[None],)
    width = max(_PAIRS // (6 * size), 2)
    shifted = np.roll(parts, -(size % width or width // 2))  # covers the ends of the first groups
    mixed = np.random.default_rng(1).permutation(size)
    return tuple(order[: size // width * width].reshape(-1, width) for order in (parts, shifted, mixed))


@lru_cache(maxsize=4)
def _searched(size: int) -> npt.NDArray[np.intp]:
    if size <= _SEARCHED:
        return np.arange(size)
    return np.sort(np.random.default_rng(2).choice(size, _SEARCHED, replace=False))


def moving_together(name: str, tally: PairTally, cols: int) -> list[Finding]:
    """Test correlations that should be 0: the largest, all together and, for many parts, the largest in few samples."""
    found = [_correlated(name, tally.largest, tally.samples, cols), _widely_correlated(name, tally)]
    if len(tally.kept):
        found.append(_correlated(name, tally.largest_found, len(tally.kept), cols))
    return found


def _correlated(name: str, pair: _Pair, samples: int, cols: int) -> Finding:
    """Test a squared correlation, which is Beta(1/2, (samples - 1)/2) if the parts are independent."""
    if samples < _FEWEST:
        return Finding(1.0, "")
    p_value = float(special.betainc((samples - 1) / 2, 0.5, max(1 - pair.correlation**2, 0.0)))
    first, second = sorted((pair.first, pair.second))
    which = (f"{name} {first + 1} and {second + 1}" if name != "entries" else
             f"{name} ({first // cols + 1}, {first % cols + 1}) and ({second // cols + 1}, {second % cols + 1})")
    how, sign = ("together", "") if pair.correlation > 0 else ("against each other", "−")
    return Finding(min(pair.pairs * p_value, 1.0), f"{which} of the noise move {how}, correlation "
                   f"{sign}{abs(pair.correlation):.2f} where 0 is claimed")


def _widely_correlated(name: str, tally: PairTally) -> Finding:
    """Test the largest sum of squared correlations of an arrangement."""
    arrangements, groups, width, _ = tally.squares.shape
    if tally.samples < _FEWEST:
        return Finding(1.0, "")
    total = float(tally.squares.sum(axis=(1, 2, 3)).max()) / 2
    typical, chance = math.sqrt(total / (groups * width * (width - 1) / 2)), 1 / math.sqrt(tally.samples)
    return Finding(min(arrangements * _tail_of_squares(total, groups, width, tally.samples), 1.0),
                   f"{name} of the noise are not independent, correlations of {typical:.2g} are typical "
                    f"where chance makes {chance:.2g}")


def _tail_of_squares(total: float, groups: int, width: int, n: int) -> float:
    """Return how likely the squared correlations of ``n`` independent samples sum to more, over all pairs.

    A shifted gamma with the exact mean, variance and skewness of the sum, its tail raised to a power, as it is short.
    """
    pairs, triangles = groups * width * (width - 1) / 2, groups * width * (width - 1) * (width - 2) / 6
    variance = 2 * (n - 1) / (n**2 * (n + 2))
    third = 8 * (n - 1) * (n - 2) / (n**3 * (n + 2) * (n + 4))
    spread = pairs * variance
    skewed = pairs * third + 6 * triangles * ((n + 8) / (n**2 * (n + 2) ** 2) - 1 / n**3)
    scale, shape = skewed / (2 * spread), 4 * spread**3 / skewed**2
    tail = float(special.gammaincc(shape, max((total - pairs / n) / scale + shape, 0.0)))
    return math.pow(tail, 0.85)


class NoiseTally:
    """Sums over whitened draws: of squares along each row and column direction, and of each mixture.

    ``lagged``: of products with the draw before, along each row direction; ``last``: the last draw. ``sums``: of the
    sums of all rows and of all columns, which show balanced or shared noise. ``pairs``: of products. ``entries``: the
    first ones, to find repetitions; ``same``: how far rounding can move equal ones apart.
    """

    def __init__(self, design: NoiseDesign, *, rounding: float = 0.0) -> None:
        self.design, self.same, self.draws = design, _SAME + rounding, 0
        rows, cols = design.rows, design.cols
        self.rows, self.cols, self.sums, self.mixtures = (np.zeros(size) for size in (rows, cols, 2, MIXTURES))
        self.lagged, self.last = np.zeros(rows), np.zeros((1, rows, cols))
        self.entries = np.empty(0)
        sizes = {"row directions": rows, "column directions": cols,
                 "entries": rows * cols if min(rows, cols) > 1 and rows * cols <= _MOST_ENTRIES else 1}
        self.pairs = {name: PairTally(size) for name, size in sizes.items() if size > 1}
        rng = np.random.default_rng(0)  # the same mixtures each time
        self._mixing = [np.where(rng.random((size, MIXTURES)) < 0.5, -1.0, 1.0) / math.sqrt(size)
                        for size in (rows, cols)]

    def add(self, noise: FloatArray) -> NoiseTally:
        """Add draws × rows × cols of noise, in the units of the design."""
        white = whiten(self.design.row_side, self.design.col_side, noise)
        draws, rows, cols = white.shape
        squares, (left, right) = np.square(white), self._mixing
        self.draws += draws
        self.rows += squares.sum(axis=(0, 2))
        self.cols += squares.sum(axis=(0, 1))
        self.lagged += np.einsum("trk,trk->r", white, np.concatenate([self.last, white[:-1]]))
        self.last = white[-1:]
        self.sums += [float(np.square(white.sum(axis=axis)).sum()) / white.shape[axis] for axis in (1, 2)]
        self.mixtures += np.square(np.einsum("trk,rk->tk", white @ right, left)).sum(axis=0)
        if self.entries.size < _ENTRIES:
            self.entries = np.append(self.entries, white.ravel()[: _ENTRIES - self.entries.size])
        samples = {"row directions": lambda: white.swapaxes(0, 1).reshape(rows, -1).T,
                   "column directions": lambda: white.reshape(-1, cols), "entries": lambda: white.reshape(draws, -1)}
        for name, tally in self.pairs.items():
            tally.add(samples[name]())
        return self


def check_noise(tally: NoiseTally, scores: FloatArray, *, noise_factor: float = 1.0) -> Finding:
    """Run all tests on a tally and the attack's scores, for noise times ``noise_factor``."""
    if not np.abs(scores).max() > _SAME:
        return Finding(0.0, "there is no noise")
    again = [repeated(np.abs(values), tally.same, values.size**2 * tally.same / math.sqrt(math.pi), "are repeated")
             for values in (scores, tally.entries)]
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
    findings.append(_like_the_last(tally.lagged / np.maximum(tally.rows, np.finfo(float).tiny), tally.draws * cols))
    for name, pairs in tally.pairs.items():
        findings += moving_together(name, pairs, cols)
    mean = float(scores.mean())
    off_centre = Finding(2 * float(special.ndtr(-abs(mean) * math.sqrt(scores.size))),
                         f"the scores of the attack are {mean:.2f} off centre")
    not_normal = not_uniform(special.ndtr(scores), "the scores of the attack are not normal as claimed")
    return oddest([*findings, not_normal, off_centre, *again])


def _wrong_size(name: str, sums: FloatArray, terms: int) -> Finding:
    """Test sums of ``terms`` squares, which are chi-square if the noise is as claimed."""
    p_values = 2 * np.minimum(special.chdtr(terms, sums), special.chdtrc(terms, sums))
    k = int(np.argmin(p_values))
    ratio = math.sqrt(float(sums[k]) / terms)
    return Finding(min(sums.size * float(p_values[k]), 1.0),
                   f"{name.format(k + 1)} the noise is {ratio:.2f} times what is claimed")


def _like_the_last(correlations: FloatArray, terms: int) -> Finding:
    """Test the largest correlation of a draw with the one before, along any row direction."""
    k = int(np.argmax(np.abs(correlations)))
    p_value = float(special.betainc((terms - 1) / 2, 0.5, max(1 - correlations[k] ** 2, 0.0)))
    return Finding(min(correlations.size * p_value, 1.0), f"along row direction {k + 1} a draw of the noise depends on "
                   f"the one before, correlation {correlations[k]:.2f} where 0 is claimed".replace("-", "−"))


def not_uniform(levels: FloatArray, words: str) -> Finding:
    """Test levels that should be uniform (Kolmogorov)."""
    ordered, steps = np.sort(levels), np.arange(levels.size + 1) / levels.size
    distance = max(float((steps[1:] - ordered).max()), float((ordered - steps[:-1]).max()))
    return Finding(float(special.kolmogorov(math.sqrt(levels.size) * distance)), words)


def repeated(sizes: FloatArray, same: float, expected: float, where: str) -> Finding:
    """Test sizes that occur again, ``same`` or less apart: by chance a Poisson number with at most this mean."""
    again = int(np.count_nonzero(np.diff(np.sort(sizes)) <= same))
    return Finding(float(special.gammainc(again, expected)) if again else 1.0,
                   f"the same noise occurs again: {again:,} of {sizes.size:,} values {where}")
