"""All mechanisms on one task, the best on top; what marks each: a colour for its family, a symbol for its promise."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.error_axis import ErrorAxis, error_axis, reference_look
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, GUARANTEE_COLOURS, IID, laid_out, row_axis, styled
from mvgviz.labels import REFERENCES
from mvgviz.text import as_number
from mvgviz.trials.mechanisms import EPSILON, Mechanism
from mvgviz.trials.run import Outcome, Results

_PURE = "#8E6BD1"  # epsilon alone: Laplace, exponential
_SKETCH = "#A65628"  # random projections: Johnson–Lindenstrauss
_SAME = 1e-9
_TWINS = {"iid": ("gaussian-analytic", "mvg-exact", "mvg-theorem1", "mvg-theorem2", "mvg-theorem2-any"),
          "mvg-theorem2-any": ("mvg-theorem2",)}


def colour(mechanism: Mechanism, guarantee: str = "exact") -> str:
    """MVG by its guarantee (``guarantee``: of the scenario's own), Gaussian noise as equal noise.

    PLAN's noise is directional, without the paper's design.
    """
    key = mechanism.key
    if key.startswith("mvg"):
        return GUARANTEE_COLOURS[key.removeprefix("mvg-") if key != "mvg" else guarantee]
    if key == "plan":
        return DIRECTIONAL
    if "lindenstrauss" in key:
        return _SKETCH
    return _PURE if mechanism.guarantee == EPSILON else IID


def symbol(mechanism: Mechanism) -> str:
    """A diamond for epsilon alone, a circle for epsilon and delta; hollow where only some features are released."""
    shape = "diamond" if mechanism.guarantee == EPSILON else "circle"
    return f"{shape}-open" if mechanism.key.startswith("reduced") else shape


def label(mechanism: Mechanism) -> str:
    """The mechanism and, where it is the stronger one, its promise."""
    return f"{mechanism.label} ({EPSILON})" if mechanism.guarantee == EPSILON else mechanism.label


def two_lines(text: str, most: int = 24) -> str:
    """A long label broken at a comma or a bracket, for Plotly; names in it must be harmless already."""
    if len(text) <= most:
        return text
    cuts = [found.end() for mark in (r", ", r" (?=\()") for found in re.finditer(mark, text)]
    if not cuts:
        return text
    at = min(cuts, key=lambda cut: abs(cut - len(text) / 2))
    return f"{text[:at].rstrip()}<br>{text[at:]}"


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
    by_key = {outcome.mechanism.key: outcome for outcome in results.outcomes}
    twins = {key: other for key, others in _TWINS.items() for other in reversed(others)  # the first one stays
             if _same(by_key.get(key), by_key.get(other))}
    shown = tuple(outcome for outcome in results.ranked()
                  if outcome.mechanism.key not in twins and math.isfinite(outcome.mean))
    return Ranking(results=results, outcomes=shown, twins=twins,
                   unsuitable=tuple(outcome for outcome in results.outcomes if outcome.reason is not None))


def _same(first: Outcome | None, second: Outcome | None) -> bool:
    if first is None or second is None:
        return False
    n = min(first.errors.size, second.errors.size)
    return n > 0 and bool(np.allclose(first.errors[:n], second.errors[:n], rtol=_SAME, atol=0))


def plot_ranked(marks: Sequence[Mark], references: Sequence[tuple[str, float]], *, title: str) -> go.Figure:
    """A dot and a whisker a line; the means stand beside them."""
    ends = [end for mark in marks for end in _ends(mark)]
    axis = error_axis([*ends, *(mark.mean for mark in marks), *(value for _, value in references)], room=0.07)
    figure = go.Figure()
    for kind, value in references:
        inside = axis.holds(value)
        name = f"{REFERENCES[kind]}: {as_number(value)}{'' if inside else ' (off the scale)'}"
        figure.add_scatter(x=[value, value] if inside else [None], y=[-0.6, len(marks) - 0.4] if inside else [None],
                           **reference_look(kind, name))
    if any(mark.ring for mark in marks):
        figure.add_scatter(x=[axis.cut(mark.mean) for mark in marks if mark.ring],
                           y=[at for at, mark in enumerate(marks) if mark.ring], mode="markers", name="this design",
                           showlegend=False, hoverinfo="skip",
                           marker={"symbol": "circle-open", "size": 20, "color": DATA, "line": {"width": 2}})
    for at, mark in enumerate(marks):
        _add_dot(figure, mark, at, axis)
    beside = [_beside(mark, axis) for mark in marks]
    figure.add_scatter(x=[x for x, _, _ in beside], y=list(range(len(marks))), mode="text", cliponaxis=False,
                       text=[text for _, text, _ in beside], textposition=[side for _, _, side in beside],
                       textfont={"size": 11}, showlegend=False, hoverinfo="skip")
    laid_out(figure, {"xaxis": axis.layout(title), "yaxis": row_axis(
        [f"<b>{mark.label}</b>" if mark.ring else mark.label for mark in marks], 11)})
    broken = sum("<br>" in mark.label for mark in marks)
    row = 25 if not broken else 31 if broken <= len(marks) / 2 else 37
    row += 11 * (max((mark.label.count("<br>") for mark in marks), default=0) > 1)
    return styled(figure, height=max(95 + row * len(marks), 200), top=35)


def _add_dot(figure: go.Figure, mark: Mark, at: int, axis: ErrorAxis) -> None:
    name = mark.label.replace("<br>", " ")
    half = f" ± {as_number(mark.half_width, 2)}" if math.isfinite(mark.half_width) else ""
    figure.add_scatter(
        x=[float(axis.cut(mark.mean))], y=[at], mode="markers", name=name, showlegend=False, cliponaxis=False,
        opacity=0.6 if mark.faint else 1.0,
        marker={"color": mark.colour, "symbol": mark.symbol, "size": 10, "line": {"width": 2, "color": mark.colour}},
        error_x=axis.whisker(mark.mean, *_ends(mark), colour=mark.colour, thickness=2, width=5),
        hovertemplate=f"<b>{name}</b><br>error {as_number(mark.mean)}{half}<br>{mark.said}<extra></extra>")


def _beside(mark: Mark, axis: ErrorAxis) -> tuple[float, str, str]:
    """Where the mean is written: right of the whisker, or left of it near the right edge."""
    low, high = _ends(mark)
    gap = " " * (5 if mark.ring else 3)
    if axis.place(high) > axis.low + 0.8 * (axis.high - axis.low):
        return float(axis.cut(low)), f"{as_number(mark.mean)}{gap}", "middle left"
    return float(axis.cut(high)), f"{gap}{as_number(mark.mean)}", "middle right"


def _ends(mark: Mark) -> tuple[float, float]:
    half = mark.half_width if math.isfinite(mark.half_width) else 0.0
    low = mark.mean - half
    return (low if low > 0 or mark.mean <= 0 else mark.mean / 10), mark.mean + half
