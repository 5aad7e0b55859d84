"""The first component's loadings, and what all components capture: true against noisy."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.error_axis import ErrorAxis, error_axis
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, styled
from mvgviz.trials.first_trial import Components
from mvgviz.validation import FloatArray

MOST_BARS, MOST_COMPONENTS = 20, 40


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadingNumbers:
    """``shown``: positions of the features drawn, in their order; ``total``: of all."""

    shown: list[int]
    true: FloatArray
    noisy: FloatArray
    total: int
    angle: float


def loading_numbers(parts: Components) -> LoadingNumbers:
    """All loadings, or the 20 that are largest in one or the other."""
    size = np.maximum(np.abs(parts.first), np.abs(parts.noisy_first))
    shown = np.sort(np.argsort(-size, kind="stable")[:MOST_BARS])
    return LoadingNumbers(shown=[int(k) for k in shown], true=parts.first[shown], noisy=parts.noisy_first[shown],
                          total=int(size.size), angle=parts.angle)


def plot_loadings(numbers: LoadingNumbers, *, names: list[str], height: int = 320) -> go.Figure:
    """Two bars a feature."""
    figure = go.Figure()
    rows = list(range(len(names)))
    for label, values, colour in (("true", numbers.true, DATA), ("noisy", numbers.noisy, DIRECTIONAL)):
        figure.add_bar(x=values, y=rows, orientation="h", name=label, marker={"color": colour}, customdata=names,
                       hovertemplate=f"%{{customdata}}, {label}: %{{x:.3f}}<extra></extra>")
    figure.update_xaxes(title="loading on the first component", zeroline=True, zerolinecolor=DATA)
    figure.update_yaxes(tickvals=rows, ticktext=names, autorange="reversed", showgrid=False)
    figure.update_layout(barmode="group", bargap=0.3)
    return styled(figure, height=height, top=20)


@dataclass(frozen=True, kw_only=True, eq=False)
class CapturedNumbers:
    """The strongest components first."""

    eigenvalues: FloatArray = field(repr=False)
    captured: FloatArray = field(repr=False)
    total: int
    axis: ErrorAxis


def captured_numbers(parts: Components) -> CapturedNumbers:
    """At most 40 components; a log axis where all are above 0 and span decades."""
    true, noisy = parts.eigenvalues[:MOST_COMPONENTS], parts.captured[:MOST_COMPONENTS]
    both = np.concatenate([true, noisy])
    least, most = float(both.min()), float(both.max())
    room = 0.05 * (most - least) or 1.0
    wide = least > 0 and most > 20 * least
    axis = error_axis(both.tolist()) if wide else ErrorAxis(False, least - room, most + room)
    return CapturedNumbers(eigenvalues=true, captured=noisy, total=int(parts.eigenvalues.size), axis=axis)


def plot_captured(numbers: CapturedNumbers, *, height: int = 320) -> go.Figure:
    """Eigenvalues, and what the noisy components capture of the true answer."""
    figure = go.Figure()
    order = np.arange(1, numbers.eigenvalues.size + 1)
    for label, values, colour, symbol in (("true eigenvalues", numbers.eigenvalues, DATA, "circle-open"),
                                          ("noisy components", numbers.captured, DIRECTIONAL, "circle")):
        figure.add_scatter(x=order, y=numbers.axis.value(numbers.axis.place(values)), mode="lines+markers", name=label,
                           customdata=values, line={"color": colour, "width": 1.5},
                           marker={"color": colour, "size": 8, "symbol": symbol},
                           hovertemplate=f"component %{{x}}, {label}: %{{customdata:.4g}}<extra></extra>")
    figure.update_xaxes(title="component", dtick=1 if order.size <= 12 else 5)
    figure.update_yaxes(**numbers.axis.layout("captured of the true answer", upright=True))
    return styled(figure, height=height, top=20)
