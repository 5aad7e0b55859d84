"""True against noisy, for one draw: the answer itself, its components, the predictions made from it."""

from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.error_axis import ErrorAxis, error_axis
from mvgviz.figures.shared.matrix_map import plot_matrix, top_left
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, stroke, styled
from mvgviz.trials.first_trial import Components, Predictions
from mvgviz.validation import FloatArray

_HEIGHT = 330
_STRONG = 1.5
_MOST_BARS, _MOST_COMPONENTS, _MOST_RECORDS = 20, 40, 400


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixPair:
    """Parts that are drawn. ``reach``: where both colour scales end; ``cut``: the share of noisy entries far beyond."""

    true: FloatArray
    noisy: FloatArray
    reach: float
    cut: float


def matrix_pair(true: FloatArray, noisy: FloatArray) -> MatrixPair:
    """The scale ends at the largest true entry, so that the truth can be seen."""
    true, noisy = top_left(true), top_left(noisy)
    reach = float(np.abs(true).max()) or float(np.abs(noisy).max()) or 1.0
    return MatrixPair(true=true, noisy=noisy, reach=reach, cut=float((np.abs(noisy) > _STRONG * reach).mean()))


def plot_one_of_pair(pair: MatrixPair, shown: FloatArray, *, row_labels: list[str], col_labels: list[str],
                     row_title: str, col_title: str, scale: bool) -> go.Figure:
    """One side, on the scale of both; ``scale``: whether it is drawn beside it. Empty labels are left out."""
    figure = plot_matrix(shown, row_labels=row_labels, col_labels=col_labels, row_title=row_title,
                         col_title=col_title, value_title="", height=_HEIGHT)
    for axis, labels in ((figure.layout.xaxis, col_labels), (figure.layout.yaxis, row_labels)):
        places = [k for k, label in enumerate(labels) if label]
        axis.update(tickvals=places, ticktext=[labels[k] for k in places])
    return figure.update_traces(colorscale="RdBu_r", zmin=-pair.reach, zmax=pair.reach, showscale=scale)


def largest_loadings(parts: Components) -> list[int]:
    """Positions of all features, or of the 20 with the largest loadings in one or the other, in their order."""
    size = np.maximum(np.abs(parts.first), np.abs(parts.noisy_first))
    return [int(k) for k in np.sort(np.argsort(-size, kind="stable")[:_MOST_BARS])]


def plot_loadings(parts: Components, shown: list[int], *, names: list[str]) -> go.Figure:
    """The first component's loadings, two bars a feature."""
    figure = go.Figure()
    rows = list(range(len(names)))
    for label, values, colour in (("true", parts.first, DATA), ("noisy", parts.noisy_first, DIRECTIONAL)):
        figure.add_bar(x=values[shown], y=rows, orientation="h", name=label, marker={"color": colour},
                       customdata=names, hovertemplate=f"%{{customdata}}, {label}: %{{x:.3f}}<extra></extra>")
    figure.update_xaxes(title="loading on the first component", zeroline=True, zerolinecolor=DATA)
    figure.update_yaxes(tickvals=rows, ticktext=names, autorange="reversed", showgrid=False)
    figure.update_layout(barmode="group", bargap=0.3)
    return styled(figure, height=_HEIGHT, top=20)


def plot_captured(parts: Components) -> go.Figure:
    """The strongest 40 eigenvalues, and what as many noisy components capture of the true answer."""
    true, noisy = parts.eigenvalues[:_MOST_COMPONENTS], parts.captured[:_MOST_COMPONENTS]
    axis = _captured_axis(np.concatenate([true, noisy]))
    figure = go.Figure()
    order = np.arange(1, true.size + 1)
    for label, values, colour, symbol in (("true eigenvalues", true, DATA, "circle-open"),
                                          ("noisy components", noisy, DIRECTIONAL, "circle")):
        figure.add_scatter(x=order, y=axis.cut(values), mode="lines+markers", name=label, customdata=values,
                           line={"color": colour, "width": 1.5}, marker={"color": colour, "size": 8, "symbol": symbol},
                           hovertemplate=f"component %{{x}}, {label}: %{{customdata:.4g}}<extra></extra>")
    figure.update_xaxes(title="component", dtick=1 if order.size <= 12 else 5)
    figure.update_yaxes(**axis.layout("captured of the true answer", upright=True))
    return styled(figure, height=_HEIGHT, top=20)


def _captured_axis(values: FloatArray) -> ErrorAxis:
    """A log axis where all values are above 0 and span decades."""
    least, most = float(values.min()), float(values.max())
    if least > 0 and most > 20 * least:
        return error_axis(values.tolist())
    room = 0.05 * (most - least) or 1.0
    return ErrorAxis(False, least - room, most + room)


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictionNumbers:
    """At most 400 records. ``outside``: noisy predictions of those that leave the picture."""

    labels: FloatArray = field(repr=False)
    clean: FloatArray = field(repr=False)
    noisy: FloatArray = field(repr=False)
    view: tuple[float, float]
    outside: int


def prediction_numbers(found: Predictions) -> PredictionNumbers:
    """The picture reaches one label range beyond the range itself, no further."""
    labels, clean, noisy = (values[:_MOST_RECORDS] for values in (found.labels, found.clean, found.noisy))
    width = found.upper - found.lower
    low, high = found.lower - width, found.upper + width
    inside = (noisy >= low) & (noisy <= high)
    seen = np.concatenate([labels, clean, noisy[inside]])
    pad = 0.03 * width
    return PredictionNumbers(labels=labels, clean=clean, noisy=noisy, outside=int((~inside).sum()),
                             view=(max(float(seen.min()), low) - pad, min(float(seen.max()), high) + pad))


def plot_predictions(numbers: PredictionNumbers, *, name: str) -> go.Figure:
    """Records held out: the true label against what is predicted; on the diagonal a prediction is right."""
    figure = go.Figure()
    ends = [float(numbers.labels.min()), float(numbers.labels.max())]
    figure.add_scatter(x=ends, y=ends, name="right", hoverinfo="skip", **stroke(DATA, 1, "dash"))
    for label, values, colour, symbol in (("without privacy", numbers.clean, DATA, "circle-open"),
                                          ("noisy", numbers.noisy, DIRECTIONAL, "circle")):
        figure.add_scatter(x=numbers.labels, y=values, mode="markers", name=label,
                           marker={"color": colour, "size": 6, "symbol": symbol, "opacity": 0.8},
                           hovertemplate=f"true %{{x:.3g}}, {label} %{{y:.3g}}<extra></extra>")
    figure.update_xaxes(title=f"true {name}", zeroline=False)
    figure.update_yaxes(title=f"predicted {name}", range=list(numbers.view), zeroline=False)
    return styled(figure, height=_HEIGHT, top=20)
