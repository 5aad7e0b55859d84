"""Trials as quantile dots: each dot a fixed share of them, stacked where they fall; mean, interval, three lines."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.error_axis import (
    REFERENCE_DASHES,
    ErrorAxis,
    error_axis,
    mean_words,
    reference_items,
)
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, styled
from mvgviz.labels import REFERENCES
from mvgviz.text import as_number
from mvgviz.trials.run import Outcome, Results
from mvgviz.validation import FloatArray

_COUNTS = (100, 50, 20)
_BINS = 64
_TALLEST = 11
LANES = {"mvg": ("directional", DIRECTIONAL), "iid": ("one size", IID)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Lane:
    """One mechanism. ``dots``: quantiles of its errors; ``places``: where they stand; ``levels``: how high, from 0."""

    key: str
    dots: FloatArray = field(repr=False)
    places: FloatArray = field(repr=False)
    levels: FloatArray = field(repr=False)
    mean: float
    half_width: float
    trials: int


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
    outcomes = [one for one in results.outcomes if np.isfinite(one.errors).all()]
    references = reference_items(results.references)
    lines = [value for _, value in references]
    axis = error_axis([*lines, *(x for one in outcomes for x in one.errors.tolist())],
                      typical=[*lines, *(float(np.median(one.errors)) for one in outcomes if one.errors.size)])
    trials = min((one.errors.size for one in outcomes if one.errors.size), default=0)
    counts = sorted({k for k in (*_COUNTS, trials) if 0 < k <= min(trials, _COUNTS[0])}, reverse=True)
    lanes: tuple[Lane, ...] = ()
    dots = 0
    for dots in counts:
        lanes = tuple(_lane(one, axis, dots) for one in outcomes if one.errors.size)
        if max(lane.levels.max() for lane in lanes) < _TALLEST or dots <= _COUNTS[-1]:
            break
    return DotNumbers(lanes=lanes, axis=axis, references=references, dots=dots)


def _lane(outcome: Outcome, axis: ErrorAxis, count: int) -> Lane:
    dots = quantile_dots(outcome.errors, count)
    width = (axis.high - axis.low) / _BINS
    bins = np.minimum((axis.place(dots) - axis.low) // width, _BINS - 1)
    levels = np.arange(count) - np.searchsorted(bins, bins)  # dots are sorted, so stacks are runs
    return Lane(key=outcome.mechanism.key, dots=dots, places=axis.low + (bins + 0.5) * width,
                levels=levels.astype(np.float64), mean=outcome.mean, half_width=outcome.half_width,
                trials=outcome.errors.size)


def plot_dots(numbers: DotNumbers, *, title: str, height: int = 385) -> go.Figure:
    """Two lanes; under each its mean (diamond) and interval; each line's label on a level of its own."""
    axis = numbers.axis
    per_unit = (height - 140) / 2.25  # pixels
    spacing = min(0.8 / max(numbers.tallest, 1), 12 / per_unit)
    baselines = dict(zip(LANES, (1.0, 0.0), strict=True))
    lines = [_reference(axis, kind, value, level=level, left=left, height=height)
             for level, (kind, value, left) in enumerate(_stacked(numbers))]
    ticks = [f"<b>{LANES[lane.key][0]}</b><br>{mean_words(lane).replace(' ± ', '<br>± ')}" for lane in numbers.lanes]
    figure = go.Figure(
        data=[trace for lane in numbers.lanes
              for trace in (_dots(lane, axis, baselines[lane.key], 100 / numbers.dots, spacing, per_unit),
                            _mean(lane, axis, baselines[lane.key]))],
        layout={"shapes": [shape for shape, _ in lines], "annotations": [label for _, label in lines],
                "xaxis": axis.layout(title),
                "yaxis": {"range": [-0.2, 2.05], "showgrid": False, "zeroline": False, "ticktext": ticks,
                          "tickvals": [baselines[lane.key] + 0.25 for lane in numbers.lanes]}})
    return styled(figure, height=height, legend=False, top=66)


def _dots(lane: Lane, axis: ErrorAxis, base: float, percent: float, spacing: float, per_unit: float) -> dict[str, Any]:
    name, colour = LANES[lane.key]
    return {"type": "scatter", "x": axis.value(lane.places), "y": base + 0.06 + (lane.levels + 0.5) * spacing,
            "mode": "markers", "name": name, "customdata": lane.dots,
            "marker": {"color": colour, "size": max(spacing * per_unit - 1, 2.5)},
            "hovertemplate": f"{name}: error %{{customdata:.4g}}<br>one dot: {percent:.3g} % of the trials"
                             "<extra></extra>"}


def _mean(lane: Lane, axis: ErrorAxis, base: float) -> dict[str, Any]:
    name, colour = LANES[lane.key]
    half = lane.half_width
    mean = float(axis.value(axis.place(lane.mean)))
    trace = {"type": "scatter", "x": [mean], "y": [base - 0.07], "mode": "markers", "name": f"{name}, mean",
             "customdata": [[lane.mean, half]], "marker": {"color": colour, "size": 10, "symbol": "diamond"},
             "hovertemplate": f"{name}: mean %{{customdata[0]:.4g}}<extra></extra>"}
    if math.isfinite(half):
        low, high = (float(axis.value(axis.place(lane.mean + sign * half))) for sign in (-1, 1))
        trace["error_x"] = {"type": "data", "array": [high - mean], "arrayminus": [mean - low], "color": colour,
                            "thickness": 3, "width": 7}
        trace["hovertemplate"] = (f"{name}: mean %{{customdata[0]:.4g}} ± %{{customdata[1]:.2g}} (95 % interval)"
                                  "<extra></extra>")
    return trace


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


def _reference(axis: ErrorAxis, kind: str, value: float, *, level: int, left: bool,
               height: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A line from the bottom up to its label, and the label."""
    at = float(axis.place(value))
    top = 1 + (6 + 19 * level) / (height - 66 - 50)
    where = float(axis.value(at))
    text = f"{REFERENCES[kind]}: {as_number(value)}"
    line = {"type": "line", "x0": where, "x1": where, "y0": 0, "y1": top, "yref": "paper", "xref": "x",
            "layer": "below", "line": {"color": DATA, "width": 2, "dash": REFERENCE_DASHES[kind]}}
    label = {"x": at, "y": top, "yref": "paper", "xref": "x", "showarrow": False, "yanchor": "bottom",
             "xanchor": "left" if left else "right", "text": text if axis.holds(value) else f"◂ {text}",
             "font": {"size": 12}, "borderpad": 1}  # on a log axis a label's place is an exponent, a line's is not
    return line, label
