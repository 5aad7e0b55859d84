"""Several questions of the same records under one budget: what part of ``mu²`` each gets, and how much noise.

>>> from mvgviz import QuestionPlan, Scenario
>>> liver = Scenario.default_for("liver")
>>> plan = QuestionPlan.of(liver, liver.changed(query="mean")).moved(0, 0.8)
>>> plan.shares, [round(plan.question(k, delta=1e-6).epsilon, 2) for k in (0, 1)]
((0.8, 0.2), [0.89, 0.42])

Gaussian noise composes by ``mu² = sum mu_i²`` (Dong, Roth & Su, JRSS-B 2022, Corollary 2): a question with the share s
may spend ``mu sqrt(s)``, private directions and bounds included. Epsilons do not add up.

Box and Laplace noise spend epsilon: alone, their shares are of epsilon, with delta = 0. Beside Gaussian noise every
share is multiplied by one factor c (:func:`mvgviz.noise.mixtures.plan_scale`), which depends on all shares and kinds of
noise: once a part of such a plan is released, nothing in it may change.

A question that may spend the part p of mu or epsilon has ``1/p`` times the noise of the whole: ``p = sqrt(c s)``, or
``c s``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mvgviz.design.allocation import divided, rebalanced, with_floor
from mvgviz.design.needs import needs_of, noise_on
from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu, root
from mvgviz.noise.directions import Directions
from mvgviz.noise.families import CHOICES
from mvgviz.noise.mixtures import near_scale, plan_scale
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.codec import VERSION, Saved, check_parts
from mvgviz.scenario.own_units import feature_std
from mvgviz.scenario.resolve import Setup, build, delta_of
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray, count, fraction, instance, non_negative, number, one_of

PARTS = 10_000
"""What a plan is divided into, so that its shares sum to 1 to the last digit."""
MOST_QUESTIONS = 20
PLANNED = tuple(name for name, family in CHOICES.items() if family.in_plans)
"""Families of noise whose cost together is known."""
LEAST_SHARE = 1e-3
"""What a question gets at least where shares are computed."""
_LEAST_EPSILON = 1e-3  # that a scenario can hold
_BUDGET = ("epsilon", "delta")
_POINTS, _END = 81, 0.01


@dataclass(frozen=True, kw_only=True)
class QuestionPlan(Saved):
    """Questions about one dataset, each a scenario with the whole plan's budget, and their parts, which sum to 10 000.

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
            refuse(scenario.noise_family not in PLANNED, "the questions of a plan need Gaussian, box or Laplace noise, "
                   f"got {scenario.noise_family}")
        object.__setattr__(self, "scenarios", asked)
        object.__setattr__(self, "parts", parts)

    @classmethod
    def of(cls, *scenarios: Scenario) -> QuestionPlan:
        """Equal shares of the first one's epsilon and delta."""
        under = tuple(under_budget_of(scenarios[0], scenario) for scenario in scenarios)
        return cls(scenarios=under, parts=divided([0] * len(under), [1.0] * len(under), total=PARTS))

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

    @property
    def pure(self) -> tuple[bool, ...]:
        """Return which questions have box or Laplace noise."""
        return tuple(CHOICES[asked.noise_family].is_pure for asked in self.scenarios)

    def division(self, delta: float) -> Division:
        """Return how the shares divide the budget at ``delta``, which has to be the plan's."""
        about = Division(epsilon=self.epsilon, delta=fraction("delta", delta), pure=self.pure)
        pure, gaussian = (tuple(share for share, its in zip(self.shares, self.pure, strict=True) if its is kind)
                          for kind in (True, False))
        exact = float(plan_scale(self.epsilon, delta, pure, math.fsum(gaussian)))
        return replace(about, gain=exact / about.factor(self.shares))

    def question(self, k: int, *, delta: float) -> Scenario:
        """Question k with an epsilon of its own, at ``delta``, which has to be the plan's: ready for ``build``."""
        part, asked = float(self.division(delta).parts(self.shares)[self._position(k)]), self.scenarios[k]
        epsilon = part * self.epsilon if self.pure[k] else float(
            gaussian_epsilon(delta, float(gaussian_mu(self.epsilon, delta)) * part))
        refuse(not epsilon >= _LEAST_EPSILON, f"question {k + 1} would get an epsilon below {_LEAST_EPSILON:g}; give "
               "it a larger share, or the plan a larger epsilon")
        marks = (*asked.from_data, "epsilon") if self.shares_read else asked.from_data
        return asked.changed(epsilon=epsilon, from_data=marks)

    def with_budget(self, scenario: Scenario) -> QuestionPlan:
        """Return the same shares of this scenario's epsilon and delta."""
        return replace(self, scenarios=tuple(under_budget_of(scenario, asked) for asked in self.scenarios))

    def with_family(self, k: int, family: str) -> QuestionPlan:
        """Question k with another family of noise."""
        one_of("family", family, PLANNED)
        asked = self.scenarios[self._position(k)]
        return replace(self, scenarios=(*self.scenarios[:k], asked.changed(family=family, from_data=asked.from_data),
                                        *self.scenarios[k + 1:]))

    def added(self, scenario: Scenario, *, locked: Collection[int] = ()) -> QuestionPlan:
        """Return the plan with one more question under its budget; unlocked questions make room."""
        instance("scenario", scenario, Scenario)
        free = [part for k, part in enumerate(self.parts) if k not in locked]
        refuse(not sum(free) > len(free), "there is no room for another question; unlock one that has some")
        parts = divided((*self.parts, 0), (*self.parts, sum(free) / len(free)), total=PARTS, locked=self._those(locked))
        return replace(self, scenarios=(*self.scenarios, under_budget_of(self.scenarios[0], scenario)), parts=parts)

    def removed(self, k: int, *, locked: Collection[int] = ()) -> QuestionPlan:
        """Return the plan without question k; unlocked questions share its part in their old proportions."""
        kept = [j for j in range(len(self)) if j != self._position(k)]
        refuse(not set(kept) - set(locked), "unlock another question first: this one's share must go to one of them")
        parts = [self.parts[j] for j in kept]
        return replace(self, scenarios=tuple(self.scenarios[j] for j in kept),
                       parts=divided(parts, parts, total=PARTS, locked=without(locked, k)))

    def moved(self, k: int, share: float, *, locked: Collection[int] = ()) -> QuestionPlan:
        """Return the plan with another share for question k; unlocked questions take or give the difference."""
        return replace(self, parts=rebalanced(self.parts, position=self._position(k), locked=self._those(locked),
                                              value=round(PARTS * number("share", share))))

    def shared(self, weights: Any, *, locked: Collection[int] = (), read: bool = False) -> QuestionPlan:
        """Shares in proportion to weights, none below a thousandth; ``read``: whether these come from the data."""
        wanted = non_negative("weights", weights)
        refuse(wanted.size != len(self), f"weights must be one for each of the {len(self)} questions, "
               f"got {wanted.size}")
        free = [k for k in range(len(self)) if k not in locked]
        if free and wanted[free].max() > 0:
            room = sum(self.parts[k] for k in free) / PARTS
            least = min(LEAST_SHARE / room, 1 / len(free))
            wanted = wanted.copy()
            wanted[free] = with_floor(wanted[free] / wanted[free].sum(), least)
        parts = divided(self.parts, wanted.tolist(), total=PARTS, locked=locked)
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
    refuse(not 1 <= len(questions) <= MOST_QUESTIONS,
           f"a plan must have 1 to {MOST_QUESTIONS} questions, got {len(questions)}")


