"""An audit by simulation: does the noise hide the worst neighbours as well as it claims?

Draw noise on both neighbours with the sampler of trials (:func:`simulate_scores`) or of releases
(:func:`release_scores`). The best attack (likelihood ratio) gives a lower bound on epsilon (:func:`judge`), which can
refute a claim and never prove it. The same draws are tested for what the attack does not see
(:mod:`mvgviz.release.noise_check`). Of box and Laplace noise (:func:`audit_pure`) the bound is at delta = 0, and the
tests look at size, signs and repetition; of ellipse noise (:func:`audit_ellipse`), at lengths and directions.

References
  [1] Jagielski, Ullman & Oprea, Auditing differentially private machine learning, NeurIPS 2020.
  [2] Clopper & Pearson, Biometrika 1934.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from mvgviz.design import sampling
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import PairLoss
from mvgviz.errors import InputError, refuse
from mvgviz.noise.families import Block
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.dataset import Dataset
from mvgviz.query.neighbours import ReplacedColumn
from mvgviz.query.queries import Query
from mvgviz.release import box_noise, secure_noise
from mvgviz.release.noise_check import Finding, NoiseTally, check_noise, not_uniform, oddest, repeated
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray, count, fraction, frozen, generator, positive

_LARGE, _LARGEST = 2.0**12, 2.0**40  # answers in standard deviations: at least, and at most, which leaves 12 bits
_SAME = 1e-11  # how far rounding moves equal pure draws apart, in units of what a record can change


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseScores:
    """The attack's scores of the noise of ``releases`` on each neighbour: standard normal if it is as claimed."""

    absent: FloatArray = field(repr=False)
    present: FloatArray = field(repr=False)
    releases: int
    tally: NoiseTally = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The attack on the half of the trials that did not choose its threshold; ``absent``, ``present``: all scores on
    the two neighbours, ``N(0, 1)`` and ``N(mu, 1)`` if the claim is true.
    """

    absent: FloatArray = field(repr=False)
    present: FloatArray = field(repr=False)
    threshold: float
    evaluated: int
    accused: int
    caught: int
    delta: float
    confidence: float
    check: Finding

    @property
    def epsilon_lower(self) -> float:
        """Return the epsilon that the noise spends at least, at ``delta`` and with this confidence."""
        return float(epsilon_lower(self.caught, self.accused, self.evaluated, self.delta, self.confidence))

    @property
    def ceiling(self) -> float:
        """Return the largest epsilon that so many trials can show."""
        return float(epsilon_lower(self.evaluated, 0, self.evaluated, self.delta, self.confidence))


def simulate_scores(loss: PairLoss, *, trials: int, rng: np.random.Generator,
                    progress: Callable[[float], None] | None = None) -> NoiseScores:
    """Draw noise on each neighbour with ``sample_noise`` and return at least ``trials`` scores of each."""
    trials, rng, design = count("trials", trials, at_least=100), generator(rng), loss.design
    return _scored(loss, trials, max(2**17 // (design.rows * design.cols), 1),
                   lambda size, present: sampling.sample_noise(design, rng=rng, trials=size), progress)


def release_scores(loss: PairLoss, query: Query, *, trials: int, largest: FloatArray | None = None,
                   progress: Callable[[float], None] | None = None) -> NoiseScores:
    """Score the hardened noise of a release: fresh noise, about 25 µs an entry, never of the query's answer. The
    neighbours differ by the worst pair's difference and have answers of random sizes, up to the largest possible.
    """
    trials, design = count("trials", trials), loss.design
    # what the present record adds to the answer; to every column where each record is attacked
    left, right = loss.pair.left, loss.pair.right
    added = np.repeat(left, design.cols, axis=1) if attacks_per_release(design) > 1 else left @ right.T
    rows, cols = design.row_side, design.col_side
    size = min(max(secure_noise.largest_white_norm(query, rows, cols, largest), _LARGE), _LARGEST)
    plan = secure_noise.hardening_for(query, rows, cols, design.mu, largest)
    turns, rng = itertools.count(), np.random.default_rng()

    def draw(_: int, present: bool) -> FloatArray:
        white = _of_many_sizes(next(turns), size, (design.rows, design.cols), rng)
        answer = frozen(sampling.colour(rows, cols, white[None])[0] + (added if present else 0.0))
        noise = secure_noise.noisy_answer(answer, rows, cols, plan) - answer
        # The plan makes the noise slightly larger than the design, for rounding: by no factor below 1 or above 1.1.
        return noise[None] / min(max(plan.noise_std, 1.0), 1.1)

    return _scored(loss, trials, 1, draw, progress, rounding=size * _rounding(rows) * _rounding(cols))


def _of_many_sizes(turn: int, most: float, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Return in turn a whitened answer of the largest size, 0, random sizes, and one random size."""
    if turn % 4 < 2:
        return np.full(shape, 0.0 if turn % 4 else most)
    sizes = shape if turn % 4 == 2 else (1, 1)
    return np.full(shape, rng.choice([-1, 1], sizes) * most ** rng.uniform(-0.25, 1, sizes))


