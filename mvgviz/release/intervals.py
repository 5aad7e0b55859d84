"""How far a released number may lie from the answer that was asked, which is known because the noise is.

An interval covers the noise, of each number by itself: of a hundred numbers about five lie outside. What clipping to
the ranges or a bound did to the records, and how these were sampled, is not in it. No answer, true or noisy, is read
here: the size of the noise is public.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import special

from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Range
from mvgviz.query.queries import Query
from mvgviz.release.secure_noise import Hardening
from mvgviz.scenario.resolve import SCALED_TO, Setup
from mvgviz.validation import FloatArray, fraction, frozen

LEVEL = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class EntryNoise:
    """The noise on each number of an answer, as drawn: its standard deviation is ``rows[i] cols[j]``.

    Averaged with the transpose (``symmetrised``) its variance off the diagonal is
    ``(Sigma_ii Psi_jj + Sigma_jj Psi_ii + 2 Sigma_ij Psi_ij)/4``; ``shared`` holds ``Sigma_ij Psi_ij``, None where that
    is 0. ``rounding``: what floating point and the grid can add to an error, in standard deviations.
    """

    rows: FloatArray = field(repr=False)
    cols: FloatArray = field(repr=False)
    symmetrised: bool = False
    shared: FloatArray | None = field(default=None, repr=False)
    rounding: float = 0.0

    @classmethod
    def of(cls, rows: NoiseSide, cols: NoiseSide, *, symmetrised: bool = False, hardening: Hardening | None = None
           ) -> EntryNoise:
        """The noise of a design; ``hardening`` makes it a hair larger and bounds what was rounded.

        Errors of arithmetic move the whitened answer by at most half of what they add to its sensitivity, the grid by
        at most its width an entry; a whitened error of norm e moves a number by at most e standard deviations, the
        average of two by at most ``sqrt2 e`` of its own.
        """
        factor, rounding = 1.0, 0.0
        if hardening is not None:
            factor = hardening.noise_std
            grid = math.sqrt(hardening.entries) * 2.0**hardening.exponent
            rounding = hardening.sensitivity - hardening.mu + 2 * grid
        turned = symmetrised and not (rows.is_diagonal or cols.is_diagonal)
        return cls(rows=frozen(_std(rows) * factor), cols=_std(cols), symmetrised=symmetrised, rounding=rounding,
                   shared=frozen(rows.covariance() * cols.covariance() * factor**2) if turned else None)

    def std_of_row(self, i: int) -> FloatArray:
        """The standard deviation of each number in row ``i``."""
        std = self.rows[i] * self.cols
        if not self.symmetrised:
            return np.asarray(std)
        shared = 0.0 if self.shared is None else self.shared[i]
        average = np.sqrt(std**2 + (self.rows * self.cols[i]) ** 2 + 2 * shared) / 2
        average[i] = std[i]
        return np.asarray(average)

    def largest_std(self) -> FloatArray:
        """The largest standard deviation in each row."""
        if not self.symmetrised:
            return np.asarray(self.rows * self.cols.max())
        return np.array([self.std_of_row(i).max() for i in range(self.rows.size)])

    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest standard deviation."""
        if not self.symmetrised:
            return float(self.rows.min() * self.cols.min()), float(self.rows.max() * self.cols.max())
        return min(float(self.std_of_row(i).min()) for i in range(self.rows.size)), float(self.largest_std().max())

    def half_widths(self, level: float = LEVEL) -> FloatArray:
        """Of the interval of each number, rows × cols."""
        return self.per_std(level) * np.array([self.std_of_row(i) for i in range(self.rows.size)])

    def per_std(self, level: float = LEVEL) -> float:
        """Half an interval's width, in standard deviations: 1.96 and what rounding can add."""
        return float(special.ndtri((1 + fraction("level", level)) / 2)) + self.rounding


class DataUnits(NamedTuple):
    """``offset + factor number`` in each row: from ranges that were mapped onto others back to the data's units."""

    offset: FloatArray
    factor: FloatArray

    def of(self, numbers: FloatArray) -> FloatArray:
        """Numbers of the answer, rows × any, in the units of the data."""
        return np.asarray(self.offset[:, None] + self.factor[:, None] * numbers)


def data_units(kind: type[Query], scale: str, ranges: Mapping[str, Range]) -> DataUnits | None:
    """The way back to ``ranges``; None where there is none (products of features) or none is needed."""
    if kind.degree != 1 or scale not in SCALED_TO:
        return None
    low, high = SCALED_TO[scale]
    lower, upper = np.array([ends[:2] for ends in ranges.values()], dtype=np.float64).T
    factor = (upper - lower) / (high - low)
    return DataUnits(offset=frozen(lower - low * factor), factor=frozen(factor))


def covered_words(kind: type[Query], *, bounded: bool = False) -> str:
    """What an interval speaks of, to stand behind a semicolon."""
    if not (kind.degree or kind.is_kernel):
        return "this covers the noise alone"
    pulled = " and pulled inside their bound" * bounded
    return (f"this covers the noise alone, on the answer of these records clipped to their ranges{pulled}: not what "
            "that changed, nor how the records were sampled")


def planned_noise(setup: Setup) -> EntryNoise:
    """The noise that a release of this setup will have, before it is hardened."""
    design, symmetric = setup.design, setup.query.symmetric and "symmetrise" in setup.scenario.post
    return EntryNoise.of(design.row_side, design.col_side, symmetrised=symmetric)


def _std(side: NoiseSide) -> FloatArray:
    """Of each coordinate; nothing of its size is stored for the identity."""
    return side.variances if side.is_identity else frozen(np.sqrt(side.covariance_diagonal()))
