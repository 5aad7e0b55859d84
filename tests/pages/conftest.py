"""Every test of a page is a session of its own, though all have one name without a browser."""

import pytest
from streamlit.runtime.caching import clear_session_resource_cache

from mvgviz.ui.paper import panels as paper_panels


@pytest.fixture(autouse=True)
def own_session():
    clear_session_resource_cache("test session id")


@pytest.fixture(autouse=True)
def few_trials_of_the_paper(monkeypatch):
    """Four are enough to see that everything is drawn."""
    monkeypatch.setattr(paper_panels, "TRIALS", 4)
