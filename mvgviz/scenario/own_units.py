"""How large the noise on a table or a mean is in the data's own units, feature by feature."""

from dataclasses import dataclass

import numpy as np

from mvgviz.scenario.resolve import Setup


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
    data, table = setup.dataset, setup.table
    ours, equal = (np.sqrt(design.row_side.covariance_diagonal() * design.col_side.covariance_diagonal().mean())
                   * data.widths / table.widths for design in (setup.design, setup.iid))
    rows = [FeatureNoise(name=name, unit=data.units[i], needed=i in setup.scenario.needed_features,
                         lower=float(data.lower[i]), upper=float(data.upper[i]), ours=float(ours[i]),
                         equal=float(equal[i])) for i, name in enumerate(data.features)]
    return sorted(rows, key=lambda row: not row.needed)
