"""Error over epsilon for several mechanisms, read across at a wanted error, then down to the epsilon each needs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mvgviz.figures.compare.ranking import colour, label, symbol, two_lines
from mvgviz.figures.shared.error_axis import error_axis, reference_look
from mvgviz.figures.shared.theme import DATA, log_ticks, row_axis, stroke, styled, wash
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
    return sorted(found, key=lambda line: (line.reading.epsilon, line.curve.least))


def plot_frontier(lines: Sequence[Needed], *, error: float, epsilon: float, references: Sequence[tuple[str, float]],
                  title: str) -> go.Figure:
    """Curves with bands above, the epsilons needed below, on one axis of epsilon."""
    below = 26 * len(lines) + 20
    height = _CURVES + below + 90
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=24 / height,
                           row_heights=[_CURVES / (_CURVES + below), below / (_CURVES + below)])
    low, high = (float(f([f(line.curve.epsilons) for line in lines])) for f in (np.min, np.max))
    shown = [(kind, value) for kind, value in references if kind != "random_guess"]
    values = [value for line in lines for value in line.curve.means.tolist()]
    axis = error_axis([*values, error, *(value for _, value in shown)])
    for kind, value in shown:
        if axis.holds(value):
            figure.add_scatter(x=[low, high], y=[value, value], row=1, col=1,
                               **reference_look(kind, f"{REFERENCES[kind]}: {as_number(value)}", width=1.5))
    for line in lines:
        _add_curve(figure, line)
    figure.add_scatter(x=[low, high], y=[error, error], name=f"wanted error: {as_number(error)}", hoverinfo="name",
                       row=1, col=1, **stroke(DATA, 3))
    for at, line in enumerate(lines):
        _add_reading(figure, line, at, error, low, high)
    figure.add_vline(x=epsilon, line={"color": DATA, "width": 1, "dash": "dot"})  # the scenario's
    room = 0.03 * math.log10(high / low)
    figure.update_xaxes(type="log", range=[math.log10(low) - room, math.log10(high) + 4 * room], **log_ticks(low, high))
    figure.update_xaxes(title="epsilon (ε), log scale", row=2, col=1)
    figure.update_yaxes(**axis.layout(title), row=1, col=1)
    figure.update_yaxes(**row_axis([two_lines(label(line.curve.mechanism)) for line in lines], 11), row=2, col=1)
    return styled(figure, height=height, top=50)


def _add_curve(figure: go.Figure, line: Needed) -> None:
    curve, name = line.curve, label(line.curve.mechanism)
    if np.isfinite(curve.lows).all() and np.isfinite(curve.highs).all():
        figure.add_scatter(x=[*curve.epsilons, *curve.epsilons[::-1]],
                           y=[*curve.highs, *np.maximum(curve.lows, curve.means / 10)[::-1]], fill="toself",
                           fillcolor=wash(line.colour, 0.15), line={"width": 0}, mode="lines", hoverinfo="skip",
                           showlegend=False, row=1, col=1)
    figure.add_scatter(x=curve.epsilons, y=curve.means, mode="lines+markers", name=name, row=1, col=1, showlegend=False,
                       line={"color": line.colour, "width": 2.5, "dash": line.dash},
                       marker={"symbol": symbol(curve.mechanism), "size": 6, "color": line.colour},
                       hovertemplate=f"{name}<br>ε = %{{x:g}}: error %{{y:.4g}}<extra></extra>")


def _add_reading(figure: go.Figure, line: Needed, at: int, error: float, low: float, high: float) -> None:
    """The point where the curve meets the wanted error, the way down, and the epsilon below."""
    reading, mechanism = line.reading, line.curve.mechanism
    below = {"row": 2, "col": 1, "showlegend": False}
    words = {"mode": "text", "textposition": "middle right", "textfont": {"size": 11}, "hoverinfo": "skip", **below}
    figure.add_scatter(x=[low, min(reading.epsilon, high)], y=[at, at], hoverinfo="skip", **below,
                       **stroke(line.colour, 2, line.dash))
    if not reading.reached:
        least = as_number(float(falling(line.curve.means)[-1]))
        figure.add_scatter(x=[low], y=[at], text=[f"   not below {least}, up to ε = {high:g}"], **words)
        return
    left, right = (min(max(end, low), high) if math.isfinite(end) else high for end in (reading.low, reading.high))
    sure = not math.isnan(reading.low)
    marker = {"size": 11, "color": line.colour, "symbol": symbol(mechanism)}
    needs = f"ε {'≤ ' if reading.at_most else ''}{as_number(reading.epsilon)}"
    figure.add_scatter(x=[reading.epsilon], y=[error], mode="markers", showlegend=False, hoverinfo="skip", row=1, col=1,
                       marker={**marker, "line": {"width": 2, "color": DATA}})
    figure.add_scatter(
        x=[reading.epsilon], y=[at], mode="markers", marker=marker, cliponaxis=False, **below,
        error_x={"type": "data", "array": [max(right - reading.epsilon, 0.0)], "color": line.colour, "thickness": 2,
                 "arrayminus": [max(reading.epsilon - left, 0.0)]} if sure else None,
        hovertemplate=f"{label(mechanism)}<br>needs {needs}<extra></extra>")
    figure.add_scatter(x=[max(reading.epsilon, right if sure else low)], y=[at], text=[f"   {needs}"],
                       cliponaxis=False, **words)
