"""One look for all charts: colours that survive colour blindness, light and dark; axes and lines that they share.

Colours are Okabe & Ito's (Color Universal Design, 2008), the blue lightened to be seen on
black; one stands for one thing on every page. Backgrounds are transparent so that the page's own theme shows through.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

DIRECTIONAL = "#2B8CD6"
IID = "#D55E00"
EXACT = "#009E73"
THEOREM1 = "#CC79A7"
THEOREM2 = "#E69F00"
DATA = "#7F7F7F"
GUARANTEE_COLOURS = {"exact": EXACT, "theorem1": THEOREM1, "theorem2": THEOREM2, "theorem2-any": THEOREM2}
EDGE = {"width": 1.5, "color": "rgba(128,128,128,0.9)"}
"""The line around a bar's parts or a map's tiles."""


def styled(figure: go.Figure, *, height: int = 400, legend: bool = True, top: int = 10) -> go.Figure:
    """The figure with the common margins, legend and transparent background."""
    return laid_out(figure, {
        "height": height, "margin": {"l": 10, "r": 10, "t": top, "b": 10}, "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": legend,
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        "xaxis": {"exponentformat": "power"}, "yaxis": {"exponentformat": "power"}})


def laid_out(figure: go.Figure, layout: Mapping[str, Any]) -> go.Figure:
    """The figure with values of its layout set as they are, nested, lists apart.

    Plotly's own ``update_layout`` holds each against its schema and tells listeners that a server has none of: with a
    look that never changes that is most of the time that a figure takes.
    """
    _merge(figure._layout, layout)
    return figure


def _merge(held: dict[str, Any], new: Mapping[str, Any]) -> None:
    for name, value in new.items():
        if isinstance(value, Mapping):
            _merge(held.setdefault(name, {}), value)
        else:
            held[name] = value


def stroke(colour: str, width: float, dash: str | None = None) -> dict[str, Any]:
    """A line without markers, for Plotly's ``add_scatter``."""
    return {"mode": "lines", "line": {"color": colour, "width": width} | ({} if dash is None else {"dash": dash})}


def wash(colour: str, strength: float) -> str:
    """The colour, mostly transparent, so that it shows on light and dark."""
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{strength:g})"


def decades(low: float, high: float) -> dict[str, Any]:
    """Ticks for a log axis between two exponents: whole powers of ten, at most about eight."""
    if high - low < 2:
        return {"exponentformat": "power", "nticks": 8}
    return {"exponentformat": "power", "dtick": max(1, math.ceil((high - low) / 8))}


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """Few round ticks of a log axis: 1, 2, 5 within a decade or two, whole decades beyond."""
    span, start = np.log10(high / low), int(np.floor(np.log10(low))) - 1
    steps = (1, 1.5, 2, 3, 4, 5, 7) if span <= 0.8 else (1, 2, 5) if span <= 2.5 else (1,)
    every = 1 if span <= 2.5 else int(np.ceil(span / 6))
    exponents = range(start - start % every, int(np.ceil(np.log10(high))) + 2, every)
    return {"tickvals": [step * 10.0**e for e in exponents for step in steps]}


def log_axis(low: float, high: float, *, room: float, least: float = 0.1) -> dict[str, Any]:
    """A log axis with round ticks that holds two values and ``room`` (a share of their distance) on either side."""
    beside = max(room * np.log10(high / low), least)
    return {"type": "log", "range": [np.log10(low) - beside, np.log10(high) + beside], **log_ticks(low, high)}


def row_axis(labels: Sequence[str], size: int | None = None) -> dict[str, Any]:
    """A vertical axis with one labelled line a row, the first on top."""
    return {"tickvals": list(range(len(labels))), "ticktext": labels, "range": [len(labels) - 0.4, -0.6],
            "showgrid": False, "zeroline": False, **({} if size is None else {"tickfont": {"size": size}})}


def upright(x: float, colour: str, dash: str, *, width: float, **more: Any) -> dict[str, Any]:
    """A line (a Plotly shape) from the bottom of the picture to its top."""
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": colour, "width": width, "dash": dash}, **more}


def interval(means: Sequence[float], halves: Sequence[float], *, thickness: float, log: bool) -> dict[str, Any]:
    """Bars without ends for Plotly's ``error_x`` and ``error_y``; on a log axis none reaches down to 0."""
    below = [min(half, 0.95 * mean) if log else half for mean, half in zip(means, halves, strict=True)]
    return {"array": halves, "arrayminus": below, "thickness": thickness, "width": 0}