def _rounding(side: NoiseSide) -> float:
    """Return roughly the relative error of colouring and whitening with this side."""
    return 2**-26 * (2 if side.is_diagonal else math.sqrt(side.size * side.variances.max() / side.variances.min()))


def attacks_per_release(design: NoiseDesign) -> int:
    """Return how many records of a release are attacked: all of a table whose noise is independent."""
    body = design.neighbours
    each = isinstance(body, ReplacedColumn) and body.records == 1 and design.col_side.is_identity
    return design.cols if each else 1


def _scored(loss: PairLoss, trials: int, width: int, draw: Callable[[int, bool], FloatArray],
            progress: Callable[[float], None] | None, rounding: float = 0.0) -> NoiseScores:
    """Draw on one neighbour, then on the other, so that a sampler that restarts repeats itself."""
    refuse(loss.design.blocks, f"this audit is for Gaussian noise, got {loss.design.family.word} noise; use audit_pure")
    per_release = attacks_per_release(loss.design)
    releases = max(math.ceil(trials / per_release), 2)  # one alone cannot show repeated noise
    left, right = loss.attack_factors()
    attack = left[:, 0] / loss.mu if per_release > 1 else (left @ right.T / loss.mu).ravel()
    scores: list[list[FloatArray]] = [[], []]
    tally = NoiseTally(loss.design, rounding=rounding)
    with one_blas_thread():
        for present, start in itertools.product((False, True), range(0, releases, width)):
            size = min(width, releases - start)
            noise = draw(size, present)
            flat = attack @ noise if per_release > 1 else noise.reshape(size, -1) @ attack
            scores[present].append(np.asarray(flat).ravel())
            tally.add(noise)
            if progress is not None:
                progress((present * releases + start + size) / (2 * releases))
    absent, there = (np.concatenate(parts) for parts in scores)
    return NoiseScores(absent=absent, present=there, releases=releases, tally=tally)


def judge(loss: PairLoss, noise: NoiseScores, *, delta: float, noise_factor: float = 1.0,
          confidence: float = 0.95) -> Audit:
    """Attack releases with this noise, times ``noise_factor``: with 0.5 the mechanism is broken, not its claim."""
    delta, confidence = fraction("delta", delta), fraction("confidence", confidence)
    factor = positive("noise_factor", noise_factor)
    return attacked(factor * noise.absent, loss.mu + factor * noise.present, delta=delta, confidence=confidence,
                    check=check_noise(noise.tally, np.concatenate([noise.absent, noise.present]), noise_factor=factor))


def attacked(absent: FloatArray, present: FloatArray, *, delta: float, confidence: float, check: Finding) -> Audit:
    """Choose the threshold on the first half of the scores and count on the second."""
    half = absent.size // 2
    threshold = _best_threshold(absent[:half], present[:half], delta, confidence)
    return Audit(absent=absent, present=present, threshold=threshold, evaluated=absent.size - half, delta=delta,
                 accused=int(np.count_nonzero(absent[half:] > threshold)), confidence=confidence,
                 caught=int(np.count_nonzero(present[half:] > threshold)), check=check)


def epsilon_lower(caught: npt.ArrayLike, accused: npt.ArrayLike, out_of: int, delta: float,
                  confidence: float) -> FloatArray:
    """Return ``log((caught rate - delta)/false-alarm rate)`` [1] at the Clopper–Pearson ends [2] of both rates."""
    error = (1 - confidence) / 2
    hits, alarms = np.asarray(caught, dtype=np.float64), np.asarray(accused, dtype=np.float64)
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), out_of - hits + 1, error), 0.0)
    high = np.where(alarms < out_of, special.betaincinv(alarms + 1, np.maximum(out_of - alarms, 1), 1 - error), 1.0)
    return np.asarray(np.log(np.maximum((low - delta) / high, 1.0)))


