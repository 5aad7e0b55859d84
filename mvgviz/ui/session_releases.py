"""The session's releases: its ledger, what was released, and the one place where a release is made.

A release is made in the callback of a button. Its ticket names the data, the scenario and the number of releases so
far: a second click, a rerun or another page holds a ticket that is used up, and two threads of a session (Streamlit
starts a new one for a click while the last still works) take turns. Streamlit may break into a callback wherever it
draws (here: the progress bar); then nothing was released and nothing is entered. Between the entry and the keeping of
the answer nothing is drawn and the session is not touched, so neither can be without the other.
"""

import hashlib
import secrets
import threading
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.errors import InputError
from mvgviz.release.ledger import Ledger
from mvgviz.release.release import Release, release_setup
from mvgviz.release.secure_noise import hardening_for
from mvgviz.scenario.resolve import Setup
from mvgviz.ui import session
from mvgviz.ui.frame import show_progress

_RELEASES = "_release_desk"
_LONG = 20_000  # entries: about half a second


@dataclass(eq=False)
class SessionReleases:
    """What the session released; ``refusal``: why the last click came to nothing."""

    ledger: Ledger = field(default_factory=Ledger)
    releases: list[Release] = field(default_factory=list, repr=False)
    refusal: InputError | None = None
    turn: threading.Lock = field(default_factory=threading.Lock, repr=False)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)


def session_releases() -> SessionReleases:
    """The session's own; lost with it."""
    return st.session_state.setdefault(_RELEASES, SessionReleases())  # type: ignore[no-any-return]


def ticket() -> str:
    """Good for one release of the data and scenario as they are now."""
    held = session_releases()
    text = f"{len(held.ledger.entries)} {session.setup_version()}"
    return hashlib.blake2b(text.encode(), key=held.key, digest_size=8).hexdigest()


def release_once(given: str, accept: tuple[str, ...], symmetrise: bool, spot: DeltaGenerator) -> None:
    """The button's callback: one release, if the ticket is still good; a refusal is kept as a sentence."""
    held = session_releases()
    with held.turn:  # a second click starts a thread of its own while the first is still drawing
        if given != ticket() or not st.session_state.get(f"release_sure_{given}"):
            return
        held.refusal = None
        try:
            setup, words, show = session.setup(), "Drawing the noise …", None
            if setup.design.rows * setup.design.cols > _LONG:
                show = show_progress(spot.progress(0.0, words), words)
            made = release_setup(setup, accept=accept, ledger=held.ledger, symmetrise=symmetrise, progress=show)
            held.releases.append(made)
        except InputError as error:
            held.refusal = error


@session.remembered(8)
def hardened_factor(setup: Setup) -> float | None:
    """By how much the noise will be larger (None: known when all is learned); InputError where that is unsafe."""
    if setup.scenario.directions == "private" or setup.design.bound_mu > 0:
        return None
    design = setup.design
    return hardening_for(setup.query, design.row_side, design.col_side, design.mu, setup.largest_values).noise_std
