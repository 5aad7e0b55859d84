"""How long the records are, against the bound that they are pulled into."""

from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, styled, upright
from mvgviz.query.dataset import Dataset
from mvgviz.query.record_bound import RecordBound
from mvgviz.validation import FloatArray

_BINS = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class LengthNumbers:
    """Counts of records over equal bins from 0 to the ``longest`` record that the ranges allow (or the radius)."""

    edges: FloatArray
    counts: FloatArray = field(repr=False)
    radius: float
    longest: float
    pulled: int


def length_numbers(table: Dataset, bound: RecordBound) -> LengthNumbers:
    """The lengths of a table's records in the bound's coordinates; no bin lies on both sides of the radius."""
    ellipse = bound.ellipse(table.n_features)
    longest, radius = ellipse.longest(table), bound.radius
    inside = min(max(round(_BINS * radius / max(longest, radius)), 1), _BINS)
    edges = np.linspace(0, radius, inside + 1)
    if longest > radius:
        edges = np.append(edges, np.linspace(radius, longest, max(_BINS - inside, 1) + 1)[1:])
    counts, _ = np.histogram(np.minimum(ellipse.lengths(table.matrix), edges[-1]), bins=edges)
    return LengthNumbers(edges=edges, counts=counts.astype(np.float64), radius=radius, longest=longest,
                         pulled=bound.count_outside(table))


def plot_lengths(numbers: LengthNumbers, *, joined: bool = False) -> go.Figure:
    """Bars of records, those that are pulled in grey, and a line at the bound; ``joined``: with their constant."""
    middles, widths = (numbers.edges[1:] + numbers.edges[:-1]) / 2, np.diff(numbers.edges)
    inside = middles <= numbers.radius
    figure = go.Figure()
    for part, name, colour in ((inside, "inside the ellipse", DIRECTIONAL), (~inside, "pulled in", DATA)):
        figure.add_bar(x=middles[part], y=numbers.counts[part], width=widths[part], name=name,
                       marker={"color": colour, "line": {"width": 0}},
                       hovertemplate="%{y:,} records of length about %{x:.3g}<extra></extra>")
    figure.add_shape(**upright(numbers.radius, DIRECTIONAL, "dash", width=2.5))
    what = "length of a record, constant included" if joined else "length of a record (an evenly spread one: 1)"
    figure.update_xaxes(title=what, range=[0, float(numbers.edges[-1])])
    figure.update_yaxes(title="records", rangemode="tozero")
    figure.update_layout(bargap=0, barmode="overlay")
    return styled(figure, height=280)
