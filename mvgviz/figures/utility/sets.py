"""The error under each choice of directions: one row a set, the best on top."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.error_axis import (
    REFERENCE_DASHES,
    ErrorAxis,
    error_axis,
    mean_words,
    reference_items,
)
from mvgviz.figures.shared.theme import DATA, styled
from mvgviz.labels import REFERENCES
from mvgviz.text import as_number
from mvgviz.trials.favoured_sets import Favoured
from mvgviz.trials.run import Outcome
from mvgviz.trials.tasks import References


@dataclass(frozen=True, kw_only=True, eq=False)
class SetRow:
    """One choice: a set, or None for noise of one size."""

    choice: Favoured | None
    outcome: Outcome
    colour: str
    symbol: str


@dataclass(frozen=True, kw_only=True, eq=False)
class SetNumbers:
    """Rows with trials, the smallest mean first."""

    rows: list[SetRow]
    references: list[tuple[str, float]]
    axis: ErrorAxis


def set_numbers(rows: list[SetRow], references: References) -> SetNumbers:
    """Sorted rows and an axis that holds means, intervals and references."""
    known = sorted((row for row in rows if row.outcome.errors.size and math.isfinite(row.outcome.mean)),
                   key=lambda row: row.outcome.mean)
    items = reference_items(references)
    values = [value for _, value in items]
    for row in known:
        half = np.nan_to_num(row.outcome.half_width)
        values += [row.outcome.mean + half, row.outcome.mean]
    return SetNumbers(rows=known, references=items, axis=error_axis(values))


def plot_sets(numbers: SetNumbers, *, names: list[str], title: str) -> go.Figure:
    """A mark and its interval a row; ``names`` of the rows in their order."""
    axis, figure = numbers.axis, go.Figure()
    bottom = len(numbers.rows) - 0.4
    for kind, value in numbers.references:
        on_axis = axis.holds(value)
        below = "" if on_axis else ", left of the axis"
        figure.add_scatter(x=[value, value] if on_axis else [None, None], y=[-0.6, bottom], mode="lines",
                           name=f"{REFERENCES[kind]} ({as_number(value)}{below})", hoverinfo="name",
                           line={"color": DATA, "width": 2, "dash": REFERENCE_DASHES[kind]})
    for place, (row, name) in enumerate(zip(numbers.rows, names, strict=True)):
        mean, half = row.outcome.mean, row.outcome.half_width
        sure = math.isfinite(half)
        here = float(axis.value(axis.place(mean)))
        low, high = (float(axis.value(axis.place(mean + sign * half))) if sure else here for sign in (-1, 1))
        figure.add_scatter(
            x=[here], y=[place], mode="markers", showlegend=False, name=name, customdata=[[mean, half]],
            marker={"color": row.colour, "size": 11, "symbol": row.symbol},
            error_x={"type": "data", "array": [high - here], "arrayminus": [here - low], "color": row.colour,
                     "thickness": 2.5, "width": 6} if sure else None,
            hovertemplate=f"{name}: %{{customdata[0]:.4g}}{' ± %{customdata[1]:.2g}' if sure else ''}<extra></extra>")
    figure.update_xaxes(**axis.layout(title))
    labels = [f"<b>{name}</b><br>{mean_words(row.outcome)}" for row, name in zip(numbers.rows, names, strict=True)]
    figure.update_yaxes(tickvals=list(range(len(labels))), ticktext=labels, range=[bottom, -0.6], showgrid=False,
                        zeroline=False)
    return styled(figure, height=max(110 + 38 * len(names), 380), top=20)
