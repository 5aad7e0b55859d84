"""The split of the precision budget: a bar, or a treemap when the directions are many."""

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EDGE, styled
from mvgviz.validation import FloatArray

MOST_IN_BAR = 12
MOST_TILES = 40
_WEAK = "#8FA9BD"  # opaque, so that labels on it read in light and dark


def largest_directions(theta: FloatArray) -> list[int]:
    """Positions of every direction, or of more than 40 of the 39 with the largest shares."""
    if theta.size <= MOST_TILES:
        return list(range(theta.size))
    return [int(k) for k in np.argsort(-theta, kind="stable")[: MOST_TILES - 1]]


def plot_split(theta: FloatArray, shown: list[int], *, names: list[str]) -> go.Figure:
    """Strong colour: more than an equal share. ``names``: of those shown; the others are one tile."""
    return (_bar if theta.size <= MOST_IN_BAR else _treemap)(theta, shown, names)


def _bar(theta: FloatArray, shown: list[int], names: list[str]) -> go.Figure:
    figure, equal = go.Figure(), 1 / theta.size
    for name, share in zip(names, theta[shown].tolist(), strict=True):
        figure.add_bar(
            x=[100 * share, 100 * equal], y=["this split", "equal shares"], orientation="h", name=name,
            marker={"color": [_colour(share, equal), DATA], "line": EDGE, "opacity": [1.0, 0.5]},
            text=[f"{name}<br>{percent(share)}", ""], textposition="inside", insidetextanchor="middle", textangle=0,
            hovertemplate=f"{name}: %{{x:.3g}} %<extra>%{{y}}</extra>")
    figure.update_layout(barmode="stack", bargap=0.25, uniformtext={"minsize": 10, "mode": "hide"})
    figure.update_xaxes(title="share of the precision budget (%)", range=[0, 100])
    figure.update_yaxes(autorange="reversed")
    return styled(figure, height=190, legend=False)


def _treemap(theta: FloatArray, shown: list[int], names: list[str]) -> go.Figure:
    labels, shares, equal = list(names), theta[shown].tolist(), 1 / theta.size
    colours = [_colour(share, equal) for share in shares]
    others = theta.size - len(shown)
    if others:
        rest = max(1 - float(theta[shown].sum()), 0.0)
        labels, shares = [*labels, f"the other {others:,}"], [*shares, rest]
        colours.append(_colour(rest / others, equal))
    figure = go.Figure(go.Treemap(
        ids=[str(i) for i in range(len(labels))], labels=labels, parents=[""] * len(labels), values=shares,
        text=[percent(share) for share in shares], textinfo="label+text", sort=True,
        marker={"colors": colours, "line": EDGE}, tiling={"pad": 1}, root={"color": "rgba(0,0,0,0)"},
        pathbar={"visible": False}, hovertemplate="%{label}: %{text} of the precision budget<extra></extra>"))
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"})
    return styled(figure, height=260, legend=False)


def _colour(share: float, equal: float) -> str:
    return DIRECTIONAL if share > equal * (1 + 1e-9) else _WEAK


def percent(share: float) -> str:
    """40 %, 16.7 %, 0.0021 %; never 100 % for what is less."""
    value = 100 * share
    if 99.95 <= value < 100 * (1 - 1e-12):
        return "over 99.9 %"
    return f"{value:.3g} %" if value >= 1e-4 else f"{value:.1e} %"
