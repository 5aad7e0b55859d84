"""An experiment's rows on one axis: the paper's figure, ours as printed, ours exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from textwrap import wrap

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, EXACT, THEOREM1, styled
from mvgviz.paper import Cell, Report

_LOG_BELOW, _WIDTH = 0.02, 28
PRINTED, AS_PRINTED, EXACTLY = "in the paper", "as printed", "exact"


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A mean and half its interval, as shares of the way to a random guess; ``text``: as it was measured."""

    row: str
    series: str
    way: float
    half_width: float
    text: str


@dataclass(frozen=True, kw_only=True)
class RowNumbers:
    """``labels`` from top to bottom; ``trivial``: the trivial answer's place; ``log``: a log axis is needed."""

    labels: list[str]
    dots: list[Dot]
    trivial: float
    log: bool
    beyond: int

    def of(self, series: str) -> list[Dot]:
        """The dots of one series."""
        return [dot for dot in self.dots if dot.series == series]


def row_numbers(report: Report) -> RowNumbers:
    """Every row that has a figure, the paper's rows first."""
    clean, random = report.references.non_private, report.references.random_guess
    paper = report.experiment.random_guess.mean - report.experiment.non_private.mean
    dots = []
    for row in report.rows:
        if row.printed is not None:
            dots.append(Dot(row=row.label, series=PRINTED, way=report.printed_way(row.printed.mean),
                            half_width=(row.printed.half_width or 0.0) / paper, text=f"{row.printed.mean:.4g}"))
        for series, cell in ((AS_PRINTED, row.as_printed), (EXACTLY, row.exact)):
            if not math.isnan(cell.mean):
                dots.append(_dot(row.label, series, cell, clean, random))
    ways = [dot.way for dot in dots]
    return RowNumbers(labels=[row.label for row in report.rows], dots=dots,
                      trivial=report.way(report.references.trivial),
                      log=bool(ways) and 0 < min(ways) < _LOG_BELOW, beyond=sum(not row.printed for row in report.rows))


def _dot(label: str, series: str, cell: Cell, clean: float, random: float) -> Dot:
    half = 0.0 if math.isnan(cell.half_width) else cell.half_width / (random - clean)
    share = "" if cell.share is None else f", share {cell.share:.0%}"
    return Dot(row=label, series=series, way=(cell.mean - clean) / (random - clean), half_width=half,
               text=f"{cell.mean:.4g}{share}")


def plot_rows(numbers: RowNumbers) -> go.Figure:
    """Dots with intervals, one line a row; 0 is no privacy, 1 a random guess."""
    rows = {label: len(numbers.labels) - 1 - k for k, label in enumerate(numbers.labels)}
    figure = go.Figure()
    looks = ((PRINTED, DATA, "diamond", 0.28), (AS_PRINTED, THEOREM1, "circle", 0.0), (EXACTLY, EXACT, "square", -0.28))
    for series, colour, symbol, shift in looks:
        dots = numbers.of(series)
        figure.add_scatter(
            x=[dot.way for dot in dots], y=[rows[dot.row] + shift for dot in dots], mode="markers", name=series,
            marker={"color": colour, "symbol": symbol, "size": 9},
            error_x={"array": [dot.half_width for dot in dots],
                     "arrayminus": [min(dot.half_width, 0.95 * dot.way) if numbers.log else dot.half_width
                                    for dot in dots], "thickness": 2, "width": 0},
            customdata=[[dot.row, dot.text] for dot in dots],
            hovertemplate="%{customdata[0]}: %{x:.2g} of the way (error %{customdata[1]})<extra>" + series + "</extra>")
    for label, at, dash in (("random guess", 1.0, "dash"), ("trivial answer", numbers.trivial, "dot")):
        figure.add_scatter(x=[at, at], y=[-0.6, len(rows) - 0.4], mode="lines", name=label, hoverinfo="name",
                           line={"color": DATA, "width": 1.5, "dash": dash})
    if 0 < numbers.beyond < len(rows):
        figure.add_hline(y=numbers.beyond - 0.5, line={"color": DATA, "width": 1})
    figure.update_yaxes(tickvals=list(rows.values()), ticktext=["<br>".join(wrap(label, _WIDTH)) for label in rows],
                        range=[-0.6, len(rows) - 0.4], showgrid=True, zeroline=False)
    title = "0 no privacy, 1 random guess"
    if numbers.log:
        lowest = min(dot.way for dot in numbers.dots if dot.way > 0)
        figure.update_xaxes(title=f"{title} (log)", type="log", range=[math.log10(lowest) - 0.3, 0.35], dtick=1)
    else:
        most = max([1.0, numbers.trivial, *(dot.way + dot.half_width for dot in numbers.dots)])
        least = min([0.0, *(dot.way - dot.half_width for dot in numbers.dots)])
        figure.update_xaxes(title=title, range=[least - 0.03, most + 0.08], zeroline=True)
    return styled(figure, height=120 + 34 * len(rows))
