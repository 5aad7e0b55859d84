"""The error under each choice of directions, one row a set, and the mean error over epsilon."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.error_axis import ErrorAxis, error_axis, mean_words, reference_items, reference_look
from mvgviz.figures.shared.theme import DATA, row_axis, styled, upright, wash
from mvgviz.labels import REFERENCES
from mvgviz.text import as_number
from mvgviz.trials.favoured_sets import Favoured
from mvgviz.trials.run import Outcome
from mvgviz.trials.tasks import References
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class SetRow:
    """One choice: a set, or None for equal noise."""

    choice: Favoured | None
    outcome: Outcome
    colour: str
    symbol: str


def ranked_sets(rows: Iterable[SetRow]) -> list[SetRow]:
    """Rows with trials, the smallest mean first."""
    known = [row for row in rows if row.outcome.errors.size and math.isfinite(row.outcome.mean)]
    return sorted(known, key=lambda row: row.outcome.mean)


def plot_sets(rows: Sequence[SetRow], references: References, *, names: Sequence[str], title: str) -> go.Figure:
    """A mark and its interval a row; ``names`` of the rows in their order."""
    items = reference_items(references)
    ends = [end for row in rows for end in (row.outcome.mean + np.nan_to_num(row.outcome.half_width), row.outcome.mean)]
    axis, figure = error_axis([*(value for _, value in items), *ends]), go.Figure()
    for kind, value in items:
        on_axis = axis.holds(value)
        name = f"{REFERENCES[kind]} ({as_number(value)}{'' if on_axis else ', left of the axis'})"
        figure.add_scatter(x=[value, value] if on_axis else [None, None], y=[-0.6, len(rows) - 0.4],
                           **reference_look(kind, name))
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        mean, half = row.outcome.mean, row.outcome.half_width
        sure = math.isfinite(half)
        figure.add_scatter(
            x=[float(axis.cut(mean))], y=[place], mode="markers", showlegend=False, name=name,
            customdata=[[mean, half]], marker={"color": row.colour, "size": 11, "symbol": row.symbol},
            error_x=axis.whisker(mean, mean - half, mean + half, colour=row.colour, thickness=2.5,
                                 width=6) if sure else None,
            hovertemplate=f"{name}: %{{customdata[0]:.4g}}{' ± %{customdata[1]:.2g}' if sure else ''}<extra></extra>")
    figure.update_xaxes(**axis.layout(title))
    figure.update_yaxes(**row_axis([f"<b>{name}</b><br>{mean_words(row.outcome)}"
                                    for row, name in zip(rows, names, strict=True)]))
    return styled(figure, height=max(110 + 38 * len(names), 380), top=20)


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorCurve:
    """One way to add noise. ``symbol``: of its points; ``band``: whether the interval is drawn as an area."""

    name: str
    colour: str
    symbol: str
    band: bool
    epsilons: FloatArray = field(repr=False)
    means: FloatArray = field(repr=False)
    half_widths: FloatArray = field(repr=False)


def error_curve(points: Sequence[tuple[float, Outcome]], *, name: str, colour: str, symbol: str = "circle",
                band: bool = True) -> ErrorCurve:
    """From the outcomes at some epsilons; those without a trial, or that overflow, are left out."""
    known = [(epsilon, outcome) for epsilon, outcome in sorted(points, key=lambda point: point[0])
             if outcome.errors.size and math.isfinite(outcome.mean)]
    return ErrorCurve(name=name, colour=colour, symbol=symbol, band=band,
                      epsilons=np.array([epsilon for epsilon, _ in known]),
                      means=np.array([outcome.mean for _, outcome in known]),
                      half_widths=np.array([outcome.half_width for _, outcome in known]))


def plot_sweep(curves: Sequence[ErrorCurve], references: References, *, own: float, span: tuple[float, float],
               title: str, legend: bool = True) -> go.Figure:
    """Lines with bands, references named in the legend, a dotted line at ``own``, the scenario's epsilon.

    ``span``: the epsilons between which the picture lies.
    """
    items = reference_items(references)
    axis = error_axis([*(value for _, value in items), *(float(mean) for curve in curves for mean in curve.means)])
    figure = go.Figure()
    for kind, value in reversed(items):
        on_axis = axis.holds(value)
        name = f"{REFERENCES[kind]} ({as_number(value)}{'' if on_axis else ', below the axis'})"
        figure.add_scatter(x=list(span), y=[value, value] if on_axis else [None, None], **reference_look(kind, name))
    for curve in curves:
        _add_curve(figure, axis, curve)
    for curve in curves:
        here = np.flatnonzero(curve.epsilons == own)
        if here.size:
            figure.add_scatter(x=[own], y=[float(curve.means[here[0]])], mode="markers", showlegend=False,
                               name=f"{curve.name}, here", hoverinfo="skip", cliponaxis=False,
                               marker={"color": curve.colour, "size": 15, "symbol": f"{curve.symbol}-open",
                                       "line": {"width": 2}})
    figure.add_shape(upright(own, DATA, "dot", width=1, layer="below"))
    edge = np.log10(span) + np.array([-0.04, 0.04]) * (math.log10(span[1] / span[0]) or 1.0)
    ticks = [value for value in (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 100, 1000)
             if 10 ** edge[0] <= value <= 10 ** edge[1]]
    figure.update_layout(
        xaxis={"type": "log", "title": "ε (log scale); the ring is this scenario", "range": edge.tolist(),
               "tickvals": ticks, "ticktext": [f"{value:g}" for value in ticks]},
        yaxis=axis.layout(title, upright=True))
    return styled(figure, height=380, legend=legend, top=20)


def _add_curve(figure: go.Figure, axis: ErrorAxis, curve: ErrorCurve) -> None:
    if not curve.epsilons.size:
        return
    half = np.nan_to_num(curve.half_widths)
    if curve.band:
        low, high = (axis.cut(curve.means + sign * half) for sign in (-1, 1))
        figure.add_scatter(x=np.concatenate([curve.epsilons, curve.epsilons[::-1]]), showlegend=False, mode="lines",
                           y=np.concatenate([high, low[::-1]]), fill="toself", hoverinfo="skip",
                           fillcolor=wash(curve.colour, 0.25), line={"width": 0}, name=f"{curve.name}, interval")
    figure.add_scatter(
        x=curve.epsilons, y=axis.cut(curve.means), mode="lines+markers", name=curve.name,
        line={"color": curve.colour, "width": 2.5 if curve.band else 1.5},
        marker={"size": 7, "symbol": curve.symbol, "color": curve.colour},
        customdata=np.column_stack([curve.means, curve.half_widths]),
        hovertemplate=f"{curve.name}<br>ε = %{{x:g}}: %{{customdata[0]:.4g}} ± %{{customdata[1]:.2g}}<extra></extra>")
