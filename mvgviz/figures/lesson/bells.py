"""What an attacker sees: two neighbours' bells, more or less on top of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.lesson.look import large
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL
from mvgviz.validation import FloatArray

_POINTS = 301
_FILL = {DATA: "rgba(127,127,127,0.25)", DIRECTIONAL: "rgba(43,140,214,0.25)"}


@dataclass(frozen=True, kw_only=True, eq=False)
class BellsNumbers:
    """Two bells over ``published``, each as a share of its peak; ``border``: where the best guess changes."""

    published: FloatArray
    first: FloatArray
    second: FloatArray
    border: float


def bells_numbers(centre: float, *, shift: float, noise: float, span: float) -> BellsNumbers:
    """Bells of standard deviation ``noise``, ``shift`` apart, on an axis that reaches ``span`` to either side."""
    around = np.linspace(-span, span, _POINTS)
    # Narrow bells get points of their own, so that their peaks are not cut off.
    near = np.linspace(-4, 4, _POINTS) * noise
    published = np.unique(np.concatenate([around, near - shift / 2, near + shift / 2]))
    published = published[np.abs(published) <= span]
    first, second = (np.exp(-0.5 * ((published - side * shift / 2) / noise) ** 2) for side in (-1, 1))
    return BellsNumbers(published=published + centre, first=first, second=second, border=centre)


def plot_bells(numbers: BellsNumbers, *, names: tuple[str, str], axis: str) -> go.Figure:
    """Both bells, filled, and the border between the two guesses."""
    x = numbers.published
    figure = go.Figure(layout={
        "shapes": [{"type": "line", "x0": numbers.border, "x1": numbers.border, "y0": 0, "y1": 1.08,
                    "line": {"color": DATA, "dash": "dot", "width": 2}}],
        "annotations": [{"text": text, "x": where, "xref": "paper", "y": 1.17, "showarrow": False, "xanchor": anchor}
                        for text, where, anchor in (("← guess: " + names[0], 0.49, "right"),
                                                    ("guess: " + names[1] + " →", 0.51, "left"))]})
    for name, heights, colour, dash, level in ((names[0], numbers.first, DATA, "dash", 2),
                                               (names[1], numbers.second, DIRECTIONAL, "solid", 1)):
        # The dashed one on top: both are seen where they coincide.
        figure.add_scatter(x=x, y=heights, mode="lines", name=name, fill="tozeroy", fillcolor=_FILL[colour],
                           line={"color": colour, "width": 4, "dash": dash}, hoverinfo="name", zorder=level)
    figure.update_xaxes(title=axis, range=[float(x[0]), float(x[-1])], nticks=6, zeroline=False)
    figure.update_yaxes(title="how often", showticklabels=False, showgrid=False, range=[0, 1.25], zeroline=False)
    return large(figure)
