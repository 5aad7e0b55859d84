"""An experiment's rows on one axis: the paper's figure, ours as printed, ours exact."""

import math
from dataclasses import dataclass
from textwrap import wrap

import plotly.graph_objects as go

from mvgviz.figures.shared.axes import interval
from mvgviz.figures.shared.theme import DATA, EXACT, THEOREM1, styled
from mvgviz.paper import Report

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


def row_dots(report: Report) -> list[Dot]:
    """Every row that has a figure, the paper's rows first."""
    ours = report.references.random_guess - report.references.non_private
    paper = report.experiment.random_guess.mean - report.experiment.non_private.mean
    dots = []
    for row in report.rows:
        if row.printed is not None:
            dots.append(Dot(row=row.label, series=PRINTED, way=report.printed_way(row.printed.mean),
                            half_width=(row.printed.half_width or 0.0) / paper, text=f"{row.printed.mean:.4g}"))
        for series, cell in ((AS_PRINTED, row.as_printed), (EXACTLY, row.exact)):
            if not math.isnan(cell.mean):
                half = 0.0 if math.isnan(cell.half_width) else cell.half_width / ours
                share = "" if cell.share is None else f", share {cell.share:.0%}"
                dots.append(Dot(row=row.label, series=series, way=report.way(cell.mean), half_width=half,
                                text=f"{cell.mean:.4g}{share}"))
    return dots


def plot_rows(report: Report, dots: list[Dot]) -> go.Figure:
    """Dots with intervals, one line a row; 0 is no privacy, 1 a random guess. A log axis where dots come close to 0."""
    rows = {row.label: len(report.rows) - 1 - k for k, row in enumerate(report.rows)}
    trivial = report.way(report.references.trivial)
    log = bool(dots) and 0 < min(dot.way for dot in dots) < _LOG_BELOW
    figure = go.Figure()
    looks = ((PRINTED, DATA, "diamond", 0.28), (AS_PRINTED, THEOREM1, "circle", 0.0), (EXACTLY, EXACT, "square", -0.28))
    for series, colour, symbol, shift in looks:
        own = [dot for dot in dots if dot.series == series]
        figure.add_scatter(
            x=[dot.way for dot in own], y=[rows[dot.row] + shift for dot in own], mode="markers", name=series,
            marker={"color": colour, "symbol": symbol, "size": 9},
            error_x=interval([dot.way for dot in own], [dot.half_width for dot in own], thickness=2, log=log),
            customdata=[[dot.row, dot.text] for dot in own],
            hovertemplate="%{customdata[0]}: %{x:.2g} of the way (error %{customdata[1]})<extra>" + series + "</extra>")
    for label, at, dash in (("random guess", 1.0, "dash"), ("trivial answer", trivial, "dot")):
        figure.add_scatter(x=[at, at], y=[-0.6, len(rows) - 0.4], mode="lines", name=label, hoverinfo="name",
                           line={"color": DATA, "width": 1.5, "dash": dash})
    beyond = sum(not row.printed for row in report.rows)
    if 0 < beyond < len(rows):
        figure.add_hline(y=beyond - 0.5, line={"color": DATA, "width": 1})
    figure.update_yaxes(tickvals=list(rows.values()), ticktext=["<br>".join(wrap(label, _WIDTH)) for label in rows],
                        range=[-0.6, len(rows) - 0.4], showgrid=True, zeroline=False)
    title = "0 no privacy, 1 random guess"
    if log:
        lowest = min(dot.way for dot in dots if dot.way > 0)
        figure.update_xaxes(title=f"{title} (log)", type="log", range=[math.log10(lowest) - 0.3, 0.35], dtick=1)
    else:
        most = max([1.0, trivial, *(dot.way + dot.half_width for dot in dots)])
        least = min([0.0, *(dot.way - dot.half_width for dot in dots)])
        figure.update_xaxes(title=title, range=[least - 0.03, most + 0.08], zeroline=True)
    return styled(figure, height=120 + 34 * len(rows))
