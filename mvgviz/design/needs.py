"""Which features have priority, and how large the noise on them is, in units of what one record can change.

Needs are weights from 0 to 1 on features or other directions; an entry of a square answer has the product of two.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError, refuse
from mvgviz.noise.directions import Directions, checked_directions
from mvgviz.validation import FloatArray, count, non_negative, number


@dataclass(frozen=True, kw_only=True)
class NoiseOn:
    """The root mean square of the noise on priority features, on other features and on all; NaN where there is none."""

    priority: float
    other: float
    everything: float


def needs_of(priority: Iterable[int] | Mapping[int, float], size: int) -> FloatArray:
    """Return the weight 1 (or the given one) for these features and 0 for the others."""
    weights = np.zeros(size)
    for position, weight in (priority if isinstance(priority, Mapping) else dict.fromkeys(priority, 1.0)).items():
        place = count("priority", position, at_least=0)
        refuse(not place < size, f"priority must be positions below {size}, got {place}")
        weights[place] = number("the weight of a feature", weight)
    return weights


def noise_on(design: NoiseDesign, needs: Any, *, features: int | None = None,
             directions: Directions | None = None) -> NoiseOn:
    """Return how large this design's noise is, in units of what one record can change of each feature.

    ``features``: how many rows are features; a joined constant is none. ``directions``: what ``needs`` weighs in place
    of features. The columns of a table or mean count alike. Those of a square answer are features too: each number off
    the diagonal has two noisy copies, which are averaged.
    """
    weights = checked_needs(needs, design.rows)[:features]
    directions = checked_directions(directions, design.rows)
    unit, w = design.neighbours.reach(directions)[:features], directions.matrix[:, :features]
    if design.mode == "both":  # the noise on (i, j) has variance v_i v_j, its covariance with (j, i) is c_ij²
        c = w.T @ design.row_side.covariance() @ w / np.outer(unit, unit)
        return _split((np.outer(np.diag(c), np.diag(c)) + c**2) / 2, np.outer(weights, weights))
    squares = np.einsum("ik,ik->k", w, design.row_side.covariance() @ w) / unit**2 if not directions.is_standard else (
        design.row_side.covariance_diagonal()[:features] / unit**2)
    return _split(squares * float(np.mean(design.col_side.covariance_diagonal())), weights)


def checked_needs(needs: Any, size: int) -> FloatArray:
    """Return one non-negative weight for each feature, the largest 1."""
    weights = non_negative("needs", needs)
    if weights.shape != (size,) or not weights.max() > 0:
        raise InputError(f"needs must be {size} weights, at least one of them above 0")
    return np.asarray(weights / weights.max())


def _split(squares: FloatArray, weights: FloatArray) -> NoiseOn:
    return NoiseOn(priority=_mean(squares, weights), other=_mean(squares, np.where(weights > 0, 0.0, 1.0)),
                   everything=math.sqrt(float(squares.mean())))


def _mean(squares: FloatArray, weights: FloatArray) -> float:
    total = float(weights.sum())
    return math.sqrt(float((squares * weights).sum()) / total) if total > 0 else math.nan
