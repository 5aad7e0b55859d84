"""Every test of a page is a session of its own, though all have one name without a browser."""

import functools

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest, local_script_runner

from mvgviz.paper import runs


@pytest.fixture(scope="session", autouse=True)
def packages_and_pages_are_read_once():
    """Streamlit's tests without a browser look through packages for pictures, and compile pages, in every run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests",
                      functools.cache(manifest_scanner.scan_component_manifests))
        patch.setattr(local_script_runner, "ScriptCache", functools.cache(local_script_runner.ScriptCache))
        yield


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
