"""An audit by simulation: does the noise hide the worst neighbours as well as it claims?

Noise is drawn on both neighbours, by the sampler of trials and pictures (:func:`simulate_scores`) or the hardened one
of a release (:func:`release_scores`). What the best attack (likelihood ratio) achieves on it gives a lower bound on
epsilon (:func:`judge`). A bound above the claim proves the claim wrong; one below it proves nothing, but would have
caught a large mistake. What the attack does not see is checked on the same draws (:mod:`mvgviz.release.noise_check`).

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
from mvgviz.errors import InputError
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.neighbours import ReplacedColumn
from mvgviz.query.queries import Query
from mvgviz.release import secure_noise
from mvgviz.release.noise_check import NoiseCheck, NoiseTally, check_noise
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray, count, fraction, frozen, generator, positive

_AT_ONCE = 2**17  # entries
_THRESHOLDS = 400
_LEAST_TRIALS = 100
_LEAST_RELEASES = 2  # one does not show whether the next has the same noise
_LARGE, _LARGEST = 2.0**12, 2.0**40  # answers in standard deviations: at least, and at most, which leaves 12 bits
_LEVELS = (1.0, 0.0, -1 / 64, 0.0)  # of that size, by turns
_MOST_EXTRA = 1.1  # what the hardened noise may be larger by, for rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseScores:
    """The attack's scores of noise alone, on each neighbour: standard normal, whatever the size of the noise.

    ``releases`` were drawn on each neighbour; one may be attacked at each of its records.
    """

    absent: FloatArray = field(repr=False)
    present: FloatArray = field(repr=False)
    releases: int
    tally: NoiseTally = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The attack on the half of the trials that did not choose its threshold.

    ``absent`` and ``present``: the scores of all trials on the two neighbours, ``N(0, 1)`` and ``N(mu, 1)`` when the
    claim is true. ``accused`` and ``caught`` of ``evaluated`` each are above ``threshold``. ``check``: whether the
    noise itself was as claimed, also where the attack does not look.
    """

    absent: FloatArray = field(repr=False)
    present: FloatArray = field(repr=False)
    threshold: float
    evaluated: int
    accused: int
    caught: int
    delta: float
    confidence: float
    check: NoiseCheck

    @property
    def epsilon_lower(self) -> float:
        """With the stated confidence the mechanism spends at least this epsilon at ``delta``."""
        return float(epsilon_lower(self.caught, self.accused, self.evaluated, self.delta, self.confidence))

    @property
    def ceiling(self) -> float:
        """The most that so few trials could ever show."""
        return float(epsilon_lower(self.evaluated, 0, self.evaluated, self.delta, self.confidence))


