"""One noisy answer to publish: everything is checked, then reserved in the ledger, and only then is noise drawn.

>>> import numpy as np
>>> from mvgviz import Dataset, design_noise, mean
>>> from mvgviz.release.release import release
>>> data = Dataset(matrix=np.zeros((2, 100)), features=("a", "b"), lower=-1, upper=1)
>>> query = mean(data)
>>> given = release(query, design_noise(query, epsilon=1, delta=1e-5))
>>> f"{given.epsilon:.4f} at {given.delta:g}", given.noisy.shape
('1.0000 at 1e-05', (2, 1))

The noise comes from the operating system's entropy, never from a seed (``mvgviz.release.secure_noise``). Nothing but
the noisy matrix is computed from the records: ``docs/what-a-release-reveals.md`` lists the rest. Never cache or repeat
a release: each call spends its ``mu`` again.
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError
from mvgviz.labels import MODES
from mvgviz.noise.accounting import compose_mu, gaussian_epsilon
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin, Range, Ranges, Receipt, receipts_of, weakest
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct, move_widths
from mvgviz.query.queries import AS_DECLARED, Query, kind_of
from mvgviz.query.ranges import checked_range
from mvgviz.query.record_bound import RecordBound
from mvgviz.release.entries import CAVEATS, Spend, in_words
from mvgviz.release.intervals import LEVEL, DataUnits, EntryNoise, data_units
from mvgviz.release.ledger import Ledger
from mvgviz.release.secure_noise import (
    FRESH_DIRECTIONS,
    Hardening,
    hardening_for,
    noisy_answer,
    noisy_count,
    private_directions,
)
from mvgviz.scenario.bound import most_clipped
from mvgviz.scenario.resolve import Setup, build, left_for_noise, mu_for_directions, origins_of
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray, fraction, frozen, instance, one_of
from mvgviz.version import VERSION

_MOST_NUMBERS = 40_000  # of a design, beside a release
_ROUNDING = 1e-10  # of two ways to the same mu; the noise has a larger margin


class NoLedgerWarning(UserWarning):
    """A release that nobody counts: several of them add up all the same."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Announced:
    """Everything public about a release, known before its noise is drawn."""

    query: str
    row_names: tuple[str, ...] | None = field(repr=False)
    neighbour_rule: str
    sensitivity: float
    n_records: int | None
    mode: str
    calibrated_by: str
    design: str
    origins: Mapping[str, Origin]
    mu: float
    mu_is: str
    epsilon: float
    delta: float
    epsilon_asked: float
    ranges: Mapping[str, Range] | None = field(repr=False)
    declared_ranges: Mapping[str, Range] | None = field(repr=False)
    bound: RecordBound | None = field(repr=False)
    caveats: tuple[str, ...]
    symmetrised: bool
    row_noise: NoiseSide | None = field(repr=False)
    col_noise: NoiseSide | None = field(repr=False)
    entry_noise: EntryNoise | None = field(repr=False)
    hardening: Hardening = field(repr=False)
    version: str
    opendp_version: str
    data: str | None
    scenario: Scenario | None = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Release(_Announced):
    """A noisy answer, rows × cols and read-only, and everything public about it.

    ``mu``: of noise and private directions together; ``epsilon``: what that spends at ``delta``. ``origins``: where
    ranges, number of records, directions, split and all other choices come from; ``caveats``: those that were read from
    the data, which the guarantee does not cover (keys of ``mvgviz.release.ledger.CAVEATS``). ``ranges``: of the numbers
    the query was asked of; ``declared_ranges``: in the units of the data, where those differ. ``row_noise`` and
    ``col_noise``: its covariance as designed (None: the identity, too large, or itself not private); as drawn its
    standard deviations are larger by the factor ``hardening.noise_std``. ``entry_noise``: what intervals rest on; None
    where the shape of the noise is itself not private.
    """

    noisy: FloatArray = field(repr=False)
    time: str

    @property
    def not_covered(self) -> tuple[str, ...]:
        """In words, what the guarantee leaves out."""
        return in_words(self.caveats)

    @property
    def chosen_on_data(self) -> tuple[str, ...]:
        """The fields of the scenario that were chosen by looking at the data and matter here."""
        return () if self.scenario is None else self.scenario.read_among(self.scenario.from_data)

    @property
    def kind(self) -> type[Query]:
        """The kind of query that was asked."""
        return kind_of(self.query)

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """What the rows and the columns are called."""
        return self.kind.names_of(self.noisy.shape, self.row_names)

    @property
    def data_units(self) -> DataUnits | None:
        """The way back to the units of the data, where the answer is in others and has one."""
        if self.scenario is None or self.declared_ranges is None:
            return None
        return data_units(self.kind, self.scenario.scale, self.declared_ranges)

    @property
    def most_clipped(self) -> FloatArray | None:
        """How far clipping to the bound can have moved each number: from ranges and bound, which are public.

        None: it moved none, or ranges or bound may not be told.
        """
        if self.bound is None or not self.bound.origin.is_covered or self.ranges is None:
            return None
        lower, upper = np.array([ends[:2] for ends in self.ranges.values()], dtype=np.float64).T
        return most_clipped(self.kind, self.bound, lower, upper)

    @property
    def known_noise(self) -> EntryNoise:
        """The noise that intervals rest on; InputError where it may not be told."""
        if self.entry_noise is None:
            raise InputError("there are no intervals for this release: the shape of its noise was read from the data, "
                             "and would tell about it; choose directions and split without the data")
        return self.entry_noise

    def half_widths(self, level: float = LEVEL) -> FloatArray:
        """Half the width of each number's interval: the answer that was asked lies within it, ``level`` of the time.

        With a bound that is the answer of the clipped records, from which that of the records as they are may differ by
        ``most_clipped``.
        """
        return self.known_noise.half_widths(level)

    def to_frame(self, level: float = LEVEL) -> Any:
        """A line for each released number, as a pandas frame: its names, its value and the ends of its interval.

        Without ends where the noise may not be told; in the data's own units too, where the answer has others.
        """
        from mvgviz.release.files import interval_frame

        return interval_frame(self, level)

    @property
    def guarantee(self) -> str:
        """The guarantee in one sentence."""
        words = f"epsilon {self.epsilon:.6g} at delta {self.delta:.6g} ({self.neighbour_rule})"
        left_out = ", ".join(self.not_covered)
        return f"the noise alone gives {words}; not covered: {left_out}" if left_out else words


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a release will spend (for theorem-made noise along private directions: at most), before any noise.

    ``caveats``: what has to be accepted by name first.
    """

    mu: float
    neighbour_rule: str
    epsilon: float
    delta: float
    caveats: tuple[str, ...]
    entries: int


def plan(setup: Setup) -> Plan:
    """What ``release_setup`` will spend and what has to be accepted; draws nothing."""
    design, mu = setup.design, spent(setup.query, setup.design)
    if setup.scenario.directions == "private" and design.guarantee != "exact":
        # What the noise spends depends on directions yet to be drawn: 1/v is at most the root of the budget. This
        # bound, known beforehand, is what is claimed and entered, not what the drawn directions come to.
        power = 0.5 if design.mode == "both" else 0.25
        most = setup.query.printed_sensitivity * design.precision_budget**power
        mu = compose_mu([most, *(receipt.mu for receipt in design.receipts)])
    return Plan(mu=mu, neighbour_rule=setup.query.neighbour_rule, epsilon=float(gaussian_epsilon(setup.delta, mu)),
                delta=setup.delta, caveats=_caveats(setup.origins), entries=design.rows * design.cols)


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
    return replace(plans[0], mu=mu, epsilon=float(gaussian_epsilon(delta, mu)),
                   caveats=tuple(name for name in CAVEATS if any(name in planned.caveats for planned in plans)),
                   entries=sum(planned.entries for planned in plans))


def release(query: Query, design: NoiseDesign, *, ranges: Ranges | None = None, delta: float | None = None,
            data: str | None = None, scenario: Scenario | None = None, accept: Iterable[str] = (),
            symmetrise: bool = False, ledger: Ledger | None = None, population: str | None = None,
            progress: Callable[[float], object] | None = None) -> Release:
    """One answer of ``query`` with the noise of ``design``; spends its ``mu``.

    ``ranges``: feature → range of the numbers the query was asked of. ``delta``: where epsilon is told, by default the
    design's. ``scenario`` is kept beside the answer. What was read from the data (ranges, number of records,
    directions, split; or any choice of ``scenario``) is refused unless ``accept`` names it (keys of
    ``mvgviz.release.ledger.CAVEATS``). ``symmetrise``: average the answer of a symmetric query with its transpose,
    which is post-processing. ``ledger`` refuses above its cap, and has an entry about ``data`` before any noise is
    drawn; it counts for ``population``, the people the records are about, which a ledger that lasts has to be told.
    Without a ledger there is a warning. ``progress`` is called with the share done; if it raises, nothing was released
    and the entry is withdrawn. An entry whose release fails in any other way counts as spent.
    """
    instance("query", query, Query)
    instance("design", design, NoiseDesign)
    if not (progress is None or callable(progress)):
        raise InputError("progress must be a function of the share done")
    if ledger is not None and not (isinstance(data, str) and data):
        raise InputError("a ledger needs the name of the data, a text")
    if not (ranges is None or isinstance(ranges, Mapping)):
        raise InputError("ranges must map features to pairs (low, high)")
    checked = None if ranges is None else {name: checked_range(ends, repr(name)) for name, ends in ranges.items()}
    ready = _checked(query, design, mu=spent(query, design), mu_is=design.mu_is, ranges=checked, accept=accept,
                     delta=design.delta if delta is None else fraction("delta", delta), data=data, scenario=scenario,
                     symmetrise=symmetrise)
    return _reserved_and_drawn([ready], ledger, population, progress)[0]


def release_setup(setup: Setup, *, accept: Iterable[str] = (), ledger: Ledger | None = None,
                  population: str | None = None, symmetrise: bool = False,
                  progress: Callable[[float], object] | None = None) -> Release:
    """A release of a scenario worked out by ``build``; the other arguments as for :func:`release`.

    Private directions are drawn anew: those of ``setup`` come from its seed. The answer then
    gets noise along the new ones, and the design is made for them.
    """
    ready = _prepared(setup, accept=accept, symmetrise=symmetrise)
    return _reserved_and_drawn([ready], ledger, population, progress)[0]


def release_together(setups: Sequence[Setup], *, accept: Iterable[str] = (), ledger: Ledger | None = None,
                     population: str | None = None, progress: Callable[[float], object] | None = None
                     ) -> tuple[Release, ...]:
    """A release of every setup, or of none; the other arguments as for ``release_setup``.

    What all of them spend is held against the ledger's cap and entered in one step, before any noise is drawn. Where
    anything fails on the way, nothing is handed out; the entries then count as spent. Symmetric answers are made
    symmetric where their scenario's ``post`` says so.
    """
    plan_together(setups)
    accept = tuple(accept)
    readies = [_prepared(setup, accept=accept, symmetrise=setup.query.symmetric and "symmetrise" in setup.scenario.post)
               for setup in setups]
    return _reserved_and_drawn(readies, ledger, population, progress)


# Checked: nothing is drawn


@dataclass(frozen=True, kw_only=True)
class _Ready:
    """A release that nothing speaks against; ``setup``: what is learned privately is learned for it first."""

    query: Query
    design: NoiseDesign
    announced: _Announced
    setup: Setup | None


def _prepared(setup: Setup, *, accept: Iterable[str], symmetrise: bool) -> _Ready:
    """The release of a setup; what it learns privately will be redrawn, so the seed's may stand in for it."""
    if setup.scenario.directions == "private":
        _beside_directions(setup)
    redrawn = [what for what, chosen in (("directions", setup.scenario.directions), ("radius", setup.scenario.bound))
               if chosen == "private"]
    return _checked_setup(setup, mu=plan(setup).mu, mu_is=setup.design.mu_is, accept=accept, symmetrise=symmetrise,
                          redrawn=redrawn)


