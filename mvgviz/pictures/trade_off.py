"""Noise on what is needed against noise on the rest, over all splits of the same budget, and its sentences."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import plotly.graph_objects as go

from mvgviz.design.needs import NoiseOn
from mvgviz.design.trade_off import TradeOff
from mvgviz.pictures.budget import Names
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.sentences import clipping_words, other_clipping
from mvgviz.pictures.theme import DATA, DIRECTIONAL, GUARANTEE_COLOURS, IID, log_axis, styled
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.trade_off import AgainstLeast, NeedsTradeOff, against_least, rest_against_equal
from mvgviz.text import as_factor, as_number, in_markdown

ACROSS = "noise on what is needed (times equal noise)"
UP = "noise on the rest (times equal noise)"
COLOURS = {"design": DIRECTIONAL, "equal": IID} | GUARANTEE_COLOURS
_NAMES = {"design": "this design", "equal": "equal noise", "theorem1": "Theorem 1", "theorem2": "Theorem 2"}
_FAR = 10  # times the curves' own reach: beyond, a point would crowd them into a corner


class Line(NamedTuple):
    """The noise at every share; ``own``: whether this scenario's designs lie on it."""

    name: str
    own: bool
    shares: tuple[float, ...]
    xs: tuple[float, ...]
    ys: tuple[float, ...]


class Mark(NamedTuple):
    """A point: its kind names its colour."""

    kind: str
    name: str
    x: float
    y: float


class Wall(NamedTuple):
    """An upright line that no curve crosses; ``dash`` as Plotly calls it."""

    name: str
    x: float
    dash: str


@dataclass(frozen=True, kw_only=True)
class TradeOffNumbers:
    """What is drawn, in units of equal noise; ``far``: the points beyond the picture, up and to the right."""

    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    far: tuple[Mark, ...]
    walls: tuple[Wall, ...]
    across: tuple[float, float]
    up: tuple[float, float]

    @property
    def own(self) -> Line:
        return next(line for line in self.lines if line.own)


def trade_off_numbers(found: NeedsTradeOff) -> TradeOffNumbers:
    """The curves of all shares, this design, equal noise, the theorems and what no curve crosses."""
    curves, equal = found.curves, found.curves.box.equal
    lines = [_line("every split, records inside their ellipse", True, curves.bounded)] if curves.bounded else []
    lines.append(_line("every split" + (", records as they are" if lines else ""), not lines, curves.box))
    walls = [Wall("only the needed", curves.own.only / equal.needed, "dash")]
    if found.least is not None and curves.bounded is None:  # inside a bound every share asks another question
        walls.append(Wall("least possible, any shape", found.least.least.noise / equal.needed, "dot"))
    xs = [1.0, *(x for line in lines for x in line.xs), *(wall.x for wall in walls)]
    ys = [1.0, *(y for line in lines for y in line.ys)]
    marks = [_mark(kind, noise, equal) for kind, noise in ({"equal": equal} | found.theorems | {"design": found.design}
                                                           ).items()]
    near = [mark for mark in marks if mark.x <= _FAR * max(xs) and mark.y <= _FAR * max(ys)]
    across, up = [*xs, *(mark.x for mark in near)], [*ys, *(mark.y for mark in near)]
    return TradeOffNumbers(lines=tuple(lines), marks=tuple(near), far=tuple(mark for mark in marks if mark not in near),
                           walls=tuple(walls), across=(min(across), max(across)), up=(min(up), max(up)))


def _line(name: str, own: bool, trade: TradeOff) -> Line:
    equal = trade.equal
    return Line(name, own, trade.shares, tuple(point.needed / equal.needed for point in trade.curve),
                tuple(point.rest / equal.rest for point in trade.curve))


def _mark(kind: str, noise: NoiseOn, equal: NoiseOn) -> Mark:
    return Mark(kind, _NAMES[kind], noise.needed / equal.needed, noise.rest / equal.rest)


