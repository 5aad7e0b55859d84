"""Your own mechanism: any function that draws a released matrix. Nothing checks that it is private.

>>> import mvgviz as mv
>>> def rounded(rng, query, epsilon):
...     noise = rng.laplace(scale=query.sensitivity * query.value.size**0.5 / epsilon, size=query.value.shape)
...     return (query.value + noise).round(2)
>>> scenario = mv.Scenario.default_for("two_features")
>>> results = mv.run_trials(scenario, mv.sample("two_features"), mechanisms=["mvg", rounded], trials=10)
>>> [outcome.mechanism.key for outcome in results.outcomes]
['mvg', 'rounded']
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.query.queries import Query
from mvgviz.trials.mechanisms.base import Draws, Mechanism, Sampler, at_level
from mvgviz.trials.problem import Problem
from mvgviz.validation import FloatArray

UNCHECKED = "not checked"  # the guarantee
_serials = count(1)


def own_mechanism(function: Callable[..., Any], *, name: str | None = None) -> Mechanism:
    """Return a mechanism that releases ``function(rng, query)``, a matrix of the shape of ``query.value``.

    It gets ``epsilon`` and ``delta`` where it has arguments of these names. Only with ``rng`` can trials be repeated.
    """
    if not callable(function):
        raise InputError(f"a mechanism must be a key or a function (rng, query), got a {type(function).__name__}")
    label = name or str(getattr(function, "__name__", type(function).__name__))[:60]
    return Mechanism(key=label, label=label.replace("<", "").replace(">", ""),  # it stands in pictures
                     guarantee=UNCHECKED, reference="your function", applies="any answer",
                     prepare=partial(_prepare, function=function, label=label), serial=next(_serials),
                     caution=lambda problem: "nothing checks that it is private")


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnAnswer(Sampler):
    """Releases of the function."""

    function: Callable[..., Any] = field(repr=False)
    query: Query = field(repr=False)
    label: str

    def draw(self, draws: Draws) -> FloatArray:
        return np.array([self._one(rng) for rng in draws.generators()])

    def _one(self, rng: np.random.Generator) -> FloatArray:
        try:
            found = np.asarray(self.function(rng, self.query), dtype=np.float64)
        except Exception as error:  # noqa: BLE001 of a caller's function, which may raise anything
            raise InputError(f"mechanism {self.label!r} failed with {type(error).__name__}") from None
        refuse(found.shape != self.query.value.shape, f"mechanism {self.label!r} must release a matrix of shape "
               f"{self.query.value.shape}, got {found.shape}")
        if not np.isfinite(found).all():
            raise InputError(f"mechanism {self.label!r} must release finite numbers, got NaN or infinity")
        return found


def _prepare(problem: Problem, level: str, *, function: Callable[..., Any], label: str) -> Sampler:
    known = {"epsilon": problem.epsilon, "delta": problem.delta}
    named = inspect.signature(function).parameters
    given = partial(function, **{name: value for name, value in known.items() if name in named})
    answer = OwnAnswer(size=problem.query.value.size, function=given, query=problem.query, label=label)
    return at_level(answer, problem, level)