def _best_threshold(absent: FloatArray, present: FloatArray, delta: float, confidence: float) -> float:
    size = absent.size
    ranks = np.unique(np.geomspace(1, size, 400).astype(int))
    falling, rising = np.sort(absent), np.sort(present)
    just_below = np.nextafter(rising[ranks - 1], -np.inf)
    tries = np.unique(np.concatenate([falling[size - ranks], rising[size - ranks], just_below]))
    accused = size - np.searchsorted(falling, tries, side="right")
    caught = size - np.searchsorted(rising, tries, side="right")
    bounds = epsilon_lower(caught, accused, size, delta, confidence)
    best = np.flatnonzero(bounds == bounds.max())
    return float(tries[best[best.size // 2]])


def seconds_to_draw(design: NoiseDesign) -> float:
    """Estimate the time to draw and check one release."""
    products = sum(side.size for side in (design.row_side, design.col_side) if not side.is_diagonal)
    return design.rows * design.cols * (3e-8 + 3e-10 * products)


# Ellipse noise


def audit_ellipse(loss: PairLoss, *, trials: int, rng: np.random.Generator, confidence: float = 0.95,
                  progress: Callable[[float], object] | None = None) -> Audit:
    """Attack the worst neighbours under ellipse noise, drawn as trials do: ``trials`` on each of the two."""
    trials, confidence = count("trials", trials, at_least=100), fraction("confidence", confidence)
    design, pair, rng = loss.design, loss.pair, generator(rng)
    if len(design.blocks) != 1 or design.is_pure:
        raise InputError(f"this audit is for ellipse noise, got {design.family.word} noise")
    size, rows, cols = len(design.blocks[0].rows), design.row_side, design.col_side
    move = rows.along(pair.left) @ cols.along(pair.right).T
    seen = np.abs(move).any(axis=0) | (design.drawn != "columns")  # the noise of other columns is independent
    refuse(design.drawn == "columns" and seen.sum() > 1, "one record must change one column")
    change, unit = move[:, seen].ravel(), math.sqrt(size + 1)  # the scale of noise of unit variance is 1/unit
    draws = np.empty((2, trials, change.size))
    for k in range(2 * trials):
        white = cols.along(rows.along(sampling.sample_noise(design, rng=rng)).T).T
        draws[k // trials, k % trials] = white[:, seen].ravel()
        if progress is not None:
            progress((k + 1) / (2 * trials))
    absent, there = (unit * (np.linalg.norm(at, axis=1) - np.linalg.norm(at - change, axis=1))
                     for at in (draws[0], draws[1] + change))
    everything = draws.reshape(-1, change.size)
    lengths = unit * np.linalg.norm(everything, axis=1)
    findings = [not_uniform(special.gammainc(size, lengths), "the length of the noise is not as claimed"),
                repeated(lengths, _SAME, lengths.size**2 * _SAME, "of the length")]
    if size > 1:  # along the change: one coordinate of a uniform point on the sphere
        along = np.clip(everything @ change / np.linalg.norm(change) * unit / np.maximum(lengths, 1e-300), -1, 1)
        findings.append(not_uniform(special.betainc((size - 1) / 2, (size - 1) / 2, (1 + along) / 2),
                                    "the direction of the noise is not as claimed"))
    return attacked(absent, there, delta=design.delta, confidence=confidence, check=oddest(findings))


# Box and Laplace noise


def audit_pure(table: Dataset, query: Query, design: NoiseDesign, *, trials: int,
               rng: np.random.Generator | None = None, confidence: float = 0.95,
               progress: Callable[[float], object] | None = None) -> Audit:
    """Attack releases of ``query`` with box or Laplace noise: at least ``trials`` on each neighbour, without records.

    ``rng``: draw as trials do; None: fresh noise as in a release. Each person of a table is attacked.
    """
    trials, confidence = count("trials", trials, at_least=100), fraction("confidence", confidence)
    body, many = box_noise.checked_body(table, query, design.blocks), 1 if query.is_mean else table.per_person
    tables = _neighbours(table, query, added=body.added)
    answers = [query.answer(one.matrix) for one in tables]
    stds = np.empty(query.rows)
    for block in design.blocks:
        stds[list(block.rows)] = block.std
    unit = (np.sqrt(design.row_side.variances) / stds)[:, None]  # the most that a person can change each number
    move = (answers[1] - answers[0])[:, :many] / unit  # the present person's, rows × their columns
    releases, whole = max(math.ceil(trials / max(query.cols // many, 1)), 2), query.cols // many * many
    noises: list[FloatArray] = []  # of each neighbour in units: persons × rows × their columns
    for one, answer in zip(tables, answers, strict=True):
        drawn = []
        for k in range(releases):
            noise = (sampling.sample_noise(design, rng=rng) if rng is not None else
                     box_noise.noisy_values(one, query, design.blocks) - answer) / unit
            drawn.append(noise[:, :whole].reshape(query.rows, -1, many).transpose(1, 0, 2))
            if progress is not None:
                progress((len(noises) + (k + 1) / releases) / 2)
        noises.append(np.concatenate(drawn))
    absent, there = (_scores(seen, move, design.blocks) for seen in (noises[0], noises[1] + move))
    everything = np.concatenate(noises).transpose(0, 2, 1).reshape(-1, query.rows)
    return attacked(absent, there, delta=0.0, confidence=confidence, check=check_pure(everything, design))


def _neighbours(table: Dataset, query: Query, *, added: bool) -> list[Dataset]:
    """Return data at one end of the box, and with one person (in a table: each) at the other."""
    low, high = table.lower.copy(), table.upper.copy()
    for group in map(list, table.levels):  # from the first level to the last
        low[group[0]], high[group[:-1]] = table.upper[group[0]], table.lower[group[:-1]]
    if added:
        low = box_noise.empty_place(table)
    absent = np.repeat(low[:, None], table.n_records, axis=1)
    present = absent.copy()
    present[:, : table.per_person if query.is_mean else None] = high[:, None]
    return [replace(table, matrix=matrix) for matrix in (absent, present)]


def _scores(seen: FloatArray, move: FloatArray, blocks: Sequence[Block]) -> FloatArray:
    """Return the log-likelihood ratio of each sample that is seen, rows × columns."""
    ratios = [block.epsilon * (_reach(seen, block.rows) - _reach(seen - move, block.rows)).sum(axis=1)
              for block in blocks]
    return np.asarray(np.round(np.sum(ratios, axis=0), 9))  # many equal epsilon: rounding must not separate them


def _reach(values: FloatArray, rows: tuple[int, ...]) -> FloatArray:
    return np.asarray(np.abs(values[:, list(rows)]).max(axis=1))


def check_pure(noise: FloatArray, design: NoiseDesign) -> Finding:
    """Test samples × rows of noise, in units of what one person can change, against the blocks."""
    findings, sizes = [], []
    for number, block in enumerate(design.blocks, 1):
        size, own = len(block.rows), block.epsilon * np.abs(noise[:, list(block.rows)])
        levels = special.gammainc(size, own.max(axis=1))
        sizes.append(levels)
        findings.append(not_uniform(levels, f"the size of block {number} of the noise is not as claimed"))
        for row, values in zip(block.rows, own.T, strict=True):
            outside = special.gammaincc(size + 1, values) - values / size * special.gammaincc(size, values)
            ratio = math.sqrt(float(np.mean(values**2))) / (block.epsilon * block.std)
            by_chance = values.size**2 * block.epsilon * (1 / box_noise.STEPS + 2 * _SAME) / 2  # on the lattice
            findings += [
                not_uniform(1 - outside, f"on number {row + 1} the noise is {ratio:.2f} times what is claimed"),
                repeated(values / block.epsilon, _SAME, by_chance, f"on number {row + 1}")]
    signs, ranks = np.sign(noise), 2 * np.array(sizes).T - 1
    findings += [_together(signs, "signs"), _together(ranks * math.sqrt(3), "sizes of blocks"),
                 _together(signs, "signs", lag=1), _together(ranks * math.sqrt(3), "sizes of blocks", lag=1)]
    return oddest(findings)


def _together(values: FloatArray, name: str, lag: int = 0) -> Finding:
    """Test the largest correlation of independent columns, or of samples with those before."""
    samples, width = len(values) - lag, values.shape[1]
    found = values[lag:].T @ values[:samples] / samples
    if not lag:
        found = np.triu(found, 1)
    largest = float(np.abs(found).max(initial=0.0))
    pairs = width * width if lag else width * (width - 1) // 2
    return Finding(min(pairs * 2 * float(special.ndtr(-largest * math.sqrt(samples))), 1.0) if pairs else 1.0,
                   f"{name} of the noise are not independent, correlation {largest:.2f} where 0 is claimed")
