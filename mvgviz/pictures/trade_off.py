"""Noise on priority columns against noise on other columns, over all splits of the same budget."""

import math
from typing import NamedTuple

import plotly.graph_objects as go

from mvgviz.design.trade_off import TradeOff
from mvgviz.pictures import theme
from mvgviz.pictures.budget import Names
from mvgviz.pictures.sentences import clipping_words, other_clipping
from mvgviz.pictures.theme import DIRECTIONAL, Picture, log_axis, styled
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.trade_off import AgainstLeast, NeedsTradeOff, against_equal, against_least
from mvgviz.text import as_factor, as_number, in_markdown

ACROSS, UP = "noise on priority columns (× equal noise)", "noise on other columns (× equal noise)"
COLOURS = {"design": DIRECTIONAL, "equal": theme.IID} | theme.GUARANTEE_COLOURS
_LOOKS = {"design": ("this design", "circle"), "equal": ("equal noise", "diamond"),
          "theorem1": ("Theorem 1", "square"), "theorem2": ("Theorem 2", "square")}
_HERE = "%{x:.3g} × on priority columns, %{y:.3g} × on others<extra></extra>"
_FAR = 10  # times the curves' own reach: beyond, a point would crowd them into a corner


class Line(NamedTuple):
    """The noise at every share; ``own``: whether this scenario's designs lie on it."""

    name: str
    own: bool
    shares: tuple[float, ...]
    xs: tuple[float, ...]
    ys: tuple[float, ...]


class Mark(NamedTuple):
    """A point; its kind decides its colour."""

    kind: str
    name: str
    x: float
    y: float


class Wall(NamedTuple):
    """An upright line that no curve crosses; ``dash`` as Plotly calls it."""

    name: str
    x: float
    dash: str


class TradeOffNumbers(NamedTuple):
    """What is drawn, in units of equal noise; ``far``: points beyond the picture, up and to the right."""

    lines: list[Line]
    marks: list[Mark]
    far: list[Mark]
    walls: list[Wall]
    across: tuple[float, float]
    up: tuple[float, float]

    @property
    def own(self) -> Line:
        return next(line for line in self.lines if line.own)


def trade_off_numbers(found: NeedsTradeOff) -> TradeOffNumbers:
    """Return the curves of all shares, this design, equal noise, the theorems, and the walls no curve crosses."""
    curves, equal = found.curves, found.curves.box.equal
    lines = [_line("every split, clipped records", True, curves.bounded)] if curves.bounded else []
    lines.append(_line("every split" + (", records as they are" if lines else ""), not lines, curves.box))
    walls = [Wall("only priority columns", curves.own.only / equal.priority, "dash")]
    if found.least is not None and curves.bounded is None:  # inside a bound every share asks another question
        walls.append(Wall("lowest possible Gaussian noise", found.least.least.noise / equal.priority, "dot"))
    across = [1.0, *(x for line in lines for x in line.xs), *(wall.x for wall in walls)]
    up = [1.0, *(y for line in lines for y in line.ys)]
    most = _FAR * max(across), _FAR * max(up)
    near: list[Mark] = []
    far: list[Mark] = []
    for kind, noise in ({"equal": equal} | found.theorems | {"design": found.design}).items():
        mark = Mark(kind, _LOOKS[kind][0], noise.priority / equal.priority, noise.other / equal.other)
        (near if mark.x <= most[0] and mark.y <= most[1] else far).append(mark)
    across += [mark.x for mark in near]
    up += [mark.y for mark in near]
    return TradeOffNumbers(lines, near, far, walls, (min(across), max(across)), (min(up), max(up)))


def _line(name: str, own: bool, trade: TradeOff) -> Line:
    equal = trade.equal
    return Line(name, own, trade.shares, tuple(point.priority / equal.priority for point in trade.curve),
                tuple(point.other / equal.other for point in trade.curve))