def are_equal(parts: Sequence[int]) -> bool:
    """Return whether these parts are equal shares, to a whole part."""
    return max(parts) - min(parts) <= 1


def without(positions: Iterable[int], k: int) -> frozenset[int]:
    """Positions in a list from which entry k was taken."""
    return frozenset(j - (j > k) for j in positions if j != k)


def under_budget_of(budget: Scenario, scenario: Scenario) -> Scenario:
    """Return the second scenario with the first one's epsilon and delta; noise that no plan counts becomes Gaussian."""
    marks = {name for name in scenario.from_data if name not in _BUDGET}
    marks |= {name for name in budget.from_data if name in _BUDGET}
    family = scenario.noise_family if scenario.noise_family in PLANNED else "gaussian"
    return scenario.changed(epsilon=budget.epsilon, delta=budget.delta, family=family, from_data=tuple(marks))


@dataclass(frozen=True, kw_only=True)
class Division:
    """How shares divide (epsilon, delta) among questions; ``pure``: which of them have box or Laplace noise.

    ``gain`` corrects :func:`near_scale` so that all is right at the plan's own shares, and nearly so at others.
    """

    epsilon: float
    delta: float
    pure: tuple[bool, ...]
    gain: float = 1.0

    def factor(self, shares: Sequence[Any]) -> Any:
        """Return by what every share is multiplied; 1 with one kind of noise. A share may be an array."""
        if all(self.pure) or not any(self.pure):
            return self.gain
        pure = sum(share for share, its in zip(shares, self.pure, strict=True) if its)
        return self.gain * near_scale(self.epsilon, self.delta, pure)

    def parts(self, shares: Sequence[Any]) -> list[Any]:
        """Return the part of the whole mu, or of the whole epsilon, that each question may spend."""
        factor = self.factor(shares)
        return [factor * share if pure else np.sqrt(factor * share)
                for share, pure in zip(shares, self.pure, strict=True)]


