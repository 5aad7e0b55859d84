"""Several questions of the same records under one budget: what part of ``mu²`` each gets, and how much noise.

>>> from mvgviz import QuestionPlan, Scenario
>>> liver = Scenario.default_for("liver")
>>> plan = QuestionPlan.of(liver, liver.changed(query="mean")).moved(0, 0.8)
>>> plan.shares, [round(plan.question(k, delta=1e-6).epsilon, 2) for k in (0, 1)]
((0.8, 0.2), [0.89, 0.42])

Releases with Gaussian noise compose by ``mu² = sum mu_i²`` [1, Corollary 2], so what is divided is the mu² that
epsilon and delta allow: a question with the share s may spend ``mu sqrt(s)``, private directions and bounds included.
Together they never spend more than the plan's epsilon at its delta, and just that where one pair of neighbours is worst
for all. Epsilons do not add up: those of the questions alone sum to more than the plan's.

Noise of a given shape is proportional to ``1/mu``: a question with the share s has ``1/sqrt(s)`` times the noise that
it would have alone. For two questions that share what the others leave, ``r``, every division lies on the curve
``a²/A² + b²/B² = r`` (a, b: the noise of each with the whole budget).

What a single release will spend is another plan: ``mvgviz.release.release.plan``.

References
  [1] Dong, Roth & Su, Gaussian differential privacy, JRSS-B 2022.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from mvgviz.design.allocation import rebalanced, with_floor
from mvgviz.design.needs import needs_of, noise_on
from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.codec import VERSION, Saved, check_parts
from mvgviz.scenario.own_units import feature_std
from mvgviz.scenario.resolve import Setup, build, delta_of
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray, count, fraction, instance, non_negative, number

PARTS = 10_000
"""What a plan is divided into, so that its shares sum to 1 to the last digit."""
MOST_QUESTIONS = 20
LEAST_SHARE = 1e-3
"""What a question gets at least where shares are computed."""
_LEAST_EPSILON = 1e-3  # that a scenario can hold
_BUDGET = ("epsilon", "delta")
_POINTS, _END = 81, 0.01


@dataclass(frozen=True, kw_only=True)
class QuestionPlan(Saved):
    """Questions about one dataset, each a scenario, and their whole parts of mu², which sum to 10 000.

    The epsilon and delta of every scenario are those of the whole plan; :meth:`question` has a question's own.
    ``shares_read``: whether the parts were chosen by looking at the data; every question's own epsilon is then too.
    """

    called: ClassVar = "a plan file"

    scenarios: tuple[Scenario, ...]
    parts: tuple[int, ...]
    shares_read: bool = False

    def __post_init__(self) -> None:
        _check_number(self.scenarios)
        asked = tuple(instance("a question", scenario, Scenario) for scenario in self.scenarios)
        parts = tuple(count("parts", part) for part in self.parts)
        if not (len(parts) == len(asked) and sum(parts) == PARTS):
            raise InputError(f"the parts of a plan must be one for each question and sum to {PARTS}")
        for what, values in (*((name, {getattr(scenario, name) for scenario in asked}) for name in ("data", *_BUDGET)),
                             ("kind of neighbours", {scenario.is_graph or scenario.neighbours for scenario in asked})):
            refuse(len(values) > 1, f"the questions of a plan must have one {what}, got several")
        for scenario in asked:
            refuse(scenario.guarantee != "exact", f"a plan needs the exact guarantee, got {scenario.guarantee}: what "
                   "the theorems promise does not add up exactly")
            if scenario.noise_family != "gaussian":
                raise InputError(f"a plan divides mu², so its questions need Gaussian noise, got {scenario.family}")
        object.__setattr__(self, "scenarios", asked)
        object.__setattr__(self, "parts", parts)

    @classmethod
    def of(cls, *scenarios: Scenario) -> QuestionPlan:
        """Equal shares of the first one's epsilon and delta."""
        under = tuple(under_budget_of(scenarios[0], scenario) for scenario in scenarios)
        return cls(scenarios=under, parts=_divided([0] * len(under), [1.0] * len(under)))

    def __len__(self) -> int:
        return len(self.scenarios)

    @property
    def data(self) -> str:
        return self.scenarios[0].data

    @property
    def epsilon(self) -> float:
        return self.scenarios[0].epsilon

    @property
    def shares(self) -> tuple[float, ...]:
        return tuple(part / PARTS for part in self.parts)

    def question(self, k: int, *, delta: float) -> Scenario:
        """Question k with an epsilon of its own, at ``delta``, which has to be the plan's: ready for ``build``."""
        share, asked = self.shares[self._position(k)], self.scenarios[k]
        mu = float(gaussian_mu(self.epsilon, fraction("delta", delta))) * math.sqrt(share)
        epsilon = float(gaussian_epsilon(delta, mu))
        refuse(not epsilon >= _LEAST_EPSILON, f"question {k + 1} would get an epsilon below {_LEAST_EPSILON:g}; give "
               "it a larger share, or the plan a larger epsilon")
        marks = (*asked.from_data, "epsilon") if self.shares_read else asked.from_data
        return asked.changed(epsilon=epsilon, from_data=marks)

    def with_budget(self, scenario: Scenario) -> QuestionPlan:
        """Return the same shares of this scenario's epsilon and delta."""
        return replace(self, scenarios=tuple(under_budget_of(scenario, asked) for asked in self.scenarios))

    def added(self, scenario: Scenario, *, locked: Collection[int] = ()) -> QuestionPlan:
        """One question more, under the plan's budget; those that are not locked make room for it."""
        instance("scenario", scenario, Scenario)
        free = [part for k, part in enumerate(self.parts) if k not in locked]
        refuse(not sum(free) > len(free), "there is no room for another question; unlock one that has some")
        parts = _divided((*self.parts, 0), (*self.parts, sum(free) / len(free)), self._those(locked))
        return replace(self, scenarios=(*self.scenarios, under_budget_of(self.scenarios[0], scenario)), parts=parts)

    def removed(self, k: int, *, locked: Collection[int] = ()) -> QuestionPlan:
        """Without question k; those that are not locked share what it had in their old proportions."""
        kept = [j for j in range(len(self)) if j != self._position(k)]
        refuse(not set(kept) - set(locked), "unlock another question first: this one's share must go to one of them")
        parts = [self.parts[j] for j in kept]
        return replace(self, scenarios=tuple(self.scenarios[j] for j in kept),
                       parts=_divided(parts, parts, without(locked, k)))

    def moved(self, k: int, share: float, *, locked: Collection[int] = ()) -> QuestionPlan:
        """Question k with another share; the others that are not locked take or give what that needs."""
        return replace(self, parts=rebalanced(self.parts, position=self._position(k), locked=self._those(locked),
                                              value=round(PARTS * number("share", share))))

    def shared(self, weights: Any, *, locked: Collection[int] = (), read: bool = False) -> QuestionPlan:
        """Shares in proportion to weights, none below a thousandth; locked ones stay as they are.

        ``read``: whether the weights were read from the data. Equal shares of everything tell nothing.
        """
        wanted = non_negative("weights", weights)
        if wanted.size != len(self):
            raise InputError(f"weights must be one for each of the {len(self)} questions, got {wanted.size}")
        free = [k for k in range(len(self)) if k not in locked]
        if free and wanted[free].max() > 0:
            room = sum(self.parts[k] for k in free) / PARTS
            least = min(LEAST_SHARE / room, 1 / len(free))
            wanted = wanted.copy()
            wanted[free] = with_floor(wanted[free] / wanted[free].sum(), least)
        parts = _divided(self.parts, wanted.tolist(), locked)
        return replace(self, parts=parts, shares_read=read or (self.shares_read and not are_equal(parts)))

    def _position(self, k: int) -> int:
        refuse(not 0 <= k < len(self), f"a plan of {len(self)} questions has none at position {k}")
        return k

    def _those(self, positions: Collection[int]) -> frozenset[int]:
        return frozenset(positions) & frozenset(range(len(self)))

    def to_dict(self) -> dict[str, Any]:
        questions = [{"parts": part, **scenario.to_dict()}
                     for part, scenario in zip(self.parts, self.scenarios, strict=True)]
        return {"mvgviz_plan": VERSION, "shares_read": self.shares_read, "questions": questions}

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        check_parts(content, cls.called, "mvgviz_plan", shares_read=bool, questions=list)
        questions = content["questions"]
        _check_number(questions)
        if not all(isinstance(question, dict) and "parts" in question for question in questions):
            raise InputError('every question of a plan file must hold "parts", "mvgviz" and "scenario"')
        return cls(shares_read=content["shares_read"], parts=tuple(question.pop("parts") for question in questions),
                   scenarios=tuple(Scenario.from_dict(question) for question in questions))


