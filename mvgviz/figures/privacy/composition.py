"""What several releases of one design spend together, exactly and by adding up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.privacy_loss import SpentMu
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, styled
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.validation import FloatArray

MOST = 1_000


@dataclass(frozen=True, kw_only=True, eq=False)
class CompositionNumbers:
    """Epsilon after k releases: ``exact`` at the same delta, ``added`` at k times delta (NaN where that reaches 1).

    ``directions_share``: the part of mu² that directions learned once have spent, at the chosen k.
    """

    releases: FloatArray
    exact: FloatArray
    added: FloatArray
    chosen: int
    chosen_exact: float
    chosen_added: float
    directions_share: float


def composition_numbers(spent: SpentMu, *, epsilon: float, delta: float, chosen: int) -> CompositionNumbers:
    """From 1 to 1 000 releases; ``epsilon`` and ``delta`` are those asked of one."""
    releases = np.unique(np.round(np.geomspace(1, MOST, 80))).astype(np.float64)
    together = np.array([spent.after(int(k))[0] for k in releases])
    mu, share = spent.after(chosen)
    return CompositionNumbers(
        releases=releases, exact=np.asarray(gaussian_epsilon(delta, together)), chosen=chosen,
        added=np.where(releases * delta < 1, releases * epsilon, np.nan), directions_share=share,
        chosen_exact=float(gaussian_epsilon(delta, mu)),
        chosen_added=chosen * epsilon if chosen * delta < 1 else float("nan"),
    )


def plot_composition(numbers: CompositionNumbers, *, height: int = 320) -> go.Figure:
    """Both curves on log axes; releases that need no epsilon leave a gap."""
    seen = numbers.exact > 0
    figure = go.Figure()
    figure.add_scatter(x=numbers.releases, y=numbers.added, mode="lines", name="added up: kε at kδ",
                       line={"color": DATA, "width": 2, "dash": "dash"},
                       hovertemplate="%{x:.0f} releases, added up: ε = %{y:.3g}<extra></extra>")
    figure.add_scatter(x=numbers.releases, y=np.where(seen, numbers.exact, np.nan), mode="lines", name="exact, at δ",
                       line={"color": DIRECTIONAL, "width": 2.5},
                       hovertemplate="%{x:.0f} releases: ε = %{y:.3g}<extra></extra>")
    for value, colour in ((numbers.chosen_added, DATA), (numbers.chosen_exact, DIRECTIONAL)):
        if value > 0:
            figure.add_scatter(x=[numbers.chosen], y=[value], mode="markers", marker={"color": colour, "size": 11},
                               showlegend=False, hovertemplate="%{x:.0f} releases: ε = %{y:.3g}<extra></extra>")
    figure.update_xaxes(title="releases of the same data", type="log", range=[-0.05, 3.05],
                        tickvals=[1, 10, 100, 1000], ticktext=["1", "10", "100", "1,000"])
    figure.update_yaxes(title="ε of all together", type="log", dtick=1)
    if not seen.any():
        figure.add_annotation(text="exact: no ε is spent, even by 1,000 releases", xref="paper", yref="paper", x=0.98,
                              y=0.06, showarrow=False, font={"color": DIRECTIONAL})
    return styled(figure, height=height)