def _checked_setup(setup: Setup, **told: Any) -> _Ready:
    scenario, graph = setup.scenario, setup.query.is_graph
    same_units = graph or scenario.scale == "declared"
    return _checked(setup.query, setup.design, delta=setup.delta, ranges=None if graph else setup.table.ranges,
                    declared_ranges=None if same_units else setup.dataset.ranges, data=scenario.data,
                    scenario=scenario, setup=setup, **told)


def _checked(query: Query, design: NoiseDesign, *, mu: float, mu_is: str, delta: float,
             ranges: Mapping[str, Range] | None, data: str | None, scenario: Scenario | None, accept: Iterable[str],
             symmetrise: bool, declared_ranges: Mapping[str, Range] | None = None, setup: Setup | None = None,
             redrawn: Collection[str] = ()) -> _Ready:
    """Refuse everything that can be refused; ``mu`` is what the release will be said to spend."""
    _refuse_other_design(query, design)
    if ranges is not None and weakest(known.origin for known in ranges.values()) is not query.ranges_origin:
        raise InputError("the ranges and the query come from different data; ask the query of the data itself")
    origins = origins_of(query, design, scenario)
    caveats = _caveats(origins)
    _refuse_unaccepted(caveats, accept)
    if symmetrise and not query.symmetric:
        raise InputError(f"symmetrise is for symmetric queries, got {query.name}")
    hardening = hardening_for(query, design.row_side, design.col_side, design.mu, _largest_values(query, ranges))
    for receipt in _receipts(query, design):
        if receipt.what not in redrawn:
            _refuse_receipt(receipt, query)
    noise = EntryNoise.of(design.row_side, design.col_side, symmetrised=symmetrise, hardening=hardening)
    told = design.directions_origin.is_covered and design.theta_origin.is_covered
    announced = _Announced(
        query=query.name, row_names=query.row_names, neighbour_rule=query.neighbour_rule,
        sensitivity=query.sensitivity, n_records=query.n_records, mode=design.mode, calibrated_by=design.guarantee,
        design=design_words(design), origins=origins, mu=mu, mu_is=mu_is, epsilon=float(gaussian_epsilon(delta, mu)),
        delta=delta, epsilon_asked=design.epsilon if scenario is None else scenario.epsilon, ranges=ranges,
        declared_ranges=declared_ranges, bound=query.bound, caveats=caveats, symmetrised=symmetrise,
        row_noise=_kept(design.row_side) if told else None, col_noise=_kept(design.col_side) if told else None,
        entry_noise=noise if told else None, hardening=hardening, version=VERSION, opendp_version=version("opendp"),
        data=data, scenario=scenario)
    return _Ready(query=query, design=design, announced=announced, setup=setup)


