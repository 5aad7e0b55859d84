"""Box and Laplace noise for a release: exact whole numbers, randomness from the operating system.

On the whole numbers box noise has the probabilities ``P(z) ∝ q^max|z_i|``, ``q = exp(-epsilon/steps)``. Since
``q^|z| = sum over K >= |z| of (1-q) q^K``, draw K with the weight ``q^K (2K+1)^d``, then z uniform in ``{-K..K}^d``.
K is a sum of d + 1 geometric numbers (weight ``q^K C(K+d, d)``), accepted with the probability
``prod_{i=1..d} (2K+1)/(2K+2i)``: a rational number. Geometric numbers come from exact ``exp(-x)`` coins [1].

*Pure epsilon holds exactly.* If one record changes each whole number by at most ``steps``, ``max|z_i|`` changes by at
most ``steps``, and every probability by a factor of at most ``e^epsilon``. The epsilons of separate blocks add up.
*Rounding costs nothing.* Each value is first mapped to a whole number in ``0..STEPS``, or, if a record may be absent,
within ``STEPS`` of an empty place. However this rounds, one record changes each sum by at most ``STEPS``, in exact
arithmetic. Everything after the noise is post-processing. Laplace noise has one number a block.

>>> from fractions import Fraction
>>> len(box_noise(3, Fraction(1, 2), 2**30))
3

References
  [1] Canonne, Kamath & Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020, Algorithms 1 and 2.
"""

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from mvgviz.errors import InputError, refuse
from mvgviz.noise.families import FAMILIES, Block
from mvgviz.provenance import system_noise
from mvgviz.query.dataset import Dataset
from mvgviz.query.neighbours import ReplacedColumn, move_widths
from mvgviz.query.queries import Query, rule_of
from mvgviz.validation import FloatArray

STEPS = 2**30  # steps of the lattice across what one record can change

_MOST_RECORDS = 2**30  # whose sums are whole numbers of 64 bits


def box_noise(size: int, epsilon: Fraction, steps: int) -> list[int]:
    """Return ``size`` whole numbers that hide a change of at most ``steps`` in each of them, with pure ``epsilon``."""
    rate = Fraction(epsilon) / steps
    while True:
        reach = sum(_geometric(rate) for _ in range(size + 1))
        if secrets.randbelow(math.prod(2 * reach + 2 * i for i in range(1, size + 1))) < (2 * reach + 1) ** size:
            return [secrets.randbelow(2 * reach + 1) - reach for _ in range(size)]


def _geometric(rate: Fraction) -> int:
    """Return k with the probability ``(1 - q) q^k``, ``q = exp(-rate)`` [1, Algorithm 2]."""
    while not _exp_coin(start := secrets.randbelow(rate.denominator), rate.denominator):
        pass
    whole = 0
    while _exp_coin(1, 1):
        whole += 1
    return (start + rate.denominator * whole) // rate.numerator


def _exp_coin(over: int, under: int) -> bool:
    """Return True with the probability ``exp(-over/under)``, for ``over <= under`` [1, Algorithm 1]."""
    k = 1
    while secrets.randbelow(under * k) < over:
        k += 1
    return k % 2 == 1


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """How an answer of ``entries`` numbers was made noisy in whole numbers, which one person changes by at most
    ``steps``; ``blocks``: of rows, with family and epsilon of each. ``rounding``: the largest error of the mapping to
    whole numbers, in standard deviations.
    """

    entries: int
    steps: int
    blocks: tuple[tuple[int, ...], ...]
    families: tuple[str, ...]
    epsilons: tuple[float, ...]
    rounding: float
    noise_std: ClassVar = 1.0

    @classmethod
    def of(cls, table: Dataset, query: Query, blocks: Sequence[Block]) -> Self:
        """Return the lattice of this answer; raise `InputError` if it cannot be released with this noise."""
        body = checked_body(table, query, blocks)
        return cls(entries=query.rows * query.cols, steps=STEPS * table.per_person,
                   blocks=tuple(block.rows for block in blocks),
                   families=tuple(block.family.name for block in blocks),
                   epsilons=tuple(block.epsilon for block in blocks),
                   rounding=max(body.divisor / (2 * STEPS * block.std * body.records) for block in blocks))

    @property
    def noise(self) -> tuple[Block, ...]:
        return tuple(Block(tuple(rows), FAMILIES[family], epsilon) for rows, family, epsilon in
                     zip(self.blocks, self.families, self.epsilons, strict=True))


