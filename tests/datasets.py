"""Small datasets that several tests use."""

import numpy as np

from mvgviz import Dataset, Scenario, build, sample


def make_dataset(m, n, lower=-1.0, upper=1.0, seed=0):
    """Uniform records inside their ranges."""
    lower, upper = np.broadcast_to(lower, m), np.broadcast_to(upper, m)
    matrix = np.random.default_rng(seed).uniform(lower[:, None], upper[:, None], (m, n))
    return Dataset(matrix=matrix, features=[f"f{i}" for i in range(m)], lower=lower, upper=upper)


def setup_of(name, **changes):
    """A bundled dataset in its usual scenario, changed."""
    return build(Scenario.default_for(name).changed(**changes), sample(name))
