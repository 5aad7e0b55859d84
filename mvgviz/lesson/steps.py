"""The lesson: directional noise in seven steps, each with one control and one question.

Its numbers and the right answer at each value of a control are computed here. Steps 1 to 6 speak of the bundled made-up
class (``two_features``, and three more made-up columns in step 5), step 7 of a real table.

>>> from mvgviz.lesson.steps import STEPS
>>> STEPS[0].answer(0.075).right, STEPS[0].answer(0.2).right
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

from mvgviz.data import sample
from mvgviz.design.allocation import binary
from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_mu, total_variation
from mvgviz.noise.directions import rotation, standard_basis
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
FAVOURED_SHARE = 0.8


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

    def value_of(self, token: str) -> Any:
        """The value with this token, None where there is none."""
        return next((value for value in self.values if token_of(value) == token), None)


def token_of(value: Any) -> str:
    """A value of a control as a link holds it."""
    return value if isinstance(value, str) else f"{value:.3g}"


@lru_cache(maxsize=8)
def classroom(columns: int, pupils: int = PUPILS) -> Dataset:
    """The made-up class: its first columns, of the first pupils."""
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


# Steps 2 to 4: two averages, each in steps of what one pupil can change; equal noise, shared unequally, turned.

@lru_cache(maxsize=1)
def two_averages() -> queries.Query:
    """The averages of sleep and score, in steps of what one pupil can change."""
    return queries.mean(classroom(2).normalised(to=(0, PUPILS)))


def _two_averages(epsilon: float = EPSILON, **shape: Any) -> NoiseDesign:
    return design_noise(two_averages(), epsilon=epsilon, delta=DELTA, **shape)


def circle(epsilon: float = EPSILON) -> NoiseDesign:
    """Two averages with equal noise."""
    return _two_averages(epsilon)


def ellipse(share: float, epsilon: float = EPSILON) -> NoiseDesign:
    """Two averages; sleep gets a share of the budget, the score the rest."""
    return _two_averages(epsilon, theta=[share, 1 - share])


def turned(angle: float) -> NoiseDesign:
    """Four fifths of the budget for a direction ``angle`` degrees from sleep towards the score."""
    return _two_averages(theta=[FAVOURED_SHARE, 1 - FAVOURED_SHARE],
                         directions=rotation(2, (0, 1), math.radians(angle)))


def in_units(design: NoiseDesign) -> FloatArray:
    """The covariance (2 × 2) of noise on two averages, in hours and points."""
    return np.asarray(design.row_covariance() * np.outer(MOVES, MOVES))


def noise_in_units(design: NoiseDesign) -> FloatArray:
    """The noise on sleep, in hours, and on the score, in points."""
    return np.asarray(np.sqrt(np.diag(in_units(design))))


def against_circle(design: NoiseDesign) -> FloatArray:
    """The noise on sleep and on the score, as multiples of the circle's."""
    return np.asarray(design.noise_std()[:, 0] / circle().noise_std()[:, 0])


def along(angle: float) -> FloatArray:
    """The direction of a use: 0 degrees for sleep, 90 for the score, 45 for both alike."""
    turn = math.radians(angle)
    return np.array([math.cos(turn), math.sin(turn)])


def against_circle_along(design: NoiseDesign, use: FloatArray) -> float:
    """The noise along a use as a multiple of the circle's."""
    return math.sqrt(float(use @ design.row_covariance() @ use) / float(use @ circle().row_covariance() @ use))


def least_along(use: FloatArray) -> float:
    """The least that noise of any shape can have along a use, as a multiple of the circle's."""
    return float(np.abs(use).sum() / math.sqrt(2 * float(use @ use)))


def _aimed(angle: float) -> Answer:
    factor = against_circle_along(turned(angle), along(angle))
    right = "fifth" if factor < 0.85 else "tenth" if factor < 0.95 else "none"
    return Answer(value=factor, right=right, options=("fifth", "tenth", "none"))


# Step 5: five columns of which one matters; rows and columns.

TABLES = {"averages": (1, 0), "people": (0, 3), "together": (0, 1)}
"""The three tables, and the cell that is asked for."""


def table_noise(table: str, share: float = FAVOURED_SHARE) -> NoiseDesign:
    """Noise for the five averages, for six pupils' own answers ("people"), or for how columns go "together"."""
    one_of("table", table, TABLES)
    size = len(COLUMNS)
    query = (queries.mean(classroom(size)) if table == "averages" else
             queries.identity(classroom(size, 6)) if table == "people" else queries.covariance(classroom(size)))
    return design_noise(query, epsilon=EPSILON, delta=DELTA, theta=binary(size, favoured=[0], share=share))


