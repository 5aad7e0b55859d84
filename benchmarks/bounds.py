"""How far above the worst pair found the claimed mu of a rotated design is.

Run with ``make bench``. Boxes of 6 to 25 features around 0, beside it and far from it, random
rotations, random shares. Nothing here fails: it prints what it measured beside the bar.
"""

from __future__ import annotations

import numpy as np

import mvgviz
from mvgviz.query.worst_pairs import worst_pair

SIZES = range(6, 26)
MIDDLES = {
    "around 0": lambda rng, m: np.zeros(m),
    "0 inside": lambda rng, m: rng.uniform(-1, 1, m),
    "0 at the end": lambda rng, m: np.ones(m),
    "0 outside": lambda rng, m: rng.uniform(-3, 3, m),
    "far from 0": lambda rng, m: rng.uniform(-30, 30, m),
}
REPEATS = 4


def random_design(query: str, middle: str, m: int, seed: int) -> tuple[mvgviz.Query, mvgviz.NoiseDesign]:
    """A query and a rotated design for it; even seeds give most of the budget to a few directions."""
    rng = np.random.default_rng([m, seed, list(MIDDLES).index(middle)])
    halves = rng.uniform(0.3, 3, m)
    centre = halves * MIDDLES[middle](rng, m)
    data = mvgviz.Dataset(matrix=np.repeat(centre[:, None], 10, axis=1), features=[f"f{i}" for i in range(m)],
                          lower=centre - halves, upper=centre + halves)
    asked = getattr(mvgviz, query)(data)
    theta = rng.uniform(0.05, 1, m) if seed % 2 else rng.dirichlet(np.full(m, 0.5)) + 1e-4
    return asked, mvgviz.design_noise(asked, epsilon=1, delta=1e-5, theta=mvgviz.manual(theta),
                                      directions=mvgviz.random_rotation(m, rng=rng))


def looseness(query: str, middle: str, m: int, seed: int) -> float:
    """Claimed mu over that of the worst pair found."""
    asked, design = random_design(query, middle, m, seed)
    return 1 / worst_pair(asked, design.row_side, design.col_side).attained


def main() -> None:
    """Print the table."""
    print(f"{'claimed mu / worst pair found':34}{'median':>8}{'worst':>8}   bar: median ≤ 1.2, worst ≤ 2")
    for query, middles in (("covariance", list(MIDDLES)), ("identity", ["around 0"])):
        for middle in middles:
            for name, sizes in (("6 to 8", range(6, 9)), ("9 to 16", range(9, 17)), ("17 to 25", range(17, 26))):
                found = [looseness(query, middle, m, seed) for m in sizes for seed in range(REPEATS)]
                where = f", {middle}" if query == "covariance" else ""
                print(f"{query}{where}, m = {name}".ljust(34) + f"{np.median(found):8.3f}{max(found):8.3f}")


if __name__ == "__main__":
    main()
