"""How far a released number may lie from the answer without noise, from the public size of the noise.

An interval covers the noise of each number alone, neither clipping nor sampling. No answer is read here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from mvgviz.noise.families import Block
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Range
from mvgviz.query.queries import Query
from mvgviz.release.box_noise import Lattice
from mvgviz.release.secure_noise import Hardening
from mvgviz.scenario.resolve import SCALED_TO, Setup
from mvgviz.validation import FloatArray, fraction, frozen

LEVEL = 0.95
OUTSIDE = "noise can move a number outside its range; clipping it there is the reader's choice and costs no privacy"


@dataclass(frozen=True, kw_only=True, eq=False)
class EntryNoise:
    """The drawn noise on each number of an answer, with standard deviation ``rows[i] cols[j]``.

    After averaging with the transpose (``symmetrised``) the variance off the diagonal is ``(Sigma_ii Psi_jj + Sigma_jj
    Psi_ii + 2 Sigma_ij Psi_ij)/4``; ``shared`` holds ``Sigma_ij Psi_ij``, None if 0. ``rounding``: what arithmetic can
    add, in standard deviations. ``blocks``: of noise that is not Gaussian.
    """

    rows: FloatArray = field(repr=False)
    cols: FloatArray = field(repr=False)
    symmetrised: bool = False
    shared: FloatArray | None = field(default=None, repr=False)
    rounding: float = 0.0
    blocks: tuple[Block, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, rows: NoiseSide, cols: NoiseSide, *, symmetrised: bool = False,
           hardening: Hardening | Lattice | None = None, blocks: tuple[Block, ...] = ()) -> EntryNoise:
        """Return the noise of a design; ``hardening`` makes it slightly larger and bounds the rounding."""
        factor, rounding = (1.0, 0.0) if hardening is None else (hardening.noise_std, hardening.rounding)
        turned = symmetrised and not (rows.is_diagonal or cols.is_diagonal)
        return cls(rows=frozen(_std(rows) * factor), cols=_std(cols), symmetrised=symmetrised, rounding=rounding,
                   blocks=blocks,
                   shared=frozen(rows.covariance() * cols.covariance() * factor**2) if turned else None)

    @property
    def std(self) -> FloatArray:
        """Return the standard deviations, rows × cols."""
        std = np.asarray(self.rows[:, None] * self.cols)
        if not self.symmetrised:
            return std
        average = np.sqrt(std**2 + std.T**2 + (0.0 if self.shared is None else 2 * self.shared)) / 2
        np.fill_diagonal(average, np.diag(std))
        return np.asarray(average)

    def largest_std(self) -> FloatArray:
        return np.asarray(self.std.max(axis=1) if self.symmetrised else self.rows * self.cols.max())

    def half_widths(self, level: float = LEVEL) -> FloatArray:
        """Return half the width of each number's interval, rows × cols."""
        return np.asarray(self.per_row(level)[:, None] * self.std)

    def per_row(self, level: float = LEVEL) -> FloatArray:
        """Return half an interval's width in each row, in standard deviations: 1.96 and rounding for Gaussian noise."""
        normal = float(special.ndtri((1 + fraction("level", level)) / 2))
        widths = np.full(self.rows.size, normal)
        for block in self.blocks:  # a single block holds all rows: an ellipse has a dimension for each number
            widths[list(block.rows) if len(self.blocks) > 1 else slice(None)] = block.half_width(level)
        return np.asarray(widths + self.rounding)

    def per_std(self, level: float = LEVEL) -> float:
        return float(self.per_row(level).max())


class DataUnits(NamedTuple):
    """``offset[i] + factor[i] cols[j] number`` converts scaled numbers to the data's units; second moments stay about
    the point that was mapped onto 0, sums by group about the middle.
    """

    offset: FloatArray
    factor: FloatArray
    cols: FloatArray

    def of(self, numbers: FloatArray) -> FloatArray:
        """Return numbers of the answer, rows × cols, in the data's units."""
        return np.asarray(self.offset[:, None] + self.widths(numbers))

    def widths(self, numbers: FloatArray) -> FloatArray:
        """Return distances between numbers of the answer, in the data's units."""
        return np.asarray(self.factor[:, None] * self.cols * numbers)


def data_units(kind: type[Query], scale: str, ranges: Mapping[str, Range], rows: Sequence[str] | None = None
               ) -> DataUnits | None:
    """Return how to convert an answer with these ``rows`` to the units of ``ranges``, if it can and need be."""
    if not (kind.degree or (kind.by_group and rows)) or scale not in SCALED_TO:
        return None
    (low, high), names = SCALED_TO[scale], rows[:-1] if kind.by_group and rows else tuple(ranges)
    lower, upper = np.array([ranges[name][:2] for name in names], dtype=np.float64).T
    more = np.ones(int(kind.by_group or kind.has_constant))  # the last row counts records, or is the constant's
    factor = frozen(np.append((upper - lower) / (high - low), more))
    offset = lower - low * factor if kind.degree == 1 else np.zeros(factor.size)
    return DataUnits(offset=frozen(offset), factor=factor, cols=factor if kind.degree == 2 else frozen(np.ones(1)))


def lines(names: Sequence[Sequence[str]], numbers: Mapping[str, FloatArray], heads: tuple[str, str] = ("row", "column")
          ) -> dict[str, list[Any]]:
    """Return columns with a line for each number of some matrices: names of row and column, then the numbers."""
    rows, cols = names
    return {heads[0]: [row for row in rows for _ in cols], heads[1]: list(cols) * len(rows)} | {
        name: np.ravel(column).tolist() for name, column in numbers.items()}


def row_widths(noise: EntryNoise, units: DataUnits | None, level: float = LEVEL) -> FloatArray:
    """Return the largest half width in each row, in the data's units if known."""
    if units is None or units.cols.size == 1:
        return noise.per_std(level) * noise.largest_std() * (1.0 if units is None else units.factor)
    return np.asarray(units.widths(noise.half_widths(level)).max(axis=1))


def covered_words(kind: type[Query], *, bounded: bool = False, gaps: str = "") -> str:
    """Return what an interval covers, to stand behind a semicolon; ``gaps``: how they were treated."""
    if not (kind.degree or kind.is_kernel):
        return "this covers the noise alone"
    bound = " and their bound" * bounded
    handled = {"middle": ", the filled gaps", "drop": ", the records dropped for gaps"}.get(gaps, "")
    return (f"this covers the noise alone, for these records clipped to their ranges{bound}; it covers neither the "
            f"clipping{handled} nor how the records were sampled")


def planned_noise(setup: Setup) -> EntryNoise:
    """Return the noise that a release of this setup will have, before hardening."""
    design, symmetric = setup.design, setup.query.symmetric and "symmetrise" in setup.scenario.post
    return EntryNoise.of(design.row_side, design.col_side, symmetrised=symmetric or design.drawn == "symmetric",
                         blocks=design.blocks)


def _std(side: NoiseSide) -> FloatArray:
    return side.variances if side.is_identity else frozen(np.sqrt(side.covariance_diagonal()))