def trade_off_picture(setup: Setup, found: NeedsTradeOff) -> Picture:
    """Noise on what is needed against noise on the rest; what is far away stands in the corner, with how far."""
    numbers, figure = trade_off_numbers(found), go.Figure()
    for line in numbers.lines:
        figure.add_scatter(
            x=line.xs, y=line.ys, mode="lines", name=line.name, customdata=line.shares,
            line={"color": DIRECTIONAL, "width": 2.5 if line.own else 1.5, "dash": "solid" if line.own else "longdash"},
            hovertemplate="share %{customdata:.0%}: %{x:.3g} times on the needed, %{y:.3g} times on the rest"
                          "<extra></extra>")
    for wall in numbers.walls:
        figure.add_scatter(x=[wall.x, wall.x], y=numbers.up, mode="lines", name=wall.name,
                           line={"color": DATA, "width": 2, "dash": wall.dash},
                           hovertemplate=f"{wall.name}: %{{x:.3g}} times<extra></extra>")
    for mark in numbers.marks:
        figure.add_scatter(
            x=[mark.x], y=[mark.y], mode="markers", name=mark.name, marker=_marker(mark),
            hovertemplate=f"{mark.name}: %{{x:.3g}} times on the needed, %{{y:.3g}} on the rest<extra></extra>")
    for row, mark in enumerate(numbers.far):
        figure.add_annotation(xref="paper", yref="paper", x=1, y=1 - 0.08 * row, xanchor="right", yanchor="top",
                              showarrow=False, text=far_words(mark), font={"color": COLOURS[mark.kind]})
    figure.update_xaxes(title=ACROSS, **log_axis(*numbers.across, room=0.05))
    figure.update_yaxes(title=UP, **log_axis(*numbers.up, room=0.05))
    return Picture(
        styled(figure, height=400), trade_off_words(setup, found),
        "Across: noise on what is needed; up: noise on the rest; both in units of equal noise at the same privacy, "
        "root mean squares in units of what one record can move. The curve is every share of the budget for the "
        "needed. Dashed: release nothing but the needed. Dotted: no private Gaussian noise, of whatever shape, is left "
        "of it (for second moments it may lie too far left). In the corner: what the paper's theorems ask for with the "
        "same split.")


def far_words(mark: Mark) -> str:
    """Where a point is that the picture has no room for."""
    return f"{mark.name}: {as_factor(mark.x)} ↗" if math.isfinite(mark.x) else f"{mark.name} ↗"


def _marker(mark: Mark) -> dict[str, Any]:
    symbol = {"design": "circle", "equal": "diamond"}.get(mark.kind, "square")
    return {"color": COLOURS[mark.kind], "size": 13, "symbol": symbol}


MOVE = "Drag the point along its curve, or move it with the arrow keys: the share of the budget follows."
STAY = "The curve is that of the exact guarantee; choose it in the sidebar to move along it."


def least_phrase(found: AgainstLeast) -> str:
    """"1.12 times the least possible"; "at most" where the least is only known to be no lower than a bound."""
    return f"{'' if found.least.exact else 'at most '}{as_number(found.ratio)} times the least possible"


def least_item(setup: Setup) -> tuple[str, str] | None:
    """For a line of facts: what the noise is on, and the phrase; None where the least is not known."""
    found = against_least(setup)
    return None if found is None else (f"noise on {_what(found)}", least_phrase(found))


def least_sentence(setup: Setup) -> str:
    """How far this design is from the least possible, with what that is; empty where it is not known.

    It speaks of noise: beside it stands what clipping adds (``words.clipping``).
    """
    found = against_least(setup)
    if found is None:
        return ""
    return (f"The noise on {_what(found)} is **{least_phrase(found)}** by private Gaussian noise of whatever "
            f"shape{_inside(setup)}.")


def others_sentence(setup: Setup) -> str:
    """What the other columns pay, to stand behind an error on what is needed; empty where nothing is."""
    paid = rest_against_equal(setup) if setup.scenario.judged == "needed" else None
    what = "directions" if setup.scenario.needs_along == "directions" else "columns"
    if paid is None:
        return ""
    clipped = other_clipping(setup)
    alone = "" if clipped is None else f" alone; clipping adds a bias of {clipped}"
    return f"Noise on other {what}: {as_factor(paid)} equal noise{alone}."


def trade_off_words(setup: Setup, found: NeedsTradeOff) -> str:
    """What the needed gain, what the rest pay, what equal noise would have to spend, and what is possible at all."""
    own, equal = found.curves.own, found.curves.own.equal
    asked, saved = setup.scenario.epsilon, own.epsilon_saved(found.design)
    said = [f"**{Names(setup).few(list(found.needed))}: {as_factor(found.design.needed / equal.needed)} equal "
            f"noise; the rest: {as_factor(found.design.rest / equal.rest)}.**"]
    if saved > asked * 1.005:
        said.append(f"Equal noise would have to spend ε = {as_number(saved, 2)} instead of {asked:g} to be as "
                    "precise there.")
    if found.least is not None:
        said.append(f"On the needed that is {least_phrase(found.least)}: no private Gaussian noise, of whatever shape, "
                    f"has less than {as_factor(found.least.least.noise / equal.needed)}{_inside(setup)}.")
    return " ".join(filter(None, [*said, clipping_words(setup, name=in_markdown)]))


def _what(found: AgainstLeast) -> str:
    return "what is needed" if found.named else "everything"


def _inside(setup: Setup) -> str:
    return "" if setup.query.bound is None else ", for records inside this ellipse"