@dataclass(frozen=True, kw_only=True)
class QuestionNoise:
    """What one question gets: ``epsilon`` is its ``share`` alone, ``part`` of the whole mu (epsilon, if ``is_pure``).

    ``noise``: :func:`typical_noise`. ``least``, ``most``: the rows with least and most noise, in the data's units.
    """

    share: float
    part: float
    epsilon: float
    noise: float
    least: tuple[str, float]
    most: tuple[str, float]
    division: Division
    is_pure: bool = False

    @property
    def mu(self) -> float:
        """Return the mu of Gaussian noise, 0 for pure noise."""
        return 0.0 if self.is_pure else float(gaussian_mu(self.epsilon, self.division.delta))

    @property
    def alone(self) -> float:
        return self.noise * self.part


@dataclass(frozen=True, kw_only=True)
class PairTrade:
    """Two questions that divide what the others leave; noise is that with the whole budget times these numbers."""

    noise: Sequence[QuestionNoise]
    pair: tuple[int, int]

    @property
    def share(self) -> float:
        first, second = (self.noise[k].share for k in self.pair)
        return first / (first + second)

    def at(self, share: Any) -> tuple[Any, Any]:
        """Return the noise on both where the first gets this part, or each of these, of what both have."""
        shares, (first, second) = [question.share for question in self.noise], self.pair
        room = shares[first] + shares[second]
        shares[first], shares[second] = room * share, room * (1 - share)
        parts = self.noise[0].division.parts(shares)
        return 1 / parts[first], 1 / parts[second]

    def rule(self, of: Callable[..., FloatArray]) -> float:
        """Return the part of the first by a rule for the shares of both, such as :func:`same_noise`."""
        first, second = of(self.noise, locked=set(range(len(self.noise))) - set(self.pair))[list(self.pair)].tolist()
        return float(first / (first + second))

    @property
    def here(self) -> tuple[float, float]:
        return self.at(self.share)

    @property
    def curve(self) -> list[tuple[float, float, float]]:
        """Part of the first, noise on it, noise on the second: from hardly anything to nearly all."""
        end = math.log(_END / (1 - _END))
        parts = 1 / (1 + np.exp(-np.linspace(end, -end, _POINTS)))
        return list(zip(parts.tolist(), *(noise.tolist() for noise in self.at(parts)), strict=True))


def build_plan(plan: QuestionPlan, dataset: Dataset, *, uploaded: Directions | None = None) -> tuple[Setup, ...]:
    """Return the design of every question, under its own part of the budget."""
    delta = delta_of(plan.scenarios[0], dataset)
    return tuple(build(plan.question(k, delta=delta), dataset, uploaded=uploaded) for k in range(len(plan)))


