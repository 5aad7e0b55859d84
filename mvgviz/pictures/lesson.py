"""The pictures of the lesson, in the order of its steps; read from the back of a classroom: large type, few ticks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.lesson.game import GUESSES, Game
from mvgviz.lesson.steps import Pay
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.theme import (
    DATA,
    DIRECTIONAL,
    EXACT,
    IID,
    INK,
    PALE,
    PAPER,
    THEOREM1,
    ellipse_outline,
    laid_out,
    stroke,
    styled,
    upright,
    wash,
)
from mvgviz.validation import FloatArray

_SIZE = 17
_POINTS = 301
_ROWS = ("no noise", "directional noise", "equal noise", "answer without data", "noise by Theorem 1")
_COLOURS = (DATA, DIRECTIONAL, IID, DATA, THEOREM1)


def large(figure: go.Figure, *, legend: bool = True) -> go.Figure:
    """The figure in the common look, with larger type; nothing moves when it is touched."""
    axis: dict[str, Any] = {"title": {"font": {"size": _SIZE}}, "tickfont": {"size": _SIZE - 1}, "fixedrange": True}
    laid_out(styled(figure, height=410, legend=legend), {
        "font": {"size": _SIZE}, "legend": {"font": {"size": _SIZE}}, "dragmode": False, "xaxis": axis, "yaxis": axis})
    return figure.update_annotations(font_size=_SIZE)


@dataclass(frozen=True, kw_only=True)
class Plane:
    """The plane of two averages: their names with units, what one pupil can ``moves``, and how many of these it holds.

    Both axes are drawn in steps of what one pupil can change: equal noise is a circle.
    """

    names: tuple[str, str]
    moves: tuple[float, float]
    reach: float

    def boxed(self, figure: go.Figure) -> go.Figure:
        """The figure with the axes of this plane and, around its middle, all that one pupil can change."""
        wide, high = self.moves
        figure.add_scatter(x=[-wide, wide, wide, -wide, -wide], y=[-high, -high, high, high, -high], fill="toself",
                           name="what one pupil can change", fillcolor=wash(DATA, 0.5), hoverinfo="name",
                           **stroke(DATA, 1))
        return self.drawn(figure)

    def drawn(self, figure: go.Figure, *, centre: tuple[float, float] = (0.0, 0.0)) -> go.Figure:
        """The figure with the axes of this plane around a centre."""
        (wide, high), (x, y) = self.moves, centre
        figure.update_xaxes(title=self.names[0], range=[x - self.reach * wide, x + self.reach * wide], nticks=8,
                            constrain="domain")
        figure.update_yaxes(title=self.names[1], range=[y - self.reach * high, y + self.reach * high], nticks=8,
                            constrain="domain", scaleanchor="x", scaleratio=wide / high)
        return large(figure).update_layout(height=480)


def clock_picture(titles: Sequence[str], minutes: Sequence[int]) -> Picture:
    """The lesson's minutes: one bar for each step, from when to when."""
    starts = [sum(minutes[:i]) for i in range(len(minutes))]
    labels = [f"{i + 1} · {title}" for i, title in enumerate(titles)]
    figure = go.Figure(go.Bar(
        x=list(minutes), base=starts, y=labels, orientation="h", marker={"color": DIRECTIONAL},
        text=[f"{length} min" for length in minutes], textposition="inside", insidetextanchor="middle",
        textfont={"color": INK}, hovertemplate="%{y}: from minute %{base}<extra></extra>"))
    figure.update_layout(uniformtext={"minsize": 11, "mode": "hide"})
    figure.update_xaxes(title="minutes", range=[0, sum(minutes)], dtick=5)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return Picture(styled(figure, height=270, legend=False), f"Seven steps in {sum(minutes)} minutes.")


def plot_bells(centre: float, *, shift: float, noise: float, span: float, names: tuple[str, str],
               axis: str) -> go.Figure:
    """Two neighbours' bells, ``shift`` apart and each ``noise`` wide, and the border between the two guesses.

    The axis reaches ``span`` to either side of the centre.
    """
    around = np.linspace(-span, span, _POINTS)
    # Narrow bells get points of their own, so that their peaks are not cut off.
    near = np.linspace(-4, 4, _POINTS) * noise
    offsets = np.unique(np.concatenate([around, near - shift / 2, near + shift / 2]))
    offsets = offsets[np.abs(offsets) <= span]
    published = offsets + centre
    figure = go.Figure(layout={
        "shapes": [{"type": "line", "x0": centre, "x1": centre, "y0": 0, "y1": 1.08,
                    "line": {"color": DATA, "dash": "dot", "width": 2}}],
        "annotations": [{"text": text, "x": where, "xref": "paper", "y": 1.17, "showarrow": False, "xanchor": anchor}
                        for text, where, anchor in (("← guess: " + names[0], 0.49, "right"),
                                                    ("guess: " + names[1] + " →", 0.51, "left"))]})
    for name, side, colour, dash, level in ((names[0], -1, DATA, "dash", 2), (names[1], 1, DIRECTIONAL, "solid", 1)):
        # The dashed one on top: both are seen where they coincide.
        figure.add_scatter(x=published, y=np.exp(-0.5 * ((offsets - side * shift / 2) / noise) ** 2), name=name,
                           fill="tozeroy", fillcolor=wash(colour, 0.25), hoverinfo="name", zorder=level,
                           **stroke(colour, 4, dash))
    figure.update_xaxes(title=axis, range=[float(published[0]), float(published[-1])], nticks=6, zeroline=False)
    figure.update_yaxes(title="how often", showticklabels=False, showgrid=False, range=[0, 1.25], zeroline=False)
    return large(figure)


