"""Noise on what is needed against noise on the rest, over all splits of the same budget."""

import math

import plotly.graph_objects as go

from mvgviz.design.needs import NoiseOn
from mvgviz.design.trade_off import TradeOff
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID, log_axis, styled


def plot_trade_off(trade: TradeOff, design: NoiseOn, *, least: float | None) -> go.Figure:
    """The curve of all shares, this design and noise of one size, both axes in units of the latter.

    Dashed: to release the needed alone. Dotted: ``least``, below which no Gaussian noise of any shape can be; None
    where the design asks about records inside a bound, and the curve about records as they are.
    """
    equal = trade.equal
    xs = [point.needed / equal.needed for point in trade.curve]
    ys = [point.rest / equal.rest for point in trade.curve]
    here = design.needed / equal.needed, design.rest / equal.rest
    name = "every split of the budget" + ("" if least is not None else ", records as they are")
    figure = go.Figure(go.Scatter(
        x=xs, y=ys, mode="lines", name=name, line={"color": DIRECTIONAL, "width": 2.5},
        customdata=trade.shares, hovertemplate="share %{customdata:.0%}: %{x:.3g} times on the needed, "
                                               "%{y:.3g} times on the rest<extra></extra>"))
    for (x, y), name, colour, symbol in ((here, "this design", DIRECTIONAL, "circle"),
                                         ((1.0, 1.0), "noise of one size", IID, "diamond")):
        figure.add_scatter(
            x=[x], y=[y], mode="markers", name=name, marker={"color": colour, "size": 13, "symbol": symbol},
            hovertemplate=f"{name}: %{{x:.3g}} times on the needed, %{{y:.3g}} on the rest<extra></extra>")
    ends = [min(ys), max(ys)]
    marks = [("only the needed", trade.only / equal.needed, "dash")]
    if least is not None:
        marks.append(("least possible, any shape", least / equal.needed, "dot"))
    for name, x, dash in marks:
        figure.add_scatter(x=[x, x], y=ends, mode="lines", name=name, line={"color": DATA, "width": 2, "dash": dash},
                           hovertemplate=f"{name}: %{{x:.3g}} times<extra></extra>")
    across = [*xs, here[0], 1.0, *(x for _, x, _ in marks)]
    figure.update_xaxes(title="noise on what is needed (times noise of one size)",
                        **log_axis(min(across), max(across), room=0.05))
    up = [value for value in (*ys, here[1], 1.0) if math.isfinite(value)]
    figure.update_yaxes(title="noise on the rest (times noise of one size)", **log_axis(min(up), max(up), room=0.05))
    return styled(figure, height=380)
