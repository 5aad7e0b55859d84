"""What each question of a plan gets, and what one question pays for another's precision.

Noise of a given shape is proportional to ``1/mu``, so a question with the share s of mu² has ``1/sqrt(s)`` times the
noise that it would have alone. For two questions that share what the others leave, ``r``, every division lies on the
curve ``a²/A² + b²/B² = r`` (a, b: the noise of each with the whole budget).

>>> from mvgviz.scenario.plan_noise import PairTrade
>>> PairTrade(alone=(3.0, 4.0), room=1.0, share=0.36).here
(5.0, 5.0)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mvgviz.design.needs import needs_of, noise_on
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.names import names_of_coordinates
from mvgviz.scenario.plan import QuestionPlan
from mvgviz.scenario.resolve import Setup, build, delta_of
from mvgviz.validation import FloatArray

_POINTS, _END = 81, 0.01
"""Of a feature's unit, in an entry (k, k) of the answer."""


@dataclass(frozen=True, kw_only=True)
class QuestionNoise:
    """What one question gets: its ``share`` of mu², its own ``mu``, and the ``epsilon`` that this is alone.

    ``noise``: the root mean square of the noise on what is needed (on everything where that is not said), in units of
    the ranges. ``least`` and ``most``: the feature (vertex, record) with least and with most noise, and its standard
    deviation in the data's own units.
    """

    share: float
    mu: float
    epsilon: float
    noise: float
    least: tuple[str, float]
    most: tuple[str, float]

    @property
    def alone(self) -> float:
        """The noise of the same shape with the whole budget."""
        return self.noise * math.sqrt(self.share)


@dataclass(frozen=True, kw_only=True)
class PairTrade:
    """Two questions that divide ``room``, a share of mu², of which the first has the part ``share``.

    ``alone``: the noise of each with all of mu².
    """

    alone: tuple[float, float]
    room: float
    share: float

    def at(self, share: float) -> tuple[float, float]:
        """The noise on both where the first gets this part of the room."""
        first, second = self.alone
        return first / math.sqrt(self.room * share), second / math.sqrt(self.room * (1 - share))

    @property
    def here(self) -> tuple[float, float]:
        return self.at(self.share)

    @property
    def curve(self) -> list[tuple[float, float, float]]:
        """Part of the first, noise on it, noise on the second: from hardly anything to nearly all."""
        end = math.log(_END / (1 - _END))
        parts = 1 / (1 + np.exp(-np.linspace(end, -end, _POINTS)))
        return [(part, *self.at(part)) for part in parts.tolist()]


def build_plan(plan: QuestionPlan, dataset: Dataset, *, uploaded: Directions | None = None) -> tuple[Setup, ...]:
    """The design of every question, under its own part of the budget."""
    delta = delta_of(plan.scenarios[0], dataset)
    return tuple(build(plan.question(k, delta=delta), dataset, uploaded=uploaded) for k in range(len(plan)))


def plan_noise(plan: QuestionPlan, setups: Sequence[Setup]) -> tuple[QuestionNoise, ...]:
    """What every question gets; ``setups`` as :func:`build_plan` makes them."""
    found = []
    for share, setup in zip(plan.shares, setups, strict=True):
        epsilon, stds = setup.scenario.epsilon, feature_std(setup)
        names = names_of_coordinates(setup.query, "rows", stds.size)
        least, most = ((names[k] if k < len(names) else f"number {k + 1}", float(stds[k]))
                       for k in (int(stds.argmin()), int(stds.argmax())))
        found.append(QuestionNoise(share=share, mu=float(gaussian_mu(epsilon, setup.delta)), epsilon=epsilon,
                                   noise=typical_noise(setup), least=least, most=most))
    return tuple(found)


def pair_trade(noise: Sequence[QuestionNoise], first: int, second: int) -> PairTrade:
    """The trade between two questions, the others' shares as they are."""
    a, b = noise[first], noise[second]
    room = a.share + b.share
    return PairTrade(alone=(a.alone, b.alone), room=room, share=a.share / room)


def same_noise(noise: Sequence[QuestionNoise]) -> FloatArray:
    """Shares in proportion to which every question has the same noise, in units of the ranges: ``s ∝ e²``."""
    alone = np.array([question.alone for question in noise])
    return np.asarray((alone / alone.max()) ** 2)


def least_noise(noise: Sequence[QuestionNoise], weights: Sequence[float] | None = None) -> FloatArray:
    """Shares in proportion to which the weighted squares of the noise, ``sum w e²/s``, are least: ``s ∝ sqrt(w) e``."""
    alone = np.array([question.alone for question in noise])
    return np.asarray(alone * np.sqrt(np.ones(alone.size) if weights is None else np.asarray(weights, dtype=float)))


def typical_noise(setup: Setup) -> float:
    """The noise on the features that the scenario needs, else on everything, in units of the ranges."""
    design = setup.design
    needed = {k: weight for k, weight in setup.scenario.need_weights.items() if k < design.rows}
    if design.mode != "columns" and 0 < len(needed) < design.rows:
        return noise_on(design, needs_of(needed, design.rows), directions=setup.need_directions).needed
    return noise_on(design, np.ones(design.rows)).everything


def feature_std(setup: Setup) -> FloatArray:
    """The noise on each row of the answer (of a square one: on entry (k, k)), in the data's own units."""
    design, query = setup.design, setup.query
    rows, cols = (np.sqrt(side.covariance_diagonal()) for side in (design.row_side, design.col_side))
    std = rows * (cols if query.symmetric else math.sqrt(float(np.mean(cols**2))))
    if not query.degree:
        return std
    units = setup.dataset.widths / setup.table.widths[: setup.dataset.n_features]
    units = np.append(units, np.ones(std.size - units.size))  # a constant that was joined has none
    return np.asarray(std * units**query.degree)
