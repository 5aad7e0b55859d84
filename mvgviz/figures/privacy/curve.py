"""The delta that a design needs at every epsilon, with what was asked as a point."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DIRECTIONAL, EXACT, styled
from mvgviz.noise.accounting import gaussian_delta, gaussian_epsilon, total_variation
from mvgviz.validation import FloatArray

_POINTS = 200
_BELOW = 1e-4  # how far under the asked delta the curve is drawn
_SMALLEST = 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveNumbers:
    """``deltas`` at ``epsilons``; ``spent``: the epsilon needed at the asked delta; ``at_zero``: delta at epsilon 0.

    ``log_epsilon``: the two differ so much that epsilon needs a log axis too (0 is then left of it).
    """

    epsilons: FloatArray
    deltas: FloatArray
    at_zero: float
    asked_epsilon: float
    asked_delta: float
    spent: float
    log_epsilon: bool
    lowest: float


def curve_numbers(mu: float, *, epsilon: float, delta: float) -> CurveNumbers:
    """The curve from epsilon 0 to a little beyond what was asked."""
    at_zero = float(total_variation(mu))
    lowest = max(min(delta, at_zero) * _BELOW, _SMALLEST)
    reach = float(gaussian_epsilon(lowest, mu))
    log_epsilon = reach < epsilon / 10
    if log_epsilon:
        epsilons = np.geomspace(reach * 1e-3, reach * 1.05, _POINTS)
        deltas = gaussian_delta(epsilons, mu)
    else:
        epsilons = np.linspace(0, max(1.25 * epsilon, min(reach, 4 * epsilon)), _POINTS)
        deltas = np.concatenate([[at_zero], gaussian_delta(epsilons[1:], mu)])
    return CurveNumbers(
        epsilons=epsilons, deltas=np.maximum(deltas, lowest / 1e3), at_zero=at_zero, asked_epsilon=epsilon,
        asked_delta=delta, spent=float(gaussian_epsilon(delta, mu)), log_epsilon=log_epsilon, lowest=lowest,
    )


def plot_curve(numbers: CurveNumbers) -> go.Figure:
    """The curve on a log axis; the asked point, and the spent one where it is another."""
    figure = go.Figure()
    figure.add_scatter(x=numbers.epsilons, y=numbers.deltas, mode="lines", name="this noise",
                       line={"color": DIRECTIONAL, "width": 2.5},
                       hovertemplate="ε = %{x:.3g} needs δ = %{y:.2e}<extra></extra>")
    points = [("asked", numbers.asked_epsilon, {"color": EXACT, "size": 12, "symbol": "diamond"})]
    if 0 < numbers.spent < 0.999 * numbers.asked_epsilon:
        points.insert(0, ("spent", numbers.spent, {"color": DIRECTIONAL, "size": 11}))
    for name, epsilon, marker in points:
        figure.add_scatter(x=[epsilon], y=[numbers.asked_delta], mode="markers", name=name, marker=marker,
                           hovertemplate=f"{name}: ε = %{{x:.3g}} at δ = %{{y:.2e}}<extra></extra>")
    top = max(numbers.at_zero, numbers.asked_delta)
    figure.update_yaxes(title="δ needed", type="log", range=[math.log10(numbers.lowest), math.log10(top) + 0.4])
    if numbers.log_epsilon:
        figure.update_xaxes(title="ε", type="log",
                            range=[math.log10(numbers.epsilons[0]), math.log10(3 * numbers.asked_epsilon)])
    else:
        figure.update_xaxes(title="ε", range=[0, float(numbers.epsilons[-1])])
    return styled(figure, height=300)
