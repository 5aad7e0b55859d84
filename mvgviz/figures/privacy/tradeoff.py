"""What the best attacker can do: misses against false alarms."""

import numpy as np
import plotly.graph_objects as go
from scipy import special

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, styled
from mvgviz.noise.accounting import tradeoff
from mvgviz.validation import FloatArray


def best_attacks(mu: float) -> tuple[FloatArray, FloatArray]:
    """False alarms and misses, evenly along the attacker's thresholds: the bend is drawn smoothly for every mu."""
    thresholds = np.linspace(-5, mu + 5, 241)
    false_alarms = np.concatenate([[1.0], special.ndtr(-thresholds), [0.0]])
    return false_alarms, tradeoff(false_alarms, mu)


def fewest_misses(epsilon: float, delta: float) -> FloatArray:
    """What is promised (2 × points): misses >= 1 - delta - e^epsilon alarms, and the same with the two exchanged."""
    corner = (1 - delta) * float(special.expit(-epsilon))
    return np.array([[0, corner, 1 - delta, 1], [1 - delta, corner, 0, 0]])


def plot_tradeoff(mu: float, *, epsilon: float, delta: float, marked: float) -> go.Figure:
    """The curve, the diagonal of blind guessing, the promise that was asked, and one attack by its false alarms."""
    false_alarms, misses = best_attacks(mu)
    limit = fewest_misses(epsilon, delta)
    hover = "accuses %{x:.2%} of the absent, misses %{y:.2%} of the present<extra></extra>"
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[1, 0], name="blind guess", mode="lines", hoverinfo="name",
                       line={"color": DATA, "width": 1.5, "dash": "dash"})
    figure.add_scatter(x=limit[0], y=limit[1], name="least asked for", mode="lines", hoverinfo="name",
                       line={"color": EXACT, "width": 2, "dash": "dot"})
    figure.add_scatter(x=false_alarms, y=misses, name="best attack", mode="lines", hovertemplate=hover,
                       line={"color": DIRECTIONAL, "width": 2.5})
    figure.add_scatter(x=[marked], y=[float(tradeoff(marked, mu))], mode="markers", showlegend=False, cliponaxis=False,
                       marker={"color": DIRECTIONAL, "size": 11}, hovertemplate=hover)
    for axis, title in ((figure.update_xaxes, "false alarms: absent, yet accused"),
                        (figure.update_yaxes, "misses: present, not accused")):
        axis(title=title, tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], range=[0, 1.02])
    # Above the diagonal nothing is ever drawn.
    return styled(figure, height=300).update_layout(
        legend={"orientation": "v", "x": 1, "xanchor": "right", "y": 1, "yanchor": "top"})
