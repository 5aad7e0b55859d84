"""Accounting of mixtures and exact box noise: errors and times beside their bars. Run with ``make bench``."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

import mvgviz
from mvgviz.noise import mixtures
from mvgviz.release.box_noise import STEPS, box_noise


def main() -> None:
    """Print the table."""
    mu = mvgviz.gaussian_mu(0.5, 1e-6)
    above = mixtures._of_many(1e-6, [0.5], mu) - mixtures.plan_epsilon(1e-6, [0.5], mu)
    start = time.perf_counter()
    mixtures.plan_epsilon(1e-6, np.linspace(0.01, 0.2, 1_000).tolist(), 0.3)
    many = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(200):
        box_noise(21, Fraction(0.1), STEPS)
    each = (time.perf_counter() - start) / 200 * 1e3
    rows = [("epsilon of 1 Laplace + 1 Gaussian by losses − closed form", f"{above:.1e}", "0 to 1e-5"),
            ("1 000 different pure epsilons and a Gaussian, seconds", f"{many:.2f}", "≤ 3"),
            ("exact box noise on 21 numbers, milliseconds", f"{each:.2f}", "≤ 5")]
    print(f"{'what':62}{'measured':>10}   bar")
    for what, measured, bar in rows:
        print(f"{what:62}{measured:>10}   {bar}")


if __name__ == "__main__":
    main()
