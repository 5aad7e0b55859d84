"""The map of Theorem 3: where Theorem 2 allows more than Theorem 1."""

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.limits import ratio_limit
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, THEOREM1, THEOREM2, stroke, styled, wash
from mvgviz.noise.bounds import theorem2_wins
from mvgviz.validation import FloatArray

_RANKS = 1000
_TOP = 2.2
_PAPER_RANK = 13
_ROOT2 = math.sqrt(2)


@dataclass(frozen=True, kw_only=True, eq=False)
class WinnerMap:
    """The exact border ``s2/gamma`` over ranks, and where the scenario stands."""

    ranks: FloatArray
    border: FloatArray
    rank: int
    ratio: float
    theorem2_allows_more: bool

    @property
    def border_here(self) -> float:
        """The largest ratio at which Theorem 2 would still allow as much, at this rank."""
        return float(np.interp(self.rank, self.ranks, self.border))


def winner_map(rank: int, ratio: float) -> WinnerMap:
    """The border for ranks from 1 to 1000 (further if this rank is larger); ``ratio`` is s2/gamma."""
    ranks = np.unique([*np.geomspace(1, max(_RANKS, rank), 160).round(), _PAPER_RANK - 1, _PAPER_RANK, rank])
    return WinnerMap(ranks=ranks, border=ratio_limit(ranks), rank=rank, ratio=ratio,
                     theorem2_allows_more=theorem2_wins(rank, ratio))


def plot_winner_map(numbers: WinnerMap, *, psd: bool, second: str) -> go.Figure:
    """The exact region filled, the paper's two sufficient conditions as outlines inside it."""
    top, last = max(_TOP, 1.1 * numbers.ratio), float(numbers.ranks[-1])
    figure = go.Figure()
    border = np.minimum(numbers.border, 2.0)
    for edge, colour, winner in ((0, THEOREM2, second), (2, THEOREM1, "Theorem 1")):
        figure.add_scatter(x=[*numbers.ranks, last, 1], y=[*border, edge, edge], mode="lines", fill="toself",
                           line={"width": 0}, fillcolor=wash(colour, 0.2), name=f"{winner} allows more",
                           hoverinfo="skip", showlegend=False)
    below = numbers.border <= 2
    figure.add_scatter(x=numbers.ranks[below], y=numbers.border[below], name="exact border",
                       hovertemplate="r = %{x}: up to s₂/γ = %{y:.3f}<extra>exact border</extra>",
                       **stroke(THEOREM2, 3))
    for name, x, y, dash in (("paper: s₂ ≤ γ", [1, last], [1, 1], "dash"),
                             ("paper: r > 12, PSD" if psd else "paper: r > 12 (PSD only)",
                              [_PAPER_RANK, _PAPER_RANK, last], [0, _ROOT2, _ROOT2], "dot")):
        figure.add_scatter(x=x, y=y, name=name, hoverinfo="name", **stroke(DATA, 2, dash))
    figure.add_scatter(x=[numbers.rank], y=[numbers.ratio], mode="markers", name="this scenario", cliponaxis=False,
                       marker={"size": 13, "color": DIRECTIONAL, "line": {"width": 2, "color": DATA}},
                       hovertemplate="r = %{x}, s₂/γ = %{y:.4g}<extra>this scenario</extra>")
    words = ((math.log10(last) * 0.7, 0.5, f"{second} allows more"),
             (math.log10(last) * 0.2, 1.7, "Theorem 1 allows more"),
             (math.log10(last) / 2, 2.1, "no query is here (s₂ ≤ 2γ)"))
    figure.update_layout(
        xaxis={"type": "log", "title": "rank bound r: the shorter side of the answer", "range": [0, math.log10(last)],
               "dtick": 1},
        yaxis={"title": "sensitivity over largest norm, s₂/γ", "range": [0, top], "dtick": 0.5},
        shapes=[{"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 2, "y1": 2,
                 "line": {"color": DATA, "width": 1}}],
        annotations=[{"x": x, "y": y, "text": text, "showarrow": False} for x, y, text in words])
    return styled(figure, height=360)
