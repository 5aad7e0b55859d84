"""One noisy answer to publish: everything is checked, then reserved in the ledger, and only then is noise drawn.

>>> import numpy as np
>>> from mvgviz import Dataset, design_noise, mean
>>> from mvgviz.release.release import release
>>> data = Dataset(matrix=np.zeros((2, 100)), features=("a", "b"), lower=-1, upper=1)
>>> query = mean(data)
>>> given = release(query, design_noise(query, epsilon=1, delta=1e-5))
>>> f"{given.epsilon:.4f} at {given.delta:g}", given.noisy.shape
('1.0000 at 1e-05', (2, 1))

The noise comes from the operating system's entropy, never from a seed (``mvgviz.release.secure_noise``). Only the noisy
matrix is computed from the records (``docs/what-a-release-reveals.md``). Each call spends its ``mu`` again.
"""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError, refuse
from mvgviz.labels import MODES
from mvgviz.noise.accounting import compose_mu
from mvgviz.noise.mixtures import plan_epsilon, running_epsilon
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin, Range, Ranges, Receipt, receipts_of, weakest
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.dataset import Dataset, checked_range
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct, move_widths
from mvgviz.query.queries import AS_DECLARED, Query
from mvgviz.release.answer import Announced, Release
from mvgviz.release.box_noise import Lattice, noisy_values, pure_epsilon
from mvgviz.release.entries import CAVEATS, Spend, in_words
from mvgviz.release.intervals import EntryNoise
from mvgviz.release.kept import keep
from mvgviz.release.ledger import Ledger
from mvgviz.release.secure_noise import (
    FRESH_DIRECTIONS,
    Hardening,
    hardening_for,
    noisy_answer,
    noisy_count,
    private_directions,
)
from mvgviz.scenario.resolve import Setup, build, left_for_noise, mu_for_directions, origins_of
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray, fraction, frozen, instance, one_of
from mvgviz.version import VERSION

_ROUNDING = 1e-10  # of two ways to the same mu; the noise has a larger margin


class NoLedgerWarning(UserWarning):
    """No ledger counts this release, although several releases add up."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a release will spend, before any noise, at most; ``caveats``: what you must accept by name first."""

    mu: float
    neighbour_rule: str
    epsilon: float
    delta: float
    caveats: tuple[str, ...]
    entries: int
    epsilon_pure: float = 0.0


def plan(setup: Setup) -> Plan:
    """Return what ``release_setup`` will spend and what you must accept; draw nothing."""
    design, mu, pure = setup.design, spent(setup.query, setup.design), pure_epsilon(setup.design.blocks)
    if setup.scenario.directions == "private" and design.guarantee != "exact":
        # The cost depends on directions yet to be drawn: 1/v is at most the root of the budget. The claim and the
        # ledger use this bound, which is known before.
        power = 0.5 if design.mode == "both" else 0.25
        most = setup.query.printed_sensitivity * design.precision_budget**power
        mu = compose_mu([most, *(receipt.mu for receipt in design.receipts)])
    return Plan(mu=mu, neighbour_rule=setup.neighbour_rule, epsilon=running_epsilon(setup.delta, pure, mu),
                epsilon_pure=pure, delta=setup.delta, caveats=_caveats(setup.origins),
                entries=design.rows * design.cols)


def plan_together(setups: Sequence[Setup]) -> Plan:
    """Return what all of them will spend together and what you must accept; draw nothing.

    Epsilon is that of a plan, fixed in advance: a ledger counts more if families are mixed.
    """
    refuse(not setups, "a release needs at least one question")
    for name, values in (("data", {setup.scenario.data for setup in setups}),
                         ("delta", {setup.delta for setup in setups}),
                         ("kind of neighbours", {setup.query.neighbour_rule for setup in setups})):
        refuse(len(values) > 1, f"questions released together must have the same {name}")
    plans, delta = [plan(setup) for setup in setups], setups[0].delta
    mu = compose_mu([planned.mu for planned in plans])
    pure = [planned.epsilon_pure for planned in plans if planned.epsilon_pure]
    together = plan_epsilon(delta, pure, mu) if mu and len(plans) > 1 else running_epsilon(delta, math.fsum(pure), mu)
    return replace(plans[0], mu=mu, epsilon=together, epsilon_pure=math.fsum(pure),
                   caveats=tuple(name for name in CAVEATS if any(name in planned.caveats for planned in plans)),
                   entries=sum(planned.entries for planned in plans))


