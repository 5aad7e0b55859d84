"""The lesson: directional noise in five steps and four for a second hour, each with one control and one question.

Its numbers and the right answer at each value of a control are computed here. All steps but the seventh speak of the
bundled made-up class (``two_features``, with three more made-up columns in step 8), the seventh of a real table.

>>> from mvgviz.lesson.steps import MAIN, STEPS
>>> round(STEPS[0].answer(0.075).value), round(STEPS[1].answer(0.8).value, 2)
(75, 1.58)
>>> sum(step.minutes for step in STEPS[:MAIN])
15
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from mvgviz.data import sample
from mvgviz.design.allocation import binary
from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.design.trade_off import Gain, gain_among
from mvgviz.noise.accounting import gaussian_mu, total_variation
from mvgviz.noise.directions import rotation, standard_basis
from mvgviz.noise.families import FAMILIES
from mvgviz.noise.sides import NoiseSide
from mvgviz.query import queries
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.resolve import usual_delta
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.results import Results, paired
from mvgviz.trials.run import TrialCache, run_trials
from mvgviz.validation import FloatArray, one_of

CLASS = sample("two_features")
PUPILS = CLASS.n_records
MOVES: FloatArray = CLASS.widths / PUPILS
"""What one pupil can change in the average sleep (hours) and in the average score (points)."""
_MORE = (("screen", 12.0), ("sport", 20.0), ("way", 120.0))
"""Three more made-up columns and how far they reach: hours a day, hours a week, minutes to school."""
COLUMNS = (*CLASS.features, *(name for name, _ in _MORE))
EPSILON = 1.0
DELTA = usual_delta(PUPILS)
LEVEL = 0.95
REACH = math.sqrt(-2 * math.log1p(-LEVEL))
"""The radius that holds LEVEL of a two-dimensional normal, in standard deviations."""
PRIORITY_SHARE = 0.8


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The engine's ``value``; guesses from ``low`` to ``high`` are right."""

    value: float
    low: float
    high: float

    @classmethod
    def near(cls, value: float, part: float = 0.0, room: float = 0.0) -> "Answer":
        """Return the answer that accepts guesses within a ``part`` of the value, or within ``room``."""
        room = max(part * abs(value), room)
        return cls(value=value, low=value - room, high=value + room)

    def accepts(self, given: float) -> bool:
        return self.low - 1e-9 <= given <= self.high + 1e-9


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step: its minutes, the values of its control (``start`` first shown), its answer at each of them."""

    number: int
    minutes: int
    values: tuple[Any, ...]
    start: Any
    answer: Callable[[Any], Answer] = field(repr=False)

    def value_of(self, token: str) -> Any:
        return next((value for value in self.values if token_of(value) == token), None)


def token_of(value: Any) -> str:
    """Return a value of a control as a link holds it."""
    return value if isinstance(value, str) else f"{value:.3g}"


@lru_cache(maxsize=8)
def classroom(columns: int, pupils: int = PUPILS) -> Dataset:
    """Return the made-up class: its first columns, of the first pupils."""
    sleep = CLASS.matrix[0]
    rng = np.random.default_rng(7)
    more = [np.clip(0.55 * most - most / 12 * (sleep - sleep.mean()) + rng.normal(0, most / 8, PUPILS), 0, most)
            for _, most in _MORE]
    whole = Dataset(matrix=np.vstack([CLASS.matrix, np.round(more, 1)]), features=COLUMNS, lower=0,
                    upper=[*CLASS.upper, *(most for _, most in _MORE)])
    return Dataset(matrix=whole.matrix[:columns, :pupils], features=COLUMNS[:columns], lower=0,
                   upper=whole.upper[:columns])


# Step 1: two neighbours and an attacker.

def guess_rate(mu: float) -> float:
    """``Phi(mu/2)``: half, and half of what the two neighbours' releases differ by."""
    return 0.5 + float(total_variation(mu)) / 2


def attack(noise: float) -> float:
    """How often the best guess is right about the average sleep with noise of this standard deviation, in hours."""
    side = NoiseSide.of(standard_basis(1), np.array([noise * noise]))
    return guess_rate(queries.mean(classroom(1)).neighbours.worst(side, NoiseSide.identity(1)).mu)


BUDGET_NOISE = float(MOVES[0]) / float(gaussian_mu(EPSILON, DELTA))
"""The noise that the lesson's budget asks for on the average sleep alone, in hours."""


# Steps 2 to 4: two averages, each in steps of what one pupil can change; the budget shared, the shape turned.

_AVERAGES = queries.mean(classroom(2).normalised(to=(0, PUPILS)))  # in steps of what one pupil can change


def _two_averages(epsilon: float = EPSILON, **shape: Any) -> NoiseDesign:
    return design_noise(_AVERAGES, epsilon=epsilon, delta=DELTA, **shape)