def _check_number(questions: Sequence[Any]) -> None:
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise InputError(f"a plan must have 1 to {MOST_QUESTIONS} questions, got {len(questions)}")


def are_equal(parts: Sequence[int]) -> bool:
    """Return whether these parts are equal shares, to a whole part."""
    return max(parts) - min(parts) <= 1


def without(positions: Iterable[int], k: int) -> frozenset[int]:
    """Positions in a list from which entry k was taken."""
    return frozenset(j - (j > k) for j in positions if j != k)


def under_budget_of(budget: Scenario, scenario: Scenario) -> Scenario:
    """The second scenario with the epsilon and delta of the first, wherever those come from, and Gaussian noise."""
    marks = {name for name in scenario.from_data if name not in _BUDGET}
    marks |= {name for name in budget.from_data if name in _BUDGET}
    return scenario.changed(epsilon=budget.epsilon, delta=budget.delta, family="gaussian", from_data=tuple(marks))


def _divided(parts: Sequence[int], weights: Sequence[float], locked: Collection[int] = ()) -> tuple[int, ...]:
    """Whole parts that sum to all: locked ones as they are, the others at least 1, in proportion to their weights."""
    free = [k for k in range(len(parts)) if k not in locked]
    left = PARTS - sum(part for k, part in enumerate(parts) if k in locked) - len(free)
    if left < 0 or not free:
        return tuple(parts)
    exact = left * np.array([weights[k] for k in free]) / sum(weights[k] for k in free)
    more = np.floor(exact).astype(int)
    more[np.argsort(more - exact, kind="stable")[: left - more.sum()]] += 1  # the largest remainders get the rest
    new = list(parts)
    for k, part in zip(free, more.tolist(), strict=True):
        new[k] = 1 + part
    return tuple(new)


