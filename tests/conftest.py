"""What several test files share: small datasets, a generator with a fixed seed."""

import hypothesis
import numpy as np
import pytest

from mvgviz import Dataset

# A busy machine is no defect: examples may take their time.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")


def make_dataset(m, n, lower=-1.0, upper=1.0, seed=0):
    """Uniform records inside their ranges."""
    lower, upper = np.broadcast_to(lower, m), np.broadcast_to(upper, m)
    matrix = np.random.default_rng(seed).uniform(lower[:, None], upper[:, None], (m, n))
    return Dataset(matrix=matrix, features=[f"f{i}" for i in range(m)], lower=lower, upper=upper)


@pytest.fixture
def rng():
    return np.random.default_rng(20180101)