def circle(epsilon: float = EPSILON) -> NoiseDesign:
    """Two averages with equal noise."""
    return _two_averages(epsilon)


def ellipse(share: float, epsilon: float = EPSILON) -> NoiseDesign:
    """Two averages; sleep gets a share of the budget, the score the rest."""
    return _two_averages(epsilon, theta=[share, 1 - share])


def turned(angle: float) -> NoiseDesign:
    """Four fifths of the budget for a direction ``angle`` degrees from sleep towards the score."""
    return _two_averages(theta=[PRIORITY_SHARE, 1 - PRIORITY_SHARE],
                         directions=rotation(2, (0, 1), math.radians(angle)))


def in_units(design: NoiseDesign) -> FloatArray:
    """Return the covariance (2 × 2) of noise on two averages, in hours and points."""
    return np.asarray(design.row_covariance() * np.outer(MOVES, MOVES))


def noise_in_units(design: NoiseDesign) -> FloatArray:
    """Return the noise on sleep, in hours, and on the score, in points."""
    return np.asarray(np.sqrt(np.diag(in_units(design))))


def against_circle(design: NoiseDesign) -> FloatArray:
    """Return the noise on sleep and on the score, as multiples of the circle's."""
    return np.asarray(design.noise_std()[:, 0] / circle().noise_std()[:, 0])


def along(angle: float) -> FloatArray:
    """Return the direction of a use: 0 degrees for sleep, 90 for the score, 45 for both alike."""
    turn = math.radians(angle)
    return np.array([math.cos(turn), math.sin(turn)])


def against_circle_along(design: NoiseDesign, use: FloatArray) -> float:
    """Return the noise along a use as a multiple of the circle's."""
    return math.sqrt(float(use @ design.row_covariance() @ use) / float(use @ circle().row_covariance() @ use))


def least_along(use: FloatArray) -> float:
    """Return the lowest possible noise along a use, as a multiple of the circle's."""
    return float(np.abs(use).sum() / math.sqrt(2 * float(use @ use)))


def growth(angle: float) -> float:
    """How large the ellipse that is turned by ``angle`` must be to hold the change box; 1 where it is not turned."""
    shape, upright = (float(np.linalg.det(turned(at).row_covariance())) for at in (angle, 0))
    return math.sqrt(math.sqrt(shape / upright))


# Step 5: one priority column among many.

def among(columns: int) -> Gain:
    """Return the gain on sleep among so many columns of the class."""
    return gain_among(columns, share=PRIORITY_SHARE, epsilon=EPSILON, delta=DELTA)


def equal_among(columns: int) -> float:
    """Equal noise on sleep among so many columns, in hours."""
    return math.sqrt(columns) * BUDGET_NOISE


# The second hour. Step 8: five columns of which one matters; rows and columns.

TABLES = {"averages": (1, 0), "people": (0, 3), "together": (0, 1)}  # the three tables, and the cell that is asked for


def table_noise(table: str, share: float = PRIORITY_SHARE) -> NoiseDesign:
    """Noise for the five averages, for six pupils' own answers ("people"), or for how columns go "together"."""
    one_of("table", table, TABLES)
    size = len(COLUMNS)
    query = (queries.mean(classroom(size)) if table == "averages" else
             queries.identity(classroom(size, 6)) if table == "people" else queries.covariance(classroom(size)))
    return design_noise(query, epsilon=EPSILON, delta=DELTA, theta=binary(size, priority=[0], share=share))


def edge_sizes(table: str) -> tuple[FloatArray, FloatArray]:
    """Return the size of each row and of each column as multiples of equal noise; a cell's noise is their product."""
    ours, equal = (table_noise(table, share) for share in (PRIORITY_SHARE, 1 / len(COLUMNS)))
    rows, cols = (np.sqrt(side.covariance_diagonal() / other.covariance_diagonal())
                  for side, other in ((ours.row_side, equal.row_side), (ours.col_side, equal.col_side)))
    return np.asarray(rows), np.asarray(cols)


def cell_sizes(table: str) -> FloatArray:
    """Return the noise of each cell as a multiple of equal noise at the same privacy."""
    return np.asarray(table_noise(table).noise_std() / table_noise(table, 1 / len(COLUMNS)).noise_std())


# Step 6: promised and spent.

RULES = ("exact", "theorem2-any", "theorem1")


def promised(guarantee: str) -> NoiseDesign:
    """Return the average sleep under one of three rules."""
    return design_noise(queries.mean(classroom(1)), epsilon=EPSILON, delta=DELTA, guarantee=guarantee)


# Step 9: other families of noise.

OTHER_FAMILIES = ("gaussian", "box", "ellipse")