def release(query: Query, design: NoiseDesign, *, ranges: Ranges | None = None, delta: float | None = None,
            data: str | None = None, scenario: Scenario | None = None, accept: Iterable[str] = (),
            symmetrise: bool = False, ledger: Ledger | None = None, population: str | None = None, title: str = "",
            table: Dataset | None = None, progress: Callable[[float], object] | None = None) -> Release:
    """Release one answer of ``query`` with the noise of ``design``; spend its ``mu``, or its pure epsilon.

    ``table``: the data of the query, which box and Laplace noise round first. ``ranges``: by feature, of the numbers
    the query was asked of. ``delta``: where epsilon is shown, by default the design's. What was read from the data (or
    any choice of ``scenario``, which is kept) is refused unless ``accept`` names it (keys of ``CAVEATS``).
    ``symmetrise``: average the answer of a symmetric query with its transpose. ``ledger`` refuses above its cap, has an
    entry about ``data`` before any noise is drawn, and keeps the answer; it counts for ``population``, the people the
    records are about, which a lasting ledger needs. ``title``: the data's name in public. ``progress`` is called with
    the share done; if it raises, the entry is withdrawn. An entry whose release fails in any other way counts as spent.
    """
    instance("query", query, Query)
    instance("design", design, NoiseDesign)
    refuse(not (progress is None or callable(progress)), "progress must be a function of the share done")
    refuse(ledger is not None and not (isinstance(data, str) and data),
           "a ledger needs a name for the data; give it with data=")
    refuse(not (ranges is None or isinstance(ranges, Mapping)), "ranges must map features to pairs (low, high)")
    checked = None if ranges is None else {name: checked_range(ends, repr(name)) for name, ends in ranges.items()}
    ready = _checked(query, design, mu=spent(query, design), mu_is=design.mu_is, ranges=checked, accept=accept,
                     delta=design.delta if delta is None else fraction("delta", delta), symmetrise=symmetrise,
                     scenario=scenario, table=table, data=data, declared_ranges=None, title=title,
                     gaps="" if table is None else table.gaps)
    return _reserved_and_drawn([ready], ledger, population, progress)[0]


def release_setup(setup: Setup, *, accept: Iterable[str] = (), ledger: Ledger | None = None,
                  population: str | None = None, symmetrise: bool = False,
                  progress: Callable[[float], object] | None = None) -> Release:
    """Release a scenario that ``build`` worked out; other arguments as for :func:`release`.

    Private directions are drawn again, because those of ``setup`` come from its seed; the design follows them.
    """
    return _reserved_and_drawn([_ready(setup, accept=accept, symmetrise=symmetrise)], ledger, population, progress)[0]


def release_together(setups: Sequence[Setup], *, accept: Iterable[str] = (), ledger: Ledger | None = None,
                     population: str | None = None,
                     progress: Callable[[float], object] | None = None) -> tuple[Release, ...]:
    """Release every setup or none; other arguments as for ``release_setup``, but a scenario's ``post`` says whether to
    symmetrise. The ledger enters all in one step, before any noise; if anything fails they count as spent.
    """
    planned, accept = plan_together(setups), tuple(accept)
    readies = [_ready(setup, accept=accept, together=_together_words(planned, len(setups)),
                      symmetrise=setup.query.symmetric and "symmetrise" in setup.scenario.post) for setup in setups]
    return _reserved_and_drawn(readies, ledger, population, progress)


def _together_words(planned: Plan, answers: int) -> str:
    """Return what answers released together cost as a plan and, if that is more, in a running ledger."""
    if answers == 1:
        return ""
    if not planned.mu:
        return f"{answers} answers released together: epsilon {planned.epsilon:.6g} with delta = 0"
    words = f"{answers} answers released together: epsilon {planned.epsilon:.6g} at delta {planned.delta:.6g}"
    return words if not planned.epsilon_pure else (
        f"{words}, fixed in advance; a ledger, whose owner may choose the noise after seeing answers, counts epsilon "
        f"{running_epsilon(planned.delta, planned.epsilon_pure, planned.mu):.6g}: pure epsilon "
        f"{planned.epsilon_pure:.6g} and mu {planned.mu:.6g}")


