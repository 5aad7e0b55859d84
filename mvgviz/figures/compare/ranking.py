"""All mechanisms on one task, the best on top: mean errors with 95 % intervals and the three reference lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.error_axis import REFERENCE_DASHES, ErrorAxis, error_axis
from mvgviz.figures.shared.theme import DATA, styled
from mvgviz.labels import REFERENCES
from mvgviz.text import as_number
from mvgviz.trials.run import Outcome, Results

_SAME = 1e-9
_TWINS = {"iid": ("gaussian-analytic", "mvg-exact", "mvg-theorem1", "mvg-theorem2", "mvg-theorem2-any"),
          "mvg-theorem2-any": ("mvg-theorem2",)}


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One line of a ranked chart. ``label``: harmless already; ``ring``: the design as it stands; ``faint``: less sure.

    ``said``: what the pointer reads besides the error.
    """

    label: str
    mean: float
    half_width: float
    colour: str
    symbol: str
    said: str
    ring: bool = False
    faint: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranking:
    """``outcomes``: those that apply, the best first. ``twins``: by key, whose very noise a mechanism has here.

    ``unsuitable``: those that do not apply.
    """

    results: Results
    outcomes: tuple[Outcome, ...]
    twins: dict[str, str]
    unsuitable: tuple[Outcome, ...]


def ranking(results: Results) -> Ranking:
    """Mechanisms with trials, ranked; one that draws the same noise as another is named, not drawn twice."""
    by_key = {one.mechanism.key: one for one in results.outcomes}
    twins = {}
    for key, others in _TWINS.items():
        for other in others:
            if key in by_key and other in by_key and _same(by_key[key], by_key[other]):
                twins[key] = other
                break
    shown = tuple(one for one in results.ranked() if one.mechanism.key not in twins and math.isfinite(one.mean))
    return Ranking(results=results, outcomes=shown, twins=twins,
                   unsuitable=tuple(one for one in results.outcomes if one.reason is not None))


def _same(one: Outcome, other: Outcome) -> bool:
    n = min(one.errors.size, other.errors.size)
    return n > 0 and bool(np.allclose(one.errors[:n], other.errors[:n], rtol=_SAME, atol=0))


def plot_ranked(marks: Sequence[Mark], references: Sequence[tuple[str, float]], *, title: str) -> go.Figure:
    """A dot and a whisker a line; the means stand beside them."""
    ends = [end for mark in marks for end in _ends(mark)]
    axis = error_axis([*ends, *(mark.mean for mark in marks), *(value for _, value in references)], room=0.07)
    figure = go.Figure()
    _add_references(figure, references, axis, len(marks))
    if any(mark.ring for mark in marks):
        figure.add_scatter(x=[axis.value(axis.place(mark.mean)) for mark in marks if mark.ring],
                           y=[at for at, mark in enumerate(marks) if mark.ring], mode="markers", name="this design",
                           showlegend=False, hoverinfo="skip",
                           marker={"symbol": "circle-open", "size": 20, "color": DATA, "line": {"width": 2}})
    for at, mark in enumerate(marks):
        figure.add_scatter(**_dot(mark, at, axis))
    beside = [_beside(mark, axis) for mark in marks]
    figure.add_scatter(x=[x for x, _, _ in beside], y=list(range(len(marks))), mode="text", cliponaxis=False,
                       text=[text for _, text, _ in beside], textposition=[side for _, _, side in beside],
                       textfont={"size": 11}, showlegend=False, hoverinfo="skip")
    labels = [f"<b>{mark.label}</b>" if mark.ring else mark.label for mark in marks]
    figure.update_xaxes(**axis.layout(title))
    figure.update_yaxes(tickvals=list(range(len(marks))), ticktext=labels, range=[len(marks) - 0.4, -0.6],
                        showgrid=False, zeroline=False, tickfont={"size": 11})
    broken = sum("<br>" in mark.label for mark in marks)
    row = 25 if not broken else 31 if broken <= len(marks) / 2 else 37
    return styled(figure, height=max(95 + row * len(marks), 200), top=35)


def _dot(mark: Mark, at: int, axis: ErrorAxis) -> dict[str, object]:
    mean = float(axis.value(axis.place(mark.mean)))
    low, high = (float(axis.value(axis.place(end))) for end in _ends(mark))
    sure = math.isfinite(mark.half_width)
    error = f"{as_number(mark.mean)} ± {as_number(mark.half_width, 2)}" if sure else as_number(mark.mean)
    return {
        "x": [mean], "y": [at], "mode": "markers", "showlegend": False, "opacity": 0.6 if mark.faint else 1.0,
        "marker": {"color": mark.colour, "symbol": mark.symbol, "size": 10, "line": {"width": 2, "color": mark.colour}},
        "cliponaxis": False,
        "error_x": {"type": "data", "array": [high - mean], "arrayminus": [mean - low], "color": mark.colour,
                    "thickness": 2, "width": 5},
        "name": mark.label.replace("<br>", " "),
        "hovertemplate": f"<b>{mark.label.replace('<br>', ' ')}</b><br>error {error}<br>{mark.said}<extra></extra>",
    }


def _beside(mark: Mark, axis: ErrorAxis) -> tuple[float, str, str]:
    """Where the mean is written: right of the whisker, or left of it near the right edge."""
    low, high = _ends(mark)
    gap = " " * (5 if mark.ring else 3)
    if axis.place(high) > axis.low + 0.8 * (axis.high - axis.low):
        return float(axis.value(axis.place(low))), f"{as_number(mark.mean)}{gap}", "middle left"
    return float(axis.value(axis.place(high))), f"{gap}{as_number(mark.mean)}", "middle right"


def _ends(mark: Mark) -> tuple[float, float]:
    half = mark.half_width if math.isfinite(mark.half_width) else 0.0
    low = mark.mean - half
    return (low if low > 0 or mark.mean <= 0 else mark.mean / 10), mark.mean + half


def _add_references(figure: go.Figure, references: Sequence[tuple[str, float]], axis: ErrorAxis, rows: int) -> None:
    for kind, value in references:
        inside = axis.holds(value)
        figure.add_scatter(
            x=[value, value] if inside else [None], y=[-0.6, rows - 0.4] if inside else [None], mode="lines",
            line={"color": DATA, "width": 2, "dash": REFERENCE_DASHES[kind]},
            name=f"{REFERENCES[kind]}: {as_number(value)}{'' if inside else ' (off the scale)'}",
            hoverinfo="name")

