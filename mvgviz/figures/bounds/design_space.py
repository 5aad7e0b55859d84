"""The design space (the paper's Figure 3): what each guarantee allows the two norms to be."""

import math
from dataclasses import dataclass

import plotly.graph_objects as go

from mvgviz.design.limits import precision_norm
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.shared.theme import DATA, decades, stroke, styled, wash


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
