"""What trials allow to be said: against a fixed answer, and of one mechanism against another.

Two mechanisms of one scenario meet the same random numbers, trial by trial, so they are
compared by the differences within trials: much of the chance cancels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mvgviz.trials.outcomes import Outcome, Results, half_width

_ROUNDING = 1e-9
BETTER, WORSE, SAME, UNCLEAR = "better", "worse", "same", "unclear"


@dataclass(frozen=True)
class Difference:
    """Mean of ``first - second`` over shared trials, and half its 95 % interval (NaN for one trial)."""

    mean: float
    half_width: float
    trials: int
    verdict: str


def paired(first: Outcome, second: Outcome) -> Difference | None:
    """The difference of two mechanisms; None before both have a trial. "better": the first errs less."""
    n = min(first.errors.size, second.errors.size)
    if n == 0:
        return None
    if not (np.isfinite(first.errors[:n]).all() and np.isfinite(second.errors[:n]).all()):
        return Difference(math.nan, math.nan, n, UNCLEAR)
    differences = first.errors[:n] - second.errors[:n]
    size = float(np.abs(second.errors[:n]).max())
    mean, half = float(differences.mean()), half_width(differences)
    same = bool(np.abs(differences).max() <= _ROUNDING * size)
    return Difference(mean, half, n, SAME if same else _verdict(mean, half))


def against(outcome: Outcome, reference: float) -> str | None:
    """The mean error against a fixed one: "better", "worse", "same", "unclear"; None before the first trial."""
    if not outcome.errors.size:
        return None
    if not np.isfinite(outcome.errors).all():
        return UNCLEAR
    if np.abs(outcome.errors - reference).max() <= _ROUNDING * abs(reference):
        return SAME
    return _verdict(outcome.mean - reference, outcome.half_width)


def beaten_from(curve: Sequence[Results], mechanism: str) -> float | None:
    """The smallest epsilon from which on, at every one tried, the baseline to beat is clearly beaten."""
    found = None
    for results in sorted(curve, key=lambda results: -results.scenario.epsilon):
        if against(results[mechanism], results.references.to_beat[1]) != BETTER:
            break
        found = results.scenario.epsilon
    return found


def _verdict(mean: float, half: float) -> str:
    """By whether the interval holds 0; nothing can be told from one trial."""
    if not (math.isfinite(half) and abs(mean) > half):
        return UNCLEAR
    return BETTER if mean < 0 else WORSE