def plan_noise(plan: QuestionPlan, setups: Sequence[Setup]) -> tuple[QuestionNoise, ...]:
    """Return what every question gets; ``setups`` as :func:`build_plan` makes them."""
    found, division = [], plan.division(setups[0].delta)
    for share, part, pure, setup in zip(plan.shares, division.parts(plan.shares), plan.pure, setups, strict=True):
        stds = feature_std(setup, setup.design)
        names = setup.query.coordinate_names("rows", stds.size)
        least, most = ((names[k] if k < len(names) else f"number {k + 1}", float(stds[k]))
                       for k in (int(stds.argmin()), int(stds.argmax())))
        found.append(QuestionNoise(share=share, part=float(part), is_pure=pure, epsilon=setup.scenario.epsilon,
                                   least=least, most=most, noise=typical_noise(setup), division=division))
    return tuple(found)


def same_noise(noise: Sequence[QuestionNoise], locked: Collection[int] = ()) -> FloatArray:
    """Shares in proportion to which every question has the same noise, in units of the ranges; locked ones keep theirs.

    ``s ∝ e²`` with Gaussian noise, ``s ∝ e`` with pure noise; with both a search finds the common noise.
    """
    alone, pure, free = _freely(noise, locked)
    if len(set(pure[free])) < 2:
        return alone if pure[free].all() else np.asarray((alone / alone.max()) ** 2)

    def weights(log_noise: float) -> FloatArray:
        ratio = alone / math.exp(log_noise)
        return np.asarray(np.where(pure, ratio, ratio**2))

    def unspent(log_noise: float) -> float:
        wanted = weights(log_noise)
        tried = _with_locked(noise, wanted, free)
        return float(noise[0].division.factor(tried.tolist()) * tried[free].sum() - wanted[free].sum())

    middle = math.log(alone[free].max())
    return weights(root(unspent, middle - 20, middle + 20))


def least_noise(noise: Sequence[QuestionNoise], weights: Sequence[float] | None = None, *,
                locked: Collection[int] = ()) -> FloatArray:
    """Shares in proportion to which the weighted squares of the noise are least; locked ones keep theirs.

    ``s ∝ sqrt(w) e`` with Gaussian noise, ``(w e²)^(1/3)`` with pure noise; a search divides the budget between both.
    """
    alone, pure, free = _freely(noise, locked)
    squares = alone**2 * (np.ones(alone.size) if weights is None else np.asarray(weights, dtype=float))
    found = np.where(pure, np.cbrt(squares), np.sqrt(squares))
    if len(set(pure[free])) < 2:
        return np.asarray(found)
    found = found / np.where(pure, found[free & pure].sum(), found[free & ~pure].sum())

    def split(part: float) -> FloatArray:
        return np.asarray(found * np.where(pure, part, 1 - part))

    def loss(part: float) -> float:
        tried = _with_locked(noise, split(part), free)
        return float(np.sum(squares / np.square(noise[0].division.parts(tried.tolist()))))

    from scipy.optimize import minimize_scalar  # only here: importing it takes longer than all else

    return split(float(minimize_scalar(loss, bounds=(LEAST_SHARE, 1 - LEAST_SHARE), method="bounded",
                                       options={"xatol": 1e-6}).x))


def _freely(noise: Sequence[QuestionNoise], locked: Collection[int]
            ) -> tuple[FloatArray, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the noise that each has alone, whether it is pure, and whether its share is free."""
    return (np.array([question.alone for question in noise]), np.array([question.is_pure for question in noise]),
            np.array([k not in locked for k in range(len(noise))]))


def _with_locked(noise: Sequence[QuestionNoise], weights: FloatArray, free: npt.NDArray[np.bool_]) -> FloatArray:
    """Return all shares, the unlocked ones in proportion to their weights."""
    shares = np.array([question.share for question in noise])
    return np.asarray(np.where(free, weights / weights[free].sum() * shares[free].sum(), shares))


def typical_noise(setup: Setup) -> float:
    """Return the noise on the scenario's priority columns, else on all, in units of the ranges."""
    design = setup.design
    priority = {k: weight for k, weight in setup.scenario.need_weights.items() if k < design.rows}
    if design.mode != "columns" and 0 < len(priority) < design.rows:
        return noise_on(design, needs_of(priority, design.rows), directions=setup.need_directions).priority
    return noise_on(design, np.ones(design.rows)).everything
