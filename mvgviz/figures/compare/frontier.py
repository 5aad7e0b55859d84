"""Error over epsilon for several mechanisms, read across at a wanted error, then down to the epsilon each needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mvgviz.figures.bounds.axes import wash
from mvgviz.figures.budget.noise import log_ticks
from mvgviz.figures.compare.families import colour, label, symbol, two_lines
from mvgviz.figures.shared.error_axis import REFERENCE_DASHES, error_axis
from mvgviz.figures.shared.theme import DATA, styled
from mvgviz.labels import REFERENCES
from mvgviz.text import as_number
from mvgviz.trials.frontier import Curve, Reading, falling

_DASHES = ("solid", "dash", "dot", "dashdot")
_CURVES = 240  # pixels


@dataclass(frozen=True, kw_only=True)
class Needed:
    """A curve with what is read from it; ``dash`` tells curves of one colour apart."""

    curve: Curve
    reading: Reading
    colour: str
    dash: str


def needed(curves: Sequence[Curve], error: float, *, guarantee: str) -> list[Needed]:
    """What each curve says about ``error``, the least epsilon first."""
    seen: dict[str, int] = {}
    found = []
    for curve in curves:
        own = colour(curve.mechanism, guarantee)
        found.append(Needed(curve=curve, reading=curve.read(error), colour=own,
                            dash=_DASHES[seen.get(own, 0) % len(_DASHES)]))
        seen[own] = seen.get(own, 0) + 1
    return sorted(found, key=lambda one: (one.reading.epsilon, one.curve.least))


def plot_frontier(lines: Sequence[Needed], *, error: float, epsilon: float, references: Sequence[tuple[str, float]],
                  title: str) -> go.Figure:
    """Curves with bands above, the epsilons needed below, on one axis of epsilon."""
    rows = len(lines)
    below = 26 * rows + 20
    height = _CURVES + below + 90
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=24 / height,
                           row_heights=[_CURVES / (_CURVES + below), below / (_CURVES + below)])
    low, high = (float(f([f(one.curve.epsilons) for one in lines])) for f in (np.min, np.max))
    shown = [(kind, value) for kind, value in references if kind != "random_guess"]
    values = [value for one in lines for value in one.curve.means.tolist()]
    axis = error_axis([*values, error, *(value for _, value in shown)])
    for kind, value in shown:
        if axis.holds(value):
            figure.add_scatter(x=[low, high], y=[value, value], mode="lines", row=1, col=1, hoverinfo="name",
                               name=f"{REFERENCES[kind]}: {as_number(value)}",
                               line={"color": DATA, "width": 1.5, "dash": REFERENCE_DASHES[kind]})
    for one in lines:
        _add_curve(figure, one)
    figure.add_scatter(x=[low, high], y=[error, error], mode="lines", name=f"wanted error: {as_number(error)}",
                       line={"color": DATA, "width": 3}, hoverinfo="name", row=1, col=1)
    for at, one in enumerate(lines):
        _add_reading(figure, one, at, error, low, high)
    figure.add_vline(x=epsilon, line={"color": DATA, "width": 1, "dash": "dot"})  # the scenario's
    ticks = log_ticks(low, high)
    room = 0.03 * math.log10(high / low)
    figure.update_xaxes(type="log", range=[math.log10(low) - room, math.log10(high) + 4 * room], **ticks)
    figure.update_xaxes(title="epsilon (ε), log scale", row=2, col=1)
    figure.update_yaxes(**axis.layout(title), row=1, col=1)
    figure.update_yaxes(tickvals=list(range(rows)), ticktext=[two_lines(label(one.curve.mechanism)) for one in lines],
                        range=[rows - 0.4, -0.6], showgrid=False, zeroline=False, tickfont={"size": 11}, row=2, col=1)
    return styled(figure, height=height, top=50)


def _add_curve(figure: go.Figure, one: Needed) -> None:
    curve = one.curve
    if np.isfinite(curve.lows).all() and np.isfinite(curve.highs).all():
        floor = curve.means / 10
        figure.add_scatter(
            x=[*curve.epsilons, *curve.epsilons[::-1]], y=[*curve.highs, *np.maximum(curve.lows, floor)[::-1]],
            fill="toself", fillcolor=wash(one.colour, 0.15), line={"width": 0}, mode="lines", hoverinfo="skip",
            showlegend=False, row=1, col=1)
    figure.add_scatter(
        x=curve.epsilons, y=curve.means, mode="lines+markers", name=label(curve.mechanism), row=1, col=1,
        line={"color": one.colour, "width": 2.5, "dash": one.dash}, showlegend=False,
        marker={"symbol": symbol(curve.mechanism), "size": 6, "color": one.colour},
        hovertemplate=f"{label(curve.mechanism)}<br>ε = %{{x:g}}: error %{{y:.4g}}<extra></extra>")


def _add_reading(figure: go.Figure, one: Needed, at: int, error: float, low: float, high: float) -> None:
    """The point where the curve meets the wanted error, the way down, and the epsilon below."""
    reading, name = one.reading, label(one.curve.mechanism)
    figure.add_scatter(x=[low, min(reading.epsilon, high)], y=[at, at], mode="lines", hoverinfo="skip",
                       showlegend=False, line={"color": one.colour, "width": 2, "dash": one.dash}, row=2, col=1)
    if not reading.reached:
        figure.add_scatter(x=[low], y=[at], mode="text", textposition="middle right", showlegend=False, row=2, col=1,
                           text=[f"   not below {as_number(float(falling(one.curve.means)[-1]))}, up to ε = {high:g}"],
                           textfont={"size": 11}, hoverinfo="skip")
        return
    ends = [min(max(end, low), high) if math.isfinite(end) else high for end in (reading.low, reading.high)]
    sure = not math.isnan(reading.low)
    figure.add_scatter(x=[reading.epsilon], y=[error], mode="markers", showlegend=False, hoverinfo="skip", row=1, col=1,
                       marker={"size": 11, "color": one.colour, "symbol": symbol(one.curve.mechanism),
                               "line": {"width": 2, "color": DATA}})
    words = f"{'≤ ' if reading.at_most else ''}{as_number(reading.epsilon)}"
    figure.add_scatter(
        x=[reading.epsilon], y=[at], mode="markers", showlegend=False, row=2, col=1,
        marker={"size": 11, "color": one.colour, "symbol": symbol(one.curve.mechanism)}, cliponaxis=False,
        error_x={"type": "data", "array": [max(ends[1] - reading.epsilon, 0.0)], "color": one.colour, "thickness": 2,
                 "arrayminus": [max(reading.epsilon - ends[0], 0.0)]} if sure else None,
        hovertemplate=f"{name}<br>needs ε {words}<extra></extra>")
    figure.add_scatter(x=[max(reading.epsilon, ends[1] if sure else low)], y=[at], mode="text", text=[f"   ε {words}"],
                       textposition="middle right", textfont={"size": 11}, showlegend=False, hoverinfo="skip",
                       cliponaxis=False, row=2, col=1)
