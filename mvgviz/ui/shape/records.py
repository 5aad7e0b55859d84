"""The ellipse of records beside that of the noise: its ranges and, where they are to be seen, its records."""

import math

import numpy as np

from mvgviz.figures.shared.rule_model import RuleModel, ellipse_of
from mvgviz.scenario.resolve import Setup
from mvgviz.ui.rule.rule import RecordPicture

_POINTS = 300


def record_picture(setup: Setup, model: RuleModel, pair: tuple[int, int], names: tuple[str, str], *,
                   of_directions: bool, show: bool) -> RecordPicture | None:
    """The plane of two features, or of two directions, about the ellipse's centre; None where there is no ellipse."""
    ellipse, table = ellipse_of(setup.design), setup.table
    if ellipse is None:
        return None
    shown, centre = list(pair), ellipse.centre
    w = ellipse.directions.matrix
    basis = w[:, shown] if of_directions else np.eye(table.n_features)[:, shown]
    middle, half = basis.T @ ((table.lower + table.upper) / 2 - centre), np.abs(basis.T) @ (table.widths / 2)
    records = table.matrix[:, ::max(table.n_records // _POINTS, 1)][:, :_POINTS] if show else table.matrix[:, :0]
    own = ellipse.coordinates(records)
    own[shown] = 0.0  # what is left is the length along all other directions
    ends = np.abs(middle) + half
    c, s = abs(math.cos(model.angle)), abs(math.sin(model.angle))
    first, second = (model.records * std for std in model.std)
    across, up = max(ends[0], math.hypot(c * first, s * second)), max(ends[1], math.hypot(s * first, c * second))
    where = "about the middle of its range" if setup.query.name in ("identity", "mean") else "about 0"
    low, high = middle - half, middle + half
    return RecordPicture(
        radius=ellipse.radius, view=1.12 * max(up, across / 1.1),
        box=(float(low[0]), float(high[0]), float(low[1]), float(high[1])),
        names=(f"{names[0]}, {where}", f"{names[1]}, {where}"),
        points=np.vstack([basis.T @ (records - centre[:, None]), np.sum(own**2, axis=0), ellipse.parts(records)]))
