"""What the best attacker can do: misses against false alarms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from scipy import special

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, styled
from mvgviz.noise.accounting import tradeoff
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class TradeoffNumbers:
    """Miss rates at false-alarm rates, and one attack among them (``marked``).

    ``limit`` (2 × points): the fewest misses that (epsilon, delta) allow.
    """

    false_alarms: FloatArray
    misses: FloatArray
    limit: FloatArray
    marked: tuple[float, float]


def tradeoff_numbers(mu: float, *, epsilon: float, delta: float, marked: float) -> TradeoffNumbers:
    """The curve for ``mu``; ``marked`` is the false-alarm rate of the point that is spoken of."""
    # Evenly along the attacker's thresholds: the bend is drawn smoothly for every mu.
    thresholds = np.linspace(-5, mu + 5, 241)
    false_alarms = np.concatenate([[1.0], special.ndtr(-thresholds), [0.0]])
    # (epsilon, delta): misses >= 1 - delta - e^epsilon alarms, and the same with the two exchanged.
    corner = (1 - delta) * float(special.expit(-epsilon))
    limit = np.array([[0, corner, 1 - delta, 1], [1 - delta, corner, 0, 0]])
    return TradeoffNumbers(false_alarms=false_alarms, misses=tradeoff(false_alarms, mu), limit=limit,
                           marked=(marked, float(tradeoff(marked, mu))))


def plot_tradeoff(numbers: TradeoffNumbers, *, height: int = 300) -> go.Figure:
    """The curve, the diagonal of blind guessing, the promise that was asked, and the marked attack."""
    hover = "accuses %{x:.2%} of the absent, misses %{y:.2%} of the present<extra></extra>"
    ends = {"tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1], "range": [0, 1.02]}
    figure = styled(go.Figure(data=[
        {"x": [0, 1], "y": [1, 0], "name": "blind guess", "mode": "lines", "hoverinfo": "name",
         "line": {"color": DATA, "width": 1.5, "dash": "dash"}},
        {"x": numbers.limit[0], "y": numbers.limit[1], "name": "least asked for", "mode": "lines", "hoverinfo": "name",
         "line": {"color": EXACT, "width": 2, "dash": "dot"}},
        {"x": numbers.false_alarms, "y": numbers.misses, "name": "best attack", "mode": "lines",
         "line": {"color": DIRECTIONAL, "width": 2.5}, "hovertemplate": hover},
        {"x": [numbers.marked[0]], "y": [numbers.marked[1]], "mode": "markers", "showlegend": False,
         "marker": {"color": DIRECTIONAL, "size": 11}, "cliponaxis": False, "hovertemplate": hover},
    ], layout={"xaxis": {"title": {"text": "false alarms: absent, yet accused"}, **ends},
               "yaxis": {"title": {"text": "misses: present, not accused"}, **ends}}), height=height)
    # Above the diagonal nothing is ever drawn.
    return figure.update_layout(legend={"orientation": "v", "x": 1, "xanchor": "right", "y": 1, "yanchor": "top"})
