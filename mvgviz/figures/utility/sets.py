"""The error under each choice of directions: one row a set, the best on top."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.axes import row_axis
from mvgviz.figures.shared.error_axis import (
    error_axis,
    mean_words,
    reference_items,
    reference_look,
)
from mvgviz.figures.shared.theme import styled
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
