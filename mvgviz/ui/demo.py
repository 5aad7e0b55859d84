"""The public demo: bundled tables alone, no uploads, no releases, fewer trials, and so many visitors at once.

``mvgviz --demo`` or ``MVGVIZ_DEMO=1``. What it leaves out the pages say; the door and the callbacks see to it.
"""

from typing import Any

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.scenario.scenario import Scenario
from mvgviz.ui.door import is_demo
from mvgviz.ui.streamlit_internals import visitors

MOST_TRIALS, MOST_VISITORS = 200, 40
"""In the demo: trials of a scenario, and visitors at a time."""
_ADMITTED = "_demo_admitted"
_ABOUT = (f"Bundled data only: no uploads, no releases, at most {MOST_TRIALS} trials. Install mvgviz to use your own "
          "data.")
NO_RELEASE = "this public demo releases nothing: install mvgviz to release an answer about your own data"


def most_trials() -> int:
    """The most trials that a scenario may ask for here."""
    return MOST_TRIALS if is_demo() else 100_000


def held(scenario: Scenario) -> Scenario:
    """Return the scenario with no more trials than this server makes, and in the demo no directions from a file."""
    if not is_demo():
        return scenario
    filed = scenario.directions == "upload"
    return scenario.changed(trials=min(scenario.trials, MOST_TRIALS), **{"directions": "standard"} if filed else {})


def refuse_release() -> None:
    """Raise InputError in the demo: no answer of it may look like a release."""
    if is_demo():
        raise InputError(NO_RELEASE)


def choose_file(label: str, **options: Any) -> Any:
    """A box for a file; a sentence instead in the demo, whose door takes none."""
    if is_demo():
        st.caption("This public demo takes no files. Install mvgviz to open your own.")
        return None
    return st.file_uploader(label, **options)


def draw_badge() -> None:
    """Say on every page that this is the demo."""
    if is_demo():
        st.badge("Public demo", icon=":material/public:", color="blue", help=_ABOUT)


def has_room() -> bool:
    """Whether this visitor may come in; one who is in stays."""
    if not is_demo() or st.session_state.get(_ADMITTED):
        return True
    st.session_state[_ADMITTED] = visitors() <= MOST_VISITORS
    return bool(st.session_state[_ADMITTED])


def draw_full() -> None:
    """Say that all places are taken."""
    st.subheader("The demo is full", anchor=False)
    st.markdown(f"{MOST_VISITORS} visitors are here now. Load this page again in a few minutes.")
