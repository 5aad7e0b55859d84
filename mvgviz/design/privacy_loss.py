"""What an attacker can still learn from a release: the privacy loss, in numbers and in odds.

For neighbours at distance ``mu`` the privacy loss is ``N(mu²/2, mu²)``: how much the release moves the log-odds between
the two datasets. Everything follows from ``mu``; which directions carry it follows from the pair that attains it.

>>> from mvgviz.design.privacy_loss import odds
>>> odds(0.3)
Odds(out_of=100, accused=5, caught=9)
"""

import hashlib
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.noise.accounting import compose_mu, gaussian_delta, gaussian_epsilon, total_variation, tradeoff
from mvgviz.noise.families import Block, blocks_delta, blocks_epsilon
from mvgviz.noise.mixtures import repeated_epsilon
from mvgviz.query.queries import Query
from mvgviz.query.worst_pairs import WorstPair, worst_pair
from mvgviz.validation import FloatArray

_CROWDS = (100, 1_000, 10_000)
_MOST_LOSS = 700.0  # whose exponential is a float
_SAID, _ROUNDING = 0.5, 1e-9  # half a guess beyond a coin is worth saying


class Odds(NamedTuple):
    """Of ``out_of`` absent and ``out_of`` present, how many are accused."""

    out_of: int
    accused: int
    caught: int


@dataclass(frozen=True, kw_only=True)
class SpentMu:
    """What noise, private directions and a private bound spent; noise that is not Gaussian spends alone."""

    noise: float
    directions: float
    bound: float = 0.0
    blocks: tuple[Block, ...] = ()

    def delta(self, epsilon: float) -> float:
        """Return delta at ``epsilon``; at 0 it is the best attacker's advantage."""
        if self.blocks:
            return blocks_delta(self.blocks, epsilon)
        return float(gaussian_delta(epsilon, self.total) if epsilon > 0 else total_variation(self.total))

    @property
    def advantage(self) -> float:
        return self.delta(0.0)

    def epsilon(self, delta: float, releases: int = 1) -> float:
        if not self.blocks:
            return float(gaussian_epsilon(delta, self.after(releases)[0]))
        added = releases * blocks_epsilon(self.blocks, delta / releases)
        pure = sum(block.pure_epsilon for block in self.blocks)
        return added if releases == 1 else min(added, repeated_epsilon(releases, pure, delta))

    def misses(self, alarms: FloatArray | float) -> FloatArray:
        """Return the fewest misses at these shares of false alarms: for blocks, what every delta allows."""
        if not self.blocks:
            return np.asarray(tradeoff(alarms, self.total))
        grid, known = _promises(self.blocks)
        a = np.asarray(alarms, dtype=np.float64)[..., None]
        least = np.maximum(known - np.exp(grid) * a, np.exp(-grid) * (known - a)).max(axis=-1)
        return np.asarray(np.maximum(least, 0.0))

    @property
    def total(self) -> float:
        return self.after(1)[0]

    def after(self, releases: int) -> tuple[float, float]:
        """``mu`` of so many releases along directions learned once, and the directions' part of its square.

        Each release learns its own bound.
        """
        together = compose_mu([math.sqrt(releases) * self.noise, math.sqrt(releases) * self.bound, self.directions])
        return together, (self.directions / together) ** 2 if together > 0 else 0.0


@lru_cache(maxsize=64)
def _promises(blocks: tuple[Block, ...]) -> tuple[FloatArray, FloatArray]:
    """Return epsilons and ``1 - delta`` at each."""
    most = min(sum(block.pure_epsilon for block in blocks), _MOST_LOSS)
    grid = np.linspace(0, most, 101)  # fewer are safe, too
    return grid, 1 - np.array([blocks_delta(blocks, at) for at in grid.tolist()])


def spent_mu(design: NoiseDesign) -> SpentMu:
    """Return the ``mu`` of a design by what spent it."""
    learned = design.directional_side.directions.mu
    return SpentMu(noise=design.mu, directions=learned if math.isfinite(learned) else 0.0, bound=design.bound_mu,
                   blocks=design.blocks)


def spent_of(mu: float | SpentMu) -> SpentMu:
    """Return what Gaussian noise with this ``mu`` spends; a :class:`SpentMu` is returned unchanged."""
    return mu if isinstance(mu, SpentMu) else SpentMu(noise=mu, directions=0.0)


