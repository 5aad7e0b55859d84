"""What a person needs of an answer, and how large the noise on it is.

Needs are weights on the features, or on other directions: 0 for the rest, up to 1 for what is needed most. An entry
of a square answer is needed as much as the product of its two features. Noise is measured in units
of what one record can move, so that features with other units can be added up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions, standard_basis
from mvgviz.validation import FloatArray, count, instance, non_negative, number


@dataclass(frozen=True, kw_only=True)
class NoiseOn:
    """The root mean square of the noise on what is needed, on the rest and on everything; NaN where there is none."""

    needed: float
    rest: float
    everything: float


def needs_of(needed: Iterable[int] | Mapping[int, float], size: int) -> FloatArray:
    """Weight 1 (or the one that is given) on these features and 0 on the others."""
    weights = np.zeros(size)
    for position, weight in (needed if isinstance(needed, Mapping) else dict.fromkeys(needed, 1.0)).items():
        place = count("needed features", position, at_least=0)
        if not place < size:
            raise InputError(f"needed features must be positions below {size}, got {place}")
        weights[place] = number("the weight of a need", weight)
    return weights


def noise_on(design: NoiseDesign, needs: Any, *, features: int | None = None,
             directions: Directions | None = None) -> NoiseOn:
    """How large this design's noise is, in units of what one record can move each feature by.

    ``features``: only the first so many rows are features, a constant joined to the records is none. ``directions``:
    what is needed instead of features.

    The columns of a table or mean count alike; those of a square answer are features too, and what stands on
    either side of its diagonal is one number, of which the release has two noisy copies to average.
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
    """Needs as one non-negative weight a feature, at least one of them above 0."""
    weights = non_negative("needs", needs)
    if weights.shape != (size,) or not weights.max() > 0:
        raise InputError(f"needs must be {size} weights, at least one of them above 0")
    return np.asarray(weights / weights.max())


def checked_directions(directions: Directions | None, size: int) -> Directions:
    """What is needed: the features by default, else as many directions."""
    chosen = standard_basis(size) if directions is None else instance("directions", directions, Directions)
    if chosen.size != size:
        raise InputError(f"directions must number {size}, one for each row of the answer, got {chosen.size}")
    return chosen


def _split(squares: FloatArray, weights: FloatArray) -> NoiseOn:
    return NoiseOn(needed=_mean(squares, weights), rest=_mean(squares, np.where(weights > 0, 0.0, 1.0)),
                   everything=math.sqrt(float(squares.mean())))


def _mean(squares: FloatArray, weights: FloatArray) -> float:
    total = float(weights.sum())
    return math.sqrt(float((squares * weights).sum()) / total) if total > 0 else math.nan
