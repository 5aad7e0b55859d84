"""Play the attacker: noisy releases of two averages, and whether a pupil's record was the one or the other.

One pupil, Ann, has the least of everything or the most of everything; nobody else can move the averages as far. Her
attacker knows all others, sees one release and names one of the two. All randomness comes from a seed, so a class plays
the same rounds; the circle and the ellipse meet the same ten strokes of luck, in another order. Box noise keeps the
same epsilon with another curve: its best attacker is right more often.

>>> from mvgviz.lesson.game import game
>>> played = game(seed=7, shape="circle", epsilon=4)
>>> len(played.rounds), round(played.success, 3)
(10, 0.662)
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from mvgviz.lesson.steps import CLASS, LEVEL, MOVES, PRIORITY_SHARE, circle, ellipse, guess_rate, in_units
from mvgviz.noise.families import FAMILIES
from mvgviz.validation import FloatArray, one_of

ROUNDS = 10
SHAPES = ("circle", "ellipse", "box")
EPSILONS = (1.0, 4.0, 10.0)
GUESSES = ("least", "most")
MOST_SEED = 9999


@dataclass(frozen=True, kw_only=True)
class Round:
    """``truth`` and the ``best`` guess are "least" or "most"; ``point``: the release, in hours and points."""

    truth: str
    best: str
    point: tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Game:
    """Ten rounds; ``success``: how often the best guess is right in the long run; ``centres``: without noise."""

    rounds: tuple[Round, ...]
    success: float
    centres: dict[str, FloatArray] = field(repr=False)
    covariance: FloatArray = field(repr=False)
    border: FloatArray = field(repr=False)  # along the line on which both records are as likely, in hours and points
    half_box: FloatArray | None = field(default=None, repr=False)
    """Of box noise: half the box around 95 of 100 draws, in hours and points."""

    @property
    def best_hits(self) -> int:
        return sum(each.best == each.truth for each in self.rounds)


def game(*, seed: int, shape: str, epsilon: float) -> Game:
    """Return the rounds of a seed under a shape of noise."""
    middle = CLASS.matrix.mean(axis=1)
    centres = {"least": middle - MOVES / 2, "most": middle + MOVES / 2}
    if one_of("shape", shape, SHAPES) == "box":
        return _box_game(seed, epsilon, centres)
    design = circle(epsilon) if shape == "circle" else ellipse(PRIORITY_SHARE, epsilon)
    luck = np.random.default_rng([seed, 0]).standard_normal((2, ROUNDS))
    own = np.random.default_rng([seed, 1 + SHAPES.index(shape)])
    order, signs = own.permutation(ROUNDS), own.choice([-1, 1], size=ROUNDS)
    root = np.linalg.cholesky(in_units(design))
    shift = np.linalg.solve(root, MOVES)  # where the noise is round: what Ann can change
    along = shift / math.hypot(*shift)
    across = np.array([-along[1], along[0]])
    rounds = []
    for (forth, beside), sign in zip(luck.T[order], signs, strict=True):  # forth: how far noise speaks for the truth
        white = sign * (design.mu / 2 + forth) * along + beside * across
        rounds.append(_round(sign > 0, white @ along > 0, middle + root @ white))
    return Game(rounds=tuple(rounds), success=guess_rate(design.mu), centres=centres, covariance=in_units(design),
                border=root @ across)


def _round(most: bool, best: bool, point: FloatArray) -> Round:
    return Round(truth=GUESSES[int(most)], best=GUESSES[int(best)], point=(float(point[0]), float(point[1])))


def _box_game(seed: int, epsilon: float, centres: dict[str, FloatArray]) -> Game:
    """The best guess is the centre whose box around the release is smaller: right in ``1 - exp(-epsilon/2)/2``."""
    own, middle, box = np.random.default_rng([seed, 3]), CLASS.matrix.mean(axis=1), FAMILIES["box"]
    box.fill(own, draws := np.empty((2, ROUNDS)))
    std, rounds = MOVES * box.std(2, epsilon, 0.0), []
    for sign, draw in zip(own.choice([-1, 1], size=ROUNDS), draws.T, strict=True):
        point = middle + sign * MOVES / 2 + std * draw
        apart = (point - middle) / MOVES
        rounds.append(_round(sign > 0, apart.max() + apart.min() > 0, point))
    return Game(rounds=tuple(rounds), success=1 - math.exp(-epsilon / 2) / 2, covariance=np.diag(std**2),
                centres=centres, border=MOVES * [1, -1],
                half_box=MOVES * float(special.gammaincinv(2, LEVEL)) / epsilon)  # such a box grows like Gamma(2)
