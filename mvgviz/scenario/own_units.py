"""How large the noise is in the data's units, feature by feature."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.query.frames import DAYS
from mvgviz.scenario.resolve import Setup
from mvgviz.validation import FloatArray

OWN = "data units"  # the unit of a feature whose unit has no name
SHARES = {1: "% of the range", 2: "% of full scale"}
"""The unit of noise that several features share, by the degree of the query; full scale: the largest value."""


@dataclass(frozen=True, kw_only=True)
class FeatureNoise:
    """The standard deviation of the noise on one feature, by this design and by equal noise; ``unit`` may be empty."""

    name: str
    unit: str
    priority: bool
    lower: float
    upper: float
    ours: float
    equal: float


def own_units(setup: Setup) -> list[FeatureNoise]:
    """Return the priority features first; nothing for answers that are not in the data's units."""
    if setup.query.degree != 1:
        return []
    data, ours, equal = setup.dataset, feature_std(setup, setup.design), feature_std(setup, setup.iid)
    units = units_of_noise(data.units)
    rows = [FeatureNoise(name=name, unit=units[i], priority=i in setup.scenario.priority_features,
                         lower=float(data.lower[i]), upper=float(data.upper[i]), ours=float(ours[i]),
                         equal=float(equal[i])) for i, name in enumerate(data.features)]
    return sorted(rows, key=lambda row: not row.priority)


def feature_std(setup: Setup, design: NoiseDesign) -> FloatArray:
    """Return the noise on each row of the answer (of a square one: on entry (k, k)), in the data's units."""
    query = setup.query
    rows, cols = (np.sqrt(side.covariance_diagonal()) for side in (design.row_side, design.col_side))
    std = rows * (cols if query.symmetric else math.sqrt(float(np.mean(cols**2))))
    if not query.degree:
        return np.asarray(std)
    return np.asarray(std * to_own(setup) ** query.degree)


def to_own(setup: Setup) -> FloatArray:
    """Return what 1 on the scale of the query is in each feature's unit; 1 for a joined constant."""
    factors = setup.dataset.widths / setup.table.widths[: setup.dataset.n_features]
    return np.append(factors, np.ones(max(setup.query.rows - factors.size, 0)))


def unit_of(setup: Setup, k: int) -> str:
    """Return what feature ``k`` is measured in; a joined constant has no unit."""
    units = units_of_noise(setup.dataset.units)
    return (units[k] or OWN) if k < len(units) else ""


def units_of_noise(units: Iterable[str]) -> list[str]:
    """Return the units of distances between values: dates lie days apart."""
    return ["days" if unit == DAYS else unit for unit in units]


def product_unit(first: str, second: str) -> str:
    """kg², kg·years, (U/L)²."""
    first, second = (f"({unit})" if set(unit) & set(" /·") else unit for unit in (first, second))
    return f"{first}²" if first and first == second else "·".join(filter(None, [first, second]))


def along_directions(setup: Setup) -> tuple[FloatArray, list[str]]:
    """Return what 1 of the noise along each direction is in the data's units (on both sides: of entry (k, k)), and
    these units. Mixtures of features have shares; without features it is 1 without a unit.
    """
    design, degree, size = setup.design, setup.query.degree, setup.design.theta.size
    if design.mode != {1: "rows", 2: "both"}.get(degree):
        return np.ones(size), [""] * size
    if design.directional_side.directions.is_standard:
        units = [unit_of(setup, k) for k in range(size)]
        return to_own(setup) ** degree, units if degree == 1 else [product_unit(unit, unit) for unit in units]
    if setup.scenario.scale == "declared":  # a mixture of units has no name
        return np.ones(size), [""] * size
    return np.full(size, 100 / whole_scale(setup)[0, 0]), [SHARES[degree]] * size


def whole_scale(setup: Setup) -> FloatArray:
    """Return what noise on each entry is a share of: a column's range, the largest possible second moment."""
    if setup.query.degree == 1:
        return np.asarray(setup.table.widths)[:, None]
    largest = np.maximum(setup.table.largest_values, np.finfo(float).tiny)
    return np.outer(largest, largest)
