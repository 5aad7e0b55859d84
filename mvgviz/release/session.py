"""A budget for the work on one dataset: designs get a share of it, releases spend it, nothing goes beyond it.

>>> from mvgviz import Ledger, Session, mean, sample
>>> data = sample("two_features")
>>> with Session(data, budget=(1.0, 1e-6), population="a class of 2030", ledger=Ledger()) as session:
...     asked = mean(data)
...     answer = session.release(asked, session.design(asked, share=0.25))
...     f"{session.spent.epsilon:.2f} spent, {session.left:.2f} left"
'0.48 spent, 0.86 left'

Shares are of ``mu²``, which adds up exactly: a quarter of the budget is half of its ``mu``. What others, or an earlier
session, have spent on the same population counts against the caps of the ledger, not against this budget.
"""

import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.errors import InputError
from mvgviz.noise.accounting import compose_mu, gaussian_epsilon, gaussian_mu
from mvgviz.provenance import Ranges
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import AS_DECLARED, CONSTANT, Query
from mvgviz.release.entries import Entry, Sum, Total
from mvgviz.release.ledger import Ledger, ledger_from_environment
from mvgviz.release.release import Release, release
from mvgviz.release.release import spent as mu_of
from mvgviz.validation import epsilon_delta, instance, number

_ROUNDING = 1e-10  # of the budget; releases are made with a larger margin than this


class Session:
    """``budget``: (epsilon, delta) for all of its releases together. ``population``: whom the records are about.

    ``ledger`` remembers what was spent: one in a file lasts (``Ledger("ledger.sqlite")``); by default that of the
    environment variable ``MVGVIZ_LEDGER``, else one in memory. After ``with`` nothing more can be released. A query of
    other features or another number of records is refused; beyond that, ask a session's queries of its own data.
    """

    def __init__(self, data: Dataset, *, budget: tuple[float, float], population: str,
                 ledger: Ledger | None = None) -> None:
        self.data = instance("data", data, Dataset)
        self.budget = epsilon_delta("budget", budget)
        if not (isinstance(population, str) and population.strip()):
            raise InputError('population must be a name for the people the records are about, as "patients of 2024"')
        self.population = population
        self.ledger = ledger_from_environment() if ledger is None else instance("ledger", ledger, Ledger)
        self._releases: list[Release] = []
        self._entries: list[Entry] = []
        self._unknown: list[float] = []
        self._open, self._turn = True, threading.Lock()
        self._mu_whole = float(gaussian_mu(*self.budget))

    def __repr__(self) -> str:
        return f"Session(budget={self.budget}, population={self.population!r}, {len(self._releases)} releases)"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._open = False

    @property
    def releases(self) -> tuple[Release, ...]:
        return tuple(self._releases)

    @property
    def spent(self) -> Total:
        """By this session's releases, and by those that failed while their noise was drawn."""
        told = Sum(self._entries).total(self.budget[1])
        mu = compose_mu([told.mu, *self._unknown])
        return replace(told, mu=mu, epsilon=float(gaussian_epsilon(told.delta, mu)))

    @property
    def left(self) -> float:
        """The epsilon, at the budget's delta, that one more release could spend."""
        return float(gaussian_epsilon(self.budget[1], self._mu_left))

    @property
    def _mu_left(self) -> float:
        return math.sqrt(max(self._mu_whole**2 - self.spent.mu**2, 0.0))

    def design(self, query: Query, *, share: float | None = None, **choices: Any) -> NoiseDesign:
        """Noise for ``query`` that spends this share of the whole budget's mu²; all that is left by default.

        ``choices``: directions, theta and whatever else :func:`mvgviz.design_noise` takes but epsilon and delta.
        """
        if not choices.keys().isdisjoint(("epsilon", "delta")):
            raise InputError("epsilon and delta of a session's design follow from its budget; say how much of it to "
                             "spend with share=")
        self._check_about(query)
        mu = self._mu_left
        if share is not None:
            part = number("share", share)
            if not 0 < part <= 1:
                raise InputError(f"share must be above 0 and at most 1, got {part:g}")
            mu = math.sqrt(part) * self._mu_whole
        self._check(mu)
        delta = self.budget[1]
        return design_noise(query, epsilon=float(gaussian_epsilon(delta, mu)), delta=delta, **choices)

    def release(self, query: Query, design: NoiseDesign, *, name: str = "", ranges: Ranges | None = None,
                accept: Iterable[str] = (), symmetrise: bool = False,
                progress: Callable[[float], object] | None = None) -> Release:
        """One noisy answer, entered in the ledger before its noise is drawn; refused beyond the budget.

        ``name``: what the ledger calls the data, by default the population. The rest as for
        :func:`mvgviz.release.release.release`.
        """
        with self._turn:
            self._check_about(query)
            mu = mu_of(query, instance("design", design, NoiseDesign))
            self._check(mu)
            known = {entry.number for entry in self.ledger.entries_about(self.population)}
            self._unknown.append(mu)  # spent until the ledger says that it is not
            try:
                made = release(query, design, ranges=ranges, data=name or self.population, accept=accept,
                               symmetrise=symmetrise, ledger=self.ledger, population=self.population,
                               progress=progress)
                self._releases.append(made)
            finally:  # what the ledger counts as spent is spent here, too
                self._entries += [entry for entry in self.ledger.entries_about(self.population)
                                  if entry.number not in known]
                self._unknown.pop()
        return made

    def _check_about(self, query: Query) -> None:
        """Refuse a query of other features, another number of records or other neighbours."""
        features, records = instance("query", query, Query).row_names or (), query.n_records
        if not (set(features) <= {*self.data.features, CONSTANT} and records in (None, self.data.n_records)):
            raise InputError("the query was asked of other data than the session's: its features or its number of "
                             "records differ; ask it of the session's data, or begin a session for that data")
        rules = {entry.neighbour_rule for entry in self._entries} | {query.neighbour_rule}
        if len(rules - {AS_DECLARED}) > 1:
            raise InputError("a session has one kind of neighbours: its releases and this query are about "
                             f"{' and '.join(sorted(rules, reverse=True))}; begin another session")

    def _check(self, mu: float) -> None:
        if not self._open:
            raise InputError("the session is over: begin a new one, with a budget of its own")
        if not mu > 0:
            raise InputError("nothing is left of the session's budget")
        if not compose_mu([self.spent.mu, mu]) <= self._mu_whole * (1 + _ROUNDING):
            raise InputError(f"this would spend epsilon {gaussian_epsilon(self.budget[1], mu):.4g} and {self.left:.4g} "
                             f"is left of the session's {self.budget[0]:g}; ask for a smaller share")
