"""What an attacker can still learn from a release: the privacy loss, in numbers and in odds.

For neighbours at distance ``mu`` the privacy loss is ``N(mu²/2, mu²)``: how much the release
moves the log-odds between the two datasets. Everything follows from ``mu``; which directions
carry it follows from the pair that attains it.

>>> from mvgviz.loss import odds
>>> odds(0.3)
Odds(out_of=100, accused=5, caught=9)
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import special

from mvgviz.accounting import compose_mu, tradeoff
from mvgviz.design import NoiseDesign
from mvgviz.neighbours import FlippedEdge, ReplacedColumn, ReplacedOuterProduct
from mvgviz.queries import Query
from mvgviz.sides import NoiseSide
from mvgviz.validation import FloatArray
from mvgviz.worst_pairs import WorstPair, worst_pair

_CROWDS = (100, 1_000, 10_000)


class Odds(NamedTuple):
    """Of ``out_of`` absent and ``out_of`` present, how many are accused."""

    out_of: int
    accused: int
    caught: int


@dataclass(frozen=True, kw_only=True)
class SpentMu:
    """What the noise and the directions spent; directions that are not private are not counted."""

    noise: float
    directions: float

    @property
    def total(self) -> float:
        return compose_mu([self.noise, self.directions])

    @property
    def directions_share(self) -> float:
        """The directions' part of ``mu²``."""
        return self.after(1)[1]

    def after(self, releases: int) -> tuple[float, float]:
        """``mu`` of so many releases along directions learned once, and the directions' part of its square."""
        together = compose_mu([math.sqrt(releases) * self.noise, self.directions])
        return together, (self.directions / together) ** 2 if together > 0 else 0.0


def spent_mu(design: NoiseDesign) -> SpentMu:
    """The ``mu`` of a design by what spent it."""
    learned = design.directional_side.directions.mu
    return SpentMu(noise=design.mu, directions=learned if math.isfinite(learned) else 0.0)


def loss_density(loss: FloatArray, mu: float, *, replaced: bool = False) -> FloatArray:
    """The density of the privacy loss; of its mirror image on the other dataset where ``replaced``."""
    mean = (-1 if replaced else 1) * mu * mu / 2
    return np.asarray(np.exp(-0.5 * ((loss - mean) / mu) ** 2) / (mu * math.sqrt(2 * math.pi)))


def mass_beyond(epsilon: float, mu: float) -> float:
    """How often the privacy loss exceeds ``epsilon``: ``Phi(mu/2 - epsilon/mu)``; more than delta, which weighs it."""
    return float(special.ndtr(mu / 2 - epsilon / mu))


