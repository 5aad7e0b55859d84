"""How large the noise is in the data's own units, feature by feature."""

import math
from dataclasses import dataclass

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.scenario.resolve import Setup
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True)
class FeatureNoise:
    """The standard deviation of the noise on one feature, by this design and by equal noise; ``unit`` may be empty."""

    name: str
    unit: str
    needed: bool
    lower: float
    upper: float
    ours: float
    equal: float


def own_units(setup: Setup) -> list[FeatureNoise]:
    """The needed features first; nothing for answers that are not in the units of the data."""
    if setup.query.degree != 1:
        return []
    data, ours, equal = setup.dataset, feature_std(setup, setup.design), feature_std(setup, setup.iid)
    rows = [FeatureNoise(name=name, unit=data.units[i], needed=i in setup.scenario.needed_features,
                         lower=float(data.lower[i]), upper=float(data.upper[i]), ours=float(ours[i]),
                         equal=float(equal[i])) for i, name in enumerate(data.features)]
    return sorted(rows, key=lambda row: not row.needed)


def feature_std(setup: Setup, design: NoiseDesign) -> FloatArray:
    """The noise on each row of the answer (of a square one: on entry (k, k)), in the data's own units."""
    query = setup.query
    rows, cols = (np.sqrt(side.covariance_diagonal()) for side in (design.row_side, design.col_side))
    std = rows * (cols if query.symmetric else math.sqrt(float(np.mean(cols**2))))
    if not query.degree:
        return np.asarray(std)
    units = setup.dataset.widths / setup.table.widths[: setup.dataset.n_features]
    units = np.append(units, np.ones(std.size - units.size))  # a constant that was joined has none
    return np.asarray(std * units**query.degree)