@dataclass(frozen=True, kw_only=True)
class QuestionNoise:
    """What one question gets: its ``share`` of mu², its own ``mu``, and the ``epsilon`` that this is alone.

    ``noise``: the root mean square of the noise on priority columns (on all where there are none), in units of the
    ranges. ``least`` and ``most``: the feature (vertex, record) with least and with most noise, and its standard
    deviation in the data's units.
    """

    share: float
    mu: float
    epsilon: float
    noise: float
    least: tuple[str, float]
    most: tuple[str, float]

    @property
    def alone(self) -> float:
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
        """Return the noise on both where the first gets this part of the room."""
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
    """Return the design of every question, under its own part of the budget."""
    delta = delta_of(plan.scenarios[0], dataset)
    return tuple(build(plan.question(k, delta=delta), dataset, uploaded=uploaded) for k in range(len(plan)))


def plan_noise(plan: QuestionPlan, setups: Sequence[Setup]) -> tuple[QuestionNoise, ...]:
    """Return what every question gets; ``setups`` as :func:`build_plan` makes them."""
    found = []
    for share, setup in zip(plan.shares, setups, strict=True):
        epsilon, stds = setup.scenario.epsilon, feature_std(setup, setup.design)
        names = setup.query.coordinate_names("rows", stds.size)
        least, most = ((names[k] if k < len(names) else f"number {k + 1}", float(stds[k]))
                       for k in (int(stds.argmin()), int(stds.argmax())))
        found.append(QuestionNoise(share=share, mu=float(gaussian_mu(epsilon, setup.delta)), epsilon=epsilon,
                                   noise=typical_noise(setup), least=least, most=most))
    return tuple(found)


def pair_trade(noise: Sequence[QuestionNoise], first: int, second: int) -> PairTrade:
    """Return the trade between two questions, the others' shares as they are."""
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
    """Return the noise on the scenario's priority columns, else on all, in units of the ranges."""
    design = setup.design
    priority = {k: weight for k, weight in setup.scenario.need_weights.items() if k < design.rows}
    if design.mode != "columns" and 0 < len(priority) < design.rows:
        return noise_on(design, needs_of(priority, design.rows), directions=setup.need_directions).priority
    return noise_on(design, np.ones(design.rows)).everything
