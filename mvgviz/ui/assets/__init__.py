"""Styles, scripts and texts of the app, each a file beside this one."""

from pathlib import Path


def asset(name: str) -> str:
    """The text of one of them."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
