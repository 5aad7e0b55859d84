"""A chart as a picture: PNG and SVG, made by the browser itself, so that it works offline."""

from pathlib import Path
from typing import Any

import streamlit as st

SAVING: dict[str, Any] = {"displayModeBar": True, "displaylogo": False, "modeBarButtons": [["toImage"]]}
"""Plotly's own camera button; the frame's style hides it and the two buttons press it."""

_component = st.components.v2.component(
    "mvgviz_save_chart", html='<div class="save"></div>',
    css=(Path(__file__).parent / "save_chart.css").read_text(encoding="utf-8"),
    js=(Path(__file__).parent / "save_chart.js").read_text(encoding="utf-8"))


def draw_save(key: str) -> None:
    """Buttons that save the chart with this key as it looks on the screen."""
    _component(key=f"{key}_save", data={"key": key}, width="content")
