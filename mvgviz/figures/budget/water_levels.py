"""Water filling: the ground of each direction, the water poured on it, and who stays dry."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.allocation import WaterFilling
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, styled
from mvgviz.validation import FloatArray

MOST = 40
_THIN = 0.1
_SKY = 1.7
_ROOM = 1.15


@dataclass(frozen=True, kw_only=True, eq=False)
class WaterNumbers:
    """Heights of the directions shown. ``ground`` is cut at ``top``, where the picture ends.

    ``from_lowest``: heights are measured from the lowest ground, since the water is too thin
    to be seen from 0. ``surface`` None: no ground and no common level (the unrelaxed form).
    """

    shown: list[int]
    ground: FloatArray
    water: FloatArray
    dry: np.ndarray[Any, np.dtype[np.bool_]]
    surface: float | None
    top: float
    from_lowest: bool


def water_numbers(filled: WaterFilling, *, prices: FloatArray | None = None) -> WaterNumbers:
    """The picture of a water filling; ``prices`` are the h² of the exact form (None: ones).

    Of more than 40 directions those with the lowest ground.
    """
    parts = filled.rho if prices is None else filled.rho * prices
    shown = np.sort(np.argsort(filled.depth, kind="stable")[:MOST])
    most, lowest = float(parts.max()), float(filled.depth.min())
    from_lowest = filled.level is not None and most < _THIN * (lowest + most)
    if filled.level is None:
        heights, surface, top = np.zeros(shown.size), None, _ROOM * most
    else:
        base = lowest if from_lowest else 0.0
        surface = lowest - base + most  # who stands lowest has most water: no difference of large numbers
        heights, top = filled.depth[shown] - base, _SKY * surface
    return WaterNumbers(
        shown=[int(k) for k in shown], ground=np.minimum(heights, top), water=parts[shown], dry=filled.dry[shown],
        surface=surface, top=top, from_lowest=from_lowest)


def plot_water(numbers: WaterNumbers, *, names: list[str], unit: str) -> go.Figure:
    """Grey ground, blue water, a dashed level; dry directions say so. ``unit``: of the heights."""
    columns = np.arange(len(numbers.shown))
    wet = ~numbers.dry
    figure = go.Figure()
    if numbers.surface is not None:
        figure.add_bar(x=columns, y=numbers.ground, name="ground", customdata=names,
                       marker={"color": DATA, "opacity": 0.55, "line": {"width": 0}},
                       hovertemplate="%{customdata}: ground at %{y:.4g}<extra></extra>")
    figure.add_bar(x=columns[wet], y=numbers.water[wet], base=numbers.ground[wet], name="water: precision",
                   customdata=[name for name, is_wet in zip(names, wet, strict=True) if is_wet],
                   marker={"color": DIRECTIONAL, "opacity": 0.9, "line": {"width": 0}},
                   hovertemplate="%{customdata}: %{y:.4g} of water<extra></extra>")
    if numbers.dry.any():
        figure.add_scatter(x=columns[numbers.dry], y=np.minimum(numbers.ground[numbers.dry], 0.93 * numbers.top),
                           mode="markers+text", name="dry: the floor",
                           text=["dry" if len(columns) <= 16 else ""] * int(numbers.dry.sum()),
                           textposition="bottom center", hoverinfo="name",
                           marker={"symbol": "x", "size": 8, "color": "rgba(128,128,128,1)"})
    if numbers.surface is not None:
        figure.add_scatter(x=[-0.5, len(columns) - 0.5], y=[numbers.surface] * 2, mode="lines", name="level",
                           line={"color": DIRECTIONAL, "dash": "dash", "width": 2}, hoverinfo="name")
    figure.update_layout(barmode="overlay", bargap=0.04)
    figure.update_xaxes(tickvals=columns.tolist(), ticktext=names, showgrid=False, range=[-0.5, len(columns) - 0.5])
    figure.update_yaxes(title="height above the lowest ground" if numbers.from_lowest else unit,
                        range=[0, numbers.top], zeroline=False)
    return styled(figure, height=340, top=40)