def simulate_scores(loss: PairLoss, *, trials: int, rng: np.random.Generator,
                    progress: Callable[[float], None] | None = None) -> NoiseScores:
    """Draw the noise of releases on each neighbour with ``sample_noise``, and score it: at least ``trials`` scores.

    A table whose records have independent noise is attacked at each of its records. ``progress``: told the part done.
    """
    trials, rng = count("trials", trials), generator(rng)
    if not trials >= _LEAST_TRIALS:
        raise InputError(f"trials must be at least {_LEAST_TRIALS}, got {trials}")
    design = loss.design
    return _scored(loss, trials, max(_AT_ONCE // (design.rows * design.cols), 1),
                   lambda size, present: sampling.sample_noise(design, rng=rng, trials=size), progress)


def release_scores(loss: PairLoss, query: Query, *, trials: int, largest: FloatArray | None = None,
                   progress: Callable[[float], None] | None = None) -> NoiseScores:
    """The same through the hardened sampler of a release: fresh noise, about 25 µs an entry.

    ``query`` is the design's; its answer is not used: the two neighbours differ by the worst pair's difference and
    answer from 0 to as much as any data could, by turns, so that noise which depends on the answer shows.
    ``largest`` as in :func:`mvgviz.release.secure_noise.noisy_answer`.
    """
    trials, design = count("trials", trials), loss.design
    # what the present record adds to the answer; to every column where each record is attacked
    added = np.repeat(loss.left, design.cols, axis=1) if attacks_per_release(design) > 1 else loss.left @ loss.right.T
    rows, cols = design.row_side, design.col_side
    size = min(max(secure_noise.largest_white_norm(query, rows, cols, largest), _LARGE), _LARGEST)
    base = sampling.colour(rows, cols, np.full((1, design.rows, design.cols), size))[0]
    plans: list[secure_noise.Hardening] = []

    def draw(_: int, present: bool) -> FloatArray:
        answer = frozen(_LEVELS[len(plans) % len(_LEVELS)] * base + (added if present else 0.0))
        asked = replace(query, value=answer)
        noisy, plan = secure_noise.noisy_answer(asked, rows, cols, design.mu, largest=largest,
                                                plan=plans[0] if plans else None)
        plans.append(plan)
        # The noise is a hair larger than the design's, as the plan says; one that says less is not believed.
        return (noisy - answer)[None] / min(max(plan.noise_std, 1.0), _MOST_EXTRA)

    return _scored(loss, trials, 1, draw, progress, rounding=size * _rounding(rows) * _rounding(cols))


def _rounding(side: NoiseSide) -> float:
    """About the relative error of an answer that is coloured and whitened; a factor for each side."""
    return 2**-26 * (2 if side.is_diagonal else math.sqrt(side.size * side.variances.max() / side.variances.min()))


def attacks_per_release(design: NoiseDesign) -> int:
    """How many records of one release are attacked: each of a table's, if their noise is independent."""
    body = design.neighbours
    each = isinstance(body, ReplacedColumn) and body.records == 1 and design.col_side.is_identity
    return design.cols if each else 1


def _scored(loss: PairLoss, trials: int, width: int, draw: Callable[[int, bool], FloatArray],
            progress: Callable[[float], None] | None, rounding: float = 0.0) -> NoiseScores:
    """Draw on one neighbour, then on the other: so a sampler that starts again each time repeats itself."""
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
    """The attack on releases with this noise: the first half of the scores chooses the threshold, the second counts.

    ``noise_factor`` scales the noise that is really added, not the noise that is claimed: 0.5 is a broken mechanism.
    """
    delta, confidence = fraction("delta", delta), fraction("confidence", confidence)
    factor = positive("noise_factor", noise_factor)
    absent, present = factor * noise.absent, loss.mu + factor * noise.present
    half = absent.size // 2
    threshold = _best_threshold(absent[:half], present[:half], delta, confidence)
    return Audit(absent=absent, present=present, threshold=threshold, evaluated=absent.size - half, delta=delta,
                 accused=int(np.count_nonzero(absent[half:] > threshold)), confidence=confidence,
                 caught=int(np.count_nonzero(present[half:] > threshold)),
                 check=check_noise(noise.tally, np.concatenate([noise.absent, noise.present]), noise_factor=factor))


def epsilon_lower(caught: npt.ArrayLike, accused: npt.ArrayLike, out_of: int, delta: float,
                  confidence: float) -> FloatArray:
    """``log((caught rate - delta)/false-alarm rate)`` at the careful ends of both rates [1]; at least 0.

    Each rate has its Clopper–Pearson end [2] at half of the error, so that both hold together.
    """
    error = (1 - confidence) / 2
    hits, alarms = np.asarray(caught, dtype=np.float64), np.asarray(accused, dtype=np.float64)
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), out_of - hits + 1, error), 0.0)
    high = np.where(alarms < out_of, special.betaincinv(alarms + 1, np.maximum(out_of - alarms, 1), 1 - error), 1.0)
    return np.asarray(np.log(np.maximum((low - delta) / high, 1.0)))


def _best_threshold(absent: FloatArray, present: FloatArray, delta: float, confidence: float) -> float:
    """The threshold with the best bound on these scores; tries the tails of both, finely."""
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
    """About how long one release takes to draw and to check."""
    products = sum(side.size for side in (design.row_side, design.col_side) if not side.is_diagonal)
    return design.rows * design.cols * (3e-8 + 3e-10 * products)
