"""Every test of a page is a session of its own, though all have one name without a browser."""

import pytest
import streamlit


@pytest.fixture(autouse=True)
def own_session():
    streamlit.cache_resource.clear()
