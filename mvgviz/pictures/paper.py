"""The paper's figures beside ours: error over epsilon (Figure 4), and an experiment's rows on one axis."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from mvgviz.paper import EPSILONS, Curve, Report
from mvgviz.paper.runs import FIGURE4_SHARE
from mvgviz.paper.words import COLUMNS, way_text
from mvgviz.pictures import theme
from mvgviz.pictures.theme import Picture
from mvgviz.pictures.utility import error_curve, plot_sweep
from mvgviz.text import as_number
from mvgviz.trials.results import Outcome
from mvgviz.trials.tasks import References

_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
FARTHEST = 2.2
"""Of the way to a random guess: what is further is drawn there, as an arrow with its number."""
PRINTED, AS_PRINTED, EXACTLY, WAY = COLUMNS


def measured(curve: Curve) -> list[tuple[float, Outcome]]:
    """Those epsilons that have trials, with their outcomes."""
    return [(epsilon, outcome) for epsilon, outcome in zip(EPSILONS, curve.outcomes, strict=True)
            if outcome.errors.size]


def directions_picture(curves: Sequence[Curve], references: References, *, symbol: str) -> Picture:
    """Error over epsilon (Figure 4): a line for each set, as far as it is measured; the theorem's in its own colour."""
    sets, ends = list(dict.fromkeys(curve.name for curve in curves)), (EPSILONS[0], EPSILONS[-1])
    drawn = [error_curve(f"{curve.name}: {'exact' if curve.exact else 'Theorem 1'}",
                         theme.EXACT if curve.exact else theme.THEOREM1, dict(measured(curve)),
                         _SYMBOLS[sets.index(curve.name) % 4], _DASHES[sets.index(curve.name) % 4]) for curve in curves]
    figure = plot_sweep(drawn, dict.fromkeys(ends, references), own=None, span=ends, title=f"error {symbol}")
    return Picture(theme.styled(figure, height=420), _directions_words(curves), (
        f"Priority columns get {100 * FIGURE4_SHARE:.0f} % of the budget, the middle of the paper's shares. The paper "
        "draws Theorem 1 only, without figures."))


def _directions_words(curves: Sequence[Curve]) -> str:
    ends = {curve.name: measured(curve)[-1] for curve in curves if curve.exact and measured(curve)}
    flat = [[outcome.mean for _, outcome in measured(curve)] for curve in curves if not curve.exact and measured(curve)]
    if not ends or not flat:
        return "The curves appear as their trials come in."
    best, (at, outcome) = min(ends.items(), key=lambda end: end[1][1].mean)
    spread = max(max(means) / min(means) for means in flat)
    move = "do not move" if spread < 1.01 else f"move by at most {100 * (spread - 1):.0f} %"
    choice = "equal noise" if best == "none" else f"priority for {best}"
    return (f"**Exact noise:** at ε = {at:g} {choice} is best (error {as_number(outcome.mean, 2)}). Under Theorem 1 "
            f"as printed the lines {move} between ε = 0.1 and 100.")


class Dot(NamedTuple):
    """A mean and half its theme.interval, as shares of the way to a random guess."""

    row: str
    series: str
    way: float
    half_width: float


def row_dots(report: Report) -> list[Dot]:
    """Return every row that has a figure, the paper's rows first."""
    ours = report.references.random_guess - report.references.non_private
    paper = report.experiment.random_guess.mean - report.experiment.non_private.mean
    dots = []
    for row in report.rows:
        if row.printed is not None:
            dots.append(Dot(row.label, PRINTED, report.printed_way(row.printed.mean),
                            (row.printed.half_width or 0.0) / paper))
        dots += [Dot(row.label, series, report.way(cell.mean), float(np.nan_to_num(cell.half_width)) / ours)
                 for series, cell in ((AS_PRINTED, row.as_printed), (EXACTLY, row.exact)) if not math.isnan(cell.mean)]
    return dots


def rows_picture(report: Report, dots: list[Dot]) -> Picture:
    """An experiment's rows between no privacy and a random guess, with intervals; what is far beyond is an arrow."""
    rows = {row.label: k for k, row in enumerate(report.rows)}
    trivial = report.way(report.references.trivial)
    log = bool(dots) and 0 < min(dot.way for dot in dots) < 0.02
    figure = go.Figure()
    for series, colour, symbol, shift in ((PRINTED, theme.DATA, "diamond", -0.28),
                                          (AS_PRINTED, theme.THEOREM1, "circle", 0.0),
                                          (EXACTLY, theme.EXACT, "square", 0.28)):
        own = [dot for dot in dots if dot.series == series]
        far = [dot.way > FARTHEST for dot in own]
        halves = [0.0 if beyond else dot.half_width for dot, beyond in zip(own, far, strict=True)]
        theme.add_dots(figure, [min(dot.way, FARTHEST) for dot in own], [rows[dot.row] + shift for dot in own], series,
                 colour, 9, ["triangle-right" if beyond else symbol for beyond in far], mode="markers+text",
                 text=[way_text(dot.way) if beyond else "" for dot, beyond in zip(own, far, strict=True)],
                 textposition="middle left", textfont={"size": 11},
                 error_x=theme.interval([dot.way for dot in own], halves, thickness=2, log=log),
                 customdata=[[dot.row, way_text(dot.way)] for dot in own],
                 hover=f"%{{customdata[0]}}: %{{customdata[1]}}<extra>{series}</extra>")
    for label, at, dash in (("random guess", 1.0, "dash"), ("no-data baseline", trivial, "dot")):
        theme.add_line(figure, [at, at], [-0.6, len(rows) - 0.4], label, theme.DATA, 1.5, dash)
    printed = sum(row.printed is not None for row in report.rows)
    if 0 < printed < len(rows):
        figure.add_hline(y=printed - 0.5, line={"color": theme.DATA, "width": 1})
    figure.update_yaxes(**theme.row_axis([theme.broken(label, 28) for label in rows]))
    figure.update_xaxes(tickformat="~%")
    if log:
        lowest = min(dot.way for dot in dots if dot.way > 0)
        figure.update_xaxes(title=f"{WAY} (log)", type="log", range=[math.log10(lowest) - 0.3, 0.35], dtick=1)
    else:
        most = min(max([1.0, trivial, *(dot.way + dot.half_width for dot in dots)]), FARTHEST)
        least = min([0.0, *(dot.way - dot.half_width for dot in dots)])
        figure.update_xaxes(title=WAY, range=[least - 0.03, most + 0.08], zeroline=True)
    return Picture(theme.styled(figure, height=120 + 34 * len(rows)), rows_words(report, dots), """\
The paper's errors and ours have different scales, so each is placed on its own between no privacy and a random guess. \
Lines are 95 % intervals of the mean. Below the line: rows that are not in the paper.""")


def rows_words(report: Report, dots: list[Dot]) -> str:
    """Return the takeaway of the chart, from the rows of the paper that have all three figures."""
    ways = {(dot.row, dot.series): way_text(dot.way).replace(" ", "\N{NO-BREAK SPACE}") for dot in dots}
    for row in report.rows:
        if all((row.label, series) in ways for series in (PRINTED, AS_PRINTED, EXACTLY)):
            return (f"**{row.label}:** {ways[row.label, PRINTED]} of the way to a random guess in the paper, "
                    f"{ways[row.label, AS_PRINTED]} by its printed bound, {ways[row.label, EXACTLY]} by exact noise.")
    return "The paper's own figures, placed between no privacy and a random guess."

