"""The advisor's first design against the best of an exhaustive grid on the same table, with fresh random numbers.

Run with ``make bench``. Both choose by trials with the same seed; what they chose is tried again with another one. The
grid: queries, bounds, shares, uses, and only the needed. "on a stand-in": the advisor never saw the table.
"""

import time
from collections.abc import Iterator
from itertools import product

import numpy as np

import mvgviz as mv
from mvgviz.trials.advisor import FIRST_ROUND, advise
from mvgviz.trials.candidates import REDUCED, Candidate, serving_queries
from mvgviz.trials.question import pose_each
from mvgviz.trials.resumable import Point, measure
from mvgviz.trials.stand_in import SEED, stand_in

BAR, LAST, TRIALS, FRESH = 1.03, 6, 200, 77
RADII = (None, 0.35, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
SHARES = (None, 0.4, 0.5, 0.65, 0.8, 0.95, 0.99)


def simulated() -> mv.Dataset:
    """442 records of 11 columns: two common factors, and a label that leans on three of the others."""
    rng = np.random.default_rng(11)
    factors, own = rng.standard_normal((2, 442)), rng.standard_normal((10, 442))
    features = 0.15 + 0.12 * (rng.standard_normal((10, 2)) @ factors) + 0.2 * own
    label = 0.5 * features[2] - 0.6 * features[3] + 0.4 * features[8] + 0.15 * rng.standard_normal(442)
    matrix = np.clip(np.vstack([features, label]), -1, 1)
    return mv.Dataset(matrix=matrix, features=[f"x{k}" for k in range(10)] + ["y"], lower=-1, upper=1)


def grid(scenario: mv.Scenario, size: int) -> Iterator[Candidate]:
    """Every combination."""
    plain = tuple(step for step in scenario.post if step != "aware")
    for query, post in product(serving_queries(scenario), (scenario.post, plain)):
        asked = scenario.changed(query=query, post=post, directions="standard", guarantee="exact", bound="none")
        needed = {*scenario.needs, *([] if scenario.label is None else [scenario.label])}
        yield Candidate(scenario=asked.changed(needed=tuple(needed)), mechanism=REDUCED)
        for radius, share in product(RADII, SHARES):
            if share is None or share > len(scenario.favoured) / size:
                bound = {"bound": "none"} if radius is None else {"bound": "own", "radius": radius}
                shape = {"allocation": "uniform"} if share is None else {"allocation": "binary", "share": share}
                yield Candidate(scenario=asked.changed(**bound, **shape))


def errors(tried: list[Candidate], data: mv.Dataset, **changes: int) -> list[float]:
    """The mean error of each."""
    problems = pose_each([one.scenario.changed(**changes) for one in tried], data, sensitivity="tight")
    found = measure([Point(posed, (one.mechanism,)) for posed, one in zip(problems, tried, strict=True)])
    return [results.outcomes[0].mean for results in found]


def best_of_grid(scenario: mv.Scenario, data: mv.Dataset) -> list[Candidate]:
    """The few best by a first round."""
    tried = list(grid(scenario, data.n_features))
    means = errors(tried, data, trials=FIRST_ROUND)
    return [tried[k] for k in np.argsort(means)[:LAST]]


def main() -> None:
    """Print the table."""
    default = mv.Scenario.default_for
    tables = {
        "liver": (default("liver"), mv.sample("liver")),
        "cardiotocography, ridge of LB": (default("cardiotocography").changed(
            scale="symmetric", task="linear-ridge", label=0), mv.sample("cardiotocography")),
        "movement_simulated": (default("movement_simulated"), mv.sample("movement_simulated")),
        "simulated, 11 columns": (mv.Scenario(data="liver", query="covariance", task="linear-ridge", label=10,
                                              favoured=(2, 3, 8, 10)), simulated()),
    }
    print(f"{'error of the first design / best of a grid':44}{'same table':>12}{'on a stand-in':>15}   bar    s")
    for name, (scenario, data) in tables.items():
        start = time.perf_counter()
        seen = advise(scenario, data).best
        seconds = time.perf_counter() - start
        blind = advise(scenario, stand_in(data, rng=np.random.default_rng(SEED))).best
        last = best_of_grid(scenario, data)
        again = errors([seen.candidate, blind.candidate, *last], data, trials=TRIALS, seed=FRESH)
        ratios = [error / min(again[2:]) for error in again[:2]]
        print(f"{name:44}{ratios[0]:12.3f}{ratios[1]:15.3f}   ≤ {BAR}{seconds:5.1f}")


if __name__ == "__main__":
    main()
