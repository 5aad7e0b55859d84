"""A budget for the work on one dataset: designs get a share, releases spend it, nothing exceeds it.

>>> from mvgviz import Ledger, Session, mean, sample
>>> data = sample("two_features")
>>> with Session(data, budget=(1.0, 1e-6), population="a class of 2030", ledger=Ledger()) as session:
...     asked = mean(data)
...     answer = session.release(asked, session.design(asked, share=0.25))
...     f"{session.spent.epsilon:.2f} spent, {session.left:.2f} left"
'0.48 spent, 0.86 left'

Shares are of ``mu²``, which adds up exactly: a quarter of the budget is half of its ``mu``. Shares for box and Laplace
noise are of epsilon. Earlier releases about the same population count against the ledger's caps, not this budget.
"""

import math
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.errors import refuse
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.noise.families import CHOICES
from mvgviz.provenance import Ranges
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import AS_DECLARED, NEIGHBOURS, Query, of_record, rule_of
from mvgviz.release.answer import Release
from mvgviz.release.box_noise import pure_epsilon
from mvgviz.release.entries import Entry, Spend, Sum, Total
from mvgviz.release.ledger import Ledger, ledger_from_environment
from mvgviz.release.release import release
from mvgviz.release.release import spent as mu_of
from mvgviz.validation import epsilon_delta, instance, number, one_of, within


class Session(AbstractContextManager["Session"]):
    """Designs and releases within one budget.

    ``budget``: (epsilon, delta) for all releases together. ``population``: the people in the data. ``pure``: the part
    of epsilon that box and Laplace noise may spend beside Gaussian noise; alone they may spend all of it. ``ledger``:
    by default the file in ``MVGVIZ_LEDGER``, else in memory; ``Ledger("ledger.sqlite")`` lasts. After ``with`` nothing
    more can be released. Make the queries from the session's data: other features or numbers of records are refused.
    """

    def __init__(self, data: Dataset, *, budget: tuple[float, float], population: str,
                 ledger: Ledger | None = None, pure: float = 0.0) -> None:
        self.data = instance("data", data, Dataset)
        self.budget = epsilon_delta("budget", budget)
        refuse(not (isinstance(population, str) and population.strip()),
               'population must name the people in the data, such as "patients of 2024"')
        self.population = population
        self.ledger = ledger_from_environment() if ledger is None else instance("ledger", ledger, Ledger)
        self.pure = within("pure", pure, least=0.0, most=math.nextafter(self.budget[0], 0))
        self._releases: list[Release] = []
        self._costs: list[Entry | Spend] = []
        self._open, self._turn = True, threading.Lock()

    def __repr__(self) -> str:
        return f"Session(budget={self.budget}, population={self.population!r}, {len(self._releases)} releases)"

    def __exit__(self, *error: object) -> None:
        self._open = False

    @property
    def releases(self) -> tuple[Release, ...]:
        return tuple(self._releases)

    @property
    def spent(self) -> Total:
        """Return what this session's releases spent, failed ones included."""
        return Sum(self._costs).total(self.budget[1])

    @property
    def left(self) -> float:
        """Return the epsilon, at the budget's delta, left for one more release with Gaussian noise."""
        return float(gaussian_epsilon(self.budget[1], self._mu_left))

    @property
    def left_pure(self) -> float:
        """Return the epsilon left for one more release with box or Laplace noise."""
        spent = self.spent
        return max((self.pure if spent.mu > 0 else self.budget[0]) - spent.epsilon_pure, 0.0)

    @property
    def _mu_left(self) -> float:
        spent = Sum(self._costs)
        return math.sqrt(max(spent.room(self.budget, self.pure) ** 2 - spent.mu**2, 0.0))

    def design(self, query: Query, *, share: float | None = None, **choices: Any) -> NoiseDesign:
        """Design noise that spends a share of the budget's mu² (epsilon if not Gaussian), by default all left."""
        refuse(not choices.keys().isdisjoint(("epsilon", "delta")),
               "epsilon and delta follow from the session's budget; set share= instead")
        self._check_about(query)
        part = None if share is None else number("share", share)
        refuse(part is not None and not 0 < part <= 1, f"share must be above 0 and at most 1, got {part}")
        delta = self.budget[1]
        if CHOICES[one_of("family", choices.get("family", "gaussian"), CHOICES)].spends_mu:
            mu = self._mu_left if part is None else math.sqrt(part) * Sum().room(self.budget, self.pure)
            self._checked(query, mu)
            epsilon = float(gaussian_epsilon(delta, mu))
        else:
            epsilon = self.left_pure if part is None else part * self.budget[0]
            self._checked(query, 0.0, epsilon)
        return design_noise(query, epsilon=epsilon, delta=delta, **choices)

    def release(self, query: Query, design: NoiseDesign, *, name: str = "", ranges: Ranges | None = None,
                accept: Iterable[str] = (), symmetrise: bool = False,
                progress: Callable[[float], object] | None = None) -> Release:
        """Release one answer within the budget as :func:`mvgviz.release.release.release`; ``name``: the data's."""
        with self._turn:
            self._check_about(query)
            mu = mu_of(query, instance("design", design, NoiseDesign))
            cost = self._checked(query, mu, pure_epsilon(design.blocks))
            known = {entry.number for entry in self.ledger.entries_about(self.population)}
            self._costs.append(cost)  # unless the ledger withdraws it
            try:
                made = release(query, design, ranges=ranges, data=name or self.population, accept=accept,
                               symmetrise=symmetrise, ledger=self.ledger, population=self.population,
                               table=self.data, progress=progress)
                self._releases.append(made)
            finally:  # count what the ledger counts
                self._costs[-1:] = [entry for entry in self.ledger.entries_about(self.population)
                                    if entry.number not in known]
        return made

    def _check_about(self, query: Query) -> None:
        named = instance("query", query, Query).is_named_like(self.data)
        people = {AS_DECLARED, *(rule_of(neighbours, self.data.per_person) for neighbours in NEIGHBOURS)}
        refuse(not (named and query.n_records in (None, self.data.n_records)
                    and (query.is_graph or query.neighbour_rule in people)),
               "features, number of records or people differ from the session's data; make the query from that data, "
               "or begin another session")
        rules = {of_record(cost.neighbour_rule) for cost in self._costs} | {query.neighbour_rule}
        refuse(len(rules - {AS_DECLARED}) > 1, "a session needs one kind of neighbours: its releases and this query "
               f"are about {' and '.join(sorted(rules, reverse=True))}; begin another session")

    def _checked(self, query: Query, mu: float, pure: float = 0.0) -> Spend:
        """Return what a release will spend; raise `InputError` beyond the budget."""
        refuse(not self._open, "the session is over; begin a new one")
        refuse(not mu + pure > 0, "nothing is left of the session's budget; begin a session with a larger one")
        cost = Spend(data="", query="", design="", neighbour_rule=query.neighbour_rule, mu=mu, delta=self.budget[1],
                     epsilon_pure=pure)
        left, noise = (self.left, "") if mu else (self.left_pure, " for box and Laplace noise")
        refuse(not Sum([*self._costs, cost]).fits(self.budget, self.pure), "this would spend epsilon "
               f"{cost.epsilon:.4g} and {left:.4g} is left of the session's {self.budget[0]:g}{noise}; ask for a "
               "smaller share")
        return cost
