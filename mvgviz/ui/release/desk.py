"""The session's releases: its ledger, what was released, and the one place where a release is made.

A release is made in the callback of a button. Its ticket names the data, the scenario and
the number of releases so far: a second click, a rerun or another page holds a ticket that is
used up, and two threads of a session (Streamlit starts a new one for a click while the last
still works) take turns. Streamlit may break into a callback wherever it draws (here: the progress bar); then
nothing was released and nothing is entered. Between the entry and the keeping of the answer
nothing is drawn and the session is not touched, so neither can be without the other.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.errors import InputError
from mvgviz.release.ledger import Ledger
from mvgviz.release.release import Release, release_setup
from mvgviz.release.secure_noise import hardening_for
from mvgviz.scenario.resolve import Setup
from mvgviz.ui import session

_DESK = "_release_desk"
_LONG = 20_000  # entries: about half a second


@dataclass(eq=False)
class Desk:
    """What the session released; ``refusal``: why the last click came to nothing."""

    ledger: Ledger = field(default_factory=Ledger)
    releases: list[Release] = field(default_factory=list, repr=False)
    refusal: InputError | None = None
    turn: threading.Lock = field(default_factory=threading.Lock, repr=False)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)


def desk() -> Desk:
    """The session's own; lost with it."""
    if _DESK not in st.session_state:
        st.session_state[_DESK] = Desk()
    kept: Desk = st.session_state[_DESK]
    return kept


def ticket() -> str:
    """Good for one release of the data and scenario as they are now."""
    held = desk()
    text = f"{len(held.ledger.entries)} {session.version()} {session.scenario().to_json()}"
    return hashlib.blake2b(text.encode(), key=held.key, digest_size=8).hexdigest()


def release_once(given: str, accept: tuple[str, ...], symmetrise: bool, place: DeltaGenerator) -> None:
    """The button's callback: one release, if the ticket is still good; a refusal is kept as a sentence."""
    held = desk()
    with held.turn:  # a second click starts a thread of its own while the first is still drawing
        if given != ticket() or not st.session_state.get(f"release_sure_{given}"):
            return
        held.refusal = None
        try:
            setup = session.setup()
            show = _progress(place) if setup.design.rows * setup.design.cols > _LONG else None
            made = release_setup(setup, accept=accept, ledger=held.ledger, symmetrise=symmetrise, progress=show)
            held.releases.append(made)
        except InputError as error:
            held.refusal = error


def _progress(place: DeltaGenerator) -> Callable[[float], None]:
    bar, told = place.progress(0.0, "Drawing the noise …"), [0.0]

    def show(share: float) -> None:
        if share >= told[0] + 0.02:
            told[0] = share
            bar.progress(min(share, 1.0), "Drawing the noise …")

    return show


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _factor(_setup: Setup, version: str) -> float:
    design = _setup.design
    return hardening_for(_setup.query, design.row_side, design.col_side, design.mu, _setup.largest_values).noise_std


def hardened_factor(setup: Setup) -> float | None:
    """By how much the noise will be larger than designed; None where the directions are still to be drawn.

    Raises InputError where such an answer cannot be released safely.
    """
    if setup.scenario.directions == "private":
        return None
    return _factor(setup, f"{session.version()} {setup.scenario.to_json()}")
