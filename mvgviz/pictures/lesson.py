"""The pictures of the lesson, in the order of its steps; read from the back of a classroom: large type, few ticks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.trade_off import Gain
from mvgviz.lesson.game import GUESSES, Game
from mvgviz.lesson.steps import CLASS, LEVEL, MOVES, PUPILS, Pay
from mvgviz.pictures import theme
from mvgviz.pictures.theme import Picture, ellipse_outline
from mvgviz.text import as_number
from mvgviz.validation import FloatArray

_SIZE = 17
_LEFT = 1.6  # columns: room for a number beside the first bar
_ROWS = ("no noise", "directional noise", "equal noise", "no-data baseline", "noise by Theorem 1")
DIRECTIONAL_ROW = 1
_COLOURS = (theme.DATA, theme.DIRECTIONAL, theme.IID, theme.DATA, theme.THEOREM1)


def large(figure: go.Figure) -> go.Figure:
    """Return the figure in the common look, with larger type; nothing moves when it is touched."""
    axis: dict[str, Any] = {"title": {"font": {"size": _SIZE}}, "tickfont": {"size": _SIZE - 1}, "fixedrange": True}
    theme.laid_out(theme.styled(figure, height=410), {
        "font": {"size": _SIZE}, "legend": {"font": {"size": _SIZE - 0.5}}, "dragmode": False,
        "xaxis": axis, "yaxis": axis})
    return figure.update_annotations(font_size=_SIZE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ghost:
    """A guess that is dragged: ``lines`` and a ``handle`` that move evenly with it (``x, y`` at 0, ``dx, dy`` for 1).

    ``axes``: "2" for the second pair of axes. ``shown``: how a guess is written, as ``%`` does it.
    """

    lines: tuple[FloatArray, ...] = field(repr=False)
    handle: Sequence[float]
    least: float
    most: float
    step: float
    start: float
    axes: str = ""
    shown: str = "%.2f×"

    def drawn(self, picture: Picture, guess: float, name: str = "your guess") -> Picture:
        """Return the picture with the ghost on it, and its takeaway with the guess."""
        xs, ys = ([value for line in self.lines for value in (*(line[:, k] + guess * line[:, k + 2]), None)][:-1]
                  for k in (0, 1))
        theme.add_line(picture.figure, xs, ys, name, theme.DATA, 4, "dot", xaxis=f"x{self.axes}", yaxis=f"y{self.axes}",
                       zorder=9)
        return picture.adding(f"{name[0].upper()}{name[1:]}: {self.shown % guess}.")


def outline_ghost(covariance: FloatArray, *, moves: Sequence[float], top: float, **given: Any) -> Ghost:
    """Return a ghost of an outline that grows along axes where ``moves`` is 1; its handle is at ``top`` degrees."""
    x, y = ellipse_outline(covariance, LEVEL)
    line = np.column_stack([(1 - moves[0]) * x, (1 - moves[1]) * y, moves[0] * x, moves[1] * y])
    far = np.cos(np.radians(top)) * x / np.abs(x).max() + np.sin(np.radians(top)) * y / np.abs(y).max()
    return Ghost(lines=(line,), handle=line[int(far.argmax())].tolist(), **given)


def track_ghost(low: float, high: float, **given: Any) -> Ghost:
    """Return a mark on the track under a picture."""
    return mark_ghost([(0, -0.3, 1, 0), (0, 1.3, 1, 0)], handle=(0, 0.5, 1, 0), axes="2", least=low, most=high, **given)


def mark_ghost(*lines: Sequence[Sequence[float]], handle: Sequence[float], **given: Any) -> Ghost:
    """Marks from one moving point to another."""
    return Ghost(lines=tuple(np.array(line, dtype=float) for line in lines), handle=list(map(float, handle)), **given)


def add_track(figure: go.Figure, ghost: Ghost, *, title: str, name: str, truth: float | None) -> go.Figure:
    """The figure, and under it a line on which a number is guessed; a bar ends at the ``truth`` once it is shown."""
    room = 0.03 * (ghost.most - ghost.least)
    if truth is not None:
        theme.add_line(figure, [ghost.least, truth, truth, ghost.least], [0.1, 0.1, 0.9, 0.9], name, theme.DIRECTIONAL,
                       2, fill="toself", fillcolor=theme.wash(theme.DIRECTIONAL, 0.6), xaxis="x2", yaxis="y2")
    return _add_below(figure, title, [ghost.least - room, ghost.most + room], {
        "range": [-0.3, 1.3], "showticklabels": False, "showgrid": False, "zeroline": False})


def _add_below(figure: go.Figure, title: str, reach: list[float], rows: dict[str, Any]) -> go.Figure:
    return figure.update_layout(
        yaxis_domain=[0.42, 1], yaxis2={"domain": [0.0, 0.14], "anchor": "x2", "fixedrange": True, **rows},
        xaxis2={"title": {"text": title, "font": {"size": _SIZE}}, "tickfont": {"size": _SIZE - 1}, "fixedrange": True,
                "range": reach, "nticks": 8, "anchor": "y2", "zeroline": False})


@dataclass(frozen=True, kw_only=True)
class Plane:
    """The plane of two averages, in steps of what one pupil can change (``moves``): equal noise is a circle."""

    names: tuple[str, str]
    moves: tuple[float, float]
    reach: float

    def line(self, angle: float, along: float, across: float) -> FloatArray:
        """Both ends of a mark across a line at ``angle`` degrees, in the plane's units; given in steps."""
        turn = np.radians(angle)
        use, beside = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
        return np.array([along * use - across * beside, along * use + across * beside]) * self.moves

    def boxed(self, figure: go.Figure) -> go.Figure:
        """Return the figure with the axes of this plane and, around its middle, all that one pupil can change."""
        wide, high = self.moves
        theme.add_line(figure, [-wide, wide, wide, -wide, -wide], [-high, -high, high, high, -high], "change box",
                       theme.DATA, 1, fill="toself", fillcolor=theme.wash(theme.DATA, 0.5))
        return self.drawn(figure)

    def drawn(self, figure: go.Figure, *, centre: tuple[float, float] = (0.0, 0.0)) -> go.Figure:
        """Return the figure with the axes of this plane around a centre."""
        (wide, high), (x, y) = self.moves, centre
        figure.update_xaxes(title=self.names[0], range=[x - self.reach * wide, x + self.reach * wide], nticks=8,
                            constrain="domain")
        figure.update_yaxes(title=self.names[1], range=[y - self.reach * high, y + self.reach * high], nticks=8,
                            constrain="domain", scaleanchor="x", scaleratio=wide / high)
        return large(figure).update_layout(height=500)