def plot_cloud(covariance: FloatArray | None, plane: Plane, *, level: float, normals: FloatArray) -> go.Figure:
    """Equal noise on two averages: draws, the circle that holds most of them, the truth, and what one pupil moves.

    Without a covariance the truth alone, before there is noise.
    """
    figure = go.Figure()
    if covariance is not None:
        draws, outline = np.linalg.cholesky(covariance) @ normals, ellipse_outline(covariance, level)
        figure.add_scatter(x=draws[0], y=draws[1], mode="markers", name="releases", showlegend=False,
                           hoverinfo="skip", marker={"size": 7, "color": IID, "opacity": 0.5})
        figure.add_scatter(x=outline[0], y=outline[1], name=f"holds {100 * level:.0f} of 100 releases",
                           hoverinfo="name", **stroke(IID, 4))
    figure.add_scatter(x=[0], y=[0], mode="markers", name="the truth", hoverinfo="name",
                       marker={"size": 14, "symbol": "cross", "color": DATA})
    return plane.boxed(figure)


def plot_shapes(circle: FloatArray, plane: Plane, *, level: float, ellipse: FloatArray | None = None,
                ghost: FloatArray | None = None) -> go.Figure:
    """The circle, and over it the ellipse or a dotted ghost of it; each given by its covariance."""
    figure = go.Figure()
    for label, colour, dash, covariance in (("circle", IID, "dash", circle), ("ellipse", DIRECTIONAL, "solid", ellipse),
                                            ("your ghost", DATA, "dot", ghost)):
        if covariance is not None:
            x, y = ellipse_outline(covariance, level)
            figure.add_scatter(x=x, y=y, name=label, hoverinfo="name", **stroke(colour, 4, dash))
    return plane.boxed(figure)


def plot_aim(circle: FloatArray, plane: Plane, *, angle: float, level: float, ellipse: FloatArray | None = None,
             factor: float = 1.0, least: float = 1.0) -> go.Figure:
    """The use as a line; on the right, as bars, how far along it circle and ellipse reach, and the least possible.

    Without an ellipse the line and the circle's bar alone. ``factor`` and ``least`` are multiples of the circle's.
    """
    figure = plot_shapes(circle, plane, level=level, ellipse=ellipse)
    turn, (wide, high) = np.radians(angle), (plane.reach * move for move in plane.moves)
    across, up = wide * np.cos(turn), high * np.sin(turn)
    figure.add_scatter(x=[-across, across], y=[-up, up], name="what is used", hoverinfo="name", **stroke(EXACT, 4))
    radius = float(np.abs(ellipse_outline(circle, level)[1]).max())
    bars = [("circle", IID, 1.0)]
    if ellipse is not None:
        bars += [("ellipse", DIRECTIONAL, factor), ("least", EXACT, least)]
    for k, (label, colour, size) in enumerate(bars):
        figure.add_scatter(x=[(1.15 + 0.22 * k) * wide] * 2, y=[-radius * size, radius * size], mode="lines+markers",
                           showlegend=False, name=label, hoverinfo="name", line={"color": colour, "width": 7},
                           marker={"symbol": "line-ew", "size": 18, "line": {"width": 4, "color": colour}})
    figure.add_annotation(x=1.37 * wide, y=0.93 * high, text="along the line", showarrow=False, yanchor="bottom")
    return figure.update_xaxes(range=[-wide, 1.8 * wide])


