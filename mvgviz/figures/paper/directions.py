"""The paper's Figure 4: error over epsilon for each favoured set, under the theorem as printed and exact."""

from collections.abc import Sequence

import plotly.graph_objects as go

from mvgviz.figures.shared.axes import interval
from mvgviz.figures.shared.theme import DATA, EXACT, THEOREM1, styled
from mvgviz.paper import EPSILONS, Curve
from mvgviz.trials.run import Outcome
from mvgviz.trials.tasks import References

_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
_LOG_BELOW = 0.02


def measured(curve: Curve) -> list[tuple[float, Outcome]]:
    """Those epsilons that have trials, with their outcomes."""
    return [(epsilon, outcome) for epsilon, outcome in zip(EPSILONS, curve.outcomes, strict=True)
            if outcome.errors.size]


def plot_directions(curves: Sequence[Curve], references: References, *, symbol: str) -> go.Figure:
    """A line for each set, as far as it is measured; the theorem's in its own colour."""
    least = min((outcome.mean for curve in curves for _, outcome in measured(curve)), default=None)
    log = least is not None and least < _LOG_BELOW * references.random_guess
    figure = go.Figure()
    sets = list(dict.fromkeys(curve.name for curve in curves))
    for curve in curves:
        points = measured(curve)
        means = [outcome.mean for _, outcome in points]
        halves = [outcome.half_width if outcome.errors.size > 1 else 0.0 for _, outcome in points]
        colour, guarantee = (EXACT, "exact") if curve.exact else (THEOREM1, "Theorem 1")
        k = sets.index(curve.name) % 4
        figure.add_scatter(
            x=[epsilon for epsilon, _ in points], y=means, mode="lines+markers", name=f"{curve.name}: {guarantee}",
            line={"color": colour, "dash": _DASHES[k], "width": 2},
            marker={"symbol": _SYMBOLS[k], "size": 8, "color": colour},
            error_y=interval(means, halves, thickness=1, log=log),
            hovertemplate="ε = %{x:g}: %{y:.3g}<extra>%{fullData.name}</extra>")
    for label, value, dash in (("random guess", references.random_guess, "dash"),
                               ("trivial answer", references.trivial, "dot"),
                               ("without privacy", references.non_private, "longdash")):
        if value > 0:
            figure.add_scatter(x=[EPSILONS[0], EPSILONS[-1]], y=[value, value], mode="lines", name=label,
                               hoverinfo="name", line={"color": DATA, "width": 1.5, "dash": dash})
    figure.update_xaxes(title="ε (log scale)", type="log", tickvals=list(EPSILONS),
                        ticktext=[f"{epsilon:g}" for epsilon in EPSILONS])
    scale = {"type": "log"} if log else {"type": "linear", "rangemode": "tozero"}
    figure.update_yaxes(title=f"error {symbol}" + (" (log scale)" if log else ""), **scale)
    return styled(figure, height=420)
