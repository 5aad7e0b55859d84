"""Every test of a page is a session of its own, though all have one name without a browser."""

import pytest
from streamlit.runtime.caching import clear_session_resource_cache


@pytest.fixture(autouse=True)
def own_session():
    clear_session_resource_cache("test session id")
