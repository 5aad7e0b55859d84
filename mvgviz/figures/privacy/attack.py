"""What the best attacker can do: misses against false alarms, and the scores of simulated attacks."""

import numpy as np
import plotly.graph_objects as go
from scipy import special

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, stroke, styled, wash
from mvgviz.noise.accounting import tradeoff
from mvgviz.release.audit import Audit
from mvgviz.validation import FloatArray

_BINS = 70


def best_attacks(mu: float) -> tuple[FloatArray, FloatArray]:
    """False alarms and misses, evenly along the attacker's thresholds: the bend is drawn smoothly for every mu."""
    thresholds = np.linspace(-5, mu + 5, 241)
    false_alarms = np.concatenate([[1.0], special.ndtr(-thresholds), [0.0]])
    return false_alarms, tradeoff(false_alarms, mu)


def fewest_misses(epsilon: float, delta: float) -> FloatArray:
    """What is promised (2 × points): misses >= 1 - delta - e^epsilon alarms, and the same with the two exchanged."""
    corner = (1 - delta) * float(special.expit(-epsilon))
    return np.array([[0, corner, 1 - delta, 1], [1 - delta, corner, 0, 0]])


def plot_tradeoff(mu: float, *, epsilon: float, delta: float, marked: float, said: str = "") -> go.Figure:
    """The curve, the diagonal of guessing, the promised limit, and one attack by its false alarms; ``said``: of it."""
    false_alarms, misses = best_attacks(mu)
    limit = fewest_misses(epsilon, delta)
    hover = "accuses %{x:.2%} of those without it, misses %{y:.2%} of those with it<extra></extra>"
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[1, 0], name="guessing", hoverinfo="name", **stroke(DATA, 1.5, "dash"))
    figure.add_scatter(x=limit[0], y=limit[1], name="promised limit", hoverinfo="name", **stroke(EXACT, 2, "dot"))
    figure.add_scatter(x=false_alarms, y=misses, name="best attack", hovertemplate=hover, **stroke(DIRECTIONAL, 2.5))
    figure.add_scatter(x=[marked], y=[float(tradeoff(marked, mu))], mode="markers", name=said, showlegend=bool(said),
                       cliponaxis=False, marker={"color": DIRECTIONAL, "size": 11}, hovertemplate=hover)
    for axis, title in ((figure.update_xaxes, "false alarms: without it, yet accused"),
                        (figure.update_yaxes, "misses: with it, not accused")):
        axis(title=title, tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], range=[0, 1.02])
    # Above the diagonal nothing is ever drawn.
    return styled(figure, height=300).update_layout(
        legend={"orientation": "v", "x": 1, "xanchor": "right", "y": 1, "yanchor": "top"})


def plot_scores(result: Audit, mu: float) -> go.Figure:
    """Steps for what was simulated, dotted curves for what is claimed, the attack's threshold.

    Densities over common bins; claimed are ``N(0, 1)`` and, for this pair, ``N(mu, 1)``.
    """
    low = min(float(result.absent.min()), float(result.present.min()), -3.0)
    high = max(float(result.absent.max()), float(result.present.max()), mu + 3.0)
    edges = np.linspace(low, high, _BINS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    figure = go.Figure()
    for name, scores, claimed, colour in (("without it", result.absent, 0.0, DATA),
                                          ("with it", result.present, mu, DIRECTIONAL)):
        figure.add_scatter(x=centres, y=np.histogram(scores, edges, density=True)[0], mode="lines", fill="tozeroy",
                           fillcolor=wash(colour, 0.45), line={"color": colour, "width": 1, "shape": "hvh"},
                           name=f"{name}, simulated", hoverinfo="name")
        figure.add_scatter(x=centres, y=np.exp(-(centres - claimed) ** 2 / 2) / np.sqrt(2 * np.pi),
                           name=f"{name}, claimed", hoverinfo="name", **stroke(colour, 2, "dot"))
    figure.add_vline(x=result.threshold, line={"color": EXACT, "width": 2},
                     annotation={"text": "accused →", "font": {"color": EXACT}})
    figure.update_xaxes(title="score of a release (claimed noise: 1)", zeroline=False)
    figure.update_yaxes(title="density", showticklabels=False, showgrid=False, rangemode="tozero")
    return styled(figure, height=300)
