"""The advisor's recommendation, loaded, against the design before it and against the best of an exhaustive grid.

Run with ``make bench``. Two tables. For answers themselves (means, tables, second moments) the error on the data is the
expected one, by a formula of its own (:func:`exact_error`), and the advisor never saw the data; post-processing is left
out, but that the two copies of a symmetric answer are averaged. For other tasks both choose by trials, and what they
chose is tried again with another seed. The bar is the best of the permitted grid: who knows the data also finds designs
that do not beat the no-data baseline, or clip many records of public tables, which the advisor must not recommend.
``python benchmarks/advisor.py 100`` takes the simulated tables from seed 100 on.
"""

import math
import sys
import time
from collections.abc import Iterator
from itertools import cycle, product

import levers
import numpy as np

import mvgviz as mv
from mvgviz.scenario.resolve import asked_of, build
from mvgviz.trials.advisor import FIRST_ROUND, advise
from mvgviz.trials.candidates import REDUCED, Candidate, serving_queries
from mvgviz.trials.expected_error import clipped_parts
from mvgviz.trials.problem import pose, pose_each
from mvgviz.trials.run import measure
from mvgviz.trials.simulated import FEW, simulated_tables

BAR, LAST, TRIALS, FRESH = 1.03, 6, 200, 77
RADII = (None, 0.35, 0.6, 0.8, 1.0, 1.4, 1.733)
SHARES = (None, 0.4, 0.5, 0.65, 0.8, 0.95, 0.99)
TABLES = 40
QUERIES = ("mean", "identity", "covariance", "moments")
BEFORE = ({"allocation": "uniform"}, {"allocation": "binary", "share": 0.8},
          {"allocation": "binary", "share": 0.8, "bound": "even"})


def simulated() -> mv.Dataset:
    """442 records of 11 columns: two common factors, and a label that leans on three of the others."""
    rng = np.random.default_rng(11)
    factors, own = rng.standard_normal((2, 442)), rng.standard_normal((10, 442))
    features = 0.15 + 0.12 * (rng.standard_normal((10, 2)) @ factors) + 0.2 * own
    label = 0.5 * features[2] - 0.6 * features[3] + 0.4 * features[8] + 0.15 * rng.standard_normal(442)
    matrix = np.clip(np.vstack([features, label]), -1, 1)
    return mv.Dataset(matrix=matrix, features=[f"x{k}" for k in range(10)] + ["y"], lower=-1, upper=1)