def _refuse_other_design(query: Query, design: NoiseDesign) -> None:
    if (design.rows, design.cols) != (query.rows, query.cols):
        raise InputError(f"the design must be {query.rows} × {query.cols} like the answer, "
                         f"got {design.rows} × {design.cols}")
    for what in ("name", "neighbour_rule", "n_records"):
        here, there = getattr(query, what), getattr(design.kind if what == "name" else design, what)
        if here != there:
            raise InputError(f"the design was made for another query: its {what.replace('_', ' ')} is {there}, "
                             f"this one's is {here}")


def _refuse_unaccepted(caveats: tuple[str, ...], accept: Iterable[str]) -> None:
    if not isinstance(accept, Iterable):
        raise InputError(f"accept must name what to accept, among {', '.join(CAVEATS)}")
    accept = (accept,) if isinstance(accept, str) else tuple(accept)
    for name in accept:
        one_of("accept", name, CAVEATS)
    missing = [caveat for caveat in caveats if caveat not in accept]
    if missing:
        raise InputError(f"the guarantee would not cover {' and '.join(in_words(missing))}; "
                         f"to release all the same, accept: {', '.join(missing)}")


def _refuse_receipt(receipt: Receipt, query: Query) -> None:
    """Refuse what was learned with noise from a seed, or from other data."""
    if not receipt.is_fresh:
        raise InputError(f"private {receipt.what}: drawn from a seed, for looking; draw anew for a release (with "
                         "private_directions, or noisy_count as rng), or declare what you know")
    if query.neighbour_rule not in (receipt.neighbour_rule, AS_DECLARED):
        raise InputError(f"private {receipt.what}: learned for other neighbours ({receipt.neighbour_rule}) than "
                         f"the query's ({query.neighbour_rule}); learn from the query's own data")
    if query.n_records not in (receipt.n_records, None):
        raise InputError(f"private {receipt.what}: learned from another number of records than the query's; learn "
                         "from the query's own data")