def plot_sizes(noise: FloatArray, *, row_sizes: Sequence[str], col_sizes: Sequence[str], asked: tuple[int, int],
               row_names: tuple[str, ...], col_names: tuple[str, ...], shown: bool) -> go.Figure:
    """The sizes along the edges, the cell asked for and, once ``shown``, the noise of each cell, darker where more."""
    rows, cols = noise.shape
    text = [[f"{noise[i, j]:.3g}×" if shown else "?" if (i, j) == asked else "" for j in range(cols)]
            for i in range(rows)]
    figure = go.Figure(go.Heatmap(
        z=noise if shown else np.zeros_like(noise), x=list(range(cols)), y=list(range(rows)), text=text,
        texttemplate="<b>%{text}</b>", textfont={"size": _SIZE if shown else 2 * _SIZE, "color": INK},
        colorscale=[[0, PALE], [1, DIRECTIONAL]], zmin=0, zmax=4, xgap=3, ygap=3, showscale=False, hoverinfo="skip"))
    if shown:
        figure.add_shape(type="rect", x0=asked[1] - 0.5, x1=asked[1] + 0.5, y0=asked[0] - 0.5, y1=asked[0] + 0.5,
                         line={"color": IID, "width": 5})
    for axis, names, sizes in ((figure.update_xaxes, col_names, col_sizes),
                               (figure.update_yaxes, row_names, row_sizes)):
        axis(tickvals=list(range(len(names))), showgrid=False, zeroline=False,
             ticktext=[f"{name}<br><b>{size}</b>" for name, size in zip(names, sizes, strict=True)])
    figure.update_xaxes(side="top", tickangle=0)
    figure.update_yaxes(autorange="reversed")
    return large(figure, legend=False)


def plot_trials(pay: Pay, *, shown: bool) -> go.Figure:
    """Average errors, a dot a line; equal noise is the mark to beat, the bar the margin of the gain.

    Until ``shown``, directional noise has a question mark.
    """
    errors = (pay.no_noise, pay.directional, pay.one_size, pay.no_data, pay.theorem1)
    figure = go.Figure(layout={"shapes": [upright(pay.one_size, IID, "dash", width=3)]})
    for name, error, colour in zip(_ROWS, errors, _COLOURS, strict=True):
        if name == "directional noise" and not shown:
            figure.add_annotation(x=pay.one_size, y=name, text="?", showarrow=False)
            continue
        margin = pay.margin if name == "directional noise" else 0.0
        bar = {"type": "data", "array": [margin], "thickness": 4, "width": 10} if margin else {"visible": False}
        figure.add_scatter(x=[error], y=[name], mode="markers", name=name, error_x=bar,
                           marker={"size": 16, "color": colour, "symbol": "diamond" if colour == DATA else "circle"},
                           hovertemplate=f"{name}: %{{x:.2f}}<extra></extra>")
    figure.update_xaxes(title="error (half pints a day)", range=[3, 5.5], dtick=0.5, zeroline=False)
    figure.update_yaxes(autorange="reversed", type="category", ticklabelstandoff=8)
    return large(figure, legend=False)


_GUESS_COLOURS = dict(zip(GUESSES, (IID, DIRECTIONAL), strict=True))
_SYMBOLS = dict(zip(GUESSES, ("square", "diamond"), strict=True))


def game_picture(played: Game, plane: Plane, *, said: int, level: float, names: dict[str, str]) -> Picture:
    """The release of the next round as a star, those that were guessed (``said``) by their truth.

    The outline of the noise around the middle; when all are guessed, the line at which the best guess changes.
    """
    over = said == len(played.rounds)
    middle = (played.centres["least"] + played.centres["most"]) / 2
    outline = ellipse_outline(played.covariance, level) + middle[:, None]
    figure = go.Figure()
    figure.add_scatter(x=outline[0], y=outline[1], name=f"{100 * level:.0f} of 100 releases", hoverinfo="name",
                       **stroke(DATA, 2, "dash"))
    if over:
        ends = middle[:, None] + played.border[:, None] * np.array([-20.0, 20.0])
        figure.add_scatter(x=ends[0], y=ends[1], name="the best guess changes here", hoverinfo="name",
                           **stroke(EXACT, 3))
    for guess, name in names.items():
        seen = [each.point for each in played.rounds[:said] if each.truth == guess]
        points = [tuple(played.centres[guess]), *seen]
        sizes = [20, *[11] * len(seen)]
        figure.add_scatter(x=[x for x, _ in points], y=[y for _, y in points], mode="markers", name=name,
                           hoverinfo="name", marker={"color": _GUESS_COLOURS[guess], "symbol": _SYMBOLS[guess],
                                                     "size": sizes, "line": {"width": 1.5, "color": PAPER}})
    takeaway = "All ten releases, by what Ann has."
    if not over:
        x, y = played.rounds[said].point
        takeaway = (f"Round {said + 1}: a release at {x:.2f} hours and {y:.1f} points. Without noise it would lie at "
                    + ", or at ".join(f"{hours:.2f} hours and {points:.1f} points ({names[guess]})"
                                      for guess, (hours, points) in played.centres.items()) + ".")
        figure.add_scatter(x=[x], y=[y], mode="markers", name="this release", hoverinfo="name",
                           marker={"symbol": "star", "size": 24, "color": EXACT,
                                   "line": {"width": 1.5, "color": PAPER}})
    return Picture(plane.drawn(figure, centre=(float(middle[0]), float(middle[1]))), takeaway)
