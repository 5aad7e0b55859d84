"""The lesson's five steps and the game as one HTML page without a server, and the handout, with everything inside.

Every number, sentence and picture is the app's own, worked out beforehand for each value of a control; the page's
script (``templates/lesson.js``) shows them and draws the learner's guess.
"""

import base64
import math
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np
import segno
from plotly.offline import get_plotlyjs

from mvgviz.lesson import steps
from mvgviz.lesson.game import EPSILONS, ROUNDS, SHAPES, game
from mvgviz.pictures.lesson import GAME_RULES, GUESS_NAMES, SHAPE_NAMES, chance_words, end_words, game_picture
from mvgviz.pictures.scenes import SCENES, Scene
from mvgviz.pictures.sentences import DELTA_IS, neighbour_words
from mvgviz.pictures.theme import CSS_COLOURS, DARK, LIGHT, PAPER, Picture
from mvgviz.query.queries import REPLACED_RECORD
from mvgviz.report.html import TEMPLATES
from mvgviz.text import as_html
from mvgviz.version import VERSION

GAMES = 20
"""How many games the page holds: the app's first ones."""
_LESSON = SCENES[:steps.MAIN]


def lesson_html() -> str:
    """Return the steps, the game and the handout, which is what a browser prints."""
    shown = [{"title": scene.title, "control": scene.control, "ordered": scene.ordered,
              "start": scene.step.values.index(scene.step.start), "values": [_at(scene, v) for v in scene.step.values]}
             for scene in _LESSON]
    return _page({"steps": shown, "game": _game()})


def handout_html(address: str = "") -> str:
    """Return the handout alone, on two sides of a page; ``address``: where the lesson is, as a QR code too."""
    return _page({"steps": [{"values": [_at(scene, scene.step.start)], "start": 0} for scene in _LESSON],
                  "game": None}, address)


@lru_cache(maxsize=16)
def qr_code(address: str) -> str:
    """Return the address as a picture, inside a link of its own: dark on white in either theme."""
    return segno.make(address, micro=False, error="m").svg_data_uri(scale=7, border=3, light=PAPER)


def _page(data: dict[str, Any], address: str = "") -> str:
    return TEMPLATES.get_template("lesson.html").render(
        data=data, scenes=_LESSON, pupils=steps.PUPILS, delta=DELTA_IS, address=address, colours=CSS_COLOURS,
        light=LIGHT, dark=DARK, neighbours=neighbour_words(REPLACED_RECORD, "pupil"),
        code=qr_code(address) if address else "", plotly=get_plotlyjs(), version=VERSION)


def _at(scene: Scene, value: Any) -> dict[str, Any]:
    answer, before, after = scene.step.answer(value), scene.waiting(value), scene.picture(value)
    return {"shown": scene.shown(value), "sentences": [as_html(line) for line in scene.sentences(value)],
            "question": scene.question(value), "why": as_html(scene.why(value)),
            "hints": [as_html(scene.hint(value, far)) for far in (-math.inf, math.inf)],
            "answer": asdict(answer), "ghost": _plain(asdict(scene.ghost(value))),
            "before": _figure(before), "after": _figure(after),
            "alts": [before.text_alternative, after.text_alternative]}


def _game() -> dict[str, Any]:
    tables = {}
    for shape in SHAPES:
        for epsilon in EPSILONS:
            games = [game(seed=seed, shape=shape, epsilon=epsilon) for seed in range(1, GAMES + 1)]
            start, end = (game_picture(games[0], said=said) for said in (0, ROUNDS))
            tables[f"{shape} {epsilon:g}"] = {
                "start": _figure(start), "end": _figure(end), "chance": as_html(chance_words(games[0])),
                "without": start.text_alternative.partition("points. ")[2],
                "over": [as_html(end_words(one, shape)) for one in games],
                "games": [[[each.truth, *map(_short, each.point)] for each in one.rounds] for one in games]}
    return {"rules": as_html(GAME_RULES), "shapes": SHAPE_NAMES, "epsilons": [f"{epsilon:g}" for epsilon in EPSILONS],
            "names": GUESS_NAMES, "tables": tables}


def _figure(picture: Picture) -> dict[str, Any]:
    """For Plotly in the browser, with plain lists of short numbers and without Plotly's own look."""
    drawn: dict[str, Any] = _plain(picture.figure.to_dict())
    drawn["layout"].pop("template", None)
    return drawn


def _plain(part: Any) -> Any:
    if isinstance(part, dict) and "bdata" in part:
        part = np.frombuffer(base64.b64decode(part["bdata"]), part["dtype"]).reshape(
            [int(size) for size in part.get("shape", "-1").split(",")])
    if isinstance(part, dict):
        return {name: _plain(value) for name, value in part.items()}
    if isinstance(part, np.ndarray | list | tuple):
        return [_plain(value) for value in (part.tolist() if isinstance(part, np.ndarray) else part)]
    return _short(part) if isinstance(part, float) else part.item() if isinstance(part, np.generic) else part


def _short(number: float) -> float:
    return float(f"{number:.5g}")