# Checked: nothing is drawn


@dataclass(frozen=True, kw_only=True)
class _Ready:
    """A checked release and how to draw its noise; ``setup``: with what must be learned privately first."""

    announced: Announced
    draw: Callable[[Callable[[float], object]], FloatArray]
    setup: Setup | None


def _ready(setup: Setup, *, accept: Iterable[str], symmetrise: bool, together: str = "",
           drawn: tuple[float, str] | None = None) -> _Ready:
    """Check the release of a setup; ``drawn``: mu and what it is, once all that is learned privately was drawn."""
    scenario, data, table = setup.scenario, setup.dataset, None if setup.query.is_graph else setup.table
    private = (("directions", scenario.directions), ("radius", scenario.bound))
    redrawn = () if drawn else tuple(what for what, chosen in private if chosen == "private")
    if "directions" in redrawn:
        _beside_directions(setup)
    mu, mu_is = drawn or (plan(setup).mu, setup.design.mu_is)
    units = {data.features[k]: data.units[k] for k in setup.query.uses(data, **scenario.parameters)}
    used = {name: known for name, known in data.ranges.items() if name in units}
    return _checked(setup.query, setup.design, mu=mu, mu_is=mu_is, delta=setup.delta,
                    ranges=None if table is None else table.ranges, scenario=scenario, accept=accept,
                    symmetrise=symmetrise, setup=setup, redrawn=redrawn, table=table, data=scenario.data,
                    declared_ranges=None if table is None or scenario.scale == "declared" else used, title=data.title,
                    gaps=data.gaps, units=units, per_person=data.per_person if data.by_person else None,
                    together=together)


def _checked(query: Query, design: NoiseDesign, *, mu: float, mu_is: str, delta: float,
             ranges: Mapping[str, Range] | None, scenario: Scenario | None, accept: Iterable[str], symmetrise: bool,
             table: Dataset | None, setup: Setup | None = None, redrawn: Collection[str] = (), **said: Any) -> _Ready:
    """Raise `InputError` for everything that can be wrong; ``mu``: what the release will claim to spend.

    ``redrawn``: what will be learned again, with receipts of its own. ``said``: what is announced as it is.
    """
    _refuse_other_design(query, design)
    refuse(ranges is not None and weakest(known.origin for known in ranges.values()) is not query.ranges_origin,
           "the ranges and the query come from different data; make the query from this data")
    origins = origins_of(query, design, scenario)
    caveats = _caveats(origins)
    _refuse_unaccepted(caveats, accept)
    refuse(symmetrise and not query.symmetric, f"symmetrise is for symmetric queries, got {query.name}")
    hardening, draw = _hardened(query, design, _largest_values(query, ranges), table)
    for receipt in _receipts(query, design):
        if receipt.what not in redrawn:
            _refuse_receipt(receipt, query)
    noise = EntryNoise.of(design.row_side, design.col_side, symmetrised=symmetrise, hardening=hardening,
                          blocks=design.blocks)
    pure = pure_epsilon(design.blocks)
    public = design.directions_origin.is_covered and design.theta_origin.is_covered
    announced = Announced(
        query=query.name, row_names=query.row_names, col_names=query.col_names,
        neighbour_rule=query.neighbour_rule if setup is None else setup.neighbour_rule,
        sensitivity=query.sensitivity, n_records=query.n_records, mode=design.mode, calibrated_by=design.guarantee,
        design=design_words(design), origins=origins, mu=mu, mu_is="exact" if pure and not mu else mu_is,
        epsilon=running_epsilon(delta, pure, mu), epsilon_pure=pure, family=design.family.name, delta=delta,
        epsilon_asked=design.epsilon if scenario is None else scenario.epsilon, ranges=ranges, bound=query.bound,
        caveats=caveats, symmetrised=symmetrise, row_noise=_kept(design.row_side) if public else None,
        col_noise=_kept(design.col_side) if public else None, entry_noise=noise if public else None,
        hardening=hardening, version=VERSION, opendp_version="" if design.blocks else version("opendp"),
        scenario=scenario, **said)
    return _Ready(announced=announced, draw=draw, setup=setup)


