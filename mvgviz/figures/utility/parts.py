"""The error on what is needed, on the rest and on everything, as multiples of equal noise."""

import html
import math
from collections.abc import Sequence

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, log_axis, row_axis, styled, upright
from mvgviz.labels import JUDGED
from mvgviz.text import as_number, capitalised
from mvgviz.trials.parts import PartErrors

_LEAST, _MOST = 1e-3, 1e3  # multiples that are drawn


def plot_parts(found: Sequence[PartErrors]) -> go.Figure:
    """A row for each part; the upright line is equal noise, left of it is better."""
    figure = go.Figure()
    every = [part.ratio(outcome) for part in found for outcome in (part.ours, part.only) if outcome is not None]
    drawn = [min(max(value, _LEAST), _MOST) for value in (*every, 1.0) if value > 0 and math.isfinite(value)]
    for name, colour, symbol, outcomes in (
            ("this design", DIRECTIONAL, "circle", [part.ours for part in found]),
            ("only the needed released", DATA, "square-open", [part.only for part in found])):
        rows = [(part.ratio(outcome), place, outcome.mean)
                for place, (part, outcome) in enumerate(zip(found, outcomes, strict=True)) if outcome is not None]
        rows = [row for row in rows if row[0] > 0 and math.isfinite(row[0])]
        figure.add_scatter(
            x=[min(max(ratio, _LEAST), _MOST) for ratio, _, _ in rows], y=[place for _, place, _ in rows],
            customdata=[[ratio, mean] for ratio, _, mean in rows], mode="markers", name=name,
            marker={"color": colour, "size": 13, "symbol": symbol, "line": {"width": 2, "color": colour}},
            hovertemplate=f"{name}: %{{customdata[0]:.3g}} times equal noise (error %{{customdata[1]:.4g}})"
                          "<extra></extra>")
    figure.add_scatter(x=[None], y=[None], mode="lines", name="equal noise", line={"color": IID, "width": 2})
    figure.add_shape(upright(1.0, IID, "solid", width=2, layer="below"))
    figure.update_xaxes(title="error (times that of equal noise, log scale)",
                        **log_axis(min(drawn), max(drawn), room=0.08))
    figure.update_yaxes(**row_axis([
        f"<b>{capitalised(JUDGED[part.part])}</b><br>{as_number(part.ours.mean)} {html.escape(part.unit)}".rstrip()
        for part in found]))
    return styled(figure, height=110 + 60 * len(found), top=20)
