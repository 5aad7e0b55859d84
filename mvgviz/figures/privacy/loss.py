"""What one noise spends: the density of the privacy loss with the part beyond epsilon, and delta at every epsilon."""

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.privacy_loss import loss_density, mass_beyond
from mvgviz.figures.shared.axes import upright
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, styled, wash
from mvgviz.noise.accounting import gaussian_delta, gaussian_epsilon, total_variation
from mvgviz.validation import FloatArray

_SIDE = 4.0  # standard deviations shown beside the peaks
_FAR = 9.0  # beyond so many, epsilon is left outside the picture
_BELOW = 1e-4  # how far under the asked delta the curve is drawn
_SMALLEST = 1e-300


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
    figure = go.Figure()
    figure.add_scatter(x=numbers.loss, y=numbers.density, name=f"{thing} there", mode="lines",
                       line={"color": DIRECTIONAL, "width": 2.5},
                       hovertemplate="loss %{x:.3g}: density %{y:.3g}<extra></extra>")
    figure.add_scatter(x=numbers.loss, y=numbers.replaced_density, name="not there", mode="lines", hoverinfo="name",
                       line={"color": DATA, "width": 1.5, "dash": "dash"})
    low, high, peak = float(numbers.loss[0]), float(numbers.loss[-1]), float(numbers.density.max())
    at = high
    if numbers.tail.size:
        at = numbers.epsilon
        for values, colour, name in ((numbers.tail_density, wash(DIRECTIONAL, 0.5), "beyond ε"),
                                     (numbers.excess, DIRECTIONAL, "δ")):
            figure.add_scatter(x=numbers.tail, y=values, name=name, mode="lines", fill="tozeroy", fillcolor=colour,
                               line={"width": 0, "color": DIRECTIONAL}, hoverinfo="name", showlegend=False)
        figure.add_shape(upright(at, EXACT, "dot", width=2))
    leftwards = at > (low + high) / 2
    figure.add_annotation(text=f"{label} →" if leftwards else f"→ {label}", x=at, y=1.32 * peak, showarrow=False,
                          xanchor="right" if leftwards else "left", font={"color": EXACT})
    figure.update_xaxes(title="privacy loss (log-odds learned)", zeroline=False, nticks=6, range=[low, high])
    figure.update_yaxes(title="density", showticklabels=False, showgrid=False, range=[0, 1.42 * peak])
    return styled(figure, height=300)


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
        epsilons = np.geomspace(reach * 1e-3, reach * 1.05, 200)
        deltas = gaussian_delta(epsilons, mu)
    else:
        epsilons = np.linspace(0, max(1.25 * epsilon, min(reach, 4 * epsilon)), 200)
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
