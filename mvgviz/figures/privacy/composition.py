"""What several releases of one design spend together, exactly and by adding up."""

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.privacy_loss import SpentMu
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, styled
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.validation import FloatArray

RELEASES = np.unique(np.round(np.geomspace(1, 1_000, 80))).astype(np.float64)
_HOVER = "%{x:.0f} releases: ε = %{y:.3g}<extra></extra>"


def spent_together(spent: SpentMu, releases: FloatArray, *, epsilon: float, delta: float
                   ) -> tuple[FloatArray, FloatArray]:
    """Epsilon after so many releases: exactly, at the same delta; and added up, at that many times delta.

    ``epsilon`` and ``delta`` are those asked of one; adding up is NaN where delta would reach 1.
    """
    together = np.array([spent.after(int(k))[0] for k in releases])
    return (np.asarray(gaussian_epsilon(delta, together)),
            np.where(releases * delta < 1, releases * epsilon, np.nan))


def plot_composition(spent: SpentMu, *, epsilon: float, delta: float, chosen: int) -> go.Figure:
    """Both curves on log axes, up to 1 000 releases; those that need no epsilon leave a gap."""
    exact, added = spent_together(spent, RELEASES, epsilon=epsilon, delta=delta)
    seen = exact > 0
    figure = go.Figure()
    figure.add_scatter(x=RELEASES, y=added, mode="lines", name="added up: kε at kδ",
                       line={"color": DATA, "width": 2, "dash": "dash"},
                       hovertemplate="%{x:.0f} releases, added up: ε = %{y:.3g}<extra></extra>")
    figure.add_scatter(x=RELEASES, y=np.where(seen, exact, np.nan), mode="lines", name="exact, at δ",
                       line={"color": DIRECTIONAL, "width": 2.5}, hovertemplate=_HOVER)
    here = spent_together(spent, np.array([chosen]), epsilon=epsilon, delta=delta)
    for values, colour in zip(reversed(here), (DATA, DIRECTIONAL), strict=True):
        if values[0] > 0:
            figure.add_scatter(x=[chosen], y=[float(values[0])], mode="markers", showlegend=False,
                               marker={"color": colour, "size": 11}, hovertemplate=_HOVER)
    figure.update_xaxes(title="releases of the same data", type="log", range=[-0.05, 3.05],
                        tickvals=[1, 10, 100, 1000], ticktext=["1", "10", "100", "1,000"])
    figure.update_yaxes(title="ε of all together", type="log", dtick=1)
    if not seen.any():
        figure.add_annotation(text="exact: no ε is spent, even by 1,000 releases", xref="paper", yref="paper", x=0.98,
                              y=0.06, showarrow=False, font={"color": DIRECTIONAL})
    return styled(figure, height=320)
