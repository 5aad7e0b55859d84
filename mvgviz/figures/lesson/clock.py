"""The lesson's minutes on one line."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DIRECTIONAL, styled


def plot_clock(titles: Sequence[str], minutes: Sequence[int]) -> go.Figure:
    """One bar for each step, from when to when."""
    starts = [sum(minutes[:i]) for i in range(len(minutes))]
    labels = [f"{i + 1} · {title}" for i, title in enumerate(titles)]
    figure = go.Figure(go.Bar(
        x=list(minutes), base=starts, y=labels, orientation="h", marker={"color": DIRECTIONAL},
        text=[f"{length} min" for length in minutes], textposition="inside", insidetextanchor="middle",
        textfont={"color": "#000"}, hovertemplate="%{y}: from minute %{base}<extra></extra>"))
    figure.update_xaxes(title="minutes", range=[0, sum(minutes)], dtick=5)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return styled(figure, height=270, legend=False)
