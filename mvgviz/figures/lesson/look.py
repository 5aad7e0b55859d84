"""The lesson's charts are read from the back of a classroom: large type, few ticks."""

from __future__ import annotations

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import styled

SIZE = 17
HEIGHT = 410


def large(figure: go.Figure, *, legend: bool = True, height: int = HEIGHT) -> go.Figure:
    """The figure in the common look, with larger type; nothing moves when it is touched."""
    styled(figure, height=height, legend=legend)
    figure.update_layout(font={"size": SIZE}, legend={"font": {"size": SIZE}}, dragmode=False)
    figure.update_xaxes(title_font_size=SIZE, tickfont_size=SIZE - 1, fixedrange=True)
    figure.update_yaxes(title_font_size=SIZE, tickfont_size=SIZE - 1, fixedrange=True)
    figure.update_annotations(font_size=SIZE)
    return figure