def family_noise(name: str) -> float:
    """Return the typical error on each of the two averages, in steps of what one pupil can change."""
    return FAMILIES[name].std(2, EPSILON, DELTA)


def family_attack(name: str) -> float:
    """Return how often the best attacker is right; between nothing and everything Ann changes the most that she can."""
    return (1 + FAMILIES[name].advantage(2, EPSILON, DELTA)) / 2


# Step 7: trials on a real table.

PRIORITIES = {"drinks": (5,), "sgpt-drinks": (2, 5), "all-but-mcv": (1, 2, 3, 4, 5), "mcv-alkphos": (0, 1)}
"""Choices of priority columns in the liver table, by position."""
TRIALS = 100
_CACHE = TrialCache()  # equal noise is the same for every priority
_POINTS = 7.5  # the scale from -1 to 1 stands for 0 to 15 half pints a day


@dataclass(frozen=True, kw_only=True, eq=False)
class Pay:
    """Average errors in half pints a day; ``gain``: less than equal noise on the same draws, with its ``margin``."""

    directional: float
    one_size: float
    theorem1: float
    no_noise: float
    no_data: float
    gain: float
    margin: float
    results: Results = field(repr=False)


@lru_cache(maxsize=len(PRIORITIES) + 1)
def liver_pay(priority: str, query: str = "identity", task: str = "kernel-ridge") -> Pay:
    """Trials on the liver table: drinks predicted from a noisy copy of it, or from another noisy answer."""
    one_of("priority", priority, PRIORITIES)
    scenario = Scenario.default_for("liver").changed(
        query=query, task=task, priority_directions=PRIORITIES[priority], share=PRIORITY_SHARE, judged="everything")
    results = run_trials(scenario, sample("liver"), mechanisms=("mvg", "iid", "mvg-theorem1"), trials=TRIALS,
                         cache=_CACHE)
    less = paired(results["iid"], results["mvg"])
    assert less is not None
    return Pay(directional=_POINTS * results["mvg"].mean, one_size=_POINTS * results["iid"].mean,
               theorem1=_POINTS * results["mvg-theorem1"].mean, no_noise=_POINTS * results.references.non_private,
               no_data=_POINTS * results.references.trivial, gain=_POINTS * less.mean,
               margin=_POINTS * less.half_width, results=results)


def asking_less() -> Pay:
    """Return the same prediction from a noisy table of second moments, 6 × 6, in place of the noisy table of people."""
    return liver_pay("drinks", "covariance", "linear-ridge")


def _paid(priority: str) -> Answer:
    """Accept a guess on the right side of equal noise; where the gain is within its margin, near it."""
    found = liver_pay(priority)
    if abs(found.gain) <= found.margin:
        return Answer.near(found.directional, room=0.1)
    low, high = (0.0, found.one_size) if found.gain > 0 else (found.one_size, math.inf)
    near = Answer.near(found.directional, room=0.5)
    return Answer(value=near.value, low=max(low, near.low), high=min(high, near.high))


MAIN = 5  # steps of the lesson; the others are for a second hour
_ANGLES = (0, 15, 30, 45, 60, 75, 90)
STEPS = (
    Step(number=1, minutes=3, values=(0.02, 0.04, 0.075, 0.2, BUDGET_NOISE), start=BUDGET_NOISE,
         answer=lambda noise: Answer.near(100 * attack(noise), 0.05)),
    Step(number=2, minutes=3, values=(0.5, 0.6, 0.7, 0.8, 0.9), start=0.8,
         answer=lambda share: Answer.near(float(against_circle(ellipse(share))[1]), 0.1)),
    Step(number=3, minutes=3, values=_ANGLES, start=45, answer=lambda angle: Answer.near(growth(angle), 0.05)),
    Step(number=4, minutes=3, values=_ANGLES, start=45,
         answer=lambda angle: Answer.near(against_circle_along(turned(angle), along(angle)), 0.06)),
    Step(number=5, minutes=3, values=(2, 5, 10, 21), start=21,
         answer=lambda columns: Answer.near(among(columns).priority, 0.1, 0.05)),
    Step(number=6, minutes=3, values=RULES, start="theorem1",
         answer=lambda rule: Answer.near(promised(rule).epsilon_spent(DELTA) / EPSILON, room=0.06)),
    Step(number=7, minutes=3, values=tuple(PRIORITIES), start="drinks", answer=_paid),
    Step(number=8, minutes=3, values=tuple(TABLES), start="averages",
         answer=lambda table: Answer.near(float(cell_sizes(table)[TABLES[table]]), 0.05, 0.05)),
    Step(number=9, minutes=3, values=OTHER_FAMILIES, start="box",
         answer=lambda name: Answer.near(100 * family_attack(name), 0.05)))
