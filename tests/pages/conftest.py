"""Every test of a page is a session of its own, though all have one name without a browser."""

import functools

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from mvgviz.paper import runs


@pytest.fixture(scope="session", autouse=True)
def packages_looked_through_once():
    """For pictures of their own; Streamlit's tests without a browser do so for every session, for most of its time."""
    usual = manifest_scanner.scan_component_manifests
    manifest_scanner.scan_component_manifests = functools.cache(usual)
    yield
    manifest_scanner.scan_component_manifests = usual


@pytest.fixture(autouse=True)
def next_slices_are_asked_for(monkeypatch):
    """As the browser does while there is work."""
    run = AppTest._run

    def asking(app, *given, **options):
        run(app, *given, **options)
        while any(button.label == "Stop" for button in app.button):
            run(app, app._tree.get_widget_states(), **options)
        return app

    monkeypatch.setattr(AppTest, "_run", asking)


@pytest.fixture(autouse=True)
def own_session():
    clear_session_resource_cache("test session id")


@pytest.fixture(autouse=True)
def few_trials_of_the_paper(monkeypatch):
    """Four are enough to see that everything is drawn."""
    monkeypatch.setattr(runs, "TRIALS", 4)
