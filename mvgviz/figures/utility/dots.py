"""Trials as quantile dots: each dot a fixed share of them, stacked where they fall; mean, interval, three lines."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.error_axis import REFERENCE_DASHES, ErrorAxis, error_axis, mean_words, reference_items
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, styled, upright
from mvgviz.labels import REFERENCES
from mvgviz.text import as_number
from mvgviz.trials.run import Outcome, Results
from mvgviz.validation import FloatArray

_COUNTS = (100, 50, 20)
_BINS = 64
_TALLEST = 11
_HEIGHT = 385
LANES = {"mvg": ("directional", DIRECTIONAL), "iid": ("equal noise", IID)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Lane:
    """One mechanism. ``dots``: quantiles of its errors; ``places``: where they stand; ``levels``: how high, from 0."""

    outcome: Outcome
    dots: FloatArray = field(repr=False)
    places: FloatArray = field(repr=False)
    levels: FloatArray = field(repr=False)

    @property
    def key(self) -> str:
        return self.outcome.mechanism.key


@dataclass(frozen=True, kw_only=True, eq=False)
class DotNumbers:
    """``dots``: how many each lane has, the same for both (0 before the first trial)."""

    lanes: tuple[Lane, ...]
    axis: ErrorAxis
    references: list[tuple[str, float]]
    dots: int

    @property
    def tallest(self) -> int:
        """Dots in the highest stack."""
        return int(max((lane.levels.max(initial=-1) for lane in self.lanes), default=-1)) + 1


def quantile_dots(errors: FloatArray, count: int) -> FloatArray:
    """``count`` quantiles in the middle of equal shares; with one for each trial, the sorted errors themselves."""
    return np.asarray(np.quantile(errors, (np.arange(count) + 0.5) / count, method="hazen"))


def dot_numbers(results: Results) -> DotNumbers:
    """100, 50 or 20 dots: as many as there are trials for and as stack low enough to be seen."""
    outcomes = [outcome for outcome in results.outcomes if np.isfinite(outcome.errors).all()]
    tried = [outcome for outcome in outcomes if outcome.errors.size]
    references = reference_items(results.references)
    lines = [value for _, value in references]
    axis = error_axis([*lines, *(error for outcome in tried for error in outcome.errors.tolist())],
                      typical=[*lines, *(float(np.median(outcome.errors)) for outcome in tried)])
    trials = min((outcome.errors.size for outcome in tried), default=0)
    counts = sorted({k for k in (*_COUNTS, trials) if 0 < k <= min(trials, _COUNTS[0])}, reverse=True)
    lanes: tuple[Lane, ...] = ()
    dots = 0
    for dots in counts:
        lanes = tuple(_lane(outcome, axis, dots) for outcome in tried)
        if max(lane.levels.max() for lane in lanes) < _TALLEST or dots <= _COUNTS[-1]:
            break
    return DotNumbers(lanes=lanes, axis=axis, references=references, dots=dots)


def _lane(outcome: Outcome, axis: ErrorAxis, count: int) -> Lane:
    dots = quantile_dots(outcome.errors, count)
    width = (axis.high - axis.low) / _BINS
    bins = np.minimum((axis.place(dots) - axis.low) // width, _BINS - 1)
    levels = np.arange(count) - np.searchsorted(bins, bins)  # dots are sorted, so stacks are runs
    return Lane(outcome=outcome, dots=dots, places=axis.low + (bins + 0.5) * width, levels=levels.astype(np.float64))


def plot_dots(numbers: DotNumbers, *, title: str) -> go.Figure:
    """Two lanes; under each its mean (diamond) and interval; each line's label on a level of its own."""
    axis = numbers.axis
    per_unit = (_HEIGHT - 140) / 2.25  # pixels
    spacing = min(0.8 / max(numbers.tallest, 1), 12 / per_unit)
    baselines = dict(zip(LANES, (1.0, 0.0), strict=True))
    lines = [_reference(axis, kind, value, above=6 + 19 * level, left=left)
             for level, (kind, value, left) in enumerate(_stacked(numbers))]
    ticks = [f"<b>{LANES[lane.key][0]}</b><br>{mean_words(lane.outcome).replace(' ± ', '<br>± ')}"
             for lane in numbers.lanes]
    figure = go.Figure(layout={
        "shapes": [shape for shapes, _ in lines for shape in shapes], "annotations": [label for _, label in lines],
        "xaxis": axis.layout(title),
        "yaxis": {"range": [-0.2, 2.05], "showgrid": False, "zeroline": False, "ticktext": ticks,
                  "tickvals": [baselines[lane.key] + 0.25 for lane in numbers.lanes]}})
    for lane in numbers.lanes:
        name, colour = LANES[lane.key]
        figure.add_scatter(
            x=axis.value(lane.places), y=baselines[lane.key] + 0.06 + (lane.levels + 0.5) * spacing, mode="markers",
            name=name, customdata=lane.dots, marker={"color": colour, "size": max(spacing * per_unit - 1, 2.5)},
            hovertemplate=f"{name}: error %{{customdata:.4g}}<br>one dot: {100 / numbers.dots:.3g} % of the trials"
                          "<extra></extra>")
        _add_mean(figure, lane, axis, baselines[lane.key] - 0.07)
    return styled(figure, height=_HEIGHT, legend=False, top=66)