def edge_sizes(table: str) -> tuple[FloatArray, FloatArray]:
    """The size of each row and of each column as multiples of equal noise; a cell's noise is their product."""
    ours, equal = (table_noise(table, share) for share in (FAVOURED_SHARE, 1 / len(COLUMNS)))
    rows, cols = (np.sqrt(side.covariance_diagonal() / other.covariance_diagonal())
                  for side, other in ((ours.row_side, equal.row_side), (ours.col_side, equal.col_side)))
    return np.asarray(rows), np.asarray(cols)


def cell_sizes(table: str) -> FloatArray:
    """The noise of each cell as a multiple of equal noise at the same privacy."""
    return np.asarray(table_noise(table).noise_std() / table_noise(table, 1 / len(COLUMNS)).noise_std())


# Step 6: promised and spent.

RULES = ("exact", "theorem2-any", "theorem1")


def promised(guarantee: str) -> NoiseDesign:
    """The average sleep under one of three rules."""
    return design_noise(queries.mean(classroom(1)), epsilon=EPSILON, delta=DELTA, guarantee=guarantee)


def _spent(guarantee: str) -> Answer:
    part = promised(guarantee).epsilon_spent(DELTA) / EPSILON
    right = "all" if part > 0.95 else "half" if part > 0.25 else "tenth" if part > 0.05 else "little"
    return Answer(value=part, right=right, options=("all", "half", "tenth", "little"))


# Step 7: trials on a real table.

FAVOURITES = {"drinks": (5,), "sgpt-drinks": (2, 5), "all-but-mcv": (1, 2, 3, 4, 5), "mcv-alkphos": (0, 1)}
"""What can be favoured in the liver table, by position."""
TRIALS = 100
_CACHE = TrialCache()  # equal noise is the same for every favourite
_POINTS = 7.5  # the scale from -1 to 1 stands for 0 to 15 half pints a day


@dataclass(frozen=True, kw_only=True, eq=False)
class Pay:
    """Average errors in half pints a day; ``gain``: less error than equal noise, with its 95 % ``margin``.

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
    return pay(favourite, sample("liver"), cache=_CACHE)


@lru_cache(maxsize=1)
def asking_less() -> Pay:
    """The same prediction from a noisy table of second moments, 6 × 6, in place of the noisy table of people."""
    return pay("drinks", sample("liver"), cache=_CACHE, query="covariance", task="linear-ridge")


def _paid(favourite: str) -> Answer:
    found = liver_pay(favourite)
    right = "unclear" if abs(found.gain) <= found.margin else "yes" if found.gain > 0 else "no"
    return Answer(value=found.gain, right=right, options=("yes", "no", "unclear"))


def _nearest(value: float, options: tuple[str, ...]) -> Answer:
    right = min(options, key=lambda option: abs(float(option) - value))
    return Answer(value=value, right=right, options=options)


STEPS = (
    Step(number=1, minutes=3, values=(0.02, 0.04, 0.075, 0.2, BUDGET_NOISE), start=BUDGET_NOISE,
         answer=lambda noise: _nearest(100 * attack(noise), ("55", "60", "75", "90", "99"))),
    Step(number=2, minutes=2, values=(0.5, 1.0, 2.0, 4.0), start=1.0,
         answer=lambda epsilon: _nearest(60 * float(noise_in_units(circle(epsilon))[0]), ("10", "20", "36", "70"))),
    Step(number=3, minutes=3, values=(0.5, 0.6, 0.7, 0.8, 0.9), start=0.8,
         answer=lambda share: Answer(value=float(against_circle(ellipse(share))[1]), tolerance=0.1)),
    Step(number=4, minutes=3, values=(0, 15, 30, 45, 60, 75, 90), start=0, answer=_aimed),
    Step(number=5, minutes=3, values=tuple(TABLES), start="averages", answer=lambda table: Answer(
        value=float(cell_sizes(table)[TABLES[table]]), tolerance=0.05)),
    Step(number=6, minutes=3, values=RULES, start="theorem1", answer=_spent),
    Step(number=7, minutes=3, values=tuple(FAVOURITES), start="drinks", answer=_paid))
