"""Several releases of the same records as one: all of them, or none.

>>> from mvgviz import Ledger, QuestionPlan, Scenario, sample
>>> from mvgviz.release.release_plan import plan_together, release_together
>>> from mvgviz.scenario.plan_noise import build_plan
>>> liver = Scenario.default_for("liver")
>>> asked = build_plan(QuestionPlan.of(liver, liver.changed(query="mean")), sample("liver"))
>>> ledger = Ledger(cap=(1.0, 1e-6))
>>> [made.noisy.shape for made in release_together(asked, ledger=ledger)]
[(6, 6), (6, 1)]
>>> f"{ledger.total('liver', delta=1e-6).epsilon:.9f}"
'1.000000000'

What all of them spend is held against the ledger's cap and entered in one step, before any noise is drawn. Where
anything fails on the way, nothing is handed out; the entries then count as spent.
"""

from collections.abc import Callable, Iterable, Sequence

from mvgviz.errors import InputError
from mvgviz.noise.accounting import compose_mu, gaussian_epsilon
from mvgviz.release.ledger import CAVEATS, Ledger
from mvgviz.release.release import Plan, Release, draw, plan, prepare, reserve
from mvgviz.scenario.resolve import Setup


def plan_together(setups: Sequence[Setup]) -> Plan:
    """What all of them will spend together and what has to be accepted; draws nothing."""
    if not setups:
        raise InputError("a release needs at least one question")
    for name, values in (("data", {setup.scenario.data for setup in setups}),
                         ("delta", {setup.delta for setup in setups}),
                         ("kind of neighbours", {setup.query.neighbour_rule for setup in setups})):
        if len(values) > 1:
            raise InputError(f"questions that are released together must have one {name}, got several")
    plans, delta = [plan(setup) for setup in setups], setups[0].delta
    mu = compose_mu([planned.mu for planned in plans])
    caveats = {caveat for planned in plans for caveat in planned.caveats}
    return Plan(mu=mu, neighbour_rule=plans[0].neighbour_rule, epsilon=float(gaussian_epsilon(delta, mu)), delta=delta,
                caveats=tuple(caveat for caveat in CAVEATS if caveat in caveats),
                entries=sum(planned.entries for planned in plans))


def release_together(setups: Sequence[Setup], *, accept: Iterable[str] = (), ledger: Ledger | None = None,
                     population: str | None = None, progress: Callable[[float], object] | None = None
                     ) -> tuple[Release, ...]:
    """A release of every setup, or of none; the other arguments as for ``release_setup``.

    Symmetric answers are made symmetric where their scenario's ``post`` says so.
    """
    planned, accept = plan_together(setups), tuple(accept)
    releases = [prepare(setup, accept=accept, symmetrise=setup.query.symmetric and "symmetrise" in setup.scenario.post)
                for setup in setups]
    done = 0

    def show(share: float) -> None:
        if progress is not None:
            progress((done + share * ready.hardening.entries) / planned.entries)

    made = []
    with reserve(ledger, releases, population=population) as held:
        for setup, ready, entry in zip(setups, releases, held.entries, strict=True):
            made.append(draw(setup, ready, time=entry.time, progress=held.watch(show)))
            done += ready.hardening.entries
    return tuple(made)
