"""What pictures of errors share: their axis and the lines of no privacy, the baselines and a random guess."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from mvgviz.labels import REFERENCES
from mvgviz.pictures import theme
from mvgviz.pictures.theme import DATA, add_line, log_ticks
from mvgviz.text import as_number
from mvgviz.trials.results import Outcome
from mvgviz.trials.tasks import References

_SPAN = 20.0
_DEEPEST = 1e-12
REFERENCE_DASHES = {"non_private": "solid", "private_mean": "dashdot", "trivial": "dash", "random_guess": "dot"}


@dataclass(frozen=True)
class ErrorAxis:
    """``low`` and ``high`` are errors, or their exponents where ``log``."""

    log: bool
    low: float
    high: float

    def place(self, errors: Any) -> Any:
        """Return the places of errors, moved to an end where they lie beyond it (0 on a log axis: the low end)."""
        values = np.asarray(errors, dtype=np.float64)
        if self.log:
            values = np.log10(np.maximum(values, 10.0**self.low))
        return np.clip(values, self.low, self.high)

    def value(self, places: Any) -> Any:
        return 10.0 ** np.asarray(places) if self.log else np.asarray(places)

    def cut(self, errors: Any) -> Any:
        """Return errors, moved to an end of the axis where they lie beyond it."""
        return self.value(self.place(errors))

    def whisker(self, mean: float, low: float, high: float, **look: Any) -> dict[str, Any] | None:
        """Return an interval for Plotly's ``error_x``, no longer than the axis; None where its ends are not finite."""
        if not (math.isfinite(low) and math.isfinite(high)):
            return None
        here, left, right = (float(self.cut(error)) for error in (mean, low, high))
        return {"type": "data", "array": [right - here], "arrayminus": [here - left], **look}

    def holds(self, error: float) -> bool:
        """Return whether an error is on the axis (0 is not, on a log axis)."""
        return (error > 0 or not self.log) and self.low <= (math.log10(error) if self.log else error) <= self.high

    def with_column(self) -> "ErrorAxis":
        """Return an axis that leaves room for words at its right end, where they meet no line."""
        return replace(self, high=self.high + 0.14 * (self.high - self.low))

    def layout(self, title: str, *, upright: bool = False) -> dict[str, Any]:
        """Return the axis for Plotly, its title in short lines, shorter where it stands ``upright``."""
        kind = {"type": "log", **log_ticks(10.0**self.low, 10.0**self.high)} if self.log else {"type": "linear"}
        words = f"{title} (log scale)" if self.log else title
        return {"title": {"text": "<br>".join(textwrap.wrap(words, 34 if upright else 42))},
                "range": [self.low, self.high], "zeroline": False, "exponentformat": "power", **kind}


def error_axis(values: Iterable[float], *, typical: Iterable[float] | None = None, room: float = 0.05) -> ErrorAxis:
    """Return an axis that holds all values, log where ``typical`` ones (by default all) span more than 20 times."""
    known = np.array([value for value in values if math.isfinite(value)])
    positive = known[known > 0]
    if not positive.size:
        return ErrorAxis(False, 0.0, 1.0)
    top = float(positive.max())
    bottom = max(float(positive.min()), top * _DEEPEST)
    deciding = [bottom] if typical is None else [value for value in typical if math.isfinite(value) and value > 0]
    if deciding and top > _SPAN * min(deciding):
        low, high = math.log10(bottom), math.log10(top)
        return ErrorAxis(True, low - room * (high - low), high + room * (high - low))
    least = float(known.min())
    spread = (top - least) or top
    return ErrorAxis(False, max(least - room * spread, 0.0 if least > 0 else -0.02 * spread), top + room * spread)


def reference_items(references: References) -> list[tuple[str, float]]:
    """Return kind and error of each known reference, the smallest first."""
    items = [(kind, float(getattr(references, kind))) for kind in REFERENCES]
    return sorted((item for item in items if math.isfinite(item[1])), key=lambda item: item[1])