def plot_bells(centre: float, *, shift: float, noise: float, span: float, names: tuple[str, str]) -> go.Figure:
    """Two neighbours' bells, ``shift`` apart and each ``noise`` wide, and the border between the two guesses."""
    near = np.linspace(-4, 4, 301) * noise  # so that the peaks of narrow bells are not cut off
    offsets = np.unique(np.concatenate([np.linspace(-span, span, 301), near - shift / 2, near + shift / 2]))
    offsets = offsets[np.abs(offsets) <= span]
    figure = go.Figure()
    figure.add_shape(type="line", x0=centre, x1=centre, y0=0, y1=1.08, line={"color": theme.LINE, "width": 2})
    # The dashed one on top: both are seen where they coincide.
    for name, side, colour, dash, level, text, where, anchor in (
            (names[0], -1, theme.DATA, "dash", 2, "← guess: " + names[0], 0.49, "right"),
            (names[1], 1, theme.DIRECTIONAL, "solid", 1, "guess: " + names[1] + " →", 0.51, "left")):
        theme.add_line(figure, offsets + centre, np.exp(-0.5 * ((offsets - side * shift / 2) / noise) ** 2), name,
                       colour, 4, dash, fill="tozeroy", fillcolor=theme.wash(colour, 0.25), zorder=level)
        figure.add_annotation(text=text, x=where, xref="paper", y=1.17, showarrow=False, xanchor=anchor)
    figure.update_xaxes(title="published average sleep (hours)", nticks=6, zeroline=False,
                        range=[centre + float(offsets[0]), centre + float(offsets[-1])])
    figure.update_yaxes(title="how often", showticklabels=False, showgrid=False, range=[0, 1.25], zeroline=False)
    return large(figure)


def plot_releases(outlines: Sequence[tuple[str, str, FloatArray]], plane: Plane, *, touches: FloatArray | None = None,
                  releases: tuple[str, FloatArray] | None = None) -> go.Figure:
    """Noise on two averages: its outlines around the change box, possible releases, and where outline and box meet."""
    figure = go.Figure()
    if releases is not None:
        colour, (x, y) = releases
        theme.add_dots(figure, x, y, "releases" + " (95 % inside)" * bool(outlines), theme.wash(colour, 0.45), 6,
                       hover=None)
    for name, colour, (x, y) in outlines:
        theme.add_line(figure, x, y, name, colour, 4, "dash" if colour == theme.IID else "solid")
    if touches is not None:
        theme.add_dots(figure, touches[0], touches[1], "corner that touches", theme.THEOREM2, 15, edge=theme.INK,
                       zorder=5)
    return plane.boxed(figure)


