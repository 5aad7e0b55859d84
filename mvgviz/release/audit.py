"""An audit by simulation: does the noise hide the worst neighbours as well as it claims?

Draw noise on both neighbours with the sampler of trials (:func:`simulate_scores`) or of releases
(:func:`release_scores`). The best attack (likelihood ratio) gives a lower bound on epsilon (:func:`judge`). A bound
above the claim refutes it; a bound below proves nothing, but would reveal a large mistake. The same draws are tested
for what the attack does not see (:mod:`mvgviz.release.noise_check`).

References
  [1] Jagielski, Ullman & Oprea, Auditing differentially private machine learning, NeurIPS 2020.
  [2] Clopper & Pearson, Biometrika 1934.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from mvgviz.design import sampling
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import PairLoss
from mvgviz.errors import refuse
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.neighbours import ReplacedColumn
from mvgviz.query.queries import Query
from mvgviz.release import secure_noise
from mvgviz.release.noise_check import Finding, NoiseTally, check_noise
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray, count, fraction, frozen, generator, positive

_AT_ONCE = 2**17  # entries
_THRESHOLDS = 400
_LEAST_TRIALS = 100
_LEAST_RELEASES = 2  # one alone cannot show repeated noise
_LARGE, _LARGEST = 2.0**12, 2.0**40  # answers in standard deviations: at least, and at most, which leaves 12 bits
_MOST_EXTRA = 1.1  # what the hardened noise may be larger by, for rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseScores:
    """The attack's scores of the noise of ``releases`` on each neighbour: standard normal if it is as claimed."""

    absent: FloatArray = field(repr=False)
    present: FloatArray = field(repr=False)
    releases: int
    tally: NoiseTally = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The attack on the half of the trials that did not choose its threshold.

    ``absent``, ``present``: all scores on the two neighbours, ``N(0, 1)`` and ``N(mu, 1)`` if the claim is true.
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
    trials, rng = count("trials", trials), generator(rng)
    refuse(not trials >= _LEAST_TRIALS, f"trials must be at least {_LEAST_TRIALS}, got {trials}")
    design = loss.design
    return _scored(loss, trials, max(_AT_ONCE // (design.rows * design.cols), 1),
                   lambda size, present: sampling.sample_noise(design, rng=rng, trials=size), progress)


def release_scores(loss: PairLoss, query: Query, *, trials: int, largest: FloatArray | None = None,
                   progress: Callable[[float], None] | None = None) -> NoiseScores:
    """Score the hardened noise of a release: fresh noise, about 25 µs an entry. The query's answer is not used.

    The neighbours differ by the worst pair's difference and have answers of random sizes, up to the largest possible,
    which reveals noise that depends on the answer.
    """
    trials, design = count("trials", trials), loss.design
    # what the present record adds to the answer; to every column where each record is attacked
    left, right = loss.pair.left, loss.pair.right
    added = np.repeat(left, design.cols, axis=1) if attacks_per_release(design) > 1 else left @ right.T
    rows, cols = design.row_side, design.col_side
    size = min(max(secure_noise.largest_white_norm(query, rows, cols, largest), _LARGE), _LARGEST)
    plans: list[secure_noise.Hardening] = []
    rng = np.random.default_rng()

    def draw(_: int, present: bool) -> FloatArray:
        white = _of_many_sizes(len(plans), size, (design.rows, design.cols), rng)
        answer = frozen(sampling.colour(rows, cols, white[None])[0] + (added if present else 0.0))
        asked = replace(query, value=answer)
        noisy, plan = secure_noise.noisy_answer(asked, rows, cols, design.mu, largest=largest,
                                                plan=plans[0] if plans else None)
        plans.append(plan)
        # The plan makes the noise slightly larger than the design; a plan that says less is not believed.
        return (noisy - answer)[None] / min(max(plan.noise_std, 1.0), _MOST_EXTRA)

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
    releases = max(math.ceil(trials / per_release), _LEAST_RELEASES)
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
    ranks = np.unique(np.geomspace(1, size, _THRESHOLDS).astype(int))
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