def pure_epsilon(blocks: Sequence[Block]) -> float:
    """Return what all blocks spend with delta = 0, rounded up."""
    exact = sum((Fraction(block.pure_epsilon) for block in blocks), Fraction(0))
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


@system_noise
def noisy_values(table: Dataset, query: Query, blocks: Sequence[Block], *,
                 progress: Callable[[float], object] | None = None) -> FloatArray:
    """Return the mean or the table that ``query`` asks of ``table``, with fresh noise each time."""
    body = checked_body(table, query, blocks)
    units = whole_numbers(table, body)
    asked = units.sum(axis=1, keepdims=True) if query.is_mean else units
    noisy, whole = np.empty(asked.shape), STEPS * (table.n_records if query.is_mean else 1)
    for column in range(asked.shape[1]):
        values = asked[:, column].tolist()
        for block in blocks:
            drawn = box_noise(len(block.rows), Fraction(block.epsilon), STEPS * table.per_person)
            for row, added in zip(block.rows, drawn, strict=True):
                noisy[row, column] = (values[row] + added) / whole
        if progress is not None:
            progress((column + 1) / asked.shape[1])
    return np.asarray(table.lower[:, None] + body.widths[:, None] * noisy)


def whole_numbers(table: Dataset, body: ReplacedColumn) -> npt.NDArray[np.int64]:
    """Return each value in steps from the lower end of its range; one record changes it by at most ``STEPS``."""
    def steps(values: FloatArray) -> FloatArray:
        return np.rint((values - table.lower[:, None]) / body.widths[:, None] * STEPS)

    low, high = np.zeros((table.n_features, 1)), np.full((table.n_features, 1), float(STEPS))
    if body.added:
        empty = steps(empty_place(table)[:, None])
        low, high = empty - STEPS, empty + STEPS
    return np.clip(steps(table.matrix), low, high).astype(np.int64)


def empty_place(table: Dataset) -> FloatArray:
    """Return what an absent record counts as: the middle of each range, equal parts of each level."""
    empty = (table.lower + table.upper) / 2
    for group in map(list, table.levels):
        empty[group] = table.lower[group] + table.widths[group] / len(group)
    return np.asarray(empty)


def checked_body(table: Dataset, query: Query, blocks: Sequence[Block]) -> ReplacedColumn:
    """Return what one record can change; raise `InputError` if this query cannot be released with this noise."""
    for block in blocks:
        family = block.family
        refuse(family.trials_only, family.trials_only)
        refuse(not family.joins and len(block.rows) > 1, f"{family.word} noise has one feature in each block")
    body = query.neighbours
    if not ((query.is_mean or query.is_table) and type(body) is ReplacedColumn):
        raise InputError("box and Laplace noise need a mean or a table without a clipping bound; choose Gaussian noise")
    rows = sorted(row for block in blocks for row in block.rows)
    asked = (query.row_names, query.n_records, query.neighbour_rule, list(range(query.rows)))
    widths = move_widths(table.widths, table.levels, added=body.added)
    rule = rule_of("add-remove" if body.added else "replace", table.per_person)
    refuse(asked != (table.features, table.n_records, rule, rows) or not np.array_equal(body.widths, widths),
           "query, data and noise must have the same features, ranges, records and people; make the query from this "
           "data")
    refuse(not table.n_records <= _MOST_RECORDS,
           f"box and Laplace noise allow at most {_MOST_RECORDS:,} records; choose Gaussian noise")
    return body
