"""How often 95 % intervals for the population hold what they promise, on simulated tables whose population is known.

Run with ``make bench``. From released second moments 94 to 97 % are asked for; from ranges at least 95 %.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

import mvgviz as mv
from mvgviz.release.fitted import PopulationIntervals, population_coefficients, population_means

NAMES = ("age", "dose", "outcome")
LOW, HIGH = np.array([0.0, 0.0, -10.0]), np.array([100.0, 10.0, 30.0])
SLOPES = np.array([0.08, 0.9])


def table(rng: np.random.Generator, records: int) -> mv.Dataset:
    """Two features that go together and an outcome, well inside their ranges."""
    age = np.clip(50 + 12 * rng.standard_normal(records), *(LOW[0], HIGH[0]))
    dose = 10 * rng.beta(2, 3, records)
    outcome = 2 + SLOPES[0] * age + SLOPES[1] * dose + 2 * rng.standard_normal(records)
    return mv.Dataset(matrix=np.vstack([age, dose, outcome]), features=NAMES, lower=LOW, upper=HIGH)


def covered(query: str, records: int, epsilon: float, trials: int, rng: np.random.Generator
            ) -> Iterator[tuple[PopulationIntervals, np.ndarray]]:
    """Intervals of releases of fresh tables, and the truth about the population; none where they are refused."""
    truth = np.array([50.0, 4.0, 2 + SLOPES @ [50.0, 4.0]])
    asked = mv.Scenario(query="moments" if query == "coefficients" else query, epsilon=epsilon, delta=1e-6, label=2)
    for _ in range(trials):
        given = mv.release_setup(mv.build(asked, table(rng, records)), ledger=mv.Ledger())
        if query == "coefficients":
            with suppress(mv.InputError):
                yield population_coefficients(given, "outcome"), SLOPES
        else:
            yield population_means(given), truth


def by_group(records: int, trials: int, rng: np.random.Generator) -> float:
    """The share of intervals for the means of two groups that hold."""
    held, truth = [], np.array([[45.0, 55.0]])
    asked = mv.Scenario(query="group_means", epsilon=1.0, delta=1e-6)
    for _ in range(trials):
        group = rng.integers(2, size=records)
        age = np.clip(truth[0][group] + 12 * rng.standard_normal(records), LOW[0], HIGH[0])
        data = mv.Dataset(matrix=np.vstack([age, group == 0, group == 1]), features=("age", "sex=f", "sex=m"),
                          lower=[LOW[0], 0, 0], upper=[HIGH[0], 1, 1], levels=[(1, 2)])
        found = mv.means_by_group(mv.release_setup(mv.build(asked, data), ledger=mv.Ledger())).population
        assert found is not None
        held.append((found[0] <= truth) & (found[1] >= truth))
    return float(np.mean(held))


def main(trials: int = 400) -> None:
    """Print the table."""
    rng = np.random.default_rng(1)
    print(f"{'covered by 95 % intervals for the population':56}{'%':>7}   asked")
    for query, records, epsilon in (("mean", 300, 1.0), ("mean", 3000, 1.0), ("moments", 300, 1.0),
                                    ("moments", 3000, 1.0), ("coefficients", 3000, 10.0), ("coefficients", 20000, 3.0)):
        held = [np.abs(found.values - truth) <= found.half for found, truth in covered(
            query, records, epsilon, trials, rng)]
        asked = "at least 95, conservative" if query == "mean" else "94 to 97"
        print(f"{query}, {records:,} records, epsilon {epsilon:g}, {len(held)} of {trials} tables"[:56].ljust(56)
              + f"{100 * np.mean(held):7.1f}   {asked}", flush=True)
    for records in (300, 3000):
        print(f"means by group, {records:,} records, epsilon 1, {trials} tables".ljust(56)
              + f"{100 * by_group(records, trials, rng):7.1f}   at least 95, conservative", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
