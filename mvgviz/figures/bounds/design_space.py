"""The design space (the paper's Figure 3): what each guarantee allows the two norms to be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import plotly.graph_objects as go

from mvgviz.design.limits import precision_norm
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.bounds.axes import decades, wash
from mvgviz.figures.shared.theme import DATA, styled


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


def plot_design_space(edges: list[Edge], places: list[Place], *, height: int = 360) -> go.Figure:
    """Hyperbolas, straight on log axes; the window holds every edge and every point."""
    xs = [math.log10(one.rows) for one in places]
    ys = [math.log10(one.cols) for one in places]
    anchor = sum(ys) / len(ys)
    xs += [math.log10(edge.limit) - anchor for edge in edges]
    left, right = min(xs) - 1.5, max(xs) + 1.5
    bottom, top = min(ys) - 2, max(ys) + 2
    figure = go.Figure()
    window = (left, right, bottom, top)
    for edge in edges:
        if edge.filled:
            region = [(left, bottom), *_under(_crossing(edge.limit, window), window)]
            figure.add_scatter(x=[10**x for x, _ in region], y=[10**y for _, y in region], mode="lines",
                               line={"width": 0}, fill="toself", fillcolor=wash(edge.colour, 0.14), hoverinfo="skip",
                               showlegend=False)
    for edge in edges:
        line = _crossing(edge.limit, window)
        figure.add_scatter(x=[10**x for x, _ in line], y=[10**y for _, y in line], mode="lines", name=edge.name,
                           line={"color": edge.colour, "width": edge.width, "dash": edge.dash},
                           hovertemplate=f"{edge.name}: product {edge.limit:.4g}<extra></extra>")
    for one in places:
        figure.add_scatter(x=[one.rows], y=[one.cols], mode="markers", name=one.name,
                           marker={"size": one.size, "color": one.colour, "symbol": one.symbol,
                                   "line": {"width": 2, "color": DATA}},
                           hovertemplate=f"{one.name}<br>rows %{{x:.4g}}, columns %{{y:.4g}}, product "
                                         f"{one.product:.4g}<extra></extra>")
    figure.update_layout(
        xaxis={"type": "log", "title": "precision over rows, ‖σ(Σ⁻¹)‖₂", "range": [left, right],
               **decades(left, right)},
        yaxis={"type": "log", "title": "precision over columns, ‖σ(Ψ⁻¹)‖₂", "range": [bottom, top],
               **decades(bottom, top)})
    return styled(figure, height=height)


_Window = tuple[float, float, float, float]
_Points = list[tuple[float, float]]


def _crossing(limit: float, window: _Window) -> _Points:
    """Where the falling line x + y = log10(limit) enters and leaves the window, in exponents."""
    left, right, bottom, top = window
    level = math.log10(limit)
    start = (left, level - left) if level - left <= top else (level - top, top)
    end = (right, level - right) if level - right >= bottom else (level - bottom, bottom)
    return [start, end]


def _under(line: _Points, window: _Window) -> _Points:
    """The rest of the outline of what lies below the line, clockwise from the lower left corner."""
    left, right, bottom, top = window
    start, end = line
    before = [(left, top)] if start[0] > left else []
    after = [(right, bottom)] if end[1] > bottom else []
    return [*before, start, end, *after]
