"""What the pictures of errors share: an axis of errors and the errors to hold them against."""

import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvgviz.labels import REFERENCES
from mvgviz.pictures.theme import DATA, log_ticks, stroke
from mvgviz.text import as_number
from mvgviz.trials.results import Outcome
from mvgviz.trials.tasks import References

_SPAN = 20.0
_DEEPEST = 1e-12
REFERENCE_DASHES = {"non_private": "solid", "private_mean": "dashdot", "trivial": "dash", "random_guess": "dot"}


@dataclass(frozen=True)
class ErrorAxis:
    """From ``low`` to ``high``, in errors or (``log``) in their exponents."""

    log: bool
    low: float
    high: float

    def place(self, errors: Any) -> Any:
        """Where errors stand on the axis, none beyond its ends: on a log axis 0 stands at the low end."""
        values = np.asarray(errors, dtype=np.float64)
        if self.log:
            values = np.log10(np.maximum(values, 10.0**self.low))
        return np.clip(values, self.low, self.high)

    def value(self, places: Any) -> Any:
        """The errors of places."""
        return 10.0 ** np.asarray(places) if self.log else np.asarray(places)

    def cut(self, errors: Any) -> Any:
        """The errors, those beyond an end of the axis moved to it."""
        return self.value(self.place(errors))

    def whisker(self, mean: float, low: float, high: float, *, colour: str, thickness: float,
                width: float) -> dict[str, Any]:
        """An interval around a mean for Plotly's ``error_x``, no longer than the axis."""
        here, left, right = (float(self.cut(error)) for error in (mean, low, high))
        return {"type": "data", "array": [right - here], "arrayminus": [here - left], "color": colour,
                "thickness": thickness, "width": width}

    def holds(self, error: float) -> bool:
        """Whether an error is on the axis (0 is not, on a log axis)."""
        if self.log and not error > 0:
            return False
        return self.low <= (math.log10(error) if self.log else error) <= self.high

    def layout(self, title: str, *, upright: bool = False) -> dict[str, Any]:
        """For Plotly; the title in short lines, shorter where it stands ``upright``."""
        kind = {"type": "log", **log_ticks(10.0**self.low, 10.0**self.high)} if self.log else {"type": "linear"}
        words = f"{title} (log scale)" if self.log else title
        return {"title": {"text": "<br>".join(textwrap.wrap(words, 34 if upright else 42))},
                "range": [self.low, self.high], "zeroline": False, "exponentformat": "power", **kind}


def error_axis(values: Iterable[float], *, typical: Iterable[float] | None = None, room: float = 0.05) -> ErrorAxis:
    """An axis that holds all values; log where those above 0 span more than a factor of 20.

    ``typical``: values that decide about the scale, so that a single small one does not.
    """
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
    """Kind and error, the smallest first; what is not a number is left out."""
    items = [(kind, float(getattr(references, kind))) for kind in REFERENCES]
    return sorted((item for item in items if math.isfinite(item[1])), key=lambda item: item[1])


def lines_over(references: Mapping[float, References]) -> list[tuple[str, list[float], list[float]]]:
    """Kind, epsilons and errors: one line a reference, level but for the private mean, which epsilon moves."""
    ends = [min(references), max(references)]
    return [(kind, ends, [value, value]) if kind != "private_mean" else
            (kind, sorted(references), [references[epsilon].private_mean for epsilon in sorted(references)])
            for kind, value in reference_items(references[ends[0]])]


def reference_look(kind: str, name: str, *, width: float = 2) -> dict[str, Any]:
    """What the lines of references have in common, for Plotly's ``add_scatter``."""
    return {"name": name, "hoverinfo": "name", **stroke(DATA, width, REFERENCE_DASHES[kind])}


def mean_words(outcome: Outcome) -> str:
    """"0.531 ± 0.004", without an interval for one trial."""
    if not math.isfinite(outcome.mean):
        return "too large to be written"
    if not math.isfinite(outcome.half_width):
        return as_number(outcome.mean)
    return f"{as_number(outcome.mean)} ± {as_number(outcome.half_width, 2)}"
