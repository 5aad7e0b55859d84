"""The paper's Figure 4: error over epsilon for each favoured set, under the theorem as printed and exact."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, EXACT, THEOREM1, styled
from mvgviz.paper import EPSILONS, Curve
from mvgviz.trials.tasks import References

_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
_LOG_BELOW = 0.02


@dataclass(frozen=True, kw_only=True)
class DirectionLine:
    """One set under one guarantee: means and half intervals at those epsilons that have trials."""

    name: str
    exact: bool
    epsilons: list[float]
    means: list[float]
    half_widths: list[float]


@dataclass(frozen=True, kw_only=True)
class DirectionNumbers:
    """All lines, the references, and whether the errors span decades."""

    lines: list[DirectionLine]
    references: References
    symbol: str
    log: bool


def direction_numbers(curves: list[Curve], references: References, *, symbol: str) -> DirectionNumbers:
    """What is measured so far."""
    lines = []
    for curve in curves:
        known = [(epsilon, one) for epsilon, one in zip(EPSILONS, curve.outcomes, strict=True) if one.errors.size]
        lines.append(DirectionLine(
            name=curve.name, exact=curve.exact, epsilons=[epsilon for epsilon, _ in known],
            means=[one.mean for _, one in known],
            half_widths=[one.half_width if one.errors.size > 1 else 0.0 for _, one in known]))
    means = [mean for line in lines for mean in line.means]
    return DirectionNumbers(lines=lines, references=references, symbol=symbol,
                            log=bool(means) and min(means) < _LOG_BELOW * references.random_guess)


def plot_directions(numbers: DirectionNumbers, *, height: int = 420) -> go.Figure:
    """A line for each set; the theorem's in its own colour."""
    figure = go.Figure()
    sets = list(dict.fromkeys(line.name for line in numbers.lines))
    for line in numbers.lines:
        colour, k = EXACT if line.exact else THEOREM1, sets.index(line.name)
        guarantee = "exact" if line.exact else "Theorem 1"
        figure.add_scatter(
            x=line.epsilons, y=line.means, mode="lines+markers", name=f"{line.name}: {guarantee}",
            line={"color": colour, "dash": _DASHES[k % 4], "width": 2},
            marker={"symbol": _SYMBOLS[k % 4], "size": 8, "color": colour},
            error_y={"array": line.half_widths, "thickness": 1, "width": 0,
                     "arrayminus": [min(half, 0.95 * mean) if numbers.log else half
                                    for half, mean in zip(line.half_widths, line.means, strict=True)]},
            hovertemplate="ε = %{x:g}: %{y:.3g}<extra>%{fullData.name}</extra>")
    given = numbers.references
    for label, value, dash in (("random guess", given.random_guess, "dash"), ("trivial answer", given.trivial, "dot"),
                               ("without privacy", given.non_private, "longdash")):
        if value > 0:
            figure.add_scatter(x=[EPSILONS[0], EPSILONS[-1]], y=[value, value], mode="lines", name=label,
                               hoverinfo="name", line={"color": DATA, "width": 1.5, "dash": dash})
    figure.update_xaxes(title="ε (log scale)", type="log", tickvals=list(EPSILONS),
                        ticktext=[f"{epsilon:g}" for epsilon in EPSILONS])
    figure.update_yaxes(title=f"error {numbers.symbol}" + (" (log scale)" if numbers.log else ""),
                        type="log" if numbers.log else "linear")
    if not numbers.log:
        figure.update_yaxes(rangemode="tozero")
    return styled(figure, height=height)
