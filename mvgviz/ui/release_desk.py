"""The session's release desk: its ledger, the population of each data, past releases, and the place of a release.

A button's callback releases. Its ticket names the data, the question and the number of releases so far. So a second
click, a rerun or another page holds a used ticket. Streamlit starts a thread for each click; they take turns. Streamlit
may interrupt a callback wherever it draws (here: the progress bar). Then nothing is released, and the entry in the
ledger is withdrawn. Nothing is drawn between the last noise and the storing of the answer.
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
from mvgviz.release.answer import Release
from mvgviz.release.box_noise import Lattice
from mvgviz.release.entries import Entry, Sum, Total
from mvgviz.release.ledger import Ledger, ledger_from_environment
from mvgviz.release.release import Plan, release_setup
from mvgviz.release.secure_noise import hardening_for
from mvgviz.scenario.resolve import Setup
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.door import is_demo
from mvgviz.ui.slices import moving_bar
from mvgviz.ui.visitors import refuse_release

_DESK = "_release_desk"


@dataclass(eq=False)
class Desk:
    """What the session released; ``refusal``: why the last click came to nothing."""

    ledger: Ledger = field(default_factory=lambda: Ledger() if is_demo() else ledger_from_environment())
    releases: list[Release] = field(default_factory=list, repr=False)
    refusal: InputError | None = None
    turn: threading.Lock = field(default_factory=threading.Lock, repr=False)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    _people: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _named: dict[str, str] = field(default_factory=dict, repr=False)
    _past: tuple[tuple[str, int], tuple[Release, ...]] = field(default=(("", 0), ()), repr=False)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Keep an `InputError` for the page."""
        self.refusal = None
        try:
            yield
        except InputError as error:
            self.refusal = error

    def attempt(self, change: Callable[..., object], *given: object) -> None:
        with self.refusing():
            change(*given)

    def ticket(self, *asked: object) -> str:
        """Good for one release of what is asked."""
        text = " ".join(map(str, (len(self.releases), *asked)))
        return hashlib.blake2b(text.encode(), key=self.key, digest_size=8).hexdigest()

    def same_people(self, data: str) -> frozenset[str]:
        """Return the names of the session's data about the same people, ``data`` included."""
        return self._people.get(data, frozenset({data})) if self.ledger.lasts else self.ledger.same_people(data)

    def count_together(self, data: str, other: str) -> None:
        """Take note that both are about the same people; two names of theirs are joined for good."""
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
        for one in self.same_people(data):
            self._named.pop(one, None)
            if population:
                self._named[one] = population

    def named(self, data: str) -> str:
        """Return what the person called the people of ``data`` in this session; empty if nothing."""
        return next((self._named[one] for one in sorted(self.same_people(data)) if one in self._named), "")

    def population(self, data: str) -> str | None:
        """Return the population that ``data`` counts for; None until the person, or an earlier release, named it."""
        return self._called(self.same_people(data)) if self.ledger.lasts else data

    def _called(self, names: frozenset[str]) -> str | None:
        said = next((self._named[one] for one in sorted(names) if one in self._named), None)
        return said or next((entry.population for entry in reversed(self.ledger.entries) if entry.data in names), None)

    def is_entered(self, data: str) -> bool:
        """Whether the session released anything about these people: their name then stays."""
        return any(made.data in self.same_people(data) for made in self.releases)

    def shown(self, data: str) -> tuple[Release, ...]:
        """Return what the ledger keeps about the named people of ``data``, then what the session released."""
        population = self.named(data) or (self.population(data) if self.is_entered(data) else None)
        if not (self.ledger.lasts and population):
            return tuple(self.releases)
        try:
            of_now = population, len(self.ledger.entries_about(population))
            if of_now != self._past[0]:
                self._past = of_now, self.ledger.releases(population)
        except InputError:  # the page says why the ledger cannot be used
            return tuple(self.releases)
        mine = {made.number for made in self.releases}
        return (*(one for one in self._past[1] if one.number not in mine), *self.releases)

    def proposed(self, data: str) -> str | None:
        """Return a name that only the ledger has for ``data``, if it has finished releases under it."""
        if not self.ledger.lasts or self.named(data) or self.is_entered(data):
            return None
        return self.population(data) if any(entry.is_finished for entry in self.entries_about(data)) else None

    def entries_about(self, data: str) -> tuple[Entry, ...]:
        """Return the releases that count with those of ``data``; none without a population."""
        population = self.population(data)
        return () if population is None else self.ledger.entries_about(population)

    def totals(self, data: str, planned: Plan) -> tuple[Total, Total] | None:
        """What they spent, and will have spent with ``planned``; None where nobody said who the data is about."""
        if self.population(data) is None:
            return None
        summed = Sum(self.entries_about(data))
        return summed.total(planned.delta), summed.add(planned).total(planned.delta)

    def cap(self, data: str) -> tuple[float, float] | None:
        population = self.population(data)
        return self.ledger.cap if population is None else self.ledger.cap_of(population)

    def check(self, data: str, planned: Plan) -> None:
        """Raise `InputError` for a release beyond the cap, and for any in the public demo."""
        refuse_release()
        population = self.population(data)
        if population is not None:
            self.ledger.check(population, planned.mu, rule=planned.neighbour_rule, epsilon_pure=planned.epsilon_pure)


def release_desk() -> Desk:
    """Return the session's desk."""
    if _DESK not in st.session_state:
        st.session_state[_DESK] = Desk()
    return st.session_state[_DESK]  # type: ignore[no-any-return]


def ticket() -> str:
    """Return the ticket for one release of the data and scenario as they are now."""
    return release_desk().ticket(session.version(), repr(session.scenario()))


def release_once(given: str, accept: tuple[str, ...], symmetrise: bool, spot: DeltaGenerator) -> None:
    """Release once, if the ticket is still good (a button's callback); keep a refusal for the page."""
    desk = release_desk()
    with desk.turn:  # a second click starts a thread of its own while the first is still drawing
        if given != ticket() or not st.session_state.get(f"release_sure_{given}"):
            return
        with desk.refusing():
            refuse_release()
            setup = session.setup()
            desk.releases.append(release_setup(
                setup, accept=accept, ledger=desk.ledger, symmetrise=symmetrise, progress=bar_of_noise([setup], spot),
                population=desk.population(setup.scenario.data)))


def bar_of_noise(setups: Sequence[Setup], spot: DeltaGenerator) -> Callable[[float], None] | None:
    """Return a bar that moves while the noise is drawn, None where that is quick."""
    text = "Drawing the noise …"
    if sum(setup.design.rows * setup.design.cols for setup in setups) <= 20_000:  # about half a second
        return None
    return moving_bar(spot.progress(0.0, text), text)


@cached(8, session.here)
def hardened_factor(setup: Setup) -> float | None:
    """Return how much hardening enlarges the noise (None: not known yet); raise `InputError` where it is unsafe."""
    if setup.scenario.directions == "private" or setup.design.bound_mu > 0:
        return None
    design = setup.design
    if design.blocks:
        return Lattice.of(setup.table, setup.query, design.blocks).noise_std
    return hardening_for(setup.query, design.row_side, design.col_side, design.mu, setup.largest_values).noise_std
