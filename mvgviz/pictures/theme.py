"""A picture and what it says; colours, and what pictures share: axes, strokes, a map of a matrix, an ellipse."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.query.frames import date_text
from mvgviz.text import as_number, as_text
from mvgviz.validation import FloatArray

DIRECTIONAL = "#2B8CD6"
IID = "#D55E00"
EXACT = "#009E73"
THEOREM1 = "#CC79A7"
THEOREM2 = "#E69F00"
DATA = "#7F7F7F"
PURE = "#8E6BD1"  # epsilon alone: Laplace, exponential
SKETCH = "#A65628"  # random projections: Johnson–Lindenstrauss
WEAK = "#8FA9BD"  # opaque, so that labels on it read in light and dark
PALE = "#E3F0FA"  # DIRECTIONAL, nearly white
PRIMARY = "#17608F"
INK, QUIET, LINE, SOFT, PAPER = "#1A1A1A", "#55606B", "#767676", "#F0F2F5", "#FFFFFF"
GUARANTEE_COLOURS = {"exact": EXACT, "theorem1": THEOREM1, "theorem2": THEOREM2, "theorem2-any": THEOREM2}
FAMILY_COLOURS = {"gaussian": DIRECTIONAL, "ellipse": EXACT, "box": THEOREM2, "laplace": PURE,
                  "box-ellipse": SKETCH}
LIGHT, DARK = ("".join(f"--{name}: {colour};" for name, colour in colours.items()) for colours in ({
    "directional": DIRECTIONAL, "equal": IID, "exact": EXACT, "theorem1": THEOREM1, "theorem2": THEOREM2, "data": DATA,
    "primary": PRIMARY, "strong": "#9A4200", "ink": INK, "quiet": QUIET, "line": LINE, "soft": SOFT, "paper": PAPER,
    "grid": f"{INK}2E"}, {
    "primary": "#4BA3E3", "ink": "#FAFAFA", "quiet": "#B4BEC8", "line": "#8D949C", "soft": "#1D222B",
    "paper": "#0E1117", "grid": "#FAFAFA2E"}))
"""The colours as variables of a style, and those that differ on dark paper."""
CSS_COLOURS = f":root, :host {{{LIGHT}}}"
EDGE = {"width": 1.5, "color": "rgba(128,128,128,0.9)"}
"""The line around a bar's parts or a map's tiles."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, its ``takeaway`` and what it shows (``about``), both Markdown; ``alt`` only where it says more."""

    figure: go.Figure = field(repr=False)
    takeaway: str
    about: str = ""
    alt: str = ""

    @property
    def text_alternative(self) -> str:
        """Return what is read aloud in place of the figure."""
        return self.alt or as_text(self.takeaway)

    def adding(self, sentence: str) -> "Picture":
        """Return the picture with one more sentence behind its takeaway."""
        return replace(self, takeaway=f"{self.takeaway} {sentence}".strip())


def styled(figure: go.Figure, *, height: int = 400, legend: bool = True, top: int = 10) -> go.Figure:
    """Give the figure the common margins, legend and transparent background."""
    return laid_out(figure, {
        "height": height, "margin": {"l": 10, "r": 10, "t": top, "b": 10}, "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": legend,
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        "xaxis": {"exponentformat": "power"}, "yaxis": {"exponentformat": "power"}})


def laid_out(figure: go.Figure, layout: Mapping[str, Any]) -> go.Figure:
    """Set nested values of the figure's layout, without Plotly's checks, which take most of a figure's time."""
    _merge(figure._layout, layout)
    return figure


def _merge(held: dict[str, Any], new: Mapping[str, Any]) -> None:
    for name, value in new.items():
        if isinstance(value, Mapping):
            _merge(held.setdefault(name, {}), value)
        else:
            held[name] = value


def stroke(colour: str, width: float, dash: str | None = None) -> dict[str, Any]:
    """Return a line without markers, for Plotly's ``add_scatter``."""
    return {"mode": "lines", "line": {"color": colour, "width": width} | ({} if dash is None else {"dash": dash})}


def add_line(figure: go.Figure, x: Any, y: Any, name: str, colour: str, width: float = 2, dash: str | None = None, *,
             hover: str | None = "", **more: Any) -> None:
    """Add a line without markers; the pointer reads ``hover``, by default the name, nothing where None."""
    figure.add_scatter(x=x, y=y, name=name, **stroke(colour, width, dash), **_pointed(hover), **more)


