"""Axes and lines that several pictures share."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def decades(low: float, high: float) -> dict[str, Any]:
    """Ticks for a log axis between two exponents: whole powers of ten, at most about eight."""
    if high - low < 2:
        return {"exponentformat": "power", "nticks": 8}
    return {"exponentformat": "power", "dtick": max(1, math.ceil((high - low) / 8))}


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """Few round ticks of a log axis: 1, 2, 5 within a decade or two, whole decades beyond."""
    span = np.log10(high / low)
    exponents = range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 2)
    if span <= 0.8:
        steps: tuple[float, ...] = (1, 1.5, 2, 3, 4, 5, 7)
    elif span <= 2.5:
        steps = (1, 2, 5)
    else:
        every = int(np.ceil(span / 6))
        exponents = range(exponents.start - exponents.start % every, exponents.stop, every)
        steps = (1,)
    return {"tickvals": [step * 10.0**e for e in exponents for step in steps]}


def log_axis(low: float, high: float, *, room: float, least: float = 0.1) -> dict[str, Any]:
    """A log axis with round ticks that holds two values and ``room`` (a share of their distance) on either side."""
    beside = max(room * np.log10(high / low), least)
    return {"type": "log", "range": [np.log10(low) - beside, np.log10(high) + beside], **log_ticks(low, high)}


def row_axis(labels: Sequence[str], size: int | None = None) -> dict[str, Any]:
    """A vertical axis with one labelled line a row, the first on top."""
    font = {} if size is None else {"tickfont": {"size": size}}
    return {"tickvals": list(range(len(labels))), "ticktext": labels, "range": [len(labels) - 0.4, -0.6],
            "showgrid": False, "zeroline": False, **font}


def upright(x: float, colour: str, dash: str, *, width: float, top: float = 1, **more: Any) -> dict[str, Any]:
    """A line (a Plotly shape) from the bottom of the picture to its top, or to a share of its height."""
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": top, "yref": "paper",
            "line": {"color": colour, "width": width, "dash": dash}, **more}


def interval(means: Sequence[float], halves: Sequence[float], *, thickness: float, log: bool) -> dict[str, Any]:
    """Bars without ends for Plotly's ``error_x`` and ``error_y``; on a log axis none reaches down to 0."""
    below = [min(half, 0.95 * mean) if log else half for mean, half in zip(means, halves, strict=True)]
    return {"array": halves, "arrayminus": below, "thickness": thickness, "width": 0}
