"""Styles, scripts and texts of the app, each a file beside this one."""

from pathlib import Path

from mvgviz.pictures.theme import CSS_COLOURS


def asset(name: str) -> str:
    """Return the text of one of them; a style begins with the theme's colours."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return f"{CSS_COLOURS}\n{text}" if name.endswith(".css") else text
