"""Play the attacker: noisy releases of two averages, and whether a pupil's record was the one or the other.

One pupil, Ann, has the least of everything or the most of everything; nobody else can move the averages as far. Her
attacker knows all others, sees one release and names one of the two. All randomness comes from a seed, so a class plays
the same rounds; the circle and the ellipse meet the same ten strokes of luck, in another order.

>>> from mvgviz.lesson.game import game
>>> played = game(seed=7, shape="circle", epsilon=4)
>>> len(played.rounds), round(played.success, 3)
(10, 0.662)
"""

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.lesson.steps import CLASS, FAVOURED_SHARE, MOVES, circle, ellipse, guess_rate, in_units
from mvgviz.validation import FloatArray, one_of

ROUNDS = 10
SHAPES = ("circle", "ellipse")
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
    border: FloatArray = field(repr=False)
    """Along the line on which both records are as likely, in hours and points."""

    @property
    def best_hits(self) -> int:
        """How many of the rounds the best guess gets right."""
        return sum(each.best == each.truth for each in self.rounds)


def game(*, seed: int, shape: str, epsilon: float) -> Game:
    """The rounds of a seed under a shape of noise."""
    one_of("shape", shape, SHAPES)
    design = circle(epsilon) if shape == "circle" else ellipse(FAVOURED_SHARE, epsilon)
    middle = CLASS.matrix.mean(axis=1)
    centres = {"least": middle - MOVES / 2, "most": middle + MOVES / 2}
    luck = np.random.default_rng([seed, 0]).standard_normal((2, ROUNDS))
    own = np.random.default_rng([seed, 1 + SHAPES.index(shape)])
    order, signs = own.permutation(ROUNDS), own.choice([-1, 1], size=ROUNDS)
    rounds = tuple(_round(design, luck[:, k], sign, middle) for k, sign in zip(order, signs, strict=True))
    return Game(rounds=rounds, success=guess_rate(design.mu), centres=centres, covariance=in_units(design),
                border=_border(design))


def _round(design: NoiseDesign, luck: FloatArray, sign: int, middle: FloatArray) -> Round:
    """A release with Ann at the most (sign 1) or the least; ``luck[0]`` is how far the noise speaks for the truth."""
    along, across = _whitened_axes(design)
    white = sign * (design.mu / 2 + luck[0]) * along + luck[1] * across
    root = np.linalg.cholesky(in_units(design))
    hours, points = middle + root @ white
    return Round(truth=GUESSES[int(sign > 0)], best=GUESSES[int(white @ along > 0)],
                 point=(float(hours), float(points)))


def _whitened_axes(design: NoiseDesign) -> tuple[FloatArray, FloatArray]:
    """Unit vectors, where the noise is round: along what Ann can change, and across it."""
    shift = np.linalg.solve(np.linalg.cholesky(in_units(design)), MOVES)
    along = shift / math.hypot(*shift)
    return along, np.array([-along[1], along[0]])


def _border(design: NoiseDesign) -> FloatArray:
    return np.asarray(np.linalg.cholesky(in_units(design)) @ _whitened_axes(design)[1])
