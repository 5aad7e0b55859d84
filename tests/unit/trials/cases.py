"""Every task, every level and every kind of noise, for all ways to run trials."""

from mvgviz.trials.mechanisms import MECHANISMS
from tests.datasets import make_dataset
from tests.unit.trials.problems import scenario

EVERY = list(MECHANISMS)

CASES = {  # every task, every level and every kind of noise is in one of them
    "kernel-ridge": scenario("identity", task="kernel-ridge", label=0, trials=8),
    "linear-ridge": scenario("covariance", task="linear-ridge", label=0, trials=8, priority_directions=(0, 1)),
    "linear-ridge from the table": scenario("identity", task="linear-ridge", label=0, trials=8, directions="random"),
    "first-component": scenario("covariance", task="first-component", trials=5, directions="private"),
    "covariance-estimation": scenario("identity", task="covariance-estimation", trials=5, directions="private",
                                      allocation="max-pnr"),
    "subspace": scenario("identity", task="subspace", trials=8, mode="columns", priority_directions=(0, 1)),
    "reconstruction": scenario("identity", task="reconstruction", trials=8),
    "reconstruction, no post-processing": scenario("covariance", task="reconstruction", trials=8, post=()),
}

DATA = make_dataset(3, 40)
