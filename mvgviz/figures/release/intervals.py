"""Released numbers with their intervals, one a line."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, row_axis, styled, upright
from mvgviz.release.fitted import Coefficients
from mvgviz.text import as_number, in_html

MOST_LINES = 40
_WHOLE = 100.0


@dataclass(frozen=True, kw_only=True, eq=False)
class IntervalNumbers:
    """Where each number stands (``places``) and how far its interval goes, below and above; ``words``: of each."""

    names: tuple[str, ...]
    places: tuple[float, ...]
    below: tuple[float, ...] = field(repr=False)
    above: tuple[float, ...] = field(repr=False)
    words: tuple[str, ...] = field(repr=False)


def range_numbers(names: Sequence[str], values: Sequence[float], lower: Sequence[float], upper: Sequence[float], *,
                  ends: Sequence[tuple[float, float]]) -> IntervalNumbers:
    """Numbers in percent of the way from the low to the high end of their own ranges."""
    kept = list(zip(names, values, lower, upper, ends, strict=True))[:MOST_LINES]
    return IntervalNumbers(
        names=tuple(name for name, *_ in kept),
        places=tuple(_WHOLE * (value - low) / (high - low) for _, value, _, _, (low, high) in kept),
        below=tuple(_WHOLE * (value - under) / (high - low) for _, value, under, _, (low, high) in kept),
        above=tuple(_WHOLE * (over - value) / (high - low) for _, value, _, over, (low, high) in kept),
        words=tuple(f"{as_number(value)} ({as_number(under)} to {as_number(over)})"
                    for _, value, under, over, _ in kept))


def coefficient_numbers(fit: Coefficients) -> IntervalNumbers:
    """Coefficients as the label's change, in percent of its range, while a feature goes through all of its own."""
    places, below, above = (_WHOLE * fit.whole * part for part in (fit.values, fit.values - fit.lower,
                                                                   fit.upper - fit.values))
    words = (f"{as_number(value)} ({as_number(low)} to {as_number(high)})"
             for value, low, high in zip(fit.values.tolist(), fit.lower.tolist(), fit.upper.tolist(), strict=True))
    return IntervalNumbers(names=fit.features[:MOST_LINES], places=tuple(places.tolist()[:MOST_LINES]),
                           below=tuple(below.tolist()[:MOST_LINES]), above=tuple(above.tolist()[:MOST_LINES]),
                           words=tuple(words)[:MOST_LINES])


def plot_intervals(numbers: IntervalNumbers, *, title: str, lines: Sequence[float]) -> go.Figure:
    """Dots with bars; ``lines``: places to compare with, dotted."""
    figure = go.Figure(go.Scatter(
        x=numbers.places, y=list(range(len(numbers.places))), mode="markers", marker={"color": DIRECTIONAL, "size": 9},
        error_x={"array": numbers.above, "arrayminus": numbers.below, "thickness": 3, "width": 0},
        customdata=list(zip(map(in_html, numbers.names), numbers.words, strict=True)),
        hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>"))
    figure.update_layout(shapes=[upright(place, DATA, "dot", width=1.5) for place in lines])
    figure.update_xaxes(title=title, zeroline=False)
    figure.update_yaxes(**row_axis([in_html(name) for name in numbers.names]))
    return styled(figure, height=110 + 26 * len(numbers.places), legend=False)
