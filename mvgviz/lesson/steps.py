"""The lesson: directional noise in seven steps, each with one control and one question.

Its numbers and the right answer at each value of a control are computed here. Steps 1 to 6 speak of a made-up class of
100 pupils who answer questions with 0 to 10 points; step 7 of a real table.

>>> from mvgviz.lesson.steps import STEPS
>>> STEPS[0].answer(0.08).right, STEPS[0].answer(0.2).right
('75', '60')
>>> sum(step.minutes for step in STEPS)
20
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from mvgviz.design.allocation import binary
from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.errors import InputError
from mvgviz.noise.accounting import total_variation
from mvgviz.noise.directions import rotation, standard_basis
from mvgviz.noise.sides import NoiseSide
from mvgviz.query import queries
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.paired import paired
from mvgviz.trials.resumable import TrialCache
from mvgviz.trials.run import Results, run_trials
from mvgviz.validation import FloatArray, one_of

PUPILS, MOST_POINTS = 100, 10.0
QUESTIONS = ("sleep", "mood", "sport", "screen")
EPSILON, DELTA = 1.0, 1e-3
LEVEL = 0.95
REACH = math.sqrt(-2 * math.log1p(-LEVEL))
"""The radius that holds LEVEL of a two-dimensional normal, in standard deviations."""
FAVOURED_SHARE = 0.8
ALIKE = 0.02
"""Two noises that differ by no more are called the same."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The right answer: one of ``options``, else a number to within a share ``tolerance``; ``value``: the engine's."""

    value: float
    right: str = ""
    options: tuple[str, ...] = ()
    tolerance: float = 0.0

    def accepts(self, given: str | float) -> bool:
        """Whether an answer counts as right."""
        if self.options:
            return given == self.right
        return isinstance(given, int | float) and abs(given - self.value) <= self.tolerance * abs(self.value)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step: its minutes, the values of its control (``start`` first shown), its answer at each of them."""

    number: int
    minutes: int
    values: tuple[Any, ...]
    start: Any
    answer: Callable[[Any], Answer] = field(repr=False)


@lru_cache(maxsize=8)
def classroom(questions: int, pupils: int = PUPILS) -> Dataset:
    """The made-up class: the first questions' answers, from 0 to 10 points."""
    points = np.random.default_rng(7).integers(2, 10, size=(len(QUESTIONS), pupils))[:questions]
    return Dataset(matrix=points.astype(np.float64), features=QUESTIONS[:questions], lower=0, upper=MOST_POINTS)


# Step 1: two neighbours and an attacker.

@dataclass(frozen=True, kw_only=True)
class Attack:
    """``shift``: what one pupil moves the average by; ``mu``: the same in noises."""

    shift: float
    mu: float

    @property
    def success(self) -> float:
        """How often the best guess between two neighbours is right: ``Phi(mu/2)``."""
        return guess_rate(self.mu)


def guess_rate(mu: float) -> float:
    """``Phi(mu/2)``: half, and half of what the two neighbours' releases differ by."""
    return 0.5 + float(total_variation(mu)) / 2


def attack(noise: float) -> Attack:
    """The average of one question with noise of this standard deviation."""
    query = queries.mean(classroom(1))
    side = NoiseSide.of(standard_basis(1), np.array([noise * noise]))
    return Attack(shift=query.sensitivity, mu=query.neighbours.worst(side, NoiseSide.identity(1)).mu)


# Step 2: noise of one size on two averages.

def circle(epsilon: float = EPSILON) -> NoiseDesign:
    """Two averages with noise of one size."""
    return design_noise(queries.mean(classroom(2)), epsilon=epsilon, delta=DELTA)


def radius(design: NoiseDesign) -> float:
    """How far the circle of noise of one size reaches."""
    return REACH * float(design.direction_std()[0])


# Steps 3 and 4: the same budget, shared unequally, and turned.

def ellipse(share: float) -> NoiseDesign:
    """Two averages; sleep gets a share of the budget, mood the rest."""
    return design_noise(queries.mean(classroom(2)), epsilon=EPSILON, delta=DELTA, theta=[share, 1 - share])


def turned(angle: float) -> NoiseDesign:
    """Four fifths of the budget for a direction ``angle`` degrees from sleep towards mood."""
    return design_noise(queries.mean(classroom(2)), epsilon=EPSILON, delta=DELTA,
                        theta=[FAVOURED_SHARE, 1 - FAVOURED_SHARE], directions=rotation(2, (0, 1), math.radians(angle)))


def against_circle(design: NoiseDesign) -> FloatArray:
    """The noise on sleep and on mood, as multiples of the circle's."""
    return np.asarray(design.noise_std()[:, 0] / circle().noise_std()[:, 0])


def against_circle_along(design: NoiseDesign, use: tuple[float, float]) -> float:
    """The noise along a use, such as (1, 1) for the sum of both, as a multiple of the circle's."""
    u = np.asarray(use)
    return math.sqrt(float(u @ design.row_covariance() @ u) / float(u @ circle().row_covariance() @ u))


def _use(angle: float) -> Answer:
    factor = float(against_circle(turned(angle))[1])
    right = "same" if abs(factor - 1) <= ALIKE else "smaller" if factor < 1 else "larger"
    return Answer(value=factor, right=right, options=("smaller", "same", "larger"))


# Step 5: rows and columns.

TABLES = {"people": (0, 3), "together": (0, 2)}
"""The two tables, and the cell that is asked for."""


