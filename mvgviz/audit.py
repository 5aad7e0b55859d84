"""An audit by simulation: does the noise hide the worst neighbours as well as it claims?

Releases are simulated on both neighbours, the best attack (likelihood ratio) is run on
them, and what it achieves gives a lower bound on epsilon that holds with 95 % confidence. A
lower bound above the claim proves the claim wrong; one below it proves nothing, but would
have caught a large mistake.

References
  [1] Jagielski, Ullman & Oprea, Auditing differentially private machine learning, NeurIPS 2020.
  [2] Clopper & Pearson, Biometrika 1934.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import special

from mvgviz.errors import InputError
from mvgviz.loss import PairLoss
from mvgviz.sampling import sample_noise
from mvgviz.validation import FloatArray, count, fraction, generator, positive

WHOLE_MATRICES = 2_500
"""Up to this many entries the released matrices themselves are simulated."""

_AT_ONCE = 2**17  # entries
_THRESHOLDS = 400
_LEAST_TRIALS = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseScores:
    """The attack's scores of simulated noise alone, for the trials on each neighbour; standard normal.

    They depend on the shape of the noise, not on its size: designs that differ by a factor share them.
    """

    absent: FloatArray = field(repr=False)
    present: FloatArray = field(repr=False)
    whole_matrices: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The attack on the half of the trials that did not choose its threshold.

    ``absent`` and ``present`` are the attack's scores on the two neighbours (all trials),
    in units of the claimed noise: ``N(0, 1)`` and ``N(mu, 1)`` when the claim is true.
    ``accused`` and ``caught`` count the scores above ``threshold`` among ``evaluated`` of each.
    """

    absent: FloatArray = field(repr=False)
    present: FloatArray = field(repr=False)
    threshold: float
    evaluated: int
    accused: int
    caught: int
    delta: float
    confidence: float

    @property
    def epsilon_lower(self) -> float:
        """With the stated confidence the mechanism spends at least this epsilon at ``delta``."""
        return float(epsilon_lower(self.caught, self.accused, self.evaluated, self.delta, self.confidence))

    @property
    def ceiling(self) -> float:
        """The most that so few trials could ever show."""
        return float(epsilon_lower(self.evaluated, 0, self.evaluated, self.delta, self.confidence))


def audit(loss: PairLoss, *, trials: int, delta: float, rng: np.random.Generator, noise_factor: float = 1.0,
          confidence: float = 0.95) -> Audit:
    """Attack ``trials`` simulated releases on each of the two neighbours.

    The first half of them chooses the threshold, the second half is counted.
    ``noise_factor`` scales the noise that is really added, not the noise that is claimed:
    0.5 is a broken mechanism.
    """
    return judge(loss, simulate_scores(loss, trials=trials, rng=rng), delta=delta, noise_factor=noise_factor,
                 confidence=confidence)


def simulate_scores(loss: PairLoss, *, trials: int, rng: np.random.Generator,
                    progress: Callable[[float], None] | None = None) -> NoiseScores:
    """Draw the noise of ``trials`` releases on each neighbour and score it.

    Whole matrices up to 2 500 entries; above, only their projection on the attack, which is
    all that it uses of them. ``progress`` is told the part that is done.
    """
    trials, rng = count("trials", trials), generator(rng)
    if not trials >= _LEAST_TRIALS:
        raise InputError(f"trials must be at least {_LEAST_TRIALS}, got {trials}")
    if loss.design.rows * loss.design.cols > WHOLE_MATRICES:
        return NoiseScores(absent=rng.standard_normal(trials), present=rng.standard_normal(trials),
                           whole_matrices=False)
    attack = (loss.attack() / loss.mu).ravel()
    scores = np.empty(2 * trials)
    width = max(_AT_ONCE // attack.size, 1)
    for start in range(0, scores.size, width):
        size = min(width, scores.size - start)
        noise = sample_noise(loss.design, rng=rng, trials=size)
        scores[start : start + size] = noise.reshape(size, -1) @ attack
        if progress is not None:
            progress((start + size) / scores.size)
    return NoiseScores(absent=scores[:trials], present=scores[trials:], whole_matrices=True)


def judge(loss: PairLoss, noise: NoiseScores, *, delta: float, noise_factor: float = 1.0,
          confidence: float = 0.95) -> Audit:
    """The attack on releases with this noise: see :func:`audit`."""
    delta, confidence = fraction("delta", delta), fraction("confidence", confidence)
    factor = positive("noise_factor", noise_factor)
    absent, present = factor * noise.absent, loss.mu + factor * noise.present
    half = absent.size // 2
    threshold = _best_threshold(absent[:half], present[:half], delta, confidence)
    return Audit(
        absent=absent, present=present, threshold=threshold, evaluated=absent.size - half, delta=delta,
        accused=int(np.count_nonzero(absent[half:] > threshold)), confidence=confidence,
        caught=int(np.count_nonzero(present[half:] > threshold)),
    )


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
