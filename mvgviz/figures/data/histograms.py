"""Small histograms of each feature against its declared range."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mvgviz.figures.shared.theme import DIRECTIONAL, styled
from mvgviz.query.dataset import Dataset
from mvgviz.text import in_html
from mvgviz.validation import FloatArray

_BINS = 24
_ACROSS = 3
_PANEL, _BETWEEN = 125, 46  # pixels; between two rows stand the ends of a range and the next name


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureHistogram:
    """Counts over 24 equal bins of the declared range, and how much of the range is used."""

    name: str
    lower: float
    upper: float
    counts: FloatArray
    used: float


def feature_histograms(dataset: Dataset, positions: list[int]) -> list[FeatureHistogram]:
    """The histograms of some features."""
    found = []
    for k in positions:
        low, high, values = float(dataset.lower[k]), float(dataset.upper[k]), dataset.matrix[k]
        counts, _ = np.histogram(values, bins=_BINS, range=(low, high))
        used = (float(values.max()) - float(values.min())) / (high - low)
        found.append(FeatureHistogram(name=dataset.features[k], lower=low, upper=high,
                                      counts=counts.astype(np.float64), used=used))
    return found


def plot_histograms(histograms: list[FeatureHistogram]) -> go.Figure:
    """One panel a feature; the axis is the declared range."""
    rows = -(-len(histograms) // _ACROSS)
    figure = make_subplots(rows=rows, cols=_ACROSS, subplot_titles=[in_html(feature.name) for feature in histograms],
                           vertical_spacing=_BETWEEN / (_PANEL * rows), horizontal_spacing=0.1)
    for i, feature in enumerate(histograms):
        where = {"row": i // _ACROSS + 1, "col": i % _ACROSS + 1}
        ends = [feature.lower, feature.upper]
        width = (feature.upper - feature.lower) / _BINS
        figure.add_bar(x=feature.lower + width * (np.arange(_BINS) + 0.5), y=feature.counts, width=width,
                       marker={"color": DIRECTIONAL, "line": {"width": 0}},
                       hovertemplate="%{y:,} records near %{x:.4g}<extra></extra>", **where)
        figure.update_xaxes(range=ends, tickvals=ends, tickformat=".4~g", **where)
    figure.update_yaxes(showticklabels=False, showgrid=False)
    figure.update_annotations(font_size=12)
    figure.update_layout(bargap=0)
    return styled(figure, height=max(_PANEL * rows + 30, 200), legend=False, top=26)