def add_words(figure: go.Figure, x: Any, y: Any, text: Any, side: Any = "middle right", **more: Any) -> None:
    """Add small text beside points, which may reach over the axes."""
    figure.add_scatter(**{"textfont": {"size": 11}, "cliponaxis": False} | more, x=x, y=y, text=text, mode="text",
                       textposition=side, showlegend=False, hoverinfo="skip")


def add_dots(figure: go.Figure, x: Any, y: Any, name: str, colour: Any, size: Any = 11, symbol: Any = "circle", *,
             edge: str | None = None, thick: float = 2, hover: str | None = "", **more: Any) -> None:
    """Add markers, with a ``thick`` ``edge`` in a colour around them if it is given; ``hover`` as for a line."""
    marker = {"color": colour, "size": size, "symbol": symbol} | (
        {} if edge is None else {"line": {"width": thick, "color": edge}})
    figure.add_scatter(**{"mode": "markers"} | more, x=x, y=y, name=name, marker=marker, **_pointed(hover))


def add_curve(figure: go.Figure, x: Any, y: Any, name: str, colour: str, width: float = 2, symbol: Any = "circle", *,
              size: float = 8, dash: str | None = None, **more: Any) -> None:
    """Add a line with markers; ``hover`` as for a line."""
    more |= stroke(colour, width, dash) | {"mode": "lines+markers"}
    add_dots(figure, x, y, name, colour, size, symbol, **more)


def add_band(figure: go.Figure, x: Any, low: Any, high: Any, colour: str, strength: float, **more: Any) -> None:
    """Add the area between two curves."""
    add_line(figure, [*x, *x[::-1]], [*high, *low[::-1]], "", colour, 0, hover=None, fill="toself",
             fillcolor=wash(colour, strength), showlegend=False, **more)


def _pointed(hover: str | None) -> dict[str, str]:
    if not hover:
        return {"hoverinfo": "skip" if hover is None else "name"}
    return {"hovertemplate": hover if "<extra>" in hover else f"{hover}<extra></extra>"}


def wash(colour: str, strength: float) -> str:
    """Return the colour, transparent, so that it shows on light and dark."""
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{strength:g})"


def decades(low: float, high: float) -> dict[str, Any]:
    """Return about eight ticks at whole powers of ten, for a log axis between two exponents."""
    return {"exponentformat": "power"} | (
        {"nticks": 8} if high - low < 2 else {"dtick": max(1, math.ceil((high - low) / 8))})


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """Return few round ticks of a log axis: 1, 2, 5 within a decade or two, whole decades beyond."""
    span, start = np.log10(high / low), int(np.floor(np.log10(low))) - 1
    steps = (1, 1.5, 2, 3, 4, 5, 7) if span <= 0.8 else (1, 2, 5) if span <= 2.5 else (1,)
    every = 1 if span <= 2.5 else int(np.ceil(span / 6))
    exponents = range(start - start % every, int(np.ceil(np.log10(high))) + 2, every)
    return {"tickvals": [step * 10.0**e for e in exponents for step in steps]}


def log_axis(low: float, high: float, *, room: float, least: float = 0.1) -> dict[str, Any]:
    """Return a log axis with round ticks that holds two values and ``room`` (a share of their distance) beside them."""
    beside = max(room * np.log10(high / low), least)
    return {"type": "log", "range": [np.log10(low) - beside, np.log10(high) + beside], **log_ticks(low, high)}


def row_axis(labels: Sequence[str], size: int | None = None) -> dict[str, Any]:
    """Return a vertical axis with one labelled line a row, the first on top."""
    return {"tickvals": list(range(len(labels))), "ticktext": labels, "range": [len(labels) - 0.4, -0.6],
            "showgrid": False, "zeroline": False, **({} if size is None else {"tickfont": {"size": size}})}


def broken(text: str, width: int) -> str:
    """Return a label for Plotly in short lines; escape its names first."""
    return "<br>".join(textwrap.wrap(text, width))


def upright(x: float, colour: str, dash: str, *, width: float, **more: Any) -> dict[str, Any]:
    """Return a line (a Plotly shape) from the bottom of the picture to its top."""
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": colour, "width": width, "dash": dash}, **more}