def lines_over(references: Mapping[float, References]) -> list[tuple[str, list[float], list[float]]]:
    """Return kind, epsilons and errors of each reference; only the private mean depends on epsilon."""
    ends = [min(references), max(references)]
    return [(kind, ends, [value, value]) if kind != "private_mean" else
            (kind, sorted(references), [references[epsilon].private_mean for epsilon in sorted(references)])
            for kind, value in reference_items(references[ends[0]])]


def add_references(figure: go.Figure, axis: ErrorAxis, references: Iterable[tuple[str, float]], rows: int) -> None:
    """Add an upright line beside the rows for each error; one that is off the axis stands in the legend alone."""
    for kind, value in references:
        _add_reference(figure, axis, kind, [value, value], [-0.6, rows - 0.4], value)


def add_lines_over(figure: go.Figure, axis: ErrorAxis, lines: Iterable[tuple[str, list[float], list[float]]],
                   span: Sequence[float], **where: Any) -> None:
    """Add a line over epsilon for each reference; level ones fill the ``span``. ``where``: row and column, if any."""
    for kind, epsilons, values in lines:
        level = len(set(values)) == 1
        _add_reference(figure, axis, kind, span if level else epsilons, axis.cut(values), values[0], level, **where)


def _add_reference(figure: go.Figure, axis: ErrorAxis, kind: str, x: Any, y: Any, value: float, level: bool = True,
                   **where: Any) -> None:
    inside = axis.holds(value)
    name = REFERENCES[kind] + (f": {as_number(value)}" if level else "") + ("" if inside else " (off the scale)")
    add_line(figure, x if inside else [None], y if inside else [None], name, DATA, 2, REFERENCE_DASHES[kind], **where)


def mean_words(outcome: Outcome) -> str:
    """Return "0.531 ± 0.004", without an interval for one trial."""
    if not math.isfinite(outcome.mean):
        return "too large to show"
    interval = f" ± {as_number(outcome.half_width, 2)}" if math.isfinite(outcome.half_width) else ""
    return f"{as_number(outcome.mean)}{interval}"


class Mark(NamedTuple):
    """One line of a ranked chart, ``label`` escaped. ``ring``: the own design."""

    label: str
    mean: float
    half_width: float
    colour: str
    symbol: str
    ring: bool = False
    faint: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        half = self.half_width if math.isfinite(self.half_width) else 0.0
        low = self.mean - half
        return (low if low > 0 or self.mean <= 0 else self.mean / 10), self.mean + half


def plot_ranked(marks: Sequence[Mark], references: Sequence[tuple[str, float]], *, title: str, height: int = 200
                ) -> go.Figure:
    """Draw a dot, a whisker and the mean in each line; at least ``height`` pixels high."""
    axis, figure = error_axis([*(end for mark in marks for end in mark.ends), *(value for _, value in references)],
                              room=0.07).with_column(), go.Figure()
    add_references(figure, axis, references, len(marks))
    for at, mark in enumerate(marks):
        if mark.ring:
            theme.add_dots(figure, [axis.cut(mark.mean)], [at], "this design", theme.DATA, 20, "circle-open",
                           edge=theme.DATA, hover=None, showlegend=False)
        name = mark.label.replace("<br>", " ")
        half = f" ± {as_number(mark.half_width, 2)}" if math.isfinite(mark.half_width) else ""
        theme.add_dots(figure, [float(axis.cut(mark.mean))], [at], name, mark.colour, 10, mark.symbol, edge=mark.colour,
                       hover=f"<b>{name}</b><br>error {as_number(mark.mean)}{half}", showlegend=False, cliponaxis=False,
                       opacity=0.6 if mark.faint else 1.0,
                       error_x=axis.whisker(mark.mean, *mark.ends, color=mark.colour, thickness=2, width=5))
    theme.add_words(figure, [float(axis.cut(math.inf))] * len(marks), list(range(len(marks))),
                    [as_number(mark.mean) for mark in marks], "middle left")
    theme.laid_out(figure, {"xaxis": axis.layout(title), "yaxis": theme.row_axis(
        [f"<b>{mark.label}</b>" if mark.ring else mark.label for mark in marks], 11)})
    lines = max((1 + mark.label.count("<br>") for mark in marks), default=1)
    return theme.styled(figure, height=max(95 + (13 + 12 * lines) * len(marks), height), top=35)