def anywhere(seed: int) -> tuple[mv.Dataset, tuple[int, ...], float]:
    """A table whose means lie anywhere in its ranges, its priority columns, and an epsilon."""
    rng = np.random.default_rng([23, seed])
    m, n = int(rng.integers(2, 13)), int(10 ** rng.uniform(2, 4.3))
    widths = 10 ** rng.uniform(-1, 2, m)
    lower = np.where(rng.random(m) < 0.5, 0, widths * rng.uniform(-1, 1, m))
    shared, part = rng.standard_normal((m, int(rng.integers(1, 4)))), rng.uniform(0, 0.9)
    shared *= math.sqrt(part) / np.linalg.norm(shared, axis=1, keepdims=True)
    x = shared @ rng.standard_normal((shared.shape[1], n)) + math.sqrt(1 - part) * rng.standard_normal((m, n))
    means, spreads = rng.uniform(0, 1, m), rng.uniform(0.02, 0.3, m)
    kinds = rng.integers(0, 4, m)[:, None]  # as it is, skewed, heavy-tailed, binary
    x = np.choose(kinds, [x, (np.exp(0.8 * x) - math.exp(0.32)) / 1.3, x / np.sqrt(rng.chisquare(3, (m, n)) / 3),
                          np.sign(x)])
    matrix = lower[:, None] + widths[:, None] * np.clip(means[:, None] + spreads[:, None] * x, 0, 1)
    data = mv.Dataset(matrix=np.clip(matrix, lower[:, None], (lower + widths)[:, None]),
                      features=[f"f{k}" for k in range(m)], lower=lower, upper=lower + widths)
    priority = rng.choice(m, size=int(rng.integers(1, max(m // 2, 1) + 1)), replace=False)
    return data, tuple(sorted(priority.tolist())), float(f"{10 ** rng.uniform(-0.3, 0.7):.3g}")


def exact_error(scenario: mv.Scenario, data: mv.Dataset) -> float:
    """Noise, entry by entry from the covariances, and the bias of clipping these records, on priority columns.

    Of tables and means a root mean square, each feature in widths of its range; else the Frobenius norm.
    """
    setup = build(scenario, data)
    rows, symmetric = setup.design.row_covariance(), setup.query.symmetric
    square = np.array(setup.query.value - setup.box.value) ** 2
    if symmetric:  # the averaged copies of (i, j): noise Σii Σjj and its covariance with that of (j, i), Σij²
        square += (np.outer(np.diag(rows), np.diag(rows)) + rows**2) / 2
    else:
        square += np.diag(rows)[:, None] * setup.design.col_side.covariance_diagonal()
    chosen = list(scenario.needs) + [data.n_features] * (scenario.query == "moments")
    if symmetric:
        return math.sqrt(float(square[np.ix_(chosen, chosen)].sum()))
    return math.sqrt(float((square / asked_of(scenario, data).widths[:, None] ** 2)[chosen].mean()))


def blind_error(scenario: mv.Scenario, data: mv.Dataset) -> float:
    """Of records spread evenly over their ranges, in the same units."""
    table = asked_of(scenario, data)
    x, middle, widths = table.matrix, (table.lower + table.upper) / 2, table.widths
    chosen = list(scenario.needs) + [data.n_features] * (scenario.query == "moments")
    if scenario.query in ("covariance", "moments"):
        off = x @ x.T / x.shape[1] - np.outer(middle, middle) - np.diag(widths**2 / 12)
        return float(np.linalg.norm(off[np.ix_(chosen, chosen)]))
    off = (x if scenario.query == "identity" else x.mean(axis=1, keepdims=True)) - middle[:, None]
    return math.sqrt(float(((off / widths[:, None])[chosen] ** 2).mean()))


def cases(first: int, tables: int = TABLES) -> Iterator[tuple[mv.Scenario, mv.Dataset]]:
    """Tables with needs; each query starts from another design before."""
    given = [anywhere(seed) for seed in range(first, first + tables)] + [(simulated(), (2, 3, 8), 1.0)]
    for seed in range(6):  # those of the benchmark of levers
        matrix = levers.simulated(first + seed)[:, :5000]
        names = [f"x{k}" for k in range(len(matrix))]
        given.append((mv.Dataset(matrix=matrix, features=names, lower=-1, upper=1), (0, 1, 2), 1.0))
    befores = cycle(BEFORE)
    for (data, priority, epsilon), query in product(given, QUERIES):
        yield mv.Scenario.for_dataset(data, query=query, priority=priority, priority_directions=priority,
                                      judged="priority",
                                      epsilon=epsilon, **next(befores)), data
    for name in ("two_features", "liver", "cardiotocography", "movement_simulated"):
        for query in QUERIES:
            yield mv.Scenario.default_for(name).changed(query=query, task="reconstruction", judged="priority"), (
                mv.sample(name))


def ratios(scenario: mv.Scenario, data: mv.Dataset) -> tuple[float, float, float]:
    """The recommendation's error over that before it, over the grid's best, over the best permitted (or NaN)."""
    error = exact_error(advise(scenario, data).best.candidate.scenario, data)
    designs = [one.scenario for one in grid(scenario, data.n_features) if one.is_whole]
    found = [exact_error(design, data) for design in designs]
    public, blind = simulated_tables(data), blind_error(scenario, data)
    permitted = [each for each, design in zip(found, designs, strict=True)
                 if each < blind and max(clipped_parts(pose(design, data), public)) <= FEW]
    return error / exact_error(scenario, data), error / min(found), error / min(permitted) if permitted else math.nan


def grid(scenario: mv.Scenario, size: int) -> Iterator[Candidate]:
    """Every combination: queries, bounds, shares, uses, and priority columns alone."""
    plain = tuple(step for step in scenario.post if step != "aware")
    posts = (scenario.post, plain) if scenario.task != "reconstruction" else (scenario.post,)
    for query, post in product(serving_queries(scenario), posts):
        asked = scenario.changed(query=query, post=post, directions="standard", guarantee="exact", bound="none")
        priority = {*scenario.needs, *([] if scenario.label is None else [scenario.label])}
        yield Candidate(scenario=asked.changed(priority=tuple(priority)), mechanism=REDUCED)
        for radius, share in product(RADII, SHARES):
            if share is None or share > len(scenario.priority_directions) / size:
                bound = {"bound": "none"} if radius is None else {"bound": "own", "radius": radius}
                shape = {"allocation": "uniform"} if share is None else {"allocation": "binary", "share": share}
                yield Candidate(scenario=asked.changed(**bound, **shape))


def errors(tried: list[Candidate], data: mv.Dataset, **changes: int) -> list[float]:
    """The mean error of each."""
    problems = pose_each([one.scenario.changed(**changes) for one in tried], data, sensitivity="tight")
    found = measure([posed.with_scenario(posed.scenario, mechanisms=(one.mechanism,))
                     for posed, one in zip(problems, tried, strict=True)])
    return [results.outcomes[0].mean for results in found]


def best_of_grid(scenario: mv.Scenario, data: mv.Dataset) -> list[Candidate]:
    """The few best by a first round."""
    tried = list(grid(scenario, data.n_features))
    means = errors(tried, data, trials=FIRST_ROUND)
    return [tried[k] for k in np.argsort(means)[:LAST]]


def print_answers(first: int) -> None:
    """The recommendation's expected error on the data.

    A bound of one's own is kept: on records that lie inside it every design without a bound has more error.
    """
    found: dict[str, list[tuple[float, float, float]]] = {}
    for scenario, data in cases(first):
        bounds = ("all", "with a bound before" if scenario.bound != "none" else "all without a bound before")
        row = ratios(scenario, data)
        for name in (f"{scenario.query}, {bounds[1].removeprefix('all ')}", *bounds):
            found.setdefault(name, []).append(row)
    print(f"{'expected error of the recommendation':37}{'tables':>7}{'before, p95':>12}{'worst':>7}{'median':>8}"
          f"{'permitted grid':>16}{'whole grid':>12}   bar: 1.1, 1.3, permitted grid 1.3")
    for name, rows in sorted(found.items()):
        before, best, permitted = np.array(rows).T
        shown = np.nanmedian(permitted) if np.isfinite(permitted).any() else math.nan
        print(f"{name:37}{len(rows):7}{np.quantile(before, 0.95):12.3f}{before.max():7.3f}{np.median(before):8.3f}"
              f"{shown:16.3f}{np.median(best):12.3f}", flush=True)


def print_tasks() -> None:
    """The recommendation for tasks that need trials."""
    default = mv.Scenario.default_for
    tables = {
        "liver": (default("liver"), mv.sample("liver")),
        "cardiotocography, ridge of LB": (default("cardiotocography").changed(
            scale="symmetric", task="linear-ridge", label=0), mv.sample("cardiotocography")),
        "movement_simulated": (default("movement_simulated"), mv.sample("movement_simulated")),
        "simulated, 11 columns": (mv.Scenario(data="liver", query="covariance", task="linear-ridge", label=10,
                                              priority_directions=(2, 3, 8, 10), judged="everything"), simulated()),
    }
    print(f"{'error of the first design / best of a grid':44}{'same table':>12}{'on simulated data':>19}{'before':>8}"
          f"   bar    s")
    for name, (scenario, data) in tables.items():
        start = time.perf_counter()
        seen = advise(scenario, data, on_data=True).best
        seconds = time.perf_counter() - start
        blind = advise(scenario, data).best
        last = best_of_grid(scenario, data)
        again = errors([seen.candidate, blind.candidate, Candidate(scenario=scenario), *last], data, trials=TRIALS,
                       seed=FRESH)
        line = "".join(f"{error / min(again[3:]):{width}.3f}" for error, width in zip(again[:3], (12, 19, 8),
                                                                                     strict=True))
        print(f"{name:44}{line}   ≤ {BAR}{seconds:5.1f}", flush=True)


def main() -> None:
    """Print both tables."""
    print_answers(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print_tasks()


if __name__ == "__main__":
    main()
