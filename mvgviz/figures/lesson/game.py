"""The attacker's game: where releases fell, and the two records they may come from."""

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.lesson.steps import Plane
from mvgviz.figures.shared.noise_ellipse import ellipse_outline
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EXACT, IID, stroke
from mvgviz.lesson.game import GUESSES, Game

_COLOURS = dict(zip(GUESSES, (IID, DIRECTIONAL), strict=True))
_SYMBOLS = dict(zip(GUESSES, ("square", "diamond"), strict=True))


def plot_game(played: Game, plane: Plane, *, at: int, revealed: int, level: float, names: dict[str, str],
              border: bool) -> go.Figure:
    """The release of round ``at`` as a star, the ``revealed`` ones before it by their truth.

    The outline of the noise around the middle; where ``border``, the line at which the best guess changes.
    """
    middle = (played.centres["least"] + played.centres["most"]) / 2
    outline = ellipse_outline(played.covariance, level) + middle[:, None]
    figure = go.Figure()
    figure.add_scatter(x=outline[0], y=outline[1], name=f"{100 * level:.0f} of 100 releases", hoverinfo="name",
                       **stroke(DATA, 2, "dash"))
    if border:
        ends = middle[:, None] + played.border[:, None] * np.array([-20.0, 20.0])
        figure.add_scatter(x=ends[0], y=ends[1], name="the best guess changes here", hoverinfo="name",
                           **stroke(EXACT, 3))
    for guess, name in names.items():
        seen = [each.point for each in played.rounds[:revealed] if each.truth == guess]
        points = [tuple(played.centres[guess]), *seen]
        sizes = [20, *[11] * len(seen)]
        figure.add_scatter(x=[x for x, _ in points], y=[y for _, y in points], mode="markers", name=name,
                           hoverinfo="name", marker={"color": _COLOURS[guess], "symbol": _SYMBOLS[guess],
                                                     "size": sizes, "line": {"width": 1.5, "color": "#fff"}})
    if at >= revealed:
        x, y = played.rounds[at].point
        figure.add_scatter(x=[x], y=[y], mode="markers", name="this release", hoverinfo="name",
                           marker={"symbol": "star", "size": 24, "color": EXACT,
                                   "line": {"width": 1.5, "color": "#fff"}})
    return plane.drawn(figure, centre=(float(middle[0]), float(middle[1])))
