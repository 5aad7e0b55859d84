"""How much less the error on priority columns is than with equal noise on the box of the ranges, at the same privacy.

Run with ``make bench``. Epsilon 1, delta 1e-6; the error of an answer is its noise and, where records are clipped
into a bound, the bias. Bounds and shares follow from the ranges alone; nothing is tuned on the data.
"""

import math
import time

import numpy as np

import mvgviz as mv
from mvgviz.query.record_bound import RecordBound

NEEDED, SHARE = (0, 7, 9), 0.8  # of Cardiotocography: FHR, ASV, ALV, as in the paper
EVEN = "ellipse of an even record"
AROUND = math.sqrt(3)  # the ellipse around the whole box: no record is clipped


def error(asked: mv.Query, design: mv.NoiseDesign, truth: np.ndarray) -> float:
    """The expected root mean square error on priority entries."""
    wanted = np.ix_(NEEDED, NEEDED) if asked.symmetric else (list(NEEDED), slice(None))
    variance = design.noise_std() ** 2
    if asked.symmetric:  # the two halves are averaged
        variance = np.where(np.eye(asked.rows) > 0, variance, variance / 2)
    return math.sqrt(float(((asked.value - truth)[wanted] ** 2 + variance[wanted]).mean()))


def main() -> None:
    """Print the table."""
    data = mv.sample("cardiotocography").normalised(to=(0, 1))
    shares = mv.binary(data.n_features, priority=NEEDED, share=SHARE)
    budget = {"epsilon": 1, "delta": 1e-6}
    print(f"{'priority error / equal noise on the box':52}{'ratio':>8}   bar")
    for name, ask, bar in (("mean", mv.mean, 0.45), ("covariance", mv.covariance, 0.2)):
        plain = ask(data)
        base = error(plain, mv.design_noise(plain, **budget), plain.value)
        rows = {"split of the box": (plain, mv.design_noise(plain, theta=shares, **budget))}
        centre = 0.0 if plain.symmetric else (data.lower + data.upper) / 2
        for label, radius in (("ellipse around the box", AROUND), (EVEN, 1.0)):
            shape = RecordBound.from_shares(data, shares, centre=centre)
            asked = ask(data, bound=RecordBound(radius=radius, weights=shape.weights, centre=shape.centre))
            rows[label] = asked, mv.design_noise(asked, **budget)
        for label, (asked, design) in rows.items():
            judged = "a bias: not for means" if label == EVEN and name == "mean" else f"≤ {bar}"
            print(f"{name}, {label}".ljust(52) + f"{error(asked, design, plain.value) / base:8.3f}   {judged}")
    bound = RecordBound.from_shares(data, shares)
    times = {}
    for label, make in (("without", lambda: mv.covariance(data)), ("with", lambda: mv.covariance(data, bound=bound))):
        start = time.perf_counter()
        for _ in range(20):
            make()
        times[label] = time.perf_counter() - start
    print(f"{'asking for a covariance: with a bound / without':52}{times['with'] / times['without']:8.2f}")


if __name__ == "__main__":
    main()
