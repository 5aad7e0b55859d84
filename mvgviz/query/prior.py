"""The no-data baseline and the random guess, which know the ranges alone, and how errors are weighed.

Records are taken as uniform in their ranges, edges as present with probability ½: the *expected answer* is that of such
data, a *random guess* the answer of one such dataset. The no-data baseline is the best of the expected answer and
*plain* ones: all zeros, and for graphs every edge there.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy.special import erf, expm1

from mvgviz.query.dataset import Dataset
from mvgviz.validation import FloatArray, frozen

ZEROS = "all zeros"


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighing:
    """How the rows of an answer count: by factors ``rows``, or as mixtures of them (k × rows). ``both``: the columns
    are the same things and count alike. ``unit``: of the data, of the length of what is judged.
    """

    rows: FloatArray = field(repr=False)
    both: bool
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", frozen(np.array(self.rows, dtype=np.float64)))

    def of(self, answers: FloatArray) -> FloatArray:
        weighed = self._once(answers)
        return np.swapaxes(self._once(np.swapaxes(weighed, -1, -2)), -1, -2) if self.both else weighed

    def _once(self, answers: FloatArray) -> FloatArray:
        return np.asarray(self.rows[:, None] * answers if self.rows.ndim == 1 else self.rows @ answers)

    @property
    def matrix(self) -> FloatArray:
        """M, with ``M A`` (or ``M A Mᵀ``) what is judged of the answer A."""
        return np.diag(self.rows) if self.rows.ndim == 1 else self.rows

    @property
    def squares(self) -> FloatArray:
        """How much the square of an error in each row counts."""
        return np.asarray(self.rows**2 if self.rows.ndim == 1 else (self.rows**2).sum(axis=0))

    @property
    def key(self) -> str:
        return f"{self.unit} {hashlib.sha256(self.rows.tobytes()).hexdigest()}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Guess:
    """``answer``: the expected one, called ``name``; ``plain``: other baselines, by name; ``spread``: the variance of a
    random guess about it, summed over the entries as weighed.
    """

    answer: FloatArray = field(repr=False)
    spread: Callable[..., float] = field(repr=False)
    name: str = "the answer of records spread evenly over their ranges"
    plain: Mapping[str, FloatArray] = field(default_factory=dict, repr=False)

    def expected_error(self, value: FloatArray, weighing: Weighing | None = None) -> float:
        return length(self.answer - value, weighing)

    def blind_errors(self, value: FloatArray, weighing: Weighing | None = None) -> dict[str, float]:
        """Return the Frobenius norm of the error of each baseline, the expected answer first."""
        errors = {self.name: self.expected_error(value, weighing), ZEROS: length(value, weighing)}
        return errors | {name: length(answer - value, weighing) for name, answer in self.plain.items()}

    def on(self, positions: list[int]) -> Guess:
        block = np.ix_(positions, positions)
        return replace(self, answer=self.answer[block], spread=partial(self.spread, size=len(positions)),
                       plain={name: answer[block] for name, answer in self.plain.items()})

    def random_error(self, value: FloatArray, weighing: Weighing | None = None) -> float:
        """Root of the expected squared Frobenius error of a random guess."""
        return math.hypot(self.expected_error(value, weighing), math.sqrt(self.spread(weighing)))


def length(answer: FloatArray, weighing: Weighing | None = None) -> float:
    """Return the Frobenius norm of an answer, weighed if a weighing is given."""
    return float(np.linalg.norm(answer if weighing is None else weighing.of(answer)))


def guessed_moments(table: Dataset, *, constant: bool = False) -> Guess:
    """The guess for ``X Xᵀ/n`` of a table, from its ranges and number of records alone; with a ``constant`` 1, last."""
    middle, widths = (table.lower + table.upper) / 2, table.widths
    if constant:
        middle, widths = np.append(middle, 1.0), np.append(widths, 0.0)
    return Guess(answer=np.outer(middle, middle) + np.diag(widths**2 / 12),
                 spread=partial(_of_moments, middle, widths, table.n_records))


def of_rows(variances: FloatArray, weighing: Weighing | None) -> float:
    """Return the variance of a random guess, summed over rows that have these variances."""
    return float(variances.sum() if weighing is None else weighing.squares @ variances)


def _of_moments(middle: FloatArray, widths: FloatArray, n_records: int, weighing: Weighing | None) -> float:
    """``(E (xᵀQx)² - ||M E[x xᵀ] Mᵀ||²)/n`` with ``Q = MᵀM``, for x evenly spread about the middle."""
    q = np.eye(middle.size) if weighing is None else weighing.matrix.T @ weighing.matrix
    s, fourth, turned, diagonal = widths**2 / 12, widths**4 / 80, q @ middle, np.diag(q)
    total = float(diagonal @ s)
    return (2 * float(turned**2 @ s) + 2 * float(middle @ turned) * total + total**2
            + float(diagonal**2 @ (fourth - 3 * s**2)) + float(s @ q**2 @ s)) / n_records


def of_entries(off: float, diagonal: float, weighing: Weighing | None, *, size: int) -> float:
    """For entries with a variance ``off`` the diagonal and another on it."""
    squares = np.ones(size) if weighing is None else weighing.squares
    on = float(squares @ squares)
    return off * (float(squares.sum()) ** 2 - on) + diagonal * on


def expected_similarity(a: FloatArray) -> FloatArray:
    """``E exp(-(u-v)²/2)`` for u, v uniform on an interval of width a; 1 - a²/12 near 0."""
    safe = np.maximum(a, 1e-4)
    full = 2 / safe**2 * (safe * math.sqrt(math.pi / 2) * erf(safe / math.sqrt(2)) + expm1(-safe**2 / 2))
    return np.where(a < 1e-3, 1 - a**2 / 12, full)
