"""The session's release desk: its ledger, whom its data is about, what was released, and where a release is made.

A release is made in the callback of a button. Its ticket names the data, what is asked and the number of releases so
far: a second click, a rerun or another page holds a ticket that is used up, and two threads of a session (Streamlit
starts a new one for a click while the last still works) take turns. Streamlit may break into a callback wherever it
draws (here: the progress bar); then nothing was released and the ledger's entry is withdrawn. Between the last of the
noise and the keeping of the answer nothing is drawn and the session is not touched.

Where the ledger lasts, it counts for a population that the person names; which of the session's data belong to it is
known to the session alone.
"""

import hashlib
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.errors import InputError
from mvgviz.release.entries import Entry, Sum, Total
from mvgviz.release.ledger import Ledger, ledger_from_environment
from mvgviz.release.release import Plan, Release, release_setup
from mvgviz.release.secure_noise import hardening_for
from mvgviz.scenario.resolve import Setup
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.slices import moving_bar

_DESK, _DRAWING = "_release_desk", "Drawing the noise …"
_LONG = 20_000  # entries: about half a second


@dataclass(eq=False)
class Desk:
    """What the session released; ``refusal``: why the last click came to nothing."""

    ledger: Ledger = field(default_factory=ledger_from_environment)
    releases: list[Release] = field(default_factory=list, repr=False)
    refusal: InputError | None = None
    turn: threading.Lock = field(default_factory=threading.Lock, repr=False)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    _people: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _named: dict[str, str] = field(default_factory=dict, repr=False)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Keep a refusal as a sentence for the page."""
        try:
            yield
        except InputError as error:
            self.refusal = error

    def ticket(self, *asked: object) -> str:
        """Good for one release of what is asked."""
        text = " ".join(map(str, (len(self.releases), *asked)))
        return hashlib.blake2b(text.encode(), key=self.key, digest_size=8).hexdigest()

    def same_people(self, data: str) -> frozenset[str]:
        """The names of all data of the session about the people of ``data``, itself included."""
        return self._people.get(data, frozenset({data})) if self.ledger.lasts else self.ledger.same_people(data)

    def count_together(self, data: str, other: str) -> None:
        """Both are about the same people; where they have two names for them, those count together for good."""
        session.count_as_seen(data, other)
        if not self.ledger.lasts:
            self.ledger.join(data, other)
            return
        first, second = self.same_people(data), self.same_people(other)
        self._people.update(dict.fromkeys(first | second, first | second))
        names = dict.fromkeys(name for group in (first, second) if (name := self._called(group)) is not None)
        if names:
            self.name(data, next(iter(names)))
        if len(names) > 1:
            self.ledger.join(*names)

    def name(self, data: str, population: str | None) -> None:
        """What the person calls the people of ``data``."""
        for one in self.same_people(data):
            self._named.pop(one, None)
            if population:
                self._named[one] = population

    def named(self, data: str) -> str:
        """What the person called the people of ``data`` in this session; nothing is looked up."""
        return next((self._named[one] for one in sorted(self.same_people(data)) if one in self._named), "")

    def population(self, data: str) -> str | None:
        """What the ledger counts ``data`` for; None until the person has named it, or a release before did."""
        return self._called(self.same_people(data)) if self.ledger.lasts else data

    def _called(self, names: frozenset[str]) -> str | None:
        said = next((self._named[one] for one in sorted(names) if one in self._named), None)
        return said or next((entry.population for entry in reversed(self.ledger.entries) if entry.data in names), None)

    def is_entered(self, data: str) -> bool:
        """Whether the session released anything of these people: their name then stays."""
        return any(made.data in self.same_people(data) for made in self.releases)

    def entries_about(self, data: str) -> tuple[Entry, ...]:
        """The releases that count together with those of ``data``; none where nobody said who it is about."""
        population = self.population(data)
        return () if population is None else self.ledger.entries_about(population)

    def totals(self, data: str, planned: Plan) -> tuple[Total, Total] | None:
        """What they spent, and will have spent with ``planned``; None where nobody said who the data is about."""
        if self.population(data) is None:
            return None
        summed = Sum(self.entries_about(data))
        return summed.total(planned.delta), summed.add(planned).total(planned.delta)

    def cap(self, data: str) -> tuple[float, float] | None:
        """The cap that binds releases of ``data``."""
        population = self.population(data)
        return self.ledger.cap if population is None else self.ledger.cap_of(population)

    def check(self, data: str, planned: Plan) -> None:
        """Refuse a release that would exceed the cap."""
        population = self.population(data)
        if population is not None:
            self.ledger.check(population, planned.mu, rule=planned.neighbour_rule)


def release_desk() -> Desk:
    """The session's own; lost with it."""
    if _DESK not in st.session_state:
        st.session_state[_DESK] = Desk()
    return st.session_state[_DESK]  # type: ignore[no-any-return]


def ticket() -> str:
    """Good for one release of the data and scenario as they are now."""
    return release_desk().ticket(session.version(), repr(session.scenario()))


def release_once(given: str, accept: tuple[str, ...], symmetrise: bool, spot: DeltaGenerator) -> None:
    """The button's callback: one release, if the ticket is still good; a refusal is kept as a sentence."""
    desk = release_desk()
    with desk.turn:  # a second click starts a thread of its own while the first is still drawing
        if given != ticket() or not st.session_state.get(f"release_sure_{given}"):
            return
        desk.refusal = None
        with desk.refusing():
            setup = session.setup()
            desk.releases.append(release_setup(
                setup, accept=accept, ledger=desk.ledger, symmetrise=symmetrise, progress=bar_of_noise([setup], spot),
                population=desk.population(setup.scenario.data)))


def bar_of_noise(setups: Sequence[Setup], spot: DeltaGenerator) -> Callable[[float], None] | None:
    """A bar that moves while the noise is drawn, where that takes a while."""
    if sum(setup.design.rows * setup.design.cols for setup in setups) <= _LONG:
        return None
    return moving_bar(spot.progress(0.0, _DRAWING), _DRAWING)


@cached(8, session.here)
def hardened_factor(setup: Setup) -> float | None:
    """By how much the noise will be larger (None: known when all is learned); InputError where that is unsafe."""
    if setup.scenario.directions == "private" or setup.design.bound_mu > 0:
        return None
    design = setup.design
    return hardening_for(setup.query, design.row_side, design.col_side, design.mu, setup.largest_values).noise_std
