"""Sweeps: the epsilon that each mechanism needs for a wanted error, and sets of priority directions to compare.

More budget never hurts, so curves through the means of trials never rise (isotonic regression, Barlow & Brunk, JASA
1972). Between epsilons they are straight in logarithms.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mvgviz.errors import refuse
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.mechanisms import Mechanism
from mvgviz.trials.results import Results
from mvgviz.validation import FloatArray, positive

EPSILONS = (*(float(f"{m}e{e}") for e in (-2, -1, 0, 1) for m in (1, 2, 5)), 100.0)
_USUAL = EPSILONS[2:-2]
MOST_SETS = 8
_MOST_POSITIONS = 10_000  # that a scenario can hold
_ALONE = 4
_TINY = 1e-300

Directions = tuple[int, ...]


def epsilon_grid(own: float, *, wide: bool = False) -> list[float]:
    """Round epsilons from 0.05 to 20 (``wide``: 0.01 to 100), and the scenario's own."""
    return sorted({*(EPSILONS if wide else _USUAL), own})


def coarse_first(values: Sequence[float], own: float) -> list[float]:
    """Reorder values: the scenario's own, the ends, then ever finer, so that a curve shows early."""
    order, step = [own, values[0], values[-1]], len(values)
    while step > 1:
        step = (step + 1) // 2
        order += values[::step]
    return list(dict.fromkeys([*order, *values]))


class Reading(NamedTuple):
    """The epsilon that a wanted error needs, with the ends of its 95 % interval; infinite if none tried is enough.

    ``at_most``: the smallest epsilon tried is enough.
    """

    epsilon: float
    at_most: bool
    low: float
    high: float

    @property
    def reached(self) -> bool:
        return math.isfinite(self.epsilon)


@dataclass(frozen=True, eq=False)
class Curve:
    """One mechanism's error at rising epsilons: means and the ends of their 95 % intervals."""

    mechanism: Mechanism
    epsilons: FloatArray = field(repr=False)
    means: FloatArray = field(repr=False)
    lows: FloatArray = field(repr=False)
    highs: FloatArray = field(repr=False)

    @property
    def least(self) -> float:
        return float(falling(self.means)[-1])

    def read(self, error: float) -> Reading:
        wanted = positive("error", error)
        low, high = (epsilon_for(self.epsilons, end, wanted) if np.isfinite(end).all() else math.nan
                     for end in (self.lows, self.highs))
        at_most = bool(falling(self.means)[0] <= wanted)
        return Reading(epsilon_for(self.epsilons, self.means, wanted), at_most, low, high)


def frontier(results: Sequence[Results]) -> tuple[Curve, ...]:
    """The curves of a sweep over epsilon; a mechanism without trials has none."""
    points: dict[Mechanism, list[tuple[float, float, float, float]]] = {}
    for point in sorted(results, key=lambda point: point.scenario.epsilon):
        for outcome in (outcome for outcome in point.outcomes if outcome.errors.size):
            points.setdefault(outcome.mechanism, []).append((point.scenario.epsilon, outcome.mean, *outcome.interval))
    return tuple(Curve(mechanism, *np.array(rows).T) for mechanism, rows in points.items())


def falling(values: FloatArray) -> FloatArray:
    """The sequence closest to ``values`` (least squares) that never rises."""
    from scipy.optimize import isotonic_regression

    fit = np.asarray(isotonic_regression(values, increasing=False).x)
    return np.where(np.isclose(fit, values, rtol=1e-12, atol=0), values, fit)  # it rounds where nothing is to do


def epsilon_for(epsilons: FloatArray, means: FloatArray, error: float) -> float:
    """The least epsilon at which the falling curve is at ``error``; infinite where it never is."""
    fit = np.maximum(falling(means), _TINY)
    k = int(np.argmax(fit <= error))
    if k == 0:
        return float(epsilons[0]) if fit[0] <= error else math.inf
    x, y = np.log(epsilons[k - 1 : k + 1]), np.log(fit[k - 1 : k + 1])
    part = (y[0] - math.log(error)) / (y[0] - y[1])
    return float(np.exp(x[0] + part * (x[1] - x[0])))


def starting_sets(priorities: Iterable[int], size: int) -> list[Directions]:
    """The set, up to four of its members alone, and all others; without a set, the first two directions alone."""
    own = tuple(sorted(k for k in priorities if k < size))
    if not 0 < len(own) < size:
        return [(k,) for k in range(min(size - 1, 2))]
    sets = [own, *((k,) for k in own[:_ALONE])]
    if size - len(own) <= _MOST_POSITIONS:
        sets.append(tuple(sorted(set(range(size)) - set(own))))
    return list(dict.fromkeys(sets))


def with_set(sets: list[Directions], new: Iterable[int], size: int) -> list[Directions]:
    """Add a set. Raise `InputError` when it is empty, whole, there already, or one too many."""
    added = tuple(sorted(new))
    refuse(not added, "choose at least one direction; equal noise is there already")
    refuse(len(added) >= size, "leave at least one direction out")
    refuse(added in sets, "this set is there already")
    refuse(len(sets) >= MOST_SETS, f"you can compare at most {MOST_SETS} sets: remove one first")
    return [*sets, added]


def set_change(scenario: Scenario, priorities: Directions) -> dict[str, Any]:
    """The changes of a scenario when these directions get its share; its priorities for judging stay."""
    kept = scenario.allocation in ("binary", "least-error")
    change = {"priority_directions": priorities, "allocation": scenario.allocation if kept else "binary"}
    if scenario.needs_along == "directions":  # every set would be judged by itself
        return change | {"judged": "everything"}
    return change | {"priority": () if priorities == scenario.needs else scenario.needs}
