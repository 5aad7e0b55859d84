"""Predictions on records held out: the true label against what is predicted, with and without noise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, styled
from mvgviz.trials.first_trial import Predictions
from mvgviz.validation import FloatArray

MOST = 400
_ROOM = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictionNumbers:
    """At most 400 records. ``outside``: noisy predictions of those that leave the picture."""

    labels: FloatArray = field(repr=False)
    clean: FloatArray = field(repr=False)
    noisy: FloatArray = field(repr=False)
    span: tuple[float, float]
    view: tuple[float, float]
    outside: int
    total: int


def prediction_numbers(found: Predictions) -> PredictionNumbers:
    """The picture reaches one label range beyond the range itself, no further."""
    labels, clean, noisy = (values[:MOST] for values in (found.labels, found.clean, found.noisy))
    width = found.upper - found.lower
    edge = found.lower - _ROOM * width, found.upper + _ROOM * width
    inside = (noisy >= edge[0]) & (noisy <= edge[1])
    both = np.concatenate([labels, clean, noisy[inside]])
    pad = 0.03 * width
    view = max(float(both.min()), edge[0]) - pad, min(float(both.max()), edge[1]) + pad
    return PredictionNumbers(labels=labels, clean=clean, noisy=noisy, span=(found.lower, found.upper), view=view,
                             outside=int((~inside).sum()), total=int(found.labels.size))


def plot_predictions(numbers: PredictionNumbers, *, name: str, height: int = 320) -> go.Figure:
    """On the diagonal a prediction is right."""
    figure = go.Figure()
    low, high = float(numbers.labels.min()), float(numbers.labels.max())
    figure.add_scatter(x=[low, high], y=[low, high], mode="lines", name="right", hoverinfo="skip",
                       line={"color": DATA, "width": 1, "dash": "dash"})
    for label, values, colour, symbol in (("without privacy", numbers.clean, DATA, "circle-open"),
                                          ("noisy", numbers.noisy, DIRECTIONAL, "circle")):
        figure.add_scatter(x=numbers.labels, y=values, mode="markers", name=label,
                           marker={"color": colour, "size": 6, "symbol": symbol, "opacity": 0.8},
                           hovertemplate=f"true %{{x:.3g}}, {label} %{{y:.3g}}<extra></extra>")
    figure.update_xaxes(title=f"true {name}", zeroline=False)
    figure.update_yaxes(title=f"predicted {name}", range=list(numbers.view), zeroline=False)
    return styled(figure, height=height, top=20)
