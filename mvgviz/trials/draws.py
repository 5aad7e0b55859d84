"""The random numbers of repeated trials: each trial has a generator of its own.

Trial t of a seed draws the same numbers whatever is drawn beside it, in whatever order and on whichever worker; two
mechanisms given the same draws meet the same chance (common random numbers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mvgviz.validation import FloatArray

NOISE, DIRECTIONS = 0, 1
"""What a generator is for: the noise, or the release that chooses directions."""


@dataclass(frozen=True)
class Draws:
    """Trials ``first`` to ``first + count - 1`` of a seed."""

    seed: int
    first: int
    count: int

    def generators(self, purpose: int = NOISE) -> list[np.random.Generator]:
        """One for each trial."""
        return [np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(trial, purpose)))
                for trial in range(self.first, self.first + self.count)]

    def one_by_one(self) -> Iterator[Draws]:
        """The same trials, each alone."""
        for trial in range(self.first, self.first + self.count):
            yield Draws(self.seed, trial, 1)

    def fill(self, shape: tuple[int, ...], draw: Callable[[np.random.Generator, FloatArray], object]) -> FloatArray:
        """count × shape, ``draw(rng, out)`` called for each trial."""
        values = np.empty((self.count, *shape))
        for rng, out in zip(self.generators(), values, strict=True):
            draw(rng, out)
        return values

    def normals(self, shape: tuple[int, ...]) -> FloatArray:
        """Standard normals, count × shape."""
        return self.fill(shape, lambda rng, out: rng.standard_normal(out=out))

    def laplace(self, shape: tuple[int, ...]) -> FloatArray:
        """Standard Laplace numbers (scale 1), count × shape."""
        return self.fill(shape, lambda rng, out: np.copyto(out, rng.laplace(size=shape)))