def _hardened(query: Query, design: NoiseDesign, largest: FloatArray | None, table: Dataset | None
              ) -> tuple[Hardening | Lattice, Callable[[Callable[[float], object]], FloatArray]]:
    """Return how the answer is made noisy, and what draws it."""
    if not design.blocks:
        sides = design.row_side, design.col_side
        plan = hardening_for(query, *sides, design.mu, largest)
        return plan, lambda progress: noisy_answer(query.value, *sides, plan, progress=progress)
    if table is None:
        raise InputError("box and Laplace noise round the records first; give the query's data with table=")
    return (Lattice.of(table, query, design.blocks),
            lambda progress: noisy_values(table, query, design.blocks, progress=progress))


def _refuse_other_design(query: Query, design: NoiseDesign) -> None:
    refuse((design.rows, design.cols) != (query.rows, query.cols), f"the design must be {query.rows} × {query.cols} "
           f"like the answer, got {design.rows} × {design.cols}")
    for what in ("name", "neighbour_rule", "n_records"):
        here, there = getattr(query, what), getattr(design.kind if what == "name" else design, what)
        refuse(here != there, f"the design was made for another query: its {what.replace('_', ' ')} is {there}, "
               f"this one's is {here}")


def _refuse_unaccepted(caveats: tuple[str, ...], accept: Iterable[str]) -> None:
    refuse(not isinstance(accept, Iterable), f"accept must hold names among {', '.join(CAVEATS)}")
    accept = (accept,) if isinstance(accept, str) else tuple(accept)
    for name in accept:
        one_of("accept", name, CAVEATS)
    missing = [caveat for caveat in caveats if caveat not in accept]
    refuse(missing, f"the guarantee would not cover {' and '.join(in_words(missing))}; to release anyway, accept: "
           f"{', '.join(missing)}")


def _refuse_receipt(receipt: Receipt, query: Query) -> None:
    """Raise `InputError` for what was learned with noise from a seed, or from other data."""
    refuse(not receipt.is_fresh, f"private {receipt.what}: drawn from a seed, only for trials; draw again for a "
           "release (with private_directions, or noisy_count as rng), or declare what you know")
    refuse(query.neighbour_rule not in (receipt.neighbour_rule, AS_DECLARED), f"private {receipt.what}: learned for "
           f"other neighbours ({receipt.neighbour_rule}) than the query's ({query.neighbour_rule}); learn from the "
           "query's own data")
    refuse(query.n_records not in (receipt.n_records, None), f"private {receipt.what}: learned from another number of "
           "records than the query's; learn from the query's own data")


def _largest_values(query: Query, ranges: Mapping[str, Range] | None) -> FloatArray | None:
    """Return ``max(|low|, |high|)`` of each feature; raise `InputError` if the ranges are not the query's."""
    if ranges is None:
        return None
    lower, upper = np.array([ends[:2] for ends in ranges.values()], dtype=np.float64).reshape(-1, 2).T
    asked = query.neighbours
    same = query.row_names in (None, tuple(ranges))
    if isinstance(asked, BoundedColumn | ReplacedOuterProduct):
        ends = asked.declared if isinstance(asked, BoundedColumn | BoundedOuterProduct) else (asked.lower, asked.upper)
        own = slice(query.features)  # the constant is 1, and less in a scaled record
        same = same and np.array_equal(ends[0][own], lower[own]) and np.array_equal(ends[1][own], upper[own])
    elif isinstance(asked, ReplacedColumn):
        same = same and np.array_equal(asked.widths, move_widths(upper - lower, asked.levels, added=asked.added))
    refuse(not same, "ranges must be those of the query's features, in their order")
    return np.maximum(np.abs(lower), np.abs(upper))


def spent(query: Query, design: NoiseDesign) -> float:
    """Return ``mu`` of Gaussian noise and of everything learned privately; what was simply read is a caveat instead."""
    return compose_mu([0.0 if design.blocks else design.mu, *(receipt.mu for receipt in _receipts(query, design))])


def _receipts(query: Query, design: NoiseDesign) -> tuple[Receipt, ...]:
    return receipts_of(design, design.directional_side.directions, query.bound)


def _caveats(origins: Mapping[str, Origin]) -> tuple[str, ...]:
    return tuple(caveat for caveat in CAVEATS if caveat in origins and not origins[caveat].is_covered)