def trade_off_picture(setup: Setup, found: NeedsTradeOff) -> Picture:
    """Noise on priority columns against noise on other columns; points far away are named in the corner."""
    numbers, figure = trade_off_numbers(found), go.Figure()
    for line in numbers.lines:
        width, dash = (2.5, "solid") if line.own else (1.5, "longdash")
        theme.add_line(figure, line.xs, line.ys, line.name, DIRECTIONAL, width, dash, customdata=line.shares,
                       hover=f"share %{{customdata:.0%}}: {_HERE}")
    for wall in numbers.walls:
        theme.add_line(figure, [wall.x, wall.x], numbers.up, wall.name, theme.DATA, 2, wall.dash,
                       hover=f"{wall.name}: %{{x:.3g}} ×")
    for mark in numbers.marks:
        theme.add_dots(figure, [mark.x], [mark.y], mark.name, COLOURS[mark.kind], 13, _LOOKS[mark.kind][1],
                       hover=f"{mark.name}: {_HERE}")
    for row, mark in enumerate(numbers.far):
        figure.add_annotation(xref="paper", yref="paper", x=1, y=1 - 0.08 * row, xanchor="right", yanchor="top",
                              showarrow=False, text=far_words(mark), font={"color": COLOURS[mark.kind]})
    figure.update_xaxes(title=ACROSS, **log_axis(*numbers.across, room=0.05))
    figure.update_yaxes(title=UP, **log_axis(*numbers.up, room=0.05))
    return Picture(styled(figure, height=400), trade_off_words(setup, found), ABOUT_CURVE)


def far_words(mark: Mark) -> str:
    """Return where a point is that the picture has no room for."""
    return f"{mark.name}: {as_factor(mark.x)} ↗" if math.isfinite(mark.x) else f"{mark.name} ↗"


ABOUT_CURVE = (
    "The curve is every share of the budget for the priority columns. Equal Gaussian noise at the same ε and δ is 1. "
    "Dashed: release only the priority columns. Dotted: no private Gaussian noise lies left of it (for second moments "
    "this bound may be too low).")
MOVE = "Drag the point, or press arrow keys, to change the share."
STAY = "The curve shows the exact guarantee. Choose it in the sidebar to drag the point."


def least_phrase(found: AgainstLeast) -> str:
    """Return "1.12 times the lowest possible Gaussian noise", with "at most" where only a bound is known."""
    return f"{'' if found.least.exact else 'at most '}{as_number(found.ratio)} times the lowest possible Gaussian noise"


def columns_of(setup: Setup) -> str:
    """Return "columns", or "directions" where the scenario gives priority to directions."""
    return "directions" if setup.scenario.needs_along == "directions" else "columns"


def least_item(setup: Setup) -> tuple[str, str] | None:
    """Return for a line of facts what the noise is on, and the phrase; None where the lowest is not known."""
    found = against_least(setup)
    return None if found is None else (f"noise on {_what(setup, found)}", least_phrase(found))


def least_sentence(setup: Setup) -> str:
    """Return how far this design's noise is from the lowest possible, without clipping; empty where unknown."""
    found = against_least(setup)
    return "" if found is None else f"The noise on {_what(setup, found)} is {least_phrase(found)}{_inside(setup)}."


def others_sentence(setup: Setup) -> str:
    """Return what other columns pay, to stand behind an error on priority columns; empty where there are none."""
    paid = against_equal(setup) if setup.scenario.judged == "priority" else None
    if paid is None:
        return ""
    bias = f"; clipping adds a bias of {clipped}" if (clipped := other_clipping(setup)) else ""
    return f"Noise on other {columns_of(setup)}: {as_factor(paid[1])} equal noise{bias}."


def trade_off_words(setup: Setup, found: NeedsTradeOff) -> str:
    """Return what priority and other columns get, what equal noise would spend, and the lowest possible noise."""
    own, equal = found.curves.own, found.curves.own.equal
    asked, saved = setup.scenario.epsilon, own.epsilon_saved(found.design)
    priority, other = against_equal(setup) or (found.design.priority / equal.priority, found.design.other / equal.other)
    named = Names(setup).few(list(found.priority))
    said = [f"**{named}: {as_factor(priority)} equal noise; other {columns_of(setup)}: {as_factor(other)}.**"]
    if setup.scenario.guarantee != "exact":
        said.append("Here both follow the same theorem; in the picture equal noise is exact.")
    if saved > asked * 1.005:
        said.append(f"For this precision on {named}, equal {'Gaussian ' * bool(setup.design.blocks)}noise needs ε = "
                    f"{as_number(saved)} instead of {asked:g}.")
    return " ".join(filter(None, [*said, least_sentence(setup), clipping_words(setup, name=in_markdown)]))


def _what(setup: Setup, found: AgainstLeast) -> str:
    return f"priority {columns_of(setup)}" if found.named else "everything"


def _inside(setup: Setup) -> str:
    return "" if setup.query.bound is None else ", for clipped records"