def loss_density(loss: FloatArray, mu: float, *, replaced: bool = False) -> FloatArray:
    """Return the density of the privacy loss; of its mirror image on the other dataset where ``replaced``."""
    mean = (-1 if replaced else 1) * mu * mu / 2
    return np.asarray(np.exp(-0.5 * ((loss - mean) / mu) ** 2) / (mu * math.sqrt(2 * math.pi)))


def mass_beyond(epsilon: float, mu: float) -> float:
    """How often the privacy loss exceeds ``epsilon``: ``Phi(mu/2 - epsilon/mu)``; more than delta, which weighs it."""
    return float(special.ndtr(mu / 2 - epsilon / mu))


def odds(mu: float | SpentMu) -> Odds:
    """Return the best attack in whole numbers, in the smallest crowd where 5 % of false alarms catch a different whole
    number; where all would be caught, one false alarm is enough.
    """
    spent = spent_of(mu)
    tries = [*((crowd, crowd // 20) for crowd in _CROWDS), *((crowd, 1) for crowd in _CROWDS)]
    if _caught(*tries[0], spent) == tries[0][0]:
        tries = tries[len(_CROWDS):]
    for out_of, accused in tries:
        caught = _caught(out_of, accused, spent)
        if accused < caught < out_of:
            return Odds(out_of, accused, caught)
    accused, caught = (1, _CROWDS[-1]) if spent.advantage > 0.5 else (_CROWDS[-1] // 20, _CROWDS[-1] // 20)
    return Odds(_CROWDS[-1], accused, caught)


def coin_odds(mu: float | SpentMu) -> tuple[int, int]:
    """(right guesses, rounded up, out of): the best guess between two datasets that were equally likely."""
    part = 0.5 + spent_of(mu).advantage / 2
    for out_of in _CROWDS:
        right = math.ceil(out_of * part - _ROUNDING)
        if out_of // 2 < right < out_of and out_of * (part - 0.5) > _SAID:
            return right, out_of
    return math.ceil(_CROWDS[-1] * part - _ROUNDING), _CROWDS[-1]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairLoss:
    """The worst neighbours found for a design, whose answers differ by ``D = left rightᵀ``; ``mu``: this pair's;
    ``shares``: the part of ``mu²`` along each direction of the design, summing to 1.
    """

    design: NoiseDesign = field(repr=False)
    pair: WorstPair = field(repr=False)
    mu: float
    shares: FloatArray = field(repr=False)

    @property
    def attained(self) -> float:
        """Return how much of the design's ``mu`` this pair reaches; 1 if the worst case is exact."""
        return min(self.mu / self.design.mu, 1.0)

    def attack_factors(self) -> tuple[FloatArray, FloatArray]:
        """Return what the likelihood-ratio attack multiplies a release with, ``Sigma^-1 D Psi^-1 = left rightᵀ``."""
        return self.design.row_side.precise(self.pair.left), self.design.col_side.precise(self.pair.right)

    def shape(self) -> bytes:
        """Return a digest of attack and noise up to their size: equal for designs that differ by a factor."""
        digest = hashlib.blake2b(digest_size=16)
        sides = (self.design.row_side, self.design.col_side)
        for values in (*self.attack_factors(), *(side.variances for side in sides)):
            digest.update(np.round(values / np.abs(values).max(), 9).tobytes())
        for side in sides:
            if side.directions.rotated is not None:
                digest.update(side.directions.rotated.tobytes())
        return digest.digest()


def pair_loss(query: Query, design: NoiseDesign) -> PairLoss:
    """Return the worst neighbours of ``query`` under ``design``; an InputError where it has none to show."""
    rows, cols = design.row_side, design.col_side
    pair = worst_pair(query, rows, cols)
    white_rows, white_cols = rows.along(pair.left), cols.along(pair.right)
    along, across = (white_cols, white_rows) if design.mode == "columns" else (white_rows, white_cols)
    # Row k of along acrossᵀ has the square a_kᵀ (acrossᵀ across) a_k; the factor keeps it from going negative.
    triangle = np.asarray(np.linalg.qr(across, mode="r"))
    squares = np.square(along @ triangle.T).sum(axis=1)
    total = float(squares.sum())
    return PairLoss(design=design, pair=pair, mu=math.sqrt(total), shares=squares / total)


def _caught(out_of: int, accused: int, spent: SpentMu) -> int:
    return round(out_of * (1 - float(spent.misses(accused / out_of))))