def add_line(figure: go.Figure, plane: Plane, angle: float, least: float | None) -> go.Figure:
    """Add the mixture's line and, as marks across it, the ``least`` Gaussian noise, in steps of one pupil's change."""
    far = plane.line(angle, 2 * plane.reach, 0.0)[0]
    theme.add_line(figure, [-far[0], far[0]], [-far[1], far[1]], "the mixture", theme.LINE, 2)
    if least is not None:
        (x0, y0), (x1, y1) = plane.line(angle, least, 0.3)
        theme.add_line(figure, [x0, x1, None, -x0, -x1], [y0, y1, None, -y0, -y1], "lowest possible Gaussian",
                       theme.EXACT, 6, zorder=6)
    return figure


def plot_columns(columns: int, most: int, *, gain: Gain | None, epsilon: float) -> go.Figure:
    """A bar a column, as high as its noise, the priority column first, and epsilon; without a ``gain`` a "?"."""
    figure, others = go.Figure(), list(range(2, columns + 1))
    if gain is None:
        figure.add_annotation(x=1, y=0.1, text="<b>?</b>", showarrow=False)
    else:
        for name, xs, size, colour in (("priority column", [1], gain.priority, theme.DIRECTIONAL),
                                       ("other columns", others, gain.other, theme.wash(theme.DATA, 0.55))):
            figure.add_bar(x=xs, y=[size] * len(xs), name=name, marker={"color": colour}, hoverinfo="name+y")
        figure.add_annotation(x=0.4, y=gain.priority, text=f"<b>{gain.priority:.2g}×</b>", showarrow=False,
                              xanchor="right")
        spent = [(epsilon, theme.DIRECTIONAL), (gain.equal_epsilon, theme.IID)]
        for row, (size, colour) in enumerate(spent):
            figure.add_bar(x=[size], y=[row], orientation="h", xaxis="x2", yaxis="y2", marker={"color": colour},
                           name=f"ε = {size:.2g}", hoverinfo="name", showlegend=False)
        _add_below(figure, "ε spent for this precision on sleep", [0, 5],
                   theme.row_axis(["directional", "equal noise"], _SIZE - 2))
    theme.add_line(figure, [-_LEFT, most + 0.6], [1, 1], "equal noise", theme.IID, 3, "dash")
    figure.update_xaxes(title="question", range=[-_LEFT, most + 0.6], tickvals=[1, *range(5, most + 1, 5)],
                        ticktext=["sleep", *map(str, range(5, most + 1, 5))], showgrid=False, zeroline=False,
                        selector=0)
    figure.update_yaxes(title="× equal noise", range=[0, 2.6], zeroline=False, selector=0)
    return large(figure).update_layout(bargap=0.25, height=480)


def plot_sizes(noise: FloatArray, row_sizes: FloatArray, col_sizes: FloatArray, *, asked: tuple[int, int],
               row_names: Sequence[str], col_names: Sequence[str], shown: bool) -> go.Figure:
    """The sizes along the edges, the cell asked for and, once ``shown``, the noise of each cell, darker where more."""
    rows, cols = noise.shape
    text = [[f"{noise[i, j]:.3g}×" if shown else "?" if (i, j) == asked else "" for j in range(cols)]
            for i in range(rows)]
    figure = go.Figure(go.Heatmap(
        z=noise if shown else np.zeros_like(noise), x=list(range(cols)), y=list(range(rows)), text=text,
        texttemplate="<b>%{text}</b>", textfont={"size": _SIZE if shown else 2 * _SIZE, "color": theme.INK},
        colorscale=[[0, theme.PALE], [1, theme.DIRECTIONAL]], zmin=0, zmax=4, xgap=3, ygap=3, showscale=False,
        hoverinfo="skip"))
    figure.add_shape(type="rect", x0=asked[1] - 0.5, x1=asked[1] + 0.5, y0=asked[0] - 0.5, y1=asked[0] + 0.5,
                     line={"color": theme.IID, "width": 5})
    for axis, names, sizes, between in ((figure.update_xaxes, col_names, col_sizes, "<br>"),
                                        (figure.update_yaxes, row_names, row_sizes, " ")):
        axis(tickvals=list(range(len(names))), showgrid=False, zeroline=False,
             ticktext=[f"{name}{between}<b>{size:.3g}</b>" for name, size in zip(names, sizes, strict=True)])
    figure.update_xaxes(side="top", tickangle=0)
    figure.update_yaxes(autorange="reversed")
    return large(figure).update_layout(height=480, legend_y=1.17)  # above the names of the columns


