"""What noise spends: the privacy loss beyond epsilon, delta at every epsilon, by direction, in several releases."""

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.privacy_loss import SpentMu, loss_density, mass_beyond
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, stroke, styled, upright, wash
from mvgviz.noise.accounting import gaussian_delta, gaussian_epsilon, total_variation
from mvgviz.validation import FloatArray

_SIDE = 4.0  # standard deviations shown beside the peaks
_FAR = 9.0  # beyond so many, epsilon is left outside the picture
_BELOW = 1e-4  # how far under the asked delta the curve is drawn
_SMALLEST = 1e-300
_MOST, _FEW, _VISIBLE = 20, 6, 1e-3  # bars drawn singly, the rest are one bar; always; and only above this share
RELEASES = np.unique(np.round(np.geomspace(1, 1_000, 80))).astype(np.float64)
_HOVER = "%{x:.0f} releases: ε = %{y:.3g}<extra></extra>"


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
    return LossNumbers(mu=mu, epsilon=epsilon, beyond=mass_beyond(epsilon, mu),
                       delta=float(gaussian_delta(epsilon, mu)), loss=loss, density=loss_density(loss, mu),
                       replaced_density=loss_density(loss, mu, replaced=True), tail=tail, tail_density=density,
                       excess=density * -np.expm1(epsilon - tail))


def plot_loss(numbers: LossNumbers, *, label: str, thing: str = "record") -> go.Figure:
    """Two bells, the tail beyond epsilon shaded, the part that counts as delta darker. ``label`` names the tail."""
    figure = go.Figure()
    figure.add_scatter(x=numbers.loss, y=numbers.density, name=f"{thing} there",
                       hovertemplate="loss %{x:.3g}: density %{y:.3g}<extra></extra>", **stroke(DIRECTIONAL, 2.5))
    figure.add_scatter(x=numbers.loss, y=numbers.replaced_density, name="not there", hoverinfo="name",
                       **stroke(DATA, 1.5, "dash"))
    low, high, peak = float(numbers.loss[0]), float(numbers.loss[-1]), float(numbers.density.max())
    at = high
    if numbers.tail.size:
        at = numbers.epsilon
        for values, colour, name in ((numbers.tail_density, wash(DIRECTIONAL, 0.5), "beyond ε"),
                                     (numbers.excess, DIRECTIONAL, "δ")):
            figure.add_scatter(x=numbers.tail, y=values, name=name, fill="tozeroy", fillcolor=colour, hoverinfo="name",
                               showlegend=False, **stroke(DIRECTIONAL, 0))
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
    return CurveNumbers(epsilons=epsilons, deltas=np.maximum(deltas, lowest / 1e3), at_zero=at_zero,
                        asked_epsilon=epsilon, asked_delta=delta, spent=float(gaussian_epsilon(delta, mu)),
                        log_epsilon=log_epsilon, lowest=lowest)


def plot_curve(numbers: CurveNumbers) -> go.Figure:
    """The curve on a log axis; the asked point, and the spent one where it is another."""
    figure = go.Figure()
    figure.add_scatter(x=numbers.epsilons, y=numbers.deltas, name="this noise",
                       hovertemplate="ε = %{x:.3g} needs δ = %{y:.2e}<extra></extra>", **stroke(DIRECTIONAL, 2.5))
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


def largest_shares(shares: FloatArray) -> list[int]:
    """At most 20 positions, the largest first, and beyond the sixth only those whose bar can be seen."""
    most = min(max(int(np.count_nonzero(shares >= _VISIBLE)), _FEW), _MOST)
    return [int(k) for k in np.argsort(-shares, kind="stable")[:most]]


def plot_shares(shares: FloatArray, theta: FloatArray, *, labels: list[str]) -> go.Figure:
    """A bar for each of the largest shares of mu², theta as a mark on it. ``labels``: of the bars, in order."""
    shown, others = np.split(np.argsort(-shares, kind="stable"), [len(labels)])
    names, drawn, marked = list(labels), list(shares[shown]), list(theta[shown])
    if others.size:
        names.append(f"the other {others.size:,} together")
        drawn.append(float(shares[others].sum()))
        marked.append(float(theta[others].sum()))
    places = list(range(len(names)))
    figure = go.Figure(go.Bar(x=drawn, y=places, orientation="h", marker={"color": DIRECTIONAL}, customdata=names,
                              name="share of the loss",
                              hovertemplate="%{customdata}: %{x:.1%} of the loss<extra></extra>"))
    figure.add_scatter(x=marked, y=places, mode="markers", name="share of the budget (theta)", customdata=names,
                       marker={"color": DATA, "symbol": "diamond", "size": 9, "line": {"width": 1}},
                       hovertemplate="%{customdata}: %{x:.1%} of the budget<extra></extra>")
    figure.update_xaxes(title="share of μ²", tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed", showgrid=False)
    figure.update_layout(bargap=0.35)
    return styled(figure, height=110 + 22 * max(len(names), 4))


def spent_together(spent: SpentMu, releases: FloatArray, *, epsilon: float, delta: float
                   ) -> tuple[FloatArray, FloatArray]:
    """Epsilon after so many releases: exactly, at the same delta; and added up, at that many times delta.

    ``epsilon`` and ``delta`` are those asked of one; adding up is NaN where delta would reach 1.
    """
    together = np.array([spent.after(int(k))[0] for k in releases])
    return np.asarray(gaussian_epsilon(delta, together)), np.where(releases * delta < 1, releases * epsilon, np.nan)


def plot_composition(spent: SpentMu, *, epsilon: float, delta: float, chosen: int) -> go.Figure:
    """Both curves on log axes, up to 1 000 releases; those that need no epsilon leave a gap."""
    exact, added = spent_together(spent, RELEASES, epsilon=epsilon, delta=delta)
    seen = exact > 0
    figure = go.Figure()
    figure.add_scatter(x=RELEASES, y=added, name="added up: kε at kδ",
                       hovertemplate="%{x:.0f} releases, added up: ε = %{y:.3g}<extra></extra>",
                       **stroke(DATA, 2, "dash"))
    figure.add_scatter(x=RELEASES, y=np.where(seen, exact, np.nan), name="exact, at δ", hovertemplate=_HOVER,
                       **stroke(DIRECTIONAL, 2.5))
    here = spent_together(spent, np.array([chosen]), epsilon=epsilon, delta=delta)
    for values, colour in zip(reversed(here), (DATA, DIRECTIONAL), strict=True):
        if values[0] > 0:
            figure.add_scatter(x=[chosen], y=[float(values[0])], mode="markers", showlegend=False,
                               marker={"color": colour, "size": 11}, hovertemplate=_HOVER)
    figure.update_xaxes(title="releases of the same data", type="log", range=[-0.05, 3.05],
                        tickvals=[1, 10, 100, 1000], ticktext=["1", "10", "100", "1,000"])
    figure.update_yaxes(title="ε of all together", type="log", dtick=1)
    if not seen.any():
        figure.add_annotation(text="exact: no ε is spent, even by 1,000 releases", xref="paper", yref="paper", x=0.98,
                              y=0.06, showarrow=False, font={"color": DIRECTIONAL})
    return styled(figure, height=320)
