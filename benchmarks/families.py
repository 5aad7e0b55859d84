"""Noise on priority columns by family, at the same promise and the same noise on the other columns.

Run with ``make bench``. Epsilon 1, delta 1e-6, one release; units of the most that one record changes each number.
"""

import statistics
import time

import numpy as np

import mvgviz as mv
from mvgviz.noise.families import FAMILIES

PROMISE = {"epsilon": 1.0, "delta": 1e-6}
SPLITS = {(1, 2): 0.36, (2, 6): 0.37, (1, 21): 0.44, (3, 21): 0.45, (1, 100): 0.52}
ELLIPSES = {6: 0.61, 21: 0.84, 231: 0.984}


def priority_noise(first: int, size: int, family: str) -> float:
    """The noise on priority columns where the others have that of the Gaussian split with share 0.8."""
    data = mv.Dataset(matrix=np.zeros((size, 2)), features=[f"f{k}" for k in range(size)], lower=0, upper=1)
    query = mv.mean(data)

    def noise(share: float, family: str) -> np.ndarray:
        theta = mv.binary(size, priority=range(first), share=share)
        return mv.design_noise(query, **PROMISE, theta=theta, family=family).noise_std()[[0, -1], 0]

    wanted, (low, high) = noise(0.8, "gaussian")[1], (1e-3, 1 - 1e-3)
    for _ in range(40):
        share = (low + high) / 2
        low, high = (share, high) if noise(share, family)[1] < wanted else (low, share)
    return float(noise(low, family)[0])


def print_draw() -> None:
    """One draw of box noise of 21 × 2126 against its raw random numbers."""
    data = mv.sample("cardiotocography")
    design = mv.design_noise(mv.identity(data), **PROMISE, family="box")
    rng, times, shape = np.random.default_rng(0), {}, (design.rows, design.cols)
    for name, draw in (("noise", lambda: mv.sample_noise(design, rng=rng)),
                       ("raw", lambda: (rng.random(shape), rng.standard_gamma(22, design.cols)))):
        draw()
        each = []
        for _ in range(200):
            start = time.perf_counter()
            draw()
            each.append(time.perf_counter() - start)
        times[name] = statistics.median(each)
    print(f"{'a draw of box noise 21 × 2126 / raw uniforms and gammas':60}{times['noise'] / times['raw']:8.3f}   ≤ 1.5")


def main() -> None:
    """Print the tables."""
    print(f"{'noise on priority columns / Gaussian, same on the others':60}{'ratio':>8}   bar")
    for (first, size), bar in SPLITS.items():
        gaussian = priority_noise(first, size, "gaussian")
        ratio = min(priority_noise(first, size, family) for family in ("box", "box-ellipse")) / gaussian
        print(f"{f'{first} of {size}, box or box and ellipse':60}{ratio:8.3f}   ≤ {bar}")
    for size, bar in ELLIPSES.items():
        ratio = FAMILIES["ellipse"].std(size, 1.0, 1e-6) / FAMILIES["gaussian"].std(size, 1.0, 1e-6)
        print(f"{f'ellipse / Gaussian, {size} numbers, equal noise':60}{ratio:8.3f}   {bar} ± 0.005")
    print_draw()


if __name__ == "__main__":
    main()
