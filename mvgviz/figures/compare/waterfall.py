"""A waterfall: the error from the paper's noise as printed down to a design, one bar a lever."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import plotly.graph_objects as go

from mvgviz.figures.shared.error_axis import ErrorAxis, error_axis, reference_look
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, IID, row_axis, stroke, styled
from mvgviz.labels import REFERENCES
from mvgviz.text import as_number

ENDS = DATA, DIRECTIONAL
"""The colours of the first and the last bar, which stand on the axis."""
_ROOM = 0.18  # right of the bars, for what is written beside them


@dataclass(frozen=True, kw_only=True)
class Fall:
    """One bar, from the error ``before`` to that ``after`` a lever. ``before`` None: it stands on the axis.

    ``label``, ``text`` (written beside it) and ``said`` (what the pointer reads): harmless already.
    """

    label: str
    before: float | None
    after: float
    text: str
    said: str

    @property
    def gains(self) -> bool:
        return self.before is not None and self.after <= self.before


def plot_waterfall(falls: Sequence[Fall], references: Sequence[tuple[str, float]], *, title: str) -> go.Figure:
    """Bars from step to step, the largest error on top; log scale where the errors are far apart."""
    errors = [error for fall in falls for error in (fall.before, fall.after) if error is not None]
    axis = error_axis([0.0, *errors, *(value for _, value in references)])  # bars stand on 0 where they can
    axis = replace(axis, high=axis.high + _ROOM * (axis.high - axis.low))
    figure = go.Figure()
    for kind, value in references:
        inside = axis.holds(value)
        name = f"{REFERENCES[kind]}: {as_number(value)}{'' if inside else ' (off the scale)'}"
        figure.add_scatter(x=[value, value] if inside else [None], y=[-0.6, len(falls) - 0.4] if inside else [None],
                           **reference_look(kind, name) | stroke(DATA, 2, "dash" if kind != "trivial" else "dot"))
    _add_bars(figure, falls, axis)
    _add_joints(figure, falls, axis)
    figure.add_scatter(x=[_ends(fall, axis)[1] for fall in falls], y=list(range(len(falls))), mode="text",
                       text=[f"  {fall.text}" for fall in falls], textposition="middle right", cliponaxis=False,
                       textfont={"size": 12}, showlegend=False, hoverinfo="skip")
    figure.update_xaxes(**axis.layout(title))
    figure.update_yaxes(**row_axis([fall.label for fall in falls], 12))
    figure.update_layout(barmode="overlay", bargap=0.35)
    return styled(figure, height=max(100 + 46 * len(falls), 220), top=35)


def _add_bars(figure: go.Figure, falls: Sequence[Fall], axis: ErrorAxis) -> None:
    left, right = zip(*(_ends(fall, axis) for fall in falls), strict=True)
    standing = iter(ENDS)
    colours = [next(standing, DIRECTIONAL) if fall.before is None else EXACT if fall.gains else IID for fall in falls]
    figure.add_bar(orientation="h", y=list(range(len(falls))), base=list(left), marker={"color": colours},
                   x=[high - low for low, high in zip(left, right, strict=True)], showlegend=False,
                   customdata=[fall.said for fall in falls], hovertemplate="%{customdata}<extra></extra>")


def _add_joints(figure: go.Figure, falls: Sequence[Fall], axis: ErrorAxis) -> None:
    """Thin lines from the end of each bar to the next one."""
    x, y = list[float | None](), list[float | None]()
    for at, fall in enumerate(falls[:-1]):
        here = float(axis.cut(fall.after))
        x += [here, here, None]
        y += [at, at + 1, None]
    figure.add_scatter(x=x, y=y, mode="lines", showlegend=False, hoverinfo="skip", line={"color": DATA, "width": 1})


def _ends(fall: Fall, axis: ErrorAxis) -> tuple[float, float]:
    after = float(axis.cut(fall.after))
    before = float(axis.value(axis.low)) if fall.before is None else float(axis.cut(fall.before))
    return min(before, after), max(before, after)