def design_words(design: NoiseDesign) -> str:
    """Describe the design for a ledger, without anything private."""
    paid = design.directions_origin is Origin.PAID
    along = FRESH_DIRECTIONS if paid else design.directional_side.directions.label
    noise = f"{design.family.word} noise" if design.blocks else "noise"
    return f"{design.guarantee}, {noise} over {MODES[design.mode].sides}, {along}"


# Reserved, then drawn


def _reserved_and_drawn(readies: Sequence[_Ready], ledger: Ledger | None, population: str | None,
                        progress: Callable[[float], object] | None) -> tuple[Release, ...]:
    """Reserve all of them in the ledger, draw them, and mark them as released; warn without a ledger."""
    if ledger is None:
        warnings.warn("no ledger counts this release; give one with ledger=", NoLedgerWarning, stacklevel=3)
        ledger, population = Ledger(), "not counted"
    spends = [Spend(data=one.data or "data without a name", query=one.query, mu=one.mu, delta=one.delta,
                    neighbour_rule=one.neighbour_rule, design=one.design, caveats=one.caveats, title=one.title,
                    family=one.family, epsilon_pure=one.epsilon_pure,
                    parameters=one.hardening.epsilons if isinstance(one.hardening, Lattice) else ())
              for one in (ready.announced for ready in readies)]
    done, entries = 0, sum(ready.announced.hardening.entries for ready in readies)

    def show(share: float) -> None:
        assert progress is not None
        progress((done + share * ready.announced.hardening.entries) / entries)

    made = []
    with ledger.reserved(*spends, population=population) as held:
        for ready, entry in zip(readies, held.entries, strict=True):
            drawn, answer = keep(_drawn(ready, time=entry.time, progress=held.watch(progress and show)), entry.number)
            made.append(drawn)
            if answer is not None:
                held.answers[entry.number] = answer
            done += ready.announced.hardening.entries
    return tuple(made)


def _drawn(ready: _Ready, *, time: str, progress: Callable[[float], object]) -> Release:
    """Learn what is private now, then draw the noise once."""
    announced = ready.announced
    if ready.setup is not None and (fresh := _redrawn(ready.setup)) is not None:
        mu = spent(fresh.query, fresh.design)
        refuse(not mu <= announced.mu * (1 + _ROUNDING),
               "what was learned privately costs more than announced; nothing was released")
        # The announced cost is claimed: it is at least as much, but for rounding, which the noise's margin covers.
        mu_is = "upper bound" if announced.mu > mu * (1 + _ROUNDING) else fresh.design.mu_is
        ready = _ready(replace(ready.setup, query=fresh.query, design=fresh.design), drawn=(announced.mu, mu_is),
                       accept=announced.caveats, symmetrise=announced.symmetrised, together=announced.together)
    announced, noisy = ready.announced, ready.draw(progress)
    if announced.symmetrised:
        noisy = (noisy + noisy.T) / 2
    return Release(**vars(announced), noisy=frozen(np.ascontiguousarray(noisy)), time=time)


def _redrawn(setup: Setup) -> Setup | None:
    """Return the setup with private directions or a private bound drawn now; None if neither is private."""
    scenario = setup.scenario
    if scenario.directions == "private":
        other = _beside_directions(setup)
        drawn = private_directions(setup.table, mu=mu_for_directions(scenario, setup.delta))
        return build(other, setup.dataset, query=setup.query, uploaded=drawn)
    if scenario.bound == "private" and setup.query.bound is not None:
        uploaded = setup.design.directional_side.directions if scenario.directions == "upload" else None
        return build(scenario, setup.dataset, query=setup.box, uploaded=uploaded, noisy_count=noisy_count)
    return None


def _beside_directions(setup: Setup) -> Scenario:
    """Return the scenario with the budget that private directions leave for the noise."""
    scenario = setup.scenario
    epsilon, delta = left_for_noise(scenario, setup.delta)
    try:
        return scenario.changed(directions="upload", epsilon=epsilon, delta=delta, from_data=scenario.from_data)
    except InputError:
        raise InputError("private directions leave too little budget for the noise; ask for a larger epsilon or give "
                         "the directions a smaller share") from None


def _kept(side: NoiseSide) -> NoiseSide | None:
    numbers = side.size if side.is_diagonal else side.size**2
    return None if side.is_identity or numbers > 40_000 else side
