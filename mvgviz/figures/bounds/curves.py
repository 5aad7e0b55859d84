"""Theorem 1, Theorem 2 and the exact limit on one log axis, as one input varies."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.limits import BoundCurves
from mvgviz.figures.shared.theme import DATA, EXACT, THEOREM1, THEOREM2, decades, stroke, styled, upright
from mvgviz.labels import TAILS
from mvgviz.validation import FloatArray

TAIL_DASHES = {"printed": "solid", "laurent-massart": "dash", "exact-chi": "dot"}


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveLine:
    """One curve: ``here`` is its value at the scenario, ``main`` whether it has the scenario's tail."""

    name: str
    colour: str
    tail: str | None
    main: bool
    values: FloatArray
    here: float


def curve_lines(curves: BoundCurves, *, second: str, tail: str, all_tails: bool, as_noise: bool) -> list[CurveLine]:
    """The curves to draw, as allowed precision or as noise; ``second`` names the curve of Theorem 2."""
    at = int(np.argmin(np.abs(curves.positions - curves.here)))
    lines = []
    for name, colour, family in (("Theorem 1", THEOREM1, curves.theorem1), (second, THEOREM2, curves.theorem2),
                                 ("Exact limit", EXACT, {None: curves.exact})):
        for its_tail, limits in family.items():
            main = its_tail in (None, tail)
            if main or all_tails:
                values = curves.as_std(limits) if as_noise else limits
                lines.append(CurveLine(name=name, colour=colour, tail=its_tail, main=main, values=values,
                                       here=float(values[at])))
    return lines


def plot_bound_curves(curves: BoundCurves, lines: list[CurveLine], *, axis_title: str, value_title: str) -> go.Figure:
    """The scenario's tail is thick, other tails thin; line styles tell tails apart.

    Theorem 1 is drawn wider, so that it still shows where Theorem 2 lies on it.
    """
    figure = go.Figure()
    for line in sorted(lines, key=lambda line: line.main):
        label = line.name if line.tail is None else f"{line.name}, tail {TAILS[line.tail].short}"
        figure.add_scatter(x=curves.positions, y=line.values, name=line.name, legendgroup=line.name,
                           showlegend=line.main, opacity=1.0 if line.main else 0.75,
                           hovertemplate=f"{label}<br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
                           **stroke(line.colour, _width(line), TAIL_DASHES.get(line.tail or "", "solid")))
    tails = {line.tail for line in lines if line.tail is not None}
    for tail in TAIL_DASHES:
        if len(tails) > 1 and tail in tails:
            figure.add_scatter(x=[None], y=[None], name=f"tail {TAILS[tail].short}", hoverinfo="skip",
                               **stroke(DATA, 1.5, TAIL_DASHES[tail]))
    main = [line for line in lines if line.main]
    figure.add_scatter(x=[curves.here] * len(main), y=[line.here for line in main], mode="markers",
                       name="this scenario", cliponaxis=False, showlegend=False,
                       marker={"size": [3 + 2.5 * _width(line) for line in main], "opacity": 1,
                               "color": [line.colour for line in main], "line": {"width": 2, "color": DATA}},
                       text=[line.name for line in main],
                       hovertemplate="%{text}, this scenario: %{y:.4g}<extra></extra>")
    edge = np.log10(curves.positions[[0, -1]]) + np.array([-0.02, 0.02])
    exponents = np.log10(np.concatenate([line.values for line in lines]))
    room = max(0.04 * float(np.ptp(exponents)), 0.1)
    low, high = float(exponents.min()) - room, float(exponents.max()) + room
    figure.update_layout(xaxis={"type": "log", "title": axis_title, "range": edge.tolist(), **decades(*edge)},
                         yaxis={"type": "log", "title": value_title, "range": [low, high], **decades(low, high)},
                         shapes=[upright(curves.here, DATA, "dot", width=1)])
    return styled(figure)


def _width(line: CurveLine) -> float:
    wide = 2.0 if line.colour == THEOREM1 else 1.0
    return wide * (3.0 if line.main else 1.5)
