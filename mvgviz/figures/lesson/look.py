"""The lesson's charts are read from the back of a classroom: large type, few ticks."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import styled

SIZE = 17


def large(figure: go.Figure, *, legend: bool = True) -> go.Figure:
    """The figure in the common look, with larger type; nothing moves when it is touched."""
    styled(figure, height=410, legend=legend)
    figure.update_layout(font={"size": SIZE}, legend={"font": {"size": SIZE}}, dragmode=False)
    axis: dict[str, Any] = {"title_font_size": SIZE, "tickfont_size": SIZE - 1, "fixedrange": True}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    return figure.update_annotations(font_size=SIZE)