def _largest_values(query: Query, ranges: Mapping[str, Range] | None) -> FloatArray | None:
    """``max(|low|, |high|)`` of each feature; refuses ranges that are not the query's."""
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
    if not same:
        raise InputError("ranges must be those of the query's features, in their order")
    return np.maximum(np.abs(lower), np.abs(upper))


def spent(query: Query, design: NoiseDesign) -> float:
    """``mu`` of the noise and of everything learned privately; what was simply read counts nothing and is a caveat."""
    return compose_mu([design.mu, *(receipt.mu for receipt in _receipts(query, design))])


def _receipts(query: Query, design: NoiseDesign) -> tuple[Receipt, ...]:
    return receipts_of(design, design.directional_side.directions, query.bound)


def _caveats(origins: Mapping[str, Origin]) -> tuple[str, ...]:
    """What was read from the data, in the order of the ledger's list."""
    return tuple(caveat for caveat in CAVEATS if caveat in origins and not origins[caveat].is_covered)


def design_words(design: NoiseDesign) -> str:
    """The design in a few words, for a ledger: nothing private; private directions are those yet to be drawn."""
    paid = design.directions_origin is Origin.PAID
    along = FRESH_DIRECTIONS if paid else design.directional_side.directions.label
    return f"{design.guarantee}, noise over {MODES[design.mode].sides}, {along}"


