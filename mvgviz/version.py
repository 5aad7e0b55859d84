"""The version of the package, where its files lie, and how the parts of it that somebody lacks are installed."""

from pathlib import Path

VERSION = "0.1.0"
_PACKAGE = Path(__file__).parent
TOP = _PACKAGE / "served" if (_PACKAGE / "served").is_dir() else _PACKAGE.parent
"""Where app.py, its pages and the samples lie: in the package where it was installed, else above it."""


def install_words(extra: str) -> str:
    """What to type: it works from a checkout today, and from the wheel that ``make dist`` builds."""
    wheel = f"mvgviz-{VERSION}-py3-none-any.whl"
    return f'pip install ".[{extra}]" in a checkout of mvgviz, or pip install "{wheel}[{extra}]"'
