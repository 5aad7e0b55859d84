"""Sweeps over epsilon: the epsilon that each mechanism needs for a wanted error, and which directions to favour.

Means of trials are measured at some epsilons. More budget never hurts, so the curve that is read is the closest one to
the means that never rises (isotonic regression); between the epsilons it is a straight line in logarithms.

>>> import numpy as np
>>> from mvgviz.trials.sweeps import epsilon_for, starting_sets
>>> float(epsilon_for(np.array([0.1, 1.0, 10.0]), np.array([30.0, 3.0, 0.3]), 3.0))
1.0
>>> starting_sets((2, 5), 6)
[(2, 5), (2,), (5,), (0, 1, 3, 4)]

Reference: Barlow & Brunk, The isotonic regression problem and its dual, JASA 1972 (pool adjacent violators).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mvgviz.errors import InputError
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

Favoured = tuple[int, ...]


def epsilon_grid(own: float, *, wide: bool = False) -> list[float]:
    """Round epsilons from 0.05 to 20 (``wide``: from 0.01 to 100), and the scenario's own."""
    return sorted({*(EPSILONS if wide else _USUAL), own})


def coarse_first(values: Sequence[float], own: float) -> list[float]:
    """The same, the scenario's own first, then the ends, then ever finer: a curve shows early."""
    order, step = [own, values[0], values[-1]], len(values)
    while step > 1:
        step = (step + 1) // 2
        order += values[::step]
    return list(dict.fromkeys([*order, *values]))


class Reading(NamedTuple):
    """The epsilon needed for an error, and what the intervals of the means make of it.

    ``epsilon``: infinite where no epsilon looked at is enough. ``at_most``: the smallest one is enough already, so less
    may do. ``low``, ``high``: read from the ends of the 95 % intervals; NaN where there are none.
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
        """The smallest error the curve comes to."""
        return float(falling(self.means)[-1])

    def read(self, error: float) -> Reading:
        """The epsilon needed for ``error``."""
        wanted = positive("error", error)
        ends = (self.lows, self.highs)
        low, high = (epsilon_for(self.epsilons, end, wanted) for end in ends) if np.isfinite(ends).all() else (
            math.nan, math.nan)
        at_most = bool(falling(self.means)[0] <= wanted)
        return Reading(epsilon_for(self.epsilons, self.means, wanted), at_most, low, high)


def frontier(results: Sequence[Results]) -> tuple[Curve, ...]:
    """The curves of a sweep over epsilon; a mechanism without trials has none."""
    points: dict[str, list[tuple[float, float, float, float]]] = {}
    mechanisms = {}
    for point in sorted(results, key=lambda point: point.scenario.epsilon):
        for outcome in (outcome for outcome in point.outcomes if outcome.errors.size):
            mechanisms[outcome.mechanism.key] = outcome.mechanism
            points.setdefault(outcome.mechanism.key, []).append(
                (point.scenario.epsilon, outcome.mean, *outcome.interval))
    return tuple(Curve(mechanisms[key], *np.array(rows).T) for key, rows in points.items())


def falling(values: FloatArray) -> FloatArray:
    """The sequence closest to ``values`` (least squares) that never rises."""
    from scipy.optimize import isotonic_regression

    fit = np.asarray(isotonic_regression(values, increasing=False).x)
    return np.where(np.isclose(fit, values, rtol=1e-12, atol=0), values, fit)  # it rounds where nothing is to do


def epsilon_for(epsilons: FloatArray, means: FloatArray, error: float) -> float:
    """The least epsilon at which the falling curve is at ``error``; infinite where it never is."""
    fit = np.maximum(falling(means), _TINY)
    below = np.flatnonzero(fit <= error)
    if below.size == 0:
        return math.inf
    k = int(below[0])
    if k == 0:
        return float(epsilons[0])
    x, y = np.log(epsilons[k - 1 : k + 1]), np.log(fit[k - 1 : k + 1])
    part = (y[0] - math.log(error)) / (y[0] - y[1])
    return float(np.exp(x[0] + part * (x[1] - x[0])))


def starting_sets(favoured: Iterable[int], size: int) -> list[Favoured]:
    """The set itself, up to four of its members alone, and all others (where a scenario can hold them).

    Without a set: the first two directions, each alone.
    """
    own = tuple(sorted(k for k in favoured if k < size))
    if not 0 < len(own) < size:
        return [(k,) for k in range(min(size - 1, 2))]
    sets = [own, *((k,) for k in own[:_ALONE])]
    if size - len(own) <= _MOST_POSITIONS:
        sets.append(tuple(sorted(set(range(size)) - set(own))))
    return list(dict.fromkeys(sets))


def with_set(sets: list[Favoured], new: Iterable[int], size: int) -> list[Favoured]:
    """The sets and one more; refuses none, all, one that is there, and too many."""
    added = tuple(sorted(new))
    if not added:
        raise InputError("a set needs at least one direction; equal noise is there already")
    if len(added) >= size:
        raise InputError("all directions together are no choice: leave at least one out")
    if added in sets:
        raise InputError("this set is there already")
    if len(sets) >= MOST_SETS:
        raise InputError(f"at most {MOST_SETS} sets are compared at once: remove one first")
    return [*sets, added]


def set_change(scenario: Scenario, favoured: Favoured) -> dict[str, Any]:
    """What of a scenario changes when these directions get its share; what is needed stays what it is."""
    kept = scenario.allocation in ("binary", "least-error")
    change = {"favoured": favoured, "allocation": scenario.allocation if kept else "binary"}
    if scenario.needs_along == "directions":  # every set would be judged by itself
        return change | {"judged": "everything"}
    return change | {"needed": () if favoured == scenario.needs else scenario.needs}
