"""Noise on one question against noise on another, over all ways to divide what both have."""

import plotly.graph_objects as go

from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, log_axis, styled
from mvgviz.scenario.plan_noise import PairTrade


def plot_pair(trade: PairTrade, names: tuple[str, str], *, unit: str) -> go.Figure:
    """The curve of all divisions and the plan's own; open marks: the same noise on both, and the least squares of both.

    ``names``: of the questions; ``unit``: what noise is measured in.
    """
    first, second = names
    shares, across, up = zip(*trade.curve, strict=True)
    figure = go.Figure(go.Scatter(
        x=across, y=up, mode="lines", name="every division of the budget", line={"color": DIRECTIONAL, "width": 2.5},
        customdata=[100 * share for share in shares],
        hovertemplate=f"%{{customdata:.1f}} % to {first}: noise %{{x:.3g}} on it, %{{y:.3g}} on the other"
                      "<extra></extra>"))
    a, b = trade.alone
    for share, name, colour, symbol in ((a * a / (a * a + b * b), "same noise on both", DATA, "diamond-open"),
                                        (a / (a + b), "least noise in all", DATA, "square-open"),
                                        (trade.share, "this plan", DIRECTIONAL, "circle")):
        if shares[0] <= share <= shares[-1] or name == "this plan":
            x, y = trade.at(share)
            figure.add_scatter(
                x=[x], y=[y], mode="markers", name=name,
                marker={"color": colour, "size": 13, "symbol": symbol, "line": {"width": 2, "color": colour}},
                hovertemplate=f"{name}: {100 * share:.1f} % to {first}, noise %{{x:.3g}} on it, %{{y:.3g}} on the "
                              "other<extra></extra>")
    figure.update_xaxes(title=f"noise on {first} ({unit})",
                        **log_axis(min(*across, trade.here[0]), max(*across, trade.here[0]), room=0.03))
    figure.update_yaxes(title=f"noise on {second} ({unit})",
                        **log_axis(min(*up, trade.here[1]), max(*up, trade.here[1]), room=0.03))
    return styled(figure, height=400)
