"""The attack's scores on simulated releases of both neighbours, against what is claimed."""

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, styled, wash
from mvgviz.release.audit import Audit

_BINS = 70


def plot_scores(result: Audit, mu: float) -> go.Figure:
    """Steps for what was simulated, dotted curves for what is claimed, the attack's threshold.

    Densities over common bins; claimed are ``N(0, 1)`` and, for this pair, ``N(mu, 1)``.
    """
    low = min(float(result.absent.min()), float(result.present.min()), -3.0)
    high = max(float(result.absent.max()), float(result.present.max()), mu + 3.0)
    edges = np.linspace(low, high, _BINS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    figure = go.Figure()
    for name, scores, claimed, colour in (("absent", result.absent, 0.0, DATA),
                                          ("present", result.present, mu, DIRECTIONAL)):
        figure.add_scatter(x=centres, y=np.histogram(scores, edges, density=True)[0], mode="lines", fill="tozeroy",
                           fillcolor=wash(colour, 0.45), line={"color": colour, "width": 1, "shape": "hvh"},
                           name=f"{name}, simulated", hoverinfo="name")
        figure.add_scatter(x=centres, y=np.exp(-(centres - claimed) ** 2 / 2) / np.sqrt(2 * np.pi), mode="lines",
                           name=f"{name}, claimed", hoverinfo="name",
                           line={"color": colour, "width": 2, "dash": "dot"})
    figure.add_vline(x=result.threshold, line={"color": EXACT, "width": 2},
                     annotation={"text": "accused →", "font": {"color": EXACT}})
    figure.update_xaxes(title="score of a release (claimed noise: 1)", zeroline=False)
    figure.update_yaxes(title="density", showticklabels=False, showgrid=False, rangemode="tozero")
    return styled(figure, height=300)
