"""Ratios of the engine's costs to those of the plainest alternative, measured in one run.

Run with ``make bench``. Nothing here fails: it prints what it measured beside the bar.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

import mvgviz

ROWS, COLS = 21, 2126
SIZES = (4, 8, 16, 32, 64)


def best_time(work: Callable[[], object], *, repeats: int) -> float:
    """The shortest of several runs, in seconds, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def ratio(slow: Callable[[], object], fast: Callable[[], object], *, repeats: tuple[int, int]) -> float:
    """How many times as long the first takes; measured in turns, so that a busy moment hits both."""
    rounds = [(best_time(slow, repeats=repeats[0]), best_time(fast, repeats=repeats[1])) for _ in range(4)]
    first, second = zip(*rounds, strict=True)
    return min(first) / min(second)


def table_design(cols: int, *, rotated: bool) -> mvgviz.NoiseDesign:
    """A directional design for a 21-row table in [0, 1]."""
    rng = np.random.default_rng(0)
    data = mvgviz.Dataset(matrix=rng.uniform(0, 1, (ROWS, cols)), features=[f"f{i}" for i in range(ROWS)],
                          lower=0, upper=1)
    return mvgviz.design_noise(
        mvgviz.identity(data), epsilon=1, delta=1 / cols, theta=mvgviz.binary(ROWS, priority=[0, 7, 9], share=0.65),
        directions=mvgviz.random_rotation(ROWS, rng=rng) if rotated else None)


def noise_ratio(*, rotated: bool) -> float:
    """One draw against as many standard normals."""
    design, rng = table_design(COLS, rotated=rotated), np.random.default_rng(1)
    return ratio(lambda: mvgviz.sample_noise(design, rng=rng), lambda: rng.standard_normal((ROWS, COLS)),
                 repeats=(200, 200))


def gram_speedup() -> float:
    """100 trials of the Gram matrix against 100 direct draws with numpy."""
    design, rng = table_design(COLS, rotated=True), np.random.default_rng(1)
    x, root = np.random.default_rng(0).uniform(0, 1, (ROWS, COLS)), design.row_side.root()

    def direct() -> None:
        for _ in range(100):
            released = x + root @ rng.standard_normal((ROWS, COLS))
            released @ released.T

    return ratio(direct, lambda: mvgviz.sample_gram(x, design, rng=rng, trials=100), repeats=(4, 40))


def scipy_speedup() -> float:
    """One draw against scipy.stats.matrix_normal."""
    design, rng = table_design(COLS, rotated=False), np.random.default_rng(1)

    def theirs() -> None:
        stats.matrix_normal.rvs(rowcov=design.row_covariance(), colcov=design.col_covariance(), random_state=rng)

    return ratio(theirs, lambda: mvgviz.sample_noise(design, rng=rng), repeats=(2, 100))


def gram_growth() -> float:
    """100 trials at a million records against 100 at two thousand, the one pass excluded."""
    works = []
    for cols in (1_000_000, 2_000):
        design, rng = table_design(cols, rotated=True), np.random.default_rng(1)
        gram = mvgviz.Gram.of(np.random.default_rng(0).uniform(0, 1, (ROWS, cols)))
        works.append(lambda d=design, g=gram, r=rng: mvgviz.sample_gram(g, d, rng=r, trials=100))
    return ratio(*works, repeats=(30, 30))


def import_ratio() -> float:
    """``import mvgviz`` against ``import numpy, scipy.special``, each in fresh interpreters."""

    def fresh(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    bare, ours, theirs = (best_time(fresh(code), repeats=15)
                          for code in ("pass", "import mvgviz", "import numpy, scipy.special"))
    return (ours - bare) / (theirs - bare)


def print_samplers() -> None:
    """The paper's two ways to draw, by size: ``B_Sigma N B_Psiᵀ``, and one vector of covariance ``Psi ⊗ Sigma``.

    Noise on both sides of second moments, in turned directions; the affine way decomposes twice each time.
    """
    rng = np.random.default_rng(0)
    print(f"{'one draw, milliseconds':24}{'affine':>10}{'decompositions':>16}{'Kronecker':>12}{'Kronecker / both':>18}")
    for size in SIZES:
        data = mvgviz.Dataset(matrix=np.zeros((size, 2)), features=[f"f{k}" for k in range(size)], lower=0, upper=1)
        design = mvgviz.design_noise(mvgviz.covariance(data), epsilon=1, delta=1e-6, mode="both",
                                     theta=mvgviz.binary(size, priority=[0], share=0.65),
                                     directions=mvgviz.random_rotation(size, rng=rng))
        sides = (design.row_covariance(), design.col_covariance())
        affine, split, stacked = (best_time(work, repeats=repeats) * 1e3 for work, repeats in (
            (lambda design=design: mvgviz.sample_noise(design, rng=rng), 50),
            (lambda sides=sides: [np.linalg.svd(side) for side in sides], 10),
            (lambda design=design: mvgviz.sample_noise(design, rng=rng, method="kronecker"), 3)))
        print(f"{f'{size} × {size}':24}{affine:10.3f}{split:16.3f}{stacked:12.3f}{stacked / (affine + split):18.0f}")


def main() -> None:
    """Print the tables."""
    rows = [
        ("sample_noise 21×2126, standard basis / rng.standard_normal", noise_ratio(rotated=False), "≤ 1.25"),
        ("sample_noise 21×2126, rotated / rng.standard_normal", noise_ratio(rotated=True), "≤ 2"),
        ("100 direct draws of the Gram matrix / sample_gram", gram_speedup(), "≥ 25"),
        ("scipy.stats.matrix_normal.rvs / sample_noise, one draw", scipy_speedup(), "≥ 300"),
        ("sample_gram at 1 000 000 records / at 2 000", gram_growth(), "≤ 1.2"),
        ("import mvgviz / import numpy, scipy.special", import_ratio(), "≤ 1.5"),
    ]
    print(f"{'what':62}{'measured':>10}   bar")
    for what, measured, bar in rows:
        print(f"{what:62}{measured:10.2f}   {bar}")
    print_samplers()


if __name__ == "__main__":
    main()
