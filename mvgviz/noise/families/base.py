"""What every family of noise answers, and the blocks of numbers that share one norm."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import special

from mvgviz.errors import refuse
from mvgviz.noise.accounting import legendre, root
from mvgviz.validation import FloatArray

NUMBERS = 3  # of the answer whose families of noise are compared: with two, a box is a turned Laplace diamond
SAFE = 1 + 1e-9  # times a calibrated scale: rounding must not make it optimistic
_TAIL = 1e-22  # of the gamma distribution, left out at either end


class Split(NamedTuple):
    """The standard deviations of priority numbers and of other numbers."""

    priority: float
    other: float


@dataclass(frozen=True)
class Family(ABC):
    """What a design may choose: how much noise a promise asks for, and what the choice allows.

    ``title`` names it in a legend, ``word`` in a sentence. ``is_pure``: delta buys nothing, and epsilon is divided; the
    promise holds with delta = 0, and Laplace noise on one number is the worst case. ``spends_mu``: releases add up by
    the squares of mu. ``in_a_box``: one record has to change the answer inside a box, whose rows form several blocks;
    others take the place of Gaussian noise in any design. ``joins``: numbers with equal shares form one block.
    ``in_plans``: what it costs together with other noise is known. ``trials_only``: why no release can draw it, if so.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    word: ClassVar[str]
    is_pure: ClassVar[bool] = False
    spends_mu: ClassVar[bool] = False
    in_a_box: ClassVar[bool] = False
    joins: ClassVar[bool] = True
    trials_only: ClassVar[str] = ""

    @property
    def in_plans(self) -> bool:
        return self.is_pure or self.spends_mu

    @abstractmethod
    def std(self, size: int, epsilon: float, delta: float) -> float:
        """Return the standard deviation of each of ``size`` numbers with equal noise."""

    @abstractmethod
    def split(self, priority: int, other: int, share: float, epsilon: float, delta: float) -> Split:
        """Return the noise when ``priority`` numbers get ``share`` of the precision (of epsilon, for pure noise)."""

    @abstractmethod
    def advantage(self, size: int, epsilon: float, delta: float) -> float:
        """Return the best attacker's advantage: right in ``(1 + advantage)/2`` of all cases."""

    def is_bound(self, size: int) -> bool:
        """Return whether the advantage is an upper bound."""
        return False

    @abstractmethod
    def blocks(self, theta: FloatArray, epsilon: float, delta: float, *, one_record: bool) -> Iterator["Block"]:
        """Yield blocks for numbers with the shares ``theta``; ``one_record``: one column of the answer changes."""


class Law(Family):
    """One law of noise, which can be drawn. Not pure: the noise of a whitened answer, so that precisions add up."""

    def split(self, priority: int, other: int, share: float, epsilon: float, delta: float) -> Split:
        unit = self.std(priority + other, epsilon, delta) / math.sqrt(priority + other)
        return Split(math.sqrt(priority / share) * unit, math.sqrt(other / (1 - share)) * unit)

    def blocks(self, theta: FloatArray, epsilon: float, delta: float, *, one_record: bool) -> Iterator["Block"]:
        yield Block(tuple(range(theta.size)), self, epsilon, delta)

    @abstractmethod
    def half_width(self, size: int, epsilon: float, delta: float, confidence: float = 0.95) -> float:
        """Return ``x`` such that a share ``confidence`` of the draws of one number, with equal noise, is within ± x."""

    @abstractmethod
    def fill(self, rng: np.random.Generator, out: FloatArray) -> None:
        """Draw noise of unit variance into ``out``, whose columns are independent of each other."""

    @abstractmethod
    def pure_part(self, size: int, epsilon: float, delta: float) -> float:
        """Return the epsilon that holds with delta = 0, infinite where none does."""

    @abstractmethod
    def delta_at(self, at: float, size: int, epsilon: float, delta: float) -> float:
        """Return delta at the epsilon ``at >= 0`` of equal noise that was made for (epsilon, delta)."""

    def advantage(self, size: int, epsilon: float, delta: float) -> float:
        return self.delta_at(0.0, size, epsilon, delta)

    @abstractmethod
    def bits(self, ratio: float) -> float:
        """Return what unit noise lets through about three independent normal numbers of variance ``ratio``."""


@dataclass(frozen=True)
class Block:
    """Numbers that share one norm: the rows of an answer that ``family`` hides with (epsilon, delta)."""

    rows: tuple[int, ...]
    family: Law
    epsilon: float
    delta: float = 0.0

    @property
    def std(self) -> float:
        """The standard deviation of each number, where one record moves it by at most 1."""
        return self.family.std(len(self.rows), self.epsilon, self.delta)

    @property
    def pure_epsilon(self) -> float:
        return self.family.pure_part(len(self.rows), self.epsilon, self.delta)

    def half_width(self, confidence: float) -> float:
        """Return how many standard deviations hold a share ``confidence`` of the draws of one number."""
        return self.family.half_width(len(self.rows), self.epsilon, self.delta, confidence) / self.std

    def delta_at(self, epsilon: float) -> float:
        """Return delta at any epsilon; below 0 by the symmetry of the worst pair."""
        if epsilon >= 0:
            return self.family.delta_at(epsilon, len(self.rows), self.epsilon, self.delta)
        return -math.expm1(epsilon) + math.exp(epsilon) * self.delta_at(-epsilon)


def blocks_delta(blocks: Sequence[Block], epsilon: float) -> float:
    """Return delta at ``epsilon`` of noise on several blocks: exact for one; above, pure ones count as one Laplace."""
    pure = sum(block.epsilon for block in blocks if block.family.is_pure)
    others = [block for block in blocks if not block.family.is_pure]
    if not others:
        return laplace_delta(epsilon, pure)
    refuse(len(others) > 1, "only one block may use delta")
    return others[0].delta_at(epsilon - pure)


def laplace_delta(at: float, epsilon: float) -> float:
    """Return delta at any epsilon of Laplace noise on one number that is pure ``epsilon``."""
    return abs(math.expm1(min(at - epsilon, 0.0) / 2))


def blocks_epsilon(blocks: Sequence[Block], delta: float) -> float:
    """Return the least epsilon at which :func:`blocks_delta` is at most ``delta``."""
    if blocks_delta(blocks, 0.0) <= delta:
        return 0.0
    most = math.fsum(block.pure_epsilon for block in blocks) * SAFE
    return root(lambda epsilon: blocks_delta(blocks, epsilon) - delta, 0.0, most)


def norm_entropy(size: int, volume: float, scale: float) -> float:
    """Return the entropy, in nats, of the noise ``exp(-N(z)/scale)``, N a norm whose unit ball has this volume."""
    return size + math.log(math.factorial(size) * volume) + size * math.log(scale)


def gamma_nodes(shape: float) -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre nodes and weights for an expectation over Gamma(shape)."""
    low, high = float(special.gammaincinv(shape, _TAIL)), float(special.gammainccinv(shape, _TAIL))
    base, weights = legendre(160)
    nodes = low + (high - low) * (base + 1) / 2
    return nodes, (high - low) * weights / 2 * np.exp(special.xlogy(shape - 1, nodes) - nodes - special.gammaln(shape))


def nodes_to(end: float, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre nodes and weights for an integral from 0."""
    at, weights = legendre(nodes)
    return end * (at + 1) / 2, end * weights / 2