def table_noise(table: str) -> NoiseDesign:
    """Noise for six pupils' answers ("people"), or for how the questions go together ("together"); sleep favoured."""
    one_of("table", table, TABLES)
    theta = binary(len(QUESTIONS), favoured=[0], share=FAVOURED_SHARE)
    query = (queries.identity(classroom(len(QUESTIONS), 6)) if table == "people"
             else queries.covariance(classroom(len(QUESTIONS))))
    return design_noise(query, epsilon=EPSILON, delta=DELTA, theta=theta)


def edge_sizes(design: NoiseDesign) -> tuple[FloatArray, FloatArray]:
    """The size of each row and of each column; a cell's noise is their product."""
    return np.sqrt(design.row_side.covariance_diagonal()), np.sqrt(design.col_side.covariance_diagonal())


# Step 6: promised and spent.

def promised(guarantee: str) -> NoiseDesign:
    """The table of how sleep and mood go together, under one of three rules; noise of one size."""
    return design_noise(queries.covariance(classroom(2)), epsilon=EPSILON, delta=DELTA, guarantee=guarantee)


def _spent(guarantee: str) -> Answer:
    part = promised(guarantee).epsilon_spent(DELTA) / EPSILON
    right = "all" if part > 0.95 else "half" if part > 0.25 else "tenth" if part > 0.01 else "nothing"
    return Answer(value=part, right=right, options=("all", "half", "tenth", "nothing"))


# Step 7: trials on a real table.

FAVOURITES = {"drinks": (5,), "sgpt, drinks": (2, 5), "all but mcv": (1, 2, 3, 4, 5), "mcv, alkphos": (0, 1)}
"""What can be favoured in the liver table, by position."""
TRIALS = 100
_CACHE = TrialCache()  # noise of one size is the same for every favourite
_POINTS = 7.5  # the scale from -1 to 1 stands for 0 to 15 half pints a day


@dataclass(frozen=True, kw_only=True, eq=False)
class Pay:
    """Average errors in half pints a day; ``gain``: less error than noise of one size, with its 95 % ``margin``.

    Both shapes met the same random numbers, trial by trial, which makes the margin small.
    """

    directional: float
    one_size: float
    theorem1: float
    no_noise: float
    no_data: float
    gain: float
    margin: float
    results: Results = field(repr=False)


def pay(favourite: str, dataset: Dataset, *, trials: int = TRIALS, cache: TrialCache | None = None,
        query: str = "identity", task: str = "kernel-ridge") -> Pay:
    """Trials on the liver table: drinks predicted from a noisy copy of it, or from another noisy answer."""
    one_of("favourite", favourite, FAVOURITES)
    scenario = Scenario.default_for("liver").changed(
        query=query, task=task, favoured=FAVOURITES[favourite], share=FAVOURED_SHARE, judged="everything")
    results = run_trials(scenario, dataset, mechanisms=("mvg", "iid", "mvg-theorem1"), trials=trials, cache=cache)
    less = paired(results["iid"], results["mvg"])
    if less is None or less.trials < 2:
        raise InputError(f"trials must be at least 2, got {trials}")
    return Pay(directional=_POINTS * results["mvg"].mean, one_size=_POINTS * results["iid"].mean,
               theorem1=_POINTS * results["mvg-theorem1"].mean, no_noise=_POINTS * results.references.non_private,
               no_data=_POINTS * results.references.trivial, gain=_POINTS * less.mean,
               margin=_POINTS * less.half_width, results=results)


@lru_cache(maxsize=len(FAVOURITES))
def liver_pay(favourite: str) -> Pay:
    """The same on the bundled table, once."""
    from mvgviz.data import sample

    return pay(favourite, sample("liver"), cache=_CACHE)


@lru_cache(maxsize=1)
def asking_less() -> Pay:
    """The same prediction from a noisy table of second moments, 6 × 6, in place of the noisy table of people."""
    from mvgviz.data import sample

    return pay("drinks", sample("liver"), cache=_CACHE, query="covariance", task="linear-ridge")


def _paid(favourite: str) -> Answer:
    found = liver_pay(favourite)
    right = "unclear" if abs(found.gain) <= found.margin else "yes" if found.gain > 0 else "no"
    return Answer(value=found.gain, right=right, options=("yes", "no", "unclear"))


def _nearest(value: float, options: tuple[str, ...]) -> Answer:
    right = min(options, key=lambda option: abs(float(option) - value))
    return Answer(value=value, right=right, options=options)


STEPS = (
    Step(number=1, minutes=3, values=(0.02, 0.04, 0.08, 0.2, 1.0), start=0.04,
         answer=lambda noise: _nearest(100 * attack(noise).success, ("50", "60", "75", "90", "99"))),
    Step(number=2, minutes=2, values=(0.5, 1.0, 2.0, 4.0), start=1.0,
         answer=lambda epsilon: _nearest(radius(circle(epsilon)), ("0.25", "0.5", "1", "1.5"))),
    Step(number=3, minutes=3, values=(0.5, 0.6, 0.7, 0.8, 0.9), start=0.8,
         answer=lambda share: Answer(value=float(against_circle(ellipse(share))[1]), tolerance=0.1)),
    Step(number=4, minutes=3, values=(0, 15, 30, 45, 60, 75, 90), start=0, answer=_use),
    Step(number=5, minutes=3, values=tuple(TABLES), start="people", answer=lambda table: Answer(
        value=float(table_noise(table).noise_std()[TABLES[table]]), tolerance=0.05)),
    Step(number=6, minutes=3, values=("exact", "theorem2", "theorem1"), start="theorem1", answer=_spent),
    Step(number=7, minutes=3, values=tuple(FAVOURITES), start="drinks", answer=_paid))
