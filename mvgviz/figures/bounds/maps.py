"""The design space (the paper's Figure 3) and the map of Theorem 3: what the guarantees allow, which allows more."""

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.limits import precision_norm, ratio_limit
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, THEOREM1, THEOREM2, decades, stroke, styled, wash
from mvgviz.noise.bounds import theorem2_wins
from mvgviz.validation import FloatArray

_RANKS, _TOP, _PAPER_RANK, _ROOT2 = 1000, 2.2, 13, math.sqrt(2)


@dataclass(frozen=True, kw_only=True)
class Edge:
    """The designs whose product of norms is ``limit``; ``filled``: all below are allowed.

    A wider line shows where another lies on it.
    """

    name: str
    colour: str
    limit: float
    dash: str = "solid"
    filled: bool = True
    width: float = 3


@dataclass(frozen=True, kw_only=True)
class Place:
    """A design as a point: the norms of its precisions over rows and over columns."""

    name: str
    colour: str
    symbol: str
    size: float
    rows: float
    cols: float

    @property
    def product(self) -> float:
        return self.rows * self.cols


def place(design: NoiseDesign, *, name: str, colour: str, symbol: str = "circle", size: float = 13) -> Place:
    """Where a design stands."""
    return Place(name=name, colour=colour, symbol=symbol, size=size, rows=precision_norm(design.row_side),
                 cols=precision_norm(design.col_side))


def plot_design_space(edges: list[Edge], places: list[Place]) -> go.Figure:
    """Hyperbolas, straight on log axes; the window holds every edge and every point."""
    xs = [math.log10(design.rows) for design in places]
    ys = [math.log10(design.cols) for design in places]
    anchor = sum(ys) / len(ys)
    xs += [math.log10(edge.limit) - anchor for edge in edges]
    window = (min(xs) - 1.5, max(xs) + 1.5, min(ys) - 2, max(ys) + 2)
    figure = go.Figure()
    for edge in edges:
        if edge.filled:
            x, y = _powers(_below(edge.limit, window))
            figure.add_scatter(x=x, y=y, mode="lines", line={"width": 0}, fill="toself",
                               fillcolor=wash(edge.colour, 0.14), hoverinfo="skip", showlegend=False)
    for edge in edges:
        x, y = _powers(_crossing(edge.limit, window))
        figure.add_scatter(x=x, y=y, name=edge.name,
                           hovertemplate=f"{edge.name}: product {edge.limit:.4g}<extra></extra>",
                           **stroke(edge.colour, edge.width, edge.dash))
    for design in places:
        figure.add_scatter(x=[design.rows], y=[design.cols], mode="markers", name=design.name,
                           marker={"size": design.size, "color": design.colour, "symbol": design.symbol,
                                   "line": {"width": 2, "color": DATA}},
                           hovertemplate=f"{design.name}<br>rows %{{x:.4g}}, columns %{{y:.4g}}, product "
                                         f"{design.product:.4g}<extra></extra>")
    for axis, title, ends in ((figure.update_xaxes, "precision over rows, ‖σ(Σ⁻¹)‖₂", window[:2]),
                              (figure.update_yaxes, "precision over columns, ‖σ(Ψ⁻¹)‖₂", window[2:])):
        axis(type="log", title=title, range=list(ends), **decades(*ends))
    return styled(figure, height=360)


_Window = tuple[float, float, float, float]
_Points = list[tuple[float, float]]


def _powers(points: _Points) -> tuple[list[float], list[float]]:
    """Coordinates of points that are given in exponents."""
    return [10**x for x, _ in points], [10**y for _, y in points]


def _crossing(limit: float, window: _Window) -> _Points:
    """Where the falling line x + y = log10(limit) enters and leaves the window, in exponents."""
    left, right, bottom, top = window
    level = math.log10(limit)
    start = (left, level - left) if level - left <= top else (level - top, top)
    end = (right, level - right) if level - right >= bottom else (level - bottom, bottom)
    return [start, end]


def _below(limit: float, window: _Window) -> _Points:
    """The outline of what lies below the line, clockwise from the lower left corner."""
    left, right, bottom, top = window
    start, end = _crossing(limit, window)
    before = [(left, top)] if start[0] > left else []
    after = [(right, bottom)] if end[1] > bottom else []
    return [(left, bottom), *before, start, end, *after]


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
