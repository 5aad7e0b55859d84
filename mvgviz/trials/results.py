"""Results of trials, and comparisons that they support: trials share random numbers, so differences cancel chance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvgviz.noise.ties import to_nine_digits
from mvgviz.optional import optional, plots
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.tasks import Task
from mvgviz.trials.mechanisms import Mechanism
from mvgviz.trials.tasks import References
from mvgviz.validation import FloatArray

_ROUNDING = 1e-9
BETTER, WORSE, SAME, UNCLEAR = "better", "worse", "same", "unclear"


def half_width(values: FloatArray) -> float:
    """Half the 95 % confidence interval of the mean (Student's t); NaN for fewer than two values."""
    if values.size < 2:
        return math.nan
    from scipy.special import stdtrit

    return float(stdtrit(values.size - 1, 0.975) * values.std(ddof=1) / math.sqrt(values.size))


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The ``errors`` of one mechanism's trials, or the ``reason`` for none; ``epsilon_spent``: by Gaussian noise."""

    mechanism: Mechanism
    errors: FloatArray = field(repr=False)
    reason: str | None = None
    caution: str | None = None
    epsilon_spent: float | None = None

    @property
    def mean(self) -> float:
        """NaN before the first trial."""
        return float(self.errors.mean()) if self.errors.size else math.nan

    @property
    def half_width(self) -> float:
        return half_width(self.errors)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the mean."""
        return self.mean - self.half_width, self.mean + self.half_width


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """One scenario's trials; ``judged_on``: what errors count, "everything", "priority" or "other"."""

    scenario: Scenario
    task: Task
    delta: float
    sensitivity: str
    references: References
    outcomes: tuple[Outcome, ...]
    complete: bool
    judged_on: str

    @property
    def metric(self) -> str:
        return self.task.metric_in(self.references.unit)

    def __getitem__(self, key: str) -> Outcome:
        return {outcome.mechanism.key: outcome for outcome in self.outcomes}[key]

    def ranked(self) -> list[Outcome]:
        """Outcomes with trials, the smallest mean error first; equals, up to rounding, in their order."""
        return sorted((outcome for outcome in self.outcomes if outcome.errors.size),
                      key=lambda outcome: to_nine_digits(outcome.mean))

    def to_frame(self) -> Any:
        """A pandas frame, a line for each mechanism: mean error with its 95 % interval, or why it does not apply."""
        lines = [{"mechanism": each.mechanism.key, "label": each.mechanism.label, "error": each.mean,
                  "lower": each.interval[0], "upper": each.interval[1], "trials": each.errors.size,
                  "epsilon spent": each.epsilon_spent, "reason": each.reason} for each in self.outcomes]
        return optional("pandas").DataFrame(lines)

    def plot(self) -> Any:
        """The app's picture of these trials: ``mvgviz.plot.results``."""
        return plots().results(self)


@dataclass(frozen=True)
class Difference:
    """Mean of ``first - second`` over shared trials, and half its 95 % interval (NaN for one trial)."""

    mean: float
    half_width: float
    trials: int
    verdict: str


def paired(first: Outcome, second: Outcome) -> Difference | None:
    """Compare two mechanisms trial by trial; None before both have a trial. "better": the first errs less."""
    n = min(first.errors.size, second.errors.size)
    if n == 0:
        return None
    one, other = first.errors[:n], second.errors[:n]
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return Difference(math.nan, math.nan, n, UNCLEAR)
    differences = one - other
    mean, half = float(differences.mean()), half_width(differences)
    return Difference(mean, half, n, _verdict(differences, float(np.abs(other).max()), mean, half))


def against(outcome: Outcome, reference: float) -> str | None:
    """Compare the mean error with a fixed one: "better", "worse", "same", "unclear"; None before the first trial."""
    if not outcome.errors.size:
        return None
    if not np.isfinite(outcome.errors).all():
        return UNCLEAR
    return _verdict(outcome.errors - reference, abs(reference), outcome.mean - reference, outcome.half_width)


def _verdict(differences: FloatArray, size: float, mean: float, half: float) -> str:
    """By whether the interval holds 0; one trial is always unclear."""
    if np.abs(differences).max() <= _ROUNDING * size:
        return SAME
    if not (math.isfinite(half) and abs(mean) > half):
        return UNCLEAR
    return BETTER if mean < 0 else WORSE


def beaten_from(curve: Sequence[Results], mechanism: str) -> float | None:
    """The smallest tried epsilon from which on the mechanism clearly beats its baseline; None where none does."""
    found = None
    for results in sorted(curve, key=lambda results: -results.scenario.epsilon):
        if against(results[mechanism], results.references.to_beat[1]) != BETTER:
            break
        found = results.scenario.epsilon
    return found
