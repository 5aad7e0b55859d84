"""What marks a mechanism in the charts of the page Compare: a colour for its family, a symbol for its promise."""

import re

from mvgviz.figures.shared.theme import GUARANTEE_COLOURS, IID
from mvgviz.trials.mechanisms import EPSILON, Mechanism

PURE = "#8E6BD1"
"""Mechanisms that promise epsilon alone: Laplace, exponential."""

SKETCH = "#A65628"
"""Random projections: Johnson–Lindenstrauss."""


def colour(mechanism: Mechanism, guarantee: str = "exact") -> str:
    """MVG by its guarantee (``guarantee``: of the scenario's own), Gaussian noise of one size as i.i.d. noise."""
    key = mechanism.key
    if key.startswith("mvg"):
        return GUARANTEE_COLOURS[key.removeprefix("mvg-") if key != "mvg" else guarantee]
    if "lindenstrauss" in key:
        return SKETCH
    return PURE if mechanism.guarantee == EPSILON else IID


def symbol(mechanism: Mechanism) -> str:
    """A diamond for epsilon alone, a circle for epsilon and delta; hollow where only some features are released."""
    shape = "diamond" if mechanism.guarantee == EPSILON else "circle"
    return f"{shape}-open" if mechanism.key.startswith("reduced") else shape


def label(mechanism: Mechanism) -> str:
    """The mechanism and, where it is the stronger one, its promise."""
    return f"{mechanism.label} ({EPSILON})" if mechanism.guarantee == EPSILON else mechanism.label


def two_lines(text: str, most: int = 24) -> str:
    """A long label broken at a comma or a bracket, for Plotly; names in it must be harmless already."""
    if len(text) <= most:
        return text
    cuts = [found.end() for mark in (r", ", r" (?=\()") for found in re.finditer(mark, text)]
    if not cuts:
        return text
    at = min(cuts, key=lambda cut: abs(cut - len(text) / 2))
    return f"{text[:at].rstrip()}<br>{text[at:]}"