def odds(mu: float) -> Odds:
    """The best attack in whole numbers that say something.

    The smallest crowd in which 5 % of false alarms catch a different whole number; where
    everyone would be caught, one false alarm in a crowd.
    """
    tries = [*((crowd, crowd // 20) for crowd in _CROWDS), *((crowd, 1) for crowd in _CROWDS)]
    if _caught(*tries[0], mu) == tries[0][0]:
        tries = tries[len(_CROWDS):]
    for out_of, accused in tries:
        caught = _caught(out_of, accused, mu)
        if accused < caught < out_of:
            return Odds(out_of, accused, caught)
    return Odds(_CROWDS[-1], 1, _CROWDS[-1]) if mu > 1 else Odds(_CROWDS[-1], _CROWDS[-1] // 20, _CROWDS[-1] // 20)


def coin_odds(mu: float) -> tuple[int, int]:
    """(right guesses, out of): the best guess between two datasets that were equally likely."""
    right = float(special.ndtr(mu / 2))
    for out_of in _CROWDS:
        if out_of // 2 < round(out_of * right) < out_of:
            return round(out_of * right), out_of
    return round(_CROWDS[-1] * right), _CROWDS[-1]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairLoss:
    """The worst neighbours found for a design, and how their loss spreads over its directions.

    The answers differ by ``D = left rightᵀ`` (two thin factors: D itself may be large).
    ``mu`` is this pair's, ``shares`` the part of ``mu²`` along each direction, summing to 1.
    """

    design: NoiseDesign = field(repr=False)
    pair: WorstPair = field(repr=False)
    left: FloatArray = field(repr=False)
    right: FloatArray = field(repr=False)
    mu: float
    shares: FloatArray = field(repr=False)

    @property
    def attained(self) -> float:
        """How much of the design's ``mu`` this pair reaches: 1 where that is exact."""
        return min(self.mu / self.design.mu, 1.0)

    def attack(self) -> FloatArray:
        """``Sigma^-1 D Psi^-1``, rows × cols: what the likelihood-ratio attack multiplies a release with."""
        return _precise(self.design.row_side, self.left) @ _precise(self.design.col_side, self.right).T

    def shape(self) -> bytes:
        """A digest of attack and noise up to their size: equal for designs that differ by a factor."""
        digest = hashlib.blake2b(digest_size=16)
        sides = (self.design.row_side, self.design.col_side)
        for values in (self.attack(), *(side.variances for side in sides)):
            digest.update(np.round(values / np.abs(values).max(), 9).tobytes())
        for side in sides:
            if side.directions.rotated is not None:
                digest.update(side.directions.rotated.tobytes())
        return digest.digest()


def pair_loss(query: Query, design: NoiseDesign) -> PairLoss:
    """The worst neighbours of ``query`` under ``design``; an InputError where it has none to show."""
    rows, cols = design.row_side, design.col_side
    pair = worst_pair(query, rows, cols)
    left, right = _factors(query, pair, rows, cols)
    white_rows, white_cols = _whitened(rows, left), _whitened(cols, right)
    along, across = (white_cols, white_rows) if design.mode == "columns" else (white_rows, white_cols)
    # Row k of along acrossᵀ has the square a_kᵀ (acrossᵀ across) a_k; the factor keeps it from going negative.
    triangle = np.asarray(np.linalg.qr(across, mode="r"))
    squares = np.square(along @ triangle.T).sum(axis=1)
    total = float(squares.sum())
    return PairLoss(design=design, pair=pair, left=left, right=right, mu=math.sqrt(total), shares=squares / total)


def _caught(out_of: int, accused: int, mu: float) -> int:
    return round(out_of * (1 - float(tradeoff(accused / out_of, mu))))


def _factors(query: Query, pair: WorstPair, rows: NoiseSide, cols: NoiseSide) -> tuple[FloatArray, FloatArray]:
    """The whole difference of the pair as ``left rightᵀ``, at most two columns each."""
    body = query.neighbours
    if isinstance(body, ReplacedColumn) and pair.before is not None and pair.after is not None:
        column = 0 if cols.is_identity else int(np.argmax(cols.precision_diagonal()))
        return ((pair.after - pair.before) / body.divisor)[:, None], _unit(query.cols, column)[:, None]
    if isinstance(body, ReplacedOuterProduct) and pair.before is not None and pair.after is not None:
        # y yᵀ - x xᵀ through sum and difference, which does not cancel when x and y are close
        apart, together = pair.after - pair.before, (pair.after + pair.before) / 2
        return np.stack([apart, together], axis=1) / body.n_records, np.stack([together, apart], axis=1)
    if isinstance(body, FlippedEdge):
        i, j = (int(k) for k in np.argwhere(np.triu(pair.difference, 1))[0])
        one, other = _unit(query.rows, i), _unit(query.rows, j)
        if body.laplacian:
            return (one - other)[:, None], (one - other)[:, None]
        return np.stack([one, other], axis=1), np.stack([other, one], axis=1)
    return _kernel_factors(query, float(np.abs(pair.difference).max()), rows, cols)


def _kernel_factors(query: Query, drop: float, rows: NoiseSide, cols: NoiseSide) -> tuple[FloatArray, FloatArray]:
    """One record leaves all the others: the one among them that the noise hides least.

    With ``e`` its unit vector and ``s = 1 - e``: ``D = -drop (e sᵀ + s eᵀ)``, whose square
    through M and P is ``drop² (M_ee P_ss + M_ss P_ee + 2 M_es P_es)``.
    """
    parts = []
    for side in (rows, cols):
        of_all = _precise(side, np.ones((side.size, 1)))[:, 0]
        own = side.precision_diagonal()
        parts.append((own, of_all.sum() - 2 * of_all + own, of_all - own))
    (m, m_rest, m_cross), (p, p_rest, p_cross) = parts
    worst = int(np.argmax(m * p_rest + m_rest * p + 2 * m_cross * p_cross))
    leaver = _unit(query.rows, worst)
    rest = 1 - leaver
    return -drop * np.stack([leaver, rest], axis=1), np.stack([rest, leaver], axis=1)


def _whitened(side: NoiseSide, vectors: FloatArray) -> FloatArray:
    """``diag(sqrt q) Wᵀ`` times some columns, without a matrix of the side's size where there is none."""
    along = vectors if side.directions.is_standard else side.directions.matrix.T @ vectors
    return np.sqrt(side.precisions)[:, None] * along


def _precise(side: NoiseSide, vectors: FloatArray) -> FloatArray:
    """The inverse covariance times some columns."""
    if side.directions.is_standard:
        return side.precisions[:, None] * vectors
    w = side.directions.matrix
    return np.asarray(w @ (side.precisions[:, None] * (w.T @ vectors)))


def _unit(size: int, position: int) -> FloatArray:
    vector = np.zeros(size)
    vector[position] = 1.0
    return vector