# Reserved, then drawn


def _reserved_and_drawn(readies: Sequence[_Ready], ledger: Ledger | None, population: str | None,
                        progress: Callable[[float], object] | None) -> tuple[Release, ...]:
    """Have the ledger write what all of them spend, draw them, and call them released; warn without a ledger."""
    if ledger is None:
        warnings.warn("no ledger counts what this release spends; give one with ledger=", NoLedgerWarning, stacklevel=3)
        ledger, population = Ledger(), "not counted"
    spends = [Spend(data=told.data or "data without a name", query=told.query, mu=told.mu, delta=told.delta,
                    neighbour_rule=told.neighbour_rule, design=told.design, caveats=told.caveats)
              for told in (ready.announced for ready in readies)]
    done, entries = 0, sum(ready.announced.hardening.entries for ready in readies)

    def show(share: float) -> None:
        assert progress is not None
        progress((done + share * ready.announced.hardening.entries) / entries)

    made = []
    with ledger.reserved(*spends, population=population) as held:
        for ready, entry in zip(readies, held.entries, strict=True):
            made.append(_drawn(ready, time=entry.time, progress=held.watch(progress and show)))
            done += ready.announced.hardening.entries
    return tuple(made)


def _drawn(ready: _Ready, *, time: str, progress: Callable[[float], object]) -> Release:
    """What is learned privately, learned now; then the noise, drawn once."""
    told = ready.announced
    if ready.setup is not None and (fresh := _redrawn(ready.setup)) is not None:
        mu = spent(fresh.query, fresh.design)
        if not mu <= told.mu * (1 + _ROUNDING):
            raise InputError("what was learned privately asks for more than was announced; nothing is released")
        # What was announced is claimed: it is as much, to a rounding that the noise's margin pays for, or more.
        mu_is = "upper bound" if told.mu > mu * (1 + _ROUNDING) else fresh.design.mu_is
        ready = _checked_setup(replace(ready.setup, query=fresh.query, design=fresh.design), mu=told.mu, mu_is=mu_is,
                               accept=told.caveats, symmetrise=told.symmetrised)
    query, design, told = ready.query, ready.design, ready.announced
    noisy = noisy_answer(query, design.row_side, design.col_side, design.mu, plan=told.hardening, progress=progress)[0]
    if told.symmetrised:
        noisy = (noisy + noisy.T) / 2
    return Release(**vars(told), noisy=frozen(np.ascontiguousarray(noisy)), time=time)


def _redrawn(setup: Setup) -> Setup | None:
    """The same along directions drawn now, or with a bound found now by hardened counts; None where neither is private.

    The parts of the budget are as ``build`` divides it.
    """
    scenario = setup.scenario
    if scenario.directions == "private":
        rest = _beside_directions(setup)
        drawn = private_directions(setup.table, mu=mu_for_directions(scenario, setup.delta))
        return build(rest, setup.dataset, query=setup.query, uploaded=drawn)
    if scenario.bound == "private" and setup.query.bound is not None:
        uploaded = setup.design.directional_side.directions if scenario.directions == "upload" else None
        return build(scenario, setup.dataset, query=setup.box, uploaded=uploaded, noisy_count=noisy_count)
    return None


def _beside_directions(setup: Setup) -> Scenario:
    """The scenario with what private directions leave for the noise."""
    scenario = setup.scenario
    epsilon, delta = left_for_noise(scenario, setup.delta)
    try:
        return scenario.changed(directions="upload", epsilon=epsilon, delta=delta, from_data=scenario.from_data)
    except InputError:
        raise InputError("too little of the budget is left for the noise beside private directions; ask for a "
                         "larger epsilon or give the directions a smaller share") from None


def _kept(side: NoiseSide) -> NoiseSide | None:
    numbers = side.size if side.is_diagonal else side.size**2
    return None if side.is_identity or numbers > _MOST_NUMBERS else side
