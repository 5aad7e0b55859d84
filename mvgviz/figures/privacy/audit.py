"""The attack's scores on simulated releases of both neighbours, against what is claimed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, styled
from mvgviz.release.audit import Audit
from mvgviz.validation import FloatArray

_BINS = 70


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreNumbers:
    """Densities of the scores over common bins, and the claimed ones, ``N(0, 1)`` and ``N(mu, 1)``."""

    centres: FloatArray
    absent: FloatArray
    present: FloatArray
    claimed_absent: FloatArray
    claimed_present: FloatArray
    threshold: float


def score_numbers(result: Audit, mu: float) -> ScoreNumbers:
    """Histograms of all trials; ``mu`` is what the claim says of this pair."""
    low = min(float(result.absent.min()), float(result.present.min()), -3.0)
    high = max(float(result.absent.max()), float(result.present.max()), mu + 3.0)
    edges = np.linspace(low, high, _BINS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    return ScoreNumbers(
        centres=centres, absent=np.histogram(result.absent, edges, density=True)[0],
        present=np.histogram(result.present, edges, density=True)[0], claimed_absent=_normal(centres),
        claimed_present=_normal(centres - mu), threshold=result.threshold,
    )


def plot_scores(numbers: ScoreNumbers, *, height: int = 300) -> go.Figure:
    """Steps for what was simulated, dotted curves for what is claimed, the attack's threshold."""
    figure = go.Figure()
    for values, claimed, colour, light, name in (
        (numbers.absent, numbers.claimed_absent, DATA, "rgba(127,127,127,0.45)", "absent"),
        (numbers.present, numbers.claimed_present, DIRECTIONAL, "rgba(43,140,214,0.45)", "present"),
    ):
        figure.add_scatter(x=numbers.centres, y=values, mode="lines", fill="tozeroy", fillcolor=light,
                           line={"color": colour, "width": 1, "shape": "hvh"}, name=f"{name}, simulated",
                           hoverinfo="name")
        figure.add_scatter(x=numbers.centres, y=claimed, mode="lines", name=f"{name}, claimed", hoverinfo="name",
                           line={"color": colour, "width": 2, "dash": "dot"})
    figure.add_vline(x=numbers.threshold, line={"color": EXACT, "width": 2},
                     annotation={"text": "accused →", "font": {"color": EXACT}})
    figure.update_xaxes(title="score of a release (claimed noise: 1)", zeroline=False)
    figure.update_yaxes(title="density", showticklabels=False, showgrid=False, rangemode="tozero")
    return styled(figure, height=height)


def _normal(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-x * x / 2) / math.sqrt(2 * math.pi))