def interval(means: Sequence[float], halves: Sequence[float], *, thickness: float, log: bool) -> dict[str, Any]:
    """Return bars for Plotly's ``error_x`` or ``error_y``; on a ``log`` axis none reaches down to 0."""
    below = [min(half, 0.95 * mean) if log else half for mean, half in zip(means, halves, strict=True)]
    return {"array": halves, "arrayminus": below, "thickness": thickness, "width": 0}


MOST_ROWS, MOST_COLS = 40, 60
_NUMBERED = 6  # entries a side that have room for numbers, in a picture 380 pixels high


def top_left(matrix: FloatArray) -> FloatArray:
    """Return the entries of a matrix that are drawn, at most 40 × 60."""
    return matrix[:MOST_ROWS, :MOST_COLS]


def part_words(shown: tuple[int, ...], whole: tuple[int, ...]) -> str:
    """Say which part is drawn of something of this shape; nothing where all of it is."""
    return "" if shown == whole else f" Drawn: the first {' × '.join(f'{size:,}' for size in shown)}."


def heat_map(matrix: FloatArray, reach: float, value_title: str, *, signed: bool = False, **more: Any) -> go.Heatmap:
    """Return a map with colours centred on 0, strongest at ``reach``; one colour where nothing is below 0."""
    bar = {"title": {"text": value_title, "side": "right"}, "thickness": 12, "exponentformat": "power"}
    scale = ({"colorscale": "RdBu_r", "zmin": -reach} if signed or float(matrix.min()) < 0 else
             {"colorscale": "Oranges", "zmin": 0})
    return go.Heatmap(z=matrix, zmax=reach, colorbar=bar, **scale, **more)


def plot_matrix(shown: FloatArray, *, row_labels: list[str], col_labels: list[str], row_title: str, col_title: str,
                value_title: str, height: int = 380, in_units: FloatArray | None = None,
                days: Sequence[bool] = ()) -> go.Figure:
    """Draw every entry, with numbers (``in_units`` of the data; dates in rows of ``days``) and names where they fit."""
    rows, cols = shown.shape
    value_title += "<br>(colour: normalised scale)" * (in_units is not None)
    few = cols <= (_NUMBERED if height >= 380 else _NUMBERED // 2 + 1) and rows <= _NUMBERED * (1 + (cols == 1))
    cells = [[date_text(value) if day else as_number(value, 4) for value in line] for line, day in
             zip(shown if in_units is None else in_units, days or [False] * rows, strict=True)]
    figure = go.Figure(heat_map(
        shown, float(np.abs(shown).max()) or 1.0, value_title, text=cells if few else None, customdata=cells,
        texttemplate="%{text}" if few else None, textfont={"size": 11},
        hovertemplate=f"{row_title} %{{y}}, {col_title} %{{x}}: %{{customdata}}<extra></extra>",
        x=list(range(cols)), y=list(range(rows))))
    for axis, labels, number, title in ((figure.update_xaxes, col_labels, cols, col_title),
                                        (figure.update_yaxes, row_labels, rows, row_title)):
        ticks = named_ticks(labels, most=height // 16) if labels else {
            "showticklabels": number > 1, "dtick": -(-number // 12)}
        axis(title=title, showgrid=False, zeroline=False, **ticks)
    figure.update_yaxes(autorange="reversed")
    return styled(figure, height=height, legend=False)


def named_ticks(labels: list[str], *, most: int = 24) -> dict[str, Any]:
    """Return a tick for each label, or for every second, third, … where they would overlap."""
    every = range(0, len(labels), -(-len(labels) // most) or 1)
    return {"tickvals": list(every), "ticktext": [labels[k] for k in every]} if labels else {}


_TURN = np.linspace(0, 2 * np.pi, 181)


def ellipse_outline(covariance: FloatArray, level: float) -> FloatArray:
    """Return the outline (2 × points) that holds ``level`` of a centred normal with this 2 × 2 covariance."""
    values, vectors = np.linalg.eigh(covariance)
    radius = math.sqrt(-2 * math.log1p(-level))
    circle = np.vstack([np.cos(_TURN), np.sin(_TURN)])
    return np.asarray(vectors @ (radius * np.sqrt(values)[:, None] * circle))