def plot_trials(pay: Pay, *, shown: bool) -> go.Figure:
    """Average errors, a dot a line; equal noise is the mark to beat. Directional noise is empty until ``shown``."""
    errors = (pay.no_noise, pay.directional, pay.one_size, pay.no_data, pay.theorem1)
    figure = go.Figure(layout={"shapes": [theme.upright(pay.one_size, theme.IID, "dash", width=3)]})
    for row, (name, error, colour) in enumerate(zip(_ROWS, errors, _COLOURS, strict=True)):
        if row == DIRECTIONAL_ROW and not shown:
            continue
        bar = ({"type": "data", "array": [pay.margin], "thickness": 4, "width": 10} if row == DIRECTIONAL_ROW else
               {"visible": False})
        theme.add_dots(figure, [error], [row], name, colour, 16, "diamond" if colour == theme.DATA else "circle",
                       hover=f"{name}: %{{x:.2f}}", error_x=bar, showlegend=False)
    figure.update_xaxes(title="average error (half pints a day)", range=[3, 5.7], dtick=0.5, zeroline=False)
    figure.update_yaxes(**theme.row_axis(_ROWS), ticklabelstandoff=8)
    return large(figure)


_LEAST, _MOST = (f"{hours:g} h, {points:g} points" for hours, points in (CLASS.lower, CLASS.upper))
GUESS_NAMES = dict(zip(GUESSES, (f"Ann: {_LEAST}", f"Ann: {_MOST}"), strict=True))
_LOOKS = {"least": (GUESS_NAMES["least"], theme.IID, "square"),
          "most": (GUESS_NAMES["most"], theme.DIRECTIONAL, "diamond")}
SHAPE_NAMES = {"circle": "Equal noise (circle)", "ellipse": "Directional noise (ellipse)", "box": "Box noise"}
GAME_RULES = (f"The school publishes two averages of {PUPILS} pupils, **sleep** and **score**, with noise. You know "
              f"all pupils but Ann: she has nothing ({_LEAST}) or everything ({_MOST}), with equal chance. You see "
              "one noisy release. Which is true?")


def chance_words(played: Game) -> str:
    """Say how often the best attacker is right."""
    return (f"In the long run the best attacker is right in **{as_number(100 * played.success, 2)} of 100** rounds, "
            "a coin in 50.")


def end_words(played: Game, shape: str) -> str:
    """After the last round."""
    rounds = len(played.rounds)
    return f"The best guess, by the green line, was right in **{played.best_hits} of {rounds}** rounds" + (
        ". Box noise has the circle's ε and no δ, yet it tells the best attacker more." if shape == "box" else
        ", with circle and ellipse alike: the privacy is the same.")


def game_picture(played: Game, *, said: int) -> Picture:
    """The next round's release as a star, those guessed (``said``) by their truth; at the end the best border."""
    over = said == len(played.rounds)
    reach = 28 if float(played.covariance[1, 1]) ** 0.5 > 6 * float(MOVES[1]) else 9
    plane = Plane(names=("published average sleep (hours)", "published average score (points)"),
                  moves=(float(MOVES[0]), float(MOVES[1])), reach=reach)
    middle = (played.centres["least"] + played.centres["most"]) / 2
    outline = middle[:, None] + (ellipse_outline(played.covariance, LEVEL) if played.half_box is None else
                                 played.half_box[:, None] * np.array([[-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1]]))
    figure = go.Figure()
    theme.add_line(figure, outline[0], outline[1], f"{100 * LEVEL:.0f} of 100 releases", theme.DATA, 2, "dash")
    if over:
        x, y = middle[:, None] + played.border[:, None] * np.array([-20.0, 20.0])
        theme.add_line(figure, x, y, "the best guess changes here", theme.EXACT, 3)
    for guess, (name, colour, symbol) in _LOOKS.items():
        x, y = np.transpose([tuple(played.centres[guess]),
                             *(each.point for each in played.rounds[:said] if each.truth == guess)])
        theme.add_dots(figure, x, y, name, colour, [20, *[11] * (x.size - 1)], symbol, edge=theme.PAPER, thick=1.5)
    takeaway = "All ten releases, by what Ann has."
    if not over:
        here, up = played.rounds[said].point
        takeaway = (f"Round {said + 1}: a release at {here:.2f} hours and {up:.1f} points. Without noise it would lie "
                    "at " + ", or at ".join(f"{hours:.2f} hours and {points:.1f} points ({GUESS_NAMES[guess]})"
                                      for guess, (hours, points) in played.centres.items()) + ".")
        theme.add_dots(figure, [here], [up], "this release", theme.EXACT, 24, "star", edge=theme.PAPER, thick=1.5)
    return Picture(plane.drawn(figure, centre=(float(middle[0]), float(middle[1]))), takeaway)
