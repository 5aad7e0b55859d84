"""The privacy loss of the worst neighbours: its density, and the part beyond epsilon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.privacy_loss import loss_density, mass_beyond
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, styled
from mvgviz.noise.accounting import gaussian_delta
from mvgviz.validation import FloatArray

_SIDE = 4.0  # standard deviations shown beside the peaks
_LIGHT = "rgba(43,140,214,0.5)"  # DIRECTIONAL
_FAR = 9.0  # beyond so many, epsilon is left outside the picture


@dataclass(frozen=True, kw_only=True, eq=False)
class LossNumbers:
    """Densities of the loss, true dataset and other; ``beyond`` is the mass over epsilon, ``delta`` its excess.

    ``tail``, ``tail_density`` and ``excess`` (the part whose area is delta) are empty where
    epsilon lies ``epsilon_away`` > 9 standard deviations off.
    """

    mu: float
    epsilon: float
    beyond: float
    delta: float
    loss: FloatArray
    density: FloatArray
    replaced_density: FloatArray
    tail: FloatArray
    tail_density: FloatArray
    excess: FloatArray

    @property
    def epsilon_away(self) -> float:
        """How many standard deviations epsilon lies above the average loss."""
        return self.epsilon / self.mu - self.mu / 2


def loss_numbers(mu: float, epsilon: float) -> LossNumbers:
    """The numbers for the worst-case shift ``mu`` and the epsilon that was asked."""
    end = mu * mu / 2 + _SIDE * mu
    start, seen = -end, epsilon / mu - mu / 2 <= _FAR
    if seen:
        end = max(end, epsilon + mu)
    loss = np.linspace(start, end, 241)
    tail = np.linspace(epsilon, end, 81) if seen else np.empty(0)
    density = loss_density(tail, mu)
    return LossNumbers(
        mu=mu, epsilon=epsilon, beyond=mass_beyond(epsilon, mu), delta=float(gaussian_delta(epsilon, mu)), loss=loss,
        density=loss_density(loss, mu), replaced_density=loss_density(loss, mu, replaced=True), tail=tail,
        tail_density=density, excess=density * -np.expm1(epsilon - tail),
    )


def plot_loss(numbers: LossNumbers, *, label: str, thing: str = "record") -> go.Figure:
    """Two bells, the tail beyond epsilon shaded, the part that counts as delta darker. ``label`` names the tail."""
    traces = [
        {"x": numbers.loss, "y": numbers.density, "name": f"{thing} there", "mode": "lines",
         "line": {"color": DIRECTIONAL, "width": 2.5},
         "hovertemplate": "loss %{x:.3g}: density %{y:.3g}<extra></extra>"},
        {"x": numbers.loss, "y": numbers.replaced_density, "name": "not there", "mode": "lines",
         "line": {"color": DATA, "width": 1.5, "dash": "dash"}, "hoverinfo": "name"},
    ]
    traces += [{"x": numbers.tail, "y": values, "name": name, "mode": "lines", "fill": "tozeroy", "fillcolor": colour,
                "line": {"width": 0, "color": DIRECTIONAL}, "hoverinfo": "name", "showlegend": False}
               for values, colour, name in ((numbers.tail_density, _LIGHT, "beyond ε"),
                                            (numbers.excess, DIRECTIONAL, "δ")) if numbers.tail.size]
    peak, low, high = float(numbers.density.max()), float(numbers.loss[0]), float(numbers.loss[-1])
    inside = bool(numbers.tail.size)
    at = numbers.epsilon if inside else high
    leftwards = at > (low + high) / 2
    note = {"text": f"{label} →" if leftwards else f"→ {label}", "x": at, "y": 1.32 * peak, "showarrow": False,
            "xanchor": "right" if leftwards else "left", "font": {"color": EXACT}}
    line = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": EXACT, "dash": "dot", "width": 2}}
    return styled(go.Figure(data=traces, layout={
        "annotations": [note], "shapes": [line] if inside else [],
        "xaxis": {"title": {"text": "privacy loss (log-odds learned)"}, "zeroline": False, "nticks": 6,
                  "range": [low, high]},
        "yaxis": {"title": {"text": "density"}, "showticklabels": False, "showgrid": False, "range": [0, 1.42 * peak]},
    }), height=300)