def _add_mean(figure: go.Figure, lane: Lane, axis: ErrorAxis, y: float) -> None:
    name, colour = LANES[lane.key]
    mean, half = lane.outcome.mean, lane.outcome.half_width
    interval: dict[str, Any] = {}
    words = f"{name}: mean %{{customdata[0]:.4g}}"
    if math.isfinite(half):
        interval = {"error_x": axis.whisker(mean, mean - half, mean + half, colour=colour, thickness=3, width=7)}
        words += " ± %{customdata[1]:.2g} (95 % interval)"
    figure.add_scatter(x=[float(axis.cut(mean))], y=[y], mode="markers", name=f"{name}, mean",
                       customdata=[[mean, half]], marker={"color": colour, "size": 10, "symbol": "diamond"},
                       hovertemplate=f"{words}<extra></extra>", **interval)


def _stacked(numbers: DotNumbers) -> list[tuple[str, float, bool]]:
    """Kind, error and whether the label starts at its line (else it ends there), the lowest label first.

    Labels go to the side with room, and their heights are such that no line crosses a label.
    """
    axis = numbers.axis
    shares = [float((axis.place(value) - axis.low) / (axis.high - axis.low)) for _, value in numbers.references]
    edge = 1.0 if max(shares, default=0) < 0.75 else 0.0 if min(shares, default=0) > 0.3 else 0.5
    both = list(zip(numbers.references, shares, strict=True))
    right = [(*item, False) for item, share in both if share >= edge]
    left = [(*item, True) for item, share in reversed(both) if share < edge]
    return [*right, *left]


def _reference(axis: ErrorAxis, kind: str, value: float, *, above: int,
               left: bool) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A line from the bottom up to its label, ``above`` the picture by so many pixels at any height; and the label."""
    text = f"{REFERENCES[kind]}: {as_number(value)}"
    line = upright(float(axis.cut(value)), DATA, REFERENCE_DASHES[kind], width=2, xref="x", layer="below")
    # On a log axis a label's place is an exponent, a line's is not.
    label = {"x": float(axis.place(value)), "y": 1, "yshift": above, "yref": "paper", "xref": "x", "showarrow": False,
             "yanchor": "bottom", "xanchor": "left" if left else "right", "font": {"size": 12}, "borderpad": 1,
             "text": text if axis.holds(value) else f"◂ {text}"}
    return [line, line | {"y1": above, "ysizemode": "pixel", "yanchor": 1}], label
