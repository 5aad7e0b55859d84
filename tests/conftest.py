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


@pytest.fixture(autouse=True)
def own_environment():
    """A command tells the app by the environment what to begin with: no test leaves that to another."""
    before = dict(os.environ)
    yield
    if dict(os.environ) != before:
        os.environ.clear()
        os.environ.update(before)
