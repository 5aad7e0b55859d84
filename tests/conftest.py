"""For all tests: examples without deadlines, a generator with a fixed seed, no ledger of anybody's."""

import os

import hypothesis
import numpy as np
import pytest

# A busy machine is no defect: examples may take their time.
hypothesis.settings.register_profile("no deadlines", deadline=None)
hypothesis.settings.load_profile("no deadlines")
os.environ.pop("MVGVIZ_LEDGER", None)


@pytest.fixture
def rng():
    return np.random.default_rng(20180101)
